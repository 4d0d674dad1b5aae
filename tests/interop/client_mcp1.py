"""The official Python client, first version: `client_mcp1.py http URL` or `client_mcp1.py stdio COMMAND ...`."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main(transport: str, *where: str) -> None:
    query, url = json.loads(sys.stdin.readline())
    opened = (
        streamablehttp_client(where[0])
        if transport == "http"
        else stdio_client(StdioServerParameters(command=where[0], args=list(where[1:])))
    )
    async with opened as streams, ClientSession(streams[0], streams[1]) as client:
        begun = await client.initialize()
        tools = await client.list_tools()
        search = await client.call_tool("web_search", {"query": query, "count": 2})
        fetch = await client.call_tool("web_fetch", {"url": url})
        refused = await client.call_tool("web_search", {"query": "", "count": 2})
        print(
            json.dumps(
                {
                    "revision": begun.protocolVersion,
                    "tools": [tool.name for tool in tools.tools],
                    "search": search.content[0].text,
                    "fetch": fetch.content[0].text,
                    "refused": [refused.isError, refused.content[0].text],
                }
            )
        )


asyncio.run(main(*sys.argv[1:]))
