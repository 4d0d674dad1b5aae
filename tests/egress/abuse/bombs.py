"""Bombs, a slow loris and a body without end, all at once, round after round, against the real reader in a process of its own.

    python -m tests.egress.abuse.bombs PORT ROUNDS

PORT is that of `bombs_site`. The memory of this whole process tree (this process and its workers; the site is none of it) is
looked at every few milliseconds. Prints one JSON object: how each attack ended, and the figures.

The start that the figures are measured from is a reader that has read: after both workers have read their first normal page.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

import psutil

from webseam.call import LOCAL, Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.errors import WebseamError
from webseam.reader.builtin import BuiltinReader
from webseam.workers.pool import WorkerPool

ATTACKS: Final = ("gzip", "br", "zstd", "deflate", "zip", "docx", "docx-in-gzip", "loris", "endless")
ROUND_SECONDS: Final = 2.0
"""How long the slowest attack of a round may go on: the deadline of its call."""

LOOK_SECONDS: Final = 0.005


class Memory:
    """The resident bytes of this process and all below it, looked at by a thread of its own; `peak` is the most there was."""

    def __init__(self, look_seconds: float = LOOK_SECONDS) -> None:
        self._look_seconds = look_seconds
        self._process = psutil.Process()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.peak = 0

    def now(self) -> int:
        """What it is at this moment."""
        total = 0
        for process in (self._process, *self._process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                total += process.memory_info().rss
        return total

    def high_water(self) -> int:
        """The most that each of them ever had, summed, where the kernel keeps it (Linux): no peak lasts too short for that."""
        total = 0
        for process in (self._process, *self._process.children(recursive=True)):
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{process.pid}/status").read_text("ascii", "replace")
                total += sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:"))
        return total

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(self._look_seconds):
            self.peak = max(self.peak, self.now())


async def main(port: int, rounds: int) -> dict[str, object]:
    """The rounds, and what came of them."""
    memory = Memory()
    egress = Egress(allowances=lambda account: [Allowance(account, "127.0.0.1", port)])
    ended: dict[str, Counter[str]] = {attack: Counter() for attack in ATTACKS}
    waited: list[float] = []
    beside = 0

    async with WorkerPool() as pool:

        async def read(path: str, seconds: float) -> str:
            call = Call(LOCAL, seconds=seconds)
            try:
                page = await BuiltinReader(egress.door(call, "reading"), pool, call).fetch(f"http://127.0.0.1:{port}/{path}")
            except WebseamError as error:
                return error.kind
            return page.title

        cold = memory.now()
        assert set(await asyncio.gather(*(read("page", 20) for _ in range(8)))) == {"A normal page"}
        start = memory.now()
        with memory:
            for _ in range(rounds):
                attacks = {attack: asyncio.ensure_future(read(attack, ROUND_SECONDS)) for attack in ATTACKS}
                while not all(task.done() for task in attacks.values()):
                    began = time.monotonic()
                    assert await read("page", 20) == "A normal page"
                    waited.append(time.monotonic() - began)
                    beside += not attacks["loris"].done()
                    await asyncio.sleep(0.01)
                for attack, task in attacks.items():
                    ended[attack][task.result()] += 1
        end, high = memory.now(), memory.high_water()
        await egress.close()
    return {
        "rounds": rounds,
        "ended": ended,
        "pages": len(waited),
        "pages_beside": beside,
        "page_seconds_most": max(waited),
        "cold_bytes": cold,
        "start_bytes": start,
        "peak_bytes": max(memory.peak, high),
        "end_bytes": end,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))))
