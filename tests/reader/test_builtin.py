"""The built-in web_fetch against a real server: a page, or an error whose first line says what would help."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
from typing import TYPE_CHECKING

import pytest

from webseam.call import LOCAL, Call
from webseam.config import LIMITS
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.egress.rooms import ROOMS
from webseam.errors import DocumentError, DoorError, WorkerError
from webseam.reader.builtin import BuiltinReader
from webseam.reader.facts import FACTS
from webseam.reader.refusals import place
from webseam.seam.contract import FetchProvider, Page
from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reader.conftest import Site

    Fetch = Callable[..., tuple[Page | BaseException, Call]]

HTML = "text/html; charset=utf-8"


def page(found: Page | BaseException) -> Page:
    assert isinstance(found, Page), found
    return found


def test_a_page_comes_as_markdown_with_its_particulars(site: Site, fetch: Fetch) -> None:
    url = site.says("/dir/page", "<title>The title</title><h1>Héllo</h1><p><a href=other>Other</a>", content_type=HTML)
    found, call = fetch(url)
    read = page(found)
    assert read.content == f"# Héllo\n\n[Other]({site.url}/dir/other)"
    assert (read.url, read.final_url, read.title) == (url, url, "The title")
    assert read.content_type == "text/html"
    assert not read.truncated
    assert dt.datetime.fromisoformat(read.retrieved_at).tzinfo is not None
    assert read.retrieved_at.endswith("Z")
    steps = {step.name: step for step in call.steps}
    assert steps["document"].detail["content_type"] == "text/html"
    assert steps["document"].outcome == "ok"
    assert "http" in steps


def test_a_site_is_asked_for_markdown_first_and_taken_at_its_word(site: Site, fetch: Fetch) -> None:
    url = site.says("/", "# Title\n\n<b>as written</b>", content_type="text/markdown")
    read = page(fetch(url)[0])
    assert read.content == "# Title\n\n<b>as written</b>"
    assert read.title == "Title"
    accept = site.asked[0][1]["accept"]
    assert accept.startswith("text/markdown, text/html")


def test_what_a_page_says_of_itself_comes_with_it(site: Site, fetch: Fetch) -> None:
    html = (
        "<html lang=de><meta name=author content=Ada><meta property=og:site_name content='The Lamp'>"
        "<meta property=article:published_time content=2026-05-01><link rel=canonical href=/c>"
        "<link rel=next href=/2><p>words"
    )
    read = page(fetch(site.says("/", html, content_type=HTML))[0])
    assert (read.author, read.date, read.language, read.site) == ("Ada", "2026-05-01", "de", "The Lamp")
    assert (read.canonical, read.next_page) == (f"{site.url}/c", f"{site.url}/2")


def test_the_whole_page_is_given_to_who_asks_for_it(site: Site, fetch: Fetch) -> None:
    words = "Sphinx of black quartz, judge my vow. " * 20
    url = site.says(
        "/", f"<nav><a href=/m>Menu</a></nav><main><h1>T</h1><p>{words}</main><p hidden>Secret</p>", content_type=HTML
    )
    assert "Menu" not in page(fetch(url)[0]).content
    whole = page(fetch(url, call=Call(whole=True))[0])
    assert f"[Menu]({site.url}/m)" in whole.content
    assert words.strip() in whole.content
    assert "Secret" not in whole.content


def test_links_are_relative_to_where_the_page_was_found(site: Site, fetch: Fetch) -> None:
    site.says("/new/place", "<a href=x>x</a>", content_type=HTML)
    start = site.says("/old", status=302, location="/new/place")
    read = page(fetch(start)[0])
    assert read.url == start
    assert read.final_url == site.url + "/new/place"
    assert f"({site.url}/new/x)" in read.content


def test_compressed_pages_are_read(site: Site, fetch: Fetch) -> None:
    url = site.says("/", gzip.compress(b"<p>words"), content_type=HTML, content_encoding="gzip")
    assert page(fetch(url)[0]).content == "words"


def test_a_guessed_encoding_and_a_refresh_are_said(site: Site, fetch: Fetch) -> None:
    body = "<meta http-equiv=refresh content='0;url=/next'><p>Это обычный русский текст без объявленной кодировки".encode(
        "cp1251"
    )
    read = page(fetch(site.says("/", body, content_type="text/html"))[0])
    assert "Это обычный русский текст" in read.content
    assert "windows-1251" in read.notes[0]
    assert read.content.startswith(f"<{site.url}/next>")
    assert f"at {site.url} (meta refresh)" in read.notes[1]
    assert [path for path, _ in site.asked] == ["/"]


def test_a_partial_reply_is_said(site: Site, fetch: Fetch) -> None:
    read = page(fetch(site.says("/", "<p>half", status=206, content_type=HTML))[0])
    assert "only a part" in read.notes[-1]


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (204, "http_status", "has no content"),
        (300, "http_status", "several versions"),
        (304, "http_status", "nothing has changed"),
        (307, "http_status", "without saying where"),
        (400, "http_status", "check its spelling"),
        (401, "http_status", "wants a sign-in, which this reader cannot do"),
        (402, "http_status", "wants to be paid"),
        (403, "http_status", "refuses this reader"),
        (404, "http_status", "has no such page: check the address, or search for the page"),
        (410, "http_status", "gone for good"),
        (418, "http_status", "refuses the request"),
        (429, "rate_limited", "limits how often it may be asked: try again later"),
        (451, "http_status", "legal reasons"),
        (500, "http_status", "a fault of its own: try again later"),
        (503, "http_status", "overloaded or being worked on: try again later"),
        (599, "http_status", "a fault of its own"),
        (999, "http_status", "not for pages"),
    ],
)
def test_a_reply_without_a_page_says_what_would_help(site: Site, fetch: Fetch, status: int, kind: str, words: str) -> None:
    url = site.says("/page", "<p>An error page", status=status, content_type=HTML)
    error, call = fetch(url + "?token=hush")
    assert isinstance(error, DoorError)
    assert (error.kind, error.status) == (kind, status)
    first = error.message.splitlines()[0]
    assert words in first
    assert f"status {status}" in first
    assert first.startswith(f"{site.url}/page ")
    assert "hush" not in first
    assert [step.name for step in call.steps] == ["http"]


@pytest.mark.parametrize("status", [429, 503])
def test_how_long_to_wait_is_said(site: Site, fetch: Fetch, status: int) -> None:
    error, _ = fetch(site.says("/", status=status, retry_after="120"))
    assert isinstance(error, DoorError)
    assert (error.kind, error.retry_after) == ("rate_limited", 120.0)
    assert "try again in 120 s" in error.message


@pytest.mark.parametrize(
    "headers_and_body",
    [({"cf-mitigated": "challenge"}, b"<p>Just a moment"), ({}, b"<script src=/cdn-cgi/challenge-platform/x>")],
)
def test_a_browser_check_is_named(site: Site, fetch: Fetch, headers_and_body: tuple[dict[str, str], bytes]) -> None:
    headers, body = headers_and_body
    error, _ = fetch(site.says("/", body, status=403, content_type=HTML, **headers))
    assert isinstance(error, DoorError)
    assert "check for robots" in error.message


def test_an_empty_body_is_an_error(site: Site, fetch: Fetch) -> None:
    error, _ = fetch(site.says("/", b"", content_type=HTML))
    assert isinstance(error, DoorError)
    assert "nothing at all" in error.message


def test_what_is_not_text_is_refused_with_its_type_and_address(site: Site, fetch: Fetch) -> None:
    error, call = fetch(site.says("/paper.ps", b"%!PS-Adobe...", content_type="application/postscript"))
    assert isinstance(error, DocumentError)
    assert error.kind == "unsupported_type"
    assert error.message.startswith(f"{site.url}/paper.ps: This is a PostScript document (application/postscript, 13 bytes)")
    assert call.steps[-1].outcome == "unsupported_type"


def test_a_page_without_text_is_an_error(site: Site, fetch: Fetch) -> None:
    error, _ = fetch(site.says("/", "<div id=root></div>", content_type=HTML))
    assert isinstance(error, DocumentError)
    assert error.kind == "empty"


def test_reading_ends_with_the_call(site: Site, fetch: Fetch) -> None:
    slow = b"<a href=/x>y</a> " * 300_000  # a second of work
    error, call = fetch(site.says("/", slow, content_type=HTML), call=Call(seconds=0.2))
    assert isinstance(error, WorkerError | DoorError)
    assert error.kind == "timeout"
    assert call.steps[-1].outcome == "timeout"


def test_a_private_address_is_the_doors_to_refuse(site: Site, fetch: Fetch) -> None:
    error, _ = fetch("http://127.0.0.1:9/")
    assert isinstance(error, DoorError)
    assert error.kind == "blocked_address"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pw@e.com/a?b=c#d", "https://e.com/a"),
        ("https://e.com/" + "a" * 5_000, "https://e.com/" + "a" * 186),
        ("http://[bad", "The address"),
    ],
)
def test_an_address_in_a_sentence_has_no_secrets_and_is_short(url: str, shown: str) -> None:
    assert place(url) == shown


def test_the_reader_is_a_fetch_provider_that_asks_nobody_else() -> None:
    from webseam.reader.builtin import BuiltinReader

    async def check() -> bool:
        call = Call()
        egress = Egress()
        return isinstance(BuiltinReader(egress.door(call, "reading"), WorkerPool(), call), FetchProvider)

    assert asyncio.run(check())
    assert FACTS.name == BuiltinReader.name == "builtin"
    assert FACTS.reading
    assert not FACTS.third_party


def test_a_large_body_takes_its_room_until_it_is_read_and_gives_it_back_whatever_happens(site: Site) -> None:
    large = LIMITS.body_small_bytes + 1
    good = site.says("/good", b"words " * (large // 6 + 1), content_type="text/plain")
    bad = site.says("/bad", b"\x00\x01" * large, content_type="application/octet-stream")
    missing = site.says("/missing", b"x" * large, status=404)
    allowance = Allowance(LOCAL, "127.0.0.1", site.port, "reading")
    seen: list[int] = []
    doors: list[Egress] = []

    class Watched(WorkerPool):
        async def run(self, *args: object, **kwargs: object) -> object:
            seen.append(doors[-1].rooms.taken)
            return await super().run(*args, **kwargs)  # type: ignore[arg-type]

    async def main() -> list[Page | BaseException]:
        egress = Egress(allowances=lambda _: [allowance])
        doors.append(egress)
        async with Watched(processes=1) as pool:
            readers = [
                (BuiltinReader(egress.door(call := Call(), "reading"), pool, call), url) for url in [good, bad, missing] * 8
            ]
            found = await asyncio.gather(*(reader.fetch(url) for reader, url in readers), return_exceptions=True)
        await egress.close()
        return list(found)

    found = asyncio.run(main())
    assert sum(isinstance(one, Page) for one in found) == 8
    assert seen
    assert min(seen) >= 1
    assert max(seen) <= ROOMS
    assert doors[0].rooms.most_taken <= ROOMS
    assert doors[0].rooms.taken == 0
