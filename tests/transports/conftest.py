"""What the tests of the transports share: a server in a thread whose tools each test writes itself, a client that reads event
streams, an application driven by hand, and a loop in which time passes as soon as there is nothing else to do."""

from __future__ import annotations

import asyncio
import gc
import http.client
import json
import selectors
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import pytest

from webseam.errors import ProtocolError
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.protocol.revisions import CAPABILITIES_KEY, LOG_LEVEL_KEY, MODERN, VERSION_KEY
from webseam.transports.asgi import Application, mcp_app
from webseam.transports.http import Server, listen, local_names

SECONDS = 20
BOTH = "application/json, text/event-stream"
Tool = Callable[[Request], Any]
T = TypeVar("T")


# ------------------------------------------------------------------------------------------------ messages


def request(method: str, params: dict[str, Any] | None = None, message_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params or {}}


def modern(
    method: str,
    params: dict[str, Any] | None = None,
    message_id: Any = 1,
    capabilities: dict[str, Any] | None = None,
    level: str | None = None,
) -> dict[str, Any]:
    """A request of 2026-07-28, which asks for progress."""
    meta: dict[str, Any] = {VERSION_KEY: MODERN[0], CAPABILITIES_KEY: capabilities or {}, "progressToken": message_id}
    if level is not None:
        meta[LOG_LEVEL_KEY] = level
    return request(method, {**(params or {}), "_meta": meta}, message_id)


def call_of(name: str, message_id: Any = 1, **arguments: Any) -> dict[str, Any]:
    """A tool call of the handshake era, which asks for progress."""
    return request("tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": message_id}}, message_id)


def modern_call(name: str, message_id: Any = 1, **how: Any) -> dict[str, Any]:
    return modern("tools/call", {"name": name, "arguments": how.pop("arguments", {})}, message_id, **how)


def mirrored(message: dict[str, Any]) -> dict[str, str]:
    """The headers that repeat the body, for a message of 2026-07-28."""
    params = message.get("params", {})
    if VERSION_KEY not in params.get("_meta", {}):
        return {}
    headers = {"mcp-protocol-version": params["_meta"][VERSION_KEY], "mcp-method": message["method"]}
    name = params.get("name", params.get("uri"))
    return headers if name is None else {**headers, "mcp-name": name}


def text(value: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": value}]


# ------------------------------------------------------------------------------------------------ what is served


class Scripted:
    """Tools by name, each a function of the request; `needs_session` as the test wants it."""

    logs = True
    lists_change = True

    def __init__(self, tools: dict[str, Tool], needs_session: bool) -> None:
        self.tools = tools
        self.needs_session = needs_session

    def list(self, cursor: str | None) -> Any:
        return [{"name": name, "inputSchema": {"type": "object"}} for name in sorted(self.tools)]

    def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name not in self.tools:
            raise ProtocolError(-32602, f"Unknown tool: {name}")
        return self.tools[name](call)


class Resources:
    """One resource that may be watched."""

    def list(self, cursor: str | None) -> Any:
        return [{"uri": "memo://one", "name": "one"}]

    def templates(self) -> Any:
        return []

    def read(self, uri: str) -> Any:
        return [{"uri": uri, "text": "the memo"}]

    def subscribe(self, uri: str) -> None:
        if uri != "memo://one":
            raise ProtocolError(-32602, "It does not change.")


def engine_of(tools: dict[str, Tool], faults: list[BaseException], needs_session: bool = True, **how: Any) -> Engine:
    engine = Engine({"name": "tested", "version": "1"}, on_fault=faults.append, **how)
    return engine.register_provider(Scripted(tools, needs_session)).register_provider(Resources())


# ------------------------------------------------------------------------------------------------ a client


class Event(NamedTuple):
    """One block of an event stream: an event, a comment, or a bare `retry`."""

    id: str | None
    data: str | None
    retry: int | None
    comment: bool

    @property
    def message(self) -> Any:
        return json.loads(self.data) if self.data else None


class Reply:
    """A response, read as far as the test wants."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self.response = connection.getresponse()
        self.status = self.response.status
        self.headers = {name.lower(): value for name, value in self.response.getheaders()}
        self.last_id: str | None = None
        self.body = b""
        if not self.streams:
            self.body = self.response.read()
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave, whatever is still to come."""
        if self.connection.sock is not None:
            self.connection.sock.close()
        self.response.close()
        self.connection.close()

    @property
    def streams(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    def json(self) -> Any:
        assert not self.streams
        return json.loads(self.body) if self.body else None

    def block(self) -> Event | None:
        """The next block, None at the end of the stream."""
        found: dict[str, list[str]] = defaultdict(list)
        seen = False
        while True:
            line = self.response.readline()
            if not line:
                assert not seen, "the stream ended within an event"
                return None
            assert line.endswith(b"\n")
            assert b"\r" not in line
            field, _, value = line[:-1].decode().partition(":")
            if line == b"\n":
                break
            seen = True
            found[field].append(value.removeprefix(" "))
        assert len(found["data"]) < 2
        if found["id"]:
            self.last_id = found["id"][0]
        retry = int(found["retry"][0]) if found["retry"] else None
        first: Callable[[str], str | None] = lambda name: next(iter(found[name]), None)  # noqa: E731
        return Event(first("id"), first("data"), retry, bool(found[""]))

    def next(self) -> Any:
        """The next message; comments and what only carries an id are passed over. None at the end."""
        while (block := self.block()) is not None:
            if block.data:
                return block.message
        return None

    def rest(self) -> list[Any]:
        """Every message there is still to come."""
        with self:
            return list(iter(self.next, None))


class Live:
    """A server in a thread, with the marks that its tools set and the gates they wait at."""

    def __init__(
        self,
        *,
        needs_session: bool = True,
        tools: dict[str, Tool] | None = None,
        grace_seconds: int = 5,
        engine: dict[str, Any] | None = None,
        **how: Any,
    ) -> None:
        self.tools: dict[str, Tool] = dict(tools or {})
        self.faults: list[BaseException] = []
        self.unheard: list[dict[str, Any]] = []
        self._marks: dict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(0))
        self._gates: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.listener = listen("127.0.0.1", 0)
        hosts, origins = local_names(self.listener)
        self.engine = engine_of(self.tools, self.faults, needs_session, **(engine or {}))
        self.app: Application = mcp_app(self.engine, allowed_hosts=hosts, allowed_origins=origins, **how)
        self.server = Server(self.app, self.listener, grace_seconds=grace_seconds)
        self.port = self.server.port
        self.codes: list[int] = []
        started = threading.Event()

        def ready(_server: Server) -> None:
            self.loop = asyncio.get_running_loop()
            self.loop.set_exception_handler(lambda _loop, context: self.unheard.append(context))
            started.set()

        self.thread = threading.Thread(target=lambda: self.codes.append(self.server.run(ready)))
        self.thread.start()
        assert started.wait(SECONDS)

    def stop(self) -> None:
        """Stop, and see that nothing was left behind."""
        self.server.stop()
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()
        gc.collect()
        assert self.unheard == []

    # what tools and tests tell one another

    def mark(self, name: str) -> None:
        self._marks[name].release()

    def expect(self, name: str) -> None:
        assert self._marks[name].acquire(timeout=SECONDS), f"it never came to {name!r}"

    def marked(self, name: str) -> bool:
        return self._marks[name].acquire(blocking=False)

    async def gate(self, name: str) -> None:
        """Wait until the test opens it; marked while it is waited at, and when that is cancelled."""
        self.mark(name)
        try:
            await self._gates[name].wait()
            self._gates.pop(name, None)
        except asyncio.CancelledError:
            self.mark(f"{name} cancelled")
            raise

    def open(self, name: str) -> None:
        def opened() -> None:
            self._gates[name].set()

        self.do(opened)

    def do(self, work: Callable[[], T]) -> T:
        """Run something where the server runs, and give what it returns."""

        async def run() -> T:
            return work()

        return self.wait(run())

    def changed(self, times: int = 1) -> None:
        """The list of tools changed, so many times in one breath."""

        def change() -> None:
            for _ in range(times):
                self.engine.changed("tools")

        self.do(change)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    # requests

    def ask(self, method: str, body: bytes | None, headers: dict[str, str | None]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        connection.request(method, "/mcp", body, {name: value for name, value in headers.items() if value is not None})
        return Reply(connection)

    def post(self, message: Any, session: str | None = None, accept: str | None = BOTH, **headers: str | None) -> Reply:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        own: dict[str, str | None] = {"content-type": "application/json", "accept": accept, "mcp-session-id": session}
        if isinstance(message, dict):
            own.update(mirrored(message))
        own.update({name.replace("_", "-"): value for name, value in headers.items()})
        return self.ask("POST", body, own)

    def get(
        self, session: str | None = None, last: str | None = None, accept: str = "text/event-stream", **headers: str
    ) -> Reply:
        own = {"accept": accept, "mcp-session-id": session, "last-event-id": last}
        return self.ask("GET", None, {**own, **{name.replace("_", "-"): value for name, value in headers.items()}})

    def delete(self, session: str | None, **headers: str) -> Reply:
        return self.ask("DELETE", None, {"mcp-session-id": session, **headers})

    def begin(self, revision: str = "2025-11-25", **headers: str) -> str:
        """The id of a new session, in which everything may be asked of the client."""
        declared: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
        params = {"protocolVersion": revision, "capabilities": declared, "clientInfo": {"name": "t", "version": "1"}}
        reply = self.post(request("initialize", params), **headers)
        assert reply.status == 200
        result = reply.rest()[-1] if reply.streams else reply.json()
        assert result["result"]["protocolVersion"] == revision
        session = reply.headers["mcp-session-id"]
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, session, **headers).status == 202
        return session

    def head(self, *lines: str) -> bytes:
        """The head of a POST, with these lines among its own."""
        own = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Content-Type: application/json"]
        return "\r\n".join([*own, *lines, "", ""]).encode()

    def raw(self, data: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        connection.sendall(data)
        return connection


@pytest.fixture
def serve() -> Iterator[Callable[..., Live]]:
    """Start servers of one's own."""
    running: list[Live] = []

    def make(**how: Any) -> Live:
        running.append(Live(**how))
        return running[-1]

    yield make
    for one in running:
        one.stop()
        assert one.faults == []


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A server with sessions, for tests that leave nothing behind. Each adds tools of its own."""
    one = Live()
    yield one
    one.stop()
    assert one.faults == []


@pytest.fixture(scope="module")
def plain() -> Iterator[Live]:
    """A server whose provider needs no sessions."""
    one = Live(needs_session=False)
    yield one
    one.stop()
    assert one.faults == []


# ------------------------------------------------------------------------------------------------ an application by hand


class _Clockless(selectors.DefaultSelector):
    """Never waits: time passes instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found:
            assert timeout is not None, "nothing will ever happen any more"
            self.now += max(0.0, timeout)
        return found


class Timeless(asyncio.SelectorEventLoop):
    """An event loop in which time passes as soon as there is nothing else to do."""

    def __init__(self) -> None:
        self.selector = _Clockless()
        super().__init__(self.selector)
        self.unheard: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _loop, context: self.unheard.append(context))

    def time(self) -> float:
        return self.selector.now


def timeless(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` without waiting for any clock; nothing it leaves behind may go wrong unheard."""
    loop = Timeless()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        result = runner.run(work)
    gc.collect()
    assert loop.unheard == []
    return result


class Hand:
    """One HTTP request to an application, made and answered by the test. `sent` is what the application sent."""

    def __init__(
        self, app: Application, message: Any = None, method: str = "POST", headers: dict[str, str] | None = None, **more: Any
    ) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        fields = {"host": "here", "content-type": "application/json", "accept": BOTH}
        if isinstance(message, dict):
            fields.update(mirrored(message))
        fields.update(headers or {})
        self.scope: dict[str, Any] = {
            "type": "http", "method": method, "path": "/mcp",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in fields.items()], **more,
        }  # fmt: skip
        self.app = app
        self.incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        if message is not None:
            self.incoming.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.sent: list[dict[str, Any]] = []
        self.news = asyncio.Event()
        self.blocked: asyncio.Event | None = None
        self.error: Exception | None = None

    async def receive(self) -> dict[str, Any]:
        return await self.incoming.get()

    async def send(self, event: Any) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(dict(event))
        self.news.set()
        if self.blocked is not None:
            await self.blocked.wait()

    def leave(self) -> None:
        self.incoming.put_nowait({"type": "http.disconnect"})

    async def run(self) -> Self:
        await self.app(self.scope, self.receive, self.send)
        return self

    def start(self) -> asyncio.Task[Self]:
        return asyncio.get_running_loop().create_task(self.run())

    async def until(self, enough: Callable[[], Any]) -> None:
        """Wait until what was sent is `enough`."""
        while not enough():
            self.news.clear()
            await self.news.wait()

    async def begun(self) -> None:
        """Wait until the answer has begun."""
        await self.until(lambda: self.sent)

    @property
    def status(self) -> int:
        assert self.sent[0]["type"] == "http.response.start"
        status: int = self.sent[0]["status"]
        return status

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(event.get("body", b"") for event in self.sent[1:])

    @property
    def complete(self) -> bool:
        return len(self.sent) > 1 and not self.sent[-1].get("more_body")

    @property
    def messages(self) -> list[Any]:
        """Those in a stream so far."""
        lines = [line for line in self.body.decode().split("\n") if line.startswith("data: ") and len(line) > 6]
        return [json.loads(line[6:]) for line in lines]


def by_hand(tools: Mapping[str, Tool] | None = None, faults: list[BaseException] | None = None, **how: Any) -> Application:
    """An application that answers to the Host `here`."""
    needs_session = how.pop("needs_session", True)
    engine = engine_of(dict(tools or {}), [] if faults is None else faults, needs_session, **how.pop("engine", {}))
    return mcp_app(engine, allowed_hosts=["here"], allowed_origins=[], **how)


async def begin_by_hand(app: Application, revision: str = "2025-11-25", **headers: str) -> str:
    """The id of a new session."""
    params = {"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
    begun = await Hand(app, request("initialize", params), headers=headers).run()
    session = begun.headers["mcp-session-id"]
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await Hand(app, told, headers={"mcp-session-id": session, **headers}).run()
    return session
