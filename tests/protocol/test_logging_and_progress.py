"""What a call says before its answer: log messages (server/utilities/logging) and progress (basic/patterns/progress)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol import Engine, Request, Session
from webseam.protocol.jsonrpc import LEVELS
from webseam.protocol.revisions import HANDSHAKE, REVISIONS
from webseam.transports.memory import MemoryClient

MODERN = "2026-07-28"
LEVEL = "io.modelcontextprotocol/logLevel"
OFTEN = 20
"""Enough for whatever an engine only does once it is warm."""
Speak = Callable[[Request], Any]


class Speaker:
    """Says what it is made to say, and then answers: at once, or later."""

    logs = True

    def __init__(self, speak: Speak) -> None:
        self.speak = speak

    def list(self, cursor: str | None) -> Any:
        return []

    def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        self.speak(call)
        return [{"type": "text", "text": "said"}]


class LaterSpeaker(Speaker):
    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        await asyncio.sleep(0)
        return Speaker.call(self, name, arguments, call)


KINDS: tuple[type[Speaker], ...] = (Speaker, LaterSpeaker)


@pytest.fixture
def heard(talk: Any, request_of: Any, wire: Any) -> Callable[..., list[Any]]:
    """What the client hears before the answer, whether the provider answers at once or later; it is the same."""

    def listen(speak: Speak, revision: str = MODERN, *, level: str | None = None, meta: Any = None, session: Any = "") -> Any:
        async def main(kind: type[Speaker], with_channel: bool) -> list[Any]:
            engine = Engine().register_provider(kind(speak))
            own = Session()
            own.revision, own.log_level = revision, level
            channel = wire() if with_channel else None
            given = None if revision == MODERN else (own if session == "" else session)
            message = request_of("tools/call", {"name": "t", "_meta": meta or {}}, revision)
            _, reply, before = await talk(engine, message, channel=channel, session=given)
            assert reply["result"]["content"] == [{"type": "text", "text": "said"}]
            return [*channel.sent, *before] if channel is not None else before

        alike = [asyncio.run(main(kind, with_channel)) for kind in KINDS for with_channel in (False, True)]
        assert all(each == alike[0] for each in alike)
        return alike[0]

    return listen


# ------------------------------------------------------------------------------------------------ progress


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("token", ["abc", "", 0, 7, -1, "\u00e9"])
def test_progress_carries_the_token_that_the_client_chose(heard: Any, revision: str, token: Any) -> None:
    def speak(call: Request) -> None:
        assert call.progress_token == token
        call.progress(1, 4, "reading")
        call.progress(2.5)

    first, second = heard(speak, revision, meta={"progressToken": token})
    words = {"message": "reading"} if revision != "2024-11-05" else {}  # which had no words for it
    assert first == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1, "total": 4, **words},
    }
    assert second["params"] == {"progressToken": token, "progress": 2.5}


@pytest.mark.parametrize("revision", REVISIONS)
def test_without_a_token_there_is_no_progress(heard: Any, revision: str) -> None:
    assert heard(lambda call: call.progress(1), revision) == []


@pytest.mark.parametrize("token", [1.5, True, None, [], {}, "ok"])
def test_a_token_that_is_neither_string_nor_integer_is_refused(ask: Any, token: Any) -> None:
    for revision in REVISIONS:
        _, reply = ask("tools/list", {"_meta": {"progressToken": token}}, revision)
        assert reply.get("error", {}).get("code") == (None if token == "ok" else -32602)


def test_progress_only_counts_up(heard: Any) -> None:
    """ "The progress value MUST increase with each notification.\""""

    def speak(call: Request) -> None:
        for value in (0, 0, -1, 1, 1, 0.5, 1.5, 1.5, 3, 2):
            call.progress(value)

    told = heard(speak, meta={"progressToken": 1})
    assert [message["params"]["progress"] for message in told] == [0, 1, 1.5, 3]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_progress_that_is_no_number_is_not_sent(heard: Any, value: float) -> None:
    def speak(call: Request) -> None:
        call.progress(value)
        call.progress(1, value)

    told = heard(speak, meta={"progressToken": 1})
    assert all(type(message["params"]["progress"]) in (int, float) for message in told)
    assert all(type(message["params"].get("total", 0)) in (int, float) for message in told)


def test_each_request_counts_for_itself(wire: Any, talk: Any, request_of: Any) -> None:
    async def main() -> None:
        engine = Engine().register_provider(LaterSpeaker(lambda call: call.progress(1)))
        channel = wire()
        for token in ("a", "b"):
            await talk(
                engine, request_of("tools/call", {"name": "t", "_meta": {"progressToken": token}}, MODERN), channel=channel
            )
        assert [message["params"]["progressToken"] for message in channel.sent] == ["a", "b"]

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_said_once_the_answer_is_given(kind: type[Speaker], wire: Any, talk: Any, request_of: Any) -> None:
    """ "Progress notifications MUST stop after completion", and log messages come "before the final response"."""
    calls: list[Request] = []

    def speak(call: Request) -> None:
        calls.append(call)
        call.progress(1)

    async def main() -> None:
        engine = Engine().register_provider(kind(speak))
        channel = wire()
        meta = {"progressToken": "t", LEVEL: "debug"}
        outcome = engine.receive(json.dumps(request_of("tools/call", {"name": "t", "_meta": meta}, MODERN)).encode())
        if outcome.work is not None:
            assert outcome.request is not None
            outcome.request.attach(channel)
            outcome = await outcome.work
        said = len(channel.sent) + len(outcome.before or ())
        assert said == 1
        calls[0].progress(2)
        calls[0].log("error", "late")
        assert len(channel.sent) + len(outcome.before or ()) == said

    asyncio.run(main())


def test_nothing_is_said_once_the_request_is_cancelled(wire: Any, under_way: Any, request_of: Any) -> None:
    class Stubborn(Speaker):
        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            try:
                call.progress(1)
                await asyncio.Event().wait()
            finally:
                call.progress(2)
                call.log("emergency", "still here")

    async def main() -> None:
        engine = Engine().register_provider(Stubborn(print))
        channel = wire()
        meta = {"progressToken": "t", LEVEL: "debug"}
        async with under_way(engine, request_of("tools/call", {"name": "t", "_meta": meta}, MODERN), channel):
            await channel.until(1)
        assert len(channel.sent) == 1

    asyncio.run(main())


def test_what_is_said_before_the_work_begins_comes_first(wire: Any, talk: Any, request_of: Any) -> None:
    """A plain function may speak and then give a coroutine: the channel is attached in between."""

    class Half(Speaker):
        def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            call.progress(1)

            async def rest() -> Any:
                call.progress(2)
                return []

            return rest()

    async def main() -> None:
        engine = Engine().register_provider(Half(print))
        channel = wire()
        message = request_of("tools/call", {"name": "t", "_meta": {"progressToken": "t"}}, MODERN)
        _, _, before = await talk(engine, message, channel=channel)
        assert [said["params"]["progress"] for said in [*channel.sent, *before]] == [1, 2]

    asyncio.run(main())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [ProtocolError(-32602, "No."), RuntimeError("secret")])
def test_what_was_said_before_an_error_is_heard(
    kind: type[Speaker], error: Exception, wire: Any, talk: Any, request_of: Any
) -> None:
    def speak(call: Request) -> None:
        call.log("error", "it is going wrong")
        raise error

    async def main() -> None:
        engine = Engine().register_provider(kind(speak))
        channel = wire()
        message = request_of("tools/call", {"name": "t", "_meta": {LEVEL: "debug"}}, MODERN)
        _, reply, before = await talk(engine, message, channel=channel)
        assert "error" in reply
        assert [said["params"]["data"] for said in [*channel.sent, *before]] == ["it is going wrong"]

    asyncio.run(main())


def test_without_a_channel_no_more_is_kept_than_a_stream_would_hold(talk: Any, request_of: Any) -> None:
    def speak(call: Request) -> None:
        for number in range(LIMITS.stream_messages * 2):
            call.progress(number)

    async def main() -> None:
        for kind in KINDS:
            engine = Engine().register_provider(kind(speak))
            message = request_of("tools/call", {"name": "t", "_meta": {"progressToken": "t"}}, MODERN)
            _, _, before = await talk(engine, message)
            assert len(before) == LIMITS.stream_messages

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ log messages


def everything(call: Request) -> None:
    for level in LEVELS:
        call.log(level, {"said": level}, "the logger")


@pytest.mark.parametrize("wanted", LEVELS)
def test_a_request_hears_from_its_level_up(heard: Any, wanted: str) -> None:
    told = heard(everything, meta={LEVEL: wanted})
    assert [message["params"]["level"] for message in told] == list(LEVELS[LEVELS.index(wanted) :])
    assert told[0] == {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": wanted, "logger": "the logger", "data": {"said": wanted}},
    }


def test_a_request_that_names_no_level_hears_nothing(heard: Any) -> None:
    """2026-07-28, server/utilities/logging: MUST NOT, whatever a session of the other era agreed on."""
    assert heard(everything) == []


def test_a_modern_request_on_a_session_is_not_told_by_the_level_of_the_session(talk: Any, request_of: Any) -> None:
    async def main() -> None:
        session = Session()
        session.revision, session.log_level = HANDSHAKE[0], "debug"
        engine = Engine().register_provider(Speaker(everything))
        _, _, before = await talk(engine, request_of("tools/call", {"name": "t"}, MODERN), session=session)
        assert before == []

    asyncio.run(main())


@pytest.mark.parametrize("level", ["", "Debug", "warn", "fatal", "x" * 10_000])
def test_a_level_that_is_none_is_refused(ask: Any, level: str) -> None:
    status, reply = ask("tools/list", {"_meta": {LEVEL: level}}, MODERN)
    assert (status, reply["error"]["code"]) == (400, -32602)
    assert "emergency" in reply["error"]["message"]
    engine = Engine().register_provider(Speaker(everything))
    assert ask("logging/setLevel", {"level": level}, HANDSHAKE[0], to=engine)[1]["error"]["code"] == -32602
    with pytest.raises(ValueError, match="emergency"):
        Request().log(level, "x")


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize("wanted", LEVELS)
def test_a_session_hears_from_its_level_up(revision: str, wanted: str) -> None:
    async def main() -> None:
        client = MemoryClient(Engine().register_provider(Speaker(everything)), revision=revision)
        assert await client.request("logging/setLevel", {"level": wanted}) == {}
        await client.request("tools/call", {"name": "t"})
        assert [message["params"]["level"] for message in client.received] == list(LEVELS[LEVELS.index(wanted) :])

    asyncio.run(main())


def test_a_session_that_never_said_hears_what_is_worth_hearing(heard: Any) -> None:
    assert [message["params"]["level"] for message in heard(everything, HANDSHAKE[0])] == list(LEVELS[1:])


def test_without_a_session_there_is_no_level_and_no_log(heard: Any, ask: Any) -> None:
    assert heard(everything, HANDSHAKE[0], session=None) == []
    engine = Engine().register_provider(Speaker(everything))
    how = {"to": engine, "headers": {}}
    assert ask("logging/setLevel", {"level": "debug"}, HANDSHAKE[0], **how)[1]["error"]["code"] == -32601
    assert "logging" not in ask("initialize", {}, HANDSHAKE[0], **how)[1]["result"]["capabilities"]


def test_logging_is_advertised_and_served_only_where_a_provider_logs(ask: Any, heard: Any) -> None:
    engine = Engine().register_provider(Speaker(everything))
    assert ask("initialize", {}, to=engine)[1]["result"]["capabilities"] == {"tools": {}, "logging": {}}
    assert ask("server/discover", None, MODERN, to=engine)[1]["result"]["capabilities"]["logging"] == {}
    assert ask("logging/setLevel", {"level": "debug"})[1]["error"]["code"] == -32601

    class Silent(Speaker):
        logs = False

    async def main() -> None:
        faults: list[BaseException] = []
        client = MemoryClient(Engine(on_fault=faults.append).register_provider(Silent(everything)))
        with pytest.raises(ProtocolError):
            await client.request("tools/call", {"name": "t"})
        assert client.received == []
        assert ["logs = True" in str(fault) for fault in faults] == [True]

    asyncio.run(main())


@pytest.mark.parametrize("data", ["text", 5, None, True, [1], {"a": {"b": "\u00e9\n"}}])
def test_any_json_value_may_be_logged(heard: Any, data: Any) -> None:
    [told] = heard(lambda call: call.log("error", data), meta={LEVEL: "debug"})
    assert told["params"] == {"level": "error", "data": data}


def test_the_level_of_one_session_is_not_that_of_another() -> None:
    async def main() -> None:
        engine = Engine().register_provider(Speaker(everything))
        quiet, loud = MemoryClient(engine), MemoryClient(engine)
        await quiet.request("logging/setLevel", {"level": "emergency"})
        await loud.request("logging/setLevel", {"level": "debug"})
        for client in (quiet, loud):
            await client.request("tools/call", {"name": "t"})
        assert (len(quiet.received), len(loud.received)) == (1, len(LEVELS))

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ what is known of a request


@pytest.mark.parametrize("params", [None, {}, {"_meta": None}, {"_meta": {}}, "left out"])
def test_the_metadata_of_a_request_that_has_none_is_empty(post: Any, params: Any) -> None:
    seen: list[Any] = []

    class Looking(Speaker):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            seen.append((call.meta, call.progress_token, call.client_info, call.client_capabilities))
            return []

    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    if params != "left out":
        message["params"] = params
    engine = Engine().register_provider(Looking(print))
    for _ in range(OFTEN):
        assert "result" in post(message, to=engine)[1]
    assert seen == [({}, None, None, {})] * OFTEN


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_metadata_of_a_request_is_all_there(ask: Any, revision: str) -> None:
    seen: list[Any] = []

    class Looking(Speaker):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            seen.append(call.meta)
            return []

    own = {"progressToken": "t", "traceparent": "00-1-2-01", "example.org/x": {"y": [1, None, "\u00e9"]}, "": 0}
    engine = Engine().register_provider(Looking(print))
    for _ in range(OFTEN):
        ask("tools/list", {"_meta": own}, revision, to=engine)
    for meta in seen:
        assert {key: meta[key] for key in own} == own
        assert len(meta) == len(own) + (3 if revision == MODERN else 0)
