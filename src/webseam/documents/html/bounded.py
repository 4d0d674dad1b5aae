"""HTML made harmless for a parser that has no bounds of its own: not too deep, not too many attributes in a tag.

Lexbor's time grows with the square of both (40,000 nested `<div>`: 36 s). So the tags are read here first, as the Standard's
tokenizer would, and the elements that are open are counted by the rules of tree construction that decide depth: what an end tag
closes and what keeps it from closing, and which start tags close others. Beyond `MAX_OPEN` a tag is taken away (a block leaves a
line break), its text stays. An ordinary page comes back as it is.

The count is close, not exact: it knows nothing of reconstructed formatting and little of SVG. A page made against it can still
be slow; the deadline of the worker that reads it is what ends that.
"""

from __future__ import annotations

import re

from webseam.documents.html.tree import BLOCK

MAX_OPEN = 512
"""Elements within one another. Browsers stop at 512 too; the deepest of 1,497 real pages has 54."""

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

# Never counted: what holds nothing, and what is not within itself without another element between.
_UNCOUNTED = frozenset(
    {
        "area", "base", "basefont", "bgsound", "body", "br", "col", "embed", "frame", "head", "hr", "html", "image", "img",
        "input", "keygen", "link", "meta", "option", "param", "source", "track", "wbr",
    }
)  # fmt: skip
_OF_TABLE = frozenset({"caption", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"})
_FORMATTING = frozenset({"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
_SCOPE = frozenset(
    {"annotation-xml", "applet", "foreignobject", "marquee", "mi", "mn", "mo", "ms", "mtext", "object", "table", "template"}
)
_BUTTON_SCOPE = _SCOPE | {"button"}
_LIST_SCOPE = (BLOCK - {"address", "div", "p"}) | _SCOPE
_ITEMS = {"li": frozenset({"li"}), "dd": frozenset({"dd", "dt"}), "dt": frozenset({"dd", "dt"})}
_PARAGRAPH = frozenset({"p"})
_TABLE = frozenset({"table"})


def bounded(text: str) -> str:
    """`text` with at most about `MAX_OPEN` elements open at a time, and `MAX_ATTRIBUTES` in a tag. Linear in its length."""
    kept: list[str] = []
    copied = at = beyond = 0
    opened: list[str] = []
    while (markup := _MARKUP.search(text, at)) is not None:
        start, at = markup.span()
        if markup[2] is None:
            continue
        name = markup[2].lower()
        if markup[1]:
            if beyond and name not in _UNCOUNTED and name not in _OF_TABLE:
                beyond -= 1
                kept.append(text[copied:start])
                copied = at
            else:
                _close(opened, name)
            continue
        if markup.end(3) - markup.start(3) > 2 * MAX_ATTRIBUTES and (end := _end_of_attributes(markup[3])):
            kept += [text[copied : markup.start(3) + end], ">"]
            copied = at
        if name in _RAW:
            closing = _RAW_END[name].search(text, at)
            at = closing.end() if closing is not None else len(text)
        elif name == "plaintext":
            break
        elif name in _OF_TABLE:
            _close(opened, name)
        elif name not in _UNCOUNTED and not (text.startswith("/>", at - 2) and name not in BLOCK and _is_foreign(opened, name)):
            if not beyond:
                _make_room(opened, name)
            if len(opened) < MAX_OPEN:
                opened.append(name)
            else:
                beyond += 1
                kept += [text[copied:start], "\n" if name in BLOCK else ""]
                copied = at
    if not copied:
        return text
    kept.append(text[copied:])
    return "".join(kept)


def _end_of_attributes(attributes: str) -> int:
    """Where the first `MAX_ATTRIBUTES` of them end; 0 when there are no more than that."""
    end = at = 0
    for number, match in enumerate(_ONE_ATTRIBUTE.finditer(attributes)):
        if number == MAX_ATTRIBUTES:
            return at
        at = match.end()
    return end


def _is_foreign(opened: list[str], name: str) -> bool:
    """Whether `<name/>` is an element of SVG or MathML, where the stroke closes it."""
    return name in ("svg", "math") or "svg" in opened or "math" in opened


def _make_room(opened: list[str], name: str) -> None:
    """Close what a start tag closes (HTML Standard, 13.2.6.4.7): a paragraph before a block, an item before the next."""
    if name in _ITEMS:
        _pop(opened, _ITEMS[name], _LIST_SCOPE)
    elif name == "a" and "a" in opened:
        _close(opened, "a")
    if name in BLOCK and "p" in opened:
        _pop(opened, _PARAGRAPH, _BUTTON_SCOPE)


def _close(opened: list[str], name: str) -> None:
    """What the end tag of `name` closes; parts of a table close what stands in the cell before them."""
    if name in _OF_TABLE:
        _pop(opened, _TABLE, _TABLE, itself=False)
    elif name in opened:
        if name in _FORMATTING:  # taken out of the midst (the adoption agency), what is within it stays open
            del opened[len(opened) - 1 - opened[::-1].index(name)]
        else:
            _pop(opened, frozenset({name}), _SCOPE if name in BLOCK else BLOCK)


def _pop(opened: list[str], names: frozenset[str], stops: frozenset[str], *, itself: bool = True) -> None:
    """Take the innermost of `names` off, and all within it, unless one of `stops` stands between."""
    for index in range(len(opened) - 1, -1, -1):
        if opened[index] in names:
            del opened[index if itself else index + 1 :]
            return
        if opened[index] in stops:
            return
