"""The echo server on our engine: `webseam_server.py http|stdio`. Over HTTP callers sign in, and every check is on."""

from __future__ import annotations

import sys
from typing import Any

from webseam.protocol.engine import Engine

TOKEN = "bench-token-0123456789abcdef"
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"name": "echo", "description": "Say it again.", "inputSchema": SCHEMA}]


class Echo:
    """The one tool."""

    def list(self, _cursor: str | None) -> Any:
        return TOOLS

    async def call(self, _name: str, arguments: dict[str, Any]) -> Any:
        return [{"type": "text", "text": arguments["text"]}]


def engine() -> Engine:
    return Engine(server_info={"name": "bench", "version": "1"}).register_provider(Echo())


def http() -> int:
    import hmac

    from webseam.transports.bearer import bearer
    from webseam.transports.http import listen, local_names, mcp_app, serve

    def account(token: str) -> str | None:
        return "local" if hmac.compare_digest(token, TOKEN) else None

    listener = listen("127.0.0.1", 0, signed_in=True)
    hosts, origins = local_names(listener)
    app = mcp_app(engine(), allowed_hosts=hosts, allowed_origins=origins, authenticate=bearer(account))
    return serve(app, listener, ready=lambda server: print(server.port, flush=True))


def stdio() -> int:
    from webseam.transports.stdio import run

    return run(engine())


if __name__ == "__main__":
    sys.exit({"http": http, "stdio": stdio}[sys.argv[1]]())
