"""Search, reading back and counting."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from webseam.config import LIMITS
from webseam.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.index.corpus import Corpus, StoredDocument

    Make = Callable[..., StoredDocument]


def test_an_index_that_was_never_made_is_missing_and_says_how_to_fill_it(corpus: Corpus) -> None:
    for ask in (lambda: corpus.search("x", 3), corpus.count, corpus.sources, lambda: corpus.document("x"), corpus.check):
        with pytest.raises(CorpusError, match="webseam index add") as caught:
            ask()
        assert caught.value.kind == "missing"
    assert not corpus.exists()
    assert not corpus.directory.exists(), "asking makes nothing"


def test_a_document_is_found_by_another_form_of_its_words_and_read_back_whole(corpus: Corpus, make: Make) -> None:
    body = "# Gliders\n\nThe **possums** were gliding, see [more](https://example.com/zebra)."
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/a", body, title="Gliders"))
    [hit] = corpus.search("possum glides", 5)
    assert (hit.url, hit.title, hit.source) == ("https://example.com/a", "Gliders", "docs")
    assert hit.snippet == "Gliders: The possums were gliding, see more."
    document = corpus.document("https://example.com/a")
    assert document is not None
    assert (document.body, document.content_type, document.fingerprint) == (body, "text/markdown", body[:50])
    assert document.indexed_at.endswith("Z")
    assert corpus.search("zebra", 5) == [], "where a link points is not text"


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Müller", "muller"),
        ("résumé", "resume"),
        ("café", "cafe"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Łódź", "lodz"),
    ],
)
def test_accents_do_not_count(corpus: Corpus, make: Make, written: str, typed: str) -> None:
    apart = unicodedata.normalize("NFD", written)
    filler = "Some sentence that says nothing at all. " * 40
    with corpus.writer("test") as writer:
        for name, word in (("written", written), ("typed", typed), ("apart", apart)):
            writer.put(make(f"https://example.com/{name}", f"{filler}Here is {word} again. {filler}"))
        writer.put(make("https://example.com/titled", title=f"On {apart}"))
    for query in (written, typed, written.upper(), apart):
        hits = {hit.url.rpartition("/")[2]: hit for hit in corpus.search(query, 9)}
        assert set(hits) == {"written", "typed", "apart", "titled"}, query
        assert f"Here is {written} again" in hits["written"].snippet
        assert f"Here is {typed} again" in hits["typed"].snippet
        assert f"Here is {written} again" in hits["apart"].snippet


def test_a_word_that_is_a_stop_word_but_for_its_accent_is_found_in_titles(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/tea", title="Le thé"))
        writer.put(make("https://example.com/article", title="The article"))
    assert [hit.url[20:] for hit in corpus.search("thé", 5)] == ["tea"]
    assert [hit.url[20:] for hit in corpus.search("the", 5)] == ["article"]


def test_the_time_of_indexing_is_kept_when_it_is_given(corpus: Corpus, make: Make) -> None:
    from dataclasses import replace

    with corpus.writer("test") as writer:
        writer.put(replace(make("https://example.com/a"), indexed_at="2024-02-29T12:00:00Z"))
    [hit] = corpus.search("words", 1)
    assert hit.indexed_at == "2024-02-29T12:00:00Z"
    assert corpus.sources()[0].indexed_at == "2024-02-29T12:00:00Z"


def test_a_word_in_the_title_counts_and_the_better_document_comes_first(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/once", "Wombats are mentioned here among many other animals of that land."))
        writer.put(make("https://example.com/title", "They dig. Wombats live underground.", title="Wombats"))
        writer.put(make("https://example.com/other", "Nothing of the kind."))
    assert [hit.url[20:] for hit in corpus.search("wombat", 5)] == ["title", "once"]
    scores = [hit.score for hit in corpus.search("wombat", 5)]
    assert scores == sorted(scores, reverse=True)


def test_putting_a_url_again_replaces_it(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/a", "old words"))
        writer.put(make("https://example.com/a", "newer words"))
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/a", "newest words"))
    assert corpus.count() == 1
    assert corpus.search("old", 5) == []
    assert corpus.fingerprints("docs") == {"https://example.com/a": "newest words"}


def test_documents_and_sources_can_be_removed(filled: Corpus) -> None:
    assert [(source.name, source.documents) for source in filled.sources()] == [("docs", 14), ("notes", 1)]
    with filled.writer("test") as writer:
        writer.remove("index://notes/a.md")
        writer.remove("https://never.example/")
    assert [source.name for source in filled.sources()] == ["docs"]
    with filled.writer("test") as writer:
        writer.remove_source("docs")
    assert filled.sources() == []
    assert filled.count() == 0
    assert filled.search("marsupials", 5) == []


def test_leaving_the_writer_by_an_exception_discards_what_was_not_committed(corpus: Corpus, make: Make) -> None:
    def index() -> None:
        with corpus.writer("test") as writer:
            writer.put(make("https://example.com/a"))
            writer.commit()
            writer.put(make("https://example.com/b"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index()
    assert set(corpus.fingerprints("docs")) == {"https://example.com/a"}
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/c"))
    assert corpus.count() == 2


def test_domains_filter_by_host_and_stand_for_their_subdomains(filled: Corpus) -> None:
    def hosts(**filters: list[str]) -> set[str]:
        return {hit.url.split("/")[2] for hit in filled.search("marsupials nocturnal", 10, **filters)}

    assert hosts() == {"docs.example.com", "notes"}
    assert hosts(include_domains=["example.com"]) == {"docs.example.com"}
    assert hosts(include_domains=["*.EXAMPLE.com", "nowhere.test"]) == {"docs.example.com"}
    assert hosts(include_domains=["ample.com"]) == set()
    assert hosts(include_domains=["notes"]) == {"notes"}
    assert hosts(exclude_domains=["com"]) == {"notes"}
    assert hosts(include_domains=["com", "notes"], exclude_domains=["docs.example.com"]) == {"notes"}
    unfiltered = {hit.url: hit.score for hit in filled.search("marsupials", 10)}
    filtered = {hit.url: hit.score for hit in filled.search("marsupials", 10, include_domains=["com"])}
    assert filtered == unfiltered, "a filter does not change the ranking"


@pytest.mark.parametrize(
    "query",
    [
        "title:gliders",
        "body:x AND",
        "AND OR NOT",
        '"',
        '"nectar',
        "((((",
        "nec*",
        "*",
        "?",
        "nectar^",
        "nectar~2",
        "[a TO",
        "{",
        "+-+-",
        "\\",
        "-nectar",
        "url:https://",
        "a:b:c:",
        "nectar IN [",
        "\0nectar\0",
        "\ud800",
        "𝔫𝔢𝔠𝔱𝔞𝔯",
        "é" * 3000,
        "nectar " * 2000,
        " ".join(f"word{number}" for number in range(2000)),
        "ﬁ ʼn İ ß",
        "😀",
    ],
)
def test_no_query_has_syntax(filled: Corpus, query: str) -> None:
    urls = [hit.url for hit in filled.search(query, 3)]
    assert ("index://notes/a.md" in urls) == ("nectar" in query or "gliders" in query)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60), st.lists(st.text(max_size=10), max_size=3))
def test_any_text_is_a_query(filled: Corpus, query: str, domains: list[str]) -> None:
    for hit in filled.search(query, 3, include_domains=domains):
        assert hit.url


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.characters(), max_size=200), st.text(alphabet=st.characters(), max_size=40))
def test_any_text_is_a_document(corpus: Corpus, make: Make, body: str, title: str) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/x", body, title=title))
    document = corpus.document("https://example.com/x")
    assert document is not None
    assert document.body == body.encode("utf-8", "replace").decode()


def test_words_that_stand_in_every_sentence_are_found_in_titles_when_nothing_else_is_asked(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/for", "Loops over things.", title="The for statement"))
        writer.put(make("https://example.com/if", "Tests things.", title="The if statement"))
    assert [hit.url[20:] for hit in corpus.search("for", 5)] == ["for"]
    assert [hit.url[20:] for hit in corpus.search("for loops", 5)] == ["for"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("搜索", True),
        ("全文搜索引擎", True),
        ("猫", True),
        ("擎", True),
        ("狗", False),
        ("python", True),
        ("教程", True),
        ("安装 Python 教程", True),
        ("한국어", True),
        ("カタカナ", True),
        ("ภาษาไทย", True),
    ],
)
def test_scripts_without_spaces_are_searched_too(corpus: Corpus, make: Make, query: str, found: bool) -> None:
    body = "全文搜索引擎使用Python教程来安装。我有一只猫。한국어문서입니다。カタカナの文書。นี่คือภาษาไทย。" * 2
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/zh", body, title="文档"))
        writer.put(make("https://example.com/en", "English words"))
    hits = corpus.search(query, 5)
    assert [hit.url[20:] for hit in hits] == (["zh"] if found else [])
    if found:
        assert any(part.casefold() in hits[0].snippet.casefold() for part in query.split())


def test_the_number_of_hits_is_bounded_by_what_is_asked(filled: Corpus) -> None:
    assert len(filled.search("marsupials", 4)) == 4
    assert len(filled.search("marsupials", 10)) == 10
    assert filled.search("marsupials", 0) == []
    assert filled.search("", 5) == []


def test_snippets_stay_within_their_limit(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/a", "lorem ipsum " * 100_000 + "the needle " + "dolor sit " * 100_000))
        writer.put(make("https://example.com/b", "x" * 100_000 + " needle " + "y" * 100_000))
    hits = corpus.search("needle", 5)
    assert len(hits) == 2
    assert all("needle" in hit.snippet and len(hit.snippet) <= LIMITS.snippet_chars for hit in hits)
