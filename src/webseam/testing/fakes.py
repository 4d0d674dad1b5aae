"""Providers, a Chooser and a Door without network: small, real objects for tests. They stand for foreign code."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from webseam.errors import DoorError, ProviderError
from webseam.redaction import without_secrets
from webseam.seam.contract import HttpReply, HttpRequest, Page, RobotsVerdict
from webseam.seam.facts import FILTERS, Facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import ExitStack

    from webseam.call import Call
    from webseam.seam.contract import CacheMode, FetchProvider, RobotsPolicy, SearchProvider

SEARCH_FACTS = Facts("fake", "Fake Search", search=True, filters=frozenset(FILTERS), third_party=False)
READING_FACTS = Facts("fake-reader", "Fake Reader", reading=True, third_party=False)


class FakeSearch:
    """Answers every search with `answer`, or raises it when it is an exception. `asked` holds (query, count, filters).

    With `gate`, an answer waits for it.
    """

    def __init__(self, answer: Any = (), *, name: str = "fake", gate: asyncio.Event | None = None) -> None:
        self.name = name
        self.answer = answer
        self.gate = gate
        self.asked: list[tuple[str, int, dict[str, Any]]] = []

    async def search(self, query: str, count: int, **filters: Any) -> Sequence[Mapping[str, Any]]:
        """The answer."""
        self.asked.append((query, count, filters))
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.answer, BaseException):
            raise self.answer
        answered: Sequence[Mapping[str, Any]] = self.answer
        return answered


class FakeReader:
    """Answers with `pages[url]`: a Page, a mapping, a string (the content) or an exception to raise. `asked` holds the URLs.

    `cancelled` counts the fetches that were stopped while they waited for `gate`.
    """

    def __init__(self, pages: Mapping[str, Any], *, name: str = "fake-reader", gate: asyncio.Event | None = None) -> None:
        self.name = name
        self.pages = pages
        self.gate = gate
        self.asked: list[str] = []
        self.cancelled = 0

    async def fetch(self, url: str) -> Page | Mapping[str, Any]:
        """The page; ProviderError when there is none of that URL."""
        self.asked.append(url)
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        page = self.pages.get(url)
        if page is None:
            raise ProviderError(f"Fake Reader has no page at {url}.", kind="unreadable_reply")
        if isinstance(page, BaseException):
            raise page
        if isinstance(page, str):
            return Page(url, page)
        answered: Page | Mapping[str, Any] = page
        return answered


class FakeChooser:
    """A Chooser over one search provider and one reader, for every account; one that is an exception is raised instead.

    A URL that is not http(s) or `index:`, or has userinfo, is refused as the real one does; it is not made canonical. `secrets`
    are redacted from what the tools say. `chosen` holds (account, what) for each provider that was handed out.
    """

    def __init__(
        self,
        search: Any = None,
        reader: Any = None,
        *,
        search_facts: Facts = SEARCH_FACTS,
        reading_facts: Facts = READING_FACTS,
        secrets: Sequence[str] = (),
    ) -> None:
        self.search_provider: Any = search if search is not None else FakeSearch()
        self.reading_provider: Any = reader if reader is not None else FakeReader({})
        self.facts = (search_facts, reading_facts)
        self.secrets = tuple(secrets)
        self.versions: dict[str, int] = {}
        self.chosen: list[tuple[str, str]] = []

    def search_facts(self, account: str) -> Facts:  # noqa: ARG002 - the same for all
        """As given."""
        return self.facts[0]

    def reading_facts(self, account: str) -> Facts:  # noqa: ARG002 - the same for all
        """As given."""
        return self.facts[1]

    def searcher(self, call: Call) -> SearchProvider:
        """The search provider; raises it when it is an exception."""
        self.chosen.append((call.account, "search"))
        return self._handed_out(self.search_provider)  # type: ignore[no-any-return]  # any object at all, for tests of wrong ones

    def reader(self, call: Call, url: str) -> tuple[FetchProvider, str]:
        """The reader and the URL as it came."""
        self.chosen.append((call.account, url))
        scheme, _, rest = url.partition(":")
        if scheme.lower() not in ("http", "https", "index"):
            raise DoorError(
                f"{''.join(scheme.split())}: URLs cannot be read: give one that begins with https://.", kind="blocked_scheme"
            )
        if "@" in "".join(rest.split("/")[2:3]):
            raise DoorError("A URL with a name or password in it is refused: leave it out.", kind="invalid_url")
        return self._handed_out(self.reading_provider), url

    def version(self, account: str) -> int:
        """What `versions` says, else 0."""
        return self.versions.get(account, 0)

    def redact(self, account: str, text: str) -> str:  # noqa: ARG002 - the same for all
        """`text` without `secrets`."""
        return without_secrets(text, self.secrets)

    @staticmethod
    def _handed_out(provider: Any) -> Any:
        if isinstance(provider, BaseException):
            raise provider
        return provider


class FakeDoor:
    """A Door that answers with `replies` in turn, raising those that are exceptions. `sent` holds the requests."""

    def __init__(self, *replies: HttpReply | Exception) -> None:
        self.replies = list(replies)
        self.sent: list[HttpRequest] = []
        self.followed: list[bool] = []
        self.max_bytes: list[int | None] = []
        self.cache: list[CacheMode] = []

    async def send(
        self,
        request: HttpRequest,
        *,
        follow: bool = False,
        max_bytes: int | None = None,
        held: ExitStack | None = None,  # noqa: ARG002 - the Door's signature
        cache: CacheMode = "off",
        robots: RobotsPolicy = "ignore",  # noqa: ARG002 - the Door's signature
    ) -> HttpReply:
        """The next reply."""
        self.cache.append(cache)
        self.sent.append(request)
        self.followed.append(follow)
        self.max_bytes.append(max_bytes)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def robots(self, url: str) -> RobotsVerdict:  # noqa: ARG002 - the Door's signature
        """Everything is allowed."""
        return RobotsVerdict(allowed=True)
