"""A whole Webseam on loopback: a site that serves what it is given, and a client of the server that may read it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

from webseam.actions import allowances
from webseam.app import App
from webseam.call import LOCAL, Caller
from webseam.config import Config
from webseam.transports.memory import MemoryClient

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

NORMAL = "A page that is as it should be."
TRIES = 3


class Served(NamedTuple):
    """What a site says at one path: `piece`, so many `times`. Without `sized` its end is the end of the connection."""

    piece: bytes
    content_type: str = "text/html"
    times: int = 1
    sized: bool = True
    coding: str = ""


class Site:
    """A site in threads of this process. `served` is by path; every path that begins with /normal is a normal page."""

    def __init__(self) -> None:
        self.served: dict[str, Served] = {}
        self.asked: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                normal = Served(f"<title>Normal</title><main><p>{NORMAL}</p></main>".encode())
                found = normal if self.path.startswith("/normal") else site.served.get(self.path)
                if found is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                for name, value in (("Content-Type", found.content_type), ("Content-Encoding", found.coding)):
                    if value:
                        self.send_header(name, value)
                if found.sized:
                    self.send_header("Content-Length", str(len(found.piece) * found.times))
                try:
                    self.end_headers()
                    for _ in range(found.times):
                        self.wfile.write(found.piece)
                except OSError:  # the other side had enough
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        return Handler


class Answer(NamedTuple):
    """What a tool said."""

    text: str
    is_error: bool

    @property
    def first_line(self) -> str:
        """The line that says what went wrong; of a page, its head."""
        return self.text.partition("\n")[0]


class Server:
    """The real thing, all of it but the transport: tools, switchboard, door, workers. For one event loop."""

    def __init__(self, data: Path, site: Site) -> None:
        self.app = App(Config({"data": data}))
        self._site = site
        self._client = MemoryClient(self.app.engine(), caller=Caller())
        self._normal = 0
        allowances.allow(self.app.switchboard, LOCAL, site.url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of everything."""
        await self.app.close()
        self.app.shut()

    async def fetch(self, path: str) -> Answer:
        """What `web_fetch` answers for a path of the site."""
        arguments = {"url": self._site.url + path}
        answer = await self._client.request("tools/call", {"name": "web_fetch", "arguments": arguments})
        [block] = answer["content"]
        return Answer(block["text"], bool(answer.get("isError")))

    async def answers_a_normal_page(self) -> bool:
        """Whether it reads one that it has not read before; a machine that is busy may be late for the first."""
        for _ in range(TRIES):
            self._normal += 1
            path = f"/normal-{self._normal}"
            answer = await self.fetch(path)
            if not answer.is_error:
                return NORMAL in answer.text and path in self._site.asked
        return False
