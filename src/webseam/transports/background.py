"""transports: what goes on beyond the request that began it, and what a request waits for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


class Background:
    """Tasks that outlive the request that began them; cancelled when the server stops."""

    def __init__(self, on_fault: Callable[[BaseException], None]) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_fault = on_fault

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run `work`; gives what cancels it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task.cancel

    def cancel(self) -> None:
        """Stop them all."""
        for task in list(self._tasks):
            task.cancel()

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._on_fault(error)


def waiter(seconds: float | None = None) -> asyncio.Future[Any]:
    """A future that is set to None once `seconds` have passed."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    if seconds is not None:
        timer = loop.call_later(seconds, lambda: None if future.done() else future.set_result(None))
        future.add_done_callback(lambda _: timer.cancel())
    return future
