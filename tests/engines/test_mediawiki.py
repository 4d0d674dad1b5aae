"""MediaWiki: the request, the wiki it goes to, and the URLs that its results get."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from webseam.engines.vendors.mediawiki import MediaWiki
from webseam.errors import ProviderError
from webseam.seam.contract import HttpReply, Query
from webseam.testing.saved import saved

WIKIPEDIA = {"base_url": "https://en.wikipedia.org"}


def test_the_request() -> None:
    request = MediaWiki().request(Query("dns rebinding", 5), WIKIPEDIA)
    parts = urlsplit(request.url)
    assert (request.method, parts.netloc, parts.path) == ("GET", "en.wikipedia.org", "/w/api.php")
    assert {name: value for name, (value,) in parse_qs(parts.query, keep_blank_values=True).items()} == {
        "action": "query",
        "list": "search",
        "srsearch": "dns rebinding",
        "srlimit": "5",
        "srprop": "snippet|timestamp",
        "srinfo": "",
        "format": "json",
        "formatversion": "2",
    }


def test_a_language_is_the_wikipedia_of_that_language() -> None:
    request = MediaWiki().request(Query("x", 5, language="de"), WIKIPEDIA)
    assert request.url.startswith("https://de.wikipedia.org/w/api.php?")
    assert (
        MediaWiki()
        .request(Query("x", 5, language="fr"), {"base_url": "https://simple.wikipedia.org"})
        .url.startswith("https://fr.wikipedia.org/w/")
    )
    assert len(MediaWiki.FACTS.languages) <= 64  # few enough to be listed in the tool


@pytest.mark.parametrize(
    "base", ["https://wiki.archlinux.org", "https://en.wikipedia.org.evil.example", "http://127.0.0.1:9000"]
)
def test_another_wiki_refuses_a_language_by_name(base: str) -> None:
    with pytest.raises(ProviderError, match="leave language out") as raised:
        MediaWiki().request(Query("x", 5, language="de"), {"base_url": base})
    assert raised.value.kind == "bad_parameter"


@pytest.mark.parametrize(
    ("base", "api"),
    [
        ("https://en.wikipedia.org", "https://en.wikipedia.org/w/api.php"),
        ("https://wiki.example/w", "https://wiki.example/w/api.php"),
        ("https://wiki.example/w/api.php", "https://wiki.example/w/api.php"),
        ("https://wiki.example/mediawiki/api.php", "https://wiki.example/mediawiki/api.php"),
    ],
)
def test_the_api_is_found_from_the_wikis_root_or_given_in_full(base: str, api: str) -> None:
    assert MediaWiki().request(Query("x", 5), {"base_url": base}).url.partition("?")[0] == api


def results(url: str) -> list[Any]:
    return MediaWiki().reply(saved("mediawiki", "success").reply(url), Query("x", 10))


def test_results_get_the_urls_of_their_titles() -> None:
    assert [result["url"] for result in results("https://en.wikipedia.org/w/api.php?action=query")] == [
        "https://en.wikipedia.org/wiki/DNS_rebinding",
        "https://en.wikipedia.org/wiki/Server-side_request_forgery",
        "https://en.wikipedia.org/wiki/What%27s_in_a_Name%3F_(C%2B%2B/CLI)",
    ]
    assert results("https://wiki.example/mw/api.php?x")[0]["url"] == "https://wiki.example/mw/index.php?title=DNS_rebinding"
    assert results("https://de.wikipedia.org/w/api.php?x")[0]["url"] == "https://de.wikipedia.org/wiki/DNS_rebinding"


def test_the_age_is_the_day_of_the_last_change() -> None:
    assert [result["age"] for result in results("https://en.wikipedia.org/w/api.php")] == [
        "2026-08-14",
        "2026-03-02",
        "2025-11-19",
    ]


def test_an_error_that_only_the_header_tells_is_an_error() -> None:
    reply = HttpReply(200, {"mediawiki-api-error": "ratelimited", "retry-after": "3"}, b'{"batchcomplete": true}', "")
    with pytest.raises(ProviderError) as raised:
        MediaWiki().reply(reply, Query("x", 5))
    assert (raised.value.kind, raised.value.retry_after) == ("rate_limited", 3)
