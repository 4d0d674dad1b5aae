"""Room for bodies: how many bytes of replies the process holds at once, whoever asks and however small they were on the wire.

Up to `LIMITS.body_small_bytes` a body grows as it comes. To grow on it claims a room, of which there are as many as bodies of
`LIMITS.body_bytes` go into `LIMITS.body_bytes_in_flight` beside the small ones; when all are taken it waits, within its call's
deadline, and its connection is not read meanwhile. A room is given back when the door has handed the reply over, or, when the
caller says so, when it is done with the body.

It cannot deadlock. A claim takes at most one room, and that is enough for the largest body there may be: whoever has one waits
for no other, so every body that has begun to grow can finish, or fails at its deadline, and gives its room back either way.
What a caller waits for while it keeps one, a worker process, never needs a room itself. First come, first served, but one
account has half of them at most.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from webseam.call import LOCAL
from webseam.config import LIMITS

if TYPE_CHECKING:
    from typing import Final

    from webseam.egress.urls import Url

_SMALL: Final = LIMITS.connections * LIMITS.body_small_bytes  # what all small bodies together may come to
ROOMS: Final = max(1, (LIMITS.body_bytes_in_flight - _SMALL) // LIMITS.body_bytes)


class Rooms:
    """The rooms of one Egress, in one event loop. `taken` and `most_taken` are for those who look on."""

    __slots__ = ("_accounts", "_each", "_free", "most_taken", "taken")

    def __init__(self, rooms: int = ROOMS) -> None:
        self._free = asyncio.Semaphore(rooms)
        self._each = max(1, rooms // 2)  # of one account: it cannot have them all
        self._accounts: dict[str, tuple[asyncio.Semaphore, int]] = {}  # and how many hold or wait for one of it
        self.taken = 0
        self.most_taken = 0

    async def _take(self, account: str) -> None:
        own, users = self._accounts.get(account) or (asyncio.Semaphore(self._each), 0)
        self._accounts[account] = own, users + 1
        try:
            await own.acquire()
            try:
                await self._free.acquire()
            except BaseException:
                own.release()
                raise
        except BaseException:
            self._leave(account)
            raise
        self.taken += 1
        self.most_taken = max(self.most_taken, self.taken)

    def _give_back(self, account: str) -> None:
        self.taken -= 1
        self._free.release()
        self._accounts[account][0].release()
        self._leave(account)

    def _leave(self, account: str) -> None:
        own, users = self._accounts[account]
        if users > 1:
            self._accounts[account] = own, users - 1
        else:
            del self._accounts[account]


class Claim:
    """One request's claim to a room. `waiting` while it has to wait: a deadline that passes then was not the site's fault.

    `in_line` is where it waits for a turn (see `pacing`), for the same reason. `notes` are what the caller is to be told.
    """

    __slots__ = ("_account", "_has_room", "_rooms", "in_line", "notes", "waiting")

    def __init__(self, rooms: Rooms, account: str = LOCAL) -> None:
        self._rooms = rooms
        self._account = account
        self._has_room = False
        self.waiting = False
        self.in_line: Url | None = None
        self.notes: tuple[str, ...] = ()

    async def grow(self, size: int) -> None:
        """Return when the body may be `size` bytes long."""
        if self._has_room or size <= LIMITS.body_small_bytes:
            return
        self.waiting = True  # and stays so when this is cancelled: it tells why
        await self._rooms._take(self._account)  # noqa: SLF001 - the two classes are one thing
        self.waiting = False
        self._has_room = True

    def note(self, sentence: str) -> None:
        """Tell the caller that, once."""
        if sentence not in self.notes:
            self.notes = (*self.notes, sentence)

    def close(self) -> None:
        """Give back what was claimed; again, and nothing happens."""
        if self._has_room:
            self._has_room = False
            self._rooms._give_back(self._account)  # noqa: SLF001 - the two classes are one thing
