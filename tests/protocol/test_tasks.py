"""The tasks extension (`io.modelcontextprotocol/tasks`, SEP-2663). It has no schema in the core's: here the shapes are checked
by hand."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol import Engine, MemoryTaskStore, Request, Task
from webseam.protocol.codec import Raw, msgspec
from webseam.protocol.revisions import HANDSHAKE, REVISIONS, SERVER_KEY

MODERN = "2026-07-28"
EXTENSION = "io.modelcontextprotocol/tasks"
ABLE: dict[str, Any] = {"extensions": {EXTENSION: {}}, "elicitation": {}, "roots": {}}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
FORM = {"type": "object", "properties": {}}
YES = {"action": "accept", "content": {"n": 1}}
Work = Callable[[Request], Awaitable[Any]]
OVER = ("completed", "failed", "cancelled")
THREE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tasks/get", {}),
    ("tasks/cancel", {}),
    ("tasks/update", {"inputResponses": {}}),
)
TURNS = 1_000
"""Of the event loop, after which what should have happened never will."""


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], **more}


class Worker:
    """Every call of its tool is a task, where the client knows tasks."""

    logs = True

    def __init__(self, work: Work, **how: Any) -> None:
        self.work = work
        self.how = how

    def list(self, cursor: str | None) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return await call.run_as_task(self.work, **self.how)


class Desk:
    """A client that knows tasks, at one engine. Every task it is told of is checked against the shapes of SEP-2663."""

    def __init__(self, engine: Engine, channel: Any, talk: Any, request_of: Any) -> None:
        self.engine = engine
        self.channel = channel
        self.talk = talk
        self.request_of = request_of
        self.sent = 0

    async def reply(
        self,
        method: str,
        params: dict[str, Any],
        *,
        caller: Any = "alice",
        revision: str = MODERN,
        able: Any = ABLE,
        **how: Any,
    ) -> Any:
        if revision == MODERN:
            params = {**params, "_meta": {"io.modelcontextprotocol/clientCapabilities": able, **params.get("_meta", {})}}
        self.sent += 1
        number = self.sent
        message = {**self.request_of(method, params, revision), "id": number}
        _, reply, _ = await self.talk(self.engine, message, caller=caller, channel=self.channel, **how)
        assert reply["id"] == number
        return reply

    async def ask(self, method: str, params: dict[str, Any], **how: Any) -> Any:
        reply = await self.reply(method, params, **how)
        if "error" in reply:
            raise ProtocolError(reply["error"]["code"], reply["error"]["message"], reply["error"].get("data"))
        assert reply["result"]["_meta"][SERVER_KEY]["name"] == "mcp-server"
        return reply["result"]

    async def begin(self, **how: Any) -> Any:
        created = await self.ask("tools/call", {"name": "t"}, **how)
        assert created["resultType"] == "task"
        is_task(created)
        assert not created.keys() & {"result", "error", "inputRequests", "content"}
        assert len(created["taskId"]) >= 22  # "sufficient entropy"
        return created

    async def get(self, task_id: str, **how: Any) -> Any:
        task = await self.ask("tasks/get", {"taskId": task_id}, **how)
        assert task["resultType"] == "complete"
        is_detailed(task)
        assert task["taskId"] == task_id
        return task

    async def over(self, task_id: str) -> Any:
        """The task once it is over."""
        for _ in range(TURNS):
            task = await self.get(task_id)
            if task["status"] in OVER:
                return task
            await asyncio.sleep(0)
        raise AssertionError(f"the task is never over: {task}")

    async def asking(self, task_id: str) -> Any:
        for _ in range(TURNS):
            task = await self.get(task_id)
            if task["status"] == "input_required":
                return task
            assert task["status"] == "working"
            await asyncio.sleep(0)
        raise AssertionError(f"the task never asks: {task}")

    async def acknowledged(self, method: str, **params: Any) -> None:
        result = await self.ask(method, params)
        assert result.keys() == {"resultType", "_meta"}
        assert result["resultType"] == "complete"


def is_task(task: dict[str, Any]) -> None:
    """SEP-2663, "Tasks"."""
    assert type(task["taskId"]) is str
    assert task["taskId"]
    assert task["status"] in ("working", "input_required", *OVER)
    assert type(task.get("statusMessage", "")) is str
    created, updated = (datetime.fromisoformat(task[name]) for name in ("createdAt", "lastUpdatedAt"))
    assert created.tzinfo is not None
    assert created <= updated
    assert task["ttlMs"] is None or type(task["ttlMs"]) is int
    assert type(task.get("pollIntervalMs", 0)) is int


def is_detailed(task: dict[str, Any]) -> None:
    """SEP-2663, "Task Status": each status has its own member, and only that."""
    is_task(task)
    own = {"input_required": "inputRequests", "completed": "result", "failed": "error"}
    for status, member in own.items():
        assert (member in task) is (task["status"] == status), task
    if task["status"] == "failed":
        assert type(task["error"]["code"]) is int
        assert type(task["error"]["message"]) is str
        assert type(task["statusMessage"]) is str
    if task["status"] == "completed":
        assert isinstance(task["result"]["content"], list)
    if task["status"] == "input_required":
        assert task["inputRequests"]


@pytest.fixture
def desk(wire: Any, talk: Any, request_of: Any, faults: list[BaseException]) -> Any:
    @asynccontextmanager
    async def open_at(work: Work, store: Any = "memory", others: tuple[Any, ...] = (), **how: Any) -> AsyncIterator[Desk]:
        engine = Engine(on_fault=faults.append, task_store=MemoryTaskStore() if store == "memory" else store)
        engine.register_provider(Worker(work, **how))
        for other in others:
            engine.register_provider(other)
        channel = wire()
        yield Desk(engine, channel, talk, request_of)
        for task in list(channel._tasks):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await channel.settle()

    return open_at


class Gate:
    """Work that waits until it is let go."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.began = asyncio.Event()
        self.stopped = False

    async def __call__(self, call: Request) -> Any:
        self.began.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        return text("done")


# ------------------------------------------------------------------------------------------------ lifecycle


def test_a_task_is_there_before_its_creator_hears_of_it_and_ends_with_the_result(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate, ttl_ms=60_000, poll_interval_ms=250) as client:
            created = await client.begin()
            assert (created["status"], created["ttlMs"], created["pollIntervalMs"]) == ("working", 60_000, 250)
            assert (await client.get(created["taskId"]))["status"] == "working"
            await gate.began.wait()
            gate.open.set()
            done = await client.over(created["taskId"])
            assert done["status"] == "completed"
            assert done["result"]["content"] == text("done")["content"]
            assert done["createdAt"] == created["createdAt"]
            assert await client.get(created["taskId"]) == done  # reading changes nothing

    asyncio.run(main())


@pytest.mark.parametrize(
    "result", [text("no", isError=True), [], [{"type": "text", "text": "x"}], text("s", structuredContent={"a": 1})]
)
def test_whatever_the_call_would_have_answered_is_the_result_of_a_completed_task(desk: Any, result: Any) -> None:
    async def work(call: Request) -> Any:
        return result

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "completed"
            for member, value in (result if isinstance(result, dict) else {"content": result}).items():
                assert done["result"][member] == value

    asyncio.run(main())


def test_an_error_of_the_protocol_is_a_failed_task_that_carries_it(desk: Any) -> None:
    async def work(call: Request) -> Any:
        raise ProtocolError(-32602, "No such city.", {"city": "Atlantis"})

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"
            assert done["error"] == {"code": -32602, "message": "No such city.", "data": {"city": "Atlantis"}}
            assert "No such city." in done["statusMessage"]

    asyncio.run(main())


def fails(call: Request) -> Any:
    raise RuntimeError("the password is hunter2")


@pytest.mark.parametrize(
    "outcome",
    [RuntimeError("hunter2"), {"content": [object()]}, None, 5, {}, {"resultType": "input_required", "inputRequests": {}},
     {"resultType": "task", "content": []}],
)  # fmt: skip
def test_what_nobody_foresaw_fails_the_task_without_its_text(desk: Any, faults: list[BaseException], outcome: Any) -> None:
    async def work(call: Request) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"
            assert done["error"] == {"code": -32603, "message": "Internal error"}
            assert "hunter2" not in json.dumps(done)
            assert len(faults) == 1

    asyncio.run(main())


def test_an_error_whose_data_cannot_be_sent_fails_the_task_all_the_same(desk: Any, faults: list[BaseException]) -> None:
    async def work(call: Request) -> Any:
        raise ProtocolError(-32602, "No.", {"why": object()})

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"

    asyncio.run(main())


def test_work_that_asks_on_the_request_of_the_call_fails_the_task_and_is_told_to_the_author(
    desk: Any, faults: list[BaseException]
) -> None:
    """An easy mistake: the outer `call` belongs to a request that has been answered."""

    class Mistaken(Worker):
        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            async def work(_: Request) -> Any:
                return await call.elicit("?", FORM)

            return await call.run_as_task(work)

    async def main() -> None:
        async with desk(fails) as client:
            client.engine = Engine(on_fault=faults.append, task_store=MemoryTaskStore()).register_provider(Mistaken(fails))
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"
            assert len(faults) == 1

    asyncio.run(main())


def test_an_error_of_the_protocol_in_a_task_group_fails_the_task_with_it(desk: Any, faults: list[BaseException]) -> None:
    async def refuse() -> None:
        raise ProtocolError(-32602, "No such city.")

    async def work(call: Request) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(refuse())

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["error"] == {"code": -32602, "message": "No such city."}
            assert not faults

    asyncio.run(main())


def test_rounds_come_first_and_then_the_task(desk: Any) -> None:
    class Rounds(Worker):
        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            who = await call.elicit("Who?", FORM, key="who")

            async def work(inner: Request) -> Any:
                again = await inner.elicit("Sure?", FORM, key="who")  # the keys of a task are its own
                return text(json.dumps([who, again]))

            return await call.run_as_task(work)

    async def main() -> None:
        async with desk(fails) as client:
            client.engine = Engine(task_store=MemoryTaskStore()).register_provider(Rounds(fails))
            first = await client.ask("tools/call", {"name": "t"})
            assert first["resultType"] == "input_required"
            created = await client.ask("tools/call", {"name": "t", "inputResponses": {"who": YES}})
            assert created["resultType"] == "task"
            await client.asking(created["taskId"])
            await client.acknowledged("tasks/update", taskId=created["taskId"], inputResponses={"who": {"action": "decline"}})
            done = await client.over(created["taskId"])
            assert json.loads(done["result"]["content"][0]["text"]) == [YES, {"action": "decline"}]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ input_required


async def two_questions(call: Request) -> Any:
    form = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}}
    answers = await call.ask({"a": form, "b": form})
    more = await call.list_roots()
    return text(json.dumps([answers, more]))


def test_a_task_asks_is_answered_in_parts_and_goes_on(desk: Any) -> None:
    async def main() -> None:
        async with desk(two_questions) as client:
            task_id = (await client.begin())["taskId"]
            asked = await client.asking(task_id)
            assert set(asked["inputRequests"]) == {"a", "b"}
            assert asked["inputRequests"]["a"]["method"] == "elicitation/create"
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"b": YES})
            asked = await client.get(task_id)
            assert (asked["status"], list(asked["inputRequests"])) == ("input_required", ["a"])
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"b": {"action": "cancel"}, "x": 5})
            assert list((await client.get(task_id))["inputRequests"]) == ["a"]  # answered, or never asked: ignored
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"a": {"action": "decline"}})
            asked = await client.asking(task_id)
            [(key, question)] = asked["inputRequests"].items()
            assert question["method"] == "roots/list"
            assert key not in ("a", "b")
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={key: {"roots": []}})
            done = await client.over(task_id)
            assert json.loads(done["result"]["content"][0]["text"]) == [{"a": {"action": "decline"}, "b": YES}, []]
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"a": YES})  # over: ignored

    asyncio.run(main())


@pytest.mark.parametrize("bad", [None, [], "x", {"action": "maybe"}, {"action": []}, {"action": "accept", "content": 1}])
def test_a_wrong_answer_is_refused_and_changes_nothing(desk: Any, faults: list[BaseException], bad: Any) -> None:
    async def main() -> None:
        async with desk(two_questions) as client:
            task_id = (await client.begin())["taskId"]
            before = await client.asking(task_id)
            for answers in ({"a": YES, "b": bad}, {"b": bad, "a": YES}):
                with pytest.raises(ProtocolError) as caught:
                    await client.ask("tasks/update", {"taskId": task_id, "inputResponses": answers})
                assert caught.value.code == -32602
                assert (await client.get(task_id))["inputRequests"] == before["inputRequests"]
            assert not faults

    asyncio.run(main())


def test_questions_of_a_task_need_what_the_client_declared_when_it_began(desk: Any) -> None:
    async def work(call: Request) -> Any:
        return await call.sample([], 10)

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"
            assert done["error"]["code"] == -32021
            assert done["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}

    asyncio.run(main())


def test_a_key_is_never_used_twice_in_one_task(desk: Any, faults: list[BaseException]) -> None:
    """SEP-2663: a server must not reuse a key after a response for it was delivered."""

    async def work(call: Request) -> Any:
        await call.elicit("1", FORM, key="k")
        return await call.elicit("2", FORM, key="k")

    async def main() -> None:
        async with desk(work) as client:
            task_id = (await client.begin())["taskId"]
            await client.asking(task_id)
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"k": YES})
            assert (await client.over(task_id))["status"] == "failed"
            assert "'k'" in str(faults[0])

    asyncio.run(main())


def test_questions_asked_side_by_side_are_all_outstanding_until_each_is_answered(desk: Any) -> None:
    async def work(call: Request) -> Any:
        async with asyncio.TaskGroup() as group:
            one = group.create_task(call.elicit("1", FORM, key="one"))
            two = group.create_task(call.elicit("2", FORM, key="two"))
        return text(json.dumps([one.result(), two.result()]))

    async def main() -> None:
        async with desk(work) as client:
            task_id = (await client.begin())["taskId"]
            while len((await client.asking(task_id))["inputRequests"]) < 2:
                await asyncio.sleep(0)
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"two": YES})
            for _ in range(5):
                await asyncio.sleep(0)
                assert list((await client.asking(task_id))["inputRequests"]) == ["one"]
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"one": YES})
            assert (await client.over(task_id))["status"] == "completed"

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ cancelling


def test_a_task_that_is_cancelled_stops_and_stays_cancelled(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            task_id = (await client.begin())["taskId"]
            await gate.began.wait()
            await client.acknowledged("tasks/cancel", taskId=task_id)
            await client.acknowledged("tasks/cancel", taskId=task_id)
            assert (await client.get(task_id))["status"] == "cancelled"
            while not gate.stopped:
                await asyncio.sleep(0)
            gate.open.set()
            assert (await client.get(task_id))["status"] == "cancelled"

    asyncio.run(main())


def test_a_task_may_be_cancelled_before_its_work_began(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            task_id = (await client.begin())["taskId"]
            await client.acknowledged("tasks/cancel", taskId=task_id)
            assert (await client.get(task_id))["status"] == "cancelled"

    asyncio.run(main())


def test_a_task_may_be_cancelled_while_it_asks(desk: Any) -> None:
    async def main() -> None:
        async with desk(two_questions) as client:
            task_id = (await client.begin())["taskId"]
            await client.asking(task_id)
            await client.acknowledged("tasks/cancel", taskId=task_id)
            assert (await client.get(task_id))["status"] == "cancelled"
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"a": YES, "b": YES})
            assert (await client.get(task_id))["status"] == "cancelled"

    asyncio.run(main())


def test_a_task_whose_work_does_not_stop_is_cancelled_for_its_client(desk: Any) -> None:
    async def stubborn(call: Request) -> Any:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        assert call.cancelled
        return text("anyway")

    async def main() -> None:
        async with desk(stubborn) as client:
            task_id = (await client.begin())["taskId"]
            await asyncio.sleep(0)
            await client.acknowledged("tasks/cancel", taskId=task_id)
            await client.channel.settle()
            assert (await client.get(task_id))["status"] == "cancelled"

    asyncio.run(main())


def test_a_task_that_is_over_stays_what_it_is(desk: Any) -> None:
    async def work(call: Request) -> Any:
        return text("done")

    async def main() -> None:
        async with desk(work) as client:
            done = await client.over((await client.begin())["taskId"])
            await client.acknowledged("tasks/cancel", taskId=done["taskId"])
            assert await client.get(done["taskId"]) == done

    asyncio.run(main())


def test_a_task_outlives_the_request_that_began_it(desk: Any, under_way: Any, request_of: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            params = {"name": "t", "_meta": {"io.modelcontextprotocol/clientCapabilities": ABLE}}
            message = request_of("tools/call", params, MODERN)
            async with under_way(client.engine, message, client.channel, caller="alice") as task:
                task_id = (await task)["result"]["taskId"]
            await gate.began.wait()  # the request is cancelled by now: its answer was sent
            gate.open.set()
            assert (await client.over(task_id))["status"] == "completed"

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ whose it is


@pytest.mark.parametrize("other", ["bob", None, "", "Alice"])
def test_another_principal_finds_no_such_task(desk: Any, other: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            task_id = (await client.begin())["taskId"]
            strangers = [await client.reply(method, {"taskId": task_id, **more}, caller=other) for method, more in THREE]
            missing = await client.reply("tasks/get", {"taskId": "x" * len(task_id)}, caller=other)
            for reply in strangers:  # as if it were not there: nobody learns that it is
                assert reply["error"]["code"] == -32602
                assert reply["error"]["message"] == missing["error"]["message"].replace("x" * len(task_id), task_id)
            assert (await client.get(task_id))["status"] == "working"

    asyncio.run(main())


@pytest.mark.parametrize("task_id", ["", "nope", "x" * 100_000, "../../etc/passwd", "\x00"])
def test_a_task_that_does_not_exist_is_invalid_params_everywhere(desk: Any, task_id: str) -> None:
    async def main() -> None:
        async with desk(fails) as client:
            for method, more in THREE:
                reply = await client.reply(method, {"taskId": task_id, **more})
                assert reply["error"]["code"] == -32602
                assert len(reply["error"]["message"]) < 300

    asyncio.run(main())


@pytest.mark.parametrize("params", [{}, {"taskId": 5}, {"taskId": None}, {"taskId": ["a"]}])
def test_a_task_id_that_is_none_is_refused(desk: Any, params: dict[str, Any]) -> None:
    async def main() -> None:
        async with desk(fails) as client:
            for method, more in THREE:
                assert (await client.reply(method, {**params, **more}))["error"]["code"] == -32602
            wrong: list[Any] = [None, [], "x"]
            for responses in wrong:
                reply = await client.reply("tasks/update", {"taskId": "a", "inputResponses": responses})
                assert reply["error"]["code"] == -32602

    asyncio.run(main())


def test_the_name_header_carries_the_id_of_the_task(desk: Any) -> None:
    async def main() -> None:
        async with desk(Gate()) as client:
            task_id = (await client.begin())["taskId"]
            headers = {"mcp-protocol-version": MODERN, "mcp-method": "tasks/get", "mcp-name": task_id}
            assert (await client.reply("tasks/get", {"taskId": task_id}, headers=headers))["result"]["taskId"] == task_id
            for name in ({"mcp-name": "other"}, {}):
                wrong = {"mcp-protocol-version": MODERN, "mcp-method": "tasks/get", **name}
                assert (await client.reply("tasks/get", {"taskId": task_id}, headers=wrong))["error"]["code"] == -32020

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ who knows tasks


@pytest.mark.parametrize(
    "able",
    [{}, {"extensions": {}}, {"extensions": None}, {"extensions": [EXTENSION]}, {"extensions": EXTENSION}, {"tasks": {}},
     {EXTENSION: {}}, {"experimental": {EXTENSION: {}}}],
)  # fmt: skip
def test_without_the_extension_a_call_is_answered_as_ever_and_tasks_are_refused(desk: Any, able: Any) -> None:
    async def work(call: Request) -> Any:
        return text("plain")

    async def main() -> None:
        async with desk(work) as client:
            result = await client.ask("tools/call", {"name": "t"}, able=able)
            assert (result["resultType"], result["content"]) == ("complete", text("plain")["content"])
            for method, more in THREE:
                error = (await client.reply(method, {"taskId": "t", **more}, able=able))["error"]
                assert error["code"] == -32021
                assert error["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            reply = await client.reply("subscriptions/listen", {"notifications": {"taskIds": ["t"]}}, able=able)
            assert reply["error"]["code"] == -32021
            assert reply["error"]["data"] == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}

    asyncio.run(main())


def test_a_call_that_must_be_a_task_is_refused_without_the_extension(desk: Any) -> None:
    began: list[int] = []

    async def work(call: Request) -> Any:
        began.append(1)
        return text("never")

    async def main() -> None:
        async with desk(work, required=True) as client:
            with pytest.raises(ProtocolError) as caught:
                await client.ask("tools/call", {"name": "t"}, able={})
            assert caught.value.code == -32021
            assert caught.value.data == {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            for revision in HANDSHAKE:
                reply = await client.reply("tools/call", {"name": "t"}, revision=revision)
                assert reply["error"]["code"] == -32600
            assert not began
            await client.begin()

    asyncio.run(main())


def test_the_task_parameter_of_the_experiment_changes_nothing(desk: Any) -> None:
    async def work(call: Request) -> Any:
        return text("plain")

    async def main() -> None:
        async with desk(work) as client:
            for revision in REVISIONS:
                reply = await client.reply("tools/call", {"name": "t", "task": {"ttl": 5}}, revision=revision, able={})
                assert reply["result"]["content"] == text("plain")["content"]

    asyncio.run(main())


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_before_2026_07_28_there_are_no_tasks_of_this_kind(desk: Any, revision: str) -> None:
    from webseam.protocol import Session

    async def work(call: Request) -> Any:
        return text("plain")

    async def main() -> None:
        async with desk(work) as client:
            session = Session()
            session.revision, session.client_capabilities = revision, ABLE
            how = {"revision": revision, "session": session}
            assert "taskId" not in (await client.reply("tools/call", {"name": "t"}, **how))["result"]
            for method in ("tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"):
                reply = await client.reply(method, {"taskId": "t", "inputResponses": {}}, **how)
                assert reply["error"]["code"] == -32601
            capabilities = (await client.reply("initialize", {}, **how))["result"]["capabilities"]
            assert not capabilities.keys() & {"extensions", "tasks"}

    asyncio.run(main())


def test_the_extension_is_there_only_with_a_store(desk: Any) -> None:
    async def main() -> None:
        async with desk(Gate()) as client:
            capabilities = (await client.ask("server/discover", {}))["capabilities"]
            assert capabilities["extensions"] == {EXTENSION: {}}
            for method in ("tasks/result", "tasks/list"):
                assert (await client.reply(method, {"taskId": "t"}))["error"]["code"] == -32601

        async def work(call: Request) -> Any:
            return text("plain")

        async with desk(work, store=None) as client:
            assert "extensions" not in (await client.ask("server/discover", {}))["capabilities"]
            assert (await client.ask("tools/call", {"name": "t"}))["content"] == text("plain")["content"]
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                reply = await client.reply(method, {"taskId": "t", "inputResponses": {}})
                assert reply["error"]["code"] == -32601

    asyncio.run(main())


def test_a_server_that_keeps_no_tasks_does_not_blame_a_client_that_knows_them(desk: Any) -> None:
    async def main() -> None:
        async with desk(Gate(), store=None, required=True) as client:
            error = (await client.reply("tools/call", {"name": "t"}))["error"]
            assert error["code"] == -32603
            assert "task_store" in error["message"]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ bounds


def test_a_task_is_gone_when_its_time_is_over(desk: Any, talk: Any) -> None:
    now = [time.time()]

    async def main() -> None:
        gate = Gate()
        store = MemoryTaskStore(lambda: now[0])
        async with desk(gate, store=store, ttl_ms=60_000) as client:
            task_id = (await client.begin())["taskId"]
            now[0] += 59
            await client.get(task_id)
            now[0] += 2
            for method, more in THREE:
                assert (await client.reply(method, {"taskId": task_id, **more}))["error"]["code"] == -32602

    asyncio.run(main())


def test_work_that_runs_longer_than_its_task_lives_is_ended(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate, ttl_ms=-1) as client:
            await client.begin()
            await gate.began.wait()
            await client.begin()  # it is noticed when the next begins
            while not gate.stopped:
                await asyncio.sleep(0)

    asyncio.run(main())


def test_one_caller_has_so_many_tasks_and_another_has_as_many(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            for _ in range(LIMITS.tasks_per_caller):
                await client.begin()
            reply = await client.reply("tools/call", {"name": "t"})
            assert reply["error"]["code"] == -32603
            assert "try again" in reply["error"]["message"]
            await client.begin(caller="bob")

    asyncio.run(main())


def test_a_store_is_full_at_its_limit_and_has_room_again_when_tasks_expire() -> None:
    now = [1_000.0]

    def task(number: int) -> Task:
        return Task(id=str(number), principal=f"p{number % 1_000}", created=now[0], updated=now[0], ttl_ms=1_000)

    async def main() -> None:
        store = MemoryTaskStore(lambda: now[0])
        for number in range(LIMITS.tasks):
            store._tasks[str(number)] = task(number)
        with pytest.raises(ProtocolError, match="try again"):
            await store.create(task(-1))
        now[0] += 2
        await store.create(task(-1))
        assert len(store._tasks) == 1

    asyncio.run(main())


def test_a_task_asks_so_often_and_no_more(desk: Any) -> None:
    async def nosy(call: Request) -> Any:
        question = {"method": "roots/list"}
        await call.ask({str(number): question for number in range(LIMITS.task_questions + 1)})

    async def main() -> None:
        async with desk(nosy) as client:
            done = await client.over((await client.begin())["taskId"])
            assert done["status"] == "failed"
            assert str(LIMITS.task_questions) in done["error"]["message"]

    asyncio.run(main())


def test_nothing_is_held_of_a_task_that_is_over(desk: Any) -> None:
    async def work(call: Request) -> Any:
        await call.elicit("?", FORM, key="k")
        return text("done")

    async def main() -> None:
        async with desk(work) as client:
            one, two, three = [(await client.begin())["taskId"] for _ in range(3)]
            for task_id in (one, two, three):
                await client.asking(task_id)
            await client.acknowledged("tasks/update", taskId=one, inputResponses={"k": YES})
            await client.acknowledged("tasks/cancel", taskId=two)
            assert (await client.over(one))["status"] == "completed"
            assert list(client.engine._tasks._running) == [three]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ notifications


def test_a_listener_is_told_of_every_status_as_tasks_get_would_say_it(
    desk: Any, wire: Any, under_way: Any, request_of: Any
) -> None:
    heard = asyncio.Event()

    async def work(call: Request) -> Any:
        await heard.wait()
        call.progress(1, message="half way")  # a task has no progress: SEP-2663, "Task Status Notifications"
        call.log("error", "x")
        await call.elicit("?", FORM, key="k")
        return text("done")

    async def main() -> None:
        async with desk(work) as client:
            mine = (await client.begin())["taskId"]
            other = (await client.begin())["taskId"]
            params = {
                "notifications": {"taskIds": [mine, "unknown"]},
                "_meta": {"io.modelcontextprotocol/clientCapabilities": ABLE},
            }
            listening = wire()
            async with under_way(
                client.engine, {**request_of("subscriptions/listen", params, MODERN), "id": "L"}, listening, caller="alice"
            ):
                acknowledged = await listening.until(1)
                assert acknowledged["params"]["notifications"] == {"taskIds": [mine]}
                heard.set()
                asked = await client.asking(mine)
                assert asked["statusMessage"] == "half way"
                await client.asking(other)
                await client.acknowledged("tasks/update", taskId=mine, inputResponses={"k": YES})
                await client.acknowledged("tasks/update", taskId=other, inputResponses={"k": YES})
                done = await client.over(mine)
                await client.over(other)
            told = listening.sent[1:]
            assert {message["method"] for message in told} == {"notifications/tasks"}
            for message in told:
                assert message["params"]["_meta"] == {SUBSCRIPTION: "L"}
                assert message["params"]["taskId"] == mine
                is_detailed(message["params"])
            assert [message["params"]["status"] for message in told] == ["input_required", "working", "completed"]
            bare = {key: value for key, value in done.items() if key not in ("_meta", "resultType")}
            assert told[-1]["params"] == {**bare, "_meta": {SUBSCRIPTION: "L"}}

    asyncio.run(main())


def test_another_principal_cannot_listen_to_a_task(desk: Any, wire: Any, under_way: Any, request_of: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            task_id = (await client.begin())["taskId"]
            params = {
                "notifications": {"taskIds": [task_id]},
                "_meta": {"io.modelcontextprotocol/clientCapabilities": ABLE},
            }
            stranger = wire()
            async with under_way(client.engine, request_of("subscriptions/listen", params, MODERN), stranger, caller="bob"):
                assert (await stranger.until(1))["params"]["notifications"] == {"taskIds": []}
                gate.open.set()
                await client.over(task_id)
            assert len(stranger.sent) == 1

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ another store


class CopyingStore(MemoryTaskStore):
    """A store as a database is one: what comes out is not what was put in, and it takes a while."""

    async def create(self, task: Task) -> None:
        await asyncio.sleep(0)
        await super().create(self._copy(task))

    async def get(self, task_id: str) -> Task | None:
        await asyncio.sleep(0)
        found = await super().get(task_id)
        return None if found is None else self._copy(found)

    async def update(self, task: Task) -> None:
        copy = self._copy(task)
        await asyncio.sleep(0)
        await super().update(copy)

    @staticmethod
    def _copy(task: Task) -> Task:
        import msgspec

        return msgspec.json.decode(msgspec.json.encode(task), type=Task)


def test_a_store_that_keeps_copies_shows_the_same_life(desk: Any) -> None:
    async def main() -> None:
        async with desk(two_questions, store=CopyingStore()) as client:
            task_id = (await client.begin())["taskId"]
            await client.asking(task_id)
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"b": YES})
            assert list((await client.get(task_id))["inputRequests"]) == ["a"]
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={"a": YES})
            while "a" in (asked := await client.asking(task_id))["inputRequests"]:
                await asyncio.sleep(0)
            [key] = asked["inputRequests"]
            await client.acknowledged("tasks/update", taskId=task_id, inputResponses={key: {"roots": []}})
            assert (await client.over(task_id))["status"] == "completed"

            cancelled = (await client.begin())["taskId"]
            await client.asking(cancelled)
            await client.acknowledged("tasks/cancel", taskId=cancelled)
            assert (await client.get(cancelled))["status"] == "cancelled"

    asyncio.run(main())


def test_answers_to_one_task_that_come_side_by_side_are_all_taken(desk: Any) -> None:
    async def many(call: Request) -> Any:
        answers = await call.ask({str(number): {"method": "roots/list"} for number in range(20)})
        return text(json.dumps({key: value["roots"][0]["uri"] for key, value in answers.items()}))

    async def main() -> None:
        for store in (MemoryTaskStore(), CopyingStore()):
            async with desk(many, store=store) as client:
                task_id = (await client.begin())["taskId"]
                await client.asking(task_id)
                await asyncio.gather(
                    *(
                        client.ask(
                            "tasks/update",
                            {"taskId": task_id, "inputResponses": {str(number): {"roots": [{"uri": f"x:{number}"}]}}},
                        )
                        for number in range(20)
                    )
                )
                done = await client.over(task_id)
                assert json.loads(done["result"]["content"][0]["text"]) == {str(n): f"x:{n}" for n in range(20)}

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ what tasks may hold


def test_a_result_too_large_to_keep_fails_its_task(desk: Any) -> None:
    async def large(call: Request) -> Any:
        return text("x" * LIMITS.task_bytes)

    async def main() -> None:
        async with desk(large) as client:
            task = await client.over((await client.begin())["taskId"])
            assert task["status"] == "failed"
            assert str(LIMITS.task_bytes) in task["error"]["message"]

    asyncio.run(main())


def test_the_oldest_results_make_room_for_the_newest() -> None:
    async def main() -> None:
        store = MemoryTaskStore(now=lambda: 0)
        size = LIMITS.tasks_bytes // 3
        for number in range(4):
            task = Task(id=str(number), principal="alice", created=0, updated=0)
            await store.create(task)
            task.result = Raw(b'"' + b"x" * size + b'"')
            await store.update(task)
        assert [await store.get(str(number)) is not None for number in range(4)] == [False, False, True, True]

    asyncio.run(main())


def test_calls_that_hold_much_are_not_all_taken_on_as_tasks(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate) as client:
            large = "x" * (LIMITS.message_bytes - 10_000)
            refused = 0
            for _ in range(LIMITS.tasks_bytes // LIMITS.message_bytes + 2):
                reply = await client.reply("tools/call", {"name": "t", "arguments": {"pad": large}})
                refused += "error" in reply
            assert refused > 0

    asyncio.run(main())


def test_work_ends_when_nobody_can_see_its_task_any_more(desk: Any) -> None:
    async def main() -> None:
        gate = Gate()
        async with desk(gate, ttl_ms=20) as client:
            await client.begin()
            await gate.began.wait()
            while not gate.stopped:
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_a_store_that_copies_is_told_when_the_work_cancels_itself(desk: Any) -> None:
    class Copies(MemoryTaskStore):
        async def create(self, task: Task) -> None:
            await super().create(msgspec.json.decode(msgspec.json.encode(task), type=Task))

        async def update(self, task: Task) -> None:
            await super().update(msgspec.json.decode(msgspec.json.encode(task), type=Task))

    async def gives_up(call: Request) -> Any:
        raise asyncio.CancelledError

    async def main() -> None:
        async with desk(gives_up, Copies()) as client:
            assert (await client.over((await client.begin())["taskId"]))["status"] == "cancelled"

    asyncio.run(main())
