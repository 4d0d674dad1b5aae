"""From a parser's tree to ours, by way of the HTML that the parser writes of it: the same loop for every parser.

A parser's tree is made of objects, and to ask each of them for its name, its attributes and its children is what takes the
time. So the parser is asked once, for its whole tree as HTML (HTML Standard, 13.3): it writes that in C, and what it writes
needs no parser, for every element is closed, every value stands in double quotes, and nothing is left to be repaired. Here it
is read in one go, with bounds, into `tree.Element`; scripts, styles and comments are left behind on the way.

`_load.pyx` is the same loop for a compiler; what they share is here, and a test compares their trees.
"""

from __future__ import annotations

import re

from webseam.documents.html.concealment import Concealment
from webseam.documents.html.hidden import Styles, hidden_by
from webseam.documents.html.kept import (
    CONTROLS,
    KEPT_ATTRIBUTES,
    LINKED_CHARS,
    MAX_LINKED_DATA,
    SPECIAL,
    SPLIT_ATTRIBUTES,
    STYLE_CHARS,
    VALUE_CHARS,
    Parsed,
    Seen,
    cut_value,
    is_linked_data,
    parsed,
    tex_of_script,
)
from webseam.documents.html.tree import MAX_DEPTH, MAX_ELEMENTS, Element, is_block

VOID = frozenset(
    {
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta",
        "param", "source", "track", "wbr",
    }
)  # fmt: skip
RAW = frozenset({"iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"})
WITH_NEWLINE = frozenset({"listing", "pre"})
VERBATIM = frozenset({"listing", "plaintext", "pre", "xmp"})
"""Elements in which white space stays as it is. Elsewhere what is nothing else is one space, or nothing where a line begins or
ends: pages are indented, and most of their texts are that."""

SHADOW_ROOT = frozenset({"shadowrootmode"})

_WRITTEN_CHARS = 6 * STYLE_CHARS
"""Of a value that are looked at: as many as are kept of the longest, were each written as a reference."""

_MISMATCHED = 64
"""Open elements that are looked through for the one that an end tag closes: the innermost, save in the HTML of formulas."""

_IN_SCRIPT = re.compile(
    r"<!---*>|(?P<escape><!--)|(?P<end>-->)|(?P<close></script(?=[\t\n\f\r />]))|(?P<start><script(?=[\t\n\f\r />]))",
    re.IGNORECASE,
)


def load(html: str, cut: bool, newline_added: bool, raw_in_math: bool) -> Parsed:
    """The tree of `html`, which a parser wrote: the root element, and all within it.

    `cut`: something was left out before. `newline_added`: the writer puts a line feed before one that begins a `<pre>`, which a
    parser would swallow. `raw_in_math`: the writer makes no difference between HTML's `<xmp>` and one in a formula.
    """
    root = Element("html")
    element: Element | None = None  # what children go into; None in what is left behind, and outside the root
    inner: Element | None = None
    names: list[str] = []  # of the elements that are open, and for each what its children go into, and which number that has
    into: list[Element | None] = []
    numbers: list[int] = []
    noted = Seen([root], [-1], [1])
    styles = Styles()
    blank = False  # whether white space came that is not yet among the children
    depth = seen = in_math = verbatim = at = 0
    size = len(html)
    while at < size:
        start = html.find("<", at)
        if start < 0:
            break  # an element that is not closed: not written by a parser
        if start > at and element is not None:
            text = html[at:start]
            if not verbatim and not text.strip(" \t\n\r\f"):
                blank = True
            else:
                if blank:
                    blank = False
                    _add_space(element)
                element.children.append(unescaped(text) if "&" in text else text)
        at = start + 1
        if at >= size:
            break
        mark = html[at]
        if mark == "/":
            end = html.find(">", at)
            if end < 0:
                break
            tag = html[at + 1 : end]
            at = end + 1
            if blank:
                blank = False
                if element is not None and not element.blocky:
                    _add_space(element)
            closed = closed_by(tag, names)
            while len(names) > closed:
                tag = names.pop()
                if tag == "math":
                    in_math -= 1
                elif tag in VERBATIM:
                    verbatim -= 1
                inner = into.pop()
                number = numbers.pop()
                element = into[-1] if into else None
                if inner is not None and element is not None and inner is not element:
                    depth -= 1
                    noted.ends[number] = len(noted.elements)
                    if inner.blocky:
                        element.blocky = True
            if not names:
                break
            continue
        if mark == "!" or mark == "?":
            comment = html.startswith("!--", at)
            end = html.find("-->" if comment else ">", at + 3 if comment else at)
            if end < 0:
                break
            at = end + 3 if comment else end + 1
            continue

        end = html.find(">", at)
        if end < 0:
            break
        start = html.find(" ", at, end)
        tag = html[at:end] if start < 0 else html[at:start]
        at = end if start < 0 else start
        attributes: dict[str, str] = {}
        wanted = SHADOW_ROOT if tag == "template" else KEPT_ATTRIBUTES
        while at < size and html[at] == " ":
            start = html.find("=", at + 2)
            if start < 0:
                at = size
                break
            name = html[at + 1 : start]
            start += 2
            end = html.find('"', start)
            if end < 0:
                at = size
                break
            at = end + 1
            if name in wanted:
                attributes[name] = attribute_value(name, html, start, end)
        at += 1

        void = tag in VOID
        raw = tag in RAW and (raw_in_math or in_math == 0)
        if blank:
            blank = False
            if element is not None and not is_block(tag):
                _add_space(element)
        number = numbers[-1] if numbers else 0
        if element is None:
            inner = None
            if not names:
                root.attrs = attributes
                inner = root
                depth = 1
                number = 0
        else:
            seen += 1
            if seen > MAX_ELEMENTS:
                cut = True
                break
            inner = None
            if tag in SPECIAL:
                if tag == "template" and attributes:
                    inner = element
                elif raw and tag == "script":
                    end = _end_of_raw(html, at, tag)
                    kind = attributes.get("type", "")
                    if is_linked_data(kind) and end - at <= LINKED_CHARS and len(noted.linked_data) < MAX_LINKED_DATA:
                        noted.linked_data.append(html[at:end])
                    formula = tex_of_script(kind, html[at:end])
                    if formula is not None:
                        element.children.append(formula)
                        _note(noted, formula, number, Concealment.NONE)
            elif depth < MAX_DEPTH:
                inner = Element(tag, attributes)
                element.children.append(inner)
                number = _note(noted, inner, number, hidden_by(inner, styles))
                if not void:
                    depth += 1
                elif inner.blocky:
                    element.blocky = True
            elif (
                hidden_by(Element(tag, attributes), styles) is Concealment.NONE
            ):  # later nobody could ask what was above a text
                inner = element
                if is_block(tag):
                    element.children.append("\n")
        if void:
            continue
        names.append(tag)
        into.append(inner)
        numbers.append(number)
        element = inner
        if tag == "math":
            in_math += 1
        elif tag in VERBATIM:
            verbatim += 1
        if raw:
            end = _end_of_raw(html, at, tag)
            if end > at and element is not None:
                element.children.append(html[at:end])
            at = end
        elif newline_added and tag in WITH_NEWLINE and at < size and html[at] == "\n":
            at += 1

    while len(into) > 1:
        inner = into.pop()
        noted.ends[numbers.pop()] = len(noted.elements)
        element = into[-1]
        if inner is not None and element is not None and inner.blocky:
            element.blocky = True
    noted.ends[0] = len(noted.elements)
    return parsed(root, noted, cut=cut, escapes="\x1b" in html or "\x9b" in html)


def _add_space(element: Element) -> None:
    """Add a space where no line begins."""
    last = element.children[-1] if element.children else element
    if isinstance(last, str) or not last.blocky:
        element.children.append(" ")


def _note(noted: Seen, element: Element, parent: int, how: Concealment) -> int:
    """Note an element; its number."""
    number = len(noted.elements)
    noted.elements.append(element)
    noted.parents.append(parent)
    noted.ends.append(number + 1)
    if how is not Concealment.NONE:
        noted.concealed[number] = how
    for name, value in element.attrs.items():
        if name in CONTROLS:
            if value[:1] == "#":
                noted.opened.add(value[1:])
        elif name == "aria-controls":
            noted.opened.update(value.split())
    return number


def closed_by(tag: str, names: list[str]) -> int:
    """How many elements stay open after an end tag: one less, or what HTML is this?"""
    last = len(names) - 1
    lowest = max(0, last - _MISMATCHED)
    place = last
    while place >= lowest and names[place] != tag:
        place -= 1
    return place if place >= lowest else last + 1


def _end_of_raw(html: str, at: int, tag: str) -> int:
    """Where the end tag of an element stands whose text is written as it is."""
    name = f"</{tag}>"
    end = html.rfind(name, at) if tag == "plaintext" else html.find(name, at)
    if end < 0:
        return len(html)
    if tag == "script" and html.find("<!--", at, end) >= 0:
        return end_of_script(html, at, end)
    return end


def end_of_script(html: str, at: int, first: int) -> int:
    """Where a script ends that looks like a comment: in one, `<script>` needs an end tag too (HTML Standard, 13.2.5.26)."""
    escaped = doubly = False
    for match in _IN_SCRIPT.finditer(html, at):
        kind = match.lastgroup
        if kind == "escape":
            escaped = True
        elif kind == "end":
            escaped = doubly = False
        elif kind == "start":
            doubly = escaped
        elif kind == "close":
            if not doubly:
                return match.start()
            doubly = False
    return first  # the page ended in it


def attribute_value(name: str, html: str, start: int, end: int) -> str:
    """The value of an attribute that is written from `start` to `end`, as much of it as is kept."""
    value = html[start : min(end, start + _WRITTEN_CHARS)]
    if "&" in value:
        value = unescaped(value)
    if name in SPLIT_ATTRIBUTES:
        value = " ".join(value.split())
    return value if len(value) <= VALUE_CHARS else cut_value(name, value)


def unescaped(text: str) -> str:
    """`text` with the five references that are written (HTML Standard, 13.3) as the characters that they mean."""
    text = text.replace("&nbsp;", "\xa0").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    return text.replace("&amp;", "&")
