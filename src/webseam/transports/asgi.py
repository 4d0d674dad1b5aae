"""transports: MCP over Streamable HTTP (2026-07-28 and earlier, basic/transports/streamable-http), as a bare ASGI application.

`mcp_app` moves bytes between HTTP and the engine and holds no rule of MCP. What is decided here is what HTTP itself brings: who
may reach us (Host and Origin must match exactly, which is what stops DNS rebinding), how large and how slow a body may be, how
many calls may be pending and streams open, what belongs to which session, and what a closed connection means (`exchange`).

Sessions, and with them GET and DELETE, are there for engines whose providers need them in the handshake era (`sessions`).
Otherwise nothing is remembered, and every process is the same as every other. `webseam.transports.http` serves it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.jsonrpc import INTERNAL_ERROR, error_reply, shown
from webseam.protocol.outcome import lost, unanswered
from webseam.protocol.request import principal_of
from webseam.protocol.revisions import LISTEN, MODERN, RULES
from webseam.protocol.session import Session
from webseam.transports.background import Background
from webseam.transports.exchange import Begun, Exchange, Lookout, UnsentError, write_stream
from webseam.transports.requests import (
    BOTH,
    CLOSE,
    EVENT_RANGES,
    LARGE_DIGITS,
    RETRY,
    RETRY_AFTER_SECONDS,
    Answer,
    Count,
    Headers,
    accepts,
    at_once,
    check_length,
    check_message,
    first_event,
    text_of,
    whole_body,
)
from webseam.transports.sessions import Sessions
from webseam.transports.sse import Stream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping

    from webseam.protocol.engine import Engine
    from webseam.protocol.outcome import Outcome
    from webseam.protocol.request import Request
    from webseam.transports.sessions import HttpSession

    Scope = MutableMapping[str, Any]
    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]
    Send = Callable[[Event], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]
    Authenticate = Callable[[Mapping[str, str]], Any]
    Rest = Callable[[Receive, Send], Awaitable[Outcome | None]]

PENDING_CALLS = LIMITS.pending_calls * 4
_JSON = (b"content-type", b"application/json")
_CHALLENGE = (b"www-authenticate", b"Bearer")
_NO_SESSION_ID = "The Mcp-Session-Id header is missing: send the id that came with the answer to `initialize`."
_NO_SESSION = "There is no such session, or it has ended: begin another with `initialize`, without a session id."
_MODERN = frozenset(version.encode() for version in MODERN)


def mcp_app(
    engine: Engine,
    *,
    allowed_hosts: Collection[str],
    allowed_origins: Collection[str],
    authenticate: Authenticate | None = None,
    path: str = "/mcp",
    on_fault: Callable[[BaseException], None] | None = None,
    keep_alive_seconds: float = LIMITS.keep_alive_seconds,
    resumable_answers: bool = False,
) -> Application:
    """The engine as an ASGI application: POST at `path`, with sessions GET and DELETE as well; GET at `/livez`; else 404.

    `allowed_hosts` are `host:port` as a client writes them, `allowed_origins` are `scheme://host:port`; both are compared
    whole, in any case. A request without Origin is no browser's and is let in. `authenticate` is given the headers (names in
    lower case) and gives the caller, or an awaitable of it; None refuses with 401 (`bearer.bearer` makes one). A caller is a
    string, or an object whose `principal` is one: that is whose sessions, tasks and places are counted. Without it the caller
    is None. `on_fault` is told of what goes wrong here; by default that is the engine's. A stream on which nothing
    happens for `keep_alive_seconds` gets a comment. With `resumable_answers` everything in a session is answered by a stream,
    so that no answer is lost with its connection; without, what is answered at once is plain JSON.
    """
    _check_names("allowed_hosts", allowed_hosts, "mcp.example.com or 127.0.0.1:8377")
    _check_names("allowed_origins", allowed_origins, "https://app.example.com", scheme=True)
    if keep_alive_seconds <= 0:
        raise ValueError("keep_alive_seconds is the time between two comments on an idle stream: it must be above 0.")
    return Application(
        engine,
        allowed_hosts,
        allowed_origins,
        authenticate,
        path,
        on_fault or engine.on_fault,
        keep_alive_seconds,
        resumable_answers=resumable_answers,
    )


def _check_names(parameter: str, names: Collection[str], example: str, *, scheme: bool = False) -> None:
    """Refuse what nothing could ever be equal to."""
    if isinstance(names, str):
        raise TypeError(f"{parameter} is a collection of names, not one: [{names!r}].")
    for name in names:
        if not isinstance(name, str) or "/" in name.partition("://")[2 if scheme else 0] or ("://" in name) is not scheme:
            raise ValueError(f"{name!r} in {parameter} is not what a client would send: write it as {example}.")


class Application:
    """What `mcp_app` makes: an ASGI callable that can be told to stop."""

    def __init__(
        self,
        engine: Engine,
        hosts: Collection[str],
        origins: Collection[str],
        authenticate: Authenticate | None,
        path: str,
        on_fault: Callable[[BaseException], None] | None,
        keep_alive_seconds: float,
        *,
        resumable_answers: bool,
    ) -> None:
        self.engine = engine
        self.hosts = frozenset(host.lower().encode() for host in hosts)
        self.origins = frozenset(origin.lower().encode() for origin in origins)
        self.authenticate = authenticate
        self.path = path
        self.on_fault = on_fault
        self.keep_alive_seconds = keep_alive_seconds
        self.resumable_answers = resumable_answers
        self.sessions = Sessions()
        self.handshakes = not _MODERN.issuperset(version.encode() for version in engine.protocol_versions)
        self.background = Background(self.fault)
        self.lookout = Lookout()
        self.pending = Count(
            "calls are pending", PENDING_CALLS, LIMITS.pending_calls if authenticate is not None else PENDING_CALLS
        )
        self.streams = Count(
            "streams are open",
            LIMITS.open_streams,
            LIMITS.open_streams_per_caller if authenticate is not None else LIMITS.open_streams,
        )

    def stop(self) -> None:
        """End what is open without an end of its own: subscriptions, streams of sessions, tasks. For when the server stops."""
        self.engine.end_subscriptions()
        self.sessions.end_streams()
        self.background.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self.guarded(self.routed(scope, receive, send), send)
        else:
            await _not_http(scope, receive, send, self.stop)

    async def guarded(
        self, serving: Awaitable[Outcome | None], send: Send, answer: Callable[[int, bytes], bool] | None = None
    ) -> None:
        """Await what serves a request and send what it leaves to be sent, what it refuses, or that something went wrong.

        `answer(status, body)` sends JSON in a shorter way than `send`, or gives False.
        """
        try:
            try:
                left = await serving
                if left is None:
                    return
                if left.reply is None:
                    await _send(send, left.status, b"")
                elif answer is None or not answer(left.status, left.reply):
                    await _send(send, left.status, left.reply, _JSON)
            except Answer as refusal:
                await _send(send, refusal.status, refusal.body, _JSON, *refusal.headers)
        except UnsentError as unsent:
            error = unsent.__cause__ or unsent
            self.fault(error)
            raise error from None  # the server's own: it is the one to end the connection
        except Exception as error:  # noqa: BLE001  # the outermost loop: a client must never see what went wrong inside
            self.fault(error)
            await _send(send, 500, error_reply(None, INTERNAL_ERROR, "Internal error"), _JSON, CLOSE)

    async def routed(self, scope: Scope, receive: Receive, send: Send) -> Outcome | None:
        """What is at the path that is asked for. Raises `Answer`."""
        if scope["path"] != self.path and not self.mounted(scope):
            body = self.elsewhere(scope)
            await _send(send, 200, body, _JSON)
            return None
        headers = Headers(scope["headers"])
        self.check(headers.raw)
        return await self.serve(scope["method"], headers, self.caller_of(headers), receive, send)

    def caller_of(self, headers: Headers) -> Any:
        """Who calls, or an awaitable of it; None when nobody is known."""
        return self.authenticate(headers) if self.authenticate is not None else None

    def head(self, fields: Collection[tuple[bytes, bytes]]) -> Headers | None:
        """The headers of a POST to `path`, if by them alone it may be one for `at_once`; None where it must go by ASGI."""
        if self.resumable_answers or self.has_sessions:
            return None
        try:
            headers = Headers(fields)
            self.check(headers.raw)
            check_message(headers.raw)
        except Answer:  # said again, and to whom it is due, by `serve`
            return None
        return headers

    def at_once(self, headers: Headers, body: bytes) -> Outcome | Rest:
        """What becomes of a message, for a server that has the whole of it already: the JSON answer where there is one at
        once, else what is left to be awaited. `headers` are from `head`, of this request or of an earlier one that had the
        same: who calls is asked each time.

        What answers at once, `authenticate` or a provider's plain function, runs in no task here: `asyncio.current_task()` is
        None. This is how most calls go, without the dictionaries and the steps of ASGI, which cost more than a small call does.
        """
        try:
            caller = self.caller_of(headers)
            if hasattr(caller, "__await__"):
                return partial(self.later, caller, headers, body)
            self.check_caller(caller)
            outcome = self.engine.receive(body, caller, None, headers)
        except BaseException as error:  # noqa: BLE001  # what asked would take it for its own: it is answered where all are
            return partial(_raise, error)
        if outcome.request is not None:
            return partial(self.work, outcome, outcome.request, None, headers.raw)
        if outcome.before or outcome.reply is None:
            return partial(self.concluded, outcome, caller, None, (), headers.raw)
        return outcome

    async def later(
        self, caller: Awaitable[Any], headers: Headers, body: bytes, receive: Receive, send: Send
    ) -> Outcome | None:
        """What `at_once` does when it takes a while to say who calls."""
        known = await caller
        self.check_caller(known)
        outcome = self.engine.receive(body, known, None, headers)
        return await self.concluded(outcome, known, None, (), headers.raw, receive, send)

    def check_caller(self, caller: Any) -> None:
        """Raises `Answer`."""
        if caller is None and self.authenticate is not None:
            raise Answer(401, "This server wants a valid token: send it as `Authorization: Bearer ...`.", _CHALLENGE)

    async def serve(self, method: str, headers: Headers, caller: Any, receive: Receive, send: Send) -> Outcome | None:
        """One request to the endpoint; gives what is left to be sent. Raises `Answer`."""
        if hasattr(caller, "__await__"):
            caller = await caller
        self.check_caller(caller)
        if method != "POST":
            await self.without_message(method, headers.raw, principal_of(caller), receive, send)
            return None
        check_message(headers.raw)
        remembers = self.has_sessions
        session = self.session_of(headers.raw, caller) if remembers else None
        if len(headers.raw.get(b"content-length", b"")) >= LARGE_DIGITS:
            check_length(headers.raw)
        event, receiving = at_once(receive())
        if event is None:
            event = await first_event(receiving)
        body: bytes | None = event.get("body", b"")
        if event["type"] != "http.request" or event.get("more_body") or len(body or b"") > LIMITS.message_bytes:
            body = await whole_body(event, headers.raw, receive)
        if body is None:
            return None
        if session is not None and session.ended:  # while the body was on its way
            raise Answer(404, _NO_SESSION)
        extra: tuple[tuple[bytes, bytes], ...] = ()
        if session is not None or not remembers or headers.raw.get(b"mcp-protocol-version") in _MODERN:
            outcome = self.engine.receive(body, caller, session.protocol if session is not None else None, headers)
        else:
            outcome, session, extra = self.without_session(body, caller, headers)
        return await self.concluded(outcome, caller, session, extra, headers.raw, receive, send)

    async def concluded(
        self,
        outcome: Outcome,
        caller: Any,
        session: HttpSession | None,
        extra: tuple[tuple[bytes, bytes], ...],
        headers: Mapping[bytes, bytes],
        receive: Receive,
        send: Send,
    ) -> Outcome | None:
        """Await what a message leads to, and write what must be a stream; gives what is left to be sent. Raises `Answer`."""
        if outcome.request is not None:
            return await self.work(outcome, outcome.request, session, headers, receive, send)
        if outcome.before or self.resumable_answers:
            resumable = session if self.resumable_answers and outcome.reply is not None else None
            principal = principal_of(caller)
            streaming = (outcome.before or resumable) and accepts(headers.get(b"accept", b""), EVENT_RANGES)
            if streaming and not self.pending.full(principal):  # else the answer alone, in one piece
                self.pending.take(principal)  # to be written takes as long as the client likes
                try:
                    stream = _whole_stream(outcome, resumable)
                    await write_stream(stream, send, self.keep_alive_seconds, more_headers=extra)
                finally:
                    self.pending.give(principal)
                return None
        if extra:
            await _send(send, outcome.status, outcome.reply or b"", *((_JSON,) if outcome.reply is not None else ()), *extra)
            return None
        return outcome

    def mounted(self, scope: Scope) -> bool:
        """Whether the path is ours below where another application has us, or a proxy: there ours may also be all of it."""
        root = scope.get("root_path", "").rstrip("/")
        below = scope["path"].removeprefix(root)
        return bool(root) and scope["path"].startswith(root) and below in (self.path, "", "/")

    def elsewhere(self, scope: Scope) -> bytes:
        """What there is besides. Raises `Answer`."""
        if scope["path"].removeprefix(scope.get("root_path", "")) == "/livez":
            if scope["method"] not in ("GET", "HEAD"):
                raise Answer(405, "Ask with GET.", (b"allow", b"GET, HEAD"))
            return b'{"status":"ok"}'
        raise Answer(404, f"There is nothing at {shown(str(scope['path']))!r}: messages are sent to {self.path!r}.")

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse who may not reach us. Raises `Answer`."""
        host = headers.get(b"host", b"")
        if host not in self.hosts and host.lower() not in self.hosts:
            raise Answer(403, f"This server does not answer to the Host {text_of(host)!r}: use {self.named(self.hosts)}.")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.origins:
            raise Answer(403, f"Pages of {text_of(origin)!r} may not use this server; those of {self.named(self.origins)} may.")

    def fault(self, error: BaseException) -> None:
        if self.on_fault is not None:
            self.on_fault(error)

    @staticmethod
    def named(names: Collection[bytes]) -> str:
        return ", ".join(sorted(name.decode() for name in names)) or "none"

    # -------------------------------------------------------------------------------------------- sessions

    @property
    def has_sessions(self) -> bool:
        """Whether there is anything to remember: a provider needs it, and a revision that has sessions is served."""
        return self.handshakes and self.engine.needs_sessions

    def session_of(self, headers: Mapping[bytes, bytes], caller: Any) -> HttpSession | None:
        """The session that the request names; None when it names none, or is of an era that has none. Raises `Answer`."""
        session_id = headers.get(b"mcp-session-id")
        if session_id is None or headers.get(b"mcp-protocol-version") in _MODERN:
            return None
        session = self.sessions.get(session_id.decode("latin-1"), principal_of(caller))
        if session is None:
            raise Answer(404, _NO_SESSION)
        return session

    def without_session(
        self, body: bytes, caller: Any, headers: Headers
    ) -> tuple[Outcome, HttpSession | None, tuple[tuple[bytes, bytes], ...]]:
        """What becomes of a message that names no session: `initialize` begins one. Raises `Answer`."""
        protocol = Session(handshake_first=True)
        outcome = self.engine.receive(body, caller, protocol, headers)
        if protocol.revision is None:
            if outcome.status == 202:  # a response: without its session it answers nothing
                raise Answer(400, _NO_SESSION_ID)
            return outcome, None, ()
        session = self.sessions.add(protocol)
        if session is None:
            raise Answer(
                503, f"There are as many sessions as this server keeps: end one, or try again in {RETRY_AFTER_SECONDS} s.",
                RETRY, code=INTERNAL_ERROR,
            )  # fmt: skip
        return outcome, session, ((b"mcp-session-id", session.id.encode()),)

    async def without_message(
        self, method: str, headers: Mapping[bytes, bytes], principal: str, receive: Receive, send: Send
    ) -> None:
        """GET opens the stream of a session, DELETE ends one (2025-11-25, basic/transports). Raises `Answer`."""
        if not self.has_sessions:
            raise Answer(405, "Messages are sent with POST.", (b"allow", b"POST"))
        if method not in ("GET", "DELETE") or headers.get(b"mcp-protocol-version") in _MODERN:
            raise Answer(405, "Messages are sent with POST.", (b"allow", b"DELETE, GET, POST"))
        version = headers.get(b"mcp-protocol-version")
        if version is not None and version.decode("latin-1") not in self.engine.protocol_versions:
            raise Answer(400, f"MCP {text_of(version)!r} is not served: {', '.join(self.engine.protocol_versions)} are.")
        session_id = headers.get(b"mcp-session-id")
        if session_id is None:
            raise Answer(400, _NO_SESSION_ID)
        session = self.sessions.get(session_id.decode("latin-1"), principal)
        if session is None:
            raise Answer(404, _NO_SESSION)
        if method == "DELETE":
            self.sessions.end(session)
            await _send(send, 204, b"")
            return
        if not accepts(headers.get(b"accept", b""), EVENT_RANGES):
            raise Answer(406, "A GET opens an event stream: send `Accept: text/event-stream`.")
        if self.streams.full(principal):
            raise self.streams.refusal(principal)
        self.streams.take(principal)
        try:
            await self.stream_of(session, headers.get(b"last-event-id"), receive, send)
        finally:
            self.streams.give(principal)

    async def stream_of(self, session: HttpSession, last_event_id: bytes | None, receive: Receive, send: Send) -> None:
        """Write a stream of the session until it ends or the client leaves. Raises `Answer`."""
        stream, after = session.general, session.general.written
        if last_event_id is not None:
            found = session.resumable(last_event_id.decode("latin-1"))
            if found is None:
                raise Answer(400, "What came after this Last-Event-ID is not kept any more: open a stream without it.")
            stream, after = found
        writer = asyncio.ensure_future(write_stream(stream, send, self.keep_alive_seconds, after))
        stream.overrun = writer.cancel
        watcher = asyncio.ensure_future(_left(receive))
        try:
            done, _ = await asyncio.wait({writer, watcher}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (writer, watcher):
                task.cancel()
        if writer in done and not writer.cancelled():
            writer.result()  # raises what went wrong

    # -------------------------------------------------------------------------------------------- answers

    async def work(
        self,
        outcome: Outcome,
        request: Request,
        session: HttpSession | None,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        send: Send,
    ) -> Outcome | None:
        """Await what is to be awaited; gives what is to be answered, None when nothing is (any more). Raises `Answer`.

        The first step is taken at once: most that does not wait for anything is done by then, and needs no looking after.
        """
        work = outcome.work
        assert work is not None
        count = self.pending if request.method != LISTEN else self.streams
        principal = principal_of(request.caller)
        if count.full(principal):
            outcome.abandon()
            raise count.refusal(principal)
        accept = headers.get(b"accept", b"")
        streaming = accept == BOTH or accepts(accept, EVENT_RANGES)
        resumes = self.resumable_answers and streaming and session is not None
        exchange = Exchange(request, receive, send, self.background, session, self.keep_alive_seconds, streaming, resumes)
        if streaming:
            request.attach(exchange)
        taken = False
        try:
            try:
                waited = work.send(None)
            except StopIteration as done:
                settled: Outcome | None = done.value
            except asyncio.CancelledError as error:
                settled = self.cancelled(error, request, exchange)
            else:
                exchange.waits()
                count.take(principal)
                taken = True
                self.lookout.add(exchange)
                try:
                    settled = await Begun(work, waited)
                except asyncio.CancelledError as error:
                    settled = self.cancelled(error, request, exchange)
                finally:
                    self.lookout.remove(exchange)
            if request.cancelled and request.modern:
                settled = None
            if settled is not None and exchange.resumable:
                exchange.begin()
            if exchange.stream is not None:
                if not taken:
                    count.take(principal)  # to be written takes as long as the client likes
                    taken = True
                await exchange.finish(None if settled is None else settled.reply)
                return None
        finally:
            exchange.close()
            if taken:
                count.give(principal)
        if settled is not None and settled.reply is not None:
            return settled
        return None if request.modern else unanswered()  # cancelled by a message of its own: the client may still be there

    def cancelled(self, error: BaseException, request: Request, exchange: Exchange) -> Outcome | None:
        """What is left to say after the work was cancelled. Raises `Answer`."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            if request.cancelled:  # that was the client
                task.uncancel()
                return None
            exchange.close()  # at once: whoever does not read would keep us from stopping
            if exchange.stream is not None:
                return None
            raise Answer(503, "This server is stopping: try again.", RETRY, CLOSE, code=INTERNAL_ERROR)
        self.fault(error)
        return lost(request)


async def _raise(error: BaseException, _receive: Receive, _send: Send) -> None:
    raise error


async def _left(receive: Receive) -> None:
    """Returns when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


# ------------------------------------------------------------------------------------------------ answers


async def _send(send: Send, status: int, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    fields = [*headers, (b"content-length", b"%d" % len(body))] if status != 204 else [*headers]  # RFC 9110, section 8.6
    try:
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": body})
    except OSError:  # how some servers say that the client has left
        pass
    except Exception as error:  # whatever a server raises
        raise UnsentError from error


def _whole_stream(outcome: Outcome, session: HttpSession | None) -> Stream:
    """The messages that a provider sent before it answered at once, and the answer."""
    stream = Stream() if session is None else session.open_stream()
    if session is not None and RULES[session.protocol.revision or ""].primed_streams:
        stream.prime()
    for message in outcome.before or ():
        stream.put(message)
    stream.end(outcome.reply)
    return stream


async def _not_http(scope: Scope, receive: Receive, send: Send, stop: Callable[[], None]) -> None:
    """The other things a server may offer: what is open ends with it, and there are no WebSockets here."""
    if scope["type"] == "lifespan":
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        stop()
        await send({"type": "lifespan.shutdown.complete"})
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1002})
