"""The files of a folder that can be indexed, each with its address `index://<source>/<relative/path>`."""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
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
    # What these are, their bytes say.
    **dict.fromkeys((".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub"), "application/octet-stream"),
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


class Files:
    """The files in the folder `root`, or `root` itself when it is a file: iterate it once, then read the attributes.

    They come sorted by name, each real folder once: by its own path, or by a link when there is no other way to it, and those
    after everything else. Links that lead to folders already walked are passed over, so that folders linked to one another
    cost no more than their number. Hidden files and folders and `node_modules` are passed over in silence; other types of
    files, and links to outside of `root`, are counted in `left_out`. After `most` files it stops, and `cut` says so.
    """

    def __init__(self, root: Path, source: str, *, most: int = LIMITS.folder_files) -> None:
        self.left_out: Counter[str] = Counter()
        self.cut = False
        self._root = root
        self._source = source
        self._most = most
        self._real = Path(os.path.realpath(root))
        self._walked: set[tuple[int, int] | str] = set()
        self._linked: deque[tuple[Path, str]] = deque()

    def __iter__(self) -> Iterator[Entry]:
        if not self._root.is_dir():
            yield _file(self._root, self._source, self._root.name)
            return
        for number, entry in enumerate(self._everything()):
            if number >= self._most:
                self.cut = True
                return
            yield entry

    def _everything(self) -> Iterator[Entry]:
        yield from self._walk(self._root, "")
        while self._linked:
            folder, relative = self._linked.popleft()
            yield from self._walk(folder, relative)

    def _walk(self, folder: Path, relative: str) -> Iterator[Entry]:
        try:
            identity = _identity(folder)
            if identity in self._walked:
                return
            self._walked.add(identity)
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield UnreadFile(address(self._source, relative), f"the folder cannot be read ({error.strerror})", beneath=True)
            return
        for entry in found:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            try:
                yield from self._take(entry, folder / entry.name, relative + entry.name)
            except OSError as error:
                why = f"it cannot be read ({error.strerror})"
                yield UnreadFile(address(self._source, relative + entry.name), why, beneath=True)

    def _take(self, entry: os.DirEntry[str], path: Path, inner: str) -> Iterator[Entry]:
        # What is no link lies where its folder does; Windows has other ways to lead elsewhere.
        linked = entry.is_symlink()
        if (linked or sys.platform == "win32") and not Path(os.path.realpath(path)).is_relative_to(self._real):
            self.left_out["elsewhere"] += 1
        elif entry.is_dir():
            if inner.count("/") >= DEPTH:
                if not linked:
                    yield UnreadFile(address(self._source, inner + "/"), f"it lies deeper than {DEPTH} folders", beneath=True)
            elif linked:
                self._linked.append((path, inner + "/"))
            else:
                yield from self._walk(path, inner + "/")
        elif entry.is_file() and path.suffix.lower() in CONTENT_TYPES:
            yield _file(path, self._source, inner)
        else:
            self.left_out["of another type"] += 1


def _file(path: Path, source: str, relative: str) -> Entry:
    url = address(source, relative)
    size = path.stat().st_size
    if size > LIMITS.index_file_bytes:
        return UnreadFile(url, f"it is larger than {LIMITS.index_file_bytes // 1024 // 1024} MB")
    if len(url) > LIMITS.url_chars:
        return UnreadFile(url[: LIMITS.url_chars], "its path is too long")
    return SourceFile(url, path, CONTENT_TYPES.get(path.suffix.lower(), "text/plain"))


def _identity(folder: Path) -> tuple[int, int] | str:
    """What tells one real folder from another."""
    if sys.platform == "win32":  # not every file system there numbers its files
        return os.path.realpath(folder)
    status = folder.stat()
    return status.st_dev, status.st_ino
