"""transports: MCP without bytes on a wire, for tests and for programs that hold the engine themselves.

The messages are encoded and decoded as everywhere else, so that what works here works over the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.errors import ProtocolError
from webseam.protocol.channel import awaited
from webseam.protocol.codec import decode, encode
from webseam.protocol.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND
from webseam.protocol.outcome import lost, unanswered
from webseam.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, HANDSHAKE, RULES, VERSION_KEY
from webseam.protocol.session import Session

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Mapping

    from webseam.protocol.engine import Engine
    from webseam.protocol.outcome import Outcome

    Answer = Callable[[str, dict[str, Any]], Any]

CLIENT = {"name": "memory", "version": "1"}
ROUNDS = 16
"""How often a request is sent again with answers before we think that this goes on for ever."""


class MemoryClient:
    """One client of an engine.

    `revision` decides how it speaks: in the handshake era it sends `initialize` before its first request, from 2026-07-28 on
    every request carries its own metadata. `caller` is who the provider is told asks. `capabilities` are what the client
    declares, and `answer(method, params)` gives the result, or an awaitable of it, for what it is asked (elicitation, sampling,
    roots). `received` are the notifications that came.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        caller: Any = None,
        revision: str = HANDSHAKE[0],
        capabilities: Mapping[str, Any] | None = None,
        answer: Answer | None = None,
    ) -> None:
        self.engine = engine
        self.caller = caller
        self.revision = revision
        self.capabilities = dict(capabilities or {})
        self.answer = answer
        self.received: list[dict[str, Any]] = []
        self.session = Session(push=self._arrived)
        self._sent = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, message: dict[str, Any] | list[Any] | bytes) -> Any:
        """Send a message as it is; gives the decoded answer, None when there is none."""
        data = message if isinstance(message, bytes) else encode(message)
        outcome = self.engine.receive(data, self.caller, self.session)
        if outcome.work is not None:
            outcome = await self._worked(outcome)
        for before in outcome.before or ():
            self._arrived(before)
        return None if outcome.reply is None else decode(outcome.reply)

    async def _worked(self, outcome: Outcome) -> Outcome:
        """The outcome once its work is done, in a task of its own: what cancels the request does not cancel whoever asked."""
        import asyncio

        request = outcome.request
        assert request is not None
        assert outcome.work is not None
        request.attach(_Channel(self))
        task = asyncio.get_running_loop().create_task(outcome.work)
        request.on_cancel(task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            asking = asyncio.current_task()
            if not task.cancelled() or (asking is not None and asking.cancelling()):  # it is whoever asked that was cancelled
                raise
            return unanswered() if request.cancelled else lost(request)
        finally:
            request.channel = None

    async def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The result of a request; where it asks for input and there is an `answer`, of the request with the answers. Raises
        `errors.ProtocolError` when the answer is an error."""
        modern = self.revision in RULES and RULES[self.revision].modern
        if not modern and self.session.revision is None and method != "initialize":
            await self.request(
                "initialize",
                {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": CLIENT},
            )
            await self.notify("notifications/initialized")
        result = await self._once(method, params, modern)
        for _ in range(ROUNDS):
            if self.answer is None or not isinstance(result, dict) or result.get("resultType") != "input_required":
                break
            answers = {
                key: await awaited(self.answer(asked["method"], asked.get("params") or {}))
                for key, asked in result.get("inputRequests", {}).items()
            }
            again = {**(params or {}), "inputResponses": answers}
            if "requestState" in result:
                again["requestState"] = result["requestState"]
            result = await self._once(method, again, modern)
        return result

    async def _once(self, method: str, params: dict[str, Any] | None, modern: bool) -> Any:
        self._sent += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._sent, "method": method}
        if modern:
            params = self._with_metadata(params)
        if params is not None:
            message["params"] = params
        answer = await self.send(message)
        if answer is None:
            raise ProtocolError(INTERNAL_ERROR, f"The request {method} was cancelled: it is not answered.")
        if "error" in answer:
            error = answer["error"]
            raise ProtocolError(error["code"], error["message"], error.get("data"))
        return answer["result"]

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a notification."""
        await self.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})})

    def _with_metadata(self, params: dict[str, Any] | None) -> dict[str, Any]:
        meta = {VERSION_KEY: self.revision, CAPABILITIES_KEY: self.capabilities, CLIENT_KEY: CLIENT}
        return {**(params or {}), "_meta": {**meta, **((params or {}).get("_meta") or {})}}

    def _arrived(self, data: bytes) -> None:
        """A message that is no answer to ours: a notification, or a question."""
        message = decode(data)
        if "id" in message:
            self.spawn(self._answered(message))
        else:
            self.received.append(message)

    async def _answered(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if self.answer is None:
            reply["error"] = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        else:
            try:
                reply["result"] = await awaited(self.answer(message["method"], message.get("params") or {}))
            except Exception as error:  # noqa: BLE001  # whoever asked would wait for it: a client says so
                code = error.code if isinstance(error, ProtocolError) else INTERNAL_ERROR
                reply["error"] = {"code": code, "message": str(error)}
        await self.send(reply)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run `work` on its own; gives what cancels it."""
        import asyncio

        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.cancel


class _Channel:
    """The engine's channel to the client of one request."""

    __slots__ = ("_client",)

    def __init__(self, client: MemoryClient) -> None:
        self._client = client

    def send(self, message: bytes, keep: bool) -> None:  # noqa: ARG002  # nothing is slow here
        self._client._arrived(message)  # noqa: SLF001  # the same module's

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        from webseam.transports.background import waiter

        return waiter(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        return self._client.spawn(work)

    def close_stream(self, retry_ms: int | None) -> None:
        """There is no connection."""
