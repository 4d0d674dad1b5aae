"""`webseam fetch` of real pages: their text comes out, and three windows of one page are one request."""

from __future__ import annotations

import asyncio
import json
import re
import tarfile
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from webseam.actions import allowances
from webseam.app import App
from webseam.call import LOCAL, Caller
from webseam.cli import main
from webseam.config import Config
from webseam.transports.memory import MemoryClient

PAGES = 20


class Site(NamedTuple):
    """Real pages on loopback: paths, gold text by path, and the paths that were asked for."""

    url: str
    gold: dict[str, str]
    requests: list[str]


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


@pytest.fixture(scope="module")
def site(shared: Path) -> Iterator[Site]:
    pages: dict[str, bytes] = {}
    gold: dict[str, str] = {}
    with tarfile.open(shared / "pages" / "wcxb-dev.tar.xz") as archive:
        for member in archive:
            name = Path(member.name)
            wanted = f"/{name.stem}"
            if name.suffix == ".html" and len(pages) < 2 * PAGES:
                file = archive.extractfile(member)
                assert file is not None
                pages[wanted] = file.read()
            elif name.suffix == ".json" and wanted in pages:
                file = archive.extractfile(member)
                assert file is not None
                text = json.load(file)["ground_truth"]["main_content"]
                if len(words(text)) > 50:  # a few pages of the set have no main content at all
                    gold[wanted] = text
            if len(gold) == PAGES:
                break
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            body = pages[self.path]
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Site(f"http://127.0.0.1:{server.server_port}", gold, requests)
    server.shutdown()
    server.server_close()


def test_twenty_real_pages_come_out_with_the_words_of_their_gold_text(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", str(tmp_path)]
    assert main(["allow", site.url, *data]) == 0
    capsys.readouterr()
    found: dict[str, float] = {}
    for path, gold in site.gold.items():
        assert main(["fetch", site.url + path, "--max-chars", "50000", *data]) == 0
        said = words(capsys.readouterr().out)
        wanted = words(gold)
        found[path] = sum((wanted & said).values()) / max(1, wanted.total())
    assert len(found) == PAGES
    # Recall of the gold words, page by page; precision is the business of the extractor's own benchmark.
    assert min(found.values()) > 0.4, found
    assert sum(found.values()) / PAGES > 0.9, found


def test_three_windows_of_one_page_are_one_request(site: Site, tmp_path: Path) -> None:
    path = max(site.gold, key=lambda one: len(site.gold[one]))
    app = App(Config({"data": tmp_path}))
    allowances.allow(app.switchboard, LOCAL, site.url)
    site.requests.clear()

    async def read() -> list[str]:
        client = MemoryClient(app.engine(), caller=Caller())
        windows, start = [], 0
        try:
            for _ in range(3):
                arguments = {"url": site.url + path, "start": start, "max_chars": 1_500}
                answer = await client.request("tools/call", {"name": "web_fetch", "arguments": arguments})
                text = answer["content"][0]["text"]
                windows.append(text)
                start = json.loads(text.splitlines()[0])["next_start"]
        finally:
            await app.close()
            app.shut()
        return windows

    windows = asyncio.run(read())
    assert len(set(windows)) == 3
    assert site.requests == ["/robots.txt", path]
