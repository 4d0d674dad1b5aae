"""The clients of the soak: calls from requests that were made beforehand, and streams that are opened and dropped in every way
a client can."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any, Self

from tests.transports.soak_server import CALLERS, token_of

from webseam.protocol.revisions import CAPABILITIES_KEY, CLIENT_KEY, TASKS_EXTENSION, VERSION_KEY

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
CLIENT = {"name": "soak", "version": "1"}
CAPABILITIES: dict[str, Any] = {"elicitation": {}, "extensions": {TASKS_EXTENSION: {}}}
META = {VERSION_KEY: MODERN, CLIENT_KEY: CLIENT, CAPABILITIES_KEY: CAPABILITIES}
TEXTS = ("hi, so ends the echo", "The “seam” between agents and the web, naïve as it may look. " * 780 + "so ends the echo")
MARK = b"so ends the echo"
SESSION_CALLS = 100
"""A session lives for about so many calls: its streams that are kept (up to `LIMITS.session_streams`) come and go evenly."""
ANSWER = {"action": "accept", "content": {"name": "x"}}


class Wire:
    """What a request needs of the wire: the port, and who asks."""

    def __init__(self, port: int, caller: int) -> None:
        self.port = port
        self.token = token_of(caller % CALLERS)
        self.uri = f"memo://{caller}"
        """A resource that nobody else watches. Lists that change would be told to every session that was left, each of which
        keeps what it was told up to a bound: they would fill all the while."""

    def request(self, method: str, body: bytes = b"", **headers: str) -> bytes:
        """A whole HTTP request."""
        fields = {"host": f"127.0.0.1:{self.port}", "authorization": f"Bearer {self.token}", "content-length": str(len(body))}
        fields |= {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{method} /mcp HTTP/1.1\r\n{head}\r\n".encode() + body

    def modern(self, method: str, params: dict[str, Any]) -> bytes:
        """A request of 2026-07-28, with the headers that repeat it."""
        meta = {**META, "progressToken": 1}
        name = params.get("name", params.get("taskId"))
        headers = {"mcp_protocol_version": MODERN, "mcp_method": method, **({} if name is None else {"mcp_name": name})}
        return self.request("POST", message(method, {**params, "_meta": meta}), **headers)

    def handshake(self, method: str, params: dict[str, Any], session: str) -> bytes:
        """A request of 2025-11-25, in a session."""
        body = message(method, {**params, "_meta": {"progressToken": 1}})
        return self.request("POST", body, mcp_protocol_version=HANDSHAKE, mcp_session_id=session)


def message(method: str, params: dict[str, Any], number: int | None = 1) -> bytes:
    fields = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    if number is None:
        del fields["id"]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


class Connection:
    """A kept connection: one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.head = b""

    @classmethod
    async def to(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, request: bytes, status: int = 200) -> bytes:
        """The whole body of the answer."""
        await self.begin(request, status)
        at = self.head.find(b"\r\ncontent-length: ")
        if at >= 0:
            return await self.reader.readexactly(int(self.head[at + 18 : self.head.index(b"\r\n", at + 2)]))
        if status == 204:
            return b""
        pieces = []
        while (piece := await self.piece()) is not None:
            pieces.append(piece)
        return b"".join(pieces)

    async def begin(self, request: bytes, status: int = 200) -> None:
        """Send a request, and read the head of its answer."""
        self.writer.write(request)
        self.head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        if int(self.head[9:12]) != status:
            raise AssertionError(f"{status} was to come: {self.head!r} {await self.reader.read(2_000)!r} {request[:1_000]!r}")

    async def piece(self) -> bytes | None:
        """The next piece of a stream, None at its end."""
        size = int(await self.reader.readline(), 16)
        data = await self.reader.readexactly(size + 2)
        return data[:-2] if size else None

    async def until(self, text: bytes) -> bytes:
        """Read on until `text` has come; gives the line it stands in."""
        seen = b""
        while text not in seen:
            piece = await self.piece()
            assert piece is not None, f"the stream ended without {text!r}: {seen!r}"
            seen += piece
        return next(line for line in seen.split(b"\n") if text in line)

    def drop(self) -> None:
        """Leave, whatever is still to come."""
        self.writer.transport.abort()


async def begin_session(wire: Wire, connection: Connection) -> str:
    """A new session, ready for use."""
    params = {"protocolVersion": HANDSHAKE, "capabilities": {"elicitation": {}}, "clientInfo": CLIENT}
    connection.writer.write(wire.request("POST", message("initialize", params)))
    head = await connection.reader.readuntil(b"\r\n\r\n")
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
    await connection.reader.readexactly(int(fields[b"content-length"]))
    session = fields[b"mcp-session-id"].decode()
    told = message("notifications/initialized", {}, None)
    await connection.ask(wire.request("POST", told, mcp_protocol_version=HANDSHAKE, mcp_session_id=session), 202)
    return session


# ------------------------------------------------------------------------------------------------ calls


class Calls:
    """One connection that calls: its requests are made beforehand, and drawn from a fixed series of random numbers."""

    def __init__(self, wire: Wire, number: int) -> None:
        self.wire = wire
        self.series = random.Random(number)
        small, large = ({"arguments": {"text": text}} for text in TEXTS)
        self.plain = [
            *[wire.modern("tools/call", {"name": "echo", **small})] * 30,
            *[wire.modern("tools/call", {"name": "echo at once", **small})] * 30,
            wire.modern("tools/call", {"name": "echo", **large}),
            wire.modern("tools/call", {"name": "echo at once", **large}),
            *[wire.modern("tools/call", {"name": "progress", **small})] * 4,
        ]
        self.rounds = wire.modern("tools/call", {"name": "ask"})
        self.task = wire.modern("tools/call", {"name": "task", **small})
        self.in_session: list[bytes] = []

    async def run(self, take: Callable[[], bool]) -> None:
        """Call as long as `take` says so."""
        async with _connection(self.wire) as connection:
            await self._run(connection, take)

    async def _run(self, connection: Connection, take: Callable[[], bool]) -> None:
        await self._new_session(connection)
        while take():
            kind = self.series.randrange(100)
            if kind < 66:
                self._check(await connection.ask(self.series.choice(self.plain)))
            elif kind < 96:
                self._check(await connection.ask(self.series.choice(self.in_session)))
            elif kind < 98:
                first = json.loads(await connection.ask(self.rounds))["result"]
                params = {"name": "ask", "inputResponses": dict.fromkeys(first["inputRequests"], ANSWER)}
                if "requestState" in first:
                    params["requestState"] = first["requestState"]
                answer = await connection.ask(self.wire.modern("tools/call", params)) if take() else b"accept"
                assert b"accept" in answer, answer
            else:
                begun = json.loads(await connection.ask(self.task))["result"]
                if take():
                    answer = await connection.ask(self.wire.modern("tasks/get", {"taskId": begun["taskId"]}))
                    assert b'"completed"' in answer or b'"working"' in answer, answer
            if self.series.randrange(SESSION_CALLS) == 0:
                await connection.ask(
                    self.wire.request("DELETE", mcp_protocol_version=HANDSHAKE, mcp_session_id=self.session), 204
                )
                await self._new_session(connection)

    async def _new_session(self, connection: Connection) -> None:
        session = self.session = await begin_session(self.wire, connection)
        small, large = ({"arguments": {"text": text}} for text in TEXTS)
        self.in_session = [
            *[self.wire.handshake("tools/call", {"name": "echo", **small}, session)] * 12,
            *[self.wire.handshake("tools/call", {"name": "echo at once", **small}, session)] * 12,
            self.wire.handshake("tools/call", {"name": "echo", **large}, session),
            *[self.wire.handshake("tools/call", {"name": "progress", **small}, session)] * 3,
        ]

    @staticmethod
    def _check(answer: bytes) -> None:
        assert MARK in answer, answer[:500]


# ------------------------------------------------------------------------------------------------ streams


async def listen_and_drop(wire: Wire) -> None:
    """Subscribe, hear of a change, leave."""
    async with _connection(wire) as stream, _connection(wire) as other:
        wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [wire.uri]}}
        await stream.begin(wire.modern("subscriptions/listen", wanted))
        await stream.until(b"acknowledged")
        await other.ask(wire.modern("tools/call", {"name": "change", "arguments": {"uri": wire.uri}}))
        await stream.until(b"resources/updated")


async def listen_to_a_task_and_drop(wire: Wire) -> None:
    """Begin a task that asks, listen to it, leave both for good."""
    async with _connection(wire) as stream, _connection(wire) as other:
        begun = json.loads(await other.ask(wire.modern("tools/call", {"name": "task", "arguments": {"asks": True}})))["result"]
        await stream.begin(wire.modern("subscriptions/listen", {"notifications": {"taskIds": [begun["taskId"]]}}))
        await stream.until(b"acknowledged")


async def drop_in_the_middle(wire: Wire) -> None:
    """Leave a call of 2026-07-28 that has said something, and not yet answered."""
    async with _connection(wire) as stream:
        await stream.begin(wire.modern("tools/call", {"name": "progress", "arguments": {"lasts": True}}))
        await stream.until(b"notifications/progress")


async def open_and_drop(wire: Wire) -> None:
    """The GET stream of a session, which hears of a change; stream and session are left."""
    async with _connection(wire) as stream, _connection(wire) as other:
        session = await begin_session(wire, other)
        await stream.begin(wire.request("GET", mcp_protocol_version=HANDSHAKE, mcp_session_id=session))
        await other.ask(wire.handshake("resources/subscribe", {"uri": wire.uri}, session))
        await other.ask(wire.handshake("tools/call", {"name": "change", "arguments": {"uri": wire.uri}}, session))
        await stream.until(b"resources/updated")


async def open_and_delete(wire: Wire) -> None:
    """The GET stream of a session that is ended: the stream ends."""
    async with _connection(wire) as stream, _connection(wire) as other:
        session = await begin_session(wire, other)
        await stream.begin(wire.request("GET", mcp_protocol_version=HANDSHAKE, mcp_session_id=session))
        await other.ask(wire.request("DELETE", mcp_protocol_version=HANDSHAKE, mcp_session_id=session), 204)
        while await stream.piece() is not None:
            pass


async def drop_and_resume(wire: Wire) -> None:
    """Leave a call of a session in the middle, and come back for the rest."""
    async with _connection(wire) as stream, _connection(wire) as other:
        session = await begin_session(wire, other)
        lasts = {"name": "progress", "arguments": {"lasts": True, "text": TEXTS[0]}}
        await stream.begin(wire.handshake("tools/call", lasts, session))
        await stream.until(b"notifications/progress")
        stream.drop()
        await other.begin(wire.request("GET", mcp_protocol_version=HANDSHAKE, mcp_session_id=session, last_event_id="1.1"))
        await other.until(MARK)


async def leave_a_session(wire: Wire) -> None:
    """Begin a session, use it, never end it."""
    async with _connection(wire) as other:
        session = await begin_session(wire, other)
        for name in ("echo", "progress", "progress"):
            await other.ask(wire.handshake("tools/call", {"name": name, "arguments": {"text": TEXTS[0]}}, session))


async def leave_a_question(wire: Wire) -> None:
    """Let a call ask, and never answer."""
    async with _connection(wire) as stream:
        session = await begin_session(wire, stream)
        await stream.begin(wire.handshake("tools/call", {"name": "ask"}, session))
        await stream.until(b"elicitation/create")


async def answer_a_question(wire: Wire) -> None:
    """Answer over another connection; then the session is ended."""
    async with _connection(wire) as stream, _connection(wire) as other:
        session = await begin_session(wire, other)
        await stream.begin(wire.handshake("tools/call", {"name": "ask"}, session))
        line = await stream.until(b"elicitation/create")
        number = json.loads(line.removeprefix(b"data: "))["id"]
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": ANSWER}).encode()
        await other.ask(wire.request("POST", answer, mcp_protocol_version=HANDSHAKE, mcp_session_id=session), 202)
        await stream.until(b"accept")
        await other.ask(wire.request("DELETE", mcp_protocol_version=HANDSHAKE, mcp_session_id=session), 204)


KINDS: tuple[Callable[[Wire], Awaitable[None]], ...] = (
    listen_and_drop, listen_to_a_task_and_drop, drop_in_the_middle, open_and_drop, open_and_delete, drop_and_resume,
    leave_a_session, leave_a_question, answer_a_question,
)  # fmt: skip
"""Every way in which a stream is opened and dropped here."""

LEAVING = (open_and_drop, drop_and_resume, leave_a_session, leave_a_question)
"""Those that leave a session behind."""


class _connection:  # noqa: N801  # used as a function
    """A connection that is dropped at the end, in the middle of whatever it carries."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def __aenter__(self) -> Connection:
        self.connection = await Connection.to(self.wire.port)
        return self.connection

    async def __aexit__(self, *_: object) -> None:
        self.connection.drop()
