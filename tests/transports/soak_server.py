"""The server of the soak: `python -m tests.transports.soak_server`, from the root of the checkout, prints its port.

Everything is on: authentication, sessions, streams, questions, tasks. Beside the endpoint it answers `/counts`, what its tables
hold; `/types`, how many objects of each type there are; and `/expire`, which makes idle sessions due to end.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import sys
from collections import Counter
from typing import Any

from webseam.config import Limits
from webseam.protocol import Engine, MemoryTaskStore, Request
from webseam.transports.bearer import bearer
from webseam.transports.http import listen, local_names, mcp_app, serve

CALLERS = 16
QUESTION_SECONDS = 2.0
"""How long a client may take here to answer: less than the 300 s of `LIMITS`, so that what is never answered ends."""
TASK_TTL_MS = 5_000
IDLE_SECONDS = 1.0
"""After which sessions end that are idle, once `/expire` was asked for."""
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "echo at once", "progress", "ask", "task", "change")
]


def token_of(number: int) -> str:
    return f"soak-token-{number:04}"


class Provider:
    """Tools of every kind, and a resource that changes."""

    needs_session = True
    logs = True
    lists_change = True

    def __init__(self) -> None:
        self.engine: Engine | None = None

    def list(self, cursor: str | None) -> Any:
        return {"tools": TOOLS, "resources": []}

    def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "echo at once":
            return [{"type": "text", "text": arguments["text"]}]
        if name == "change":
            assert self.engine is not None
            self.engine.updated(arguments["uri"], call.principal)
            return [{"type": "text", "text": "changed"}]
        return self._later(name, arguments, call)

    async def _later(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "progress":
            for number in range(3):
                call.progress(number, 3, "under way")
            if arguments.get("lasts"):  # long enough for a client to leave before it ends
                await asyncio.sleep(0.2)
        elif name == "ask":
            answer = await call.elicit("Your name?", FORM)
            return [{"type": "text", "text": json.dumps(answer)}]
        elif name == "task":
            return await call.run_as_task(self._work(arguments), ttl_ms=TASK_TTL_MS)
        return [{"type": "text", "text": arguments.get("text", "")}]

    def _work(self, arguments: dict[str, Any]) -> Any:
        async def work(inner: Request) -> Any:
            await asyncio.sleep(0)
            if arguments.get("asks"):
                await inner.elicit("And now?", FORM)
            return [{"type": "text", "text": arguments.get("text", "")}]

        return work

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return [{"uri": uri, "text": "the memo"}]

    def subscribe(self, uri: str) -> None:
        pass


def main() -> int:
    Limits.question_seconds = QUESTION_SECONDS
    callers = {hashlib.sha256(token_of(number).encode()).digest(): f"caller {number}" for number in range(CALLERS)}
    faults: list[str] = []
    provider, store = Provider(), MemoryTaskStore()
    engine = Engine(
        {"name": "soak", "version": "1"},
        on_fault=lambda error: faults.append(repr(error)),
        state_key=b"k" * 32,
        task_store=store,
    )
    provider.engine = engine.register_provider(provider)
    listener = listen("127.0.0.1", 0, signed_in=True)
    hosts, origins = local_names(listener)
    authenticate = bearer(lambda token: callers.get(hashlib.sha256(token.encode()).digest()))
    app = mcp_app(engine, allowed_hosts=hosts, allowed_origins=origins, authenticate=authenticate)

    def counts() -> dict[str, Any]:
        gc.collect()
        assert engine._tasks is not None
        return {
            "sessions": len(app.sessions),
            "kept bytes": app.sessions._held,
            "streams kept": sum(len(one.streams) for one in app.sessions._sessions.values()),
            "pending of sessions": sum(len(one.protocol.pending) for one in app.sessions._sessions.values()),
            "questions": sum(len(one.protocol.questions) for one in app.sessions._sessions.values()),
            "calls": app.pending._all,
            "callers with calls": len(app.pending._callers),
            "streams": app.streams._all,
            "callers with streams": len(app.streams._callers),
            "looked after": len(app.lookout._exchanges),
            "background": len(app.background._tasks),
            "listeners": len(engine._changes._listeners),
            "following sessions": len(engine._changes._sessions),
            "tasks running": len(engine._tasks._running),
            "tasks kept": len(store._tasks),
            "asyncio tasks": len(asyncio.all_tasks()),
            "objects": len(gc.get_objects()),
            "faults": faults[:5],
        }

    async def served(scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        if path not in ("/counts", "/types", "/expire"):
            await app(scope, receive, send)
            return
        if path == "/expire":
            Limits.session_idle_seconds = IDLE_SECONDS
        kinds = (
            Counter(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
            if path == "/types"
            else None
        )
        body = json.dumps(counts() if kinds is None else dict(kinds.most_common(40))).encode()
        length = str(len(body)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": body})

    return serve(served, listener, ready=lambda server: print(server.port, flush=True))


if __name__ == "__main__":
    sys.exit(main())
