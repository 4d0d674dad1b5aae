"""Walking a site: its sitemaps first, then the links of what was read, politely, until nothing new is found or enough is.

Theory of operation. The frontier is a queue; several pages are under way at once but are handled in the order of the queue
(`ordered.py`), so that the same site gives the same crawl. Only pages of the start's origin, in its directory, are taken, one
spelling each (`canonical.py`); what robots.txt, `<meta name=robots>` or `X-Robots-Tag` refuse is left out. The door asks
robots.txt before each address that a redirect leads to, and leaves a host alone that said when to come back: the crawl waits
until then, or ends when that is long.

The crawl also says what an incremental run may conclude from it. `gone` are pages that certainly are not to be indexed (404,
410, noindex, moved, a copy of another). `complete` says that every page that could be found was looked at, so that a known page
that was not met is gone as well; a failure that may pass (a timeout, a 500), or the page limit, makes it False.
`left_out` counts what was met and left out on purpose, by reason, so that nobody wonders where it is.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, deque
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from webseam.config import LIMITS
from webseam.documents.sniff import DOCUMENT_TYPES
from webseam.errors import CorpusError, DocumentError, DoorError, WorkerError
from webseam.index import sitemaps
from webseam.index.canonical import Scope, canonical_url, may_be_page, path_of, same_page
from webseam.index.ordered import ordered
from webseam.seam.contract import HttpRequest, RobotsVerdict
from webseam.seam.waiting import retry_after

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection

    from webseam.documents.document import Document
    from webseam.index.sitemaps import ParseSitemap
    from webseam.seam.contract import Door, HttpReply, RobotsPolicy

    Parse = Callable[[bytes, str, str], Awaitable[Document]]
    """(bytes, URL, Content-Type) -> Document; raises `DocumentError` and `WorkerError`."""

Answer = TypeVar("Answer")

FRONTIER: Final = 100_000
"""Addresses remembered at most, so that an endless calendar ends."""

# What becomes of an address besides a page, as `left_out` counts it.
_ROBOTS: Final = "refused by robots.txt"
_MISSING: Final = "not found"
_NO_PAGE: Final = "not a page"
_NOINDEX: Final = "asking not to be indexed"
_ELSEWHERE: Final = "elsewhere"
_COPY: Final = "the same as another page"

_REQUESTS_PER_PAGE: Final = 4  # of the page limit: what may be asked for in vain (missing, copies, noindex)
_ATTEMPTS: Final = 3
_MOST_PATIENCE: Final = 30.0  # seconds that a Retry-After is waited for
_PASSING: Final = frozenset({"timeout", "dns", "connect", "tls", "rate_limited", "http_status", "bad_reply"})
_PAGE_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml", "text/markdown"}) | DOCUMENT_TYPES
_HEADERS: Final = {"Accept": "text/html, application/xhtml+xml, text/markdown;q=0.8, */*;q=0.1"}


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page to be indexed. `fingerprint` is of its text, not of its bytes, which change with every visit on many sites."""

    url: str
    title: str
    content: str
    content_type: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CrawlFailure:
    """A page that could not be read this time, and why."""

    url: str
    why: str


@dataclass(frozen=True, slots=True)
class _Visit:
    """What came of asking for one page. Neither `page` nor `why` nor `unread`: there is nothing to index here, for certain.

    `left_out` is the reason to tell, if any.
    """

    asked: str
    page: CrawledPage | None = None
    links: tuple[str, ...] = ()
    why: str = ""
    passing: bool = False  # the failure may pass
    unread: bool = False  # robots.txt forbids it, or it leads elsewhere
    left_out: str = ""


class Crawl:
    """One crawl from `start`, a canonical URL. Use it once: `async for found in crawl.pages()`, then read the attributes.

    `known` are the URLs of earlier runs. `door_for` gives a door with a fresh deadline for each page; `sleep` is for tests.
    `robots` is what robots.txt is to the crawl; `against_robots` counts the pages that it disallows and that were read.
    """

    def __init__(
        self,
        start: str,
        *,
        door_for: Callable[[], Door],
        parse: Parse,
        parse_sitemap: ParseSitemap,
        limit: int = LIMITS.crawl_pages,
        known: Collection[str] = (),
        concurrency: int = 4,
        robots: RobotsPolicy = "obey",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._start = start
        self._door_for = door_for
        self._parse = parse
        self._parse_sitemap = parse_sitemap
        self._limit = limit
        self._known = frozenset(known)
        self._concurrency = concurrency
        self._robots: RobotsPolicy = robots
        self._sleep = sleep
        self._scope = Scope.of(start)
        self._queue: deque[str] = deque()
        self._seen: set[str] = set()
        self._taken: set[str] = set()
        self._not_pages: set[str] = set()
        self._fingerprints: set[str] = set()
        self._pace = asyncio.Lock()
        self._asked = 0
        self._indexed = 0
        self._left_alone = False
        self.against_robots = 0
        self.complete = True
        self.why_incomplete = ""
        self.gone: set[str] = set()
        self.left_out: Counter[str] = Counter()

    @property
    def expected(self) -> int:
        """How many pages this will be, as far as is known now."""
        return min(self._limit, self._indexed + len(self._queue) + self._concurrency)

    async def pages(self) -> AsyncGenerator[CrawledPage | CrawlFailure, None]:
        """Every page, in an order that does not depend on the network. Failures of single pages are among them.

        Raises when there is no beginning: `DoorError` as the door said it, or `CorpusError` "no_source".
        """
        first = await self._begin()
        for found in self._take_in(first):
            yield found
        async with aclosing(ordered(self._next, self._visit, self._concurrency)) as visits:
            async for visit in visits:
                for found in self._take_in(visit):
                    yield found

    # -------------------------------------------------------------------------------------------- the frontier

    def _next(self) -> str | None:
        if not self._queue:
            return None
        if self._left_alone:
            self._incomplete("it asked to be left alone")
            return None
        if self._indexed >= self._limit:
            self._incomplete(f"the page limit of {self._limit} was reached: raise it with --limit")
            return None
        if self._asked >= _REQUESTS_PER_PAGE * self._limit + 20:
            self._incomplete("most of its addresses lead to no page")
            return None
        self._asked += 1
        return self._queue.popleft()

    def _add(self, url: str) -> None:
        place = self._scope.place(url)
        if not place or place in self._seen:
            return
        if not may_be_page(place):
            if place not in self._not_pages and len(self._not_pages) < FRONTIER:
                self._not_pages.add(place)
                self.left_out[_NO_PAGE] += 1
            return
        if len(self._seen) >= FRONTIER:
            self._incomplete(f"it has more than {FRONTIER} addresses")
            return
        self._seen.add(place)
        self._queue.append(place)

    def _take_in(self, visit: _Visit) -> list[CrawledPage | CrawlFailure]:
        for link in visit.links:
            self._add(link)
        if visit.left_out:
            self.left_out[visit.left_out] += 1
        if visit.why:
            if visit.passing or visit.asked in self._known:
                self._incomplete(f"{visit.asked} could not be read: {visit.why}")
            return [CrawlFailure(visit.asked, visit.why)]
        if visit.unread:
            if visit.asked in self._known:
                self._incomplete(f"{visit.asked} may not be read any more, or leads to another site")
            return []
        page = visit.page
        if page is None or page.url in self._taken or page.fingerprint in self._fingerprints:
            if page is not None:
                self.left_out[_COPY] += 1
            self.gone.add(visit.asked)
            return []
        if self._indexed >= self._limit:
            self._incomplete(f"the page limit of {self._limit} was reached: raise it with --limit")
            return []
        self._indexed += 1
        self._seen.add(page.url)
        self._taken.add(page.url)
        self._fingerprints.add(page.fingerprint)
        if page.url != visit.asked:
            self.gone.add(visit.asked)
        self.gone.discard(page.url)
        return [page]

    def _incomplete(self, why: str) -> None:
        self.complete = False
        self.why_incomplete = self.why_incomplete or why

    # -------------------------------------------------------------------------------------------- the beginning

    async def _begin(self) -> _Visit:
        try:
            reply = await self._send(self._start)
        except DoorError as error:
            if error.kind != "robots":
                raise
            raise CorpusError(str(error), kind="no_source") from None
        if not 200 <= reply.status < 300:
            raise CorpusError(
                f"{self._start} answered with status {reply.status}: check the address, or try again later.", kind="no_source"
            )
        landed = canonical_url(reply.url)
        if not landed or _media_type(reply) not in _PAGE_TYPES:
            raise CorpusError(
                f"{self._start} is no web page ({_media_type(reply) or 'an unknown type'}): start at an HTML page.",
                kind="no_source",
            )
        whole_site = path_of(self._start) == "/"
        self._scope = Scope.of(landed) if not whole_site else Scope(Scope.of(landed).origin, "/")
        verdict = await self._verdict(landed)
        self._seen |= {self._start, landed}
        found = await sitemaps.find(
            self._scope.origin,
            verdict.sitemaps,
            door_for=self._door_for,
            parse_sitemap=self._parse_sitemap,
            robots=self._robots,
        )
        for url in found.pages:
            self._add(url)
        if found.failed:
            self._incomplete(f"the sitemap {found.failed[0][0]} could not be read: {found.failed[0][1]}")
        if found.cut:
            self._incomplete("its sitemaps name more than is read")
        return await self._read(self._start, landed, reply)

    # -------------------------------------------------------------------------------------------- one page

    async def _visit(self, url: str) -> _Visit:
        try:
            verdict = await self._verdict(url)
            if not verdict.allowed and self._robots == "obey":
                return _Visit(url, unread=True, left_out=_ROBOTS)
            reply = await self._send(url, verdict.delay)
            if reply.status in (404, 410):
                return _Visit(url, left_out=_MISSING)
            if not 200 <= reply.status < 300:
                return _Visit(
                    url, why=f"it answered with status {reply.status}", passing=reply.status == 429 or reply.status >= 500
                )
            landed = self._scope.place(reply.url)
            if not landed:
                return _Visit(url, unread=True, left_out=_ELSEWHERE)
            if landed != url and landed in self._seen:
                return _Visit(url)
        except DoorError as error:
            if error.kind == "robots":
                return _Visit(url, unread=True, left_out=_ROBOTS)
            self._left_alone = self._left_alone or error.kind == "rate_limited"
            return _Visit(url, why=_first_line(error), passing=error.kind in _PASSING)
        return await self._read(url, landed, reply)

    async def _verdict(self, url: str) -> RobotsVerdict:
        if self._robots == "ignore":
            return RobotsVerdict(allowed=True)
        return await self._patiently(lambda: self._door_for().robots(url))

    async def _patiently(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """What `ask` gives; while the site wants to be left alone, wait, unless that is long."""
        waited = 0.0
        while True:
            try:
                return await ask()
            except DoorError as error:
                left = error.retry_after
                if error.kind != "rate_limited" or left is None or left > _MOST_PATIENCE:
                    raise
                waited += left
                if waited > _ATTEMPTS * _MOST_PATIENCE:
                    raise
            await self._sleep(left)

    async def _send(self, url: str, delay: float = 0.0) -> HttpReply:
        """Ask for the page; one that says "later" is asked again, when it says so, unless that is long."""
        request = HttpRequest(url, headers=_HEADERS)
        for attempt in range(_ATTEMPTS):
            if delay:
                async with self._pace:  # one request each `delay` seconds, however many are under way
                    await self._sleep(delay)
            reply = await self._patiently(lambda: self._door_for().send(request, follow=True, robots=self._robots))
            if reply.status not in (429, 503) or attempt + 1 == _ATTEMPTS:
                break
            said = retry_after(reply.headers)
            wait = 2.0**attempt if said is None else said
            if wait > _MOST_PATIENCE:
                break
            await self._sleep(wait)
        return reply

    async def _read(self, asked: str, url: str, reply: HttpReply) -> _Visit:
        if _media_type(reply) not in _PAGE_TYPES:
            return _Visit(asked, left_out=_NO_PAGE)
        try:
            document = await self._parse(reply.body, url, reply.headers.get("content-type", ""))
        except DocumentError as error:
            if error.kind == "unsupported_type":
                return _Visit(asked, left_out=_NO_PAGE)
            return _Visit(asked, why=_first_line(error))
        except WorkerError as error:
            return _Visit(asked, why=_first_line(error), passing=True)
        orders = _orders(document, reply)
        links = () if "nofollow" in orders else document.links
        if document.refresh:
            links = (*links, document.refresh)
        if "noindex" in orders:
            return _Visit(asked, links=links, left_out=_NOINDEX)
        canonical = self._scope.place(document.canonical, url) if document.canonical else ""
        place = canonical if canonical and same_page(canonical, url) else url
        if place != url and place in self._seen:
            place = url  # it will be read, or was; if it is the same text, one of the two is left out
        self.against_robots += bool(reply.notes)
        page = CrawledPage(
            url=place,
            title=document.title or path_of(place).rstrip("/").rpartition("/")[2] or place,
            content=document.content,
            content_type=document.content_type,
            fingerprint=fingerprint_of(document.title, document.content),
        )
        return _Visit(asked, page=page, links=links)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def fingerprint_of(*parts: str | bytes) -> str:
    """What tells one content from another: 32 hexadecimal digits of SHA-256."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "replace") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()[:32]


def _media_type(reply: HttpReply) -> str:
    return reply.headers.get("content-type", "").partition(";")[0].strip().lower()


def _orders(document: Document, reply: HttpReply) -> set[str]:
    """What the page says to robots, in its head and in X-Robots-Tag (which may name the robot it means)."""
    orders = set(document.robots)
    agent = ""
    for part in reply.headers.get("x-robots-tag", "").lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() not in ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"):
            agent, part = name.strip(), rest
        if agent in ("", "webseam"):
            orders.add(part.strip())
    return orders | {"noindex", "nofollow"} if "none" in orders else orders
