"""The third seed document, line by line (the protocol engine), and what was decided where the seeds disagree.

The lines of the checklist, and the tests that hold each of them here (further rows of the same kind are in the file named):

It owns lifecycle, capabilities and routing; it knows nothing of the domain, of a web framework or HTTP.
    test_the_engine_brings_neither_the_domain_nor_a_web_framework_nor_a_loop
Verbs map to plain callables; binding them to a transport is the caller's job.
    test_a_caller_may_bind_the_verbs_to_a_transport_of_its_own
`protocol_versions` newest first; the first answers an unknown one; empty raises.
    test_the_versions_are_newest_first_and_the_first_is_answered_to_an_unknown_one, test_no_version_and_an_unknown_one_raise
`server_info` has a default; applications set their own.
    test_server_info_has_a_default_and_an_application_sets_its_own
`register_provider` takes one or more roles; chains; raises without a role, and on a second provider of a kind.
    test_register_provider_chains, test_an_object_without_a_role_is_refused_by_name,
    test_a_second_provider_of_a_kind_is_refused_and_the_first_stays, test_an_object_with_several_roles_is_registered_once_a_kind
`capabilities` holds a key per registered kind; others are neither advertised nor routed (-32601).
    test_capabilities_hold_a_key_for_each_registered_kind,
    test_kinds_that_are_not_registered_are_neither_advertised_nor_routed
`handlers`: verb -> callable; initialize, ping, notifications/initialized always there; a notification yields nothing.
    test_the_verbs_of_the_lifecycle_are_always_there, test_a_notification_yields_nothing
Errors: -32602, -32002, isError, -32603 without text.
    test_handlers_return_results_and_raise_protocol_errors, test_a_tool_that_runs_and_fails_is_a_result,
    test_what_nobody_foresaw_is_an_internal_error_without_its_text
No state leaks from one request to the next.
    test_no_state_leaks_from_one_request_to_the_next (test_side_by_side.py)
Roles and their members; cursors pass through; arguments.
    test_the_roles_have_the_members_that_the_seed_names, test_cursors_pass_through_untouched,
    test_arguments_that_are_not_an_object_are_refused, test_arguments_that_are_absent_or_null_are_none
JSON-RPC (test_jsonrpc_rules.py).
    test_bad_json_is_a_parse_error_with_a_null_id, test_what_is_no_request_is_an_invalid_request,
    test_the_ids_0_and_empty_are_requests, test_a_message_without_an_id_is_never_answered,
    test_a_result_that_cannot_be_serialised_is_an_internal_error
HTTP binding: 200 for results and errors, 202 with no body for nothing to send, a body limit (ours: test_bounds.py).
    test_results_and_errors_are_200_and_nothing_to_send_is_202

Decided: batches in 2025-03-26 only (test_revisions.py); a missing resource by its era; a failure of our own code.
    test_batches_are_of_2025_03_26_alone, test_a_missing_resource_has_the_code_of_its_era,
    test_what_nobody_foresaw_is_an_internal_error_without_its_text. The rest of the table is the tools' (tests/tools).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import ANONYMOUS
from webseam.protocol.revisions import MODERN, REVISIONS
from webseam.protocol.session import Session

Ask = Callable[..., tuple[int, Any]]


class Tools:
    def list(self, cursor: str | None) -> Any:
        return {"tools": [], "nextCursor": cursor} if cursor is not None else {"tools": []}

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return {"content": [{"type": "text", "text": repr(arguments)}]}


OUTSIDE = """
import sys
from webseam.protocol.engine import Engine

class Tools:
    def list(self, cursor):
        return []

    def call(self, name, arguments):
        return []

engine = Engine().register_provider(Tools())
for method in ("initialize", "ping", "tools/list"):
    assert engine.receive(b'{"jsonrpc":"2.0","id":1,"method":"%s"}' % method.encode()).reply
print("\\n".join(sys.modules))
"""


def test_the_engine_brings_neither_the_domain_nor_a_web_framework_nor_a_loop() -> None:
    loaded = subprocess.run([sys.executable, "-c", OUTSIDE], capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[1] for name in loaded if name.startswith("webseam.")}
    assert rooms <= {"protocol", "errors", "config"}
    assert not {"asyncio", "socket", "http", "ssl", "aiohttp", "uvicorn", "starlette", "pydantic"} & set(loaded)


def test_a_caller_may_bind_the_verbs_to_a_transport_of_its_own(engine: Engine) -> None:
    """As the seed does: a verb's name and params come from wherever they may."""
    handlers = engine.handlers()
    assert all(callable(handler) for handler in handlers.values())
    for line in ('tools/call {"name": "echo"}', 'prompts/get {"name": "greet"}', "ping {}"):
        verb, _, params = line.partition(" ")
        json.dumps(handlers[verb](json.loads(params)))


def test_a_verb_that_needs_a_session_says_so_where_there_is_none(engine: Engine) -> None:
    class Watched:
        logs = True

        def list(self, cursor: str | None) -> Any:
            return []

        def templates(self) -> Any:
            return []

        def read(self, uri: str) -> Any:
            return []

        def subscribe(self, uri: str) -> None:
            """Anything may be watched."""

    handlers = Engine().register_provider(Watched()).handlers()
    for verb, params in (
        ("logging/setLevel", {"level": "info"}),
        ("resources/subscribe", {"uri": "x:1"}),
        ("resources/unsubscribe", {"uri": "x:1"}),
    ):
        with pytest.raises(ProtocolError, match="session"):
            handlers[verb](params)


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


def test_capabilities_hold_a_key_for_each_registered_kind(engine: Engine, ask: Ask) -> None:
    assert engine.capabilities() == {"tools": {}, "resources": {}, "prompts": {}}
    assert Engine().capabilities() == {}
    assert ask("initialize", {}, to=Engine())[1]["result"]["capabilities"] == {}
    assert ask("initialize", {})[1]["result"]["capabilities"] == engine.capabilities()


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


def test_the_roles_have_the_members_that_the_seed_names() -> None:
    seen: list[Any] = []

    class Seed:
        def list_resources(self, cursor: str | None) -> Any:
            seen.append(("resources", cursor))
            return {"resources": []}

        def templates(self) -> Any:
            seen.append("templates")
            return {"resourceTemplates": []}

        def read(self, uri: str) -> Any:
            seen.append(("read", uri))
            return {"contents": []}

        def list_prompts(self, cursor: str | None) -> Any:
            seen.append(("prompts", cursor))
            return {"prompts": []}

        def get(self, name: str, arguments: dict[str, Any]) -> Any:
            seen.append(("get", name, arguments))
            return {"messages": []}

        def list_tools(self, cursor: str | None) -> Any:
            seen.append(("tools", cursor))
            return {"tools": []}

        def call(self, name: str, arguments: dict[str, Any]) -> Any:
            seen.append(("call", name, arguments))
            return {"content": []}

    handlers = Engine().register_provider(Seed()).handlers()
    for verb, params in (
        ("resources/list", {"cursor": "c"}),
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "x:y"}),
        ("prompts/list", {}),
        ("prompts/get", {"name": "p", "arguments": {"a": "b"}}),
        ("tools/list", {"cursor": ""}),
        ("tools/call", {"name": "t"}),
    ):
        handlers[verb](params)
    assert seen == [
        ("resources", "c"),
        "templates",
        ("read", "x:y"),
        ("prompts", None),
        ("get", "p", {"a": "b"}),
        ("tools", ""),
        ("call", "t", {}),
    ]


# ------------------------------------------------------------------------------------------------ JSON-RPC and HTTP


@pytest.mark.parametrize("data", [b"", b"{", b"tru", b'{"jsonrpc":"2.0",}', b"\xff"])
def test_bad_json_is_a_parse_error_with_a_null_id(post: Ask, data: bytes) -> None:
    _, reply = post(data)
    assert (reply["error"]["code"], reply["id"]) == (-32700, None)


@pytest.mark.parametrize(
    "wrong",
    [{"jsonrpc": "1.0"}, {"jsonrpc": 2}, {"jsonrpc": None}, {"params": 5}, {"params": "x"}, {"params": True}, {"id": {}},
     {"id": []}, {"id": [1]}],
)  # fmt: skip
def test_what_is_no_request_is_an_invalid_request(post: Ask, wrong: dict[str, Any]) -> None:
    _, reply = post({"jsonrpc": "2.0", "id": 4, "method": "ping", **wrong})
    assert reply["error"]["code"] == -32600
    assert reply["id"] == (None if "id" in wrong else 4)


@pytest.mark.parametrize("message_id", [0, ""])
def test_the_ids_0_and_empty_are_requests(post: Ask, message_id: Any) -> None:
    assert post({"jsonrpc": "2.0", "id": message_id, "method": "ping"})[1] == {"jsonrpc": "2.0", "id": message_id, "result": {}}


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/none", "ping", "tools/call", "nothing"])
@pytest.mark.parametrize("params", [None, {}, 5, {"name": "breaks"}])
def test_a_message_without_an_id_is_never_answered(post: Ask, faults: list[BaseException], method: str, params: Any) -> None:
    for how in ({}, {"session": Session()}):
        assert post({"jsonrpc": "2.0", "method": method, "params": params}, **how) == (202, None)
    assert not faults


def test_a_result_that_cannot_be_serialised_is_an_internal_error(ask: Ask, faults: list[BaseException]) -> None:
    for revision in REVISIONS:
        assert ask("tools/call", {"name": "unserialisable"}, revision)[1]["error"] == {
            "code": -32603,
            "message": "Internal error",
        }
    assert len(faults) == len(REVISIONS)


def test_results_and_errors_are_200_and_nothing_to_send_is_202(post: Ask, request_of: Any) -> None:
    for params, member in (({"name": "echo"}, "result"), ({"name": "nothing"}, "error"), ({"name": "breaks"}, "error")):
        status, reply = post(request_of("tools/call", params), headers={})
        assert status == 200
        assert member in reply
    assert post({"jsonrpc": "2.0", "method": "notifications/initialized"}, headers={}) == (202, None)


# ------------------------------------------------------------------------------------------------ decided


def test_batches_are_of_2025_03_26_alone(post: Ask) -> None:
    batch = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in (1, 2)]
    for revision in REVISIONS:
        status, reply = post(batch, headers={"mcp-protocol-version": revision})
        assert (status, isinstance(reply, list)) == ((200, True) if revision == "2025-03-26" else (400, False))


def test_a_missing_resource_has_the_code_of_its_era(ask: Ask) -> None:
    for revision in REVISIONS:
        _, reply = ask("resources/read", {"uri": "memo://none"}, revision)
        assert reply["error"]["code"] == (-32602 if revision in MODERN else -32002)
