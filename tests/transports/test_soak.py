"""The soak: see `soak`, which runs in a process of its own so that it can be run by hand as well. And what it found."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import weakref
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.transports.asgi import Application, mcp_app

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.prove
def test_200_000_calls_and_2_000_dropped_streams_leave_nothing_behind(capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "tests.transports.soak"]
    last: list[str] = []
    with (
        capfd.disabled(),
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as soak,
    ):
        assert soak.stdout is not None
        print(flush=True)
        for line in soak.stdout:
            last = [*last[-60:], line.rstrip()]
            print(line, end="", flush=True)
    assert soak.returncode == 0, "\n".join(last)
    assert any(line.startswith("figure protocol.soak.rss_ratio ") for line in last)


class Progress:
    needs_session = True

    def list(self, cursor: str | None) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        call.progress(1)
        await asyncio.sleep(0)
        return []


class Post:
    """One POST, as a server makes one of it. `sent` are the events of its answer."""

    def __init__(self, message: dict[str, Any], session: str | None = None) -> None:
        fields = {"host": "here", "content-type": "application/json", "accept": "application/json, text/event-stream"}
        if session is not None:
            fields["mcp-session-id"] = session
        headers = [(name.encode(), value.encode()) for name, value in fields.items()]
        self.scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
        self.body = json.dumps({"jsonrpc": "2.0", "id": 1, **message}).encode()
        self.read = False
        self.sent: list[MutableMapping[str, Any]] = []

    async def receive(self) -> MutableMapping[str, Any]:
        if self.read:
            await asyncio.Event().wait()
        self.read = True
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, event: MutableMapping[str, Any]) -> None:
        self.sent.append(event)

    async def to(self, app: Application) -> None:
        await app(self.scope, self.receive, self.send)


def test_a_stream_that_a_session_keeps_holds_nothing_of_the_request_that_it_answered() -> None:
    app = mcp_app(Engine().register_provider(Progress()), allowed_hosts=["here"], allowed_origins=[])

    async def answered() -> weakref.ref[Post]:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        begun = Post({"method": "initialize", "params": params})
        await begun.to(app)
        session = dict(begun.sent[0]["headers"])[b"mcp-session-id"].decode()
        post = Post({"method": "tools/call", "params": {"name": "x", "_meta": {"progressToken": 1}}}, session)
        await post.to(app)
        assert b"progress" in b"".join(event.get("body", b"") for event in post.sent)
        return weakref.ref(post)

    post = asyncio.run(answered())
    gc.collect()
    (kept,) = app.sessions._sessions.values()
    assert len(kept.streams) == 1
    assert post() is None
