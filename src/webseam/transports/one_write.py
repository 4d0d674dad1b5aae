"""transports: a response in one write.

uvicorn writes the head of a response and its body apart: two system calls and two packets where one does. The transport that
it is given here holds back a head that says how long its body is until the first of that body comes, which is at once but for a
slow file. What has no length, an event stream above all, is never held back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

_HEAD = b"HTTP/1.1 "
_LENGTH = b"\r\ncontent-length: "
_HEAD_BYTES = 16 * 1024


class OneWriteTransport:
    """A transport that writes a head together with what follows it. Everything else is the transport's own."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._write = transport.write
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, or hold back the head of a response whose body is still to come."""
        if self._held:
            self._write(self._held + data)
            self._held = b""
        elif data.startswith(_HEAD) and _LENGTH in data and len(data) < _HEAD_BYTES:
            self._held = data
        else:
            self._write(data)

    def flush(self) -> None:
        """Write what is held back: nothing follows it."""
        if self._held:
            self._write(self._held)
            self._held = b""

    def close(self) -> None:
        """Write what is held back, and close."""
        self.flush()
        self._transport.close()


class OneWriteProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on such a transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        self.one_write = OneWriteTransport(transport)
        super().connection_made(self.one_write)  # type: ignore[arg-type]  # it behaves as one

    def on_response_complete(self) -> None:
        self.one_write.flush()
        super().on_response_complete()
