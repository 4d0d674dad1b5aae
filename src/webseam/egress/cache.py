"""The HTTP cache of the door: what a site said, used again for as long as the site allowed, by one account.

Theory of operation. Each leg of a request is cached for itself, redirects too. Each is vetted before the cache is asked: its
spelling, its port, its private name and the account's exceptions, as for a request. The exception a reply was got under is part
of its key, so nothing got from a private address is shown once the exception is gone, nor to a redirect from elsewhere. The
name is not resolved again: what is vetted about an address is whether we may talk to it, and a hit talks to nobody. What the
name resolves to by now cannot change what was received when it resolved to an address that had been vetted; to ask would make
a hit cost a lookup and tell the name server about it.

What is cached: GET for `PURPOSES`, with no other headers than `HEADERS`, no body, no secrets. Everything else passes by and is
neither read nor written: calls with credentials, vendors, plugins, the crawler. Only its own account ever sees an entry: each
has a folder of its own, and the account is part of every key.

Freshness and validation are RFC 9111's (`freshness`), the files are `entries`' business. They are read and written in threads,
few and with little waiting for them: when the disk does not keep up, the cache is not there and the site is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import TYPE_CHECKING, NamedTuple

from webseam.call import folder_name
from webseam.config import LIMITS
from webseam.egress import freshness, refusals
from webseam.egress.entries import Entries, Head
from webseam.egress.freshness import Received
from webseam.egress.legs import REDIRECTS
from webseam.seam.contract import HttpReply
from webseam.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path
    from typing import Any, Final, TypeVar

    from webseam.call import Step
    from webseam.egress.addresses import Allowance
    from webseam.egress.entries import Entry
    from webseam.egress.legs import Leg
    from webseam.egress.replies import Bounds
    from webseam.egress.rooms import Claim

    Made = TypeVar("Made")
    Exchange = Callable[[Leg], Awaitable[HttpReply]]

OFF: Final = "off"
USE: Final = "use"
ONLY: Final = "only"
REFRESH: Final = "refresh"

PURPOSES: Final = frozenset({"reading"})
"""Whose replies are kept. The crawler has a state of its own; vendors and plugins send keys."""

HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})
"""What a request may carry: nothing here says who asks, and `Vary` can name them."""

THREADS: Final = 2
SECONDS: Final = 2.0  # that a request waits for the disk, each time
MOST_WAITING: Final = 64  # jobs for the disk
MOST_WAITING_BYTES: Final = 4 * LIMITS.body_bytes


class Wanted(NamedTuple):
    """One leg, as the cache sees it: what it is filed under, what is sent with which headers (all of them), the bounds."""

    key: str
    leg: Leg
    asked: Mapping[str, str]
    bounds: Bounds
    claim: Claim
    step: Step


def passes_by(leg: Leg, purpose: str, secrets: tuple[str, ...], bounds: Bounds) -> bool:
    """Whether the request has nothing to do with the cache, whatever its mode."""
    return (
        purpose not in PURPOSES
        or leg.method != "GET"
        or bool(leg.body or secrets or bounds.cut)
        or not {name.lower() for name in leg.headers} <= HEADERS
    )


def key(account: str, purpose: str, rule: Allowance | None, href: str) -> str:
    """What a reply is filed under: whose it is, got for what, under which exception, from where. A hash: it tells nothing."""
    made_under = f"{rule.host}:{rule.port}" if rule is not None else ""
    text = f"{account}\0{purpose}\0{made_under}\0GET\0{href}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Cache:
    """The replies kept for one account in `folder`, within `limit_bytes`. `clock` is in seconds since 1970.

    A request waits for the disk for `patience` seconds each time, no longer.
    """

    def __init__(
        self,
        folder: Path,
        *,
        limit_bytes: int = LIMITS.cache_bytes,
        clock: Callable[[], float] = time.time,
        threads: Threads | None = None,
        patience: float = SECONDS,
    ) -> None:
        self.entries = Entries(folder, limit_bytes=limit_bytes, clock=clock)
        self._clock = clock
        self._threads = threads or Threads(THREADS, "webseam-cache")
        self._patience = patience
        self._waiting = 0
        self._waiting_bytes = 0

    async def reply(self, wanted: Wanted, exchange: Exchange) -> HttpReply:
        """The reply to one leg, by its `bounds.cache`: kept, confirmed by the site, or got by `exchange`, in two calls at most.

        The step says which. Raises what `exchange` raises, and `DoorError` (`not_cached`, `too_large`).
        """
        leg, mode = wanted.leg, wanted.bounds.cache
        entry = await self._find(wanted)
        if entry is not None and mode != REFRESH and self._may_show(entry, mode):
            body = await self._body(entry, wanted)
            if body is not None:
                wanted.step.detail.update(status=entry.head.status, cache="hit")
                return HttpReply(
                    entry.head.status, entry.head.headers, body, leg.url.href, retrieved_at=entry.head.responded_at
                )
            entry = None
        if mode == ONLY:
            raise refusals.not_cached(leg.url, unconfirmed=entry is not None)
        asking = freshness.validators(entry.head.headers) if entry is not None else {}
        headers = {**leg.headers, **asking}
        if mode == REFRESH:  # caches on the way are to ask the site too (section 5.2.1)
            headers["Cache-Control"] = "max-age=0" if asking else "no-cache"
        requested_at = self._clock()
        reply = await exchange(leg._replace(headers=headers))
        if reply.status == 304 and entry is not None and asking:
            confirmed = await self._confirmed(entry, reply, requested_at, wanted)
            if confirmed is not None:
                return confirmed
            requested_at = self._clock()
            reply = await exchange(leg)  # what the site calls unchanged is not what we have
        await self._settle(reply, requested_at, wanted)
        return reply

    # ------------------------------------------------------------------------------------------- what is kept

    async def _find(self, wanted: Wanted) -> Entry | None:
        entry = await self._aside(lambda: self.entries.find(wanted.key, wanted.asked))
        if entry is not None and entry.head.bodiless and not wanted.bounds.follow:
            return None
        return entry

    def _may_show(self, entry: Entry, mode: str) -> bool:
        if mode == ONLY and freshness.may_be_stale(entry.head.headers):
            return True
        return freshness.is_fresh(entry.head.received, self._clock())

    async def _body(self, entry: Entry, wanted: Wanted) -> bytes | None:
        """The entry's body; a large one waits for room as one from the network does."""
        if entry.head.size > wanted.bounds.limit:
            raise refusals.too_large(wanted.leg.url, "The reply of", wanted.bounds.limit)
        if entry.body is not None:
            return entry.body
        await wanted.claim.grow(entry.head.size)
        return await self._aside(lambda: self.entries.body(entry))

    async def _confirmed(self, entry: Entry, reply: HttpReply, requested_at: float, wanted: Wanted) -> HttpReply | None:
        """The kept reply after a 304; None when that was about another one, or the kept one is gone."""
        head = entry.head
        if not freshness.confirms(reply.headers, head.headers):
            return None
        body = await self._body(entry, wanted)
        if body is None:
            return None
        headers = freshness.confirmed(reply.headers, head.headers)
        whole = HttpReply(head.status, headers, body, wanted.leg.url.href)
        await self._settle(whole, requested_at, wanted)
        wanted.step.detail.update(status=head.status, cache="revalidated")
        return whole

    async def _settle(self, reply: HttpReply, requested_at: float, wanted: Wanted) -> None:
        """Keep the reply, or forget what it makes untrue."""
        headers, asked, entries = freshness.worth_keeping(reply.headers), wanted.asked, self.entries
        received = Received(reply.status, headers, requested_at, self._clock())
        if not freshness.may_keep(received):
            if freshness.replaces(reply.status):
                await self._aside(lambda: entries.forget(wanted.key, asked))
            return

        def keep() -> bool:
            head = Head(
                key=wanted.key,
                status=reply.status,
                headers=headers,
                requested_at=requested_at,
                responded_at=received.responded_at,
                selecting=freshness.selecting(headers.get("vary", ""), asked),
                size=len(reply.body),
                digest=hashlib.sha256(reply.body).hexdigest(),
                bodiless=wanted.bounds.follow and reply.status in REDIRECTS and "location" in headers,
            )
            return entries.keep(asked, head, reply.body)

        wanted.step.detail["cache"] = "stored" if await self._aside(keep, len(reply.body)) else "not stored"

    async def _aside(self, work: Callable[[], Made], size: int = 0) -> Made | None:
        """What `work` returns, done in a thread; None when it fails, takes too long, or too much is waiting already.

        It is not stopped: whoever leaves does not leave half a file.
        """
        if self._waiting >= MOST_WAITING or self._waiting_bytes + size > MOST_WAITING_BYTES:
            return None
        self._waiting += 1
        self._waiting_bytes += size

        def done(job: asyncio.Task[Any]) -> None:
            self._waiting -= 1
            self._waiting_bytes -= size
            if not job.cancelled():
                job.exception()  # told by the next line, or to nobody

        job: asyncio.Task[Made] = asyncio.ensure_future(self._threads.run(work))
        job.add_done_callback(done)
        await asyncio.wait({job}, timeout=self._patience)
        if not job.done():
            return None
        try:
            return job.result()
        except OSError:  # the disk is full, or the folder is not ours
            return None


class Caches:
    """The caches of a process, an account's each, in folders below `folder`."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMITS.cache_bytes, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._limit = limit_bytes
        self._clock = clock
        self._threads = Threads(THREADS, "webseam-cache")
        self._caches: dict[str, Cache] = {}

    def of(self, account: str) -> Cache:
        """The account's cache; nothing is opened yet."""
        cache = self._caches.get(account)
        if cache is None:
            cache = self._caches[account] = Cache(
                self._folder / folder_name(account), limit_bytes=self._limit, clock=self._clock, threads=self._threads
            )
        return cache
