"""Egress: what sends every request of Webseam, and the `Door` that it hands out, bound to a Call and a purpose.

A request is a chain of legs (`legs`), each dialled under its own `Hop` (`dialer`). One deadline, the call's, runs over all of
it: names, connecting, TLS, headers and body. A cancelled call, a cancelled task and a passed deadline all close the connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import aiohttp
import yarl
from aiohttp.http_exceptions import HttpProcessingError

from webseam import __version__
from webseam.config import LIMITS
from webseam.egress import cache, refusals, replies
from webseam.egress.deadlines import Deadline, Deadlines
from webseam.egress.dialer import GuardedConnector, Hop, SystemResolver, hop_now
from webseam.egress.faults import proxy_refused, proxy_trouble, redacted, timed_out, translate
from webseam.egress.legs import REDIRECTS, Leg, first_leg, redirected, standard_headers
from webseam.egress.lookups import Lookups
from webseam.egress.pacing import Rests, Turns
from webseam.egress.replies import Bounds
from webseam.egress.robots import Robots
from webseam.egress.rooms import Claim, Rooms
from webseam.egress.tls import Trust
from webseam.errors import ConfigurationError, DoorError
from webseam.redaction import without_secrets
from webseam.seam.contract import HttpReply, HttpRequest, RobotsVerdict
from webseam.seam.waiting import retry_after

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Iterable, Mapping
    from contextlib import ExitStack
    from types import TracebackType
    from typing import Final

    from webseam.call import Call, Step
    from webseam.egress.addresses import Allowance
    from webseam.egress.cache import Cache
    from webseam.egress.dialer import Resolver, SocketFactory
    from webseam.egress.proxies import Proxies, Proxy
    from webseam.egress.robots import Rules
    from webseam.egress.urls import Url
    from webseam.seam.contract import CacheMode, Door, RobotsPolicy

OPEN_PORTS: Final = frozenset({80, 443, 8080, 8443})
RESTING: Final = frozenset({"reading", "index"})  # the purposes for which a `Retry-After` is remembered; vendors see to theirs
_CLOCKS_DIFFER_BY: Final = 0.05  # seconds: the loop's timers may fire a little before the call's own clock says so
_CONTACT: Final = re.compile(r"[\x21-\x27\x2a-\x7e]{1,200}")  # printable, no space, no parentheses

_bounds: Final = lru_cache(maxsize=256)(Bounds)  # there are few, and one for each request


def default_user_agent() -> str:
    """Who we say we are; WEBSEAM_CONTACT adds how to reach whoever runs this. Raises `ConfigurationError`."""
    contact = os.environ.get("WEBSEAM_CONTACT", "")
    if contact and not _CONTACT.fullmatch(contact):
        raise ConfigurationError(
            "WEBSEAM_CONTACT goes into the User-Agent: change it to one mail address or URL of at most 200 plain characters."
        )
    reach = f"+{contact}" if contact else "set a contact with WEBSEAM_CONTACT"
    return f"webseam/{__version__} (web reader for AI agents; {reach})"


class Egress:
    """The only way out. Does no IO until a door is used; belongs to one event loop until `close`.

    `allowances` gives an account's exceptions and `listeners` our own listening sockets; both are asked anew for every request.
    `ports` are those open on public hosts. `trust` and `proxies` are the operator's settings (see `tls` and `proxies`).
    `resolver`, `tls` (for hosts that do not get to see our certificate) and `sockets` (which makes the socket of an address
    that has already been vetted) replace the system's. `cache` gives an account's HTTP cache, None where nothing is to be kept.
    Raises `ConfigurationError`.
    """

    def __init__(
        self,
        *,
        allowances: Callable[[str], Iterable[Allowance]] = lambda _: (),
        listeners: Callable[[], Iterable[tuple[str, int]]] = lambda: (),
        resolver: Resolver | None = None,
        user_agent: str | None = None,
        ports: frozenset[int] = OPEN_PORTS,
        trust: Trust | None = None,
        proxies: Proxies | None = None,
        tls: ssl.SSLContext | None = None,
        sockets: SocketFactory | None = None,
        cache: Callable[[str], Cache | None] = lambda _: None,
    ) -> None:
        self.allowances = allowances
        self.cache = cache
        self.listeners = listeners
        self.user_agent = user_agent or default_user_agent()
        self.ports = ports
        self.robots = Robots()
        self.rooms = Rooms()
        self.lookups = Lookups()
        self.turns = Turns()
        self.rests = Rests()
        self.resolver: Resolver = resolver or SystemResolver()
        self.trust = trust or Trust()
        self.proxies = proxies
        if proxies is not None:
            proxies.check(self.trust)
        self._tls = tls
        self._sockets = sockets
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadlines: Deadlines | None = None

    def door(self, call: Call, purpose: str) -> Door:
        """A door for one call, for `reading`, `index`, `engine:NAME` or `plugin:NAME`: which exceptions count turns on that."""
        return _Door(self, call, purpose)

    async def close(self) -> None:
        """Close every connection. The Egress may be used again afterwards, also in another event loop."""
        session, self._session, self._loop = self._session, None, None
        self.rooms, self.turns, self.lookups = Rooms(), Turns(), Lookups()
        if self._deadlines is not None:
            self._deadlines.close()
            self._deadlines = None
        if session is not None:
            await session.close()

    def session(self) -> aiohttp.ClientSession:
        """The one aiohttp session: nothing is kept between requests but connections."""
        loop = asyncio.get_running_loop()
        if self._session is None:
            if self._tls is None:
                self._tls = self.trust.context()
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=GuardedConnector(tls=self._tls, sockets=self._sockets),
                headers=standard_headers(self.user_agent),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=LIMITS.connect_seconds),
                max_line_size=LIMITS.header_bytes // 8,
                max_field_size=LIMITS.header_bytes // 2,
                max_headers=LIMITS.header_count,
            )
        elif self._loop is not loop:
            raise RuntimeError("this Egress is used in another event loop: close it there first")
        return self._session

    def deadlines(self) -> Deadlines:
        """Those of the running event loop."""
        if self._deadlines is None:
            self._deadlines = Deadlines(asyncio.get_running_loop())
        return self._deadlines

    def rule(self, call: Call, purpose: str, leg: Leg) -> Allowance | None:
        """The exception that opens the leg's host and port, if there is one and the leg may use it."""
        if not leg.own:
            return None
        wanted = (leg.url.port, leg.url.host, purpose, call.account)
        for allowance in self.allowances(call.account):
            if (allowance.port, allowance.host, allowance.purpose, allowance.account) == wanted:
                return allowance
        return None


class _Door:
    """`seam.contract.Door`."""

    __slots__ = ("_call", "_egress", "_purpose", "_rests", "_running", "_watching")

    def __init__(self, egress: Egress, call: Call, purpose: str) -> None:
        self._egress = egress
        self._call = call
        self._purpose = purpose
        self._rests = purpose in RESTING
        self._running: set[Deadline] = set()
        self._watching = False

    async def send(
        self,
        request: HttpRequest,
        *,
        follow: bool = False,
        max_bytes: int | None = None,
        held: ExitStack | None = None,
        cache: CacheMode = "off",
        robots: RobotsPolicy = "ignore",
    ) -> HttpReply:
        """Send and read the whole reply; see `seam.contract.Door`. Raises `DoorError`."""
        limit = LIMITS.body_bytes if max_bytes is None else max(0, min(max_bytes, LIMITS.body_bytes))
        claim = Claim(self._egress.rooms, self._call.account)
        bounds = _bounds(limit, follow, False, cache, robots)
        if held is not None:
            held.callback(claim.close)
        try:
            leg = first_leg(request)
            with self._within(leg.url, claim):
                return await self._follow(leg, request.secrets, bounds, claim)
        except DoorError as error:
            # Without its cause: aiohttp's exceptions hold URLs, and a traceback in a log would show them.
            raise redacted(error, request.secrets) from None
        finally:
            if held is None:
                claim.close()

    async def robots(self, url: str) -> RobotsVerdict:
        """What robots.txt of the URL's origin says to us; see `seam.contract.Door`.

        Raises `DoorError` when the URL itself is refused or the call is over; any other failure to get robots.txt is a verdict.
        """
        leg, claim = first_leg(HttpRequest(url)), Claim(self._egress.rooms, self._call.account)
        trusted = self._egress.rule(self._call, self._purpose, leg) is not None
        with self._within(leg.url, claim):
            rules = await self._rules(leg, claim, trusted)
        return rules.verdict(leg.url)

    async def _rules(self, leg: Leg, claim: Claim, trusted: bool) -> Rules:
        """The rules of the leg's origin, asked for under the same exceptions as the leg: none for a redirect from elsewhere."""
        egress, call = self._egress, self._call

        async def fetch(url: str, seconds: float) -> HttpReply:
            first = first_leg(HttpRequest(url, headers={"Accept": "text/plain, */*;q=0.1"}))
            first = first._replace(own=leg.own, asked=leg.asked, seen=leg.seen | {(leg.method, leg.url.href)})
            bounds = Bounds(LIMITS.robots_bytes, follow=True, cut=True)
            try:
                with self._within(first.url, claim, seconds):
                    return await self._follow(first, (), bounds, claim)
            finally:
                claim.close()  # who keeps a room waits for nothing else

        return await egress.robots.rules(
            fetch,
            (call.account, self._purpose),
            leg.url,
            over=lambda: claim.waiting or claim.in_line is not None or call.remaining() < _CLOCKS_DIFFER_BY,
            trusted=trusted,
        )

    async def _ask(self, leg: Leg, hop: Hop, policy: RobotsPolicy, claim: Claim) -> None:
        """Raise the refusal of a leg that robots.txt disallows, or note it, as the policy says."""
        rules = self._egress.robots.kept((self._call.account, self._purpose), leg.url)
        rules = rules or await self._rules(leg, claim, hop.rule is not None)
        verdict = rules.verdict(leg.url)
        if verdict.allowed:
            return
        if policy == "warn":
            claim.note(f"{verdict.reason}; it was fetched all the same, as the setting `robots` (warn) says.")
            return
        if rules.unreachable is not None:
            raise rules.unreachable
        raise refusals.robots(leg.url, verdict.reason, self._purpose, failed=bool(rules.disallowed))

    def _within(self, url: Url, claim: Claim, seconds: float | None = None) -> _Within:
        """`with` that lasts as long as the call has left, or `seconds` if that is less. Raises `DoorError` ("timeout")."""
        call = self._call
        left = call.remaining() if seconds is None else min(seconds, call.remaining())
        if left <= 0:
            raise timed_out(url, call.deadline - call.began, cancelled=call.cancelled)
        if not self._watching:
            self._watching = True
            loop, running = asyncio.get_running_loop(), self._running  # not self: the call would hold itself by it
            call.on_cancel(lambda: _in_loop(loop, lambda: _hang_up(running)))
        given = call.deadline - call.began if seconds is None or seconds > left else seconds
        return _Within(self._egress.deadlines(), left, self._running, call, url, claim, given)

    async def _follow(self, leg: Leg, secrets: tuple[str, ...], bounds: Bounds, claim: Claim) -> HttpReply:
        """The legs, one after another, until one is answered by something else than a redirect."""
        for _ in range(LIMITS.redirects + 1):
            host = without_secrets(leg.url.host, secrets) if secrets else leg.url.host
            with self._call.step("http", method=leg.method, host=host) as step:
                reply = await self._one(leg, secrets, bounds, claim, step)
            location = reply.headers.get("location")
            if not bounds.follow or reply.status not in REDIRECTS or location is None:
                return dataclasses.replace(reply, notes=claim.notes) if claim.notes else reply
            leg = redirected(leg, reply.status, location)
        raise DoorError(
            f"{leg.asked.authority} redirects more than {LIMITS.redirects} times: ask for the page it leads to.",
            kind="too_many_redirects",
            url=leg.url.origin,
        )

    def _one(
        self, leg: Leg, secrets: tuple[str, ...], bounds: Bounds, claim: Claim, step: Step
    ) -> Coroutine[Any, Any, HttpReply]:
        """One leg, vetted: what is to be awaited for its reply. Raises `DoorError`."""
        egress = self._egress
        rule = egress.rule(self._call, self._purpose, leg)  # once: what is kept is filed under the one it was got under
        hop = self._hop(leg, rule)
        if bounds.cache == cache.OFF:
            return self._exchange(leg, hop, step, bounds, claim)
        kept = egress.cache(self._call.account)
        certified = egress.trust.certified(leg) is not None  # what is shown to us alone is nobody's to keep
        if kept is None or certified or cache.passes_by(leg, self._purpose, secrets, bounds):
            if bounds.cache == cache.ONLY:
                raise refusals.never_cached(leg.url, switched_off=kept is None)
            return self._exchange(leg, hop, step, bounds, claim)
        key = cache.key(self._call.account, self._purpose, rule, leg.url.href)
        asked = {**standard_headers(egress.user_agent), **leg.headers}
        # A hop for each time the site is asked: it resolves once.
        return kept.reply(
            cache.Wanted(key, leg, {name.lower(): value for name, value in asked.items()}, bounds, claim, step),
            lambda leg: self._exchange(leg, self._hop(leg, rule), step, bounds, claim),
        )

    def _hop(self, leg: Leg, rule: Allowance | None) -> Hop:
        """The hop of the leg, its spelling vetted. Raises `DoorError`."""
        egress = self._egress
        via = egress.proxies.for_url(leg.url) if egress.proxies is not None and rule is None else None
        hop = Hop(
            leg.url,
            rule=rule,
            purpose=self._purpose,
            asked=leg.from_elsewhere,
            listeners=egress.listeners,
            look_up=self._look_up,
            via=via,
        )
        hop.check_spelling(egress.ports)
        return hop

    async def _look_up(self, host: str, port: int) -> list[str]:
        """The addresses of a name, once the account may ask."""
        return await self._egress.lookups.resolve(self._call.account, self._egress.resolver, host, port)

    async def _exchange(self, leg: Leg, hop: Hop, step: Step, bounds: Bounds, claim: Claim) -> HttpReply:
        """The site's own reply to one leg."""
        egress, url, via = self._egress, leg.url, hop.via
        session, proxies = egress.session(), egress.proxies
        options = _through(via, url, egress.user_agent) if via is not None else {}
        if (certified := egress.trust.certified(leg)) is not None:
            options["ssl"] = certified
        turns, account = egress.turns, self._call.account
        # The bounds of one host are for strangers' sites: a vendor has its own, and what the owner allowed is the owner's.
        host = url.origin if self._rests and hop.rule is None else ""
        if bounds.robots != "ignore":
            await self._ask(leg, hop, bounds.robots, claim)
        if self._rests and egress.rests and (left := egress.rests.left(account, url.origin)):
            raise refusals.left_alone(url, left)
        if not turns.enter(account, host):
            await self._in_line(host, url, step, claim)
        token = hop_now.set(hop)
        try:
            if proxies is not None and via is not None:
                step.detail["proxied"] = True
                if not proxies.resolves:
                    await hop.resolve()
            async with session.request(
                leg.method,
                yarl.URL(url.href, encoded=True),
                headers=_headers(leg, via) or None,
                data=_payload(leg.body),
                allow_redirects=False,
                **options,
            ) as response:
                if via is not None and url.scheme == "http" and response.status == 407:
                    raise proxy_refused(url, via, response.status)
                step.detail["status"] = response.status
                assert hop.handler is not None  # set by the connector when it handed out the connection
                reply = await replies.read(response, hop.handler, leg, step, bounds, claim)
                if self._rests and reply.status in (429, 503) and (seconds := retry_after(reply.headers)):
                    egress.rests.begin(account, url.origin, seconds)
                return reply
        # ValueError and RuntimeError: what aiohttp and uvloop raise for some hostile replies and for closed transports.
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, RuntimeError) as error:
            if hop.handler is not None and hop.handler.overrun:
                what = "The reply of" if "status" in step.detail else "The headers of"
                raise refusals.too_large(url, what, hop.handler.most) from None
            trouble = proxy_trouble(error, hop) if via is not None else None
            raise trouble or translate(error, url, proxies_ignored=proxies is None) from None
        finally:
            hop_now.reset(token)
            turns.leave(account, host)

    async def _in_line(self, host: str, url: Url, step: Step, claim: Claim) -> None:
        """Wait for the turn; how long is in the step."""
        claim.close()  # who waits for a turn keeps no room
        began, turns = self._call.clock(), self._egress.turns
        claim.in_line = url  # and stays so when this is cancelled: it tells why
        try:
            await turns.wait(self._call.account, host)
        finally:
            step.detail["waited"] = self._call.clock() - began
        if self._call.remaining() < _CLOCKS_DIFFER_BY:  # those before it ran out of time as well: nothing is asked in vain
            turns.leave(self._call.account, host)
            raise TimeoutError
        claim.in_line = None


class _Within(Deadline):
    """A deadline of one call, whose passing is said as `DoorError`."""

    __slots__ = ("_call", "_claim", "_given", "_running", "_url")

    def __init__(
        self, deadlines: Deadlines, seconds: float, running: set[Deadline], call: Call, url: Url, claim: Claim, given: float
    ) -> None:
        super().__init__(deadlines, seconds)
        self._running = running
        self._call = call
        self._url = url
        self._claim = claim
        self._given = given  # seconds in all, as they are told

    def __enter__(self) -> Deadline:
        self._running.add(self)
        return super().__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._running.discard(self)
        if kind is None and not self.passed:  # most
            self.end()
            return
        try:
            super().__exit__(kind, error, traceback)
            if kind is not TimeoutError:
                return
        except TimeoutError:
            pass
        claim, cancelled = self._claim, self._call.cancelled
        if claim.in_line is not None and not cancelled:
            raise refusals.no_turn(claim.in_line, self._given) from None
        if claim.waiting and not cancelled:
            raise refusals.no_room(self._url, self._given) from None
        raise timed_out(self._url, self._given, cancelled=cancelled) from None


def _payload(body: bytes) -> bytes | io.BytesIO | None:
    """The body as aiohttp wants it: bytes at once, more than a megabyte in pieces."""
    if len(body) > 1024 * 1024:
        return io.BytesIO(body)
    return body or None


def _headers(leg: Leg, via: Proxy | None) -> Mapping[str, str]:
    """The headers of `leg`, and what a proxy is to know when it is the proxy that reads them."""
    if via is None or not via.authorization or leg.url.scheme != "http":
        return leg.headers
    return {**leg.headers, "Proxy-Authorization": via.authorization}


def _through(via: Proxy, url: Url, user_agent: str) -> dict[str, Any]:
    """What aiohttp is told of the proxy: where it is and, for a tunnel, what is sent to it alone."""
    options: dict[str, Any] = {"proxy": yarl.URL(via.url, encoded=True)}
    if url.scheme == "https":
        options["proxy_headers"] = {"User-Agent": user_agent}
        if via.authorization:
            options["proxy_headers"]["Proxy-Authorization"] = via.authorization
    return options


def _hang_up(running: set[Deadline]) -> None:
    for deadline in running:
        deadline.pass_now()


def _in_loop(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Run `callback` in `loop`, from whichever thread; a loop that is gone needs no hanging up."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
