"""One writer at a time across processes, and who it is.

The lock is the operating system's own, on an open file: it ends with the process that holds it, however that process ends.
tantivy has such a lock too, but inside the documents' directory, where it is of no use while that directory is damaged or being
replaced. Beside the lock lies a note of who holds it, for the one who is refused; the note decides nothing, and one that a dead
process left is not believed.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Self

from webseam.errors import CorpusError

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

LOCK_FILE: Final = "writer.lock"
NOTE_FILE: Final = "writer.json"
_NOTE_BYTES: Final = 4096
_SAME_PROCESS_SECONDS: Final = 2.0  # clocks differ by a tick between two readings of one process's start


class WriterLock:
    """The right to write in `directory`, held from `WriterLock.take` until `release`, or to the end of a `with`."""

    def __init__(self, directory: Path, descriptor: int) -> None:
        self._directory = directory
        self._descriptor: int | None = descriptor

    @classmethod
    def take(cls, directory: Path, what: str) -> WriterLock:
        """Take the lock for `what` ("index add docs"), without waiting.

        Raises `CorpusError`: "busy" names the process that writes, "unwritable" says that there can be no lock file here.
        """
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise unwritable(directory, error.strerror or str(error)) from error
        try:
            taken = _lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            raise unwritable(directory, f"it cannot be locked: {error.strerror}") from error
        if not taken:
            os.close(descriptor)
            raise busy(directory)
        lock = cls(directory, descriptor)
        lock._write_note(what)
        return lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def release(self) -> None:
        """Let the next one write. Safe to call twice."""
        if self._descriptor is None:
            return
        with suppress(OSError):  # on Windows somebody may be reading it; nobody believes it without its process
            (self._directory / NOTE_FILE).unlink(missing_ok=True)
        os.close(self._descriptor)  # closing is what unlocks
        self._descriptor = None

    def _write_note(self, what: str) -> None:
        import psutil

        note = {
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "what": what[:200],
            "since": datetime.now(UTC).timestamp(),
        }
        path = self._directory / NOTE_FILE
        fresh = path.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(note), encoding="utf-8")
            fresh.replace(path)
        except OSError as error:
            self.release()
            raise unwritable(self._directory, error.strerror or str(error)) from error


def busy(directory: Path) -> CorpusError:
    """The error for somebody who may not write now: it says who writes."""
    note = _living_writer(directory)
    if note is None:
        who = "another Webseam process"
    else:
        pid, what, since = note
        seconds = max(0.0, (datetime.now(UTC) - since).total_seconds())
        who = f"process {pid} (`{what}`, since {since:%H:%M:%S} UTC, {seconds:.0f} s ago)"
    return CorpusError(
        f"The private index is being written by {who}: wait until it is done, or end that process, and try again. "
        "Searching goes on meanwhile.",
        kind="busy",
    )


def unwritable(directory: Path, why: str) -> CorpusError:
    """The error for a directory that cannot be written."""
    return CorpusError(
        f"The private index in {directory} cannot be written ({why}): free some space or mend its permissions, or choose "
        "another data directory with --data DIR or WEBSEAM_DATA.",
        kind="unwritable",
    )


def _living_writer(directory: Path) -> tuple[int, str, datetime] | None:
    """The note of who writes, when a process of that number and start is alive."""
    try:
        with (directory / NOTE_FILE).open("rb") as file:
            note = json.loads(file.read(_NOTE_BYTES))
        pid, started = int(note["pid"]), float(note["started"])
        since = datetime.fromtimestamp(float(note["since"]), UTC)
        what = "".join(character for character in str(note["what"]) if character.isprintable())
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
    import psutil

    try:
        alive = abs(psutil.Process(pid).create_time() - started) <= _SAME_PROCESS_SECONDS
    except (psutil.Error, ValueError, OverflowError):
        return None
    return (pid, what, since) if alive else None


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:  # EACCES or EDEADLOCK: somebody holds it
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
