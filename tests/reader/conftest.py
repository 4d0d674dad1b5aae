"""A site on loopback in a thread, and a reader that may ask it through the real door."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from webseam.call import LOCAL, Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.reader.builtin import BuiltinReader
from webseam.seam.contract import Page, RobotsPolicy
from webseam.workers.pool import WorkerPool


@dataclass
class Answer:
    """What the site says at one path."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """A real HTTP server; `answers` by path, `asked` are the requests that came: path and headers, lower case."""

    url: str
    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def says(self, path: str, body: bytes | str = b"", status: int = 200, **headers: str) -> str:
        """Have `path` answered so (`content_type=` becomes Content-Type); returns its URL."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = Answer(body.encode() if isinstance(body, str) else body, status, named)
        return self.url + path


@pytest.fixture
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer = found.answers.get(self.path.partition("?")[0], Answer(status=404))
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.status not in (204, 304):
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if answer.status not in (204, 304):
                self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    found = Site(f"http://127.0.0.1:{port}", port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def fetch(site: Site) -> Callable[..., tuple[Page | BaseException, Call]]:
    """`fetch(url)` -> the page, or what was raised, and the Call with its steps. robots.txt is asked only when that is said."""

    def run(
        url: str, *, call: Call | None = None, pool: WorkerPool | None = None, robots: RobotsPolicy = "ignore"
    ) -> tuple[Page | BaseException, Call]:
        call = call or Call()
        allowance = Allowance(LOCAL, "127.0.0.1", site.port, "reading")
        egress = Egress(allowances=lambda _: [allowance])

        async def work() -> Page | BaseException:
            async with pool or WorkerPool(processes=1) as workers:
                try:
                    return await BuiltinReader(egress.door(call, "reading"), workers, call, robots).fetch(url)
                except Exception as error:  # noqa: BLE001 - the test looks at it
                    return error
                finally:
                    await egress.close()

        return asyncio.run(work()), call

    return run
