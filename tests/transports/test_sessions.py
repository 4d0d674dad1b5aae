"""Sessions of Streamable HTTP in the handshake era (2025-11-25, basic/transports, "Session Management")."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.transports.conftest import Hand, Live, begin_by_hand, by_hand, call_of, modern, request, text, timeless

from webseam.config import LIMITS
from webseam.protocol.request import Request
from webseam.protocol.revisions import HANDSHAKE
from webseam.protocol.session import Session
from webseam.transports.bearer import bearer
from webseam.transports.sessions import Sessions

PING = request("ping")
MODERN = "2026-07-28"
TOLD = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}


@pytest.fixture(scope="module")
def theirs() -> Iterator[Live]:
    """A server whose callers sign in: the token is the name."""
    one = Live(authenticate=bearer(lambda token: token))
    yield one
    one.stop()


# ------------------------------------------------------------------------------------------------ ids


def test_initialize_begins_a_session_whose_id_is_visible_ascii_and_long(live: Live) -> None:
    ids = {live.begin() for _ in range(50)}
    assert len(ids) == 50
    for found in ids:
        assert re.fullmatch(r"[\x21-\x7e]{32,}", found)
    for place in range(4):  # no counter, no clock: any place varies
        assert len({found[place] for found in ids}) > 5


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_every_revision_of_the_handshake_has_sessions(live: Live, revision: str) -> None:
    session = live.begin(revision)
    header = {"mcp_protocol_version": revision} if revision >= "2025-06-18" else {}
    reply = live.post(PING, session, **header)
    assert (reply.status, reply.json()["result"]) == (200, {})
    assert "mcp-session-id" not in reply.headers  # only `initialize` gives one out


def test_the_header_s_name_is_written_in_any_case(live: Live) -> None:
    session = live.begin()
    assert live.post(PING, None, **{"MCP-SESSION-ID": session}).status == 200


@pytest.mark.parametrize("message", [PING, call_of("x"), TOLD, ANSWER], ids=["ping", "call", "notification", "response"])
def test_a_message_without_the_id_is_400(live: Live, message: dict[str, Any]) -> None:
    reply = live.post(message)
    assert reply.status == 400
    assert "mcp-session-id" not in reply.headers
    if "id" in message and "method" in message:
        assert "Mcp-Session-Id" in reply.json()["error"]["message"]


def test_get_and_delete_without_the_id_are_400(live: Live) -> None:
    for reply in (live.get(), live.delete(None)):
        assert reply.status == 400
        assert "Mcp-Session-Id" in reply.json()["error"]["message"]


@pytest.mark.parametrize("unknown", ["", "x", "0", "null", "../../etc/passwd", "a" * 4_000, "a, b", "\xff\xfe"])
def test_an_unknown_id_is_404(live: Live, unknown: str) -> None:
    for reply in (live.post(PING, unknown), live.post(TOLD, unknown), live.get(unknown), live.delete(unknown)):
        assert reply.status == 404
        assert "initialize" in reply.json()["error"]["message"]
        assert unknown == "" or unknown not in reply.json()["error"]["message"]


def test_initialize_with_an_unknown_id_is_404_and_begins_nothing(live: Live) -> None:
    before = live.do(lambda: len(live.app.sessions))
    reply = live.post(request("initialize", {"protocolVersion": "2025-11-25"}), "gone")
    assert (reply.status, "mcp-session-id" in reply.headers) == (404, False)
    assert live.do(lambda: len(live.app.sessions)) == before


def test_an_id_that_came_twice_names_no_session(live: Live) -> None:
    session = live.begin()
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    lines = [
        "POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{live.port}", "Content-Type: application/json",
        f"Mcp-Session-Id: {session}", f"Mcp-Session-Id: {session}", f"Content-Length: {len(body)}", "", "",
    ]  # fmt: skip
    with live.raw("\r\n".join(lines).encode() + body) as connection:
        assert b" 404 " in connection.recv(65536)


def test_a_failed_initialize_gives_no_id(live: Live) -> None:
    before = live.do(lambda: len(live.app.sessions))
    for message in (request("initialize", {"protocolVersion": 5}), b'{"jsonrpc":"2.0","method":"initialize"}', b"{"):
        reply = live.post(message)
        assert "mcp-session-id" not in reply.headers
    assert live.do(lambda: len(live.app.sessions)) == before


# ------------------------------------------------------------------------------------------------ the end of one


def test_delete_ends_a_session_with_204_and_then_there_is_none(live: Live) -> None:
    session = live.begin()
    reply = live.delete(session)
    assert (reply.status, reply.body) == (204, b"")
    assert "content-length" not in reply.headers  # RFC 9110, section 8.6: never with a 204
    for reply in (live.delete(session), live.post(PING, session), live.post(ANSWER, session), live.get(session)):
        assert reply.status == 404


def test_delete_of_one_session_leaves_the_others(live: Live) -> None:
    one, other = live.begin(), live.begin()
    assert live.delete(one).status == 204
    assert live.post(PING, other).status == 200


def test_delete_cancels_what_is_pending_and_ends_its_streams(live: Live) -> None:
    session = live.begin()

    async def waits(call: Request) -> Any:
        call.progress(1)
        await live.gate("deleted")

    live.tools["waits"] = waits
    with live.get(session) as stream, live.post(call_of("waits"), session) as reply:
        live.expect("deleted")
        assert reply.next()["method"] == "notifications/progress"
        assert live.delete(session).status == 204
        live.expect("deleted cancelled")
        assert reply.next() is None  # a cancelled call is not answered
        assert stream.next() is None


def test_delete_gives_up_what_was_asked_of_the_client(live: Live) -> None:
    session = live.begin()
    ended: list[BaseException] = []

    async def asks(call: Request) -> Any:
        try:
            await call.elicit("Who?", {"type": "object", "properties": {}})
        except BaseException as error:
            ended.append(error)
            live.mark("gave up")
            raise

    live.tools["asks"] = asks
    with live.post(call_of("asks"), session) as reply:
        assert reply.next()["method"] == "elicitation/create"
        live.delete(session)
        live.expect("gave up")
        assert reply.next() is None
    assert [type(error) for error in ended] == [asyncio.CancelledError]


# ------------------------------------------------------------------------------------------------ whose it is


def test_another_caller_s_session_is_404_for_all_that_can_be_done_with_it(theirs: Live) -> None:
    mine = {"authorization": "Bearer me"}
    other = {"authorization": "Bearer them"}
    session = theirs.begin(**mine)
    for reply in (
        theirs.post(PING, session, **other),
        theirs.post(ANSWER, session, **other),
        theirs.post(TOLD, session, **other),
        theirs.get(session, **other),
        theirs.get(session, "0.0", **other),
        theirs.delete(session, **other),
    ):
        assert reply.status == 404
    assert theirs.post(PING, session, **mine).status == 200
    for reply in (theirs.post(PING, session), theirs.get(session), theirs.delete(session)):
        assert reply.status == 401  # before anything is said of sessions


def test_another_caller_cannot_answer_what_was_asked(theirs: Live) -> None:
    mine = {"authorization": "Bearer me"}
    other = {"authorization": "Bearer them"}
    session, second = theirs.begin(**mine), theirs.begin(**other)

    async def asks(call: Request) -> Any:
        answer = await call.elicit("Who?", {"type": "object", "properties": {}})
        return text(answer["content"]["name"])

    theirs.tools["asks"] = asks
    with theirs.post(call_of("asks"), session, **mine) as reply:
        asked = reply.next()

        def answer(name: str) -> dict[str, Any]:
            return {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"name": name}}}

        assert theirs.post(answer("mallory"), session, **other).status == 404
        theirs.post(answer("mallory"), second, **other)
        theirs.post(answer("mallory"), second, **mine)
        assert theirs.post(answer("alice"), session, **mine).status == 202
        assert reply.next()["result"]["content"] == text("alice")


# ------------------------------------------------------------------------------------------------ only where they are needed


def test_without_the_need_there_are_no_sessions(plain: Live) -> None:
    reply = plain.post(request("initialize", {"protocolVersion": "2025-11-25"}))
    assert (reply.status, "mcp-session-id" in reply.headers) == (200, False)
    for reply in (plain.get(), plain.get("x"), plain.get("x", "0.1"), plain.delete("x"), plain.delete(None)):
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
    for session in (None, "x"):  # an id from elsewhere is no reason to refuse
        assert plain.post(PING, session).status == 200
    assert plain.post(ANSWER).status == 202
    assert plain.do(lambda: len(plain.app.sessions)) == 0


def test_where_only_revisions_without_sessions_are_served_there_are_none(serve: Callable[..., Live]) -> None:
    live = serve(engine={"protocol_versions": [MODERN]})
    for reply in (live.get(), live.get("x"), live.delete("x"), live.delete(None)):
        assert (reply.status, reply.headers["allow"]) == (405, "POST")
    begun = live.post(request("initialize", {"protocolVersion": "2025-11-25"}))
    assert (begun.status, begun.json()["error"]["code"]) == (400, -32022)
    for session in (None, "x"):  # an id from elsewhere says nothing
        assert live.post(modern("tools/list"), session).status == 200
    assert live.post(request("tools/list"), "x").json() == live.post(request("tools/list")).json()


def test_without_sessions_the_client_can_be_asked_nothing_and_is_told_why(plain: Live) -> None:
    async def asks(call: Request) -> Any:
        return await call.elicit("Who?", {"type": "object", "properties": {}})

    plain.tools["asks"] = asks
    error = plain.post(call_of("asks"), mcp_protocol_version="2025-11-25").json()["error"]
    assert error["code"] == -32600


def test_what_is_advertised_is_what_can_be_done(live: Live, plain: Live) -> None:
    message = request("initialize", {"protocolVersion": "2025-11-25"})
    promised = live.post(message).json()["result"]["capabilities"]
    assert promised["tools"] == {"listChanged": True}
    assert promised["resources"]["subscribe"] is True
    assert "logging" in promised
    promised = plain.post(message).json()["result"]["capabilities"]
    assert promised == {"tools": {}, "resources": {}}


# ------------------------------------------------------------------------------------------------ versions


@pytest.mark.parametrize("version", ["2099-01-01", "", "latest", "2025-11-25, 2025-06-18", "1.0"])
def test_a_version_that_is_not_served_is_400(live: Live, version: str) -> None:
    session = live.begin()
    for reply in (
        live.post(PING, session, mcp_protocol_version=version),
        live.post(TOLD, session, mcp_protocol_version=version),
        live.get(session, mcp_protocol_version=version),
        live.delete(session, **{"mcp-protocol-version": version}),
    ):
        assert reply.status == 400
    assert live.post(PING, session, mcp_protocol_version="2025-11-25").status == 200


def test_a_session_without_the_version_header_speaks_what_was_agreed(live: Live) -> None:
    session = live.begin("2025-11-25")
    revisions: list[str] = []

    async def which(call: Request) -> Any:
        revisions.append(call.revision)
        return text("")

    live.tools["which"] = which
    live.post(call_of("which"), session)
    assert revisions == ["2025-11-25"]


# ------------------------------------------------------------------------------------------------ two eras, one endpoint


@pytest.mark.parametrize("session", [None, "unknown", ""])
def test_a_modern_request_ignores_session_ids(live: Live, session: str | None) -> None:
    reply = live.post(modern("tools/list"), session)
    assert (reply.status, reply.json()["result"]["resultType"]) == (200, "complete")
    assert "mcp-session-id" not in reply.headers
    assert live.post(modern("server/discover"), session, last_event_id="0.0").status == 200


def test_a_modern_request_has_nothing_of_the_session_it_names(live: Live) -> None:
    session = live.begin()
    seen: list[Any] = []

    async def looks(call: Request) -> Any:
        seen.append((call.session, call.revision, call.client_capabilities))
        return text("")

    live.tools["looks"] = looks
    params = {"name": "looks", "arguments": {}}
    assert live.post(modern("tools/call", params), session).status == 200
    assert seen == [(None, MODERN, {})]
    assert live.post(PING, session).status == 200


def test_modern_requests_may_not_get_or_delete(live: Live) -> None:
    session = live.begin()
    for reply in (
        live.get(session, mcp_protocol_version=MODERN),
        live.get(mcp_protocol_version=MODERN),
        live.delete(session, **{"mcp-protocol-version": MODERN}),
        live.delete(None, **{"mcp-protocol-version": MODERN}),
    ):
        assert reply.status == 405
        assert "POST" in reply.headers["allow"]
    assert live.post(PING, session).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD"])
def test_other_methods_are_405(live: Live, method: str) -> None:
    reply = live.ask(method, None, {"mcp-session-id": live.begin()})
    assert (reply.status, reply.headers["allow"]) == (405, "DELETE, GET, POST")


def test_a_modern_body_under_the_headers_of_a_session_is_refused(live: Live) -> None:
    session = live.begin()
    for version in (None, "2025-11-25"):
        reply = live.post(modern("tools/list"), session, mcp_protocol_version=version)
        assert (reply.status, reply.json()["error"]["code"]) == (400, -32020)


# ------------------------------------------------------------------------------------------------ how many, how long


def agreed(principal: str) -> Session:
    session = Session()
    session.revision, session.principal = "2025-11-25", principal
    return session


def test_a_caller_has_so_many_sessions_and_the_one_idle_longest_makes_room() -> None:
    sessions = Sessions()
    others = sessions.add(agreed("them"))
    mine = [sessions.add(agreed("me")) for _ in range(LIMITS.sessions_per_caller)]
    assert others is not None
    first, second = mine[0], mine[1]
    assert first is not None
    assert second is not None
    assert sessions.get(first.id, "me") is first  # used again: the second is idle longest now
    assert sessions.add(agreed("me")) is not None
    assert sessions.get(first.id, "me") is first
    assert sessions.get(second.id, "me") is None
    assert sessions.get(others.id, "them") is others
    assert len(sessions) == LIMITS.sessions_per_caller + 1


def test_the_process_has_so_many_sessions_whoever_they_belong_to() -> None:
    sessions = Sessions()
    for number in range(LIMITS.sessions + 50):
        assert sessions.add(agreed(f"caller {number // 100}")) is not None
    assert len(sessions) == LIMITS.sessions


def test_sessions_with_something_pending_are_not_ended_for_another() -> None:
    sessions = Sessions()
    busy = [sessions.add(agreed("me")) for _ in range(LIMITS.sessions_per_caller)]
    for session in busy:
        assert session is not None
        session.protocol.pending[1] = Request(1, "tools/call", "2025-11-25")
    assert sessions.add(agreed("me")) is None
    assert sessions.add(agreed("them")) is not None
    last = busy[-1]
    assert last is not None
    last.protocol.pending.clear()
    assert sessions.add(agreed("me")) is not None
    assert sessions.get(last.id, "me") is None


def test_an_idle_session_ends_and_a_busy_one_does_not() -> None:
    sessions = Sessions()
    idle, busy, fresh = (sessions.add(agreed("me")) for _ in range(3))
    assert idle is not None
    assert busy is not None
    assert fresh is not None
    long_ago = time.monotonic() - LIMITS.session_idle_seconds - 1
    idle.used = busy.used = long_ago
    pending = busy.protocol.pending[1] = Request(1, "tools/call", "2025-11-25")
    assert sessions.get(idle.id, "me") is None
    assert sessions.get(busy.id, "me") is busy
    assert not pending.cancelled
    assert len(sessions) == 2
    fresh.used = long_ago
    busy.used = long_ago
    assert sessions.add(agreed("them")) is not None  # looks after those that nobody asks for any more
    assert len(sessions) == 2
    assert sessions.get(fresh.id, "me") is None


def test_a_session_that_ends_lets_go_of_everything() -> None:
    sessions = Sessions()
    session = sessions.add(agreed("me"))
    assert session is not None
    pending = session.protocol.pending[1] = Request(1, "tools/call", "2025-11-25")
    stream = session.open_stream()
    stream.put(b"{}")
    protocol: Any = session.protocol
    protocol.push(b"{}")
    sessions.end(session)
    assert pending.cancelled
    assert protocol.push is None
    assert (stream.ended, stream.has_after(0), session.streams) == (True, False, {})
    stream.put(b"late")
    assert not stream.has_after(0)
    assert sessions.get(session.id, "me") is None
    sessions.end(session)  # twice does no harm


def test_streams_of_a_session_that_have_ended_make_room_for_others() -> None:
    session = Sessions().add(agreed("me"))
    assert session is not None
    open_ones = [session.open_stream() for _ in range(5)]
    for _ in range(LIMITS.session_streams * 2):
        session.open_stream().end()
    assert len(session.streams) <= LIMITS.session_streams + 1
    assert all(session.streams[stream.name] is stream for stream in open_ones)


def test_what_all_streams_hold_is_bounded_and_what_has_ended_goes_first() -> None:
    sessions = Sessions()
    made = [sessions.add(agreed(f"caller {number}")) for number in range(LIMITS.kept_bytes // LIMITS.stream_bytes + 10)]
    chunk = b"x" * (LIMITS.stream_bytes // 2 - 100)
    held = []
    for session in made:
        assert session is not None
        stream = session.open_stream()
        stream.put(chunk)
        stream.put(chunk)
        stream.end()
        held.append(stream)
    kept = [stream.has_after(0) for stream in held]
    assert sum(kept) * LIMITS.stream_bytes <= LIMITS.kept_bytes
    assert kept[-1]
    assert not kept[0]


def test_whoever_keeps_most_pushes_out_only_what_is_their_own() -> None:
    sessions = Sessions()
    theirs, mine, greedy = (sessions.add(agreed(name)) for name in ("them", "me", "greedy"))
    assert theirs is not None
    assert mine is not None
    assert greedy is not None
    theirs.general.put(b"of no request")
    stream = mine.open_stream()
    stream.put(b"an answer")
    stream.end()
    size = LIMITS.stream_bytes - 100
    for number in range(2 * LIMITS.kept_bytes // size):
        if number % 20 == 19:
            greedy = sessions.add(agreed("greedy"))
            assert greedy is not None
        greedy.general.put(b"y" * 1000)
        hoarded = greedy.open_stream()
        hoarded.put(b"x" * size)
        hoarded.end()
        assert stream.has_after(0)
        assert theirs.general.has_after(0)
    assert hoarded.has_after(0)
    for session in (theirs, mine):
        sessions.end(session)
    assert not stream.has_after(0)


def test_over_http_a_caller_who_begins_too_many_loses_the_oldest(theirs: Live) -> None:
    mine = {"authorization": "Bearer many"}
    ids = [theirs.begin(**mine) for _ in range(3)]
    for _ in range(LIMITS.sessions_per_caller - 2):
        assert theirs.post(request("initialize", {"protocolVersion": "2025-11-25"}), **mine).status == 200
    assert theirs.post(PING, ids[0], **mine).status == 404
    assert theirs.post(PING, ids[1], **mine).status == 200


def test_when_every_session_is_in_use_another_is_refused_for_now() -> None:
    async def main() -> None:
        app = by_hand()
        listening = []
        for _ in range(LIMITS.sessions_per_caller):
            session = await begin_by_hand(app)
            hand = Hand(app, None, "GET", {"accept": "text/event-stream", "mcp-session-id": session})
            listening.append((hand, hand.start()))
            await hand.begun()
        begun = await Hand(app, request("initialize", {"protocolVersion": "2025-11-25"})).run()
        assert (begun.status, begun.headers["retry-after"]) == (503, "1")
        assert "mcp-session-id" not in begun.headers
        assert len(app.sessions) == LIMITS.sessions_per_caller
        hand, task = listening.pop()
        hand.leave()
        await task
        await begin_by_hand(app)  # what is idle now made room
        app.stop()
        await asyncio.wait([task for _, task in listening])

    timeless(main())


def test_ids_are_not_given_out_when_nothing_is_kept() -> None:
    async def main() -> None:
        app = by_hand(needs_session=False)
        begun = await Hand(app, request("initialize", {"protocolVersion": "2025-11-25"})).run()
        assert "mcp-session-id" not in begun.headers

    timeless(main())


def test_sessions_of_one_server_are_none_of_another_s(serve: Callable[..., Live], live: Live) -> None:
    assert serve().post(PING, live.begin()).status == 404


def test_a_session_outlives_its_connections(live: Live) -> None:
    session = live.begin()
    for _ in range(5):
        live.get(session).close()
        assert live.post(PING, session).status == 200


def test_a_session_that_ends_while_a_message_is_on_its_way_is_404() -> None:
    async def main() -> None:
        called: list[str] = []

        async def works(call: Request) -> Any:
            called.append(call.revision)
            return text("done")

        app = by_hand({"works": works})
        session = await begin_by_hand(app)
        hand = Hand(app, None, headers={"mcp-session-id": session})
        task = hand.start()
        hand.incoming.put_nowait({"type": "http.request", "body": b"", "more_body": True})
        await asyncio.sleep(0)
        assert (await Hand(app, None, "DELETE", {"mcp-session-id": session}).run()).status == 204
        hand.incoming.put_nowait({"type": "http.request", "body": json.dumps(call_of("works")).encode()})
        await task
        assert (hand.status, called) == (404, [])

    timeless(main())


@pytest.mark.parametrize("resumable", [False, True])
def test_nothing_is_held_once_every_session_has_ended(resumable: bool) -> None:
    async def main() -> None:
        async def works(call: Request) -> Any:
            call.progress(1)
            await asyncio.sleep(1)
            return text("x" * 10_000)

        async def stubborn(call: Request) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(1)
            return text("x" * 10_000)

        app = by_hand({"works": works, "stubborn": stubborn}, resumable_answers=resumable)
        ids = []
        for _ in range(3):
            params = {"protocolVersion": "2025-11-25"}
            begun = await Hand(app, request("initialize", params), headers={"accept": "application/json"}).run()
            ids.append(begun.headers["mcp-session-id"])
            await Hand(app, TOLD, headers={"mcp-session-id": ids[-1]}).run()
        pending = []
        for session in ids:
            headers = {"mcp-session-id": session}
            await Hand(app, call_of("works", 1), headers=headers).run()
            app.engine.changed("tools")
        for session in ids:
            headers = {"mcp-session-id": session}
            for number, name in enumerate(("works", "stubborn"), 2):
                hand = Hand(app, call_of(name, number), headers=headers)
                pending.append((hand, hand.start()))
        await asyncio.sleep(0)
        assert app.sessions._held > 30_000
        for session in ids:
            assert (await Hand(app, None, "DELETE", {"mcp-session-id": session}).run()).status == 204
        await asyncio.wait([task for _, task in pending])
        assert not any("result" in message for hand, _ in pending for message in hand.messages)
        assert app.sessions._held == 0
        assert len(app.sessions) == 0
        assert app.pending._all == 0

    timeless(main())


def test_an_id_that_is_still_pending_cannot_be_used_again(live: Live) -> None:
    async def waits(call: Request) -> Any:
        call.progress(1)
        await live.gate("first")
        return text("first")

    live.tools["waits"] = waits
    session, other = live.begin(), live.begin()
    with live.post(call_of("waits", 5), session) as reply:
        reply.next()
        again = live.post(request("tools/list", None, 5), session)
        assert (again.status, again.json()["error"]["code"]) == (400, -32600)
        assert live.post(request("tools/list", None, 5), other).status == 200  # ids are each session's own
        live.open("first")
        assert reply.next()["result"]["content"] == text("first")
    assert live.post(request("tools/list", None, 5), session).status == 200


def test_two_clients_of_one_caller_may_each_have_a_session(theirs: Live) -> None:
    mine = {"authorization": "Bearer twice"}
    one, other = theirs.begin(**mine), theirs.begin("2025-06-18", **mine)
    with theirs.get(one, **mine) as first, theirs.get(other, **mine) as second:
        theirs.do(lambda: theirs.engine.changed("tools", "twice"))
        theirs.do(lambda: theirs.engine.changed("tools", "somebody else"))
        theirs.do(lambda: theirs.engine.changed("tools"))
        for stream in (first, second):
            blocks = [stream.block(), stream.block()]
            assert [block is not None and block.id for block in blocks] == ["0.1", "0.2"]


def test_a_batch_that_forgot_its_session_is_refused_as_a_whole(live: Live) -> None:
    with live.post([request("ping"), request("ping", message_id=2)], **{"mcp-protocol-version": "2025-03-26"}) as reply:
        assert reply.status == 400
        assert "Mcp-Session-Id" in reply.json()["error"]["message"]
