"""A site of one small page, as fast as a site in Python can be: it reads requests without a body and has one answer.

The port is the system's choice, and the first line of the output.
"""

from __future__ import annotations

import asyncio
import importlib.util

PAGE = (
    b"<!doctype html><title>Tides</title><main><h1>Tides</h1>"
    + b"<p>The sea rises and falls twice a day.</p>" * 40
    + b"</main>"
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\n"
    b"Content-Length: %d\r\n\r\n" % len(PAGE)
) + PAGE


class Site(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # uvloop's is none by inheritance

    def data_received(self, data: bytes) -> None:
        *requests, self.data = (self.data + data).split(b"\r\n\r\n")
        self.transport.write(ANSWER * len(requests))


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Site, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    factory = None
    if importlib.util.find_spec("uvloop"):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main())
