"""What the fuzzer found, each as a test of its own. Warnings are errors here, one about a coroutine that nobody awaited too."""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Generator
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.protocol.revisions import CAPABILITIES_KEY, MODERN, VERSION_KEY
from webseam.protocol.session import Session


class Later:
    """Coroutines for all that is needed here."""

    async def list_tools(self, cursor: str | None) -> Any:
        return [{"name": "echo", "inputSchema": {"type": "object"}}]

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return Odd() if name == "odd" else []

    async def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return ["one"]


class Odd:
    """An awaitable that can be neither closed nor cancelled."""

    def __await__(self) -> Generator[Any, None, list[Any]]:
        yield None
        return []


@pytest.fixture
def later() -> Engine:
    return Engine().register_provider(Later())


def answer_of(engine: Engine, data: bytes, **how: Any) -> Any:
    reply = engine.receive(data, **how).reply
    return None if reply is None else json.loads(reply)


def batches() -> Session:
    session = Session()
    session.revision = "2025-03-26"
    return session


def test_initialize_in_a_batch_is_refused_with_its_own_id(later: Engine) -> None:
    batch = b'[{"jsonrpc":"2.0","id":5,"method":"initialize"},{"jsonrpc":"2.0","id":6,"method":"ping"}]'
    refused, answered = answer_of(later, batch, session=batches())
    assert (refused["id"], refused["error"]["code"]) == (5, -32600)
    assert answered == {"jsonrpc": "2.0", "id": 6, "result": {}}


def test_initialize_without_an_id_in_a_batch_is_not_answered(later: Engine) -> None:
    batch = b'[{"jsonrpc":"2.0","method":"initialize"},{"jsonrpc":"2.0","id":6,"method":"ping"}]'
    assert answer_of(later, batch, session=batches()) == [{"jsonrpc": "2.0", "id": 6, "result": {}}]


def test_half_a_surrogate_pair_does_not_cost_a_refused_message_its_id(later: Engine) -> None:
    answer = answer_of(later, b'{"jsonrpc":"1.0","id":5,"method":"ping","params":{"x":"\\ud800"}}')
    assert (answer["id"], answer["error"]["code"]) == (5, -32600)


def test_half_a_surrogate_pair_does_not_get_a_wrong_notification_answered(later: Engine) -> None:
    assert answer_of(later, b'{"jsonrpc":"1.0","method":"notifications/\\ud800"}') is None


def test_a_deep_request_whose_id_is_null_is_answered_as_any_whose_id_is_null(later: Engine) -> None:
    levels = LIMITS.message_depth
    data = b'{"jsonrpc":"2.0","id":null,"method":"ping","params":{"x":' + b"[" * levels + b"]" * levels + b"}}"
    answer = answer_of(later, data)
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "echo"}),
        ("tools/call", {"name": "odd"}),
        ("completion/complete", {"ref": {"type": "ref/prompt"}, "argument": {"name": "x", "value": ""}}),
    ],
)
@pytest.mark.parametrize("headers", [True, False])
def test_a_request_that_is_abandoned_before_it_began_leaves_nothing_unawaited(
    later: Engine, method: str, params: dict[str, Any], headers: bool
) -> None:
    meta = {VERSION_KEY: MODERN[0], CAPABILITIES_KEY: {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    fitting = {"mcp-protocol-version": MODERN[0], "mcp-method": method, "mcp-name": str(params.get("name"))}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        outcome = later.receive(json.dumps(message).encode(), headers=fitting if headers else None)
        outcome.abandon()
        del outcome
        gc.collect()
    assert [str(warning.message) for warning in warned] == []
