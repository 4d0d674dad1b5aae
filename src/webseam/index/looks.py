"""One look at a source: what is in it now, and what may be concluded about what was in it before."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from webseam.config import LIMITS
from webseam.errors import CorpusError, DocumentError, WorkerError
from webseam.index.corpus import StoredDocument
from webseam.index.crawl import Crawl, CrawlFailure, fingerprint_of
from webseam.index.files import Entry, Files, SourceFile, UnreadFile
from webseam.index.ordered import ordered

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping

    from webseam.index.crawl import Parse
    from webseam.index.sitemaps import ParseSitemap
    from webseam.index.sources import Source
    from webseam.seam.contract import Door, RobotsPolicy

_AT_ONCE: Final = 4
_LISTING_SECONDS: Final = 0.2  # between two words about a listing under way


@dataclass(frozen=True, slots=True)
class Found:
    """One document of the source. Without a `document` it has not changed, or, when there is a `why`, could not be read."""

    url: str
    document: StoredDocument | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _LeftOut(Found):
    """A document with nothing in it to index."""


class Look(Protocol):
    """`found()` is iterated once, to its end; the rest is asked afterwards."""

    @property
    def complete(self) -> bool:
        """Whether everything that can be found was looked at."""

    @property
    def why_incomplete(self) -> str:
        """Why it was not; "" otherwise."""

    @property
    def expected(self) -> int:
        """How many documents there will be, as far as is known now."""

    @property
    def left_out(self) -> Mapping[str, int]:
        """How much was met and is no document to index, by reason: a dozen reasons at most, as they follow "3 "."""

    @property
    def against_robots(self) -> int:
        """How many documents were read although robots.txt disallows it."""

    def found(self) -> AsyncGenerator[Found, None]:
        """Everything in the source. Raises `WebseamError` when the source as a whole cannot be read."""

    def is_gone(self, url: str) -> bool:
        """Whether a known document that was not found is no longer in the source."""


class FolderLook:
    """A look at a folder or a file. `known` are the fingerprints of what is indexed: what has not changed is not parsed."""

    def __init__(
        self,
        source: Source,
        *,
        known: Mapping[str, str],
        parse: Parse,
        listed: Callable[[str, int], None] | None = None,
        most: int = LIMITS.folder_files,
    ) -> None:
        """`listed` hears, while the folder is listed, of the latest address and how many there are; `most` are taken."""
        self._source = source
        self._known = known
        self._parse = parse
        self._listed = listed
        self._most = most
        self._unread: list[UnreadFile] = []
        self.complete = True
        self.why_incomplete = ""
        self.expected = 0
        self.against_robots = 0
        self.left_out: Counter[str] = Counter()

    async def found(self) -> AsyncGenerator[Found, None]:
        """Every file, by name."""
        listing = await self._listing()
        self.expected = len(listing)
        listing.reverse()

        def take() -> Entry | None:
            return listing.pop() if listing else None

        async with aclosing(ordered(take, self._read, _AT_ONCE)) as results:
            async for result in results:
                if isinstance(result, _LeftOut):
                    self.left_out["empty"] += 1
                    self.expected -= 1
                    continue
                if result.why:
                    self._unread.append(UnreadFile(result.url, result.why, beneath=result.url.endswith("/")))
                yield result

    def is_gone(self, url: str) -> bool:
        """Everything that was not met, unless it may lie where we could not look."""
        return self.complete and not any(
            url == unread.url or (unread.beneath and url.startswith(unread.url)) for unread in self._unread
        )

    @property
    def _forget(self) -> str:
        """The way out, for a source that is known: a new one is forgotten again when nothing of it was indexed."""
        return f"if it was indexed before, `webseam index remove {self._source.name}` forgets it"

    async def _listing(self) -> list[Entry]:
        listing: list[Entry] = []
        left = threading.Event()
        task = asyncio.create_task(asyncio.to_thread(self._list, Path(self._source.location), listing, left))
        try:
            while not (await asyncio.wait({task}, timeout=_LISTING_SECONDS))[0]:
                if self._listed is not None and listing:
                    self._listed(listing[-1].url, len(listing))
            await task
        finally:
            left.set()
            task.cancel()
        return listing

    def _list(self, root: Path, listing: list[Entry], left: threading.Event) -> None:
        """Fill `listing`, in a thread, until nobody waits for it any more."""
        if not root.exists():
            raise CorpusError(
                f"{root} does not exist (any more?): mend it and try again; {self._forget}. "
                "Nothing was removed from the index.",
                kind="no_source",
            )
        found = Files(root, self._source.name, most=self._most)
        for entry in found:
            if left.is_set():
                return
            listing.append(entry)
        self.left_out.update(found.left_out)
        if found.cut:
            self.complete = False
            self.why_incomplete = (
                f"{root} holds more than {self._most} files and the others were not read: add folders in it one by one"
            )
        if not listing:
            raise CorpusError(
                f"There is nothing in {root} that can be indexed: put Markdown, HTML or text files there; "
                f"{self._forget}. Nothing was removed from the index.",
                kind="no_source",
            )

    async def _read(self, file: Entry) -> Found:
        if isinstance(file, UnreadFile):
            return Found(file.url, why=file.why)
        assert isinstance(file, SourceFile)
        try:
            data = await asyncio.to_thread(file.read)
        except OSError as error:
            return Found(file.url, why=f"it cannot be read ({error.strerror})")
        if len(data) > LIMITS.index_file_bytes:
            return Found(file.url, why=f"it is larger than {LIMITS.index_file_bytes // 1024 // 1024} MB")
        fingerprint = fingerprint_of(file.content_type, data)
        if self._known.get(file.url) == fingerprint:
            return Found(file.url)
        try:
            document = await self._parse(data, file.url, file.content_type)
        except (DocumentError, WorkerError) as error:
            if isinstance(error, DocumentError) and error.kind == "empty":
                return _LeftOut(file.url)
            return Found(file.url, why=str(error).partition("\n")[0])
        stored = StoredDocument(
            url=file.url,
            source=self._source.name,
            title=document.title or file.path.stem,
            body=document.content,
            fingerprint=fingerprint,
            content_type=document.content_type,
        )
        return Found(file.url, stored)


class SiteLook:
    """A look at a site: a crawl of at most `limit` pages. `known` as above; `indexed` are all URLs of earlier runs."""

    def __init__(
        self,
        source: Source,
        *,
        known: Mapping[str, str],
        indexed: Collection[str],
        limit: int,
        door_for: Callable[[], Door],
        parse: Parse,
        parse_sitemap: ParseSitemap,
        robots: RobotsPolicy = "obey",
    ) -> None:
        self._source = source
        self._known = known
        self._crawl = Crawl(
            source.location,
            door_for=door_for,
            parse=parse,
            parse_sitemap=parse_sitemap,
            limit=limit,
            known=indexed,
            robots=robots,
        )

    @property
    def complete(self) -> bool:
        """Whether every page that can be found was looked at."""
        return self._crawl.complete

    @property
    def why_incomplete(self) -> str:
        """Why it was not; "" otherwise."""
        return self._crawl.why_incomplete

    @property
    def expected(self) -> int:
        """How many pages the crawl will be, as far as is known now."""
        return self._crawl.expected

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many pages were met and are not to be indexed, by reason."""
        return self._crawl.left_out

    @property
    def against_robots(self) -> int:
        """How many pages were read although robots.txt disallows it."""
        return self._crawl.against_robots

    async def found(self) -> AsyncGenerator[Found, None]:
        """Every page, in the order of the crawl."""
        async with aclosing(self._crawl.pages()) as pages:
            async for page in pages:
                if isinstance(page, CrawlFailure):
                    yield Found(page.url, why=page.why)
                elif self._known.get(page.url) == page.fingerprint:
                    yield Found(page.url)
                else:
                    stored = StoredDocument(
                        url=page.url,
                        source=self._source.name,
                        title=page.title,
                        body=page.content,
                        fingerprint=page.fingerprint,
                        content_type=page.content_type,
                    )
                    yield Found(page.url, stored)

    def is_gone(self, url: str) -> bool:
        """What certainly went, or was not met by a complete crawl."""
        return self._crawl.complete or url in self._crawl.gone
