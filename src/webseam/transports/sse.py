"""transports: Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html): a stream and its writer.

A stream is what waits to be written to one client. Whoever has something to say puts it in and never waits; one writer at a
time takes it out and waits for the client, so a slow reader costs what the bounds allow and nothing else. A stream that is
`kept` holds on to what was written, within the same bounds, so that a client which lost its connection can have the rest.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Write = Callable[[bytes], Awaitable[None]]

COMMENT = b":\n\n"
"""What keeps a connection open that has nothing to say: ignored by every client."""


class Stream:
    """Messages in order. Positions count from 1 and are the second half of an event's id, after the stream's name.

    `last` is the position of the newest message, `written` of the newest that was handed to a connection.
    """

    __slots__ = (
        "_events",
        "_retry",
        "_size",
        "_spent",
        "_wake",
        "_writer",
        "ended",
        "kept",
        "last",
        "name",
        "overrun",
        "written",
    )

    def __init__(self, name: str = "", *, kept: bool = False, spent: Callable[[int], None] | None = None) -> None:
        self.name = name
        self.kept = kept
        self.last = 0
        self.written = 0
        self.ended = False
        self.overrun: Callable[[], object] | None = None
        """Called when a message that must not be lost finds no room, though somebody is connected: ends the connection."""
        self._events: deque[bytes] = deque()
        self._size = 0
        self._spent = spent  # told of every byte more or less that is held
        self._wake: asyncio.Future[None] | None = None
        self._writer: object = None
        self._retry: int | None = None

    @property
    def connected(self) -> bool:
        """Whether somebody is being written to."""
        return self._writer is not None

    def put(self, message: bytes, keep: bool = True) -> None:
        """Add a message. One that need not be kept is left out when half the room is taken by what waits: the other half is
        for those that must be. Where there is none for them the oldest goes, or nobody gets any more."""
        if self.ended:
            return
        size = len(message)
        while self._full(size) and self.last - len(self._events) < self.written:
            self._drop_oldest()
        if not keep and self._crowded(size):
            return
        if self._full(size) and self.overrun is not None and (self.connected or not self.kept):
            self.overrun()  # who reads too slowly loses the connection, rather than a message without noticing
            if not self.kept:
                return
        while self._full(size):
            self._drop_oldest()
        self._add(message)

    def prime(self) -> None:
        """An event without data, which gives the client an id to come back with (2025-11-25, basic/transports)."""
        self.last += 1
        self._hold(b"id: %b.%d\nretry: %d\ndata: \n\n" % (self.name.encode(), self.last, LIMITS.retry_ms))

    def end(self, last: bytes | None = None) -> None:
        """No more will come but `last`, for which there is always room: the writer leaves once everything is written."""
        if last is not None and not self.ended:
            self._add(last)
        self.ended = True
        self._awake()

    def hang_up(self, retry_ms: int | None) -> None:
        """Let the writer leave now; the client is to come back for the rest."""
        self._retry = LIMITS.retry_ms if retry_ms is None else retry_ms
        self._awake()

    def leave(self) -> None:
        """Nobody reads any more: what is not kept need not be held."""
        if not self.kept:
            self.ended = True
            self.forget()
            self._awake()

    def forget(self) -> None:
        """Let go of everything that is held."""
        self._account(-self._size)
        self._events.clear()

    def has_after(self, position: int) -> bool:
        """Whether everything after `position` is still held."""
        return self.last - len(self._events) <= position <= self.last

    async def write_to(self, write: Write, keep_alive_seconds: float, after: int = 0) -> None:
        """Write what comes after the position `after`, until the stream ends or another writer takes over."""
        me = self._writer = object()
        self._awake()  # whoever wrote before sees that it is over
        position = after
        try:
            while self._is(me):
                data, position = self._take(position)
                if data:
                    await write(data)
                    self.written = max(self.written, position)
                elif self.ended:
                    return
                elif self._hung_up():
                    retry_ms, self._retry = self._retry, None
                    await write(b"retry: %d\n\n" % (retry_ms or 0))
                    return
                elif not await self._something(keep_alive_seconds):
                    await write(COMMENT)
        finally:
            if self._is(me):
                self._writer = self._wake = None

    def _is(self, writer: object) -> bool:
        return self._writer is writer

    def _hung_up(self) -> bool:
        return self._retry is not None

    def _take(self, position: int) -> tuple[bytes, int]:
        """What is to be written after `position`, and the position after that."""
        new = self.last - position
        if new <= 0:
            return b"", position
        if self.kept:
            events = list(self._events)[-new:]
        else:
            events = list(self._events)
            self.forget()
        return b"".join(events), self.last

    async def _something(self, seconds: float) -> bool:
        """Wait for something to do; False when nothing came within `seconds`."""
        wake = self._wake = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait({wake}, timeout=seconds)
        return bool(done)

    def _awake(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _add(self, message: bytes) -> None:
        if b"\n" in message or b"\r" in message:  # JSON that somebody else wrote: between its tokens, a space will do
            message = message.replace(b"\n", b" ").replace(b"\r", b" ")
        self.last += 1
        prefix = b"id: %b.%d\n" % (self.name.encode(), self.last) if self.kept else b""
        self._hold(prefix + b"data: " + message + b"\n\n")

    def _hold(self, event: bytes) -> None:
        self._events.append(event)
        self._account(len(event))
        self._awake()

    def _full(self, size: int) -> bool:
        """Whether there is no room for so much more. For one message alone there always is."""
        held = len(self._events)
        return held > 0 and (held >= LIMITS.stream_messages or self._size + size > LIMITS.stream_bytes)

    def _crowded(self, size: int) -> bool:
        waiting = min(self.last - self.written, len(self._events)) if self.kept else len(self._events)
        return waiting > 0 and (waiting >= LIMITS.stream_messages // 2 or self._size + size > LIMITS.stream_bytes)

    def _drop_oldest(self) -> None:
        self._account(-len(self._events.popleft()))

    def _account(self, size: int) -> None:
        self._size += size
        if self._spent is not None and size:
            self._spent(size)
