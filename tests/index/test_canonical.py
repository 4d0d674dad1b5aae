"""One spelling a page, and the edge of a crawl."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.egress.urls import parse
from webseam.index.canonical import Scope, canonical_url, may_be_page, path_of, same_page


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://Example.COM:80", "http://example.com/"),
        ("https://example.com:443/a/./b/../c#frag", "https://example.com/a/c"),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://e.com/?utm_source=a&b=2&UTM_Medium=c&a=1&fbclid=x&gclid=y", "https://e.com/?b=2&a=1"),
        ("https://e.com/?utm_source=a", "https://e.com/"),
        ("https://e.com/?a=%26&&b", "https://e.com/?a=%26&&b"),
        ("https://e.com/?", "https://e.com/"),
        ("https://user:secret@e.com/", ""),
        ("ftp://e.com/", ""),
        ("mailto:x@e.com", ""),
        ("not a url", ""),
        ("https://", ""),
        ("https://e.com/" + "a" * 10_000, ""),
        ("https://e.com/" + "ä" * 4_000, ""),
        ("\ud800", ""),
    ],
)
def test_a_url_has_one_spelling(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_none_and_spelling_it_again_changes_nothing(text: str) -> None:
    for url in (canonical_url("https://example.com/" + text), canonical_url(text, "https://example.com/a/b?c")):
        if url:
            assert canonical_url(url) == url
            assert path_of(url).startswith("/")


@pytest.mark.parametrize("url", ["http://example.com", "https://example.com./x?y=1#z", "https://bücher.example/ä"])
def test_our_spelling_is_the_one_that_reading_uses(url: str) -> None:
    assert canonical_url(url) == parse(url).href


@pytest.mark.parametrize(
    ("path", "is_page"),
    [
        ("/", True),
        ("/a", True),
        ("/a.html", True),
        ("/a.php?x=y.png", True),
        ("/v1.2", True),
        ("/node.js/docs", True),
        ("/.png", True),
        ("/a.png", False),
        ("/b/a.EXE?download=1", False),
        ("/b/a.PDF?download=1", True),
        ("/a.tar.gz", False),
    ],
)
def test_files_that_are_no_pages_are_told_by_their_ending(path: str, is_page: bool) -> None:
    assert may_be_page(f"https://example.com{path}") is is_page


def test_a_page_is_the_same_with_another_query_slash_or_index() -> None:
    assert same_page("https://e.com/a/", "https://e.com/a")
    assert same_page("https://e.com/a/index.html", "https://e.com/a/?x=1")
    assert not same_page("https://e.com/a", "https://e.com/b")
    assert not same_page("https://e.com/a", "https://f.com/a")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://e.com/docs/a", "https://e.com/docs/a"),
        ("http://e.com/docs/a", "https://e.com/docs/a"),
        ("https://e.com/docs", "https://e.com/docs"),
        ("https://e.com/docs/../blog", ""),
        ("https://e.com/docsother", ""),
        ("https://e.com:8443/docs/a", ""),
        ("https://sub.e.com/docs/a", ""),
        ("//e.com/docs/b", "https://e.com/docs/b"),
        ("c", "https://e.com/docs/c"),
    ],
)
def test_a_crawl_stays_in_its_directory(url: str, place: str) -> None:
    scope = Scope.of("https://e.com/docs/intro.html")
    assert scope.directory == "/docs/"
    assert scope.place(url, "https://e.com/docs/x") == place
