"""protocol: what outlives a request in the handshake era. A value that the transport owns, one for each connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.protocol.channel import Waiter
    from webseam.protocol.request import Request


class Session:
    """What one client has agreed on, its requests that are still pending, and ours to it.

    stdio has one for the life of the process; HTTP has one for each session id that it gave out, and none where no provider
    needs any: then nothing a client sent is remembered, and every worker is the same as every other.

    `handshake_first` refuses what comes before `initialize`: over HTTP that is a client which forgot its session id. `push`
    takes the messages that belong to no request; the transport sets it.
    """

    __slots__ = (
        "__weakref__", "client_capabilities", "client_info", "handshake_first", "initialized", "log_level", "pending",
        "principal", "push", "questions", "revision", "sent", "watched",
    )  # fmt: skip

    def __init__(self, *, handshake_first: bool = False, push: Callable[[bytes], None] | None = None) -> None:
        self.revision: str | None = None
        self.client_info: dict[str, Any] | None = None
        self.client_capabilities: dict[str, Any] = {}
        self.initialized = False
        self.handshake_first = handshake_first
        self.log_level: str | None = None
        self.principal = ""
        self.push = push
        self.pending: dict[str | int, Request] = {}
        self.questions: dict[str | int, Waiter] = {}
        self.watched: set[str] = set()
        self.sent = 0

    def end(self) -> None:
        """Nobody is there any more: what is pending is cancelled, and what waits for the client's answers goes on without."""
        self.push = None
        for request in list(self.pending.values()):
            request.cancel()
        questions, self.questions = self.questions, {}
        for waiter in questions.values():
            if not waiter.done():
                waiter.set_result(None)
