"""The third seed document, line by line (the protocol engine)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import ANONYMOUS

Ask = Callable[..., tuple[int, Any]]


class Tools:
    def list(self, cursor: str | None) -> Any:
        return {"tools": [], "nextCursor": cursor} if cursor is not None else {"tools": []}

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return {"content": [{"type": "text", "text": repr(arguments)}]}


def test_the_versions_are_newest_first_and_the_first_is_answered_to_an_unknown_one() -> None:
    engine = Engine(protocol_versions=["2025-06-18", "2024-11-05"])
    handlers = engine.handlers()
    assert handlers["initialize"]({"protocolVersion": "1999-01-01"})["protocolVersion"] == "2025-06-18"
    assert handlers["initialize"]({"protocolVersion": "2024-11-05"})["protocolVersion"] == "2024-11-05"


@pytest.mark.parametrize("versions", [[], ["2025-06-18", "tomorrow"]])
def test_no_version_and_an_unknown_one_raise(versions: list[str]) -> None:
    with pytest.raises(ValueError, match="2026-07-28"):
        Engine(protocol_versions=versions)


def test_server_info_has_a_default_and_an_application_sets_its_own() -> None:
    assert Engine().handlers()["initialize"]({})["serverInfo"]["name"] == "mcp-server"
    own = {"name": "own", "version": "3"}
    assert Engine(own).handlers()["initialize"]({})["serverInfo"] == own
    with pytest.raises(ValueError, match="version"):
        Engine({"name": "own"})


def test_register_provider_chains() -> None:
    engine = Engine()
    assert engine.register_provider(Tools()) is engine


def test_an_object_without_a_role_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="object has none of the roles"):
        Engine().register_provider(object())


def test_a_second_provider_of_a_kind_is_refused_and_the_first_stays() -> None:
    engine = Engine().register_provider(Tools())
    with pytest.raises(ValueError, match="provider of tools already"):
        engine.register_provider(Tools())
    assert engine.capabilities() == {"tools": {}}


def test_an_object_with_several_roles_is_registered_once_a_kind() -> None:
    class Both(Tools):
        def list(self, cursor: str | None) -> Any:
            return {"tools": [{"name": "t"}], "prompts": [{"name": "p"}]}

        def get(self, name: str, arguments: dict[str, Any]) -> Any:
            return []

    engine = Engine().register_provider(Both())
    assert engine.capabilities() == {"tools": {}, "prompts": {}}
    assert engine.handlers()["tools/list"]({}) == {"tools": [{"name": "t"}]}
    assert engine.handlers()["prompts/list"]({}) == {"prompts": [{"name": "p"}]}


def test_kinds_that_are_not_registered_are_neither_advertised_nor_routed(post: Ask) -> None:
    engine = Engine().register_provider(Tools())
    assert engine.capabilities() == {"tools": {}}
    assert not any(verb.startswith(("prompts/", "resources/")) for verb in engine.handlers())
    for verb in ("prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list"):
        _, reply = post({"jsonrpc": "2.0", "id": 1, "method": verb, "params": {"name": "x", "uri": "x:y"}}, to=engine)
        assert reply["error"]["code"] == -32601


def test_the_verbs_of_the_lifecycle_are_always_there() -> None:
    assert {"initialize", "ping", "notifications/initialized"} <= Engine().handlers().keys()


def test_a_notification_yields_nothing() -> None:
    assert Engine().handlers()["notifications/initialized"]({}) is None
    assert Engine().handlers()["notifications/initialized"]() is None


def test_handlers_return_results_and_raise_protocol_errors(engine: Engine) -> None:
    handlers = engine.handlers()
    assert handlers["ping"]() == {}
    assert handlers["tools/call"]({"name": "echo", "arguments": {"a": 1}}, ANONYMOUS)["content"][0]["text"] == '{"a": 1}'
    assert handlers["resources/read"]({"uri": "memo://one"}) == {"contents": [{"uri": "memo://one", "text": "the memo"}]}
    for verb, params, code in [
        ("tools/call", {"arguments": {}}, -32602),
        ("tools/call", {"name": "echo", "arguments": []}, -32602),
        ("tools/call", {"name": "nothing"}, -32602),
        ("prompts/get", {"name": "nothing"}, -32602),
        ("resources/read", {"uri": "memo://none"}, -32002),
        ("resources/read", {}, -32602),
    ]:
        with pytest.raises(ProtocolError) as caught:
            handlers[verb](params)
        assert caught.value.code == code


def test_a_tool_that_runs_and_fails_is_a_result(ask: Ask) -> None:
    _, reply = ask("tools/call", {"name": "fails"})
    assert reply["result"] == {"content": [{"type": "text", "text": "It failed."}], "isError": True}


@pytest.mark.parametrize("tool", ["breaks", "unserialisable"])
def test_what_nobody_foresaw_is_an_internal_error_without_its_text(ask: Ask, faults: list[BaseException], tool: str) -> None:
    _, reply = ask("tools/call", {"name": tool})
    assert reply["error"] == {"code": -32603, "message": "Internal error"}
    assert len(faults) == 1


def test_cursors_pass_through_untouched(ask: Ask) -> None:
    for cursor in ("", "page 2", "\u00e9" * 50, '{"x":1}'):
        assert ask("tools/list", {"cursor": cursor})[1]["result"]["nextCursor"] == f"after {cursor}"
    assert "nextCursor" not in ask("tools/list", {"cursor": None})[1]["result"]
    assert ask("tools/list", {"cursor": 5})[1]["error"]["code"] == -32602


@pytest.mark.parametrize("arguments", [[], "text", 5, True, 0.5])
def test_arguments_that_are_not_an_object_are_refused(ask: Ask, arguments: Any) -> None:
    for verb, name in (("tools/call", "echo"), ("prompts/get", "greet")):
        assert ask(verb, {"name": name, "arguments": arguments})[1]["error"]["code"] == -32602


def test_arguments_that_are_absent_or_null_are_none(ask: Ask) -> None:
    for params in ({"name": "echo"}, {"name": "echo", "arguments": None}):
        assert ask("tools/call", params)[1]["result"]["content"][0]["text"] == "{}"


def test_no_state_leaks_from_one_request_to_the_next() -> None:
    class Greedy(Tools):
        def call(self, name: str, arguments: dict[str, Any]) -> Any:
            arguments["seen"] = arguments.get("seen", 0) + 1
            return {"content": [{"type": "text", "text": str(arguments["seen"])}]}

    handler = Engine().register_provider(Greedy()).handlers()["tools/call"]
    for _ in range(3):
        assert handler({"name": "x"})["content"][0]["text"] == "1"
