"""Who is told of changes: `subscriptions/listen` (2026-07-28, basic/patterns/subscriptions), and sessions before it."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol import Engine, Request, Session
from webseam.protocol.jsonrpc import INVALID_PARAMS
from webseam.protocol.revisions import HANDSHAKE
from webseam.transports.memory import MemoryClient

MODERN = "2026-07-28"
ID = "io.modelcontextprotocol/subscriptionId"
RequestOf = Callable[..., dict[str, Any]]


class Tools:
    lists_change = True

    def list(self, cursor: str | None) -> Any:
        return []

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return []


class Prompts:
    """Whose list never changes."""

    def list(self, cursor: str | None) -> Any:
        return []

    def get(self, name: str, arguments: dict[str, Any]) -> Any:
        return []


class Watched:
    """Resources that may be watched, but for those of another scheme. `watching` is how many watch each."""

    lists_change = True

    def __init__(self) -> None:
        self.watching: dict[str, int] = {}

    def list(self, cursor: str | None) -> Any:
        return []

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return []

    async def subscribe(self, uri: str, call: Request) -> None:
        if uri.startswith("no:"):
            raise ProtocolError(INVALID_PARAMS, f"{uri} cannot be watched")
        if uri.startswith("broken:"):
            raise RuntimeError("secret")
        if uri.startswith("slow:"):
            await asyncio.Event().wait()
        self.watching[uri] = self.watching.get(uri, 0) + 1

    async def unsubscribe(self, uri: str) -> None:
        self.watching[uri] -= 1
        if not self.watching[uri]:
            del self.watching[uri]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def changing(watched: Watched, faults: list[BaseException]) -> Engine:
    engine = Engine(on_fault=faults.append)
    return engine.register_provider(Tools()).register_provider(Prompts()).register_provider(watched)


@pytest.fixture
def listen_to(request_of: RequestOf) -> Callable[..., dict[str, Any]]:
    def make(message_id: Any = 1, **wanted: Any) -> dict[str, Any]:
        return {**request_of("subscriptions/listen", {"notifications": wanted}, MODERN), "id": message_id}

    return make


# ------------------------------------------------------------------------------------------------ subscriptions/listen


@pytest.mark.parametrize("message_id", [0, 1, -5, "", "a", "1", "\u00e9", 2**60])
def test_the_acknowledgement_comes_first_and_everything_carries_the_id_of_the_request(
    changing: Engine, wire: Any, under_way: Any, listen_to: Any, message_id: Any
) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to(message_id, toolsListChanged=True), channel) as task:
            first = await channel.until(1)
            assert first == {
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": {ID: message_id}, "notifications": {"toolsListChanged": True}},
            }
            changing.changed("tools")
            assert (await channel.until(2)) == {
                "jsonrpc": "2.0",
                "method": "notifications/tools/list_changed",
                "params": {"_meta": {ID: message_id}},
            }
            assert not task.done()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("wanted", "honoured"),
    [
        ({}, {}),
        ({"toolsListChanged": True}, {"toolsListChanged": True}),
        ({"toolsListChanged": False}, {}),
        ({"toolsListChanged": None, "resourceSubscriptions": None}, {}),
        ({"promptsListChanged": True}, {}),  # which was not declared to change
        ({"resourcesListChanged": True, "promptsListChanged": True}, {"resourcesListChanged": True}),
        ({"resourceSubscriptions": ["x:1", "x:2", "x:1"]}, {"resourceSubscriptions": ["x:1", "x:2"]}),
        ({"resourceSubscriptions": ["x:1", "no:1"]}, {"resourceSubscriptions": ["x:1"]}),
        ({"resourceSubscriptions": ["no:1"]}, {"resourceSubscriptions": []}),
        ({"weatherChanged": True}, {}),
        ({"taskIds": ["t"]}, {}),  # no tasks are kept here
    ],
)
def test_what_cannot_be_honoured_is_left_out_of_the_acknowledgement(
    changing: Engine, wire: Any, under_way: Any, listen_to: Any, wanted: dict[str, Any], honoured: dict[str, Any]
) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to(**wanted), channel):
            assert (await channel.until(1))["params"]["notifications"] == honoured

    asyncio.run(main())


def test_a_listener_is_told_what_it_asked_for_and_nothing_else(
    changing: Engine, wire: Any, under_way: Any, listen_to: Any
) -> None:
    async def main() -> None:
        tools, resources, one, nothing = (wire() for _ in range(4))
        async with (
            under_way(changing, listen_to("t", toolsListChanged=True), tools),
            under_way(changing, listen_to("r", resourcesListChanged=True), resources),
            under_way(changing, listen_to("1", resourceSubscriptions=["x:1"]), one),
            under_way(changing, listen_to("0"), nothing),
        ):
            for channel in (tools, resources, one, nothing):
                await channel.until(1)
            changing.changed("tools")
            changing.changed("resources")
            changing.updated("x:1")
            changing.updated("x:2")
            changing.updated("X:1")
            changing.updated("x:1/")
        assert [message["method"] for message in tools.sent[1:]] == ["notifications/tools/list_changed"]
        assert [message["method"] for message in resources.sent[1:]] == ["notifications/resources/list_changed"]
        assert [message["params"] for message in one.sent[1:]] == [{"_meta": {ID: "1"}, "uri": "x:1"}]
        assert len(nothing.sent) == 1

    asyncio.run(main())


def test_subscriptions_of_one_client_are_told_apart_by_their_ids(
    changing: Engine, wire: Any, under_way: Any, listen_to: Any
) -> None:
    async def main() -> None:
        channel, session = wire(), Session()  # as on stdio, where all share a channel
        async with (
            under_way(changing, listen_to(1, toolsListChanged=True), channel, session=session),
            under_way(changing, listen_to("1", toolsListChanged=True), channel, session=session),
        ):
            await channel.until(2)
            changing.changed("tools")
        assert [message["params"]["_meta"][ID] for message in channel.sent] == [1, "1", 1, "1"]

    asyncio.run(main())


def test_the_engine_ends_subscriptions_in_good_order(changing: Engine, wire: Any, under_way: Any, listen_to: Any) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to("end", toolsListChanged=True), channel) as task:
            await channel.until(1)
            changing.end_subscriptions()
            changing.end_subscriptions()  # twice does no harm
            reply = await task
        assert reply["id"] == "end"
        assert reply["result"]["resultType"] == "complete"
        assert reply["result"]["_meta"][ID] == "end"
        changing.changed("tools")
        assert len(channel.sent) == 1  # nothing comes after the end

    asyncio.run(main())


def test_who_left_is_told_no_more_and_forgotten(changing: Engine, wire: Any, under_way: Any, listen_to: Any) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to(toolsListChanged=True, resourceSubscriptions=["x:1"]), channel):
            await channel.until(1)
        changing.changed("tools")
        changing.updated("x:1")
        assert len(channel.sent) == 1
        assert not changing._changes._listeners

    asyncio.run(main())


def test_a_provider_hears_when_a_listener_begins_and_ends_to_watch(
    changing: Engine, watched: Watched, wire: Any, under_way: Any, listen_to: Any
) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to(resourceSubscriptions=["x:1", "x:2", "no:1"]), channel):
            await channel.until(1)
            assert watched.watching == {"x:1": 1, "x:2": 1}
        assert watched.watching == {}

    asyncio.run(main())


def test_a_subscription_that_fails_half_way_watches_nothing(
    changing: Engine, watched: Watched, wire: Any, talk: Any, listen_to: Any, faults: list[BaseException]
) -> None:
    async def main() -> None:
        channel = wire()
        _, reply, _ = await talk(changing, listen_to(resourceSubscriptions=["x:1", "broken:1", "x:2"]), channel=channel)
        assert reply["error"] == {"code": -32603, "message": "Internal error"}
        assert len(faults) == 1
        assert not channel.sent
        assert watched.watching == {}

    asyncio.run(main())


def test_who_leaves_before_the_acknowledgement_watches_nothing(
    changing: Engine, watched: Watched, wire: Any, under_way: Any, listen_to: Any
) -> None:
    async def main() -> None:
        channel = wire()
        async with under_way(changing, listen_to(resourceSubscriptions=["x:1", "slow:1"]), channel):
            while watched.watching != {"x:1": 1}:
                await asyncio.sleep(0)
        assert watched.watching == {}
        assert not channel.sent

    asyncio.run(main())


def test_a_change_is_for_its_principal(changing: Engine, wire: Any, under_way: Any, listen_to: Any) -> None:
    async def main() -> None:
        alice, bob, nobody = wire(), wire(), wire()
        wanted = listen_to(toolsListChanged=True, resourceSubscriptions=["x:1"])
        async with (
            under_way(changing, wanted, alice, caller="alice"),
            under_way(changing, wanted, bob, caller="bob"),
            under_way(changing, wanted, nobody),
        ):
            for channel in (alice, bob, nobody):
                await channel.until(1)
            changing.changed("tools", "alice")
            changing.updated("x:1", "bob")
            changing.changed("tools", "")  # those who did not say who they are
            changing.updated("x:1", "al")
        assert [message["method"].split("/")[1] for message in alice.sent[1:]] == ["tools"]
        assert [message["method"].split("/")[1] for message in bob.sent[1:]] == ["resources"]
        assert [message["method"].split("/")[1] for message in nobody.sent[1:]] == ["tools"]

    asyncio.run(main())


def test_without_a_channel_there_is_no_stream_to_keep_open(changing: Engine, talk: Any, listen_to: Any) -> None:
    async def main() -> None:
        _, reply, _ = await talk(changing, listen_to(toolsListChanged=True))
        assert reply["error"]["code"] == -32603
        assert "stream" in reply["error"]["message"]

    asyncio.run(main())


@pytest.mark.parametrize(
    "params",
    [{}, {"notifications": None}, {"notifications": []}, {"notifications": {"toolsListChanged": "yes"}},
     {"notifications": {"resourceSubscriptions": "x:1"}}, {"notifications": {"resourceSubscriptions": [1]}},
     {"notifications": {"taskIds": {}}}],
)  # fmt: skip
def test_a_filter_that_is_none_is_refused(changing: Engine, ask: Any, params: dict[str, Any]) -> None:
    status, reply = ask("subscriptions/listen", params, MODERN, to=changing)
    assert (status, reply["error"]["code"]) == (400, -32602)


def test_a_change_that_was_not_declared_is_an_error_of_the_author(changing: Engine) -> None:
    for kind in ("prompts", "completions", "weather", ""):
        with pytest.raises(ValueError, match="lists_change"):
            changing.changed(kind)


def test_a_change_that_a_listener_causes_by_leaving_does_not_disturb_the_others(
    changing: Engine, wire: Any, under_way: Any, listen_to: Any
) -> None:
    async def main() -> None:
        channels = [wire() for _ in range(3)]
        wanted = listen_to(toolsListChanged=True)
        async with (
            under_way(changing, wanted, channels[0]),
            under_way(changing, wanted, channels[1]) as second,
            under_way(changing, wanted, channels[2]),
        ):
            for channel in channels:
                await channel.until(1)
            second.cancel()
            changing.changed("tools")  # before it is gone, and after
            await asyncio.wait([second])
            changing.changed("tools")
        assert [len(channel.sent) for channel in channels] == [3, 2, 3]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ sessions


async def begun(engine: Engine, revision: str = HANDSHAKE[0], caller: Any = None) -> MemoryClient:
    client = MemoryClient(engine, revision=revision, caller=caller)
    await client.request("ping")
    return client


def methods(client: MemoryClient) -> list[str]:
    return [message["method"] for message in client.received]


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_session_is_told_of_lists_without_asking_and_of_resources_it_watches(changing: Engine, revision: str) -> None:
    async def main() -> None:
        client = await begun(changing, revision)
        changing.changed("tools")
        changing.updated("x:1")
        assert client.received == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}]
        assert await client.request("resources/subscribe", {"uri": "x:1"}) == {}
        changing.updated("x:1")
        changing.updated("x:2")
        assert client.received[1:] == [
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "x:1"}}
        ]
        assert await client.request("resources/unsubscribe", {"uri": "x:1"}) == {}
        changing.updated("x:1")
        assert len(client.received) == 2

    asyncio.run(main())


def test_a_session_is_told_nothing_before_it_is_initialized(changing: Engine) -> None:
    pushed: list[bytes] = []
    session = Session(push=pushed.append)
    changing.receive(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', None, session)
    changing.changed("tools")
    assert not pushed
    changing.receive(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', None, session)
    changing.changed("tools")
    assert len(pushed) == 1


def test_a_session_begun_twice_is_told_once(changing: Engine) -> None:
    pushed: list[bytes] = []
    session = Session(push=pushed.append)
    for number in (1, 2):
        changing.receive(b'{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{}}' % number, None, session)
        changing.receive(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', None, session)
    changing.changed("tools")
    assert len(pushed) == 1


def test_sessions_are_told_by_their_principal(changing: Engine) -> None:
    async def main() -> None:
        alice, bob, nobody = [await begun(changing, caller=caller) for caller in ("alice", "bob", None)]
        for client in (alice, bob, nobody):
            await client.request("resources/subscribe", {"uri": "x:1"})
        changing.changed("tools", "alice")
        changing.updated("x:1", "bob")
        changing.changed("resources", "")
        assert methods(alice) == ["notifications/tools/list_changed"]
        assert methods(bob) == ["notifications/resources/updated"]
        assert methods(nobody) == ["notifications/resources/list_changed"]

    asyncio.run(main())


def test_a_session_that_ended_is_told_nothing(changing: Engine) -> None:
    async def main() -> None:
        client = await begun(changing)
        client.session.end()
        changing.changed("tools")
        assert not client.received

    asyncio.run(main())


def test_a_session_that_is_gone_is_not_kept_alive_by_what_it_watched(changing: Engine) -> None:
    async def main() -> weakref.ref[Session]:
        session = Session(push=lambda _: None)
        for message in (
            {"id": 1, "method": "initialize", "params": {}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "resources/subscribe", "params": {"uri": "x:1"}},
        ):
            outcome = changing.receive(json.dumps({"jsonrpc": "2.0", **message}).encode(), None, session)
            if outcome.work is not None:
                await outcome.work
        assert session.watched == {"x:1"}
        assert len(changing._changes._sessions) == 1
        return weakref.ref(session)

    gone = asyncio.run(main())
    gc.collect()
    assert gone() is None
    assert len(changing._changes._sessions) == 0
    changing.changed("tools")
    changing.updated("x:1")


def test_a_watch_that_the_provider_refuses_is_no_watch(changing: Engine) -> None:
    async def main() -> None:
        client = await begun(changing)
        with pytest.raises(ProtocolError, match="cannot be watched"):
            await client.request("resources/subscribe", {"uri": "no:1"})
        changing.updated("no:1")
        assert not client.received
        assert not client.session.watched

    asyncio.run(main())


def test_watching_twice_is_watching_once(changing: Engine) -> None:
    async def main() -> None:
        client = await begun(changing)
        for _ in range(2):
            await client.request("resources/subscribe", {"uri": "x:1"})
        changing.updated("x:1")
        assert len(client.received) == 1
        await client.request("resources/unsubscribe", {"uri": "x:1"})
        changing.updated("x:1")
        assert len(client.received) == 1

    asyncio.run(main())


def test_a_provider_hears_of_each_watch_as_often_as_of_its_end(changing: Engine, watched: Watched) -> None:
    """What was begun for a client is ended when it watches no more: however often it said so, and whether or not it watched."""

    async def main() -> None:
        client = await begun(changing)
        for _ in range(2):
            await client.request("resources/subscribe", {"uri": "x:1"})
        await client.request("resources/unsubscribe", {"uri": "x:1"})
        assert watched.watching == {}
        assert await client.request("resources/unsubscribe", {"uri": "x:1"}) == {}
        assert await client.request("resources/unsubscribe", {"uri": "x:2"}) == {}
        assert watched.watching == {}

    asyncio.run(main())


def test_there_is_nothing_to_watch_without_a_session_or_a_provider_that_allows_it(changing: Engine, ask: Any) -> None:
    for method in ("resources/subscribe", "resources/unsubscribe"):
        assert ask(method, {"uri": "x:1"}, HANDSHAKE[0], to=changing, headers={})[1]["error"]["code"] == -32601
        assert ask(method, {"uri": "memo://one"}, HANDSHAKE[0])[1]["error"]["code"] == -32601
        assert ask(method, {"uri": "x:1"}, MODERN, to=changing)[1]["error"]["code"] == -32601


def test_what_changes_is_advertised_where_it_can_be_told(changing: Engine, ask: Any) -> None:
    resources = {"listChanged": True, "subscribe": True}
    assert ask("server/discover", None, MODERN, to=changing)[1]["result"]["capabilities"] == {
        "tools": {"listChanged": True},
        "prompts": {},
        "resources": resources,
    }
    remembered = ask("initialize", {}, to=changing)[1]["result"]["capabilities"]
    assert (remembered["tools"], remembered["resources"]) == ({"listChanged": True}, resources)
    forgotten = ask("initialize", {}, to=changing, headers={})[1]["result"]["capabilities"]
    assert forgotten == {"tools": {}, "prompts": {}, "resources": {}}


def test_an_unsubscribe_that_fails_neither_keeps_the_others_nor_spoils_the_end(
    wire: Any, under_way: Any, request_of: Any
) -> None:
    told: list[str] = []
    faults: list[BaseException] = []

    class Fickle:
        def list(self, cursor: str | None) -> Any:
            return []

        def templates(self) -> Any:
            return []

        def read(self, uri: str) -> Any:
            return []

        def subscribe(self, uri: str) -> None:
            pass

        def unsubscribe(self, uri: str) -> None:
            told.append(uri)
            if uri == "u:1":
                raise ProtocolError(-32602, "gone")

    async def main() -> None:
        engine = Engine(on_fault=faults.append).register_provider(Fickle())
        channel = wire()
        params = {"notifications": {"resourceSubscriptions": ["u:1", "u:2", "u:3"]}}
        async with under_way(engine, request_of("subscriptions/listen", params, MODERN), channel) as task:
            await channel.until(1)
            engine.end_subscriptions()
            assert "result" in await task
        assert told == ["u:1", "u:2", "u:3"]
        assert len(faults) == 1

    asyncio.run(main())


def test_resources_that_nobody_can_watch_are_not_said_to_have_changed() -> None:
    with pytest.raises(ValueError, match="subscribe"):
        Engine().updated("u:1")
