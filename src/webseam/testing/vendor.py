"""A vendor on loopback: a real HTTP server that answers with saved replies and remembers what it was asked.

    with LoopbackVendor("brave") as vendor:
        ...  # base_url = vendor.url, api_key = vendor.key
        vendor.case = "rate_limit"
        ...
        assert vendor.requests[0].query["q"] == "cats"

To try things by hand: `python -m webseam.testing.vendor brave --case success --port 9000`.
"""

from __future__ import annotations

import argparse
import socket
import socketserver
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from webseam.testing.saved import Saved, about, saved, vendors

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived. Header names are lower case; `query` holds the last value of each parameter."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


class LoopbackVendor:
    """One vendor on 127.0.0.1. `port` 0 takes a free one. Raises KeyError for a vendor or case of which nothing is saved.

    `case` may be changed at any time. A request with a key that is not `key` is answered as the vendor answers a wrong key,
    whatever the case; one to another path with 404.
    """

    def __init__(self, name: str, *, case: str = "success", port: int = 0, tell: Callable[[str], None] | None = None) -> None:
        self.name = name
        self.requests: list[Received] = []
        self._about = about(name)
        self._tell = tell
        self._closing = threading.Event()
        self.case = case
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name=f"vendor-{name}", daemon=True)

    @property
    def case(self) -> str:
        """The saved reply that answers."""
        return self._case

    @case.setter
    def case(self, case: str) -> None:
        saved(self.name, case)
        self._case = case

    @property
    def key(self) -> str:
        """The one key that is valid here, and nowhere else; "" for a vendor without keys."""
        return self._about.key

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Its address: what the vendor's `base_url` is set to."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> LoopbackVendor:
        """Begin to answer."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop; requests that hang are let go."""
        self._closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def __enter__(self) -> LoopbackVendor:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def answer(self, received: Received) -> Saved:
        """The saved reply for a request, which is remembered."""
        self.requests.append(received)
        case = self.case
        header = self._about.key_header.lower()
        if received.path != self._about.path:
            case = "not_found"
        elif header and received.headers.get(header) != self.key:
            case = self._about.wrong_key if header in received.headers else self._about.without_key
        if self._tell is not None:
            self._tell(f"{received.method} {received.path} {received.query} -> {case}")
        return saved(self.name, case)

    def wait_for_close(self) -> None:
        """Hold a request that hangs."""
        self._closing.wait()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], vendor: LoopbackVendor) -> None:
        self.vendor = vendor
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """As a plain TCP server: HTTPServer looks the host's name up, which takes seconds on some machines."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is what some cases are for; anything else is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer with the case."""
        self._answer()

    def do_POST(self) -> None:
        """Answer with the case."""
        self._answer()

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, _BODY_BYTES))
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        reply = self.server.vendor.answer(Received(self.command, parts.path, query, headers, body))
        self.close_connection = True
        if reply.hang:
            self.server.vendor.wait_for_close()
            return
        if reply.drop:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(reply.size))
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in reply.chunks():
            self.wfile.write(chunk)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Say nothing: `tell` does."""


def main(arguments: list[str] | None = None) -> int:
    """`python -m webseam.testing.vendor NAME`: serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m webseam.testing.vendor", description="A search vendor on loopback.")
    parser.add_argument("name", choices=vendors())
    parser.add_argument("--case", default="success", help="the saved reply to answer with")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    given = parser.parse_args(arguments)
    if given.case not in about(given.name).cases:
        parser.error(f"{given.name} has no case {given.case}: there are {', '.join(about(given.name).cases)}")

    def tell(line: str) -> None:
        print(line, flush=True)

    with LoopbackVendor(given.name, case=given.case, port=given.port, tell=tell) as vendor:
        tell(f"{vendor.name} answers {vendor.case} at {vendor.url}. To ask it, in another terminal:")
        tell(f"  webseam set {vendor.name} base_url {vendor.url}")
        tell(f"  webseam allow 127.0.0.1:{vendor.port} --for engine:{vendor.name}")
        if vendor.key:
            tell(f"  webseam set {vendor.name} api_key        (the key is {vendor.key})")
        tell(f"  webseam use search {vendor.name}")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
