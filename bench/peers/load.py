"""What drives a server with calls of `echo`, and weighs what they cost it.

The bytes of the requests are made beforehand and sent as they are; an answer is looked at just enough to be sure that it is the
right one: status 200, and the end of the text that was to come back. `Target.verify` reads one whole before any are counted. A
client sends its next call when it has the answer to the last (a closed loop), so what is counted is never queued here.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import psutil

if TYPE_CHECKING:
    from collections.abc import Callable

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
WARM_SECONDS = 0.15
SECONDS = 300
"""Nothing takes longer: a server that does not answer over its pipes is ended then."""
MARK = "so ends the echo"
SENTENCE = "The “seam” between agents\tand the web holds, naïve as it may look.\n"
TEXTS = {"20 B": f"hi, {MARK}", "50 KB": (SENTENCE * 800)[: 50_000 - len(MARK)] + MARK}
"""What is echoed: a word, and a page (with what JSON must escape, and some UTF-8)."""

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Sample(NamedTuple):
    """What one window showed: calls a second, latencies in ms, the server's CPU in microseconds a call.

    `client` is the share of the window for which the load generator itself was busy: near 1, it is what was measured.
    """

    rate: float
    p50: float
    p99: float
    cpu: float
    client: float


def message(method: str, revision: str, number: int = 1, **params: Any) -> bytes:
    """A request by `revision`, as JSON."""
    if revision == MODERN:
        params["_meta"] = META
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()


def call(text: str, revision: str, number: int = 1) -> bytes:
    """A call of `echo`, as JSON."""
    return message("tools/call", revision, number, name="echo", arguments={"text": text})


def check(answer: bytes, text: str) -> None:
    """Raises SystemExit unless `answer` is the one to a call with `text`."""
    try:
        content = json.loads(answer)["result"]["content"]
    except (ValueError, KeyError, TypeError):
        content = None
    if content != [{"type": "text", "text": text}]:
        raise SystemExit(f"That is not the answer to `echo`: {answer[:500]!r}")


class Cost:
    """A process and its children: the CPU they have used so far, the memory they hold now."""

    def __init__(self, pid: int) -> None:
        self.process = psutil.Process(pid)

    def seconds(self) -> float:
        """User and system time."""
        return sum(times.user + times.system for times in (one.cpu_times() for one in self._all()))

    def megabytes(self) -> float:
        """Resident memory."""
        return sum(one.memory_info().rss for one in self._all()) / 1e6

    def _all(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]


def summary(times: list[float], wall: float, server: float, client: float) -> Sample:
    """The sample of a window: latencies in seconds, how long it was, and the CPU that both sides used in it."""
    if not times:
        raise SystemExit("Not one call was answered.")
    times.sort()
    p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
    return Sample(len(times) / wall, times[len(times) // 2] * 1e3, p99 * 1e3, server / len(times) * 1e6, client / wall)


# ------------------------------------------------------------------------------------------------ HTTP


def post(port: int, body: bytes, revision: str, token: str) -> bytes:
    """The whole HTTP request around a call."""
    modern = "MCP-Method: tools/call\r\nMCP-Name: echo\r\n" if revision == MODERN else ""
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: bench/1\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {revision}\r\n{modern}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def read_answer(data: bytes) -> bytes | None:
    """The body of a whole HTTP answer; None while more is to come. Raises SystemExit when the status is not 200."""
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return None
    if not head.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"A call was not answered with 200: {data[:500]!r}")
    lower = head.lower()
    if b"\r\ntransfer-encoding: chunked" in lower:
        return _joined(body)
    _, found, length = lower.partition(b"\r\ncontent-length:")
    if not found:
        raise SystemExit(f"An answer does not say how long it is: {head!r}")
    return body if len(body) >= int(length.split(b"\r\n", 1)[0]) else None


def _joined(body: bytes) -> bytes | None:
    """What is in the chunks; None while more are to come."""
    pieces: list[bytes] = []
    while True:
        line, found, rest = body.partition(b"\r\n")
        size = int(line, 16) if found else -1
        if size == 0 and rest.startswith(b"\r\n"):
            return b"".join(pieces)
        if size <= 0 or len(rest) < size + 2:
            return None
        pieces.append(rest[:size])
        body = rest[size + 2 :]


class Client(asyncio.Protocol):
    """One keep-alive connection that calls until it is told to stop, and then closes."""

    def __init__(self, request: bytes, text: str) -> None:
        self.request = request
        self.text = text
        self.mark = MARK.encode()
        self.times: list[float] = []
        self.size = 0  # of an answer, head and all, once one has been read
        self.data = b""
        self.stopping = False
        self.failure: BaseException | None = None
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)  # uvloop's are none by inheritance
        self.write, self.close = stream.write, stream.close
        self.sent = time.perf_counter()
        self.write(self.request)

    def data_received(self, data: bytes) -> None:
        if self.data:
            data = self.data + data
        if len(data) == self.size and data.startswith(b"HTTP/1.1 200 ") and self.mark in data:
            self.data = b""
        elif len(data) < self.size:
            self.data = data
            return
        else:
            try:
                body = read_answer(data)
                if body is None:
                    self.data = data
                    return
                check(body, self.text)
            except SystemExit as error:  # it would go astray in the event loop
                self.failure = error
                self.close()
                return
            self.size, self.data = len(data), b""
        now = time.perf_counter()
        self.times.append(now - self.sent)
        if self.stopping:
            self.close()
            return
        self.sent = now
        self.write(self.request)

    def connection_lost(self, error: Exception | None) -> None:
        if self.failure is None and not self.stopping:
            self.failure = SystemExit(f"The server closed the connection: {error or 'it said nothing'}")
        if not self.done.done():
            self.done.set_result(None)


async def http_window(port: int, pid: int, request: bytes, text: str, connections: int, seconds: float) -> Sample:
    """Keep `connections` busy for `seconds`, after a moment in which nothing is counted."""
    loop = asyncio.get_running_loop()
    clients = [Client(request, text) for _ in range(connections)]
    for client in clients:
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.sleep(WARM_SECONDS)
    for client in clients:
        client.times.clear()
    cost = Cost(pid)
    server, own, began = cost.seconds(), time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    wall, own, server = time.perf_counter() - began, time.process_time() - own, cost.seconds() - server
    times = [seconds for client in clients for seconds in client.times]
    for client in clients:
        client.stopping = True
    await asyncio.wait([client.done for client in clients], timeout=30)
    for client in clients:
        if client.failure is not None:
            raise client.failure
    return summary(times, wall, server, own)


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The cheapest event loop there is, for the load generator."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


# ------------------------------------------------------------------------------------------------ stdio


class Pipe:
    """A server that is spoken to over its standard input and output, one message a line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin, self.stdout = process.stdin.fileno(), process.stdout.fileno()
        self.end = threading.Timer(SECONDS, process.kill)
        self.end.daemon = True
        self.end.start()

    def send(self, line: bytes) -> None:
        while line:
            line = line[os.write(self.stdin, line) :]

    def ask(self, line: bytes) -> bytes:
        """Send a line, give the answer. Raises SystemExit when the server leaves instead."""
        self.send(line)
        data = os.read(self.stdout, 1 << 20)
        while not data.endswith(b"\n"):
            more = os.read(self.stdout, 1 << 20)
            if not more:
                raise SystemExit(f"{self.process.args!r} left, instead of an answer: {data[:500]!r}")
            data += more
        return data

    def shake_hands(self) -> None:
        """What precedes calls by 2025-11-25."""
        client = {"name": "bench", "version": "1"}
        params: dict[str, Any] = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client}
        self.ask(message("initialize", HANDSHAKE, 0, **params) + b"\n")
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def close(self) -> None:
        """End the server, by closing its input."""
        self.end.cancel()
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Calls:
    """Calls of `echo` over one pipe, one after another, each with an id of its own."""

    def __init__(self, pipe: Pipe, revision: str) -> None:
        self.pipe = pipe
        self.cost = Cost(pipe.process.pid)
        self.revision = revision
        self.number = 1
        if revision == HANDSHAKE:
            pipe.shake_hands()

    def window(self, text: str, seconds: float) -> Sample:
        """Call for `seconds`, after a moment in which nothing is counted."""
        before, _, after = (call(text, self.revision, 987654321) + b"\n").partition(b"987654321")
        self.number += 1
        check(self.pipe.ask(before + b"%d" % self.number + after), text)
        self._calls(before, after, WARM_SECONDS)
        server, own, began = self.cost.seconds(), time.process_time(), time.perf_counter()
        times = self._calls(before, after, seconds)
        wall, own, server = time.perf_counter() - began, time.process_time() - own, self.cost.seconds() - server
        return summary(times, wall, server, own)

    def _calls(self, before: bytes, after: bytes, seconds: float) -> list[float]:
        times: list[float] = []
        mark, ask, clock = MARK.encode(), self.pipe.ask, time.perf_counter
        now = clock()
        end = now + seconds
        while now < end:
            self.number += 1
            number = b"%d" % self.number
            answer = ask(before + number + after)
            if mark not in answer or number not in answer:
                raise SystemExit(f"That is not the answer to call {self.number}: {answer[:500]!r}")
            then, now = now, clock()
            times.append(now - then)
        return times
