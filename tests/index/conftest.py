"""What the tests of the private index share: indexes, documents, and a site on loopback, crawled through the real door."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar

import pytest

from webseam.call import Call
from webseam.documents.document import Document
from webseam.documents.read import read
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.egress.pacing import Rests
from webseam.index.corpus import Corpus, StoredDocument
from webseam.index.sitemap import entries
from webseam.seam.contract import Door

Make = Callable[..., StoredDocument]
Result = TypeVar("Result")


def _document(url: str, body: str = "words", *, title: str = "A page", source: str = "docs") -> StoredDocument:
    return StoredDocument(url=url, source=source, title=title, body=body, fingerprint=body[:50])


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """An index that does not exist yet."""
    return Corpus(tmp_path / "index")


@pytest.fixture
def make() -> Make:
    """Makes a document; its fingerprint is its body."""
    return _document


@pytest.fixture(scope="session")
def _filled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    corpus = Corpus(tmp_path_factory.mktemp("filled") / "index")
    for number in range(3):
        with corpus.writer("index add docs") as writer:
            for page in range(5):
                name = f"{number}{page}"
                body = f"Marsupials number{name} are mammals."
                writer.put(_document(f"https://docs.example.com/{name}", body, title=f"Page {name}"))
    with corpus.writer("index add notes") as writer:
        writer.put(_document("index://notes/a.md", "Nocturnal gliders eat nectar.", title="Gliders", source="notes"))
        writer.remove("https://docs.example.com/00")
    return corpus.directory


@pytest.fixture
def filled(_filled_once: Path, tmp_path: Path) -> Corpus:
    """An index of two sources, 15 documents, in several segments, one of which has deletions."""
    shutil.copytree(_filled_once, tmp_path / "index")
    return Corpus(tmp_path / "index")


@dataclass
class Answer:
    """What the site answers for one address."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class Site:
    """A site on loopback: `answers` by path and query, changed at will; `asked` are the addresses in the order they came.

    `now` is the time by which the door leaves it alone when it asks for that.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.now = 0.0

    def page(self, path: str, text: str = "", *, links: tuple[str, ...] = (), head: str = "", title: str = "") -> None:
        """Put an HTML page there."""
        anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
        text = text or f"This is the page at {path}, which says something of its own about {path.strip('/') or 'home'}."
        html = (
            f"<!doctype html><html><head><title>{title or path}</title>{head}</head><body><main><h1>{title or path}</h1>"
            f"<p>{text}</p><ul>{anchors}</ul></main></body></html>"
        )
        self.answers[path] = Answer(html.encode(), headers={"Content-Type": "text/html; charset=utf-8"})

    def put(self, path: str, body: str | bytes = "", status: int = 200, **headers: str) -> None:
        """Put anything there; `content_type="text/plain"` becomes a header."""
        data = body.encode() if isinstance(body, str) else body
        self.answers[path] = Answer(data, status, {name.replace("_", "-").title(): value for name, value in headers.items()})

    def sitemap(self, path: str, *urls: str, kind: str = "urlset") -> None:
        """Put a sitemap there."""
        entry = "url" if kind == "urlset" else "sitemap"
        entries = "".join(f"<{entry}><loc>{url}</loc></{entry}>" for url in urls)
        namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
        self.put(path, f'<?xml version="1.0"?><{kind} xmlns="{namespace}">{entries}</{kind}>', content_type="application/xml")

    @property
    def pages_asked(self) -> list[str]:
        """The addresses that were asked for, without robots.txt and sitemaps."""
        return [path for path in self.asked if not path.startswith(("/robots.txt", "/sitemap"))]


@pytest.fixture
def site() -> Iterator[Site]:
    """A running site with nothing on it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            made.asked.append(self.path)
            answer = made.answers.get(self.path, Answer(b"<h1>Nothing here</h1>", 404, {"Content-Type": "text/html"}))
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Site(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


Doors = Callable[[], Door]


@pytest.fixture
def through_the_door(site: Site) -> Callable[[Callable[[Doors], Awaitable[Result]]], Result]:
    """Runs a coroutine function with doors that may reach the site, and nothing else that is private."""

    @asynccontextmanager
    async def doors() -> AsyncIterator[Doors]:
        allowance = Allowance("local", "127.0.0.1", site.port, "index")
        egress = Egress(allowances=lambda _account: [allowance])
        egress.rests = Rests(clock=lambda: site.now)
        try:
            yield lambda: egress.door(Call(), "index")
        finally:
            await egress.close()

    def run(work: Callable[[Doors], Awaitable[Result]]) -> Result:
        async def main() -> Result:
            async with doors() as door_for:
                return await work(door_for)

        return asyncio.run(main())

    return run


async def _parse(data: bytes, url: str, content_type: str) -> Document:
    return await asyncio.to_thread(lambda: read(data, url=url, content_type=content_type))


@pytest.fixture
def parse() -> Callable[[bytes, str, str], Awaitable[Document]]:
    """The real reader of documents, in a thread: the tests' pages are no danger."""
    return _parse


async def _parse_sitemap(data: bytes) -> list[tuple[bool, str]]:
    return entries(data)


@pytest.fixture
def parse_sitemap() -> Callable[[bytes], Awaitable[list[tuple[bool, str]]]]:
    """The real reader of sitemaps, here: the tests' sitemaps are no danger."""
    return _parse_sitemap
