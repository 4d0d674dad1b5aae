"""Several things at once, their results in the order in which they were begun."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine
    from typing import Any

Item = TypeVar("Item")
Result = TypeVar("Result")


async def ordered(
    take: Callable[[], Item | None], work: Callable[[Item], Coroutine[Any, Any, Result]], width: int
) -> AsyncGenerator[Result, None]:
    """Run `work` on what `take` gives, `width` at a time, until it gives None and everything is done.

    What comes out, and therefore what `take` finds when it is asked the next time, does not depend on which work was faster:
    two runs over the same site are the same run. Closing it cancels what is still running and waits for it. What `work` raises
    is raised here.
    """
    running: deque[asyncio.Task[Result]] = deque()
    try:
        while True:
            while len(running) < width and (item := take()) is not None:
                running.append(asyncio.create_task(work(item)))
            if not running:
                return
            yield await running[0]
            running.popleft()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
