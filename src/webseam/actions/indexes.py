"""Filling the private index: add, list, remove, rebuild."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from webseam.accounts.store import StoredSource
from webseam.call import Call
from webseam.documents.in_worker import read_in_worker
from webseam.egress.urls import parse
from webseam.errors import CorpusError, WebseamError
from webseam.index import indexing, sitemaps
from webseam.index.indexing import Source
from webseam.switchboard import READING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from webseam.documents.document import Document
    from webseam.egress.client import Egress
    from webseam.index.corpus import SourceCount
    from webseam.index.indexing import Progress, Report
    from webseam.seam.contract import Door, RobotsPolicy
    from webseam.switchboard import Switchboard
    from webseam.workers.pool import WorkerPool


class Indexes:
    """One account's private index, with the door and the workers that filling it needs."""

    def __init__(self, switchboard: Switchboard, egress: Egress, pool: WorkerPool, account: str) -> None:
        self.switchboard = switchboard
        self.egress = egress
        self.pool = pool
        self.account = account
        self.corpus = switchboard.corpus(account)

    def sources(self) -> list[Source]:
        """Where the documents come from, by name."""
        return [_source(stored) for stored in self.switchboard.store.account(self.account).sources]

    def resolve(self, what: str, *, name: str | None = None, limit: int | None = None, taken: Sequence[Source] = ()) -> Source:
        """The source that a folder, a file or an address on the command line means; a known one keeps its name and limit.

        `taken` were resolved before it and are not added yet. Raises `CorpusError` "no_source": it is nothing that can be
        indexed, its name is another's, or it has another name.
        """
        known = [*self.sources(), *taken]
        source = Source.of(what, name=name, limit=limit, taken=[one.name for one in known])
        same = [one for one in known if (one.kind, one.location) == (source.kind, source.location)]
        for one in same:
            if name is None or one.name == source.name:
                return Source(one.name, one.location, one.kind, limit if limit is not None else one.limit)
        if same:
            raise CorpusError(
                f"{source.location} is the source {same[0].name!r} already: leave --name out to bring it up to date, or "
                f"remove it with `webseam index remove {same[0].name}` and add it under the other name.",
                kind="no_source",
            )
        self._refuse_name_of_another(source)
        return source

    def _refuse_name_of_another(self, source: Source) -> None:
        for one in self.sources():
            if one.name == source.name and (one.kind, one.location) != (source.kind, source.location):
                raise CorpusError(
                    f"There is a source called {one.name!r} already ({one.location}): give this one another name with --name, "
                    f"or remove that one with `webseam index remove {one.name}`.",
                    kind="no_source",
                )

    async def add(self, source: Source, *, progress: Callable[[Progress], None] | None = None) -> Report:
        """Index the source, or what changed in it since the last time. It is remembered for the next time and for `rebuild`."""
        was_new = False

        def remember(source: Source) -> None:
            """Under the writer lock, as `remove` forgets, so that neither comes between the other's documents and settings."""
            nonlocal was_new
            self._refuse_name_of_another(source)  # again: somebody may have taken it since it was resolved
            was_new = source.name not in [one.name for one in self.sources()]
            self.switchboard.store.put_source(self.account, _stored(source))

        try:
            report = await indexing.add(
                self.corpus,
                source,
                door_for=self._door,
                parse=self._parse,
                parse_sitemap=self._parse_sitemap,
                progress=progress,
                begin=remember,
                robots=self._robots,
            )
        except WebseamError:
            if was_new:
                self._forget_unless_indexed(source.name)
            raise
        self._still_wanted(source)
        return report

    async def rebuild(self, *, progress: Callable[[Progress], None] | None = None) -> Sequence[Report]:
        """Make the whole index anew from its sources."""
        return await indexing.rebuild(
            self.corpus,
            self.sources(),
            door_for=self._door,
            parse=self._parse,
            parse_sitemap=self._parse_sitemap,
            progress=progress,
            begin=self._refuse_removed,
            robots=self._robots,
        )

    def remove(self, name: str) -> int:
        """Forget a source and its documents, or documents whose source is unknown; how many documents there were.

        Raises `CorpusError` "no_source", and "busy" while anybody writes: it may be this source that is being added.
        """
        known = [one.name for one in self.sources()]
        known += [one for one in self._counted() if one not in known]
        if name not in known:
            there_is = f"there is {', '.join(known)}" if known else "there are no sources"
            raise CorpusError(f"There is no source called {name!r}: {there_is} (`webseam index list`).", kind="no_source")
        return indexing.remove(self.corpus, name, forget=lambda: self._forget(name))

    def reading_hint(self, source: Source) -> str:
        """What is still missing before an agent can read the pages it finds of a private site; "" when nothing is."""
        if source.kind != "site" or self.switchboard.selected(self.account, READING) == "index":
            return ""
        url = parse(source.location)
        stored = self.switchboard.store.account(self.account).allowances
        purposes = {one.purpose for one in stored if (one.host, one.port) == (url.host, url.port)}
        if "index" not in purposes or "reading" in purposes:
            return ""
        return (
            f"Agents find these pages now; to let them read the site too: `webseam allow {url.authority}`, "
            "or `webseam use reading index` for the copies."
        )

    def listing(self) -> list[dict[str, Any]]:
        """One row a source: name, kind, location, documents, indexed_at.

        Documents whose source is unknown are of kind "?" and location "": they can be found, and removed.
        """
        counted = self._counted()
        rows = []
        for source in self.sources():
            count = counted.pop(source.name, None)
            rows.append(
                {
                    "name": source.name,
                    "kind": source.kind,
                    "location": source.location,
                    "documents": count.documents if count else 0,
                    "indexed_at": count.indexed_at if count else "",
                }
            )
        rows += [
            {"name": one.name, "kind": "?", "location": "", "documents": one.documents, "indexed_at": one.indexed_at}
            for one in counted.values()
        ]
        return rows

    def _counted(self) -> dict[str, SourceCount]:
        return {one.name: one for one in self.corpus.sources()} if self.corpus.exists() else {}

    def _forget(self, name: str) -> None:
        self.switchboard.store.remove_source(self.account, name)

    def _forget_unless_indexed(self, name: str) -> None:
        """Forget a source of which nothing was indexed after all; when somebody writes by now, it may be theirs."""
        with suppress(CorpusError), self.corpus.lock(f"index add {name}"):
            if name not in self._counted():
                self._forget(name)

    def _refuse_removed(self, source: Source) -> None:
        if source.name not in [one.name for one in self.sources()]:
            raise CorpusError(
                f"{source.name} was removed meanwhile: add it again with `webseam index add` if it is wanted.", kind="no_source"
            )

    def _still_wanted(self, source: Source) -> None:
        """Settings can go without the lock, with the file that holds them: documents that nobody knows of would be left."""
        try:
            self._refuse_removed(source)
        except CorpusError:
            indexing.remove(self.corpus, source.name, forget=lambda: None)
            raise

    def _robots(self) -> RobotsPolicy:
        return self.switchboard.robots(self.account, "index")

    def _door(self) -> Door:
        return self.egress.door(Call(self.account), "index")

    async def _parse(self, data: bytes, url: str, content_type: str) -> Document:
        return await read_in_worker(self.pool, data, url=url, content_type=content_type)

    async def _parse_sitemap(self, data: bytes) -> list[tuple[bool, str]]:
        return await sitemaps.parse_in_worker(self.pool, data)


def _stored(source: Source) -> StoredSource:
    return StoredSource(source.name, source.kind, source.location, source.limit or 0)


def _source(stored: StoredSource) -> Source:
    return Source.from_json(
        {"name": stored.name, "kind": stored.kind, "location": stored.location, "limit": stored.page_limit or None}
    )
