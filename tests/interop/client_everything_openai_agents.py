"""The MCP servers of OpenAI's Agents SDK: `client_everything_openai_agents.py http URL` or `... stdio COMMAND ...`."""

import asyncio
import json
import sys

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp


async def main(transport: str, *where: str) -> None:
    opened = (
        MCPServerStreamableHttp({"url": where[0]}, client_session_timeout_seconds=30)
        if transport == "http"
        else MCPServerStdio({"command": where[0], "args": list(where[1:])}, client_session_timeout_seconds=30)
    )
    async with opened as server:
        added = await server.call_tool("add", {"a": 2, "b": 40})
        echoed = await server.call_tool("echo", {"text": "naïve 世界"})
        refused = await server.call_tool("echo", {"text": ""})
        text = await server.read_resource("memo://text")
        data = await server.read_resource("memo://bytes")
        filled = await server.read_resource("memo://for/Ada")
        hello = await server.get_prompt("hello")
        ask = await server.get_prompt("ask", {"topic": "seams", "tone": "kindly"})
        answer = {
            "revision": server.session.protocol_version,
            "tools": [tool.name for tool in await server.list_tools()],
            "added": added.content[0].text,
            "structured": added.structured_content,
            "echoed": echoed.content[0].text,
            "refused": refused.content[0].text if refused.is_error else None,
            "resources": [str(resource.uri) for resource in (await server.list_resources()).resources],
            "templates": [each.uri_template for each in (await server.list_resource_templates()).resource_templates],
            "text": text.contents[0].text,
            "bytes": data.contents[0].blob,
            "filled": filled.contents[0].text,
            "prompts": [prompt.name for prompt in (await server.list_prompts()).prompts],
            "hello": hello.messages[0].content.text,
            "ask": ask.messages[0].content.text,
        }
    print(json.dumps(answer))


asyncio.run(main(*sys.argv[1:]))
