"""The composition root: what happens when the settings cannot be read, and what leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from webseam.actions import allowances, engines
from webseam.app import App
from webseam.call import LOCAL, Caller
from webseam.config import Config
from webseam.demo.site import Handbook
from webseam.errors import ArgumentError
from webseam.transports.memory import MemoryClient


def ask(app: App, *requests: tuple[str, dict[str, Any]]) -> list[Any]:
    async def work() -> list[Any]:
        client = MemoryClient(app.engine(), caller=Caller())
        try:
            return [await client.request(method, params) for method, params in requests]
        finally:
            await app.close()

    try:
        return asyncio.run(work())
    finally:
        app.shut()


def test_damaged_settings_are_told_by_every_call_and_hide_no_tool(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "settings.sqlite3").write_bytes(b"rubbish " * 1_000)
    search = {"name": "web_search", "arguments": {"query": "tides"}}
    listed, answer = ask(App(Config({"data": tmp_path})), ("tools/list", {}), ("tools/call", search))
    assert [tool["name"] for tool in listed["tools"]] == ["web_search", "web_fetch"]
    assert answer["isError"] is True
    assert "is damaged: move it away" in answer["content"][0]["text"].splitlines()[0]
    assert "is damaged" in capfd.readouterr().err


def test_an_engine_named_by_the_environment_that_does_not_exist_is_told_with_those_that_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBSEAM_SEARCH", "altavista")
    [answer] = ask(App(Config({"data": tmp_path})), ("tools/call", {"name": "web_search", "arguments": {"query": "tides"}}))
    assert answer["isError"] is True
    assert "altavista" in answer["content"][0]["text"]
    assert "mediawiki" in answer["content"][0]["text"]


def test_the_tools_list_follows_the_chosen_engine(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    engines.use(app.switchboard, LOCAL, "search", "brave")
    [listed] = ask(app, ("tools/list", {}))
    brave = set(listed["tools"][0]["inputSchema"]["properties"])
    app = App(Config({"data": tmp_path}))
    engines.use(app.switchboard, LOCAL, "search", "mediawiki")
    [listed] = ask(app, ("tools/list", {}))
    wiki = set(listed["tools"][0]["inputSchema"]["properties"])
    assert {"query", "count"} < wiki
    assert wiki < brave
    assert "freshness" in brave - wiki


def test_no_worker_process_is_left_behind(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with Handbook() as book:
        allowances.allow(app.switchboard, LOCAL, book.url)
        [answer] = ask(app, ("tools/call", {"name": "web_fetch", "arguments": {"url": book.url}}))
    assert "The Webseam handbook" in answer["content"][0]["text"]
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_our_own_listening_socket_is_not_read_even_when_it_is_allowed(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    with Handbook() as book:
        port = int(book.url.rstrip("/").rpartition(":")[2])
        allowances.allow(app.switchboard, LOCAL, book.url)
        app.store.listen("127.0.0.1", port)
        [answer] = ask(app, ("tools/call", {"name": "web_fetch", "arguments": {"url": book.url}}))
        assert answer["isError"] is True
        assert book.requests == []


def test_the_account_of_a_call_decides_what_it_may_reach(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    with Handbook() as book:
        allowances.allow(app.switchboard, LOCAL, book.url)

        async def work() -> list[bool]:
            said = []
            for account in ("stranger", LOCAL):
                client = MemoryClient(app.engine(), caller=Caller(account))
                answer = await client.request("tools/call", {"name": "web_fetch", "arguments": {"url": book.url}})
                said.append(bool(answer.get("isError")))
            await app.close()
            return said

        assert asyncio.run(work()) == [True, False]
    app.shut()


def test_an_exception_for_the_index_is_none_for_reading(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    with Handbook() as book:
        allowances.allow(app.switchboard, LOCAL, book.url, "index")
        [answer] = ask(app, ("tools/call", {"name": "web_fetch", "arguments": {"url": book.url}}))
        assert answer["isError"] is True
        assert book.requests == []


def test_a_search_answer_is_one_text_block_of_json(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "tides.md").write_text("# Tides\n\nThe sea rises and falls.\n")
    app = App(Config({"data": tmp_path / "data"}))

    async def add() -> None:
        indexes = app.indexes(LOCAL)
        await indexes.add(indexes.resolve(str(notes)))
        await app.close()

    asyncio.run(add())
    engines.use(app.switchboard, LOCAL, "search", "index")
    [answer] = ask(app, ("tools/call", {"name": "web_search", "arguments": {"query": "sea"}}))
    [block] = answer["content"]
    assert "structuredContent" not in answer
    found = json.loads(block["text"])
    assert set(found) == {"provider", "query", "results"}
    assert found["results"][0]["url"] == "index://notes/tides.md"


def test_a_role_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    app = App(Config({"data": tmp_path}))
    with pytest.raises(ArgumentError, match="no role"):
        engines.use(app.switchboard, LOCAL, "flying", "brave")
    app.shut()
