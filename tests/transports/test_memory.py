"""The in-memory client, and that an engine says the same over it as bytes do."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.protocol.revisions import REVISIONS
from webseam.transports.memory import MemoryClient


class Tools:
    def list(self, cursor: str | None, call: Request) -> Any:
        return [{"name": call.revision, "inputSchema": {"type": "object"}}]

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "none":
            raise ProtocolError(-32602, "Unknown tool: none", {"name": name})
        return [{"type": "text", "text": f"{call.caller} {json.dumps(arguments)}"}]


@pytest.mark.parametrize("revision", REVISIONS)
def test_it_speaks_every_revision(revision: str) -> None:
    client = MemoryClient(Engine().register_provider(Tools()), caller="me", revision=revision)

    async def main() -> None:
        assert (await client.request("tools/list"))["tools"][0]["name"] == revision
        answer = await client.request("tools/call", {"name": "x", "arguments": {"a": 1}})
        assert answer["content"][0]["text"] == 'me {"a": 1}'

    asyncio.run(main())
    assert client.session.initialized is (revision != "2026-07-28")


def test_an_error_is_raised_as_it_was_sent() -> None:
    client = MemoryClient(Engine().register_provider(Tools()))
    with pytest.raises(ProtocolError) as caught:
        asyncio.run(client.request("tools/call", {"name": "none"}))
    assert (caught.value.code, str(caught.value), caught.value.data) == (-32602, "Unknown tool: none", {"name": "none"})


def test_messages_may_be_sent_as_they_are() -> None:
    client = MemoryClient(Engine())

    async def main() -> None:
        assert await client.send({"jsonrpc": "2.0", "id": 1, "method": "ping"}) == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (await client.send(b"{"))["error"]["code"] == -32700
        assert await client.send({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
        await client.notify("notifications/cancelled", {"requestId": 5})

    asyncio.run(main())
