"""What a site says are its pages: sitemaps (https://www.sitemaps.org/protocol.html), as XML, gzipped, or lines of text.

They are foreign XML: no DTD, no entities, no network, read as a stream, bounded in bytes, addresses, files and depth.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
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

SITEMAP_ELEMENTS: Final = 1_000_000

_BLOCK: Final = 64 * 1024
_GZIP: Final = b"\x1f\x8b"
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
    try:
        yield from _elements(data)
    except etree.XMLSyntaxError as error:
        raise SitemapError(f"it is not well-formed XML ({error.msg})") from error


class _Reading:
    """A target for lxml's parser: takes the addresses out of the stream of elements, and builds nothing."""

    def __init__(self) -> None:
        self.addresses: list[tuple[bool, str]] = []
        self.elements = 0
        self._above: list[str] = []
        self._text: list[str] | None = None

    def doctype(self, *_: object) -> None:
        """In whichever encoding it hides: parsers with a target expand the entities that it declares."""
        raise SitemapError("it holds a document type declaration, which a sitemap never needs")

    def start(self, tag: str, _attributes: object) -> None:
        self.elements += 1
        self._text = None
        if tag.endswith("loc") and self._above:  # in the namespace of what holds it: not <image:loc>
            space = tag[:-3]
            if self._above[-1] in (space + "url", space + "sitemap"):
                self._text = []
        self._above.append(tag)

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, _tag: str) -> None:
        self._above.pop()
        if self._text is not None:
            address = "".join(self._text).strip()
            if address:
                self.addresses.append((self._above[-1].endswith("sitemap"), address))
            self._text = None

    def close(self) -> None:
        """Nothing is left to do."""


def _elements(data: bytes) -> list[tuple[bool, str]]:
    reading = _Reading()
    parser = etree.XMLParser(
        target=reading,  # type: ignore[arg-type] # the stubs want bytes and comments too
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,  # an unescaped & in an address is the most common fault
    )
    for at in range(0, len(data), _BLOCK):
        parser.feed(data[at : at + _BLOCK])
        if len(reading.addresses) >= LIMITS.sitemap_urls:
            return reading.addresses[: LIMITS.sitemap_urls]
        if reading.elements > SITEMAP_ELEMENTS:
            raise SitemapError("it holds too much that is no address")
    with suppress(etree.XMLSyntaxError):  # cut short: what came before counts
        parser.close()
    return reading.addresses


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
