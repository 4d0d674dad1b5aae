"""What is written in one turn of the event loop goes out in one piece for each connection."""

from __future__ import annotations

import asyncio
import http.client
import socket
import struct
import sys
from contextvars import ContextVar
from typing import Any

import pytest
import uvicorn
import uvicorn.protocols.http.httptools_impl as httptools_impl
from tests.transports.conftest import timeless
from tests.transports.wire import PING, PONG, post, served, told
from uvicorn.server import ServerState

from webseam.config import LIMITS
from webseam.transports.gathering import (
    SPARE_DESCRIPTORS,
    SWEEP_SECONDS,
    WAITING_BYTES,
    GatheringProtocol,
    GatheringTransport,
    Turn,
    gathering_protocol,
    most_connections,
)


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

    def is_closing(self) -> bool:
        return self.closed

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


# ------------------------------------------------------------------------------------------------ what is lost


class Lost(Written):
    """A transport whose connection is lost: some say so when they are written to."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, data: bytes) -> None:
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError("closed"), ConnectionResetError("reset"), ValueError("whatever it is")])
def test_a_connection_that_is_lost_in_the_turn_of_its_answer_keeps_nothing_from_the_others(error: Exception) -> None:
    async def main() -> None:
        unheard: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context["exception"]))
        turn, sound = Turn(), Written()
        broken, behind = gathered(Lost(error), turn), gathered(sound, turn)
        for number in (b"1", b"2"):
            broken.write(b"lost")
            behind.write(number)
            await asyncio.sleep(0)
        assert sound.writes == [b"1", b"2"]
        assert unheard == ([error, error] if isinstance(error, ValueError) else [])

    asyncio.run(main())


def test_what_was_written_to_a_connection_that_closes_is_let_go_of() -> None:
    async def main() -> None:
        socket = Written()
        transport = gathered(socket, Turn())
        transport.write(b"late")
        socket.closed = True
        await asyncio.sleep(0)
        transport.close()
        assert socket.writes == []

    asyncio.run(main())


@pytest.mark.skipif(sys.platform == "win32", reason="how a socket is told to reset differs there")
def test_a_client_that_resets_its_connection_keeps_no_answer_from_another() -> None:
    with served() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as honest:
        for number in range(20):
            leaving = socket.create_connection(("127.0.0.1", port), timeout=30)
            leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            leaving.sendall(post(port, 1) * 50)
            honest.sendall(post(port, number))
            leaving.close()  # with a reset
            data = b""
            while not data.endswith(PONG % number):
                piece = honest.recv(65536)
                assert piece
                data += piece


# ------------------------------------------------------------------------------------------------ heads


START = b"POST /mcp HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        [START + b"A: ", *[b"x" * 8192] * 8, b"x" * 8192 + b"\r\n\r\n"],
        [b"GET /", *[b"x" * 8192] * 8, b"x" * 8192 + b" HTTP/1.1\r\n\r\n"],
        [START, *[b"a:b\r\n" * 1000] * 13, b"a:b\r\n" * 1000 + b"\r\n"],
        [START + b"A: " + b"x" * 70_000, b"\r\n\r\n"],
    ],
    ids=["one header", "the path", "many headers", "at once"],
)
def test_a_head_without_end_is_refused_with_431(pieces: list[bytes]) -> None:
    with served() as port:
        data = told(port, *pieces)
        assert data.startswith(b"HTTP/1.1 431 ")
        assert b"The headers are too large" in data
        assert told(port, post(port, 1, b"Connection: close")).endswith(PONG % 1)


def test_too_many_headers_are_refused_with_431_before_they_are_joined() -> None:
    with served() as port:
        data = told(port, START + b"a:b\r\n" * 5_000 + b"Content-Length: 0\r\n\r\n")
        assert data.startswith(b"HTTP/1.1 431 ")


def test_a_head_may_come_in_pieces_and_behind_a_large_body() -> None:
    with served() as port:
        large = b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"x":"%b"}}}' % (b"x" * 300_000)
        first = START.replace(b"x\r\n", b"127.0.0.1:%d\r\n" % port) + b"Content-Type: application/json\r\n"
        message = first + b"Content-Length: %d\r\n\r\n" % len(large) + large
        last = post(port, 2, b"X-Long: " + b"y" * 50_000, b"Connection: close")
        data = told(port, message + post(port, 1)[:20], post(port, 1)[20:] + last[:30], last[30:20_000], last[20_000:])
    assert [part.rpartition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 200 OK\r\n")[1:]] == [
        PONG % number for number in (9, 1, 2)
    ]


def test_what_is_sent_behind_a_body_is_no_header() -> None:
    with served() as port:
        chunk = b"%x\r\n%b\r\n" % (len(PING % 3), PING % 3)
        head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nConnection: close\r\n" % port
        data = told(port, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\nHost: evil\r\n\r\n")
    assert data.endswith(PONG % 3)


@pytest.mark.parametrize("offer", ["h2c", "websocket"])
@pytest.mark.parametrize("split", [False, True])
def test_an_offer_of_another_protocol_is_ignored_and_the_body_is_read(offer: str, split: bool) -> None:
    with served() as port:
        fields = [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: " + offer.encode(), b"HTTP2-Settings: AAMAAABkAAQAAP__"]
        messages = [post(port, 1, *fields), post(port, 2, *fields), post(port, 3, b"Connection: close")]
        pieces = b"".join(messages)
        cut = pieces.index(b"\r\n\r\n") + 4
        data = told(port, *([pieces[:cut], pieces[cut:]] if split else [pieces]))
    assert [part.rpartition(b"\r\n\r\n")[2] for part in data.split(b"HTTP/1.1 200 OK\r\n")[1:]] == [
        PONG % number for number in (1, 2, 3)
    ]


def test_what_asks_for_a_tunnel_is_refused() -> None:
    with served() as port:
        assert told(port, b"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n").startswith(b"HTTP/1.1 400 ")
        data = told(port, b"CONNECT /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\nGET / HTTP/1.1\r\n" % port)
        assert data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 405 "))


def test_a_variable_that_one_request_sets_is_not_there_for_the_next() -> None:
    who: ContextVar[str] = ContextVar("who", default="nobody")
    found: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        found.append(who.get())
        who.set(scope["path"])
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with served(app) as port:
        message = b"GET /%b HTTP/1.1\r\nHost: x\r\n%b\r\n"
        told(port, message % (b"alice", b"") + message % (b"bob", b"Connection: close\r\n"))
    assert found == ["nobody", "nobody"]


# ------------------------------------------------------------------------------------------------ connections by hand


class Wire(Written):
    """The other end of a connection by hand. `unread` is what its client leaves unread."""

    def __init__(self) -> None:
        super().__init__()
        self.unread = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def get_extra_info(self, name: str) -> Any:
        return None

    def abort(self) -> None:
        self.aborted = self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def connected(own: type[GatheringProtocol], seconds: float = 1) -> tuple[GatheringProtocol, Any]:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(seconds)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False)
    protocol = own(config, ServerState(), {}, asyncio.get_running_loop())
    wire: Any = Wire()
    protocol.timeout_keep_alive = 75
    protocol.connection_made(wire)
    return protocol, wire


GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_connection_on_which_nothing_is_asked_is_closed() -> None:
    async def main() -> None:
        protocol, wire = connected(gathering_protocol())
        protocol.data_received(GET)
        await asyncio.sleep(75)
        assert not wire.closed
        await asyncio.sleep(1 + 2 * SWEEP_SECONDS)
        assert wire.closed
        protocol.connection_lost(None)

    timeless(main())


@pytest.mark.parametrize("asked", [b"", b"POST /mcp HT", GET + b"GET / HT"], ids=["nothing", "half a head", "half of the next"])
def test_a_head_that_does_not_come_is_not_waited_for(asked: bytes) -> None:
    async def main() -> None:
        protocol, wire = connected(gathering_protocol())
        if asked:
            protocol.data_received(asked)
        await asyncio.sleep(LIMITS.head_seconds - SWEEP_SECONDS)
        if protocol.in_head:
            protocol.data_received(b"T")  # whoever sends it byte by byte has no more time
        await asyncio.sleep(SWEEP_SECONDS - 1)
        assert not wire.closed
        await asyncio.sleep(1 + SWEEP_SECONDS)
        assert wire.closed
        protocol.connection_lost(None)

    timeless(main())


def test_a_request_that_comes_while_another_is_worked_on_has_its_own_time() -> None:
    async def main() -> None:
        protocol, wire = connected(gathering_protocol(), seconds=100)
        protocol.data_received(GET + GET[:5])
        await asyncio.sleep(100 + LIMITS.head_seconds - 1)
        protocol.data_received(GET[5:])
        await asyncio.sleep(99)
        assert not wire.closed
        await asyncio.sleep(2)
        assert b"".join(wire.writes).count(b"HTTP/1.1 204") == 2
        protocol.connection_lost(None)

    timeless(main())


def test_a_client_that_reads_nothing_is_given_up_and_a_slow_one_is_not() -> None:
    async def main() -> None:
        own = gathering_protocol()
        (stuck, stuck_wire), (slow, slow_wire), (closed, closed_wire) = (connected(own) for _ in range(3))
        for protocol in (stuck, slow, closed):
            protocol.data_received(GET)
        for protocol, wire in ((stuck, stuck_wire), (slow, slow_wire)):
            wire.unread = 100_000
            protocol.pause_writing()
        closed_wire.unread = 10
        closed.transport.close()
        for _ in range(30):
            slow_wire.unread -= 1_000
            await asyncio.sleep(LIMITS.write_seconds / 20)
        assert (stuck_wire.aborted, slow_wire.aborted, closed_wire.aborted) == (True, False, True)
        slow_wire.unread = 0
        slow.resume_writing()
        for protocol in (stuck, slow, closed):
            protocol.connection_lost(None)

    timeless(main())


def test_what_is_kept_for_clients_that_do_not_read_is_bounded_and_the_oldest_goes() -> None:
    async def main() -> None:
        own = gathering_protocol()
        size = LIMITS.unwritten_bytes // 3
        made = [connected(own) for _ in range(5)]
        for protocol, wire in made[:4]:
            wire.unread = size
            protocol.pause_writing()
        assert [wire.aborted for _, wire in made] == [True, False, False, False, False]
        made[1][0].resume_writing()  # one of them reads
        made[4][1].unread = size
        made[4][0].pause_writing()
        assert [wire.aborted for _, wire in made] == [True, False, False, False, False]
        for protocol, _ in made:
            protocol.connection_lost(ConnectionResetError())
        alone, wire = connected(own)
        wire.unread = LIMITS.unwritten_bytes * 2
        alone.pause_writing()
        assert not wire.aborted
        alone.connection_lost(None)

    timeless(main())


def test_a_server_takes_so_many_connections_and_tells_the_next() -> None:
    async def main() -> None:
        own = gathering_protocol()
        own.idle.most = 2
        made = [connected(own) for _ in range(2)]
        refused, wire = connected(own)
        assert wire.writes[0].startswith(b"HTTP/1.1 503 ")
        assert wire.closed
        refused.connection_lost(None)
        made[0][0].connection_lost(None)
        again, wire = connected(own)
        assert not wire.closed
        for protocol in (made[1][0], again):
            protocol.connection_lost(None)

    timeless(main())


def test_connections_never_take_the_last_descriptors() -> None:
    resource = pytest.importorskip("resource", reason="there is no bound on Windows")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        assert most_connections() == 256 - SPARE_DESCRIPTORS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert 0 < most_connections() <= LIMITS.connections_served
