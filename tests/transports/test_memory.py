"""The in-memory client, and that an engine says the same over it as bytes do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.transports.conftest import engine_of, text, timeless

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.protocol.revisions import HANDSHAKE, MODERN, REVISIONS, SUBSCRIPTION_KEY
from webseam.protocol.tasks import MemoryTaskStore
from webseam.transports.memory import ROUNDS, MemoryClient

FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
ASKABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
ERAS = [HANDSHAKE[0], MODERN[0]]


class Tools:
    def list(self, cursor: str | None, call: Request) -> Any:
        return [{"name": call.revision, "inputSchema": {"type": "object"}}]

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "none":
            raise ProtocolError(-32602, "Unknown tool: none", {"name": name})
        return [{"type": "text", "text": f"{call.caller} {json.dumps(arguments)}"}]


@pytest.mark.parametrize("revision", REVISIONS)
def test_it_speaks_every_revision(revision: str) -> None:
    client = MemoryClient(Engine().register_provider(Tools()), caller="me", revision=revision)

    async def main() -> None:
        assert (await client.request("tools/list"))["tools"][0]["name"] == revision
        answer = await client.request("tools/call", {"name": "x", "arguments": {"a": 1}})
        assert answer["content"][0]["text"] == 'me {"a": 1}'

    asyncio.run(main())
    assert client.session.initialized is (revision != "2026-07-28")


def test_an_error_is_raised_as_it_was_sent() -> None:
    client = MemoryClient(Engine().register_provider(Tools()))
    with pytest.raises(ProtocolError) as caught:
        asyncio.run(client.request("tools/call", {"name": "none"}))
    assert (caught.value.code, str(caught.value), caught.value.data) == (-32602, "Unknown tool: none", {"name": "none"})


def test_messages_may_be_sent_as_they_are() -> None:
    client = MemoryClient(Engine())

    async def main() -> None:
        assert await client.send({"jsonrpc": "2.0", "id": 1, "method": "ping"}) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (await client.send(b"{"))["error"]["code"] == -32700
        assert await client.send({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
        await client.notify("notifications/cancelled", {"requestId": 5})

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ before the answer


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("kind", ["at once", "later", "both"])
def test_what_comes_before_the_answer_is_received_in_order(revision: str, kind: str) -> None:
    def says(call: Request) -> Any:
        for number in range(3):
            call.progress(number)
        return later(call) if kind == "both" else text("said")

    async def later(call: Request) -> Any:
        await asyncio.sleep(0)
        for number in range(3, 6):
            call.progress(number)
        return text("said")

    async def main() -> None:
        faults: list[BaseException] = []
        client = MemoryClient(engine_of({"says": later if kind == "later" else says}, faults), revision=revision)
        params = {"name": "says", "_meta": {"progressToken": "p"}}
        assert (await client.request("tools/call", params))["content"] == text("said")
        assert [message["method"] for message in client.received] == ["notifications/progress"] * len(client.received)
        numbers = [message["params"]["progress"] for message in client.received]
        assert numbers == {"at once": [0, 1, 2], "later": [3, 4, 5], "both": [0, 1, 2, 3, 4, 5]}[kind]
        assert faults == []

    timeless(main())


def test_logs_come_as_the_client_wants_them() -> None:
    async def logs(call: Request) -> Any:
        call.log("debug", "small")
        call.log("error", "large")
        return text("logged")

    async def main() -> None:
        client = MemoryClient(engine_of({"logs": logs}, []))
        await client.request("tools/call", {"name": "logs"})
        assert [message["params"]["data"] for message in client.received] == ["large"]
        await client.request("logging/setLevel", {"level": "debug"})
        await client.request("tools/call", {"name": "logs"})
        assert [message["params"]["data"] for message in client.received] == ["large", "small", "large"]
        silent = MemoryClient(engine_of({"logs": logs}, []), revision=MODERN[0])
        await silent.request("tools/call", {"name": "logs"})
        assert silent.received == []

    timeless(main())


# ------------------------------------------------------------------------------------------------ questions


async def asks(call: Request) -> Any:
    first = await call.elicit("Who?", FORM)
    second = await call.elicit(f"And who after {first['content']['name']}?", FORM)
    return text(f"{first['content']['name']} {second['content']['name']}")


@pytest.mark.parametrize("revision", [*ERAS, "2025-06-18"])
@pytest.mark.parametrize("later", [False, True])
def test_questions_are_answered_by_the_callback_whatever_the_era(revision: str, later: bool) -> None:
    asked: list[str] = []

    def answer(method: str, params: dict[str, Any]) -> Any:
        asked.append(f"{method} {params['message']}")
        return {"action": "accept", "content": {"name": f"n{len(asked)}"}}

    async def answer_later(method: str, params: dict[str, Any]) -> Any:
        await asyncio.sleep(5)
        return answer(method, params)

    async def main() -> None:
        callback = answer_later if later else answer
        client = MemoryClient(engine_of({"asks": asks}, []), revision=revision, capabilities=ASKABLE, answer=callback)
        assert (await client.request("tools/call", {"name": "asks"}))["content"] == text("n1 n2")
        assert asked == ["elicitation/create Who?", "elicitation/create And who after n1?"]
        assert client.received == []  # questions are no notifications

    timeless(main())


@pytest.mark.parametrize("revision", ERAS)
def test_every_kind_of_question_may_be_asked_and_several_at_once(revision: str) -> None:
    answers = {
        "elicitation/create": {"action": "decline"},
        "sampling/createMessage": {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"},
        "roots/list": {"roots": [{"uri": "file:///here"}]},
    }

    async def asks_all(call: Request) -> Any:
        given = await call.ask({
            "form": {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}},
            "model": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
            "roots": {"method": "roots/list"},
        })  # fmt: skip
        return text(json.dumps(given))

    async def main() -> None:
        client = MemoryClient(
            engine_of({"asks": asks_all}, []),
            revision=revision,
            capabilities=ASKABLE,
            answer=lambda method, params: answers[method],
        )
        result = await client.request("tools/call", {"name": "asks"})
        assert json.loads(result["content"][0]["text"]) == {
            "form": answers["elicitation/create"],
            "model": answers["sampling/createMessage"],
            "roots": answers["roots/list"],
        }

    timeless(main())


@pytest.mark.parametrize("revision", ERAS)
def test_a_client_that_declares_nothing_is_asked_nothing(revision: str) -> None:
    client = MemoryClient(engine_of({"asks": asks}, []), revision=revision, answer=lambda method, params: {"action": "accept"})
    with pytest.raises(ProtocolError) as caught:
        timeless(client.request("tools/call", {"name": "asks"}))
    assert caught.value.code == (-32021 if revision in MODERN else -32600)


def test_without_a_callback_a_question_is_refused_or_given_back() -> None:
    client = MemoryClient(engine_of({"asks": asks}, []), capabilities=ASKABLE)
    with pytest.raises(ProtocolError):
        timeless(client.request("tools/call", {"name": "asks"}))
    client = MemoryClient(engine_of({"asks": asks}, []), revision=MODERN[0], capabilities=ASKABLE)
    assert timeless(client.request("tools/call", {"name": "asks"}))["resultType"] == "input_required"


def test_a_callback_that_fails_fails_the_call_and_is_not_waited_for() -> None:
    def answer(method: str, params: dict[str, Any]) -> Any:
        raise ProtocolError(-1, "Nobody is here.")

    async def main(revision: str) -> None:
        client = MemoryClient(engine_of({"asks": asks}, []), revision=revision, capabilities=ASKABLE, answer=answer)
        with pytest.raises(ProtocolError, match="Nobody is here"):
            await client.request("tools/call", {"name": "asks"})
        assert asyncio.get_running_loop().time() < 1

    for revision in ERAS:
        timeless(main(revision))


def test_a_callback_that_never_answers_is_given_up() -> None:
    async def answer(method: str, params: dict[str, Any]) -> Any:
        await asyncio.Event().wait()

    async def main() -> None:
        client = MemoryClient(engine_of({"asks": asks}, []), capabilities=ASKABLE, answer=answer)
        with pytest.raises(ProtocolError, match="did not answer"):
            await client.request("tools/call", {"name": "asks"})

    timeless(main())


def test_a_provider_that_asks_for_ever_is_asked_only_so_often() -> None:
    rounds: list[int] = []

    async def asks_for_ever(call: Request) -> Any:
        rounds.append(1)
        for number in range(ROUNDS * 2):
            await call.elicit(str(number), FORM)

    client = MemoryClient(
        engine_of({"asks": asks_for_ever}, []),
        revision=MODERN[0],
        capabilities=ASKABLE,
        answer=lambda method, params: {"action": "accept", "content": {}},
    )
    assert timeless(client.request("tools/call", {"name": "asks"}))["resultType"] == "input_required"
    assert len(rounds) == ROUNDS + 1


# ------------------------------------------------------------------------------------------------ changes


def test_a_session_hears_of_changes_and_of_what_it_watches() -> None:
    async def main() -> None:
        engine = engine_of({}, [])
        client, other = MemoryClient(engine, caller="me"), MemoryClient(engine, caller="them")
        await client.request("resources/subscribe", {"uri": "memo://one"})
        await other.request("ping")
        engine.changed("tools")
        engine.changed("tools", "me")
        engine.updated("memo://one")
        engine.updated("memo://other")
        assert [message["method"] for message in client.received] == [
            "notifications/tools/list_changed", "notifications/tools/list_changed", "notifications/resources/updated",
        ]  # fmt: skip
        assert [message["method"] for message in other.received] == ["notifications/tools/list_changed"]
        await client.request("resources/unsubscribe", {"uri": "memo://one"})
        engine.updated("memo://one")
        assert len(client.received) == 3

    timeless(main())


def test_a_listener_hears_of_changes_until_it_ends() -> None:
    async def main() -> None:
        engine = engine_of({}, [])
        client = MemoryClient(engine, revision=MODERN[0])
        params = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["memo://one"]}}
        listening = asyncio.ensure_future(client.request("subscriptions/listen", params))
        while not client.received:
            await asyncio.sleep(0)
        engine.changed("tools")
        engine.updated("memo://one")
        engine.end_subscriptions()
        result = await listening
        assert result["_meta"][SUBSCRIPTION_KEY] == 1
        engine.changed("tools")
        assert [message["method"] for message in client.received] == [
            "notifications/subscriptions/acknowledged", "notifications/tools/list_changed", "notifications/resources/updated",
        ]  # fmt: skip
        assert all(message["params"]["_meta"] == {SUBSCRIPTION_KEY: 1} for message in client.received)

    timeless(main())


# ------------------------------------------------------------------------------------------------ ends


def test_a_cancelled_request_stops_and_says_that_there_is_no_answer() -> None:
    async def main() -> None:
        began, ended = asyncio.Event(), []

        async def waits(call: Request) -> Any:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                call.progress(1)
                ended.append(call.cancelled)

        client = MemoryClient(engine_of({"waits": waits}, []))
        await client.request("ping")
        asking = asyncio.ensure_future(client.request("tools/call", {"name": "waits", "_meta": {"progressToken": 1}}))
        await began.wait()
        await client.notify("notifications/cancelled", {"requestId": client._sent})
        with pytest.raises(ProtocolError, match="cancelled"):
            await asking
        assert ended == [True]
        assert client.received == []
        assert await client.request("ping") == {}

    timeless(main())


def test_whoever_stops_waiting_stops_the_provider() -> None:
    async def main() -> None:
        began, ended = asyncio.Event(), asyncio.Event()

        async def waits(call: Request) -> Any:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

        client = MemoryClient(engine_of({"waits": waits}, []))
        asking = asyncio.ensure_future(client.request("tools/call", {"name": "waits"}))
        await began.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended.is_set()
        assert client.session.pending == {}

    timeless(main())


def test_a_cancellation_that_a_provider_lets_escape_is_an_error_and_no_cancellation() -> None:
    async def gives_up(call: Request) -> Any:
        raise asyncio.CancelledError

    async def main() -> None:
        client = MemoryClient(engine_of({"gives up": gives_up}, []))
        with pytest.raises(ProtocolError) as caught:
            await client.request("tools/call", {"name": "gives up"})
        assert caught.value.code == -32603

    timeless(main())


def test_what_is_said_after_the_answer_is_not_received() -> None:
    async def main() -> None:
        left: list[asyncio.Future[None]] = []

        async def lingers(call: Request) -> None:
            await asyncio.sleep(1)
            call.progress(1)

        async def forgets(call: Request) -> Any:
            left.append(asyncio.ensure_future(lingers(call)))
            return text("done")

        client = MemoryClient(engine_of({"forgets": forgets}, []))
        await client.request("tools/call", {"name": "forgets", "_meta": {"progressToken": 1}})
        await left[0]
        assert client.received == []

    timeless(main())


def test_tasks_go_on_and_are_asked_about() -> None:
    async def main() -> None:
        async def work(call: Request) -> Any:
            answer = await call.elicit("Who?", FORM, key="who")
            return {"content": text(answer["content"]["name"])}

        async def begins(call: Request) -> Any:
            call.close_stream(1)
            return await call.run_as_task(work)

        engine = engine_of({"begins": begins}, [], task_store=MemoryTaskStore())
        capabilities = {**ASKABLE, "extensions": {"io.modelcontextprotocol/tasks": {}}}
        client = MemoryClient(engine, revision=MODERN[0], capabilities=capabilities)
        begun = await client.request("tools/call", {"name": "begins"})
        assert begun["resultType"] == "task"
        of_it = {"taskId": begun["taskId"]}
        while (await client.request("tasks/get", of_it))["status"] == "working":
            await asyncio.sleep(0)
        answers = {"who": {"action": "accept", "content": {"name": "me"}}}
        await client.request("tasks/update", {**of_it, "inputResponses": answers})
        while (task := await client.request("tasks/get", of_it))["status"] == "working":
            await asyncio.sleep(0)
        assert (task["status"], task["result"]["content"]) == ("completed", text("me"))

    timeless(main())
