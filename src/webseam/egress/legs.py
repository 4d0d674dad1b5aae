"""One leg of a request: what is sent to one origin, and how a redirect turns it into the next. No IO.

The rules of a redirect (RFC 9110, section 15.4, and the Fetch standard, made stricter):

* It is judged as a new URL; an exception or an open port counts only while every leg so far stayed at the asked origin.
* Headers of the caller stay at the asked origin. Once it is left they never come back, not even when a later redirect returns.
  Elsewhere only what says nothing about the caller goes along: what it can read, and in which language.
* A body never leaves the origin. 301, 302 and 303 turn everything but HEAD into a GET; 307 and 308 repeat the request.
* https never becomes http.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from webseam.egress import refusals
from webseam.egress.decoding import ACCEPT_ENCODING
from webseam.egress.urls import join, parse
from webseam.errors import DoorError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from webseam.egress.urls import Url
    from webseam.seam.contract import HttpRequest

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CROSSES_ORIGINS: Final = frozenset({"accept", "accept-language"})
_OURS: Final = frozenset({"accept-encoding"})  # what we can undo, whatever a caller copied from a manual
# Framing and connection headers are the door's: a caller's could desynchronise a connection that others reuse.
_REFUSED: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"}
)
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}")  # token of RFC 9110, section 5.6.2
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]*")
_HEADER_VALUE_CHARS: Final = 16_384


class Leg(NamedTuple):
    """What is sent to one origin; `headers` are those beside the standard ones. `asked` is where the caller began; `own` says
    that no leg so far left its origin."""

    url: Url
    method: str
    headers: Mapping[str, str]
    body: bytes
    asked: Url
    own: bool = True
    seen: frozenset[tuple[str, str]] = frozenset()

    @property
    def from_elsewhere(self) -> Url | None:
        """The asked URL when this leg is a redirect from another origin, else None: the refusals' wording turns on it."""
        return None if self.own else self.asked


def standard_headers(user_agent: str) -> dict[str, str]:
    """What goes with every leg, unless the caller's own Accept or User-Agent takes its place."""
    return {"User-Agent": user_agent, "Accept": "*/*", "Accept-Encoding": ACCEPT_ENCODING}


def first_leg(request: HttpRequest) -> Leg:
    """The leg that `request` asks for. Raises `DoorError` (`invalid_url`, `blocked_scheme`, `invalid_request`)."""
    url = parse(request.url)
    method = request.method.upper()
    if method not in _METHODS:
        raise _invalid_request(url, f"the method must be one of {', '.join(sorted(_METHODS))}")
    if not request.headers:
        return Leg(url, method, {}, request.body, url)
    names: dict[str, str] = {}
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        key = name.lower()
        if not _HEADER_NAME.fullmatch(name):
            raise _invalid_request(url, "a header's name holds a character that it may not hold")
        if not _HEADER_VALUE.fullmatch(value) or len(value) > _HEADER_VALUE_CHARS:
            raise _invalid_request(
                url, f"the value of the header {name} holds a line break or control character, or is too long"
            )
        if key in _REFUSED or key.startswith("proxy-"):
            raise _invalid_request(url, f"the header {name} is set by the door alone")
        if key in _OURS:
            continue
        headers.pop(names.get(key, name), None)
        names[key] = name
        headers[name] = value
    return Leg(url, method, headers, request.body, url)


def redirected(leg: Leg, status: int, location: str) -> Leg:
    """The leg that a redirect leads to. Raises `DoorError` when it may not be followed; the address is judged later."""
    try:
        url = join(leg.url, location)
    except DoorError as error:
        raise DoorError(
            f"{leg.url.authority} redirects to an address that cannot be followed. {error}", kind=error.kind
        ) from None
    if leg.url.scheme == "https" and url.scheme == "http":
        raise DoorError(
            f"{leg.url.authority} redirects from https down to http ({url.authority}), which is refused: "
            "ask for the http URL itself if you trust it.",
            kind="blocked_scheme",
            url=url.origin,
        )
    stays = url.origin == leg.url.origin
    method, body, headers = leg.method, leg.body, dict(leg.headers)
    if status in (301, 302, 303) and method not in ("GET", "HEAD"):
        method, body = "GET", b""
        headers = {name: value for name, value in headers.items() if not name.lower().startswith("content-")}
    if not stays:
        if body or method not in ("GET", "HEAD"):
            raise refusals.bad_reply(leg.url, f"it redirects a {method} request to another origin ({url.authority})")
        headers = {name: value for name, value in headers.items() if name.lower() in _CROSSES_ORIGINS}
    seen = leg.seen | {(leg.method, leg.url.href)}
    if (method, url.href) in seen:
        raise DoorError(
            f"{leg.asked.authority} redirects in a circle (some sites do so when cookies are not kept): ask for another page.",
            kind="too_many_redirects",
            url=url.origin,
        )
    return leg._replace(url=url, method=method, headers=headers, body=body, own=leg.own and stays, seen=seen)


def _invalid_request(url: Url, why: str) -> DoorError:
    return DoorError(
        f"The request to {url.authority} cannot be sent: {why}. Change it.", kind="invalid_request", url=url.origin
    )
