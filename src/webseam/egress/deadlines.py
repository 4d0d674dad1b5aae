"""Deadlines of what runs in an event loop, kept by one timer for all: one for each would cost a tenth of a small request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Deadlines:
    """The deadlines of one event loop. The timer is set for the earliest; most are over long before."""

    __slots__ = ("_loop", "_running", "_timer", "_when")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._running: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._when = 0.0

    def within(self, seconds: float) -> Deadline:
        """`with deadlines.within(5):` raises TimeoutError when what is awaited inside takes longer, as `asyncio.timeout`."""
        return Deadline(self, seconds)

    def time(self) -> float:
        """Now, as the loop has it."""
        return self._loop.time()

    def close(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _add(self, deadline: Deadline) -> None:
        self._running.add(deadline)
        if self._timer is None or deadline.when < self._when:
            self._set(deadline.when)

    def _set(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._when = when
        self._timer = self._loop.call_at(when, self._passed)

    def _passed(self) -> None:
        self._timer = None
        now = self._loop.time()
        for deadline in [one for one in self._running if one.when <= now]:
            self._running.discard(deadline)
            deadline.pass_now()
        if self._running:
            self._set(min(one.when for one in self._running))


class Deadline:
    """One of them, for one `with`. `passed` once what is awaited has been cancelled."""

    __slots__ = ("_before", "_deadlines", "_task", "passed", "when")

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self.passed = False
        self.when = deadlines.time() + seconds

    def pass_now(self) -> None:
        """Cancel what is awaited."""
        if not self.passed:
            self.passed = True
            self._task.cancel()

    def end(self) -> None:
        """It cannot pass any more."""
        # The timer stays: the next one's deadline is most likely later.
        self._deadlines._running.discard(self)  # noqa: SLF001 - the two classes are one thing

    def __enter__(self) -> Deadline:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._before = task.cancelling()
        self._deadlines._add(self)  # noqa: SLF001 - the two classes are one thing
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.end()
        # Cancelled by nobody else as well: then it is ours to say what it was (as `asyncio.Timeout` does).
        if self.passed and self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error
