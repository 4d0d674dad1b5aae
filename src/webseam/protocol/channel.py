"""protocol: what a transport lends to a request that goes on for a while.

The engine neither waits nor sends. A request that has something to say before its answer (progress, a question, changes) says
it through the channel that the transport attached to it; a transport that has none of this attaches nothing, and then such a
request does without, or is refused where it cannot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine


class Waiter(Protocol):
    """Something to be awaited until its value is set; `asyncio.Future` is one."""

    def set_result(self, value: Any, /) -> None:
        """Give the value; whoever awaits goes on."""

    def done(self) -> bool:
        """Whether there is a value already, or nobody waits any more."""

    def __await__(self) -> Any:
        """Wait for the value."""


class Channel(Protocol):
    """Where the messages of one request go."""

    def send(self, message: bytes, keep: bool, /) -> None:
        """Send one message. With `keep` false it may be left out when its reader is slow. Never waits, never raises."""

    def waiter(self, seconds: float | None = None, /) -> Waiter:
        """Something to wait for. Its value is None once `seconds` have passed."""

    def spawn(self, work: Coroutine[Any, Any, None], /) -> Callable[[], object]:
        """Run `work` on its own, beyond this request; gives what cancels it."""

    def close_stream(self, retry_ms: int | None, /) -> None:
        """End the connection, not the stream: the client comes back for the rest. Nothing where that cannot be."""


def let_go(value: Any) -> None:
    """Close an awaitable that nobody will await, in the way it has: a coroutine would be complained about."""
    close = getattr(value, "close", None) or getattr(value, "cancel", None)
    if close is not None:
        close()


class Following:
    """`work`, which begins by awaiting `first`: let go of before it began, it leaves neither behind."""

    __slots__ = ("_first", "_work")

    def __init__(self, work: Coroutine[Any, Any, Any], first: Any) -> None:
        self._work = work
        self._first = first

    def __await__(self) -> Any:
        return self._work.__await__()

    def close(self) -> None:
        self._work.close()
        let_go(self._first)


async def awaited(value: Awaitable[Any] | Any) -> Any:
    """The value, awaited when it wants to be."""
    return await value if hasattr(value, "__await__") else value
