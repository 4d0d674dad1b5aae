"""web_search over a fake provider: arguments, answers, caps, failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.call import Call
from webseam.engines import catalogue
from webseam.errors import DoorError, ProtocolError, ProviderError, WorkerError
from webseam.protocol.request import Request
from webseam.seam.contract import SearchResults
from webseam.seam.facts import Facts
from webseam.testing.fakes import SEARCH_FACTS, FakeChooser, FakeSearch
from webseam.tools.provider import WebTools

HIT = {"title": "A page", "url": "https://example.com/", "snippet": "Words."}


def over(answer: Any, facts: Facts | None = None, **more: Any) -> tuple[WebTools, FakeSearch]:
    provider = FakeSearch(answer)
    chooser = FakeChooser(provider, search_facts=facts or SEARCH_FACTS, **more)
    return WebTools(chooser), provider


# ------------------------------------------------------------------------------------------------ answers


def test_an_answer_is_one_line_of_json_with_the_providers_name(ask: Callable[..., Any]) -> None:
    tools, provider = over([HIT | {"age": "3 days ago"}, {"title": "B", "url": "https://b.example/é", "snippet": ""}])
    got = ask(tools, "web_search", query="  sans-io \n protocol ")
    assert not got.is_error
    assert json.loads(got.text) == {
        "provider": "fake",
        "query": "sans-io protocol",
        "results": [HIT | {"age": "3 days ago"}, {"title": "B", "url": "https://b.example/é", "snippet": ""}],
    }
    assert "\n" not in got.text
    assert "é" in got.text
    assert '", "' not in got.text  # compact
    assert provider.asked == [("sans-io protocol", 8, {})]


def test_no_results_are_an_answer(ask: Callable[..., Any]) -> None:
    got = ask(over([])[0], "web_search", query="x")
    assert not got.is_error
    assert got.head == {"provider": "fake", "query": "x", "results": []}


def test_a_missing_snippet_is_empty_and_a_missing_age_is_left_out(ask: Callable[..., Any]) -> None:
    got = ask(over([{"title": "T", "url": "https://e.com/", "age": None}])[0], "web_search", query="x")
    assert got.head["results"] == [{"title": "T", "url": "https://e.com/", "snippet": ""}]


def test_sources_that_did_not_answer_are_named(ask: Callable[..., Any]) -> None:
    answer = SearchResults([HIT], not_applied=["arxiv"], unresponsive=["mwmbl\x1b[31m"])  # type: ignore[list-item]
    head = ask(over(answer)[0], "web_search", query="x").head
    assert head["not_applied"] == ["arxiv"]
    assert head["unresponsive"] == ["mwmbl"]


def test_filters_reach_the_provider_normalised_and_only_when_given(ask: Callable[..., Any]) -> None:
    tools, provider = over([HIT])
    got = ask(
        tools,
        "web_search",
        query="x",
        count=3,
        freshness="Week",
        country="us",
        language="pt-br",
        include_domains=["Example.COM.", "*.docs.example", "example.com", "münchen.de"],
        exclude_domains=[],
    )
    assert not got.is_error, got.text
    assert provider.asked == [
        (
            "x",
            3,
            {
                "freshness": "week",
                "country": "US",
                "language": "pt-BR",
                "include_domains": ("example.com", "docs.example", "xn--mnchen-3ya.de"),
            },
        )
    ]


def test_what_clients_fill_in_for_nothing_counts_as_not_given(ask: Callable[..., Any]) -> None:
    tools, provider = over([HIT], Facts("bare", "Bare", search=True))
    got = ask(
        tools,
        "web_search",
        query="x",
        count=None,
        freshness="any",
        country="",
        language=None,
        include_domains=[],
        exclude_domains=None,
    )
    assert not got.is_error, got.text
    assert provider.asked == [("x", 8, {})]


@pytest.mark.parametrize(("count", "meant"), [(1, 1), (10, 10), (5.0, 5), ("5", 5), (" 7 ", 7), (None, 8), ("", 8)])
def test_a_count_that_has_one_meaning_is_taken(ask: Callable[..., Any], count: Any, meant: int) -> None:
    tools, provider = over([HIT])
    assert not ask(tools, "web_search", query="x", count=count).is_error
    assert provider.asked[0][1] == meant


def test_a_language_is_taken_as_the_engine_knows_it(ask: Callable[..., Any]) -> None:
    for given, meant in (
        ("JA", "ja"),
        ("fr-CA", "fr"),
        ("zh-hant", "zh-Hant"),
        ("zh_TW", "zh-TW"),
        ("en-US", "en"),
        ("pt-br", "pt-BR"),
    ):
        tools, provider = over([HIT], catalogue.facts("brave"))
        assert not ask(tools, "web_search", query="x", language=given).is_error
        assert provider.asked[0][2] == {"language": meant}


# ------------------------------------------------------------------------------------------------ bad arguments

BRAVE = catalogue.facts("brave")
BAD = [
    ({}, "query is empty"),
    ({"query": ""}, "query is empty"),
    ({"query": " \n\t\u200b"}, "query is empty"),
    ({"query": 5}, "query must be a string"),
    ({"query": ["a"]}, "query must be a string"),
    ({"query": "x" * 401}, "401 characters, and Brave Search takes at most 400"),
    ({"query": "x" * 10_000}, "10,000 characters"),
    ({"query": "x" * 1_000_000}, "1,000,000 characters"),
    ({"query": "w " * 51}, "51 words, and Brave Search takes at most 50"),
    ({"query": "x", "count": 0}, "from 1 to 10 (Brave Search's limit), not 0"),
    ({"query": "x", "count": -1}, "not -1"),
    ({"query": "x", "count": 11}, "not 11"),
    ({"query": "x", "count": 10**30}, "whole number from 1 to 10"),
    ({"query": "x", "count": True}, "whole number from 1 to 10, not true"),
    ({"query": "x", "count": 1.5}, "not 1.5"),
    ({"query": "x", "count": "five"}, 'not "five"'),
    ({"query": "x", "count": "5 or 6"}, "whole number"),
    ({"query": "x", "count": "٥"}, "whole number"),
    ({"query": "x", "count": {"n": 1}}, "not an object"),
    ({"query": "x", "count": float("inf")}, "whole number"),
    ({"query": "x", "limit": 5}, 'no argument "limit": it takes query, count, freshness'),
    ({"query": "x", "evil\x1b[31m\u202e": 5}, 'no argument "evil"'),
    ({"query": "x", "freshness": "yesterday"}, 'freshness cannot be "yesterday": take day, week, month, year'),
    ({"query": "x", "freshness": 7}, "freshness must be a string"),
    ({"query": "x", "freshness": "2026-02-30..2026-03-01"}, "a date that does not exist"),
    ({"query": "x", "freshness": "2026-03-02..2026-03-01"}, "ends before it begins"),
    ({"query": "x", "freshness": "2026-03-02"}, "freshness cannot be"),
    ({"query": "x", "country": "SG"}, 'country cannot be "SG" with Brave Search: it knows ALL, AR'),
    ({"query": "x", "country": "USA"}, "it knows"),
    ({"query": "x", "country": ["US"]}, "country must be a string"),
    ({"query": "x", "language": "tlh"}, 'language cannot be "tlh" with Brave Search: it knows ar,'),
    ({"query": "x", "language": "English language"}, "language must be a language tag"),
    ({"query": "x", "language": 1}, "language must be a string"),
    ({"query": "x", "include_domains": ["https://example.com/x"]}, "without scheme, port or path"),
    ({"query": "x", "include_domains": ["example.com/x"]}, "without scheme, port or path"),
    ({"query": "x", "include_domains": ["example.com:80"]}, "without scheme, port or path"),
    ({"query": "x", "include_domains": ["a b"]}, "is not a domain"),
    ({"query": "x", "include_domains": ["-a.example"]}, "is not a domain"),
    ({"query": "x", "include_domains": ["a..example"]}, "is not a domain"),
    ({"query": "x", "include_domains": ["a) OR (site:b"]}, "is not a domain"),
    ({"query": "x", "include_domains": ["x" * 64 + ".example"]}, "is not a domain"),
    ({"query": "x", "include_domains": ["faß.de"]}, "xn-- form"),
    ({"query": "x", "include_domains": [5]}, "domains as strings"),
    ({"query": "x", "include_domains": {"a": 1}}, "must be a list of domains"),
    ({"query": "x", "exclude_domains": [f"d{n}.example" for n in range(21)]}, "21 domains, and at most 20"),
    (
        {"query": "x", "include_domains": ["a.example"], "exclude_domains": ["A.example"]},
        "a.example is in include_domains and in",
    ),
]


@pytest.mark.parametrize(("arguments", "says"), BAD)
def test_a_bad_argument_gets_a_sentence_and_nobody_is_asked(
    ask: Callable[..., Any], arguments: dict[str, Any], says: str
) -> None:
    tools, provider = over([HIT], BRAVE)
    got = ask(tools, "web_search", **arguments)
    assert got.is_error
    assert says in got.first_line
    assert got.first_line.isprintable()
    assert len(got.text) < 1_000
    assert provider.asked == []


@pytest.mark.parametrize("name", ["freshness", "country", "language", "include_domains", "exclude_domains"])
def test_a_filter_that_the_engine_cannot_apply_is_refused_by_name(ask: Callable[..., Any], name: str) -> None:
    tools, provider = over([HIT], Facts("plain", "Plain Engine", search=True))
    got = ask(tools, "web_search", query="x", **{name: ["a.example"] if "domains" in name else "week"})
    assert got.is_error
    assert got.first_line.startswith(f"Plain Engine cannot apply {name}:")
    assert "webseam use search" in got.first_line
    assert provider.asked == []


def test_an_unknown_tool_is_a_protocol_error() -> None:
    with pytest.raises(ProtocolError) as raised:
        asyncio.run(over([])[0].call("web_serch", {}, Request()))
    assert raised.value.code == -32602
    assert "web_search" in str(raised.value)


# ------------------------------------------------------------------------------------------------ hostile answers


def test_results_are_capped_whoever_sends_them(ask: Callable[..., Any]) -> None:
    many = [
        {"title": "t" * 400, "url": f"https://e.com/{n}", "snippet": "word " * 200, "age": "a" * 500, "extra": "dropped"}
        for n in range(50)
    ]
    results = ask(over(many)[0], "web_search", query="x", count=10).head["results"]
    assert len(results) == 10
    for result in results:
        assert set(result) == {"title", "url", "snippet", "age"}
        assert (len(result["title"]), len(result["age"])) == (300, 100)
        assert 450 < len(result["snippet"]) <= 500
    assert len(ask(over(many)[0], "web_search", query="x", count=3).head["results"]) == 3


def test_titles_and_snippets_come_out_as_plain_visible_text(ask: Callable[..., Any]) -> None:
    hostile = {
        "title": "<b>Cheap</b> \x1b]8;;http://evil\x07flights\x1b]8;;\x07 \u202etxet\u202c &amp; \U000e0041more",
        "url": "https://e.com/",
        "snippet": "<script>steal()</script>one\ntwo\u2028three <img src=x onerror=y> &lt;tool&gt; \x00",
        "age": "<i>now</i>\x07",
    }
    (result,) = ask(over([hostile])[0], "web_search", query="x").head["results"]
    assert result == {
        "title": "Cheap flights txet & more",
        "url": "https://e.com/",
        "snippet": "one two three <tool>",
        "age": "now",
    }


def test_urls_that_nobody_should_open_are_left_out(ask: Callable[..., Any]) -> None:
    urls = [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://e.com/",
        "//e.com/",
        "/relative",
        "e.com",
        "http:e.com",
        "https:///x",
        "https://user:pw@e.com/",
        "https://e.com\\@evil.example/",
        "https://e.com/\u202egnp.exe",
        "https://e.com/a\nb",
        "https://e.com/\x00",
        "https://e.com/" + "x" * 9_000,
    ]
    answer = [{"title": "bad", "url": url, "snippet": ""} for url in urls]
    good = ["https://e.com/a%20b?q=1#part", "HTTP://E.com/", "index://docs/guide.md", "https://пример.рф/"]
    answer += [{"title": "good", "url": url, "snippet": ""} for url in good]
    results = ask(over(answer)[0], "web_search", query="x", count=10).head["results"]
    assert [result["url"] for result in results] == good


def test_one_page_is_shown_once(ask: Callable[..., Any]) -> None:
    urls = ["https://e.com", "https://E.com/", "https://e.com:443/", "https://e.com/a", "https://e.com/a#b", "http://e.com/"]
    answer = [{"title": str(n), "url": url, "snippet": ""} for n, url in enumerate(urls)]
    results = ask(over(answer)[0], "web_search", query="x").head["results"]
    assert [result["title"] for result in results] == ["0", "3", "4", "5"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "nothing (None)"),
        ({"results": []}, "a dict, and a list of results was expected"),
        ("results", "a str"),
        (5, "an int"),
        (["text"], "a str at results[0], and a mapping was expected"),
        ([HIT, None], "nothing (None) at results[1]"),
        ([HIT | {"url": 5}], "an int at results[0].url, and a string was expected"),
        ([HIT, {"title": "no url"}], "without results[1].url"),
        ([HIT | {"title": ["x"]}], "a list at results[0].title"),
        ([HIT | {"snippet": 1.5}], "a float at results[0].snippet"),
        ([HIT | {"url": "javascript:x"}], "1 results, and none has a URL that can be read"),
        ((result for result in [HIT]), "a generator"),
    ],
)
def test_an_answer_of_the_wrong_shape_is_a_sentence_that_names_it(ask: Callable[..., Any], answer: Any, says: str) -> None:
    got = ask(over(answer)[0], "web_search", query="x")
    assert got.is_error
    assert got.first_line.startswith("Fake Search answered with")
    assert says in got.first_line


# ------------------------------------------------------------------------------------------------ failures


def test_a_foreign_providers_message_arrives_word_for_word(ask: Callable[..., Any]) -> None:
    message = "The key is wrong: set MY_KEY.\nMore: see the manual."
    for error in (RuntimeError(message), ProviderError(message), ValueError(message), DoorError(message, kind="dns")):
        got = ask(over(error)[0], "web_search", query="x")
        assert (got.text, got.is_error) == (message, True)


def test_an_exception_without_words_still_says_something(ask: Callable[..., Any]) -> None:
    got = ask(over(RuntimeError())[0], "web_search", query="x")
    assert got.text == "Fake Search failed without saying why (RuntimeError): try again."


def test_what_a_provider_raises_is_cleaned_redacted_and_cut(ask: Callable[..., Any]) -> None:
    error = RuntimeError("key s3cret-\u200bkey and s3cret-key \x1b[31mfailed\x1b[0m\u202e\n" + "x" * 5_000)
    tools, _ = over(error, secrets=["s3cret-key"])
    got = ask(tools, "web_search", query="x")
    assert got.first_line == "key [secret] and [secret] failed"
    assert len(got.text) <= 2_000
    assert got.text.endswith("…")


def test_a_key_echoed_in_a_result_is_never_shown(ask: Callable[..., Any]) -> None:
    tools, _ = over([{"title": "s3cret", "url": "https://e.com/?k=s3cret", "snippet": "a s3cret"}], secrets=["s3cret"])
    assert "s3cret" not in ask(tools, "web_search", query="x").text


@pytest.mark.parametrize("part", range(1, 12, 3))
@pytest.mark.parametrize("apart", ["", "\u200b", "<b></b>"])
def test_no_part_of_a_key_is_left_in_front_of_a_cut(ask: Callable[..., Any], part: int, apart: str) -> None:
    key = "QZXJVKWYPHG"
    echoed = apart.join(key)
    entities = "".join(f"&#{ord(character)};" for character in key)
    for limit, name in ((300, "title"), (500, "snippet"), (100, "age")):
        for spelt, taken in ((echoed, len(key)), (entities, len(key))):
            for before in ("t" * (limit - part), "t" * (limit * 8 - part * len(spelt) // taken), "<i></i>" * limit + "t " * 8):
                tools, _ = over([HIT | {name: before + spelt}], secrets=[key])
                shown = ask(tools, "web_search", query="x").head["results"][0][name]
                assert not set(key) & set(shown), (name, shown)
    answer = SearchResults([HIT], unresponsive=["t" * (100 - part) + echoed])  # type: ignore[list-item]
    if apart != "<b></b>":
        assert not set(key) & set(str(ask(over(answer, secrets=[key])[0], "web_search", query="x").head["unresponsive"]))


def test_a_provider_that_cannot_be_built_says_why(ask: Callable[..., Any]) -> None:
    tools = WebTools(FakeChooser(search=ProviderError("Brave Search needs a key that is not set: give it."), reader=None))
    got = ask(tools, "web_search", query="x")
    assert got.is_error
    assert got.text.startswith("Brave Search needs a key")


def test_a_killed_worker_is_told_in_its_own_words(ask: Callable[..., Any]) -> None:
    got = ask(over(WorkerError("The document took too long.", kind="timeout"))[0], "web_search", query="x")
    assert (got.text, got.is_error) == ("The document took too long.", True)


def test_a_provider_that_is_too_slow_is_named_and_stopped(answer: Callable[..., Any]) -> None:
    now = [0.0]

    class Late(FakeChooser):
        """The clock jumps past the deadline while the call is being set up: nothing waits in real time."""

        def searcher(self, call: Call) -> Any:
            now[0] += 31.0
            return super().searcher(call)

    async def main() -> None:
        provider = FakeSearch([HIT], gate=asyncio.Event())
        got = await answer(WebTools(Late(provider), clock=lambda: now[0]), "web_search", {"query": "x"})
        assert got.is_error
        assert got.first_line.startswith("Fake Search did not answer within 30 s")

    asyncio.run(main())


def test_a_fault_of_our_own_code_is_left_to_the_engine() -> None:
    class Ours(FakeSearch):
        __module__ = "webseam.index.provider"

        async def search(self, query: str, count: int, **filters: Any) -> Any:
            raise KeyError("a bug of ours")

    with pytest.raises(KeyError):
        asyncio.run(WebTools(FakeChooser(Ours())).call("web_search", {"query": "x"}, Request()))


def test_the_next_call_is_answered_after_any_failure(ask: Callable[..., Any]) -> None:
    tools, provider = over(SystemExit("goodbye"))
    got = ask(tools, "web_search", query="x")
    assert got.is_error
    assert got.text == "SystemExit: goodbye"
    provider.answer = [HIT]
    assert not ask(tools, "web_search", query="x").is_error
