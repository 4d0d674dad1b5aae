"""The fuzzer's event loop: coroutines driven by hand, so that an input always runs the same way, and never waits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any

STEPS = 20_000
"""More than any input needs: what takes more goes round in circles."""


class CancelledError(BaseException):
    """What cancelling throws into a coroutine, as `asyncio.CancelledError`."""


class Waiter:
    """What `asyncio.Future` is to the engine. `timed` ones have their time run out when the input says that time passes."""

    def __init__(self, *, timed: bool = False) -> None:
        self.timed = timed
        self.value: Any = None
        self.over = False

    def set_result(self, value: Any, /) -> None:
        assert not self.over, "a result was set twice"
        self.value, self.over = value, True

    def done(self) -> bool:
        return self.over

    def __await__(self) -> Generator[Any, None, Any]:
        while not self.over:
            yield self
        return self.value


class Pause:
    """Awaited: everybody else goes first."""

    def __await__(self) -> Generator[Any, None, None]:
        yield None


class Task:
    """One coroutine. `settled` is told its result, None when it was cancelled."""

    def __init__(self, work: Coroutine[Any, Any, Any], settled: Callable[[Any], None]) -> None:
        self.work = work
        self.settled = settled
        self.waits: Waiter | None = None
        self.to_cancel = False
        self.begun = False
        self.over = False

    def cancel(self) -> None:
        if not self.over:
            self.to_cancel = True

    @property
    def ready(self) -> bool:
        return not self.over and (self.to_cancel or self.waits is None or self.waits.over)

    def step(self) -> None:
        """Go on to the next place where it waits."""
        try:
            if self.to_cancel:
                self.to_cancel = False
                if not self.begun:
                    self.work.close()
                    raise CancelledError
                if self.waits is not None:
                    self.waits.over = True
                waits = self.work.throw(CancelledError())
            else:
                self.begun = True
                waits = self.work.send(None)
        except StopIteration as done:
            self.over = True
            self.settled(done.value)
        except CancelledError:
            self.over = True
            self.settled(None)
        else:
            assert waits is None or isinstance(waits, Waiter), f"something unknown is awaited: {waits!r}"
            self.waits = waits


class Loop:
    """Every task of one input, in the order in which they began."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.waiters: list[Waiter] = []

    def spawn(self, work: Coroutine[Any, Any, Any], settled: Callable[[Any], None] = lambda _: None) -> Task:
        task = Task(work, settled)
        self.tasks.append(task)
        return task

    def waiter(self, seconds: float | None = None) -> Waiter:
        waiter = Waiter(timed=seconds is not None)
        self.waiters.append(waiter)
        return waiter

    def run(self, rounds: int = STEPS) -> None:
        """Let everything go on until all wait, or for so many rounds."""
        for _ in range(rounds):
            ready = [task for task in self.tasks if task.ready]
            if not ready:
                return
            for task in ready:
                task.step()
            self.tasks = [task for task in self.tasks if not task.over]
        assert rounds < STEPS, "the input never comes to an end"

    def pass_time(self) -> None:
        """Nobody answers in time."""
        waiters, self.waiters = self.waiters, []
        for waiter in waiters:
            if waiter.timed and not waiter.over:
                waiter.set_result(None)
            elif not waiter.over:
                self.waiters.append(waiter)
