"""Pages kept a short while: keys, ages, bounds, and one flight for all who wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from webseam.call import Call, Caller
from webseam.config import LIMITS
from webseam.protocol.request import Request
from webseam.seam.contract import Page
from webseam.seam.facts import Facts
from webseam.testing.fakes import FakeChooser, FakeReader
from webseam.tools.pages import Kept, Key, Pages
from webseam.tools.provider import WebTools
from webseam.tools.window import Layout

URL = "https://example.com/"


def kept(text: str) -> Kept:
    return Kept(Page(URL, text), Layout(text))


class Source:
    """Counts the fetches it is asked for."""

    def __init__(self, text: str = "text") -> None:
        self.fetched = 0
        self.text = text

    async def __call__(self) -> Kept:
        self.fetched += 1
        return kept(self.text)


def key(url: str = URL, account: str = "local", engine: str = "fake", version: int = 0) -> Key:
    return Key(account, engine, version, url)


def test_a_page_is_fetched_again_for_another_account_engine_version_or_url_only() -> None:
    async def main() -> None:
        pages, source = Pages(lambda: 0.0), Source()
        for _ in range(3):
            await pages.get(key(), source, Call())
        assert source.fetched == 1
        for other in (key(account="b"), key(engine="jina"), key(version=1), key(url="https://b.example/")):
            before = source.fetched
            await pages.get(other, source, Call())
            await pages.get(other, source, Call())
            assert source.fetched == before + 1

    asyncio.run(main())


def test_a_page_is_kept_ten_minutes() -> None:
    now = [100.0]

    async def main() -> None:
        pages, source = Pages(lambda: now[0]), Source()
        await pages.get(key(), source, Call())
        now[0] += LIMITS.pages_kept_seconds - 1
        await pages.get(key(), source, Call())
        assert source.fetched == 1
        now[0] += 1
        await pages.get(key(), source, Call())
        assert source.fetched == 2

    asyncio.run(main())


def test_the_least_recently_used_goes_when_the_bytes_are_full() -> None:
    big = Source("x" * 30_000)

    async def main() -> None:
        pages = Pages(lambda: 0.0, room=75_000)
        await pages.get(key("a"), big, Call())
        await pages.get(key("b"), big, Call())
        await pages.get(key("a"), big, Call())  # used again: b is now the oldest
        await pages.get(key("c"), big, Call())
        assert big.fetched == 3
        await pages.get(key("a"), big, Call())
        assert big.fetched == 3
        await pages.get(key("b"), big, Call())
        assert big.fetched == 4

    asyncio.run(main())


def test_a_page_larger_than_the_whole_store_is_answered_and_not_kept() -> None:
    async def main() -> None:
        pages, source = Pages(lambda: 0.0, room=100_000), Source("x" * 100_000)
        for _ in range(2):
            assert (await pages.get(key(), source, Call())).page.content
        assert source.fetched == 2

    asyncio.run(main())


def test_many_tiny_pages_are_bounded_too() -> None:
    async def main() -> None:
        pages, source = Pages(lambda: 0.0, room=100_000), Source("")
        for number in range(50):
            await pages.get(key(str(number)), source, Call())
        await pages.get(key("0"), source, Call())
        assert source.fetched == 51

    asyncio.run(main())


def test_a_new_copy_is_fetched_whatever_is_kept_and_takes_its_place() -> None:
    async def main() -> None:
        pages, source = Pages(lambda: 0.0), Source("old")
        await pages.get(key(), source, Call())
        source.text = "new"
        assert (await pages.get(key(), source, Call(), cache="refresh")).page.content == "new"
        assert (await pages.get(key(), source, Call())).page.content == "new"
        assert (await pages.get(key(), source, Call(), cache="only")).page.content == "new"
        assert source.fetched == 2

    asyncio.run(main())


def test_a_copy_that_only_the_store_had_is_not_kept_for_others() -> None:
    async def main() -> None:
        pages, source = Pages(lambda: 0.0), Source("perhaps stale")
        await pages.get(key(), source, Call(), cache="only")
        source.text = "new"
        assert (await pages.get(key(), source, Call())).page.content == "new"

    asyncio.run(main())


def test_a_fetch_that_began_before_a_refresh_does_not_put_the_old_page_back() -> None:
    async def main() -> None:
        pages, gate, began = Pages(lambda: 0.0), asyncio.Event(), asyncio.Event()

        async def slow() -> Kept:
            began.set()
            await gate.wait()
            return kept("old")

        first = asyncio.ensure_future(pages.get(key(), slow, Call()))
        await began.wait()
        assert (await pages.get(key(), Source("new"), Call(), cache="refresh")).page.content == "new"
        gate.set()
        assert (await first).page.content == "old"
        assert (await pages.get(key(), Source("newer"), Call())).page.content == "new"

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ one flight


def gated(pages: dict[str, Any] | None = None) -> tuple[WebTools, FakeReader, asyncio.Event]:
    gate = asyncio.Event()
    reader = FakeReader(pages if pages is not None else {URL: "# Page\n\ntext"}, gate=gate)
    return WebTools(FakeChooser(reader=reader)), reader, gate


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0)  # a turn of the loop, not the clock


def test_requests_for_one_page_at_once_are_one_fetch(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        tools, reader, gate = gated()
        waiting = [asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL})) for _ in range(20)]
        await until(lambda: bool(reader.asked))
        gate.set()
        answers = await asyncio.gather(*waiting)
        assert all(got.fenced == "# Page\n\ntext" for got in answers)
        assert reader.asked == [URL]

    asyncio.run(main())


def test_refreshes_at_once_are_one_fetch_and_not_the_one_under_way(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        gate = asyncio.Event()
        reader = FakeReader({URL: "text"}, gate=gate)
        facts = Facts("fake-reader", "Fake Reader", reading=True, third_party=False, keeps=True)
        tools = WebTools(FakeChooser(reader=reader, reading_facts=facts))
        plain = asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL}))
        await until(lambda: bool(reader.asked))
        refreshing = [asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL, "cache": "refresh"})) for _ in range(9)]
        await until(lambda: len(reader.asked) == 2)
        gate.set()
        await asyncio.gather(plain, *refreshing)
        assert reader.asked == [URL, URL]

    asyncio.run(main())


def test_two_accounts_never_share_a_fetch(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        tools, reader, gate = gated()
        waiting = [
            asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL}, Request(caller=Caller(account)))) for account in "ab"
        ]
        await until(lambda: len(reader.asked) == 2)
        gate.set()
        await asyncio.gather(*waiting)
        assert reader.asked == [URL, URL]

    asyncio.run(main())


def test_one_that_leaves_takes_nothing_from_the_others(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        tools, reader, gate = gated()
        first = asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL}))
        request = Request(caller=Caller())
        second = asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL}, request))
        third = asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL}))
        await until(lambda: bool(reader.asked))
        first.cancel()  # its task is cancelled, as a transport does
        request.cancel()  # nobody waits for its answer any more, as the protocol says
        with pytest.raises(asyncio.CancelledError):
            await first
        assert (await second).is_error
        assert reader.cancelled == 0
        gate.set()
        assert (await third).fenced == "# Page\n\ntext"
        assert reader.asked == [URL]

    asyncio.run(main())


def test_when_the_last_one_leaves_the_fetch_is_stopped_and_the_next_one_begins_anew(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        tools, reader, gate = gated()
        waiting = [asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL})) for _ in range(3)]
        await until(lambda: bool(reader.asked))
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await until(lambda: reader.cancelled == 1)
        gate.set()
        assert not (await answer(tools, "web_fetch", {"url": URL})).is_error
        assert len(reader.asked) == 2

    asyncio.run(main())


def test_a_failure_reaches_all_who_wait_and_is_not_kept(answer: Callable[..., Any]) -> None:
    async def main() -> None:
        tools, reader, gate = gated({URL: RuntimeError("The page is gone.")})
        waiting = [asyncio.ensure_future(answer(tools, "web_fetch", {"url": URL})) for _ in range(3)]
        await until(lambda: bool(reader.asked))
        gate.set()
        assert [(got.text, got.is_error) for got in await asyncio.gather(*waiting)] == [("The page is gone.", True)] * 3
        reader.pages = {URL: "back"}
        assert (await answer(tools, "web_fetch", {"url": URL})).fenced == "back"

    asyncio.run(main())


def test_a_changed_setting_is_a_new_fetch(ask: Callable[..., Any]) -> None:
    reader = FakeReader({URL: "text"})
    chooser = FakeChooser(reader=reader)
    tools = WebTools(chooser)
    ask(tools, "web_fetch", url=URL)
    ask(tools, "web_fetch", url=URL)  # in another event loop: what is kept belongs to none
    assert len(reader.asked) == 1
    chooser.versions["local"] = 1
    ask(tools, "web_fetch", url=URL)
    assert len(reader.asked) == 2


def test_the_address_is_judged_for_every_window() -> None:
    chooser = FakeChooser(reader=FakeReader({URL: "x" * 30_000}))
    tools = WebTools(chooser)

    async def main() -> None:
        for start in (0, 10_000, 20_000):
            await tools.call("web_fetch", {"url": URL, "start": start}, Request())

    asyncio.run(main())
    assert chooser.chosen == [("local", URL)] * 3
