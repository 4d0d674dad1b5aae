"""What the tests of the engine share: one provider for each role, and a client that speaks every revision."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
from webseam.protocol.outcome import Outcome
from webseam.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, MODERN, VERSION_KEY
from webseam.protocol.session import Session


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
