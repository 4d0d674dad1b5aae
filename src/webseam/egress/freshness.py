"""HTTP's rules of caching (RFC 9111) for a private cache, as functions of headers and times. No IO.

Where the standard leaves a choice, the stricter one is taken: a directive that cannot be read makes a reply stale, `no-cache`
with a list of fields counts for all of it, the smaller of two values counts. `private`, `s-maxage`, `proxy-revalidate` and
`public` say nothing to a cache of one account. `immutable` neither: what is fresh is not asked about again anyway, and who asks
for a new copy gets one.

Header names are lower case here, repeated headers joined by ", ", as in `seam.contract.HttpReply`. Times are in seconds since
1970.
"""

from __future__ import annotations

import datetime as dt
import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

MOST_SECONDS: Final = 30 * 86_400.0  # fresh at most this long, whatever the site says
MOST_HEURISTIC_SECONDS: Final = 86_400.0
MOST_MISSING_SECONDS: Final = 3_600.0  # "there is no such page" is believed no longer
HEURISTIC_PART: Final = 0.1  # of the time that a page has been as it is (section 4.2.2)

_PLAIN: Final = frozenset({200, 203, 300, 301, 308})
_WHEN_SAID: Final = frozenset({302, 307, 404, 410})  # kept only where the site says how long
_MISSING: Final = frozenset({404, 410})
_PASSING: Final = frozenset({408, 425, 429})  # with 5xx: says nothing about what is kept

# What a 304 does not change: the kept body has been decoded and measured, and its type is that of its own reply.
_OF_THE_BODY: Final = frozenset({"content-encoding", "content-length", "content-range", "content-type", "transfer-encoding"})
_OF_THE_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
_DIRECTIVE: Final = re.compile(r"""([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^,\s]*)))?""")
_MOST_DIRECTIVES: Final = 64
_ETAG: Final = re.compile(r"[\x21-\x7e]{1,1024}")
_DATE_CHARS: Final = 64


class Received(NamedTuple):
    """A reply as it was received: asked for at `requested_at`, whole at `responded_at`."""

    status: int
    headers: Mapping[str, str]
    requested_at: float
    responded_at: float


def may_keep(received: Received) -> bool:
    """Whether a cache of one account may keep the reply to a plain GET (section 3)."""
    status, headers = received.status, received.headers
    if "no-store" in directives(headers) or "set-cookie" in headers or "content-range" in headers:
        return False
    if "*" in _names(headers.get("vary", "")):
        return False
    return status in _PLAIN or (status in _WHEN_SAID and lifetime(received) > 0)


def replaces(status: int) -> bool:
    """Whether a reply of that status, though it is not kept, means that what was kept before is not the page any more."""
    return status < 500 and status not in _PASSING


def is_fresh(received: Received, now: float) -> bool:
    """Whether the reply may be used without asking the site (section 4.2). Never one from the future: a clock was set back."""
    if "no-cache" in directives(received.headers) or received.responded_at > now:
        return False
    return lifetime(received) > age(received, now)


def may_be_stale(headers: Mapping[str, str]) -> bool:
    """Whether the reply may be shown stale, without asking the site, to somebody who wants it so (section 4.2.4)."""
    return not {"no-cache", "must-revalidate"} & directives(headers).keys()


def lifetime(received: Received) -> float:
    """How long the reply is fresh, in seconds from when the site made it (section 4.2.1)."""
    status, headers = received.status, received.headers
    made = _date(headers.get("date")) or received.responded_at
    said = directives(headers).get("max-age")
    if said is not None:
        seconds = min(_seconds(value) or 0.0 for value in said)
    elif "expires" in headers:
        expires = _date(headers["expires"])
        seconds = expires - made if expires is not None else 0.0
    elif status in _PLAIN and (changed := _date(headers.get("last-modified"))) is not None:
        seconds = min((made - changed) * HEURISTIC_PART, MOST_HEURISTIC_SECONDS)
    else:
        seconds = 0.0
    return max(0.0, min(seconds, MOST_MISSING_SECONDS if status in _MISSING else MOST_SECONDS))


def age(received: Received, now: float) -> float:
    """How long ago the site made, or last confirmed, the reply, in seconds (section 4.2.3)."""
    headers = received.headers
    made = _date(headers.get("date"))
    apparent = max(0.0, received.responded_at - made) if made is not None else 0.0
    on_its_way = max(0.0, received.responded_at - received.requested_at)
    said = _seconds(headers.get("age", "").partition(",")[0].strip()) or 0.0
    return max(apparent, said + on_its_way) + max(0.0, now - received.responded_at)


def validators(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that asks whether a kept reply is still right (section 4.3.1); empty when there are none."""
    asking: dict[str, str] = {}
    etag, changed = headers.get("etag", ""), headers.get("last-modified", "")
    if _ETAG.fullmatch(etag):
        asking["If-None-Match"] = etag
    if changed.isascii() and _date(changed) is not None:
        asking["If-Modified-Since"] = changed
    return asking


def confirms(headers: Mapping[str, str], kept: Mapping[str, str]) -> bool:
    """Whether a 304 with `headers` is about the reply that is `kept`: its validators, if it names any, are the same (4.3.4)."""
    etag, known = headers.get("etag"), kept.get("etag")
    if etag is not None:
        if known is not None:
            return etag.removeprefix("W/") == known.removeprefix("W/")
        return etag.startswith("W/")
    changed = headers.get("last-modified")
    return known is not None or changed is None or changed == kept.get("last-modified")


def confirmed(headers: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    """The headers of the `kept` reply after a 304 with `headers` (section 3.2).

    Date and Age are those of the 304 or none: they say when the site last spoke.
    """
    stays = {name: value for name, value in kept.items() if name not in ("date", "age")}
    return stays | {name: value for name, value in worth_keeping(headers).items() if name not in _OF_THE_BODY}


def worth_keeping(headers: Mapping[str, str]) -> dict[str, str]:
    """`headers` without those of the connection that they came by (section 3.1)."""
    named = _OF_THE_CONNECTION | _names(headers.get("connection", ""))
    return {name: value for name, value in headers.items() if name not in named}


def selecting(vary: str, asked: Mapping[str, str]) -> dict[str, str]:
    """The values, in the headers `asked` with, of those that `vary` names (section 4.1); "" for one that is not there."""
    present = {name.lower(): " ".join(value.split()) for name, value in asked.items()}
    return {name: present.get(name, "") for name in sorted(_names(vary))}


def directives(headers: Mapping[str, str]) -> dict[str, list[str]]:
    """Cache-Control, as lower-case directives with the values each has; one that has none has "" (section 5.2)."""
    value = headers.get("cache-control")
    found: dict[str, list[str]] = {}
    if value is None:
        return found
    for number, match in enumerate(_DIRECTIVE.finditer(value)):
        if number == _MOST_DIRECTIVES:
            return {"no-store": [""]}  # nobody means this
        found.setdefault(match[1].lower(), []).append(match[2] or match[3] or "")
    return found


def _names(text: str) -> set[str]:
    return {name for part in text.split(",") if (name := part.strip().lower())}


def _seconds(text: str) -> float | None:
    """A delta-seconds (section 1.2.2); None when it is none."""
    if not text.isascii() or not text.isdecimal():
        return None
    return float(text) if len(text) <= 10 else float(2**31)


def _date(text: str | None) -> float | None:
    """An HTTP date in any of its three forms, as seconds since 1970; None when it is none."""
    if not text or len(text) > _DATE_CHARS:
        return None
    try:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo is not None else when.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
