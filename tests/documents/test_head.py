"""What a page says about itself: author, date, site, language, from each of the places where pages say it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from webseam.documents.dates import iso_date
from webseam.documents.document import Document
from webseam.documents.read import read

WORDS = "Sphinx of black quartz, judge my vow, and do so before the evening comes. "


def page(html: str) -> Document:
    return read(html.encode(), url="https://example.com/dir/page", content_type="text/html; charset=utf-8")


def linked(*nodes: Any, tag: str = "<script type='application/ld+json'>") -> str:
    return f"{tag}{json.dumps(nodes[0] if len(nodes) == 1 else list(nodes))}</script>"


@pytest.mark.parametrize(
    ("html", "author"),
    [
        ("<meta name=author content='Ada Lovelace'>", "Ada Lovelace"),
        ("<meta name=citation_author content='A. One'><meta name=citation_author content='B. Two'>", "A. One, B. Two"),
        ("<meta property='article:author' content='https://facebook.com/ada'><meta name='DC.creator' content='Ada'>", "Ada"),
        ("<meta name=byl content='By Ada Lovelace'>", "Ada Lovelace"),
        ("<meta name=author content='@ada'>", ""),
        (f"<meta name=author content='{'x' * 500}'>", ""),
        (linked({"@type": "NewsArticle", "author": {"@type": "Person", "name": "Ada"}}), "Ada"),
        (linked({"@type": ["Article"], "author": [{"name": "Ada"}, {"name": "Bob"}, "https://x.example/"]}), "Ada, Bob"),
        (linked({"@graph": [{"@type": "Article", "author": {"@id": "a"}}, {"@type": "X", "@id": "a", "name": "Ada"}]}), "Ada"),
        (linked({"@type": "Article", "author": "Ada"}, tag="<script type='application/ld&#x2B;json'>"), "Ada"),
        (linked({"@type": "Organization", "author": "Nobody"}), ""),
        ("<h1>T</h1><p class='meta byline'>By <a href=/ada>Ada Lovelace</a></p>", "Ada Lovelace"),
        ("<h1>T</h1><div><a rel=author href=/ada>Ada</a></div>", "Ada"),
        ("<h1>T</h1><p itemprop=author>Ada</p>", "Ada"),
        ("<h1>T</h1><div class=byline><p>Ada Lovelace<p>Editor<p>42 posts</div>", "Ada Lovelace"),
        ("<h1>T</h1><p class=byline>Updated May 11, 2024 <br>by Ada", ""),
        ("<h1>T</h1><div class=byline><p>Updated January 8, 2026</p><p>Written by Ada\nLovelace</div>", "Ada Lovelace"),
        ("<h1>T</h1><p class=byline>Ada Lovelace | 4 August 1843 · 2 min read", "Ada Lovelace"),
        ("<meta name=author content=admin><h1>T</h1><p class=byline>by Ada</p>", "Ada"),
        ("<meta name=author content='(anonymous)'>", ""),
        ("<h1>T</h1><p class=byline>By Unknown</p>", ""),
        (linked({"@type": "Article", "author": [{"name": "Anonymous"}, {"name": "Ada"}]}), "Ada"),
        (f"<h1>T</h1><p>{WORDS * 8}<p class=byline>Somebody further down</p>", ""),
        ("<p class=author>Before any heading</p><h1>T</h1>", ""),
    ],
)  # fmt: skip
def test_an_author_is_found_where_there_is_one(html: str, author: str) -> None:
    assert page(f"{html}<p>{WORDS}").author == author


@pytest.mark.parametrize(
    ("html", "date"),
    [
        ("<meta property='article:published_time' content='2026-05-01T10:00:00+02:00'>", "2026-05-01T10:00:00+02:00"),
        ("<meta itemprop=datePublished content=2026-05-01>", "2026-05-01"),
        ("<meta name=DC.date.issued content=2026-05>", "2026-05"),
        ("<meta name=citation_publication_date content=2026/5/1>", "2026-05-01"),
        ("<meta property='article:modified_time' content=2026-06-01><meta name=date content=2026-05-01>", "2026-05-01"),
        (
            "<meta property='article:modified_time' content=2026-06-01><h1>T</h1><time datetime=2026-05-01>May</time>",
            "2026-05-01",
        ),
        ("<meta property='article:modified_time' content=2026-06-01>", "2026-06-01"),
        (linked({"@type": "BlogPosting", "datePublished": "2026-05-01T10:00Z"}), "2026-05-01T10:00:00Z"),
        ("<h1>T</h1><p>On <time datetime='2026-05-01 10:00'>the first of May</time>", "2026-05-01T10:00:00"),
        ("<h1>T</h1><time>May 1, 2026</time>", "2026-05-01"),
        ("<meta name=date content='2026-02-30'>", ""),
        ("<meta name=date content='yesterday'>", ""),
        ("<h1>News</h1><article><h2><a href=/1>One</a></h2><time datetime=2026-05-01>May</time></article>", ""),
        ("<h1>News</h1><h3><a href=/1>One</a></h3><p><time datetime=2026-05-01>May</time></p>", ""),
        ("<h1>News</h1><ul><li><time datetime=2026-05-01>May</time> <a href=/1>The lamp of the harbour is lit</a></ul>", ""),
        ("<h1>T</h1><ul><li><a href=/ada>Ada Lovelace</a><li><time datetime=2026-05-01>May</time></ul>", "2026-05-01"),
        ("<h1>T</h1><article><h2>Standfirst</h2><time datetime=2026-05-01>May</time></article>", "2026-05-01"),
        ("<h1>Site</h1><h2><a href=/dir/page>Title</a></h2><time datetime=2026-05-01>May</time>", "2026-05-01"),
        ("<time datetime=2026-05-01>of the menu</time><h1>T</h1>", ""),
    ],
)
def test_a_date_is_found_where_there_is_one(html: str, date: str) -> None:
    assert page(f"{html}<p>{WORDS}").date == date


def test_site_and_language_come_from_data_too() -> None:
    document = page(
        linked({"@type": "WebSite", "name": "The Lamp"}, {"@type": "Article", "inLanguage": "de-DE"}) + f"<p>{WORDS}"
    )
    assert (document.site, document.language) == ("The Lamp", "de-DE")
    document = page(f"<html lang=fr><meta property=og:site_name content='Le  Phare'><p>{WORDS}")
    assert (document.site, document.language) == ("Le Phare", "fr")


def test_what_a_head_says_is_cut_and_holds_nothing_invisible() -> None:
    document = page(f"<meta name=author content='A\u200bda\u202e'><meta property=og:site_name content='{'site ' * 100}'><p>x")
    assert document.author == "Ada"
    assert len(document.site) <= 100


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2026-05-01T10:00:00.123Z", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00+0200", "2026-05-01T10:00:00+02:00"),
        ("2026-05-01 10:00:00 UTC", "2026-05-01T10:00:00Z"),
        ("20260501", "2026-05-01"),
        ("20260501T100000Z", "2026-05-01T10:00:00Z"),
        ("Fri, 01 May 2026 10:00:00 GMT", "2026-05-01"),
        ("May 1st, 2026", "2026-05-01"),
        ("1. may 2026", "2026-05-01"),
        ("Sept. 9, 2026", "2026-09-09"),
        ("2026年5月1日 10:00", "2026-05-01"),
        ("2026", "2026"),
        ("0000-01-01", ""),
        ("2026-13-01", ""),
        ("2026-05-01T25:00", ""),
        ("01/05/2026", ""),
        ("Mayhem 1, 2026", ""),
        ("1714521600", ""),
        ("\u0662\u0660\u0662\u0666-05-01", ""),
        ("", ""),
    ],
)
def test_dates_are_iso_8601_or_nothing(written: str, date: str) -> None:
    assert iso_date(written) == date


@pytest.mark.parametrize(
    ("html", "date", "changed"),
    [
        (linked({"@type": "Article", "datePublished": "2001-10-01", "dateModified": "2026-05-01"}), "2001-10-01", "2026-05-01"),
        (
            "<meta name=date content=2026-05-01><meta property='article:modified_time' content=2026-06-01>",
            "2026-05-01",
            "2026-06-01",
        ),
        (
            linked({"@type": "Article", "datePublished": "2026-05-01T08:00Z", "dateModified": "2026-05-01"}),
            "2026-05-01T08:00:00Z",
            "",
        ),
        (linked({"@type": "Article", "datePublished": "2026-05-02", "dateModified": "2026-05-01"}), "2026-05-02", ""),
        (linked({"@type": "Article", "dateModified": "2026-05-01"}), "2026-05-01", ""),
        (linked({"@type": "Article", "datePublished": "2026-05-02", "dateModified": "soon"}), "2026-05-02", ""),
    ],
)
def test_a_later_change_is_said_beside_the_date(html: str, date: str, changed: str) -> None:
    document = page(f"{html}<p>{WORDS}")
    assert (document.date, document.changed) == (date, changed)


@pytest.mark.parametrize(
    ("tab", "short", "site", "title"),
    [
        ("Ferries resume - The Tide Gazette", "Ferries resume", "The Tide Gazette", "Ferries resume"),
        ("Science : NPR", "Science", "NPR", "Science"),
        ("Ferries resume after the strike | Gazette", "Ferries resume after the strike", "", "Ferries resume after the strike"),
        ("Tides – a guide", "Tides", "The Tide Gazette", "Tides – a guide"),
        ("Gazette - Ferries resume after the strike", "Gazette", "Gazette", "Gazette - Ferries resume after the strike"),
        ("Well-being - Gazette", "Well", "Gazette", "Well-being - Gazette"),
        ("Ferries resume - Gazette", "Something else", "Gazette", "Ferries resume - Gazette"),
        ("Ferries resume - Gazette", "", "Gazette", "Ferries resume - Gazette"),
    ],
)
def test_a_title_is_without_its_site_where_the_page_says_how(tab: str, short: str, site: str, title: str) -> None:
    html = f"<title>{tab}</title><meta property=og:title content='{short}'><meta property=og:site_name content='{site}'>"
    assert page(f"{html}<p>{WORDS}").title == title


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("今天天气很好，我们去海边看灯塔，晚上再回来吃饭。", "zh"),
        ("今天天气很好，我们去海边看灯塔，晚上再回来吃饭。" * 4 + "の", "zh"),
        ("今天天气很好，我们去海边看灯塔，晚上再回来吃饭。" * 2 + "これは", ""),
        ("今日は天気がいいので、灯台を見に海へ行きました。夜に帰ります。", "ja"),
        ("오늘은 날씨가 좋아서 등대를 보러 바다에 갔습니다. 밤에 돌아옵니다.", "ko"),
        ("Σήμερα ο καιρός είναι καλός και πάμε στη θάλασσα.", "el"),
        ("היום מזג האוויר יפה ואנחנו הולכים לים לראות את המגדלור.", "he"),
        ("วันนี้อากาศดี เราไปทะเลเพื่อดูประภาคาร แล้วกลับมาตอนค่ำ", "th"),
        ("Այսօր եղանակը լավ է, և մենք գնում ենք ծով:", "hy"),
        ("დღეს კარგი ამინდია და ჩვენ ზღვაზე მივდივართ.", "ka"),
        ("Сегодня хорошая погода, и мы идём к морю.", ""),
        ("Aujourd'hui il fait beau, et nous allons à la mer voir le phare où brûle une lampe.", ""),
        ("灯塔", ""),
        (f"{WORDS} 今天天气很好，我们去海边看灯塔，晚上再回来吃饭。", ""),
    ],
)  # fmt: skip
def test_a_language_that_is_not_said_is_told_by_its_letters(text: str, language: str) -> None:
    assert page(f"<p>{text}").language == language
    assert page(f"<html lang=pt-BR><p>{text}").language == "pt-BR"
