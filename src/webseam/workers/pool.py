"""A small pool of killable processes for work on hostile input.

Each job has a deadline, and its process is watched while it runs: one that is late, or holds too much memory, is killed and
replaced, and so is one whose caller went away, so that an answer can only ever reach the caller who asked. The rest wait in a
bounded queue. Processes start when first needed, and are replaced after `LIMITS.worker_jobs_each` jobs.

A pool serves one event loop at a time, any loop, and several one after the other; `close` it in the last one.
"""

from __future__ import annotations

import asyncio
import collections
from typing import TYPE_CHECKING, Any

from webseam import errors
from webseam.config import LIMITS
from webseam.errors import WebseamError, WorkerError
from webseam.workers.frames import FrameError, encode_frame
from webseam.workers.process import Process

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

LOOK_SECONDS = 0.025
"""How often a running process's memory is looked at."""


class WorkerPool:
    """Up to `processes` worker processes, each killed when it holds more than `memory_bytes`. Making one starts nothing.

    `jobs` adds to the table of jobs, name to "module:function"; only our own code may fill it.
    """

    def __init__(
        self,
        processes: int = LIMITS.worker_processes,
        memory_bytes: int = LIMITS.worker_memory_bytes,
        *,
        queue: int = LIMITS.worker_queue,
        jobs_each: int = LIMITS.worker_jobs_each,
        jobs: Mapping[str, str] | None = None,
    ) -> None:
        self._processes = processes
        self._memory_bytes = memory_bytes
        self._queue = queue
        self._jobs_each = jobs_each
        self._jobs = dict(jobs or {})
        self._running = 0
        self._number = 0
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._ending: set[Process] = set()  # killed or retired, perhaps not yet reaped
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def run(self, job: str, *args: Any, seconds: float) -> Any:
        """The result of `job(*args)`, in plain values (MessagePack), within `seconds`, waiting for a free process included.

        Raises what the job raised when that is an error of ours, same class and kind; and `WorkerError`: `timeout`, `memory`,
        `crashed` (any other exception, or the process died), `busy` (the queue is full, or nothing got free in time).
        """
        loop = asyncio.get_running_loop()
        self._number += 1
        number = self._number
        deadline = loop.time() + seconds
        await self._slot(deadline)
        try:
            # Not before its turn: the frame is a copy of all that is in the arguments.
            try:
                frame = encode_frame([number, job, args, seconds])
            except FrameError as error:
                raise WorkerError(f"The job {job} could not be handed to a worker process: {error}.", kind="crashed") from None
            return await self._run(job, number, frame, deadline, seconds)
        finally:
            self._free_slot()

    async def close(self) -> None:
        """Kill every process and wait until all are gone. Running jobs end as `crashed`. The pool may be used again."""
        gone = self._all | self._ending
        self._all, self._ending = set(), set()
        self._idle.clear()
        for process in gone:
            process.kill()
        waiting, self._waiting = self._waiting, collections.deque()
        for waiter in waiting:
            if not waiter.done():
                waiter.set_exception(WorkerError("The worker processes were closed.", kind="crashed"))
        loop = asyncio.get_running_loop()
        for process in gone:
            await loop.run_in_executor(None, process.join)

    # ------------------------------------------------------------------------------------- slots

    async def _slot(self, deadline: float) -> None:
        """Wait until fewer than `processes` jobs run, first come, first served."""
        if self._running < self._processes and not self._waiting:
            self._running += 1
            return
        if len(self._waiting) >= self._queue:
            raise WorkerError(
                f"Too many documents are being read at once ({self._processes} at work, {self._queue} waiting): try again "
                "soon.",
                kind="busy",
            )
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiting.append(waiter)
        try:
            await asyncio.wait({waiter}, timeout=max(0.0, deadline - loop.time()))
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif waiter.done() and waiter.exception() is None:
                self._free_slot()  # it was given to us as we left
            raise
        if not waiter.done():
            self._waiting.remove(waiter)
            raise WorkerError("No worker process got free in time: try again soon.", kind="busy")
        waiter.result()  # raises when the pool was closed

    def _free_slot(self) -> None:
        """Hand the slot to whoever waits longest, or give it back."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._running -= 1

    # ------------------------------------------------------------------------------------- one job

    async def _run(self, job: str, number: int, frame: bytes, deadline: float, seconds: float) -> Any:
        loop = asyncio.get_running_loop()
        process = self._idle.pop() if self._idle else self._new()
        answered: asyncio.Future[Any] = loop.create_future()

        def settle(answer: Any) -> None:
            if not answered.done():
                answered.set_result(answer)

        def deliver(answer: Any) -> None:
            try:
                loop.call_soon_threadsafe(settle, answer)
            except RuntimeError:  # the loop was closed: nobody waits any more
                process.kill()

        process.send(frame, deliver)
        try:
            answer = await self._watched(answered, process, job, deadline, seconds)
        except BaseException:
            self._discard(process)
            raise
        if answer is None or answer[0] != number:
            self._discard(process)
            raise WorkerError(
                f"The worker process died while it did {job} ({process.exit or 'it was closed'}).", kind="crashed"
            )
        self._keep(process)
        return _result(job, answer)

    async def _watched(self, answered: asyncio.Future[Any], process: Process, job: str, deadline: float, seconds: float) -> Any:
        loop = asyncio.get_running_loop()
        while True:
            left = deadline - loop.time()
            await asyncio.wait({answered}, timeout=max(0.0, min(LOOK_SECONDS, left)))
            if answered.done():
                return answered.result()
            if left <= 0:
                raise WorkerError(f"The worker process did not finish {job} within {seconds:.1f} s.", kind="timeout")
            if _resident(process.pid) > self._memory_bytes:
                raise WorkerError(
                    f"The worker process took more than {self._memory_bytes // 2**20} MB of memory for {job}.", kind="memory"
                )

    def _new(self) -> Process:
        process = Process(self._jobs, self._memory_bytes)
        self._all.add(process)
        return process

    def _keep(self, process: Process) -> None:
        process.jobs_done += 1
        if process not in self._all:  # closed meanwhile
            return
        if process.jobs_done >= self._jobs_each or _resident(process.pid) > self._memory_bytes // 2:
            process.retire()
            self._leave(process)
        else:
            self._idle.append(process)

    def _discard(self, process: Process) -> None:
        process.kill()
        self._leave(process)

    def _leave(self, process: Process) -> None:
        """Forget a process that is ending, except for `close`, which waits for it."""
        self._all.discard(process)
        self._ending = {other for other in self._ending if not other.is_gone}
        self._ending.add(process)


def _result(job: str, answer: list[Any]) -> Any:
    """What an answer of the child means: its result, or the exception to raise."""
    outcome = answer[1]
    if outcome == "done":
        return answer[2]
    if outcome == "raised":
        name, kind, message = answer[2:5]
        error_class = getattr(errors, name, None)
        if isinstance(error_class, type) and issubclass(error_class, WebseamError) and error_class is not errors.ProtocolError:
            raise error_class(message, kind=kind)
        raise WorkerError(message, kind="crashed")
    if answer[2] == "MemoryError":
        raise WorkerError(f"The worker process had no memory left for {job}.", kind="memory")
    raise WorkerError(f"The job {job} failed in its worker process ({answer[2]}).", kind="crashed")


def _resident(pid: int | None) -> int:
    """The resident memory of a process in bytes; 0 when it is not there (yet, or any more)."""
    if pid is None:
        return 0
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
