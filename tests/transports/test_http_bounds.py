"""What HTTP bounds: how much is pending and open, how large and slow a request may be, who may ask; and how a server stops."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.transports.conftest import (
    SECONDS,
    Hand,
    Live,
    begin_by_hand,
    by_hand,
    call_of,
    modern,
    modern_call,
    request,
    text,
    timeless,
)

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.protocol.tasks import MemoryTaskStore
from webseam.transports.asgi import PENDING_CALLS, mcp_app
from webseam.transports.bearer import bearer

PING = request("ping")
LISTEN = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
STREAM = {"accept": "text/event-stream"}
TASKS = "io.modelcontextprotocol/tasks"


async def quiet(call: Request) -> Any:
    await asyncio.sleep(0)
    return text(str(call.caller))


async def forever(call: Request) -> Any:
    await asyncio.Event().wait()


async def leave(hands: list[tuple[Hand, asyncio.Task[Hand]]]) -> None:
    for hand, task in hands:
        hand.leave()
        task.cancel()
    if hands:
        await asyncio.wait([task for _, task in hands])


# ------------------------------------------------------------------------------------------------ how much at once


def test_a_caller_has_so_many_calls_pending_and_others_are_served() -> None:
    async def main() -> None:
        app = by_hand({"forever": forever, "quiet": quiet}, authenticate=bearer(lambda token: token))
        me, you = {"authorization": "Bearer me"}, {"authorization": "Bearer you"}
        waiting = []
        for _ in range(LIMITS.pending_calls):
            hand = Hand(app, modern_call("forever"), headers=me)
            waiting.append((hand, hand.start()))
        await asyncio.sleep(0)
        refused = await Hand(app, modern_call("quiet"), headers=me).run()
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        error = json.loads(refused.body)["error"]
        assert error["code"] == -32603
        assert str(LIMITS.pending_calls) in error["message"]
        assert (await Hand(app, modern_call("quiet"), headers=you).run()).status == 200
        assert (await Hand(app, modern("tools/list"), headers=me).run()).status == 200  # what is answered at once still is
        hand, task = waiting.pop()
        hand.leave()
        await task
        assert (await Hand(app, modern_call("quiet"), headers=me).run()).status == 200
        await leave(waiting)

    timeless(main())


def test_a_process_has_so_many_calls_pending_whoever_makes_them() -> None:
    async def main() -> None:
        app = by_hand({"forever": forever, "quiet": quiet}, authenticate=bearer(lambda token: token))
        waiting = []
        for number in range(PENDING_CALLS):
            hand = Hand(app, modern_call("forever"), headers={"authorization": f"Bearer caller{number % 8}"})
            waiting.append((hand, hand.start()))
        await asyncio.sleep(0)
        refused = await Hand(app, modern_call("quiet"), headers={"authorization": "Bearer fresh"}).run()
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert str(PENDING_CALLS) in json.loads(refused.body)["error"]["message"]
        await leave(waiting)
        assert (await Hand(app, modern_call("quiet"), headers={"authorization": "Bearer fresh"}).run()).status == 200

    timeless(main())


def test_a_caller_has_so_many_streams_open() -> None:
    async def main() -> None:
        app = by_hand({"quiet": quiet}, authenticate=bearer(lambda token: token))
        me, you = {"authorization": "Bearer me"}, {"authorization": "Bearer you"}
        open_ones = []
        for _ in range(LIMITS.open_streams_per_caller):
            hand = Hand(app, LISTEN, headers=me)
            open_ones.append((hand, hand.start()))
            await hand.begun()
        session = await begin_by_hand(app, **me)
        for refused in (
            await Hand(app, LISTEN, headers=me).run(),
            await Hand(app, None, "GET", {**STREAM, "mcp-session-id": session, **me}).run(),
        ):
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert str(LIMITS.open_streams_per_caller) in json.loads(refused.body)["error"]["message"]
        assert (await Hand(app, modern_call("quiet"), headers=me).run()).status == 200  # calls are counted apart
        other = Hand(app, LISTEN, headers=you)
        open_ones.append((other, other.start()))
        await other.begun()
        await leave(open_ones)
        again = Hand(app, LISTEN, headers=me)
        task = again.start()
        await again.until(lambda: again.messages)
        await leave([(again, task)])

    timeless(main())


def test_places_are_given_back_however_a_call_ends() -> None:
    async def main() -> None:
        async def fails(call: Request) -> Any:
            await asyncio.sleep(0)
            raise RuntimeError("no")

        async def gives_up(call: Request) -> Any:
            await asyncio.sleep(0)
            raise asyncio.CancelledError

        async def streams(call: Request) -> Any:
            call.progress(1)
            await asyncio.sleep(0)
            raise RuntimeError("no")

        tools = {"quiet": quiet, "fails": fails, "gives up": gives_up, "streams": streams, "forever": forever}
        app = by_hand(tools, authenticate=bearer(lambda token: token))
        me = {"authorization": "Bearer me"}
        for _ in range(LIMITS.pending_calls // 4):
            for name in ("quiet", "fails", "gives up", "streams"):
                assert (await Hand(app, modern_call(name), headers=me).run()).status == 200
            for name in ("forever", "streams"):
                left = Hand(app, modern_call(name), headers=me)
                left.leave()
                await left.run()
            broken = Hand(app, modern_call("streams"), headers=me)
            broken.error = OSError("the client has left")
            await broken.run()
        assert (await Hand(app, modern_call("quiet"), headers=me).run()).status == 200
        assert app.pending._all == 0
        assert app.pending._callers == {}

    timeless(main())


@pytest.mark.parametrize("at_once", [False, True])
def test_a_caller_who_does_not_read_answers_keeps_their_places_and_nobody_else_s(at_once: bool) -> None:
    async def main() -> None:
        async def streams(call: Request) -> Any:
            call.progress(1)
            await asyncio.sleep(0)
            return text("done")

        def early(call: Request) -> Any:
            call.progress(1)
            return text("done")

        tools: dict[str, Any] = {"streams": early if at_once else streams, "quiet": quiet}
        app = by_hand(tools, authenticate=bearer(lambda token: token))
        me, you = ({"authorization": f"Bearer {name}"} for name in ("me", "you"))
        slow = []
        for _ in range(LIMITS.pending_calls):
            hand = Hand(app, modern_call("streams"), headers=me)
            hand.blocked = asyncio.Event()
            slow.append((hand, hand.start()))
        for _ in range(20):
            await asyncio.sleep(0)
        assert (await Hand(app, modern_call("quiet"), headers=me).run()).status == 503
        assert (await Hand(app, modern_call("quiet"), headers=you).run()).status == 200
        for hand, _ in slow:
            assert hand.blocked is not None
            hand.blocked.set()
        await asyncio.gather(*(task for _, task in slow))
        assert all(hand.complete for hand, _ in slow)
        assert (await Hand(app, modern_call("quiet"), headers=me).run()).status == 200

    timeless(main())


# ------------------------------------------------------------------------------------------------ bodies


@pytest.mark.parametrize("size", [LIMITS.message_bytes + 1, LIMITS.message_bytes * 2 + 700_000, LIMITS.message_bytes * 7])
@pytest.mark.parametrize("how", ["with a length", "in chunks"])
def test_an_ordinary_client_sees_that_its_message_is_too_large(plain: Live, size: int, how: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", plain.port, timeout=SECONDS)
    body = b" " * size
    pieces = (body[start : start + 65536] for start in range(0, size, 65536)) if how == "in chunks" else body
    try:
        connection.request("POST", "/mcp", pieces, {"content-type": "application/json"})  # writes all of it first
        response = connection.getresponse()
        answer = json.loads(response.read())
    finally:
        connection.close()
    assert response.status == 413, answer
    assert str(LIMITS.message_bytes) in answer["error"]["message"]


def test_a_body_that_claims_more_than_anybody_would_send_is_not_waited_for(plain: Live) -> None:
    with plain.raw(plain.head(f"Content-Length: {10**15}")) as connection:
        assert b" 413 " in connection.recv(65536)


def test_a_client_that_waits_for_100_continue_is_told_at_once(plain: Live) -> None:
    with plain.raw(plain.head("Expect: 100-continue", f"Content-Length: {LIMITS.message_bytes + 1}")) as connection:
        assert b"HTTP/1.1 413 " in connection.recv(65536)
    body = json.dumps(PING).encode()
    with plain.raw(plain.head("Expect: 100-continue", f"Content-Length: {len(body)}")) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert b"HTTP/1.1 200 " in connection.recv(65536)


@pytest.mark.parametrize(
    "length",
    ["-1", "+5", "0x10", "1e3", "5, 5", "5 5", "", "five", "٥", "9" * 400, "18446744073709551616", "4\r\nContent-Length: 40"],
)
def test_a_bad_content_length_is_refused_and_the_next_client_served(plain: Live, length: str) -> None:
    with plain.raw(plain.head(f"Content-Length: {length}") + b"{}{}") as connection:
        said = connection.recv(65536)
        assert said[9:12] in (b"400", b"413")
    assert plain.post(PING).status == 200


def test_a_length_and_chunks_together_are_refused(plain: Live) -> None:
    head = plain.head("Content-Length: 5", "Transfer-Encoding: chunked")
    with plain.raw(head + b"0\r\n\r\nGET /livez HTTP/1.1\r\n\r\n") as connection:
        assert connection.recv(65536)[9:12] == b"400"


def test_a_chunked_message_is_served(plain: Live) -> None:
    body = json.dumps(PING).encode()
    with plain.raw(plain.head("Transfer-Encoding: chunked")) as connection:
        for byte in body:
            connection.sendall(b"1\r\n%c\r\n" % byte)
        connection.sendall(b"0\r\n\r\n")
        assert b"HTTP/1.1 200 " in connection.recv(65536)


def test_several_messages_on_one_connection_are_answered_in_order(plain: Live) -> None:
    plain.tools["quiet"] = quiet
    data = b""
    for number, message in enumerate((call_of("quiet"), PING, call_of("quiet"), PING)):
        body = json.dumps({**message, "id": number}).encode()
        data += plain.head(f"Content-Length: {len(body)}") + body
    with plain.raw(data) as connection:
        got = b""
        while got.count(b'"id":') < 4:
            piece = connection.recv(65536)
            assert piece
            got += piece
    assert [got.index(b'"id":%d' % number) for number in range(4)] == sorted(got.index(b'"id":%d' % n) for n in range(4))


@pytest.mark.parametrize("kind", ["nothing", "one byte", "a byte now and then"])
def test_a_body_that_does_not_come_is_given_up(kind: str) -> None:
    async def main() -> None:
        hand = Hand(by_hand(), None, headers={"content-length": "100"})
        if kind != "nothing":
            hand.incoming.put_nowait({"type": "http.request", "body": b"{", "more_body": True})

        async def drip() -> None:
            while True:
                await asyncio.sleep(5)
                hand.incoming.put_nowait({"type": "http.request", "body": b" ", "more_body": True})

        dripping = asyncio.ensure_future(drip()) if kind == "a byte now and then" else None
        await hand.run()
        assert (hand.status, hand.headers["connection"]) == (408, "close")
        assert asyncio.get_running_loop().time() <= LIMITS.call_seconds + 1
        if dripping is not None:
            dripping.cancel()

    timeless(main())


# ------------------------------------------------------------------------------------------------ who may ask


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Content-Type", "Mcp-Session-Id", "MCP-Protocol-Version"])
def test_of_a_header_that_came_twice_neither_is_believed(serve: Callable[..., Live], name: str) -> None:
    live = serve(authenticate=bearer(lambda token: token if token == "good" else None))
    session = live.begin(authorization="Bearer good")
    values = {
        "Host": f"127.0.0.1:{live.port}", "Origin": f"http://127.0.0.1:{live.port}", "Authorization": "Bearer good",
        "Content-Type": "application/json", "Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25",
    }  # fmt: skip
    body = json.dumps(PING).encode()
    for twice in (False, True):
        lines = [f"{key}: {value}" for key, value in values.items()]
        if twice:
            lines.append(f"{name}: {values[name]}")
        data = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"Content-Length: {len(body)}", "", ""]).encode() + body
        with live.raw(data) as connection:
            status = connection.recv(65536)[9:12]
        if not twice:
            assert status == b"200"
        else:
            assert status in (b"400", b"401", b"403", b"404", b"415")


def test_who_may_not_reach_us_learns_nothing_of_tokens_or_sessions(serve: Callable[..., Live]) -> None:
    asked: list[str] = []
    live = serve(authenticate=bearer(asked.append))
    for reply in (
        live.post(PING, "x", host="evil.example", authorization="Bearer a"),
        live.get("x", host="evil.example", authorization="Bearer a"),
        live.post(PING, origin="http://evil.example", authorization="Bearer a"),
        live.get("x", origin="null", authorization="Bearer a"),
    ):
        assert reply.status == 403
    assert asked == []
    assert live.post(b"{", authorization="Bearer a").status == 401  # before the body is read
    assert live.get("x", authorization="Bearer a").status == 401
    assert asked == ["a", "a"]


def test_a_host_is_compared_whole(live: Live) -> None:
    session = live.begin()
    for host in (
        f"127.0.0.1:{live.port}.",
        f" 127.0.0.1:{live.port}x",
        f"127.0.0.1:0{live.port}",
        f"user@127.0.0.1:{live.port}",
    ):
        for reply in (live.post(PING, session, host=host), live.get(session, host=host), live.delete(session, host=host)):
            assert reply.status == 403
    assert live.post(PING, session).status == 200


# ------------------------------------------------------------------------------------------------ bearer tokens

LONGEST = "a" * 8192


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("BEARER abc", "abc"),
        ("bEaReR   abc", "abc"),
        ("Bearer abc ", "abc"),
        ("Bearer a-b._~+/c==", "a-b._~+/c=="),
        (f"Bearer {LONGEST}", LONGEST),
        (f"Bearer {LONGEST}a", None),
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearer =", None),
        ("Bearerabc", None),
        ("Bearer\tabc", None),
        ("Basic abc", None),
        ("Token abc", None),
        ("abc", None),
        ("Bearer a b", None),
        ("Bearer a, Bearer a", None),
        ("Bearer a,b", None),
        ("Bearer a=b", None),
        ('Bearer "abc"', None),
        ("Bearer abc\n", None),
        ("Bearer äbc", None),
        ("Bearer abc;", None),
        ("Bearer \x00abc", None),
        (" Bearer abc", None),
        ("Bearer Bearer abc", None),
        ("Bearer ٣", None),
    ],
)
def test_a_token_is_read_as_rfc_6750_writes_it(header: str | None, token: str | None) -> None:
    asked: list[str] = []

    def check(given: str) -> str:
        asked.append(given)
        return "me"

    authenticate = bearer(check)
    headers = {} if header is None else {"authorization": header}
    assert authenticate(headers) == (None if token is None else "me")
    assert asked == ([] if token is None else [token])


def test_tokens_over_http(serve: Callable[..., Live]) -> None:
    async def check(token: str) -> str | None:
        await asyncio.sleep(0)
        return {"good": "me"}.get(token)

    live = serve(authenticate=bearer(check), needs_session=False)
    live.tools["who"] = quiet
    for header in ("Bearer good", "bearer  good", "BEARER good "):
        assert live.post(call_of("who"), authorization=header).json()["result"]["content"] == text("me")
    for refused in (None, "Bearer bad", "Bearer", "Basic good", "Bearer good, Bearer good"):
        reply = live.post(call_of("who"), authorization=refused)
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
        assert "good" not in json.dumps(reply.json())


def test_a_token_as_long_as_the_limit_gets_through(serve: Callable[..., Live]) -> None:
    live = serve(authenticate=bearer(lambda token: "me" if token == LONGEST else None), needs_session=False)
    assert live.post(PING, authorization=f"Bearer {LONGEST}").status == 200
    assert live.post(PING, authorization=f"Bearer {LONGEST}a").status == 401


# ------------------------------------------------------------------------------------------------ a server that stops


@pytest.fixture
def stopping() -> Iterator[Callable[..., Live]]:
    """Servers that the test stops itself."""
    made: list[Live] = []

    def make(**how: Any) -> Live:
        made.append(Live(**how))
        return made[-1]

    yield make
    for one in made:
        if one.thread.is_alive():
            one.stop()


def test_a_server_that_stops_ends_what_has_no_end_of_its_own(stopping: Callable[..., Live]) -> None:
    live = stopping(grace_seconds=SECONDS)
    session = live.begin()
    with live.post(LISTEN) as listener, live.get(session) as general:
        assert listener.next()["method"] == "notifications/subscriptions/acknowledged"
        live.stop()
        (answer,) = listener.rest()
        assert (answer["id"], answer["result"]["resultType"]) == (1, "complete")
        assert answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
        assert general.rest() == []
    assert live.codes == [0]
    assert live.faults == []


def test_a_server_that_stops_answers_what_is_pending_within_the_grace(stopping: Callable[..., Live]) -> None:
    live = stopping(grace_seconds=SECONDS)

    async def waits(call: Request) -> Any:
        call.progress(1)
        await live.gate("stopping")
        return text("done")

    live.tools["waits"] = waits
    session = live.begin()
    with live.post(modern_call("waits")) as one, live.post(call_of("waits"), session) as other:
        live.expect("stopping")
        live.expect("stopping")
        one.next(), other.next()
        stopper = threading.Thread(target=live.stop)
        stopper.start()
        live.open("stopping")
        for reply in (one, other):
            assert reply.next()["result"]["content"] == text("done")
            assert reply.next() is None
        stopper.join(SECONDS)
    assert live.codes == [0]


@pytest.mark.parametrize("kind", ["streaming", "silent", "asking", "stubborn", "task", "unread"])
def test_a_server_that_stops_is_gone_once_the_grace_is_over_and_leaves_nothing(
    stopping: Callable[..., Live], kind: str
) -> None:
    live = stopping(grace_seconds=0, engine={"task_store": MemoryTaskStore()})
    ended = threading.Event()

    async def works(call: Request) -> Any:
        live.mark("began")
        try:
            if kind in ("streaming", "stubborn"):
                call.progress(1)
            if kind == "unread":
                for number in range(10_000):
                    call.log("info", "x" * 10_000)
                    if number == 1_000:
                        live.mark("flooded")
                    await asyncio.sleep(0)
            if kind == "asking":
                return await call.elicit("Who?", {"type": "object", "properties": {}})
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if kind == "stubborn":
                return text("all the same")
            raise
        finally:
            ended.set()

    async def begins(call: Request) -> Any:
        return await call.run_as_task(works)

    live.tools["works"] = begins if kind == "task" else works
    session = live.begin()
    if kind == "task":
        capabilities: dict[str, Any] = {"extensions": {TASKS: {}}}
        assert live.post(modern_call("works", capabilities=capabilities)).json()["result"]["resultType"] == "task"
        live.expect("began")
        live.stop()
    else:
        body = json.dumps(call_of("works")).encode()
        accept = "Accept: application/json, text/event-stream"
        head = live.head(accept, f"Mcp-Session-Id: {session}", f"Content-Length: {len(body)}")
        with live.raw(head + body) as connection:
            live.expect("flooded" if kind == "unread" else "began")
            live.stop()
            if kind == "silent":
                said = b""
                while piece := connection.recv(65536):
                    said += piece
                assert b" 503 " in said or b"text/event-stream" in said
    assert ended.wait(SECONDS)
    assert live.codes == [0]
    assert live.faults == []


def test_a_client_that_does_not_read_does_not_keep_a_server_from_stopping(stopping: Callable[..., Live]) -> None:
    live = stopping(grace_seconds=1)

    async def large(call: Request) -> Any:
        call.progress(1)
        live.mark("large")
        return text("x" * 4_000_000)

    live.tools["large"] = large
    body = json.dumps(modern_call("large")).encode()
    head = live.head(
        "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call",
        "Mcp-Name: large", f"Content-Length: {len(body)}",
    )  # fmt: skip
    with socket.create_connection(("127.0.0.1", live.port), timeout=SECONDS) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(head + body)
        live.expect("large")
        live.stop()
    assert live.codes == [0]
    assert live.faults == []


# ------------------------------------------------------------------------------------------------ other servers


def test_a_client_that_leaves_before_or_within_its_body_is_forgotten() -> None:
    async def main() -> None:
        faults: list[BaseException] = []
        app = by_hand({"quiet": quiet}, faults)
        for pieces in ([], [b"{"], [b"{", b'"jsonrpc"']):
            hand = Hand(app, None)
            for piece in pieces:
                hand.incoming.put_nowait({"type": "http.request", "body": piece, "more_body": True})
            hand.leave()
            await hand.run()
            assert hand.sent == []
        assert faults == []

    timeless(main())


def test_a_body_may_come_in_pieces_and_with_members_left_out() -> None:
    async def main() -> None:
        hand = Hand(by_hand(needs_session=False), None)
        data = json.dumps(PING).encode()
        hand.incoming.put_nowait({"type": "http.request", "more_body": True})
        for place in range(len(data)):
            hand.incoming.put_nowait({"type": "http.request", "body": data[place : place + 1], "more_body": True})
        hand.incoming.put_nowait({"type": "http.request"})
        await hand.run()
        assert json.loads(hand.body)["result"] == {}

    timeless(main())


@pytest.mark.parametrize(
    "kind", ["json", "at once", "call", "stream", "early", "listen", "get", "delete", "refused", "elsewhere"]
)
def test_a_server_that_says_by_an_error_that_the_client_left_is_understood(kind: str) -> None:
    async def main() -> None:
        faults: list[BaseException] = []

        async def streams(call: Request) -> Any:
            call.progress(1)
            await asyncio.sleep(1)
            call.progress(2)
            return text("done")

        def early(call: Request) -> Any:
            call.progress(1)
            return text("done")

        app = by_hand({"quiet": quiet, "stream": streams, "early": early}, faults)
        session = await begin_by_hand(app)
        own = {"mcp-session-id": session}
        hand = {
            "json": lambda: Hand(app, PING, headers=own),
            "at once": lambda: Hand(app, modern("tools/list")),
            "call": lambda: Hand(app, modern_call("quiet")),
            "stream": lambda: Hand(app, call_of("stream"), headers=own),
            "early": lambda: Hand(app, modern_call("early")),
            "listen": lambda: Hand(app, LISTEN),
            "get": lambda: Hand(app, None, "GET", {**STREAM, **own}),
            "delete": lambda: Hand(app, None, "DELETE", own),
            "refused": lambda: Hand(app, b"{"),
            "elsewhere": lambda: Hand(app, None, "GET", path="/livez"),
        }[kind]()
        if kind == "elsewhere":
            hand.scope["path"] = "/livez"
        hand.error = OSError("the client has left")
        if kind == "listen":  # it is told as well, as the specification of ASGI has it
            hand.leave()
        await hand.run()
        assert faults == []

    timeless(main())


def test_an_error_in_the_middle_of_a_stream_ends_it_and_the_work_is_kept_for_later() -> None:
    async def main() -> None:
        faults: list[BaseException] = []

        async def streams(call: Request) -> Any:
            call.progress(1)
            await asyncio.sleep(1)
            call.progress(2)
            await asyncio.sleep(1)
            return text("done")

        app = by_hand({"stream": streams}, faults)
        session = await begin_by_hand(app)
        hand = Hand(app, call_of("stream"), headers={"mcp-session-id": session})
        task = hand.start()
        await hand.until(lambda: hand.messages)
        hand.error = OSError("gone")
        await task
        again = await Hand(app, None, "GET", {**STREAM, "mcp-session-id": session, "last-event-id": "1.2"}).run()
        assert [message.get("params", {}).get("progress") for message in again.messages] == [2, None]
        assert faults == []

    timeless(main())


def test_a_fault_of_the_server_while_we_stream_is_told_and_ends_the_request() -> None:
    async def main() -> None:
        faults: list[BaseException] = []
        app = by_hand({"quiet": quiet}, faults)
        session = await begin_by_hand(app)
        hand = Hand(app, None, "GET", {**STREAM, "mcp-session-id": session})
        hand.error = RuntimeError("out of order")
        with pytest.raises(RuntimeError):  # our 500 cannot be sent either: the server learns of it
            await hand.run()
        assert [str(fault) for fault in faults] == ["out of order"]

    timeless(main())


@pytest.mark.parametrize("kind", ["http.response.start", "http.response.body"])
@pytest.mark.parametrize("what", ["json", "stream", "refused"])
def test_an_answer_that_a_server_will_not_send_is_not_followed_by_another(kind: str, what: str) -> None:
    async def main() -> None:
        def early(call: Request) -> Any:
            call.progress(1)
            return text("done")

        faults: list[BaseException] = []
        app = by_hand({"early": early}, faults)
        message = {"json": modern("tools/list"), "stream": modern_call("early"), "refused": b"{"}[what]
        hand = Hand(app, message)
        sent: list[str] = []

        async def send(event: Any) -> None:
            sent.append(event["type"])
            if event["type"] == kind:
                raise ValueError("out of order")

        with pytest.raises(ValueError, match="out of order"):  # the server ends the connection
            await app(hand.scope, hand.receive, send)
        assert sent == ["http.response.start", "http.response.body"][: 1 + (kind == "http.response.body")]
        assert [str(fault) for fault in faults] == ["out of order"]

    timeless(main())


def test_headers_that_are_many_or_large_are_refused_under_any_server() -> None:
    async def main() -> None:
        app = by_hand()
        for fields in ([(b"a", b"b")] * LIMITS.header_count, [(b"a", b"b" * 1000)] * 100):
            hand = Hand(app, PING)
            hand.scope["headers"] += fields
            assert (await hand.run()).status == 431
            assert b"headers are too large" in hand.body
        assert (await Hand(app, PING, headers={"a": "b" * 50_000}).run()).status != 431

    timeless(main())


def test_what_is_open_ends_with_the_lifespan() -> None:
    async def main() -> None:
        app = by_hand()
        listening = Hand(app, LISTEN)
        task = listening.start()
        await listening.until(lambda: listening.messages)
        events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(events)

        async def send(event: Any) -> None: ...

        await app({"type": "lifespan"}, receive, send)
        await task
        assert listening.complete

    timeless(main())


def test_lifespan_starts_and_stops() -> None:
    async def main() -> None:
        app, sent = by_hand(), []
        events = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(events)

        async def send(event: Any) -> None:
            sent.append(event["type"])

        await app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]

    timeless(main())


def test_there_are_no_websockets() -> None:
    async def main() -> None:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(event: Any) -> None:
            sent.append(event)

        await by_hand()({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)
        assert [event["type"] for event in sent] == ["websocket.close"]  # before it was accepted: a server answers 403

    timeless(main())


def test_stop_ends_every_stream_of_an_application_that_another_server_runs() -> None:
    async def main() -> None:
        app = by_hand()
        session = await begin_by_hand(app)
        hands = [Hand(app, LISTEN), Hand(app, None, "GET", {**STREAM, "mcp-session-id": session})]
        tasks = [hand.start() for hand in hands]
        await hands[0].until(lambda: hands[0].messages)
        await hands[1].until(lambda: hands[1].sent)
        app.stop()
        await asyncio.gather(*tasks)
        assert all(hand.complete for hand in hands)
        assert hands[0].messages[-1]["result"]["resultType"] == "complete"

    timeless(main())


@pytest.mark.parametrize("seconds", [0, -1.0])
def test_comments_without_a_pause_between_them_are_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="keep_alive_seconds"):
        mcp_app(Engine(), allowed_hosts=[], allowed_origins=[], keep_alive_seconds=seconds)
