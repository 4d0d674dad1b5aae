"""One sitemap, read: XML, gzipped XML, or lines of text (https://www.sitemaps.org/protocol.html). Runs in a worker process.

It is foreign XML: no DTD, no entities, no network, read as a stream out of which nothing is built, bounded in bytes once
unpacked, in addresses and in elements. What the bounds here let through, the worker's deadline and memory limit end.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from lxml import etree

from webseam.config import LIMITS
from webseam.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

SITEMAP_ELEMENTS: Final = 1_000_000

_BLOCK: Final = 64 * 1024
_GZIP: Final = b"\x1f\x8b"
_XML: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<")
_ADDRESS: Final = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|(?<=[\r\n]))[ \t]{0,99}(https?://[^\r\n]+)")
_MOST_BYTES_EACH: Final = 4  # of a character in UTF-8


def sitemap_job(data: bytes) -> list[tuple[bool, str]]:
    """What the worker runs for `sitemaps.parse_in_worker`."""
    return entries(data)


def entries(data: bytes) -> list[tuple[bool, str]]:
    """What a sitemap names, as (whether it is another sitemap, address): at most `LIMITS.sitemap_urls`, in order.

    Raises `DocumentError` "unreadable".
    """
    if data.startswith(_GZIP):
        data = _unpacked(data)
    elif len(data) > LIMITS.sitemap_bytes:
        raise _too_large()
    if not _XML.match(data[:1000]) and b"\0" not in data[:100]:
        return [(False, line) for line in _lines(data)]
    try:
        return _elements(data)
    except etree.XMLSyntaxError as error:
        raise _unreadable(f"it is not well-formed XML ({error.msg})") from error


class _Reading:
    """A target for lxml's parser: takes the addresses out of the stream of elements, and builds nothing."""

    def __init__(self) -> None:
        self.addresses: list[tuple[bool, str]] = []
        self.elements = 0
        self._above: list[str] = []
        self._text: list[str] | None = None

    def doctype(self, *_: object) -> None:
        """In whichever encoding it hides: parsers with a target expand the entities that it declares."""
        raise _unreadable("it holds a document type declaration, which a sitemap never needs")

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
            if address and len(address) <= LIMITS.url_chars:
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
            raise _unreadable("it holds too much that is no address")
    with suppress(etree.XMLSyntaxError):  # cut short: what came before counts
        parser.close()
    return reading.addresses


def _lines(data: bytes) -> Iterator[str]:
    """The addresses, a line each. Only what looks like one is made a string, so that a million other lines cost nothing."""
    taken = 0
    for match in _ADDRESS.finditer(data):
        if match.end(1) - match.start(1) > LIMITS.url_chars * _MOST_BYTES_EACH:
            continue
        address = match[1].decode("utf-8", "replace").strip()
        if len(address) <= LIMITS.url_chars:
            yield address
            taken += 1
            if taken >= LIMITS.sitemap_urls:
                return


def _unpacked(data: bytes) -> bytes:
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacking.decompress(data, LIMITS.sitemap_bytes + 1)
    except zlib.error as error:
        raise _unreadable("it is not valid gzip") from error
    if len(unpacked) > LIMITS.sitemap_bytes:
        raise _too_large()
    return unpacked


def _unreadable(why: str) -> DocumentError:
    return DocumentError(why, kind="unreadable")


def _too_large() -> DocumentError:
    return _unreadable(f"it is larger than {LIMITS.sitemap_bytes // 1024 // 1024} MB unpacked")
