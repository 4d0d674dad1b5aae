"""Whatever the engine sends is what the schema of the revision in use says: results, errors, notifications, and requests to the
client.

One provider does everything there is to do; a witness looks at each message that leaves the engine, by the definition of its
method. Two things stand outside. Tasks are an extension without a schema here (`test_tasks` checks their shapes). And before
2026-07-28 an error for a message that could not be read has the id null, as JSON-RPC 2.0, section 5, wants it, though the
schemas of MCP know no such id; from then on it is left out, as basic/index, "Error Responses", wants it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol import Engine, MemoryTaskStore, Request, Session
from webseam.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
from webseam.protocol.revisions import HANDSHAKE, REVISIONS

MODERN = "2026-07-28"
WITH_FORMS = ("2025-06-18", "2025-11-25", MODERN)
WITH_PAGES = ("2025-11-25", MODERN)
ABLE: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
TASKS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
Check = Callable[[Any, str, str], None]

RESULTS = {
    "initialize": "InitializeResult",
    "ping": "EmptyResult",
    "logging/setLevel": "EmptyResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/cancelled": "CancelledNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}
QUESTIONS = {
    "elicitation/create": "ElicitRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "roots/list": "ListRootsRequest",
}
ERRORS = {
    -32700: "ParseError",
    -32600: "InvalidRequestError",
    -32601: "MethodNotFoundError",
    -32602: "InvalidParamsError",
    -32603: "InternalError",
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}
WHOLE = ("HeaderMismatchError", "MissingRequiredClientCapabilityError", "UnsupportedProtocolVersionError")
"""These definitions are of the response; the others of 2026-07-28 are of its `error`."""

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 50, "default": "Ada"},
        "mail": {"type": "string", "format": "email"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "sure": {"type": "boolean", "default": False},
        "colour": {"type": "string", "enum": ["red", "green"]},
    },
    "required": ["name"],
}
TEXT = {"type": "text", "text": "?"}
ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ada"}},
    "sampling/createMessage": {"role": "assistant", "content": TEXT, "model": "m"},
    "roots/list": {"roots": [{"uri": "file:///home"}]},
}


class Everything:
    """Every role, every declaration, every way to answer."""

    needs_session = True
    logs = True
    lists_change = True

    def list_tools(self, cursor: str | None) -> Any:
        tools = [{"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}]
        return {"tools": tools, "nextCursor": "more", "_meta": {"own": 1}} if cursor is None else tools

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "fails":
            return {"content": [TEXT], "isError": True}
        if name == "structured":
            return {"content": [TEXT], "structuredContent": {"a": 1}, "_meta": {"own": 1}}
        if name == "breaks":
            raise RuntimeError("secret")
        if name == "speaks":
            call.progress(1, 3, "one")
            call.progress(2.5)
            for level in ("debug", "info", "emergency"):
                call.log(level, {"level": level}, "logger")
            call.log("error", "bare")
            return [TEXT]
        if name == "form":
            return [TEXT | {"text": json.dumps(await call.elicit("Who?", FORM))}]
        if name == "page":
            return [TEXT | {"text": json.dumps(await call.elicit_url("Pay.", "https://pay.example", "e"))}]
        if name == "sample":
            messages = [{"role": "user", "content": TEXT}]
            more: dict[str, Any] = {"systemPrompt": "s", "temperature": 0.5, "stopSequences": ["x"], "includeContext": "none"}
            return [TEXT | {"text": json.dumps(await call.sample(messages, 10, **more))}]
        if name == "roots":
            return [TEXT | {"text": json.dumps(await call.list_roots())}]
        if name == "task":
            return await call.run_as_task(self._work)
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")

    async def _work(self, call: Request) -> Any:
        return [TEXT]

    def list_resources(self, cursor: str | None) -> Any:
        return [{"uri": "memo://one", "name": "one", "mimeType": "text/plain", "size": 3}]

    def templates(self) -> Any:
        return [{"uriTemplate": "memo://{name}", "name": "memo"}]

    async def read(self, uri: str) -> Any:
        if uri != "memo://one":
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        return [{"uri": uri, "text": "memo"}, {"uri": uri, "blob": "AAAA", "mimeType": "image/png"}]

    def subscribe(self, uri: str) -> None:
        """Anything may be watched."""

    def list_prompts(self, cursor: str | None) -> Any:
        return [{"name": "p", "description": "d", "arguments": [{"name": "who", "required": True}]}]

    async def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return {"description": "d", "messages": [{"role": "user", "content": TEXT}]}

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return [str(number) for number in range(150)]


class Witness:
    """One client of everything, in one revision. `seen` are the definitions by which something was checked."""

    def __init__(self, revision: str, check: Check, wire: Any, talk: Any, request_of: Any) -> None:
        self.revision = revision
        self.modern = revision == MODERN
        self.check = check
        self.talk = talk
        self.request_of = request_of
        self.engine = Engine(
            {"name": "w", "version": "1", "title": "Witness"}, instructions="Ask.", task_store=MemoryTaskStore()
        ).register_provider(Everything())
        self.pushed: list[bytes] = []
        self.session = Session(push=self.pushed.append)
        self.wire = wire
        self.count = 0
        self.seen: set[str] = set()

    def by(self, value: Any, name: str) -> None:
        self.check(value, self.revision, name)
        self.seen.add(name)

    def sent(self, message: Any) -> None:
        """One message that is no answer: a notification, or a question."""
        self.by(message, "JSONRPCMessage")
        if "id" in message:
            assert not self.modern  # which has no requests to clients
            self.by(message, QUESTIONS[message["method"]])
            self.by(message, "ServerRequest")
            self.by(message, "JSONRPCRequest")
        else:
            self.by(message, NOTIFICATIONS[message["method"]])
            self.by(message, "ServerNotification")
            self.by(message, "JSONRPCNotification")

    def result(self, reply: Any, method: str) -> None:
        result = reply["result"]
        self.by(reply, "JSONRPCMessage")
        self.by(reply, "JSONRPCResultResponse" if self.revision in WITH_PAGES else "JSONRPCResponse")
        if result.get("resultType") == "input_required":
            self.by(result, "InputRequiredResult")
            assert result.keys() & {"inputRequests", "requestState"}
            for question in result.get("inputRequests", {}).values():
                self.by(question, "InputRequest")
                self.by(question, QUESTIONS[question["method"]])
            self.by(result.get("inputRequests", {}), "InputRequests")
            return
        self.by(result, RESULTS[method])
        if RESULTS[method] != "SubscriptionsListenResult":
            self.by(result, "ServerResult")
        if self.modern:
            assert result["resultType"] == "complete"
            self.by(reply, RESULTS[method] + "Response")

    def error(self, reply: Any) -> None:
        code = reply["error"]["code"]
        if reply.get("id", 0) is None:
            assert not self.modern
            reply = {**reply, "id": 0}  # see the top of this module
        self.by(reply, "JSONRPCMessage")
        self.by(reply, "JSONRPCErrorResponse" if self.revision in WITH_PAGES else "JSONRPCError")
        if self.modern:
            self.by(reply if ERRORS[code] in WHOLE else reply["error"], ERRORS[code])
        else:
            assert code not in (-32020, -32021, -32022), "a code that the revision does not know"

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, able: Any = ABLE, **how: Any) -> Any:
        """Make a request, check all that comes of it, answer what is asked; gives the reply."""
        given = params or {}
        if self.modern:
            meta = {"io.modelcontextprotocol/clientCapabilities": able, "io.modelcontextprotocol/logLevel": "debug"}
            given = {**given, "_meta": {**meta, **given.get("_meta", {})}}
        self.count += 1
        message = {**self.request_of(method, given, self.revision), "id": self.count}
        channel = self.wire()
        if not self.modern and "headers" not in how:
            how["session"] = self.session
        task = asyncio.create_task(self.talk(self.engine, message, channel=channel, **how))
        while not task.done():
            await asyncio.sleep(0)
            for asked in [one for one in channel.sent if "id" in one]:
                answer = {"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[asked["method"]]}
                self.engine.receive(json.dumps(answer).encode(), session=self.session)
        _, reply, before = await task
        for said in [*channel.sent, *before]:
            self.sent(said)
        assert reply["id"] == self.count
        if "error" in reply:
            self.error(reply)
            return reply
        self.result(reply, method)
        if reply["result"].get("resultType") == "input_required":
            answers = {key: ANSWERS[asked["method"]] for key, asked in reply["result"]["inputRequests"].items()}
            return await self.ask(method, {**(params or {}), "inputResponses": answers}, able=able, **how)
        return reply

    async def begin(self) -> None:
        if not self.modern:
            await self.ask("initialize", {"protocolVersion": self.revision, "capabilities": ABLE, "clientInfo": {}})
            self.engine.receive(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', session=self.session)
            assert self.session.revision == self.revision


@pytest.fixture(params=REVISIONS)
def witness(request: Any, check: Check, wire: Any, talk: Any, request_of: Any) -> Witness:
    return Witness(request.param, check, wire, talk, request_of)


def test_the_result_of_every_method_is_as_its_schema_says(witness: Witness) -> None:
    async def main() -> None:
        await witness.begin()
        requests: list[tuple[str, dict[str, Any]]] = [
            ("tools/list", {}),
            ("tools/list", {"cursor": "more"}),
            ("tools/call", {"name": "speaks"}),
            ("tools/call", {"name": "fails"}),
            ("tools/call", {"name": "structured"}),
            ("resources/list", {}),
            ("resources/templates/list", {}),
            ("resources/read", {"uri": "memo://one"}),
            ("prompts/list", {}),
            ("prompts/get", {"name": "p", "arguments": {"who": "you"}}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "who", "value": ""}}),
        ]
        before: list[tuple[str, dict[str, Any]]] = [
            ("ping", {}),
            ("logging/setLevel", {"level": "debug"}),
            ("resources/subscribe", {"uri": "memo://one"}),
            ("resources/unsubscribe", {"uri": "memo://one"}),
        ]
        for method, params in [*requests, *([("server/discover", {})] if witness.modern else before)]:
            assert "result" in await witness.ask(method, params)

    asyncio.run(main())
    expected = set(RESULTS.values()) - {"SubscriptionsListenResult"}
    expected -= {"EmptyResult", "InitializeResult"} if witness.modern else {"DiscoverResult"}
    assert expected <= witness.seen


def test_what_is_said_before_an_answer_is_as_its_schema_says(witness: Witness) -> None:
    async def main() -> None:
        await witness.begin()
        for token in ("token", 7):
            await witness.ask("tools/call", {"name": "speaks", "_meta": {"progressToken": token}})

    asyncio.run(main())
    assert {"ProgressNotification", "LoggingMessageNotification"} <= witness.seen


def test_what_the_client_is_asked_is_as_its_schema_says(witness: Witness) -> None:
    async def main() -> None:
        await witness.begin()
        for name in ("form", "page", "sample", "roots"):
            reply = await witness.ask("tools/call", {"name": name})
            possible = {"form": WITH_FORMS, "page": WITH_PAGES}.get(name, REVISIONS)
            assert ("result" in reply) is (witness.revision in possible)

    asyncio.run(main())
    assert {"CreateMessageRequest", "ListRootsRequest"} <= witness.seen
    assert ("ElicitRequest" in witness.seen) is (witness.revision in WITH_FORMS)
    assert ("InputRequiredResult" in witness.seen) is witness.modern


@pytest.mark.parametrize("witness", HANDSHAKE, indirect=True)
def test_what_is_given_up_is_cancelled_as_its_schema_says(witness: Witness, request_of: Any) -> None:
    """Nothing is asked by a request from 2026-07-28 on."""

    async def main() -> None:
        await witness.begin()
        channel = witness.wire(silent=True)
        message = {**request_of("tools/call", {"name": "roots"}), "id": "x"}
        _, reply, _ = await witness.talk(witness.engine, message, channel=channel, session=witness.session)
        for said in channel.sent:
            witness.sent(said)
        witness.error(reply)

    asyncio.run(main())
    assert "CancelledNotification" in witness.seen


def test_changes_are_told_as_their_schema_says(witness: Witness, under_way: Any, request_of: Any) -> None:
    def change() -> None:
        for kind in ("tools", "prompts", "resources"):
            witness.engine.changed(kind)
        witness.engine.updated("memo://one")

    async def in_sessions() -> None:
        await witness.ask("resources/subscribe", {"uri": "memo://one"})
        change()
        for said in witness.pushed:
            witness.sent(json.loads(said))

    async def by_listening() -> None:
        kinds = {f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources")}
        params = {"notifications": {**kinds, "resourceSubscriptions": ["memo://one"]}}
        for message_id in (7, "seven"):
            channel = witness.wire()
            message = {**request_of("subscriptions/listen", params, MODERN), "id": message_id}
            async with under_way(witness.engine, message, channel) as task:
                await channel.until(1)
                change()
                witness.engine.end_subscriptions()
                witness.result(await task, "subscriptions/listen")
            assert len(channel.sent) == 5
            for said in channel.sent:
                witness.sent(said)
                witness.by(said["params"]["_meta"], "NotificationMetaObject")

    async def main() -> None:
        await witness.begin()
        await (by_listening() if witness.modern else in_sessions())

    asyncio.run(main())
    expected = {name for method, name in NOTIFICATIONS.items() if "list_changed" in method or "updated" in method}
    if witness.modern:
        expected |= {"SubscriptionsAcknowledgedNotification", "SubscriptionsListenResult"}
    assert expected <= witness.seen


def test_errors_are_as_their_schema_says(witness: Witness) -> None:
    async def main() -> None:
        await witness.begin()
        for method, params in (
            ("tools/call", {"name": "nothing"}),
            ("tools/call", {"name": "breaks"}),
            ("tools/call", {}),
            ("tools/list", {"cursor": 5}),
            ("resources/read", {"uri": "memo://none"}),
            ("nothing/at/all", {}),
            ("completion/complete", {"ref": {}}),
        ):
            assert "error" in await witness.ask(method, params)
        if witness.modern:
            for name in ("form", "page", "sample", "roots"):
                assert (await witness.ask("tools/call", {"name": name}, able={}))["error"]["code"] == -32021
            headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
            assert (await witness.ask("tools/call", {"name": "fails"}, headers=headers))["error"]["code"] == -32020
            wrong = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
            assert (await witness.ask("tools/list", {"_meta": wrong}))["error"]["code"] == -32022
            assert (await witness.ask("subscriptions/listen", {}))["error"]["code"] == -32602
            assert (await witness.ask("tasks/get", {"taskId": "x"}))["error"]["code"] == -32021
            assert (await witness.ask("tasks/get", {"taskId": "x"}, able=TASKS))["error"]["code"] == -32602
        else:
            witness.session.client_capabilities = {}
            for name in ("form", "page", "sample", "roots"):
                assert (await witness.ask("tools/call", {"name": name}))["error"]["code"] == -32600

    asyncio.run(main())
    if witness.modern:
        assert set(ERRORS.values()) - {"ParseError", "InvalidRequestError"} <= witness.seen


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"1", b"null", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"1.0","id":1,"method":"x"}',
     b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
     b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":5}', b"\xff",
     b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * 100 + b"]" * 100 + b"}}"],
)  # fmt: skip
def test_errors_for_what_cannot_be_read_are_as_their_schema_says(witness: Witness, data: bytes) -> None:
    reply = witness.engine.receive(data, headers={"mcp-protocol-version": witness.revision}).reply
    assert reply is not None
    witness.error(json.loads(reply))


def test_the_answer_to_a_batch_is_as_its_schema_says(check: Check, wire: Any, talk: Any, request_of: Any) -> None:
    witness = Witness("2025-03-26", check, wire, talk, request_of)

    async def main() -> None:
        await witness.begin()
        batch = [
            {**request_of("tools/call", {"name": "fails"}), "id": 1},
            {**request_of("nothing/at/all"), "id": "b"},
            {**request_of("ping"), "id": 3},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
        _, reply, _ = await talk(witness.engine, batch, session=witness.session, channel=wire())
        assert len(reply) == 3
        check(reply, "2025-03-26", "JSONRPCBatchResponse")
        check(reply, "2025-03-26", "JSONRPCMessage")

    asyncio.run(main())


def test_what_belongs_to_tasks_is_json_rpc_at_least(check: Check, wire: Any, talk: Any, request_of: Any) -> None:
    """The members of a task are checked in `test_tasks`, against SEP-2663."""

    async def main() -> None:
        engine = Engine(task_store=MemoryTaskStore()).register_provider(Everything())
        channel = wire()
        meta = {"io.modelcontextprotocol/clientCapabilities": TASKS}

        async def ask(method: str, **params: Any) -> Any:
            _, reply, _ = await talk(engine, request_of(method, {**params, "_meta": meta}, MODERN), channel=channel)
            for name in ("JSONRPCMessage", "JSONRPCResultResponse"):
                check(reply, MODERN, name)
            check(reply["result"], MODERN, "Result")
            return reply["result"]

        task_id = (await ask("tools/call", name="task"))["taskId"]
        await channel.settle()
        done = await ask("tasks/get", taskId=task_id)
        check({"_meta": done["_meta"], **done["result"]}, MODERN, "CallToolResult")  # as the call would have answered
        await ask("tasks/update", taskId=task_id, inputResponses={})
        await ask("tasks/cancel", taskId=task_id)

    asyncio.run(main())


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_what_a_server_can_do_is_as_its_schema_says_with_and_without_a_session(
    revision: str, check: Check, wire: Any, talk: Any, request_of: Any
) -> None:
    witness = Witness(revision, check, wire, talk, request_of)

    async def main() -> None:
        ways: tuple[dict[str, Any], ...] = ({}, {"headers": {}})
        for how in ways:
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
            result = (await witness.ask("initialize", params, **how))["result"]
            check(result["capabilities"], revision, "ServerCapabilities")

    asyncio.run(main())
