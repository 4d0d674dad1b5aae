"""Answers that are event streams: when they are, how they are framed, and what a closed connection means to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.transports.conftest import (
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
from webseam.protocol.request import Request
from webseam.protocol.revisions import HANDSHAKE, SUBSCRIPTION_KEY
from webseam.transports.sse import Stream

FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
LISTEN = {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}
PRIMED = "2025-11-25"


def listening(message_id: Any = 1, wanted: dict[str, Any] | None = None) -> dict[str, Any]:
    return modern("subscriptions/listen", {"notifications": LISTEN if wanted is None else wanted}, message_id)


def accepted(asked: dict[str, Any], name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"name": name}}}


async def quiet(call: Request) -> Any:
    return text("quiet")


async def counts(call: Request) -> Any:
    for number in range(1, 6):
        call.progress(number, 5, f"step {number}")
        await asyncio.sleep(0)
    return text("counted")


async def asks(call: Request) -> Any:
    answer = await call.elicit("Who?", FORM)
    return text(json.dumps(answer))


# ------------------------------------------------------------------------------------------------ JSON or a stream


def test_what_says_nothing_before_is_json_in_both_eras(live: Live) -> None:
    live.tools["quiet"] = quiet
    for reply in (live.post(call_of("quiet"), live.begin()), live.post(modern_call("quiet"))):
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        assert reply.json()["result"]["content"] == text("quiet")


@pytest.mark.parametrize("era", ["handshake", "modern", "without a session"])
def test_what_says_something_before_is_a_stream_that_ends_with_the_answer(live: Live, plain: Live, era: str) -> None:
    live.tools["counts"] = plain.tools["counts"] = counts
    if era == "handshake":
        reply = live.post(call_of("counts", "a"), live.begin("2025-06-18"))
    elif era == "modern":
        reply = live.post(modern_call("counts", "a"))
    else:
        reply = plain.post(call_of("counts", "a"), mcp_protocol_version="2025-06-18")
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/event-stream"
    assert reply.headers["x-accel-buffering"] == "no"
    assert "no-cache" in reply.headers["cache-control"]
    assert "content-length" not in reply.headers
    *before, answer = reply.rest()
    assert [message["method"] for message in before] == ["notifications/progress"] * 5
    assert [message["params"]["progress"] for message in before] == [1, 2, 3, 4, 5]
    assert {message["params"]["progressToken"] for message in before} == {"a"}
    assert (answer["id"], answer["result"]["content"]) == ("a", text("counted"))


def test_events_have_ids_in_a_session_and_none_elsewhere(live: Live, plain: Live) -> None:
    live.tools["counts"] = plain.tools["counts"] = counts
    for reply, with_ids in (
        (live.post(call_of("counts"), live.begin("2025-06-18")), True),
        (live.post(modern_call("counts")), False),
        (plain.post(call_of("counts")), False),
    ):
        with reply:
            blocks = list(iter(reply.block, None))
            assert [block.id is not None for block in blocks if block.data] == [with_ids] * 6
            assert len({block.id for block in blocks}) == (6 if with_ids else 1)


def test_ids_are_unique_across_the_streams_of_a_session(live: Live) -> None:
    live.tools["counts"] = counts
    session = live.begin()
    seen: list[str | None] = []
    for _ in range(4):
        with live.post(call_of("counts"), session) as reply:
            seen += [block.id for block in iter(reply.block, None)]
    with live.get(session) as stream:
        for _ in range(3):
            live.changed()
            block = stream.block()
            assert block is not None
            seen.append(block.id)
    assert len(set(seen)) == len(seen)


def test_a_provider_that_answers_at_once_streams_what_it_said_before(live: Live) -> None:
    def says(call: Request) -> Any:
        call.progress(1)
        call.log("warning", "careful")
        return text("said")

    live.tools["says"] = says
    for reply in (
        live.post(call_of("says"), live.begin()),
        live.post(call_of("says"), live.begin("2025-06-18")),
        live.post(modern_call("says", level="info")),
    ):
        assert reply.streams
        methods = [message.get("method") for message in reply.rest()]
        assert methods == ["notifications/progress", "notifications/message", None]


def test_a_provider_that_says_something_before_it_gives_its_work_is_heard_in_order(live: Live) -> None:
    async def later(call: Request) -> Any:
        call.progress(2)
        return text("done")

    def says(call: Request) -> Any:
        call.progress(1)
        return later(call)

    live.tools["says first"] = says
    for message, session in ((call_of("says first"), live.begin()), (modern_call("says first"), None)):
        reply = live.post(message, session)
        with reply:
            *before, answer = reply.rest()
        assert [message["params"]["progress"] for message in before] == [1, 2]
        assert answer["result"]["content"] == text("done")


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        None,
        "application/*",
        "application/json, text/html",
        "application/json, text/event-stream;q=0",
        "application/json;q=1, text/event-stream; charset=x; Q=0.000",
    ],
)
def test_a_client_that_takes_no_streams_gets_json_without_what_comes_before(live: Live, accept: str | None) -> None:
    live.tools["counts"] = counts
    for reply in (live.post(call_of("counts"), live.begin(), accept=accept), live.post(modern_call("counts"), accept=accept)):
        assert reply.headers["content-type"] == "application/json"
        assert reply.json()["result"]["content"] == text("counted")


@pytest.mark.parametrize(
    "accept",
    ["*/*", "text/event-stream;q=0.01, application/json", "TEXT/EVENT-STREAM, application/*"],
)
def test_a_client_may_say_in_many_ways_that_it_takes_streams(live: Live, accept: str) -> None:
    live.tools["counts"] = counts
    reply = live.post(modern_call("counts"), accept=accept)
    assert reply.streams
    assert len(reply.rest()) == 6


def test_asking_and_listening_without_streams_is_an_error_that_says_so(live: Live) -> None:
    live.tools["asks"] = asks
    asked = live.post(call_of("asks"), live.begin(), accept="application/json").json()
    assert asked["error"]["code"] in (-32600, -32603)
    reply = live.post(listening(), accept="application/json")
    assert reply.json()["error"]["code"] == -32603


def test_a_get_wants_a_client_that_takes_streams(live: Live) -> None:
    session = live.begin()
    for accept in ("application/json", "text/html", ""):
        reply = live.get(session, accept=accept)
        assert reply.status == 406
        assert "text/event-stream" in reply.json()["error"]["message"]
    for accept in ("*/*", "text/*", "application/json, text/event-stream"):
        with live.get(session, accept=accept) as stream:
            assert stream.streams
    with live.get(session) as stream:
        assert stream.headers["x-accel-buffering"] == "no"


def test_errors_in_a_stream_are_its_last_message(live: Live) -> None:
    async def breaks(call: Request) -> Any:
        call.progress(1)
        raise RuntimeError("the password is hunter2")

    live.tools["breaks"] = breaks
    for reply in (live.post(call_of("breaks"), live.begin()), live.post(modern_call("breaks"))):
        _, answer = reply.rest()
        assert answer["error"] == {"code": -32603, "message": "Internal error"}
    assert [str(fault) for fault in live.faults] == ["the password is hunter2"] * 2
    live.faults.clear()


# ------------------------------------------------------------------------------------------------ framing

AWKWARD = "a\r\nb\rc\n\nd\u2028e\u2029f\x85g\x0bh\x0ci data: j id: k\x00 \U0001f600 \ufeff"


def test_line_ends_and_unicode_separators_stay_within_their_event(live: Live) -> None:
    async def awkward(call: Request) -> Any:
        call.log("info", {AWKWARD: AWKWARD}, AWKWARD)
        call.progress(1, 2, AWKWARD)
        return text(AWKWARD)

    live.tools["awkward"] = awkward
    for reply in (live.post(call_of("awkward"), live.begin()), live.post(modern_call("awkward", level="info"))):
        log, progress, answer = reply.rest()
        assert log["params"]["data"] == {AWKWARD: AWKWARD}
        assert progress["params"]["message"] == AWKWARD
        assert answer["result"]["content"] == text(AWKWARD)


def test_json_that_a_provider_wrote_over_several_lines_is_one_event(live: Live) -> None:
    lines = b'{\n  "a":\r\n [1,\r 2]\n\n}'

    async def raw(call: Request) -> Any:
        call.log("info", msgspec.Raw(lines))
        return {"content": text("raw"), "structuredContent": msgspec.Raw(lines)}

    live.tools["raw"] = raw
    for reply in (live.post(call_of("raw"), live.begin()), live.post(modern_call("raw", level="info"))):
        log, answer = reply.rest()
        assert log["params"]["data"] == answer["result"]["structuredContent"] == {"a": [1, 2]}


def test_a_large_answer_after_a_message_comes_whole(live: Live) -> None:
    large = "x" * (LIMITS.stream_bytes + 1_000_000)

    async def big(call: Request) -> Any:
        call.progress(1)
        return text(large)

    live.tools["big"] = big
    for reply in (live.post(call_of("big"), live.begin()), live.post(modern_call("big"))):
        _, answer = reply.rest()
        assert answer["result"]["content"] == text(large)


@pytest.mark.parametrize("era", ["handshake", "modern", "at once"])
def test_more_messages_than_are_held_in_one_breath_do_not_cost_the_answer(live: Live, era: str) -> None:
    count = LIMITS.stream_messages * 3

    async def talks(call: Request) -> Any:
        for number in range(count):
            call.progress(number)
        return text("talked")

    def talks_at_once(call: Request) -> Any:
        for number in range(count):
            call.progress(number)
        return text("talked")

    live.tools["talks"] = talks_at_once if era == "at once" else talks
    reply = live.post(call_of("talks"), live.begin()) if era == "handshake" else live.post(modern_call("talks"))
    *before, answer = reply.rest()
    assert answer["result"]["content"] == text("talked")
    assert 0 < len(before) <= LIMITS.stream_messages
    numbers = [message["params"]["progress"] for message in before]
    assert numbers == sorted(numbers)


# ------------------------------------------------------------------------------------------------ keep-alive


def test_an_idle_call_gets_comments_and_then_its_answer(serve: Callable[..., Live]) -> None:
    live = serve(keep_alive_seconds=0.02)

    async def waits(call: Request) -> Any:
        await live.gate("go")
        return text("done")

    live.tools["waits"] = waits
    for message, session in ((call_of("waits"), live.begin("2025-06-18")), (modern_call("waits"), None)):
        with live.post(message, session) as reply:
            assert reply.streams
            for _ in range(3):
                block = reply.block()
                assert block is not None
                assert block.comment
                assert (block.id, block.data, block.retry) == (None, None, None)
            live.open("go")
            assert [answer["result"]["content"] for answer in reply.rest()] == [text("done")]


def test_listening_and_the_stream_of_a_session_get_comments(serve: Callable[..., Live]) -> None:
    live = serve(keep_alive_seconds=0.02)
    with live.post(listening()) as reply, live.get(live.begin()) as stream:
        assert reply.next()["method"] == "notifications/subscriptions/acknowledged"
        for one in (reply, stream):
            for _ in range(3):
                block = one.block()
                assert block is not None
                assert block.comment
        live.changed()
        assert reply.next()["method"] == stream.next()["method"] == "notifications/tools/list_changed"


def test_a_client_that_takes_no_streams_gets_no_comments(serve: Callable[..., Live]) -> None:
    live = serve(keep_alive_seconds=0.02)

    async def waits(call: Request) -> Any:
        await asyncio.sleep(0.1)
        return text("done")

    live.tools["waits"] = waits
    reply = live.post(modern_call("waits"), accept="application/json")
    assert reply.json()["result"]["content"] == text("done")


def test_comments_come_as_often_as_was_said() -> None:
    async def main() -> None:
        async def waits(call: Request) -> Any:
            await asyncio.sleep(100)
            return text("done")

        hand = await Hand(by_hand({"waits": waits}, keep_alive_seconds=15), modern_call("waits")).run()
        assert hand.body.count(b":\n\n") == 5  # the stream begins after 15 s, comments after 30, 45, 60, 75, 90
        assert hand.messages[-1]["result"]["content"] == text("done")

    timeless(main())


# ------------------------------------------------------------------------------------------------ questions


@pytest.mark.parametrize("revision", HANDSHAKE[:2])
def test_a_question_goes_out_on_the_stream_and_its_answer_comes_by_post(live: Live, revision: str) -> None:
    live.tools["asks"] = asks
    session = live.begin(revision)
    with live.post(call_of("asks", 7), session) as reply:
        asked = reply.next()
        assert (asked["method"], asked["params"]["message"]) == ("elicitation/create", "Who?")
        answered = live.post(accepted(asked, "Zoë"), session)
        assert (answered.status, answered.body) == (202, b"")
        answer = reply.next()
        assert answer["id"] == 7
        assert json.loads(answer["result"]["content"][0]["text"]) == {"action": "accept", "content": {"name": "Zoë"}}
        assert reply.next() is None


def test_questions_of_several_calls_are_answered_in_any_order(live: Live) -> None:
    live.tools["asks"] = asks
    session = live.begin()
    replies = [live.post(call_of("asks", number), session) for number in range(6)]
    asked = [reply.next() for reply in replies]
    assert len({question["id"] for question in asked}) == 6
    for number in (3, 0, 5, 1, 4, 2):
        assert live.post(accepted(asked[number], f"name {number}"), session).status == 202
    for number, reply in enumerate(replies):
        (answer,) = reply.rest()
        assert answer["id"] == number
        assert f"name {number}" in answer["result"]["content"][0]["text"]


def test_answers_to_nothing_are_taken_and_ignored(live: Live) -> None:
    live.tools["asks"] = asks
    session, other = live.begin(), live.begin()
    with live.post(call_of("asks"), session) as reply:
        asked = reply.next()
        assert live.post({**accepted(asked, "x"), "id": 999}, session).status == 202
        assert live.post({**accepted(asked, "x"), "id": str(asked["id"])}, session).status == 202
        assert live.post(accepted(asked, "other"), other).status == 202
        assert live.post(accepted(asked, "first"), session).status == 202
        assert live.post(accepted(asked, "second"), session).status == 202
        assert "first" in json.dumps(reply.next())


def test_an_answer_that_is_an_error_or_nonsense_ends_the_call_with_an_error(live: Live) -> None:
    live.tools["asks"] = asks
    session = live.begin()
    for said in ({"error": {"code": -1, "message": "No."}}, {"result": {"action": "perhaps"}}, {"result": 5}, {"error": 5}):
        with live.post(call_of("asks"), session) as reply:
            asked = reply.next()
            assert live.post({"jsonrpc": "2.0", "id": asked["id"], **said}, session).status == 202
            assert "error" in reply.next()
            assert reply.next() is None


def test_in_2026_a_question_is_the_result_and_no_request(live: Live) -> None:
    async def asks_after_progress(call: Request) -> Any:
        call.progress(1)
        return await asks(call)

    live.tools["asks"], live.tools["asks later"] = asks, asks_after_progress
    reply = live.post(modern_call("asks", capabilities={"elicitation": {}}))
    assert not reply.streams
    assert reply.json()["result"]["resultType"] == "input_required"
    messages = live.post(modern_call("asks later", capabilities={"elicitation": {}})).rest()
    assert [message.get("method") for message in messages] == ["notifications/progress", None]
    assert messages[-1]["result"]["resultType"] == "input_required"


def test_a_question_nobody_answers_is_given_up(serve: Callable[..., Live]) -> None:
    async def main() -> None:
        app = by_hand({"asks": asks})
        session = await begin_by_hand(app)
        hand = await Hand(app, call_of("asks"), headers={"mcp-session-id": session}).run()
        asked, gave_up, answer = hand.messages
        assert (asked["method"], gave_up["method"]) == ("elicitation/create", "notifications/cancelled")
        assert gave_up["params"]["requestId"] == asked["id"]
        assert answer["error"]["code"] == -32603

    timeless(main())


# ------------------------------------------------------------------------------------------------ a client that leaves


def test_in_2026_a_closed_stream_cancels_the_work_and_nothing_more_is_sent(live: Live) -> None:
    late: list[bool] = []

    async def works(call: Request) -> Any:
        call.progress(1)
        try:
            await live.gate("never")
        finally:
            call.progress(2)
            late.append(call.cancelled)

    live.tools["works"] = works
    reply = live.post(modern_call("works"))
    assert reply.next()["params"]["progress"] == 1
    reply.close()
    live.expect("never cancelled")
    assert live.do(lambda: list(late)) == [True]


def test_in_2026_a_provider_that_will_not_be_cancelled_is_not_answered() -> None:
    async def main() -> None:
        async def stubborn(call: Request) -> Any:
            call.progress(1)
            for _ in range(3):
                try:
                    await asyncio.sleep(1)
                except asyncio.CancelledError:
                    call.progress(5)
            return text("done all the same")

        hand = Hand(by_hand({"stubborn": stubborn}), modern_call("stubborn"))
        task = hand.start()
        await hand.until(lambda: hand.messages)
        hand.leave()
        await task
        assert [message.get("method") for message in hand.messages] == ["notifications/progress"]

    timeless(main())


def test_in_2026_a_client_that_leaves_before_anything_was_said_cancels_as_well() -> None:
    ended = []

    async def main() -> None:
        async def works(call: Request) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(call.cancelled)

        hand = Hand(by_hand({"works": works}), modern_call("works"))
        hand.leave()
        await hand.run()
        assert hand.sent == []

    timeless(main())
    assert ended == [True]


def test_in_the_handshake_era_the_work_goes_on_and_the_rest_is_had_by_get(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1)
        await live.gate("left")
        call.progress(2)
        live.mark("went on")
        await live.gate("back")
        call.progress(3)
        return text("done")

    live.tools["works"] = works
    session = live.begin()
    reply = live.post(call_of("works", 9), session)
    assert reply.next()["params"]["progress"] == 1
    last = reply.last_id
    reply.close()
    live.open("left")
    live.expect("went on")
    with live.get(session, last) as again:
        assert again.streams
        assert again.next()["params"]["progress"] == 2
        live.open("back")
        assert again.next()["params"]["progress"] == 3
        assert again.next()["result"]["content"] == text("done")
        assert again.next() is None


def test_an_answer_that_came_while_nobody_was_there_is_kept(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1)
        await live.gate("gone")
        call.on_cancel(lambda: live.mark("cancelled"))
        return text("done")

    live.tools["works"] = works
    session = live.begin()
    reply = live.post(call_of("works"), session)
    reply.next()
    last = reply.last_id
    reply.close()
    live.open("gone")
    for _ in range(2):  # as often as it takes
        assert [message.get("result", {}).get("content") for message in live.get(session, last).rest()] == [text("done")]
    with live.get(session, last) as again:
        again.next()
        assert live.get(session, again.last_id).rest() == []  # and nothing after the end
    assert not live.marked("cancelled")


def test_a_question_asked_while_nobody_was_there_can_still_be_answered(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1)
        await live.gate("left then")
        return await asks(call)

    live.tools["works"] = works
    session = live.begin()
    reply = live.post(call_of("works"), session)
    reply.next()
    reply.close()
    live.open("left then")
    with live.get(session, reply.last_id) as again:
        assert live.post(accepted(again.next(), "back"), session).status == 202
        assert "back" in json.dumps(again.next())


def test_a_client_may_resume_before_its_old_connection_is_known_to_be_dead(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1)
        await live.gate("resumed")
        call.progress(2)
        return text("done")

    live.tools["works"] = works
    session = live.begin()
    with live.post(call_of("works"), session) as old:
        assert old.next()["params"]["progress"] == 1
        with live.get(session, old.last_id) as new:
            assert old.next() is None  # it was taken over
            live.open("resumed")
            assert [message.get("params", {}).get("progress") for message in new.rest()] == [2, None]


def test_the_end_of_a_dead_connection_does_not_end_the_one_that_took_over() -> None:
    async def main() -> None:
        gate = asyncio.Event()

        async def works(call: Request) -> Any:
            call.progress(1)
            await gate.wait()
            return text("done")

        app = by_hand({"works": works})
        session = await begin_by_hand(app)
        old = Hand(app, call_of("works"), headers={"mcp-session-id": session})
        task = old.start()
        await old.until(lambda: old.messages)
        old.blocked = asyncio.Event()  # the network is gone, and nobody knows yet
        new = Hand(app, None, "GET", {"accept": "text/event-stream", "mcp-session-id": session, "last-event-id": "1.1"})
        resumed = new.start()
        await new.until(lambda: new.messages)
        old.leave()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not resumed.done()
        gate.set()
        await resumed
        assert new.messages[-1]["result"]["content"] == text("done")
        old.blocked.set()
        await task

    timeless(main())


# ------------------------------------------------------------------------------------------------ resumption


def test_only_the_stream_of_the_id_is_resumed(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1, message=str(call.id))
        await live.gate(f"go {call.id}")
        return text(f"done {call.id}")

    live.tools["works"] = works
    session = live.begin()
    first, second = live.post(call_of("works", 1), session), live.post(call_of("works", 2), session)
    assert first.next()["params"]["message"] == "1"
    assert second.next()["params"]["message"] == "2"
    first.close()
    second.close()
    live.changed()
    live.open("go 1")
    live.open("go 2")
    for reply, number in ((second, 2), (first, 1)):
        (answer,) = live.get(session, reply.last_id).rest()
        assert (answer["id"], answer["result"]["content"]) == (number, text(f"done {number}"))
    with live.get(session) as general:
        assert general.next()["method"] == "notifications/tools/list_changed"


def test_the_general_stream_never_carries_an_answer(live: Live) -> None:
    live.tools["counts"] = counts
    session = live.begin()
    with live.get(session) as general:
        assert len(live.post(call_of("counts"), session).rest()) == 6
        live.changed()
        assert general.next()["method"] == "notifications/tools/list_changed"


def test_the_general_stream_is_resumed_where_it_broke_off(live: Live) -> None:
    session = live.begin()
    live.post(request("resources/subscribe", {"uri": "memo://one"}), session)
    general = live.get(session)
    live.changed()
    assert general.next()["method"] == "notifications/tools/list_changed"
    general.close()
    live.do(lambda: live.engine.updated("memo://one"))
    live.do(lambda: live.engine.updated("memo://other"))
    with live.get(session, general.last_id) as again:
        assert again.next()["params"] == {"uri": "memo://one"}
    with live.get(session) as fresh:  # what was handed out is not handed out again
        live.changed()
        assert fresh.next()["method"] == "notifications/tools/list_changed"


@pytest.mark.parametrize(
    "last",
    [
        "",
        "x",
        "0",
        ".",
        "0.",
        ".0",
        "0.1",
        "0.-1",
        "9.0",
        "1.0",
        "0.0.0",
        "00.0",
        "0.99999999999999999999",
        "0.٣",
        "0.1e0",
        "a" * 4000,
    ],
)
def test_an_unknown_last_event_id_is_400(live: Live, last: str) -> None:
    session = live.begin()
    reply = live.get(session, last.encode().decode("latin-1"))
    assert reply.status == 400
    assert "Last-Event-ID" in reply.json()["error"]["message"]


def test_an_id_of_another_session_is_400(live: Live) -> None:
    live.tools["counts"] = counts
    one, other = live.begin(), live.begin()
    with live.post(call_of("counts"), one) as reply:
        list(iter(reply.block, None))
        assert live.get(other, reply.last_id).status == 400
        assert live.get(one, reply.last_id).rest() == []


def test_what_is_not_held_any_more_is_400_and_not_a_gap(live: Live) -> None:
    async def talks(call: Request) -> Any:
        for number in range(LIMITS.stream_messages * 2):
            call.progress(number)
            await asyncio.sleep(0)
        return text("talked")

    live.tools["talks"] = talks
    session = live.begin()
    with live.post(call_of("talks"), session) as reply:
        first = reply.block()
        assert first is not None
        list(iter(reply.block, None))
        assert live.get(session, first.id).status == 400
        assert live.get(session, reply.last_id).rest() == []


def test_a_second_get_takes_over_the_first(live: Live) -> None:
    session = live.begin()
    with live.get(session) as first, live.get(session) as second:
        assert first.next() is None
        for number in range(3):
            live.changed()
            assert second.next()["method"] == "notifications/tools/list_changed", number
        with live.get(session, second.last_id) as third:
            assert second.next() is None
            live.changed()
            assert third.next()["method"] == "notifications/tools/list_changed"


def test_each_change_is_sent_to_one_stream_of_a_session(live: Live) -> None:
    async def waits(call: Request) -> Any:
        call.progress(1)
        await live.gate("changed")
        return text("done")

    live.tools["waits"] = waits
    session = live.begin()
    with live.get(session) as general, live.post(call_of("waits"), session) as reply:
        reply.next()
        live.changed()
        assert general.next()["method"] == "notifications/tools/list_changed"
        live.open("changed")
        assert [message.get("method") for message in reply.rest()] == [None]


# ------------------------------------------------------------------------------------------------ priming and polling


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_stream_is_primed_from_2025_11_25_on_only(live: Live, revision: str) -> None:
    live.tools["counts"] = counts
    with live.post(call_of("counts"), live.begin(revision)) as reply:
        block = reply.block()
        assert block is not None
        assert block.id is not None
        if revision == PRIMED:
            assert block.data == ""
            assert block.retry == LIMITS.retry_ms
        else:
            assert block.message["method"] == "notifications/progress"


def test_in_2026_nothing_is_primed_and_nothing_retried(live: Live) -> None:
    live.tools["counts"] = counts
    with live.post(modern_call("counts")) as reply:
        for block in iter(reply.block, None):
            assert block.data
            assert (block.id, block.retry) == (None, None)


def test_a_call_that_takes_long_is_primed_before_it_says_anything(live: Live) -> None:
    async def waits(call: Request) -> Any:
        await live.gate("primed")
        return text("done")

    live.tools["waits"] = waits
    session = live.begin()
    reply = live.post(call_of("waits"), session)
    block = reply.block()
    assert block is not None
    assert (block.data, block.comment) == ("", False)
    reply.close()
    live.open("primed")
    (answer,) = live.get(session, block.id).rest()
    assert answer["result"]["content"] == text("done")


@pytest.mark.parametrize("retry_ms", [None, 5])
def test_a_provider_may_hang_up_and_the_client_comes_back(live: Live, retry_ms: int | None) -> None:
    async def polls(call: Request) -> Any:
        call.progress(1)
        call.close_stream(retry_ms)
        await live.gate("polled")
        return text("done")

    live.tools["polls"] = polls
    session = live.begin()
    reply = live.post(call_of("polls"), session)
    with reply:
        blocks = list(iter(reply.block, None))
    assert blocks[0].data == ""
    assert blocks[1].message["params"]["progress"] == 1
    assert blocks[-1].retry == (LIMITS.retry_ms if retry_ms is None else retry_ms)
    assert not any("result" in (block.message or {}) for block in blocks)
    live.open("polled")
    (answer,) = live.get(session, reply.last_id).rest()
    assert answer["result"]["content"] == text("done")


def test_hanging_up_at_once_leaves_the_client_an_id(live: Live) -> None:
    async def polls(call: Request) -> Any:
        call.close_stream()
        await live.gate("hung up")
        return text("done")

    live.tools["polls"] = polls
    session = live.begin()
    reply = live.post(call_of("polls"), session)
    assert reply.rest() == []
    assert reply.last_id is not None
    with live.get(session, reply.last_id) as again:
        live.open("hung up")
        assert again.next()["result"]["content"] == text("done")


@pytest.mark.parametrize("how", ["2025-06-18", "2025-03-26", "modern", "without a session"])
def test_where_a_client_cannot_come_back_nobody_hangs_up(live: Live, plain: Live, how: str) -> None:
    async def polls(call: Request) -> Any:
        call.close_stream(1)
        await asyncio.sleep(0.1)
        call.close_stream(1)
        return text("done")

    live.tools["polls"] = plain.tools["polls"] = polls
    if how == "modern":
        reply = live.post(modern_call("polls"))
    elif how == "without a session":
        reply = plain.post(call_of("polls"), mcp_protocol_version=PRIMED)
    else:
        reply = live.post(call_of("polls"), live.begin(how))
    answer = reply.rest()[-1] if reply.streams else reply.json()
    assert answer["result"]["content"] == text("done")


# ------------------------------------------------------------------------------------------------ resumable answers


@pytest.mark.parametrize("kind", ["at once", "soon"])
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
def test_with_resumable_answers_everything_in_a_session_is_a_stream(
    serve: Callable[..., Live], revision: str, kind: str
) -> None:
    live = serve(resumable_answers=True)
    live.tools["quiet"] = (lambda call: text("quiet")) if kind == "at once" else quiet
    session = live.begin(revision)
    with live.post(call_of("quiet"), session) as reply:
        assert reply.streams
        first = reply.block()
        assert first is not None
        answer = first.message if first.data else reply.next()
        assert answer["result"]["content"] == text("quiet")
        if revision == PRIMED:
            assert live.get(session, first.id).rest() == [answer]
    assert not live.post(modern_call("quiet")).streams
    assert live.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status == 202
    assert not live.post(call_of("quiet"), session, accept="application/json").streams


# ------------------------------------------------------------------------------------------------ slow readers


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_flood_to_a_client_that_does_not_read_is_held_within_bounds(era: str) -> None:
    async def main() -> None:
        held: list[int] = []

        async def floods(call: Request) -> Any:
            for number in range(100_000):
                call.progress(number, message="x" * 100)
                if number % 1_000 == 0:
                    stream = call.channel.stream  # type: ignore[union-attr]  # the exchange's
                    held.append(len(stream._events))
                    assert stream._size <= LIMITS.stream_bytes
                    await asyncio.sleep(0)
            return text("flooded")

        app = by_hand({"floods": floods})
        headers = {"mcp-session-id": await begin_by_hand(app)} if era == "handshake" else {}
        hand = Hand(app, call_of("floods") if era == "handshake" else modern_call("floods"), headers=headers)
        hand.blocked = asyncio.Event()
        task = hand.start()
        while len(held) < 100:
            await asyncio.sleep(0)
        assert max(held) <= LIMITS.stream_messages
        hand.blocked.set()
        await task
        assert hand.messages[-1]["result"]["content"] == text("flooded")

    timeless(main())


def test_a_question_is_not_pushed_out_by_progress() -> None:
    async def main() -> None:
        async def floods(call: Request) -> Any:
            asking = asyncio.ensure_future(asks(call))
            await asyncio.sleep(0)
            for number in range(LIMITS.stream_messages * 2):
                call.progress(number)
            return await asking

        app = by_hand({"floods": floods})
        session = await begin_by_hand(app)
        hand = Hand(app, call_of("floods"), headers={"mcp-session-id": session})
        task = hand.start()
        await hand.until(lambda: any(message.get("method") == "elicitation/create" for message in hand.messages))
        asked = next(message for message in hand.messages if message["method"] == "elicitation/create")
        await Hand(app, accepted(asked, "x"), headers={"mcp-session-id": session}).run()
        await task
        assert "result" in hand.messages[-1]

    timeless(main())


def test_a_listener_that_does_not_read_is_dropped_rather_than_told_half() -> None:
    async def main() -> None:
        app = by_hand()
        hand = Hand(app, listening())
        task = hand.start()
        await hand.until(lambda: hand.messages)
        hand.blocked = asyncio.Event()
        for _ in range(LIMITS.stream_messages + 2):
            app.engine.changed("tools")
        await asyncio.sleep(0)
        assert not app.engine._changes._listeners  # it is told nothing more
        await task  # and its place is free, although it still does not read
        told = len(hand.messages) - 1
        assert told < LIMITS.stream_messages + 2
        assert not hand.complete  # the connection breaks: no stream ends as if all had been said

    timeless(main())


def test_a_session_whose_client_does_not_read_loses_its_connection_and_learns_what_it_missed() -> None:
    async def main() -> None:
        app = by_hand()
        session = await begin_by_hand(app)
        general = Hand(app, method="GET", headers={"mcp-session-id": session})
        task = general.start()
        await general.begun()
        app.engine.changed("tools")
        await general.until(lambda: general.messages)
        general.blocked = asyncio.Event()
        kept = app.sessions.get(session, "")
        assert kept is not None
        push = kept.protocol.push
        assert push is not None
        for number in range(LIMITS.stream_messages + 3):
            push(b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"memo://%d"}}' % number)
        await task
        assert not general.complete
        first = general.body.decode().partition("id: ")[2].partition("\n")[0]
        again = Hand(app, method="GET", headers={"mcp-session-id": session, "last-event-id": first})
        assert (await again.run()).status == 400

    timeless(main())


def test_a_listener_that_reads_misses_nothing(live: Live) -> None:
    with live.post(listening("sub")) as reply:
        acknowledged = reply.next()
        assert acknowledged["params"]["notifications"] == LISTEN
        for _ in range(3):
            live.changed(LIMITS.stream_messages // 2)
            for _ in range(LIMITS.stream_messages // 2):
                message = reply.next()
                assert message["method"] == "notifications/tools/list_changed"
                assert message["params"]["_meta"] == {SUBSCRIPTION_KEY: "sub"}


def test_a_session_that_nobody_listens_to_holds_the_newest_changes_and_each_once(live: Live) -> None:
    session = live.begin()
    live.changed(LIMITS.stream_messages * 3)
    with live.get(session) as general:
        assert general.next()["method"] == "notifications/tools/list_changed"
        live.changed()
        again = general.block()
        assert again is not None
        assert again.id == "0.2"


def test_a_stream_that_is_not_kept_forgets_what_it_wrote() -> None:
    async def main() -> None:
        stream, written = Stream(), bytearray()

        async def write(data: bytes) -> None:
            written.extend(data)

        writer = asyncio.ensure_future(stream.write_to(write, 1))
        for number in range(10):
            stream.put(b"%d" % number)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        stream.end()
        await writer
        assert written == b"".join(b"data: %d\n\n" % number for number in range(10))
        assert (len(stream._events), stream._size) == (0, 0)

    timeless(main())


def test_a_stream_that_is_kept_makes_room_by_what_was_written_and_loses_nothing_for_a_reader() -> None:
    async def main() -> None:
        spent: list[int] = []
        stream, written = Stream("1", kept=True, spent=spent.append), asyncio.Queue[bytes]()
        writer = asyncio.ensure_future(stream.write_to(written.put, 1_000))
        message = b"x" * (LIMITS.stream_bytes // 4)
        for number in range(1, 20, 2):
            stream.put(message, keep=False)
            stream.put(message, keep=False)
            data = await written.get()
            assert data.startswith(b"id: 1.%d\n" % number)
            assert data.count(b"id: ") == 2
            assert stream._size <= LIMITS.stream_bytes
        assert stream.has_after(18)
        assert not stream.has_after(1)
        stream.end()
        await writer
        stream.forget()
        assert sum(spent) == 0

    timeless(main())


def test_what_waits_for_nobody_keeps_half_the_room_for_what_must_be_kept() -> None:
    stream = Stream("1", kept=True)
    for _ in range(LIMITS.stream_messages * 2):
        stream.put(b"progress", keep=False)
    assert stream.last == LIMITS.stream_messages // 2
    for _ in range(LIMITS.stream_messages // 2):
        stream.put(b"question")
    assert stream.has_after(0)
    stream.end(b"answer" * LIMITS.stream_bytes)
    assert stream.has_after(0)
    assert stream.last == LIMITS.stream_messages + 1


# ------------------------------------------------------------------------------------------------ changes


def test_a_listener_gets_what_it_asked_for_and_nothing_else(live: Live) -> None:
    with (
        live.post(listening("tools", {"toolsListChanged": True})) as tools,
        live.post(listening("memo", {"resourceSubscriptions": ["memo://one", "memo://fixed"]})) as memo,
    ):
        assert tools.next()["params"]["notifications"] == {"toolsListChanged": True}
        assert memo.next()["params"]["notifications"] == {"resourceSubscriptions": ["memo://one"]}
        live.do(lambda: live.engine.updated("memo://one"))
        live.do(lambda: live.engine.updated("memo://fixed"))
        live.changed()
        live.do(lambda: live.engine.updated("memo://one"))
        assert tools.next()["method"] == "notifications/tools/list_changed"
        for _ in range(2):
            assert memo.next()["params"] == {"_meta": {SUBSCRIPTION_KEY: "memo"}, "uri": "memo://one"}


def test_a_listener_that_leaves_is_forgotten(live: Live) -> None:
    def listeners() -> int:
        return live.do(lambda: len(live.engine._changes._listeners))

    async def gone() -> None:
        while live.engine._changes._listeners:
            await asyncio.sleep(0)

    replies = [live.post(listening(number)) for number in range(5)]
    for reply in replies:
        reply.next()
    assert listeners() == 5
    for reply in replies:
        reply.close()
    live.wait(gone())


def test_messages_of_a_call_never_come_on_a_listen_stream(live: Live) -> None:
    live.tools["counts"] = counts
    with live.post(listening("l")) as reply:
        reply.next()
        assert len(live.post(modern_call("counts", "c", level="debug")).rest()) == 6
        live.changed()
        assert reply.next()["method"] == "notifications/tools/list_changed"


def test_a_session_is_told_of_changes_only_once_it_is_initialized(live: Live) -> None:
    begun = live.post(request("initialize", {"protocolVersion": PRIMED, "capabilities": {}}))
    session = begun.headers["mcp-session-id"]
    live.changed()
    assert live.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session).status == 202
    live.post(request("resources/subscribe", {"uri": "memo://one"}), session)
    live.do(lambda: live.engine.updated("memo://one"))
    with live.get(session) as general:
        assert general.next()["method"] == "notifications/resources/updated"


# ------------------------------------------------------------------------------------------------ cancellation in a session


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
@pytest.mark.parametrize("kind", ["streaming", "silent", "stubborn"])
def test_a_call_cancelled_in_a_session_is_not_answered(live: Live, revision: str, kind: str) -> None:
    gate = f"cancel {revision} {kind}"

    async def works(call: Request) -> Any:
        if kind == "streaming":
            call.progress(1)
        try:
            await live.gate(gate)
        except asyncio.CancelledError:
            if kind != "stubborn":
                raise
        call.progress(2)
        return text("done")

    live.tools["works"] = works
    session = live.begin(revision)

    def cancel() -> None:
        live.expect(gate)
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5, "reason": "no"}}
        assert live.post(told, session).status == 202

    import threading

    canceller = threading.Thread(target=cancel)
    canceller.start()
    reply = live.post(call_of("works", 5), session)
    messages = reply.rest() if reply.streams else ([] if not reply.body else [reply.json()])
    canceller.join()
    live.expect(f"{gate} cancelled")
    assert reply.status in (200, 202)
    assert [message.get("method") for message in messages] == ["notifications/progress"] * (kind == "streaming")
    live.tools["counts"] = counts
    assert live.post(call_of("counts", 5), session).rest()[-1]["id"] == 5  # its id is free again


def test_a_cancellation_reaches_only_its_own_session(live: Live) -> None:
    async def works(call: Request) -> Any:
        call.progress(1)
        await live.gate("others")
        return text("done")

    live.tools["works"] = works
    session, other = live.begin(), live.begin()
    with live.post(call_of("works", 5), session) as reply:
        reply.next()
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
        live.post(told, other)
        live.post(told)
        live.open("others")
        assert reply.next()["result"]["content"] == text("done")


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_what_is_said_after_the_answer_is_not_sent(era: str) -> None:
    async def main() -> None:
        left = []

        async def lingers(call: Request) -> None:
            for number in range(3):
                await asyncio.sleep(1)
                call.progress(number)
                call.close_stream(1)

        async def forgets(call: Request) -> Any:
            left.append(asyncio.ensure_future(lingers(call)))
            return text("done")

        app = by_hand({"forgets": forgets})
        session = await begin_by_hand(app)
        headers = {"mcp-session-id": session} if era == "handshake" else {}
        hand = Hand(app, call_of("forgets") if era == "handshake" else modern_call("forgets"), headers=headers)
        await hand.run()
        before = len(hand.sent)
        await asyncio.wait(left)
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(hand.sent) == before
        found = app.sessions.get(session, "")
        assert found is not None
        assert all(stream.ended for stream in found.streams.values())  # none is kept open for ever

    timeless(main())
