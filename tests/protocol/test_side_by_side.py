"""Hundreds of clients at one engine at once, of every revision, with the same request ids, tokens, keys and tool: nobody sees
what is another's. Each of them also tries to use what it has seen of its neighbour."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol import Engine, MemoryTaskStore, Request
from webseam.protocol.jsonrpc import LEVELS
from webseam.protocol.revisions import HANDSHAKE, REVISIONS
from webseam.transports.memory import MemoryClient

MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
ABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}, "extensions": {TASKS: {}}}
FORM = {"type": "object", "properties": {"mark": {"type": "string"}}}
CLIENTS = 300
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Talkative:
    """Speaks, asks, remembers and works, and yields to the others wherever it can."""

    needs_session = True
    logs = True
    lists_change = True

    def __init__(self) -> None:
        self.dice = random.Random(7)
        self.watching: dict[str, set[str]] = {}

    async def pause(self) -> None:
        for _ in range(self.dice.randrange(4)):
            await asyncio.sleep(0)

    async def list(self, cursor: str | None, call: Request) -> Any:
        await self.pause()
        return {"tools": [{"name": f"of {call.caller}", "inputSchema": {"type": "object"}}]}

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "task":
            return await call.run_as_task(self.work)
        seen = await self.rounds(call, arguments["mark"])
        return [{"type": "text", "text": json.dumps(seen)}]

    async def rounds(self, call: Request, mark: str) -> Any:
        assert call.state in (None, *({"mark": mark, "round": number} for number in range(3)))
        answers = []
        for number in range(3):
            call.progress(number, 3, mark)
            for level in ("debug", "error"):
                call.log(level, {"mark": mark})
            await self.pause()
            if call.modern:
                call.state = {"mark": mark, "round": number}
            if "elicitation" in call.client_capabilities and call.revision not in ("2025-03-26", "2024-11-05"):
                answers.append((await call.elicit(mark, FORM, key=f"k{number}"))["content"]["mark"])
            else:
                question = [{"role": "user", "content": {"type": "text", "text": mark}}]
                answers.append((await call.sample(question, 1, key=f"k{number}"))["content"]["text"])
            await self.pause()
        return {"caller": call.caller, "answers": answers, "client": call.client_info, "revision": call.revision}

    async def work(self, call: Request) -> Any:
        mark = call.params.arguments["mark"]
        await self.pause()
        answer = await call.elicit(mark, FORM, key="k")
        await self.pause()
        return [{"type": "text", "text": json.dumps([call.caller, answer["content"]["mark"]])}]

    async def list_resources(self, cursor: str | None) -> Any:
        return []

    async def templates(self) -> Any:
        return []

    async def read(self, uri: str, call: Request) -> Any:
        await self.pause()
        return [{"uri": uri, "text": f"{uri} for {call.caller}"}]

    async def subscribe(self, uri: str, call: Request) -> None:
        await self.pause()
        self.watching.setdefault(uri, set()).add(call.caller)


class One:
    """One client. Its `mark` is in all that is its own, and in nothing else."""

    def __init__(self, engine: Engine, number: int, dice: random.Random) -> None:
        self.number = number
        self.caller = f"caller-{number // 2}"  # two clients each: they share a principal, and no session
        self.mark = f"<mark {number}>"
        self.revision = REVISIONS[number % len(REVISIONS)]
        self.modern = self.revision == MODERN
        self.level = LEVELS[number % len(LEVELS)]
        self.dice = dice
        self.states: list[str] = []
        self.client = MemoryClient(engine, caller=self.caller, revision=self.revision, capabilities=ABLE, answer=self.answer)

    async def answer(self, method: str, params: dict[str, Any]) -> Any:
        assert self.mark in json.dumps(params), "a question that was put to another"
        for _ in range(self.dice.randrange(3)):
            await asyncio.sleep(0)
        if method == "elicitation/create":
            return {"action": "accept", "content": {"mark": self.mark}}
        return {"role": "assistant", "content": {"type": "text", "text": self.mark}, "model": "m"}

    def meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = {"progressToken": "token"}
        if self.modern:
            meta["io.modelcontextprotocol/logLevel"] = self.level
        return meta

    async def live(self) -> None:
        if not self.modern:
            await self.client.request("logging/setLevel", {"level": self.level})
            await self.client.request("resources/subscribe", {"uri": f"x:{self.caller}"})
        for _ in range(2):
            params = {"name": "rounds", "arguments": {"mark": self.mark}, "_meta": self.meta()}
            result = await self.client.request("tools/call", params)
            seen = json.loads(result["content"][0]["text"])
            assert seen["caller"] == self.caller
            assert seen["answers"] == [self.mark] * 3
            assert seen["revision"] == self.revision
        assert (await self.client.request("tools/list"))["tools"][0]["name"] == f"of {self.caller}"
        contents = (await self.client.request("resources/read", {"uri": "x:y"}))["contents"]
        assert contents[0]["text"] == f"x:y for {self.caller}"

    def check_received(self) -> None:
        assert self.client.received
        for message in self.client.received:
            params = message.get("params", {})
            if message["method"] == "notifications/progress":
                assert params["progressToken"] == "token"
                assert params.get("message", self.mark) == self.mark
            elif message["method"] == "notifications/message":
                assert params["data"] == {"mark": self.mark}
                assert LEVELS.index(params["level"]) >= LEVELS.index(self.level)
            elif message["method"] == "notifications/resources/updated":
                assert params == {"uri": f"x:{self.caller}"}
                assert not self.modern
            else:
                assert message["method"] == "notifications/tools/list_changed"
                assert not self.modern
        said = [message["params"]["level"] for message in self.client.received if message["method"] == "notifications/message"]
        expected = {level for level in ("debug", "error") if LEVELS.index(level) >= LEVELS.index(self.level)}
        assert set(said) == expected

    # ---------------------------------------------------------------------------------------- by hand, in 2026-07-28

    async def round_of(self, state: str | None = None, responses: Any = None, mark: str | None = None) -> Any:
        params: dict[str, Any] = {"name": "rounds", "arguments": {"mark": mark or self.mark}}
        if state is not None:
            params["requestState"] = state
        if responses is not None:
            params["inputResponses"] = responses
        client = MemoryClient(self.client.engine, caller=self.caller, revision=MODERN, capabilities=ABLE)
        return await client.request("tools/call", params)

    async def begin_round(self) -> None:
        result = await self.round_of()
        assert self.mark in json.dumps(result["inputRequests"])
        self.states.append(result["requestState"])

    async def begin_task(self) -> str:
        created = await self.client.request("tools/call", {"name": "task", "arguments": {"mark": self.mark}})
        assert created["resultType"] == "task"
        task_id: str = created["taskId"]
        return task_id

    async def finish_task(self, task_id: str) -> None:
        for _ in range(10_000):
            task = await self.client.request("tasks/get", {"taskId": task_id})
            if task["status"] == "input_required":
                assert self.mark in json.dumps(task["inputRequests"])
                answers = {key: await self.answer(one["method"], one["params"]) for key, one in task["inputRequests"].items()}
                await self.client.request("tasks/update", {"taskId": task_id, "inputResponses": answers})
            elif task["status"] != "working":
                break
            await asyncio.sleep(0)
        assert task["status"] == "completed", task
        assert json.loads(task["result"]["content"][0]["text"]) == [self.caller, self.mark]


def crowd(engine: Engine, *, revision: str | None = None) -> list[One]:
    dice = random.Random(11)
    made = [One(engine, number, dice) for number in range(CLIENTS)]
    return [one for one in made if revision is None or one.revision == revision]


def test_everybody_is_asked_told_and_answered_what_is_their_own() -> None:
    faults: list[BaseException] = []

    async def main() -> None:
        engine = Engine(on_fault=faults.append).register_provider(Talkative())
        clients = crowd(engine)

        async def news() -> None:
            """Changes, while all of that goes on."""
            for number in range(CLIENTS):
                engine.updated(f"x:caller-{number // 2}", f"caller-{number // 2}")
                engine.updated(f"x:caller-{number // 2}", f"caller-{number // 2 + 1}")  # who does not watch it
                if number % 50 == 0:
                    engine.changed("tools")
                await asyncio.sleep(0)

        await asyncio.gather(news(), *(one.live() for one in clients))
        for one in clients:
            one.check_received()
            session = one.client.session
            assert not session.pending
            assert not session.questions
            if not one.modern:
                assert session.principal == one.caller
                assert session.watched == {f"x:{one.caller}"}
                assert session.revision == one.revision

    asyncio.run(main())
    assert not faults


def test_the_state_of_one_round_is_worth_nothing_to_anybody_else() -> None:
    faults: list[BaseException] = []

    async def main() -> None:
        engine = Engine(on_fault=faults.append).register_provider(Talkative())
        clients = crowd(engine, revision=MODERN)
        await asyncio.gather(*(one.begin_round() for one in clients))
        assert len({state for one in clients for state in one.states}) == len(clients)

        async def steal(thief: One, victim: One) -> None:
            answer = {"k0": {"action": "accept", "content": {"mark": thief.mark}}}
            for mark in (thief.mark, victim.mark):  # on a request of its own, and on the victim's
                with pytest.raises(ProtocolError) as caught:
                    await thief.round_of(victim.states[0], answer, mark)
                assert caught.value.code == -32602
                assert victim.mark not in str(caught.value)

        await asyncio.gather(*(steal(thief, victim) for thief, victim in zip(clients, clients[1:] + clients[:1], strict=True)))

        async def go_on(one: One) -> None:
            result = await one.round_of(one.states[0], {"k0": {"action": "accept", "content": {"mark": one.mark}}})
            assert list(result["inputRequests"]) == ["k1"]
            assert one.mark in json.dumps(result["inputRequests"])

        await asyncio.gather(*(go_on(one) for one in clients))

    asyncio.run(main())
    assert not faults


def test_tasks_are_their_principals_alone(wire: Any, under_way: Any, request_of: Any) -> None:
    faults: list[BaseException] = []

    async def main() -> None:
        engine = Engine(on_fault=faults.append, task_store=MemoryTaskStore()).register_provider(Talkative())
        clients = crowd(engine, revision=MODERN)
        ids = dict(zip(clients, await asyncio.gather(*(one.begin_task() for one in clients)), strict=True))
        assert len(set(ids.values())) == len(clients)

        async def spy(thief: One, victim: One) -> None:
            for method, more in (
                ("tasks/get", {}),
                ("tasks/update", {"inputResponses": {"k": {"action": "decline"}}}),
                ("tasks/cancel", {}),
            ):
                with pytest.raises(ProtocolError) as caught:
                    await thief.client.request(method, {"taskId": ids[victim], **more})
                assert caught.value.code == -32602

        channel = wire()
        params = {
            "notifications": {"taskIds": list(ids.values())},
            "_meta": {"io.modelcontextprotocol/clientCapabilities": ABLE},
        }
        listener = clients[0]
        message = request_of("subscriptions/listen", params, MODERN)
        async with under_way(engine, message, channel, caller=listener.caller):
            acknowledged = await channel.until(1)
            assert acknowledged["params"]["notifications"]["taskIds"] == [ids[listener]]
            await asyncio.gather(
                *(one.finish_task(ids[one]) for one in clients),
                *(spy(thief, victim) for thief, victim in zip(clients, clients[1:] + clients[:1], strict=True)),
            )
        assert {said["params"]["taskId"] for said in channel.sent[1:]} == {ids[listener]}
        assert all(said["params"]["_meta"] == {SUBSCRIPTION: 1} for said in channel.sent)

    asyncio.run(main())
    assert not faults


def test_listeners_are_told_by_principal_while_others_come_and_go(wire: Any, under_way: Any, request_of: Any) -> None:
    async def main() -> None:
        engine = Engine().register_provider(Talkative())
        told: dict[int, list[Any]] = {}

        async def listen(number: int) -> None:
            channel, caller = wire(), f"caller-{number}"
            params = {"notifications": {"toolsListChanged": number % 2 == 0, "resourceSubscriptions": [f"x:{caller}", "x:all"]}}
            message = {**request_of("subscriptions/listen", params, MODERN), "id": "same"}
            async with under_way(engine, message, channel, caller=caller):
                await channel.until(1)
                engine.updated(f"x:{caller}")
                engine.changed("tools", caller)
                await asyncio.sleep(0)
            told[number] = channel.sent[1:]
            engine.updated(f"x:{caller}")  # after it left

        await asyncio.gather(*(listen(number) for number in range(CLIENTS)))
        for number, messages in told.items():
            uris = [message["params"]["uri"] for message in messages if message["method"] == "notifications/resources/updated"]
            assert uris == [f"x:caller-{number}"]
            lists = [message for message in messages if message["method"] == "notifications/tools/list_changed"]
            assert len(lists) == (1 if number % 2 == 0 else 0)
        assert not engine._changes._listeners

    asyncio.run(main())


def test_two_sessions_of_one_principal_have_their_own_questions_levels_and_ids() -> None:
    async def main() -> None:
        engine = Engine().register_provider(Talkative())
        for revision in HANDSHAKE:
            pair = [One(engine, number, random.Random(number)) for number in (0, 1)]
            for one, level in zip(pair, ("debug", "emergency"), strict=True):
                one.caller, one.revision, one.modern, one.level = "same", revision, False, level
                one.client = MemoryClient(engine, caller="same", revision=revision, capabilities=ABLE, answer=one.answer)
            await asyncio.gather(*(one.live() for one in pair))
            for one in pair:
                one.check_received()

    asyncio.run(main())
