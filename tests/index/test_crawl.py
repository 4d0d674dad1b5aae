"""Walking a site through the real door."""

from __future__ import annotations

import asyncio
import gzip
import pathlib
from typing import TYPE_CHECKING, Any

import pytest

from webseam.errors import CorpusError, DoorError
from webseam.index.canonical import canonical_url
from webseam.index.crawl import Crawl, CrawledPage, CrawlFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[Callable[..., Any]], Any]


class Result:
    def __init__(self, crawl: Crawl, found: list[CrawledPage | CrawlFailure], site: Any) -> None:
        self.crawl = crawl
        self.pages = [page for page in found if isinstance(page, CrawledPage)]
        self.paths = [page.url.removeprefix(site.url) for page in self.pages]
        self.failures = {page.url.removeprefix(site.url): page.why for page in found if isinstance(page, CrawlFailure)}


@pytest.fixture
def crawled(site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any) -> Callable[..., Result]:
    """Crawls the site from a path on."""

    def crawled(start: str = "/", **options: Any) -> Result:
        async def main(door_for: Any) -> Result:
            crawl = Crawl(
                canonical_url(site.url + start), door_for=door_for, parse=parse, parse_sitemap=parse_sitemap, **options
            )
            return Result(crawl, [page async for page in crawl.pages()], site)

        result: Result = through_the_door(main)
        return result

    return crawled


def test_links_are_followed_breadth_first_on_the_same_origin(site: Any, crawled: Any) -> None:
    site.page("/", links=("/a", "/b", "https://elsewhere.example/", f"http://localhost:{site.port}/a", "mailto:x@y.z"))
    site.page("/a", links=("/c", "/"))
    site.page("/b", links=("/a#part", "c?"))
    site.page("/c")
    result = crawled()
    assert result.paths == ["/", "/a", "/b", "/c"]
    assert result.pages[0].title == "/"
    assert "something of its own about a" in result.pages[1].content
    assert result.crawl.complete
    assert not result.failures
    assert len(site.asked) == len(set(site.asked)), "nothing is asked for twice"


def test_the_order_does_not_depend_on_which_page_is_fast(
    site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any
) -> None:
    site.page("/", links=tuple(f"/{number}" for number in range(12)))
    for number in range(12):
        site.page(f"/{number}", links=(f"/below{number}",))
        site.page(f"/below{number}")

    async def slow_parse(data: bytes, url: str, content_type: str) -> Any:
        if url.endswith(("3", "7")):
            for _ in range(20):
                await asyncio.sleep(0)
        return await parse(data, url, content_type)

    def order(parsing: Any) -> list[str]:
        async def main(door_for: Any) -> list[str]:
            crawl = Crawl(site.url + "/", door_for=door_for, parse=parsing, parse_sitemap=parse_sitemap, limit=9)
            return [page.url async for page in crawl.pages()]

        found: list[str] = through_the_door(main)
        return found

    assert order(parse) == order(slow_parse)


def test_only_the_directory_of_the_start_is_crawled(site: Any, crawled: Any) -> None:
    site.page("/docs/intro.html", links=("/docs/more", "/blog/", "/docs/deep/er", "/docs"))
    for path in ("/docs/more", "/docs/deep/er", "/docs", "/blog/"):
        site.page(path)
    assert crawled("/docs/intro.html").paths == ["/docs/intro.html", "/docs/more", "/docs/deep/er", "/docs"]


def test_a_start_that_redirects_sets_the_scope_where_it_leads(site: Any, crawled: Any) -> None:
    site.put("/docs", status=301, location="/docs/")
    site.page("/docs/", links=("/docs/a", "/other"))
    site.page("/docs/a")
    site.page("/other")
    assert crawled("/docs").paths == ["/docs/", "/docs/a"]


def test_the_whole_site_is_crawled_from_its_root_even_when_that_redirects(site: Any, crawled: Any) -> None:
    site.put("/", status=302, location="/en/home")
    site.page("/en/home", links=("/about",))
    site.page("/about")
    assert crawled("/").paths == ["/en/home", "/about"]


def test_sitemaps_named_by_robots_come_before_links(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", f"User-agent: *\nAllow: /\nSitemap: {site.url}/sitemap-main.xml\n", content_type="text/plain")
    site.sitemap("/sitemap-main.xml", f"{site.url}/sitemap-pages.xml", kind="sitemapindex")
    site.sitemap("/sitemap-pages.xml", f"{site.url}/hidden", f"{site.url}/also", "https://elsewhere.example/x")
    site.page("/", links=("/linked",))
    for path in ("/hidden", "/also", "/linked"):
        site.page(path)
    assert crawled().paths == ["/", "/hidden", "/also", "/linked"]
    assert "/sitemap.xml" not in site.asked


def test_sitemap_xml_is_tried_when_robots_names_none(site: Any, crawled: Any) -> None:
    site.sitemap("/sitemap.xml", f"{site.url}/hidden")
    site.page("/")
    site.page("/hidden")
    assert crawled().paths == ["/", "/hidden"]


def test_a_sitemap_that_cannot_be_read_makes_the_crawl_incomplete_and_no_more(site: Any, crawled: Any) -> None:
    site.put("/sitemap.xml", status=500)
    site.page("/")
    result = crawled()
    assert result.paths == ["/"]
    assert not result.crawl.complete
    assert "sitemap.xml could not be read" in result.crawl.why_incomplete


def test_robots_txt_is_obeyed(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    site.page("/", links=("/private/a", "/public"))
    site.page("/private/a")
    site.page("/public")
    result = crawled()
    assert result.paths == ["/", "/public"]
    assert "/private/a" not in site.asked
    assert result.crawl.complete
    with pytest.raises(CorpusError, match=r"robots\.txt") as caught:
        crawled("/private/a")
    assert caught.value.kind == "no_source"


def test_a_redirect_into_what_robots_txt_forbids_is_never_asked_for(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    site.page("/", links=("/door",))
    site.put("/door", status=302, location="/hall")
    site.put("/hall", status=301, location="/private/a")
    site.page("/private/a")
    result = crawled(known={site.url + "/door"})
    assert result.paths == ["/"]
    assert site.pages_asked == ["/", "/door", "/hall"]
    assert result.crawl.left_out == {"refused by robots.txt": 1}
    assert not result.crawl.gone, "that it may not be read does not say that it is gone"


def test_a_start_that_redirects_into_what_robots_txt_forbids_is_no_beginning(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    site.put("/", status=302, location="/private/a")
    site.page("/private/a")
    with pytest.raises(CorpusError, match="webseam set index robots warn") as caught:
        crawled()
    assert caught.value.kind == "no_source"
    assert site.pages_asked == ["/"]


def test_a_sitemap_that_robots_txt_forbids_is_never_asked_for(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /*.xml$\n", content_type="text/plain")
    site.sitemap("/sitemap.xml", f"{site.url}/hidden")
    site.page("/")
    result = crawled()
    assert result.paths == ["/"]
    assert result.crawl.complete
    assert site.asked == ["/robots.txt", "/"]


def test_with_a_warning_the_crawl_reads_what_robots_txt_forbids_and_counts_it(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\nCrawl-delay: 7\n", content_type="text/plain")
    site.page("/", links=("/private/a", "/door"))
    site.put("/door", status=302, location="/private/b")
    site.page("/private/a")
    site.page("/private/b")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    result = crawled(robots="warn", sleep=sleep)
    assert result.paths == ["/", "/private/a", "/private/b"]
    assert result.crawl.against_robots == 2
    assert slept == [7.0, 7.0], "its delay is kept all the same"


def test_a_crawl_that_ignores_robots_txt_does_not_ask_for_it(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
    site.page("/", links=("/a",))
    site.page("/a")
    result = crawled(robots="ignore")
    assert result.paths == ["/", "/a"]
    assert "/robots.txt" not in site.asked
    assert result.crawl.against_robots == 0


def test_the_crawl_delay_of_robots_txt_is_kept_between_requests(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nCrawl-delay: 7\n", content_type="text/plain")
    site.page("/", links=("/a", "/b", "/c"))
    for path in "abc":
        site.page(f"/{path}")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    assert len(crawled(sleep=sleep).pages) == 4
    assert slept == [7.0, 7.0, 7.0]


def test_a_site_that_says_later_is_asked_again_later(site: Any, crawled: Any) -> None:
    site.page("/", links=("/busy", "/down", "/a"))
    site.put("/busy", status=429, retry_after="12")
    site.put("/down", status=503)
    site.page("/a")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if seconds == 12:
            site.now += 12
            site.page("/busy")

    result = crawled(sleep=sleep, concurrency=1)
    assert result.paths == ["/", "/busy", "/a"]
    assert slept == [12.0, 1.0, 2.0], "a Retry-After is waited for, and without one it is longer each time"
    assert site.pages_asked == ["/", "/busy", "/busy", "/down", "/down", "/down", "/a"]
    assert result.failures == {"/down": "it answered with status 503"}
    assert not result.crawl.complete


def test_while_one_page_waits_for_a_retry_after_the_others_wait_too(site: Any, crawled: Any) -> None:
    site.page("/", links=("/busy", "/down"))
    site.put("/busy", status=429, retry_after="12")
    site.put("/down", status=503)
    waits: list[float] = []

    async def until(true: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not true():
                await asyncio.sleep(0.001)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if seconds == 1:  # /down, which comes again before the site's time is over
            await until(lambda: 12 in waits)
            site.page("/down")
        elif waits.count(12) == 1:  # /busy itself
            await until(lambda: waits.count(12) == 2)
            assert site.pages_asked.count("/down") == 1, "the door was closed to it"
            site.page("/busy")
            site.now += 12
        else:
            await until(lambda: site.now == 12)

    result = crawled(sleep=sleep)
    assert result.paths == ["/", "/busy", "/down"]
    assert sorted(waits) == [1, 12, 12]
    assert result.crawl.complete


def test_a_site_that_wants_to_be_left_alone_for_long_ends_the_crawl(site: Any, crawled: Any) -> None:
    site.page("/", links=tuple(f"/{number}" for number in range(50)))
    for number in range(50):
        site.page(f"/{number}")
    site.put("/3", status=503, retry_after="100000")
    result = crawled(concurrency=1)
    assert result.paths == ["/", "/0", "/1", "/2"]
    assert site.pages_asked == ["/", "/0", "/1", "/2", "/3"], "and nothing is asked after that"
    assert result.failures["/3"] == "it answered with status 503"
    assert result.failures["/4"].startswith("127.0.0.1 asked to be left alone for another 3600 s")
    assert len(result.failures) == 2
    assert not result.crawl.complete


def test_one_page_has_one_spelling(site: Any, crawled: Any) -> None:
    site.page("/", links=("/a?utm_source=x&id=1", "/a?id=1#frag", "/a?fbclid=1&id=1", "/x/../a?id=1", "/a?id=2"))
    site.page("/a?id=1")
    site.page("/a?id=2")
    result = crawled()
    assert result.paths == ["/", "/a?id=1", "/a?id=2"]
    assert site.pages_asked == ["/", "/a?id=1", "/a?id=2"]


def test_copies_of_a_page_are_indexed_once(site: Any, crawled: Any) -> None:
    site.page("/", links=("/first", "/copy"))
    site.page("/first", "The very same text.", title="Same")
    site.page("/copy", "The very same text.", title="Same")
    result = crawled(known={site.url + "/copy"})
    assert result.paths == ["/", "/first"]
    assert result.crawl.gone == {site.url + "/copy"}
    assert result.crawl.complete


def test_a_canonical_address_of_the_same_page_is_used(site: Any, crawled: Any) -> None:
    canonical = '<link rel="canonical" href="{}">'
    site.page("/", links=("/guide/index.html", "/list?sort=up", "/wrong"))
    site.page("/guide/index.html", head=canonical.format("/guide/"))
    site.page("/list?sort=up", head=canonical.format("/list"))
    site.page("/wrong", head=canonical.format("/"))
    assert crawled().paths == ["/", "/guide/", "/list", "/wrong"]


def test_pages_that_do_not_want_to_be_indexed_or_followed_are_obeyed(site: Any, crawled: Any) -> None:
    robots = '<meta name="robots" content="{}">'
    site.page("/", links=("/noindex", "/nofollow", "/none", "/header", "/other-bot"))
    site.page("/noindex", links=("/from-noindex",), head=robots.format("noindex"))
    site.page("/nofollow", links=("/from-nofollow",), head=robots.format("NOFOLLOW"))
    site.page("/none", links=("/from-none",), head=robots.format("none"))
    site.page("/header", links=("/from-header",))
    site.answers["/header"].headers["X-Robots-Tag"] = "noindex, nofollow"
    site.page("/other-bot")
    site.answers["/other-bot"].headers["X-Robots-Tag"] = "otherbot: noindex"
    for path in ("/from-noindex", "/from-nofollow", "/from-none", "/from-header"):
        site.page(path)
    assert crawled().paths == ["/", "/nofollow", "/other-bot", "/from-noindex"]


def test_what_is_no_page_is_passed_over(site: Any, crawled: Any) -> None:
    site.page("/", links=("/setup.exe", "/logo.png", "/data", "/v1.2", "/page.html", "/missing"))
    site.put("/data", b"\0\1\2" * 100, content_type="application/octet-stream")
    site.page("/v1.2")
    site.page("/page.html")
    result = crawled()
    assert result.paths == ["/", "/v1.2", "/page.html"]
    assert not result.failures
    assert "/setup.exe" not in site.asked
    assert "/logo.png" not in site.asked


def test_documents_that_are_linked_are_pages_too(site: Any, crawled: Any) -> None:
    site.page("/", links=("/manual.pdf", "/report.docx?v=1", "/broken.pdf"))
    files = pathlib.Path(__file__).parent.parent / "documents" / "files"
    site.put("/manual.pdf", (files / "report.pdf").read_bytes(), content_type="application/pdf")
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    site.put("/report.docx?v=1", (files / "report.docx").read_bytes(), content_type=word)
    site.put("/broken.pdf", b"%PDF-1.4", content_type="application/pdf")
    result = crawled()
    assert result.paths == ["/", "/manual.pdf", "/report.docx?v=1"]
    assert "/broken.pdf" in next(iter(result.failures))


def test_a_page_that_fails_is_reported_and_the_others_are_read(site: Any, crawled: Any) -> None:
    site.page("/", links=("/broken", "/forbidden", "/loop", "/ok"))
    site.put("/broken", status=500)
    site.put("/forbidden", status=403)
    site.put("/loop", status=302, location="/loop")
    site.page("/ok")
    result = crawled()
    assert result.paths == ["/", "/ok"]
    assert set(result.failures) == {"/broken", "/forbidden", "/loop"}
    assert "500" in result.failures["/broken"]
    assert not result.crawl.complete


def test_what_fails_for_good_leaves_the_crawl_complete_unless_it_was_known(site: Any, crawled: Any) -> None:
    site.page("/", links=("/forbidden",))
    site.put("/forbidden", status=403)
    assert crawled().crawl.complete
    assert not crawled(known={site.url + "/forbidden"}).crawl.complete


def test_a_link_that_leads_to_another_site_is_neither_indexed_nor_taken_as_gone(site: Any, crawled: Any) -> None:
    site.page("/", links=("/out",))
    site.put("/out", status=302, location="/elsewhere")
    site.put("/elsewhere", "hello", content_type="text/html")
    site.page("/sub/", links=("/sub/out",))
    site.put("/sub/out", status=302, location="/login")
    site.page("/login")
    result = crawled("/sub/", known={site.url + "/sub/out"})
    assert result.paths == ["/sub/"]
    assert not result.crawl.complete
    assert not result.crawl.gone


def test_the_page_limit_ends_the_crawl_and_says_so(site: Any, crawled: Any) -> None:
    site.page("/", links=tuple(f"/{number}" for number in range(50)))
    for number in range(50):
        site.page(f"/{number}")
    result = crawled(limit=7)
    assert len(result.pages) == 7
    assert not result.crawl.complete
    assert "--limit" in result.crawl.why_incomplete
    assert len(site.pages_asked) <= 7 + 4


def test_exactly_as_many_pages_as_the_limit_is_complete(site: Any, crawled: Any) -> None:
    site.page("/", links=("/a",))
    site.page("/a", links=("/",))
    assert crawled(limit=2).crawl.complete


def test_an_endless_site_of_nothing_ends(site: Any, crawled: Any) -> None:
    site.page("/", links=tuple(f"/missing{number}" for number in range(500)))
    result = crawled(limit=5)
    assert result.paths == ["/"]
    assert not result.crawl.complete
    assert len(site.pages_asked) <= 50


def test_what_is_left_out_is_counted_by_reason(site: Any, crawled: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /docs/private\n", content_type="text/plain")
    inside = (
        "private/a",
        "door",
        "missing",
        "410",
        "data",
        "text",
        "hidden",
        "out",
        "copy",
        "a.exe",
        "a.exe#page=2",
        "b.png",
        "moved",
    )
    site.page("/docs/", links=("/outside", *(f"/docs/{name}" for name in inside)))
    site.page("/docs/hidden", links=("/docs/a.exe",), head='<meta name="robots" content="noindex">')
    site.put("/docs/door", status=302, location="/docs/private/b")
    site.page("/docs/private/b")
    site.put("/docs/410", status=410)
    site.put("/docs/data", b"\0\1\2" * 100, content_type="text/html")
    site.put("/docs/text", "plain text", content_type="text/plain")
    site.put("/docs/out", status=302, location="/login")
    site.page("/login")
    site.answers["/docs/copy"] = site.answers["/docs/"]
    site.put("/docs/moved", status=302, location="/docs/")
    result = crawled("/docs/")
    assert result.paths == ["/docs/"]
    assert result.failures == {}
    assert result.crawl.left_out == {
        "refused by robots.txt": 2,
        "not found": 2,
        "not a page": 4,
        "asking not to be indexed": 1,
        "elsewhere": 1,
        "the same as another page": 1,
    }, "a redirect to what is read anyway is nothing left out, nor is another site"


@pytest.mark.parametrize("broken", [False, True])
def test_a_refusal_at_the_start_is_one_sentence_that_names_the_setting(site: Any, crawled: Any, *, broken: bool) -> None:
    if broken:
        site.put("/robots.txt", status=503)
    else:
        site.put("/robots.txt", "User-agent: *\nDisallow: /\n", content_type="text/plain")
    with pytest.raises(CorpusError) as caught:
        crawled()
    assert ".:" not in str(caught.value)
    assert str(caught.value).endswith("if you have the site's permission, run `webseam set index robots warn`.")


@pytest.mark.parametrize(
    ("set_up", "words"),
    [
        (lambda site: None, "status 404"),
        (lambda site: site.put("/", "x", content_type="image/png"), "no web page"),
        (lambda site: site.put("/robots.txt", status=503), "robots"),
    ],
)
def test_a_site_without_a_beginning_is_an_error_that_says_why(site: Any, crawled: Any, set_up: Any, words: str) -> None:
    set_up(site)
    with pytest.raises(CorpusError, match=words) as caught:
        crawled()
    assert caught.value.kind == "no_source"


def test_what_the_door_refuses_is_said_in_the_words_of_the_door(
    site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any
) -> None:
    async def main(door_for: Any) -> list[Any]:
        crawl = Crawl(f"http://127.0.0.1:{site.port + 1}/", door_for=door_for, parse=parse, parse_sitemap=parse_sitemap)
        return [page async for page in crawl.pages()]

    with pytest.raises(DoorError, match="webseam allow") as caught:
        through_the_door(main)
    assert caught.value.kind == "blocked_address"


def test_leaving_a_crawl_early_leaves_nothing_running(site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any) -> None:
    site.page("/", links=tuple(f"/{number}" for number in range(20)))
    for number in range(20):
        site.page(f"/{number}")

    async def main(door_for: Any) -> int:
        pages = Crawl(site.url + "/", door_for=door_for, parse=parse, parse_sitemap=parse_sitemap).pages()
        async for _ in pages:
            break
        async for _ in pages:
            break
        await pages.aclose()
        return len([task for task in asyncio.all_tasks() if task is not asyncio.current_task() and "_visit" in repr(task)])

    assert through_the_door(main) == 0


def test_a_sitemap_that_is_a_bomb_leaves_the_links(site: Any, crawled: Any) -> None:
    site.put("/sitemap.xml", gzip.compress(b"\n" * 50_000_000), content_type="application/gzip")
    site.page("/", links=("/a",))
    site.page("/a")
    result = crawled()
    assert result.paths == ["/", "/a"]
    assert (
        result.crawl.why_incomplete == f"the sitemap {site.url}/sitemap.xml could not be read: it is larger than 10 MB unpacked"
    )
