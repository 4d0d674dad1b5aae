"""FastMCP's client: `client_everything_fastmcp.py MODE http URL` or `... MODE stdio COMMAND ...`."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main(mode: str, transport: str, *where: str) -> None:
    target = where[0] if transport == "http" else StdioTransport(command=where[0], args=list(where[1:]), keep_alive=False)
    async with Client(target, mode=mode) as client:
        added = await client.call_tool("add", {"a": 2, "b": 40})
        echoed = await client.call_tool("echo", {"text": "naïve 世界"})
        refused = await client.call_tool("echo", {"text": ""}, raise_on_error=False)
        text = await client.read_resource("memo://text")
        data = await client.read_resource("memo://bytes")
        filled = await client.read_resource("memo://for/Ada")
        hello = await client.get_prompt("hello")
        ask = await client.get_prompt("ask", {"topic": "seams", "tone": "kindly"})
        answer = {
            "revision": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in await client.list_tools()],
            "added": added.content[0].text,
            "structured": added.structured_content,
            "echoed": echoed.content[0].text,
            "refused": refused.content[0].text if refused.is_error else None,
            "resources": [str(resource.uri) for resource in await client.list_resources()],
            "templates": [template.uri_template for template in await client.list_resource_templates()],
            "text": text[0].text,
            "bytes": data[0].blob,
            "filled": filled[0].text,
            "prompts": [prompt.name for prompt in await client.list_prompts()],
            "hello": hello.messages[0].content.text,
            "ask": ask.messages[0].content.text,
        }
    print(json.dumps(answer))


asyncio.run(main(*sys.argv[1:]))
