"""robots.txt with the meaning of RFC 9309, fetched through the same door as everything else.

* 2xx: its rules count, of the first 500 KB. 4xx, or more redirects than we follow: everything is allowed (section 2.3.1.3).
* 5xx, no answer, an answer that cannot be read, a redirect that is refused: nothing is allowed, for a minute (section 2.3.1.4).
  When there is no connection at all that is not kept: the page cannot be had either, and the next try may do.
* A `trusted` origin, one that the owner allowed (a server of their own), forbids only what its robots.txt forbids or a 5xx
  answers: that there is none to be had, as with many a server under development, forbids nothing.
* That it was our own turn or room that did not come, or that the host asked to be left alone, says nothing about the site.

`protego` matches paths. It is given one group only, ours: a file of many user agents and many rules costs it their product
(500 KB can be made into hours), and it takes `User-agent: web` for us. `relevant` picks the group by the whole product token.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

from protego import Protego

from webseam.config import LIMITS
from webseam.errors import DoorError
from webseam.seam.contract import RobotsVerdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Final

    from webseam.egress.urls import Url
    from webseam.seam.contract import HttpReply

    Fetch = Callable[[str, float], Awaitable[HttpReply]]

PRODUCT: Final = "webseam"
SECONDS: Final = 10.0  # to get one robots.txt, within what the call has left
FAILURE_KEPT_SECONDS: Final = 60.0
MOST_DELAY: Final = 30.0
MOST_SITEMAPS: Final = 100
MOST_RULES: Final = 10_000  # of one group; the time to read them is bounded by this
MOST_RULE_CHARS: Final = 2_048
MOST_ENTRIES: Final = 1_000
MOST_BYTES: Final = 32 * 1024 * 1024  # of all that is kept, about
BYTES_OF_A_CHARACTER: Final = 30  # what rules take in memory for each of their text

# Possessive, so that what does not match is known to after one look: these run over 500 KB of a stranger's in the event loop.
_USER_AGENT: Final = re.compile(r"user[ -]?agent(?:\s*+:|\s)\s*+(.*)", re.IGNORECASE)
_SITEMAP: Final = re.compile(r"site-?maps?(?:\s*+:|\s)\s*+(https?://\S+)", re.IGNORECASE)
_RULE: Final = re.compile(r"(?:dis)?allow|crawl[ -]delay|request[ -]rate|dis+al+ow|diasllow|disallaw", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[A-Za-z_-]+|\*")
_REFUSED: Final = frozenset({"blocked_address", "blocked_port", "blocked_scheme", "invalid_url"})


class Rules(NamedTuple):
    """What one origin's robots.txt says to us. `rules` is None when everything, or (`disallowed`) nothing, is allowed.

    `seconds` is how long that counts. `unreachable` is what the network said when there was no connection.
    """

    rules: Protego | None
    disallowed: str = ""
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()
    size: int = 0
    seconds: float = LIMITS.robots_kept_seconds
    unreachable: DoorError | None = None

    def verdict(self, url: Url) -> RobotsVerdict:
        """The answer for one URL of the origin."""
        if self.disallowed:
            return RobotsVerdict(False, self.delay, self.sitemaps, self.disallowed)
        if self.rules is None or self.rules.can_fetch(url.href, PRODUCT):
            return RobotsVerdict(True, self.delay, self.sitemaps)
        reason = f"robots.txt of {url.host} disallows this page for {PRODUCT}"
        return RobotsVerdict(False, self.delay, self.sitemaps, reason)


class Robots:
    """The rules of the origins seen lately, kept by account, purpose and origin; bounded in number and size.

    `seconds` is what one robots.txt may take.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, seconds: float = SECONDS) -> None:
        self._clock = clock
        self._seconds = seconds
        self._kept: OrderedDict[tuple[str, str, str], tuple[float, Rules]] = OrderedDict()
        self._bytes = 0
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    async def verdict(
        self, fetch: Fetch, who: tuple[str, str], url: Url, over: Callable[[], bool] = lambda: False
    ) -> RobotsVerdict:
        """What robots.txt says about `url`; as `rules`."""
        return (await self.rules(fetch, who, url, over)).verdict(url)

    def kept(self, who: tuple[str, str], url: Url) -> Rules | None:
        """The rules of the URL's origin, if they are known."""
        return self._find((*who, url.origin))

    async def rules(
        self, fetch: Fetch, who: tuple[str, str], url: Url, over: Callable[[], bool] = lambda: False, *, trusted: bool = False
    ) -> Rules:
        """What robots.txt of the URL's origin says. `fetch(url, seconds)` gets it; `who` is account and purpose.

        Raises `DoorError` when the origin itself is refused or wants to be left alone, or when the call is `over` or waits for
        something of ours: that says nothing about the site.
        """
        key = (*who, url.origin)
        rules = self._find(key)
        if rules is None:
            # One at a time: those that come meanwhile wait and find what the first one kept. A first one that is cancelled
            # keeps nothing, and the next one asks.
            lock = self._locks.setdefault(key, asyncio.Lock())
            async with lock:
                rules = self._find(key)
                if rules is None:
                    rules = await _rules(fetch, url, over, trusted, self._seconds)
                    self._keep(key, rules)
        return rules

    def _find(self, key: tuple[str, str, str]) -> Rules | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        until, rules = kept
        if self._clock() >= until:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return rules

    def _keep(self, key: tuple[str, str, str], rules: Rules) -> None:
        if not rules.seconds:
            return
        self._kept[key] = (self._clock() + rules.seconds, rules)
        self._bytes += rules.size
        while len(self._kept) > MOST_ENTRIES or (self._bytes > MOST_BYTES and len(self._kept) > 1):
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[str, str, str]) -> None:
        _, rules = self._kept.pop(key)
        self._bytes -= rules.size


async def _rules(fetch: Fetch, url: Url, over: Callable[[], bool], trusted: bool, seconds: float) -> Rules:
    try:
        reply = await fetch(f"{url.origin}/robots.txt", seconds)
    except DoorError as error:
        if error.kind == "too_many_redirects":
            return Rules(None)
        if over() or error.kind == "rate_limited" or (error.kind in _REFUSED and error.url == url.origin):
            raise
        no_connection = error.unsent or error.kind in ("dns", "tls")
        unreachable = error if no_connection and error.url == url.origin else None
        kept = FAILURE_KEPT_SECONDS if unreachable is None else 0.0
        if trusted:
            return Rules(None, seconds=kept)
        said = str(error).partition("\n")[0].rstrip(".")
        why = f"robots.txt of {url.host} could not be read, which counts as a refusal (RFC 9309): {said}"
        return Rules(None, why, seconds=kept, unreachable=unreachable)
    if 200 <= reply.status < 300:
        return read(reply.body)
    if 300 <= reply.status < 500:
        # "Later" is no statement on what is allowed: it is asked again soon.
        return Rules(None, seconds=FAILURE_KEPT_SECONDS if reply.status == 429 else LIMITS.robots_kept_seconds)
    why = f"robots.txt of {url.host} answered with status {reply.status}, which counts as a refusal (RFC 9309)"
    return Rules(None, why, seconds=FAILURE_KEPT_SECONDS)


def read(body: bytes) -> Rules:
    """The rules in a robots.txt. Anything can be read; what makes no sense says nothing."""
    text, sitemaps = relevant(body.decode("utf-8-sig", "replace"), PRODUCT)
    size = len(text) * BYTES_OF_A_CHARACTER + sum(map(len, sitemaps))
    if not text:
        return Rules(None, sitemaps=sitemaps, size=size)
    rules = Protego.parse(text)
    return Rules(rules, delay=_delay(rules), sitemaps=sitemaps, size=size)


def _delay(rules: Protego) -> float:
    """Seconds between two requests, within `MOST_DELAY`; what is no number of seconds is none."""
    try:
        rate = rules.request_rate(PRODUCT)
        delay = max(rules.crawl_delay(PRODUCT) or 0.0, rate.seconds / rate.requests if rate and rate.requests else 0.0)
    except (ArithmeticError, ValueError):  # a number of four hundred digits
        return 0.0
    return min(delay, MOST_DELAY) if delay > 0 else 0.0


def relevant(text: str, product: str) -> tuple[str, tuple[str, ...]]:
    """The rules of the one group that counts for `product` (else of `*`), as a file of that group alone, and the sitemaps.

    Groups of one user agent are merged, and a user agent's line after a rule begins a new group (section 2.2.1).
    """
    groups: dict[str, list[str]] = {product: [], "*": []}
    named = False
    current: set[str] = set()
    in_rules = False
    sitemaps: dict[str, None] = {}
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        if agent := _USER_AGENT.match(line):
            if in_rules:
                current, in_rules = set(), False
            token = _TOKEN.match(agent[1])
            name = token[0].lower() if token else ""
            named = named or name == product
            current |= {name} & groups.keys()
        elif sitemap := _SITEMAP.match(line):
            if len(sitemaps) < MOST_SITEMAPS and len(sitemap[1]) <= LIMITS.url_chars:
                sitemaps[sitemap[1]] = None
        elif _RULE.match(line):
            in_rules = True
            for name in current:
                if len(groups[name]) < MOST_RULES and len(line) <= MOST_RULE_CHARS:
                    groups[name].append(line)
    rules = groups[product if named else "*"]
    return "\n".join([f"User-agent: {product}", *rules]) if rules else "", tuple(sitemaps)
