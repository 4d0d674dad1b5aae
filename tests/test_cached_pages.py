"""Pages that are kept, from the tool and the commands down to the disk and the site."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from webseam.actions import allowances
from webseam.app import App
from webseam.call import LOCAL, Caller
from webseam.cli import FAILED, OK, WRONG, main
from webseam.config import Config
from webseam.transports.memory import MemoryClient

NOTE = "From the cache"


@dataclass
class Site:
    """A site with one page; `asked` are the headers of the requests that came for it, lower case."""

    url: str
    body: bytes = b"<h1>One</h1><p>words"
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "max-age=60", "ETag": '"1"'})
    asked: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self.send_error(404)
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.asked.append(headers)
            same = headers.get("if-none-match") == found.headers.get("ETag", "none")
            self.send_response_only(304 if same else found.status)
            for name, value in {**found.headers, "Content-Type": "text/html", "Content-Length": str(len(found.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if not same:
                self.wfile.write(found.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Site(f"http://127.0.0.1:{server.server_address[1]}/")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


class Said(dict[str, Any]):
    """The head of an answer, with its `text`; of a failure the text alone."""


@pytest.fixture
def read(tmp_path: Path, site: Site) -> Callable[..., list[Said]]:
    """`read({"cache": "only"}, ...)`: calls of web_fetch for the site's page, one after another in a process of their own."""

    def read(*calls: dict[str, Any], **flags: Any) -> list[Said]:
        app = App(Config({"data": tmp_path, **flags}))
        allowances.allow(app.switchboard, LOCAL, site.url)

        async def work() -> list[Said]:
            client = MemoryClient(app.engine(), caller=Caller())
            try:
                said = []
                for arguments in calls:
                    answer = await client.request(
                        "tools/call", {"name": "web_fetch", "arguments": {"url": site.url, **arguments}}
                    )
                    text = answer["content"][0]["text"]
                    said.append(Said(text=text) if answer["isError"] else Said(json.loads(text.partition("\n")[0]), text=text))
                return said
            finally:
                await app.close()

        try:
            return asyncio.run(work())
        finally:
            app.shut()

    return read


def test_the_next_process_reads_from_the_cache_and_says_so(read: Any, site: Site) -> None:
    [first] = read({})
    assert "notes" not in first
    [second] = read({})
    assert second["notes"] == [f"{NOTE}: ask with cache=refresh for a new copy."]  # the head says since when
    assert second["retrieved_at"] == first["retrieved_at"]
    assert "# One" in second["text"]
    assert len(site.asked) == 1


def test_refresh_brings_a_new_copy_past_the_page_that_is_kept_in_memory(read: Any, site: Site) -> None:
    def changes() -> None:
        site.body, site.headers = b"<h1>Two</h1><p>words", {**site.headers, "ETag": '"2"'}

    read({})
    changes()
    texts = [said["text"] for said in read({}, {"cache": "refresh"}, {}, {"cache": "only"}, {"cache": "refresh"})]
    assert ["# One" in text for text in texts] == [True, False, False, False, False]
    assert ["# Two" in text for text in texts] == [False, True, True, True, True]
    assert [headers.get("if-none-match") for headers in site.asked] == [None, '"1"', '"2"']
    assert NOTE not in texts[1] + texts[4]


def test_only_reads_what_is_there_and_asks_nobody(read: Any, site: Site) -> None:
    [said] = read({"cache": "only"})
    assert "There is no stored copy" in said["text"].splitlines()[0]
    assert site.asked == []
    read({})
    [said] = read({"cache": "only"})
    assert "# One" in said["text"]
    assert len(site.asked) == 1


def test_a_failure_that_is_kept_says_so_on_its_second_line(read: Any, site: Site) -> None:
    site.status = 404
    [first], [second] = read({}), read({})
    assert NOTE not in first["text"]
    assert second["text"].splitlines()[0] == first["text"]
    assert second["text"].splitlines()[1].startswith(f"{NOTE}, retrieved 2")
    assert len(site.asked) == 1


def test_the_cache_can_be_switched_off(read: Any, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("cache = false\n")
    read({})
    [said] = read({})
    assert "notes" not in said
    assert len(site.asked) == 2
    assert not (tmp_path / "cache").exists()
    assert "cache" not in listed(tmp_path)
    monkeypatch.setenv("WEBSEAM_CACHE", "on")
    assert listed(tmp_path)["cache"]["enum"] == ["use", "only", "refresh"]


@pytest.mark.parametrize("mode", ["only", "refresh"])
def test_a_cache_that_is_switched_off_is_why_it_cannot_be_asked(read: Any, site: Site, tmp_path: Path, mode: str) -> None:
    (tmp_path / "config.toml").write_text("cache = false\n")
    [said] = read({"cache": mode})
    assert said["text"].startswith("The cache is switched off (WEBSEAM_CACHE, or `cache` in config.toml): ")
    [said] = read({"cache": mode}, reading="index")
    assert "cannot apply cache" in said["text"]
    assert site.asked == []


def listed(folder: Path) -> dict[str, Any]:
    app = App(Config({"data": folder}))

    async def work() -> Any:
        try:
            return await MemoryClient(app.engine(), caller=Caller()).request("tools/list", {})
        finally:
            await app.close()

    try:
        tools = asyncio.run(work())["tools"]
    finally:
        app.shut()
    properties: dict[str, Any] = tools[1]["inputSchema"]["properties"]
    return properties


def test_the_index_offers_no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSEAM_READING", "index")
    assert "cache" not in listed(tmp_path)


def test_the_commands_read_measure_and_forget(
    read: Any, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*arguments, "--data", str(tmp_path)])
        said = capsys.readouterr()
        return code, said.out, said.err

    read({})
    assert NOTE in run("fetch", site.url)[1]
    assert NOTE not in run("fetch", site.url, "--cache", "refresh")[1]
    state = json.loads(run("cache", "--json")[1])
    assert state == {
        "folder": str(tmp_path / "cache" / "local"),
        "on": True,
        "limit_bytes": 256 * 1024 * 1024,
        "entries": 1,
        "bytes": 4096,
    }
    assert "1 reply, 4 KB, of at most 256.0 MB" in run("cache")[1]
    cleared = json.loads(run("cache", "--clear", "--json")[1])
    assert (cleared["entries"], cleared["cleared"]) == (0, {"entries": 1, "bytes": 4096})
    assert run("cache", "--clear")[:2] == (OK, f"Forgotten: 0 replies, 0 KB, in {tmp_path / 'cache' / 'local'}.\n")
    code, _, err = run("fetch", site.url, "--cache", "only")
    assert (code, "There is no stored copy" in err) == (FAILED, True)
    (tmp_path / "config.toml").write_text("cache_megabytes = 0")
    assert run("cache")[0] == WRONG
    (tmp_path / "config.toml").write_text("cache = false")
    assert "the cache is off" in run("cache")[1]


def test_a_cache_of_one_megabyte_holds_no_more(read: Any, site: Site, tmp_path: Path) -> None:
    site.body = b"<p>" + b"word " * 20_000
    read(*({"url": f"{site.url}?{number}"} for number in range(20)), cache_megabytes=1)
    kept = sum(path.stat().st_size for path in (tmp_path / "cache" / "local").iterdir())
    assert 0 < kept <= 1024 * 1024


@pytest.mark.parametrize("more", [[], ["--clear"]])
def test_a_cache_that_cannot_be_used_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert main(["--data", str(tmp_path), "cache", *more]) == WRONG
    assert f"The cache in {tmp_path / 'cache' / 'local'} cannot be used" in capsys.readouterr().err
