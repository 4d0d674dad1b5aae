"""The private index as an engine: it answers `web_search`, and `web_fetch` for what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from webseam.errors import CorpusError, ProviderError
from webseam.index.canonical import canonical_url
from webseam.index.facts import FACTS
from webseam.seam.contract import Page, SearchResult
from webseam.seam.failures import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.index.corpus import Corpus, StoredDocument

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

_EMPTY: Final = (
    "The private index holds nothing yet: fill it with `webseam index add DIR|FILE|URL`, or choose another engine with "
    "`webseam use {role} NAME`."
)


class IndexProvider:
    """Search and reading over one account's `Corpus`. Both are synchronous and take milliseconds: run them in a thread."""

    name = FACTS.name

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def search(self, query: str, count: int, **filters: Any) -> list[SearchResult]:
        """Up to `count` results; `age` is the day the document was indexed.

        The filters are `include_domains` and `exclude_domains`, sequences of domains that stand for their subdomains too.

        Raises `ProviderError` "not_available" when nothing is indexed yet or the index is damaged.
        """
        hits = _asked("search", self._corpus.search, query, count, **filters)
        if not hits and not _asked("search", self._corpus.count):
            raise ProviderError(_EMPTY.format(role="search"), kind=Kind.NOT_AVAILABLE.value, engine=self.name)
        return [
            SearchResult(title=hit.title, url=hit.url, snippet=hit.snippet, age=f"indexed {hit.indexed_at[:10]}")
            for hit in hits
        ]

    def fetch(self, url: str) -> Page:
        """The stored document of `url`, with or without fragment and tracking parameters. Raises `ProviderError`."""
        document = self._find(url)
        if document is None:
            raise ProviderError(
                f"The private index holds no page {url[:300]}: search first and read a URL from the results, index it with "
                "`webseam index add`, or read the live web with `webseam use reading builtin`.",
                kind=Kind.NOT_AVAILABLE.value,
                engine=self.name,
            )
        return Page(
            url=url,
            content=document.body,
            final_url=document.url,
            title=document.title,
            content_type=document.content_type,
            retrieved_at=document.indexed_at,
            notes=(f"This is the copy that was indexed at {document.indexed_at}.",),
        )

    def _find(self, url: str) -> StoredDocument | None:
        for spelling in dict.fromkeys((url, url.partition("#")[0], canonical_url(url))):
            if spelling and (document := _asked("reading", self._corpus.document, spelling)):
                return document
        return None


def _asked(role: str, question: Callable[Asked, Answer], *args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
    try:
        return question(*args, **kwargs)
    except CorpusError as error:
        message = _EMPTY.format(role=role) if error.kind == "missing" else str(error)
        raise ProviderError(message, kind=Kind.NOT_AVAILABLE.value, engine=FACTS.name) from error
