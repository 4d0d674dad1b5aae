"""The words of the door's refusals. Each first line says what was refused and the command or the change that would help.

No text here ever holds an address that a name resolved to: who may ask for a name need not learn the network behind it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from webseam.errors import DoorError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

    from webseam.egress.urls import Url

ROBOTS_SETTINGS: Final = {"reading": "builtin", "index": "index"}
"""Which engine has the setting `robots` for a purpose."""


def allow_command(url: Url, purpose: str) -> str:
    """The command that would make the exception, with what it is for: "`webseam allow localhost:3000` (for reading)"."""
    # The brackets of IPv6 are a pattern to some shells; these quotes are understood by all of them, cmd.exe too.
    authority = f'"{url.authority}"' if url.host.startswith("[") else url.authority
    option = "" if purpose == "reading" else f" --for {purpose}"
    kind, _, name = purpose.partition(":")
    return f"`webseam allow {authority}{option}` (for {f'the {kind} {name}' if name else purpose})"


def private_address(url: Url, purpose: str, *, resolved: bool, asked: Url | None) -> DoorError:
    """`url` is, or (`resolved`) its name leads to, a private address. `asked` is where a redirect from elsewhere began."""
    what = "resolves to a private address" if resolved else "is a private address"
    if asked is not None:
        text = (
            f"{asked.authority} redirects to {url.authority}, which {what}: exceptions never apply to a redirect from "
            "elsewhere. If you trust it, ask for that address itself."
        )
    else:
        text = f"{url.authority} {what} and private addresses are refused: if you trust it, run {allow_command(url, purpose)}."
    return DoorError(text, kind="blocked_address", url=url.origin)


def never_address(url: Url, why: str, *, resolved: bool, asked: Url | None) -> DoorError:
    """An address that no exception opens. `why` is shown only for one that was written down."""
    what = (
        "resolves to an address that is always refused (link-local, cloud metadata, multicast or reserved)"
        if resolved
        else f"is always refused ({why})"
    )
    where = f"{asked.authority} redirects to {url.authority}, which" if asked is not None else url.authority
    return DoorError(
        f"{where} {what}: no exception can open it. Ask for a public page.", kind="blocked_address", url=url.origin
    )


def own_listener(url: Url) -> DoorError:
    """Our own listening socket: a page must not be able to talk to Webseam through Webseam."""
    return DoorError(
        f"{url.authority} is an address Webseam itself listens on, and it never fetches from itself: no exception can open it.",
        kind="blocked_address",
        url=url.origin,
    )


def port_closed(url: Url, purpose: str, ports: Iterable[int], *, asked: Url | None) -> DoorError:
    """A port that is not open for public hosts."""
    *some, last = map(str, sorted(ports))
    opened = f"{', '.join(some)} and {last}" if some else last
    if asked is not None:
        text = (
            f"{asked.authority} redirects to {url.authority}, and a redirect from elsewhere may only use the ports {opened}: "
            "if you trust it, ask for that address itself."
        )
    else:
        text = (
            f"{url.authority} is not on one of the ports open for public hosts ({opened}): "
            f"if you trust it, run {allow_command(url, purpose)}."
        )
    return DoorError(text, kind="blocked_port", url=url.origin)


def too_large(url: Url, what: str, limit: int) -> DoorError:
    """`what` ("The reply of", "The headers of") was more than `limit` bytes."""
    return DoorError(
        f"{what} {url.authority} is larger than {limit:,} bytes, the most that is read: ask for a smaller page.",
        kind="too_large",
        url=url.origin,
    )


def no_room(url: Url, seconds: float) -> DoorError:
    """All the room for large replies was taken by others for as long as the call could wait."""
    return DoorError(
        f"{url.authority} sends a large reply, and too many others were being read for it to be within {seconds:.3g} s: "
        "ask again, for fewer pages at once.",
        kind="timeout",
        url=url.origin,
    )


def no_turn(url: Url, seconds: float) -> DoorError:
    """Others were asking, and this request did not come to its turn for as long as it could wait."""
    return DoorError(
        f"Too many requests are waiting, and the one to {url.authority} had no turn within {seconds:.3g} s: "
        "ask again, for fewer pages at once.",
        kind="timeout",
        url=url.origin,
        unsent=True,
    )


def left_alone(url: Url, seconds: float) -> DoorError:
    """The host answered with `Retry-After` before, and that time is not over."""
    return DoorError(
        f"{url.host} asked to be left alone for another {math.ceil(seconds)} s (Retry-After): try again then.",
        kind="rate_limited",
        url=url.origin,
        retry_after=seconds,
        unsent=True,
    )


def robots(url: Url, reason: str, purpose: str, *, failed: bool) -> DoorError:
    """robots.txt disallows the page, or (`failed`) could not be had, which counts as much."""
    engine = ROBOTS_SETTINGS.get(purpose)
    command = f", or, if you have the site's permission, run `webseam set {engine} robots warn`" if engine else ""
    return DoorError(f"{reason}{'. Try again later' if failed else ': respect that'}{command}.", kind="robots", url=url.origin)


def bad_reply(url: Url, why: str) -> DoorError:
    """The other side sent something that HTTP does not allow or that we do not take."""
    return DoorError(
        f"{url.authority} sent a reply that cannot be read: {why}. Try again later, or another page.",
        kind="bad_reply",
        url=url.origin,
    )


def not_cached(url: Url, *, unconfirmed: bool) -> DoorError:
    """Only a stored copy was wanted. `unconfirmed`: there is one, and the site forbids to show it without being asked."""
    if unconfirmed:
        text = f"{url.authority} does not allow the stored copy to be shown without asking it first: leave cache=only out."
    else:
        text = f"There is no stored copy of this page of {url.authority}, and cache=only asks nobody: leave cache=only out."
    return DoorError(text, kind="not_cached", url=url.origin)


def never_cached(url: Url, *, switched_off: bool) -> DoorError:
    """Only a stored copy was wanted, of what is never stored."""
    if switched_off:
        why = "the cache is switched off: set WEBSEAM_CACHE or `cache` in config.toml to on, or leave cache=only out"
    else:
        why = "what is asked for with credentials or headers of its own is never stored: leave cache=only out"
    return DoorError(f"There is no stored copy of this page of {url.authority}, and {why}.", kind="not_cached", url=url.origin)
