"""One spelling for each page of a site, and which pages belong to a crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

import ada_url

from webseam.config import LIMITS

_PORTS: Final = {"http:": "80", "https:": "443"}

_TRACKING: Final = frozenset(
    {"fbclid", "gclid", "gclsrc", "dclid", "wbraid", "gbraid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "twclid"}
)
"""Parameters that name the visitor's way to the page and never the page; besides them all that begin with `utm_`."""

_NOT_A_PAGE: Final = re.compile(
    r"[^/]\.(?:7z|apk|avi|bin|bmp|bz2|css|csv|deb|dmg|doc|eot|exe|flac|gif|gz|ico|ics|iso|jar|jpe?g|js|json|m4[av]|map"
    r"|mjs|mkv|mov|mp[34]|msi|og[gv]|otf|pkg|png|ppt|ps|rar|rpm|rss|svgz?|swf|tar|tgz|tiff?|ttf|wav|wasm|web[mp]"
    r"|whl|wmv|woff2?|xls|xml|xz|zip|zst)",
    re.IGNORECASE,
)
_INDEX_PAGES: Final = ("index.html", "index.htm")


def canonical_url(url: str, base: str | None = None) -> str:
    """`url` as we spell it, or "" when it is no http(s) page that could be fetched: too long, with userinfo, another scheme.

    WHATWG spelling (host in lower case and ASCII, no default port, no dot segments), without fragment, without the parameters
    that track visitors; the rest of the query stays as it is and where it is.
    """
    if len(url) > LIMITS.url_chars:
        return ""
    try:
        parsed = ada_url.URL(url, base) if base else ada_url.URL(url)
    except (ValueError, UnicodeError):
        return ""
    host = parsed.hostname.removesuffix(".")
    if parsed.protocol not in _PORTS or parsed.username or parsed.password or not host:
        return ""
    port = f":{parsed.port}" if parsed.port and parsed.port != _PORTS[parsed.protocol] else ""
    made = f"{parsed.protocol}//{host}{port}{parsed.pathname}{_without_tracking(parsed.search)}"
    return made if len(made) <= LIMITS.url_chars else ""


def _without_tracking(search: str) -> str:
    if not search:
        return ""
    kept = [part for part in search[1:].split("&") if not _tracks(unquote(part.partition("=")[0]).lower())]
    query = "&".join(kept)
    return f"?{query}" if query else ""


def _tracks(name: str) -> bool:
    return name.startswith("utm_") or name in _TRACKING


def origin_of(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return "/".join(url.split("/", 3)[:3])


def path_of(url: str) -> str:
    """The path of a canonical URL, without its query."""
    return "/" + url.split("/", 3)[3].partition("?")[0]


def may_be_page(url: str) -> bool:
    """Whether a canonical URL, by its ending, may be a page: not an image, an archive, a style sheet."""
    path = path_of(url)
    return not _NOT_A_PAGE.fullmatch(path, max(0, path.rfind(".") - 1))


def same_page(url: str, other: str) -> bool:
    """Whether two canonical URLs differ in no more than the query, a last slash or an `index.html`."""
    return origin_of(url) == origin_of(other) and _bare_path(url) == _bare_path(other)


def _bare_path(url: str) -> str:
    path = path_of(url)
    head, _, name = path.rpartition("/")
    return head if name in _INDEX_PAGES or not name else path


@dataclass(frozen=True, slots=True)
class Scope:
    """The pages of one crawl: those of `origin` whose path begins with `directory` (which ends with a slash)."""

    origin: str
    directory: str

    @classmethod
    def of(cls, start: str) -> Scope:
        """The directory that a canonical URL lies in: `https://example.com/docs/intro.html` -> `/docs/`."""
        return cls(origin_of(start), path_of(start).rpartition("/")[0] + "/")

    def place(self, url: str, base: str | None = None) -> str:
        """`url` in canonical spelling when it belongs to the crawl, else "".

        A link to the plain-http twin of an https site is taken as the https page.
        """
        found = canonical_url(url, base)
        if found.startswith("http://") and self.origin == "https" + origin_of(found)[4:]:
            found = "https" + found[4:]
        if not found or origin_of(found) != self.origin:
            return ""
        path = path_of(found)
        return found if path.startswith(self.directory) or path + "/" == self.directory else ""
