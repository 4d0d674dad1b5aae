"""The demonstration, step by step, each printed for a person to read."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from webseam.actions import allowances, engines
from webseam.app import App
from webseam.call import LOCAL
from webseam.config import Config
from webseam.demo.clients import connect
from webseam.demo.site import Handbook
from webseam.errors import WebseamError
from webseam.terminal import ProgressLine, bold, dim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webseam.demo.clients import Client
    from webseam.index.indexing import Report

QUERY = "how do I allow a private address"
START_SECONDS = 60.0


def run(data: str | None = None) -> int:
    """Show the main job; 0 when every step did what it says."""
    with contextlib.ExitStack() as stack:
        folder = data or stack.enter_context(tempfile.TemporaryDirectory(prefix="webseam-demo-", ignore_cleanup_errors=True))
        book = stack.enter_context(Handbook())
        _heading("1. A small documentation site goes into a private index")
        report = _index(folder, book)
        if not report.added + report.unchanged + report.changed:
            raise WebseamError("The demonstration's site could not be indexed: `webseam doctor` says what to mend.")
        _heading("2. The server starts, an MCP client connects")
        url = stack.enter_context(_server(folder))
        client = connect(url)
        _say(f"{url}, asked by {client.name}")
        _show_tools(client)
        _heading("3. The agent searches")
        best = _search(client)
        _heading("4. The agent reads the best hit")
        _read(client, best)
        _heading("5. A page cannot send the agent into your network")
        _expect_failure(client, "web_fetch", {"url": "http://169.254.169.254/latest/meta-data/"})
        _heading("6. A failure says what would change it")
        app = App(Config({"data": folder}))
        try:
            _say(f"$ webseam use search brave\n{engines.use(app.switchboard, LOCAL, 'search', 'brave')}")
            _expect_failure(client, "web_search", {"query": QUERY})
            engines.use(app.switchboard, LOCAL, "search", "index")
        finally:
            app.shut()
        _how_to_connect()
    return 0


def _index(folder: str, book: Handbook) -> Report:
    """Allow the site, crawl it, choose the index for searching: what a person would type is printed with it."""
    app = App(Config({"data": folder}))
    address = book.url.removeprefix("http://").rstrip("/")
    line = ProgressLine(every=1_000)

    async def work() -> Report:
        indexes = app.indexes(LOCAL)
        source = indexes.resolve(book.url, name="handbook")
        try:
            return await indexes.add(source, progress=lambda now: line.show(now.seen, now.total, now.url))
        finally:
            await app.close()

    try:
        _say(f"$ webseam allow {address} --for index")
        _say(allowances.allow(app.switchboard, LOCAL, address, "index"))
        _say(f"$ webseam allow {address}")
        _say(allowances.allow(app.switchboard, LOCAL, address))
        _say(f"$ webseam index add {book.url} --name handbook")
        report = asyncio.run(work())
        line.clear()
        _say(f"{report.added} pages indexed, {len(report.failed)} failed")
        _say("$ webseam use search index")
        _say(engines.use(app.switchboard, LOCAL, "search", "index"))
        return report
    finally:
        app.shut()


@contextlib.contextmanager
def _server(folder: str) -> Iterator[str]:
    """`webseam serve` as a process of its own, on a free port; its URL once it answers."""
    command = [sys.executable, "-m", "webseam", "serve", "--data", folder, "--port", "0", "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEBSEAM_")}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise WebseamError(f"The server did not start (exit code {process.wait(START_SECONDS)}): its own words are above.")
        yield json.loads(line)["url"]
    finally:
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _show_tools(client: Client) -> None:
    for tool in client.tools():
        arguments = ", ".join(tool["inputSchema"].get("properties", {}))
        _say(f"{bold(tool['name'])}({arguments})")


def _search(client: Client) -> str:
    """Search, print the hits, give the URL of the first."""
    _say(f"web_search(query = {QUERY!r}, count = 3)")
    text, failed = client.call("web_search", {"query": QUERY, "count": 3})
    if failed:
        raise WebseamError(text)
    hits = json.loads(text)["results"]
    if not hits:
        raise WebseamError("The search found nothing in the site that was just indexed.")
    for number, hit in enumerate(hits, start=1):
        _say(f"{number}. {bold(hit['title'])}  {dim(hit['url'])}\n   {hit['snippet']}")
    best: str = hits[0]["url"]
    return best


def _read(client: Client, url: str) -> None:
    _say(f"web_fetch(url = {url!r})")
    text, failed = client.call("web_fetch", {"url": url})
    if failed:
        raise WebseamError(text)
    _say(text)


def _expect_failure(client: Client, tool: str, arguments: dict[str, object]) -> None:
    said = ", ".join(f"{name} = {value!r}" for name, value in arguments.items())
    _say(f"{tool}({said})")
    text, failed = client.call(tool, arguments)
    if not failed:
        raise WebseamError(f"{tool}({said}) was answered, and should have been refused.")
    _say(text)


def _how_to_connect() -> None:
    _heading("Now connect your own agent")
    _say(
        "Claude Code     claude mcp add webseam -- webseam stdio\n"
        "Claude Desktop, Cursor and others, in their JSON file:\n"
        '                {"mcpServers": {"webseam": {"command": "webseam", "args": ["stdio"]}}}\n'
        "Over HTTP       webseam serve, then http://127.0.0.1:8377/mcp\n"
        "The README has a block for each client, and how to switch off its own web tools."
    )


def _heading(text: str) -> None:
    print(f"\n{bold(text)}", flush=True)


def _say(text: str) -> None:
    print("\n".join("  " + line for line in text.splitlines()), flush=True)
