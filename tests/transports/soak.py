"""A soak: `python -m tests.transports.soak`, from the root of the checkout. Many calls and many streams that are opened and
dropped leave nothing behind, not even memory. SOAK_CALLS says how many calls (200,000), with a stream for each hundred.

What is measured is the server's resident memory, after a collection of garbage, at rest: after the first twentieth of the
calls with their share of streams, and at the end. Before the first measurement the sessions are filled to their bound by
sessions that have lived as those of the run live: what clients leave behind is kept there until it is pushed out or lapses,
which is a bound and no leak. Nothing else is filled beforehand.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
from tests.transports.soak_client import KINDS, LEAVING, Calls, Connection, Wire, begin_session
from tests.transports.soak_server import IDLE_SECONDS

from webseam.config import LIMITS

ROOT = Path(__file__).resolve().parents[2]
CALLS = int(os.environ.get("SOAK_CALLS", "200000"))
FIRST = CALLS // 20
CALLS_FOR_A_STREAM = 100
CONNECTIONS = 32
STREAMS_AT_ONCE = 4
FILLING_AT_ONCE = 16
OTHERS = 1_000_000
"""The numbers of those who leave the sessions that are there from the beginning."""
MOST = 1.05
REST_SECONDS = 30
"""After which everything that clients left must have lapsed."""
PROGRESS_SECONDS = 15


class Soaked:
    """The server, and what is done to it."""

    def __init__(self, pid: int, port: int) -> None:
        self.process = psutil.Process(pid)
        self.port = port
        self.calls = 0
        self.streams = 0
        self.began = time.monotonic()

    async def counts(self, path: str = "/counts") -> dict[str, Any]:
        """What the server's tables hold, after a collection of garbage."""
        connection = await Connection.to(self.port)
        answer = await connection.ask(f"GET {path} HTTP/1.1\r\nhost: here\r\n\r\n".encode())
        connection.drop()
        found: dict[str, Any] = json.loads(answer)
        return found

    def megabytes(self) -> float:
        return self.process.memory_info().rss / 1e6

    async def fill(self) -> None:
        """Leave as many sessions behind as are kept, in the ways in which they are left later on."""
        left = iter(range(LIMITS.sessions))

        async def leave() -> None:
            for number in left:
                await LEAVING[number % len(LEAVING)](Wire(self.port, OTHERS + number))

        await asyncio.gather(*(leave() for _ in range(FILLING_AT_ONCE)))

    async def drive(self, calls: int) -> None:
        """Make so many calls, and open and drop their share of streams."""
        end = self.calls + calls

        def take() -> bool:
            if self.calls >= end:
                return False
            self.calls += 1
            return True

        async def stream() -> None:
            while self.streams * CALLS_FOR_A_STREAM < end:
                number = self.streams
                self.streams += 1
                while self.calls < min(end, number * CALLS_FOR_A_STREAM):
                    await asyncio.sleep(0.01)
                await KINDS[number % len(KINDS)](Wire(self.port, number))

        async def tell() -> None:
            while True:
                await asyncio.sleep(PROGRESS_SECONDS)
                self.tell()

        telling = asyncio.ensure_future(tell())
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(CONNECTIONS):
                    group.create_task(Calls(Wire(self.port, number), number).run(take))
                for _ in range(STREAMS_AT_ONCE):
                    group.create_task(stream())
        finally:
            telling.cancel()

    def tell(self, what: str = "") -> None:
        took = time.monotonic() - self.began
        print(f"{took:5.0f} s: {self.calls} calls, {self.streams} streams, {self.megabytes():.1f} MB {what}", flush=True)

    async def rest(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """What the tables hold once that is `wanted`, or the time for it is over."""
        until = time.monotonic() + REST_SECONDS
        while not wanted(found := await self.counts()) and time.monotonic() < until:
            await asyncio.sleep(0.25)
        return found


AT_REST = (
    "calls", "callers with calls", "streams", "callers with streams", "looked after", "listeners", "pending of sessions",
    "questions",
)  # fmt: skip
"""What is empty when nobody is there."""


async def _soak(soaked: Soaked) -> None:
    def at_rest(found: dict[str, Any]) -> bool:
        return not any(found[name] for name in AT_REST)

    soaked.tell("to begin with")
    await soaked.fill()
    soaked.tell("with all sessions that are kept")
    await soaked.drive(FIRST)
    first_counts = await soaked.rest(at_rest)
    first = soaked.megabytes()
    soaked.tell(f"after the first; {first_counts}")

    await soaked.drive(CALLS - FIRST)
    counts = await soaked.rest(at_rest)
    last = soaked.megabytes()
    soaked.tell(f"at the end; {counts}")
    print(f"figure protocol.soak.rss_ratio {last / first:.3f}", flush=True)

    assert {name: counts[name] for name in AT_REST} == dict.fromkeys(AT_REST, 0)
    assert counts["faults"] == []
    assert counts["following sessions"] == counts["sessions"] <= LIMITS.sessions
    assert counts["kept bytes"] <= LIMITS.kept_bytes
    await _everything_lapses(soaked)
    assert last / first <= MOST, f"memory grew from {first:.1f} to {last:.1f} MB"


async def _everything_lapses(soaked: Soaked) -> None:
    """Tasks end when their time is over; sessions with the next that begins, as those do not look at clocks by themselves."""
    wire = Wire(soaked.port, 0)
    connection = await Connection.to(soaked.port)
    begun = json.loads(await connection.ask(wire.modern("tools/call", {"name": "task"})))["result"]
    assert begun["status"] == "working"
    until = time.monotonic() + REST_SECONDS
    while (counts := await soaked.counts())["tasks running"] or counts["background"]:
        assert time.monotonic() < until, counts
        await asyncio.sleep(1)
    await asyncio.sleep(IDLE_SECONDS + 0.5)
    await soaked.counts("/expire")
    await begin_session(wire, connection)
    counts = await soaked.counts()
    soaked.tell(f"when everything has lapsed; {counts}")
    assert counts["sessions"] == 1
    assert counts["kept bytes"] == 0
    connection.drop()


def main() -> None:
    command = [sys.executable, "-m", "tests.transports.soak_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            asyncio.run(_soak(Soaked(server.pid, int(server.stdout.readline()))))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
