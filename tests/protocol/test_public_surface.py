"""The public surface of `webseam.protocol`, pinned: a changed name or signature is a change for others, made on purpose."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys

import pytest

import webseam.protocol
from webseam.protocol import Engine, Outcome, Request, Session

NAMES = [
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

ENGINE = {
    "__init__": "(self, server_info: 'Mapping[str, Any] | None' = None, "
    "protocol_versions: 'Sequence[str]' = ('2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'), "
    "instructions: 'str | None' = None, *, on_fault: 'Callable[[BaseException], None] | None' = None, "
    "state_key: 'bytes | None' = None, task_store: 'TaskStore | None' = None) -> 'None'",
    "register_provider": "(self, provider: 'object') -> 'Engine'",
    "capabilities": "(self, *, modern: 'bool' = False, remembered: 'bool' = True) -> 'dict[str, Any]'",
    "handlers": "(self) -> 'dict[str, Handler]'",
    "begin_task": "(self, request: 'Request', work: 'Work', required: 'bool', ttl_ms: 'int', poll_ms: 'int') -> 'Any'",
    "changed": "(self, kind: 'str', principal: 'str | None' = None) -> 'None'",
    "updated": "(self, uri: 'str', principal: 'str | None' = None) -> 'None'",
    "end_subscriptions": "(self) -> 'None'",
    "receive": "(self, data: 'bytes', caller: 'Any' = None, session: 'Session | None' = None, "
    "headers: 'Mapping[str, str] | None' = None) -> 'Outcome'",
}

REQUEST = {
    "progress": "(self, progress: 'float', total: 'float | None' = None, message: 'str | None' = None) -> 'None'",
    "log": "(self, level: 'str', data: 'Any', logger: 'str | None' = None) -> 'None'",
    "emit": "(self, message: 'bytes', *, keep: 'bool') -> 'None'",
    "attach": "(self, channel: 'Channel | None') -> 'None'",
    "close_stream": "(self, retry_ms: 'int | None' = None) -> 'None'",
    "ask": "(self, questions: 'Mapping[str, Mapping[str, Any]]') -> 'dict[str, Any]'",
    "elicit": "(self, message: 'str', schema: 'Mapping[str, Any]', *, key: 'str | None' = None) -> 'dict[str, Any]'",
    "elicit_url": "(self, message: 'str', url: 'str', elicitation_id: 'str', *, key: 'str | None' = None) -> 'dict[str, Any]'",
    "sample": "(self, messages: 'list[dict[str, Any]]', max_tokens: 'int', *, key: 'str | None' = None, "
    "**more: 'Any') -> 'dict[str, Any]'",
    "list_roots": "(self, *, key: 'str | None' = None) -> 'list[dict[str, Any]]'",
    "run_as_task": "(self, work: 'Callable[[Request], Awaitable[Any]]', *, required: 'bool' = False, "
    "ttl_ms: 'int' = 900000, poll_interval_ms: 'int' = 1000) -> 'Any'",
    "cancel": "(self) -> 'None'",
    "on_cancel": "(self, callback: 'Callable[[], object]') -> 'None'",
}

REQUEST_ATTRIBUTES = {
    "caller", "cancelled", "channel", "client_capabilities", "client_info", "headers", "id", "meta", "method", "modern",
    "principal", "progress_token", "revision", "session", "state",
}  # fmt: skip
"""What a provider or a transport reads (and, of `channel` and `state`, sets); what else there is belongs to the engine."""

SESSION = {
    "__init__": "(self, *, handshake_first: 'bool' = False, push: 'Callable[[bytes], None] | None' = None) -> 'None'",
    "end": "(self) -> 'None'",
}

OUTCOME = ("reply", "status", "work", "request", "before")


def signatures(of: type, *, init: bool) -> dict[str, str]:
    """The public methods of a class as they are called, and how it is made."""
    return {
        name: str(inspect.signature(member))
        for name, member in vars(of).items()
        if inspect.isfunction(member) and (not name.startswith("_") or (init and name == "__init__"))
    }


def test_what_is_public_is_named() -> None:
    assert webseam.protocol.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(webseam.protocol, name) is not None


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Server'"):
        webseam.protocol.Server  # noqa: B018  # that it cannot be had is the point


def test_the_engine_is_made_and_called_as_ever() -> None:
    assert signatures(Engine, init=True) == ENGINE


def test_a_request_offers_a_provider_what_it_always_did() -> None:
    assert signatures(Request, init=False) == REQUEST
    assert {name for name in REQUEST_ATTRIBUTES if not hasattr(Request, name)} == set()


def test_a_session_is_made_and_ended_as_ever() -> None:
    assert signatures(Session, init=True) == SESSION


def test_an_outcome_tells_a_transport_what_it_always_did() -> None:
    outcome = Outcome()
    assert outcome.__struct_fields__ == OUTCOME
    assert (outcome.reply, outcome.status, outcome.work, outcome.request, outcome.before) == (None, 200, None, None, None)


def modules_after(code: str) -> set[str]:
    """What a fresh interpreter has loaded after it ran `code`."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True).stdout.split()
    )


def test_the_package_alone_loads_nothing() -> None:
    assert not {"asyncio", "msgspec", "webseam.protocol.engine"} & modules_after("import webseam.protocol")


def test_the_engine_loads_neither_an_event_loop_nor_anything_of_the_web() -> None:
    loaded = modules_after("from webseam.protocol import Engine, Outcome, ProtocolError, Session; Engine()")
    assert "msgspec" in loaded
    assert not {"asyncio", "ssl", "socket", "http", "aiohttp", "uvicorn", "pydantic", "webseam.tools", "webseam.seam"} & loaded


@pytest.mark.parametrize("name", NAMES)
def test_help_has_something_to_say(name: str) -> None:
    assert name in pydoc.render_doc(getattr(webseam.protocol, name)) or name.isupper()
