"""Names that are being looked up: a few at a time for each account, counted until the look-up itself has ended.

A name server that hangs holds a thread for as long as the system waits for it, whoever asked and however soon they left. So an
account that asks for many such names gets no more threads than these, and the others keep theirs.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from webseam.config import LIMITS

if TYPE_CHECKING:
    from webseam.egress.dialer import Resolver


class Lookups:
    """The look-ups of one Egress, in one event loop."""

    __slots__ = ("_free", "_running", "_users")

    def __init__(self) -> None:
        self._free: dict[str, asyncio.Semaphore] = {}
        self._users: dict[str, int] = {}  # of a semaphore: who waits for it, and look-ups under way
        self._running: set[asyncio.Future[list[str]]] = set()

    def __len__(self) -> int:
        return len(self._running)

    async def resolve(self, account: str, resolver: Resolver, host: str, port: int) -> list[str]:
        """What `resolver` answers, once the account may ask. Raises what it raises."""
        free = self._free.setdefault(account, asyncio.Semaphore(LIMITS.lookups_per_account))
        self._users[account] = self._users.get(account, 0) + 1
        try:
            await free.acquire()
        except BaseException:
            self._leave(account)
            raise
        lookup = asyncio.ensure_future(resolver.resolve(host, port))
        self._running.add(lookup)

        def ended(lookup: asyncio.Future[list[str]]) -> None:
            self._running.discard(lookup)
            free.release()
            self._leave(account)
            if not lookup.cancelled():
                lookup.exception()  # whoever asked may have left: then nobody hears of it

        lookup.add_done_callback(ended)
        return await asyncio.shield(lookup)

    def _leave(self, account: str) -> None:
        self._users[account] -= 1
        if not self._users[account]:
            del self._users[account], self._free[account]
