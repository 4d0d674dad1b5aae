"""A small server on the engine, with every kind of feature: `everything_server.py stdio` or `... http`.

Over HTTP it takes a free port of loopback and prints one line of JSON, `{"url": ...}`, when it is ready.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.jsonrpc import INVALID_PARAMS, RESOURCE_NOT_FOUND

Objects = list[dict[str, Any]]

EVERY_BYTE = base64.b64encode(bytes(range(256))).decode()  # every byte there is: a client that decodes it as text is found out

TOOLS: Objects = [
    {
        "name": "add",
        "description": "The sum of two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
    },
    {
        "name": "echo",
        "description": "Says it again; refuses to say nothing.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
]
RESOURCES: Objects = [
    {"uri": "memo://text", "name": "text", "description": "A memo.", "mimeType": "text/plain"},
    {"uri": "memo://bytes", "name": "bytes", "description": "Every byte there is.", "mimeType": "application/octet-stream"},
]
TEMPLATES: Objects = [{"uriTemplate": "memo://for/{name}", "name": "for", "description": "A memo for somebody."}]
PROMPTS: Objects = [
    {"name": "hello", "description": "A greeting."},
    {
        "name": "ask",
        "description": "A question on a topic.",
        "arguments": [{"name": "topic", "required": True}, {"name": "tone", "description": "plain when not given"}],
    },
]


class Tools:
    """`add` answers with text and structured content, `echo` with text alone."""

    def list(self, cursor: str | None) -> Objects:
        return TOOLS

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "add":
            total = arguments["a"] + arguments["b"]
            return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"sum": total}}
        if name == "echo":
            refused = not arguments["text"]
            text = "Say something: text was empty." if refused else arguments["text"]
            return {"content": [{"type": "text", "text": text}], "isError": refused}
        raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")


class Resources:
    """A text, bytes, and one memo for each name."""

    def list(self, cursor: str | None) -> Objects:
        return RESOURCES

    def templates(self) -> Objects:
        return TEMPLATES

    def read(self, uri: str) -> Objects:
        if uri == "memo://bytes":
            return [{"uri": uri, "mimeType": "application/octet-stream", "blob": EVERY_BYTE}]
        name = uri.removeprefix("memo://for/")
        if uri != "memo://text" and (name == uri or not name):
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        text = "Grüße, 世界" if uri == "memo://text" else f"A memo for {name}"
        return [{"uri": uri, "mimeType": "text/plain", "text": text}]


class Prompts:
    """One without arguments, one with."""

    def list(self, cursor: str | None) -> Objects:
        return PROMPTS

    def get(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name == "hello":
            text = "Say hello."
        elif name == "ask":
            text = f"Ask about {arguments['topic']}, {arguments.get('tone', 'plain')}."
        else:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}")
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def everything() -> Engine:
    """The engine with all three."""
    engine = Engine({"name": "everything", "version": "1"}, instructions="Add, echo, read, ask.")
    return engine.register_provider(Tools()).register_provider(Resources()).register_provider(Prompts())


def main(transport: str) -> int:
    """Serve until the input ends (stdio) or a signal comes (HTTP)."""
    if transport == "stdio":
        from webseam.transports import stdio

        return stdio.run(everything())
    from webseam.transports import http

    listener = http.listen("127.0.0.1", 0)
    hosts, origins = http.local_names(listener)
    app = http.mcp_app(everything(), allowed_hosts=hosts, allowed_origins=origins)
    return http.serve(app, listener, ready=lambda server: print(json.dumps({"url": f"{server.url}/mcp"}), flush=True))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
