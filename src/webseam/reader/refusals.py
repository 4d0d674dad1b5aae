"""Replies that are no page: each HTTP status as the error whose first line says what it means and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webseam.errors import DoorError
from webseam.seam.waiting import retry_after

if TYPE_CHECKING:
    from webseam.seam.contract import HttpReply

PLACE_CHARS = 200

_ADVICE = {
    204: "has no content",
    205: "has no content",
    300: "offers several versions and names none: ask for one of them",
    304: "says that nothing has changed, which was not asked",
    400: "does not understand the address: check its spelling",
    401: "wants a sign-in, which this reader cannot do: look for a public page with the same content",
    402: "wants to be paid: look for a public page with the same content",
    403: "refuses this reader (it may want a sign-in, or no automated readers): look for the same content elsewhere",
    404: "has no such page: check the address, or search for the page",
    405: "cannot be read with a plain GET: look for a page that can",
    406: "has no version that this reader takes (Markdown, HTML, text): look for the same content elsewhere",
    407: "is behind a proxy that wants a sign-in",
    408: "gave up waiting: try again",
    410: "says the page is gone for good: search for the same content elsewhere",
    414: "finds the address too long: shorten it",
    421: "does not serve this name: check the address",
    425: "does not want to be asked yet: try again",
    429: "limits how often it may be asked",
    451: "may not show the page for legal reasons: search for the same content elsewhere",
    500: "has a fault of its own: try again later",
    502: "has a fault behind it: try again later",
    503: "is overloaded or being worked on",
    504: "has something slow behind it: try again later",
}


def refuse_status(reply: HttpReply, note: str = "") -> None:
    """Raise what a reply without a page means: `DoorError`, `rate_limited` or `http_status`, with `retry_after`.

    `note` is said on a line of its own, the last.
    """
    status = reply.status
    if 200 <= status < 300 and status not in (204, 205):
        return
    advice = _ADVICE.get(status)
    if advice is None:
        advice = _of_its_class(status, reply)
    wait = retry_after(reply.headers)
    limited = status == 429 or (status == 503 and wait is not None)
    if status in (429, 503):
        advice += f": try again in {wait:.0f} s" if wait is not None else ": try again later"
    if status in (403, 503) and _is_challenge(reply):
        advice = "lets only browsers in that pass its check for robots: look for the same content elsewhere"
    raise DoorError(
        f"{place(reply.url)} {advice} (status {status}).\n{note}".strip(),
        kind="rate_limited" if limited else "http_status",
        url=place(reply.url),
        status=status,
        retry_after=wait,
    )


def empty_reply(reply: HttpReply, note: str = "") -> DoorError:
    """A page without a byte in it; `note` is said on a line of its own."""
    return DoorError(
        f"{place(reply.url)} answered with nothing at all (status {reply.status}): try again, or look for the same content "
        f"elsewhere.\n{note}".strip(),
        kind="http_status",
        url=place(reply.url),
        status=reply.status,
    )


def place(url: str) -> str:
    """An address for a sentence: without its query, which may hold what is nobody's business, and not too long."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "The address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:PLACE_CHARS]


def _of_its_class(status: int, reply: HttpReply) -> str:
    if 300 <= status < 400:
        where = "" if reply.headers.get("location") else " without saying where"
        return f"redirects{where}: ask for the page it means"
    if 400 <= status < 500:
        return "refuses the request: check the address, or look for the same content elsewhere"
    if 500 <= status < 600:
        return "has a fault of its own: try again later"
    return "answered with a status that is not for pages: look for the same content elsewhere"


def _is_challenge(reply: HttpReply) -> bool:
    """Whether a refusal is a browser check (Cloudflare says so in a header; others are known by what they load)."""
    if reply.headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    head = reply.body[:20_000].lower()
    return b"/cdn-cgi/challenge-platform/" in head or b"captcha-delivery.com" in head or b"px-captcha" in head
