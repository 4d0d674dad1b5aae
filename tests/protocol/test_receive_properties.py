"""Whatever comes, `receive` gives valid JSON-RPC or nothing, and no fault."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.protocol.engine import Engine
from webseam.protocol.revisions import MODERN, REVISIONS, VERBS
from webseam.protocol.session import Session


class Everything:
    def list(self, cursor: str | None) -> Any:
        return {"tools": [], "resources": [], "prompts": []}

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return [{"type": "text", "text": json.dumps(arguments)}]

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return [{"uri": uri, "text": ""}]

    def get(self, name: str, arguments: dict[str, Any]) -> Any:
        return []


FAULTS: list[BaseException] = []
ENGINE = Engine(on_fault=FAULTS.append).register_provider(Everything())

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
META = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(REVISIONS) | VALUES,
        "io.modelcontextprotocol/clientCapabilities": st.just({}) | VALUES,
        "io.modelcontextprotocol/clientInfo": VALUES,
        "progressToken": VALUES,
    },
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "_meta": META | VALUES,
        "name": st.text(max_size=5) | VALUES,
        "uri": st.text(max_size=5) | VALUES,
        "arguments": st.dictionaries(st.text(max_size=5), VALUES, max_size=3) | VALUES,
        "cursor": st.text(max_size=5) | VALUES,
        "requestId": VALUES,
        "protocolVersion": st.sampled_from(REVISIONS) | VALUES,
    },
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers() | st.text(max_size=5) | VALUES,
        "method": st.sampled_from(sorted(VERBS)) | VALUES,
        "params": PARAMS | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)
HEADERS = st.none() | st.dictionaries(
    st.sampled_from(["mcp-protocol-version", "mcp-method", "mcp-name", "x"]),
    st.sampled_from([*REVISIONS, *VERBS, "=?base64?YQ==?=", "=?base64?\xff?="]) | st.text(max_size=20),
    max_size=4,
)
SESSIONS = st.none() | st.sampled_from(REVISIONS[1:])


def hold(data: bytes, headers: dict[str, str] | None, revision: str | None) -> Any:
    """Receive `data` and check what must be true of any answer."""
    session = None
    if revision is not None:
        session = Session()
        session.revision = revision
    outcome = ENGINE.receive(data, None, session, headers)
    assert outcome.work is None
    assert outcome.status in (200, 202, 400, 404, 413)
    assert not FAULTS
    if outcome.reply is None:
        return None
    assert b"\n" not in outcome.reply
    reply = json.loads(outcome.reply)
    for one in reply if isinstance(reply, list) else [reply]:
        assert one["jsonrpc"] == "2.0"
        assert ("result" in one) is not ("error" in one)
        if "id" in one or (headers or {}).get("mcp-protocol-version") not in MODERN:  # there, one that is unknown is left out
            assert one["id"] is None or type(one["id"]) in (str, int)
        if "error" in one:
            assert type(one["error"]["code"]) is int
            assert one["error"]["code"] != -32603
            assert type(one["error"]["message"]) is str
        else:
            assert isinstance(one["result"], dict)
    return reply


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=200), headers=HEADERS, revision=SESSIONS)
def test_any_bytes_get_valid_json_or_nothing(data: bytes, headers: dict[str, str] | None, revision: str | None) -> None:
    hold(data, headers, revision)


@settings(max_examples=150, deadline=None)
@given(message=MESSAGES | st.lists(MESSAGES, max_size=4) | VALUES, headers=HEADERS, revision=SESSIONS)
def test_any_json_gets_valid_json_or_nothing(message: Any, headers: dict[str, str] | None, revision: str | None) -> None:
    reply = hold(json.dumps(message).encode(), headers, revision)
    if isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message:
        assert reply is None


@settings(max_examples=150, deadline=None)
@given(
    message_id=st.integers() | st.text(max_size=20),
    method=st.sampled_from(sorted(VERBS)) | st.text(max_size=10),
    params=PARAMS,
    revision=SESSIONS,
)
def test_a_well_formed_request_is_answered_with_its_own_id(
    message_id: Any, method: str, params: dict[str, Any], revision: str | None
) -> None:
    message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
    assert hold(json.dumps(message).encode(), None, revision)["id"] == message_id


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(min_value=0, max_value=400), flip=st.integers(min_value=0, max_value=400), by=st.integers(1, 255))
def test_a_message_that_was_damaged_on_the_way_is_survived(cut: int, flip: int, by: int) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "echo", "arguments": {"text": "\u00e9 \U0001f600"}, "_meta": meta}
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, ensure_ascii=False).encode()
    damaged = bytearray(whole[: max(1, len(whole) - cut % len(whole))])
    damaged[flip % len(damaged)] ^= by
    hold(bytes(damaged), None, None)
