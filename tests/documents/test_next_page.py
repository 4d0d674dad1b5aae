"""Where a listing goes on."""

from __future__ import annotations

import pytest

from webseam.documents.read import read

HERE = "https://example.com/list?page=2"
WORDS = "Sphinx of black quartz, judge my vow, and do so before the evening comes. "


def next_page(html: str, url: str = HERE) -> str:
    return read(f"<title>T</title>{html}<p>{WORDS * 5}".encode(), url=url, content_type="text/html; charset=utf-8").next_page


@pytest.mark.parametrize(
    "html",
    [
        "<link rel=next href='?page=3'>",
        "<link rel='nofollow NEXT' href='/list?page=3#top'>",
        "<a rel=next href='?page=3'>Next</a>",
        "<a rel=next href='?page=3'>Next</a><p><a rel=next href='/list?page=3'>»</a></p>",
        "<a rel=next href='?page=3' aria-label='Next page'><img src=arrow.png alt=''></a>",
        "<nav class=pagination><a href='?page=1'>Previous</a><a href='?page=1'>1</a><a href='?page=3'>Next</a></nav>",
        "<ul class='pager'><li><a href='?page=3'><span>Older posts</span> →</a></li></ul>",
        "<div class=nav-links><div><span><a href='?page=3'>next  page ›</a></span></div></div>",
        "<div aria-label='Pagination'><a href='?page=1'>‹</a><a href='?page=3'>›</a><a href='?page=9'>»</a></div>",
        f"<nav class=pagination><a href='?page=3'>{' ' * 60}Next page\n{' ' * 60}</a></nav>",
        "<a rel=next href='?page=3'><span class=visually-hidden>Next page</span><span aria-hidden=true>Next ›</span></a>",
        "<a href='?page=3'>Next page</a>",
        "<a href='?page=3'>下一页</a>",
        "<div id=paging><a href='?page=1'>上一页</a><a href='?page=3'>下一页</a></div>",
        "<div class=ipsPagination><a href='?page=3' title='Next page'><i class=icon></i></a></div>",
        "<base href='https://example.com/list'><nav class=pagination><a href='?page=3'>Weiter</a></nav>",
    ],
)
def test_the_next_page_is_named(html: str) -> None:
    assert next_page(html) == "https://example.com/list?page=3"


@pytest.mark.parametrize(
    "html",
    [
        "<a href='?page=3'>Next</a>",  # of what?
        "<nav class=pagination><a href='?page=3'>3</a><a href='?page=4'>4</a></nav>",
        "<nav class=pagination><a href='?page=3'>Next</a><a href='?page=4'>Next</a></nav>",
        "<a rel=next href='?page=3'>Next</a><a rel=next href='?page=4'>Next</a>",
        "<div class='post-navigation'><a rel=next href='/muffins'>Gluten-free muffins</a></div>",
        "<div class=pagination><a href='#slide-2'>Next</a></div>",
        "<link rel=next href='?page=2'>",
        "<link rel=next href='https://other.example/'>",
        "<link rel=next href='javascript:next()'>",
        "<link rel=next>",
        f"<nav class=pagination><a href='?page=3'>Next {WORDS}</a></nav>",
    ],
)
def test_what_is_no_next_page_is_not_named(html: str) -> None:
    assert next_page(html) == ""


def test_what_the_head_says_counts_first() -> None:
    html = "<link rel=next href='?page=3'><nav class=pagination><a rel=next href='?page=8'>Next</a></nav>"
    assert next_page(html) == "https://example.com/list?page=3"


def test_an_address_is_made_safe() -> None:
    assert next_page("<link rel=next href='/a b\u202e<c>'>") == "https://example.com/a%20b%E2%80%AE%3Cc%3E"
    assert next_page(f"<link rel=next href='/{'a' * 20_000}'>") == ""
