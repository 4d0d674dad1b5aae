"""Every path by which a URL can reach the network. A new one is a function and a line in `PATHS`, and inherits the whole table.

A path brings one URL to the door the way strangers could: by asking, by a redirect, by a link, by a sitemap, by a setting. It
says what came of it as an `Outcome`; what must hold of that is the rows' business.
"""

from __future__ import annotations

import html
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from tests.egress.abuse.web import KEY, Web
from tests.egress.conftest import reply

from webseam.actions import engines
from webseam.call import LOCAL, Call, Caller
from webseam.documents.in_worker import read_in_worker
from webseam.engines import catalogue
from webseam.engines.vendor import VendorProvider
from webseam.errors import WebseamError
from webseam.index import sitemaps
from webseam.index.crawl import Crawl, CrawlFailure
from webseam.index.sources import Source
from webseam.protocol.engine import Engine
from webseam.reader.builtin import BuiltinReader
from webseam.seam.contract import Door, RobotsPolicy
from webseam.seam.failures import Kind
from webseam.tools.provider import WebTools
from webseam.transports.memory import MemoryClient

READ: Final = ""
"""The kind of an outcome that is no refusal: something was read."""

LEFT_OUT: Final = "left_out"
"""The path saw the URL and did not ask for it: it belongs to another site."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: the kind of refusal (`READ` for none), and everything that anybody gets to see of it."""

    kind: str
    shown: str
    retry_after: float | None = None


NOTHING: Final = "nothing"
"""The path asked for the URL, and what came named no page and held none."""

Attempt = Callable[[Web, str, str], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Path:
    """One path. `attempt(web, url, account)` brings `url` to the door.

    `purpose` is the door's; `own` says that the URL is what was asked for, so that an exception of the owner's counts.
    `says` are the kinds that this path makes of one of the door's; `lenient` those it may end with whatever the other side did.
    `modules` are the sources that use a door on this path.
    """

    name: str
    attempt: Attempt
    purpose: str
    own: bool
    modules: tuple[str, ...]
    says: dict[str, frozenset[str]] = field(default_factory=dict)
    lenient: frozenset[str] = frozenset()
    reaches: bool = True  # False: the URL is never asked for, whatever it is

    def kinds(self, door: frozenset[str]) -> frozenset[str]:
        """The kinds an attempt may end with when the door, asked directly, would end with one of `door`."""
        return door.union(*(self.says.get(kind, frozenset()) for kind in door))


# ------------------------------------------------------------------------------------------------ what sentences mean

_MEANING: Final = (
    ("blocked_address", r"private address|always refused|Webseam itself listens on"),
    ("blocked_port", r"not on one of the ports|may only use the ports"),
    ("blocked_scheme", r"Only http and https|from https down to http|must be an http\(s\) URL"),
    ("invalid_url", r"The URL is not valid|^url has [\d,]+ characters"),
    ("too_many_redirects", r"redirects in a circle|redirects more than"),
    ("too_large", r"(?:is|are) larger than|at most [\d.]+ MB are read|as a zip bomb does"),
    ("dns", r"cannot be found: check its spelling|could not be looked up"),
    ("tls", r"No TLS connection|is not trusted"),
    ("timeout", r"did not answer|did not let a connection|could not be read within|sends a large reply, and too many"),
    ("unreachable", r"cannot be reached: check the network"),
    ("connect", r"cannot be reached|closed the connection without a reply"),
    ("unreadable_reply", r"\(unreadable reply\)"),
    ("bad_reply", r"sent a reply that cannot be read"),
    ("rate_limited", r"asked to be left alone|limits how often|try again in \d+ s \(status|Try again in"),
    ("vendor_down", r"has a fault of its own\. Try again"),
    ("key_rejected", r"rejected the key"),
    ("out_of_credit", r"out of credit"),
    ("refused", r"refuses this for the account's region"),
    ("bad_parameter", r"refused a parameter"),
    ("not_available", r"change it with `webseam set"),
    ("http_status", r"\(status \d+\)|answered with status \d+"),
    ("unsupported_type", r"a type that is not read"),
    ("empty", r"shows no text|holds no text|is empty"),
    ("robots", r"robots\.txt"),
    ("unreadable", r"is damaged or cut off|well-formed|document type declaration|too much that is no address|not valid gzip"),
    ("memory", r"needs more memory"),
    ("argument", r"has no argument|must be one line|must be an address without"),
)


def kind_of(text: str) -> str:
    """The kind of refusal that a sentence of ours tells of; fails when it tells of none."""
    for kind, pattern in _MEANING:
        if re.search(pattern, text):
            return kind
    raise AssertionError(f"what came back names no reason: {text!r}")


def _raised(error: WebseamError, call: Call | None = None) -> Outcome:
    steps = repr(call.steps) if call is not None else ""
    cause = repr(error.__cause__) if error.__cause__ is not None else ""
    return Outcome(error.kind, f"{error}\n{cause}\n{steps}", getattr(error, "retry_after", None))


def location(url: str, status: int = 302) -> bytes:
    """A redirect to `url`, spelled byte for byte as a server could send it."""
    head = f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nLocation: ".encode()
    return head + url.encode("utf-8", "surrogateescape") + b"\r\n\r\n"


# ------------------------------------------------------------------------------------------------ reading


async def reader(web: Web, url: str, account: str = LOCAL, robots: RobotsPolicy = "obey") -> Outcome:
    """The built-in reader, asked for the URL."""
    web.routes.setdefault("/robots.txt", reply(b"", 404))
    call = Call(account, seconds=web.seconds)
    try:
        page = await BuiltinReader(web.egress.door(call, "reading"), web.pool, call, robots).fetch(url)
    except WebseamError as error:
        return _raised(error, call)
    return Outcome(READ, f"{page}\n{call.steps}")


async def reader_redirect(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """The built-in reader, asked for a page that redirects to the URL."""
    web.routes["/start"] = location(url)
    return await reader(web, f"{web.origin}/start", account)


async def web_fetch(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """The tool, called by a client of the protocol engine. `webseam fetch` is the same call."""
    return await tool(web, account, "web_fetch", {"url": url})


async def tool(web: Web, account: str, name: str, arguments: dict[str, object]) -> Outcome:
    """One `tools/call` through the engine and the switchboard, wired as `App` does."""
    web.routes.setdefault("/robots.txt", reply(b"", 404))
    engine = Engine({"name": "test", "version": "1"}).register_provider(WebTools(web.switchboard, seconds=web.seconds))
    client = MemoryClient(engine, caller=Caller(account))
    answer = await client.request("tools/call", {"name": name, "arguments": arguments})
    [block] = answer["content"]
    text: str = block["text"]
    return Outcome(kind_of(text) if answer.get("isError") else READ, text)


# ------------------------------------------------------------------------------------------------ robots.txt and sitemaps


def _door_for(web: Web, account: str) -> Callable[[], Door]:
    return lambda: web.egress.door(Call(account, seconds=web.seconds), "index")


async def robots(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """robots.txt of the URL's origin."""
    try:
        verdict = await _door_for(web, account)().robots(url)
    except WebseamError as error:
        return _raised(error)
    return Outcome(READ if verdict.allowed else kind_of(verdict.reason), repr(verdict))


async def robots_redirect(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A robots.txt that redirects to the URL."""
    web.routes["/robots.txt"] = location(url)
    return await robots(web, f"{web.origin}/page", account)


def _ended(read: bool, web: Web) -> str:
    """How a walk without a failure ended."""
    if read:
        return READ
    return NOTHING if web.met else LEFT_OUT


async def _sitemaps(web: Web, account: str) -> Outcome:
    async def parse(data: bytes) -> list[tuple[bool, str]]:
        return await sitemaps.parse_in_worker(web.pool, data)

    door_for = _door_for(web, account)
    try:
        verdict = await door_for().robots(f"{web.origin}/")
        if not verdict.allowed:
            return Outcome(kind_of(verdict.reason), repr(verdict))
        found = await sitemaps.find(web.origin, verdict.sitemaps, door_for=door_for, parse_sitemap=parse)
    except WebseamError as error:
        return _raised(error)
    if found.failed:
        return Outcome(kind_of(found.failed[0][1]), repr(found))
    return Outcome(_ended(bool(found.pages), web), repr(found))


async def sitemap(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A robots.txt that names the URL as its sitemap."""
    web.routes.setdefault("/robots.txt", reply(f"User-agent: *\nAllow: /\nSitemap: {url}\n".encode("utf-8", "replace")))
    return await _sitemaps(web, account)


async def sitemap_index(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A sitemap index that names the URL as one of its sitemaps."""
    web.routes.setdefault("/robots.txt", reply(b"", 404))
    entry = f"<sitemapindex><sitemap><loc>{html.escape(url)}</loc></sitemap></sitemapindex>"
    web.routes["/sitemap.xml"] = reply(entry.encode("utf-8", "replace"), content_type="application/xml")
    return await _sitemaps(web, account)


async def sitemap_redirect(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A sitemap that redirects to the URL."""
    web.routes.setdefault("/robots.txt", reply(b"", 404))
    web.routes["/sitemap.xml"] = location(url)
    return await _sitemaps(web, account)


# ------------------------------------------------------------------------------------------------ the crawler


async def _crawl(web: Web, start: str, account: str, home: str = "") -> Outcome:
    """A crawl from `start`; that `home`, a page of ours, was read says nothing."""

    async def parse(data: bytes, url: str, content_type: str):  # type: ignore[no-untyped-def]  # a Document
        return await read_in_worker(web.pool, data, url=url, content_type=content_type)

    async def parse_sitemap(data: bytes) -> list[tuple[bool, str]]:
        return await sitemaps.parse_in_worker(web.pool, data)

    web.routes.setdefault("/robots.txt", reply(b"", 404))
    web.routes.setdefault("/sitemap.xml", reply(b"", 404))
    shown: list[str] = []
    failures: list[str] = []
    read: list[str] = []
    try:
        crawl = Crawl(
            Source.of(start).location,
            door_for=_door_for(web, account),
            parse=parse,
            parse_sitemap=parse_sitemap,
            limit=5,
            sleep=web.sleep,
        )
        async with aclosing(crawl.pages()) as pages:
            async for found in pages:
                shown.append(repr(found))
                if isinstance(found, CrawlFailure):
                    failures.append(found.why)
                elif found.url != home:
                    read.append(found.url)
        shown.append(f"{crawl.why_incomplete} {crawl.left_out} {crawl.gone}")
    except WebseamError as error:
        return Outcome(error.kind, str(error))
    if failures:
        return Outcome(kind_of(failures[0]), "\n".join(shown))
    return Outcome(_ended(bool(read), web), "\n".join(shown))


async def crawl_start(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """`webseam index add URL`."""
    return await _crawl(web, url, account)


def _page(web: Web, head: str = "", link: str = "") -> None:
    made = (
        f"<!doctype html><title>Home</title>{head}<main><p>A page of this site.</p><a href='{html.escape(link)}'>on</a></main>"
    )
    web.routes["/"] = reply(made.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")


async def crawl_link(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A page of the crawled site that links to the URL."""
    _page(web, link=url)
    return await _crawl(web, f"{web.origin}/", account, f"{web.origin}/")


async def crawl_redirect(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A page of the crawled site that redirects to the URL."""
    _page(web, link="/go")
    web.routes["/go"] = location(url)
    return await _crawl(web, f"{web.origin}/", account, f"{web.origin}/")


async def crawl_refresh(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A page of the crawled site that sends its readers to the URL by `<meta http-equiv=refresh>`."""
    _page(web, head=f"<meta http-equiv=refresh content='0;url={html.escape(url)}'>")
    return await _crawl(web, f"{web.origin}/", account, f"{web.origin}/")


async def crawl_sitemap(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A sitemap that names the URL as a page."""
    _page(web)
    entry = f"<urlset><url><loc>{html.escape(url)}</loc></url></urlset>"
    web.routes["/sitemap.xml"] = reply(entry.encode("utf-8", "replace"), content_type="application/xml")
    return await _crawl(web, f"{web.origin}/", account, f"{web.origin}/")


# ------------------------------------------------------------------------------------------------ vendors


async def _vendor(web: Web, engine: str, base_url: str, account: str) -> Outcome:
    call = Call(account, seconds=web.seconds)
    try:
        door = web.egress.door(call, f"engine:{engine}")
        settings = {"base_url": base_url, "api_key": KEY}
        found = await VendorProvider(catalogue.vendor(engine), settings, door).search("tides", 3)
    except WebseamError as error:
        return _raised(error, call)
    return Outcome(READ, f"{found}\n{call.steps}")


async def vendor_redirect(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """A vendor whose API redirects to the URL, asked with a key."""
    web.vendor.answer = location(url)
    return await _vendor(web, "brave", "http://vendor.test", account)


async def brave_base_url(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """The URL as the address of a vendor that takes a key."""
    return await _vendor(web, "brave", url, account)


async def mediawiki_base_url(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """The URL as the address of a vendor without a key."""
    return await _vendor(web, "mediawiki", url, account)


async def web_search(web: Web, url: str, account: str = LOCAL) -> Outcome:
    """`webseam set mediawiki base_url URL`, and then the tool, called by a client of the protocol engine."""
    try:
        engines.set_field(web.switchboard, account, "mediawiki", "base_url", url)
    except WebseamError as error:
        return Outcome(kind_of(str(error)), str(error))
    return await tool(web, account, "web_search", {"query": "tides"})


# ------------------------------------------------------------------------------------------------ the list

_HEADER: Final = {"invalid_url": frozenset({"bad_reply", "too_large", "blocked_address", "blocked_scheme"})}
"""In a Location header some spellings are no header any more, and others are a reference to be joined."""

_ANOTHER_SITE: Final = {
    kind: frozenset({LEFT_OUT})
    for kind in ("blocked_address", "blocked_port", "blocked_scheme", "invalid_url", "dns", "timeout")
}
_CRAWLED: Final = frozenset(
    {LEFT_OUT, NOTHING, "robots", "http_status", "unreadable", "unsupported_type", "empty", "no_source"}
)
_START: Final = {"invalid_url": frozenset({"no_source", "blocked_address", "dns"}), "blocked_scheme": frozenset({"no_source"})}
"""A crawl's start is spelled canonically first, as browsers would repair it, and then judged."""

_SET: Final = {
    "invalid_url": frozenset({"not_available", "argument"}),
    "blocked_scheme": frozenset({"not_available"}),
    "blocked_address": frozenset({"not_available", "argument"}),
    "dns": frozenset({"unreachable"}),
    "connect": frozenset({"unreachable"}),
    "tls": frozenset({"unreachable"}),
    "too_large": frozenset({"unreadable_reply"}),
    "bad_reply": frozenset({"unreadable_reply"}),
    "http_status": frozenset(kind.value for kind in Kind),
}
_VENDOR: Final = frozenset(kind.value for kind in Kind)
_NOT_FOLLOWED: Final = {
    kind: frozenset({"unreadable_reply"})
    for kind in ("blocked_address", "blocked_port", "blocked_scheme", "invalid_url", "dns", "timeout", "too_many_redirects")
}
_ROBOTS: Final = frozenset({READ, "robots", "http_status"})

_READER: Final = ("reader/builtin.py",)
_SITEMAPS: Final = ("index/sitemaps.py",)
_CRAWL: Final = ("index/crawl.py", "actions/indexes.py")
_VENDORS: Final = ("engines/vendor.py", "switchboard.py")

PATHS: Final = (
    Path("reader", reader, "reading", True, _READER),
    Path("reader-redirect", reader_redirect, "reading", False, _READER, _HEADER),
    Path("web_fetch", web_fetch, "reading", True, (*_READER, "switchboard.py")),
    Path("robots", robots, "index", True, _CRAWL, {}, _ROBOTS),
    Path("robots-redirect", robots_redirect, "index", False, _CRAWL, _HEADER, _ROBOTS),
    Path("sitemap", sitemap, "index", False, _SITEMAPS, _ANOTHER_SITE, _CRAWLED),
    Path("sitemap-index", sitemap_index, "index", False, _SITEMAPS, _ANOTHER_SITE, _CRAWLED),
    Path("sitemap-redirect", sitemap_redirect, "index", False, _SITEMAPS, _HEADER, _CRAWLED),
    Path("crawl-start", crawl_start, "index", True, _CRAWL, _START, _CRAWLED),
    Path("crawl-link", crawl_link, "index", False, _CRAWL, _ANOTHER_SITE, _CRAWLED),
    Path("crawl-redirect", crawl_redirect, "index", False, _CRAWL, _HEADER, _CRAWLED),
    Path("crawl-refresh", crawl_refresh, "index", False, _CRAWL, _ANOTHER_SITE, _CRAWLED),
    Path("crawl-sitemap", crawl_sitemap, "index", False, _CRAWL, _ANOTHER_SITE, _CRAWLED),
    Path("vendor-redirect", vendor_redirect, "engine:brave", False, _VENDORS, _NOT_FOLLOWED, _VENDOR, reaches=False),
    Path("base-url-brave", brave_base_url, "engine:brave", True, _VENDORS, _SET, _VENDOR),
    Path("base-url-mediawiki", mediawiki_base_url, "engine:mediawiki", True, _VENDORS, _SET, _VENDOR),
    Path("web_search", web_search, "engine:mediawiki", True, _VENDORS, _SET, _VENDOR),
)

NOT_BUILT: Final = {
    "plugin": ("plugins", "later plugins: the helper by which a plugin asks for a URL (purpose `plugin:NAME`)"),
    "browser": ("browser", "later browser: a rendered page, and each of its sub-resources"),
    "identity": ("identity", "later identity metadata: the addresses that a sign-in provider's metadata names"),
}
"""Paths that are to come, in the issue's words, and the room each will live in: when that exists, it is a line in `PATHS`."""
