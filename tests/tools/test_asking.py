"""Asking providers of every kind: coroutine or plain function, well behaved or not."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from typing import Any

import pytest

from webseam.call import Call
from webseam.config import LIMITS
from webseam.errors import ProviderError
from webseam.seam.facts import Facts
from webseam.tools.asking import Asking, is_ours

FACTS = Facts("some", "Some Engine", search=True)


async def ask(function: Any, *args: Any, call: Call | None = None, provider: object | None = None, **kwargs: Any) -> Any:
    return await Asking().ask(provider or object(), FACTS, call or Call(), function, *args, **kwargs)


def test_a_plain_function_runs_in_a_thread_with_the_callers_context() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    def plain(query: str, count: int, **filters: Any) -> Any:
        return threading.current_thread().name, variable.get(), query, count, filters

    async def main() -> Any:
        variable.set("seen")
        return await ask(plain, "q", 3, country="US")

    name, *rest = asyncio.run(main())
    assert name.startswith("webseam-provider-")
    assert rest == ["seen", "q", 3, {"country": "US"}]


def test_every_kind_of_callable_is_awaited_as_it_needs() -> None:
    async def coroutine() -> str:
        return "coroutine function"

    class Callable:
        async def __call__(self) -> str:
            return "object"

    assert asyncio.run(ask(coroutine)) == "coroutine function"
    assert asyncio.run(ask(Callable())) == "object"
    assert asyncio.run(ask(lambda: coroutine())) == "coroutine function"  # noqa: PLW0108 - a plain function that gives a coroutine


@pytest.mark.parametrize(
    "raised", [ValueError("words"), StopIteration("words"), SystemExit("words"), KeyboardInterrupt("words")]
)
def test_whatever_a_plain_function_raises_becomes_a_provider_error(raised: BaseException) -> None:
    def plain() -> None:
        raise raised

    with pytest.raises(ProviderError, match="words"):
        asyncio.run(ask(plain))


@pytest.mark.parametrize("raised", [ValueError("words"), StopIteration("words"), SystemExit("words"), GeneratorExit("words")])
def test_whatever_a_coroutine_raises_becomes_a_provider_error(raised: BaseException) -> None:
    async def coroutine() -> None:
        raise raised

    with pytest.raises(ProviderError):
        asyncio.run(ask(coroutine))


def test_a_provider_that_cancels_itself_is_a_failure_and_no_cancellation() -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(ProviderError, match="Some Engine gave up"):
        asyncio.run(ask(gives_up))


def test_the_deadline_holds_against_one_that_hangs_in_a_thread() -> None:
    release = threading.Event()
    with pytest.raises(ProviderError, match="Some Engine did not answer") as caught:
        asyncio.run(ask(release.wait, call=Call(seconds=0.05)))
    assert caught.value.kind == "timeout"
    release.set()


def test_the_deadline_holds_against_one_that_ignores_its_cancellation() -> None:
    async def main() -> None:
        release = asyncio.Event()

        async def stubborn() -> str:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        with pytest.raises(ProviderError) as caught:
            await ask(stubborn, call=Call(seconds=0.05))
        assert caught.value.kind == "timeout"
        release.set()

    asyncio.run(main())


def test_a_cancelled_call_stops_the_provider() -> None:
    async def main() -> None:
        started, stopped = asyncio.Event(), asyncio.Event()

        async def waits() -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        call = Call()
        asking = asyncio.ensure_future(ask(waits, call=call))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await stopped.wait()

    asyncio.run(main())


def test_no_more_threads_run_than_allowed_and_all_jobs_are_done() -> None:
    limit = LIMITS.threads_for_sync_providers
    lock, running, most = threading.Lock(), [0], [0]
    full = threading.Barrier(limit)

    def plain(number: int) -> int:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if number < limit:
            full.wait(30)  # the first ones meet: the pool does grow to its limit
        with lock:
            running[0] -= 1
        return number

    async def main() -> None:
        asking = Asking()
        jobs = [asking.ask(object(), FACTS, Call(), plain, number) for number in range(100)]
        assert await asyncio.gather(*jobs) == list(range(100))

    asyncio.run(main())
    assert most[0] == limit


def test_a_foreign_engine_that_hangs_does_not_stop_our_own() -> None:
    release = threading.Event()

    class Ours:
        __module__ = "webseam.index.provider"

    async def main() -> None:
        asking = Asking()
        stuck = [
            asyncio.ensure_future(asking.ask(object(), FACTS, Call(), release.wait))
            for _ in range(LIMITS.threads_for_sync_providers)
        ]
        await asyncio.sleep(0)
        assert await asking.ask(Ours(), FACTS, Call(), lambda: "answered") == "answered"
        release.set()
        await asyncio.gather(*stuck)

    asyncio.run(main())


def test_a_job_that_nobody_waits_for_is_not_begun() -> None:
    release = threading.Event()
    begun: list[int] = []

    async def main() -> None:
        asking = Asking()
        stuck = [
            asyncio.ensure_future(asking.ask(object(), FACTS, Call(), release.wait))
            for _ in range(LIMITS.threads_for_sync_providers)
        ]
        await asyncio.sleep(0)
        with pytest.raises(ProviderError):
            await asking.ask(object(), FACTS, Call(seconds=0.05), begun.append, 1)
        release.set()
        await asyncio.gather(*stuck)
        await asking.ask(object(), FACTS, Call(), begun.append, 2)

    asyncio.run(main())
    assert begun == [2]


def test_a_thread_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    script = """
import asyncio, threading
from webseam.call import Call
from webseam.errors import ProviderError
from webseam.seam.facts import Facts
from webseam.tools.asking import Asking
try:
    asyncio.run(Asking().ask(object(), Facts("s", "S"), Call(seconds=0.05), threading.Event().wait))
except ProviderError as error:
    print(error.kind)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "timeout\n"
    assert done.stderr == ""


def test_only_code_of_ours_counts_as_ours() -> None:
    from webseam.engines.catalogue import vendor
    from webseam.testing.fakes import FakeSearch

    assert is_ours(vendor("brave"))
    assert not is_ours(FakeSearch())
    assert not is_ours(object())
    assert not is_ours(type("Webseamish", (), {"__module__": "webseamish.provider"})())
