"""transports: what is written in one turn of the event loop goes out at its end, a connection's in one system call.

uvicorn writes the head of a response and its body apart, each as soon as it has it: two system calls and two packets where one
does, and between the work on one request and the next the processor has been in the kernel twice. Here the answers of one turn
wait for its end. A server with little to do has one answer in a turn, and it goes out as soon as before.

Here is bounded, too, what uvicorn leaves without bounds: how large a head is and how long it takes, how many connections there
are, and how long and how much is kept for clients that do not read.
"""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from webseam.config import LIMITS
from webseam.protocol.outcome import Outcome
from webseam.transports.asgi import Application
from webseam.transports.atonce import Answers, Head, Way
from webseam.transports.requests import LARGE_HEAD, Headers

SWEEP_SECONDS = 5.0
HEADER_BYTES = LIMITS.header_bytes
SPARE_DESCRIPTORS = 64
"""What is left of the process's descriptors for everything that is no client's connection."""
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
            try:
                transport.flush()
            except (OSError, RuntimeError):  # it was lost in this very turn: its protocol hears of it
                pass
            except Exception as error:  # noqa: BLE001  # whatever it is, those behind it have nothing to do with it
                context = {"message": "A transport failed to write.", "exception": error}
                asyncio.get_running_loop().call_exception_handler(context)


class GatheringTransport:
    """A transport that gathers what is written. Everything else is the transport's own."""

    __slots__ = ("_pieces", "_size", "_transport", "_turn", "is_closing")

    def __init__(self, transport: asyncio.Transport, turn: Turn) -> None:
        self._transport = transport
        self.is_closing = transport.is_closing  # it is asked more than once a call
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
        """Write what was gathered; let go of it where the connection is gone."""
        if self._pieces:
            pieces, self._pieces, self._size = self._pieces, [], 0
            if not self.is_closing():
                self._transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def close(self) -> None:
        """Close, once everything is written."""
        try:
            self.flush()
        finally:
            self._transport.close()


class Idle:
    """Looks after the connections of one server, a few times a minute: one timer for all, not one a request.

    It knows as well of those whose client reads too slowly, and what is kept for them: together at most
    `LIMITS.unwritten_bytes`, beyond which the one that has read nothing for longest is lost.
    """

    __slots__ = ("_held", "_paused", "_protocols", "_timer", "most")

    def __init__(self, most: int = LIMITS.connections_served) -> None:
        self.most = most
        self._protocols: set[GatheringProtocol] = set()
        self._paused: dict[GatheringProtocol, int] = {}  # what was kept for each when it was paused
        self._held = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def full(self) -> bool:
        """Whether there is no place for another connection."""
        return len(self._protocols) >= self.most

    def add(self, protocol: GatheringProtocol) -> None:
        """Look after a connection until it is lost."""
        self._protocols.add(protocol)
        if self._timer is None:
            self._timer = protocol.loop.call_later(SWEEP_SECONDS, self._sweep, protocol.loop)

    def remove(self, protocol: GatheringProtocol) -> None:
        """It is lost."""
        self._protocols.discard(protocol)
        self.resumed(protocol)

    def paused(self, protocol: GatheringProtocol, size: int) -> None:
        """Its client has so many bytes still to read."""
        self.resumed(protocol)
        self._paused[protocol] = size
        self._held += size
        while self._held > LIMITS.unwritten_bytes and len(self._paused) > 1:
            oldest = next(iter(self._paused))
            self.resumed(oldest)
            oldest.transport.abort()

    def resumed(self, protocol: GatheringProtocol) -> None:
        """Its client has read (nearly) everything, or is gone."""
        self._held -= self._paused.pop(protocol, 0)

    def reads(self, protocol: GatheringProtocol, size: int) -> None:
        """Its client reads, if slowly: so many bytes are left."""
        if protocol in self._paused:
            self.paused(protocol, size)  # behind all others

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for protocol in list(self._protocols):
            protocol.look(now)
        self._timer = loop.call_later(SWEEP_SECONDS, self._sweep, loop) if self._protocols else None


class _LargeHeadError(Exception):
    """Raised out of a callback of the parser, which stops there."""


class GatheringProtocol(HttpToolsProtocol):
    """uvicorn's protocol, on such transports. `turn`, `idle` and `context` are set by a subclass for each server."""

    turn: Turn
    idle: Idle
    answers: Answers
    context: contextvars.Context
    """Every request begins with a copy: nothing that was set for one is there for another, of another caller perhaps."""

    idle_since: float | None = None
    head_since: float | None = None  # for how long a head has been waited for that has not come, or not all of it
    in_head = False
    _body: bytes | None = None  # of a request that goes the short way, as far as it has come
    way: Way | None = None  # of the one that is worked on, if it went the short way
    _found: Headers  # of that request
    _known: Head | None = None  # of the last one that went the short way
    _between = True  # of the end of a request and the beginning of the next
    _one_went = False  # of those in one piece: the next one waits for its turn of the loop
    stalled_since: float | None = None  # for how long nothing has been read of what is written
    _unwritten = 0  # when it was looked at last
    _piece = 0  # bytes of what is being parsed
    _head_bytes = 0  # of a head that came in pieces, without the piece in which it began
    _perhaps_large = False  # a head of which it is not known that it is small
    _upgrades = False
    _refused = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        whole = type(self.app) is Application and not self.root_path  # a subclass may want to see every request
        self.path = self.app.path.encode() if whole else None  # where there is a short way

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        if self.idle.full:
            self._refused = True
            transport.write(_refusal(503, b"There are as many connections as this server takes: try again later."))
            transport.close()
            return
        super().connection_made(GatheringTransport(transport, self.turn))  # type: ignore[arg-type]  # it behaves as one
        self.head_since = self.loop.time()
        self.idle.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._refused:
            return
        self._to_uvicorn()
        self.idle.remove(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self._to_uvicorn()
        super().shutdown()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.idle.paused(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self.stalled_since = None
        self.idle.resumed(self)
        super().resume_writing()

    def look(self, now: float) -> None:
        """End the connection if nothing is asked, or nothing read, for too long."""
        size = self.transport.get_write_buffer_size()
        if not size:
            self.stalled_since = None
        elif self.stalled_since is None or size < self._unwritten:
            self.stalled_since = now
            self.idle.reads(self, size)
        elif now - self.stalled_since > LIMITS.write_seconds:
            self.transport.abort()  # to close it would wait for the client
            return
        self._unwritten = size
        half = self.head_since is not None and now - self.head_since > LIMITS.head_seconds and self._answered
        idle = self.idle_since is not None and now - self.idle_since > self.timeout_keep_alive
        if half or idle:
            self.transport.close()

    @property
    def _answered(self) -> bool:
        return self.way is None and (self.cycle is None or self.cycle.response_complete)

    # -------------------------------------------------------------------------------------------- what arrives

    def data_received(self, data: bytes) -> None:
        """What uvicorn does, but that heads are bounded, and that who offers to upgrade is served without."""
        self._one_went = False
        if self._known is not None and self._between and self._again(self._known, data):
            return
        self._piece = len(data)
        begins = self._between
        if self._piece > HEADER_BYTES:
            self._perhaps_large = True
        rest: bytes | memoryview = data
        try:
            while True:
                try:
                    self.parser.feed_data(rest)
                except httptools.HttpParserUpgrade as upgrade:
                    if not self._upgrades:  # CONNECT: what follows is no HTTP
                        self.cycle.keep_alive = False
                        return
                    rest = memoryview(rest)[upgrade.args[0] :]
                    self._go_on_without_upgrade()
                else:
                    break
            if self.in_head:
                self._half_a_head()
            elif self._body is not None:  # the rest of it may be long in coming
                self._long_way()
            elif begins and self._one_went and self._between:
                self._known = Head.of(data, self._found)
        except _LargeHeadError:
            self._refuse(431, LARGE_HEAD.encode())
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, _LargeHeadError):
                self._refuse(431, LARGE_HEAD.encode())
            else:
                self._refuse(400, b"Invalid HTTP request received.")

    def on_message_begin(self) -> None:
        """What uvicorn does, but for the scope, which is made where there is a use for it."""
        self.in_head = True
        self._between = False
        self._head_bytes = -self._piece
        self.url = b""
        self.headers = []
        self.expect_100_continue = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """What uvicorn does, but that trailers are left out (RFC 9110, section 6.5.1): they are no part of the head."""
        if not self.in_head:
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.head_since = self.idle_since = None
        if self._perhaps_large:
            self._perhaps_large = self._piece > HEADER_BYTES  # then there may be other heads in it
            self._measure()
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self._upgrades = True
        elif self._may_be_short() and (found := self.app.head(self.headers)) is not None:
            self._found = found
            self._body = b""
        else:
            self._to_uvicorn()
            self._long_way()

    def on_body(self, body: bytes) -> None:
        if self._body is not None:
            self._body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """What uvicorn does, where nothing is upgraded."""
        self._between = True
        if self._body is not None:
            body, self._body = self._body, None
            self._one_went = True
            self._short_way(self._found, body)
        elif not self._upgrades and not self.cycle.response_complete:
            self.cycle.more_body = False
            self.cycle.message_event.set()

    def _half_a_head(self) -> None:
        """A head goes on in the next piece. Raises `_LargeHeadError`."""
        self._head_bytes += self._piece
        self._perhaps_large = True
        if self.head_since is None:
            self.head_since = self.loop.time()
        if self._head_bytes > HEADER_BYTES:
            raise _LargeHeadError
        if not self._head_bytes:  # it began in this piece, which may be larger: of the next ones the bytes are known
            self._measure()

    def _measure(self) -> None:
        """Raises `_LargeHeadError`."""
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEADER_BYTES:
            raise _LargeHeadError

    def _go_on_without_upgrade(self) -> None:
        """Who is offered another protocol may ignore it (RFC 9110, section 7.8). The parser takes it that everything behind
        the head is of that protocol: another one gets the head without the offer."""
        self._upgrades = False
        head = [b"%b %b HTTP/%b\r\n" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        head += [b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self.parser.feed_data(b"".join((*head, b"\r\n")))

    def _refuse(self, status: int, text: bytes) -> None:
        """Answer what is no request of ours, and close. Behind a request that is not answered yet nothing is said: it would be
        taken for its answer."""
        self.in_head = False
        self._body = None
        if self._answered:
            self.transport.write(_refusal(status, text))
        self.transport.close()

    # -------------------------------------------------------------------------------------------- what is answered

    def _may_be_short(self) -> bool:
        """Whether the request whose head is there may be one for `Application.at_once`."""
        return (
            not self._one_went
            and self.url == self.path
            and self._answered
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and self.parser.should_keep_alive()
            and not self.expect_100_continue
            and not self.flow.write_paused
        )

    def _again(self, known: Head, data: bytes) -> bool:
        """Answer a request, or begin to, whose head is the one before, if this is one."""
        body = known.body_of(data)
        if body is None or not self._answered or self.flow.write_paused or self.app.has_sessions:
            return False
        self.head_since = self.idle_since = None
        self._short_way(known.headers, body)
        return True

    def _short_way(self, headers: Headers, body: bytes) -> None:
        """Answer a request whose body is there, or begin to."""
        if self.transport.is_closing():
            return
        context = self.context.copy()
        begun = context.run(self.app.at_once, headers, body)
        if type(begun) is Outcome:
            self.write_answer(begun.status, begun.reply or b"")
        else:
            way = self.way = Way(self)
            way.task = self.loop.create_task(way.go(self.app, begun), context=context)

    def write_answer(self, status: int, body: bytes) -> None:
        """Write a whole answer in JSON to a request that went the short way."""
        self.way = None
        self.transport.write(self.answers.head(status, len(body), self.server_state.default_headers) + body)
        self.on_response_complete()

    def _long_way(self) -> None:
        """Leave a request to uvicorn and ASGI. Its head is there, of its body what came with it."""
        body, self._body = self._body, None
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()  # makes the scope
        self.url, self.headers, self.expect_100_continue = url, headers, expects
        self.scope["headers"] = headers
        super().on_headers_complete()
        if body:
            super().on_body(body)

    def _to_uvicorn(self) -> None:
        """Let uvicorn know of the request that is worked on, if it went the short way."""
        if self.way is not None:
            self.cycle = self.way.cycle()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """What uvicorn does, but for the context: a pipelined request would begin in that of the one before."""
        task = self.loop.create_task(cycle.run_asgi(app), context=self.context.copy())
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def on_response_complete(self) -> None:
        """What uvicorn does, but for the timer."""
        self.server_state.total_requests += 1
        self.way = None
        if self.transport.is_closing():
            return
        if self.flow.read_paused:
            self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self.idle_since = self.loop.time()
            if self.in_head:  # nothing was read while the one before was worked on
                self.head_since = self.idle_since


def _refusal(status: int, text: bytes) -> bytes:
    head = b"%bcontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
    return head % (STATUS_LINE[status], len(text)) + text


def most_connections() -> int:
    """How many connections a server takes: never the last descriptors of the process, where it has a bound."""
    try:
        import resource
    except ImportError:  # Windows: there is none
        return LIMITS.connections_served
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if descriptors == resource.RLIM_INFINITY:
        return LIMITS.connections_served
    return max(1, min(LIMITS.connections_served, max(descriptors - SPARE_DESCRIPTORS, descriptors // 2)))


def gathering_protocol() -> type[GatheringProtocol]:
    """A protocol class for one server."""
    own = {"turn": Turn(), "idle": Idle(most_connections()), "answers": Answers(), "context": contextvars.copy_context()}
    return type("GatheringProtocolOfOne", (GatheringProtocol,), own)
