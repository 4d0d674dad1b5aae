"""transports: MCP without bytes on a wire, for tests and for programs that hold the engine themselves.

The messages are encoded and decoded as everywhere else, so that what works here works over the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.errors import ProtocolError
from webseam.protocol.codec import decode, encode
from webseam.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, HANDSHAKE, RULES, VERSION_KEY
from webseam.protocol.session import Session

if TYPE_CHECKING:
    from webseam.protocol.engine import Engine

CLIENT = {"name": "memory", "version": "1"}


class MemoryClient:
    """One client of an engine.

    `revision` decides how it speaks: in the handshake era it sends `initialize` before its first request, from 2026-07-28 on
    every request carries its own metadata. `caller` is who the provider is told asks.
    """

    def __init__(self, engine: Engine, *, caller: Any = None, revision: str = HANDSHAKE[0]) -> None:
        self.engine = engine
        self.caller = caller
        self.revision = revision
        self.session = Session()
        self._sent = 0

    async def send(self, message: dict[str, Any] | list[Any] | bytes) -> Any:
        """Send a message as it is; gives the decoded answer, None when there is none."""
        data = message if isinstance(message, bytes) else encode(message)
        outcome = self.engine.receive(data, self.caller, self.session)
        if outcome.work is not None:
            outcome = await outcome.work
        return None if outcome.reply is None else decode(outcome.reply)

    async def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of a request. Raises `errors.ProtocolError` when the answer is an error."""
        rules = RULES.get(self.revision)
        if rules is not None and rules.modern:
            params = self._with_metadata(params)
        elif self.session.revision is None and method != "initialize":
            await self.request("initialize", {"protocolVersion": self.revision, "capabilities": {}, "clientInfo": CLIENT})
            await self.notify("notifications/initialized")
        self._sent += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._sent, "method": method}
        if params is not None:
            message["params"] = params
        answer = await self.send(message)
        if "error" in answer:
            error = answer["error"]
            raise ProtocolError(error["code"], error["message"], error.get("data"))
        return answer["result"]

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def _with_metadata(self, params: dict[str, Any] | None) -> dict[str, Any]:
        meta = {VERSION_KEY: self.revision, CAPABILITIES_KEY: {}, CLIENT_KEY: CLIENT}
        return {**(params or {}), "_meta": {**meta, **((params or {}).get("_meta") or {})}}
