"""`completion/complete` (server/utilities/completion)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest

from webseam.errors import ProtocolError
from webseam.protocol import Engine, Request
from webseam.protocol.revisions import REVISIONS

PROMPT = {"type": "ref/prompt", "name": "greet"}
TEMPLATE = {"type": "ref/resource", "uri": "memo://{name}"}


class Completing:
    """Gives what it is made to give, and keeps what it was asked."""

    def __init__(self, gives: Any = ("a",)) -> None:
        self.gives = gives
        self.asked: list[Any] = []

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        self.asked.append((ref, argument, context))
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


class CompletingLater:
    """The same, as a coroutine that takes the request as well."""

    def __init__(self, gives: Any = ("a",)) -> None:
        self.now = Completing(gives)

    async def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str], call: Request) -> Any:
        await asyncio.sleep(0)
        return self.now.complete(ref, argument, context)


@pytest.fixture
def complete(talk: Any, request_of: Any) -> Any:
    def ask(provider: Any, params: Any = None, revision: str = "2025-11-25", **how: Any) -> Any:
        given = {"ref": PROMPT, "argument": {"name": "who", "value": "A"}} if params is None else params
        message = request_of("completion/complete", given, revision)
        headers = None if revision == "2026-07-28" else {"mcp-protocol-version": revision}
        _, reply, _ = asyncio.run(talk(Engine(**how).register_provider(provider), message, headers=headers))
        return reply

    return ask


KINDS = (Completing, CompletingLater)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "gives",
    [
        ["Ada", "Alan"],
        ("Ada", "Alan"),
        {"completion": {"values": ["Ada", "Alan"]}},
        msgspec.Raw(b'{"completion":{"values":["Ada","Alan"]}}'),
    ],
)
def test_values_may_come_as_a_list_or_as_the_whole_result(complete: Any, revision: str, kind: Any, gives: Any) -> None:
    assert complete(kind(gives), revision=revision)["result"]["completion"] == {"values": ["Ada", "Alan"]}


def test_what_the_provider_says_of_the_rest_stays(complete: Any) -> None:
    gives = {"completion": {"values": ["a"], "total": 12, "hasMore": True}}
    assert complete(Completing(gives))["result"] == gives
    assert complete(Completing([]))["result"] == {"completion": {"values": []}}


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_than_a_hundred_values_are_sent(complete: Any, kind: Any) -> None:
    many = [str(number) for number in range(250)]
    completion = complete(kind(many))["result"]["completion"]
    assert completion == {"values": many[:100], "total": 250, "hasMore": True}
    assert complete(kind(many[:100]))["result"]["completion"] == {"values": many[:100]}
    known = complete(kind({"completion": {"values": many, "total": 9_000, "hasMore": False}}))["result"]["completion"]
    assert known == {"values": many[:100], "total": 9_000, "hasMore": True}


@pytest.mark.parametrize("ref", [PROMPT, TEMPLATE])
def test_the_provider_is_told_what_is_typed_and_what_is_known(complete: Any, ref: dict[str, Any]) -> None:
    provider = Completing()
    complete(provider, {"ref": ref, "argument": {"name": "who", "value": "A"}, "context": {"arguments": {"greeting": "Hello"}}})
    assert provider.asked == [(ref, {"name": "who", "value": "A"}, {"greeting": "Hello"})]


@pytest.mark.parametrize("context", [None, {}, {"arguments": None}, {"arguments": {}}])
def test_without_a_context_nothing_is_known(complete: Any, context: Any) -> None:
    provider = Completing()
    complete(provider, {"ref": PROMPT, "argument": {"name": "who", "value": ""}, "context": context})
    assert provider.asked == [(PROMPT, {"name": "who", "value": ""}, {})]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": PROMPT},
        {"argument": {"name": "who", "value": ""}},
        {"ref": "greet", "argument": {"name": "who", "value": ""}},
        {"ref": None, "argument": {"name": "who", "value": ""}},
        {"ref": PROMPT, "argument": {"name": "who"}},
        {"ref": PROMPT, "argument": {"value": "x"}},
        {"ref": PROMPT, "argument": {"name": 1, "value": "x"}},
        {"ref": PROMPT, "argument": {"name": "who", "value": 1}},
        {"ref": PROMPT, "argument": ["who", "x"]},
        {"ref": PROMPT, "argument": {"name": "who", "value": ""}, "context": []},
        {"ref": PROMPT, "argument": {"name": "who", "value": ""}, "context": {"arguments": {"a": 1}}},
    ],
)
def test_a_request_that_says_less_is_refused(complete: Any, params: dict[str, Any]) -> None:
    for revision in REVISIONS:
        provider = Completing()
        assert complete(provider, params, revision)["error"]["code"] == -32602
        assert not provider.asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_that_does_not_exist_is_the_providers_to_refuse(complete: Any, kind: Any) -> None:
    reply = complete(kind(ProtocolError(-32602, "There is no prompt greet.")))
    assert reply["error"] == {"code": -32602, "message": "There is no prompt greet."}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "gives", [None, 5, {}, {"values": []}, {"completion": None}, {"completion": {}}, {"completion": {"values": 5}}]
)
def test_a_completion_that_is_none_is_an_internal_error(
    complete: Any, kind: Any, gives: Any, faults: list[BaseException]
) -> None:
    assert complete(kind(gives), on_fault=faults.append)["error"] == {"code": -32603, "message": "Internal error"}
    assert len(faults) == 1


def test_completions_are_advertised_and_served_only_with_a_provider(ask: Any) -> None:
    with_it = Engine().register_provider(Completing())
    assert with_it.capabilities() == {"completions": {}}
    params = {"ref": PROMPT, "argument": {"name": "who", "value": ""}}
    for revision in REVISIONS:
        assert ask("completion/complete", params, revision)[1]["error"]["code"] == -32601
        assert "result" in ask("completion/complete", params, revision, to=with_it)[1]


def test_a_handler_completes_without_a_transport() -> None:
    handler = Engine().register_provider(Completing(["x"])).handlers()["completion/complete"]
    assert handler({"ref": PROMPT, "argument": {"name": "who", "value": ""}}) == {"completion": {"values": ["x"]}}
    later = Engine().register_provider(CompletingLater(["x"])).handlers()["completion/complete"]
    assert json.dumps(asyncio.run(later({"ref": PROMPT, "argument": {"name": "a", "value": ""}})))
