"""Brave: the request, parameter by parameter, and what its replies mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from webseam.engines.vendors.brave import LANGUAGES, Brave
from webseam.errors import ProviderError
from webseam.seam.contract import HttpReply, Query
from webseam.testing.saved import saved
from webseam.testing.vendor import LoopbackVendor

SETTINGS = {"api_key": "k", "base_url": "https://api.search.brave.com"}


def parameters(**query: Any) -> dict[str, str]:
    request = Brave().request(Query(query.pop("text", "cats"), 5, **query), SETTINGS)
    parts = urlsplit(request.url)
    assert (request.method, parts.netloc, parts.path) == ("GET", "api.search.brave.com", "/res/v1/web/search")
    assert dict(request.headers) == {"Accept": "application/json", "X-Subscription-Token": "k"}
    assert request.body == b""
    return {name: value for name, (value,) in parse_qs(parts.query).items()}


def test_the_plain_request() -> None:
    assert parameters() == {"q": "cats", "count": "5", "text_decorations": "false", "result_filter": "web"}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"freshness": "day"}, {"freshness": "pd"}),
        ({"freshness": "week"}, {"freshness": "pw"}),
        ({"freshness": "month"}, {"freshness": "pm"}),
        ({"freshness": "year"}, {"freshness": "py"}),
        ({"freshness": "2026-01-02..2026-03-04"}, {"freshness": "2026-01-02to2026-03-04"}),
        ({"country": "DE"}, {"country": "DE"}),
        ({"country": "ALL"}, {"country": "ALL"}),
        ({"language": "de"}, {"search_lang": "de"}),
        ({"language": "ja"}, {"search_lang": "jp"}),
        ({"language": "zh"}, {"search_lang": "zh-hans"}),
        ({"language": "zh-TW"}, {"search_lang": "zh-hant"}),
        ({"language": "pt-BR"}, {"search_lang": "pt-br"}),
        ({"language": "pt-PT"}, {"search_lang": "pt-pt"}),
        ({"language": "en-GB"}, {"search_lang": "en-gb"}),
        ({"language": "no"}, {"search_lang": "nb"}),
        ({"include_domains": ("a.example",)}, {"q": "cats site:a.example"}),
        ({"include_domains": ("a.example", "b.example")}, {"q": "cats (site:a.example OR site:b.example)"}),
        ({"exclude_domains": ("a.example", "b.example")}, {"q": "cats -site:a.example -site:b.example"}),
        (
            {"include_domains": ("a.example",), "exclude_domains": ("b.a.example",)},
            {"q": "cats site:a.example -site:b.a.example"},
        ),
    ],
)
def test_a_filter_is_sent_as_brave_spells_it(given: dict[str, Any], sent: dict[str, str]) -> None:
    plain = {"q": "cats", "count": "5", "text_decorations": "false", "result_filter": "web"}
    assert parameters(**given) == plain | sent


def test_the_closed_lists_are_braves() -> None:
    """As its reference had them in November 2026: 37 countries and the whole world; 51 spellings of languages."""
    assert len(Brave.FACTS.countries) == 38
    assert "SG" not in Brave.FACTS.countries
    assert len(set(LANGUAGES.values())) == 51
    assert set(LANGUAGES) == Brave.FACTS.languages
    assert all(spelling == spelling.lower() for spelling in LANGUAGES.values())


def test_domains_that_make_the_query_too_long_are_refused_with_the_sizes() -> None:
    domains = tuple(f"department-{n}.university.example" for n in range(20))
    with pytest.raises(ProviderError, match="has 813 characters, and Brave Search takes at most 400") as raised:
        parameters(include_domains=domains)
    assert raised.value.kind == "bad_parameter"
    with pytest.raises(ProviderError, match="has 60 words, and Brave Search takes at most 50"):
        parameters(text="w " * 39 + "w", exclude_domains=tuple(f"{n}.io" for n in range(20)))


def test_results_keep_what_brave_says() -> None:
    results = Brave().reply(saved("brave", "success").reply(), Query("x", 10))
    assert results[0] == {
        "title": "Network protocols, sans I/O",
        "url": "https://sans-io.readthedocs.io/",
        "snippet": results[0]["snippet"],
        "age": "April 18, 2023",
    }
    assert results[0]["snippet"].startswith("This page is a central location")
    assert "age" not in results[1]
    assert results[2].get("age") == "2025-04-24T03:35:24"


def test_a_success_with_no_web_results_and_one_without_sense_are_told_apart() -> None:
    assert Brave().reply(HttpReply(200, {}, b'{"type": "search", "web": null}', ""), Query("x", 5)) == []
    assert Brave().reply(HttpReply(200, {}, b'{"type": "search", "web": {"results": []}}', ""), Query("x", 5)) == []
    with pytest.raises(KeyError):  # the provider makes it an unreadable reply
        Brave().reply(HttpReply(200, {}, b"{}", ""), Query("x", 5))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "12"}, 12),
        ({"x-ratelimit-policy": "1;w=1, 2000;w=2592000", "x-ratelimit-remaining": "0, 5", "x-ratelimit-reset": "1, 999"}, 1),
        ({"x-ratelimit-policy": "1;w=1, 10;w=60", "x-ratelimit-remaining": "0, 0", "x-ratelimit-reset": "1, 42"}, 42),
        ({"x-ratelimit-policy": "1;w=1", "x-ratelimit-remaining": "0, 5", "x-ratelimit-reset": "1, 999"}, None),
        ({"x-ratelimit-policy": "1;w=1", "x-ratelimit-remaining": "none", "x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-policy": "1;w=1", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999"}, 3_600),
    ],
)
def test_when_to_come_back_is_read_from_the_window_that_is_used_up(headers: dict[str, str], seconds: float | None) -> None:
    assert Brave().retry_after(HttpReply(429, headers, b"", "")) == seconds


def test_a_validation_error_blames_the_key_only_when_it_is_about_the_header() -> None:
    about_the_query = (
        b'{"type": "ErrorResponse", "error": {"status": 422, "code": "VALIDATION", "detail": "x-subscription-token is fine",'
        b' "meta": {"errors": [{"loc": ["query", "q"], "input": "x-subscription-token"}]}}}'
    )
    with pytest.raises(ProviderError) as raised:
        Brave().reply(HttpReply(422, {}, about_the_query, ""), Query("x", 5))
    assert raised.value.kind == "bad_parameter"


def test_the_vendors_status_code_and_request_are_on_the_second_line(ask: Callable[..., Any]) -> None:
    with LoopbackVendor("brave", case="refused") as loopback, pytest.raises(ProviderError) as raised:
        ask(loopback)
    assert str(raised.value).splitlines()[1] == (
        "brave: status 400; request 5d832250-9396-4f6e-b84a-2a1fe524cd7d; "
        "it says: OPTION_NOT_IN_PLAN: The option is not subscribed in the plan."
    )
