"""What nobody sees where Markdown is shown: HTML comments, elements of HTML that are hidden, and comments written as links.

Markdown is not parsed for this: one walk over the text looks for what may begin such a thing, and passes by fences, code spans
and indented code, which show what they hold. An element that is hidden goes on to its end as it would in a browser, over blank
lines and other elements, and where none comes to the end of the text; but a `<p>` ends with its paragraph of Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_left
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
    r"(?P<remark>\"(?:[^\"\n]|\n(?![ \t]*\n))*+\"|'(?:[^'\n]|\n(?![ \t]*\n))*+'|\((?:[^()\n]|\n(?![ \t]*\n))*+\))[ \t]*$",
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
_INDENT = re.compile(r"(?: {4}| {0,3}\t)")
_LOOKED_BACK = 1_000  # characters, for where indented code begins
_LOOKS = 5_000


def drop_hidden(markdown: str) -> tuple[str, int]:
    """Markdown without what is hidden, and how many characters of it there were, tags and marks not counted."""
    if "<" not in markdown and "]:" not in markdown:
        return markdown, 0
    return _Walk(markdown).run()


class _Walk:
    def __init__(self, text: str) -> None:
        self._text = text
        self._kept: list[str] = []
        self._kept_from = 0
        self._dropped = 0
        self._blanks: list[int] | None = None
        self._ticks: dict[int, list[int]] | None = None
        self._styles: Styles | None = None
        self._judged: dict[str, bool] = {}
        self._looks = _LOOKS

    def run(self) -> tuple[str, int]:
        text = self._text
        at = 0
        inside, depth, begin, content = "", 0, 0, 0  # the hidden element, how often it stands in itself, where it begins
        while match := _START.search(text, at):
            at = match.end()
            if match["fence"]:
                at = self._end_of_fence(match["fence"], at)
            elif match["ticks"]:
                at = self._end_of_span(len(match["ticks"]), at)
            elif inside:
                if match["comment"]:
                    at = self._end_of_comment(at)
                elif (match["tag"] or "").lower() == inside:
                    depth += -1 if match["close"] else 1
                    if depth == 0:
                        self._cut(begin, at, match.start() - content)
                        inside = ""
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
                elif tag == "p":
                    close, end = self._end_of_paragraph(at)
                    self._cut(match.start(), end, close - at)
                    at = end
                else:
                    inside, depth, begin, content = tag, 1, match.start(), at
        if inside:
            self._cut(begin, len(text), len(text) - content)
        self._kept.append(text[self._kept_from :])
        return "".join(self._kept), self._dropped

    def _cut(self, begin: int, end: int, chars: int) -> None:
        self._kept.append(self._text[self._kept_from : begin])
        self._kept_from = end
        self._dropped += chars

    def _hides(self, match: re.Match[str]) -> bool:
        attributes = match["attributes"]
        if not _MAY_HIDE.search(attributes):
            return False
        found = self._judged.get(attributes)
        if found is None:
            found = self._judged[attributes] = self._judge(attributes)
        return found and not self._is_indented_code(match.start())

    def _judge(self, attributes: str) -> bool:
        from webseam.documents.html.concealment import Concealment
        from webseam.documents.html.hidden import Styles, hidden_by
        from webseam.documents.html.tree import Element

        if self._styles is None:
            self._styles = Styles()
        said: dict[str, str] = {}
        for name, value in _ATTRIBUTE.findall(attributes):
            if name.lower() in _HIDING and not value.startswith("{"):  # an expression of MDX
                said.setdefault(name.lower(), value.strip("\"'"))
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
        if self._blanks is None:
            self._blanks = [match.start() for match in _BLANK.finditer(self._text)]
        index = bisect_left(self._blanks, at)
        return self._blanks[index] if index < len(self._blanks) else len(self._text)

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
