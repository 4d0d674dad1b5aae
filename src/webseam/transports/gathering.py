"""transports: what is written in one turn of the event loop goes out at its end, a connection's in one system call.

uvicorn writes the head of a response and its body apart, each as soon as it has it: two system calls and two packets where one
does, and between the work on one request and the next the processor has been in the kernel twice. Here the answers of one turn
wait for its end. A server with little to do has one answer in a turn, and it goes out as soon as before.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

WAITING_BYTES = 64 * 1024
"""What a connection may gather: beyond, the transport must see it, as it is the one to say that a client reads too slowly."""


class Turn:
    """The connections of one server that have something to write in this turn."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[GatheringTransport] = []

    def add(self, transport: GatheringTransport) -> None:
        """Flush it at the end of the turn."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._end)
        self._waiting.append(transport)

    def _end(self) -> None:
        waiting, self._waiting = self._waiting, []
        for transport in waiting:
            transport.flush()


class GatheringTransport:
    """A transport that gathers what is written. Everything else is the transport's own."""

    __slots__ = ("_pieces", "_size", "_transport", "_turn")

    def __init__(self, transport: asyncio.Transport, turn: Turn) -> None:
        self._transport = transport
        self._turn = turn
        self._pieces: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, at the end of the turn."""
        if not self._pieces:
            self._turn.add(self)
        self._pieces.append(data)
        self._size += len(data)
        if self._size > WAITING_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was gathered."""
        if self._pieces:
            pieces, self._pieces, self._size = self._pieces, [], 0
            self._transport.write(b"".join(pieces))

    def close(self) -> None:
        """Close, once everything is written."""
        self.flush()
        self._transport.close()


class GatheringProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on such transports. `turn` is set by a subclass for each server."""

    turn: Turn

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(GatheringTransport(transport, self.turn))  # type: ignore[arg-type]  # it behaves as one


def gathering_protocol() -> type[GatheringProtocol]:
    """A protocol class for one server."""
    return type("GatheringProtocolOfOne", (GatheringProtocol,), {"turn": Turn()})
