"""The echo server on the official Python SDK's low-level server: `app` for HTTP, over stdio when run as a script."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [types.Tool(name="echo", description="Say it again.", input_schema=SCHEMA)]


async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    return types.CallToolResult(content=[types.TextContent(type="text", text=arguments["text"])])


server = Server("bench", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def __getattr__(name: str) -> Any:
    """`app`, made when it is asked for: stdio has no use for it."""
    if name != "app":
        raise AttributeError(name)
    return server.streamable_http_app(json_response=True, stateless_http=True)


async def main() -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
