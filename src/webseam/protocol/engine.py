"""protocol: the engine. Bytes, a caller and a session value in; replies out.

How a message travels: `receive` reads it (`inbound`), finds its revision and its shape (`revisions`), hands it to the verb of
the provider that has the role (`roles`), and encodes what comes back (`outbound`). Nothing here waits: a provider's method that
is a coroutine function makes the outcome one with work, which the transport awaits where and how it likes. So a transport
without an event loop answers whatever is answered at once, and one with a loop decides how much runs at a time.

What the engine keeps is fixed once the providers are registered; what a client agreed on lies in the session, what a request
is about in its `Request`. So one engine serves any number of connections, and nothing leaks from one request to the next.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import webseam
from webseam.errors import ProtocolError
from webseam.protocol.batch import answer_batch
from webseam.protocol.codec import UNSET, msgspec
from webseam.protocol.inbound import (
    VERSION_HEADER,
    RefusedError,
    handshake_revision,
    modern_revision,
    read_batch,
    read_message,
    read_params,
    unsupported,
)
from webseam.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    error_reply,
    result_reply,
    shown,
)
from webseam.protocol.outbound import Results, as_object
from webseam.protocol.outcome import Outcome, failed, refused, unanswered
from webseam.protocol.request import ANONYMOUS, Request
from webseam.protocol.revisions import HANDSHAKE, MODERN, REVISIONS, RULES, SHAPES, VERBS, Rules, Shape
from webseam.protocol.roles import roles_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from webseam.protocol.jsonrpc import Message
    from webseam.protocol.session import Session

    Handler = Callable[..., Any]
    Verb = Callable[[Any, Request], Any]

DISCOVER_TTL_MS = 3_600_000
"""How long `server/discover` stays true: what an engine offers changes with the program, not while it runs."""


class Engine:
    """A Model Context Protocol server without a transport.

    `server_info` names the application (`name`, `version`, `title`?). `protocol_versions` are the revisions served, newest
    first. `instructions` tell a model how to use what is offered. `on_fault` is told of every exception that was not foreseen:
    the client only learns that there was one. Raises ValueError when there is no revision, or an unknown one.
    """

    def __init__(
        self,
        server_info: Mapping[str, Any] | None = None,
        protocol_versions: Sequence[str] = REVISIONS,
        instructions: str | None = None,
        *,
        on_fault: Callable[[BaseException], None] | None = None,
    ) -> None:
        versions = tuple(protocol_versions)
        unknown = [version for version in versions if version not in RULES]
        if not versions or unknown:
            raise ValueError(
                f"protocol_versions must name revisions of {', '.join(REVISIONS)}" + (f", not {unknown}." if unknown else ".")
            )
        info = dict(server_info or {"name": "mcp-server", "version": webseam.__version__})
        if not (isinstance(info.get("name"), str) and isinstance(info.get("version"), str)):
            raise ValueError("server_info must have a name and a version, both strings.")
        self.server_info = info
        self.protocol_versions = versions
        self.instructions = instructions
        self.on_fault = on_fault
        self._modern = any(version in MODERN for version in versions)
        self._handshake = next((version for version in versions if version in HANDSHAKE), None)
        self._results = Results(info)
        self._roles: dict[str, dict[str, Callable[..., Any]]] = {}
        self._verbs: dict[str, Verb] = {
            "initialize": self._initialize,
            "notifications/initialized": _initialized,
            "notifications/cancelled": _cancelled,
            "ping": lambda _params, _request: {},
            "server/discover": self._discover,
        }

    def __repr__(self) -> str:
        return f"Engine({self.server_info['name']!r}, {', '.join(self._roles) or 'no providers'})"

    # -------------------------------------------------------------------------------------------- providers

    def register_provider(self, provider: object) -> Engine:
        """Take on an object with one or more roles (`webseam.protocol.roles`). Returns the engine, so that calls chain.

        Raises TypeError when it has no role or lacks a member of one, ValueError when there is a provider of that kind already.
        """
        found = roles_of(provider)
        for kind in found:
            if kind in self._roles:
                raise ValueError(f"There is a provider of {kind} already: {type(provider).__name__} would be the second.")
        self._roles.update(found)
        for members in found.values():
            self._verbs.update(_verbs_of(members))
        return self

    def capabilities(self) -> dict[str, Any]:
        """What is advertised: a member for each kind of provider."""
        return {kind: {} for kind in self._roles}

    def handlers(self) -> dict[str, Handler]:
        """Verb -> `handler(params, call=ANONYMOUS)`: for callers who have a transport and an envelope of their own.

        A handler returns the result, an awaitable of it where the provider is asynchronous, or None for a notification. It
        raises `errors.ProtocolError`; what else it raises is the provider's fault.
        """
        return {method: _handler(VERBS[method], verb) for method, verb in self._verbs.items()}

    # -------------------------------------------------------------------------------------------- messages

    def receive(
        self,
        data: bytes,
        caller: Any = None,
        session: Session | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Take one message (or batch) and say what becomes of it. Never raises.

        `caller` reaches the provider as `Request.caller`. `session` is the connection's, None where nothing is remembered.
        `headers` are given by HTTP alone, names in lower case: then they must agree with the body.
        """
        try:
            message = read_message(data)
            if message is None:
                return self._batch(data, caller, session, headers)
            return self._answer(message, caller, session, headers)
        except RefusedError as refusal:
            return refused(refusal)
        except Exception as error:  # noqa: BLE001  # the outermost loop: a transport must get an answer, whatever happens
            return self._fault(None, error)

    def _answer(self, message: Message, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        method, message_id, raw = message.method, message.id, message.params
        if method is UNSET:
            return _response(message)
        if message_id is UNSET or message_id is None:
            return self._notified(method, message, session, headers)
        try:
            params = read_params(method, raw, headers)
            revision = self._revision(method, params, session, headers)
            if session is not None and message_id in session.pending:
                raise RefusedError(INVALID_REQUEST, "A request with this id is still pending.")
        except RefusedError as refusal:
            refusal.message_id = message_id
            raise
        rules = RULES[revision]
        shape, verb = SHAPES.get((revision, method)), self._verbs.get(method)
        if shape is None or verb is None or shape.notification:
            return failed(message_id, METHOD_NOT_FOUND, f"Method not found: {shown(method)}", None, rules)
        request = Request(message_id, method, revision, caller, session, None if raw is UNSET else raw, params.meta or None)
        try:
            result = verb(params, request)
            if type(result) is not dict and hasattr(result, "__await__"):
                return self._pending(result, shape, rules, request)
            return Outcome(result_reply(message_id, self._results.encode(result, shape, rules)))
        except ProtocolError as error:
            return self._error(message_id, error, rules)
        except Exception as error:  # noqa: BLE001  # a provider's fault must not reach the client, nor stop the transport
            return self._fault(message_id, error)

    def _revision(self, method: str, params: Any, session: Session | None, headers: Mapping[str, str] | None) -> str:
        meta = params.meta
        if meta and meta.version is not UNSET and self._modern:
            shape = VERBS.get(method)
            return modern_revision(method, params, shape.named if shape else "", meta, self.protocol_versions, headers)
        if method == "initialize":
            if self._handshake is None:  # the one message that an old client's user will see
                raise unsupported(params.protocol_version, self.protocol_versions)
            return self._handshake
        return handshake_revision(session.revision if session is not None else None, self.protocol_versions, headers)

    def _notified(self, method: str, message: Message, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        """A notification is never answered; one that is unknown or malformed is ignored."""
        header = headers.get(VERSION_HEADER) if headers is not None else None
        if header is not None and header not in self.protocol_versions:
            return unanswered(400)  # over HTTP a refusal is an error status
        shape = VERBS.get(method)
        if shape is not None and shape.notification and session is not None:
            try:
                params = read_params(method, message.params, headers)
            except RefusedError:
                return unanswered()
            self._verbs[method](params, Request(None, method, session.revision or "", None, session))
        return unanswered()

    # -------------------------------------------------------------------------------------------- work

    def _pending(self, source: Awaitable[Any], shape: Shape, rules: Rules, request: Request) -> Outcome:
        request.unstarted = source
        if request.session is not None and request.id is not None:
            request.session.pending[request.id] = request
            request.on_cancel(lambda: _forget(request))
        return Outcome(None, 200, self._finish(source, shape, rules, request), request)

    async def _finish(self, source: Awaitable[Any], shape: Shape, rules: Rules, request: Request) -> Outcome:
        if request.cancelled:
            return unanswered()
        request.unstarted = None
        message_id = request.id
        assert message_id is not None
        try:
            result = await source
            outcome = Outcome(result_reply(message_id, self._results.encode(result, shape, rules)))
        except ProtocolError as error:
            outcome = self._error(message_id, error, rules)
        except Exception as error:  # noqa: BLE001  # a provider's fault must not reach the client, nor stop the transport
            outcome = self._fault(message_id, error)
        finally:
            _forget(request)
        return unanswered() if request.cancelled else outcome

    def _batch(self, data: bytes, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        try:
            revision = handshake_revision(session.revision if session is not None else None, self.protocol_versions, headers)
        except RefusedError:  # one that is not served has no batches either
            revision = ""
        if not revision or not RULES[revision].batches:
            raise RefusedError(INVALID_REQUEST, "A message is one object: this revision has no batches.")
        outcomes = [self._in_batch(bytes(part), caller, session, headers) for part in read_batch(data)]
        return answer_batch(outcomes, Request(None, "", revision, caller, session))

    def _in_batch(self, data: bytes, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        try:
            message = read_message(data)
            if message is None or message.method == "initialize":  # 2025-03-26, basic/lifecycle: never part of a batch
                raise RefusedError(INVALID_REQUEST, "A batch holds messages, and never `initialize`.")
            return self._answer(message, caller, session, headers)
        except RefusedError as refusal:
            return refused(refusal)

    # -------------------------------------------------------------------------------------------- errors

    def _error(self, message_id: str | int, error: ProtocolError, rules: Rules) -> Outcome:
        """The reply for an error that a provider raised on purpose."""
        try:
            return failed(message_id, rules.renumbered.get(error.code, error.code), str(error), error.data, rules)
        except Exception as fault:  # noqa: BLE001  # its `data` cannot be serialised
            return self._fault(message_id, fault)

    def _fault(self, message_id: str | int | None, error: Exception) -> Outcome:
        """The reply for what nobody foresaw: without its text, which may hold anything."""
        if self.on_fault is not None:
            with contextlib.suppress(Exception):  # a log that fails must not cost the client its answer
                self.on_fault(error)
        return Outcome(error_reply(message_id, INTERNAL_ERROR, "Internal error"))

    # -------------------------------------------------------------------------------------------- the engine's own verbs

    def _initialize(self, params: Any, request: Request) -> dict[str, Any]:
        wanted = params.protocol_version
        if self._handshake is None:
            raise unsupported(wanted, self.protocol_versions)
        revision = wanted if wanted in HANDSHAKE and wanted in self.protocol_versions else self._handshake
        session = request.session
        if session is not None:
            session.revision = revision
            session.client_info = params.client_info
            session.client_capabilities = params.capabilities or {}
        result = {"protocolVersion": revision, "capabilities": self.capabilities(), "serverInfo": self.server_info}
        return result if self.instructions is None else {**result, "instructions": self.instructions}

    def _discover(self, _params: Any, _request: Request) -> dict[str, Any]:
        result = {
            "supportedVersions": [version for version in self.protocol_versions if version in MODERN],
            "capabilities": self.capabilities(),
            "ttlMs": DISCOVER_TTL_MS,
            "cacheScope": "public",
        }
        return result if self.instructions is None else {**result, "instructions": self.instructions}


def _forget(request: Request) -> None:
    """It is pending no more: its id may be used again, and by then it may be another's."""
    if request.session is not None and request.id is not None and request.session.pending.get(request.id) is request:
        del request.session.pending[request.id]


def _initialized(_params: Any, request: Request) -> None:
    if request.session is not None:
        request.session.initialized = True


def _cancelled(params: Any, request: Request) -> None:
    if request.session is not None:
        pending = request.session.pending.get(params.request_id)
        if pending is not None:
            pending.cancel()


def _verbs_of(members: dict[str, Callable[..., Any]]) -> dict[str, Verb]:
    """The verbs that the members of one role serve."""
    verbs: dict[str, Verb] = {}
    listed = members["list"]
    if "call" in members:
        call = members["call"]
        verbs["tools/list"] = lambda params, request: listed(params.cursor, request)
        verbs["tools/call"] = lambda params, request: call(params.name, params.arguments or {}, request)
    elif "read" in members:
        templates, read = members["templates"], members["read"]
        verbs["resources/list"] = lambda params, request: listed(params.cursor, request)
        verbs["resources/templates/list"] = lambda params, request: templates(params.cursor, request)
        verbs["resources/read"] = lambda params, request: read(params.uri, request)
    else:
        get = members["get"]
        verbs["prompts/list"] = lambda params, request: listed(params.cursor, request)
        verbs["prompts/get"] = lambda params, request: get(params.name, params.arguments or {}, request)
    return verbs


def _handler(shape: Shape, verb: Verb) -> Handler:
    async def shaped(result: Awaitable[Any]) -> Any:
        return as_object(await result, shape)

    def handler(params: Mapping[str, Any] | None = None, call: Request = ANONYMOUS) -> Any:
        try:
            given = msgspec.convert({} if params is None else params, shape.params)
        except msgspec.ValidationError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
        result = verb(given, call)
        if shape.notification:
            return None
        return shaped(result) if hasattr(result, "__await__") else as_object(result, shape)

    return handler


def _response(message: Message) -> Outcome:
    """A message without a method: the client's response to a request of ours, of which there are none, or nothing at all."""
    if message.result is UNSET and message.error is UNSET:
        message_id = None if message.id is UNSET else message.id
        raise RefusedError(INVALID_REQUEST, "The message has neither a method nor a result.", message_id=message_id)
    return unanswered()
