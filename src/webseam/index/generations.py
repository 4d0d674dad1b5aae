"""Where the documents lie: `documents-1`, `documents-2`, ... in the index's directory. The highest number is the index.

Throwing a damaged index away is making the next generation and moving it into place by one rename. Whoever is reading the old
one goes on until its next search. What is left of old ones is swept by whoever holds the writer lock: on Windows a file that
somebody has mapped cannot go at once.
"""

from __future__ import annotations

import errno
import re
import shutil
import time
from typing import TYPE_CHECKING, Final

import tantivy

from webseam.index.integrity import damaged
from webseam.index.schema import schema

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = re.compile(r"documents-([1-9]\d{0,8})")
_LAST: Final = 999_999_999  # the highest that the pattern sees
_UNFINISHED: Final = "documents.new"
_REBUILDING: Final = "rebuild-unfinished"
_RENAME_TRIES: Final = 5


def current(directory: Path) -> Path | None:
    """The directory of the documents; None when nothing has ever been indexed here."""
    found = _all(directory)
    return directory / f"documents-{max(found)}" if found else None


def create(directory: Path, *, rebuilding: bool = False) -> Path:
    """Make the next generation, empty, and return it. Only for who holds the writer lock; raises OSError and ValueError.

    With `rebuilding` it is marked from its first moment as holding less than it should, until `finish`.
    """
    unfinished = directory / _UNFINISHED
    _throw_away(unfinished)
    unfinished.mkdir(mode=0o700)
    tantivy.Index(schema(), path=str(unfinished), reuse=False)
    if rebuilding:
        (unfinished / _REBUILDING).touch()
    fresh = directory / f"documents-{_next(directory)}"
    for attempt in range(_RENAME_TRIES):
        try:
            return unfinished.rename(fresh)
        except PermissionError:  # Windows: tantivy's watcher may be looking at meta.json this moment
            if attempt + 1 == _RENAME_TRIES:
                raise
            time.sleep(0.05)
    raise AssertionError("unreachable")


def finish(documents: Path) -> None:
    """Take the mark of an unfinished rebuild away from this generation, if it is still there. Raises OSError."""
    (documents / _REBUILDING).unlink(missing_ok=True)


def is_unfinished(documents: Path) -> bool:
    """Whether the rebuild that made this generation did not come to its end, or not yet."""
    return (documents / _REBUILDING).exists()


def _next(directory: Path) -> int:
    """A number above all others. When there is none, what has the highest is none of ours: we never come near."""
    while (highest := max(_all(directory), default=0)) >= _LAST:
        _throw_away(directory / f"documents-{highest}")
        if highest in _all(directory):
            raise PermissionError(errno.EACCES, f"documents-{highest} there cannot be removed, and no number is left above it")
    return highest + 1


def sweep(directory: Path) -> None:
    """Throw away what is not the current generation, as far as it lets itself. Only for who holds the writer lock."""
    found = _all(directory)
    for number in found - {max(found, default=0)}:
        _throw_away(directory / f"documents-{number}")
    _throw_away(directory / _UNFINISHED)


def _all(directory: Path) -> set[int]:
    try:
        return {int(match[1]) for entry in directory.iterdir() if (match := _NAME.fullmatch(entry.name))}
    except FileNotFoundError:
        return set()
    except OSError as error:
        raise damaged(f"its directory {directory} cannot be read", str(error)) from error


def _throw_away(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
