"""What is written in one turn of the event loop goes out in one piece for each connection."""

from __future__ import annotations

import asyncio
import http.client
import threading
from typing import Any

import uvicorn.protocols.http.httptools_impl as httptools_impl

from webseam.protocol import Engine
from webseam.transports.gathering import WAITING_BYTES, GatheringTransport, Turn, gathering_protocol
from webseam.transports.http import Server, listen, local_names, mcp_app


class Socket:
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


def gathered(socket: Socket, turn: Turn) -> GatheringTransport:
    transport: Any = socket
    return GatheringTransport(transport, turn)


def test_what_one_turn_writes_is_one_write_for_each_connection() -> None:
    async def main() -> None:
        turn, first, second = Turn(), Socket(), Socket()
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
        socket = Socket()
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
        socket = Socket()
        transport = gathered(socket, Turn())
        transport.write(b"last words")
        transport.close()
        assert (socket.writes, socket.closed) == ([b"last words"], True)
        await asyncio.sleep(0)
        assert socket.writes == [b"last words"]

    asyncio.run(main())


def test_everything_else_is_the_transports_own() -> None:
    assert gathered(Socket(), Turn()).get_extra_info("peername") == "the peername"


def test_uvicorn_gives_its_transport_where_we_put_ours_in_its_place() -> None:
    assert "connection_made" in vars(httptools_impl.HttpToolsProtocol)
    assert gathering_protocol().turn is not gathering_protocol().turn


def test_a_server_answers_through_it() -> None:
    listener = listen("127.0.0.1", 0)
    hosts, origins = local_names(listener)
    ready = threading.Event()
    server = Server(mcp_app(Engine(), allowed_hosts=hosts, allowed_origins=origins), listener)
    thread = threading.Thread(target=server.run, args=(lambda _: ready.set(),))
    thread.start()
    try:
        assert ready.wait(30)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        for _ in range(2):  # the second on the same connection
            connection.request(
                "POST", "/mcp", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', {"content-type": "application/json"}
            )
            reply = connection.getresponse()
            assert (reply.status, reply.read()) == (200, b'{"jsonrpc":"2.0","id":1,"result":{}}')
        connection.close()
    finally:
        server.stop()
        thread.join(30)
