"""XLSX: each sheet a heading and tables, read as a stream of rows.

Only cells that are there are looked at, so what a sheet says of its size ("A1:XFD1048576") costs nothing. Numbers are shown as
they are kept, to fifteen digits as spreadsheets do, dates as ISO 8601, percentages as such. A formula shows its last result.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, NamedTuple

from webseam.config import LIMITS
from webseam.documents.html.escape import escape
from webseam.documents.html.links import Base
from webseam.documents.office.package import Package
from webseam.documents.office.xml import all_of, attribute, child, children, name_of, number, parts_of, stream
from webseam.documents.tabular import CELL_CHARS, blocks, cell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget, Extract

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_NOT_DATE = re.compile(r"\"[^\"]*\"|\\.|\[(?![hms]+\])[^\]]*\]|_.|\*.", re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[dmyhs]", re.IGNORECASE)
_SHARED_CHARS = 16_000_000
_DATES = frozenset({*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)})
_PERCENT = frozenset({9, 10})
_EPOCH = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets know no time zones
_EPOCH_1904 = dt.datetime(1904, 1, 1)  # noqa: DTZ001 - as above


def read_sheets(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of a workbook. Raises `DocumentError`."""
    package = Package(data, "spreadsheet", "xl/workbook.xml")
    workbook = package.tree(package.main)
    if name_of(workbook) != "workbook":
        raise package.archive.error("is of the binary kind or damaged, and is not read: look for one saved as .xlsx or CSV")
    relations = package.relations(package.main)
    book = _Book(package, workbook, Base(url), budget)
    written: list[str] = []
    notes: list[str] = []
    unseen = 0
    for sheet in list(all_of(workbook, "sheet"))[: LIMITS.sheets]:
        relation = relations.get(attribute(sheet, "id"))
        if attribute(sheet, "state") in ("hidden", "veryHidden"):
            unseen += 1
        elif relation is not None and relation.kind == "worksheet" and not budget.spent:
            name = " ".join(attribute(sheet, "name")[:200].split())
            text = book.sheet(relation.target, name, notes)
            written.append(f"## {escape(name)}" + ("\n\n" + text if text else ""))
            budget.chars -= len(text)
    extract = package.described("\n\n".join(written))
    if unseen:
        notes.append(f"Hidden sheets were left out: {unseen}.")
    if book.unworked:
        notes.append(f"Formulas whose results are not in the file, so that their cells are empty here: {book.unworked:,}.")
    extract.notes += notes
    extract.cut |= book.cut or budget.spent
    extract.links = tuple(book.links)
    if book.empty:
        extract.content = ""
    return extract


class _Format(NamedTuple):
    date: bool = False
    percent: bool = False


class _Book:
    def __init__(self, package: Package, workbook: Node, base: Base, budget: Budget) -> None:
        self.package = package
        self.base = base
        self.budget = budget
        self.cut = False
        self.empty = True
        self.unworked = 0  # formulas without a result
        self.links: dict[str, None] = {}
        properties = child(workbook, "workbookPr")
        self._epoch = _EPOCH_1904 if attribute(properties, "date1904").lower() in ("1", "true") else _EPOCH
        self._formats = self._read_formats()
        self._shared = self._read_shared()
        self._shared_cells: dict[int, str] = {}
        self._cells = LIMITS.workbook_cells

    def sheet(self, part: str, name: str, notes: list[str]) -> str:
        """The tables of one sheet."""
        rows: list[list[str]] = []
        places: dict[str, tuple[int, int]] = {}  # "B3" -> where it went
        following = 1
        wide = long = False
        room = self.budget.chars
        relations: dict[str, str] = {}
        for node in stream(self.package.read(part), "row", "hyperlink"):
            if name_of(node) == "hyperlink":
                if not relations:
                    relations = {key: found.target for key, found in self.package.relations(part).items() if found.external}
                self._link(rows, places.get(attribute(node, "ref")), relations.get(attribute(node, "id"), ""))
                continue
            if attribute(node, "hidden") in ("1", "true"):
                continue
            if len(rows) >= LIMITS.sheet_rows or self._cells <= 0 or room <= 0 or self.budget.late:
                long = True
                break
            at = number(attribute(node, "r"), following)
            if at > following and rows:
                rows.append([])
            following = at + 1
            row: list[str] = []
            for column, reference, text in self._row(node):
                if column >= LIMITS.sheet_columns:
                    wide = True
                    break
                row += [""] * (column - len(row))
                if column == len(row):
                    row.append(text)
                    room -= len(text) + 3
                    places[reference] = (len(rows), column)
            rows.append(row)
        if long:
            notes.append(f"The sheet “{name[:100]}” has more rows: its first {len(rows):,} are here.")
        if wide:
            notes.append(f"The sheet “{name[:100]}” has more columns: its first {LIMITS.sheet_columns} are here.")
        self.cut |= long or wide
        text = blocks(rows)
        self.empty &= not text
        return text

    def _row(self, row: Node) -> Iterable[tuple[int, str, str]]:
        column = -1
        for node in row:
            if name_of(node) != "c":
                continue
            reference = attribute(node, "r")
            match = _REFERENCE.fullmatch(reference)
            column = _column(match[1]) if match else column + 1
            self._cells -= 1
            if text := self._value(node):
                yield column, reference, text

    def _value(self, node: Node) -> str:
        """What a cell shows, as Markdown."""
        kind = node.get("t", "n")
        if kind == "inlineStr":
            return cell(_string(child(node, "is")))
        value = child(node, "v")
        raw = str(value.text or "") if value is not None else ""
        if kind == "s":
            place = number(raw, -1)
            return self._shared_cell(place)
        if kind == "b":
            return {"0": "FALSE", "1": "TRUE"}.get(raw, cell(raw))
        if not raw and kind != "str" and child(node, "f") is not None:
            self.unworked += 1
        if kind in ("str", "e", "d") or not raw:
            return cell(raw)
        return self._number(raw, self._formats.get(number(node.get("s", "")), _Format()))

    def _shared_cell(self, place: int) -> str:
        """A shared string as a cell; it may stand in very many, so it is made one once."""
        if not 0 <= place < len(self._shared):
            return ""
        text = self._shared_cells.get(place)
        if text is None:
            text = self._shared_cells[place] = cell(self._shared[place])
        return text

    def _number(self, raw: str, shown: _Format) -> str:
        try:
            value = float(raw)
        except ValueError:
            return cell(raw)
        if shown.date:
            try:
                moment = self._epoch + dt.timedelta(seconds=round(value * 86_400))
            except (OverflowError, ValueError):
                return cell(raw)
            if value < 1:
                return moment.time().isoformat()
            return moment.date().isoformat() if value == int(value) else moment.isoformat(" ")
        if shown.percent:
            return f"{value * 100:.10g}%"
        return f"{value:.15g}"

    def _link(self, rows: list[list[str]], place: tuple[int, int] | None, target: str) -> None:
        url = self.base.target(target)
        if place is None or not url or len(self.links) >= 5_000:
            return
        row, column = place
        text = rows[row][column]
        self.links[url] = None
        if "](" not in text:
            rows[row][column] = url if text == url else f"[{text.replace('[', '').replace(']', '')}]({url})"

    def _read_shared(self) -> list[str]:
        part = self.package.related(self.package.main, "sharedStrings")
        found: list[str] = []
        room = _SHARED_CHARS
        for node in stream(self.package.read(part), "si") if part else ():
            found.append(_string(node))
            room -= len(found[-1]) + 50
            if room < 0 or self.budget.late:
                self.cut = True
                break
        return found

    def _read_formats(self) -> dict[int, _Format]:
        part = self.package.related(self.package.main, "styles")
        if not part:
            return {}
        root = self.package.tree(part)
        codes = {number(attribute(node, "numFmtId")): attribute(node, "formatCode")[:300] for node in all_of(root, "numFmt")}
        found: dict[int, _Format] = {}
        for index, node in enumerate(children(child(root, "cellXfs"), "xf")):
            identity = number(attribute(node, "numFmtId"))
            code = _NOT_DATE.sub("", codes.get(identity, ""))
            found[index] = _Format(
                date=identity in _DATES or (bool(_DATE_LETTERS.search(code)) and "general" not in code.lower()),
                percent=identity in _PERCENT or "%" in code,
            )
        return found


def _string(node: Node | None) -> str:
    """The text of a string of runs, without its phonetic reading."""
    parts: list[str] = []
    for inner in parts_of(node):
        if name_of(inner) == "t":
            parts.append(str(inner.text or ""))
        elif name_of(inner) == "r":
            parts += [str(text.text or "") for text in children(inner, "t")]
    return "".join(parts)[:CELL_CHARS]


def _column(letters: str) -> int:
    """ "A" -> 0, "AA" -> 26."""
    place = 0
    for letter in letters.upper():
        place = place * 26 + ord(letter) - 64
    return place - 1
