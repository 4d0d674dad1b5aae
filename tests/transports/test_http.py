"""Streamable HTTP over a real loopback server."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.transports.asgi import PENDING_CALLS, mcp_app
from webseam.transports.http import Server, listen, local_names

SECONDS = 20
MODERN = "2026-07-28"


class Tools:
    """Tells the test what happens to its calls; `wait` answers when it is let go."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.stopped = threading.Event()
        self.gate: asyncio.Event | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def list(self, cursor: str | None, call: Request) -> Any:
        return [{"name": str(call.caller), "inputSchema": {"type": "object"}}]

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        if name == "breaks":
            raise RuntimeError("the password is hunter2")
        if name == "gives up":
            raise asyncio.CancelledError
        if name == "wait":
            if self.gate is None:
                self.gate, self.loop = asyncio.Event(), asyncio.get_running_loop()
            self.began.release()
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.stopped.set()
                raise
        return [{"type": "text", "text": f"{name} {call.caller}"}]

    def let_go(self) -> None:
        assert self.loop is not None
        assert self.gate is not None
        self.loop.call_soon_threadsafe(self.gate.set)


class Served:
    """A server in a thread."""

    def __init__(self, grace_seconds: int = 5, **how: Any) -> None:
        self.tools = Tools()
        self.faults: list[BaseException] = []
        self.closed = threading.Event()
        self.codes: list[int] = []
        self.listener = listen("127.0.0.1", 0)
        hosts, origins = local_names(self.listener)
        engine = Engine({"name": "tested", "version": "1"}, on_fault=self.faults.append).register_provider(self.tools)
        app = mcp_app(engine, allowed_hosts=hosts, allowed_origins=origins, **how)
        self.server = Server(app, self.listener, close=self.close, grace_seconds=grace_seconds)
        self.port = self.server.port
        ready = threading.Event()
        self.thread = threading.Thread(target=lambda: self.codes.append(self.server.run(lambda _server: ready.set())))
        self.thread.start()
        assert ready.wait(SECONDS)

    async def close(self) -> None:
        self.closed.set()

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(SECONDS)

    def ask(self, body: Any, method: str = "POST", path: str = "/mcp", **headers: Any) -> tuple[int, dict[str, str], Any]:
        """Send one request; gives status, headers and decoded body (None when it is empty)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            named = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
            connection.request(method, path, data, {name: value for name, value in named.items() if value is not None})
            return answer_of(connection.getresponse())
        finally:
            connection.close()

    def raw(self, data: bytes) -> socket.socket:
        """A connection on which these bytes were sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        connection.sendall(data)
        return connection


def answer_of(response: http.client.HTTPResponse) -> tuple[int, dict[str, str], Any]:
    body = response.read()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, json.loads(body) if body else None


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def make(**how: Any) -> Served:
        running.append(Served(**how))
        return running[-1]

    yield make
    for one in running:
        one.stop()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The server of those tests that leave nothing behind."""
    one = Served()
    yield one
    one.stop()


@pytest.fixture
def alone(serve: Callable[..., Served]) -> Served:
    """A server that no other test talks to."""
    return serve()


def request(method: str, params: dict[str, Any] | None = None, message_id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params or {}}


def modern(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    return request(method, {**(params or {}), "_meta": meta})


def bytes_of(message: Any, *headers: str, port: int = 0, host: str | None = None, method: str = "POST") -> bytes:
    body = json.dumps(message).encode()
    lines = [f"{method} /mcp HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def head_of(port: int, length: str) -> bytes:
    """The head of a request whose body the test sends itself."""
    return f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n{length}\r\n\r\n".encode()


MIRRORED = [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", "Mcp-Name: wait"]
PING = request("ping")


# ------------------------------------------------------------------------------------------------ messages


def test_a_request_is_answered_with_json(served: Served) -> None:
    status, headers, body = served.ask(request("initialize", {"protocolVersion": "2025-11-25"}))
    assert (status, headers["content-type"]) == (200, "application/json")
    assert body["result"]["protocolVersion"] == "2025-11-25"
    assert "mcp-session-id" not in headers  # stateless: none is issued
    assert "server" not in headers


def test_both_eras_are_answered_on_one_endpoint(served: Served) -> None:
    status, _, body = served.ask(
        modern("tools/call", {"name": "x"}), mcp_protocol_version=MODERN, mcp_method="tools/call", mcp_name="x"
    )
    assert (status, body["result"]["resultType"]) == (200, "complete")
    status, _, body = served.ask(request("tools/call", {"name": "x"}), mcp_protocol_version="2025-11-25")
    assert (status, "resultType" in body["result"]) == (200, False)


def test_a_notification_and_a_response_get_202_without_a_body(served: Served) -> None:
    for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}):
        status, headers, body = served.ask(message)
        assert (status, body, headers["content-length"]) == (202, None, "0")


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {}, 400, -32700),
        (b"", {}, 400, -32700),
        (b"{}", {}, 400, -32600),
        (request("nope"), {}, 200, -32601),
        (modern("nope"), {"mcp_protocol_version": MODERN, "mcp_method": "nope"}, 404, -32601),
        (modern("tools/list"), {}, 400, -32020),
        (modern("tools/list"), {"mcp_protocol_version": MODERN, "mcp_method": "tools/call"}, 400, -32020),
        (request("ping"), {"mcp_protocol_version": "2099-01-01"}, 400, -32022),
        (request("ping"), {"mcp_protocol_version": MODERN}, 400, -32602),
        ([request("ping")], {"mcp_protocol_version": "2025-11-25"}, 400, -32600),
    ],
)
def test_errors_have_the_status_the_specification_gives_them(
    served: Served, body: Any, headers: dict[str, str], status: int, code: int
) -> None:
    got, _, answer = served.ask(body, **headers)
    assert (got, answer["error"]["code"]) == (status, code)


def test_a_name_may_come_encoded_in_its_header(served: Served) -> None:
    message = modern("tools/call", {"name": "\u65e5\u672c"})
    headers = {"mcp_protocol_version": MODERN, "mcp_method": "tools/call"}
    assert served.ask(message, mcp_name="=?base64?5pel5pys?=", **headers)[0] == 200
    assert served.ask(message, mcp_name="=?base64?5pel?=", **headers)[2]["error"]["code"] == -32020


def test_a_header_that_came_twice_is_not_chosen_from(served: Served) -> None:
    with served.raw(
        bytes_of(modern("tools/call", {"name": "wait"}), *MIRRORED, "Mcp-Name: other", port=served.port)
    ) as connection:
        assert b"-32020" in connection.recv(65536)
    with served.raw(bytes_of(PING, "Host: evil.example", port=served.port)) as connection:
        assert b" 403 " in connection.recv(65536)


def test_one_connection_serves_many_requests(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=SECONDS)
    for number in range(50):
        connection.request("POST", "/mcp", json.dumps(request("ping", None, number)), {"content-type": "application/json"})
        assert answer_of(connection.getresponse())[2]["id"] == number
    connection.close()


# ------------------------------------------------------------------------------------------------ what HTTP brings


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])
def test_only_post_is_allowed(served: Served, method: str) -> None:
    status, headers, _ = served.ask(None, method)
    assert (status, headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("[::1]:{port}", 200),
        ("localhost", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("evil.example:{port}", 403),
        ("localhost.evil.example:{port}", 403),
        ("localhost:{port}@evil.example", 403),
        ("", 403),
    ],
)
def test_only_our_own_host_and_port_are_answered_to(served: Served, host: str, status: int) -> None:
    got, _, body = served.ask(PING, host=host.format(port=served.port))
    assert got == status
    if status == 403:
        assert f"127.0.0.1:{served.port}" in body["error"]["message"]


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://127.0.0.1:{port}", 200),
        ("http://localhost:{port}", 200),
        ("HTTP://LocalHost:{port}", 200),
        ("https://localhost:{port}", 403),
        ("http://localhost", 403),
        ("http://localhost:{port}.evil.example", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_only_our_own_pages_may_use_it(served: Served, origin: str | None, status: int) -> None:
    assert served.ask(PING, origin=origin and origin.format(port=served.port))[0] == status


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        (None, 415),
    ],
)
def test_only_json_is_taken(served: Served, content_type: str | None, status: int) -> None:
    assert served.ask(PING, content_type=content_type)[0] == status


def test_compressed_messages_are_refused(served: Served) -> None:
    assert served.ask(PING, content_encoding="gzip")[0] == 415
    assert served.ask(PING, content_encoding="identity")[0] == 200


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (None, 200),
        ("application/json, text/event-stream", 200),
        ("text/event-stream, application/json;q=0.5", 200),
        ("APPLICATION/JSON", 200),
        ("*/*", 200),
        ("application/*", 200),
        ("text/event-stream", 406),
        ("text/html", 406),
    ],
)
def test_a_client_must_take_json(served: Served, accept: str | None, status: int) -> None:
    assert served.ask(PING, accept=accept)[0] == status


def test_other_paths_are_404_and_livez_says_that_we_live(served: Served) -> None:
    for path in ("/", "/mcp/", "/mcpx", "/livez/x", "/%2e%2e/mcp"):
        status, headers, body = served.ask(PING, path=path)
        assert (status, headers["content-type"]) == (404, "application/json")
        assert "error" in body
    assert served.ask(None, "GET", "/livez", host="10.0.0.1")[::2] == (200, {"status": "ok"})
    assert served.ask(None, "POST", "/livez")[0] == 405


# ------------------------------------------------------------------------------------------------ bodies


def test_a_declared_body_over_the_limit_is_refused_and_the_connection_closed(served: Served) -> None:
    status, headers, body = served.ask(b" " * (LIMITS.message_bytes + 1))
    assert (status, headers["connection"]) == (413, "close")
    assert str(LIMITS.message_bytes) in body["error"]["message"]


def test_a_body_that_claims_to_be_huge_is_refused_before_it_comes(served: Served) -> None:
    head = head_of(served.port, f"Content-Length: {10**12}")
    with served.raw(head + b"x") as connection:
        assert b" 413 " in connection.recv(65536)
        assert connection.recv(65536) == b""


def test_a_chunked_body_over_the_limit_is_refused(served: Served) -> None:
    head = head_of(served.port, "Transfer-Encoding: chunked")
    with served.raw(head) as connection:
        chunk = b"%x\r\n" % (1 << 20) + b" " * (1 << 20) + b"\r\n"
        for _ in range(LIMITS.message_bytes // (1 << 20) + 1):
            connection.sendall(chunk)
        connection.sendall(b"0\r\n\r\n")
        assert b" 413 " in connection.recv(65536)


def test_a_body_at_the_limit_is_served(served: Served) -> None:
    message = json.dumps(request("ping", {"x": ""}))
    message = message.replace('"x": ""', '"x": "' + "a" * (LIMITS.message_bytes - len(message)) + '"')
    assert len(message) == LIMITS.message_bytes
    assert served.ask(message.encode())[0] == 200


def test_a_client_that_leaves_while_it_sends_is_forgotten(alone: Served) -> None:
    alone.raw(head_of(alone.port, "Content-Length: 100") + b"{").close()
    assert alone.ask(PING)[0] == 200
    assert not alone.faults


@pytest.mark.prove
def test_a_body_that_does_not_arrive_is_given_up(served: Served) -> None:
    with served.raw(head_of(served.port, "Content-Length: 100") + b"{") as connection:
        connection.settimeout(LIMITS.call_seconds + SECONDS)
        assert b" 408 " in connection.recv(65536)


# ------------------------------------------------------------------------------------------------ calls


def test_a_closed_connection_cancels_the_call_in_the_modern_era(alone: Served) -> None:
    connection = alone.raw(bytes_of(modern("tools/call", {"name": "wait"}), *MIRRORED, port=alone.port))
    assert alone.tools.began.acquire(timeout=SECONDS)
    connection.close()
    assert alone.tools.stopped.wait(SECONDS)
    assert alone.ask(PING)[0] == 200
    assert not alone.faults


def test_a_closed_connection_cancels_nothing_in_the_handshake_era(alone: Served) -> None:
    connection = alone.raw(bytes_of(request("tools/call", {"name": "wait"}), port=alone.port))
    assert alone.tools.began.acquire(timeout=SECONDS)
    connection.close()
    other = alone.raw(bytes_of(modern("tools/call", {"name": "wait"}), *MIRRORED, port=alone.port))
    assert alone.tools.began.acquire(timeout=SECONDS)
    alone.tools.let_go()
    assert b"200 OK" in other.recv(65536)
    other.close()
    assert not alone.tools.stopped.is_set()


def test_a_slow_call_is_answered_when_it_is_done(alone: Served) -> None:
    with alone.raw(bytes_of(modern("tools/call", {"name": "wait"}), *MIRRORED, port=alone.port)) as connection:
        assert alone.tools.began.acquire(timeout=SECONDS)
        assert alone.ask(PING)[0] == 200  # others are alone meanwhile
        alone.tools.let_go()
        assert b'"wait None"' in connection.recv(65536)


def test_more_calls_than_the_limit_are_turned_away_and_the_others_answered(alone: Served) -> None:
    with contextlib.ExitStack() as connections:
        waiting = [
            connections.enter_context(alone.raw(bytes_of(request("tools/call", {"name": "wait"}), port=alone.port)))
            for _ in range(PENDING_CALLS)
        ]
        for _ in waiting:
            assert alone.tools.began.acquire(timeout=SECONDS)
        status, headers, body = alone.ask(request("tools/call", {"name": "x"}))
        assert (status, headers["retry-after"]) == (503, "1")
        assert str(PENDING_CALLS) in body["error"]["message"]
        assert alone.ask(PING)[0] == 200  # what is answered at once still is
        alone.tools.let_go()
        for connection in waiting:
            assert b"200 OK" in connection.recv(65536)
    assert alone.ask(request("tools/call", {"name": "x"}))[0] == 200


def test_a_fault_of_a_provider_shows_nothing_to_the_client(alone: Served) -> None:
    status, _, body = alone.ask(request("tools/call", {"name": "breaks"}))
    assert (status, body["error"]) == (200, {"code": -32603, "message": "Internal error"})
    assert [type(fault) for fault in alone.faults] == [RuntimeError]


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_cancellation_that_a_provider_lets_escape_is_answered_all_the_same(alone: Served, era: str) -> None:
    params = {"name": "gives up"}
    if era == "modern":
        headers = {"mcp_protocol_version": MODERN, "mcp_method": "tools/call", "mcp_name": "gives up"}
        status, _, body = alone.ask(modern("tools/call", params), **headers)
    else:
        status, _, body = alone.ask(request("tools/call", params))
    assert (status, body["id"], body["error"]["code"]) == (200, 1, -32603)
    assert len(alone.faults) == 1


# ------------------------------------------------------------------------------------------------ who asks


def test_callers_are_authenticated_and_reach_the_provider(serve: Callable[..., Served]) -> None:
    served = serve(authenticate=lambda headers: {"Bearer good": "me"}.get(headers.get("authorization", "")))
    assert served.ask(request("tools/list"), authorization="Bearer good")[2]["result"]["tools"][0]["name"] == "me"
    for authorization in (None, "Bearer bad"):
        status, headers, _ = served.ask(request("tools/list"), authorization=authorization)
        assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert served.ask(None, "GET", "/livez")[0] == 200


def test_authentication_may_be_asynchronous(serve: Callable[..., Served]) -> None:
    async def authenticate(headers: Any) -> str | None:
        await asyncio.sleep(0)
        return "them" if "authorization" in headers else None

    served = serve(authenticate=authenticate)
    assert served.ask(request("tools/list"), authorization="x")[2]["result"]["tools"][0]["name"] == "them"
    assert served.ask(request("tools/list"))[0] == 401


def test_a_fault_of_authentication_lets_nobody_in_and_shows_nothing(serve: Callable[..., Served]) -> None:
    def authenticate(headers: Any) -> str:
        raise RuntimeError("the password is hunter2")

    served = serve(authenticate=authenticate)
    status, headers, body = served.ask(request("tools/list"))
    assert (status, headers["content-type"]) == (500, "application/json")
    assert "hunter2" not in json.dumps(body)
    assert len(served.faults) == 1


# ------------------------------------------------------------------------------------------------ the server


def test_stopping_it_closes_what_the_owner_opened_and_ends_with_zero() -> None:
    served = Served()
    assert served.server.url == f"http://127.0.0.1:{served.port}"
    assert not served.closed.is_set()
    served.stop()
    assert served.closed.is_set()
    assert served.codes == [0]
    with pytest.raises(ConnectionRefusedError):
        served.raw(b"")


@pytest.mark.parametrize("message", [request("tools/call", {"name": "wait"}), modern("tools/call", {"name": "wait"})])
def test_what_is_pending_too_long_when_it_stops_is_stopped_and_told_so(message: dict[str, Any]) -> None:
    served = Served(grace_seconds=0)
    mirrored = MIRRORED if "_meta" in message["params"] else []
    with served.raw(bytes_of(message, *mirrored, port=served.port)) as connection:
        assert served.tools.began.acquire(timeout=SECONDS)
        served.stop()
        assert b" 503 " in connection.recv(65536)
    assert served.tools.stopped.is_set()
    assert served.closed.is_set()
    assert served.codes == [0]
    assert not served.faults
