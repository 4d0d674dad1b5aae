"""protocol: what a provider may know and do about the request it answers.

The request of a call that goes on says more than its answer through `channel`, which the transport attached. What is said
before there is a channel (a provider that answers at once has none) waits in `early` and goes out before the reply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping  # noqa: TC003  # msgspec looks annotations up when somebody asks for `help()`
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.channel import Channel, let_go
from webseam.protocol.codec import UNSET, Raw, Struct, UnsetType, msgspec
from webseam.protocol.jsonrpc import LEVELS, mended, notification
from webseam.protocol.revisions import RULES
from webseam.protocol.session import Session  # noqa: TC001  # as above

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from webseam.protocol.revisions import Meta


class _MetaOf(Struct):
    """Params as far as `_meta`, whole."""

    meta: dict[str, Any] | UnsetType | None = msgspec.field(name="_meta", default=UNSET)


class _MessageOf(Struct):
    """A message as far as that."""

    params: _MetaOf | UnsetType | None = UNSET


_INFINITE = float("inf")

DEFAULT_LOG_LEVEL = "info"
"""What a session gets that never said what it wants (2025-11-25, server/utilities/logging, leaves it to the server)."""


class Request(Struct, eq=False):
    """One request. A provider's method receives it when it has a parameter for it (see `webseam.protocol.roles`).

    `caller` is whatever the transport learnt about who asks, None when nobody was asked to identify themselves; `revision` is
    the one the request is served by; `headers` are HTTP's, None elsewhere. `state` is the provider's own, any JSON value: what
    is there when the client is asked something is there again in the next round (see `ask`).

    A msgspec Struct because one is made for every message, and that makes it in C.
    """

    id: str | int | None = None
    method: str = ""
    revision: str = ""
    caller: Any = None
    session: Session | None = None
    raw: Raw | bytes | UnsetType = UNSET  # the params as they came, or the whole message
    params: Any = None
    headers: Mapping[str, str] | None = None
    host: Any = None  # the engine: logging, tasks and signatures are its own
    cancelled: bool = False
    over: bool = False  # it has been answered: nothing that belongs to it may follow
    channel: Channel | None = None
    early: list[bytes] | None = None
    unstarted: Any = None  # the provider's coroutine until it first runs: nobody else would close it
    state: Any = None
    answers: dict[str, Any] | None = None
    input_responses: dict[str, Any] | None = None
    _callbacks: list[Callable[[], object]] | None = None
    _progress: float | None = None
    _asked: int = 0
    keys: set[str] | None = None  # of the questions asked so far

    def __repr__(self) -> str:
        return f"Request({self.id!r}, {self.method!r}, {self.revision!r})"

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def _meta(self) -> Meta | None:
        meta = self.params.meta if self.params is not None else None
        return None if meta is UNSET else meta

    @property
    def modern(self) -> bool:
        """Whether the request stands alone (2026-07-28 and later)."""
        rules = RULES.get(self.revision)
        return rules is not None and rules.modern

    @property
    def meta(self) -> dict[str, Any]:
        """The whole of `params._meta` (trace context, keys of extensions); empty when there is none."""
        if self.raw is UNSET:
            return {}
        if type(self.raw) is bytes:  # the whole message
            params = msgspec.json.decode(self.raw, type=_MessageOf).params
            return (params and params.meta) or {}
        try:
            whole = msgspec.json.decode(self.raw, type=_MetaOf | None)
        except msgspec.DecodeError:
            whole = msgspec.json.decode(mended(bytes(self.raw)), type=_MetaOf | None)
        return (whole and whole.meta) or {}

    @property
    def client_info(self) -> dict[str, Any] | None:
        """Who the client says it is; for display alone. None when it did not say."""
        if self.modern:
            return (self._meta and self._meta.client) or None
        return self.session.client_info if self.session is not None else None

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client declared: with this request (2026-07-28), or in the handshake where a session remembers it."""
        if self.modern:
            return (self._meta and self._meta.capabilities) or {}
        return self.session.client_capabilities if self.session is not None else {}

    @property
    def progress_token(self) -> str | int | None:
        """The token with which the client asked for progress, None when it did not."""
        token = self._meta.progress_token if self._meta is not None else UNSET
        return None if token is UNSET else token

    @property
    def principal(self) -> str:
        """Who asks, as a string that is the same whenever they ask: what state, sessions and tasks are bound to."""
        return principal_of(self.caller)

    # -------------------------------------------------------------------------------------------- before the answer

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is, if it asked to be told.

        `progress` counts up, by any unit, towards `total` when that is known; what does not count up is not sent (the
        specification forbids it). Never waits: a client that reads slowly misses some of it.
        """
        token = self.progress_token
        if token is None or not -_INFINITE < progress < _INFINITE:  # JSON has neither infinities nor NaN
            return
        if self._progress is not None and progress <= self._progress:
            return
        self._progress = progress
        params: dict[str, Any] = {"progressToken": token, "progress": progress}
        if total is not None and -_INFINITE < total < _INFINITE:
            params["total"] = total
        if message is not None and RULES[self.revision].progress_messages:
            params["message"] = message
        self.emit(notification("notifications/progress", params), keep=False)

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Send a log message to the client, if it wants those of this level.

        `level` is one of `jsonrpc.LEVELS`; `data` is any JSON value. Only where a provider declares `logs`. Never waits.
        Raises ValueError for another level, and where no provider declares it.
        """
        if level not in LEVELS:
            raise ValueError(f"{level!r} is not a log level: use one of {', '.join(LEVELS)}.")
        wanted = self._wanted_level()
        if wanted is None or LEVELS.index(level) < LEVELS.index(wanted):
            return
        params = {"level": level, "data": data} if logger is None else {"level": level, "logger": logger, "data": data}
        self.emit(notification("notifications/message", params), keep=False)

    def _wanted_level(self) -> str | None:
        if self.host is None:
            return None
        if not self.host.logs:
            raise ValueError("Logging was not declared: set logs = True on the provider that calls Request.log.")
        if self.modern:
            level = self._meta.log_level if self._meta is not None else UNSET
            return None if level is UNSET else level
        return (self.session.log_level or DEFAULT_LOG_LEVEL) if self.session is not None else None

    def emit(self, message: bytes, *, keep: bool) -> None:
        """Send a message that belongs to this request. With `keep` false it may be left out for a slow reader."""
        if self.cancelled or self.over:
            return
        if self.channel is not None:
            self.channel.send(message, keep)
            return
        if self.early is None:
            self.early = []
        if keep or self._early_room(len(message)):
            self.early.append(message)

    def _early_room(self, size: int) -> bool:
        """Whether another message may wait, as on a stream: a progress token that comes back in each may be a large one."""
        early = self.early or ()
        return len(early) < LIMITS.stream_messages and sum(map(len, early)) + size <= LIMITS.stream_bytes

    def attach(self, channel: Channel | None) -> None:
        """Lend a channel to the request, before its work is awaited; what was said before that goes out now."""
        self.channel = channel
        if channel is not None and self.early:
            early, self.early = self.early, None
            for message in early:
                channel.send(message, True)

    def close_stream(self, retry_ms: int | None = None) -> None:
        """End the connection that carries this call, not the call: the client comes back for the rest (2025-11-25,
        basic/transports, "polling"), after `retry_ms` milliseconds. Where no session keeps the rest, nothing happens."""
        if self.channel is not None:
            self.channel.close_stream(retry_ms)

    # -------------------------------------------------------------------------------------------- questions

    async def ask(self, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Ask the client several things at once; gives the answers by key.

        A question is `{"method": "elicitation/create" | "sampling/createMessage" | "roots/list", "params": {...}}`. In
        2026-07-28 the method that awaits this runs again from its start once the client has answered (see
        `webseam.protocol.asking`): so ask in the same order each time, and do nothing before the last question that must not
        be done twice. Raises ProtocolError when the client has not declared that it can be asked,
        `asking.ClientRefusedError` when it answers with an error.
        """
        from webseam.protocol.asking import ask

        return await ask(self, questions)

    async def elicit(self, message: str, schema: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """Ask the person, with a form: `{"action": "accept", "content": {...}}`, or `"decline"` or `"cancel"`.

        `schema` is a JSON Schema object whose properties are strings, numbers, booleans or choices. What comes back is the
        client's: check it. `key` names the question; by default they are numbered.
        """
        from webseam.protocol.asking import elicitation

        modes = self.revision in RULES and RULES[self.revision].elicitation_modes
        return await self._ask_one(key, elicitation(message, schema, with_mode=modes))

    async def elicit_url(self, message: str, url: str, elicitation_id: str, *, key: str | None = None) -> dict[str, Any]:
        """Ask the person to visit `url`, for what must not pass through the client; from 2025-11-25 on."""
        from webseam.protocol.asking import url_elicitation

        return await self._ask_one(key, url_elicitation(message, url, elicitation_id))

    async def sample(
        self, messages: list[dict[str, Any]], max_tokens: int, *, key: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Ask the client's model: `{"role", "content", "model", "stopReason"?}`. `more` are members of the request
        (`systemPrompt`, `temperature`, ...)."""
        from webseam.protocol.asking import sampling

        return await self._ask_one(key, sampling(messages, max_tokens, more))

    async def list_roots(self, *, key: str | None = None) -> list[dict[str, Any]]:
        """What the client works on: `{"uri", "name"?}` each."""
        from webseam.protocol.asking import roots

        listed: list[dict[str, Any]] = (await self._ask_one(key, roots()))["roots"]
        return listed

    async def _ask_one(self, key: str | None, question: Mapping[str, Any]) -> dict[str, Any]:
        self._asked += 1
        if key is None:
            key = f"{question['method'].partition('/')[0]}-{self._asked}"
        answer: dict[str, Any] = (await self.ask({key: question}))[key]
        return answer

    # -------------------------------------------------------------------------------------------- tasks

    async def run_as_task(
        self,
        work: Callable[[Request], Awaitable[Any]],
        *,
        required: bool = False,
        ttl_ms: int = LIMITS.task_ttl_ms,
        poll_interval_ms: int = LIMITS.task_poll_ms,
    ) -> Any:
        """Let `work` go on in the background, where the client knows tasks; gives what the call returns.

        `work` is given a request of its own, whose questions go on the task. Elsewhere it is simply awaited, unless a task is
        `required`: then ProtocolError (-32021) says so. The task may be asked about for `ttl_ms`.
        """
        begin = self.host.begin_task if self.host is not None else None
        if begin is None:
            return await work(self)
        return await begin(self, work, required, ttl_ms, poll_interval_ms)

    # -------------------------------------------------------------------------------------------- cancellation

    def cancel(self) -> None:
        """Say that nobody waits for the answer any more; runs what `on_cancel` was given, once."""
        if self.cancelled:
            return
        self.cancelled = True
        if self.unstarted is not None:
            let_go(self.unstarted)
            self.unstarted = None
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            try:
                callback()
            except Exception as error:  # noqa: BLE001  # a provider's: the others run all the same, and so does the transport
                if self.host is not None and self.host.on_fault is not None:
                    self.host.on_fault(error)

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Run `callback` when the request is cancelled; at once when it already is."""
        if self.cancelled:
            callback()
        elif self._callbacks is None:
            self._callbacks = [callback]
        else:
            self._callbacks.append(callback)


def principal_of(caller: Any) -> str:
    """Who a caller is: "" for nobody, a string for itself, else the object's `principal`, a string that is not empty.

    Raises TypeError for what cannot be told from another that way.
    """
    if caller is None:
        return ""
    if isinstance(caller, str):
        return caller
    principal = getattr(caller, "principal", None)
    if not isinstance(principal, str) or not principal:
        raise TypeError(
            f"A caller of type {type(caller).__name__} does not say who calls: let it be a string, or have a `principal` that "
            "is one, and not an empty one."
        )
    return principal


class _Anonymous(Request):
    """The request of nobody: shared, so it can be neither cancelled nor waited for."""

    def cancel(self) -> None:
        """Nothing waits on it."""

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """It is never cancelled."""

    def emit(self, message: bytes, *, keep: bool) -> None:
        """Nobody hears it."""


ANONYMOUS: Request = _Anonymous()
"""What a handler is given when it is called without a transport."""
