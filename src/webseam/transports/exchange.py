"""transports: one POST and its answer, as the engine's `Channel`.

An answer is one JSON object until something is said before it: then it is an event stream that ends with the answer. So a plain
call costs what it did before there were streams. A call that takes long enough for proxies to lose patience becomes a stream as
well, for its comments.

What a closed connection means is the revision's: in 2026-07-28 it cancels the request, before it does not
(basic/transports), and what is left to say is kept where there is a session.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from webseam.protocol.codec import Struct
from webseam.protocol.revisions import RULES
from webseam.transports.background import Background, waiter
from webseam.transports.sse import Stream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping

    from webseam.protocol.request import Request
    from webseam.transports.sessions import HttpSession

    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]

LOOK_SECONDS = 0.05
"""How often the requests under way are looked after. One that is answered sooner is not worth watching the connection for."""

STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class UnsentError(Exception):
    """The server would not send what it was given, for the reason that is the cause: an answer has begun all the same, or
    cannot, so that no other must follow."""


class Begun:
    """Work whose first step was taken already, in this very task: awaiting it goes on from there."""

    __slots__ = ("_waited", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], waited: Any) -> None:
        self._work = work
        self._waited = waited  # what the first step waits for

    def __await__(self) -> Generator[Any, Any, Any]:
        waited = self._waited
        try:
            while True:
                try:
                    value = yield waited
                except GeneratorExit:
                    self._work.close()
                    raise
                except BaseException as error:  # noqa: BLE001  # a cancellation, or whatever the task throws in: it is the work's
                    waited = self._work.throw(error)
                else:
                    waited = self._work.send(value)
        except StopIteration as done:
            return done.value


class Lookout:
    """Looks after the requests under way, a few times a second: a timer for each would cost more than the rest of a call."""

    __slots__ = ("_exchanges", "_looks", "_timer")

    def __init__(self) -> None:
        self._exchanges: dict[Exchange, int] = {}
        self._looks = 0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, exchange: Exchange) -> None:
        """Look after it from now on."""
        self._exchanges[exchange] = self._looks
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def remove(self, exchange: Exchange) -> None:
        """It is done."""
        self._exchanges.pop(exchange, None)

    def _look(self) -> None:
        self._looks += 1
        for exchange, since in list(self._exchanges.items()):
            if self._looks - since > 1:
                exchange.takes_long((self._looks - since) * LOOK_SECONDS)
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look) if self._exchanges else None


class Exchange(Struct, eq=False):
    """The channel of one request over HTTP. `session` keeps the stream for a client that comes back; when it is `resumable`
    there always is one.

    A Struct, as `Request` is one: it is made for every call.
    """

    request: Request
    receive: Receive
    write: Send
    background: Background
    session: HttpSession | None
    keep_alive_seconds: float
    streaming: bool
    resumable: bool = False
    stream: Stream | None = None
    _task: asyncio.Task[Any] | None = None
    _watcher: asyncio.Task[None] | None = None
    _writer: asyncio.Task[None] | None = None

    # -------------------------------------------------------------------------------------------- the engine's channel

    def send(self, message: bytes, keep: bool) -> None:
        """Say something before the answer: from now on it is a stream."""
        self.begin().put(message, keep)

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        """Something to wait for."""
        return waiter(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run `work` beyond this request."""
        return self.background.spawn(work)

    def close_stream(self, retry_ms: int | None) -> None:
        """Let the client come back for the rest, where there is a session to come back to and an id to come back with."""
        if self._primed:
            stream = self.begin()
            if stream.connected or (self._writer is not None and not self._writer.done()):  # else nobody is there
                stream.hang_up(retry_ms)

    # -------------------------------------------------------------------------------------------- the transport's side

    def waits(self) -> None:
        """The work goes on for a while, in this task: what cancels the request cancels it."""
        self._task = asyncio.current_task()
        if self.request.session is not None:
            self.request.on_cancel(self._cancelled)

    def takes_long(self, seconds: float) -> None:
        """The answer has taken so long already: watch whether anybody waits for it, and keep the connection alive."""
        if self.request.modern:
            self._watch()
        if self.streaming and (seconds >= self.keep_alive_seconds or self._primed or self.resumable):
            self.begin()  # where it can be resumed, early: then the answer survives the connection

    @property
    def _primed(self) -> bool:
        rules = RULES.get(self.request.revision)
        return self.session is not None and rules is not None and rules.primed_streams

    def begin(self) -> Stream:
        """The stream; the first time, it begins."""
        if self.stream is None:
            self.stream = Stream() if self.session is None else self.session.open_stream()
            self.stream.overrun = self._gone
            if self._primed:
                self.stream.prime()
            self._writer = asyncio.get_running_loop().create_task(
                write_stream(self.stream, self.write, self.keep_alive_seconds)
            )
            self._watch()
        return self.stream

    async def finish(self, reply: bytes | None) -> None:
        """The last word, and the end of the stream: returns when it is written, or nobody reads any more."""
        self.settled()
        assert self.stream is not None
        self.stream.end(reply)
        writer = self._writer
        assert writer is not None
        await asyncio.wait({writer})
        self.close()
        if not writer.cancelled():
            writer.result()  # raises what went wrong

    def settled(self) -> None:
        """The work is done: nothing can cancel it any more."""
        self._task = None

    def close(self) -> None:
        """Leave nothing behind, no cycle of references either: a session may keep the stream, but not what led to it."""
        self._task = None
        self.request.channel = None
        if self.stream is not None:
            self.stream.overrun = None
        if self._watcher is not None:
            self._watcher.cancel()
        if self._writer is not None:
            self._writer.cancel()

    def _cancelled(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _watch(self) -> None:
        if self._watcher is None:
            self._watcher = asyncio.get_running_loop().create_task(self._notice())

    async def _notice(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self._gone()

    def _gone(self) -> None:
        """Nobody reads this connection any more. Another may have taken over the stream by now: that one goes on."""
        if self.stream is not None:
            self.stream.leave()
        if self._writer is not None:
            self._writer.cancel()
        if self.request.modern:
            self.request.cancel()
            self._cancelled()


async def write_stream(
    stream: Stream,
    send: Send,
    keep_alive_seconds: float,
    after: int = 0,
    more_headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Write a stream as the body of a response, which begins and ends here. Returns as well when the client has left.
    Raises `UnsentError`."""

    async def write(data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})

    try:
        await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *more_headers]})
        await stream.write_to(write, keep_alive_seconds, after)
        await send({"type": "http.response.body", "body": b""})
    except OSError:  # how some servers say that the client has left
        pass
    except Exception as error:
        raise UnsentError from error
