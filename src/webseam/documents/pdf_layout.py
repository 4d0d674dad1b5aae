"""Pieces of text with their places on a page, put into reading order and made paragraphs, items and tables. Pure.

Columns: a gutter is a vertical line that few pieces cross and that has running text on both sides; what crosses it (a title, a
wide figure's words) divides what is above from what is below, and in each part the left column comes before the right. Without
one, pieces of one height are a row, and rows follow one another downwards. Rows of several pieces that line up are a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from webseam.documents.tabular import cell, table

MAX_CUTS = 6
"""Gutters within what another one divided."""

TEXT_CHARS = 15
"""Characters a line that running text has at least, on the average: cells of tables have fewer."""

MIN_LINES = 4
_MAX_COLUMNS = 30
_BULLET = re.compile(r"(?:[•◦▪▫●○■□‣⁃∙·‐–—*-]|\uf0b7|\uf0a7|o(?=\s))\s+(?=\S)")
_BULLET_ALONE = re.compile(r"[•◦▪▫●○■□‣⁃∙·–—-]|\uf0b7|\uf0a7|\(?(?:\d{1,3}|[a-zA-Z])[.)]")
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-z][.)]|\[\d{1,3}\])\s+(?=\S)")
_HYPHEN_END = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]$")
_LEADERS = re.compile(r"(?:[ ]?[.·…_]){4,}[ ]?")
_ENDS = (".", "!", "?", ":", ";", "。", "！", "？")


class Piece(NamedTuple):
    """A line of text, or a part of one; the box in points, y upwards; `size` is the height of its letters."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float


@dataclass(slots=True)
class Block:
    """A paragraph, one item of a list (`item`), or a `table`; the latter two are Markdown already. `size` is rounded.

    `y` is the height of the middle of its first line, in points; of a single line, `pieces` are what wide gaps divide.
    """

    text: str
    size: float = 0.0
    lines: int = 1
    table: bool = False
    item: bool = False
    y: float = 0.0
    pieces: tuple[str, ...] = ()


Row = list[Piece]


def page_blocks(pieces: list[Piece]) -> list[Block]:
    """The blocks of a page in reading order."""
    upright = [piece for piece in pieces if piece.y1 - piece.y0 <= 3 * piece.size or len(piece.text) <= 3]
    turned = [piece for piece in pieces if piece.y1 - piece.y0 > 3 * piece.size and len(piece.text) > 3]
    blocks: list[Block] = []
    for region in _regions(upright, MAX_CUTS):
        blocks += _region_blocks(_rows(region))
    return blocks + [Block(piece.text, _rounded(piece.size), y=(piece.y0 + piece.y1) / 2) for piece in turned]


def _regions(pieces: list[Piece], cuts: int) -> list[list[Piece]]:
    """The parts of a page without a gutter in them, in reading order."""
    gutter = _gutter(pieces) if cuts and len(pieces) >= 2 * MIN_LINES else None
    if gutter is None:
        return [pieces] if pieces else []
    found: list[list[Piece]] = []
    left: list[Piece] = []
    right: list[Piece] = []
    across: list[Piece] = []

    def flush() -> None:
        found.extend(_regions(left.copy(), cuts - 1))
        found.extend(_regions(right.copy(), cuts - 1))
        left.clear()
        right.clear()

    for piece in sorted(pieces, key=lambda piece: -piece.y1):
        if piece.x0 < gutter < piece.x1:
            if left or right:
                flush()
            across.append(piece)
            continue
        if across:
            found.append(list(across))
            across.clear()
        (left if piece.x1 <= gutter else right).append(piece)
    flush()
    if across:
        found.append(across)
    return found


def _gutter(pieces: list[Piece]) -> float | None:
    """The x of the line between two columns of running text; None when there is none."""
    start = min(piece.x0 for piece in pieces)
    width = max(piece.x1 for piece in pieces) - start
    if not 50 <= width <= 20_000:
        return None
    steps = 200
    crossing = [0] * (steps + 1)
    for piece in pieces:
        crossing[max(0, min(steps, int((piece.x0 - start) / width * steps + 0.999)))] += 1
        crossing[max(0, min(steps, int((piece.x1 - start) / width * steps)))] -= 1
    total = 0
    for step in range(steps + 1):
        total += crossing[step]
        crossing[step] = total
    inner = range(steps // 8, steps - steps // 8)
    least = min(crossing[step] for step in inner)
    if least > len(pieces) * 0.2:
        return None
    # The middle of the widest stretch that is crossed least.
    best = run = end = 0
    for step in inner:
        run = run + 1 if crossing[step] == least else 0
        if run > best:
            best, end = run, step
    at = start + (end - (best - 1) / 2) / steps * width
    left = [piece for piece in pieces if piece.x1 <= at]
    right = [piece for piece in pieces if piece.x0 >= at]
    for side in (left, right):
        if len(side) < MIN_LINES or sum(len(piece.text) for piece in side) < TEXT_CHARS * len(side):
            return None
    low = max(min(piece.y0 for piece in left), min(piece.y0 for piece in right))
    high = min(max(piece.y1 for piece in left), max(piece.y1 for piece in right))
    if high <= low:
        return None  # one below the other: no columns
    return at


def _rows(pieces: list[Piece]) -> list[Row]:
    """Pieces of the same height together, from the top; each row from the left."""
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda piece: -(piece.y0 + piece.y1)):
        middle = (piece.y0 + piece.y1) / 2
        if rows and rows[-1][0].y0 < middle < rows[-1][0].y1:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    for row in rows:
        row.sort(key=lambda piece: piece.x0)
        if len(row) > 1 and _BULLET_ALONE.fullmatch(row[0].text):
            row[:2] = [_joined(row[:2])]
        # Words that a change of font, or a raised number, made a piece of its own.
        place = 1
        while place < len(row):
            if row[place].x0 - row[place - 1].x1 < 0.85 * max(row[place].size, row[place - 1].size):
                row[place - 1 : place + 1] = [_joined(row[place - 1 : place + 1])]
            else:
                place += 1
    return rows


def _joined(row: Row) -> Piece:
    text = row[0].text
    for before, after in pairwise(row):
        text += ("" if after.x0 - before.x1 < 0.1 * after.size else " ") + after.text
    largest = max(row, key=lambda piece: len(piece.text))
    return Piece(text, row[0].x0, largest.y0, row[-1].x1, largest.y1, largest.size)


def _region_blocks(rows: list[Row]) -> list[Block]:
    lines = [_joined(row) for row in rows]
    gaps = [before.y0 - after.y0 for before, after in pairwise(lines) if 0 < before.y0 - after.y0 < 4 * after.size]
    leading = median(gaps) if gaps else 0.0
    right = max((line.x1 for line in lines), default=0.0)
    left = min((line.x0 for line in lines), default=0.0)
    blocks: list[Block] = []
    place = 0
    while place < len(rows):
        end = place
        while end < len(rows) and len(rows[end]) > 1:
            end += 1
        if end - place >= 2 and (text := _table(rows[place:end])):
            size = _rounded(median(line.size for line in lines[place:end]))
            blocks.append(Block(text, size, end - place, table=True, y=_middle(lines[place])))
            place = end
            continue
        end = place + 1
        while end < len(rows) and not _begins(lines[end - 1], lines[end], leading, left, right):
            if len(rows[end]) > 1 and end + 1 < len(rows) and len(rows[end + 1]) > 1:
                break  # a table may begin here
            end += 1
        block = _paragraph(lines[place:end])
        block.y = _middle(lines[place])
        if block.lines == 1:
            block.pieces = tuple(piece.text for piece in rows[place])
        blocks.append(block)
        place = end
    return blocks


def _begins(before: Piece, line: Piece, leading: float, left: float, right: float) -> bool:
    """Whether `line` begins a paragraph of its own after `before`."""
    gap = before.y0 - line.y0
    if gap > max(1.3 * leading, 1.05 * line.size) and gap > 1.15 * leading:
        return True
    if abs(before.size - line.size) > 0.18 * max(before.size, line.size):
        return True
    if _LEADERS.search(before.text) or _LEADERS.search(line.text):
        return True
    if _BULLET.match(line.text) or _NUMBERED.match(line.text):
        return True
    if before.text.endswith(_ENDS):
        short = before.x1 < right - 0.15 * (right - left)
        return short or line.x0 > before.x0 + 0.8 * line.size
    return False


def _paragraph(lines: list[Piece]) -> Block:
    text = ""
    for line in lines:
        if not text:
            text = line.text
        elif _HYPHEN_END.search(text) and line.text[:1].islower():
            text = text[:-1] + line.text
        elif _is_cjk(text[-1]) and _is_cjk(line.text[0]):
            text += line.text
        else:
            text += " " + line.text
    text = _LEADERS.sub(" … ", text.replace("\u2010", "-")).rstrip()
    size = _rounded(max(lines, key=lambda line: len(line.text)).size)
    if match := _BULLET.match(text):
        return Block("- " + cell(text[match.end() :]).replace("\\|", "|"), size, len(lines), item=True)
    return Block(text, size, len(lines))


def _table(rows: list[Row]) -> str:
    """Rows whose pieces line up as a table; "" when they do not."""
    columns: list[list[float]] = []
    for piece in sorted((piece for row in rows for piece in row), key=lambda piece: piece.x0):
        if columns and piece.x0 < columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], piece.x1)
        else:
            columns.append([piece.x0, piece.x1])
    if not 2 <= len(columns) <= _MAX_COLUMNS:
        return ""
    filled = sum(len(row) for row in rows)
    if filled < 0.5 * len(columns) * len(rows):
        return ""
    found: list[list[str]] = []
    for row in rows:
        cells = [""] * len(columns)
        for piece in row:
            place = next(index for index, (_, end) in enumerate(columns) if piece.x0 < end)
            cells[place] = f"{cells[place]} {cell(piece.text)}".strip()
        found.append(cells)
    return table(found)


def _middle(line: Piece) -> float:
    return (line.y0 + line.y1) / 2


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _is_cjk(character: str) -> bool:
    return "\u3000" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7ff" or "\uff00" <= character <= "\uffef"
