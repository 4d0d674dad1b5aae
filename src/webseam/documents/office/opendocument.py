"""OpenDocument text, spreadsheets and presentations: one `content.xml` for all three (OASIS OpenDocument 1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.extract import Extract, given_author, given_title, iso_date, last_date, too_long
from webseam.documents.html.escape import escape, indent
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.tree import Element
from webseam.documents.office.archive import Archive
from webseam.documents.office.written import MAX_NESTING, written
from webseam.documents.office.xml import all_of, attribute, child, children, name_of, number, parse, parts_of, text_in
from webseam.documents.tabular import blocks, cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget
    from webseam.documents.html.tree import Child

_BLOCKS = frozenset({"section", "text-box", "frame", "g", "index-body", "table-of-content", "list-header", "page-content"})


def read_open_document(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of an OpenDocument file. Raises `DocumentError`."""
    archive = Archive(data, "OpenDocument file")
    part = archive.read("content.xml")
    if not part.data:
        raise archive.error("is damaged or cut off: the part with its text is missing. Look for another copy")
    root = parse(part.data)
    if any(True for _ in all_of(parse(archive.read("META-INF/manifest.xml").data), "encryption-data")):
        raise archive.error("is protected by a password: look for a copy that is not")
    body = child(root, "body")
    inner = body[0] if body is not None and len(body) else None
    writer = _Writer(root, budget)
    notes: list[str] = []
    tree = Element("body")
    if inner is not None and name_of(inner) == "spreadsheet":
        content, cut = _sheets(inner, budget, notes)
    else:
        if inner is not None and name_of(inner) == "presentation":
            writer.slides(inner, tree)
        elif inner is not None:
            writer.blocks(inner, tree, 0)
        base = Base(url)
        content, cut = written(tree, base, budget.chars)
        found = [(mark, written(note, base, max(0, budget.chars - len(content)))[0]) for mark, note in writer.notes]
        content = "\n\n".join(filter(None, [content, *(f"[^{mark}]: " + indent(text, 4).lstrip(" ") for mark, text in found)]))
    extract = Extract(content, links=page_links(tree, Base(url)), cut=cut or part.cut or archive.damaged, notes=notes)
    if (cut or budget.spent) and not notes:
        extract.cut = True
        notes.append(too_long(content))
    if archive.damaged:
        notes.append("The file is damaged or cut off: this is what could be read of it.")
    created = changed = ""
    for node in parts_of(child(parse(archive.read("meta.xml").data), "meta")):
        text = text_in(node)
        match name_of(node):
            case "title":
                extract.title = given_title(text)
            case "creator":
                extract.author = given_author(text) or extract.author
            case "initial-creator":
                extract.author = extract.author or given_author(text)
            case "language":
                extract.language = text
            case "date":
                changed = iso_date(text)
            case "creation-date":
                created = iso_date(text)
    extract.date = last_date(created, changed)
    extract.title = extract.title or writer.title
    return extract


class _Writer:
    def __init__(self, root: Node, budget: Budget) -> None:
        self._budget = budget
        self.title = ""
        self.notes: list[tuple[int, Element]] = []
        self._looks: dict[str, tuple[str, ...]] = {}
        self._ordered: set[str] = set()
        for styles in children(root, "automatic-styles"):
            for style in styles:
                name = attribute(style, "name")
                if name_of(style) == "style" and (properties := child(style, "text-properties")) is not None:
                    found = (
                        ("em", attribute(properties, "font-style") == "italic"),
                        ("strong", attribute(properties, "font-weight") in ("bold", "700", "800", "900")),
                        ("del", attribute(properties, "text-line-through-style") not in ("", "none")),
                    )
                    self._looks[name] = tuple(tag for tag, is_so in found if is_so)
                elif name_of(style) == "list-style" and child(style, "list-level-style-number") is not None:
                    self._ordered.add(name)

    def slides(self, parent: Node, into: Element) -> None:
        """The pages of a presentation."""
        for place, page in enumerate(children(parent, "page")[: LIMITS.slides], start=1):
            frames = [node for node in page if name_of(node) != "notes"]
            title = next((node for node in frames if attribute(node, "class") == "title"), None)
            words: list[Child] = [f"Slide {place}"]
            if title is not None and (text := text_in(title)):
                words.append(f": {text}")
            into.children.append(Element("h2", {}, words))
            for node in frames:
                if node is not title:
                    self.blocks(node, into, 1)
            notes = child(page, "notes")
            if notes is not None and text_in(notes):
                quote = Element("blockquote")
                self.blocks(notes, quote, 1)
                into.children += [Element("p", {}, ["Notes:"]), quote]

    def blocks(self, parent: Node, into: Element, depth: int) -> None:
        """The blocks in `parent`."""
        for node in parent:
            name = name_of(node)
            if not self._budget.take():
                return
            if name == "h":
                level = max(1, min(number(attribute(node, "outline-level"), 1), 6))
                if not self.title:
                    self.title = text_in(node)
                into.children.append(Element(f"h{level}", {}, self.line(node, 0)))
            elif name == "p":
                into.children.append(Element("p", {}, self.line(node, 0)))
                for frame in children(node, "frame") if depth < MAX_NESTING else ():
                    self.blocks(frame, into, depth + 1)
            elif depth >= MAX_NESTING:
                continue
            elif name == "list":
                made = Element("ol" if attribute(node, "style-name") in self._ordered else "ul")
                for item in children(node, "list-item"):
                    inside = Element("li")
                    self.blocks(item, inside, depth + 1)
                    made.children.append(inside)
                into.children.append(made)
            elif name == "table":
                into.children.append(self._table(node, depth))
            elif name == "image":
                continue
            elif name in _BLOCKS:
                self.blocks(node, into, depth + 1)

    def _table(self, node: Node, depth: int) -> Element:
        table = Element("table")
        for row in _rows(node):
            made = Element("tr")
            for inner in row:
                if name_of(inner) in ("table-cell", "covered-table-cell"):
                    inside = Element("td")
                    self.blocks(inner, inside, depth + 1)
                    made.children.append(inside)
            table.children.append(made)
        return table

    def line(self, node: Node, depth: int) -> list[Child]:
        """What stands in a paragraph."""
        found: list[Child] = [str(node.text or "")]
        for inner in node:
            name = name_of(inner)
            if not self._budget.take():
                break
            if name == "s":
                found.append(" ")
            elif name == "tab":
                found.append("\t")
            elif name == "line-break":
                found.append(Element("br"))
            elif name == "note" and depth < MAX_NESTING:
                body = Element("div")
                mark = len(self.notes) + 1
                self.notes.append((mark, body))
                if (note := child(inner, "note-body")) is not None:
                    self.blocks(note, body, MAX_NESTING - 1)
                found.append(f"[^{mark}]")
            elif name == "a" and depth < MAX_NESTING:
                found.append(Element("a", {"href": attribute(inner, "href")}, self.line(inner, depth + 1)))
            elif name in ("span", "meta", "bookmark-ref", "ruby", "ruby-base") and depth < MAX_NESTING:
                inside = self.line(inner, depth + 1)
                for tag in self._looks.get(attribute(inner, "style-name"), ()):
                    inside = [Element(tag, {}, inside)]
                found += inside
            elif name == "frame":
                alt = text_in(child(inner, "desc")) or text_in(child(inner, "title"))
                if alt:
                    found.append(Element("img", {"alt": alt}))
            found.append(str(inner.tail or ""))
        return found


def _rows(table: Node) -> Iterator[Node]:
    stack = [iter(table)]
    while stack:
        for node in stack[-1]:
            name = name_of(node)
            if name == "table-row":
                yield node
            elif name in ("table-header-rows", "table-rows", "table-row-group") and len(stack) < MAX_NESTING:
                stack.append(iter(node))
                break
        else:
            stack.pop()


def _sheets(parent: Node, budget: Budget, notes: list[str]) -> tuple[str, bool]:
    """The sheets; what is repeated is repeated only within the bounds, and empty rows and cells once."""
    found: list[str] = []
    cut = seen = False
    room = LIMITS.workbook_cells
    for sheet in children(parent, "table")[: LIMITS.sheets]:
        if budget.spent:
            cut = True
            break
        rows: list[list[str]] = []
        name = " ".join(attribute(sheet, "name")[:200].split())
        for node in _rows(sheet):
            if len(rows) >= LIMITS.sheet_rows or room <= 0 or budget.late:
                notes.append(f"The sheet “{name[:100]}” has more rows: its first {len(rows):,} are here.")
                cut = True
                break
            if attribute(node, "visibility") in ("collapse", "filter"):
                continue
            row = _row(node)
            times = number(attribute(node, "number-rows-repeated"), 1) if any(row) else 1
            rows += [row] * min(times, LIMITS.sheet_rows - len(rows))
            room -= (len(row) + 1) * min(times, LIMITS.sheet_rows)
        text = blocks(rows)
        seen |= bool(text)
        budget.chars -= len(text)
        found.append(f"## {escape(name)}" + ("\n\n" + text if text else ""))
    return ("\n\n".join(found) if seen else ""), cut


def _row(node: Node) -> list[str]:
    row: list[str] = []
    for inner in node:
        if name_of(inner) not in ("table-cell", "covered-table-cell"):
            continue
        kind = attribute(inner, "value-type")
        shown = "\n".join(text_in(text) for text in children(inner, "p"))
        text = cell(attribute(inner, "date-value") if kind == "date" else shown)
        times = number(attribute(inner, "number-columns-repeated"), 1)
        row += [text] * max(0, min(times, LIMITS.sheet_columns - len(row)))
    while row and not row[-1]:
        row.pop()
    return row
