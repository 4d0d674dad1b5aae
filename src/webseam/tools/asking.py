"""Asking a provider: whatever it is (coroutine or plain function, ours or somebody else's), within the call's deadline.

What comes out is the provider's answer, or a `WebseamError` whose text the model reads, or, from a provider of our own, a fault
that goes on upwards: it is a bug, and the engine answers it without its text.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProviderError, WebseamError
from webseam.seam.failures import Kind, failure
from webseam.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from webseam.call import Call
    from webseam.seam.facts import Facts


def is_ours(provider: object) -> bool:
    """Whether the provider's code belongs to Webseam itself. The shipped fakes stand for foreign ones."""
    module = type(provider).__module__
    return (module == "webseam" or module.startswith("webseam.")) and not module.startswith("webseam.testing")


class Asking:
    """Runs providers. Foreign functions and our own have threads apart: one that hangs does not stop the private index."""

    def __init__(self) -> None:
        self._threads = {ours: Threads(LIMITS.threads_for_sync_providers) for ours in (True, False)}

    async def ask(
        self, provider: object, facts: Facts, call: Call, function: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        """What `function(*args, **kwargs)` of `provider` gives. Raises WebseamError, and CancelledError when `call` was."""
        ours = is_ours(provider)
        work = asyncio.ensure_future(self._run(self._threads[ours], function, args, kwargs))
        work.add_done_callback(_retrieve)  # one that fails after we left has nobody to tell
        call.on_cancel(lambda: _stop(work))
        try:
            await asyncio.wait({work}, timeout=call.remaining())
        finally:
            # Not awaited: a provider that ignores its cancellation must not hold us.
            work.cancel()
        if call.cancelled:
            raise asyncio.CancelledError
        if not work.done():
            raise failure(facts, Kind.TIMEOUT, seconds=call.deadline - call.began)
        if work.cancelled():
            raise ProviderError(f"{facts.title} gave up before it had an answer: try again.", engine=facts.name)
        error = work.exception()
        if error is None:
            return work.result()
        if ours or isinstance(error, WebseamError):
            raise error
        raise ProviderError(_words(error, facts), engine=facts.name) from error

    async def _run(self, threads: Threads, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            if _is_coroutine_function(function):
                answered = function(*args, **kwargs)
            else:
                answered = await threads.run(lambda: function(*args, **kwargs))
            return await _awaited(answered) if inspect.isawaitable(answered) else answered
        except SystemExit as error:
            # Left alone, it would stop the event loop, and the server with it.
            raise RuntimeError(f"SystemExit: {error}") from error


async def _awaited(answered: Awaitable[Any]) -> Any:
    return await answered


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004 - an object whose call is a coroutine function


def _stop(work: asyncio.Future[Any]) -> None:
    work.cancel()


def _retrieve(work: asyncio.Future[Any]) -> None:
    if not work.cancelled():
        work.exception()


def _words(error: BaseException, facts: Facts) -> str:
    """The exception's own message, word for word; a sentence of ours when it has none."""
    words = str(error)
    return words if words.strip() else f"{facts.title} failed without saying why ({type(error).__name__}): try again."
