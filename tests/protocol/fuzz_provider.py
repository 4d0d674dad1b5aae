"""What the fuzzer's engine serves: every role and every thing that a provider can do, as coroutines and as plain functions.

What a provider does wrong on purpose it counts in `owed`: the engine may tell its owner of so many faults, and of no other.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from tests.protocol.fuzz_loop import CancelledError, Pause

from webseam.errors import ProtocolError
from webseam.protocol import Engine, MemoryTaskStore, Request
from webseam.protocol.asking import ClientRefusedError
from webseam.protocol.codec import Raw
from webseam.protocol.jsonrpc import LEVELS
from webseam.protocol.revisions import HANDSHAKE, MODERN, REVISIONS

SECRET = "hunter2"
"""Stands in every exception that a provider raises by mistake."""
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
CODES = (-32602, -32002, -32042, -32021, -32601, -32603, 7)
NAMES = (
    "echo", "ask", "url", "sample", "roots", "both", "rounds", "task", "task only", "quick task", "lost task", "progress",
    "log", "fails", "refuses", "breaks", "unserialisable", "list", "raw", "raw lines", "hang up", "mirrored",
    "wrongly mirrored", "change", "stubborn",
)  # fmt: skip
MIRRORED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}}  # fmt: skip
WRONG = {"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}
SCHEMAS = {"mirrored": MIRRORED, "wrongly mirrored": WRONG}
CACHED = {"ttlMs": 5, "cacheScope": "public"}


class Everything:
    """Coroutines. Whatever the arguments hold comes back, so that what is hostile goes all the way."""

    needs_session = True
    logs = True
    lists_change = True

    def __init__(self) -> None:
        self.owed = 0
        self.engine: Engine | None = None

    async def list_tools(self, cursor: str | None, call: Request) -> Any:
        await Pause()
        self.owed += 1  # of the tool whose annotation is wrong, the engine tells its owner
        tools = [{"name": name, "inputSchema": SCHEMAS.get(name, {"type": "object"})} for name in NAMES]
        return {"tools": tools, **CACHED} if cursor is None else {"tools": tools[:1], "nextCursor": cursor + "+"}

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        text = [{"type": "text", "text": json.dumps(arguments)}]
        if name == "echo":
            await Pause()
        elif name in ("ask", "url", "sample", "roots"):
            text = [{"type": "text", "text": json.dumps(await self._asked(name, call))}]
        elif name == "both":
            form = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}}
            await call.ask({"first": form, "second": {"method": "roots/list", "params": {}}})
        elif name == "rounds":
            await self._rounds(arguments, call)
        elif name == "stubborn":
            await _stubborn(call)
        elif "task" in name:
            return await self._task(name, arguments, call)
        else:
            return self._at_once(name, arguments, call)
        return text

    async def _asked(self, name: str, call: Request) -> Any:
        try:
            if name == "ask":
                return await call.elicit("Your name?", FORM)
            if name == "url":
                return await call.elicit_url("Go there", "https://example.com/", "1")
            if name == "sample":
                message = {"role": "user", "content": {"type": "text", "text": "?"}}
                return await call.sample([message], 10, systemPrompt="be brief")
            return await call.list_roots()
        except ClientRefusedError as refusal:
            return [str(refusal), refusal.client_code]

    async def _rounds(self, arguments: dict[str, Any], call: Request) -> None:
        """Asks three times, and keeps what the client sent; whose it is must never change."""
        state = call.state
        assert state is None or state["who"] == call.principal, "state of another caller"
        assert state is None or state["kept"] == arguments, "state of another request"
        call.state = {"who": call.principal, "kept": arguments, "round": (state or {"round": 0})["round"] + 1}
        for number in range(3):
            call.progress(number, 3, "asking")
            await call.elicit(f"Round {number}", FORM, key=None if number else "named")

    async def _task(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "task":
            await call.elicit("Begin?", FORM)

        async def work(inner: Request) -> Any:
            inner.progress(1, message="working")
            inner.log("error", arguments)
            if name == "quick task":
                return [{"type": "text", "text": json.dumps(arguments)}]
            if name == "lost task":
                self.owed += 1
                raise RuntimeError(SECRET)
            await Pause()
            answer = await inner.elicit("And now?", FORM, key="now")
            await inner.ask({"a": {"method": "roots/list"}, "b": {"method": "elicitation/create", "params": {"message": "!"}}})
            if answer["action"] != "accept":
                raise ProtocolError(-32002, "Not accepted", answer)
            return {"content": [], "structuredContent": answer}

        return await call.run_as_task(work, required=name == "task only", ttl_ms=60_000)

    def _at_once(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "progress":
            for number in (1, 2, 2, 0.5, 3):
                call.progress(number, 3, json.dumps(arguments))
        elif name == "log":
            for level in LEVELS:
                call.log(level, arguments, logger="fuzz")
        elif name == "fails":
            return {"content": [{"type": "text", "text": "It failed."}], "isError": True}
        elif name == "refuses":
            raise ProtocolError(CODES[len(arguments) % len(CODES)], "It refuses.", arguments or None)
        elif name == "breaks":
            self.owed += 1
            raise RuntimeError(SECRET)
        elif name == "unserialisable":
            self.owed += 1
            return [object()]
        elif name == "list":
            return [arguments]
        elif name == "raw":
            return Raw(json.dumps({"content": [arguments]}).encode())
        elif name == "raw lines":
            return Raw(json.dumps({"content": [arguments], "_meta": {}}, indent=1).encode())
        elif name == "hang up":
            call.close_stream(5)
        elif name == "change":
            self.change()
        elif name not in NAMES:
            raise ProtocolError(-32602, f"Unknown tool: {name[:100]}")
        return {"content": [], "structuredContent": arguments, **CACHED}

    def change(self) -> None:
        """Everything changes."""
        assert self.engine is not None
        for kind in ("tools", "resources", "prompts"):
            self.engine.changed(kind, "a" if kind == "tools" else None)
        self.engine.updated("memo://one")

    async def list_resources(self, cursor: str | None) -> Any:
        return {"resources": [{"uri": "memo://one", "name": "one"}], **CACHED}

    async def templates(self) -> Any:
        return [{"uriTemplate": "memo://{name}", "name": "memo"}]

    async def read(self, uri: str, call: Request) -> Any:
        if uri == "memo://ask":
            await call.elicit("Really?", FORM)
        elif not uri.startswith("memo://"):
            raise ProtocolError(-32002, "Resource not found", {"uri": uri})
        return [{"uri": uri, "text": json.dumps(call.meta)}]

    async def subscribe(self, uri: str, call: Request) -> None:
        await Pause()
        if not uri.startswith("memo://"):
            raise ProtocolError(-32002, "Resource not found", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        await Pause()

    async def list_prompts(self, cursor: str | None) -> Any:
        return [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]

    async def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "ask":
            await call.elicit("Who?", FORM)
        elif name != "greet":
            raise ProtocolError(-32602, f"Unknown prompt: {name[:100]}")
        return {"messages": [{"role": "user", "content": {"type": "text", "text": json.dumps(arguments)}}]}

    async def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return [json.dumps(ref), argument["value"], *context.values(), *map(str, range(len(argument["name"]) * 10))]


async def _stubborn(call: Request) -> None:
    """Wait for ever, and when that is cancelled answer all the same."""
    if call.channel is not None:
        with contextlib.suppress(CancelledError):
            await call.channel.waiter()


class Plain(Everything):
    """The same as plain functions, as far as nothing is asked."""

    def list_tools(self, cursor: str | None, call: Request) -> Any:
        self.owed += 1
        return Raw(json.dumps({"tools": [{"name": name, "inputSchema": SCHEMAS.get(name, {})} for name in NAMES]}).encode())

    def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name in ("ask", "url", "sample", "roots", "both", "rounds", "stubborn") or "task" in name:
            return super().call(name, arguments, call)
        return self._at_once(name, arguments, call)

    def templates(self) -> Any:
        return []

    def read(self, uri: str, call: Request) -> Any:
        if not uri.startswith("memo://"):
            raise ProtocolError(-32002, "Resource not found", {"uri": uri})
        return [{"uri": uri, "text": json.dumps(call.meta)}]

    def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [{"role": "user", "content": {"type": "text", "text": json.dumps(arguments)}}]

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> Any:
        return {"completion": {"values": [argument["value"]], "hasMore": False}}


KINDS: tuple[tuple[type[Everything], tuple[str, ...], bool], ...] = (
    (Everything, REVISIONS, True),
    (Plain, REVISIONS, True),
    (Everything, MODERN, True),
    (Everything, HANDSHAKE, False),
    (Plain, ("2025-03-26",), False),
)
"""The engines: provider, revisions, whether tasks are kept."""


def engine_of(kind: int, on_fault: Any) -> tuple[Engine, Everything]:
    """A new engine, so that an input finds nothing of the one before."""
    provider_class, revisions, tasks = KINDS[kind % len(KINDS)]
    provider = provider_class()
    engine = Engine(
        {"name": "fuzzed", "version": "1"}, revisions, "Ask nicely.", on_fault=on_fault, state_key=b"k" * 32,
        task_store=MemoryTaskStore() if tasks else None,
    )  # fmt: skip
    provider.engine = engine.register_provider(provider)
    return engine, provider
