"""URLs, read once and in one way: the WHATWG standard (by ada), then our own refusals.

Every hole of the kind "the check saw one host, the socket another" comes from two parsers. Here is the only one: what it
returns (the A-label, the canonical IPv4 or IPv6) is what is vetted, dialled, sent as Host and SNI, and shown. `0x7f.1`,
`2130706433`, `①②⑦.⓪.⓪.①` and `127。0。0。1` all come out as 127.0.0.1.

WHATWG repairs what is malformed, as browsers must. We refuse it where the repair could surprise (tabs and line breaks inside,
backslashes, `http:host`, userinfo), and say what to write instead. A reference that a page or a redirect gave is read with
the same refusals (`join`).

Imports neither asyncio nor aiohttp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ada_url import URL, HostType

from webseam.config import LIMITS
from webseam.egress.addresses import verdict
from webseam.errors import DoorError

if TYPE_CHECKING:
    from typing import Final

DEFAULT_PORTS: Final = {"http": 80, "https": 443}

PRIVATE_NAMES: Final = frozenset({"metadata.goog", "metadata.tencentyun.com"})
"""Public-looking names of cloud metadata services; the others are single labels or under `PRIVATE_SUFFIXES`."""

PRIVATE_SUFFIXES: Final = (
    ".localhost",  # RFC 6761
    ".local",  # RFC 6762
    ".home.arpa",  # RFC 8375
    ".internal",  # ICANN, 2024; metadata.google.internal, host.docker.internal
    ".localdomain",
    ".lan",
    ".intranet",
    ".corp",
    ".home",
    ".private",
    ".svc",  # Kubernetes
)
"""Endings of names that only a private network resolves."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")
# C0, DEL and C1 controls; lone surrogates, which no encoding can carry.
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
# LDH labels and the underscore that real names carry; WHATWG also lets `*`, `~`, `$` and empty labels through.
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NAME_CHARS = 253  # RFC 1035, section 2.3.4, without the root's dot


@dataclass(frozen=True, slots=True)
class Url:
    """One http(s) URL in its canonical spelling.

    `host` is a lower-case A-label without a trailing dot, a canonical IPv4 address or a bracketed IPv6 address; `port` is
    always known; `target` is the path and query as they go on the request line; `href` has neither fragment nor userinfo.
    """

    scheme: str
    host: str
    port: int
    target: str
    origin: str
    href: str
    ip: str  # the address when the host is a literal, without brackets; else ""

    @property
    def authority(self) -> str:
        """`host:port`, the port always written: what `webseam allow` takes."""
        return f"{self.host}:{self.port}"

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def __str__(self) -> str:
        return self.href


@lru_cache(maxsize=512)
def parse(text: str) -> Url:
    """The URL that `text` spells. Raises `DoorError` of kind `invalid_url` or `blocked_scheme`; no message repeats the URL."""
    _check_spelling(text)
    return _parse(text)


def join(base: Url, reference: str) -> Url:
    """The URL that `reference` (a link, a Location header) means on `base`; refused as `parse` refuses.

    Bytes of a header that are no UTF-8 (surrogate escapes) are percent-encoded as browsers do; a lone `%` is left as it is.
    """
    reference = _encode_surrogates(reference.strip(" "))
    _check_characters(reference)
    scheme = _SCHEME.match(reference)
    if scheme is not None:
        _check_scheme(scheme[1], reference)
        _check_authority(reference)
    elif reference.startswith("//"):
        _check_authority(f"{base.scheme}:{reference}")
    try:
        absolute = URL(reference, base.href).href
    except ValueError:
        raise _invalid("it cannot be read") from None
    return _parse(absolute)


def is_private_name(host: str) -> bool:
    """Whether a name, by its spelling alone, belongs to a machine or a private network. Asks no DNS; False for addresses."""
    host = host.lower().rstrip(".")
    if host.startswith("[") or _is_ipv4(host):
        return False
    return "." not in host or host in PRIVATE_NAMES or host.endswith(PRIVATE_SUFFIXES)


def refuse_private(url: Url, who: str = "a third party") -> None:
    """Raise `DoorError` (kind `blocked_address`) when `url` names a private host: asked before `who` gets to see the URL."""
    if is_private_name(url.host) or (url.ip and verdict(url.ip) is not None):
        raise DoorError(
            f"{url.authority} is a private address, and {who} is never sent one: "
            "read it with Webseam's own reader (`webseam use reading builtin`).",
            kind="blocked_address",
            url=url.origin,
        )


def _check_spelling(text: str) -> None:
    _check_characters(text)
    if text != text.strip():
        raise _invalid("it begins or ends with a space", "Remove it")
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise _invalid("it does not begin with http:// or https://", "Write the whole URL")
    _check_scheme(scheme[1], text)
    _check_authority(text)
    if _BROKEN_ESCAPE.search(text):
        raise _invalid("a % in it is not followed by two hexadecimal digits", "Write %25 for the character %")


def _check_characters(text: str) -> None:
    if len(text) > LIMITS.url_chars:
        raise _invalid(f"it is longer than {LIMITS.url_chars} characters", "Give a shorter one")
    if _FORBIDDEN.search(text):
        raise _invalid("it holds a control character, a tab or a line break", "Percent-encode or remove it")
    if "\\" in text:
        raise _invalid("it holds a backslash, which programs read in different ways", "Write / or %5C")


def _check_scheme(scheme: str, text: str) -> None:
    if scheme.lower() in DEFAULT_PORTS:
        return
    if text[len(scheme) + 1 : len(scheme) + 2].isdigit():  # "localhost:3000" reads as a scheme
        raise _invalid("it does not begin with http:// or https://", "Write the whole URL")
    raise DoorError(
        f"Only http and https URLs can be fetched, not {scheme.lower()[:20]}: give an http(s) URL.", kind="blocked_scheme"
    )


def _check_authority(text: str) -> None:
    authority = _AUTHORITY.match(text)
    if authority is None or not authority[1]:
        raise _invalid("no host follows http:// or https://", "Write it as https://example.com/page")
    if "@" in authority[1]:
        raise _invalid("it holds a user name or password (the part before @)", "Remove that part")


def _parse(text: str) -> Url:
    try:
        parsed = URL(text)
    except ValueError:
        raise _invalid("it cannot be read (check the host and the port)") from None
    scheme = parsed.protocol[:-1]
    if scheme not in DEFAULT_PORTS:
        _check_scheme(scheme, text)
    if parsed.username or parsed.password:
        raise _invalid("it holds a user name or password (the part before @)", "Remove that part")
    literal = parsed.host_type in (HostType.IPV4, HostType.IPV6)
    host: str = parsed.hostname
    ip = host.strip("[]") if literal else ""
    if not literal:
        host = host.removesuffix(".")  # the root's dot names the same host and would be a way around a list
        if len(host) > _NAME_CHARS or not _NAME.fullmatch(host):
            raise _invalid("its host is not a valid name", "Check the host")
    written: str = parsed.port
    port = int(written) if written else DEFAULT_PORTS[scheme]
    if not port:
        raise _invalid("port 0 cannot be dialled", "Write the port, or leave it out")
    origin = f"{scheme}://{host}" + (f":{port}" if port != DEFAULT_PORTS[scheme] else "")
    target = f"{parsed.pathname}{parsed.search}"
    href = f"{origin}{target}"
    if len(href) > LIMITS.url_chars * 3:  # percent-encoding grows it
        raise _invalid("it is too long once encoded", "Give a shorter one")
    return Url(scheme, host, port, target, origin, href, ip)


def _is_ipv4(host: str) -> bool:
    return re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", host) is not None


def _encode_surrogates(text: str) -> str:
    if text.isascii():
        return text
    return re.sub(r"[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)


def _invalid(why: str, cure: str = "Write it as https://example.com/page") -> DoorError:
    return DoorError(f"The URL is not valid: {why}. {cure}.", kind="invalid_url")
