"""What the tests of the engine share: one provider for each role, a client that speaks every revision, a channel that keeps
what is sent through it, and the schemas of the specification."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
from webseam.protocol.outcome import Outcome
from webseam.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, MODERN, VERSION_KEY
from webseam.protocol.session import Session
from webseam.transports.background import waiter


class Tools:
    def list(self, cursor: str | None) -> dict[str, Any]:
        tool = {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}
        return {"tools": [tool], "nextCursor": f"after {cursor}"} if cursor is not None else {"tools": [tool]}

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "fails":
            return {"content": [{"type": "text", "text": "It failed."}], "isError": True}
        if name == "breaks":
            raise RuntimeError("the password is hunter2")
        if name == "unserialisable":
            return {"content": [{"type": "text", "text": object()}]}
        if name != "echo":
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")
        return {"content": [{"type": "text", "text": json.dumps(arguments)}]}


class Resources:
    def list(self, cursor: str | None) -> Any:
        return [{"uri": "memo://one", "name": "one"}]

    def templates(self) -> Any:
        return [{"uriTemplate": "memo://{name}", "name": "memo"}]

    def read(self, uri: str) -> Any:
        if uri != "memo://one":
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        return [{"uri": uri, "text": "the memo"}]


class Prompts:
    def list(self, cursor: str | None) -> Any:
        return [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]

    def get(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name != "greet":
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}")
        text = f"Greet {arguments.get('who', 'everyone')}."
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


@pytest.fixture
def faults() -> list[BaseException]:
    """What the engine's owner was told of."""
    return []


@pytest.fixture
def engine(faults: list[BaseException]) -> Engine:
    made = Engine({"name": "tested", "version": "7"}, instructions="Ask nicely.", on_fault=faults.append)
    return made.register_provider(Tools()).register_provider(Resources()).register_provider(Prompts())


Post = Callable[..., tuple[int, Any]]


@pytest.fixture
def post(engine: Engine) -> Post:
    """Send bytes or a message; gives the status and the decoded reply, None when there is none."""

    def send(message: Any, *, to: Engine | None = None, **how: Any) -> tuple[int, Any]:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        outcome: Outcome = (to or engine).receive(data, **how)
        assert outcome.work is None
        return outcome.status, None if outcome.reply is None else json.loads(outcome.reply)

    return send


@pytest.fixture
def request_of() -> Callable[..., dict[str, Any]]:
    """A request as a client of `revision` writes it."""

    def make(method: str, params: dict[str, Any] | None = None, revision: str = "2025-11-25") -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method}
        if revision in MODERN:
            meta = {VERSION_KEY: revision, CAPABILITIES_KEY: {}, CLIENT_KEY: {"name": "test", "version": "1"}}
            params = {**(params or {}), "_meta": {**meta, **(params or {}).get("_meta", {})}}
        if params is not None:
            message["params"] = params
        return message

    return make


@pytest.fixture
def ask(post: Post, request_of: Callable[..., dict[str, Any]]) -> Callable[..., tuple[int, Any]]:
    """Make a request in `revision` and give the status and the whole reply."""

    def make(method: str, params: dict[str, Any] | None = None, revision: str = "2025-11-25", **how: Any) -> tuple[int, Any]:
        if revision not in MODERN and "headers" not in how:
            how.setdefault("session", agreed(revision))
        return post(request_of(method, params, revision), **how)

    return make


def agreed(revision: str) -> Session:
    session = Session()
    session.revision = revision
    return session


# ------------------------------------------------------------------------------------------------ before the answer


class Wire:
    """A channel as a transport makes one. What is sent is kept, in order. A `silent` one is a client that never answers: the
    time it has for that is over at once."""

    def __init__(self, *, silent: bool = False) -> None:
        self.sent: list[Any] = []
        self.closed: list[int | None] = []
        self.silent = silent
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, message: bytes, keep: bool) -> None:
        assert b"\n" not in message
        self.sent.append(json.loads(message))
        self.spawn(self._tell())

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def until(self, count: int) -> Any:
        """Wait until so many messages were sent; gives the last of them."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.sent) >= count)
        return self.sent[count - 1]

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        if self.silent and seconds is not None:
            seconds = 0
        return waiter(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.cancel

    def close_stream(self, retry_ms: int | None) -> None:
        self.closed.append(retry_ms)

    async def settle(self) -> None:
        """Let everything that was spawned come to its end; what it raises is raised here."""
        while self._tasks:
            await asyncio.gather(*self._tasks)


@pytest.fixture
def wire() -> type[Wire]:
    """Makes channels. To be called where a loop runs."""
    return Wire


@pytest.fixture
def talk() -> Callable[..., Any]:
    """Send a message as a transport does and await what becomes of it: `await talk(engine, message, channel=...)` gives the
    status, the decoded reply (None when there is none) and what goes out before it."""

    async def send(engine: Engine, message: Any, *, channel: Any = None, **how: Any) -> tuple[int, Any, list[Any]]:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        outcome = engine.receive(data, **how)
        if outcome.work is not None:
            assert outcome.request is not None
            outcome.request.attach(channel)
            outcome = await outcome.work
        reply = None if outcome.reply is None else json.loads(outcome.reply)
        return outcome.status, reply, [json.loads(message) for message in outcome.before or ()]

    return send


@pytest.fixture
def under_way() -> Callable[..., Any]:
    """`async with under_way(engine, message, channel) as task:` begins a request and cancels it at the end, as a transport does
    when its client leaves. The task gives the decoded reply."""

    @asynccontextmanager
    async def begin(engine: Engine, message: Any, channel: Any, **how: Any) -> AsyncIterator[asyncio.Task[Any]]:
        outcome = engine.receive(json.dumps(message).encode(), **how)
        assert outcome.work is not None, outcome.reply
        assert outcome.request is not None
        request, work = outcome.request, outcome.work
        request.attach(channel)

        async def replied() -> Any:
            settled = await work
            return None if settled.reply is None else json.loads(settled.reply)

        task = asyncio.create_task(replied())
        request.on_cancel(task.cancel)
        try:
            yield task
        finally:
            request.cancel()
            await asyncio.wait([task])

    return begin


# ------------------------------------------------------------------------------------------------ schemas

SHARED = Path(os.environ.get("WEBSEAM_SHARED") or Path(__file__).resolve().parents[2] / ".." / "shared")


@cache
def schema_of(revision: str) -> dict[str, Any]:
    path = SHARED / "mcp-schema" / f"{revision}.json"
    if not path.exists():
        pytest.skip(f"the schema of {revision} is not at {path}: set WEBSEAM_SHARED")
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


@cache
def validator_of(revision: str, name: str) -> Any:
    schema = schema_of(revision)
    place = "$defs" if "$defs" in schema else "definitions"
    assert name in schema[place], f"{revision} has no {name}"
    whole = {"$schema": schema["$schema"], place: schema[place], "$ref": f"#/{place}/{name}"}
    return jsonschema.validators.validator_for(schema)(whole)


@pytest.fixture
def check() -> Callable[[Any, str, str], None]:
    """`check(value, revision, name)` validates against one definition of the revision's own schema."""

    def validate(value: Any, revision: str, name: str) -> None:
        validator_of(revision, name).validate(value)

    return validate
