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
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import yarl
from aiohttp.http_exceptions import HttpProcessingError

from webseam import __version__
from webseam.config import LIMITS
from webseam.egress import refusals, replies
from webseam.egress.dialer import GuardedConnector, Hop, SystemResolver, hop_now, tls_context
from webseam.egress.faults import redacted, timed_out, translate
from webseam.egress.legs import REDIRECTS, Leg, first_leg, redirected
from webseam.egress.pacing import Rests, Turns
from webseam.egress.replies import Bounds
from webseam.egress.robots import Robots
from webseam.egress.rooms import Claim, Rooms
from webseam.errors import ConfigurationError, DoorError
from webseam.redaction import without_secrets
from webseam.seam.contract import HttpReply, HttpRequest, RobotsVerdict
from webseam.seam.waiting import retry_after

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Coroutine, Iterable
    from contextlib import ExitStack
    from typing import Final

    from webseam.call import Call, Step
    from webseam.egress.addresses import Allowance
    from webseam.egress.dialer import Resolver, SocketFactory
    from webseam.egress.robots import Rules
    from webseam.egress.urls import Url
    from webseam.seam.contract import Door, RobotsPolicy

Reply = TypeVar("Reply")

OPEN_PORTS: Final = frozenset({80, 443, 8080, 8443})
RESTING: Final = frozenset({"reading", "index"})  # the purposes for which a `Retry-After` is remembered; vendors see to theirs
_CLOCKS_DIFFER_BY: Final = 0.05  # seconds: the loop's timers may fire a little before the call's own clock says so
_CONTACT: Final = re.compile(r"[\x21-\x27\x2a-\x7e]{1,200}")  # printable, no space, no parentheses


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
    `ports` are those open on public hosts. `resolver`, `tls` and `sockets` (which makes the socket of an address that has
    already been vetted) replace the system's.
    """

    def __init__(
        self,
        *,
        allowances: Callable[[str], Iterable[Allowance]] = lambda _: (),
        listeners: Callable[[], Iterable[tuple[str, int]]] = lambda: (),
        resolver: Resolver | None = None,
        user_agent: str | None = None,
        ports: frozenset[int] = OPEN_PORTS,
        tls: ssl.SSLContext | None = None,
        sockets: SocketFactory | None = None,
    ) -> None:
        self.allowances = allowances
        self.listeners = listeners
        self.user_agent = user_agent or default_user_agent()
        self.ports = ports
        self.robots = Robots()
        self.rooms = Rooms()
        self.turns = Turns()
        self.rests = Rests()
        self.resolver: Resolver = resolver or SystemResolver()
        self._tls = tls
        self._sockets = sockets
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def door(self, call: Call, purpose: str) -> Door:
        """A door for one call, for `reading`, `index`, `engine:NAME` or `plugin:NAME`: which exceptions count turns on that."""
        return _Door(self, call, purpose)

    async def close(self) -> None:
        """Close every connection. The Egress may be used again afterwards, also in another event loop."""
        session, self._session, self._loop = self._session, None, None
        self.rooms, self.turns = Rooms(), Turns()
        if session is not None:
            await session.close()

    def session(self) -> aiohttp.ClientSession:
        """The one aiohttp session: nothing is kept between requests but connections."""
        loop = asyncio.get_running_loop()
        if self._session is None:
            if self._tls is None:
                self._tls = tls_context()
            self._loop = loop
            self._session = aiohttp.ClientSession(
                connector=GuardedConnector(tls=self._tls, sockets=self._sockets),
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
        self._running: set[asyncio.Timeout] = set()
        self._watching = False

    async def send(
        self,
        request: HttpRequest,
        *,
        follow: bool = False,
        max_bytes: int | None = None,
        held: ExitStack | None = None,
        robots: RobotsPolicy = "ignore",
    ) -> HttpReply:
        """Send and read the whole reply; see `seam.contract.Door`. Raises `DoorError`."""
        limit = LIMITS.body_bytes if max_bytes is None else max(0, min(max_bytes, LIMITS.body_bytes))
        claim = Claim(self._egress.rooms)
        if held is None:
            with contextlib.closing(claim):
                return await self._send(request, Bounds(limit, follow=follow), claim, robots)
        held.callback(claim.close)
        return await self._send(request, Bounds(limit, follow=follow), claim, robots)

    async def robots(self, url: str) -> RobotsVerdict:
        """What robots.txt of the URL's origin says to us; see `seam.contract.Door`.

        Raises `DoorError` when the URL itself is refused or the call is over; any other failure to get robots.txt is a verdict.
        """
        leg, claim = first_leg(HttpRequest(url), self._egress.user_agent), Claim(self._egress.rooms)
        rules = await self._within(self._rules(leg, claim), leg.url, claim=claim)
        return rules.verdict(leg.url)

    async def _rules(self, leg: Leg, claim: Claim) -> Rules:
        """The rules of the leg's origin, asked for under the same exceptions as the leg: none for a redirect from elsewhere."""
        egress, call = self._egress, self._call

        async def fetch(url: str, seconds: float) -> HttpReply:
            first = first_leg(HttpRequest(url, headers={"Accept": "text/plain, */*;q=0.1"}), egress.user_agent)
            first = first._replace(own=leg.own, asked=leg.asked)
            bounds = Bounds(LIMITS.robots_bytes, follow=True, cut=True)
            try:
                return await self._within(self._follow(first, (), bounds, claim), first.url, seconds, claim)
            finally:
                claim.close()  # who keeps a room waits for nothing else

        return await egress.robots.rules(
            fetch,
            (call.account, self._purpose),
            leg.url,
            over=lambda: claim.waiting or claim.in_line is not None or call.remaining() < _CLOCKS_DIFFER_BY,
            trusted=egress.rule(call, self._purpose, leg) is not None,
        )

    async def _ask(self, leg: Leg, policy: RobotsPolicy, claim: Claim) -> str:
        """What is to be noted of a leg that robots.txt disallows; "" when it does not. Raises its refusal when it is obeyed."""
        rules = self._egress.robots.kept((self._call.account, self._purpose), leg.url) or await self._rules(leg, claim)
        verdict = rules.verdict(leg.url)
        if verdict.allowed:
            return ""
        if policy == "warn":
            return f"{verdict.reason}; it was fetched all the same, as the setting `robots` (warn) says."
        if rules.unreachable is not None:
            raise rules.unreachable
        raise refusals.robots(leg.url, verdict.reason, self._purpose, failed=bool(rules.disallowed))

    async def _send(self, request: HttpRequest, bounds: Bounds, claim: Claim, robots: RobotsPolicy) -> HttpReply:
        try:
            leg = first_leg(request, self._egress.user_agent)
            return await self._within(self._follow(leg, request.secrets, bounds, claim, robots), leg.url, claim=claim)
        except DoorError as error:
            # Without its cause: aiohttp's exceptions hold URLs, and a traceback in a log would show them.
            raise redacted(error, request.secrets) from None

    async def _within(
        self, work: Coroutine[Any, Any, Reply], url: Url, seconds: float | None = None, claim: Claim | None = None
    ) -> Reply:
        """`work` within what is left of the call, or `seconds` if that is less."""
        call = self._call
        left = call.remaining() if seconds is None else min(seconds, call.remaining())
        if left <= 0:
            work.close()
            raise timed_out(url, call.deadline - call.began, cancelled=call.cancelled)
        if not self._watching:
            self._watching = True
            loop = asyncio.get_running_loop()
            call.on_cancel(lambda: _in_loop(loop, self._hang_up))
        try:
            async with asyncio.timeout(left) as scope:
                self._running.add(scope)
                try:
                    return await work
                finally:
                    self._running.discard(scope)
        except TimeoutError:
            given = call.deadline - call.began if seconds is None or seconds > left else seconds
            if claim is not None and claim.in_line is not None and not call.cancelled:
                raise refusals.no_turn(claim.in_line, given) from None
            if claim is not None and claim.waiting and not call.cancelled:
                raise refusals.no_room(url, given) from None
            raise timed_out(url, given, cancelled=call.cancelled) from None

    def _hang_up(self) -> None:
        for scope in self._running:
            scope.reschedule(0)

    async def _follow(
        self, leg: Leg, secrets: tuple[str, ...], bounds: Bounds, claim: Claim, robots: RobotsPolicy = "ignore"
    ) -> HttpReply:
        """The legs, one after another, until one is answered by something else than a redirect."""
        notes: tuple[str, ...] = ()
        for _ in range(LIMITS.redirects + 1):
            if robots != "ignore" and (note := await self._ask(leg, robots, claim)) and note not in notes:
                notes = (*notes, note)
            reply = await self._one(leg, secrets, bounds, claim)
            location = reply.headers.get("location")
            if not bounds.follow or reply.status not in REDIRECTS or location is None:
                return dataclasses.replace(reply, notes=notes) if notes else reply
            leg = redirected(leg, reply.status, location, self._egress.user_agent)
        raise DoorError(
            f"{leg.asked.authority} redirects more than {LIMITS.redirects} times: ask for the page it leads to.",
            kind="too_many_redirects",
            url=leg.url.origin,
        )

    async def _one(self, leg: Leg, secrets: tuple[str, ...], bounds: Bounds, claim: Claim) -> HttpReply:
        """One leg, recorded as one step."""
        egress, url = self._egress, leg.url
        hop = Hop(
            url,
            rule=egress.rule(self._call, self._purpose, leg),
            purpose=self._purpose,
            asked=leg.from_elsewhere,
            listeners=egress.listeners,
            resolver=egress.resolver,
        )
        session = egress.session()
        host = without_secrets(url.host, secrets) if secrets else url.host
        with self._call.step("http", method=leg.method, host=host) as step:
            hop.check_spelling(egress.ports)
            turns, account = egress.turns, self._call.account
            if self._rests and egress.rests and (left := egress.rests.left(account, url.origin)):
                raise refusals.left_alone(url, left)
            if not turns.enter(account, url.origin):
                await self._in_line(turns, url, step, claim)
            token = hop_now.set(hop)
            try:
                async with session.request(
                    leg.method,
                    yarl.URL(url.href, encoded=True),
                    headers=leg.headers,
                    data=_payload(leg.body),
                    allow_redirects=False,
                ) as response:
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
                raise translate(error, url) from None
            finally:
                hop_now.reset(token)
                turns.leave(account, url.origin)

    async def _in_line(self, turns: Turns, url: Url, step: Step, claim: Claim) -> None:
        """Wait for the turn; how long is in the step."""
        began = self._call.clock()
        claim.in_line = url  # and stays so when this is cancelled: it tells why
        try:
            await turns.wait(self._call.account, url.origin)
        finally:
            step.detail["waited"] = self._call.clock() - began
        if self._call.remaining() < _CLOCKS_DIFFER_BY:  # those before it ran out of time as well: nothing is asked in vain
            turns.leave(self._call.account, url.origin)
            raise TimeoutError
        claim.in_line = None


def _payload(body: bytes) -> bytes | io.BytesIO | None:
    """The body as aiohttp wants it: bytes at once, more than a megabyte in pieces."""
    if len(body) > 1024 * 1024:
        return io.BytesIO(body)
    return body or None


def _in_loop(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Run `callback` in `loop`, from whichever thread; a loop that is gone needs no hanging up."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(callback)
