"""Work that is awaited: asynchronous providers, cancellation, what is never begun, and callers side by side."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.outcome import Outcome
from webseam.protocol.request import Request, principal_of
from webseam.protocol.session import Session

RequestOf = Callable[..., dict[str, Any]]


class Slow:
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.began: list[Any] = []
        self.stopped: list[Any] = []

    async def list(self, cursor: str | None) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        self.began.append(call.id)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.stopped.append(call.id)
            if name == "stubborn":
                return [{"type": "text", "text": "anyway"}]
            raise
        if name == "breaks":
            raise RuntimeError("secret")
        if name == "refuses":
            raise ProtocolError(-32602, "no such thing")
        return [{"type": "text", "text": f"{call.caller} {name}"}]


def call_of(message_id: Any, name: str = "n") -> bytes:
    message = {"jsonrpc": "2.0", "id": message_id, "method": "tools/call", "params": {"name": name, "arguments": {}}}
    return json.dumps(message).encode()


def cancel_of(message_id: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": message_id}}).encode()


def reply_of(outcome: Outcome) -> Any:
    return None if outcome.reply is None else json.loads(outcome.reply)


def test_an_asynchronous_provider_is_awaited_and_answered_in_every_revision(request_of: RequestOf) -> None:
    async def main() -> None:
        provider = Slow()
        engine = Engine().register_provider(provider)
        provider.gate.set()
        for revision in ("2025-11-25", "2026-07-28"):
            outcome = engine.receive(json.dumps(request_of("tools/call", {"name": "n"}, revision)).encode(), "me")
            assert outcome.reply is None
            assert outcome.work is not None
            assert outcome.request is not None
            assert (outcome.request.id, outcome.request.revision) == (1, revision)
            settled = await outcome.work
            assert settled.work is None
            assert reply_of(settled)["result"]["content"] == [{"type": "text", "text": "me n"}]

    asyncio.run(main())


@pytest.mark.parametrize(("name", "error"), [("breaks", (-32603, "Internal error")), ("refuses", (-32602, "no such thing"))])
def test_what_work_raises_is_answered_like_anything_else(name: str, error: tuple[int, str]) -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        engine = Engine().register_provider(provider)
        provider.gate.set()
        outcome = engine.receive(call_of(1, name), session=session)
        assert outcome.work is not None
        reply = reply_of(await outcome.work)
        assert (reply["error"]["code"], reply["error"]["message"]) == error
        assert not session.pending

    asyncio.run(main())


@pytest.mark.parametrize("name", ["n", "stubborn"])
def test_a_cancelled_call_stops_and_is_never_answered(name: str) -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        engine = Engine().register_provider(provider)
        outcome = engine.receive(call_of("a", name), session=session)
        assert outcome.work is not None
        assert outcome.request is not None
        task = asyncio.create_task(outcome.work)
        outcome.request.on_cancel(task.cancel)
        await asyncio.sleep(0)
        assert list(session.pending) == ["a"]
        assert engine.receive(cancel_of("a"), session=session).reply is None
        assert not session.pending
        if name == "stubborn":
            assert (await task).reply is None
        else:
            with pytest.raises(asyncio.CancelledError):
                await task
        assert provider.stopped == ["a"]
        assert outcome.request.cancelled

    asyncio.run(main())


def test_a_call_cancelled_before_it_began_never_begins() -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        engine = Engine().register_provider(provider)
        outcome = engine.receive(call_of(1), session=session)
        assert outcome.work is not None
        engine.receive(cancel_of(1), session=session)
        assert (await outcome.work).reply is None
        assert not provider.began

    asyncio.run(main())
    gc.collect()  # a coroutine that was never awaited would be an error now


def test_an_abandoned_call_leaves_nothing_behind() -> None:
    async def main() -> None:
        session = Session()
        engine = Engine().register_provider(Slow())
        outcome = engine.receive(call_of(1), session=session)
        outcome.abandon()
        assert not session.pending
        outcome = engine.receive(call_of(1), session=session)  # the id is free again
        assert outcome.work is not None
        outcome.abandon()

    asyncio.run(main())
    gc.collect()


def test_a_provider_that_fails_when_it_is_cancelled_does_not_make_a_notification_answered() -> None:
    faults: list[BaseException] = []

    class Fragile(Slow):
        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            call.on_cancel(fail)
            return await Slow.call(self, name, arguments, call)

    def fail() -> None:
        raise RuntimeError("secret")

    async def main() -> None:
        session = Session()
        engine = Engine(on_fault=faults.append).register_provider(Fragile())
        outcome = engine.receive(call_of(1), session=session)
        assert outcome.work is not None
        assert outcome.request is not None
        task = asyncio.create_task(outcome.work)
        outcome.request.on_cancel(task.cancel)
        await asyncio.sleep(0)
        cancelled = engine.receive(cancel_of(1), session=session)
        assert (cancelled.reply, cancelled.status) == (None, 202)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not session.pending
        assert [str(fault) for fault in faults] == ["secret"]

    asyncio.run(main())


def test_what_fails_when_a_request_is_cancelled_keeps_nothing_else_from_running() -> None:
    ran: list[str] = []

    def fail() -> None:
        ran.append("failed")
        raise RuntimeError("secret")

    request = Request(1, "tools/call")
    for callback in (fail, fail, lambda: ran.append("ran")):
        request.on_cancel(callback)
    request.cancel()
    assert ran == ["failed", "failed", "ran"]


@pytest.mark.parametrize(
    "data",
    [cancel_of(2), cancel_of("1"), cancel_of(None), b'{"jsonrpc":"2.0","method":"notifications/cancelled"}'],
)
def test_a_cancellation_of_something_else_changes_nothing(data: bytes) -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        engine = Engine().register_provider(provider)
        outcome = engine.receive(call_of(1), session=session)
        assert engine.receive(data, session=session).reply is None
        assert engine.receive(data).reply is None
        assert list(session.pending) == [1]
        provider.gate.set()
        assert outcome.work is not None
        assert reply_of(await outcome.work)["id"] == 1

    asyncio.run(main())


def test_another_session_cannot_cancel_a_call() -> None:
    async def main() -> None:
        provider, mine, theirs = Slow(), Session(), Session()
        engine = Engine().register_provider(provider)
        outcome = engine.receive(call_of(1), session=mine)
        engine.receive(cancel_of(1), session=theirs)
        assert outcome.request is not None
        assert not outcome.request.cancelled
        outcome.abandon()

    asyncio.run(main())


def test_an_id_in_use_is_refused_and_free_again_once_answered() -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        engine = Engine().register_provider(provider)
        first = engine.receive(call_of(1), session=session)
        second = engine.receive(call_of(1), session=session)
        assert reply_of(second)["error"]["code"] == -32600
        other = engine.receive(call_of("1"), session=session)  # another id
        assert other.work is not None
        provider.gate.set()
        assert first.work is not None
        await first.work
        third = engine.receive(call_of(1), session=session)
        assert third.work is not None
        assert reply_of(await third.work)["id"] == 1
        other.abandon()

    asyncio.run(main())


def test_a_batch_with_work_is_answered_whole_and_without_what_was_cancelled() -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        session.revision = "2025-03-26"
        engine = Engine().register_provider(provider)
        ping = b'{"jsonrpc":"2.0","id":"p","method":"ping"}'
        batch = b"[" + b",".join([call_of(1), ping, call_of(2), call_of(3)]) + b"]"
        outcome = engine.receive(batch, session=session)
        assert outcome.work is not None
        task = asyncio.create_task(outcome.work)
        await asyncio.sleep(0)
        engine.receive(cancel_of(2), session=session)
        provider.gate.set()
        assert [one["id"] for one in reply_of(await task)] == [1, "p", 3]
        assert provider.began == [1, 3]
        assert not session.pending

    asyncio.run(main())
    gc.collect()


@pytest.mark.parametrize("began", [True, False])
def test_a_batch_that_is_given_up_leaves_nothing_behind(began: bool) -> None:
    async def main() -> None:
        provider, session = Slow(), Session()
        session.revision = "2025-03-26"
        engine = Engine().register_provider(provider)
        outcome = engine.receive(b"[" + call_of(1) + b"," + call_of(2) + b"]", session=session)
        assert outcome.work is not None
        assert outcome.request is not None
        if began:
            task = asyncio.create_task(outcome.work)
            outcome.request.on_cancel(task.cancel)
            await asyncio.sleep(0)
            outcome.request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            outcome.abandon()
        assert not session.pending

    asyncio.run(main())
    gc.collect()


def test_hundreds_of_callers_side_by_side_each_get_their_own_answer() -> None:
    class Echo:
        async def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            for _ in range(arguments["n"] % 5):
                await asyncio.sleep(0)
            return [{"type": "text", "text": f"{call.caller} {call.id} {arguments['n']}"}]

    async def one(engine: Engine, number: int, revision: str, request_of: Any = None) -> None:
        params: dict[str, Any] = {"name": "echo", "arguments": {"n": number}}
        if revision == "2026-07-28":
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        message = {"jsonrpc": "2.0", "id": number % 7, "method": "tools/call", "params": params}
        outcome = engine.receive(json.dumps(message).encode(), f"caller {number}", Session())
        assert outcome.work is not None
        await asyncio.sleep(0)
        reply = reply_of(await outcome.work)
        assert reply["id"] == number % 7
        assert reply["result"]["content"][0]["text"] == f"caller {number} {number % 7} {number}"
        assert ("resultType" in reply["result"]) is (revision == "2026-07-28")

    async def main() -> None:
        engine = Engine().register_provider(Echo())
        revisions = ("2026-07-28", "2025-11-25")
        await asyncio.gather(*(one(engine, number, revisions[number % 2]) for number in range(400)))

    asyncio.run(main())


def test_a_request_of_the_new_era_is_not_served_in_a_batch() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    listen = {"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": {}, "_meta": meta}}
    data = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}, listen]).encode()
    outcome = Engine().receive(data, None, None, {"mcp-protocol-version": "2025-03-26"})
    assert outcome.work is None
    assert outcome.reply is not None
    pong, refusal = json.loads(outcome.reply)
    assert (pong["result"], refusal["id"], refusal["error"]["code"]) == ({}, 2, -32600)


def test_a_caller_that_does_not_say_who_it_is_cannot_be_told_from_another() -> None:
    class Anyone:
        pass

    class Known:
        principal = "ann"

    class Method:
        def principal(self) -> str:
            return "ann"

    class Empty:
        principal: Any = None

    assert [principal_of(caller) for caller in (None, "", "bob", Known())] == ["", "", "bob", "ann"]
    for caller in (Anyone(), Method(), Empty(), 7, ["ann"]):
        with pytest.raises(TypeError, match="principal"):
            principal_of(caller)
