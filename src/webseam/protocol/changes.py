"""protocol: who is told when a list or a resource changes.

In 2026-07-28 a client listens with a request that stays open (`subscriptions/listen`); before, the changes go to its session
without being asked for (lists), or for the resources it subscribed to. Both end here, as the engine knows neither streams nor
connections: a listener is somewhere to send to, for as long as its request or session lives.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from webseam.protocol.jsonrpc import notification
from webseam.protocol.revisions import SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from webseam.protocol.channel import Waiter
    from webseam.protocol.session import Session


class Listener:
    """One open `subscriptions/listen`: what it asked for, where to send it, and what ends it."""

    __slots__ = ("id", "kinds", "principal", "send", "tasks", "uris", "waiter")

    def __init__(
        self,
        id: str | int,  # noqa: A002  # the field's own name
        principal: str,
        send: Callable[[bytes, bool], None],
        waiter: Waiter,
        *,
        kinds: Collection[str] = (),
        uris: Collection[str] = (),
        tasks: Collection[str] = (),
    ) -> None:
        self.id = id
        self.principal = principal
        self.send = send
        self.waiter = waiter
        self.kinds = frozenset(kinds)
        self.uris = frozenset(uris)
        self.tasks = frozenset(tasks)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send one notification, marked as this subscription's."""
        self.send(notification(method, {"_meta": {SUBSCRIPTION_KEY: self.id}, **params}), True)


class Changes:
    """Everyone who listens. To be used from where the transport runs, as everything of the engine."""

    __slots__ = ("_listeners", "_sessions")

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    def add(self, listener: Listener) -> None:
        """Tell `listener` of what it asked for, until it is removed."""
        self._listeners[id(listener)] = listener

    def remove(self, listener: Listener) -> None:
        """Tell it no more."""
        self._listeners.pop(id(listener), None)

    def follow(self, session: Session) -> None:
        """Tell a session of the handshake era, for as long as there is one."""
        self._sessions.add(session)

    def list_changed(self, kind: str, principal: str | None) -> None:
        """The list of `kind` changed: for everyone, or for one principal."""
        method = f"notifications/{kind}/list_changed"
        for listener in self._of(principal):
            if kind in listener.kinds:
                listener.tell(method, {})
        for session in self._in_sessions(principal):
            session.push(notification(method))  # type: ignore[misc]  # `_in_sessions` gives only those that have one

    def updated(self, uri: str, principal: str | None) -> None:
        """A resource changed: for everyone who watches it, or for one principal."""
        for listener in self._of(principal):
            if uri in listener.uris:
                listener.tell("notifications/resources/updated", {"uri": uri})
        for session in self._in_sessions(principal):
            if uri in session.watched:
                session.push(notification("notifications/resources/updated", {"uri": uri}))  # type: ignore[misc]  # as above

    def task(self, task_id: str, principal: str, params: dict[str, Any]) -> None:
        """The status of a task changed."""
        for listener in self._of(principal):
            if task_id in listener.tasks:
                listener.tell("notifications/tasks", params)

    def end(self) -> None:
        """End every subscription in good order: the server stops."""
        for listener in list(self._listeners.values()):
            if not listener.waiter.done():
                listener.waiter.set_result(None)

    def _of(self, principal: str | None) -> list[Listener]:
        everyone = list(self._listeners.values())
        return everyone if principal is None else [one for one in everyone if one.principal == principal]

    def _in_sessions(self, principal: str | None) -> list[Session]:
        return [
            session
            for session in list(self._sessions)
            if session.push is not None and session.initialized and principal in (None, session.principal)
        ]
