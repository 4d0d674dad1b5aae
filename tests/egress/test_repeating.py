"""What is sent twice: nothing that the other side may have seen, unless a kept connection turned out dead."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


async def against(serve: Serve, work: Callable[[Egress, str], Awaitable[None]]) -> int:
    """Run `work` against a server that calls `serve(reader, writer, requests so far)` for each request; how many came."""
    seen = 0

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                seen += 1
                await serve(reader, writer, seen)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    egress = Egress(allowances=lambda account: [Allowance(account, "127.0.0.1", port, "reading")])
    try:
        await work(egress, f"http://127.0.0.1:{port}/")
    finally:
        await egress.close()
        server.close()
        await server.wait_closed()
    return seen


def test_a_new_connection_that_is_closed_without_a_reply_is_asked_once() -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _seen: int) -> None:
        writer.close()

    async def work(egress: Egress, url: str) -> None:
        with pytest.raises(DoorError, match="without a reply") as caught:
            await egress.door(Call(), "reading").send(HttpRequest(url))
        assert not caught.value.unsent

    assert asyncio.run(against(serve, work)) == 1


def test_a_kept_connection_that_turns_out_dead_is_replaced_by_a_new_one() -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seen: int) -> None:
        if seen == 2:
            writer.close()  # the second request comes over the kept connection
        else:
            writer.write(OK)
            await writer.drain()

    async def work(egress: Egress, url: str) -> None:
        for _ in range(2):
            reply = await egress.door(Call(), "reading").send(HttpRequest(url))
            assert reply.body == b"ok"

    assert asyncio.run(against(serve, work)) == 3


def test_a_connection_that_was_never_made_says_so() -> None:
    with socket.socket() as bound:  # a port that nobody listens on
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]

        async def work() -> None:
            egress = Egress(allowances=lambda account: [Allowance(account, "127.0.0.1", port, "reading")])
            with pytest.raises(DoorError) as caught:
                await egress.door(Call(), "reading").send(HttpRequest(f"http://127.0.0.1:{port}/", secrets=("s3cret",)))
            await egress.close()
            assert caught.value.unsent

        asyncio.run(work())
