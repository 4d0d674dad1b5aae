"""MediaWiki: the full-text search of a wiki, Wikipedia by default (https://www.mediawiki.org/wiki/API:Search).

    webseam use search mediawiki
    webseam set mediawiki base_url     (another wiki: its root, or the full address of its api.php)

No key. `language` chooses the Wikipedia of that language; any other wiki is in one language and cannot apply it.

Traps. Errors come with HTTP 200: `{"error": {"code", "info"}}` and the header `MediaWiki-API-Error`. Snippets are HTML, with
the words searched for in `<span class="searchmatch">`. Results have no URL. CirrusSearch, which Wikipedia runs, refuses a query
of more than 300 characters. Wikimedia asks for a User-Agent that says how to reach whoever runs this: the door sends
WEBSEAM_CONTACT in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from webseam.engines.replies import Complaint, text
from webseam.engines.vendor import Vendor
from webseam.errors import ProviderError
from webseam.seam.facts import Facts, Setting
from webseam.seam.failures import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webseam.seam.contract import HttpReply, HttpRequest, Query, SearchResult

# Some sixty of the larger Wikipedias; the code of each is the first label of its host.
LANGUAGES = (
    "en de fr es ja ru pt zh it ar fa pl nl uk he id tr cs sv vi ko fi hu ca no ro da el bg sk hr sr sl et lt lv hi bn ta te "
    "ml mr ur th ms eu gl ka hy az kk be mk sq bs is ga cy eo la sw af"
)
_WIKIPEDIA = re.compile(r"(https?)://[a-z-]+\.wikipedia\.org", re.IGNORECASE)


class MediaWiki(Vendor):
    """The search of one wiki."""

    FACTS: ClassVar = Facts(
        name="mediawiki",
        title="Wikipedia (MediaWiki)",
        description="Full-text search of Wikipedia, or of another MediaWiki. No key.",
        search=True,
        max_count=500,
        query_chars=300,
        filters=frozenset({"language"}),
        languages=frozenset(LANGUAGES.split()),
        settings=(
            Setting(
                "base_url",
                "Address of the wiki",
                "Its root, or the full address of its api.php.",
                type="url",
                default="https://en.wikipedia.org",
            ),
        ),
        home="https://www.mediawiki.org/wiki/API:Search",
        index_owner="wikimedia",
        checked="docs",
        checked_on="2026-11-30",
    )

    KINDS: ClassVar = {
        "ratelimited": Kind.RATE_LIMITED,
        "maxlag": Kind.RATE_LIMITED,
        "readapidenied": Kind.REFUSED,
        "cirrussearch-query-too-long": Kind.BAD_PARAMETER,
        "badvalue": Kind.BAD_PARAMETER,
        "missingparam": Kind.BAD_PARAMETER,
        404: Kind.UNREADABLE_REPLY,  # no api.php there
    }

    def request(self, query: Query, settings: Mapping[str, str]) -> HttpRequest:
        """GET api.php?action=query&list=search."""
        from urllib.parse import urlencode

        from webseam.seam.contract import HttpRequest

        base = settings["base_url"]
        if query.language:
            wikipedia = _WIKIPEDIA.fullmatch(base)
            if wikipedia is None:
                raise ProviderError(
                    "The wiki that base_url of mediawiki names is in one language: leave language out.",
                    kind=Kind.BAD_PARAMETER,
                    engine="mediawiki",
                )
            base = f"{wikipedia[1]}://{query.language}.wikipedia.org"
        api = base if base.endswith("/api.php") else f"{base.removesuffix('/w')}/w/api.php"
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": query.count,
            "srprop": "snippet|timestamp",
            "srinfo": "",
            "format": "json",
            "formatversion": 2,
        }
        return HttpRequest(f"{api}?{urlencode(parameters)}", headers={"Accept": "application/json"})

    def results(self, body: Any, reply: HttpReply) -> list[SearchResult]:
        """`query.search`, with the URLs that its titles have."""
        if body.get("batchcomplete") and "query" not in body:
            return []
        return [_hit(item, reply.url) for item in body["query"]["search"]]

    def complaint(self, body: Any, reply: HttpReply) -> Complaint | None:
        """As everybody's; the header says it too, even where the body is cut."""
        code = reply.headers.get("mediawiki-api-error", "")
        return super().complaint(body, reply) or (Complaint(code) if code else None)


def _hit(item: Mapping[str, Any], api: str) -> SearchResult:
    hit: SearchResult = {"title": item["title"], "url": _address(item["title"], api), "snippet": text(item.get("snippet"))}
    changed = text(item.get("timestamp"))[:10]
    if changed:
        hit["age"] = changed
    return hit


def _address(title: str, api: str) -> str:
    """Where the page called `title` is: /wiki/Title if the scripts are in /w, as at Wikipedia, else index.php?title=Title."""
    from urllib.parse import quote

    root = api.partition("?")[0].removesuffix("/api.php")
    # What MediaWiki itself leaves alone (wfUrlencode).
    name = quote(title.replace(" ", "_"), safe=";@$!*(),/~:")
    return f"{root[:-2]}/wiki/{name}" if root.endswith("/w") else f"{root}/index.php?title={name}"
