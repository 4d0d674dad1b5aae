"""What nobody sees where Markdown is shown: HTML comments, elements of HTML that are hidden, and comments written as links.

Markdown is not parsed for this: one walk over the text looks for what may begin such a thing, and passes by fences, code spans
and indented code, which show what they hold. An element that is hidden goes on to its end as it would in a browser, over blank
lines and other elements, and where none comes to the end of the text; but a `<p>` ends with its paragraph of Markdown.

Inside such an element nobody can say which tags are code and which are not without parsing all of it: a line of HTML may hold
backticks, and code a `<textarea>`. So every start tag counts there, wherever it stands, and an end tag only where all ways to
read the text agree on it: in doubt the element goes on (`_Open`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webseam.documents.html.hidden import Styles

_PREFIX = r"^[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?"  # of a line in a quotation or an item of a list
_START = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    rf"|{_PREFIX}(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})"
    r"|(?P<ticks>`+)"
    r"|(?P<comment><!--)"
    r"|<(?P<close>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9-]{0,30})(?P<attributes>(?:[\s/](?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)?)>"
    r"|^ {0,3}\[[^\[\]\n]{0,100}\]:[ \t]*(?:#|<>)[ \t]+"
    r"(?P<remark>\"(?:[^\"\n]|\n(?![ \t]*\n))*+\"|'(?:[^'\n]|\n(?![ \t]*\n))*+'|\((?:[^()\n]|\n(?![ \t]*\n))*+\))[ \t]*$"
    r"|<(?P<other>[!?]|/(?![a-zA-Z])|[a-zA-Z][^\s<>]{0,200})",
    re.MULTILINE,
)
_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]+)(?:\s*+=\s*+("[^"]*"|'[^']*'|[^\s"'=<>`]+))?""")
_HIDING = frozenset({"hidden", "style", "popover"})
_MAY_HIDE = re.compile("hidden|style|popover", re.IGNORECASE)
_BLANK = re.compile(r"\n[ \t]*\n")
_TICKS = re.compile("`+")
_END_OF_P = re.compile(r"</p\s*>", re.IGNORECASE)
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_LINE = re.compile(_PREFIX, re.MULTILINE)
_MARGIN = re.compile(r"[ \t>]{0,200}")
_BREAK = re.compile(r"\n[ \t>]*(?=\n)")
_NOT_SHOWN = frozenset({"template", "dialog", "select", "option", "datalist"})  # without any attribute that says so
_RAW = frozenset({"textarea", "title", "script", "style", "xmp", "iframe", "noembed", "noframes", "noscript"})
_IMPLIED = frozenset({"p", "li", "dd", "dt", "option", "optgroup", "tr", "td", "th"})  # ended by another of its kind
_SCOPE = frozenset(
    {
        "applet", "caption", "foreignobject", "html", "marquee", "math", "object", "select", "svg", "table", "td", "template",
        "th",
    }
)  # fmt: skip
_TABLE = frozenset({"table", "caption", "colgroup", "tbody", "thead", "tfoot", "tr", "td", "th"})
_TABLE_SCOPE = frozenset({"table", "template"})
# Elements within which no end tag but one of these counts for what is outside (HTML, "special").
_SPECIAL = _SCOPE | _TABLE | frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "button", "center", "dd", "details", "dialog", "dir", "div", "dl",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head",
        "header", "hgroup", "iframe", "li", "listing", "main", "menu", "nav", "noembed", "noframes", "noscript", "ol", "p",
        "plaintext", "pre", "script", "search", "section", "style", "summary", "textarea", "title", "ul", "xmp",
    }
)  # fmt: skip
_MAX_OPEN = 100
_INDENT = re.compile(r"(?: {4}| {0,3}\t)")
_LOOKED_BACK = 1_000  # characters, for where indented code begins
_LOOKS = 5_000


def drop_hidden(markdown: str) -> tuple[str, int]:
    """Markdown without what is hidden, and how many characters of it there were, tags and marks not counted."""
    if "<" not in markdown and "]:" not in markdown:
        return markdown, 0
    return _Walk(markdown).run()


class _Open:
    """The elements that are open inside a hidden one, that itself first.

    What is opened where it may be code or raw text stays open behind it, and what was open before cannot be closed there.
    """

    __slots__ = ("_names", "floor", "guarded")

    def __init__(self, tag: str) -> None:
        self._names = [tag]
        self.guarded = 0  # up to here in the text
        self.floor = 0  # how many cannot be closed there

    def guard(self, end: int) -> None:
        """Let nothing that is open now be closed before `end`."""
        self.guarded = max(self.guarded, end)
        self.floor = len(self._names)

    def open(self, name: str) -> bool:
        """Whether there was room for one more."""
        names = self._names
        if name in _VOID or (name in _IMPLIED and names[-1] == name):
            return True
        names.append(name)
        return len(names) <= _MAX_OPEN

    def close(self, name: str) -> bool:
        """Whether an end tag closes all."""
        names = self._names
        for index in range(len(names) - 1, self.floor - 1, -1):
            other = names[index]
            if other == name:
                del names[index:]
                return not names
            if _bars(other, name):
                break
        return False


def _bars(other: str, name: str) -> bool:
    """Whether an end tag called `name` does not count inside `other` for what is outside of it."""
    if name in _TABLE:
        return other in _TABLE_SCOPE
    if name == "form":
        return other not in _IMPLIED or other in _TABLE
    if name not in _SPECIAL:
        return other in _SPECIAL
    return other in _SCOPE or (name == "li" and other in ("ol", "ul")) or (name == "p" and other == "button")


class _Walk:
    def __init__(self, text: str) -> None:
        self._text = text
        self._kept: list[str] = []
        self._kept_from = 0
        self._dropped = 0
        self._places: dict[re.Pattern[str], list[int]] = {}
        self._ticks: dict[int, list[int]] | None = None
        self._styles: Styles | None = None
        self._judged: dict[str, bool] = {}
        self._looks = _LOOKS
        self._ends: dict[str, int] = {}
        self._line = self._lines_to = 0
        self._paragraph = (-1, -1)

    def run(self) -> tuple[str, int]:
        text = self._text
        at = 0
        while match := _START.search(text, at):
            at = match.end()
            if match["fence"]:
                at = self._end_of_fence(match["fence"], at)
            elif match["ticks"]:
                at = self._end_of_span(len(match["ticks"]), at)
            elif match["comment"]:
                if self._is_indented_code(match.start()):
                    continue
                end = self._end_of_comment(at)
                self._cut(match.start(), end, max(0, end - 3 - at) if text.endswith("-->", at, end) else end - at)
                at = end
            elif match["remark"]:
                self._cut(match.start(), at, len(match["remark"]) - 2)
            elif match["tag"] and not match["close"] and self._hides(match):
                tag = match["tag"].lower()
                if tag in _VOID:
                    self._cut(match.start(), at, 0)
                    continue
                close, end = self._end_of_paragraph(at) if tag == "p" else self._end_of_element(tag, match.start(), at)
                self._cut(match.start(), end, close - at)
                at = end
        self._kept.append(text[self._kept_from :])
        return "".join(self._kept), self._dropped

    def _end_of_element(self, tag: str, begin: int, at: int) -> tuple[int, int]:
        """Where what is in the hidden element ends that begins at `begin`, and where it does itself."""
        text = self._text
        nothing = len(text), len(text)
        if tag == "plaintext":
            return nothing
        line = self._line_of(begin)
        found = _LINE.match(text, line, begin)
        column = len(text[line : found.end()].expandtabs(4)) if found is not None else 0
        elements = _Open(tag)
        if tag in _RAW:
            elements.guard(self._end_of_raw(tag, at))
        span = fence = attributes = 0  # where the last of them ends
        indented: tuple[int, bool] = (line, False)
        while match := _START.search(text, at):
            at, start = match.end(), match.start()
            if start >= elements.guarded:
                elements.floor = 0
            if match["fence"]:
                if start >= fence:
                    fence = self._end_of_fence(match["fence"], at)
                    if self._in_html(start) and fence > self._blank_after(at):
                        return nothing  # as HTML it is no fence, and the line that ends it begins one
                    elements.guard(fence)
            elif match["ticks"]:
                if start >= max(span, fence, attributes) and (end := self._end_of_span(len(match["ticks"]), at)) > at:
                    span = end
                    # What stands between the lines of a span may end its paragraph: it may be none.
                    elements.guard(end if "\n" not in text[start:end] else max(end, self._break_after(end)))
            elif match["comment"]:
                elements.guard(self._end("-->", at))
            elif match["tag"] and match["close"]:
                if not match["attributes"].strip():
                    if (line := self._line_of(start)) != indented[0]:
                        indented = line, self._may_be_code(line, begin, column)
                    if not indented[1] and elements.close(match["tag"].lower()):
                        return start, at
            elif match["tag"] or match["other"]:
                name = (match["tag"] or match["other"]).lower()
                if not name[0].isalpha():
                    elements.guard(self._end("]]>" if text.startswith("[CDATA[", at) else ">", at))
                    continue
                name = name.partition("/")[0]
                if name == "plaintext" or not elements.open(name):
                    return nothing
                if "<" in (match["attributes"] or ""):  # where HTML reads the quotes otherwise
                    attributes, at = at, match.end("tag")
                    elements.guard(attributes)
                elif match["other"] and not text.startswith(">", at):
                    elements.guard(self._break_after(at))
                if name in _RAW:
                    elements.guard(self._end_of_raw(name, max(at, attributes)))
            elif text.startswith("\\<", start):  # of HTML it is a tag
                at = start + 1
                elements.guard(at + 1)
        return nothing

    def _end(self, mark: str, at: int) -> int:
        """Behind the next `mark`, which is looked for once for all that stand before it."""
        known = self._ends.get(mark, -1)
        if known - len(mark) < at:
            found = self._text.find(mark, at)
            known = self._ends[mark] = found + len(mark) if found != -1 else len(self._text) + len(mark)
        return min(known, len(self._text))

    def _end_of_raw(self, tag: str, at: int) -> int:
        known = self._ends.get(tag, -1)
        if known < at:
            found = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(self._text, at)
            known = self._ends[tag] = found.start() if found is not None else len(self._text)
        return known

    def _line_of(self, at: int) -> int:
        """Where the line of `at` begins; `at` never goes back."""
        self._line = max(self._line, self._text.rfind("\n", self._lines_to, at) + 1)
        self._lines_to = at
        return self._line

    def _may_be_code(self, line: int, begin: int, column: int) -> bool:
        """Whether a line may be indented code inside an element that begins at `begin`, in a block that does at `column`."""
        margin = _MARGIN.match(self._text, line)
        assert margin is not None
        return len(margin.group().expandtabs(4)) - column >= 4 and self._break_after(begin) < line

    def _break_after(self, at: int) -> int:
        """The next line that is blank, or is so within a quotation."""
        return self._next(_BREAK, at)

    def _in_html(self, at: int) -> bool:
        """Whether a line below others may go on with a block of HTML: there is a `<` since the last blank line."""
        end = self._blank_after(at)
        blanks = self._places[_BLANK]
        index = bisect_right(blanks, at - 2)
        begin = blanks[index - 1] if index else 0
        if self._paragraph[0] != begin:
            found = self._text.find("<", begin, end)
            self._paragraph = begin, found if found != -1 else end
        return self._paragraph[1] < at

    def _cut(self, begin: int, end: int, chars: int) -> None:
        self._kept.append(self._text[self._kept_from : begin])
        self._kept_from = end
        self._dropped += chars

    def _hides(self, match: re.Match[str]) -> bool:
        attributes = match["attributes"]
        if match["tag"].lower() in _NOT_SHOWN and self._is_not_shown(match):
            return not self._is_indented_code(match.start())
        if not _MAY_HIDE.search(attributes):
            return False
        found = self._judged.get(attributes)
        if found is None:
            found = self._judged[attributes] = self._judge(attributes)
        return found and not self._is_indented_code(match.start())

    def _is_not_shown(self, match: re.Match[str]) -> bool:
        """Whether an element is one that shows nothing; a word in angle brackets that nothing ends may stand for another."""
        tag, attributes, at = match["tag"].lower(), match["attributes"], match.end()
        if tag == "dialog" and any(name.lower() == "open" for name, _ in _ATTRIBUTE.findall(attributes)):
            return False
        if tag == "option":  # alone it is a word of the usage of a command, and shown by browsers
            return self._end_of_raw(tag, at) < self._blank_after(at)
        line = self._line_of(match.start())
        begins = _LINE.match(self._text, line, match.start())
        first = begins is not None and begins.end() == match.start()
        return first or bool(attributes.strip()) or self._end_of_raw(tag, at) < len(self._text)

    def _judge(self, attributes: str) -> bool:
        from webseam.documents.html.concealment import Concealment
        from webseam.documents.html.hidden import Styles, hidden_by
        from webseam.documents.html.tree import Element

        if self._styles is None:
            self._styles = Styles()
        said: dict[str, str] = {}
        for name, value in _ATTRIBUTE.findall(attributes):
            if name.lower() in _HIDING and not value.startswith("{"):  # an expression of MDX
                said.setdefault(name.lower(), unescape(value.strip("\"'")))
        return hidden_by(Element("div", said), self._styles) is not Concealment.NONE

    def _end_of_fence(self, fence: str, at: int) -> int:
        closing = re.compile(rf"^[ \t>]{{0,40}}{fence[0]}{{{min(len(fence), 100)},}}[ \t]*$", re.MULTILINE)
        found = closing.search(self._text, self._line_end(at))
        return found.end() if found is not None else len(self._text)

    def _line_end(self, at: int) -> int:
        end = self._text.find("\n", at)
        return end if end != -1 else len(self._text)

    def _end_of_comment(self, at: int) -> int:
        end = self._text.find("-->", at)
        return end + 3 if end != -1 else len(self._text)

    def _end_of_span(self, ticks: int, at: int) -> int:
        """Behind the code span that so many backticks begin; `at` when its paragraph has no others like them."""
        if self._ticks is None:
            self._ticks = {}
            for match in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(match.group()), []).append(match.start())
        places = self._ticks.get(ticks, [])
        index = bisect_left(places, at)
        return places[index] + ticks if index < len(places) and places[index] < self._blank_after(at) else at

    def _end_of_paragraph(self, at: int) -> tuple[int, int]:
        """Where the words of a `<p>` end, and where it does itself."""
        blank = self._blank_after(at)
        close = _END_OF_P.search(self._text, at, blank)
        return close.span() if close is not None else (blank, blank)

    def _blank_after(self, at: int) -> int:
        return self._next(_BLANK, at)

    def _next(self, pattern: re.Pattern[str], at: int) -> int:
        """Where `pattern` is found next, or else the end; all its places are looked for once."""
        places = self._places.get(pattern)
        if places is None:
            places = self._places[pattern] = [match.start() for match in pattern.finditer(self._text)]
        index = bisect_left(places, at)
        return places[index] if index < len(places) else len(self._text)

    def _is_indented_code(self, at: int) -> bool:
        """Whether the line of `at` is code by its four spaces: below a blank line or other code, and in no list."""
        self._looks -= 1
        if self._looks < 0:
            return False
        first = max(0, at - _LOOKED_BACK)
        lines = self._text[first:at].split("\n")
        if not _INDENT.match(lines[-1]):
            return False
        blank = len(lines) == 1
        for line in reversed(lines[:-1]):
            if not line.strip():
                blank = True
            elif not _INDENT.match(line):
                return blank and not _ITEM.match(line.lstrip())
            else:
                blank = False
        return blank or first == 0
