"""protocol: what outlives a request in the handshake era. A value that the transport owns, one for each connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webseam.protocol.request import Request


class Session:
    """What one client has agreed on, and its requests that are still pending.

    stdio has one for the life of the process. Stateless HTTP has none: then nothing a client sent is remembered, and every
    worker is the same as every other.
    """

    __slots__ = ("client_capabilities", "client_info", "initialized", "pending", "revision")

    def __init__(self) -> None:
        self.revision: str | None = None
        self.client_info: dict[str, Any] | None = None
        self.client_capabilities: dict[str, Any] = {}
        self.initialized = False
        self.pending: dict[str | int, Request] = {}
