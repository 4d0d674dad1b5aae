"""What a site says are its pages: sitemaps (https://www.sitemaps.org/protocol.html), as XML, gzipped, or lines of text.

They are foreign XML: no DTD, no entities, no network, read as a stream, bounded in bytes, addresses, files and depth.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import deque
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Final

from lxml import etree

from webseam.config import LIMITS
from webseam.errors import DoorError
from webseam.index.canonical import canonical_url, origin_of
from webseam.seam.contract import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from webseam.seam.contract import Door

SITEMAP_FILES: Final = 100
SITEMAP_BYTES: Final = 50 * 1024 * 1024
"""Of one sitemap, unpacked: the protocol's own limit."""

_GZIP: Final = b"\x1f\x8b"
_DTD: Final = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_XML: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")


class SitemapError(ValueError):
    """A sitemap that cannot be read; the text says why."""


@dataclass(slots=True)
class Sitemaps:
    """What was found: the `pages`, in order and canonical; `failed` sitemaps and why; whether there was more than we take."""

    pages: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    cut: bool = False


async def find(origin: str, named: Iterable[str], *, door_for: Callable[[], Door]) -> Sitemaps:
    """The pages in the sitemaps that robots.txt named, or else in /sitemap.xml, and in the sitemaps that those name.

    Only what lies at `origin` itself counts. That there is no /sitemap.xml is no failure.
    """
    found = Sitemaps()
    wanted = [url for name in named if (url := canonical_url(name, origin + "/")) and origin_of(url) == origin]
    guessed = not wanted
    queue = deque((url, 1) for url in dict.fromkeys(wanted or [f"{origin}/sitemap.xml"]))
    seen = {url for url, _ in queue}
    pages: dict[str, None] = {}
    while queue:
        url, depth = queue.popleft()
        try:
            for is_sitemap, address in await _read(url, door_for, guessed):
                place = canonical_url(address, url)
                if not place or origin_of(place).partition("://")[2] != origin.partition("://")[2]:
                    continue
                if not is_sitemap:
                    pages[place] = None
                elif place not in seen and depth < LIMITS.sitemap_depth and len(seen) < SITEMAP_FILES:
                    seen.add(place)
                    queue.append((place, depth + 1))
                elif place not in seen:
                    found.cut = True
                if len(pages) >= LIMITS.sitemap_urls:
                    found.cut = True
                    queue.clear()
                    break
        except (DoorError, SitemapError) as error:
            found.failed.append((url, str(error).partition("\n")[0]))
        guessed = False
    found.pages = list(pages)
    return found


async def _read(url: str, door_for: Callable[[], Door], guessed: bool) -> list[tuple[bool, str]]:
    reply = await door_for().send(HttpRequest(url, headers={"Accept": "application/xml, text/xml, text/plain"}), follow=True)
    if reply.status >= 400:
        if guessed and reply.status < 500:
            return []
        raise SitemapError(f"it answered with status {reply.status}")
    if guessed and b"<" in reply.body[:1000] and "html" in reply.headers.get("content-type", ""):
        return []  # a site that answers every address with a page
    return await asyncio.to_thread(lambda: list(entries(reply.body)))


def entries(data: bytes) -> Iterator[tuple[bool, str]]:
    """What a sitemap names, as (whether it is another sitemap, address). Raises `SitemapError`."""
    if data.startswith(_GZIP):
        data = _unpacked(data)
    if not _XML.match(data[:1000]) and b"\0" not in data[:100]:
        yield from ((False, line) for line in _lines(data))
        return
    if _DTD.search(data):
        raise SitemapError("it holds a document type declaration, which a sitemap never needs")
    try:
        yield from _elements(data)
    except etree.XMLSyntaxError as error:
        raise SitemapError(f"it is not well-formed XML ({error.msg})") from error


def _elements(data: bytes) -> Iterator[tuple[bool, str]]:
    events = etree.iterparse(
        BytesIO(data),
        events=("end",),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,  # an unescaped & in an address is the most common fault
        remove_comments=True,
        remove_pis=True,
    )
    count = 0
    for _, element in events:
        name = etree.QName(element)
        if name.localname == "loc":
            parent = element.getparent()
            if parent is not None and etree.QName(parent).namespace == name.namespace:  # not <image:loc>
                kind = etree.QName(parent).localname
                if kind in ("url", "sitemap") and (address := (element.text or "").strip()):
                    yield kind == "sitemap", address
                    count += 1
                    if count >= LIMITS.sitemap_urls:
                        return
        elif name.localname in ("url", "sitemap"):
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _lines(data: bytes) -> Iterator[str]:
    for line in data.decode("utf-8-sig", "replace").splitlines()[: LIMITS.sitemap_urls]:
        address = line.strip()
        if address.startswith(("http://", "https://")):
            yield address


def _unpacked(data: bytes) -> bytes:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacking.decompress(data, SITEMAP_BYTES)
    except zlib.error as error:
        raise SitemapError("it is not valid gzip") from error
    if unpacking.unconsumed_tail:
        raise SitemapError(f"it is larger than {SITEMAP_BYTES // 1024 // 1024} MB unpacked")
    return unpacked
