"""What is written in one turn of the event loop goes out in one piece for each connection."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn.protocols.http.httptools_impl as httptools_impl
from tests.transports.conftest import timeless

from webseam.protocol import Engine
from webseam.transports.gathering import (
    SWEEP_SECONDS,
    WAITING_BYTES,
    GatheringTransport,
    Idle,
    Turn,
    answer,
    gathering_protocol,
)
from webseam.transports.http import Server, listen, local_names, mcp_app


class Written:
    """What a transport is to its protocol, as far as it matters here: it notes each write."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.writes.append(data)

    def close(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


def gathered(written: Written, turn: Turn) -> GatheringTransport:
    transport: Any = written
    return GatheringTransport(transport, turn)


def test_what_one_turn_writes_is_one_write_for_each_connection() -> None:
    async def main() -> None:
        turn, first, second = Turn(), Written(), Written()
        one, other = gathered(first, turn), gathered(second, turn)
        one.write(b"head ")
        other.write(b"other")
        one.write(b"body")
        assert (first.writes, second.writes) == ([], [])
        await asyncio.sleep(0)
        assert (first.writes, second.writes) == ([b"head body"], [b"other"])
        one.write(b"next")
        await asyncio.sleep(0)
        assert first.writes == [b"head body", b"next"]

    asyncio.run(main())


def test_much_is_written_at_once_so_that_a_slow_reader_is_noticed() -> None:
    async def main() -> None:
        socket = Written()
        transport = gathered(socket, Turn())
        transport.write(b"a" * WAITING_BYTES)
        assert socket.writes == []
        transport.write(b"b")
        assert socket.writes == [b"a" * WAITING_BYTES + b"b"]
        transport.write(b"c")
        await asyncio.sleep(0)
        assert socket.writes[1:] == [b"c"]

    asyncio.run(main())


def test_closing_writes_what_is_left_and_nothing_is_written_after() -> None:
    async def main() -> None:
        socket = Written()
        transport = gathered(socket, Turn())
        transport.write(b"last words")
        transport.close()
        assert (socket.writes, socket.closed) == ([b"last words"], True)
        await asyncio.sleep(0)
        assert socket.writes == [b"last words"]

    asyncio.run(main())


def test_everything_else_is_the_transports_own() -> None:
    assert gathered(Written(), Turn()).get_extra_info("peername") == "the peername"


def test_uvicorn_gives_its_transport_where_we_put_ours_in_its_place() -> None:
    assert "connection_made" in vars(httptools_impl.HttpToolsProtocol)
    assert gathering_protocol().turn is not gathering_protocol().turn


@contextlib.contextmanager
def served() -> Iterator[int]:
    """The port of a server with nothing but the engine's own methods."""
    listener = listen("127.0.0.1", 0)
    hosts, origins = local_names(listener)
    ready = threading.Event()
    server = Server(mcp_app(Engine(), allowed_hosts=hosts, allowed_origins=origins), listener)
    thread = threading.Thread(target=server.run, args=(lambda _: ready.set(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield server.port
    finally:
        server.stop()
        thread.join(30)


PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":%d,"result":{}}'


def post(port: int, number: int, *fields: bytes) -> bytes:
    body = PING % number
    head = [b"POST /mcp HTTP/1.1", b"Host: 127.0.0.1:%d" % port, b"Content-Type: application/json", *fields]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", body])


def test_the_short_way_and_the_long_way_give_the_same_answer() -> None:
    with served() as port:
        answers = []
        for fields in ({}, {"connection": "close"}):  # only what keeps its connection takes the short way
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("POST", "/mcp", PING % 7, {"content-type": "application/json", **fields})
            reply = connection.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            assert names.pop("date")
            assert names.pop("connection", "close") == "close"
            answers.append((reply.status, names, reply.read()))
            connection.close()
        assert answers[0] == answers[1]
        assert answers[0] == (200, {"content-type": "application/json", "content-length": "36"}, PONG % 7)


def test_requests_that_come_together_are_answered_in_order_and_in_full() -> None:
    with served() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"".join(post(port, number) for number in range(5)) + post(port, 5, b"Connection: close"))
        data = b""
        while piece := connection.recv(65536):
            data += piece
    assert [part.rpartition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 200 OK\r\n")[1:]] == [
        PONG % number for number in range(6)
    ]


def test_the_short_way_is_not_taken_with_another_server() -> None:
    async def send(_event: Any) -> None:
        raise AssertionError("nothing is sent")

    assert answer(send, 200, b"{}") is False


class Connection:
    """As much of a protocol as the sweeper knows."""

    timeout_keep_alive = 75

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.idle_since: float | None = None
        self.closed_at: float | None = None

    def timeout_keep_alive_handler(self) -> None:
        self.closed_at = self.loop.time()


def test_a_connection_on_which_nothing_is_asked_is_closed_and_a_busy_one_is_not() -> None:
    async def main() -> None:
        loop, idle = asyncio.get_running_loop(), Idle()
        connections: Any = [Connection(loop), Connection(loop)]
        for connection in connections:
            idle.add(connection)
        began = loop.time()
        connections[0].idle_since = began
        await asyncio.sleep(75 - SWEEP_SECONDS)
        assert connections[0].closed_at is None
        await asyncio.sleep(3 * SWEEP_SECONDS)
        closed_at: Any = connections[0].closed_at
        assert 75 < closed_at - began <= 75 + 2 * SWEEP_SECONDS
        assert connections[1].closed_at is None

    timeless(main())
