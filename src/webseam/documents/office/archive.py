"""Zip files as office formats use them, read part by part out of memory: nothing is written anywhere, so a name leads nowhere.

Python's `zipfile` makes an object of every entry before the first can be read, and gives nothing of an archive that was cut
off. Here the directory is read up to `LIMITS.archive_entries`; where it is missing, the headers before the entries tell. A part
is unpacked in blocks, so that one that is damaged gives what comes before the damage. Bounded are the bytes of one part, those
of all, and how often the size of what is packed they are. Only what these formats use is known: stored and deflated entries.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from webseam.config import LIMITS
from webseam.documents.sniff import size_of
from webseam.errors import DocumentError

_END = b"PK\x05\x06"
_DIRECTORY = struct.Struct("<4s4xHHHHLLLHHHHHLL")
_LOCAL = struct.Struct("<4sHHHHHLLLHH")
_BLOCK = 64 * 1024
_SMALL = 1024 * 1024
"""What unpacks to no more than this is no bomb, whatever its ratio."""


class Part(NamedTuple):
    """The bytes of an entry; `cut`: there should be more of them."""

    data: bytes
    cut: bool


class _Entry(NamedTuple):
    offset: int  # of its local header
    size: int  # packed
    method: int
    encrypted: bool


class Archive:
    """The entries of a zip file. `what` is the kind of document, for sentences ("This Word document")."""

    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._what = what
        self._left = LIMITS.archive_bytes
        self.damaged = False
        self._entries = self._directory()
        if self._entries is None:
            self.damaged = True
            self._entries = self._scan()

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._all

    @property
    def _all(self) -> dict[str, _Entry]:
        assert self._entries is not None
        return self._entries

    def names(self) -> list[str]:
        """The names of the entries, lower case."""
        return list(self._all)

    def read(self, name: str, most: int = LIMITS.archive_part_bytes) -> Part:
        """The entry `name`, up to `most` bytes; case does not count. An empty `Part` when there is none.

        Raises `DocumentError`: `too_large` for a bomb, `unreadable` for what is encrypted.
        """
        entry = self._all.get(_key(name))
        if entry is None:
            return Part(b"", cut=True)
        if entry.encrypted:
            raise self.error("is protected by a password: look for a copy that is not")
        if entry.method not in (0, 8) or entry.offset + _LOCAL.size > len(self._data):
            return Part(b"", cut=True)
        header = _LOCAL.unpack_from(self._data, entry.offset)
        start = entry.offset + _LOCAL.size + header[9] + header[10]
        packed = memoryview(self._data)[start : start + entry.size]
        limit = min(most, self._left)
        if limit <= 0:
            raise self.error(f"unpacks to more than {size_of(LIMITS.archive_bytes)}, and is not read further", kind="too_large")
        if entry.method == 0:
            part = Part(bytes(packed[:limit]), len(packed) > limit or len(packed) < entry.size)
        else:
            part = self._inflated(packed, limit)
        self._left -= len(part.data)
        return part

    def error(self, words: str, *, kind: str = "unreadable") -> DocumentError:
        """A sentence about this document."""
        return DocumentError(f"This {self._what} {words}.", kind=kind)

    def _inflated(self, packed: memoryview, limit: int) -> Part:
        unpacking = zlib.decompressobj(-zlib.MAX_WBITS)
        found: list[bytes] = []
        size = 0
        for at in range(0, len(packed), _BLOCK):
            block: bytes | memoryview = packed[at : at + _BLOCK]
            while block:
                try:
                    piece = unpacking.decompress(block, min(_SMALL, limit + 1 - size))
                except zlib.error:
                    return Part(b"".join(found), cut=True)
                found.append(piece)
                size += len(piece)
                block = unpacking.unconsumed_tail
                if size > _SMALL and size > LIMITS.archive_ratio * (at + _BLOCK - len(block)):
                    raise self.error(
                        f"unpacks to more than {LIMITS.archive_ratio} times its size, as a zip bomb does, and is not read",
                        kind="too_large",
                    )
                if size > limit:
                    return Part(b"".join(found)[:limit], cut=True)
            if unpacking.eof:
                return Part(b"".join(found), cut=False)
        return Part(b"".join(found), cut=True)

    def _directory(self) -> dict[str, _Entry] | None:
        """The central directory; None when it is not there, or not whole."""
        data = self._data
        end = data.rfind(_END, max(0, len(data) - 65_557))
        if end < 0 or end + 22 > len(data):
            return None
        size, offset = struct.unpack_from("<LL", data, end + 12)
        shift = end - size - offset  # something was put before the archive
        at = end - size
        if at < 0 or shift < 0:
            return None
        found: dict[str, _Entry] = {}
        for _ in range(LIMITS.archive_entries):
            if at >= end:
                return found
            if at + _DIRECTORY.size > end or not data.startswith(b"PK\x01\x02", at):
                return None
            _, flags, method, _, _, _, packed, _, name, extra, comment, _, _, _, local = _DIRECTORY.unpack_from(data, at)
            at += _DIRECTORY.size
            found.setdefault(
                _name(data[at : at + name], flags), _Entry(local + shift, packed, method, encrypted=bool(flags & 1))
            )
            at += name + extra + comment
        if at >= end:
            return found
        raise self.error(f"holds more than {LIMITS.archive_entries:,} files, and is not read", kind="too_large")

    def _scan(self) -> dict[str, _Entry]:
        """The entries by the headers before them: for an archive whose end is missing."""
        data = self._data
        found: dict[str, _Entry] = {}
        at = data.find(b"PK\x03\x04")
        while 0 <= at <= len(data) - _LOCAL.size and len(found) < LIMITS.archive_entries:
            _, _, flags, method, _, _, _, packed, _, name, extra = _LOCAL.unpack_from(data, at)
            start = at + _LOCAL.size + name + extra
            known = packed if not flags & 8 else 0
            following = data.find(b"PK\x03\x04", start + known)
            size = known or (following if following >= 0 else len(data)) - start
            found.setdefault(
                _name(data[at + _LOCAL.size : at + _LOCAL.size + name], flags),
                _Entry(at, max(size, 0), method, encrypted=bool(flags & 1)),
            )
            at = following
        return found


def _name(raw: bytes, flags: int) -> str:
    return _key(raw.decode("utf-8" if flags & 0x800 else "cp437", "replace"))


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
