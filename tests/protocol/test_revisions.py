"""Which method exists in which revision, what each revision's answers look like, and how a revision is agreed on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from webseam.protocol.engine import Engine
from webseam.protocol.revisions import HANDSHAKE, MODERN, REVISIONS, RULES, SERVER_KEY, VERSION_KEY
from webseam.protocol.session import Session

Ask = Callable[..., tuple[int, Any]]
Check = Callable[[Any, str, str], None]

PARAMS: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}},
    "tools/call": {"name": "echo", "arguments": {"a": "\u00e9"}},
    "resources/read": {"uri": "memo://one"},
    "prompts/get": {"name": "greet", "arguments": {"who": "you"}},
}
BOTH = [
    "tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get",
]  # fmt: skip
METHODS: dict[str, list[str]] = {
    **{revision: ["initialize", "ping", *BOTH] for revision in HANDSHAKE},
    **{revision: ["server/discover", *BOTH] for revision in MODERN},
}
RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
}
EVERYTHING = sorted({method for methods in METHODS.values() for method in methods})


# ------------------------------------------------------------------------------------------------ the table


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", EVERYTHING)
def test_a_method_is_served_in_the_revisions_that_have_it_and_in_no_other(
    ask: Ask, check: Check, revision: str, method: str
) -> None:
    status, reply = ask(method, PARAMS.get(method), revision)
    if method in METHODS[revision] or (method == "initialize" and revision in HANDSHAKE):
        assert status == 200
        check(reply["result"], revision, RESULTS[method])
        check(reply, revision, "JSONRPCMessage")
    else:
        assert reply["error"]["code"] == -32601
        assert status == (404 if revision in MODERN else 200)
        check(reply, revision, "JSONRPCMessage")


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", {}, -32602),
        ("tools/call", {"name": "nothing"}, -32602),
        ("tools/call", {"name": "breaks"}, -32603),
        ("prompts/get", {"name": "nothing"}, -32602),
        ("resources/read", {"uri": "memo://none"}, -32002),
        ("tools/list", {"cursor": 1}, -32602),
        ("nothing/at/all", {}, -32601),
    ],
)
def test_errors_have_the_code_and_the_status_of_their_revision(
    ask: Ask, check: Check, revision: str, method: str, params: dict[str, Any], code: int
) -> None:
    status, reply = ask(method, params, revision)
    if revision in MODERN:
        code = {-32002: -32602}.get(code, code)  # the number is not used any more
        assert status == {-32601: 404, -32603: 200}.get(code, 400)
    else:
        assert status == 200
    assert reply["error"]["code"] == code
    check(reply, revision, "JSONRPCMessage")


def test_a_missing_resource_names_its_uri(ask: Ask) -> None:
    for revision in REVISIONS:
        assert ask("resources/read", {"uri": "memo://none"}, revision)[1]["error"]["data"] == {"uri": "memo://none"}


# ------------------------------------------------------------------------------------------------ the handshake era


@pytest.mark.parametrize("wanted", HANDSHAKE)
def test_initialize_echoes_a_supported_revision(post: Ask, wanted: str) -> None:
    session = Session()
    params = {"protocolVersion": wanted, "capabilities": {"roots": {}}, "clientInfo": {"name": "c", "version": "1"}}
    status, reply = post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, session=session)
    assert status == 200
    assert reply["result"] == {
        "protocolVersion": wanted,
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "tested", "version": "7"},
        "instructions": "Ask nicely.",
    }
    assert session.revision == wanted
    assert session.client_info == {"name": "c", "version": "1"}
    assert session.client_capabilities == {"roots": {}}
    assert not session.initialized
    post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session=session)
    assert session.initialized


@pytest.mark.parametrize("wanted", ["2099-01-01", "2026-07-28", "1.0", "", None])
def test_initialize_answers_the_newest_handshake_revision_to_any_other(post: Ask, wanted: str | None) -> None:
    params = {} if wanted is None else {"protocolVersion": wanted}
    _, reply = post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert reply["result"]["protocolVersion"] == HANDSHAKE[0]


def test_initialize_with_a_revision_that_is_no_string_is_refused(post: Ask) -> None:
    _, reply = post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 5}})
    assert reply["error"]["code"] == -32602


def test_initialize_with_modern_metadata_is_an_unknown_method(ask: Ask) -> None:
    status, reply = ask("initialize", PARAMS["initialize"], MODERN[0])
    assert (status, reply["error"]["code"]) == (404, -32601)


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        (None, 200, None),
        *[(revision, 200, None) for revision in HANDSHAKE],
        (MODERN[0], 400, -32602),  # this revision wants metadata in the body
        ("2099-01-01", 400, -32022),
        ("", 400, -32022),
    ],
)
def test_the_version_header_of_a_request_without_metadata(post: Ask, header: str | None, status: int, code: int | None) -> None:
    headers = {} if header is None else {"mcp-protocol-version": header}
    got, reply = post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
    assert got == status
    assert reply.get("error", {}).get("code") == code


def test_a_notification_with_an_unsupported_version_header_is_refused_and_any_other_accepted(post: Ask) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert post(message, headers={"mcp-protocol-version": "2099-01-01"})[0] == 400
    for version in REVISIONS:
        assert post(message, headers={"mcp-protocol-version": version}) == (202, None)
    assert post(message, headers={}) == (202, None)


def test_an_engine_of_the_handshake_era_knows_nothing_of_metadata(ask: Ask, request_of: Callable[..., Any], post: Ask) -> None:
    old = Engine(protocol_versions=["2025-06-18"])
    assert post(request_of("ping", None, MODERN[0]), to=old) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    assert post(request_of("server/discover", None, MODERN[0]), to=old)[1]["error"]["code"] == -32601
    status, reply = post(request_of("ping"), to=old, headers={"mcp-protocol-version": MODERN[0]})
    assert (status, reply["error"]["code"]) == (400, -32600)


# ------------------------------------------------------------------------------------------------ 2026-07-28


def test_every_modern_result_is_complete_and_names_the_server(ask: Ask) -> None:
    for method in METHODS[MODERN[0]]:
        result = ask(method, PARAMS.get(method), MODERN[0])[1]["result"]
        assert result["resultType"] == "complete"
        assert result["_meta"][SERVER_KEY] == {"name": "tested", "version": "7"}


def test_no_result_of_the_handshake_era_has_what_the_modern_one_added(post: Ask, ask: Ask) -> None:
    class Cached:
        def list(self, cursor: str | None) -> dict[str, Any]:
            return {"tools": [], "ttlMs": 5, "cacheScope": "public", "resultType": "complete"}

        def call(self, name: str, arguments: dict[str, Any]) -> Any:
            return []

    engine = Engine().register_provider(Cached())
    assert ask("tools/list", to=engine)[1]["result"] == {"tools": []}
    modern = ask("tools/list", None, MODERN[0], to=engine)[1]["result"]
    assert (modern["ttlMs"], modern["cacheScope"]) == (5, "public")


def test_lists_are_private_and_stale_at_once_unless_their_provider_says_otherwise(ask: Ask) -> None:
    for method in ("tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list"):
        result = ask(method, PARAMS.get(method), MODERN[0])[1]["result"]
        assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    for method in ("tools/call", "prompts/get"):
        assert "ttlMs" not in ask(method, PARAMS[method], MODERN[0])[1]["result"]


def test_discover_says_what_there_is(ask: Ask) -> None:
    result = ask("server/discover", None, MODERN[0])[1]["result"]
    assert result["supportedVersions"] == list(MODERN)
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}}
    assert result["instructions"] == "Ask nicely."
    assert result["ttlMs"] > 0


def test_an_unsupported_modern_revision_is_refused_with_those_that_are_supported(
    post: Ask, request_of: Any, check: Check
) -> None:
    for version in ("2027-01-01", "2025-11-25", "x" * 10_000):
        message = request_of("ping", None, MODERN[0])
        message["params"]["_meta"][VERSION_KEY] = version
        status, reply = post(message)
        assert (status, reply["error"]["code"]) == (400, -32022)
        assert reply["error"]["data"]["supported"] == list(MODERN)
        assert reply["error"]["data"]["requested"] == version[:100] + ("..." if len(version) > 100 else "")
        check(reply, MODERN[0], "UnsupportedProtocolVersionError")


def test_a_modern_request_without_capabilities_is_refused(post: Ask) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {VERSION_KEY: MODERN[0]}}}
    status, reply = post(message)
    assert (status, reply["error"]["code"]) == (400, -32602)
    assert "clientCapabilities" in reply["error"]["message"]


@pytest.mark.parametrize("meta", [{VERSION_KEY: 5}, {VERSION_KEY: MODERN[0], "io.modelcontextprotocol/clientCapabilities": []}])
def test_modern_metadata_of_the_wrong_type_is_refused_with_400(post: Ask, meta: dict[str, Any]) -> None:
    status, reply = post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}})
    assert (status, reply["error"]["code"]) == (400, -32602)


def test_an_engine_of_the_modern_era_tells_an_old_client_what_it_supports(post: Ask, request_of: Any) -> None:
    new = Engine(protocol_versions=MODERN)
    status, reply = post(request_of("initialize", PARAMS["initialize"]), to=new)
    assert (status, reply["error"]["code"]) == (400, -32022)
    assert reply["error"]["data"] == {"supported": list(MODERN), "requested": "2025-11-25"}
    status, reply = post(request_of("ping"), to=new)
    assert (status, reply["error"]["code"]) == (400, -32602)
    assert VERSION_KEY in reply["error"]["message"]


def test_both_eras_are_served_on_one_session_at_once(post: Ask, request_of: Any) -> None:
    session = Session()
    post(request_of("initialize", {"protocolVersion": "2025-06-18"}), session=session)
    modern = post(request_of("tools/list", None, MODERN[0]), session=session)[1]["result"]
    old = post(request_of("tools/list"), session=session)[1]["result"]
    assert modern["resultType"] == "complete"
    assert "resultType" not in old
    assert session.revision == "2025-06-18"


# ------------------------------------------------------------------------------------------------ batches

PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'


def test_only_2025_03_26_has_batches(post: Ask, check: Check) -> None:
    data = b"[" + PING % 1 + b"," + PING % 2 + b"]"
    for revision in REVISIONS:
        status, reply = post(data, headers={"mcp-protocol-version": revision})
        if RULES[revision].batches:
            assert (status, [one["id"] for one in reply]) == (200, [1, 2])
            check(reply, revision, "JSONRPCBatchResponse")
        else:
            assert (status, reply["error"]["code"], reply.get("id")) == (400, -32600, None)
    session = Session()
    session.revision = "2025-03-26"
    assert len(post(data, session=session)[1]) == 2
    assert len(post(data, headers={})[1]) == 2  # no header means that revision
    assert post(data)[0] == 400


@pytest.mark.parametrize(
    ("data", "status", "codes"),
    [
        (b"[]", 400, -32600),
        (b"[1]", 200, [-32600]),
        (b"[[]]", 200, [-32600]),
        (b'[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]', 200, [-32600]),
        (b"[" + PING % 1 + b',{"jsonrpc":"2.0","method":"notifications/initialized"},{"id":2}]', 200, [None, -32600]),
        (b'[{"jsonrpc":"2.0","method":"notifications/initialized"}]', 202, None),
        (b'[{"jsonrpc":"2.0","id":1,"result":{}}]', 202, None),
        (b"[" + PING % 1, 400, -32700),
        (b"[" + b",".join(PING % n for n in range(50)) + b"]", 200, [None] * 50),
        (b"[" + b",".join(PING % n for n in range(51)) + b"]", 400, -32600),
    ],
)
def test_a_batch_is_answered_message_by_message(post: Ask, data: bytes, status: int, codes: Any) -> None:
    got, reply = post(data, headers={"mcp-protocol-version": "2025-03-26"})
    assert got == status
    if isinstance(codes, list):
        assert [one.get("error", {}).get("code") for one in reply] == codes
    else:
        assert (reply and reply["error"]["code"]) == codes
