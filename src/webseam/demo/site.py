"""The handbook on loopback: the files beside this module over HTTP, with a sitemap, in a thread."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".txt": "text/plain; charset=utf-8"}


def pages() -> dict[str, bytes]:
    """Path -> bytes of every file of the site."""
    folder = resources.files("webseam.demo") / "site"
    found = {f"/{file.name}": file.read_bytes() for file in folder.iterdir() if file.is_file()}
    found["/"] = found["/index.html"]
    return found


class Handbook:
    """A context manager: the site at `url` while it is open; `requests` are the paths that were asked for."""

    def __init__(self) -> None:
        self.files = pages()
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, name="handbook", daemon=True)

    @property
    def url(self) -> str:
        """The address of the first page."""
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> Handbook:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def sitemap(self) -> bytes:
        """sitemap.xml (sitemaps.org 0.9) of every page."""
        rows = "".join(f"<url><loc>{self.url}{name[1:]}</loc></url>" for name in sorted(self.files) if name.endswith(".html"))
        return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        book = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                book.requests.append(path)
                if path == "/sitemap.xml":
                    status, body, kind = 200, book.sitemap(), "application/xml"
                elif path in book.files:
                    suffix = "." + path.rpartition(".")[2] if "." in path else ".html"
                    status, body, kind = 200, book.files[path], TYPES[suffix]
                else:
                    status, body, kind = 404, b"<h1>There is no such page</h1>", TYPES[".html"]
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
                """Say nothing: `requests` has it."""

        return Handler
