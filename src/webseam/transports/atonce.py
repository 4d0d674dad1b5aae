"""transports: a call that our own server answers at once, without ASGI.

Most calls are a POST whose body comes with its head, and are answered in JSON by the end of their first step. To receive and
send them as ASGI has it costs more than to answer them: so they go a shorter way (`Application.at_once`), and what ASGI knows
of a request is made for those alone of which it is asked: that stream, wait, or whose client leaves.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

if TYPE_CHECKING:
    from webseam.transports.asgi import Application, Rest
    from webseam.transports.gathering import GatheringProtocol
    from webseam.transports.requests import Headers

KNOWN_BYTES = 4096
"""How large a head may be that is kept with its connection."""

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]{1,7})\r\n", re.IGNORECASE)


class Head:
    """The head of a request that went the short way. A client sends the same one again and again, but for the length of the
    body: then it need not be read again, nor what was found good in it be looked at again."""

    __slots__ = ("_after", "_before", "headers")

    def __init__(self, before: bytes, after: bytes, headers: Headers) -> None:
        self._before = before  # what stands before the length
        self._after = after
        self.headers = headers

    @classmethod
    def of(cls, data: bytes, headers: Headers) -> Head | None:
        """The head in `data`, a whole request with these headers; None when its length is not in it, or large."""
        end = data.find(b"\r\n\r\n", 0, KNOWN_BYTES) + 4
        length = _LENGTH.search(data, 0, end)
        if length is None or len(data) - end != int(length[1]):
            return None
        return cls(data[: length.start(1)], data[length.end(1) : end], headers)

    def body_of(self, data: bytes) -> bytes | None:
        """The body of a request with this head; None when `data` is not just that."""
        start = len(self._before)
        end = data.find(b"\r", start, start + 8)
        if not data.startswith(self._before) or not data.startswith(self._after, end):
            return None
        length, body = data[start:end], data[end + len(self._after) :]
        if not length.isdigit() or int(length) != len(body):
            return None
        if length != self.headers.raw[b"content-length"]:
            self.headers = self.headers.replaced(b"content-length", length)
        return body


class Way:
    """A request that went the short way and is not answered yet. What ASGI has for it is made when somebody asks for it: most
    never do."""

    __slots__ = ("_cycle", "_protocol", "task")

    task: asyncio.Task[None]

    def __init__(self, protocol: GatheringProtocol) -> None:
        self._protocol = protocol
        self._cycle: RequestResponseCycle | None = None

    async def go(self, app: Application, rest: Rest) -> None:
        """Work on it until it is answered."""
        try:
            await app.guarded(rest(self.receive, self.send), self.send, self.answer)
        except BaseException as error:  # noqa: BLE001  # uvicorn is the one to say what becomes of it
            await self.cycle().run_asgi(partial(_raise, error))
        else:
            if self._cycle is not None or self._protocol.way is self:
                await self.cycle().run_asgi(_nothing)

    def answer(self, status: int, body: bytes) -> bool:
        """Write a whole answer in JSON; False where that is not to be: the client reads too slowly, or has left, or something
        of ASGI is known of the request by now."""
        protocol = self._protocol
        if self._cycle is not None or protocol.flow.write_paused or protocol.transport.is_closing():
            return False
        protocol.write_answer(status, body)
        return True

    async def receive(self) -> Any:
        """ASGI's: that the client has left, once it has."""
        return await self.cycle().receive()

    async def send(self, message: Any) -> None:
        """ASGI's."""
        await self.cycle().send(message)

    def cycle(self) -> RequestResponseCycle:
        """uvicorn's object for it, known to uvicorn; the body has been received."""
        if self._cycle is None:
            protocol = self._protocol
            self._cycle = RequestResponseCycle(
                scope={"type": "http", "method": "POST"},  # type: ignore[typeddict-item]  # all that is asked for from here on
                transport=protocol.transport,
                flow=protocol.flow,
                logger=protocol.logger,
                access_logger=protocol.access_logger,
                access_log=False,
                default_headers=protocol.server_state.default_headers,
                message_event=asyncio.Event(),
                expect_100_continue=False,
                keep_alive=True,
                on_response=protocol.on_response_complete,
            )
            self._cycle.more_body = False
            if protocol.way is self:
                protocol.cycle = self._cycle
                self.task.add_done_callback(protocol.tasks.discard)
                protocol.tasks.add(self.task)
            else:  # it is answered already
                self._cycle.response_started = self._cycle.response_complete = True
        return self._cycle


class Answers:
    """The heads of answers in JSON. The fields that go into all are uvicorn's (the date), and change every second."""

    __slots__ = ("_fields", "_joined")

    def __init__(self) -> None:
        self._fields: list[tuple[bytes, bytes]] = []
        self._joined = b""

    def head(self, status: int, size: int, fields: list[tuple[bytes, bytes]]) -> bytes:
        """The head of an answer of so many bytes."""
        if fields is not self._fields:
            self._fields = fields
            self._joined = b"".join(b"%b: %b\r\n" % field for field in fields)
        return b"%b%bcontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (STATUS_LINE[status], self._joined, size)


async def _nothing(_scope: Any, _receive: Any, _send: Any) -> None:
    """An application that has nothing (more) to say."""


async def _raise(error: BaseException, _scope: Any, _receive: Any, _send: Any) -> None:
    raise error
