"""HTML made harmless for a parser that has no bounds of its own: not too deep, not too many tags, or attributes in one.

Lexbor's time grows with the square of depth and of attributes (40,000 nested `<div>`: 36 s). So the tags are read here first,
as the Standard's tokenizer would, and the elements that are open are counted by those rules of tree construction that decide
depth: what an end tag closes and what keeps it from closing, and which start tags close others. Beyond `MAX_OPEN` a tag is
taken away (a block leaves a line break) and its text stays. An ordinary page comes back as it is.

The count is close, not exact: it knows nothing of reconstructed formatting and little of SVG. A page made against it can still
be slow; the deadline of the worker that reads it is what ends that.
"""

from __future__ import annotations

import re

from webseam.documents.html.tree import BLOCK, MAX_ELEMENTS

MAX_OPEN = 512
"""Elements within one another. Browsers stop at 512 too; the deepest of 1,497 real pages has 54."""

MAX_TAGS = 2 * MAX_ELEMENTS
"""Start tags that are read. Nearly each makes an element, so that what comes after them would not be looked at anyway."""

MAX_ATTRIBUTES = 500
"""Attributes of one tag; the rest of them is cut off."""

_ATTRIBUTE = (
    r"[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    r"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"[^\"]*+\"?|'[^']*+'?|[^ \t\n\f\r\"'>][^ \t\n\f\r>]*+)?)?"
)
_MARKUP = re.compile(
    r"<(?:!--(?:-?>|[\s\S]*?(?:--!?>|\Z))"  # a comment
    r"|(?:[!?]|/(?![A-Za-z]))[^>]*+>?"  # a declaration, or what is taken for a comment
    rf"|(/?)([A-Za-z][^ \t\n\f\r/>]*+)((?:{_ATTRIBUTE})*+)[ \t\n\f\r/]*+>?)"  # a tag
)
_ONE_ATTRIBUTE = re.compile(_ATTRIBUTE)
_RAW = frozenset({"script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"})
_RAW_END = {name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE) for name in _RAW}

# Never counted: what holds nothing, and what a page has once.
_UNCOUNTED = frozenset(
    {
        "area", "base", "basefont", "bgsound", "body", "br", "col", "embed", "frame", "head", "hr", "html", "image", "img",
        "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
    }
)  # fmt: skip
_OF_TABLE = frozenset({"caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
# Their end tags take them out of the midst of what is open (the adoption agency; a form), and what is within them stays open.
_TAKEN_OUT = frozenset(
    {"a", "b", "big", "code", "em", "font", "form", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
)
_IMPLIED = frozenset({"dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt", "rtc"})
_HEADINGS = frozenset({"h2", "h3", "h4", "h5", "h6"})
_SPECIAL = (BLOCK - {"legend", "optgroup", "option"}) | {"applet", "button", "marquee", "object", "template"}
_SCOPE = frozenset(
    {"annotation-xml", "applet", "foreignobject", "marquee", "mi", "mn", "mo", "ms", "mtext", "object", "table", "template"}
)
_BUTTON_SCOPE = _SCOPE | {"button"}
_LIST_SCOPE = (BLOCK - {"address", "div", "p"}) | _SCOPE
_ITEMS = {"li": frozenset({"li"}), "dd": frozenset({"dd", "dt"}), "dt": frozenset({"dd", "dt"})}
_PARAGRAPH = frozenset({"p"})
_TABLE = frozenset({"table"})
_TEMPLATE = frozenset({"template"})
_FOREIGN = frozenset({"svg", "math"})
_NOT_FOREIGN = frozenset(
    {
        "b", "big", "blockquote", "center", "code", "dd", "div", "dl", "dt", "em", "h1", "i", "li", "listing", "menu", "nobr",
        "ol", "p", "pre", "ruby", "s", "small", "span", "strike", "strong", "sub", "sup", "table", "tt", "u", "ul", "var",
    }
)  # fmt: skip


def bounded(text: str) -> tuple[str, bool]:
    """`text` with about `MAX_OPEN` elements open at most, and `MAX_ATTRIBUTES` in a tag; and whether its end was cut off.

    The time is linear in the length of `text`.
    """
    kept: list[str] = []
    copied = at = tags = 0
    beyond = 0  # how many of the elements that were taken away are open
    cut = False
    opened = _Open()
    while (markup := _MARKUP.search(text, at)) is not None:
        start, at = markup.span()
        if (name := markup[2]) is None:
            continue
        name = name.lower()
        if markup[1]:
            if beyond and name not in _UNCOUNTED and name not in _OF_TABLE:
                beyond -= 1
                kept.append(text[copied:start])
                copied = at
            else:
                opened.end_tag(name)
            continue
        tags += 1
        if tags > MAX_TAGS:
            text = text[:start]
            cut = True
            break
        first, last = markup.span(3)
        if last - first > 2 * MAX_ATTRIBUTES and (end := _end_of_attributes(markup[3])):
            kept += [text[copied : first + end], ">"]
            copied = at
        if name in _UNCOUNTED:
            continue
        if name in _RAW:
            closing = _RAW_END[name].search(text, at)
            at = closing.end() if closing is not None else len(text)
        elif name == "plaintext":
            break
        elif beyond or not opened.start_tag(name, closed=text.startswith("/>", at - 2)):
            beyond += 1
            kept += [text[copied:start], "\n" if name in BLOCK else ""]
            copied = at
    if not copied:
        return text, cut
    kept.append(text[copied:])
    return "".join(kept), cut


def _end_of_attributes(attributes: str) -> int:
    """Where the first `MAX_ATTRIBUTES` of them end; 0 when there are no more than that."""
    end = 0
    for number, match in enumerate(_ONE_ATTRIBUTE.finditer(attributes)):
        if number == MAX_ATTRIBUTES:
            return end
        end = match.end()
    return 0


class _Open:
    """The elements that are open, the outermost first, as tree construction would have them (HTML Standard, 13.2.6.4)."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.count: dict[str, int] = {"table": 0, "svg": 0, "math": 0, "a": 0, "p": 0}

    def start_tag(self, name: str, *, closed: bool) -> bool:
        """Close what it closes, and open it. False when there is no room for it."""
        count = self.count
        if name in _OF_TABLE:
            self.end_tag(name)  # the part before it
            return True
        if count["svg"] or count["math"]:
            if name in _NOT_FOREIGN:
                while (count["svg"] or count["math"]) and self._pop(_FOREIGN, _SCOPE):
                    pass
            elif closed:
                return True  # in SVG and MathML the stroke closes it
        elif closed and name in _FOREIGN:
            return True
        if count.get(name) and name in ("form", "select"):  # neither stands in its like
            if name == "select":
                self.end_tag(name)
            return True
        if name in _HEADINGS:
            name = "h1"
        if name in _ITEMS:
            self._pop(_ITEMS[name], _LIST_SCOPE)
        elif (name == "a" and count["a"]) or (name in ("option", "h1") and self.names and self.names[-1] == name):
            self.end_tag(name)
        if count["p"] and name in BLOCK:
            self._pop(_PARAGRAPH, _BUTTON_SCOPE)
        if len(self.names) >= MAX_OPEN:
            return False
        self.names.append(name)
        count[name] = count.get(name, 0) + 1
        return True

    def end_tag(self, name: str) -> None:
        """Close what it closes; parts of a table close what stands in the cell before them."""
        names = self.names
        if name in _HEADINGS:
            name = "h1"  # the end tag of one closes any other
        if name in _OF_TABLE:
            if self.count["table"]:
                self._pop(_TABLE, _TABLE, itself=False)
        elif not self.count.get(name):
            return
        elif names[-1] == name:
            names.pop()
            self.count[name] -= 1
        elif name in _TAKEN_OUT:
            while name == "form" and names[-1] in _IMPLIED:
                self.count[names.pop()] -= 1
            del names[len(names) - 1 - names[::-1].index(name)]
            self.count[name] -= 1
        elif name == "template":
            self._pop(_TEMPLATE, _TEMPLATE)
        else:
            self._pop(frozenset({name}), _SCOPE if name in _SPECIAL else _SPECIAL)

    def _pop(self, wanted: frozenset[str], stops: frozenset[str], *, itself: bool = True) -> bool:
        """Close the innermost of `wanted`, and all within it, unless one of `stops` stands between; whether it was closed."""
        names = self.names
        for index in range(len(names) - 1, -1, -1):
            if names[index] in wanted:
                if not itself:
                    index += 1
                for name in names[index:]:
                    self.count[name] -= 1
                del names[index:]
                return True
            if names[index] in stops:
                return False
        return False
