"""PPTX: each slide a heading with its number and title, then what stands on it, tables and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.tree import Element
from webseam.documents.office.package import Package
from webseam.documents.office.written import MAX_NESTING, Lists, written
from webseam.documents.office.xml import all_of, attribute, child, children, name_of, number

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget, Extract
    from webseam.documents.html.tree import Child
    from webseam.documents.office.package import Relation

_NOT_TEXT = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})


def read_slides(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of a presentation. Raises `DocumentError`."""
    package = Package(data, "presentation", "ppt/presentation.xml")
    relations = package.relations(package.main)
    names = [_relation(node) for node in all_of(package.tree(package.main), "sldId")]
    base = Base(url)
    texts: list[str] = []
    links: dict[str, None] = {}
    hidden = seen = 0
    read: set[str] = set()
    for place, name in enumerate(names[: LIMITS.slides], start=1):
        relation = relations.get(name)
        if relation is None or relation.target in read or (texts and budget.spent):
            continue
        read.add(relation.target)
        slide = package.tree(relation.target)
        if attribute(slide, "show") in ("0", "false"):
            hidden += 1
            continue
        tree = _Slide(package.relations(relation.target), budget).read(slide, place)
        if notes := package.related(relation.target, "notesSlide"):
            _notes(package, notes, tree, budget)
        text, _ = written(tree, base, budget.chars)
        budget.chars -= len(text)
        texts.append(text)
        seen += len(tree.children) > 1 or ":" in text
        links.update(dict.fromkeys(page_links(tree, base)))
    extract = package.described("\n\n".join(texts) if seen else "")
    extract.links = tuple(links)
    if hidden:
        extract.notes.append(f"Hidden slides were left out: {hidden}.")
    if len(names) > LIMITS.slides or budget.spent:
        extract.cut = True
        extract.notes.append(f"Of {len(names):,} slides the first {len(texts):,} were read.")
    return extract


def _relation(node: Node) -> str:
    """The relationship that an element names; `id` without a namespace is a number of its own."""
    return next((str(value) for key, value in node.items() if str(key).endswith("}id")), "")


class _Slide:
    def __init__(self, relations: dict[str, Relation], budget: Budget) -> None:
        self._relations = relations
        self._budget = budget
        self._title: list[Child] = []

    def read(self, slide: Node, place: int) -> Element:
        """The slide `place` as a tree."""
        body = Element("section")
        tree = child(slide, "cSld", "spTree")
        if tree is not None:
            self._shapes(tree, body, 0)
        title: list[Child] = [f"Slide {place}", *([": ", *self._title] if self._title else [])]
        body.children.insert(0, Element("h2", {}, title))
        return body

    def _shapes(self, node: Node, into: Element, depth: int) -> None:
        for shape in node:
            name = name_of(shape)
            if not self._budget.take():
                return
            if name == "sp":
                self._text(shape, into)
            elif name == "grpSp" and depth < MAX_NESTING:
                self._shapes(shape, into, depth + 1)
            elif name == "graphicFrame":
                for table in list(all_of(shape, "tbl"))[:20]:
                    into.children.append(self._table(table))
            elif name == "pic":
                properties = child(shape, "nvPicPr", "cNvPr")
                if alt := " ".join(attribute(properties, "descr").split()):
                    into.children.append(Element("p", {}, [Element("img", {"alt": alt})]))
            elif name == "AlternateContent" and (choice := child(shape, "Choice")) is not None and depth < MAX_NESTING:
                self._shapes(choice, into, depth + 1)

    def _text(self, shape: Node, into: Element) -> None:
        placeholder = child(shape, "nvSpPr", "nvPr", "ph")
        kind = attribute(placeholder, "type") if placeholder is not None else "none"
        body = child(shape, "txBody")
        if body is None or kind in _NOT_TEXT:
            return
        if kind in ("title", "ctrTitle") and not self._title:
            for paragraph in children(body, "p"):
                line = self._line(paragraph)
                self._title += [" ", *line] if self._title and line else line
            return
        # The placeholder of a slide's body has bullets unless a paragraph says otherwise; a box of text has none.
        self.paragraphs(body, into, bullets=kind in ("", "body", "obj"))

    def paragraphs(self, body: Node, into: Element, *, bullets: bool) -> None:
        """The paragraphs of a text, those with bullets as nested lists."""
        lists = Lists(into)
        for paragraph in children(body, "p"):
            line = self._line(paragraph)
            if not any(not isinstance(part, str) or part.strip() for part in line):
                continue
            properties = child(paragraph, "pPr")
            marks = {name_of(node) for node in properties} if properties is not None else set()
            level = min(number(attribute(properties, "lvl")), MAX_NESTING)
            if "buNone" in marks or not (bullets or level or marks & {"buChar", "buAutoNum", "buBlip"}):
                lists.end()
                into.children.append(Element("p", {}, line))
                continue
            lists.item(line, level, ordered="buAutoNum" in marks)

    def _line(self, paragraph: Node) -> list[Child]:
        found: list[tuple[tuple[str, ...], str, list[Child]]] = []
        for node in paragraph:
            name = name_of(node)
            if not self._budget.take():
                break
            if name == "br":
                part: Child = Element("br")
                look: tuple[str, ...] = ()
                link = ""
            elif name in ("r", "fld"):
                properties = child(node, "rPr")
                part = "".join(str(text.text or "") for text in children(node, "t"))
                look = _look(properties)
                click = child(properties, "hlinkClick") if properties is not None else None
                relation = self._relations.get(_relation(click)) if click is not None else None
                link = relation.target if relation and relation.external else ""
            else:
                continue
            if found and found[-1][:2] == (look, link):
                found[-1][2].append(part)
            elif part:
                found.append((look, link, [part]))
        line: list[Child] = []
        for look, link, parts in found:
            for tag in look:
                parts = [Element(tag, {}, parts)]
            line += [Element("a", {"href": link}, parts)] if link else parts
        return line

    def _table(self, table: Node) -> Element:
        made = Element("table")
        for row in children(table, "tr"):
            cells: list[Child] = []
            for node in children(row, "tc"):
                if attribute(node, "hMerge") in ("1", "true"):
                    continue
                inside = Element("td", {"colspan": span} if (span := attribute(node, "gridSpan")) else {})
                body = child(node, "txBody")
                if body is not None and attribute(node, "vMerge") not in ("1", "true"):
                    for paragraph in children(body, "p"):
                        inside.children += [*self._line(paragraph), " "]
                cells.append(inside)
            made.children.append(Element("tr", {}, cells))
        return made


def _look(properties: Node | None) -> tuple[str, ...]:
    if properties is None:
        return ()
    on = ("1", "true")
    found = (("em", properties.get("i") in on), ("strong", properties.get("b") in on))
    return tuple(tag for tag, is_so in found if is_so)


def _notes(package: Package, part: str, tree: Element, budget: Budget) -> None:
    """The speaker's notes, after what the slide shows."""
    writer = _Slide(package.relations(part), budget)
    inside = Element("blockquote")
    shapes = child(package.tree(part), "cSld", "spTree")
    for shape in children(shapes, "sp"):
        placeholder = child(shape, "nvSpPr", "nvPr", "ph")
        body = child(shape, "txBody")
        if body is not None and attribute(placeholder, "type") == "body":
            writer.paragraphs(body, inside, bullets=False)
    if inside.children:
        tree.children += [Element("p", {}, ["Notes:"]), inside]
