"""LangChain's MCP adapters: `client_everything_langchain.py http URL` or `... stdio COMMAND ...`."""

import asyncio
import base64
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


async def main(transport: str, *where: str) -> None:
    connection = (
        {"transport": "streamable_http", "url": where[0]}
        if transport == "http"
        else {"transport": "stdio", "command": where[0], "args": list(where[1:])}
    )
    client = MultiServerMCPClient({"everything": connection})
    info = await client.get_server_info()
    async with client.session("everything") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        added = await tools["add"].ainvoke({"type": "tool_call", "id": "1", "name": "add", "args": {"a": 2, "b": 40}})
        echoed = await tools["echo"].ainvoke({"text": "naïve 世界"})
        refused = await tools["echo"].ainvoke({"type": "tool_call", "id": "2", "name": "echo", "args": {"text": ""}})
        blobs = await load_mcp_resources(session)
        answer = {
            "revision": info["everything"].protocolVersion,
            "instructions": info["everything"].instructions,
            "tools": list(tools),
            "added": added.content[0]["text"],
            "structured": added.artifact["structured_content"],
            "echoed": echoed[0]["text"],
            "refused": refused.content[0]["text"] if refused.status == "error" else None,
            "resources": [blob.metadata["uri"] for blob in blobs],
            "text": blobs[0].as_string(),
            "bytes": base64.b64encode(blobs[1].as_bytes()).decode(),
            "filled": (await load_mcp_resources(session, uris="memo://for/Ada"))[0].as_string(),
            "hello": (await load_mcp_prompt(session, "hello"))[0].content,
            "ask": (await load_mcp_prompt(session, "ask", arguments={"topic": "seams", "tone": "kindly"}))[0].content,
        }
    print(json.dumps(answer, default=str))


asyncio.run(main(*sys.argv[1:]))
