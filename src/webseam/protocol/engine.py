"""protocol: the engine. Bytes, a caller and a session value in; replies out.

How a message travels: `receive` reads it (`inbound`), finds its revision and its shape (`revisions`), hands it to the verb of
its method (`verbs`, bound to the members of a provider, see `roles`), and encodes what comes back (`outbound`). Nothing here
waits: a provider's method that is a coroutine function makes the outcome one with work, which the transport awaits where and
how it likes. So a transport without an event loop answers whatever is answered at once, and one with a loop decides how much
runs at a time. What goes out before the answer goes through the `channel` that the transport attached to the request.

What the engine keeps is fixed once the providers are registered; what a client agreed on lies in the session, what a request
is about in its `Request`. So one engine serves any number of connections, and nothing leaks from one request to the next. The
exceptions are there to be shared: who listens to changes (`changes`), and tasks (`tasks`), which are bound to their caller.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import webseam
from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol import verbs
from webseam.protocol.asking import InputRequiredError, meaning, missing_capability, questions_declared
from webseam.protocol.batch import answer_batch
from webseam.protocol.changes import Changes
from webseam.protocol.channel import Following
from webseam.protocol.codec import UNSET
from webseam.protocol.inbound import (
    VERSION_HEADER,
    RefusedError,
    handshake_revision,
    is_modern,
    modern_revision,
    read_batch,
    read_message,
    read_params,
    read_request,
    unsupported,
)
from webseam.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    error_reply,
    shown,
)
from webseam.protocol.outbound import Results
from webseam.protocol.outcome import Outcome, failed, is_fault, refused, unanswered
from webseam.protocol.request import ANONYMOUS, Request
from webseam.protocol.revisions import HANDSHAKE, LISTEN, MODERN, REVISIONS, RULES, SHAPES, TASKS_EXTENSION, VERBS, Rules, Shape
from webseam.protocol.roles import roles_of
from webseam.protocol.state import StateSealer, about

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from webseam.protocol.jsonrpc import Message
    from webseam.protocol.mirrors import Mirrors
    from webseam.protocol.session import Session
    from webseam.protocol.tasks import Tasks, TaskStore, Work
    from webseam.protocol.verbs import Handler, Verb

DISCOVER_TTL_MS = 3_600_000
"""How long `server/discover` stays true: what an engine offers changes with the program, not while it runs."""

WARM = 8
"""After so many messages it is worth while to build the decoder of whole requests."""


class Engine:
    """A Model Context Protocol server without a transport.

    `server_info` names the application (`name`, `version`, `title`?). `protocol_versions` are the revisions served, newest
    first. `instructions` tell a model how to use what is offered. `on_fault` is told of every exception that was not foreseen,
    of which the client only learns that there was one; by default the logger `webseam.protocol` is, which prints it.
    `state_key` (32 bytes or more) signs `requestState`: several processes that serve the same clients share one, by default
    each has its own. With a `task_store` calls may go on as tasks. Raises ValueError when there is no revision, or an unknown
    one.
    """

    def __init__(
        self,
        server_info: Mapping[str, Any] | None = None,
        protocol_versions: Sequence[str] = REVISIONS,
        instructions: str | None = None,
        *,
        on_fault: Callable[[BaseException], None] | None = None,
        state_key: bytes | None = None,
        task_store: TaskStore | None = None,
    ) -> None:
        versions = tuple(protocol_versions)
        unknown = [version for version in versions if version not in RULES]
        if server_info is not None and not isinstance(server_info, Mapping):
            raise TypeError(f'server_info is an object, {{"name": ..., "version": ...}}, not {server_info!r:.80}.')
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
        self.on_fault = on_fault or log_fault
        self.needs_sessions = False
        """Whether a provider asks the client or tells it of changes: then HTTP keeps sessions for the handshake era."""
        self.logs = False
        self._received = 0
        self._modern = any(version in MODERN for version in versions)
        self._handshake = next((version for version in versions if version in HANDSHAKE), None)
        self._results = Results(info)
        self._sealer = StateSealer(state_key)
        self._changes = Changes()
        self._changing: set[str] = set()
        self._roles: dict[str, dict[str, Callable[..., Any]]] = {}
        self._mirrors: Mirrors | None = None
        self._tasks: Tasks | None = None
        self._verbs: dict[str, Verb] = {
            "initialize": self._initialize,
            "notifications/initialized": verbs.initialized,
            "notifications/cancelled": verbs.cancelled,
            "ping": lambda _params, _request: {},
            "server/discover": self._discover,
            LISTEN: self._listen,
        }
        if task_store is not None:
            self._keep_tasks(task_store)

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
        for kind, members in found.items():
            self._verbs.update(verbs.verbs_of(kind, members))
            if getattr(provider, "lists_change", False) and "list" in members:
                self._changing.add(kind)
        if "tools" in found:
            self._verbs["tools/call"] = self._calling(found["tools"])
        if getattr(provider, "logs", False):
            self.logs = True
            self._verbs["logging/setLevel"] = verbs.set_level
        self.needs_sessions = self.needs_sessions or bool(getattr(provider, "needs_session", False))
        return self

    def capabilities(self, *, modern: bool = False, remembered: bool = True) -> dict[str, Any]:
        """What is advertised: a member for each kind of provider, and what they declare.

        `remembered` is False where no session is kept and, but for `modern` requests, nothing can be pushed either.
        """
        pushed = modern or remembered
        capabilities: dict[str, Any] = {
            kind: {"listChanged": True} if kind in self._changing and pushed else {} for kind in self._roles
        }
        if pushed and "subscribe" in self._roles.get("resources", {}):
            capabilities["resources"]["subscribe"] = True
        if pushed and self.logs:
            capabilities["logging"] = {}
        if modern and self._tasks is not None:
            capabilities["extensions"] = {TASKS_EXTENSION: {}}
        return capabilities

    def handlers(self) -> dict[str, Handler]:
        """Verb -> `handler(params, call=ANONYMOUS)`: for callers who have a transport and an envelope of their own.

        A handler returns the result, an awaitable of it where the provider is asynchronous, or None for a notification. It
        raises `errors.ProtocolError`; what else it raises is the provider's fault.
        """
        return {method: verbs.handler_of(VERBS[method], verb, ANONYMOUS) for method, verb in self._verbs.items()}

    def _calling(self, members: Mapping[str, Callable[..., Any]]) -> Verb:
        """`tools/call`: over HTTP in the modern era, headers may repeat arguments."""
        from webseam.protocol.mirrors import Mirrors

        call = members["call"]
        mirrors = self._mirrors = Mirrors(members["list"], self._tell)

        async def after_learning(page: Awaitable[Any], params: Any, request: Request) -> Any:
            tools = await mirrors.learn_from(page, request)
            mirrors.check(tools.get(params.name, ()), params.arguments or {}, request.headers or {})
            result = call(params.name, params.arguments or {}, request)
            return await result if hasattr(result, "__await__") else result

        def verb(params: Any, request: Request) -> Any:
            if request.headers is not None and request.revision in MODERN:
                known = mirrors.of(request.principal).get(params.name)
                if known is None and mirrors.may_look(request.principal):
                    page = mirrors.learn(request)
                    if page is not None:
                        return Following(after_learning(page, params, request), page)
                    known = mirrors.of(request.principal).get(params.name)
                if known:
                    mirrors.check(known, params.arguments or {}, request.headers)
            return call(params.name, params.arguments or {}, request)

        return verb

    def _keep_tasks(self, store: TaskStore) -> None:
        from webseam.protocol.tasks import Tasks

        def finished(result: Any) -> Any:
            return self._results.of_task(result, VERBS["tools/call"])

        self._tasks = Tasks(store, self._changes, finished, self._tell)
        self._verbs["tasks/get"] = self._tasks.get
        self._verbs["tasks/update"] = self._tasks.update
        self._verbs["tasks/cancel"] = self._tasks.cancel

    async def begin_task(self, request: Request, work: Work, required: bool, ttl_ms: int, poll_ms: int) -> Any:
        """What `Request.run_as_task` does."""
        from webseam.protocol.tasks import REQUIRED, declared

        known = self._tasks is not None and request.modern and request.method == "tools/call" and declared(request)
        if known and request.channel is not None:
            assert self._tasks is not None
            return await self._tasks.begin(work, request, ttl_ms, poll_ms)
        if required and request.modern and declared(request):
            raise ProtocolError(
                INTERNAL_ERROR,
                "This call must be a task, and this server keeps none: its Engine needs a task_store, its transport a channel.",
            )
        if required:
            raise missing_capability(REQUIRED)
        return await work(request)

    # -------------------------------------------------------------------------------------------- changes

    def changed(self, kind: str, principal: str | None = None) -> None:
        """Say that the list of `kind` ("tools", "resources", "prompts") changed: for everyone, or for one principal.

        Call it where the transport runs (its event loop's thread). Raises ValueError when no provider of that kind declares
        `lists_change`, as then no client was told that it may.
        """
        if kind not in self._changing:
            raise ValueError(f"The list of {kind} was not declared to change: set lists_change = True on its provider.")
        if kind == "tools" and self._mirrors is not None:
            self._mirrors.forget()
        self._changes.list_changed(kind, principal)

    def updated(self, uri: str, principal: str | None = None) -> None:
        """Say that a resource changed: to everyone who watches it, or to one principal. Call it as `changed`.

        Raises ValueError when no provider has a `subscribe`, as then nobody can watch any.
        """
        if "subscribe" not in self._roles.get("resources", {}):
            raise ValueError("Resources were not declared to be watched: give their provider a member subscribe(uri).")
        self._changes.updated(uri, principal)

    def end_subscriptions(self) -> None:
        """End what listens to changes, in good order: a transport says so before it stops."""
        self._changes.end()

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
            if self._received >= WARM:
                request = read_request(data)
                if request is not None:
                    return self._serve(request.verb, request.id, request.params, data, caller, session, headers)
            else:
                self._received += 1
            message = read_message(data)
            if message is None:
                return self._batch(data, caller, session, headers)
            return self._answer(message, caller, session, headers)
        except RefusedError as refusal:
            return refused(refusal, modern=headers is not None and headers.get(VERSION_HEADER) in MODERN)
        except Exception as error:  # noqa: BLE001  # the outermost loop: a transport must get an answer, whatever happens
            return self._fault(None, error)

    def _answer(self, message: Message, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        method, message_id, raw = message.method, message.id, message.params
        if method is UNSET:
            return _response(message, session)
        if message_id is UNSET or message_id is None:
            return self._notified(method, message, session, headers)
        try:
            params = read_params(method, raw, headers)
        except RefusedError as refusal:
            refusal.message_id = message_id
            raise
        return self._serve(method, message_id, params, raw, caller, session, headers)

    def _serve(
        self,
        method: str,
        message_id: str | int,
        params: Any,
        raw: Any,
        caller: Any,
        session: Session | None,
        headers: Mapping[str, str] | None,
    ) -> Outcome:
        """A request that has been read, `raw` being where from."""
        try:
            if type(message_id) is str and len(message_id) > LIMITS.id_chars:
                raise RefusedError(INVALID_REQUEST, f"A request's id may have {LIMITS.id_chars} characters.")
            revision = self._revision(method, params, session, headers)
            if session is not None and message_id in session.pending:
                raise RefusedError(INVALID_REQUEST, "A request with this id is still pending.")
        except RefusedError as refusal:
            usable = type(message_id) is int or len(str(message_id)) <= LIMITS.id_chars
            refusal.message_id = message_id if usable else None
            raise
        rules = RULES[revision]
        shape, verb = SHAPES.get((revision, method)), self._verbs.get(method)
        if shape is None or verb is None or shape.notification or (shape.remembered and session is None):
            return failed(message_id, METHOD_NOT_FOUND, f"Method not found: {shown(method)}", None, rules)
        request = Request(message_id, method, revision, caller, session, raw, params, headers, self)
        try:
            if shape.rounds and rules.modern:
                self._resume(params, request)
            result = verb(params, request)
            if type(result) is not dict and hasattr(result, "__await__"):
                return self._pending(result, shape, rules, request)
            outcome = Outcome(self._reply(result, shape, rules, request))
        except InputRequiredError as asked:
            outcome = self._questions(asked, shape, rules, request)
        except ProtocolError as error:
            outcome = self._error(message_id, error, rules)
        except BaseException as error:  # a provider's fault must not reach the client, nor stop the transport
            if not is_fault(error, waited=False):
                raise
            outcome = self._fault(message_id, error)
        request.over = True
        outcome.before = request.early
        return outcome

    def _revision(self, method: str, params: Any, session: Session | None, headers: Mapping[str, str] | None) -> str:
        meta = params.meta
        if meta and meta.version is not UNSET and self._modern:
            shape = VERBS.get(method)
            return modern_revision(method, params, shape.named if shape else "", meta, self.protocol_versions, headers)
        if method == "initialize":
            if self._handshake is None:  # the one message that an old client's user will see
                raise unsupported(params.protocol_version, self.protocol_versions)
            return self._handshake
        revision = handshake_revision(session.revision if session is not None else None, self.protocol_versions, headers)
        if session is not None and session.handshake_first and session.revision is None:
            raise _no_session()
        return revision

    def _notified(self, method: str, message: Message, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        """A notification is never answered; one that is unknown or malformed is ignored."""
        header = headers.get(VERSION_HEADER) if headers is not None else None
        if header is not None and header not in self.protocol_versions:
            return unanswered(400)  # over HTTP a refusal is an error status
        if session is not None and session.handshake_first and session.revision is None:
            return unanswered(400)
        shape = VERBS.get(method)
        if shape is not None and shape.notification and session is not None:
            try:
                params = read_params(method, message.params, headers)
            except RefusedError:
                return unanswered()
            try:
                self._verbs[method](params, Request(None, method, session.revision or "", None, session))
            except Exception as error:  # noqa: BLE001  # what a provider does when it is cancelled: nobody is answered
                self._tell(error)
        return unanswered()

    # -------------------------------------------------------------------------------------------- work

    def _reply(self, result: Any, shape: Shape, rules: Rules, request: Request) -> bytes:
        if type(result) is dict and result.get("resultType", "complete") != "complete":
            result = self._interim(result, shape, rules, request)
        assert request.id is not None
        return self._results.reply(request.id, result, shape, rules)

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
            outcome = Outcome(self._reply(await source, shape, rules, request))
        except RefusedError as refusal:
            refusal.message_id = message_id
            outcome = refused(refusal)
        except InputRequiredError as asked:
            outcome = self._questions(asked, shape, rules, request)
        except ProtocolError as error:
            outcome = self._error(message_id, error, rules)
        except BaseExceptionGroup as group:  # how a task group ends in which something was raised
            outcome = self._grouped(group, shape, rules, request)
        except BaseException as error:  # a provider's fault must not reach the client, nor stop the transport
            if not is_fault(error, waited=True):
                raise
            outcome = self._fault(message_id, error)
        finally:
            request.over = True
            _forget(request)
        outcome.before = request.early
        return unanswered() if request.cancelled else outcome

    def _batch(self, data: bytes, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        try:
            revision = handshake_revision(session.revision if session is not None else None, self.protocol_versions, headers)
        except RefusedError:  # one that is not served has no batches either
            revision = ""
        if session is not None and session.handshake_first and session.revision is None:
            raise _no_session()
        if not revision or not RULES[revision].batches:
            raise RefusedError(INVALID_REQUEST, "A message is one object: this revision has no batches.")
        outcomes = [self._in_batch(bytes(part), caller, session, headers) for part in read_batch(data)]
        return answer_batch(outcomes, Request(None, "", revision, caller, session))

    def _in_batch(self, data: bytes, caller: Any, session: Session | None, headers: Mapping[str, str] | None) -> Outcome:
        try:
            message = read_message(data)
            if message is None:
                raise RefusedError(INVALID_REQUEST, "A batch holds messages, no other batch.")
            text = None
            if message.method == "initialize":  # 2025-03-26, basic/lifecycle
                text = "`initialize` is never part of a batch."
            elif is_modern(message):  # each would be a request of its own era, and some never end
                text = f"Messages of {', '.join(MODERN)} are sent one by one."
            if text is not None:
                message_id = None if message.id is UNSET else message.id
                raise RefusedError(INVALID_REQUEST, text, message_id=message_id, answered=message.id is not UNSET)
            return self._answer(message, caller, session, headers)
        except RefusedError as refusal:
            return refused(refusal)

    # -------------------------------------------------------------------------------------------- rounds

    def _resume(self, params: Any, request: Request) -> None:
        """Give a request what the client brought along from the round before."""
        if params.input_responses is not UNSET:
            if type(params.input_responses) is not dict:
                raise ProtocolError(INVALID_PARAMS, "params.inputResponses must be an object: the answers by their keys.")
            request.input_responses = params.input_responses
        if params.request_state is not UNSET:
            if type(params.request_state) is not str:
                raise ProtocolError(INVALID_PARAMS, "params.requestState must be a string: what came with the questions.")
            sealed = self._sealer.unseal(params.request_state, self._about(params, request))
            request.answers, request.state = sealed.answers, sealed.own

    def _about(self, params: Any, request: Request) -> str:
        salient = [params.uri] if hasattr(params, "uri") else [params.name, params.arguments or {}]
        return about(request.method, salient, request.principal)

    def _questions(self, asked: InputRequiredError, shape: Shape, rules: Rules, request: Request) -> Outcome:
        """The result that asks the client (2026-07-28, basic/patterns/mrtr)."""
        assert request.id is not None
        result = {"resultType": "input_required", "inputRequests": asked.questions}
        if request.state is not None or request.answers:
            result["requestState"] = request.state
        try:
            return Outcome(self._reply(result, shape, rules, request), before=request.early)
        except ProtocolError as error:
            return self._error(request.id, error, rules)
        except Exception as error:  # noqa: BLE001  # what the provider asked or kept has no JSON form
            return self._fault(request.id, error)

    def _grouped(self, group: BaseExceptionGroup[BaseException], shape: Shape, rules: Rules, request: Request) -> Outcome:
        """What became of a call whose task group ended. Raises what is not ours to answer."""
        assert request.id is not None
        found = meaning(group)
        if isinstance(found, InputRequiredError):
            return self._questions(found, shape, rules, request)
        if isinstance(found, ProtocolError):
            return self._error(request.id, found, rules)
        if is_fault(found, waited=True):
            return self._fault(request.id, found)
        raise found

    def _interim(self, result: dict[str, Any], shape: Shape, rules: Rules, request: Request) -> dict[str, Any]:
        """A result that is not the last word. `requestState` may be any JSON value here; it is signed on its way out."""
        kind = result["resultType"]
        known = kind == "input_required" or (kind == "task" and request.method == "tools/call")
        if not (rules.modern and shape.rounds and known):
            raise TypeError(f"A provider gave a result of type {kind!r}, which {request.method} in {request.revision} has not.")
        if kind == "input_required":
            if not result.get("inputRequests") and "requestState" not in result:  # basic/patterns/mrtr: at least one of them
                raise TypeError("A provider gave an input_required result without inputRequests and requestState.")
            questions_declared(request, result.get("inputRequests") or {})
        if kind == "input_required" and "requestState" in result:
            state = self._sealer.seal(request.answers or {}, result["requestState"], self._about(request.params, request))
            return {**result, "requestState": state}
        return result

    # -------------------------------------------------------------------------------------------- errors

    def _error(self, message_id: str | int, error: ProtocolError, rules: Rules) -> Outcome:
        """The reply for an error that a provider raised on purpose."""
        if isinstance(error, RefusedError):
            error.message_id = message_id
            return refused(error)
        try:
            return failed(message_id, rules.renumbered.get(error.code, error.code), str(error), error.data, rules)
        except Exception as fault:  # noqa: BLE001  # its `data` cannot be serialised
            return self._fault(message_id, fault)

    def _fault(self, message_id: str | int | None, error: BaseException) -> Outcome:
        """The reply for what nobody foresaw: without its text, which may hold anything."""
        self._tell(error)
        return Outcome(error_reply(message_id, INTERNAL_ERROR, "Internal error"))

    def _tell(self, error: BaseException) -> None:
        if self.on_fault is not None:
            with contextlib.suppress(Exception):  # a log that fails must not cost the client its answer
                self.on_fault(error)

    # -------------------------------------------------------------------------------------------- the engine's own verbs

    def _initialize(self, params: Any, request: Request) -> dict[str, Any]:
        wanted = params.protocol_version
        if self._handshake is None:
            raise unsupported(wanted, self.protocol_versions)
        revision = wanted if wanted in HANDSHAKE and wanted in self.protocol_versions else self._handshake
        session = request.session
        if session is not None:
            if request.raw is not UNSET and len(request.raw) > LIMITS.handshake_bytes:  # what is said there is remembered
                raise ProtocolError(INVALID_PARAMS, f"The handshake is larger than {LIMITS.handshake_bytes} bytes.")
            session.revision = revision
            session.client_info = params.client_info
            session.client_capabilities = params.capabilities or {}
            session.principal = request.principal
            self._changes.follow(session)
        capabilities = self.capabilities(remembered=session is not None)
        result = {"protocolVersion": revision, "capabilities": capabilities, "serverInfo": self.server_info}
        return result if self.instructions is None else {**result, "instructions": self.instructions}

    def _discover(self, _params: Any, _request: Request) -> dict[str, Any]:
        result = {
            "supportedVersions": [version for version in self.protocol_versions if version in MODERN],
            "capabilities": self.capabilities(modern=True),
            "ttlMs": DISCOVER_TTL_MS,
            "cacheScope": "public",
        }
        return result if self.instructions is None else {**result, "instructions": self.instructions}

    def _listen(self, params: Any, request: Request) -> Any:
        resources = self._roles.get("resources", {})
        return verbs.listen(params, request, self._changes, self._changing, resources, self._tasks, self._tell)


def log_fault(error: BaseException) -> None:
    """What `on_fault` is by default: a log record with the traceback, which Python prints unless logging was set up."""
    import logging

    logging.getLogger("webseam.protocol").error("A fault, which its client was not told: %s", error, exc_info=error)


def _forget(request: Request) -> None:
    """It is pending no more: its id may be used again, and by then it may be another's."""
    if request.session is not None and request.id is not None and request.session.pending.get(request.id) is request:
        del request.session.pending[request.id]


def _no_session() -> RefusedError:
    return RefusedError(
        INVALID_REQUEST, "The Mcp-Session-Id header is missing: send the id that came with the answer to `initialize`."
    )


def _response(message: Message, session: Session | None) -> Outcome:
    """A message without a method: the client's response to a request of ours, or nothing at all."""
    if message.result is UNSET and message.error is UNSET:
        message_id = None if message.id is UNSET else message.id
        raise RefusedError(INVALID_REQUEST, "The message has neither a method nor a result.", message_id=message_id)
    if session is not None and message.id is not UNSET and message.id is not None:
        waiter = session.questions.get(message.id)
        if waiter is not None and not waiter.done():
            waiter.set_result(message)
    return unanswered()
