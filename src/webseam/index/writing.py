"""Writing into the private index: documents in and out, made durable by commits."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Self

import ada_url
import tantivy

from webseam.errors import CorpusError
from webseam.index import generations
from webseam.index.integrity import damaged, read_meta, verify
from webseam.index.plain import plain
from webseam.index.schema import register
from webseam.index.terms import composed, other_terms
from webseam.index.writer_lock import WriterLock, busy, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from webseam.index.corpus import StoredDocument

_HEAP_BYTES: Final = 50_000_000
_IO_ERROR: Final = re.compile(r"os error (?:5|13|27|28|30|112|122)\b|No space|Permission denied", re.IGNORECASE)
"""EIO, EACCES, EFBIG, ENOSPC, EROFS, ERROR_DISK_FULL, EDQUOT."""


class CorpusWriter:
    """The one writer of an index, as a context manager.

    Leaving it cleanly commits; leaving it by an exception discards what was not committed. All methods block (a commit waits
    for the disk) and raise `CorpusError`.
    """

    def __init__(self, directory: Path, what: str, lock: WriterLock | None = None) -> None:
        """`lock` is the writer lock when the caller holds it already, and goes on holding it afterwards."""
        self._directory = directory
        self._what = what
        self._held = lock
        self._lock: WriterLock | None = None  # ours, to be released
        self._documents: Path | None = None
        self._writer: tantivy.IndexWriter | None = None
        self.pending = 0
        """How many documents were put or removed since the last commit."""

    def __enter__(self) -> Self:
        if self._held is None:
            self._lock = WriterLock.take(self._directory, self._what)
        try:
            with foreign_errors(self._directory):
                self._writer = self._open()
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self._close()

    def put(self, document: StoredDocument) -> None:
        """Add `document`, in place of one of the same URL. `indexed_at` is now when it is empty."""
        with self._failures():
            writer = self._opened()
            writer.delete_documents_by_term("url", whole_characters(document.url))
            writer.add_document(_as_tantivy(document))
        self.pending += 1

    def remove(self, url: str) -> None:
        """Remove the document of this URL, if there is one."""
        with self._failures():
            self._opened().delete_documents_by_term("url", whole_characters(url))
        self.pending += 1

    def remove_source(self, source: str) -> None:
        """Remove every document of a source."""
        with self._failures():
            self._opened().delete_documents_by_term("source", whole_characters(source))
        self.pending += 1

    def commit(self) -> None:
        """Make durable what was put and removed. Once it returned, that survives the death of this process; readers see it."""
        if not self.pending:
            return
        with self._failures():
            self._opened().commit()
        self.pending = 0

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """What fails while we write is the disk, unless what was there before is not whole any more."""
        try:
            with foreign_errors(self._directory):
                yield
        except CorpusError as error:
            if error.kind == "damaged" and self._documents is not None and _is_whole(self._documents):
                raise unwritable(self._directory, str(error.__cause__ or error).strip()[:300]) from error
            raise

    def _opened(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise RuntimeError("the writer is closed")
        return self._writer

    def _open(self) -> tantivy.IndexWriter:
        documents = generations.current(self._directory) or generations.create(self._directory)
        try:
            verify(documents, read_meta(documents), set())
        except FileNotFoundError as error:
            raise missing_file(error) from error
        generations.sweep(self._directory)  # not before we know that the highest is an index at all
        self._documents = documents
        index = tantivy.Index.open(str(documents))
        register(index)
        try:
            return index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        except ValueError as error:
            if "LockBusy" in str(error):  # a program that is not ours
                raise busy(self._directory) from error
            raise

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        try:
            if writer is not None:  # what was not committed goes with it
                with suppress(CorpusError), foreign_errors(self._directory):
                    writer.wait_merging_threads()
        finally:
            del writer
            if self._lock is not None:
                self._lock.release()


@contextmanager
def foreign_errors(directory: Path) -> Iterator[None]:
    """Turn whatever tantivy and the operating system raise into `CorpusError`. A panic in Rust is a BaseException."""
    try:
        yield
    except OSError as error:
        raise unwritable(directory, error.strerror or str(error)) from error
    except ValueError as error:
        if _IO_ERROR.search(str(error)):
            raise unwritable(directory, " ".join(str(error).split())[:300]) from error
        raise damaged("tantivy cannot use it", str(error)) from error
    except CorpusError:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise damaged("tantivy cannot use it", str(error)) from error


def _is_whole(documents: Path) -> bool:
    try:
        verify(documents, read_meta(documents), set())
    except (CorpusError, FileNotFoundError):
        return False
    return True


def missing_file(error: FileNotFoundError) -> CorpusError:
    """The error for a file of the index that its table of contents names and that is not there."""
    name = str(error.filename or "").replace("\\", "/").rpartition("/")[2]
    return damaged(f"its file {name} is missing")


def whole_characters(text: str) -> str:
    """`text` without lone surrogates, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def domains_of(url: str) -> list[str]:
    """The host of `url` and every domain above it: ["docs.example.com", "example.com", "com"]. An IP address is alone."""
    try:
        host = ada_url.URL(url).hostname.lower()
    except ValueError:
        return []
    if not host or host.startswith("[") or host.replace(".", "").isdecimal():
        return [host] if host else []
    labels = host.split(".")
    return [".".join(labels[at:]) for at in range(len(labels))]


def seconds_of(indexed_at: str) -> int:
    """An ISO 8601 time as seconds since 1970; now when it is empty."""
    return int(datetime.fromisoformat(indexed_at).timestamp()) if indexed_at else int(time.time())


def iso_time(seconds: int) -> str:
    """Seconds since 1970 as "2026-11-30T10:00:00Z"."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _as_tantivy(document: StoredDocument) -> tantivy.Document:
    url, title = whole_characters(document.url), composed(whole_characters(document.title))
    text = composed(plain(whole_characters(document.body)))
    made = tantivy.Document()
    made.add_text("url", url)
    made.add_text("source", whole_characters(document.source))
    for domain in domains_of(url):
        made.add_text("host", domain)
    made.add_text("title", title)
    made.add_text("text", text)
    made.add_text("other", other_terms(title, text))
    made.add_bytes("body", document.body.encode("utf-8", "replace"))
    made.add_bytes("fingerprint", document.fingerprint.encode("utf-8", "replace"))
    made.add_bytes("content_type", document.content_type.encode("utf-8", "replace"))
    made.add_unsigned("indexed_at", seconds_of(document.indexed_at))
    return made
