"""transports: MCP over standard input and output, one message a line (2026-07-28 and earlier, basic/transports/stdio).

Theory of operation. The connection has two stages that share the lines read so far and the session.

First a plain loop: read, answer, write, in the main thread, with nothing imported that a handshake does not need. A desktop
agent starts many servers and waits for each `initialize`, so this is where a cold start is won.

The first message that comes with work to await brings asyncio and takes over for good: the loop reads where it can, a thread
where it cannot (plain files, and Windows). Calls run side by side, each answered when it is done. When `LIMITS.pending_calls`
are pending no more is taken, so that what waits does so in the client's own pipe. Writing blocks: a client that does not read
its answers stops us, and costs no memory.

Leaving. End of input means that no more will be asked; what has been asked is still answered, within `LIMITS.call_seconds`, so
that a file or a `printf` will do for a client. When nobody reads our answers any more (a closed pipe), or on SIGINT or SIGTERM,
what is pending is cancelled and we leave at once. A client that closes our input and then wants us gone sends SIGTERM, by the
specification.

Nothing but messages reaches standard output: its descriptor is kept aside, and file descriptor 1 and `sys.stdout` point to
standard error from then on. Standard input is kept aside as well, so that no child process can read from it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.jsonrpc import INVALID_REQUEST, error_reply
from webseam.protocol.outcome import Outcome, lost
from webseam.protocol.session import Session

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable
    from types import FrameType

    from webseam.protocol.engine import Engine

CHUNK = 64 * 1024
REPLIES_AT_ONCE = 64
CLOSE_SECONDS = 5.0
"""How long the owner's clean-up may take."""

INTERRUPTED = 130
"""The exit code of what was ended from a keyboard: 128 + SIGINT."""


def run(
    engine: Engine,
    *,
    caller: Any = None,
    stdin: int | None = None,
    stdout: int | None = None,
    on_fault: Callable[[BaseException], None] | None = None,
    close: Callable[[], Awaitable[None]] | None = None,
) -> int:
    """Serve one client until it leaves; gives the exit code, which is 0 but for SIGINT.

    `caller` is passed to the engine with every message. `stdin` and `stdout` are file descriptors, by default those of the
    process (see the module's words on what becomes of them). `close` is awaited in the event loop before that ends, if there
    ever was one. `on_fault` is told of what goes wrong here; by default that is the engine's.
    """
    streams = _Streams(stdin, stdout)
    try:
        connection = _Connection(engine, caller, streams, on_fault or engine.on_fault, close)
        restore = connection.catch_signals()
        try:
            return connection.serve()
        except _LeaveError as leave:
            return leave.code
        except KeyboardInterrupt:  # SIGINT where no handler could be set: not the main thread
            return INTERRUPTED
        finally:
            restore()
    finally:
        streams.restore()


class _LeaveError(BaseException):
    """Leave now. Not an Exception: a provider that catches everything must not catch this."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


# ------------------------------------------------------------------------------------------------ bytes


class _Streams:
    """The two descriptors, kept aside from whatever else writes to or reads from the standard ones."""

    __slots__ = ("_saved", "_stdout", "read", "write")

    def __init__(self, stdin: int | None, stdout: int | None) -> None:
        self._saved: list[tuple[int, int]] = []
        self.read = self._set_aside(0) if stdin is None else stdin
        self.write = self._set_aside(1) if stdout is None else stdout
        self._stdout = sys.stdout
        if stdout is None:
            if sys.stdout is not None:
                sys.stdout.flush()  # what was printed before goes where what is printed from now on goes
            sys.stdout = sys.stderr

    def _set_aside(self, standard: int) -> int:
        try:
            kept = os.dup(standard)
        except OSError:  # started without one
            kept = os.open(os.devnull, os.O_RDWR)
        if sys.platform == "win32":
            import msvcrt

            msvcrt.setmode(kept, os.O_BINARY)
        self._saved.append((kept, standard))
        instead = os.open(os.devnull, os.O_RDWR) if standard == 0 else 2
        try:
            os.dup2(instead, standard)
        except OSError:  # no standard error either
            instead = os.open(os.devnull, os.O_RDWR)
            os.dup2(instead, standard)
        if instead > 2:
            os.close(instead)
        return kept

    def restore(self) -> None:
        """Put the standard descriptors back: the process may go on."""
        for kept, standard in self._saved:
            os.dup2(kept, standard)
            os.close(kept)
        sys.stdout = self._stdout


class _Lines:
    """Puts lines together from the pieces that were read. A line over the limit becomes None, and is skipped to its end."""

    __slots__ = ("_limit", "_pieces", "_size", "_skipping", "ready")

    def __init__(self, limit: int) -> None:
        self.ready: deque[bytes | None] = deque()
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        head, newline, rest = data.partition(b"\n")
        self._hold(head)
        if newline:
            self.end()
            *whole, tail = rest.split(b"\n")
            for line in whole:
                self._hold(line)
                self.end()
            self._hold(tail)

    def end(self) -> None:
        """The line is complete; at the end of input, even without a newline."""
        if not self._skipping:
            line = b"".join(self._pieces).strip()
            if line:
                self.ready.append(line)
        self._pieces.clear()
        self._size = 0
        self._skipping = False

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._pieces.append(piece)
        elif not self._skipping:
            self._skipping = True
            self._pieces.clear()
            self.ready.append(None)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever started us shares it, and made it non-blocking
            import select

            select.select([], [descriptor], [])
        except OSError:  # EPIPE, or what Windows says instead: nobody reads any more
            raise _LeaveError from None


def _read_some(descriptor: int) -> bytes:
    """What there is, at least one byte; b"" at the end of input."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:
            import select

            select.select([descriptor], [], [])
        except OSError:  # EIO of a terminal that went away, and the like
            return b""


# ------------------------------------------------------------------------------------------------ the connection


class _Connection:
    """One client. `serve` is the first stage and begins the second."""

    def __init__(
        self,
        engine: Engine,
        caller: Any,
        streams: _Streams,
        on_fault: Callable[[BaseException], None] | None,
        close: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self.engine = engine
        self.caller = caller
        self.session = Session()
        self.streams = streams
        self.lines = _Lines(LIMITS.message_bytes)
        self.replies: list[bytes] = []
        self.on_fault = on_fault
        self.close = close
        self.calls: _Calls | None = None
        self.writing = False

    def serve(self) -> int:
        """Answer until the input ends, or until there is something to await, and then go on with that."""
        ended = False
        while True:
            while self.lines.ready:
                outcome = self.take()
                if outcome.work is not None:
                    self.flush()
                    return self.serve_with_work(outcome, ended)
            self.flush()
            if ended:
                return 0
            data = _read_some(self.streams.read)
            if data:
                self.lines.feed(data)
            else:
                ended = True
                self.lines.end()

    def serve_with_work(self, first: Outcome, ended: bool) -> int:
        """The second stage: in an event loop, for good."""
        import asyncio

        with asyncio.Runner() as runner:
            self.calls = _Calls(self, runner.get_loop())
            try:
                return runner.run(self.calls.serve(first, ended))
            finally:
                if self.close is not None:
                    runner.run(self.clean_up(self.close))

    async def clean_up(self, close: Callable[[], Awaitable[None]]) -> None:
        import asyncio

        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()
        except Exception as error:  # noqa: BLE001  # we leave all the same; the owner hears of it
            self.fault(error)

    def take(self) -> Outcome:
        """What becomes of the next line; a reply that is there at once is queued."""
        line = self.lines.ready.popleft()
        if line is None:
            text = f"The message is larger than {LIMITS.message_bytes} bytes; it was skipped."
            self.queue(error_reply(None, INVALID_REQUEST, text))
            return Outcome()
        outcome = self.engine.receive(line, self.caller, self.session)
        if outcome.work is None and outcome.reply is not None:
            self.queue(outcome.reply)
        return outcome

    def queue(self, reply: bytes) -> None:
        self.replies.append(reply)
        if len(self.replies) >= REPLIES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what is queued, whole lines at a time."""
        if self.replies:
            data = b"\n".join([*self.replies, b""])
            self.replies.clear()
            self.writing = True
            try:
                _write_all(self.streams.write, data)
            finally:
                self.writing = False

    def fault(self, error: BaseException) -> None:
        if self.on_fault is not None:
            self.on_fault(error)

    def catch_signals(self) -> Callable[[], None]:
        """Leave quietly on SIGINT and SIGTERM. Gives what undoes it. Outside the main thread nothing can be set."""
        import signal

        def leave(number: int, _frame: FrameType | None) -> None:
            code = INTERRUPTED if number == signal.SIGINT else 0
            if self.calls is None or self.writing:  # a blocked write would never let the loop hear of it
                raise _LeaveError(code)
            self.calls.leave_soon(code)

        before: dict[int, Any] = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, leave)
        except ValueError:
            pass

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        return restore


class _Calls:
    """The second stage: calls side by side, while more is read."""

    def __init__(self, connection: _Connection, loop: asyncio.AbstractEventLoop) -> None:
        self.connection = connection
        self.loop = loop
        self.pending: dict[asyncio.Task[Outcome], Outcome] = {}
        self.over: asyncio.Future[int] = loop.create_future()
        self.ended = False
        self.reader: _PolledReader | _ThreadReader | None = None
        self.will_flush = False

    async def serve(self, first: Outcome, ended: bool) -> int:
        self.begin(first)
        if ended:
            self.arrived(b"")
        else:
            self.go_on()
            self.reader = _reader(self.loop, self.connection.streams.read, self.arrived)
            self.go_on()
        try:
            return await self.over
        finally:
            if self.reader is not None:
                self.reader.stop()
            for task, outcome in list(self.pending.items()):
                if outcome.request is not None:
                    outcome.request.cancel()
                task.cancel()
            self.connection.flush()

    # -------------------------------------------------------------------------------------------- reading

    def arrived(self, data: bytes) -> None:
        if data:
            self.connection.lines.feed(data)
        else:
            self.connection.lines.end()
            self.ended = True
            self.loop.call_later(LIMITS.call_seconds, self.leave, 0)
            self.watch_output()
        self.go_on()

    def go_on(self) -> None:
        """Take lines as long as there is room for what they may bring, then read on."""
        connection = self.connection
        try:
            while connection.lines.ready:
                if len(self.pending) >= LIMITS.pending_calls:
                    break
                outcome = connection.take()
                if outcome.work is not None:
                    self.begin(outcome)
            if self.ended:
                if not self.pending and not connection.lines.ready:
                    connection.flush()
                    self.leave(0)
            elif self.reader is not None:
                self.reader.read_on(not connection.lines.ready)
            self.flush_soon()
        except _LeaveError as gone:
            self.leave(gone.code)

    # -------------------------------------------------------------------------------------------- calls

    def begin(self, outcome: Outcome) -> None:
        assert outcome.work is not None
        assert outcome.request is not None
        task = self.loop.create_task(outcome.work)
        outcome.request.on_cancel(task.cancel)
        self.pending[task] = outcome
        task.add_done_callback(self.done)

    def done(self, task: asyncio.Task[Outcome]) -> None:
        outcome = self.pending.pop(task)
        if self.over.done():
            return
        reply = self.lost(outcome) if task.cancelled() else task.result().reply
        if reply is not None:
            self.connection.replies.append(reply)
        self.go_on()

    def lost(self, outcome: Outcome) -> bytes | None:
        """What is sent for a task that was cancelled: nothing, unless nobody cancelled its request."""
        assert outcome.request is not None
        if outcome.request.cancelled:
            return None
        self.connection.fault(RuntimeError(f"a provider let a cancellation escape in {outcome.request!r}"))
        return lost(outcome.request).reply

    # -------------------------------------------------------------------------------------------- writing and leaving

    def flush_soon(self) -> None:
        """Write once for all that is answered in this turn of the loop; at once when nothing else could be."""
        if not self.connection.replies or self.will_flush:
            return
        if self.pending:
            self.will_flush = True
            self.loop.call_soon(self.flush)
        else:
            self.connection.flush()

    def flush(self) -> None:
        self.will_flush = False
        try:
            self.connection.flush()
        except _LeaveError as gone:
            self.leave(gone.code)

    def watch_output(self) -> None:
        """Notice that nobody will read the answers that are still being worked on, where the system can tell."""
        import stat

        descriptor = self.connection.streams.write
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                self.loop.add_reader(descriptor, self.leave, 0)  # the writing end of a pipe "reads" once its reader is gone
        except (NotImplementedError, OSError, ValueError):
            pass

    def leave(self, code: int) -> None:
        if not self.over.done():
            self.over.set_result(code)

    def leave_soon(self, code: int) -> None:
        """From a signal handler."""
        self.loop.call_soon_threadsafe(self.leave, code)


# ------------------------------------------------------------------------------------------------ reading in an event loop


def _reader(
    loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]
) -> _PolledReader | _ThreadReader:
    """Whatever can read `descriptor` without stopping the loop: the loop itself for pipes, sockets and terminals on POSIX (half
    the CPU a call), a thread for plain files and on Windows."""
    try:
        return _PolledReader(loop, descriptor, arrived)
    except (NotImplementedError, OSError, ValueError):
        return _ThreadReader(loop, descriptor, arrived)


class _PolledReader:
    """The loop says when there is something to read; reading that much never blocks, as nobody else reads from it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]) -> None:
        self.loop = loop
        self.descriptor = descriptor
        self.arrived = arrived
        loop.add_reader(descriptor, self.readable)
        self.reading = True

    def readable(self) -> None:
        data = _read_some(self.descriptor)
        if not data:
            self.stop()
        self.arrived(data)

    def read_on(self, more: bool) -> None:
        if more is not self.reading:
            self.reading = more
            if more:
                self.loop.add_reader(self.descriptor, self.readable)
            else:
                self.loop.remove_reader(self.descriptor)

    def stop(self) -> None:
        self.loop.remove_reader(self.descriptor)
        self.reading = False


class _ThreadReader:
    """A thread reads a chunk, hands it over, and waits until it may read the next. It dies with the process, since nothing can
    wake it from a read."""

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]) -> None:
        import threading

        self.loop = loop
        self.descriptor = descriptor
        self.arrived = arrived
        self.may_read = threading.Semaphore(0)
        self.waiting = False
        threading.Thread(target=self.read, name="stdin", daemon=True).start()

    def read(self) -> None:
        data = b"-"
        while data:
            data = _read_some(self.descriptor)
            try:
                self.loop.call_soon_threadsafe(self.handed_over, data)
            except RuntimeError:  # the loop is closed: we have left
                return
            self.may_read.acquire()

    def handed_over(self, data: bytes) -> None:
        self.waiting = True
        self.arrived(data)

    def read_on(self, more: bool) -> None:
        if more and self.waiting:
            self.waiting = False
            self.may_read.release()

    def stop(self) -> None:
        """It cannot be stopped; what it reads from now on is dropped with the loop."""
