"""`requestState` is an attacker's until its signature holds (2026-07-28, basic/patterns/mrtr, "Server Requirements")."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Callable
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol import Engine, Request
from webseam.protocol.state import StateSealer, about

MODERN = "2026-07-28"
KEY = b"k" * 32
FORM = {"type": "object", "properties": {}}
YES = {"action": "accept", "content": {}}
Talk = Callable[..., Any]


class Keeper:
    """Asks three times in every role, and keeps who began."""

    def list_tools(self, cursor: str | None) -> Any:
        return []

    def list_prompts(self, cursor: str | None) -> Any:
        return []

    def list_resources(self, cursor: str | None) -> Any:
        return []

    def templates(self) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [{"type": "text", "text": json.dumps(await self._rounds(call))}]

    async def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [{"role": "user", "content": {"type": "text", "text": json.dumps(await self._rounds(call))}}]

    async def read(self, uri: str, call: Request) -> Any:
        return [{"uri": uri, "text": json.dumps(await self._rounds(call))}]

    async def _rounds(self, call: Request) -> Any:
        if call.state is None:
            call.state = {"by": call.caller, "secret": "told to the client that began"}
        for key in ("a", "b", "c"):
            await call.elicit("?", FORM, key=key)
        return call.state


class Clock:
    """Time that only passes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


def engine_of(key: bytes | None = KEY, clock: Clock | None = None) -> Engine:
    engine = Engine(state_key=key).register_provider(Keeper())
    if clock is not None:
        engine._sealer = StateSealer(key, clock)
    return engine


class Client:
    """Sends rounds of one request; what is given here replaces what it would have sent."""

    def __init__(self, talk: Talk, request_of: Callable[..., dict[str, Any]]) -> None:
        self.talk = talk
        self.request_of = request_of

    async def __call__(
        self,
        engine: Engine,
        state: str | None = None,
        responses: dict[str, Any] | None = None,
        method: str = "tools/call",
        caller: Any = "alice",
        **params: Any,
    ) -> Any:
        given: dict[str, Any] = {
            "name": "t", "arguments": {"n": 1},
            "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}, **params,
        }  # fmt: skip
        if state is not None:
            given["requestState"] = state
        if responses is not None:
            given["inputResponses"] = responses
        status, reply, _ = await self.talk(engine, self.request_of(method, given, MODERN), caller=caller)
        if "error" in reply:
            assert status == 400
            assert reply["error"]["code"] == -32602
            assert "requestState" in reply["error"]["message"]
            assert "without it" in reply["error"]["message"]  # what to do about it
            return reply["error"]["message"]
        return reply["result"]

    async def begin(self, engine: Engine, **how: Any) -> str:
        result = await self(engine, **how)
        assert result["resultType"] == "input_required"
        state = result["requestState"]
        assert isinstance(state, str)
        return state


@pytest.fixture
def client(talk: Talk, request_of: Any) -> Client:
    return Client(talk, request_of)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encoded(data: bytes | bytearray) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def is_refused(result: Any) -> bool:
    return isinstance(result, str)


# ------------------------------------------------------------------------------------------------ forgeries


def test_no_byte_of_the_state_can_be_changed(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        payload, signature = (bytearray(decoded(part)) for part in state.split("."))
        for part in (payload, signature):
            for index in range(0, len(part), 5):
                part[index] ^= 1
                assert is_refused(await client(engine, f"{encoded(payload)}.{encoded(signature)}"))
                part[index] ^= 1
        assert not is_refused(await client(engine, f"{encoded(payload)}.{encoded(signature)}"))

    asyncio.run(main())


def test_no_character_of_the_state_can_be_spelled_otherwise(client: Client) -> None:
    """base64 has spare bits, padding and a second alphabet; the state has one spelling."""

    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        payload, _, signature = state.partition(".")
        last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        others = [payload + "." + signature[:-1] + letter for letter in last if letter != signature[-1]]
        others += [
            state + "=", state + "\n", " " + state, payload + "=." + signature, state + ".", state + "." + signature,
            f"{signature}.{payload}", state.upper(), state.replace(".", ".."), state.replace(".", ","),
            f"{payload}\x00.{signature}",
        ]  # fmt: skip
        for other in others:
            assert is_refused(await client(engine, other)), other

    asyncio.run(main())


@pytest.mark.parametrize(
    "state",
    ["", ".", "..", "x", "x.", ".x", "a.b", "=.=", "\u00e9.\u00e9", "\ud7ff.\U0001f600", "\x00", "null", "e30.e30", "-_.-_",
     "A" * 100_000, "A" * 300_000 + "." + "A" * 43, "." * 10_000],
)  # fmt: skip
def test_what_was_never_a_state_is_refused(client: Client, state: str) -> None:
    assert is_refused(asyncio.run(client(engine_of(), state)))


def test_a_truncated_state_is_refused(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        for length in (*range(0, len(state), 11), len(state) - 1):
            assert is_refused(await client(engine, state[:length]))

    asyncio.run(main())


def test_a_forged_payload_is_refused_whatever_it_is_signed_with(client: Client) -> None:
    import hmac

    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        payload = json.loads(decoded(state.split(".")[0]))
        payload["own"] = {"by": "mallory"}
        forged = json.dumps(payload).encode()
        for key in (b"", b"\x00" * 32, b"webseam", KEY[:-1], KEY + b"\x00"):
            signature = hmac.digest(key, forged, "sha256")
            if key == KEY + b"\x00":  # HMAC pads its key with zeros (RFC 2104): that is the same key, and nobody has it
                assert not is_refused(await client(engine, f"{encoded(forged)}.{encoded(signature)}"))
                continue
            assert is_refused(await client(engine, f"{encoded(forged)}.{encoded(signature)}"))

    asyncio.run(main())


def test_a_signature_over_something_else_of_ours_is_refused(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        one, two = await client.begin(engine), await client.begin(engine, arguments={"n": 2})
        assert is_refused(await client(engine, one.split(".")[0] + "." + two.split(".")[1]))

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ what it is bound to


def test_the_state_is_good_for_its_own_request_again(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        result = await client(engine, state, {"a": YES})
        assert list(result["inputRequests"]) == ["b"]

    asyncio.run(main())


@pytest.mark.parametrize("caller", ["bob", None, "", "Alice", "alice "])
def test_another_caller_cannot_use_it(client: Client, caller: Any) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        assert is_refused(await client(engine, state, caller=caller))

    asyncio.run(main())


def test_a_caller_is_known_by_its_principal_whatever_object_stands_for_it(client: Client) -> None:
    class Agent:
        def __init__(self, principal: str, name: str) -> None:
            self.principal = principal
            self.name = name

        def __str__(self) -> str:
            return self.name

    async def main() -> None:
        class Quiet(Keeper):
            async def _rounds(self, call: Request) -> Any:
                call.state = call.state or 1
                return await call.elicit("?", FORM, key="a")

        engine = Engine(state_key=KEY).register_provider(Quiet())
        state = await client.begin(engine, caller=Agent("alice", "one"))
        assert not is_refused(await client(engine, state, {"a": YES}, caller=Agent("alice", "two")))
        assert is_refused(await client(engine, state, {"a": YES}, caller=Agent("bob", "one")))

    asyncio.run(main())


@pytest.mark.parametrize(
    "other",
    [
        {"name": "u"},
        {"name": ""},
        {"name": "T"},
        {"arguments": {}},
        {"arguments": None},
        {"arguments": {"n": 2}},
        {"arguments": {"n": "1"}},
        {"arguments": {"n": True}},
        {"arguments": {"n": [1]}},
        {"arguments": {"n": 1, "m": None}},
        {"arguments": {"N": 1}},
        {"method": "prompts/get"},
        {"method": "resources/read", "uri": "t"},
    ],
)
def test_another_request_cannot_use_it(client: Client, other: dict[str, Any]) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        assert is_refused(await client(engine, state, {"a": YES}, **other))

    asyncio.run(main())


def test_a_resource_of_another_address_cannot_use_it(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine, method="resources/read", uri="x:1")
        assert not is_refused(await client(engine, state, method="resources/read", uri="x:1"))
        assert is_refused(await client(engine, state, method="resources/read", uri="x:2"))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": {"x": 1, "y": [{"p": 1, "q": 2}]}}, {"a": {"y": [{"q": 2, "p": 1}], "x": 1}}),
        ({}, None),
    ],
)
def test_the_same_arguments_are_the_same_request_in_whatever_order_they_come(client: Client, first: Any, again: Any) -> None:
    """An object is unordered (RFC 8259, section 1): a client may keep its arguments in a hash table."""

    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine, arguments=first)
        assert not is_refused(await client(engine, state, {"a": YES}, arguments=again))

    asyncio.run(main())


def test_parts_of_a_request_cannot_be_shifted_into_one_another() -> None:
    digests = {
        about("tools/call", ["a", {"b": "c"}], "d"),
        about("tools/call", ["a", {"b": "cd"}], ""),
        about("tools/call", ["ab", {}], "d"),
        about("tools/call", ["a"], "d"),
        about("resources/read", ["a"], "d"),
        about("tools/call", ["a", {"b": "c"}], '"d'),
    }
    assert len(digests) == 6


# ------------------------------------------------------------------------------------------------ time


def test_it_lapses_and_says_so(client: Client) -> None:
    async def main() -> None:
        clock = Clock()
        engine = engine_of(clock=clock)
        state = await client.begin(engine)
        clock.seconds += LIMITS.request_state_seconds
        assert not is_refused(await client(engine, state))
        clock.seconds += 1
        refusal = await client(engine, state)
        assert is_refused(refusal)
        assert "600 s" in refusal

    asyncio.run(main())


def test_each_round_has_its_own_time(client: Client) -> None:
    async def main() -> None:
        clock = Clock()
        engine = engine_of(clock=clock)
        state = await client.begin(engine)
        for key in ("a", "b"):
            clock.seconds += LIMITS.request_state_seconds - 1
            result = await client(engine, state, {key: YES})
            state = result["requestState"]
        clock.seconds += LIMITS.request_state_seconds - 1
        assert not is_refused(await client(engine, state, {"c": YES}))

    asyncio.run(main())


def test_it_may_come_back_more_than_once(client: Client) -> None:
    async def main() -> None:
        engine = engine_of()
        state = await client.begin(engine)
        for _ in range(3):
            result = await client(engine, state, {"a": YES})
            assert list(result["inputRequests"]) == ["b"]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ keys


def test_engines_with_one_key_go_on_with_each_others_requests(client: Client) -> None:
    async def main() -> None:
        one, two = engine_of(), engine_of()
        state = await client.begin(one)
        result = await client(two, state, {"a": YES})
        last = await client(one, result["requestState"], {"b": YES, "c": YES})
        assert json.loads(last["content"][0]["text"])["by"] == "alice"

    asyncio.run(main())


def test_engines_with_other_keys_do_not_know_each_others_state(client: Client) -> None:
    async def main() -> None:
        engines = [engine_of(), engine_of(b"K" * 32), engine_of(None), engine_of(None)]
        states = [await client.begin(engine) for engine in engines]
        for mine, engine in enumerate(engines):
            for theirs, state in enumerate(states):
                assert is_refused(await client(engine, state)) is (mine != theirs)

    asyncio.run(main())


@pytest.mark.parametrize("length", [0, 1, 31])
def test_a_short_key_is_refused_with_how_to_make_a_good_one(length: int) -> None:
    with pytest.raises(ValueError, match=r"os\.urandom\(32\)"):
        Engine(state_key=os.urandom(length))


# ------------------------------------------------------------------------------------------------ size


def test_more_than_a_client_should_carry_is_refused_with_the_bound(talk: Talk, request_of: Any) -> None:
    class Hoarder(Keeper):
        async def _rounds(self, call: Request) -> Any:
            call.state = "x" * LIMITS.request_state_bytes
            return await call.elicit("?", FORM)

    async def main() -> None:
        engine = Engine().register_provider(Hoarder())
        params = {"name": "t", "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}
        _, reply, _ = await talk(engine, request_of("tools/call", params, MODERN))
        assert reply["error"]["code"] == -32603
        assert str(LIMITS.request_state_bytes) in reply["error"]["message"]

    asyncio.run(main())


def test_answers_too_large_to_travel_are_refused_with_the_bound(talk: Talk, request_of: Any) -> None:
    async def main() -> None:
        params = {
            "name": "t",
            "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}},
            "inputResponses": {"a": {"action": "accept", "content": {"x": "y" * LIMITS.request_state_bytes}}},
        }
        _, reply, _ = await talk(engine_of(), request_of("tools/call", params, MODERN))
        assert reply["error"]["code"] == -32603
        assert str(LIMITS.request_state_bytes) in reply["error"]["message"]

    asyncio.run(main())


def test_as_much_as_is_allowed_comes_back(talk: Talk, request_of: Any) -> None:
    seen: list[Any] = []

    class Hoarder(Keeper):
        async def _rounds(self, call: Request) -> Any:
            seen.append(call.state)
            call.state = "\u00e9" * (LIMITS.request_state_bytes // 2 - 200)
            return await call.elicit("?", FORM)

    async def main() -> None:
        engine = Engine().register_provider(Hoarder())
        params: dict[str, Any] = {"name": "t", "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}}
        _, reply, _ = await talk(engine, request_of("tools/call", params, MODERN))
        await talk(engine, request_of("tools/call", {**params, "requestState": reply["result"]["requestState"]}, MODERN))
        assert seen[1] is not None
        assert len(seen[1]) == LIMITS.request_state_bytes // 2 - 200

    asyncio.run(main())
