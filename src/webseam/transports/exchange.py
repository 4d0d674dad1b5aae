"""transports: one POST and its answer, as the engine's `Channel`.

An answer is one JSON object until something is said before it: then it is an event stream that ends with the answer. So a plain
call costs what it did before there were streams. A call that takes long enough for proxies to lose patience becomes a stream as
well, for its comments.

What a closed connection means is the revision's: in 2026-07-28 it cancels the request, before it does not
(basic/transports), and what is left to say is kept where there is a session.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from webseam.transports.background import Background, waiter
from webseam.transports.sse import Stream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, MutableMapping

    from webseam.protocol.request import Request
    from webseam.transports.sessions import HttpSession

    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]

WATCH_AFTER_SECONDS = 0.05
"""A call that is answered sooner is not worth watching the connection for."""

STREAM_HEADERS = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)


class Exchange:
    """The channel of one request over HTTP. `session` keeps the stream for a client that comes back."""

    __slots__ = (
        "_background", "_keep_alive", "_primed", "_receive", "_request", "_send", "_session", "_task", "_timers",
        "_watcher", "_writer", "cancelled_by_us", "stream",
    )  # fmt: skip

    def __init__(
        self,
        request: Request,
        receive: Receive,
        send: Send,
        background: Background,
        *,
        session: HttpSession | None,
        keep_alive_seconds: float,
        primed: bool,
    ) -> None:
        self._request = request
        self._receive = receive
        self._send = send
        self._background = background
        self._session = session
        self._keep_alive = keep_alive_seconds
        self._primed = primed
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        self._timers: list[asyncio.TimerHandle] = []
        self._watcher: asyncio.Task[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self.stream: Stream | None = None
        self.cancelled_by_us = False

    # -------------------------------------------------------------------------------------------- the engine's channel

    def send(self, message: bytes, keep: bool) -> None:
        """Say something before the answer: from now on it is a stream."""
        self.begin().put(message, keep)

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        """Something to wait for."""
        return waiter(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run `work` beyond this request."""
        return self._background.spawn(work)

    def close_stream(self, retry_ms: int | None) -> None:
        """Let the client come back for the rest, where there is a session to come back to."""
        if self._session is not None:
            self.begin().hang_up(retry_ms)

    # -------------------------------------------------------------------------------------------- the transport's side

    def watch(self, streaming: bool) -> None:
        """From now on notice, soon, that the client left, and keep the connection alive if it may be a stream."""
        loop = asyncio.get_running_loop()
        if self._request.modern:
            self._request.on_cancel(self._cancelled)
            self._timers.append(loop.call_later(WATCH_AFTER_SECONDS, self._watch))
        elif self._request.session is not None:
            self._request.on_cancel(self._cancelled)
        if streaming and self._session is not None and self._primed:  # early, so that the answer survives the connection
            self._timers.append(loop.call_later(WATCH_AFTER_SECONDS, self.begin))
        elif streaming:
            self._timers.append(loop.call_later(self._keep_alive, self.begin))

    def begin(self) -> Stream:
        """The stream; the first time, it begins."""
        if self.stream is None:
            self.stream = Stream() if self._session is None else self._session.open_stream()
            self.stream.overrun = self._gone
            if self._primed and self._session is not None:
                self.stream.prime()
            self._writer = asyncio.get_running_loop().create_task(self._write(self.stream))
            self._watch()
        return self.stream

    async def finish(self, reply: bytes | None) -> None:
        """The last word, and the end of the stream: returns when it is written, or nobody reads any more."""
        self.settled()
        assert self.stream is not None
        if reply is not None:
            self.stream.put(reply)
        self.stream.end()
        if self._writer is not None:
            await asyncio.wait({self._writer})
        self.close()

    def settled(self) -> None:
        """The work is done: nothing can cancel it any more."""
        self._task = None
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def close(self) -> None:
        """Leave nothing behind."""
        self.settled()
        for task in (self._watcher, self._writer):
            if task is not None:
                task.cancel()

    def _cancelled(self) -> None:
        if self._task is not None:
            self.cancelled_by_us = True
            self._task.cancel()

    def _watch(self) -> None:
        if self._watcher is None:
            self._watcher = asyncio.get_running_loop().create_task(self._notice())

    async def _notice(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone()

    def _gone(self) -> None:
        """Nobody reads any more."""
        if self.stream is not None:
            self.stream.leave()
        if self._request.modern:
            self._request.cancel()

    async def _write(self, stream: Stream) -> None:
        with contextlib.suppress(OSError):  # some servers say so when the client has left
            await write_stream(stream, self._send, self._keep_alive)


async def write_stream(
    stream: Stream,
    send: Send,
    keep_alive_seconds: float,
    after: int = 0,
    more_headers: tuple[tuple[bytes, bytes], ...] = (),
) -> None:
    """Write a stream as the body of a response, which begins and ends here."""

    async def write(data: bytes) -> None:
        await send({"type": "http.response.body", "body": data, "more_body": True})

    await send({"type": "http.response.start", "status": 200, "headers": [*STREAM_HEADERS, *more_headers]})
    await stream.write_to(write, keep_alive_seconds, after)
    await send({"type": "http.response.body", "body": b""})
