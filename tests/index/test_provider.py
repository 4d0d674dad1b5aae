"""The private index as an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from webseam.errors import ProviderError
from webseam.index.facts import FACTS
from webseam.index.provider import IndexProvider
from webseam.seam.contract import FetchProvider, SearchProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.index.corpus import Corpus, StoredDocument

    Make = Callable[..., StoredDocument]


def test_it_is_what_its_facts_say(filled: Corpus) -> None:
    provider = IndexProvider(filled)
    searching: SearchProvider = provider
    reading: FetchProvider = provider
    assert isinstance(searching, SearchProvider)
    assert isinstance(reading, FetchProvider)
    assert provider.name == FACTS.name == "index"
    assert FACTS.search
    assert FACTS.reading
    assert not FACTS.third_party
    for name in FACTS.filters:
        provider.search("marsupials", 1, **{name: ["example.com"]})


def test_results_are_those_of_the_seam(filled: Corpus) -> None:
    [result] = IndexProvider(filled).search("nectar gliders", 3, exclude_domains=["docs.example.com"])
    assert result["title"] == "Gliders"
    assert result["url"] == "index://notes/a.md"
    assert result["snippet"] == "Nocturnal gliders eat nectar."
    assert result["age"].startswith("indexed 20")
    assert len(IndexProvider(filled).search("marsupials", 3, include_domains=["example.com"])) == 3


def test_no_hits_is_an_answer_and_an_empty_index_is_none(filled: Corpus, make: Make) -> None:
    assert IndexProvider(filled).search("zebra", 3) == []
    with filled.writer("test") as writer:
        writer.remove_source("docs")
        writer.remove_source("notes")
    with pytest.raises(ProviderError, match="webseam index add") as caught:
        IndexProvider(filled).search("zebra", 3)
    assert caught.value.kind == "not_available"


def test_before_anything_is_indexed_both_say_how_to_begin(corpus: Corpus) -> None:
    for role, ask in (
        ("search", lambda: IndexProvider(corpus).search("x", 3)),
        ("reading", lambda: IndexProvider(corpus).fetch("https://example.com/")),
    ):
        with pytest.raises(ProviderError, match=f"webseam index add.*`webseam use {role} NAME`") as caught:
            ask()
        assert (caught.value.kind, caught.value.engine) == ("not_available", "index")


def test_a_damaged_index_says_how_to_mend_it(filled: Corpus) -> None:
    for path in filled.directory.rglob("meta.json"):
        path.write_text("")
    with pytest.raises(ProviderError, match="webseam index rebuild") as caught:
        IndexProvider(filled).search("x", 3)
    assert caught.value.kind == "not_available"


def test_a_stored_page_is_read_back_under_every_spelling_of_its_url(filled: Corpus) -> None:
    provider = IndexProvider(filled)
    for url in (
        "https://docs.example.com/11",
        "HTTPS://docs.EXAMPLE.com:443/11?utm_source=x#part",
        "https://docs.example.com/11#p",
    ):
        page = provider.fetch(url)
        assert page.url == url
        assert page.final_url == "https://docs.example.com/11"
        assert page.content == "Marsupials number11 are mammals."
        assert page.title == "Page 11"
        assert page.content_type == "text/markdown"
        assert page.retrieved_at.endswith("Z")
        assert "copy that was indexed" in page.notes[0]
    assert provider.fetch("index://notes/a.md").title == "Gliders"


@pytest.mark.parametrize("url", ["https://example.com/never", "index://notes/b.md", "index:", "", "\ud800", "x" * 9000])
def test_a_page_that_is_not_there_says_to_search_first(filled: Corpus, url: str) -> None:
    with pytest.raises(ProviderError, match="search first") as caught:
        IndexProvider(filled).fetch(url)
    assert caught.value.kind == "not_available"
    assert len(str(caught.value)) < 1000
