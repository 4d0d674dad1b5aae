"""Pydantic AI's MCP toolset: `client_everything_pydantic_ai.py http URL` or `... stdio COMMAND ...`."""

import asyncio
import base64
import json
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import ModelRetry
from pydantic_ai.mcp import MCPToolset


async def main(transport: str, *where: str) -> None:
    target = where[0] if transport == "http" else StdioTransport(command=where[0], args=list(where[1:]), keep_alive=False)
    async with MCPToolset(target) as toolset:
        try:
            refused = await toolset.direct_call_tool("echo", {"text": ""})
        except ModelRetry as error:
            refused = error.message
        hello = await toolset.get_prompt("hello")
        ask = await toolset.get_prompt("ask", {"topic": "seams", "tone": "kindly"})
        answer = {
            "revision": toolset.client.protocol_version,
            "instructions": toolset.instructions,
            "tools": [tool.name for tool in await toolset.list_tools()],
            "structured": await toolset.direct_call_tool("add", {"a": 2, "b": 40}),
            "echoed": await toolset.direct_call_tool("echo", {"text": "naïve 世界"}),
            "refused": refused,
            "resources": [resource.uri for resource in await toolset.list_resources()],
            "templates": [template.uri_template for template in await toolset.list_resource_templates()],
            "text": await toolset.read_resource("memo://text"),
            "bytes": base64.b64encode((await toolset.read_resource("memo://bytes")).data).decode(),
            "filled": await toolset.read_resource("memo://for/Ada"),
            "prompts": [prompt.name for prompt in await toolset.list_prompts()],
            "hello": hello.messages[0].content.content,
            "ask": ask.messages[0].content.content,
        }
    print(json.dumps(answer))


asyncio.run(main(*sys.argv[1:]))
