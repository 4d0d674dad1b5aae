"""Two MCP clients for the demonstration: the official one where it is installed, and our own few lines where it is not."""

from __future__ import annotations

import asyncio
import http.client
import importlib.util
import json
from typing import Any, Protocol
from urllib.parse import urlsplit


class Client(Protocol):
    """What the demonstration needs of a client."""

    name: str

    def tools(self) -> list[dict[str, Any]]:
        """`tools/list`."""

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """`tools/call`: the text, and whether it says a failure."""


def connect(url: str) -> Client:
    """The best client there is for the endpoint at `url`."""
    if importlib.util.find_spec("mcp") is not None:
        return OfficialClient(url)
    return PlainClient(url)


class OfficialClient:
    """The `mcp` package from PyPI; a connection for each question keeps this module free of event loops."""

    def __init__(self, url: str) -> None:
        from importlib.metadata import version

        self.url = url
        self.name = f"the official MCP client (mcp {version('mcp')})"

    def tools(self) -> list[dict[str, Any]]:
        async def ask() -> list[dict[str, Any]]:
            from mcp import Client as McpClient

            async with McpClient(self.url) as client:
                listed = await client.list_tools()
            return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]

        return asyncio.run(ask())

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        async def ask() -> tuple[str, bool]:
            from mcp import Client as McpClient

            async with McpClient(self.url) as client:
                answer = await client.call_tool(tool, arguments)
            data = answer.model_dump(mode="json", by_alias=True)
            return "\n".join(part.get("text", "") for part in data["content"]), bool(data.get("isError"))

        return asyncio.run(ask())


class PlainClient:
    """MCP 2026-07-28 by hand: one POST a question, no handshake."""

    REVISION = "2026-07-28"

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)
        self.name = "our own MCP calls (the `mcp` package is not installed)"
        self._id = 0

    def tools(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._ask("tools/list", {})["tools"]
        return listed

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments}, name=tool)
        return "\n".join(part.get("text", "") for part in answer["content"]), bool(answer.get("isError"))

    def _ask(self, method: str, params: dict[str, Any], *, name: str = "") -> dict[str, Any]:
        self._id += 1
        meta = {
            "io.modelcontextprotocol/protocolVersion": self.REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "webseam-demo", "version": "1"},
        }
        body = json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": {**params, "_meta": meta}})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.REVISION,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
        }
        connection = http.client.HTTPConnection(self.url.hostname or "", self.url.port, timeout=60)
        try:
            connection.request("POST", self.url.path, body, headers)
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result
