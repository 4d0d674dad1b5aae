"""A worker process and an event loop, for the tests of one file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def pool(runner: asyncio.Runner) -> Iterator[WorkerPool]:
    pool = WorkerPool(processes=1)
    yield pool
    runner.run(pool.close())
