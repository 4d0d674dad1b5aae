"""Every rule of JSON-RPC 2.0, and what MCP narrows of it, one row each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.protocol.jsonrpc import too_deep
from webseam.protocol.session import Session

Post = Callable[..., tuple[int, Any]]


def nested(depth: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":' + b"[" * depth + b"]" * depth + b"}}"


REFUSED: list[tuple[str, bytes, int, Any]] = [
    ("nothing", b"", -32700, None),
    ("white space", b"  \n", -32700, None),
    ("half an object", b'{"jsonrpc":"2.0","id":1,"method":"pi', -32700, None),
    ("a word", b"hello", -32700, None),
    ("a byte order mark", b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700, None),
    ("two messages", b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}', -32700, None),
    ("a trailing comma", b'{"jsonrpc":"2.0","id":1,"method":"ping",}', -32700, None),
    ("NaN", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, None),
    ("a broken escape", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\q"}}', -32700, None),
    ("invalid UTF-8 in the method", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, None),
    ("invalid UTF-8 in the params", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xc3\x28"}}', -32700, None),
    ("invalid UTF-8 that is JSON otherwise", b'{"jsonrpc":"2.0","id":1,"method":"ping"} \xff', -32700, None),
    ("UTF-16", '{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16"), -32700, None),
    ("a number", b"1", -32600, None),
    ("a string", b'"ping"', -32600, None),
    ("null", b"null", -32600, None),
    ("an empty object", b"{}", -32600, None),
    ("no jsonrpc", b'{"id":4,"method":"ping"}', -32600, 4),
    ("another jsonrpc", b'{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4),
    ("jsonrpc as a number", b'{"jsonrpc":2.0,"id":4,"method":"ping"}', -32600, 4),
    ("no method", b'{"jsonrpc":"2.0","id":4}', -32600, 4),
    ("no method, no id", b'{"jsonrpc":"2.0"}', -32600, None),
    ("a method that is a number", b'{"jsonrpc":"2.0","id":"a","method":5}', -32600, "a"),
    ("a method that is null", b'{"jsonrpc":"2.0","id":4,"method":null}', -32600, 4),
    ("a method that is a number, no id", b'{"jsonrpc":"2.0","method":1,"params":"bar"}', -32600, None),
    ("a null id", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    ("an object as id", b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
    ("an array as id", b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    ("a boolean as id", b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    ("a fraction as id", b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
    ("params that are a number", b'{"jsonrpc":"2.0","id":4,"method":"ping","params":1}', -32600, 4),
    ("params that are a string", b'{"jsonrpc":"2.0","id":4,"method":"ping","params":"x"}', -32600, 4),
    ("params that are a boolean", b'{"jsonrpc":"2.0","id":4,"method":"nope","params":true}', -32600, 4),
    ("params that are an array", b'{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', -32602, 4),
    ("metadata that is a string", b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"_meta":"x"}}', -32602, 4),
    ("an unknown method", b'{"jsonrpc":"2.0","id":4,"method":"tools/destroy"}', -32601, 4),
    ("an empty method", b'{"jsonrpc":"2.0","id":4,"method":""}', -32601, 4),
    ("a notification's name with an id", b'{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}', -32601, 4),
    ("too deep", nested(64), -32600, 3),
    ("far too deep", nested(100_000), -32600, None),
    ("far too deep, and cut off", b"[" * 100_000, -32600, None),
    ("brackets without end", b'{"x":' * 100_000, -32600, None),
    ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
]


@pytest.mark.parametrize(("data", "code", "message_id"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_not_a_message_is_refused_with_the_code_and_the_id_it_deserves(
    post: Post, faults: list[BaseException], data: bytes, code: int, message_id: Any
) -> None:
    _, reply = post(data, session=Session())
    assert reply["error"]["code"] == code, reply
    assert reply["id"] == message_id
    assert reply["jsonrpc"] == "2.0"
    assert set(reply) == {"jsonrpc", "id", "error"}
    assert not faults


@pytest.mark.parametrize("message_id", [0, -1, 1, 2**53, 2**80, "", "a", "\u00e9\U0001f600", "x" * 10_000])
def test_any_string_or_integer_is_an_id_and_comes_back_as_it_was(post: Post, message_id: Any) -> None:
    assert post({"jsonrpc": "2.0", "id": message_id, "method": "ping"}) == (
        200,
        {"jsonrpc": "2.0", "id": message_id, "result": {}},
    )


SILENT: list[tuple[str, bytes]] = [
    ("a known notification", b'{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    ("an unknown one", b'{"jsonrpc":"2.0","method":"notifications/weather"}'),
    ("a request without an id", b'{"jsonrpc":"2.0","method":"ping"}'),
    ("a call without an id", b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"breaks"}}'),
    ("bad params", b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}'),
    ("params that lack a member", b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}'),
    ("another jsonrpc", b'{"jsonrpc":"1.0","method":"notifications/initialized"}'),
    ("an extra member", b'{"jsonrpc":"2.0","method":"notifications/initialized","x":1}'),
    ("too deep", nested(64).replace(b'"id":3,', b"")),
    ("a response nobody asked for", b'{"jsonrpc":"2.0","id":9,"result":{}}'),
    ("an error nobody asked for", b'{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"no"}}'),
]


@pytest.mark.parametrize("data", [row[1] for row in SILENT], ids=[row[0] for row in SILENT])
def test_a_message_without_an_id_and_a_response_are_never_answered(
    post: Post, faults: list[BaseException], data: bytes
) -> None:
    assert post(data, session=Session())[1] is None
    assert not faults


def test_params_may_be_left_out_or_null(post: Post) -> None:
    assert post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})[1]["result"]["tools"]
    assert post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None})[1]["result"]["tools"]


def test_unknown_members_are_ignored(post: Post) -> None:
    assert post({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": [1]}, "trace": {}})[1]["result"] == {}


def test_a_message_over_the_limit_is_refused_with_413(post: Post) -> None:
    large = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"a" * LIMITS.message_bytes + b'"}}'
    status, reply = post(large)
    assert (status, reply["error"]["code"], reply["id"]) == (413, -32600, None)


def test_a_message_at_the_limit_of_depth_is_served(post: Post) -> None:
    assert post(nested(LIMITS.message_depth - 2))[1]["result"] == {}


def test_a_long_method_name_is_not_echoed_whole(post: Post) -> None:
    _, reply = post({"jsonrpc": "2.0", "id": 1, "method": "x" * 100_000})
    assert len(json.dumps(reply)) < 1_000


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("1", 0),
        ("[]", 1),
        ('{"a":{"b":[]}}', 3),
        ('["[[[[", "\\"[[[[", "\\\\", [], [[]]]', 3),
        ('{"a[":{"]":{}},"b":"\\\\\\"{{{{{"}', 3),
        ("[[],[[],[[]]],[]]", 4),
    ],
)
def test_depth_is_counted_outside_of_strings(text: str, depth: int) -> None:
    assert not too_deep(text.encode(), depth)
    if depth:
        assert too_deep(text.encode(), depth - 1)


def test_receive_answers_even_when_the_log_of_faults_fails(engine: Engine, post: Post) -> None:
    def fail(error: BaseException) -> None:
        raise OSError("the disk is full")

    engine.on_fault = fail
    _, reply = post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "breaks"}})
    assert reply["error"] == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"\ud83d", "�"),
        (r"\ude00", "�"),
        (r"\ud83d\ude00", "😀"),
        (r"\uD83D\uDE00\ud83d", "😀�"),
        (r"\ud83d\ud83d\ude00", "�😀"),
        (r"\\ud83d", r"\ud83d"),
        (r"\\\ud83d", "\\�"),
        (r"é\u00e9\ud800x", "éé�x"),
    ],
)
def test_half_a_surrogate_pair_is_answered_under_its_own_id(escaped: str, text: str) -> None:
    class Echo:
        def list(self, cursor: str | None) -> list[dict[str, Any]]:
            return []

        def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": arguments["text"]}]}

    message = (
        '{"jsonrpc":"2.0","id":"id ' + escaped + '","method":"tools/call","params":{"name":"echo","arguments":{"text":"'
        + escaped + '"}}}'
    )  # fmt: skip
    reply = Engine().register_provider(Echo()).receive(message.encode()).reply
    assert reply is not None
    answer = json.loads(reply)
    assert answer["id"] == "id " + text
    assert answer["result"]["content"][0]["text"] == text
