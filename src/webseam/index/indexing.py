"""The jobs behind `webseam index add`, `rebuild` and `remove`: from a source into the index, what changed and nothing else.

Theory of operation. One thread of its own does all that blocks on the index, in order (`_Writing`); the event loop fetches,
parses and reports. A document is reported as acknowledged when the commit that holds it has returned, not before: that is what
survives `kill -9`. Documents are compared by fingerprint, so that a second run writes what changed. What is no longer in the
source is removed, but only on evidence: after a complete look at the source, or when it is known to be gone (`looks.py`).
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from webseam.config import LIMITS
from webseam.errors import CorpusError, WebseamError
from webseam.index.looks import FolderLook, SiteLook
from webseam.index.sources import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from webseam.index.corpus import Corpus, StoredDocument
    from webseam.index.crawl import Parse
    from webseam.index.looks import Look
    from webseam.index.sitemaps import ParseSitemap
    from webseam.seam.contract import Door, RobotsPolicy

__all__ = ["Progress", "Report", "Source", "add", "rebuild", "remove"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: `seen` documents of about `total`, `url` the latest.

    `acknowledged` are the URLs that the commit which just returned made durable; it is empty between commits.
    """

    source: str
    url: str
    seen: int
    total: int
    acknowledged: tuple[str, ...] = ()


@dataclass(slots=True)
class Report:
    """What a job did. `failed` are (URL, why): what was known of them is kept. `note` says why a look was not `complete`.

    `rewritten` are documents that had not changed and were written all the same, as a rebuild does. `left_out` counts, by
    reason, what was met and is no document to index; nothing is wrong with it. `against_robots` are documents that were read
    although robots.txt disallows it, as the account's setting wants it.
    """

    source: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    rewritten: int = 0
    removed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    complete: bool = True
    note: str = ""
    against_robots: int = 0

    @property
    def read(self) -> int:
        """How many documents of the source were read, whatever became of them."""
        return self.added + self.changed + self.unchanged + self.rewritten

    def sentence(self) -> str:
        """The report in one line for people: "notes: 3 added, 0 changed, 0 unchanged, 0 removed, 0 failed"."""
        same = f"{self.rewritten} rewritten" if self.rewritten else f"{self.unchanged} unchanged"
        line = f"{self.source}: {self.added} added, {self.changed} changed, {same}, {self.removed} removed"
        line += f", {len(self.failed)} failed"
        if self.against_robots:
            line += f"; {self.against_robots} read against robots.txt"
        left_out = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
        return f"{line}; left out: {left_out}" if left_out else line

    def as_data(self) -> dict[str, Any]:
        """The report as JSON can carry it."""
        return {
            "source": self.source,
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "rewritten": self.rewritten,
            "removed": self.removed,
            "complete": self.complete,
            "note": self.note,
            "failed": [{"url": url, "why": why} for url, why in self.failed],
            "left_out": dict(self.left_out),
            "against_robots": self.against_robots,
        }


async def add(
    corpus: Corpus,
    source: Source,
    *,
    door_for: Callable[[], Door],
    parse: Parse,
    parse_sitemap: ParseSitemap,
    progress: Callable[[Progress], None] | None = None,
    limit: int | None = None,
    anew: bool = False,
    begin: Callable[[Source], None] | None = None,
    robots: Callable[[], RobotsPolicy] = lambda: "obey",
) -> Report:
    """Bring the index up to date with `source`; with `anew`, write what has not changed too.

    `door_for` gives a door with a deadline of its own for each page, `parse` turns bytes into a Document in a worker, and
    `parse_sitemap` into addresses; `begin` is called first of all under the writer lock, and what it raises ends the job;
    `progress` is called in the event loop; `robots`, for a site, says what robots.txt is to its crawl, or raises. Raises
    `CorpusError`, and `DoorError` when a site cannot even be begun: then nothing was removed.
    """
    async with _Writing(corpus, f"index add {source.name}") as writing:
        if begin is not None:
            begin(source)
        known = await writing.run(corpus.fingerprints, source.name)
        to_compare = {} if anew else known
        look: Look
        if source.kind == "site":
            pages = limit or source.limit or LIMITS.crawl_pages
            look = SiteLook(
                source,
                known=to_compare,
                indexed=known,
                limit=pages,
                door_for=door_for,
                parse=parse,
                parse_sitemap=parse_sitemap,
                robots=robots(),
            )
        else:
            look = FolderLook(source, known=to_compare, parse=parse, listed=_listed(source, progress))
        job = _Job(writing, source, look, known, progress)
        return await job.run()


async def rebuild(
    corpus: Corpus,
    sources: Sequence[Source],
    *,
    door_for: Callable[[], Door],
    parse: Parse,
    parse_sitemap: ParseSitemap,
    progress: Callable[[Progress], None] | None = None,
    begin: Callable[[Source], None] | None = None,
    robots: Callable[[], RobotsPolicy] = lambda: "obey",
) -> list[Report]:
    """Make the index anew from `sources`. Only a damaged one is thrown away; a sound one is written over and goes on answering.

    A rebuild of a damaged one that was not finished is gone on with: what it wrote is not written again. A source that cannot
    be read is a report with the reason in `note`. Raises `CorpusError` "busy" and "unwritable".
    """
    try:
        await asyncio.to_thread(corpus.verify)
    except CorpusError as error:
        if error.kind not in ("damaged", "missing"):
            raise
        await asyncio.to_thread(corpus.reset)
    rebuilding = await asyncio.to_thread(corpus.unfinished)
    names = {source.name for source in sources}
    for stray in await asyncio.to_thread(corpus.sources):
        if stray.name not in names:
            await asyncio.to_thread(remove, corpus, stray.name)
    reports = []
    for source in sources:
        try:
            report = await add(
                corpus,
                source,
                door_for=door_for,
                parse=parse,
                parse_sitemap=parse_sitemap,
                progress=progress,
                anew=rebuilding is None,
                begin=begin,
                robots=robots,
            )
            reports.append(report)
        except WebseamError as error:
            if error.kind in ("busy", "unwritable"):
                raise
            reports.append(Report(source.name, failed=[(source.location, str(error))], complete=False, note=str(error)))
    if rebuilding is not None:
        await asyncio.to_thread(corpus.finish, rebuilding)
    return reports


def remove(corpus: Corpus, name: str, *, forget: Callable[[], None] | None = None) -> int:
    """Remove every document of the source called `name`; how many there were. Nobody else writes meanwhile.

    `forget` is called under the writer lock, when the documents are gone; without it, that there are none is `CorpusError`
    "no_source". Raises "busy", whether or not there are documents: who writes now may be adding the first.
    """
    what = f"index remove {name}"
    with corpus.lock(what) as lock:
        counts = {source.name: source.documents for source in corpus.sources()} if corpus.exists() else {}
        if name in counts:
            with corpus.writer(what, lock) as writer:
                writer.remove_source(name)
        elif forget is None:
            there_are = f"there are {', '.join(sorted(counts))}" if counts else "nothing is indexed"
            raise CorpusError(f"No documents of a source called {name!r} are indexed: {there_are}.", kind="no_source")
        if forget is not None:
            forget()
    return counts.get(name, 0)


def _listed(source: Source, progress: Callable[[Progress], None] | None) -> Callable[[str, int], None] | None:
    """Tells of a listing under way as progress: none seen, so many to come."""
    return None if progress is None else lambda url, count: progress(Progress(source.name, url, 0, count))


class _Job:
    """One run of `add`."""

    def __init__(
        self,
        writing: _Writing,
        source: Source,
        look: Look,
        known: Mapping[str, str],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._writing = writing
        self._look = look
        self._known = known
        self._progress = progress
        self._met: set[str] = set()
        self._uncommitted: list[str] = []
        self._committed_at = time.monotonic()
        self._report = Report(source.name)

    async def run(self) -> Report:
        report = self._report
        async with aclosing(self._look.found()) as documents:
            async for found in documents:
                if found.why:
                    report.failed.append((found.url, found.why))
                else:
                    await self._take(found.url, found.document)
                self._tell(found.url)
                await self._commit_when_due()
        gone = [url for url in self._known if url not in self._met and self._look.is_gone(url)]
        for url in gone:
            await self._writing.run(self._writing.writer.remove, url)
        await self._commit()
        report.removed = len(gone)
        report.complete, report.note = self._look.complete, self._look.why_incomplete
        report.left_out = dict(self._look.left_out)
        report.against_robots = self._look.against_robots
        return report

    async def _take(self, url: str, document: StoredDocument | None) -> None:
        self._met.add(url)
        before = self._known.get(url)
        if document is None:
            self._report.unchanged += 1
        elif document.fingerprint == before:
            self._report.rewritten += 1
        elif before is None:
            self._report.added += 1
        else:
            self._report.changed += 1
        if document is not None:
            await self._writing.run(self._writing.writer.put, document)
            self._uncommitted.append(url)

    async def _commit_when_due(self) -> None:
        due = time.monotonic() - self._committed_at >= LIMITS.index_commit_seconds
        if self._uncommitted and (due or len(self._uncommitted) >= LIMITS.index_commit_documents):
            await self._commit()

    async def _commit(self) -> None:
        await self._writing.run(self._writing.writer.commit)
        acknowledged, self._uncommitted = tuple(self._uncommitted), []
        self._committed_at = time.monotonic()
        if acknowledged:
            self._tell(acknowledged[-1], acknowledged)

    def _tell(self, url: str, acknowledged: tuple[str, ...] = ()) -> None:
        if self._progress is not None:
            seen = len(self._met) + len(self._report.failed)
            total = max(seen, self._look.expected)
            self._progress(Progress(self._report.source, url, seen, total, acknowledged))


class _Writing:
    """The writer, in a thread of its own. A cancelled task leaves the thread to finish what it does; closing comes after it."""

    def __init__(self, corpus: Corpus, what: str) -> None:
        self.writer = corpus.writer(what)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="webseam-index")

    async def __aenter__(self) -> Self:
        try:
            await self.run(self.writer.__enter__)
        except BaseException:
            self._thread.shutdown()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await asyncio.shield(self.run(self.writer.__exit__, kind, error, trace))
        finally:
            self._thread.shutdown()

    def run(self, work: Callable[..., Result], *args: Any) -> asyncio.Future[Result]:
        """Do `work` in the thread, after everything that was asked of it before."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work, *args)
