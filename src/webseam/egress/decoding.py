"""Content codings undone in small pieces, so that a bomb is noticed when it has grown to the limit and not after.

A layer is fed what arrived and yields pieces of at most about `PIECE` bytes. Layers are chained, outermost first, and the
output of *each* is counted against the limit: a second layer can swallow endless output of the first (empty blocks, long
header fields) and give nothing. Frames are counted as well: a thousand empty gzip members make no output at all.

RFC 9110, section 8.4; zlib and gzip are RFC 1950 and 1952, brotli is RFC 7932, zstd is RFC 8878 with the 8 MB window of
RFC 9659. `deflate` is read with and without the zlib wrapper, as browsers do.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Final

PIECE: Final = 64 * 1024
MOST_FRAMES: Final = 1_000
ZSTD_WINDOW_LOG: Final = 23  # 8 MB (RFC 9659)
ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"

_NOT_A_CODING: Final = frozenset({"", "identity", "none", "utf-8"})  # what servers write for "nothing was done"


class UndecodableError(Exception):
    """The bytes are not what Content-Encoding says, or they end too early. The text says which."""


class TooMuchError(Exception):
    """A layer gave more than the limit."""


class Layer(Protocol):
    """One coding being undone."""

    def expand(self, data: bytes) -> Iterator[bytes]:
        """The pieces that `data` completes. Raises `UndecodableError`."""

    @property
    def ended(self) -> bool:
        """Whether the coded stream is complete."""


class _Zlib:
    """zlib or raw deflate: one stream, what follows it is ignored."""

    def __init__(self, wbits: int) -> None:
        self._decompressor = zlib.decompressobj(wbits)
        self.rest = b""

    @property
    def ended(self) -> bool:
        return self._decompressor.eof

    def expand(self, data: bytes) -> Iterator[bytes]:
        decompressor = self._decompressor
        while not decompressor.eof:
            try:
                piece = decompressor.decompress(data, PIECE)
            except zlib.error:
                raise UndecodableError("its compressed body is damaged") from None
            data = decompressor.unconsumed_tail
            if piece:
                yield piece
            if not data and len(piece) < PIECE:  # a full piece may have left output behind inside the decompressor
                break
        self.rest = decompressor.unused_data


class _Gzip:
    """gzip: any number of members; what follows the last is ignored."""

    def __init__(self) -> None:
        self._member = _Zlib(31)
        self._members = 1
        self._pending = b""

    @property
    def ended(self) -> bool:
        return self._member.ended

    def expand(self, data: bytes) -> Iterator[bytes]:
        data = self._pending + data
        self._pending = b""
        while data:
            if self._member.ended:
                if len(data) < 2 and b"\x1f\x8b".startswith(data):
                    self._pending = data
                    return
                if not data.startswith(b"\x1f\x8b"):
                    return
                self._members = _counted(self._members)
                self._member = _Zlib(31)
            yield from self._member.expand(data)
            data = self._member.rest


class _Deflate:
    """`deflate`: zlib as the RFC says, or the raw stream that some servers send."""

    def __init__(self) -> None:
        self._start = b""
        self._inner: _Zlib | None = None

    @property
    def ended(self) -> bool:
        return self._inner is not None and self._inner.ended

    def expand(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            data = self._start = self._start + data
            if len(data) < 2:
                return
            wrapped = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0  # RFC 1950, section 2.2
            self._inner = _Zlib(15 if wrapped else -15)
        yield from self._inner.expand(data)


class _Brotli:
    """brotli: one stream. What follows it in the same piece, the library calls an error."""

    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()

    @property
    def ended(self) -> bool:
        return bool(self._decompressor.is_finished())

    def expand(self, data: bytes) -> Iterator[bytes]:
        decompressor = self._decompressor
        if decompressor.is_finished():
            return
        try:
            piece = decompressor.process(data, output_buffer_limit=PIECE)
            while True:
                if piece:
                    yield piece
                # A full piece may have left output behind, which `can_accept_more_data` does not tell (brotli 1.2.1).
                if decompressor.is_finished() or (len(piece) < PIECE and decompressor.can_accept_more_data()):
                    return
                piece = decompressor.process(b"", output_buffer_limit=PIECE)
        except brotli.error:
            raise UndecodableError("its compressed body is damaged") from None


class _Zstd:
    """zstd: any number of frames."""

    def __init__(self) -> None:
        self._frames = 0
        self._decompressor = self._next()

    def _next(self) -> zstd.ZstdDecompressor:
        self._frames = _counted(self._frames)
        return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: ZSTD_WINDOW_LOG})

    @property
    def ended(self) -> bool:
        return self._decompressor.eof

    def expand(self, data: bytes) -> Iterator[bytes]:
        try:
            while True:
                if self._decompressor.eof:
                    data = self._decompressor.unused_data or data
                    if not data:
                        return
                    self._decompressor = self._next()
                piece = self._decompressor.decompress(data, PIECE)
                data = b""
                if piece:
                    yield piece
                if not self._decompressor.eof and self._decompressor.needs_input:
                    return
        except zstd.ZstdError:
            raise UndecodableError("its compressed body is damaged, or needs more than 8 MB of window") from None


_LAYERS: Final[dict[str, Callable[[], Layer]]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}


def codings(header: str) -> list[str]:
    """The codings that a Content-Encoding header names, in the order they were applied. Raises `UndecodableError`."""
    names = [name for part in header.split(",") if (name := part.strip().lower()) not in _NOT_A_CODING]
    if len(names) > LIMITS.encodings:
        raise UndecodableError(f"it is compressed {len(names)} times over, and {LIMITS.encodings} is the most that is undone")
    for name in names:
        if name not in _LAYERS:
            raise UndecodableError("it is compressed in a way that is not known here")
    return names


class Decoder:
    """Undoes the codings of one body. With no codings, counts only."""

    def __init__(self, names: Sequence[str], limit: int) -> None:
        self._layers = [_LAYERS[name]() for name in reversed(names)]
        self._counts = [0] * len(self._layers)
        self._limit = limit
        self._fed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The decoded pieces. Raises `UndecodableError`, and `TooMuchError` once a layer gave more than the limit."""
        self._fed = self._fed or bool(data)
        return self._through(0, data)

    def finish(self) -> None:
        """Raise `UndecodableError` when a coded stream was begun and is not complete."""
        if self._fed and not all(layer.ended for layer in self._layers):
            raise UndecodableError("its compressed body ends too early")

    def _through(self, depth: int, data: bytes) -> Iterator[bytes]:
        if depth == len(self._layers):
            yield data
            return
        for piece in self._layers[depth].expand(data):
            self._counts[depth] += len(piece)
            if self._counts[depth] > self._limit:
                raise TooMuchError
            yield from self._through(depth + 1, piece)


def _counted(frames: int) -> int:
    if frames >= MOST_FRAMES:
        raise UndecodableError(f"its compressed body has more than {MOST_FRAMES} parts")
    return frames + 1
