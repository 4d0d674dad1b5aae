"""The replies that one account keeps, as files: one entry, one file. Blocks; `cache` calls it in threads.

Theory of operation. Files, not a database: an entry that is damaged costs that entry, what is evicted is given back to the disk
at once, processes need no lock between them (every process of an account uses the same folder), and deleting the folder is
always allowed. An entry is written under another name in the same folder and renamed into its place, so that a process killed
at any moment leaves the old entry, the new one, or a file that nobody reads. It is not fsynced: what a power failure tears is
told by the checksums and counts as absent, and a lost entry costs one request.

An entry is `MAGIC | length of the head | SHA-256 of the head | head (JSON) | body`; the head has the body's length and SHA-256.
It is called by its key, a hash, and a slot: replies of one address that `Vary` tells apart lie in up to `SLOTS` of them.
Nothing in a name or a head says which address it was; bodies and headers lie there as they came (a page may well name itself,
a Location does), in files of the owner alone: 0600 in 0700, where the system has such bits.

Room. Before it writes, a process makes room by its own count; it counts anew, whoever wrote, when it has written `limit / 16`
since. So one process never exceeds the limit, and of N at once each may by that sixteenth and one entry. The least recently
used go first, by the time of their files, which each use sets. An entry takes whole blocks, at most an eighth of the limit.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import struct
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from webseam.config import LIMITS
from webseam.egress.freshness import Received, selecting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Final

SLOTS: Final = 4
BLOCK: Final = 4_096  # bytes that the smallest file takes on a disk
MAGIC: Final = b"webseam-cache-1\n"  # raised with the format, and when the table of addresses becomes stricter
_OPENING: Final = struct.Struct(f">{len(MAGIC)}sI32s")
_MOST_HEAD: Final = LIMITS.header_bytes * 8  # as JSON escapes it
_NAME: Final = re.compile(r"[0-9a-f]{64}\.[0-3]")
_UNFINISHED: Final = re.compile(r"\.([0-9]{1,10})-[0-9a-f]{16}\.new")
_UNFINISHED_SECONDS: Final = 600.0  # after which no living process can still be writing one
_PATIENCE: Final = (0.01, 0.03, 0.1)  # seconds: on Windows a file that somebody reads can be neither replaced nor removed
_READ_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class Head(msgspec.Struct, frozen=True):
    """What an entry says before its body. `selecting` are the request's headers that `Vary` named.

    `bodiless` is a redirect whose body was never read, since it was followed.
    """

    key: str
    status: int
    headers: dict[str, str]
    selecting: dict[str, str]
    requested_at: float
    responded_at: float
    size: int
    digest: str
    bodiless: bool = False

    @property
    def received(self) -> Received:
        """The reply without its body."""
        return Received(self.status, self.headers, self.requested_at, self.responded_at)


class Entry(NamedTuple):
    """An entry that was found. `body` is None while it has not been read."""

    path: str
    head: Head
    body: bytes | None


class Usage(NamedTuple):
    """What lies in a cache: a number and the bytes that it takes on the disk."""

    entries: int
    bytes: int


class _Lying(NamedTuple):
    used_at: float
    name: str
    size: int


class Entries:
    """The entries in `folder`, in at most `limit_bytes`. Made when the first is kept; safe to use from several threads."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMITS.cache_bytes, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._folder = str(folder)
        self.limit = limit_bytes
        self._slack = limit_bytes // 16
        self._clock = clock
        self._lock = threading.Lock()
        self._written: int | None = None  # bytes since the folder was counted; None before the first time
        self._writing: dict[str, int] = {}  # by this object now: bytes by name

    def find(self, key: str, asked: Mapping[str, str], body_up_to: int = LIMITS.body_small_bytes) -> Entry | None:
        """The newest entry for `key` that a request with the headers `asked` may get; with its body when that is small."""
        found = max(self._matching(key, asked), key=lambda entry: entry.head.responded_at, default=None)
        if found is None:
            return None
        with suppress(OSError):
            os.utime(found.path, (self._clock(), self._clock()))
        if found.head.size > body_up_to:
            return found
        body = self.body(found)
        return None if body is None else found._replace(body=body)

    def body(self, entry: Entry) -> bytes | None:
        """The body of the entry; None when it is gone, replaced or damaged."""
        read = _read(entry.path, with_body=True)
        return None if read is None or read[0] != entry.head else read[1]

    def keep(self, asked: Mapping[str, str], head: Head, body: bytes) -> bool:
        """Keep a reply in the place of what a request with the headers `asked` would have got. Raises `OSError`.

        False when it is too large, or its headers are no text; then what was there is forgotten.
        """
        try:
            written = msgspec.json.encode(head)
        except UnicodeEncodeError:  # a Location of bytes that are no UTF-8
            written = b""
        size = _OPENING.size + len(written) + len(body)
        if not written or len(written) > _MOST_HEAD or _blocks(size) > self.limit // 8:
            self.forget(head.key, asked)
            return False
        opening = _OPENING.pack(MAGIC, len(written), hashlib.sha256(written).digest())
        name = f".{os.getpid()}-{secrets.token_hex(8)}.new"
        fresh = self._path(name)
        try:
            self._make_room(name, _blocks(size))
            self._write(fresh, opening + written, body)
            place = self._place(head.key, asked)
            _patiently(lambda: os.replace(fresh, place))  # noqa: PTH105 - a Path takes longer to make than a file to replace
        except OSError:
            _remove(fresh)
            raise
        finally:
            with self._lock:
                self._writing.pop(name, None)
        return True

    def forget(self, key: str, asked: Mapping[str, str]) -> None:
        """Forget what a request with the headers `asked` would get. Raises `OSError`."""
        for entry in self._matching(key, asked):
            _patiently(partial(_unlink, entry.path))

    def usage(self) -> Usage:
        """What lies here now, whoever put it there."""
        lying = [one for one in self._lying() if _NAME.fullmatch(one.name)]
        return Usage(len(lying), sum(one.size for one in lying))

    def clear(self) -> Usage:
        """Forget everything; what it was. Files that are not ours stay."""
        removed = [one for one in self._lying() if _remove(self._path(one.name)) and _NAME.fullmatch(one.name)]
        return Usage(len(removed), sum(one.size for one in removed))

    # ------------------------------------------------------------------------------------------- reading

    def _path(self, name: str) -> str:
        return f"{self._folder}{os.sep}{name}"

    def _slots(self, key: str) -> list[str]:
        return [self._path(f"{key}.{slot}") for slot in range(SLOTS)]

    def _matching(self, key: str, asked: Mapping[str, str]) -> Iterator[Entry]:
        for path in self._slots(key):
            head = _head(path, key)
            if head is not None and _selects(head, asked):
                yield Entry(path, head, None)

    def _place(self, key: str, asked: Mapping[str, str]) -> str:
        """The slot of what it replaces, else a free one, else that of the oldest."""
        heads = [(path, _head(path, key)) for path in self._slots(key)]
        for path, head in heads:
            if head is not None and _selects(head, asked):
                return path
        return min(heads, key=lambda slot: slot[1].responded_at if slot[1] is not None else 0.0)[0]

    # ------------------------------------------------------------------------------------------- writing

    def _write(self, fresh: str, opening: bytes, body: bytes) -> None:
        try:
            descriptor = os.open(fresh, _WRITE_FLAGS, 0o600)
        except FileNotFoundError:
            self._make_folder()
            descriptor = os.open(fresh, _WRITE_FLAGS, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            for part in (opening, body):
                left = memoryview(part)
                while left:
                    left = left[file.write(left) :]
        os.utime(fresh, (self._clock(), self._clock()))

    def _make_folder(self) -> None:
        for folder in (self.folder.parent, self.folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _make_room(self, name: str, size: int) -> None:
        """Room for the file `name`; the folder is counted when this object has written enough since the last time."""
        with self._lock:
            if self._written is not None and self._written + size <= self._slack:
                self._written += size
                self._writing[name] = size
                return
            entries, total = [], sum(self._writing.values())
            for one in self._lying():
                unfinished = _UNFINISHED.fullmatch(one.name)
                if one.name in self._writing or (
                    unfinished and self._is_left_over(int(unfinished[1]), one.used_at) and _remove(self._path(one.name))
                ):
                    continue
                total += one.size
                if not unfinished:
                    entries.append(one)
            for one in sorted(entries):
                if total <= self.limit - self._slack - size:
                    break
                if _remove(self._path(one.name)):
                    total -= one.size
            self._written = 0
            self._writing[name] = size

    def _is_left_over(self, pid: int, written_at: float) -> bool:
        """Whether a file that was never finished belongs to nobody who will finish it."""
        import psutil

        return pid == os.getpid() or not psutil.pid_exists(pid) or abs(self._clock() - written_at) > _UNFINISHED_SECONDS

    def _lying(self) -> list[_Lying]:
        """Our files in the folder; what has another name, or is no file, is not ours."""
        lying = []
        try:
            with os.scandir(self.folder) as found:
                for one in found:
                    if _NAME.fullmatch(one.name) or _UNFINISHED.fullmatch(one.name):
                        with suppress(OSError):  # another process was quicker
                            about = one.stat(follow_symlinks=False)
                            if stat.S_ISREG(about.st_mode):
                                lying.append(_Lying(about.st_mtime, one.name, _blocks(about.st_size)))
        except FileNotFoundError:
            return []
        return lying


def _selects(head: Head, asked: Mapping[str, str]) -> bool:
    return head.selecting == selecting(",".join(head.selecting), asked)


def _head(path: str, key: str) -> Head | None:
    read = _read(path, with_body=False)
    return read[0] if read is not None and read[0].key == key else None


def _read(path: str, *, with_body: bool) -> tuple[Head, bytes] | None:
    """The head and, when it is wanted, the body in a file; None when there is none, or it is not whole, or not ours."""
    try:
        # By an opener, so that the descriptor is closed whatever it is of. A pipe or a link in our place is not waited for.
        with open(path, "rb", buffering=0, opener=lambda name, _: os.open(name, _READ_FLAGS)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size < _OPENING.size:
                return None
            magic, length, digest = _OPENING.unpack(_exactly(file.read, _OPENING.size))
            if magic != MAGIC or length > _MOST_HEAD:
                return None
            written = _exactly(file.read, length)
            if hashlib.sha256(written).digest() != digest:
                return None
            head = msgspec.json.decode(written, type=Head)
            if about.st_size != _OPENING.size + length + head.size or not 0 <= head.size <= LIMITS.body_bytes:
                return None
            if not with_body:
                return head, b""
            body = _exactly(file.read, head.size)
    except (OSError, EOFError, ValueError, msgspec.MsgspecError):
        return None
    return (head, body) if hashlib.sha256(body).hexdigest() == head.digest else None


def _exactly(read: Callable[[int], bytes | None], size: int) -> bytes:
    pieces = []
    while size:
        piece = read(size)
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _patiently(act: Callable[[], object]) -> None:
    for seconds in _PATIENCE:
        try:
            act()
        except PermissionError:
            time.sleep(seconds)
        else:
            return
    act()


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)  # noqa: PTH108 - as above


def _remove(path: str) -> bool:
    try:
        os.unlink(path)  # noqa: PTH108 - as above
    except OSError:
        return False
    return True


def _blocks(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
