"""Pages kept a short while: the second window of a page is not a second request.

Keyed by account, engine, settings version and canonical URL, so that nothing crosses from one account, engine or setting to
another (`facts/abuse.md`, case 49), and by whether all of the page is wanted or its main content.

Bounded in age and in bytes, least recently used first. Failures are not kept.

One flight per key: requests that want a page which is being fetched wait for that fetch. It belongs to none of them. A request
that leaves takes nothing from the others; when the last one leaves, the fetch is stopped.

Who asks for a new copy ("refresh") takes neither a kept page nor a flight that may bring one. The new page replaces the kept
one, and a flight that began before does not put its own in that place again. Who wants "only" a kept page takes one from here
or else has a flight apart: it asks no site, and what it finds may be stale, so it is not kept for others.
"""

from __future__ import annotations

import asyncio
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, Literal

    from webseam.call import Call
    from webseam.seam.contract import Page
    from webseam.tools.window import Layout

_OVERHEAD = 2_048  # bytes an entry costs besides its text; also what bounds the number of tiny pages


class Key(NamedTuple):
    """What a kept page is kept for."""

    account: str
    engine: str
    version: int
    url: str
    whole: bool = False


class Kept:
    """One page with its layout, read off once, and about how many tokens it costs."""

    __slots__ = ("layout", "page", "tokens")

    def __init__(self, page: Page, layout: Layout) -> None:
        from webseam.tools.tokens import estimate

        self.page = page
        self.layout = layout
        self.tokens = estimate(page.content)

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        headings = sum(sys.getsizeof(heading.title) + 200 for heading in self.layout.headings)
        return (
            sys.getsizeof(self.page.content) + headings + 150 * (len(self.layout.fences) + len(self.layout.tables)) + _OVERHEAD
        )


class _Place(NamedTuple):
    since: float
    size: int
    begun: int
    kept: Kept


class _Flight:
    __slots__ = ("task", "waiting")

    def __init__(self, task: asyncio.Task[Kept]) -> None:
        self.task = task
        self.waiting = 0


def _retrieve(task: asyncio.Task[Kept]) -> None:
    if not task.cancelled():
        task.exception()


class Pages:
    """The pages kept by one process, in at most `room` bytes. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float], room: int = LIMITS.pages_kept_bytes) -> None:
        self._clock = clock
        self._room = room
        self._kept: OrderedDict[Key, _Place] = OrderedDict()
        self._bytes = 0
        self._flights: dict[tuple[Key, str], _Flight] = {}
        self._begun = 0

    async def get(
        self,
        key: Key,
        fetch: Callable[[], Coroutine[Any, Any, Kept]],
        call: Call,
        *,
        cache: Literal["use", "only", "refresh"] = "use",
    ) -> Kept:
        """The page for `key`: kept, in flight, or from `fetch()`. Raises what that raised, CancelledError if `call` was."""
        kept = self._look_up(key) if cache != "refresh" else None
        if kept is not None:
            return kept
        name = (key, cache)
        flight = self._flights.get(name)
        if flight is None or flight.task.done() or flight.task.get_loop() is not asyncio.get_running_loop():
            flight = _Flight(asyncio.ensure_future(self._fly(name, fetch)))
            flight.task.add_done_callback(_retrieve)  # one that fails after everybody left has nobody to tell
            self._flights[name] = flight
        return await self._wait(name, flight, call)

    async def _fly(self, name: tuple[Key, str], fetch: Callable[[], Coroutine[Any, Any, Kept]]) -> Kept:
        key, cache = name
        self._begun += 1
        begun = self._begun
        kept = await fetch()
        if cache != "only":
            self._keep(key, kept, begun)
        return kept

    async def _wait(self, name: tuple[Key, str], flight: _Flight, call: Call) -> Kept:
        left = asyncio.Event()
        call.on_cancel(left.set)
        leaving = asyncio.ensure_future(left.wait())
        flight.waiting += 1
        try:
            await asyncio.wait({flight.task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not flight.task.done():
                raise asyncio.CancelledError
            return flight.task.result()
        finally:
            leaving.cancel()
            flight.waiting -= 1
            if flight.waiting == 0:
                if self._flights.get(name) is flight:
                    del self._flights[name]
                if not flight.task.done():
                    flight.task.cancel()

    def _look_up(self, key: Key) -> Kept | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        if self._clock() - entry.since >= LIMITS.pages_kept_seconds:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return entry.kept

    def _keep(self, key: Key, kept: Kept, begun: int) -> None:
        before = self._kept.get(key)
        if before is not None and before.begun > begun:
            return
        self._drop(key)
        size = kept.size
        if size > self._room:
            return
        self._kept[key] = _Place(self._clock(), size, begun, kept)
        self._bytes += size
        while self._bytes > self._room:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: Key) -> None:
        entry = self._kept.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size
