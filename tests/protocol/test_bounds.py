"""Every bound of the engine: at it, all is well; beyond it, what came is refused with a sentence that names the bound."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol import Engine, Request, Session
from webseam.protocol.jsonrpc import too_many
from webseam.transports.memory import MemoryClient

MODERN = "2026-07-28"
ABLE: dict[str, Any] = {"roots": {}}


class Tools:
    needs_session = True

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    def list(self, cursor: str | None) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        count = arguments["count"]
        answers = await call.ask({str(number): {"method": "roots/list"} for number in range(count)})
        return [{"type": "text", "text": str(len(answers))}]


class Watched:
    def list(self, cursor: str | None) -> Any:
        return []

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return []

    def subscribe(self, uri: str) -> None:
        """Anything may be watched."""


# ------------------------------------------------------------------------------------------------ one message


def with_nodes(count: int, method: str = "ping", message_id: bytes = b'"id":"n",') -> bytes:
    """A message of so many objects and arrays, its own and its params among them."""
    head = b'{"jsonrpc":"2.0",' + message_id + b'"method":"' + method.encode() + b'","params":{"x":['
    return head + b",".join([b"[]"] * (count - 3)) + b"]}}"


def test_a_message_of_as_many_nodes_as_allowed_is_served_and_one_more_is_refused_under_its_id(post: Any) -> None:
    assert post(with_nodes(LIMITS.message_nodes), session=Session())[1] == {"jsonrpc": "2.0", "id": "n", "result": {}}
    status, reply = post(with_nodes(LIMITS.message_nodes + 1), session=Session())
    assert (status, reply["error"]["code"]) == (400, -32600)
    assert str(LIMITS.message_nodes) in reply["error"]["message"]
    assert reply["id"] == "n"  # else its sender never learns which request was refused


def test_a_notification_of_too_many_nodes_is_ignored_as_any_other(post: Any) -> None:
    data = with_nodes(LIMITS.message_nodes + 1, "notifications/initialized", b"")
    assert post(data, session=Session())[1] is None


def test_nodes_in_strings_do_not_count(post: Any) -> None:
    text = "[{" * LIMITS.message_nodes + '\\"'
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": text, "y[{": "\\"}}
    assert post(message, session=Session())[1]["result"] == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 0),
        ("[]", 1),
        ('{"a":{"b":[]}}', 3),
        ('["[[[[","\\"[[[[","\\\\",[],[[]]]', 4),
        ('{"a[":{"]":{}},"b":"\\\\\\"{{{{{"}', 3),
    ],
)
def test_nodes_are_counted_outside_of_strings(text: str, count: int) -> None:
    assert not too_many(text.encode(), count)
    if count:
        assert too_many(text.encode(), count - 1)


def nested(depth: int, method: str = "ping", message_id: bytes = b'"id":3,') -> bytes:
    head = b'{"jsonrpc":"2.0",' + message_id + b'"method":"' + method.encode() + b'","params":{"x":'
    return head + b"[" * (depth - 2) + b"]" * (depth - 2) + b"}}"


def test_a_message_as_deep_as_allowed_is_served_and_a_deeper_one_is_refused(post: Any) -> None:
    assert post(nested(LIMITS.message_depth), session=Session())[1]["result"] == {}
    status, reply = post(nested(LIMITS.message_depth + 1), session=Session())
    assert (status, reply["error"]["code"], reply["id"]) == (400, -32600, 3)
    assert str(LIMITS.message_depth) in reply["error"]["message"]
    assert post(nested(LIMITS.message_depth + 1, "notifications/initialized", b""), session=Session())[1] is None


@pytest.mark.parametrize("member", ["arguments", "inputResponses", "_meta"])
def test_what_is_too_deep_is_refused_wherever_it_lies(post: Any, member: str) -> None:
    deep: Any = []
    for _ in range(LIMITS.message_depth):
        deep = [deep]
    params = {"name": "t", member: {"x": deep}}
    status, reply = post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, session=Session())
    assert (status, reply["error"]["code"], reply["id"]) == (400, -32600, 1)


def test_a_response_that_is_too_deep_is_no_answer(post: Any) -> None:
    data = b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100 + b"]" * 100 + b"}"
    assert post(data, session=Session())[1]["error"]["code"] == -32600


def test_a_message_as_large_as_allowed_is_served_and_a_larger_one_is_refused(post: Any) -> None:
    frame = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"%s"}}'
    room = LIMITS.message_bytes - len(frame) + 2
    assert post(frame % (b"a" * room), session=Session())[1]["result"] == {}
    status, reply = post(frame % (b"a" * (room + 1)), session=Session())
    assert (status, reply["error"]["code"], reply["id"]) == (413, -32600, None)
    assert str(LIMITS.message_bytes) in reply["error"]["message"]


def test_a_batch_of_as_many_messages_as_allowed_is_served_and_one_more_is_refused(post: Any) -> None:
    how = {"headers": {"mcp-protocol-version": "2025-03-26"}}
    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    many = [ping % number for number in range(LIMITS.batch_messages + 1)]
    assert len(post(b"[" + b",".join(many[:-1]) + b"]", **how)[1]) == LIMITS.batch_messages
    status, reply = post(b"[" + b",".join(many) + b"]", **how)
    assert (status, reply["error"]["code"]) == (400, -32600)
    assert str(LIMITS.batch_messages) in reply["error"]["message"]


def test_a_batch_of_too_many_nodes_is_refused_before_any_of_it_runs(post: Any) -> None:
    data = b"[" + with_nodes(LIMITS.message_nodes // 2) + b"," + with_nodes(LIMITS.message_nodes // 2 + 10) + b"]"
    status, reply = post(data, headers={"mcp-protocol-version": "2025-03-26"})
    assert (status, reply["error"]["code"]) == (400, -32600)
    assert str(LIMITS.message_nodes) in reply["error"]["message"]


# ------------------------------------------------------------------------------------------------ what outlives one


def test_a_session_has_so_many_questions_open_and_the_next_call_is_refused(
    wire: Any, under_way: Any, request_of: Any, talk: Any
) -> None:
    async def main() -> None:
        session, channel = Session(), wire()
        session.revision, session.client_capabilities = "2025-11-25", ABLE
        engine = Engine().register_provider(Tools())
        most = {**request_of("tools/call", {"name": "t", "arguments": {"count": LIMITS.pending_questions}}), "id": "most"}
        one = {**request_of("tools/call", {"name": "t", "arguments": {"count": 1}}), "id": "one"}
        async with under_way(engine, most, channel, session=session) as task:
            await channel.until(LIMITS.pending_questions)
            _, reply, _ = await talk(engine, one, channel=channel, session=session)
            assert reply["error"]["code"] == -32603
            assert str(LIMITS.pending_questions) in reply["error"]["message"]
            assert len(channel.sent) == LIMITS.pending_questions  # not one of what was refused was asked
            for asked in channel.sent:
                answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}
                engine.receive(json.dumps(answer).encode(), session=session)
            assert (await task)["result"]["content"][0]["text"] == str(LIMITS.pending_questions)
        assert not session.questions

    asyncio.run(main())


def test_more_questions_at_once_than_a_session_may_have_are_refused(wire: Any, talk: Any, request_of: Any) -> None:
    async def main() -> None:
        session, channel = Session(), wire()
        session.revision, session.client_capabilities = "2025-11-25", ABLE
        message = request_of("tools/call", {"name": "t", "arguments": {"count": LIMITS.pending_questions + 1}})
        _, reply, _ = await talk(Engine().register_provider(Tools()), message, channel=channel, session=session)
        assert str(LIMITS.pending_questions) in reply["error"]["message"]
        assert not channel.sent
        assert not session.questions

    asyncio.run(main())


def test_a_session_watches_so_many_resources_and_the_next_is_refused() -> None:
    async def main() -> None:
        client = MemoryClient(Engine().register_provider(Watched()))
        for number in range(LIMITS.session_subscriptions):
            await client.request("resources/subscribe", {"uri": f"x:{number}"})
        answer = await client.send({"jsonrpc": "2.0", "id": "n", "method": "resources/subscribe", "params": {"uri": "x:n"}})
        assert answer["error"]["code"] == -32602
        assert str(LIMITS.session_subscriptions) in answer["error"]["message"]
        assert await client.request("resources/subscribe", {"uri": "x:0"}) == {}  # which it watches already
        await client.request("resources/unsubscribe", {"uri": "x:0"})
        await client.request("resources/subscribe", {"uri": "x:n"})
        assert len(client.session.watched) == LIMITS.session_subscriptions

    asyncio.run(main())


def test_a_session_remembers_no_more_of_its_client_than_the_limit(post: Any) -> None:
    room = LIMITS.handshake_bytes - 200
    for size, member in ((room, "result"), (2 * room, "error")):
        for _ in range(12):  # a used engine as a new one
            session = Session()
            capabilities = {"experimental": {"x": "y" * size}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": capabilities}}
            _, reply = post(message, session=session)
            assert member in reply
            assert (session.revision is None) is (member == "error")
            if member == "error":
                assert reply["error"]["code"] == -32602
                assert str(LIMITS.handshake_bytes) in reply["error"]["message"]
                assert not session.client_capabilities
    assert "result" in post(message)[1]  # where nothing is remembered, nothing is too large


def test_a_name_too_long_to_be_remembered_is_not_watched(ask: Any, wire: Any, talk: Any, request_of: Any) -> None:
    async def main() -> None:
        engine = Engine().register_provider(Watched())
        client = MemoryClient(engine)
        await client.request("resources/subscribe", {"uri": "x" * LIMITS.url_chars})
        long = {"uri": "x" * (LIMITS.url_chars + 1)}
        answer = await client.send({"jsonrpc": "2.0", "id": "n", "method": "resources/subscribe", "params": long})
        assert answer["error"]["code"] == -32602
        assert str(LIMITS.url_chars) in answer["error"]["message"]
        params = {"notifications": {"resourceSubscriptions": [long["uri"]]}}
        _, reply, _ = await talk(engine, request_of("subscriptions/listen", params, MODERN), channel=wire())
        assert reply["error"]["code"] == -32602

    asyncio.run(main())


def test_what_waits_without_a_channel_is_bounded_in_bytes(talk: Any, request_of: Any) -> None:
    """A progress token comes back in every message: a large one must not be multiplied."""

    class Busy:
        async def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            for number in range(LIMITS.stream_messages):
                call.progress(number)
            return []

    async def main() -> None:
        token = "x" * (LIMITS.stream_bytes // 4)
        message = request_of("tools/call", {"name": "t", "_meta": {"progressToken": token}}, MODERN)
        _, reply, before = await talk(Engine().register_provider(Busy()), message)
        assert "result" in reply
        assert len(before) == 3

    asyncio.run(main())


@pytest.mark.parametrize("member", ["resourceSubscriptions", "taskIds"])
def test_a_subscription_names_so_many_and_no_more(wire: Any, talk: Any, under_way: Any, request_of: Any, member: str) -> None:
    from webseam.protocol import MemoryTaskStore

    async def main() -> None:
        engine = Engine(task_store=MemoryTaskStore()).register_provider(Watched())
        meta: dict[str, Any] = {
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}
        }
        names = [f"x:{number}" for number in range(LIMITS.session_subscriptions + 1)]
        params = {"notifications": {member: names}, "_meta": meta}
        channel = wire()
        _, reply, _ = await talk(engine, request_of("subscriptions/listen", params, MODERN), channel=channel)
        assert reply["error"]["code"] == -32602
        assert str(LIMITS.session_subscriptions) in reply["error"]["message"]
        assert not channel.sent
        params = {"notifications": {member: names[:-1]}, "_meta": meta}
        async with under_way(engine, request_of("subscriptions/listen", params, MODERN), channel):
            await channel.until(1)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "x" * 1_000_000}),
        ("x" * 1_000_000, {}),
        ("tools/call", {"name": "t", "inputResponses": {"k" * 1_000_000: 1}}),
        ("tools/call", {"name": "t", "requestState": "x" * 1_000_000}),
        ("tasks/get", {"taskId": "x" * 1_000_000}),
        ("resources/read", {"uri": "x" * 1_000_000}),
        ("tools/list", {"cursor": ["x" * 1_000_000]}),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/logLevel": "x" * 1_000_000}}),
        ("tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "x" * 1_000_000}}),
    ],
)
def test_what_a_client_sent_is_never_repeated_whole(post: Any, request_of: Any, method: str, params: dict[str, Any]) -> None:
    class Echo(Watched):
        def list(self, cursor: str | None) -> Any:
            return []

        def call(self, name: str, arguments: dict[str, Any]) -> Any:
            return []

    engine = Engine().register_provider(Echo())
    _, reply = post(request_of(method, params, MODERN), to=engine)
    assert len(json.dumps(reply)) < 2_000


def test_an_id_is_kept_and_sent_back_so_it_has_a_bound(post: Any) -> None:
    message_id = "i" * LIMITS.id_chars
    assert post({"jsonrpc": "2.0", "id": message_id, "method": "ping"})[1]["id"] == message_id
    for _ in range(20):  # also once requests are read in one go
        status, reply = post({"jsonrpc": "2.0", "id": message_id + "i", "method": "ping"})
        assert (status, reply["error"]["code"], reply["id"]) == (400, -32600, None)
        assert str(LIMITS.id_chars) in reply["error"]["message"]
