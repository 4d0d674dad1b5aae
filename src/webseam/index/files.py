"""The files of a folder that can be indexed, each with its address `index://<source>/<relative/path>`."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTENT_TYPES: Final = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".txt": "text/plain",
    ".rst": "text/plain",
    ".text": "text/plain",
}
DEPTH: Final = 64
_SKIPPED: Final = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Entry:
    """Something met in a folder."""

    url: str


@dataclass(frozen=True, slots=True)
class SourceFile(Entry):
    """A file to be indexed."""

    path: Path
    content_type: str

    def read(self) -> bytes:
        """Its bytes, at most `LIMITS.index_file_bytes` and one more. Raises OSError."""
        with self.path.open("rb") as file:
            return file.read(LIMITS.index_file_bytes + 1)


@dataclass(frozen=True, slots=True)
class UnreadFile(Entry):
    """A file, or with `beneath` a folder and all in it, that was met but cannot be indexed, and why."""

    why: str
    beneath: bool = False


def address(source: str, relative: str = "") -> str:
    """The address of a file of `source`, given by its path with slashes; undecodable names go in as their bytes."""
    return f"index://{quote(source, safe='')}/{quote(os.fsencode(relative))}"


def files(root: Path, source: str, left_out: Counter[str] | None = None) -> Iterator[Entry]:
    """The files in the folder `root`, or `root` itself when it is a file, sorted by name.

    Hidden files and folders and `node_modules` are passed over in silence; other types of files, and links to outside of
    `root`, are counted in `left_out`.
    """
    left_out = Counter() if left_out is None else left_out
    if not root.is_dir():
        yield _file(root, source, root.name)
        return
    real = Path(os.path.realpath(root))
    yield from _walk(root, "", source, real, {_identity(root)}, left_out)


def _walk(
    folder: Path, relative: str, source: str, real: Path, above: set[tuple[int, int]], left_out: Counter[str]
) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        yield UnreadFile(address(source, relative), f"the folder cannot be read ({error.strerror})", beneath=True)
        return
    for entry in found:
        if entry.name.startswith(".") or entry.name in _SKIPPED:
            continue
        path, inner = folder / entry.name, relative + entry.name
        try:
            if not _inside(path, real):
                left_out["elsewhere"] += 1
                continue
            if entry.is_dir():
                identity = _identity(path)
                if identity in above:  # a link back up
                    continue
                if inner.count("/") >= DEPTH:
                    yield UnreadFile(address(source, inner + "/"), f"it lies deeper than {DEPTH} folders", beneath=True)
                    continue
                yield from _walk(path, inner + "/", source, real, above | {identity}, left_out)
            elif entry.is_file() and path.suffix.lower() in CONTENT_TYPES:
                yield _file(path, source, inner)
            else:
                left_out["of another type"] += 1
        except OSError as error:
            yield UnreadFile(address(source, inner), f"it cannot be read ({error.strerror})", beneath=True)


def _file(path: Path, source: str, relative: str) -> Entry:
    url = address(source, relative)
    size = path.stat().st_size
    if size > LIMITS.index_file_bytes:
        return UnreadFile(url, f"it is larger than {LIMITS.index_file_bytes // 1024 // 1024} MB")
    if len(url) > LIMITS.url_chars:
        return UnreadFile(url[: LIMITS.url_chars], "its path is too long")
    return SourceFile(url, path, CONTENT_TYPES.get(path.suffix.lower(), "text/plain"))


def _inside(path: Path, real: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(real)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
