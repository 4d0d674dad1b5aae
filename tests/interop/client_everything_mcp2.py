"""The official Python client, second version: `client_everything_mcp2.py MODE http URL` or `... MODE stdio COMMAND ...`."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(mode: str, transport: str, *where: str) -> None:
    target = where[0] if transport == "http" else stdio_client(StdioServerParameters(command=where[0], args=list(where[1:])))
    async with Client(target, mode=mode) as client:
        added = await client.call_tool("add", {"a": 2, "b": 40})
        echoed = await client.call_tool("echo", {"text": "naïve 世界"})
        refused = await client.call_tool("echo", {"text": ""})
        text = await client.read_resource("memo://text")
        data = await client.read_resource("memo://bytes")
        filled = await client.read_resource("memo://for/Ada")
        hello = await client.get_prompt("hello")
        ask = await client.get_prompt("ask", {"topic": "seams", "tone": "kindly"})
        answer = {
            "revision": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in (await client.list_tools()).tools],
            "added": added.content[0].text,
            "structured": added.structured_content,
            "echoed": echoed.content[0].text,
            "refused": refused.content[0].text if refused.is_error else None,
            "resources": [str(resource.uri) for resource in (await client.list_resources()).resources],
            "templates": [each.uri_template for each in (await client.list_resource_templates()).resource_templates],
            "text": text.contents[0].text,
            "bytes": data.contents[0].blob,
            "filled": filled.contents[0].text,
            "prompts": [prompt.name for prompt in (await client.list_prompts()).prompts],
            "hello": hello.messages[0].content.text,
            "ask": ask.messages[0].content.text,
        }
    print(json.dumps(answer))


asyncio.run(main(*sys.argv[1:]))
