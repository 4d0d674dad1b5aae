"""One reply: its headers cleaned, its body read within the bounds and decoded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import HttpVersion10, HttpVersion11

from webseam.config import LIMITS
from webseam.egress import refusals
from webseam.egress.decoding import Decoder, TooMuchError, UndecodableError, codings
from webseam.egress.legs import REDIRECTS
from webseam.seam.contract import HttpReply

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Final

    from aiohttp import ClientResponse

    from webseam.call import Step
    from webseam.egress.dialer import CountedHandler
    from webseam.egress.legs import Leg
    from webseam.egress.rooms import Claim
    from webseam.egress.urls import Url
    from webseam.seam.contract import CacheMode, RobotsPolicy

_NO_BODY: Final = frozenset({204, 205, 304})
_ENCODED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # untrue once decoded
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Bounds(NamedTuple):
    """What is wanted: at most `limit` bytes of body, `cut` there or refused; nothing of a redirect's that is to be followed.

    `cache` and `robots` are the door's: whether what is kept will do, and what robots.txt is to whatever is not.
    """

    limit: int
    follow: bool = False
    cut: bool = False
    cache: CacheMode = "off"
    robots: RobotsPolicy = "ignore"


async def read(
    response: ClientResponse, handler: CountedHandler, leg: Leg, step: Step, bounds: Bounds, claim: Claim
) -> HttpReply:
    """The whole reply, decoded; a large body waits for room.

    Raises `DoorError` (`too_large`, `bad_reply`) and what aiohttp raises.
    """
    handler.expect_body()
    if response.version not in (HttpVersion10, HttpVersion11):
        raise refusals.bad_reply(leg.url, "it is not valid HTTP/1.1")
    if response.status == 101:
        raise refusals.bad_reply(leg.url, "it switches to a protocol that was not asked for")
    # What came so far is more than the headers, so only then are they measured.
    if handler.received > LIMITS.header_bytes and _size(response.raw_headers) > LIMITS.header_bytes:
        raise refusals.too_large(leg.url, "The headers of", LIMITS.header_bytes)
    headers = _headers(response.headers)
    redirects = bounds.follow and response.status in REDIRECTS and "location" in headers
    if redirects:
        locations = set(response.headers.getall("Location"))
        if len(locations) > 1:
            raise refusals.bad_reply(leg.url, "it redirects to several addresses at once")
        headers["location"] = locations.pop()  # byte for byte: it is about to be read as a URL
    if redirects or leg.method == "HEAD" or response.status in _NO_BODY:
        return HttpReply(response.status, headers, b"", leg.url.href)
    content = response.content
    try:
        coded = headers.get("content-encoding")
        names = codings(coded) if coded else []
        if not names and content.is_eof() and content.exception() is None and content.total_bytes <= LIMITS.body_small_bytes:
            body = _small(content.read_nowait(), leg.url, step, bounds)  # without a step of the event loop
        else:
            body = await _body(response, names, leg.url, step, bounds, claim)
    except UndecodableError as error:
        raise refusals.bad_reply(leg.url, str(error)) from None
    except TooMuchError:
        raise refusals.too_large(leg.url, "The decompressed reply of", LIMITS.body_bytes) from None
    if names:
        headers = {name: value for name, value in headers.items() if name not in _ENCODED}
    return HttpReply(response.status, headers, body, leg.url.href)


def _small(body: bytes, url: Url, step: Step, bounds: Bounds) -> bytes:
    """A body that is there whole, plain and small."""
    step.detail["bytes"] = len(body)
    if len(body) <= bounds.limit:
        return body
    if bounds.cut:
        return body[: bounds.limit]
    raise refusals.too_large(url, "The reply of", bounds.limit)


async def _body(response: ClientResponse, names: list[str], url: Url, step: Step, bounds: Bounds, claim: Claim) -> bytes:
    """The decoded body within the bounds. What is left unread closes the connection."""
    declared = response.content_length
    most = LIMITS.wire_bytes if names else min(LIMITS.wire_bytes, bounds.limit)
    if declared is not None and declared > most and not bounds.cut:
        raise refusals.too_large(url, "The reply of", most)
    decoder = Decoder(names, LIMITS.body_bytes) if names else None
    pieces: list[bytes] = []
    wire = size = 0
    content = response.content
    while chunk := await content.readany():
        wire += len(chunk)
        step.detail["bytes"] = wire
        if wire > LIMITS.wire_bytes:
            raise refusals.too_large(url, "The reply of", LIMITS.wire_bytes)
        for piece in (chunk,) if decoder is None else decoder.feed(chunk):
            size += len(piece)
            pieces.append(piece)
            if size > bounds.limit:
                if bounds.cut:
                    return b"".join(pieces)[: bounds.limit]
                raise refusals.too_large(url, "The decompressed reply of" if names else "The reply of", bounds.limit)
            if size > LIMITS.body_small_bytes:
                await claim.grow(size)
    if decoder is not None:
        decoder.finish()
    return b"".join(pieces)


def _size(headers: Iterable[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) for name, value in headers)


def _headers(received: Mapping[str, str]) -> dict[str, str]:
    """Lower-case names, repeated ones joined, bytes that are no UTF-8 as Latin-1, control characters as spaces."""
    headers: dict[str, str] = {}
    for name, value in received.items():
        if not value.isprintable():
            value = _CONTROL.sub(" ", value.encode("utf-8", "surrogateescape").decode("latin-1"))
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
