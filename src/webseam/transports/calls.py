"""transports: the second stage of stdio: calls side by side in an event loop, while more is read.

Imported with the first message that comes with work to await (see `webseam.transports.stdio`): a handshake does without.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.jsonrpc import INTERNAL_ERROR, error_reply
from webseam.protocol.outcome import Outcome, lost
from webseam.protocol.revisions import LISTEN
from webseam.transports.background import Background, waiter
from webseam.transports.streams import LeaveError, read_some

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from webseam.transports.stdio import Connection

CLOSE_SECONDS = 5.0
"""How long the owner's clean-up may take."""
REPLIES_AT_ONCE = 64


def serve_calls(connection: Connection, first: Outcome, ended: bool, close: Callable[[], Awaitable[None]] | None) -> int:
    """Go on with a connection whose message `first` has work; `ended` says that its input has. Gives the exit code."""
    with asyncio.Runner() as runner:
        calls = Calls(connection, runner.get_loop())
        connection.session.push = calls.say
        connection.leave_soon = calls.leave_soon
        try:
            return runner.run(calls.serve(first, ended))
        finally:
            if close is not None:
                runner.run(_clean_up(connection, close))


async def _clean_up(connection: Connection, close: Callable[[], Awaitable[None]]) -> None:
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await close()
    except Exception as error:  # noqa: BLE001  # we leave all the same; the owner hears of it
        connection.fault(error)


class Calls:
    """What is pending, and what decides when to read, to write and to leave."""

    def __init__(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        self.connection = connection
        self.loop = loop
        self.pending: dict[asyncio.Task[Outcome], Outcome] = {}
        self.held: deque[Outcome] = deque()  # until there is room; read, so that what cancels or answers others is read as well
        self.over: asyncio.Future[int] = loop.create_future()
        self.ended = False
        self.listening = 0
        self.reader: PolledReader | ThreadReader | None = None
        self.will_flush = False
        self.backstop: asyncio.TimerHandle | None = None
        self.background = Background(connection.fault)

    async def serve(self, first: Outcome, ended: bool) -> int:
        self.take_on(first)
        if ended:
            self.arrived(b"")
        else:
            self.go_on()
            self.reader = reader_of(self.loop, self.connection.streams.read, self.arrived)
            self.go_on()
        try:
            return await self.over
        finally:
            if self.reader is not None:
                self.reader.stop()
            self.connection.session.end()
            self.background.cancel()
            for task, outcome in list(self.pending.items()):
                if outcome.request is not None:
                    outcome.request.cancel()
                task.cancel()
            for outcome in self.held:
                outcome.abandon()
            self.connection.flush()

    # -------------------------------------------------------------------------------------------- reading

    def arrived(self, data: bytes) -> None:
        if data:
            self.connection.lines.feed(data)
        else:
            self.connection.lines.end()
            self.ended = True
            self.end_subscriptions()
            self.end_questions()
            self.wait_no_longer_than_needed()
            self.watch_output()
        self.go_on()

    def go_on(self) -> None:
        """Take lines as long as there is room for what they may bring, then read on."""
        connection = self.connection
        try:
            while self.held and self.room():
                self.begin(self.held.popleft())
            while connection.lines.ready and len(self.held) < LIMITS.pending_calls:
                outcome = connection.take()
                if outcome.work is None:
                    continue
                self.take_on(outcome)
            if self.ended:
                if not self.pending and not connection.lines.ready:
                    connection.flush()
                    self.leave(0)
            elif self.reader is not None:
                self.reader.read_on(not connection.lines.ready)
            self.flush_soon()
        except LeaveError as gone:
            self.leave(gone.code)

    # -------------------------------------------------------------------------------------------- calls

    def begin(self, outcome: Outcome) -> None:
        assert outcome.work is not None
        assert outcome.request is not None
        outcome.request.attach(self)
        task = self.loop.create_task(outcome.work)
        outcome.request.on_cancel(task.cancel)
        self.pending[task] = outcome
        task.add_done_callback(self.done)

    def take_on(self, outcome: Outcome) -> None:
        """Begin it, now or when there is room."""
        if outcome.request is not None and outcome.request.method == LISTEN:
            self.listen(outcome)
        elif self.room():
            self.begin(outcome)
        else:
            self.held.append(outcome)

    def room(self) -> bool:
        """Whether one more call may run. Subscriptions wait for as long as the client likes: they take no place from calls."""
        return len(self.pending) - self.listening < LIMITS.pending_calls

    def listen(self, outcome: Outcome) -> None:
        """Open a subscription, or say that there are enough."""
        assert outcome.request is not None
        if self.listening >= LIMITS.open_streams_per_caller:
            outcome.abandon()
            text = f"{self.listening} subscriptions are open, as many as this server keeps for one client: cancel some first."
            self.connection.replies.append(error_reply(outcome.request.id, INTERNAL_ERROR, text))
            return
        self.listening += 1
        outcome.request.on_cancel(self.leave_off)
        self.begin(outcome)

    def leave_off(self) -> None:
        """A subscription ended: when it is cancelled, at once, as the next message may open another."""
        self.listening -= 1

    def done(self, task: asyncio.Task[Outcome]) -> None:
        outcome = self.pending.pop(task)
        assert outcome.request is not None
        if outcome.request.method == LISTEN and not outcome.request.cancelled:
            self.leave_off()
        outcome.request.channel = None  # what its provider left behind has nothing more to say
        if self.over.done():
            return
        if self.ended:
            self.wait_no_longer_than_needed()
        settled = self.settled(task, outcome)
        self.connection.replies.extend(settled.before or ())
        if settled.reply is not None:
            self.connection.replies.append(settled.reply)
        self.go_on()

    def wait_no_longer_than_needed(self) -> None:
        """After the end of input each call ends by its own deadline; only one that has none is left behind, after a while."""
        if self.backstop is not None:
            self.backstop.cancel()
        self.backstop = self.loop.call_later(LIMITS.max_call_seconds + LIMITS.call_seconds, self.leave, 0)

    def settled(self, task: asyncio.Task[Outcome], outcome: Outcome) -> Outcome:
        """What came of it. An error that got through the engine is no reason to leave the others without their answers."""
        if task.cancelled():
            return self.lost(outcome)
        error = task.exception()
        if error is None:
            return task.result()
        assert outcome.request is not None
        self.connection.fault(error)
        return Outcome() if outcome.request.cancelled else lost(outcome.request)

    def lost(self, outcome: Outcome) -> Outcome:
        """What is sent for a task that was cancelled: nothing, unless nobody cancelled its request."""
        assert outcome.request is not None
        if outcome.request.cancelled:
            return Outcome()
        self.connection.fault(RuntimeError(f"a provider let a cancellation escape in {outcome.request!r}"))
        return lost(outcome.request)

    def end_subscriptions(self) -> None:
        """Cancel what only waits for changes: at the end of input it would keep us for ever."""
        for outcome in list(self.pending.values()):
            if outcome.request is not None and outcome.request.method == LISTEN:
                outcome.request.cancel()

    def end_questions(self) -> None:
        """At the end of input no answer can come any more: whoever waits for one goes on without."""
        for waiting in self.connection.session.questions.values():
            if not waiting.done():
                waiting.set_result(None)

    # -------------------------------------------------------------------------------------------- the engine's channel

    def send(self, message: bytes, keep: bool) -> None:  # noqa: ARG002  # a client that does not read stops us: nothing is lost
        """Say something that belongs to a request, before its answer."""
        self.say(message)

    def say(self, message: bytes) -> None:
        """Say something, soon; when there is much, now."""
        if self.over.done():
            return
        self.connection.replies.append(message)
        if len(self.connection.replies) >= REPLIES_AT_ONCE:
            self.flush()
        elif not self.will_flush:
            self.will_flush = True
            self.loop.call_soon(self.flush)

    def waiter(self, seconds: float | None = None) -> asyncio.Future[Any]:
        """Something to wait for; not for long, once nothing can come any more."""
        return waiter(0 if self.ended and seconds is not None else seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run `work` beyond the request that began it."""
        return self.background.spawn(work)

    def close_stream(self, retry_ms: int | None) -> None:
        """There is one stream here, and it stays open."""

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
        except LeaveError as gone:
            self.leave(gone.code)

    def watch_output(self) -> None:
        """Notice that nobody will read the answers that are still being worked on, where the system can tell."""
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
        with contextlib.suppress(RuntimeError):  # the loop is closed: we are leaving
            self.loop.call_soon_threadsafe(self.leave, code)


# ------------------------------------------------------------------------------------------------ reading


def reader_of(
    loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]
) -> PolledReader | ThreadReader:
    """Whatever can read `descriptor` without stopping the loop: the loop itself for pipes and sockets on POSIX (half the CPU a
    call), a thread for all else: Linux cannot wait for a plain file, macOS never sees its end, Windows waits for sockets alone.
    """
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            return PolledReader(loop, descriptor, arrived)
    except (NotImplementedError, OSError, ValueError):
        pass
    return ThreadReader(loop, descriptor, arrived)


class PolledReader:
    """The loop says when there is something to read; reading that much never blocks, as nobody else reads from it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]) -> None:
        self.loop = loop
        self.descriptor = descriptor
        self.arrived = arrived
        loop.add_reader(descriptor, self.readable)
        self.reading = True

    def readable(self) -> None:
        data = read_some(self.descriptor)
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


class ThreadReader:
    """A thread reads a chunk, hands it over, and waits until it may read the next. Nothing can wake it from a read: it dies
    with the process, or with what it reads next."""

    def __init__(self, loop: asyncio.AbstractEventLoop, descriptor: int, arrived: Callable[[bytes], None]) -> None:
        self.loop = loop
        self.descriptor = descriptor
        self.arrived = arrived
        self.may_read = threading.Semaphore(0)
        self.waiting = False
        self.stopped = False
        threading.Thread(target=self.read, name="stdin", daemon=True).start()

    def read(self) -> None:
        data = b"-"
        while data:
            data = read_some(self.descriptor)
            try:
                self.loop.call_soon_threadsafe(self.handed_over, data)
            except RuntimeError:  # the loop is closed: we have left
                return
            if data:
                self.may_read.acquire()
            if self.stopped:
                return

    def handed_over(self, data: bytes) -> None:
        self.waiting = True
        self.arrived(data)

    def read_on(self, more: bool) -> None:
        if more and self.waiting:
            self.waiting = False
            self.may_read.release()

    def stop(self) -> None:
        self.stopped = True
        self.may_read.release()
