"""The contract between the two tools and whatever answers them.

A search provider is exactly two members, `name` and `search`; a reader is `name` and `fetch`. Either may be a plain
function or a coroutine function. Filters reach `search` as keyword arguments, and only those that the provider's `Facts`
name: a bare class receives none.

    class MyProvider:
        name = "my-provider"

        def search(self, query, count):
            return [{"title": "Example", "url": "https://example.com/", "snippet": "..."}]

An empty list is an answer. Failure is raising: the first line of the message is a sentence that a person, or the model
that made the call, can act on; it names the setting or the variable that would change the outcome. It reaches the model
word for word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, TypedDict, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping, Sequence
    from contextlib import ExitStack

    from webseam.call import Call
    from webseam.seam.facts import Facts

# ------------------------------------------------------------------------------------------------ search


class SearchResult(TypedDict):
    """One hit. `url` is absolute; `snippet` is "" when there is none; `age` is left out when unknown."""

    title: str
    url: str
    snippet: str
    age: NotRequired[str]


class SearchResults(list[SearchResult]):
    """A provider's results, when there is something to say of how they came about. A plain list says nothing.

    `not_applied` names the sources that could not apply a filter and were left out, `unresponsive` those that did not answer.
    """

    def __init__(
        self, results: Iterable[SearchResult] = (), *, not_applied: Sequence[str] = (), unresponsive: Sequence[str] = ()
    ) -> None:
        super().__init__(results)
        self.not_applied = tuple(not_applied)
        self.unresponsive = tuple(unresponsive)


@runtime_checkable
class SearchProvider(Protocol):
    """Anything with these two members answers `web_search`."""

    @property
    def name(self) -> str:
        """Short, stable, lower case."""

    def search(
        self, query: str, count: int, **filters: Any
    ) -> Sequence[Mapping[str, Any]] | Awaitable[Sequence[Mapping[str, Any]]]:
        """Up to `count` results. `query` is not empty and within `Facts.query_chars`; 1 <= `count` <= `Facts.max_count`."""


@dataclass(frozen=True, slots=True)
class Query:
    """One search, as a vendor's `request()` sees it. A filter that was not given is empty."""

    text: str
    count: int
    freshness: str = ""  # "day", "week", "month", "year" or "YYYY-MM-DD..YYYY-MM-DD"
    country: str = ""  # ISO 3166-1 alpha-2, upper case
    language: str = ""  # BCP 47, as "en" or "pt-BR"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------ reading


@dataclass(frozen=True, slots=True)
class Page:
    """One page as text. `content` is Markdown with absolute links; everything in it is untrusted.

    `url` is what was asked for, `final_url` where it was found (after redirects). `truncated` says that the provider, not the
    window, left something out. `retrieved_at` is an ISO 8601 UTC time. `notes` are sentences of ours for the reader
    ("an encoding was guessed").

    What the page says of itself, "" where it does not: `author` (several with commas between), `date` (ISO 8601, when it was
    published or else changed), `changed` (when it was last, where that is a later day), `language` (BCP 47), `site`, and
    absolute URLs: `canonical`, and `next_page`, where a listing goes on. `confidence`, from 0 to 1, is how sure it is that
    `content` is what the page is about; None where nobody judged.
    """

    url: str
    content: str
    final_url: str = ""
    title: str = ""
    content_type: str = "text/markdown"
    retrieved_at: str = ""
    truncated: bool = False
    notes: tuple[str, ...] = ()
    author: str = ""
    date: str = ""
    changed: str = ""
    language: str = ""
    site: str = ""
    canonical: str = ""
    next_page: str = ""
    confidence: float | None = None


@runtime_checkable
class FetchProvider(Protocol):
    """Anything with these two members answers `web_fetch`.

    `fetch` may return a `Page`, or a mapping `{"content": str, "url"?: str, "title"?: str, "truncated"?: bool}`, which may hold
    any other of Page's fields but `notes` too.
    """

    @property
    def name(self) -> str:
        """Short, stable, lower case."""

    def fetch(self, url: str) -> Page | Mapping[str, Any] | Awaitable[Page | Mapping[str, Any]]:
        """The page at `url`: an absolute URL that has been parsed and vetted."""


# ------------------------------------------------------------------------------------------------ the network

CacheMode = Literal["off", "use", "only", "refresh"]
"""Whether a kept reply will do: never; while it is fresh; only a kept one, even stale; one that the site has just confirmed."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request to send. Header names are as the other side spells them; a body implies a `Content-Type` header.

    `secrets` are the values in it that must never be shown: they are redacted from whatever is raised or logged.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    secrets: tuple[str, ...] = ()


@dataclass(slots=True)  # to make a frozen one takes three times as long
class HttpReply:
    """One HTTP reply, decompressed, within the byte limits. Header names are lower case; repeated ones are joined by ", ".

    `url` is the address that answered, after redirects. `secrets` are those of the request, which the other side may have put
    into its reply: whoever quotes from one takes them out first. `retrieved_at` is, for a reply from the cache, when the site
    last sent or confirmed it, in seconds since 1970; else 0.0. `notes` are sentences of ours on how the reply came about.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    secrets: tuple[str, ...] = field(default=(), repr=False)
    retrieved_at: float = 0.0
    notes: tuple[str, ...] = ()


RobotsPolicy = Literal["obey", "warn", "ignore"]
"""What robots.txt is to a request: a refusal counts, is noted on the reply, or is not even asked for."""


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """What a site's robots.txt says about one URL. `delay` is in seconds; `sitemaps` are absolute URLs as written there."""

    allowed: bool
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()
    reason: str = ""


class Door(Protocol):
    """The only way to the network, bound to one Call and one purpose. Raises `errors.DoorError`."""

    async def send(
        self,
        request: HttpRequest,
        *,
        follow: bool = False,
        max_bytes: int | None = None,
        held: ExitStack | None = None,
        cache: CacheMode = "off",
        robots: RobotsPolicy = "ignore",
    ) -> HttpReply:
        """Send and read the whole reply.

        With `follow`, redirects are followed by hand, each vetted anew with fresh headers; without, a 3xx is returned as it is.
        Any status is a reply, not an error. `max_bytes` lowers `LIMITS.body_bytes`, never raises it.

        The process holds only so many large bodies at once, and a body counts until `send` returns. Who keeps it on, in a queue
        say, gives `held`: then it counts until that is closed.

        `cache` lets kept replies of this account count, by HTTP's rules; "only" raises `not_cached` where there is none. What
        is asked for with credentials, headers of its own, a body, or for another purpose than reading is never kept.

        robots.txt is asked, as `robots` says, before each address of a chain of redirects; `DoorError` "robots" is its refusal.

        Reading and crawling leave a host alone that answered with `Retry-After`: "rate_limited", with `retry_after`.
        """

    async def robots(self, url: str) -> RobotsVerdict:
        """What robots.txt of the URL's origin says to our User-Agent (RFC 9309), from a short-lived cache."""


# ------------------------------------------------------------------------------------------------ choosing


class Chooser(Protocol):
    """Who answers: asked by the tools for every call, implemented by the switchboard. Engines never see it."""

    def search_facts(self, account: str) -> Facts:
        """What the account's search engine can do. Cheap: answers `tools/list` before anything is imported."""

    def reading_facts(self, account: str) -> Facts:
        """What the account's reader can do."""

    def searcher(self, call: Call) -> SearchProvider:
        """The account's search provider, built with its settings and a door bound to this call.

        Raises `errors.ProviderError` when it cannot be used as it is set (a key is missing, say).
        """

    def reader(self, call: Call, url: str) -> tuple[FetchProvider, str]:
        """The provider that reads `url` for the account, and the URL in its canonical spelling.

        The URL is parsed and vetted first: one that is not http(s) or `index:`, carries userinfo, or names a private host for a
        provider that is a third party raises `errors.DoorError` and reaches nobody.
        """

    def version(self, account: str) -> int:
        """A number that changes whenever a setting of the account did; part of the key of every kept answer."""

    def redact(self, account: str, text: str) -> str:
        """`text` without any secret that this process has read for the account."""
