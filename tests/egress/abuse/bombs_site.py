"""A site in a process of its own that serves nothing but harm, and one normal page: `python -m tests.egress.abuse.bombs_site`.

It prints its port, and serves until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys

from tests.egress.abuse import bodies
from tests.egress.abuse.bodies import HTML, Handler, headed, without_end
from tests.egress.conftest import Site

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_SENTENCE = b"<p>A normal page has a few paragraphs of words, and none of them wants anything from you.</p>"


_UNPACKED = 120 * 1024 * 1024  # so that one alone, unpacked whole, is more than the reader may grow by


def _coded(coding: str) -> bytes:
    return headed(bodies.bomb(coding, size=_UNPACKED), HTML, f"Content-Encoding: {coding}")


def pages() -> dict[str, bytes | Handler]:
    """What there is, by path."""
    archive = bodies.zip_bomb()
    return {
        "/page": headed(b"<title>A normal page</title>" + _SENTENCE * 40, HTML),
        "/gzip": _coded("gzip"),
        "/br": _coded("br"),
        "/zstd": _coded("zstd"),
        "/deflate": _coded("deflate"),
        "/zip": headed(archive, "Content-Type: application/zip"),
        "/docx": headed(archive, f"Content-Type: {_WORD}"),
        "/docx-in-gzip": headed(bodies.packed("gzip", archive), f"Content-Type: {_WORD}", "Content-Encoding: gzip"),
        "/loris": bodies.drop_by_drop(bodies.head(HTML), b"<p>x"),
        "/endless": without_end(bodies.head(HTML, "Connection: close"), b"<p>and so on "),
    }


async def main() -> None:
    """Serve until standard input ends."""
    found = pages()

    async def answer(request, writer) -> None:  # type: ignore[no-untyped-def]  # as `tests.egress.conftest.Handler`
        page = found[request.target]
        if isinstance(page, bytes):
            writer.write(page)
            await writer.drain()
        else:
            await page(request, writer)

    site = Site(answer)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
