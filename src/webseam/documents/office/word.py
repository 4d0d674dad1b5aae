"""DOCX: the body as a tree of HTML's elements, which the writer of our Markdown knows.

Headings come from styles (by name and outline level), lists from numbering, links from relationships and fields. Text that is
hidden, or struck by a tracked change, is not shown; hidden text is counted. Notes stand at the end, as `[^1]: ...`.
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
from webseam.documents.office.xml import attribute, child, children, name_of, number, parse

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
_BREAKS = {"br": "br", "cr": "br"}


def read_word(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of a Word document. Raises `DocumentError`."""
    package = Package(data, "Word document", "word/document.xml")
    writer = _Word(package, budget)
    body = child(package.tree(package.main), "body")
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


@dataclass(slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int = -1
    numbering: Node | None = None


@dataclass(slots=True)
class _Run:
    """Text and what else stands in a line, all of one look."""

    look: tuple[str, ...]
    link: str
    inside: list[Child] = field(default_factory=list)


class _Word:
    def __init__(self, package: Package, budget: Budget) -> None:
        self.package = package
        self._budget = budget
        self.hidden = 0
        self.title = ""
        self._relations: dict[str, Relation] = package.relations(package.main)
        self._styles = _read_styles(package)
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
        boxes: list[Node] = []
        line = self._line(node, boxes)
        empty = not any(not isinstance(part, str) or part.strip() for part in line)
        if not empty:
            style = self._style(attribute(child(properties, "pStyle"), "val")) if properties is not None else _Style()
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
            self.blocks(box, into, MAX_NESTING - 1)

    def _table(self, node: Node, depth: int) -> Element:
        table = Element("table")
        for row in _rows(node):
            made = Element("tr")
            for cell in children(row, "tc"):
                properties = child(cell, "tcPr")
                merged = child(properties, "vMerge") if properties is not None else None
                inside = Element("td")
                span = attribute(child(properties, "gridSpan"), "val") if properties is not None else ""
                if span:
                    inside.attrs["colspan"] = span
                if merged is None or attribute(merged, "val") == "restart":
                    self.blocks(cell, inside, depth + 1)
                made.children.append(inside)
            table.children.append(made)
        return table

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
        found = _Style()
        for _ in range(10):
            style = self._styles.get(identity)
            if style is None:
                break
            found.name = found.name or style.name
            if not _HEADING.match(found.name.lower()) and _HEADING.match(style.name.lower()):
                found.name = style.name
            found.outline = style.outline if found.outline < 0 else found.outline
            found.numbering = style.numbering if found.numbering is None else found.numbering
            identity = style.based_on
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
        look, hidden = _look(child(node, "rPr"))
        for inner in node:
            name = name_of(inner)
            if name == "fldChar":
                self._field_mark(attribute(inner, "fldCharType"))
                continue
            if name == "instrText":
                if self._field_code is not None:
                    self._field_code.append(str(inner.text or "")[:8_300])
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


def _look(properties: Node | None) -> tuple[tuple[str, ...], bool]:
    """The elements that show how a run looks, and whether it is hidden."""
    if properties is None:
        return (), False
    found: list[str] = []
    hidden = False
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
        elif name in ("vanish", "webHidden"):
            hidden = hidden or name == "vanish"
        elif name == "rStyle" and _CODE.search(value):
            found.append("code")
    return tuple(sorted(set(found))), hidden


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


def _read_styles(package: Package) -> dict[str, _Style]:
    part = package.related(package.main, "styles")
    found: dict[str, _Style] = {}
    for node in children(package.tree(part), "style") if part else ():
        properties = child(node, "pPr")
        outline = child(properties, "outlineLvl") if properties is not None else None
        found[attribute(node, "styleId")] = _Style(
            name=attribute(child(node, "name"), "val"),
            based_on=attribute(child(node, "basedOn"), "val"),
            outline=number(attribute(outline, "val"), 9) if outline is not None else -1,
            numbering=child(properties, "numPr") if properties is not None else None,
        )
    return found


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
