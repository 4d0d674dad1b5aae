"""A site of real pages, as fast as a site in Python can be: `pages_site.py PAGES PORTS` serves `/0`, `/1`, ... on each port.

The pages are `sample(PAGES)`; there is no robots.txt. The ports are the system's choice, and the first line of the output.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, only this folder is there

from training.scoring import WCXB, GoldPage, pages

STEP = 10


def sample(count: int) -> list[GoldPage]:
    """The pages that speed is measured on: every tenth of WCXB's development pages, the first `count` of them."""
    return list(itertools.islice(pages(WCXB), 0, count * STEP, STEP))


class Site(asyncio.Protocol):
    """One connection."""

    def __init__(self, answers: dict[bytes, bytes]) -> None:
        self.answers = answers
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # uvloop's is none by inheritance

    def data_received(self, data: bytes) -> None:
        *requests, self.data = (self.data + data).split(b"\r\n\r\n")
        for request in requests:
            path = request.split(b" ", 2)[1].partition(b"?")[0]
            self.transport.write(self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))


async def main(count: int, ports: int) -> None:
    answers = {
        b"/%d" % number: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page.html)
        + page.html
        for number, page in enumerate(sample(count))
    }
    loop = asyncio.get_running_loop()
    servers = [await loop.create_server(lambda: Site(answers), "127.0.0.1", 0) for _ in range(ports)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    factory = None
    if importlib.util.find_spec("uvloop"):
        import uvloop

        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main(*map(int, sys.argv[1:])))
