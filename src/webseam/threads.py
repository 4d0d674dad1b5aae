"""A bounded pool of daemon threads for functions that block: providers that are plain functions, the system's resolver.

`concurrent.futures` joins its threads when the interpreter ends, so one that hangs would hold up the process; these
are daemons. A thread cannot be stopped from outside: a job whose caller has left goes on until it returns and its result is
dropped; one that nobody waits for any more is not begun. Whatever a job raises comes to the caller as an error.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class _Job:
    __slots__ = ("context", "function", "future", "loop")

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.context = contextvars.copy_context()

    def run(self) -> None:
        if self.future.cancelled():
            return
        result: Any = None
        error: BaseException | None = None
        try:
            result = self.context.run(self.function)
        except (StopIteration, SystemExit, KeyboardInterrupt) as raised:
            # Handed to whoever awaits, the first would end the coroutine and the others the event loop.
            error = RuntimeError(f"{type(raised).__name__}: {raised}")
        except BaseException as raised:  # noqa: BLE001 - the outermost frame of the thread: the caller gets whatever was raised
            error = raised
        try:
            self.loop.call_soon_threadsafe(self._settle, result, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class Threads:
    """At most `limit` daemon threads called `name`, started as they are needed."""

    def __init__(self, limit: int, name: str = "webseam-provider") -> None:
        self._name = name
        self._limit = limit
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._free = 0  # threads that wait for a job, less jobs that wait for a thread

    async def run(self, function: Callable[[], Any]) -> Any:
        """What `function` returns, run in a thread with a copy of the current context."""
        job = _Job(function)
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._started < self._limit:
                self._started += 1
                self._free += 1
                threading.Thread(target=self._work, name=f"{self._name}-{self._started}", daemon=True).start()
        self._jobs.put(job)
        return await job.future

    def _work(self) -> None:
        while True:
            self._jobs.get().run()
            with self._lock:
                self._free += 1
