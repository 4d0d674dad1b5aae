"""The two tools registered on the protocol engine, asked through the in-memory transport; and whatever JSON may hold."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.call import Caller
from webseam.engines import catalogue
from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.testing.fakes import FakeChooser, FakeReader, FakeSearch
from webseam.tools.provider import WebTools
from webseam.transports.memory import MemoryClient

URL = "https://example.com/"
HIT = {"title": "T", "url": URL, "snippet": "s"}


def client(search: Any = None, reader: Any = None, **more: Any) -> MemoryClient:
    engine = Engine({"name": "test", "version": "1"}).register_provider(WebTools(FakeChooser(search, reader, **more)))
    return MemoryClient(engine, caller=Caller("someone", "an agent"))


def test_both_tools_are_listed_and_called() -> None:
    async def main() -> None:
        asked = client(FakeSearch([HIT]), FakeReader({URL: "text"}))
        listed = await asked.request("tools/list")
        assert [tool["name"] for tool in listed["tools"]] == ["web_search", "web_fetch"]
        found = await asked.request("tools/call", {"name": "web_search", "arguments": {"query": "x"}})
        assert not found["isError"]
        assert json.loads(found["content"][0]["text"])["results"] == [HIT]
        read = await asked.request("tools/call", {"name": "web_fetch", "arguments": {"url": URL}})
        assert "\ntext\n" in read["content"][0]["text"]

    asyncio.run(main())


def test_a_failure_is_a_result_and_an_unknown_tool_an_error() -> None:
    async def main() -> None:
        asked = client(FakeSearch(RuntimeError("Set MY_KEY.")))
        failed = await asked.request("tools/call", {"name": "web_search", "arguments": {"query": "x"}})
        assert failed == {"content": [{"type": "text", "text": "Set MY_KEY."}], "isError": True} | {
            key: value for key, value in failed.items() if key not in ("content", "isError")
        }
        with pytest.raises(ProtocolError) as raised:
            await asked.request("tools/call", {"name": "web_fly", "arguments": {}})
        assert raised.value.code == -32602

    asyncio.run(main())


def test_a_fault_of_ours_leaks_nothing() -> None:
    class Ours(FakeSearch):
        __module__ = "webseam.index.provider"

    async def main() -> None:
        asked = client(Ours(KeyError("inner secret")))
        with pytest.raises(ProtocolError) as raised:
            await asked.request("tools/call", {"name": "web_search", "arguments": {"query": "x"}})
        assert raised.value.code == -32603
        assert "inner secret" not in str(raised.value)

    asyncio.run(main())


def test_the_account_is_the_callers() -> None:
    chooser = FakeChooser(FakeSearch([HIT]))
    engine = Engine({"name": "test", "version": "1"}).register_provider(WebTools(chooser))

    async def main() -> None:
        for caller in (Caller("alice"), None):
            await MemoryClient(engine, caller=caller).request("tools/call", {"name": "web_search", "arguments": {"query": "x"}})

    asyncio.run(main())
    assert chooser.chosen == [("alice", "search"), ("local", "search")]


def test_a_cancelled_request_stops_the_provider_and_leaves_no_task(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        for name, arguments in (("web_search", {"query": "x"}), ("web_fetch", {"url": URL})):
            search, reader = FakeSearch([HIT], gate=gate), FakeReader({URL: "text"}, gate=gate)
            request = Request(caller=Caller())
            asking = asyncio.ensure_future(answer(WebTools(FakeChooser(search, reader)), name, arguments, request))
            while not (search.asked or reader.asked):
                await asyncio.sleep(0)
            request.cancel()
            assert (await asking).is_error
            for _ in range(5):
                await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_request_cancelled_before_it_began_asks_nobody_anything_for_long(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        request = Request(caller=Caller())
        request.cancel()
        search = FakeSearch([HIT], gate=asyncio.Event())
        assert (await answer(WebTools(FakeChooser(search)), "web_search", {"query": "x"}, request)).is_error

    asyncio.run(main())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
SEARCH = ("query", "count", "freshness", "country", "language", "include_domains", "exclude_domains")
FETCH = ("url", "start", "max_chars", "find", "section")


def arguments(names: tuple[str, ...], given_anyway: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names) | st.text(max_size=5), JSON, max_size=4).map(lambda more: given_anyway | more)


@settings(max_examples=300, deadline=None)
@given(arguments(SEARCH, {"query": "x"}), arguments(FETCH, {"url": URL}))
def test_whatever_arguments_come_are_answered_or_refused_in_one_clean_line(search: Any, fetch: Any) -> None:
    tools = WebTools(FakeChooser(FakeSearch([HIT]), FakeReader({URL: "# A\n\ntext"}), search_facts=catalogue.facts("brave")))

    async def main() -> None:
        for name, given_arguments in (("web_search", search), ("web_fetch", fetch)):
            result = await tools.call(name, given_arguments, Request())
            text = result["content"][0]["text"]
            text.encode()
            if result["isError"] and "\n<<<" not in text:
                assert not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
                assert len(text) < 2_000

    asyncio.run(main())


def test_a_number_of_thousands_of_digits_is_refused_like_any_other(ask: Callable[..., Any]) -> None:
    tools = WebTools(FakeChooser())
    for name, argument in (
        ("web_search", {"query": "x", "count": 10**5_000}),
        ("web_fetch", {"url": URL, "max_chars": -(10**5_000)}),
    ):
        got = ask(tools, name, **argument)
        assert got.is_error
        assert "a number of that size" in got.text
