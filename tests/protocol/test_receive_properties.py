"""Whatever comes, `receive` gives valid JSON-RPC or nothing, and no fault; an answer wherever one is due; and the same answer
from an engine that has served for a while as from a new one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webseam.protocol.engine import Engine
from webseam.protocol.jsonrpc import LEVELS
from webseam.protocol.outcome import Outcome
from webseam.protocol.request import Request
from webseam.protocol.revisions import MODERN, REVISIONS, VERBS
from webseam.protocol.session import Session
from webseam.protocol.tasks import MemoryTaskStore

FORM = {"type": "object", "properties": {}}
TURNS = 50
"""Of the event loop, after which what still goes on only waits for somebody."""


class Everything:
    """All roles, answered at once."""

    logs = True
    lists_change = True
    needs_session = True

    def list(self, cursor: str | None) -> Any:
        return {"tools": [MIRRORED], "resources": [], "prompts": []}

    def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        call.progress(1, 2, "half")
        call.log("error", arguments)
        return [{"type": "text", "text": json.dumps([arguments, call.meta, call.client_info])}]

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return [{"uri": uri, "text": ""}]

    def subscribe(self, uri: str) -> None:
        """Anything may be watched."""

    def get(self, name: str, arguments: dict[str, Any]) -> Any:
        return []

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return [argument["value"]]


MIRRORED = {
    "name": "a",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}}},
}


class Later:
    """All roles, each method a coroutine; the tools ask, work and wait."""

    logs = True
    lists_change = True
    needs_session = True

    async def list(self, cursor: str | None) -> Any:
        await asyncio.sleep(0)
        return Everything().list(cursor)

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        call.progress(1)
        if name == "ask":
            call.state = arguments
            return [{"type": "text", "text": json.dumps([await call.elicit("?", FORM), await call.list_roots()])}]
        if name == "task":
            return await call.run_as_task(self.work)
        return Everything().call(name, arguments, call)

    async def work(self, call: Request) -> Any:
        return [{"type": "text", "text": json.dumps(await call.elicit("?", FORM, key="a"))}]

    async def templates(self) -> Any:
        return []

    async def read(self, uri: str, call: Request) -> Any:
        return [{"uri": uri, "text": json.dumps(await call.list_roots(key="a")) if uri == "ask" else ""}]

    async def subscribe(self, uri: str) -> None:
        await asyncio.sleep(0)

    async def unsubscribe(self, uri: str) -> None:
        await asyncio.sleep(0)

    async def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [] if name != "ask" else [await call.elicit("?", FORM, key="a")]

    async def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return [argument["value"]]


FAULTS: list[BaseException] = []


def no_fault() -> None:
    found = [repr(fault) for fault in FAULTS]
    FAULTS.clear()
    assert not found


def engine_of(provider: Any) -> Engine:
    made = Engine(on_fault=FAULTS.append, task_store=MemoryTaskStore(), state_key=b"k" * 32)
    return made.register_provider(provider)


ENGINE = engine_of(Everything())
LATER = engine_of(Later())

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TASKS = "io.modelcontextprotocol/tasks"
ABLE: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}, "extensions": {TASKS: {}}}
CAPABILITIES = st.sampled_from([{}, ABLE]) | st.fixed_dictionaries(
    {}, optional={name: st.just({}) | VALUES for name in (*ABLE, "experimental")}
)
META = st.fixed_dictionaries(
    {},
    optional={
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(REVISIONS) | VALUES,
        "io.modelcontextprotocol/clientCapabilities": CAPABILITIES | VALUES,
        "io.modelcontextprotocol/clientInfo": st.just({"name": "c", "version": "1"}) | VALUES,
        "io.modelcontextprotocol/logLevel": st.sampled_from(LEVELS) | VALUES,
        "progressToken": st.integers() | st.text(max_size=5) | VALUES,
        "traceparent": VALUES,
    },
)
GOOD_META = st.fixed_dictionaries(
    {
        "io.modelcontextprotocol/protocolVersion": st.sampled_from(MODERN),
        "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    },
    optional={
        "progressToken": st.integers() | st.text(max_size=5),
        "io.modelcontextprotocol/logLevel": st.sampled_from(LEVELS),
    },
)
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "action": st.sampled_from(["accept", "decline", "cancel"]) | VALUES,
        "content": st.dictionaries(st.text(max_size=5), VALUES, max_size=2) | VALUES,
        "role": st.just("assistant") | VALUES,
        "roots": st.just([]) | VALUES,
    },
)
KEYS = st.sampled_from(["a", "elicitation-1", "roots-2"]) | st.text(max_size=5)


def state_of(method: str, params: dict[str, Any]) -> str:
    """A state that the engine itself would give for that request."""
    from webseam.protocol.state import StateSealer, about

    salient = [params["uri"]] if "uri" in params else [params["name"], params.get("arguments") or {}]
    return StateSealer(b"k" * 32).seal({"elicitation-1": {"action": "accept"}}, 1, about(method, salient, ""))


STATES = st.text(max_size=20) | st.sampled_from(
    [state_of("tools/call", {"name": "ask"}), state_of("resources/read", {"uri": "ask"})]
)
FILTER = st.fixed_dictionaries(
    {},
    optional={
        "toolsListChanged": st.booleans() | VALUES,
        "resourceSubscriptions": st.lists(st.text(max_size=5), max_size=3) | VALUES,
        "taskIds": st.lists(st.text(max_size=5), max_size=3) | VALUES,
    },
)
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "_meta": META | GOOD_META | VALUES,
        "name": st.sampled_from(["ask", "task", "a"]) | st.text(max_size=5) | VALUES,
        "uri": st.just("ask") | st.text(max_size=5) | VALUES,
        "arguments": st.dictionaries(st.text(max_size=5), VALUES, max_size=3) | VALUES,
        "cursor": st.text(max_size=5) | VALUES,
        "requestId": VALUES,
        "protocolVersion": st.sampled_from(REVISIONS) | VALUES,
        "capabilities": CAPABILITIES | VALUES,
        "inputResponses": st.dictionaries(KEYS, ANSWERS | VALUES, max_size=3) | VALUES,
        "requestState": STATES | VALUES,
        "notifications": FILTER | VALUES,
        "taskId": st.text(max_size=5) | VALUES,
        "level": st.sampled_from(LEVELS) | VALUES,
        "ref": st.just({"type": "ref/prompt", "name": "p"}) | VALUES,
        "argument": st.just({"name": "a", "value": "b"}) | VALUES,
        "context": st.just({"arguments": {"a": "b"}}) | VALUES,
    },
)
METHODS = st.sampled_from(sorted(VERBS))
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | VALUES,
        "id": st.integers() | st.text(max_size=5) | VALUES,
        "method": METHODS | VALUES,
        "params": PARAMS | VALUES,
        "result": VALUES,
        "error": VALUES,
    },
)
HEADERS = st.none() | st.dictionaries(
    st.sampled_from(["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-a", "x"]),
    st.sampled_from([*REVISIONS, *VERBS, "a", "=?base64?YQ==?=", "=?base64?\xff?="]) | st.text(max_size=20),
    max_size=5,
)
SESSIONS = st.none() | st.sampled_from(REVISIONS[1:])


class Channel:
    """A client that hears everything and answers nothing."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.tasks: list[asyncio.Task[None]] = []

    def send(self, message: bytes, keep: bool) -> None:
        assert b"\n" not in message
        said = json.loads(message)
        assert said["jsonrpc"] == "2.0"
        assert type(said["method"]) is str
        self.sent.append(said)

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if seconds is not None:
            future.set_result(None)
        return future

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.append(task)
        return task.cancel

    def close_stream(self, retry_ms: int | None) -> None:
        """There is no connection."""


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as one:
        yield one


def session_of(revision: str | None) -> Session | None:
    if revision is None:
        return None
    session = Session()
    session.revision, session.client_capabilities = revision, ABLE
    return session


async def settled(outcome: Outcome, channel: Channel | None) -> Outcome:
    """What becomes of it, as a transport lets it: what only waits is cancelled after a while."""
    if outcome.work is None:
        return outcome
    assert outcome.request is not None
    outcome.request.attach(channel)
    task = asyncio.ensure_future(outcome.work)
    outcome.request.on_cancel(task.cancel)
    for _ in range(TURNS):
        if task.done():
            return task.result()
        await asyncio.sleep(0)
    assert outcome.request.method in ("subscriptions/listen", "")  # a batch may hold one
    outcome.request.cancel()
    await asyncio.wait([task])
    for background in channel.tasks if channel is not None else ():
        background.cancel()
    return Outcome(None, 0)


def check(outcome: Outcome, headers: dict[str, str] | None) -> Any:
    """What must be true of any answer; gives it."""
    no_fault()
    if outcome.status == 0:
        return "still open"
    assert outcome.status in (200, 202, 400, 404, 413)
    if outcome.reply is None:
        return None
    assert b"\n" not in outcome.reply
    assert b"Traceback" not in outcome.reply
    reply = json.loads(outcome.reply)
    for one in reply if isinstance(reply, list) else [reply]:
        assert one["jsonrpc"] == "2.0"
        assert ("result" in one) is not ("error" in one)
        if "id" in one or (headers or {}).get("mcp-protocol-version") not in MODERN:  # there, one that is unknown is left out
            assert one["id"] is None or type(one["id"]) in (str, int)
        if "error" in one:
            assert type(one["error"]["code"]) is int
            assert type(one["error"]["message"]) is str
            assert one["error"]["message"] != "Internal error"
            assert len(one["error"]["message"]) < 1_000
        else:
            assert isinstance(one["result"], dict)
    return reply


def hold(data: bytes, headers: dict[str, str] | None, revision: str | None, runner: asyncio.Runner) -> Any:
    """Receive `data` with each provider, and with a channel and without; gives the answer of the first."""
    replies = []
    for engine in (ENGINE, LATER):
        for channel in (Channel(), None):
            outcome = engine.receive(data, None, session_of(revision), headers)
            replies.append(check(runner.run(settled(outcome, channel)), headers))
    return replies[0]


@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=200), headers=HEADERS, revision=SESSIONS)
def test_any_bytes_get_valid_json_or_nothing(
    runner: asyncio.Runner, data: bytes, headers: dict[str, str] | None, revision: str | None
) -> None:
    hold(data, headers, revision, runner)


@settings(max_examples=150, deadline=None)
@given(message=MESSAGES | st.lists(MESSAGES, max_size=4) | VALUES, headers=HEADERS, revision=SESSIONS)
def test_any_json_gets_valid_json_or_nothing(
    runner: asyncio.Runner, message: Any, headers: dict[str, str] | None, revision: str | None
) -> None:
    reply = hold(json.dumps(message).encode(), headers, revision, runner)
    if isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message:
        assert reply is None


@settings(max_examples=150, deadline=None)
@given(
    message_id=st.integers() | st.text(max_size=20),
    method=METHODS | st.text(max_size=10),
    params=PARAMS,
    revision=SESSIONS,
)
def test_a_well_formed_request_is_answered_with_its_own_id(
    runner: asyncio.Runner, message_id: Any, method: str, params: dict[str, Any], revision: str | None
) -> None:
    message = {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}
    reply = hold(json.dumps(message).encode(), None, revision, runner)
    assert reply == "still open" or reply["id"] == message_id


WANTED: dict[str, dict[str, Any]] = {
    "tools/call": {"name": st.sampled_from(["ask", "task", "a"])},
    "prompts/get": {"name": st.sampled_from(["ask", "p"])},
    "resources/read": {"uri": st.sampled_from(["ask", "x:y"])},
    "tasks/get": {"taskId": st.text(max_size=5)},
    "tasks/update": {"taskId": st.text(max_size=5), "inputResponses": st.dictionaries(KEYS, ANSWERS, max_size=2)},
    "tasks/cancel": {"taskId": st.text(max_size=5)},
    "subscriptions/listen": {"notifications": FILTER},
    "completion/complete": {
        "ref": st.just({"type": "ref/prompt", "name": "p"}),
        "argument": st.just({"name": "a", "value": "b"}),
    },
}
LIKELY = st.sampled_from(sorted(WANTED)).flatmap(
    lambda method: st.tuples(
        st.just(method),
        st.fixed_dictionaries(
            {**WANTED[method], "_meta": GOOD_META},
            optional={
                "arguments": st.dictionaries(st.text(max_size=5), VALUES, max_size=2),
                "requestState": STATES,
                **({} if method == "tasks/update" else {"inputResponses": st.dictionaries(KEYS, ANSWERS | VALUES, max_size=3)}),
            },
        ),
    )
)


@settings(max_examples=150, deadline=None)
@given(likely=LIKELY)
def test_what_2026_07_28_brought_is_answered_whatever_it_carries(runner: asyncio.Runner, likely: Any) -> None:
    method, params = likely
    message = {"jsonrpc": "2.0", "id": "n", "method": method, "params": params}
    named = params.get("name") or params.get("uri") or params.get("taskId") or ""
    headers = {"mcp-protocol-version": MODERN[0], "mcp-method": method, "mcp-name": named}
    for given_headers in (None, headers):
        reply = hold(json.dumps(message).encode(), given_headers, None, runner)
        assert reply == "still open" or reply["id"] == "n"


@settings(max_examples=100, deadline=None)
@given(
    result=st.dictionaries(st.text(max_size=5), VALUES, max_size=3) | ANSWERS | VALUES,
    error=VALUES,
    which=st.sampled_from(["result", "error", "both"]),
    name=st.sampled_from(["elicitation", "sampling", "roots"]),
)
@example(result={"action": []}, error=None, which="result", name="elicitation")
@example(result={}, error=[[]], which="error", name="roots")
def test_whatever_a_client_answers_to_a_question_is_survived(
    runner: asyncio.Runner, result: Any, error: Any, which: str, name: str
) -> None:
    class Asking:
        needs_session = True

        def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, tool: str, arguments: dict[str, Any], call: Request) -> Any:
            asked: Any
            if tool == "elicitation":
                asked = await call.elicit("?", FORM)
            else:
                asked = await (call.sample([], 1) if tool == "sampling" else call.list_roots())
            return [{"type": "text", "text": json.dumps(asked)}]

    class Answering(Channel):
        def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
            return asyncio.get_running_loop().create_future()

    async def main() -> None:
        engine, channel, session = engine_of(Asking()), Answering(), session_of("2025-11-25")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
        outcome = engine.receive(json.dumps(call).encode(), None, session)
        assert outcome.work is not None
        assert outcome.request is not None
        outcome.request.attach(channel)
        task = asyncio.ensure_future(outcome.work)
        await asyncio.sleep(0)
        [asked] = channel.sent
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        if which != "error":
            answer["result"] = result
        if which != "result":
            answer["error"] = error
        assert engine.receive(json.dumps(answer).encode(), None, session).reply is None
        check(await task, None)
        assert session is not None
        assert not session.questions

    runner.run(main())


@settings(max_examples=100, deadline=None)
@given(cut=st.integers(min_value=0, max_value=400), flip=st.integers(min_value=0, max_value=400), by=st.integers(1, 255))
def test_a_message_that_was_damaged_on_the_way_is_survived(runner: asyncio.Runner, cut: int, flip: int, by: int) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    params = {"name": "echo", "arguments": {"text": "\u00e9 \U0001f600"}, "_meta": meta}
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, ensure_ascii=False).encode()
    damaged = bytearray(whole[: max(1, len(whole) - cut % len(whole))])
    damaged[flip % len(damaged)] ^= by
    hold(bytes(damaged), None, None, runner)


# ------------------------------------------------------------------------------------------------ new and used engines


def warm() -> Engine:
    engine = engine_of(Everything())
    for _ in range(50):
        engine.receive(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    return engine


WARM = warm()


def same(data: bytes, headers: dict[str, str] | None, revision: str | None) -> None:
    answers: list[Any] = []
    for engine in (engine_of(Everything()), WARM):
        session = session_of(revision)
        outcome = engine.receive(data, "me", session, headers)
        if outcome.work is not None:
            assert outcome.request is not None
            answers.append((outcome.request.id, outcome.request.method, outcome.request.revision))
            outcome.abandon()
        else:
            answers.append((outcome.status, outcome.reply, outcome.before))
    assert answers[0] == answers[1]
    no_fault()


ODD: list[bytes] = [
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":null}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":null,"cursor":null}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\\ud83d"}}',
    b'{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}',
    b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1e2,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
    b'{"jsonrpc":"2.0","method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"ping","params":{"cursor":5}}',
    b'{"method":"ping","id":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{},"error":{}}',
    b'{"params":{"name":"a"},"method":"tools/call","id":1,"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":NaN}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":"\xff"}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":"\xc3\xa9","y":[1e400]}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":'
    + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}}",
    b'{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"nothing/at/all","params":5}',
    b'  {"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}x',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
]  # fmt: skip


@pytest.mark.parametrize("data", ODD, ids=[str(number) for number in range(len(ODD))])
def test_an_engine_that_has_served_for_a_while_answers_as_a_new_one(data: bytes) -> None:
    for revision in (None, *REVISIONS[1:]):
        same(data, None, revision)
    for version in REVISIONS:
        same(data, {"mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "a"}, None)


@settings(max_examples=200, deadline=None)
@given(message=MESSAGES | st.lists(MESSAGES, max_size=3), headers=HEADERS, revision=SESSIONS)
def test_any_message_is_answered_alike_by_new_and_used_engines(
    message: Any, headers: dict[str, str] | None, revision: str | None
) -> None:
    same(json.dumps(message).encode(), headers, revision)


@settings(max_examples=200, deadline=None)
@given(method=METHODS, params=PARAMS, revision=SESSIONS, members=st.permutations(["jsonrpc", "id", "method", "params"]))
def test_any_request_is_answered_alike_by_new_and_used_engines(
    method: str, params: dict[str, Any], revision: str | None, members: list[str]
) -> None:
    whole = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    same(json.dumps({member: whole[member] for member in members}).encode(), None, revision)
