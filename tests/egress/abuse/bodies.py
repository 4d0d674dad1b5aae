"""Bodies and behaviours of servers that mean harm: bombs, bodies without end, headers that flood, documents built to hang."""

from __future__ import annotations

import asyncio
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import brotli

from webseam.config import LIMITS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Handler = Callable[[Any, asyncio.StreamWriter], Awaitable[None]]

_ENCODE: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=3),
    "zstd": zstd.compress,
    "zstd-wide": lambda data: zstd.compress(data, options={zstd.CompressionParameter.window_log: 27}),
}


@cache
def bomb(*codings: str, size: int = LIMITS.body_bytes + 1_000_000) -> bytes:
    """More than is read of a body, packed by each of `codings` in turn."""
    data = bytes(size)
    for coding in codings:
        data = _ENCODE[coding](data)
    return data


def packed(coding: str, data: bytes) -> bytes:
    """`data` in `coding`."""
    return _ENCODE[coding](data)


@cache
def zip_bomb(inner: str = "word/document.xml") -> bytes:
    """A zip archive, an Office document by its look, whose one entry unpacks to five times what is read of a body."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(inner, bytes(5 * LIMITS.body_bytes))
        archive.writestr("../../../etc/cron.d/slipped", "* * * * * root true")
    return made.getvalue()


def headed(body: bytes, *lines: str, status: str = "200 OK") -> bytes:
    """A reply with these header lines and its length."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, f"Content-Length: {len(body)}", "", ""]).encode("latin-1") + body


def head(*lines: str, status: str = "200 OK") -> bytes:
    """The head of a reply."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1")


def without_end(start: bytes, more: bytes) -> Handler:
    """`start`, then `more` for as long as somebody listens."""
    block = more * max(1, 65_536 // len(more))

    async def answer(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(block)
            await writer.drain()

    return answer


def drop_by_drop(start: bytes, drop: bytes) -> Handler:
    """`start`, then `drop` every few milliseconds until the other side goes: each read brings something, none the end."""

    async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        gone = asyncio.ensure_future(request.hang_up())
        try:
            while not gone.done():
                writer.write(drop)
                await writer.drain()
                await asyncio.wait({gone}, timeout=0.02)
        finally:
            gone.cancel()

    return answer


async def silence(request: Any, _: asyncio.StreamWriter) -> None:
    """No answer at all."""
    await request.hang_up()


HTML = "Content-Type: text/html; charset=utf-8"

ENTITIES = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12))
    + b"]><x>&m;</x>"
)
OUTSIDE = (
    b'<?xml version="1.0"?><!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd" [<!ENTITY f SYSTEM "file:///etc/passwd">]><x>&f;</x>'
)
