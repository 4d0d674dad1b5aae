"""A call that our own server answers at once, without ASGI, is answered as one with it is."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest
import uvicorn
from tests.transports.conftest import BOTH, Tool, call_of, engine_of, mirrored, modern_call, text, timeless
from tests.transports.test_gathering import Wire
from tests.transports.wire import PING, PONG, everything, post, served, told
from uvicorn.server import ServerState

from webseam.protocol.request import Request
from webseam.transports.asgi import Application, mcp_app
from webseam.transports.gathering import GatheringProtocol, gathering_protocol

HOST = "127.0.0.1:1"


def application(tools: dict[str, Tool] | None = None, faults: list[BaseException] | None = None, **how: Any) -> Application:
    engine = engine_of(tools or {}, [] if faults is None else faults, needs_session=False)
    return mcp_app(engine, allowed_hosts=[HOST], allowed_origins=[], **how)


def connected(app: Application) -> tuple[GatheringProtocol, Wire]:
    config = uvicorn.Config(
        app, ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False, proxy_headers=False
    )
    config.load()
    protocol = gathering_protocol()(config, ServerState(), {}, asyncio.get_running_loop())
    wire: Any = Wire()
    protocol.connection_made(wire)
    assert protocol.path == b"/mcp"  # there is a short way
    return protocol, wire


def message(body: Any, **fields: str) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    repeated = mirrored(body) if isinstance(body, dict) else {}
    headers = {"host": HOST, "content-type": "application/json", "accept": BOTH, **repeated, **fields}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(data)}\r\n\r\n".encode() + data


async def given(protocol: GatheringProtocol, *pieces: bytes) -> None:
    """Give it what arrives, as an event loop does: outside of any task."""
    for piece in pieces:
        asyncio.get_running_loop().call_soon(protocol.data_received, piece)
        for _ in range(5):
            await asyncio.sleep(0)


def answers(wire: Wire) -> list[tuple[int, bytes]]:
    """The status and the body of each."""
    parts = b"".join(wire.writes).split(b"HTTP/1.1 ")[1:]
    return [(int(part[:3]), part.partition(b"\r\n\r\n")[2]) for part in parts]


def results(wire: Wire) -> list[Any]:
    return [json.loads(body).get("result", {}).get("content") for _, body in answers(wire)]


class Deaf:
    """A parser to which nothing may be said."""

    def feed_data(self, _data: bytes) -> None:
        raise AssertionError("what is known is not read again")


# ------------------------------------------------------------------------------------------------ heads


def test_the_same_head_is_read_once_whatever_the_length_of_the_body() -> None:
    async def main() -> None:
        deaf: Any = Deaf()
        protocol, wire = connected(application())
        await given(protocol, message(PING % 1))
        protocol.parser = deaf
        await given(protocol, message(PING % 2), message(PING % 333), message(PING % 4))
        assert answers(wire) == [(200, PONG % number) for number in (1, 2, 333, 4)]

    timeless(main())


@pytest.mark.parametrize(
    "second",
    [
        message(PING % 2, host="evil.example"),
        message(PING % 2, origin="https://evil.example"),
        message(PING % 2, **{"content-type": "text/plain"}),
        message(PING % 2).replace(b"POST /mcp", b"POST /else"),
        message(PING % 2).replace(b"POST /mcp", b"GET /mcp"),
    ],
    ids=["host", "origin", "content type", "path", "method"],
)
def test_another_head_is_looked_at_and_one_that_was_refused_is_refused_again(second: bytes) -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        await given(protocol, message(PING % 1), second, second, message(PING % 3), second)
        found = answers(wire)
        assert [status == 200 for status, _ in found] == [True, False, False, True, False]
        assert found[1] == found[2] == found[4]

    timeless(main())


@pytest.mark.parametrize(
    "strange",
    [
        message(PING % 2)[:-1],  # all but the end
        message(PING % 2) + message(PING % 3),
        message(PING % 2) + message(PING % 3)[:30],
        message(PING % 2).replace(b"Content-Length: 3", b"Content-Length: +3"),
        message(PING % 2).replace(b"Content-Length: 3", b"Content-Length: "),
        message(PING % 2).replace(b"Content-Length: 3", b"Content-Length: 00000000003"),
        message(PING % 2).replace(b"Content-Length: 3", b"Content-Length: x"),
        b"\r\n" + message(PING % 2),
        b"POST",
    ],
)
def test_what_only_begins_like_the_request_before_is_read_as_if_there_had_been_none(strange: bytes) -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        fresh, other = connected(application())
        await given(protocol, message(PING % 1), strange)
        await given(fresh, strange)
        assert answers(wire)[1:] == answers(other)
        assert (wire.closed, protocol.in_head) == (other.closed, fresh.in_head)

    timeless(main())


def test_who_calls_is_asked_each_time() -> None:
    valid = {"Bearer a"}

    def authenticate(headers: Any) -> str | None:
        return "a" if headers.get("authorization") in valid else None

    async def main() -> None:
        protocol, wire = connected(application(authenticate=authenticate))
        mine = message(PING % 1, authorization="Bearer a")
        await given(protocol, mine, mine)
        valid.clear()
        await given(protocol, mine)
        assert [status for status, _ in answers(wire)] == [200, 200, 401]

    timeless(main())


def test_a_provider_sees_the_headers_of_its_own_call() -> None:
    async def main() -> None:
        lengths: list[Any] = []

        def note(call: Request) -> Any:
            assert call.headers is not None
            lengths.append(call.headers["content-length"])
            return text("noted")

        protocol, wire = connected(application({"note": note}))
        calls = [message(modern_call("note", message_id)) for message_id in (1, 22, "three")]
        await given(protocol, *calls)
        assert lengths == [str(len(call.partition(b"\r\n\r\n")[2])) for call in calls]
        assert results(wire) == [text("noted")] * 3

    timeless(main())


def test_a_large_head_is_not_kept() -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        await given(protocol, message(PING % 1, x="y" * 5_000))
        assert answers(wire) == [(200, PONG % 1)]
        assert vars(protocol).get("_known") is None

    timeless(main())


# ------------------------------------------------------------------------------------------------ both ways


def at_once(call: Request) -> Any:
    return text("at once")


async def soon(call: Request) -> Any:
    return text("soon")


async def late(call: Request) -> Any:
    await asyncio.sleep(0.2)
    return text("late")


async def within_a_timeout(call: Request) -> Any:
    async with asyncio.timeout(5):  # wants a task
        return text("in time")


async def out_of_time(call: Request) -> Any:
    try:
        async with asyncio.timeout(0.1):
            await asyncio.sleep(10)
    except TimeoutError:
        return text("too late")


async def with_progress(call: Request) -> Any:
    call.progress(1)
    await asyncio.sleep(0.1)
    call.progress(2)
    return text("told")


def fails(call: Request) -> Any:
    raise RuntimeError("a secret")


async def fails_soon(call: Request) -> Any:
    raise RuntimeError("a secret")


async def cancels_itself(call: Request) -> Any:
    call.cancel()
    return text("to nobody")


TOOLS: dict[str, Tool] = {
    tool.__name__: tool
    for tool in (at_once, soon, late, within_a_timeout, out_of_time, with_progress, fails, fails_soon, cancels_itself)
}


@pytest.mark.parametrize("make", [call_of, modern_call], ids=["handshake", "modern"])
@pytest.mark.parametrize("name", [*TOOLS, "unknown"])
def test_the_answer_is_the_one_that_asgi_gives(name: str, make: Callable[[str], Any]) -> None:
    async def main() -> None:
        faults: list[BaseException] = []
        protocol, wire = connected(application(TOOLS, faults))
        other, by_asgi = connected(application(TOOLS, faults))
        whole = message(make(name))
        await given(other, whole[:-1], whole[-1:])
        await given(protocol, whole)
        await asyncio.sleep(1)
        written, wanted = b"".join(wire.writes), b"".join(by_asgi.writes)
        assert sorted(written.split(b"\r\n")) == sorted(wanted.split(b"\r\n"))
        assert wire.closed == by_asgi.closed
        if not wire.closed:  # by now the head is known
            await given(protocol, whole)
            await asyncio.sleep(1)
            assert b"".join(wire.writes) == written * 2
        assert len(faults) == (3 if name.startswith("fails") else 0)
        assert b"secret" not in written
        assert not protocol.tasks

    timeless(main())


def test_notifications_and_refusals_go_the_short_way_too() -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        told = message(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        await given(protocol, told, message(b"[]"), message(b"{"), told)
        assert [status for status, _ in answers(wire)] == [202, 400, 400, 202]

    timeless(main())


@pytest.mark.parametrize("known", ["a", None])
def test_authentication_may_take_a_while(known: str | None) -> None:
    async def authenticate(headers: Any) -> str | None:
        await asyncio.sleep(0.1)
        return known

    async def main() -> None:
        protocol, wire = connected(application(TOOLS, authenticate=authenticate))
        for name in ("at_once", "soon", "late"):
            await given(protocol, message(modern_call(name)))
            await asyncio.sleep(1)
        assert [status for status, _ in answers(wire)] == ([200] * 3 if known else [401] * 3)

    timeless(main())


def test_a_fault_of_authentication_is_answered_and_told() -> None:
    async def main() -> None:
        faults: list[BaseException] = []

        def authenticate(headers: Any) -> str:
            raise LookupError("a secret")

        protocol, wire = connected(application(faults=faults, authenticate=authenticate))
        await given(protocol, message(PING % 1))
        assert [status for status, _ in answers(wire)] == [500]
        assert b"secret" not in b"".join(wire.writes)
        assert [type(fault) for fault in faults] == [LookupError]

    timeless(main())


# ------------------------------------------------------------------------------------------------ what is under way


def test_what_comes_behind_a_call_that_takes_a_while_waits_for_it() -> None:
    async def main() -> None:
        protocol, wire = connected(application(TOOLS))
        await given(protocol, message(modern_call("late", 1)), message(PING % 2), message(modern_call("late", 3)))
        assert wire.writes == []
        await asyncio.sleep(1)
        await given(protocol, message(modern_call("late", 4)), message(modern_call("late", 5)), message(modern_call("soon", 6)))
        await asyncio.sleep(1)
        assert [json.loads(body)["id"] for _, body in answers(wire)] == [1, 2, 3, 4, 5, 6]
        await given(protocol, message(PING % 7))
        assert answers(wire)[-1] == (200, PONG % 7)

    timeless(main())


def test_of_those_that_come_together_one_is_answered_a_turn() -> None:
    async def main() -> None:
        done: list[int] = []

        def note(call: Request) -> Any:
            done.append(1)
            return text("noted")

        protocol, wire = connected(application({"note": note}))
        asyncio.get_running_loop().call_soon(protocol.data_received, message(modern_call("note")) * 20)
        await asyncio.sleep(0)
        assert len(done) <= 2
        await asyncio.sleep(1)
        assert results(wire) == [text("noted")] * 20

    timeless(main())


@pytest.mark.parametrize("seconds", [0, 1])
@pytest.mark.parametrize("make", [call_of, modern_call], ids=["handshake", "modern"])
def test_a_client_that_leaves_cancels_its_call_in_the_modern_era(make: Callable[[str], Any], seconds: int) -> None:
    async def main() -> None:
        ended: list[str] = []

        async def long(call: Request) -> Any:
            try:
                await asyncio.sleep(5)
                ended.append("well")
            except asyncio.CancelledError:
                ended.append("cancelled")
                raise

        protocol, wire = connected(application({"long": long}))
        await given(protocol, message(make("long")))
        await asyncio.sleep(seconds)
        wire.closed = True
        protocol.connection_lost(None)
        await asyncio.sleep(10)
        assert ended == (["cancelled"] if make is modern_call else ["well"])
        assert wire.writes == []
        assert not protocol.tasks

    timeless(main())


def test_when_the_server_stops_a_call_is_answered_and_the_connection_closed() -> None:
    async def main() -> None:
        protocol, wire = connected(application(TOOLS))
        await given(protocol, message(modern_call("late")))
        protocol.shutdown()
        assert not wire.closed
        assert len(protocol.tasks) == 1
        await asyncio.sleep(1)
        assert results(wire) == [text("late")]
        assert b"connection: close" in b"".join(wire.writes)
        assert wire.closed

    timeless(main())


def test_a_server_that_waits_no_longer_says_so() -> None:
    async def main() -> None:
        protocol, wire = connected(application(TOOLS))
        await given(protocol, message(modern_call("late")))
        protocol.shutdown()
        for task in protocol.tasks:
            task.cancel()
        await asyncio.sleep(1)
        assert [status for status, _ in answers(wire)] == [503]
        assert wire.closed

    timeless(main())


@pytest.mark.parametrize("name", ["at_once", "soon"])
@pytest.mark.parametrize("known", [True, False])
def test_a_client_that_reads_too_slowly_is_written_nothing_more(name: str, known: bool) -> None:
    async def main() -> None:
        protocol, wire = connected(application(TOOLS))
        await given(protocol, message(modern_call(name, 1)))
        protocol.pause_writing()
        fields = {} if known else {"x": "another head"}
        await given(protocol, message(modern_call(name, 2), **fields), message(modern_call(name, 3), **fields))
        assert len(answers(wire)) == 1
        protocol.resume_writing()
        await asyncio.sleep(1)
        assert [json.loads(body)["id"] for _, body in answers(wire)] == [1, 2, 3]

    timeless(main())


def test_a_body_that_is_no_body_ends_the_connection() -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        chunked = message(b"").replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
        await given(protocol, chunked + b"3\r\nabc\r\nno chunk\r\n")
        assert wire.closed
        assert [status for status, _ in answers(wire)] in ([], [400])

    timeless(main())


def test_a_variable_that_one_call_sets_is_not_there_for_the_next() -> None:
    who: ContextVar[str] = ContextVar("who", default="nobody")

    def authenticate(headers: Any) -> str:
        who.set("authenticated")
        return "a"

    def in_one_step(call: Request) -> Any:
        found, _ = who.get(), who.set("somebody")
        return text(found)

    async def in_several(call: Request) -> Any:
        found, _ = who.get(), who.set("somebody")
        await asyncio.sleep(0.01)
        return text(found + " " + who.get())

    async def main() -> None:
        tools: dict[str, Tool] = {"one": in_one_step, "several": in_several}
        for known, expected in (None, "nobody"), (authenticate, "authenticated"):
            protocol, wire = connected(application(tools, authenticate=known))
            for name in ("one", "several", "one", "several"):
                await given(protocol, message(modern_call(name)))
                await asyncio.sleep(1)
            assert results(wire) == [text(expected), text(f"{expected} somebody")] * 2
            assert who.get() == "nobody"

    timeless(main())


# ------------------------------------------------------------------------------------------------ over real connections


def test_half_a_body_and_the_rest_of_it_are_one_request() -> None:
    with served() as port:
        first, last = post(port, 1), post(port, 2, b"Connection: close")
        assert told(port, first[:-10], first[-10:], first, last[:50], last[50:-1], last[-1:]).count(b"HTTP/1.1 200") == 3


def test_many_connections_each_get_their_own_answers() -> None:
    with served() as port:
        found: list[bool] = []

        def client(number: int) -> None:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                for call in range(50):
                    connection.sendall(post(port, number * 1000 + call))
                    data = b""
                    while not data.endswith(b"}}"):
                        data += connection.recv(65536)
                    found.append(data.endswith(PONG % (number * 1000 + call)))
                connection.sendall(post(port, 1, b"Connection: close"))
                found.append(everything(connection).endswith(PONG % 1))

        threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert found == [True] * 16 * 51


# ------------------------------------------------------------------------------------------------ whatever is raised


class PanicError(BaseException):
    """As some extensions raise."""


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, PanicError])
@pytest.mark.parametrize("where", ["provider", "authenticate"])
def test_whatever_is_raised_ends_one_request_and_no_server(error: type[BaseException], where: str) -> None:
    armed = False

    def raises(*_: Any) -> Any:
        if armed:
            raise error
        return text("well") if where == "provider" else "a"

    async def main() -> None:
        nonlocal armed
        faults: list[BaseException] = []
        tools: dict[str, Tool] = {"raises": raises if where == "provider" else at_once}
        app = application(tools, faults, authenticate=raises if where == "authenticate" else None)
        for known in (False, True):
            armed = False
            protocol, wire = connected(app)
            call = message(modern_call("raises"))
            await given(protocol, *[call] * known)
            armed = True
            await given(protocol, call)
            await asyncio.sleep(1)
            (status, body) = answers(wire)[-1]
            assert len(answers(wire)) == 1 + known
            assert status == 500 or json.loads(body)["error"]["code"] == -32603  # a provider's fault is the engine's to tell

    timeless(main())


def test_a_subclass_sees_every_request() -> None:
    class Mine(Application):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 418, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})

    async def main() -> None:
        plain = application()
        app = Mine(plain.engine, [HOST], [], None, "/mcp", None, 15.0, resumable_answers=False)
        config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None, access_log=False, proxy_headers=False)
        config.load()
        protocol = gathering_protocol()(config, ServerState(), {}, asyncio.get_running_loop())
        wire: Any = Wire()
        protocol.connection_made(wire)
        await given(protocol, message(PING % 1), message(PING % 1))
        assert [status for status, _ in answers(wire)] == [418, 418]

    timeless(main())


def test_a_length_with_a_space_behind_it_is_a_length_however_the_body_comes() -> None:
    async def main() -> None:
        protocol, wire = connected(application())
        spaced = message(PING % 1).replace(b"\r\n\r\n", b" \r\n\r\n")
        await given(protocol, spaced, spaced[:-1], spaced[-1:])
        assert answers(wire) == [(200, PONG % 1)] * 2

    timeless(main())
