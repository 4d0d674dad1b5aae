"""Sitemaps of every kind, and hostile ones."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.config import LIMITS
from webseam.errors import DocumentError, WorkerError
from webseam.index import sitemaps
from webseam.index.sitemap import entries
from webseam.index.sitemaps import Sitemaps
from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def urls(data: str | bytes) -> list[str]:
    return [url for _, url in entries(data.encode() if isinstance(data, str) else data)]


@pytest.fixture
def found(site: Any, through_the_door: Any, parse_sitemap: Any) -> Callable[..., Sitemaps]:
    """Looks for the site's sitemaps, of which robots.txt names some."""

    def found(*named: str) -> Sitemaps:
        async def main(door_for: Any) -> Sitemaps:
            return await sitemaps.find(
                site.url, [site.url + name for name in named], door_for=door_for, parse_sitemap=parse_sitemap
            )

        result: Sitemaps = through_the_door(main)
        return result

    return found


def test_a_sitemap_names_pages_and_an_index_names_sitemaps() -> None:
    page = f"{HEAD}<urlset {SPACE}><url><loc> https://a.example/x?a=1&amp;b=2 </loc><lastmod>2026</lastmod></url></urlset>"
    index = f"{HEAD}<sitemapindex {SPACE}><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>"
    assert list(entries(page.encode())) == [(False, "https://a.example/x?a=1&b=2")]
    assert list(entries(index.encode())) == [(True, "https://a.example/s.xml")]


def test_pictures_are_not_pages() -> None:
    picture = "<image:image><image:loc>https://a.example/x.png</image:loc></image:image>"
    assert urls(f"{HEAD}<urlset {SPACE}><url><loc>https://a.example/</loc>{picture}</url></urlset>") == ["https://a.example/"]


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(f"{HEAD}<urlset {SPACE}><url><loc>https://a.example/</loc></url></urlset>".encode()),
        b"\xef\xbb\xbf<urlset><url><loc>https://a.example/</loc></url></urlset>",
        f'<?xml version="1.0" encoding="UTF-16"?><urlset {SPACE}><url><loc>https://a.example/</loc></url></urlset>'.encode(
            "utf-16"
        ),
        b"https://a.example/\r\nnot an address\n\n",
        b"\xef\xbb\xbfhttps://a.example/",
        b"  \n <urlset><url><loc>https://a.example/</loc></url>",
        b"<urlset><url><loc>https://a.example/</loc></url><url><loc>https://a.example/?a=1&b</urlset>",
    ],
)
def test_the_usual_spellings_and_faults_are_read(data: bytes) -> None:
    assert urls(data)[0] == "https://a.example/"


BOMB = (
    '<!DOCTYPE lolz [<!ENTITY a "' + "A" * 1000 + '">'
    '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
    "<urlset><url><loc>https://a.example/&c;</loc></url></urlset>"
)
FILE = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>https://a.example/&f;</loc></url></urlset>'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-7", "cp500"])
@pytest.mark.parametrize("document", [BOMB, FILE])
def test_document_types_are_refused_in_whichever_encoding_they_hide(document: str, encoding: str) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?>{document}'.encode(encoding)
    try:
        found = "".join(urls(data))
    except DocumentError:
        return
    assert not found, "an encoding that is not read at all"


def test_a_bomb_of_zeros_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = packer.compress(b"<urlset>")
    for _ in range(80):
        bomb += packer.compress(b" " * 1024 * 1024)
    bomb += packer.flush()
    assert len(bomb) < 200_000
    with pytest.raises(DocumentError, match="larger than 10 MB"):
        urls(bomb)


def test_what_is_not_gzip_after_all_is_refused() -> None:
    with pytest.raises(DocumentError, match="gzip"):
        urls(b"\x1f\x8bnothing of the kind")


def test_the_number_of_addresses_is_bounded() -> None:
    many = "".join(f"<url><loc>https://a.example/{number}</loc></url>" for number in range(LIMITS.sitemap_urls + 500))
    assert len(urls(f"<urlset>{many}</urlset>")) == LIMITS.sitemap_urls
    assert len(urls("https://a.example/\n" * (LIMITS.sitemap_urls + 500))) == LIMITS.sitemap_urls


def test_a_sitemap_of_other_things_is_given_up() -> None:
    with pytest.raises(DocumentError, match="no address"):
        urls("<urlset><url>" + "<x/>" * 1_100_000)


def test_depth_of_elements_is_bounded() -> None:
    deep = "<a>" * 100_000
    assert urls(f"<urlset>{deep}") == []


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: f"<urlset>{text}".encode())))
def test_nonsense_is_read_or_refused(data: bytes) -> None:
    with suppress(DocumentError):
        urls(data)


def test_sitemaps_of_sitemaps_are_followed_to_a_depth_and_never_twice(site: Any, found: Any) -> None:
    site.sitemap("/s1.xml", f"{site.url}/s2.xml", f"{site.url}/s1.xml", kind="sitemapindex")
    site.sitemap("/s2.xml", f"{site.url}/s3.xml", f"{site.url}/s1.xml", kind="sitemapindex")
    site.sitemap("/s3.xml", f"{site.url}/s4.xml", kind="sitemapindex")
    site.sitemap("/s4.xml", f"{site.url}/too-deep")
    result = found("/s1.xml")
    assert site.asked == ["/robots.txt", "/s1.xml", "/s2.xml", "/s3.xml"]
    assert result.pages == []
    assert result.cut


def test_only_what_lies_at_the_site_counts(site: Any, found: Any) -> None:
    site.sitemap(
        "/sitemap.xml", f"{site.url}/a", "https://elsewhere.example/b", "/relative", "javascript:x", f"{site.url}/a#again"
    )
    assert found().pages == [f"{site.url}/a", f"{site.url}/relative"]
    site.sitemap("/index.xml", "https://elsewhere.example/s.xml", kind="sitemapindex")
    assert found("/index.xml") == Sitemaps()


def test_a_site_without_a_sitemap_is_no_failure(site: Any, found: Any) -> None:
    assert found() == Sitemaps()
    site.put("/sitemap.xml", "<html><body>We have everything</body></html>", content_type="text/html")
    assert found() == Sitemaps()


def test_a_sitemap_that_is_named_and_missing_is_a_failure(site: Any, found: Any) -> None:
    site.sitemap("/good.xml", f"{site.url}/a")
    result = found("/bad.xml", "/good.xml")
    assert result.pages == [f"{site.url}/a"]
    assert result.failed == [(f"{site.url}/bad.xml", "it answered with status 404")]


def test_compressed_sitemaps_are_unpacked(site: Any, found: Any) -> None:
    body = gzip.compress(f"<urlset><url><loc>{site.url}/a</loc></url></urlset>".encode())
    site.put("/sitemap.xml.gz", body, content_type="application/gzip")
    assert found("/sitemap.xml.gz").pages == [f"{site.url}/a"]


# ------------------------------------------------------------------------------------------------ in a worker


def bomb_of_newlines() -> bytes:
    return gzip.compress(b"\n" * 50_000_000)


def in_worker(*sitemaps_: bytes, **options: Any) -> list[Any]:
    async def main() -> list[Any]:
        async with WorkerPool(1, **options) as pool:
            results = [sitemaps.parse_in_worker(pool, data) for data in sitemaps_]
            return await asyncio.gather(*results, return_exceptions=True)

    return asyncio.run(main())


def test_a_worker_reads_sitemaps_and_refuses_bombs() -> None:
    lines, xml, newlines, bomb = in_worker(
        b"https://a.example/\nhttps://a.example/b",
        b"<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>",
        gzip.compress(b"\n" * 10_000_000 + b"https://a.example/"),
        bomb_of_newlines(),
    )
    assert lines == [(False, "https://a.example/"), (False, "https://a.example/b")]
    assert xml == [(True, "https://a.example/s.xml")]
    assert newlines == [(False, "https://a.example/")]
    assert isinstance(bomb, DocumentError)
    assert str(bomb) == "it is larger than 10 MB unpacked"


def test_a_sitemap_that_costs_too_much_costs_its_worker_and_nothing_else() -> None:
    [killed] = in_worker(b"https://a.example/", memory_bytes=1024)
    assert isinstance(killed, WorkerError)
    assert killed.kind == "memory"
    assert str(killed) == "it needs more memory to be read than is allowed"


def test_sitemaps_that_are_bombs_or_kill_their_worker_are_failures_and_the_others_are_read(
    site: Any, through_the_door: Any, parse_sitemap: Any
) -> None:
    site.put("/bomb.gz", bomb_of_newlines(), content_type="application/gzip")
    site.put("/killer", "https://killer.example/", content_type="text/plain")
    site.sitemap("/good.xml", f"{site.url}/a")

    async def parse(data: bytes) -> list[tuple[bool, str]]:
        if b"killer" in data:
            async with WorkerPool(1, memory_bytes=1024) as pool:
                return await sitemaps.parse_in_worker(pool, data)
        found: list[tuple[bool, str]] = await parse_sitemap(data)
        return found

    async def main(door_for: Any) -> Sitemaps:
        names = [f"{site.url}/{name}" for name in ("bomb.gz", "killer", "good.xml")]
        return await sitemaps.find(site.url, names, door_for=door_for, parse_sitemap=parse)

    result: Sitemaps = through_the_door(main)
    assert result.pages == [f"{site.url}/a"]
    assert result.failed == [
        (f"{site.url}/bomb.gz", "it is larger than 10 MB unpacked"),
        (f"{site.url}/killer", "it needs more memory to be read than is allowed"),
    ]


def test_addresses_that_are_too_long_are_passed_over() -> None:
    long = "https://a.example/" + "x" * LIMITS.url_chars
    assert urls(f"{long}\nhttps://a.example/") == ["https://a.example/"]
    assert urls("https://a.example/\n" + "é" * 5_000_000) == ["https://a.example/"]
    assert urls(f"<urlset><url><loc>{long}</loc></url><url><loc>https://a.example/</loc></url></urlset>") == [
        "https://a.example/"
    ]
