"""Feeds: RSS, RDF, Atom and JSON Feed, and what only looks like one."""

from __future__ import annotations

import pytest

from webseam.documents.document import Document
from webseam.documents.read import read

RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>The Feed</title><link>https://example.com/</link><description>About &lt;b&gt;tides&lt;/b&gt;.</description>
<language>en-GB</language>
<item><title>One &amp; only</title><link>/one?utm=1#top</link><pubDate>Wed, 31 Jan 2024 09:30:00 +0100</pubDate>
<dc:creator>Ann</dc:creator><media:content url="https://example.com/x.jpg"/><description>short</description>
<content:encoded><![CDATA[<h2>Head</h2><p>Long <a href="/rel">text</a>.</p><script>x()</script><p hidden>unseen</p>]]>
</content:encoded></item>
<item><guid>https://example.com/two</guid><description>No title &lt;i&gt;here&lt;/i&gt;</description></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Atom</title><author><name>Bob</name></author>
<updated>2024-02-01T00:00:00Z</updated>
<entry><title type="html">A &lt;em&gt;b&lt;/em&gt;</title><link rel="self" href="https://example.com/self"/><link href="https://example.com/a"/>
<published>2024-01-31T09:30:00Z</published><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><ul><li>x</li></ul></div>
</content></entry>
<entry><title>Plain</title><summary type="text">2 &lt; 3 *s*</summary></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>Old</title>
</channel><item><title>Item</title><link>https://example.com/i</link></item></rdf:RDF>"""
JSON = """{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [{"id": "1", "url": "https://example.com/j",
"title": "T", "content_html": "<p>Hi <b>you</b>", "date_published": "2024-01-31T09:30:00Z", "authors": [{"name": "C"}]}, 7]}"""


def document(text: str, content_type: str = "application/rss+xml") -> Document:
    return read(text.encode(), url="https://example.com/feed", content_type=content_type)


def test_rss_is_a_list_of_entries_with_links_dates_authors_and_text() -> None:
    found = document(RSS)
    assert (found.title, found.language, found.content_type) == ("The Feed", "en-GB", "application/rss+xml")
    assert found.content == (
        "# The Feed\n\nAbout **tides**.\n\n"
        "## [One & only](https://example.com/one?utm=1#top)\n\n2024-01-31T08:30:00Z · Ann\n\n"
        "## Head\n\nLong [text](https://example.com/rel).\n\n"
        "## [Entry](https://example.com/two)\n\nNo title *here*"
    )
    assert found.links == ("https://example.com/one?utm=1", "https://example.com/two")
    assert found.hidden == len("unseen")


@pytest.mark.parametrize("content_type", ["application/atom+xml", "text/xml", "", "application/octet-stream"])
def test_atom_in_whichever_type(content_type: str) -> None:
    assert document(ATOM, content_type).content == (
        "# Atom\n\n## [A b](https://example.com/a)\n\n2024-01-31T09:30:00Z\n\n- x\n\n## Plain\n\n2 < 3 \\*s\\*"
    )


def test_rdf_keeps_its_items_beside_the_channel() -> None:
    assert document(RDF, "application/rdf+xml").content == "# Old\n\n## [Item](https://example.com/i)"


def test_a_json_feed() -> None:
    assert document(JSON, "application/feed+json").content == (
        "# J\n\n## [T](https://example.com/j)\n\n2024-01-31T09:30:00Z · C\n\nHi **you**"
    )


@pytest.mark.parametrize(
    ("text", "content_type", "start"),
    [
        ("<a><feed/></a>", "application/xml", "```xml\n<a>"),
        ("<opml><head/></opml>", "text/xml", "```xml\n<opml>"),
        ('{"version": "https://jsonfeed.org/version/1", "items": 5}', "application/json", "```json\n{"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [', "application/json", "```json\n{"),
        ("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>", "application/rdf+xml", "```xml\n<rdf"),
    ],
)
def test_what_is_no_feed_is_shown_as_it_is(text: str, content_type: str, start: str) -> None:
    assert document(text, content_type).content.startswith(start)


def test_a_broken_feed_gives_the_entries_before_the_fault() -> None:
    content = document(RSS.replace("<guid>", "& <b></c>").partition("</channel>")[0]).content
    assert "## [One & only](https://example.com/one?utm=1#top)" in content


def test_entities_of_a_feed_are_not_put_in() -> None:
    laughs = "<!DOCTYPE rss [<!ENTITY a 'ha'><!ENTITY f SYSTEM 'file:///etc/passwd'>]>"
    content = document(laughs + "<rss><channel><title>T &f;</title><item><title>I &a;</title></item></channel></rss>").content
    assert content == "# T &f;\n\n## I &a;"


def test_a_long_feed_is_cut_and_said() -> None:
    items = "<item><title>x</title></item>" * 1_000
    found = document(f"<rss><channel><title>T</title>{items}</channel></rss>")
    assert found.content.count("## x") == 200
    assert found.truncated
    assert found.notes == ("Of 1,000 entries the first 200 are here.",)
