"""What a person sees in a terminal: colour only there, one line of progress, tables that fit."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Sequence

BAR = 24


def coloured(stream: TextIO) -> bool:
    """Whether colour goes to this stream: a terminal, and neither NO_COLOR nor TERM=dumb."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def paint(text: str, code: str, stream: TextIO | None = None) -> str:
    """`text` in an ANSI style (as "1", "2", "32") where colour is welcome."""
    return f"\x1b[{code}m{text}\x1b[0m" if coloured(stream or sys.stdout) else text


def bold(text: str) -> str:
    """A heading or a name."""
    return paint(text, "1")


def dim(text: str) -> str:
    """What may be skipped."""
    return paint(text, "2")


def shorten(text: str, width: int) -> str:
    """`text` on one line, cut in the middle to `width` columns."""
    text = " ".join(text.split())
    if len(text) <= width or width < 5:
        return text[: max(0, width)]
    left = (width - 1) // 2
    return text[:left] + "…" + text[len(text) - (width - 1 - left) :]


def table(rows: Sequence[Sequence[str]], *, head: Sequence[str]) -> str:
    """Columns aligned with spaces, the head on top."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    out = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    out[0] = bold(out[0])
    return "\n".join(out)


class ProgressLine:
    """Progress on standard error: one line rewritten on a terminal, a line every `every` steps elsewhere."""

    def __init__(self, *, every: int = 50, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.every = every
        self._drawn = False
        self._printed = 0

    def show(self, done: int, total: int | None, what: str) -> None:
        """`done` of `total` (None while unknown), now at `what`."""
        count = f"{done}/{total}" if total else str(done)
        if self.stream.isatty():
            full = BAR * done // total if total else 0
            bar = f"[{'#' * full}{'-' * (BAR - full)}] " if total else ""
            width = max(20, shutil.get_terminal_size().columns - 1)
            self.stream.write("\r\x1b[2K" + shorten(f"{bar}{count} {what}", width))
            self._drawn = True
        elif done // self.every > self._printed:
            self._printed = done // self.every
            self.stream.write(f"{count} {what}\n")
        self.stream.flush()

    def clear(self) -> None:
        """Take the line away, so that what follows stands alone."""
        if self._drawn:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()
            self._drawn = False
