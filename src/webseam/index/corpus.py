"""The private index of one account: full-text search over documents that its owner gave, kept by tantivy.

Theory of operation. tantivy is the only store: what is searched, what is read back and what incremental runs compare with are
fields of the same document, so that nothing can disagree. Many processes read at once and one writes (`writer_lock.py`).

A reader works on a *view*: tantivy's snapshot of one commit. Before each search it looks whether the table of contents
(`meta.json`, replaced by a rename at each commit) is another file than the one it knows; if so, it checks the files that are
new (`integrity.py`) and takes the next snapshot. So each commit of another process is seen by the next search, a search without
one costs a few system calls, and no byte is mapped that was not checked. The writer merges and deletes files at any moment:
when something is amiss and the table of contents has changed meanwhile, the reader just looks again.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import tantivy

from webseam.config import LIMITS
from webseam.errors import CorpusError
from webseam.index import generations
from webseam.index.integrity import META, damaged, read_meta, verify
from webseam.index.schema import register
from webseam.index.snippets import snippet
from webseam.index.terms import query_of, query_terms, weights
from webseam.index.writer_lock import WriterLock
from webseam.index.writing import CorpusWriter, foreign_errors, iso_time, missing_file, whole_characters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LOOKS: Final = 5
"""How often a reader looks again when the index changes under its eyes."""

_SOURCES: Final = 10_000


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One document. `body` is Markdown; `fingerprint` tells an incremental run whether the original changed; `indexed_at` is
    ISO 8601 UTC to the second, "" for now."""

    url: str
    source: str
    title: str
    body: str
    fingerprint: str
    content_type: str = "text/markdown"
    indexed_at: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer to a search, best first. `snippet` is one line of plain text that shows what was searched for."""

    url: str
    title: str
    snippet: str
    source: str
    indexed_at: str
    score: float


@dataclass(frozen=True, slots=True)
class SourceCount:
    """How many documents a source has; `indexed_at` is the newest one's."""

    name: str
    documents: int
    indexed_at: str


@dataclass(frozen=True, slots=True)
class _View:
    index: tantivy.Index
    searcher: tantivy.Searcher


class Corpus:
    """The index in `directory`. Cheap to make: nothing is opened until something is asked. Safe to share between threads.

    Every method but `exists` raises `CorpusError`: "missing" when nothing was ever indexed, "damaged" when what is on disk
    cannot be trusted or was written in another format.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._guard = threading.Lock()
        self._view: _View | None = None
        self._stamp: tuple[Any, ...] | None = None
        self._whole: set[str] = set()

    # -------------------------------------------------------------------------------------------- reading

    def search(
        self, query: str, count: int, *, include_domains: Sequence[str] = (), exclude_domains: Sequence[str] = ()
    ) -> list[Hit]:
        """Up to `count` documents with any of the words of `query`, best first. The query has no syntax.

        A domain stands for its subdomains too; the domain of `index://notes/a.md` is `notes`.
        """
        view = self._current_view()
        terms = query_terms(whole_characters(query))
        if not terms or count < 1:
            return []
        with foreign_errors(self.directory):
            wanted = query_of(terms, view.index.schema, view.searcher)
            wanted = _within_domains(wanted, view.index.schema, include_domains, exclude_domains)
            importance = weights(terms, view.searcher)
            hits = []
            for score, address in view.searcher.search(wanted, count, count=False).hits:
                document = view.searcher.doc(address)
                hits.append(
                    Hit(
                        url=_text(document, "url"),
                        title=_text(document, "title"),
                        snippet=snippet(_text(document, "text"), terms, importance, LIMITS.snippet_chars),
                        source=_text(document, "source"),
                        indexed_at=_time(document),
                        score=float(score),
                    )
                )
            return hits

    def document(self, url: str) -> StoredDocument | None:
        """The document of exactly this URL."""
        view = self._current_view()
        with foreign_errors(self.directory):
            query = tantivy.Query.term_query(view.index.schema, "url", whole_characters(url), index_option="basic")
            for _, address in view.searcher.search(query, 1, count=False).hits:
                return _stored(view.searcher.doc(address))
        return None

    def sources(self) -> list[SourceCount]:
        """Every source that has documents, by name."""
        view = self._current_view()
        newest = {"newest": {"max": {"field": "indexed_at"}}}
        wanted = {"sources": {"terms": {"field": "source", "size": _SOURCES}, "aggs": newest}}
        with foreign_errors(self.directory):
            found = view.searcher.aggregate(tantivy.Query.all_query(), wanted)
        return sorted(
            (
                SourceCount(bucket["key"], bucket["doc_count"], iso_time(int(bucket["newest"]["value"] or 0)))
                for bucket in found["sources"]["buckets"]
            ),
            key=lambda source: source.name,
        )

    def fingerprints(self, source: str) -> dict[str, str]:
        """The fingerprint of every document of `source`, by URL."""
        view = self._current_view()
        with foreign_errors(self.directory):
            query = tantivy.Query.term_query(view.index.schema, "source", source, index_option="basic")
            hits = view.searcher.search(query, max(1, view.searcher.num_docs), count=False).hits
            addresses = sorted((address for _, address in hits), key=lambda address: (address.segment_ord, address.doc))
            documents = (view.searcher.doc(address) for address in addresses)
            return {_text(document, "url"): _bytes(document, "fingerprint") for document in documents}

    def count(self) -> int:
        """How many documents there are."""
        return int(self._current_view().searcher.num_docs)

    def exists(self) -> bool:
        """Whether anything was ever indexed here, damaged or not."""
        try:
            return generations.current(self.directory) is not None
        except CorpusError:
            return True

    def check(self) -> None:
        """Read every byte of the index again; raises `CorpusError` when it is missing, damaged, or not wholly rebuilt."""
        self.verify()
        if self.unfinished() is not None:
            raise CorpusError(
                "The private index answers from a part of its documents: the rebuild was not finished (unless one is at work "
                "now): run `webseam index rebuild`, which goes on with it.",
                kind="damaged",
            )

    def verify(self) -> None:
        """As `check`, but content with an unfinished rebuild: whether what is there can be trusted and written to."""
        with self._guard:
            self._forget()
        self._current_view()

    def unfinished(self) -> Path | None:
        """The generation of a rebuild that did not come to its `finish`, or not yet: search answers from a part of it."""
        documents = generations.current(self.directory)
        return documents if documents is not None and generations.is_unfinished(documents) else None

    # -------------------------------------------------------------------------------------------- writing

    def lock(self, what: str) -> WriterLock:
        """The writer lock alone, to be used with `with`; makes no index. Raises "busy" and "unwritable"."""
        return WriterLock.take(self.directory, what)

    def writer(self, what: str, lock: WriterLock | None = None) -> CorpusWriter:
        """The one writer, to be used with `with`; the index is made when there is none. `what` tells others who is writing.

        `lock` is what `lock()` gave, when the caller holds it. Entering it raises `CorpusError`: "busy" when somebody else
        writes, "unwritable", "damaged".
        """
        return CorpusWriter(self.directory, what, lock)

    def reset(self, what: str = "index rebuild") -> None:
        """Throw every document away, under the writer lock, whatever state the index is in. Raises "busy" and "unwritable".

        The index is an unfinished rebuild from then on, whatever happens to this process, until `finish`.
        """
        with self.lock(what), foreign_errors(self.directory):
            generations.create(self.directory, rebuilding=True)
            generations.sweep(self.directory)

    def finish(self, rebuilt: Path) -> None:
        """Say that the rebuild of this generation came to its end; of no other that took its place. Raises "unwritable"."""
        with foreign_errors(self.directory):
            generations.finish(rebuilt)

    # -------------------------------------------------------------------------------------------- views

    def _current_view(self) -> _View:
        with self._guard:
            for look in range(_LOOKS):
                documents = generations.current(self.directory)
                if documents is None:
                    self._forget()
                    raise CorpusError("Nothing is indexed yet: `webseam index add DIR|FILE|URL`.", kind="missing")
                stamp = _stamp(documents)
                if self._view is not None and stamp == self._stamp:
                    return self._view
                meta = b""
                try:
                    with foreign_errors(self.directory):
                        meta = read_meta(documents)
                        view = self._load(documents, meta)
                except CorpusError:
                    self._forget()
                    if look + 1 < _LOOKS and self._changed(documents, meta):
                        continue
                    raise
                if not self._changed(documents, meta):
                    self._stamp = stamp
                    return view
            return view  # changing faster than we look: the newest snapshot, and no stamp, so that the next search looks again

    def _load(self, documents: Path, meta: bytes) -> _View:
        """Check what is new and take the next snapshot."""
        same = self._stamp is not None and self._stamp[0] == documents
        if not same:
            self._forget()
        self._stamp = None
        try:
            verify(documents, meta, self._whole)
        except FileNotFoundError as error:
            raise missing_file(error) from error
        if self._view is None:
            index = tantivy.Index.open(str(documents))
            register(index)
            index.config_reader("manual")
        else:
            index = self._view.index
        index.reload()
        self._view = _View(index, index.searcher())
        return self._view

    def _changed(self, documents: Path, meta: bytes) -> bool:
        try:
            return generations.current(self.directory) != documents or read_meta(documents) != meta
        except CorpusError:
            return meta != b""

    def _forget(self) -> None:
        self._view = None
        self._stamp = None
        self._whole = set()


def _stamp(documents: Path) -> tuple[Any, ...]:
    try:
        status = (documents / META).stat()
    except OSError:
        return (documents, None)
    return (documents, status.st_mtime_ns, status.st_size, status.st_ino)


def _within_domains(
    query: tantivy.Query, schema: tantivy.Schema, included: Sequence[str], excluded: Sequence[str]
) -> tantivy.Query:
    if not included and not excluded:
        return query
    clauses = [(tantivy.Occur.Must, query)]
    for occur, domains in ((tantivy.Occur.Must, included), (tantivy.Occur.MustNot, excluded)):
        if domains:
            hosts = tantivy.Query.term_set_query(schema, "host", [_domain(domain) for domain in domains])
            clauses.append((occur, tantivy.Query.const_score_query(hosts, 0.0)))
    return tantivy.Query.boolean_query(clauses)


def _domain(domain: str) -> str:
    return domain.strip().lower().removeprefix("*").strip(".")


def _text(document: tantivy.Document, field: str) -> str:
    value = document.get_first(field)
    if not isinstance(value, str):
        raise damaged(f"a document of it has no {field}")
    return value


def _bytes(document: tantivy.Document, field: str) -> str:
    value = document.get_first(field)
    if not isinstance(value, bytes | list):
        raise damaged(f"a document of it has no {field}")
    return bytes(value).decode("utf-8", "replace")


def _time(document: tantivy.Document) -> str:
    value = document.get_first("indexed_at")
    if not isinstance(value, int):
        raise damaged("a document of it has no indexed_at")
    return iso_time(value)


def _stored(document: tantivy.Document) -> StoredDocument:
    return StoredDocument(
        url=_text(document, "url"),
        source=_text(document, "source"),
        title=_text(document, "title"),
        body=_bytes(document, "body"),
        fingerprint=_bytes(document, "fingerprint"),
        content_type=_bytes(document, "content_type"),
        indexed_at=_time(document),
    )
