"""transports: what is written in one turn of the event loop goes out at its end, a connection's in one system call.

uvicorn writes the head of a response and its body apart, each as soon as it has it: two system calls and two packets where one
does, and between the work on one request and the next the processor has been in the kernel twice. Here the answers of one turn
wait for its end. A server with little to do has one answer in a turn, and it goes out as soon as before.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from webseam.transports.asgi import ANSWER

SWEEP_SECONDS = 5.0
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


class Idle:
    """Closes the connections of one server on which nothing was asked for a while: one timer for all, not one an answer."""

    __slots__ = ("_protocols", "_timer")

    def __init__(self) -> None:
        self._protocols: set[GatheringProtocol] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, protocol: GatheringProtocol) -> None:
        """Look after a connection until it is lost."""
        self._protocols.add(protocol)
        if self._timer is None:
            self._timer = protocol.loop.call_later(SWEEP_SECONDS, self._sweep, protocol.loop)

    def remove(self, protocol: GatheringProtocol) -> None:
        """It is lost."""
        self._protocols.discard(protocol)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for protocol in list(self._protocols):
            if protocol.idle_since is not None and now - protocol.idle_since > protocol.timeout_keep_alive:
                protocol.timeout_keep_alive_handler()
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._protocols else None


class GatheringProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on such transports. `turn` and `idle` are set by a subclass for each server."""

    turn: Turn
    idle: Idle
    idle_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(GatheringTransport(transport, self.turn))  # type: ignore[arg-type]  # it behaves as one
        self.idle.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.idle.remove(self)
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self.idle_since = None
        super().on_message_begin()
        self.scope["extensions"] = EXTENSIONS  # type: ignore[typeddict-item]  # a shared one: nobody changes it

    def on_response_complete(self) -> None:
        """What uvicorn does, but for the timer."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.idle_since = self.loop.time()


def answer(send: Any, status: int, body: bytes) -> bool:
    """Answer a POST with JSON, in place of two calls of ASGI's `send`, which costs a tenth of a small call.

    False where that is not to be: `send` is not uvicorn's, the client reads too slowly, or the connection is to close.
    """
    cycle = getattr(send, "__self__", None)
    if (
        type(cycle) is not RequestResponseCycle
        or cycle.response_started
        or cycle.disconnected
        or not cycle.keep_alive
        or cycle.flow.write_paused
    ):
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.waiting_for_100_continue = False
    fields = b"".join(b"%b: %b\r\n" % field for field in cycle.default_headers)
    head = b"%bcontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n" % (STATUS_LINE[status], len(body), fields)
    cycle.transport.write(head + body)
    cycle.message_event.set()
    cycle.on_response()
    return True


EXTENSIONS = {ANSWER: answer}


def gathering_protocol() -> type[GatheringProtocol]:
    """A protocol class for one server."""
    return type("GatheringProtocolOfOne", (GatheringProtocol,), {"turn": Turn(), "idle": Idle()})
