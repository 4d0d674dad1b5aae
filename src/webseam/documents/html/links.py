"""Addresses in a page: resolved against `<base>` and the final URL, kept when they are http(s), made safe for Markdown.

A host is written as a browser would ask for it (URL Standard, 3.5): in ASCII, with Punycode for other letters, and without
the user's name before it, which is how `http://known.example@other.example/` poses as what it is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from webseam.config import LIMITS

if TYPE_CHECKING:
    from webseam.documents.html.tree import Element

MAX_LINKS = 5_000
"""A page of the largest link directories has about 3,000."""

_EASY_CHARS = 1_000

MAX_LINK_CHARS = 1_000_000
"""Of all links of a page together."""

# The URL Standard strips these at the ends, and tabs and line ends everywhere (4.4); the rest would end a Markdown link.
_STRIPPED = "".join(map(chr, range(0x21)))
_REMOVED = re.compile("[\t\n\r]")
_UNSAFE = re.compile(
    r"[\x00-\x20<>()\[\]\\`|\"\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    r"\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Hosts that are what they look like; any other goes through the URL Standard's parser.
_PLAIN_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*(?::[0-9]{1,5})?")
# What comes out of all of that as it went in, behind what it is relative to: no dot segments, no empty parts in a path, and
# nothing that is written otherwise in an address.
_PART = "[A-Za-z0-9_~!$&'*+,=@%.-]+"
_REST = r"(?:\?[A-Za-z0-9_~!$&'*+,=:@%/.-]+)?(?:#[A-Za-z0-9_~!$&'*+,=:@%/.-]+)?"
_EASY = re.compile(
    r"(https?://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*(?::[0-9]{1,5})?)?/(?:(?!/)[A-Za-z0-9_~!$&'*+,=:@%/.-]+)?" + _REST
)
_EASY_RELATIVE = re.compile(rf"(?!\.){_PART}(?:/{_PART})*+/?{_REST}")
_SLASHES = re.compile(r"\A((?:https?:)?)/{3,}", re.IGNORECASE)
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")


class Base:
    """What relative addresses of one page are relative to."""

    __slots__ = ("_folder", "_here", "_hosts", "_known", "_root", "_url")

    def __init__(self, url: str, head: Element | None = None) -> None:
        self._here = url.split("#", 1)[0]
        self._url = url
        self._known: dict[str, str] = {}
        self._hosts: dict[str, str] = {}
        if head is not None:
            for child in head.children:
                if not isinstance(child, str) and child.tag == "base" and child.attrs.get("href"):
                    self._url = self._join(child.attrs["href"]) or url
                    break
        self._root = self._join("/")[:-1]
        self._folder = self._join("x")[:-1]
        if len(self._folder) > LIMITS.url_chars - _EASY_CHARS:
            self._folder = ""

    def resolve(self, href: str) -> str:
        """The absolute http(s) URL that `href` means, safe inside a Markdown link; "" for any other scheme or nonsense."""
        known = self._known.get(href)
        if known is None:
            known = self._easy(href) or self._join(href)
            if len(self._known) < MAX_LINKS:
                self._known[href] = known
        return known

    def target(self, href: str) -> str:
        """As `resolve`, and `mailto:` and `tel:` too; "" for a place on this very page, whose text says enough."""
        url = self._easy(href)
        if not url:
            cleaned = _REMOVED.sub("", href.strip(_STRIPPED))
            if not cleaned or cleaned.startswith("#"):
                return ""
            if cleaned[:7].lower() == "mailto:" or cleaned[:4].lower() == "tel:":
                return _quote(cleaned) if len(cleaned) <= 500 else ""
            url = self.resolve(href)
        if "#" in url and url.split("#", 1)[0] == self._here:
            return ""
        return url

    def _easy(self, href: str) -> str:
        """What `_join` would say of an address in which there is nothing to do; "" of any other."""
        if not self._folder or len(href) > _EASY_CHARS or "/." in href:
            return ""
        if match := _EASY.fullmatch(href):
            return href if match[1] else self._root + href
        return self._folder + href if _EASY_RELATIVE.fullmatch(href) else ""

    def _join(self, href: str) -> str:
        if len(href) > LIMITS.url_chars:
            return ""
        cleaned = _REMOVED.sub("", href.strip(_STRIPPED)).replace("\\", "/")
        if "///" in cleaned[:12]:  # however many slashes, a host follows (URL Standard, 4.4)
            cleaned = _SLASHES.sub(r"\1//", cleaned, count=1)
        scheme = _SCHEME.match(cleaned)
        if scheme and scheme[1].lower() not in ("http", "https"):
            return ""
        try:
            parts = urlsplit(urljoin(self._url, cleaned))
        except ValueError:  # "http://[bad"
            return ""
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return ""
        host = self._host(parts.netloc.lower(), parts.scheme)
        if not host:
            return ""
        url = _quote(parts._replace(netloc=host).geturl())
        if host.startswith("["):  # brackets of IPv6 are the host's own
            url = url.replace(_quote(host), host, 1)
        return url if len(url) <= LIMITS.url_chars else ""

    def _host(self, netloc: str, scheme: str) -> str:
        """Host and port as they are asked for; "" when there is no such host."""
        if _PLAIN_HOST.fullmatch(netloc):
            return netloc
        known = self._hosts.get(netloc)
        if known is None:
            import ada_url  # 8 ms, which most pages can do without

            try:
                known = ada_url.URL(f"{scheme}://{netloc}").host
            except ValueError:
                known = ""
            if len(self._hosts) < MAX_LINKS:
                self._hosts[netloc] = known
        return known


def page_links(root: Element, base: Base) -> tuple[str, ...]:
    """Where a page points: absolute http(s) URLs, in document order, each once, without fragments, at most `MAX_LINKS`."""
    found: dict[str, None] = {}
    room = MAX_LINK_CHARS
    stack = [root]
    while stack and len(found) < MAX_LINKS and room > 0:
        element = stack.pop()
        href = (
            element.attrs.get("href")
            if element.tag in ("a", "area")
            else element.attrs.get("src")
            if element.tag == "frame"
            else None
        )
        if href and (url := base.resolve(href).split("#", 1)[0]):
            found[url] = None
            room -= len(url)
        stack.extend([child for child in reversed(element.children) if not isinstance(child, str)])
    return tuple(found)


def _quote(url: str) -> str:
    """`url` with the characters that would end a Markdown link, or that nobody sees, percent-encoded (UTF-8)."""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "replace")), url)
