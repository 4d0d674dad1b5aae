"""One worker process as the pool sees it: a thread of ours that starts it, talks to it and reaps it.

A thread and plain pipes instead of asyncio's subprocesses: the same on every system and under every event loop, and a loop
that ends early leaves nothing half closed. All methods return at once and may be called from the loop.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

from webseam.workers.frames import FrameError, encode_frame, read_frame, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

KEPT_VARIABLES = frozenset(
    {
        "PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "PYTHONHOME",
        "PYTHONPATH", "PYTHONPLATLIBDIR", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "WEBSEAM_PURE",
    }
)  # fmt: skip
"""All of the environment that a worker gets: what Python needs to start. Keys and tokens stay here."""

EXIT_SECONDS = 2.0
"""How long a worker that was told to end may take before it is killed."""

_CREATION_FLAGS = 0
if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NO_WINDOW


class Process:
    """A worker process. It starts when its first job comes."""

    def __init__(self, jobs: Mapping[str, str], memory_bytes: int) -> None:
        self.jobs_done = 0
        self.exit = ""  # how it ended, in words
        self._hello = encode_frame({"jobs": dict(jobs), "memory": memory_bytes})
        self._popen: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = threading.Lock()
        self._inbox: queue.SimpleQueue[tuple[bytes, Callable[[Any | None], None]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="webseam-worker", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """The process's id once it runs."""
        return self._popen.pid if self._popen is not None else None

    def send(self, frame: bytes, deliver: Callable[[Any | None], None]) -> None:
        """Have a frame answered. `deliver` is called once, in another thread: with the answer, or None if the process died."""
        self._inbox.put((frame, deliver))

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended and was reaped."""
        return not self._thread.is_alive()

    def kill(self) -> None:
        """End the process now, whatever it does."""
        with self._lock:
            self._killed = True
            if self._popen is not None:
                self._popen.kill()  # SIGKILL; TerminateProcess on Windows
        self._inbox.put(None)

    def retire(self) -> None:
        """End the process when it is idle."""
        self._inbox.put(None)

    def join(self, seconds: float | None = None) -> None:
        """Wait until the process is gone and reaped. Blocks."""
        self._thread.join(seconds)

    # ------------------------------------------------------------------------------------- in the thread

    def _serve(self) -> None:
        try:
            while (item := self._inbox.get()) is not None:
                frame, deliver = item
                answer = self._exchange(frame)
                if answer is None:
                    self._reap()
                deliver(answer)
                if answer is None:
                    return
        finally:
            self._reap()

    def _exchange(self, frame: bytes) -> Any | None:
        try:
            process = self._started()
            if process is None or process.stdin is None or process.stdout is None:
                return None
            write_frame(process.stdin, frame)
            return read_frame(process.stdout)
        except (OSError, ValueError, FrameError):
            return None

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._killed:
                return None
            if self._popen is not None:
                return self._popen
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-m", "webseam.workers.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=sys.platform != "win32",  # out of reach of the terminal's Ctrl-C
                creationflags=_CREATION_FLAGS,
            )
        if self._popen.stdin is not None:
            write_frame(self._popen.stdin, self._hello)
        return self._popen

    def _reap(self) -> None:
        process = self._popen
        if process is None or process.stdin is None or process.stdout is None:
            return
        with contextlib.suppress(OSError):  # what it did not read any more
            process.stdin.close()
        try:
            code = process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        process.stdout.close()
        self.exit = f"signal {-code}" if code < 0 else f"exit code {code}"


def environment() -> dict[str, str]:
    """The environment of a worker."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in KEPT_VARIABLES}
    return kept | {"PYTHONUTF8": "1"}
