"""Tables: which rows and cells a `<table>` has, whether it holds data or lays out the page, and GFM's form of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from webseam.documents.html.tree import Child

MAX_COLUMNS = 200
"""Columns beyond are left out: `colspan` may say 1,000 (HTML Standard, section 4.9.11), and pages say 10^9."""

_LAYOUT_INSIDE = frozenset({"table", "h1", "h2", "h3", "h4", "pre", "blockquote", "form", "article", "section"})


@dataclass(slots=True)
class Row:
    """One row; `header` when every cell is a `<th>` or it stands in `<thead>`."""

    cells: list[Element]
    header: bool


@dataclass(slots=True)
class Table:
    """A table's own rows (not those of tables inside it), in the order in which they are shown."""

    rows: list[Row] = field(default_factory=list)
    caption: Element | None = None
    is_data: bool = True


def table_rows(table: Element) -> Table:
    """Read `table`, and judge whether it holds data."""
    found = Table()
    foot: list[Row] = []
    _collect(table, found, found.rows, foot, in_head=False)
    found.rows += foot
    found.is_data = _is_data(table, found)
    return found


def write_table(table: Table, one_line: Callable[[Iterable[Child]], str]) -> str:
    """The table as GFM: its first row is the header (GFM needs one), spanned places are empty, pipes escaped."""
    lines: list[str] = []
    above: dict[int, int] = {}  # column -> how many rows a cell of an earlier row still reaches down
    for row in table.rows:
        texts: list[str] = []
        below: dict[int, int] = {}
        for cell in row.cells:
            _reach_down(texts, above, below)
            if len(texts) >= MAX_COLUMNS:
                break
            wide = min(_span(cell, "colspan"), MAX_COLUMNS - len(texts))
            rows_down = _span(cell, "rowspan") - 1
            if rows_down:
                below.update(dict.fromkeys(range(len(texts), len(texts) + wide), rows_down))
            texts.append(one_line(cell.children).replace("|", "\\|"))
            texts += [""] * (wide - 1)
        _reach_down(texts, above, below)
        below.update({column: rows - 1 for column, rows in above.items() if column >= len(texts) and rows > 1})
        above = below
        if any(texts):
            lines.append("| " + " | ".join(texts) + " |")
            if len(lines) == 1:
                lines.append("|" + "---|" * len(texts))
    return "\n".join(lines)


def _reach_down(texts: list[str], above: dict[int, int], below: dict[int, int]) -> None:
    """Fill the next places of a row that cells of earlier rows reach into."""
    while (rows := above.get(len(texts), 0)) > 0:
        if rows > 1:
            below[len(texts)] = rows - 1
        texts.append("")


def _span(cell: Element, name: str) -> int:
    value = cell.attrs.get(name, "").strip()
    return max(1, min(int(value), 65_534)) if value.isdecimal() and value.isascii() and len(value) < 20 else 1


def _collect(element: Element, table: Table, rows: list[Row], foot: list[Row], *, in_head: bool) -> None:
    for child in element.children:
        if isinstance(child, str):
            if child.strip():
                rows.append(Row([Element("td", {}, [child])], header=False))
        elif child.tag == "tr":
            cells = _cells(child)
            if cells:
                rows.append(Row(cells, in_head or all(cell.tag == "th" for cell in cells)))
        elif child.tag in ("thead", "tbody"):
            _collect(child, table, rows, foot, in_head=child.tag == "thead")
        elif child.tag == "tfoot":
            _collect(child, table, foot, foot, in_head=False)
        elif child.tag == "caption" and table.caption is None:
            table.caption = child
        elif child.tag not in ("colgroup", "col"):
            rows.append(Row([Element("td", {}, [child])], header=False))


def _cells(row: Element) -> list[Element]:
    """The cells of a row, and what else stands in it (which the parser allows only where the tree was cut at its depth)."""
    cells: list[Element] = []
    for child in row.children:
        if isinstance(child, Element) and child.tag in ("td", "th"):
            cells.append(child)
        elif isinstance(child, Element) or child.strip():
            cells.append(Element("td", {}, [child]))
    return cells


def _is_data(element: Element, table: Table) -> bool:
    """Whether a table is for reading as one: more than one row and column, and nothing in it that needs blocks of its own."""
    if element.attrs.get("role", "").lower() in ("presentation", "none"):
        return False
    if len(table.rows) < 2 and not (table.rows and table.rows[0].header):
        return False
    if max((len(row.cells) for row in table.rows), default=0) < 2:
        return False
    for row in table.rows:
        for cell in row.cells:
            if _holds_layout(cell):
                return False
    return True


def _holds_layout(cell: Element) -> bool:
    stack = [cell]
    while stack:
        element = stack.pop()
        for child in element.children:
            if isinstance(child, Element) and child.blocky:
                if child.tag in _LAYOUT_INSIDE:
                    return True
                stack.append(child)
    return False
