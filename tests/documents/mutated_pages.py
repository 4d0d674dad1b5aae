"""Mutants through a real server in a process of its own: what became of each, and how much memory it took.

    python -m tests.documents.mutated_pages SEED COUNT [SHARED]

SHARED is the folder with the reference data; without it the pages are those of `mutants` alone. Two mutants are read at a
time, by the server's own worker processes. One in `SERVED` is also a page of a site on loopback that a client asks the server
for, and one in `BETWEEN` is followed by a normal page, while the next one is read.

The memory is that of the whole process tree. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from tests.documents.mutants import Mutant, mutant, pages
from tests.egress.abuse.bombs import Memory
from tests.serving import Served, Server, Site

from webseam.config import LIMITS
from webseam.documents.in_worker import read_in_worker
from webseam.errors import DocumentError, WorkerError

if TYPE_CHECKING:
    from webseam.documents.document import Document

AT_ONCE = 2
SERVED = 5
BETWEEN = 10
WARM = 10
FIRST_LINE = 300
PATIENCE_SECONDS = 120.0
URL = "https://example.com/dir/page"
FINDINGS = 20


class Run:
    """The mutants of one seed, and what came of them."""

    def __init__(self, seed: int, sources: list[bytes], server: Server, site: Site) -> None:
        self.ended: Counter[str] = Counter()
        self.served: Counter[str] = Counter()
        self.late = 0
        self.normal = 0
        self.findings: list[dict[str, Any]] = []
        self._seed = seed
        self._sources = sources
        self._server = server
        self._site = site

    async def numbers(self, numbers: range) -> None:
        """Read those mutants, `AT_ONCE` at a time."""
        waiting = iter(numbers)

        async def some() -> None:
            for number in waiting:
                await self._one(number)

        await asyncio.gather(*(some() for _ in range(AT_ONCE)))

    async def _one(self, number: int) -> None:
        made = mutant(self._seed, number, self._sources)
        try:
            document = await self._read(number, made)
        except (DocumentError, WorkerError) as error:
            self.ended[error.kind] += 1
            if isinstance(error, WorkerError) or not _is_sentence(error.message):
                self._found(number, made, f"{type(error).__name__} {error.kind}: {error.message}")
        else:
            self.ended["document"] += 1
            if not (document.content.strip() and len(document.content) <= LIMITS.page_chars):
                self._found(number, made, f"a text of {len(document.content)} characters")
            if not all(map(_is_sentence, document.notes)):
                self._found(number, made, f"notes: {document.notes}")
        if number % SERVED == 0:
            await self._whole(number, made)
        if number % BETWEEN == 0:
            if await self._server.answers_a_normal_page():
                self.normal += 1
            else:
                self._found(number, made, "no normal page after it")

    async def _read(self, number: int, made: Mutant) -> Document:
        """Within the deadline of every document. One that is late on a busy machine is not slow: that is processor time."""
        pool = self._server.app.pool
        try:
            return await read_in_worker(pool, made.data, url=URL, content_type=made.content_type)
        except WorkerError as error:
            if error.kind not in ("timeout", "busy"):
                raise
        self.late += 1
        began = self._processor_seconds()
        document = await read_in_worker(pool, made.data, url=URL, content_type=made.content_type, seconds=PATIENCE_SECONDS)
        if (spent := self._processor_seconds() - began) > LIMITS.document_seconds:
            self._found(number, made, f"{spent:.0f} s of processor time")
        return document

    def _processor_seconds(self) -> float:
        """What all workers have had, those that ended too."""
        times = [child.cpu_times() for child in psutil.Process().children()]
        ended = psutil.Process().cpu_times()
        return sum(time.user + time.system for time in times) + ended.children_user + ended.children_system

    async def _whole(self, number: int, made: Mutant) -> None:
        path = f"/mutant-{number}"
        self._site.served[path] = Served(made.data, "".join(filter(str.isprintable, made.content_type)))
        answer = await self._server.fetch(path)
        del self._site.served[path]
        self.served["error" if answer.is_error else "page"] += 1
        if answer.is_error and not _is_sentence(answer.text):
            self._found(number, made, answer.text[:1_000])

    def _found(self, number: int, made: Mutant, what: str) -> None:
        if len(self.findings) < FINDINGS:
            kept = {"number": number, "bytes": len(made.data), "content_type": made.content_type[:100], "steps": made.steps}
            self.findings.append({**kept, "what": what})


def _is_sentence(message: str) -> bool:
    first = message.partition("\n")[0]
    return 20 < len(first) <= FIRST_LINE and "Traceback" not in message


async def main(seed: int, count: int, shared: Path | None) -> dict[str, Any]:
    """So many mutants of a seed, and the figures."""
    sources = pages(shared)
    memory = Memory(look_seconds=0.05)
    with tempfile.TemporaryDirectory() as data, Site() as site:
        async with Server(Path(data), site) as server:
            run = Run(seed, sources, server, site)
            await run.numbers(range(-WARM, 0))  # both workers have read before anything is measured
            for counted in (run.ended, run.served):
                counted.clear()
            run.normal = 0
            start = memory.now()
            with memory:
                await run.numbers(range(count))
            end = memory.now()
    return {
        "pages": len(sources),
        "ended": run.ended,
        "served": run.served,
        "normal": run.normal,
        "late": run.late,
        "findings": run.findings,
        "start_bytes": start,
        "peak_bytes": memory.peak,
        "end_bytes": end,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None))))
