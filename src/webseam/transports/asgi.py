"""transports: MCP over Streamable HTTP (2026-07-28 and earlier, basic/transports/streamable-http), as a bare ASGI application.

`mcp_app` moves bytes between HTTP and the engine and holds no rule of MCP. What is decided here is what HTTP itself brings: who
may reach us (Host and Origin must match exactly, which is what stops DNS rebinding), how large and how slow a body may be, how
many calls may be pending, and that in the modern era a closed connection is a cancellation.

No session is issued and nothing is streamed: every request is answered with JSON, and every process is the same as every
other. `webseam.transports.http` serves it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.codec import encode
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, error_reply, shown
from webseam.protocol.outcome import lost

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping

    from webseam.protocol.engine import Engine
    from webseam.protocol.outcome import Outcome

    Scope = MutableMapping[str, Any]
    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]
    Authenticate = Callable[[Mapping[str, str]], Any]

PENDING_CALLS = LIMITS.pending_calls * 4
BODY_SECONDS = LIMITS.call_seconds
WATCH_AFTER_SECONDS = 0.05
"""A call that is answered sooner is not worth watching the connection for."""
RETRY_AFTER_SECONDS = 1

_JSON = (b"content-type", b"application/json")
_CLOSE = (b"connection", b"close")
_RETRY = (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)
_CHALLENGE = (b"www-authenticate", b"Bearer")


def mcp_app(
    engine: Engine,
    *,
    allowed_hosts: Collection[str],
    allowed_origins: Collection[str],
    authenticate: Authenticate | None = None,
    path: str = "/mcp",
    on_fault: Callable[[BaseException], None] | None = None,
) -> App:
    """The engine as an ASGI application: POST at `path`, GET at `/livez`, 404 elsewhere.

    `allowed_hosts` are `host:port` as a client writes them, `allowed_origins` are `scheme://host:port`; both are compared
    whole, in any case. A request without Origin is no browser's and is let in. `authenticate` is given the headers (names in
    lower case) and gives the caller, or an awaitable of it; None refuses with 401. Without it the caller is None. `on_fault` is
    told of what goes wrong here; by default that is the engine's.
    """
    return _Application(engine, allowed_hosts, allowed_origins, authenticate, path, on_fault or engine.on_fault)


class _Answer(Exception):  # noqa: N818  # it is how a check answers, not an error of ours
    """An answer that ends the request here."""

    def __init__(self, status: int, text: str, *headers: tuple[bytes, bytes], code: int = INVALID_REQUEST) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers
        self.body = encode({"jsonrpc": "2.0", "error": {"code": code, "message": text}})


class _Application:
    def __init__(
        self,
        engine: Engine,
        hosts: Collection[str],
        origins: Collection[str],
        authenticate: Authenticate | None,
        path: str,
        on_fault: Callable[[BaseException], None] | None,
    ) -> None:
        self.engine = engine
        self.hosts = frozenset(host.lower().encode() for host in hosts)
        self.origins = frozenset(origin.lower().encode() for origin in origins)
        self.authenticate = authenticate
        self.path = path
        self.on_fault = on_fault
        self.pending = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _not_http(scope, receive, send)
            return
        try:
            if scope["path"] != self.path:
                body = _elsewhere(scope)
                await _send(send, 200, body, _JSON)
                return
            outcome = await self.outcome(scope, receive)
            if outcome is not None:
                await self.settle(outcome, receive, send)
        except _Answer as answer:
            await _send(send, answer.status, answer.body, _JSON, *answer.headers)
        except Exception as error:  # noqa: BLE001  # the outermost loop: a client must never see what went wrong inside
            self.fault(error)
            await _send(send, 500, error_reply(None, INTERNAL_ERROR, "Internal error"), _JSON, _CLOSE)

    async def outcome(self, scope: Scope, receive: Receive) -> Outcome | None:
        """What the engine makes of the request; None when the client left before it was complete. Raises `_Answer`."""
        fields = scope["headers"]
        headers = dict(fields)
        if len(headers) != len(fields):
            headers = _combined(fields)
        self.check(scope["method"], headers)
        caller = None
        if self.authenticate is not None:
            caller = self.authenticate({name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()})
            if hasattr(caller, "__await__"):
                caller = await caller
            if caller is None:
                raise _Answer(401, "This server wants a valid token: send it as `Authorization: Bearer ...`.", _CHALLENGE)
        body = await _body(headers, receive)
        if body is None:
            return None
        mirrored = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items() if name.startswith(b"mcp-")
        }
        return self.engine.receive(body, caller, None, mirrored)

    def check(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Refuse what HTTP alone tells to be wrong. Raises `_Answer`."""
        host = headers.get(b"host", b"")
        if host not in self.hosts and host.lower() not in self.hosts:
            raise _Answer(403, f"This server does not answer to the Host {_text(host)!r}: use {self.named(self.hosts)}.")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.origins:
            raise _Answer(403, f"Pages of {_text(origin)!r} may not use this server; those of {self.named(self.origins)} may.")
        if method != "POST":
            raise _Answer(405, "Messages are sent with POST.", (b"allow", b"POST"))
        content_type = headers.get(b"content-type", b"")
        if content_type != b"application/json" and not _is_json(content_type):
            raise _Answer(415, "Messages are sent as `Content-Type: application/json`.")
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise _Answer(415, "Messages are sent without a Content-Encoding.")
        accept = headers.get(b"accept")
        if accept is not None and not _accepts_json(accept):
            raise _Answer(406, "Answers are application/json: send `Accept: application/json, text/event-stream`.")

    def fault(self, error: BaseException) -> None:
        if self.on_fault is not None:
            self.on_fault(error)

    @staticmethod
    def named(names: Collection[bytes]) -> str:
        return ", ".join(sorted(name.decode() for name in names)) or "none"

    async def settle(self, outcome: Outcome, receive: Receive, send: Send) -> None:
        """Await what is to be awaited, and answer."""
        settled: Outcome | None = outcome
        if outcome.work is not None:
            if self.pending >= PENDING_CALLS:
                outcome.abandon()
                raise _busy()
            self.pending += 1
            try:
                if outcome.request is not None and outcome.request.modern:
                    settled = await _watched(outcome, receive)
                else:
                    settled = await outcome.work  # before 2026-07-28 a client that disconnects has not cancelled
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is not None and task.cancelling():  # the server stops, and has waited long enough
                    raise _Answer(503, "This server is stopping: try again.", _RETRY, _CLOSE, code=INTERNAL_ERROR) from None
                assert outcome.request is not None
                self.fault(error)
                settled = lost(outcome.request)
            finally:
                self.pending -= 1
        if settled is None:
            return
        if settled.reply is None:
            await _send(send, settled.status, b"")
        else:
            await _send(send, settled.status, settled.reply, _JSON)


async def _watched(outcome: Outcome, receive: Receive) -> Outcome | None:
    """The settled outcome; None once the client has closed the connection, which cancels the request (2026-07-28,
    basic/transports/streamable-http, "Cancellation")."""
    request = outcome.request
    assert outcome.work is not None
    assert request is not None
    loop = asyncio.get_running_loop()
    work = loop.create_task(outcome.work)
    request.on_cancel(work.cancel)
    watchers: list[asyncio.Task[None]] = []

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        request.cancel()

    timer = loop.call_later(WATCH_AFTER_SECONDS, lambda: watchers.append(loop.create_task(watch())))
    try:
        settled = await work
        return None if request.cancelled else settled
    except asyncio.CancelledError:
        if not request.cancelled:  # it was not the client
            request.cancel()
            raise
        return None
    finally:
        timer.cancel()
        for watcher in watchers:
            watcher.cancel()


# ------------------------------------------------------------------------------------------------ requests


async def _body(headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
    """The whole body; None when the client left. Raises `_Answer` when it is too large or takes too long."""
    limit = LIMITS.message_bytes
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise _Answer(400, "The Content-Length header is not a number.", _CLOSE)
    declared = int(length[:20])
    if declared > 2 * limit:
        raise _too_large()
    event = await receive()
    if event["type"] == "http.request" and not event.get("more_body"):
        body: bytes = event.get("body", b"")
        if len(body) > limit:
            raise _too_large()
        return body
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while event["type"] == "http.request":
                piece = event.get("body", b"")
                size += len(piece)
                if size > 2 * limit:
                    raise _too_large()
                if max(size, declared) <= limit:
                    pieces.append(piece)
                else:  # dropped, but read to its end: a client that is still sending would not see the answer
                    pieces.clear()
                if not event.get("more_body"):
                    break
                event = await receive()
            else:
                return None
    except TimeoutError:
        raise _Answer(408, f"The message did not arrive within {BODY_SECONDS:.0f} s.", _CLOSE) from None
    if max(size, declared) > limit:
        raise _too_large()
    return b"".join(pieces)


def _too_large() -> _Answer:
    return _Answer(413, f"A message may have at most {LIMITS.message_bytes} bytes.", _CLOSE)


def _busy() -> _Answer:
    text = f"{PENDING_CALLS} calls are pending, as many as this server takes on: try again in {RETRY_AFTER_SECONDS} s."
    return _Answer(503, text, _RETRY, code=INTERNAL_ERROR)


def _combined(fields: Collection[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers of which some came more than once, joined (RFC 9110, section 5.2): so that none is chosen over another."""
    headers: dict[bytes, bytes] = {}
    for name, value in fields:
        headers[name] = headers[name] + b", " + value if name in headers else value
    return headers


def _is_json(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


def _accepts_json(accept: bytes) -> bool:
    """Whether JSON is among what is accepted. Clients must accept event streams as well, but none of our answers is one."""
    ranges = [part.partition(b";")[0].strip().lower() for part in accept.split(b",")]
    return any(wanted in (b"application/json", b"application/*", b"*/*") for wanted in ranges)


def _text(value: bytes) -> str:
    return shown(value.decode("latin-1"))


# ------------------------------------------------------------------------------------------------ answers


def _elsewhere(scope: Scope) -> bytes:
    if scope["path"] == "/livez":
        if scope["method"] not in ("GET", "HEAD"):
            raise _Answer(405, "Ask with GET.", (b"allow", b"GET, HEAD"))
        return b'{"status":"ok"}'
    raise _Answer(404, f"There is nothing at {shown(str(scope['path']))!r}.")


async def _send(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


async def _not_http(scope: Scope, receive: Receive, send: Send) -> None:
    """The other things a server may offer: it starts and stops without us, and there are no WebSockets here."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1002})
