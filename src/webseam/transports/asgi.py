"""transports: MCP over Streamable HTTP (2026-07-28 and earlier, basic/transports/streamable-http), as a bare ASGI application.

`mcp_app` moves bytes between HTTP and the engine and holds no rule of MCP. What is decided here is what HTTP itself brings: who
may reach us (Host and Origin must match exactly, which is what stops DNS rebinding), how large and how slow a body may be, how
many calls may be pending and streams open, what belongs to which session, and what a closed connection means (`exchange`).

Sessions, and with them GET and DELETE, are there for engines whose providers need them in the handshake era (`sessions`).
Otherwise nothing is remembered, and every process is the same as every other. `webseam.transports.http` serves it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.codec import encode
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, error_reply, shown
from webseam.protocol.outcome import lost, unanswered
from webseam.protocol.request import principal_of
from webseam.protocol.revisions import MODERN, RULES
from webseam.protocol.session import Session
from webseam.transports.background import Background
from webseam.transports.exchange import Begun, Exchange, Lookout, UnsentError, write_stream
from webseam.transports.sessions import Sessions
from webseam.transports.sse import Stream

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping

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

PENDING_CALLS = LIMITS.pending_calls * 4
BODY_SECONDS = LIMITS.call_seconds
DROPPED_BYTES = LIMITS.message_bytes * 7
"""How much of a message that is too large is read all the same: a client that is still sending would not see the answer."""
RETRY_AFTER_SECONDS = 1
LISTEN = "subscriptions/listen"
ANSWER = "webseam.answer"
"""The extension of ASGI by which our own server is told of a whole answer: `answer(send, status, body)`, False if it cannot."""

LARGE_HEAD = (
    f"The headers are too large: send at most {LIMITS.header_count}, and {LIMITS.header_bytes // 1024} KB of them altogether."
)

_NOTHING: dict[str, Any] = {}

_JSON = (b"content-type", b"application/json")
_CLOSE = (b"connection", b"close")
_RETRY = (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)
_CHALLENGE = (b"www-authenticate", b"Bearer")
_LARGE_DIGITS = len(str(LIMITS.message_bytes))
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
    application = Application(
        engine, allowed_hosts, allowed_origins, authenticate, path, on_fault or engine.on_fault, keep_alive_seconds
    )
    application.resumable_answers = resumable_answers
    return application


def _check_names(parameter: str, names: Collection[str], example: str, *, scheme: bool = False) -> None:
    """Refuse what nothing could ever be equal to."""
    if isinstance(names, str):
        raise TypeError(f"{parameter} is a collection of names, not one: [{names!r}].")
    for name in names:
        if not isinstance(name, str) or "/" in name.partition("://")[2 if scheme else 0] or ("://" in name) is not scheme:
            raise ValueError(f"{name!r} in {parameter} is not what a client would send: write it as {example}.")


class _Answer(Exception):  # noqa: N818  # it is how a check answers, not an error of ours
    """An answer that ends the request here."""

    def __init__(self, status: int, text: str, *headers: tuple[bytes, bytes], code: int = INVALID_REQUEST) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers
        self.body = encode({"jsonrpc": "2.0", "error": {"code": code, "message": text}})


if TYPE_CHECKING:
    _Mapping = Mapping[str, str]
else:
    _Mapping = object  # an instance of an abstract class takes twice as long to make


class Headers(_Mapping):
    """The headers of a request by lower-case name, decoded when they are asked for: most never are."""

    __slots__ = ("raw",)

    def __init__(self, fields: Collection[tuple[bytes, bytes]]) -> None:
        """Raises `_Answer` when there are too many."""
        if len(fields) > LIMITS.header_count:
            raise _Answer(431, LARGE_HEAD, _CLOSE)
        self.raw = dict(fields)
        if len(self.raw) != len(fields):
            self.raw = _combined(fields)

    def get(self, name: str, default: Any = None) -> Any:
        value = self.raw.get(name.encode())
        return default if value is None else value.strip(b" \t").decode("latin-1")  # RFC 9110, section 5.5

    def __getitem__(self, name: str) -> str:
        return self.raw[name.encode()].strip(b" \t").decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1") for name in self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.encode() in self.raw

    def keys(self) -> KeysView[str]:
        return KeysView(self)

    def items(self) -> ItemsView[str, str]:
        return ItemsView(self)

    def values(self) -> ValuesView[str]:
        return ValuesView(self)


Mapping.register(Headers)


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
    ) -> None:
        self.engine = engine
        self.hosts = frozenset(host.lower().encode() for host in hosts)
        self.origins = frozenset(origin.lower().encode() for origin in origins)
        self.authenticate = authenticate
        self.path = path
        self.on_fault = on_fault
        self.keep_alive_seconds = keep_alive_seconds
        self.resumable_answers = False
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
        if scope["type"] != "http":
            await _not_http(scope, receive, send, self.stop)
            return
        try:
            try:
                if scope["path"] != self.path and not self.mounted(scope):
                    body = self.elsewhere(scope)
                    await _send(send, 200, body, _JSON)
                    return
                await self.serve(scope, Headers(scope["headers"]), receive, send)
            except _Answer as answer:
                await _send(send, answer.status, answer.body, _JSON, *answer.headers)
        except UnsentError as unsent:
            error = unsent.__cause__ or unsent
            self.fault(error)
            raise error from None  # the server's own: it is the one to end the connection
        except Exception as error:  # noqa: BLE001  # the outermost loop: a client must never see what went wrong inside
            self.fault(error)
            await _send(send, 500, error_reply(None, INTERNAL_ERROR, "Internal error"), _JSON, _CLOSE)

    async def serve(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """One request to the endpoint. Raises `_Answer`."""
        self.check(headers.raw)
        caller = None
        if self.authenticate is not None:
            caller = self.authenticate(headers)
            if hasattr(caller, "__await__"):
                caller = await caller
            if caller is None:
                raise _Answer(401, "This server wants a valid token: send it as `Authorization: Bearer ...`.", _CHALLENGE)
        if scope["method"] != "POST":
            await self.without_message(scope["method"], headers.raw, principal_of(caller), receive, send)
            return
        _check_message(headers.raw)
        remembers = self.has_sessions
        session = self.session_of(headers.raw, caller) if remembers else None
        if len(headers.raw.get(b"content-length", b"")) >= _LARGE_DIGITS:
            _check_length(headers.raw)
        event, receiving = _at_once(receive())
        if event is None:
            event = await _slowly(receiving)
        body: bytes | None = event.get("body", b"")
        if event["type"] != "http.request" or event.get("more_body") or len(body or b"") > LIMITS.message_bytes:
            body = await _body(event, headers.raw, receive)
        if body is None:
            return
        if session is not None and session.ended:  # while the body was on its way
            raise _Answer(404, _NO_SESSION)
        if session is not None or not remembers or headers.raw.get(b"mcp-protocol-version") in _MODERN:
            outcome = self.engine.receive(body, caller, session.protocol if session is not None else None, headers)
            extra: tuple[tuple[bytes, bytes], ...] = ()
        else:
            outcome, session, extra = self.without_session(body, caller, headers)
        if outcome.request is not None:
            settled = await self.work(outcome, outcome.request, session, headers.raw, receive, send)
            if settled is None:
                return
            outcome = settled
        elif outcome.before or self.resumable_answers:
            resumable = session if self.resumable_answers and outcome.reply is not None else None
            principal = principal_of(caller)
            streaming = (outcome.before or resumable) and _accepts(headers.raw.get(b"accept", b""), _EVENT_RANGES)
            if streaming and not self.pending.full(principal):  # else the answer alone, in one piece
                self.pending.take(principal)  # to be written takes as long as the client likes
                try:
                    stream = _whole_stream(outcome, resumable)
                    await write_stream(stream, send, self.keep_alive_seconds, more_headers=extra)
                finally:
                    self.pending.give(principal)
                return
        if outcome.reply is None:
            await _send(send, outcome.status, b"", *extra)
            return
        answer = scope.get("extensions", _NOTHING).get(ANSWER)  # our own server has a shorter way
        if extra or answer is None or not answer(send, outcome.status, outcome.reply):
            await _send(send, outcome.status, outcome.reply, _JSON, *extra)

    def mounted(self, scope: Scope) -> bool:
        """Whether the path is ours below where another application has us, or a proxy: there ours may also be all of it."""
        root = scope.get("root_path", "").rstrip("/")
        below = scope["path"].removeprefix(root)
        return bool(root) and scope["path"].startswith(root) and below in (self.path, "", "/")

    def elsewhere(self, scope: Scope) -> bytes:
        """What there is besides. Raises `_Answer`."""
        if scope["path"].removeprefix(scope.get("root_path", "")) == "/livez":
            if scope["method"] not in ("GET", "HEAD"):
                raise _Answer(405, "Ask with GET.", (b"allow", b"GET, HEAD"))
            return b'{"status":"ok"}'
        raise _Answer(404, f"There is nothing at {shown(str(scope['path']))!r}: messages are sent to {self.path!r}.")

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Refuse who may not reach us. Raises `_Answer`."""
        host = headers.get(b"host", b"")
        if host not in self.hosts and host.lower() not in self.hosts:
            raise _Answer(403, f"This server does not answer to the Host {_text(host)!r}: use {self.named(self.hosts)}.")
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() not in self.origins:
            raise _Answer(403, f"Pages of {_text(origin)!r} may not use this server; those of {self.named(self.origins)} may.")

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
        """The session that the request names; None when it names none, or is of an era that has none. Raises `_Answer`."""
        session_id = headers.get(b"mcp-session-id")
        if session_id is None or headers.get(b"mcp-protocol-version") in _MODERN:
            return None
        session = self.sessions.get(session_id.decode("latin-1"), principal_of(caller))
        if session is None:
            raise _Answer(404, _NO_SESSION)
        return session

    def without_session(
        self, body: bytes, caller: Any, headers: Headers
    ) -> tuple[Outcome, HttpSession | None, tuple[tuple[bytes, bytes], ...]]:
        """What becomes of a message that names no session: `initialize` begins one. Raises `_Answer`."""
        protocol = Session(handshake_first=True)
        outcome = self.engine.receive(body, caller, protocol, headers)
        if protocol.revision is None:
            if outcome.status == 202:  # a response: without its session it answers nothing
                raise _Answer(400, _NO_SESSION_ID)
            return outcome, None, ()
        session = self.sessions.add(protocol)
        if session is None:
            raise _Answer(
                503, f"There are as many sessions as this server keeps: end one, or try again in {RETRY_AFTER_SECONDS} s.",
                _RETRY, code=INTERNAL_ERROR,
            )  # fmt: skip
        return outcome, session, ((b"mcp-session-id", session.id.encode()),)

    async def without_message(
        self, method: str, headers: Mapping[bytes, bytes], principal: str, receive: Receive, send: Send
    ) -> None:
        """GET opens the stream of a session, DELETE ends one (2025-11-25, basic/transports). Raises `_Answer`."""
        if not self.has_sessions:
            raise _Answer(405, "Messages are sent with POST.", (b"allow", b"POST"))
        if method not in ("GET", "DELETE") or headers.get(b"mcp-protocol-version") in _MODERN:
            raise _Answer(405, "Messages are sent with POST.", (b"allow", b"DELETE, GET, POST"))
        version = headers.get(b"mcp-protocol-version")
        if version is not None and version.decode("latin-1") not in self.engine.protocol_versions:
            raise _Answer(400, f"MCP {_text(version)!r} is not served: {', '.join(self.engine.protocol_versions)} are.")
        session_id = headers.get(b"mcp-session-id")
        if session_id is None:
            raise _Answer(400, _NO_SESSION_ID)
        session = self.sessions.get(session_id.decode("latin-1"), principal)
        if session is None:
            raise _Answer(404, _NO_SESSION)
        if method == "DELETE":
            self.sessions.end(session)
            await _send(send, 204, b"")
            return
        if not _accepts(headers.get(b"accept", b""), _EVENT_RANGES):
            raise _Answer(406, "A GET opens an event stream: send `Accept: text/event-stream`.")
        if self.streams.full(principal):
            raise self.streams.refusal(principal)
        self.streams.take(principal)
        try:
            await self.stream_of(session, headers.get(b"last-event-id"), receive, send)
        finally:
            self.streams.give(principal)

    async def stream_of(self, session: HttpSession, last_event_id: bytes | None, receive: Receive, send: Send) -> None:
        """Write a stream of the session until it ends or the client leaves. Raises `_Answer`."""
        stream, after = session.general, session.general.written
        if last_event_id is not None:
            found = session.resumable(last_event_id.decode("latin-1"))
            if found is None:
                raise _Answer(400, "What came after this Last-Event-ID is not kept any more: open a stream without it.")
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
        """Await what is to be awaited; gives what is to be answered, None when nothing is (any more). Raises `_Answer`.

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
        streaming = accept == _BOTH or _accepts(accept, _EVENT_RANGES)
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
        """What is left to say after the work was cancelled. Raises `_Answer`."""
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            if request.cancelled:  # that was the client
                task.uncancel()
                return None
            exchange.close()  # at once: whoever does not read would keep us from stopping
            if exchange.stream is not None:
                return None
            raise _Answer(503, "This server is stopping: try again.", _RETRY, _CLOSE, code=INTERNAL_ERROR)
        self.fault(error)
        return lost(request)


class Count:
    """How many there are of something, in all and of each caller. `what` completes the sentence that refuses another."""

    __slots__ = ("_all", "_callers", "_each", "_of", "_what")

    def __init__(self, what: str, of_all: int, of_each: int) -> None:
        self._what = what
        self._of = of_all
        self._each = of_each
        self._all = 0
        self._callers: dict[str, int] = {}

    def full(self, principal: str) -> bool:
        """Whether there is no place for another."""
        return self._all >= self._of or self._callers.get(principal, 0) >= self._each

    def refusal(self, principal: str) -> _Answer:
        """What says so."""
        limit = self._each if self._all < self._of and self._callers.get(principal, 0) >= self._each else self._of
        text = f"{limit} {self._what}, as many as this server takes on: try again in {RETRY_AFTER_SECONDS} s."
        return _Answer(503, text, _RETRY, code=INTERNAL_ERROR)

    def take(self, principal: str) -> None:
        """Take a place; to be given back."""
        self._all += 1
        self._callers[principal] = self._callers.get(principal, 0) + 1

    def give(self, principal: str) -> None:
        """Give a place back."""
        self._all -= 1
        own = self._callers[principal] - 1
        if own:
            self._callers[principal] = own
        else:
            del self._callers[principal]


async def _left(receive: Receive) -> None:
    """Returns when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass


# ------------------------------------------------------------------------------------------------ requests


def _at_once(receiving: Any) -> tuple[Event | None, Any]:
    """The first event of a request, which is there already but for slow clients; else what to await for it."""
    if not hasattr(receiving, "send"):
        return None, receiving
    try:
        waited = receiving.send(None)
    except StopIteration as done:
        return done.value, None
    return None, Begun(receiving, waited)


async def _slowly(receiving: Awaitable[Event]) -> Event:
    """The first event of a request from a slow client. Raises `_Answer`."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await receiving
    except TimeoutError:
        raise _too_slow() from None


def _check_length(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body by the length it claims, where its sender would learn of it: one that is only sent once we say so, or so
    large that nobody sends it by mistake. Raises `_Answer`."""
    length = headers[b"content-length"]
    if not length.isdigit():
        raise _Answer(400, "The Content-Length header is not a number.", _CLOSE)
    declared = int(length[:20])
    if declared > DROPPED_BYTES or (declared > LIMITS.message_bytes and b"expect" in headers):
        raise _too_large()


async def _body(event: Event, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
    """The whole of a body that begins with `event`; None when the client left. Raises `_Answer` when it is too large or takes
    too long."""
    limit = LIMITS.message_bytes
    length = headers.get(b"content-length", b"0")
    if not length.isdigit():
        raise _Answer(400, "The Content-Length header is not a number.", _CLOSE)
    declared = int(length[:20])
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while event["type"] == "http.request":
                piece = event.get("body", b"")
                size += len(piece)
                if size > DROPPED_BYTES:
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
        raise _too_slow() from None
    if max(size, declared) > limit:
        raise _too_large()
    return b"".join(pieces)


def _too_slow() -> _Answer:
    return _Answer(408, f"The message did not arrive within {BODY_SECONDS:.0f} s.", _CLOSE)


def _too_large() -> _Answer:
    return _Answer(413, f"A message may have at most {LIMITS.message_bytes} bytes.", _CLOSE)


def _check_message(headers: Mapping[bytes, bytes]) -> None:
    """Refuse what is no message of ours, by its headers alone. Raises `_Answer`."""
    content_type = headers.get(b"content-type", b"")
    if content_type != b"application/json" and not _is_json(content_type):
        raise _Answer(415, "Messages are sent as `Content-Type: application/json`.")
    encoding = headers.get(b"content-encoding")
    if encoding is not None and encoding.lower() != b"identity":
        raise _Answer(415, "Messages are sent without a Content-Encoding.")
    accept = headers.get(b"accept", _BOTH)
    if accept != _BOTH and not _accepts(accept, _JSON_RANGES):
        raise _Answer(406, "Answers are application/json: send `Accept: application/json, text/event-stream`.")


def _combined(fields: Collection[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers of which some came more than once, joined (RFC 9110, section 5.2): so that none is chosen over another.
    Raises `_Answer` when they are too large."""
    if sum(len(name) + len(value) for name, value in fields) > LIMITS.header_bytes:
        raise _Answer(431, LARGE_HEAD, _CLOSE)
    headers: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        headers.setdefault(name, []).append(value)
    return {name: b", ".join(values) for name, values in headers.items()}


def _is_json(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


_JSON_RANGES = frozenset({b"application/json", b"application/*", b"*/*"})
_EVENT_RANGES = frozenset({b"text/event-stream", b"text/*", b"*/*"})
_NOT_AT_ALL = re.compile(rb"(^|;)\s*[qQ]=0(\.0*)?\s*(;|$)")  # RFC 9110, section 12.4.2
_BOTH = b"application/json, text/event-stream"
"""What most clients send, word for word."""


def _accepts(accept: bytes, ranges: frozenset[bytes]) -> bool:
    """Whether one of `ranges` is among what is accepted. Clients must accept both JSON and event streams."""
    for part in accept.split(b","):
        name, _, parameters = part.partition(b";")
        if name.strip().lower() in ranges and not _NOT_AT_ALL.search(parameters):
            return True
    return False


def _text(value: bytes) -> str:
    return shown(value.decode("latin-1"))


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
