"""HTTP headers that repeat the body (2026-07-28, basic/transports/streamable-http, "Server Validation")."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from webseam.protocol.inbound import decode_header

Ask = Callable[..., tuple[int, Any]]
VERSION = "2026-07-28"


def encoded(value: str) -> str:
    return f"=?base64?{b64encode(value.encode()).decode()}?="


def headers(method: str, name: str | None = None, version: str = VERSION) -> dict[str, str]:
    made = {"mcp-protocol-version": version, "mcp-method": method}
    return made if name is None else {**made, "mcp-name": name}


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "echo"}, "echo"),
        ("tools/call", {"name": "echo"}, encoded("echo")),
        ("resources/read", {"uri": "memo://one"}, "memo://one"),
        ("resources/read", {"uri": "memo://one"}, encoded("memo://one")),
        ("prompts/get", {"name": "greet"}, "greet"),
        ("tools/list", {}, None),
        ("server/discover", {}, None),
        ("tools/list", {"name": "not a name here"}, None),
    ],
)
def test_headers_that_agree_with_the_body_are_served(ask: Ask, method: str, params: dict[str, Any], name: str | None) -> None:
    assert ask(method, params, VERSION, headers=headers(method, name))[0] == 200


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({}, "MCP-Protocol-Version"),
        ({"mcp-protocol-version": "2025-11-25"}, "MCP-Protocol-Version"),
        ({"mcp-protocol-version": "2099-01-01"}, "MCP-Protocol-Version"),
        ({"mcp-protocol-version": VERSION}, "Mcp-Method"),
        (headers("tools/list", "echo"), "Mcp-Method"),
        (headers("Tools/Call", "echo"), "Mcp-Method"),
        (headers("tools/call"), "Mcp-Name"),
        (headers("tools/call", ""), "Mcp-Name"),
        (headers("tools/call", "Echo"), "Mcp-Name"),
        (headers("tools/call", "echo, echo"), "Mcp-Name"),
        (headers("tools/call", encoded("other")), "Mcp-Name"),
        (headers("tools/call", "=?base64?ZWNobw?="), "Mcp-Name"),
        (headers("tools/call", "=?base64?****?="), "Mcp-Name"),
        (headers("tools/call", "=?base64?/w==?="), "Mcp-Name"),
        (headers("tools/call", "=?BASE64?ZWNobw==?="), "Mcp-Name"),
    ],
)
def test_headers_that_contradict_the_body_are_refused(ask: Ask, given: dict[str, str], word: str) -> None:
    status, reply = ask("tools/call", {"name": "echo"}, VERSION, headers=given)
    assert (status, reply["error"]["code"], reply["id"]) == (400, -32020, 1)
    assert word in reply["error"]["message"]


def test_a_name_outside_ascii_comes_encoded(ask: Ask) -> None:
    name = "\u65e5\u672c"
    status, reply = ask("tools/call", {"name": name}, VERSION, headers=headers("tools/call", encoded(name)))
    assert (status, reply["error"]["code"]) == (400, -32602)  # it agrees; there is no such tool
    assert "Unknown tool" in reply["error"]["message"]
    assert ask("tools/call", {"name": name}, VERSION, headers=headers("tools/call", "?"))[1]["error"]["code"] == -32020


def test_a_name_that_looks_encoded_must_be_encoded_again(ask: Ask) -> None:
    name = "=?base64?ZWNobw==?="
    assert ask("tools/call", {"name": name}, VERSION, headers=headers("tools/call", name))[1]["error"]["code"] == -32020
    assert (
        ask("tools/call", {"name": name}, VERSION, headers=headers("tools/call", encoded(name)))[1]["error"]["code"] == -32602
    )


def test_headers_are_compared_before_the_version_is_looked_at(ask: Ask, post: Ask, request_of: Any) -> None:
    message = request_of("tools/list", None, VERSION)
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    assert post(message, headers=headers("tools/list"))[1]["error"]["code"] == -32020
    assert post(message, headers=headers("tools/list", version="2099-01-01"))[1]["error"]["code"] == -32022


def test_missing_metadata_is_told_before_headers(post: Ask) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    assert post(message, headers=headers("tools/list"))[1]["error"]["code"] == -32602


def test_an_unknown_method_with_the_right_headers_is_404(ask: Ask) -> None:
    assert ask("tools/destroy", {}, VERSION, headers=headers("tools/destroy"))[0] == 404


def test_no_headers_are_wanted_where_there_is_no_http(ask: Ask) -> None:
    assert ask("tools/call", {"name": "echo"}, VERSION)[0] == 200


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        ("plain", "plain"),
        ("", ""),
        ("=?base64??=", ""),
        ("=?base64?=", "=?base64?="),
        ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, \u4e16\u754c"),
        ("=?base64?IHBhZGRlZCA=?=", " padded "),
        ("=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
        ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        ("=?base64?ZWNobw=?=", None),
        ("=?base64?ZWNo\nbw==?=", None),
        ("=?base64?\u00e9?=", None),
        ("=?base64?ZWNobx==?=", None),
    ],
)
def test_header_values_are_decoded_as_the_specification_shows(value: str, meaning: str | None) -> None:
    assert decode_header(value) == meaning


def test_a_name_in_bytes_that_are_no_header_value_is_refused_though_it_looks_equal(ask: Ask) -> None:
    sent = {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "Ã©"}
    status, reply = ask("tools/call", {"name": "Ã©"}, VERSION, headers=sent)
    assert (status, reply["error"]["code"]) == (400, -32020)
