"""Bad input through the whole house, over MCP: a clear error that names what would change it, and the next call answered."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from webseam.actions import allowances, engines
from webseam.app import App
from webseam.call import LOCAL, Caller
from webseam.config import Config
from webseam.errors import ProtocolError
from webseam.testing.vendor import LoopbackVendor
from webseam.transports.memory import MemoryClient


class Hostile(BaseHTTPRequestHandler):
    """A site that answers as sites should not."""

    protocol_version = "HTTP/1.1"
    stop: threading.Event

    def do_GET(self) -> None:
        try:
            getattr(self, "answer_" + self.path.strip("/").split("?")[0].replace("-", "_"), self.answer_missing)()
        except OSError:  # the other side had enough
            self.close_connection = True

    def send(self, body: bytes, kind: str = "text/html; charset=utf-8", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_fine(self) -> None:
        self.send(b"<title>Fine</title><main><h1>Fine</h1><p>A page that is as it should be.</p></main>")

    def answer_missing(self) -> None:
        self.send(b"<h1>nothing here</h1>", status=404)

    def answer_binary(self) -> None:
        self.send(bytes(range(256)) * 40, "application/octet-stream")

    def answer_picture(self) -> None:
        self.send(b"\x89PNG\r\n\x1a\n" + bytes(200), "image/png")

    def answer_picture_called_html(self) -> None:
        self.send(b"\x89PNG\r\n\x1a\n" + bytes(5_000), "text/html")

    def answer_empty(self) -> None:
        self.send(b"")

    def answer_busy(self) -> None:
        self.send_response(429)
        self.send_header("Retry-After", "17")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer_broken(self) -> None:
        self.send(b"<h1>oops</h1>", status=503)

    def answer_slow(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not self.stop.wait(0.1):
            self.wfile.write(b"x")
            self.wfile.flush()

    def answer_silent(self) -> None:
        self.stop.wait(60)
        self.close_connection = True

    def answer_endless(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not self.stop.is_set():
            self.wfile.write(b"10000\r\n" + b"y" * 0x10000 + b"\r\n")

    def answer_huge(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(200 * 1024 * 1024))
        self.end_headers()
        for _ in range(200):
            self.wfile.write(b"z" * 1024 * 1024)

    def answer_loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/loop")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer_inward(self) -> None:
        self.send_response(302)
        self.send_header("Location", "http://169.254.169.254/latest/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    stop = threading.Event()
    handler = type("Handler", (Hostile,), {"stop": stop})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    stop.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def app(tmp_path: Path, site: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    monkeypatch.delenv("BRAVE_API_KEY", raising=False)
    made = App(Config({"data": tmp_path, "call_seconds": "5"}))
    allowances.allow(made.switchboard, LOCAL, site)
    yield made
    made.shut()


def ask(app: App, *calls: tuple[str, dict[str, Any]]) -> list[tuple[str, bool]]:
    """The texts of the calls, one after the other through one engine."""

    async def work() -> list[tuple[str, bool]]:
        client = MemoryClient(app.engine(), caller=Caller())
        try:
            said = []
            for tool, arguments in calls:
                answer = await client.request("tools/call", {"name": tool, "arguments": arguments})
                said.append((answer["content"][0]["text"], bool(answer.get("isError"))))
            return said
        finally:
            await app.close()

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/nowhere", ["404"]),
        ("/binary", ["application/octet-stream"]),
        ("/picture", ["image/png"]),
        ("/picture-called-html", ["PNG"]),
        ("/empty", ["empty"]),
        ("/broken", ["503"]),
        ("/slow", ["within 5 s"]),
        ("/silent", ["within 5 s"]),
        ("/endless", ["10"]),
        ("/huge", ["10"]),
        ("/loop", ["redirect"]),
        ("/inward", ["redirect"]),
    ],
)
def test_a_bad_page_is_refused_in_words_and_the_next_one_is_read(app: App, site: str, path: str, names: list[str]) -> None:
    (bad, failed), (good, good_failed) = ask(app, ("web_fetch", {"url": site + path}), ("web_fetch", {"url": site + "/fine"}))
    assert failed
    first = bad.splitlines()[0]
    assert all(name.lower() in first.lower() for name in names), bad
    assert "Traceback" not in bad
    assert len(first) > 30
    assert not good_failed
    assert "A page that is as it should be." in good


def test_a_site_that_says_when_to_come_back_is_left_alone_until_then(app: App, site: str) -> None:
    (busy, _), (fine, failed) = ask(app, ("web_fetch", {"url": site + "/busy"}), ("web_fetch", {"url": site + "/fine"}))
    assert "try again in 17 s (status 429)" in busy.splitlines()[0]
    assert failed
    assert "127.0.0.1 asked to be left alone for another 17 s (Retry-After): try again then." in fine


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("ftp://example.com/x", ["http"]),
        ("file:///etc/passwd", ["http"]),
        ("javascript:alert(1)", ["http"]),
        ("http://user:secret@example.com/", ["user"]),
        ("http://127.0.0.1:9/", ["webseam allow 127.0.0.1:9"]),
        ("http://localhost:3000/", ["webseam allow localhost:3000"]),
        ("http://[::1]:3000/", ['webseam allow "[::1]:3000"']),
        ("http://2130706433:81/", ["webseam allow 127.0.0.1:81"]),
        ("http://169.254.169.254/latest/meta-data/", ["metadata"]),
        ("", ["url"]),
        ("not a url", ["url"]),
        ("http://" + "a" * 10_000 + ".example/", ["8,192"]),
    ],
)
def test_an_address_that_must_not_be_read_says_why(app: App, url: str, names: list[str]) -> None:
    [(said, failed)] = ask(app, ("web_fetch", {"url": url}))
    assert failed
    assert all(name.lower() in said.splitlines()[0].lower() for name in names), said
    assert "secret" not in said


@pytest.mark.parametrize(
    ("tool", "arguments", "names"),
    [
        ("web_search", {}, ["query"]),
        ("web_search", {"query": ""}, ["query"]),
        ("web_search", {"query": "   "}, ["query"]),
        ("web_search", {"query": 7}, ["query"]),
        ("web_search", {"query": "x" * 10_000}, ["10,000"]),
        ("web_search", {"query": "x", "count": 0}, ["count", "1", "10"]),
        ("web_search", {"query": "x", "count": 11}, ["count", "10"]),
        ("web_search", {"query": "x", "count": True}, ["count"]),
        ("web_search", {"query": "x", "colour": "red"}, ["colour"]),
        ("web_search", {"query": "x", "freshness": "week"}, ["freshness", "mediawiki"]),
        ("web_fetch", {}, ["url"]),
        ("web_fetch", {"url": "http://example.com/", "depth": 3}, ["depth"]),
        ("web_fetch", {"url": "http://example.com/", "max_chars": 60_000}, ["max_chars", "50,000"]),
        ("web_fetch", {"url": "http://example.com/", "start": -1}, ["start"]),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(app: App, tool: str, arguments: dict[str, Any], names: list[str]) -> None:
    [(said, failed)] = ask(app, (tool, arguments))
    assert failed
    assert all(name.lower() in said.splitlines()[0].lower() for name in names), said


def test_an_unknown_tool_is_a_protocol_error(app: App) -> None:
    with pytest.raises(ProtocolError, match="web_fly") as caught:
        ask(app, ("web_fly", {}))
    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("case", "names"),
    [("rejected_key", ["rejected the key", "webseam set brave api_key", "BRAVE_API_KEY"]), ("error_in_200", ["Brave"])],
)
def test_a_vendor_that_refuses_is_named_with_the_setting(app: App, case: str, names: list[str]) -> None:
    with LoopbackVendor("brave", case=case) as vendor:
        allowances.allow(app.switchboard, LOCAL, vendor.url, "engine:brave")
        engines.use(app.switchboard, LOCAL, "search", "brave")
        engines.set_field(app.switchboard, LOCAL, "brave", "base_url", vendor.url)
        engines.set_field(app.switchboard, LOCAL, "brave", "api_key", vendor.key)
        bad, good = ask(app, ("web_search", {"query": "tides"}), ("web_search", {"query": ""}))
        assert bad[1]
        assert all(name in bad[0].splitlines()[0] for name in names), bad[0]
        assert vendor.key not in bad[0]
        assert good[1]
        vendor.case = "success"
        [(said, failed)] = ask(app, ("web_search", {"query": "tides"}))
        assert not failed
        assert json.loads(said)["provider"] == "brave"


def test_a_missing_key_names_the_command_and_the_variable(app: App) -> None:
    engines.use(app.switchboard, LOCAL, "search", "brave")
    [(said, failed)] = ask(app, ("web_search", {"query": "tides"}))
    assert failed
    assert "`webseam set brave api_key`" in said.splitlines()[0]
    assert "BRAVE_API_KEY" in said.splitlines()[0]


def test_an_empty_index_says_how_to_fill_it(app: App) -> None:
    engines.use(app.switchboard, LOCAL, "search", "index")
    [(said, failed)] = ask(app, ("web_search", {"query": "tides"}))
    assert failed
    assert "webseam index add" in said.splitlines()[0]
