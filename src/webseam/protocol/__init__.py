"""protocol: a Model Context Protocol engine without a transport. What is named here is its public surface.

    from webseam.protocol import Engine

    engine = Engine({"name": "mine", "version": "1"}).register_provider(MyTools())
    outcome = engine.receive(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')

`docs/guide/protocol-engine.md` shows how to bind it to a transport. Each name is loaded when it is first used, so that a
program pays for what it uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webseam.errors import ProtocolError
    from webseam.protocol.asking import ClientRefusedError
    from webseam.protocol.channel import Channel, Waiter
    from webseam.protocol.engine import Engine
    from webseam.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND
    from webseam.protocol.outcome import Outcome
    from webseam.protocol.request import Request
    from webseam.protocol.revisions import REVISIONS
    from webseam.protocol.roles import CompletionProvider, PromptProvider, ResourceProvider, ToolProvider
    from webseam.protocol.session import Session
    from webseam.protocol.tasks import MemoryTaskStore, Task, TaskStore

__all__ = [
    "INVALID_PARAMS",
    "RESOURCE_NOT_FOUND",
    "REVISIONS",
    "Channel",
    "ClientRefusedError",
    "CompletionProvider",
    "Engine",
    "MemoryTaskStore",
    "Outcome",
    "PromptProvider",
    "ProtocolError",
    "Request",
    "ResourceProvider",
    "Session",
    "Task",
    "TaskStore",
    "ToolProvider",
    "Waiter",
]

_HOMES = {
    "ProtocolError": "webseam.errors",
    "ClientRefusedError": "webseam.protocol.asking",
    "Channel": "webseam.protocol.channel",
    "Waiter": "webseam.protocol.channel",
    "Engine": "webseam.protocol.engine",
    "INVALID_PARAMS": "webseam.protocol.jsonrpc",
    "RESOURCE_NOT_FOUND": "webseam.protocol.jsonrpc",
    "Outcome": "webseam.protocol.outcome",
    "Request": "webseam.protocol.request",
    "REVISIONS": "webseam.protocol.revisions",
    "CompletionProvider": "webseam.protocol.roles",
    "PromptProvider": "webseam.protocol.roles",
    "ResourceProvider": "webseam.protocol.roles",
    "ToolProvider": "webseam.protocol.roles",
    "Session": "webseam.protocol.session",
    "MemoryTaskStore": "webseam.protocol.tasks",
    "Task": "webseam.protocol.tasks",
    "TaskStore": "webseam.protocol.tasks",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
