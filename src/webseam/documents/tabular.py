"""Rows of plain text as a table of GFM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.html.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

CELL_CHARS = 2_000
"""Of one cell: a table with whole documents in its cells is no table."""


def cell(text: str) -> str:
    """Plain text as the content of a cell: on one line, and unable to end it."""
    return " ".join(escape(text[:CELL_CHARS]).split()).replace("|", "\\|")


def table(rows: Sequence[Sequence[str]]) -> str:
    """`rows` of cells, which are Markdown, as a table; the first is its header, short ones are filled up."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines)


def blocks(rows: Sequence[Sequence[str]]) -> str:
    """The rows of a sheet: each run of rows between empty ones is a table without its empty columns.

    A run of one column is text: that is how sheets carry titles and remarks.
    """
    found: list[str] = []
    run: list[Sequence[str]] = []
    for row in [*rows, ()]:
        if any(row):
            run.append(row)
            continue
        if run:
            width = max(map(len, run))
            used = [column for column in range(width) if any(len(row) > column and row[column] for row in run)]
            kept = [[row[column] if column < len(row) else "" for column in used] for row in run]
            found.append(table(kept) if len(used) > 1 else "\n\n".join(row[0] for row in kept))
        run = []
    return "\n\n".join(found)
