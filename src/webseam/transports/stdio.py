"""transports: MCP over standard input and output, one message a line (2026-07-28 and earlier, basic/transports/stdio).

Theory of operation. The connection has two stages that share the lines read so far and the session.

First a plain loop: read, answer, write, in the main thread, with nothing imported that a handshake does not need. A desktop
agent starts many servers and waits for each `initialize`, so this is where a cold start is won.

The first message that comes with work to await brings asyncio and takes over for good: the loop reads where it can, a thread
where it cannot (plain files, and Windows). Calls run side by side, each answered when it is done. When `LIMITS.pending_calls`
are pending as many again are read, in case something among them cancels or answers others, and wait; then no more is taken, so
that what waits does so in the client's own pipe. Writing blocks: a client that does not read
its answers stops us, and costs no memory.

Leaving. End of input means that no more will be asked; what has been asked is still answered, within `LIMITS.call_seconds`, so
that a file or a `printf` will do for a client. When nobody reads our answers any more (a closed pipe), or on SIGINT or SIGTERM,
what is pending is cancelled and we leave at once. A client that closes our input and then wants us gone sends SIGTERM, by the
specification.

Nothing but messages reaches standard output: its descriptor is kept aside, and file descriptor 1 and `sys.stdout` point to
standard error from then on. Standard input is kept aside as well, so that no child process can read from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.jsonrpc import INVALID_REQUEST, error_reply
from webseam.protocol.outcome import Outcome
from webseam.protocol.session import Session
from webseam.transports.streams import LeaveError, Lines, Streams, read_some, write_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import FrameType

    from webseam.protocol.engine import Engine

REPLIES_AT_ONCE = 64
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
    streams = Streams(stdin, stdout)
    try:
        connection = Connection(engine, caller, streams, on_fault or engine.on_fault, close)
        restore = connection.catch_signals()
        try:
            return connection.serve()
        except LeaveError as leave:
            return leave.code
        except KeyboardInterrupt:  # SIGINT where no handler could be set: not the main thread
            return INTERRUPTED
        finally:
            restore()
    finally:
        streams.restore()


class Connection:
    """One client. `serve` is the first stage and begins the second."""

    def __init__(
        self,
        engine: Engine,
        caller: Any,
        streams: Streams,
        on_fault: Callable[[BaseException], None] | None,
        close: Callable[[], Awaitable[None]] | None,
    ) -> None:
        self.engine = engine
        self.caller = caller
        self.session = Session(push=self.push)
        self.streams = streams
        self.lines = Lines(LIMITS.message_bytes)
        self.replies: list[bytes] = []
        self.on_fault = on_fault
        self.close = close
        self.leave_soon: Callable[[int], None] | None = None  # set by the second stage
        self.writing = False

    def serve(self) -> int:
        """Answer until the input ends, or until there is something to await, and then go on with that."""
        ended = False
        while True:
            while self.lines.ready:
                outcome = self.take()
                if outcome.work is not None:
                    self.flush()
                    from webseam.transports.calls import serve_calls

                    return serve_calls(self, outcome, ended, self.close)
            self.flush()
            if ended:
                return 0
            data = read_some(self.streams.read)
            if data:
                self.lines.feed(data)
            else:
                ended = True
                self.lines.end()

    def take(self) -> Outcome:
        """What becomes of the next line; a reply that is there at once is queued."""
        line = self.lines.ready.popleft()
        if line is None:
            text = f"The message is larger than {LIMITS.message_bytes} bytes; it was skipped."
            self.queue(error_reply(None, INVALID_REQUEST, text))
            return Outcome()
        outcome = self.engine.receive(line, self.caller, self.session)
        for message in outcome.before or ():
            self.queue(message)
        if outcome.work is None and outcome.reply is not None:
            self.queue(outcome.reply)
        return outcome

    def push(self, message: bytes) -> None:
        """Say something that belongs to no request; the second stage puts its own in this place."""
        self.queue(message)
        self.flush()

    def queue(self, reply: bytes) -> None:
        self.replies.append(reply)
        if len(self.replies) >= REPLIES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what is queued, whole lines at a time."""
        if self.replies:
            data = b"\n".join([*(reply.replace(b"\n", b" ") for reply in self.replies), b""])  # JSON of others may have lines
            self.replies.clear()
            self.writing = True
            try:
                write_all(self.streams.write, data)
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
            if self.leave_soon is None or self.writing:  # a blocked write would never let the loop hear of it
                raise LeaveError(code)
            self.leave_soon(code)

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
