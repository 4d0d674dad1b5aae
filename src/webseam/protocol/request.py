"""protocol: what a provider may know about the request it answers, and how it learns that nobody waits any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.protocol.codec import UNSET, Raw, Struct, UnsetType, msgspec
from webseam.protocol.revisions import RULES, Meta

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.protocol.session import Session


class _MetaOf(Struct):
    """Params as far as `_meta`, whole."""

    meta: dict[str, Any] | UnsetType | None = msgspec.field(name="_meta", default=UNSET)


class Request:
    """One request. A provider's method receives it when it has a parameter for it (see `webseam.protocol.roles`).

    `caller` is whatever the transport learnt about who asks, None when nobody was asked to identify themselves; `revision` is
    the one the request is served by.
    """

    __slots__ = (
        "_callbacks", "_known", "_params", "caller", "cancelled", "id", "method", "revision", "session", "unstarted",
    )  # fmt: skip

    def __init__(
        self,
        id: str | int | None = None,  # noqa: A002  # the field's own name
        method: str = "",
        revision: str = "",
        caller: Any = None,
        session: Session | None = None,
        params: Raw | None = None,
        known: Meta | None = None,
    ) -> None:
        self.id = id
        self.method = method
        self.revision = revision
        self.caller = caller
        self.session = session
        self.cancelled = False
        self.unstarted: Any = None  # the provider's coroutine until it first runs: nobody else would close it
        self._params = params
        self._known = known
        self._callbacks: list[Callable[[], object]] = []

    def __repr__(self) -> str:
        return f"Request({self.id!r}, {self.method!r}, {self.revision!r})"

    # -------------------------------------------------------------------------------------------- what is known

    @property
    def modern(self) -> bool:
        """Whether the request stands alone (2026-07-28 and later)."""
        rules = RULES.get(self.revision)
        return rules is not None and rules.modern

    @property
    def meta(self) -> dict[str, Any]:
        """The whole of `params._meta` (trace context, keys of extensions); empty when there is none."""
        if self._params is None:
            return {}
        return msgspec.json.decode(self._params, type=_MetaOf).meta or {}

    @property
    def client_info(self) -> dict[str, Any] | None:
        """Who the client says it is; for display alone. None when it did not say."""
        if self.modern:
            return (self._known and self._known.client) or None
        return self.session.client_info if self.session is not None else None

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """What the client declared: with this request (2026-07-28), or in the handshake where a session remembers it."""
        if self.modern:
            return (self._known and self._known.capabilities) or {}
        return self.session.client_capabilities if self.session is not None else {}

    @property
    def progress_token(self) -> str | int | None:
        """The token with which the client asked for progress, None when it did not."""
        token = self._known.progress_token if self._known is not None else UNSET
        return None if token is UNSET else token

    # -------------------------------------------------------------------------------------------- cancellation

    def cancel(self) -> None:
        """Say that nobody waits for the answer any more; runs what `on_cancel` was given, once."""
        if self.cancelled:
            return
        self.cancelled = True
        if self.unstarted is not None:
            (getattr(self.unstarted, "close", None) or self.unstarted.cancel)()
            self.unstarted = None
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Run `callback` when the request is cancelled; at once when it already is."""
        if self.cancelled:
            callback()
        else:
            self._callbacks.append(callback)


class _Anonymous(Request):
    """The request of nobody: shared, so it can be neither cancelled nor waited for."""

    __slots__ = ()

    def cancel(self) -> None:
        """Nothing waits on it."""

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """It is never cancelled."""


ANONYMOUS: Request = _Anonymous()
"""What a handler is given when it is called without a transport."""
