"""Politeness towards hosts and fairness between accounts: who may ask now, and which host asked to be left alone.

Theory of operation. A host here is an origin (scheme, host, port), as for robots.txt and for the pool of connections.

`Turns` counts the exchanges under way. There are four bounds: all together, of one account, with one host, and of one account
with one host. The two of an account are below the others, so that one account with many slow servers, or with many requests to
one slow server, leaves connections for everybody else. Who finds all four free goes on at once: a few look-ups in dictionaries,
nothing to wait for. Otherwise it waits in a line of its own account and host.

Whoever leaves hands its turn on before anybody new can ask for it: to the account that has gone without one for longest among
those whose line may move, and there to the host that has. So an account with five hundred requests in line and one with a
single request take turns, with one host and over all, and after each leave nobody waits who could go on. That is why a newcomer
need not look at the lines: what is free then is free to it alone.

aiohttp's own limits are the same numbers, so its queue, which is first come, first served, is never used. Who has a turn may
wait for room for its body (`rooms`), and who keeps a room never waits for a turn: it cannot deadlock.

`Rests` remembers, for each account, the hosts that answered with `Retry-After`, until the time they named.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable

    Waiter = asyncio.Future[None]
    Line = OrderedDict[Waiter, None]

Key = TypeVar("Key", str, tuple[str, str])


class Turns:
    """The turns of one Egress, in one event loop. `taken` and `waiting` are for those who look on."""

    __slots__ = ("_accounts", "_all", "_hosts", "_lines", "_of_account", "_of_both", "_pairs", "_with_host", "taken", "waiting")

    def __init__(
        self,
        together: int = LIMITS.connections,
        of_account: int = LIMITS.connections_per_account,
        with_host: int = LIMITS.connections_per_host,
        of_both: int = LIMITS.connections_per_account_and_host,
    ) -> None:
        self._all, self._of_account, self._with_host, self._of_both = together, of_account, with_host, of_both
        self._accounts: dict[str, int] = {}
        self._hosts: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], int] = {}
        # Both levels are in the order in which they are next: what was given a turn goes to the end.
        self._lines: OrderedDict[str, OrderedDict[str, Line]] = OrderedDict()
        self.taken = 0
        self.waiting = 0

    def enter(self, account: str, host: str) -> bool:
        """Take a turn if there is one; whoever got True calls `leave`. "" is no host: then only the other two bounds count."""
        of_account = self._accounts.get(account, 0)
        if self.taken >= self._all or of_account >= self._of_account:
            return False
        if host:
            hosts, pairs, pair = self._hosts, self._pairs, (account, host)
            with_host, of_both = hosts.get(host, 0), pairs.get(pair, 0)
            if with_host >= self._with_host or of_both >= self._of_both:
                return False
            hosts[host] = with_host + 1
            pairs[pair] = of_both + 1
        self.taken += 1
        self._accounts[account] = of_account + 1
        return True

    async def wait(self, account: str, host: str) -> None:
        """Wait for a turn, after `enter` said False; whoever got it calls `leave`. A cancelled waiter leaves the line."""
        waiter: Waiter = asyncio.get_running_loop().create_future()
        self._lines.setdefault(account, OrderedDict()).setdefault(host, OrderedDict())[waiter] = None
        self.waiting += 1
        try:
            await waiter
        except BaseException:
            if waiter.cancelled():
                self._drop(account, host, waiter)
            else:  # it was given a turn and cancelled before it could go on
                self.leave(account, host)
            raise

    def leave(self, account: str, host: str) -> None:
        """Give a turn back, and hand on what that makes free."""
        self.taken -= 1
        _less(self._accounts, account)
        if host:
            _less(self._hosts, host)
            _less(self._pairs, (account, host))
        while self._lines and self._hand_on():
            pass

    def _hand_on(self) -> bool:
        """Give one turn to the first in line who may have it; False when nobody may."""
        if self.taken >= self._all:
            return False
        for account, lines in self._lines.items():
            if self._accounts.get(account, 0) >= self._of_account:
                continue
            for host, line in lines.items():
                waiter = next(iter(line))
                if waiter.cancelled():  # its task has not run yet
                    self._drop(account, host, waiter)
                    return True
                if self.enter(account, host):
                    self._lines.move_to_end(account)
                    lines.move_to_end(host)
                    self._drop(account, host, waiter)
                    waiter.set_result(None)
                    return True
        return False

    def _drop(self, account: str, host: str, waiter: Waiter) -> None:
        """Take a waiter out of its line, unless that was done before."""
        lines = self._lines.get(account)
        line = lines.get(host) if lines is not None else None
        if lines is None or line is None or waiter not in line:
            return
        del line[waiter]
        self.waiting -= 1
        if not line:
            del lines[host]
        if not lines:
            del self._lines[account]


def _less(counts: dict[Key, int], key: Key) -> None:
    """Count one down; what is down to nothing is not kept."""
    count = counts[key] - 1
    if count:
        counts[key] = count
    else:
        del counts[key]


class Rests:
    """Which hosts asked which account to be left alone, and until when. Bounded in number: the oldest are forgotten."""

    __slots__ = ("_clock", "_until")

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: OrderedDict[tuple[str, str], float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._until)

    def begin(self, account: str, host: str, seconds: float) -> None:
        """The host wants to be left alone for so long; an earlier wish that lasts longer stays."""
        key, until = (account, host), self._clock() + seconds
        self._until[key] = max(until, self._until.pop(key, until))
        while len(self._until) > LIMITS.resting_hosts:
            self._until.popitem(last=False)

    def left(self, account: str, host: str) -> float:
        """Seconds for which the host still wants to be left alone; 0 when it does not."""
        until = self._until.get((account, host))
        if until is None:
            return 0.0
        left = until - self._clock()
        if left > 0:
            return left
        del self._until[account, host]
        return 0.0
