"""Sitemaps of every kind, and hostile ones."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.config import LIMITS
from webseam.index import sitemaps
from webseam.index.sitemaps import SitemapError, Sitemaps, entries

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def urls(data: str | bytes) -> list[str]:
    return [url for _, url in entries(data.encode() if isinstance(data, str) else data)]


@pytest.fixture
def found(site: Any, through_the_door: Any) -> Callable[..., Sitemaps]:
    """Looks for the site's sitemaps, of which robots.txt names some."""

    def found(*named: str) -> Sitemaps:
        async def main(door_for: Any) -> Sitemaps:
            return await sitemaps.find(site.url, [site.url + name for name in named], door_for=door_for)

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
    except SitemapError:
        return
    assert not found, "an encoding that is not read at all"


def test_a_bomb_of_zeros_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = packer.compress(b"<urlset>")
    for _ in range(80):
        bomb += packer.compress(b" " * 1024 * 1024)
    bomb += packer.flush()
    assert len(bomb) < 200_000
    with pytest.raises(SitemapError, match="larger than 50 MB"):
        urls(bomb)


def test_what_is_not_gzip_after_all_is_refused() -> None:
    with pytest.raises(SitemapError, match="gzip"):
        urls(b"\x1f\x8bnothing of the kind")


def test_the_number_of_addresses_is_bounded() -> None:
    many = "".join(f"<url><loc>https://a.example/{number}</loc></url>" for number in range(LIMITS.sitemap_urls + 500))
    assert len(urls(f"<urlset>{many}</urlset>")) == LIMITS.sitemap_urls
    assert len(urls("https://a.example/\n" * (LIMITS.sitemap_urls + 500))) == LIMITS.sitemap_urls


def test_a_sitemap_of_other_things_is_given_up() -> None:
    with pytest.raises(SitemapError, match="no address"):
        urls("<urlset><url>" + "<x/>" * 1_100_000)


def test_depth_of_elements_is_bounded() -> None:
    deep = "<a>" * 100_000
    assert urls(f"<urlset>{deep}") == []


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: f"<urlset>{text}".encode())))
def test_nonsense_is_read_or_refused(data: bytes) -> None:
    with suppress(SitemapError):
        urls(data)


def test_sitemaps_of_sitemaps_are_followed_to_a_depth_and_never_twice(site: Any, found: Any) -> None:
    site.sitemap("/s1.xml", f"{site.url}/s2.xml", f"{site.url}/s1.xml", kind="sitemapindex")
    site.sitemap("/s2.xml", f"{site.url}/s3.xml", f"{site.url}/s1.xml", kind="sitemapindex")
    site.sitemap("/s3.xml", f"{site.url}/s4.xml", kind="sitemapindex")
    site.sitemap("/s4.xml", f"{site.url}/too-deep")
    result = found("/s1.xml")
    assert site.asked == ["/s1.xml", "/s2.xml", "/s3.xml"]
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
