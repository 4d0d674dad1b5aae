"""The worker process: `python -P -m webseam.workers.child`. Reads jobs, runs them one at a time, writes their results.

It talks on private copies of stdin and stdout; the numbers 0 and 1 lead to the null device, so nothing a job prints or reads
gets between the frames. It knows the network only by name: nothing imported here, or by the jobs of ours, opens a socket.

It must not outlive the server. A thread of its own reads stdin, so the end of it is seen while a job runs, and ends the
process at once. A job that never lets go of the interpreter would hold that thread up too: where the system has `resource`, a
limit on processor time, moved on before each job, ends it all the same. The server kills on the deadline and on memory; the
limits here only stand behind it.
"""

from __future__ import annotations

import gc
import importlib
import os
import queue
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from webseam.errors import WebseamError
from webseam.workers.frames import FrameError, encode_frame, read_frame, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

JOBS = {"read": "webseam.documents.in_worker:read_job", "sitemap": "webseam.index.sitemap:sitemap_job"}
"""The jobs there are, by name. A pool may be given others by our own code (`WorkerPool(jobs=...)`), never by a request."""

SPARE_SECONDS = 5
ADDRESS_SPACE_FACTOR = 8
"""Address space is not memory: a process maps several times what it holds. This only stops a runaway between two looks."""


def main() -> None:
    """Serve jobs until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes us
    source, sink = _private_streams()
    inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
    try:
        hello = read_frame(source)
    except FrameError:
        return
    if hello is None:
        return
    table = JOBS | hello["jobs"]
    _limit_memory(int(hello["memory"]))
    threading.Thread(target=_receive, args=(source, inbox), daemon=True).start()
    functions: dict[str, Callable[..., Any]] = {}
    # A document makes many objects and no cycles: to look for some meanwhile costs a sixth of the time. It is done after, and
    # not among what was imported meanwhile (a job imports what its document needs), for that stays.
    gc.disable()
    modules = 0
    while True:
        number, job, arguments, seconds = inbox.get()
        _limit_time(seconds)
        try:
            if job not in functions:
                functions[job] = _load(table, job)
            answer: list[Any] = [number, "done", functions[job](*arguments)]
        except WebseamError as error:
            answer = [number, "raised", type(error).__name__, error.kind, error.message]
        except Exception as error:  # noqa: BLE001 - the outermost loop: whatever a job does, the server hears of it
            answer = [number, "failed", type(error).__name__]
        write_frame(sink, _frame(answer))
        answer = []
        gc.collect()
        if len(sys.modules) != modules:
            modules = len(sys.modules)
            gc.freeze()


def _private_streams() -> tuple[IO[bytes], IO[bytes]]:
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    if sys.platform == "win32":  # text mode would turn line feeds into two bytes
        import msvcrt

        msvcrt.setmode(source.fileno(), os.O_BINARY)
        msvcrt.setmode(sink.fileno(), os.O_BINARY)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    return source, sink


def _receive(source: IO[bytes], inbox: queue.SimpleQueue[Any]) -> None:
    """Hand on what comes; when nothing can come any more, end the process, whatever it is doing."""
    try:
        while (message := read_frame(source)) is not None:
            inbox.put(message)
    except (FrameError, OSError):
        pass
    os._exit(0)


def _load(table: dict[str, str], job: str) -> Callable[..., Any]:
    module, _, name = table[job].partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _frame(answer: list[Any]) -> bytes:
    try:
        return encode_frame(answer)
    except FrameError as error:
        return encode_frame([answer[0], "failed", type(error).__name__])


def _limit_memory(size: int) -> None:
    """A bound far above what the server allows: MemoryError instead of a machine that swaps, between two of its looks."""
    _limit("RLIMIT_AS", size * ADDRESS_SPACE_FACTOR)


def _limit_time(seconds: float) -> None:
    """Processor time for the next job, counted from now: the kernel ends us when we, and the server, did not."""
    _limit("RLIMIT_CPU", int(time.process_time() + seconds) + SPARE_SECONDS)


def _limit(name: str, wanted: int) -> None:
    if sys.platform != "win32":
        import resource

        try:
            limit = getattr(resource, name)
            _, hard = resource.getrlimit(limit)
            resource.setrlimit(limit, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
        except (AttributeError, ValueError, OSError):  # macOS refuses some values
            return


if __name__ == "__main__":
    main()
