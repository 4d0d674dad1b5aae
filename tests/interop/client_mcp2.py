"""The official Python client, second version: `client_mcp2.py MODE http URL` or `... MODE stdio COMMAND ...`."""

import asyncio
import json
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main(mode: str, transport: str, *where: str) -> None:
    query, url = json.loads(sys.stdin.readline())
    target = where[0] if transport == "http" else stdio_client(StdioServerParameters(command=where[0], args=list(where[1:])))
    async with Client(target, mode=mode) as client:
        tools = await client.list_tools()
        search = await client.call_tool("web_search", {"query": query, "count": 2})
        fetch = await client.call_tool("web_fetch", {"url": url})
        refused = await client.call_tool("web_search", {"query": "", "count": 2})
        print(
            json.dumps(
                {
                    "revision": client.protocol_version,
                    "tools": [tool.name for tool in tools.tools],
                    "search": search.content[0].text,
                    "fetch": fetch.content[0].text,
                    "refused": [refused.is_error, refused.content[0].text],
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
