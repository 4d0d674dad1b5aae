"""DOCX: the body as a tree of HTML's elements, which the writer of our Markdown knows.

Headings come from styles (by name and outline level), lists from numbering, links from relationships and fields. Text that is
hidden, or struck by a tracked change, is not shown; hidden text is counted. Hidden is also, by itself or by its styles, what
has the color of its paper or letters that are too small to be read. Notes stand at the end, as `[^1]: ...`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.documents.extract import too_long
from webseam.documents.html.escape import indent
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.tree import Element
from webseam.documents.office.package import Package
from webseam.documents.office.written import MAX_NESTING, Lists, written
from webseam.documents.office.xml import all_of, attribute, child, children, name_of, number, parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget, Extract
    from webseam.documents.html.tree import Child
    from webseam.documents.office.package import Relation

_HEADING = re.compile(r"heading ([1-9])")
_LIST_LEVEL = re.compile(r"list (?:bullet|number) ([2-5])")
_CODE = re.compile(r"code|preformatted|listing")
_QUOTE = re.compile(r"quot|block text")
_FIELD = re.compile(r"\s*HYPERLINK\s+\"([^\"]{1,8192})\"")
_OFF = frozenset({"0", "false", "off", "none"})
_WRAPPERS = frozenset({"ins", "smartTag", "sdt", "sdtContent", "fldSimple", "customXml", "dir", "bdo", "moveTo", "Choice"})
_HEX = re.compile(r"[0-9a-f]{6}")
_POINTS = re.compile(r"(\d{1,4}(?:\.\d{1,9})?)(pt|)")
_WHITE = "ffffff"
_UNKNOWN = "?"  # a color that other things decide
_ALIKE = 5  # of 255 in each of red, green and blue
_TINY = 4.0  # half-points
_BASED = 20
_BREAKS = {"br": "br", "cr": "br"}


def read_word(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of a Word document. Raises `DocumentError`."""
    package = Package(data, "Word document", "word/document.xml")
    root = package.tree(package.main)
    writer = _Word(package, budget, _page_color(package, root))
    body = child(root, "body")
    tree = Element("body")
    if body is not None:
        writer.blocks(body, tree, 0)
    base = Base(url)
    content, cut = written(tree, base, budget.chars)
    notes = writer.footnotes(base, budget.chars - len(content))
    extract = package.described("\n\n".join(filter(None, (content, *notes))))
    extract.links = page_links(tree, base)
    extract.hidden = writer.hidden
    if cut or budget.spent:
        extract.cut = True
        extract.notes.append(too_long(extract.content))
    extract.title = extract.title or writer.title
    return extract


@dataclass(frozen=True, slots=True)
class _Letters:
    """What decides whether letters are seen; `None` where nothing is said of it, "" where it is said that there is no color."""

    vanish: bool | None = None
    color: str | None = None
    half_points: float | None = None
    fill: str | None = None  # behind the letters
    paper: str | None = None  # behind the paragraph

    def over(self, below: _Letters) -> _Letters:
        """These with what `below` says of the rest."""
        if self is _NO_LETTERS or below is _NO_LETTERS:
            return below if self is _NO_LETTERS else self
        return _Letters(
            below.vanish if self.vanish is None else self.vanish,
            below.color if self.color is None else self.color,
            below.half_points if self.half_points is None else self.half_points,
            below.fill if self.fill is None else self.fill,
            below.paper if self.paper is None else self.paper,
        )

    def unseen(self, page: str) -> bool:
        """Whether letters are not seen on a page, or in a cell, of that color."""
        if self.vanish or (self.half_points is not None and self.half_points < _TINY):
            return True
        return bool(self.color) and _alike(self.color or "", self.fill or self.paper or page)


_NO_LETTERS = _Letters()


@dataclass(slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int = -1
    numbering: Node | None = None
    letters: _Letters = _NO_LETTERS
    paints: bool = False  # a table's, that gives cells a color


@dataclass(slots=True)
class _Run:
    """Text and what else stands in a line, all of one look."""

    look: tuple[str, ...]
    link: str
    inside: list[Child] = field(default_factory=list)


class _Word:
    def __init__(self, package: Package, budget: Budget, page: str) -> None:
        self.package = package
        self._budget = budget
        self.hidden = 0
        self.title = ""
        self._relations: dict[str, Relation] = package.relations(package.main)
        self._styles, self._default, self._defaults = _read_styles(package)
        self._known: dict[str, _Style] = {}
        self._page = page  # its color, or that of the cell
        self._of_paragraph = _NO_LETTERS
        self._ordered = _read_numbering(package)
        self._notes: dict[tuple[str, str], int] = {}
        self._field: list[str] = []  # the addresses of the fields that are open; "" for other fields
        self._field_code: list[str] | None = None

    # ------------------------------------------------------------------------------------- blocks

    def blocks(self, parent: Node, into: Element, depth: int) -> None:
        """The paragraphs and tables in `parent`."""
        lists = Lists(into)
        for node in parent:
            name = name_of(node)
            if not self._budget.take():
                return
            if name == "p":
                self._paragraph(node, into, lists)
            elif name == "tbl" and depth < MAX_NESTING:
                lists.end()
                into.children.append(self._table(node, depth))
            elif name in _WRAPPERS and depth < MAX_NESTING:
                self.blocks(node, into, depth + 1)
            elif name == "AlternateContent" and (choice := child(node, "Choice")) is not None and depth < MAX_NESTING:
                self.blocks(choice, into, depth + 1)

    def _paragraph(self, node: Node, into: Element, lists: Lists) -> None:
        properties = child(node, "pPr")
        identity = attribute(child(properties, "pStyle"), "val") if properties is not None else ""
        below = self._style(identity if identity in self._styles else self._default).letters.over(self._defaults)
        shade = child(properties, "shd") if properties is not None else None
        self._of_paragraph = below if shade is None else _Letters(paper=_fill(shade)).over(below)
        boxes: list[Node] = []
        line = self._line(node, boxes)
        empty = not any(not isinstance(part, str) or part.strip() for part in line)
        if not empty:
            style = self._style(identity)
            level = self._heading(properties, style)
            numbering = child(properties, "numPr") if properties is not None else None
            numbering = style.numbering if numbering is None else numbering
            numbered = "" if numbering is None else attribute(child(numbering, "numId"), "val")
            if level:
                lists.end()
                heading = Element(f"h{min(level, 6)}", {}, line)
                if level == 1 and not self.title:
                    self.title = _plain(line)
                into.children.append(heading)
            elif numbered not in ("", "0"):
                assert numbering is not None
                depth = level = number(attribute(child(numbering, "ilvl"), "val"))
                if not level and (match := _LIST_LEVEL.match(style.name.lower())):
                    depth = int(match[1]) - 1  # "List Bullet 2" is a list of its own, further in
                lists.item(line, depth, ordered=self._ordered.get((numbered, level), False))
            else:
                lists.end()
                into.children.append(_block(style.name.lower(), line, into))
        for box in boxes:
            lists.end()
            page, self._page = self._page, _UNKNOWN
            self.blocks(box, into, MAX_NESTING - 1)
            self._page = page

    def _table(self, node: Node, depth: int) -> Element:
        table = Element("table")
        page = self._page
        of_table = self._color_of(child(node, "tblPr")) or page
        for row in _rows(node):
            if any(_on(found) for found in children(child(row, "trPr"), "hidden")):
                self.hidden += _size(row)
                continue
            made = Element("tr")
            for cell in children(row, "tc"):
                properties = child(cell, "tcPr")
                merged = child(properties, "vMerge") if properties is not None else None
                inside = Element("td")
                span = attribute(child(properties, "gridSpan"), "val") if properties is not None else ""
                if span:
                    inside.attrs["colspan"] = span
                if merged is None or attribute(merged, "val") == "restart":
                    self._page = self._color_of(properties) or of_table
                    self.blocks(cell, inside, depth + 1)
                    self._page = page
                made.children.append(inside)
            table.children.append(made)
        return table

    def _color_of(self, properties: Node | None) -> str:
        """The color of a table or a cell; "" when it has none of its own."""
        if properties is None:
            return ""
        shade = child(properties, "shd")
        color = "" if shade is None else _fill(shade)
        style = attribute(child(properties, "tblStyle"), "val")
        return color or (_UNKNOWN if style and self._style(style).paints else "")

    def _heading(self, properties: Node | None, style: _Style) -> int:
        """The level of a heading; 0 for other paragraphs."""
        name = style.name.lower()
        if name == "title":
            return 1
        if match := _HEADING.match(name):
            return int(match[1])
        outline = child(properties, "outlineLvl") if properties is not None else None
        level = number(attribute(outline, "val"), 9) if outline is not None else style.outline
        return level + 1 if 0 <= level < 6 else 0

    def _style(self, identity: str) -> _Style:
        """A style with what it takes from those that it is based on."""
        known = self._known.get(identity)
        if known is not None:
            return known
        found = _Style()
        first = identity
        for _ in range(_BASED):
            style = self._styles.get(identity)
            if style is None:
                break
            found.name = found.name or style.name
            if not _HEADING.match(found.name.lower()) and _HEADING.match(style.name.lower()):
                found.name = style.name
            found.outline = style.outline if found.outline < 0 else found.outline
            found.numbering = style.numbering if found.numbering is None else found.numbering
            found.letters = found.letters.over(style.letters)
            found.paints = found.paints or style.paints
            identity = style.based_on
        if first in self._styles:
            self._known[first] = found
        return found

    # ------------------------------------------------------------------------------------- lines

    def _line(self, node: Node, boxes: list[Node]) -> list[Child]:
        runs: list[_Run] = []
        self._field = []
        self._gather(node, "", runs, boxes, 0)
        return [part for run in runs for part in _dressed(run)]

    def _gather(self, node: Node, link: str, runs: list[_Run], boxes: list[Node], depth: int) -> None:
        for inner in node:
            name = name_of(inner)
            if not self._budget.take():
                return
            if name == "r":
                self._run(inner, link, runs, boxes)
            elif name == "hyperlink" and depth < MAX_NESTING:
                relation = self._relations.get(attribute(inner, "id"))
                self._gather(inner, relation.target if relation and relation.external else link, runs, boxes, depth + 1)
            elif name in ("oMath", "oMathPara"):
                text = "".join("".join(map(str, part.itertext())) for part in inner.iter("{*}t"))
                _append(runs, (), link, text)
            elif name == "fldSimple" and (match := _FIELD.match(attribute(inner, "instr"))):
                self._gather(inner, match[1], runs, boxes, depth + 1)
            elif name in _WRAPPERS and depth < MAX_NESTING:
                self._gather(inner, link, runs, boxes, depth + 1)

    def _run(self, node: Node, link: str, runs: list[_Run], boxes: list[Node]) -> None:
        properties = child(node, "rPr")
        look = _look(properties)
        letters = self._of_paragraph
        if properties is not None:
            style = attribute(child(properties, "rStyle"), "val")
            of_style = self._style(style).letters if style else _NO_LETTERS
            if letters.vanish and of_style.vanish is False:
                of_style = _Letters(vanish=True).over(of_style)  # a style does not take back what another hides
            letters = _letters(properties).over(of_style).over(letters)
        hidden = letters.unseen(self._page)
        for inner in node:
            name = name_of(inner)
            if name == "fldChar":
                self._field_mark(attribute(inner, "fldCharType"))
                continue
            if name == "instrText":
                if self._field_code is not None:
                    self._field_code.append(str(inner.text or "")[:8_300])
                continue
            if letters.vanish and name not in ("t", "tab"):
                self.hidden += _size(inner)  # of a drawing; a note is not called either
                continue
            part = self._part(name, inner, boxes)
            if not part:
                continue
            if hidden:
                self.hidden += len(part) if isinstance(part, str) else 0
            else:
                _append(runs, look, link or next(filter(None, reversed(self._field)), ""), part)

    def _part(self, name: str, node: Node, boxes: list[Node]) -> Child:
        """What one child of a run puts into the line; text boxes are put aside, as blocks that follow."""
        if name == "t":
            return str(node.text or "")
        if name in _BREAKS:
            return Element("br") if attribute(node, "type") in ("", "textWrapping") else " "
        if name == "tab":
            return "\t"
        if name == "noBreakHyphen":
            return "-"
        if name in ("footnoteReference", "endnoteReference"):
            key = (name.removesuffix("Reference"), attribute(node, "id"))
            return f"[^{self._notes.setdefault(key, len(self._notes) + 1)}]"
        if name == "AlternateContent":
            choice = child(node, "Choice")
            return "" if choice is None else self._part("drawing", choice, boxes)
        if name in ("drawing", "pict"):
            boxes += list(node.iter("{*}txbxContent"))[:100]
            alt = next((attribute(found, "descr") for found in node.iter("{*}docPr")), "")
            return Element("img", {"alt": alt}) if alt else ""
        return ""

    def _field_mark(self, kind: str) -> None:
        if kind == "begin":
            self._field_code = []
        elif kind == "separate":
            match = _FIELD.match("".join(self._field_code or ())[:9_000])
            self._field.append(match[1] if match else "")
            self._field_code = None
        elif kind == "end":
            if self._field_code is None and self._field:
                self._field.pop()
            self._field_code = None

    # ------------------------------------------------------------------------------------- notes

    def footnotes(self, base: Base, room: int) -> list[str]:
        """The notes that the text refers to, in order."""
        parts = {kind: self._note_bodies(kind) for kind in ("footnote", "endnote")} if self._notes else {}
        found: list[str] = []
        for (kind, identity), mark in list(self._notes.items()):
            node = parts[kind].get(identity)
            if node is None or room <= 0:
                continue
            tree = Element("div")
            self.blocks(node, tree, 0)
            text, _ = written(tree, base, room)
            room -= len(text)
            if text:
                found.append(f"[^{mark}]: " + indent(text, 4).lstrip(" "))
        return found

    def _note_bodies(self, kind: str) -> dict[str, Node]:
        part = self.package.related(self.package.main, kind + "s")
        if not part:
            return {}
        self._relations = self._relations | self.package.relations(part)
        return {attribute(node, "id"): node for node in children(self.package.tree(part), kind)}


def _append(runs: list[_Run], look: tuple[str, ...], link: str, part: Child) -> None:
    """Add to the last run when it has the same look: Word begins new ones for its own reasons."""
    if not runs or runs[-1].look != look or runs[-1].link != link:
        if isinstance(part, str) and not part.strip() and runs and runs[-1].link == link:
            runs[-1].inside.append(part)  # a space has no look
            return
        runs.append(_Run(look, link))
    runs[-1].inside.append(part)


def _dressed(run: _Run) -> list[Child]:
    parts = run.inside
    for tag in reversed(run.look):
        parts = [Element(tag, {}, parts)]
    return [Element("a", {"href": run.link}, parts)] if run.link else parts


def _look(properties: Node | None) -> tuple[str, ...]:
    """The elements that show how a run looks."""
    if properties is None:
        return ()
    found: list[str] = []
    for node in properties:
        name, value = name_of(node), attribute(node, "val").lower()
        if name == "vertAlign":
            found += {"superscript": ["sup"], "subscript": ["sub"]}.get(value, [])
        elif value in _OFF:
            continue
        elif name == "b":
            found.append("strong")
        elif name == "i":
            found.append("em")
        elif name in ("strike", "dstrike"):
            found.append("del")
        elif name == "rStyle" and _CODE.search(value):
            found.append("code")
    return tuple(sorted(set(found)))


def _letters(properties: Node | None) -> _Letters:
    """What the properties of a run, or those of a style, say of whether it is seen."""
    vanish: bool | None = None
    color: str | None = None
    size: float | None = None
    fill: str | None = None
    for node in properties if properties is not None else ():
        name = name_of(node)
        if name == "vanish":
            vanish = _on(node)
        elif name == "color":
            color = _color(attribute(node, "val"))
        elif name == "sz" and (match := _POINTS.fullmatch(attribute(node, "val"))):
            size = float(match[1]) * (2 if match[2] else 1)
        elif name == "shd":
            fill = fill or _fill(node)
        elif name == "highlight" and attribute(node, "val") not in ("", "none"):
            fill = _WHITE if attribute(node, "val") == "white" else _UNKNOWN
    if vanish is None and color is None and size is None and fill is None:
        return _NO_LETTERS
    return _Letters(vanish, color, size, fill)


def _on(node: Node) -> bool:
    return attribute(node, "val").lower() not in _OFF


def _color(value: str) -> str:
    """A color as six digits; "" for what is not one ("auto")."""
    value = value.lower()
    return value if _HEX.fullmatch(value) else ""


def _fill(shade: Node) -> str:
    """The color of a shade, "" when it lets through what is behind it."""
    pattern = attribute(shade, "val").lower()
    if pattern in ("", "clear", "nil", "none"):
        return _color(attribute(shade, "fill"))
    return _color(attribute(shade, "color")) or "000000" if pattern == "solid" else _UNKNOWN


def _alike(one: str, other: str) -> bool:
    if other == _UNKNOWN:
        return False
    return all(abs(first - second) <= _ALIKE for first, second in zip(bytes.fromhex(one), bytes.fromhex(other), strict=True))


def _size(node: Node) -> int:
    """The characters in an element."""
    return sum(len(str(text.text or "")) for text in all_of(node, "t"))


def _page_color(package: Package, root: Node) -> str:
    background = child(root, "background")
    color = "" if background is None else _color(attribute(background, "color"))
    part = package.related(package.main, "settings") if color else ""
    shown = child(package.tree(part), "displayBackgroundShape") if part else None
    return color if shown is not None and _on(shown) else _WHITE


def _block(style: str, line: list[Child], into: Element) -> Element:
    """A paragraph, or what its style says it is; lines of code that follow one another are one block."""
    if _CODE.search(style):
        last = into.children[-1] if into.children else None
        if isinstance(last, Element) and last.tag == "pre":
            last.children += ["\n", *line]
            into.children.pop()
            return last
        return Element("pre", {}, line)
    if _QUOTE.search(style):
        return Element("blockquote", {}, [Element("p", {}, line)])
    return Element("p", {}, line)


def _plain(line: Iterable[Child]) -> str:
    return " ".join("".join(part if isinstance(part, str) else _plain(part.children) for part in line).split())


def _rows(table: Node) -> Iterable[Node]:
    for node in table:
        name = name_of(node)
        if name == "tr":
            yield node
        elif name == "sdt" and (content := child(node, "sdtContent")) is not None:
            yield from children(content, "tr")


def _read_styles(package: Package) -> tuple[dict[str, _Style], str, _Letters]:
    """The styles, the name of that of a paragraph without one, and how letters look where nothing is said."""
    part = package.related(package.main, "styles")
    found: dict[str, _Style] = {}
    default = ""
    if not part:
        return found, default, _NO_LETTERS
    root = package.tree(part)
    for node in children(root, "style"):
        properties = child(node, "pPr")
        outline = child(properties, "outlineLvl") if properties is not None else None
        shade = child(properties, "shd") if properties is not None else None
        kind, identity = attribute(node, "type"), attribute(node, "styleId")
        letters = _letters(child(node, "rPr"))
        if shade is not None:
            letters = _Letters(paper=_fill(shade)).over(letters)
        if kind == "paragraph" and attribute(node, "default").lower() in ("1", "true", "on"):
            default = identity
        found[identity] = _Style(
            name=attribute(child(node, "name"), "val"),
            based_on=attribute(child(node, "basedOn"), "val"),
            outline=number(attribute(outline, "val"), 9) if outline is not None else -1,
            numbering=child(properties, "numPr") if properties is not None else None,
            letters=letters,
            paints=kind == "table" and any(_fill(painted) for painted in all_of(node, "shd")),
        )
    return found, default, _letters(child(root, "docDefaults", "rPrDefault", "rPr"))


def _read_numbering(package: Package) -> dict[tuple[str, int], bool]:
    """(list, level) -> whether its items are numbered."""
    part = package.related(package.main, "numbering")
    if not part:
        return {}
    root = parse(package.read(part))
    abstract: dict[str, dict[int, bool]] = {}
    for node in children(root, "abstractNum"):
        abstract[attribute(node, "abstractNumId")] = {
            number(attribute(level, "ilvl")): attribute(child(level, "numFmt"), "val") not in ("bullet", "none", "")
            for level in children(node, "lvl")
        }
    found: dict[tuple[str, int], bool] = {}
    for node in children(root, "num"):
        for level, ordered in abstract.get(attribute(child(node, "abstractNumId"), "val"), {}).items():
            found[attribute(node, "numId"), level] = ordered
    return found
