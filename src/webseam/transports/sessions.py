"""transports: the sessions of Streamable HTTP in the handshake era (2025-11-25, basic/transports, "Session Management").

Kept in this process, for engines with a provider that needs them. An id is unguessable and good for the caller it was given
to; for anybody else there is no such session. Bounded in number, for each caller too, and in what their streams hold; one that
is not used for `LIMITS.session_idle_seconds` ends.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from itertools import groupby
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.transports.sse import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.protocol.session import Session

GENERAL = "0"
"""The stream of what belongs to no request; those of requests are numbered from 1."""


class HttpSession:
    """One session: what the engine remembers of it, and its streams."""

    __slots__ = ("_count", "_pushed", "_spent", "ended", "general", "held", "id", "protocol", "streams", "used")

    def __init__(self, session_id: str, protocol: Session, spent: Callable[[HttpSession, int], None]) -> None:
        self.id = session_id
        self.protocol = protocol
        self.used = time.monotonic()
        self.ended = False
        self.streams: OrderedDict[str, Stream] = OrderedDict()
        self.held = 0  # bytes, by all its streams
        self._spent = spent
        self._count = 0
        self.general = Stream(GENERAL, kept=True, spent=self._hold)
        self._pushed = b""
        protocol.push = self._push

    def _push(self, message: bytes) -> None:
        """Say something that belongs to no request; once, where the same was said last and nobody has read it yet."""
        if message != self._pushed or self.general.written >= self.general.last:
            self._pushed = message
            self.general.put(message)

    def _hold(self, size: int) -> None:
        self.held += size
        self._spent(self, size)

    def open_stream(self) -> Stream:
        """A new stream for one request. The oldest that has ended makes room for it."""
        self._count += 1
        if self.ended:  # what is still on its way to this connection; nothing is kept for another
            return Stream()
        stream = self.streams[str(self._count)] = Stream(str(self._count), kept=True, spent=self._hold)
        if len(self.streams) > LIMITS.session_streams:
            self.drop_ended(at_least=1)
        return stream

    def resumable(self, event_id: str) -> tuple[Stream, int] | None:
        """The stream that `event_id` belongs to and its position, while everything after it is held."""
        name, _, position = event_id.partition(".")
        stream = self.general if name == GENERAL else self.streams.get(name)
        if stream is None or not (position.isascii() and position.isdigit()) or len(position) > 15:
            return None
        return (stream, int(position)) if stream.has_after(int(position)) else None

    def drop_ended(self, at_least: int = 0) -> None:
        """Let go of streams that have ended, the oldest first: `at_least` so many, 0 for all."""
        gone = 0
        for name, stream in list(self.streams.items()):
            if stream.ended and not stream.connected:
                stream.forget()
                del self.streams[name]
                gone += 1
                if at_least and gone >= at_least:
                    return

    def forget_unheard(self) -> None:
        """Let go of what belongs to no request, while it waits for nobody."""
        if not self.general.connected:
            self.general.forget()

    @property
    def busy(self) -> bool:
        """Whether somebody is connected, or waits for an answer."""
        return self.general.connected or bool(self.protocol.pending)

    def end(self) -> None:
        """Nothing is kept, and what is pending is cancelled."""
        self.ended = True
        self.protocol.end()
        for stream in (self.general, *self.streams.values()):
            stream.end()
            stream.forget()
        self.streams.clear()


class Sessions:
    """All sessions of one application."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, HttpSession] = OrderedDict()  # the least recently used first
        self._held = 0
        self._held_of: dict[str, int] = {}  # of each principal

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, protocol: Session) -> HttpSession | None:
        """Give a session an id; None when there is no room for another, of this caller or at all."""
        self._sweep()
        own = [kept for kept in self._sessions.values() if kept.protocol.principal == protocol.principal]
        if len(own) >= LIMITS.sessions_per_caller and not self._make_room(own):
            return None
        if len(self._sessions) >= LIMITS.sessions and not self._make_room(list(self._sessions.values())):
            return None
        session = HttpSession(secrets.token_urlsafe(24), protocol, self._spent)
        self._sessions[session.id] = session
        return session

    def get(self, session_id: str, principal: str) -> HttpSession | None:
        """The session of that id, if it is this principal's."""
        session = self._sessions.get(session_id)
        if session is None or session.protocol.principal != principal:
            return None
        now = time.monotonic()
        if now - session.used > LIMITS.session_idle_seconds and not session.busy:
            self.end(session)
            return None
        session.used = now
        self._sessions.move_to_end(session_id)
        return session

    def end(self, session: HttpSession) -> None:
        """End one."""
        self._sessions.pop(session.id, None)
        session.end()

    def end_streams(self) -> None:
        """Close what is open: the server stops."""
        for session in self._sessions.values():
            session.general.end()

    def _sweep(self) -> None:
        oldest = time.monotonic() - LIMITS.session_idle_seconds
        for session in list(self._sessions.values()):
            if session.used >= oldest:
                return
            if not session.busy:
                self.end(session)

    def _make_room(self, among: list[HttpSession]) -> bool:
        """End the one of them that has been idle longest."""
        for session in among:
            if not session.busy:
                self.end(session)
                return True
        return False

    def _spent(self, session: HttpSession, size: int) -> None:
        """More or less is held. Where it is too much, whoever holds most lets go first: nobody pushes out what is another's."""
        principal = session.protocol.principal
        self._held += size
        held = self._held_of.get(principal, 0) + size
        if held:
            self._held_of[principal] = held
        else:
            self._held_of.pop(principal, None)
        if size <= 0 or self._held <= LIMITS.kept_bytes:
            return
        holders = [kept for kept in self._sessions.values() if kept.held]
        holders.sort(key=lambda kept: (-self._held_of[kept.protocol.principal], kept.protocol.principal))
        for _, own in groupby(holders, key=lambda kept: kept.protocol.principal):
            theirs = list(own)
            for let_go in (HttpSession.drop_ended, HttpSession.forget_unheard):
                for kept in theirs:
                    let_go(kept)
                    if self._held <= LIMITS.kept_bytes:
                        return
