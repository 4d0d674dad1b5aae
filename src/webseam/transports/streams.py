"""transports: the bytes of stdio: two descriptors, the lines that come and the lines that go."""

from __future__ import annotations

import errno
import os
import sys
from collections import deque

CHUNK = 64 * 1024

_NOBODY_READS = frozenset({errno.EPIPE, errno.EINVAL, errno.EBADF, errno.ECONNRESET, errno.ESHUTDOWN})
"""What writing says when the reader is gone; EINVAL is Windows' word for it."""


class LeaveError(BaseException):
    """Leave now. Not an Exception: a provider that catches everything must not catch this."""

    ends_process = True  # see `webseam.protocol.outcome.is_fault`

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


class Streams:
    """The two descriptors, kept aside from whatever else writes to or reads from the standard ones."""

    __slots__ = ("_saved", "_stdout", "read", "write")

    def __init__(self, stdin: int | None, stdout: int | None) -> None:
        self._saved: list[tuple[int, int]] = []
        self.read = self._set_aside(0) if stdin is None else stdin
        self.write = self._set_aside(1) if stdout is None else stdout
        self._stdout = sys.stdout
        if stdout is None:
            if sys.stdout is not None:
                sys.stdout.flush()  # what was printed before goes where what is printed from now on goes
            sys.stdout = sys.stderr

    def _set_aside(self, standard: int) -> int:
        try:
            kept = os.dup(standard)
        except OSError:  # started without one
            kept = os.open(os.devnull, os.O_RDWR)
        if sys.platform == "win32":
            import msvcrt

            msvcrt.setmode(kept, os.O_BINARY)
        self._saved.append((kept, standard))
        instead = os.open(os.devnull, os.O_RDWR) if standard == 0 else 2
        try:
            os.dup2(instead, standard)
        except OSError:  # no standard error either
            instead = os.open(os.devnull, os.O_RDWR)
            os.dup2(instead, standard)
        if instead > 2:
            os.close(instead)
        return kept

    def restore(self) -> None:
        """Put the standard descriptors back: the process may go on."""
        for kept, standard in self._saved:
            os.dup2(kept, standard)
            os.close(kept)
        sys.stdout = self._stdout


class Lines:
    """Puts lines together from the pieces that were read. A line over the limit becomes None, and is skipped to its end."""

    __slots__ = ("_limit", "_pieces", "_size", "_skipping", "ready")

    def __init__(self, limit: int) -> None:
        self.ready: deque[bytes | None] = deque()
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        head, newline, rest = data.partition(b"\n")
        self._hold(head)
        if newline:
            self.end()
            *whole, tail = rest.split(b"\n")
            for line in whole:
                self._hold(line)
                self.end()
            self._hold(tail)

    def end(self) -> None:
        """The line is complete; at the end of input, even without a newline."""
        if not self._skipping:
            line = b"".join(self._pieces).strip()
            if line:
                self.ready.append(line)
        self._pieces.clear()
        self._size = 0
        self._skipping = False

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._pieces.append(piece)
        elif not self._skipping:
            self._skipping = True
            self._pieces.clear()
            self.ready.append(None)


def write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever started us shares it, and made it non-blocking
            import select

            select.select([], [descriptor], [])
        except OSError as error:
            if error.errno in _NOBODY_READS:
                raise LeaveError from None
            print(f"webseam: answers cannot be written to standard output: {error.strerror}.", file=sys.stderr)
            raise LeaveError(1) from None


def read_some(descriptor: int) -> bytes:
    """What there is, at least one byte; b"" at the end of input."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            import select

            select.select([descriptor], [], [])
        except OSError:  # EIO of a terminal that went away, and the like
            return b""
