"""Resolve once, vet every answer, dial the vetted, check the peer: the part between a URL and a connected socket.

Theory of operation. One leg of a request is one `Hop`, and the hop holds everything that decides what may be dialled: the URL,
the exception that applies (or None), our own listening sockets. aiohttp runs inside the hop (a context variable) and meets it
four times, so that no way through aiohttp leads around the table:

1. `Hop.check_spelling`, before aiohttp sees anything: address literals (it asks no resolver for them), private names, ports.
2. `_VettedResolver`, for a name, when a new connection is needed: the one resolution of the hop. Every answer is judged and one
   bad answer refuses the name. Asked again (aiohttp repeats an idempotent request once when a kept connection turns out dead),
   the hop gives the same answers: a name cannot change its mind inside a hop.
3. `_socket`, aiohttp's `socket_factory`, sees each address that is about to be dialled: it must be one of the hop's and is
   judged once more.
4. `GuardedConnector.connect` hands out connections: the peer of a new one, as the kernel names it, must be one of the hop's.

A hop that goes through a proxy (`via`, see `proxies`) dials the proxy and nothing else: in 2 to 4 the name, the port and the
addresses are the proxy's. What the URL's own name leads to is vetted all the same (`resolve`), before aiohttp sees anything.

Keep-alive. A connection keeps the exception it was made under (`made_under`, None for public ones) and is handed only to a hop
with the same: aiohttp's pool is keyed by scheme, host and port, and this adds the account and purpose. So a private connection
is never met by a request without that exception, nor by any request after the exception is gone. Public connections are shared:
they carry no cookies and no identity. It keeps the proxy that it goes through likewise (`made_via`), though aiohttp's pool
is keyed by that too. One that received bytes while it lay idle is closed, not reused.

Bytes are counted as they come off the socket (`CountedHandler`), before HTTP is parsed: header floods, endless 1xx replies and
padding in chunk extensions count like everything else.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from aiohttp import ClientConnectionError, ServerDisconnectedError, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler

from webseam.config import LIMITS
from webseam.egress import refusals
from webseam.egress.addresses import Allowance, allowable, is_own_listener, verdict
from webseam.egress.urls import is_private_name
from webseam.threads import Threads

if TYPE_CHECKING:
    import asyncio
    import ssl
    from collections.abc import Awaitable, Callable, Collection, Iterable
    from typing import Final

    from aiohttp import ClientRequest, ClientTimeout, StreamReader
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage
    from aiohttp.tracing import Trace

    from webseam.egress.proxies import Proxy
    from webseam.egress.urls import Url
    from webseam.errors import DoorError

    AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]
    SocketFactory = Callable[[AddressInfo], socket.socket]
    LookUp = Callable[[str, int], Awaitable[list[str]]]  # `Resolver.resolve`

ADDRESSES_DIALLED: Final = 8  # of a name with many; all are vetted
RESOLVER_THREADS: Final = 64  # they wait, most of the time; an account has few (`lookups`)
_READ: Final = 256 * 1024  # the most that asyncio reads at once
_HEAD_BYTES: Final = LIMITS.header_bytes + _READ  # headers, and a body that came along in the same read
_WIRE_BYTES: Final = LIMITS.wire_bytes + LIMITS.wire_bytes // 8 + _HEAD_BYTES  # the body, chunk framing, headers


class Resolver(Protocol):
    """Turns a name into addresses."""

    async def resolve(self, host: str, port: int) -> list[str]:
        """Every address of `host`, as text. Raises `OSError` when it has none."""


class SystemResolver:
    """The operating system's resolver, in threads of its own: a slow name server holds up names and nothing else."""

    def __init__(self) -> None:
        self._threads = Threads(RESOLVER_THREADS, "webseam-dns")  # daemons: a lookup under way must not hold up our leaving

    async def resolve(self, host: str, port: int) -> list[str]:
        """`getaddrinfo`, each address once, in its order of preference."""
        found = await self._threads.run(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        return list(dict.fromkeys(str(info[4][0]) for info in found))


class Hop:
    """One leg of a request on its way to a socket. See the module's text."""

    __slots__ = ("addresses", "asked", "handler", "kept", "listeners", "look_up", "proxy_ips", "purpose", "rule", "url", "via")

    def __init__(
        self,
        url: Url,
        *,
        rule: Allowance | None,
        purpose: str,
        asked: Url | None,
        listeners: Callable[[], Iterable[tuple[str, int]]],
        look_up: LookUp,
        via: Proxy | None = None,
    ) -> None:
        self.url = url
        self.rule = rule
        self.purpose = purpose
        self.asked = asked  # where a redirect from elsewhere began; None at the asked origin
        self.listeners = listeners
        self.look_up = look_up
        self.via = via
        self.addresses: tuple[str, ...] | None = None  # of the URL's host
        self.proxy_ips: tuple[str, ...] | None = (via.ip,) if via is not None and via.ip else None  # the proxy's addresses
        self.handler: CountedHandler | None = None  # of the connection that was handed out for this leg
        self.kept = False  # whether that one had been used before

    def check_spelling(self, ports: Collection[int]) -> None:
        """Refuse what the URL alone shows: address literals, private names, closed ports. Raises `DoorError`."""
        url = self.url
        if url.ip:
            refusal = self.objection(url.ip, resolved=False)
            if refusal is not None:
                raise refusal
            self.addresses = (url.ip,)
        elif self.rule is None and is_private_name(url.host):
            raise refusals.private_address(url, self.purpose, resolved=False, asked=self.asked)
        if self.rule is None and url.port not in ports:
            raise refusals.port_closed(url, self.purpose, ports, asked=self.asked)

    async def resolve(self) -> tuple[str, ...]:
        """The addresses that may be dialled; resolved once, every answer vetted. Raises `DoorError`, `OSError`."""
        if self.addresses is None:
            answers = await self.look_up(self.url.host, self.url.port)
            if not answers:
                raise socket.gaierror(socket.EAI_NONAME, "no address")
            for answer in answers:
                refusal = self.objection(answer, resolved=True)
                if refusal is not None:
                    raise refusal
            self.addresses = tuple(dict.fromkeys(str(ipaddress.ip_address(answer)) for answer in answers))[:ADDRESSES_DIALLED]
        return self.addresses

    def objection(self, ip: str, *, resolved: bool) -> DoorError | None:
        """Why `ip` may not be dialled in this hop, as the error to raise; None when it may."""
        url = self.url
        why = verdict(ip)
        if why is not None and not allowable(ip):
            return refusals.never_address(url, why, resolved=resolved, asked=self.asked)
        if is_own_listener(ip, url.port, self.listeners()):
            return refusals.own_listener(url)
        if why is not None and self.rule is None:
            return refusals.private_address(url, self.purpose, resolved=resolved, asked=self.asked)
        return None

    @property
    def dials(self) -> tuple[str, int]:
        """The host and port that a connection is made to."""
        return (self.url.host, self.url.port) if self.via is None else (self.via.host, self.via.port)

    async def resolve_dialled(self) -> tuple[str, ...]:
        """The addresses of the host that is dialled. Raises `DoorError`, `OSError`."""
        if self.via is None:
            return await self.resolve()
        if self.proxy_ips is None:
            answers = await self.look_up(self.via.host, self.via.port)
            if not answers:
                raise socket.gaierror(socket.EAI_NONAME, "no address")
            self.proxy_ips = tuple(dict.fromkeys(str(ipaddress.ip_address(answer)) for answer in answers))[:ADDRESSES_DIALLED]
        return self.proxy_ips

    def may_dial(self, ip: str) -> bool:
        """Whether `ip` is one of the vetted addresses, judged once more; through a proxy, one of the proxy's, not ours."""
        try:
            canonical = str(ipaddress.ip_address(ip))
        except ValueError:
            return False
        if self.via is not None:
            return canonical in (self.proxy_ips or ()) and not is_own_listener(canonical, self.via.port, self.listeners())
        return canonical in (self.addresses or ()) and self.objection(canonical, resolved=True) is None


hop_now: ContextVar[Hop] = ContextVar("webseam_egress_hop")
"""The hop that the running task dials for. Without one, nothing is dialled (`LookupError`)."""


_feed: Final = ResponseHandler.data_received  # named once: `super()` for each read is not free


class CountedHandler(ResponseHandler):
    """aiohttp's protocol of one connection, which counts what comes off the socket and remembers what it was made under."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.fresh = True
        self.made_under: Allowance | None = None
        self.made_via: Proxy | None = None
        self.received = 0
        self.most = _HEAD_BYTES
        self.overrun = False

    def begin(self) -> None:
        """A request starts: count anew, and take no more than headers until `expect_body`."""
        self.received = 0
        self.most = _HEAD_BYTES

    def expect_body(self) -> None:
        """The headers are here: from now on the limit is that of a whole reply."""
        self.most = _WIRE_BYTES

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """A head was read. Much of its body may come before the task that waits for it runs (uvloop reads on meanwhile)."""
        if data[0].code >= 200:
            self.expect_body()
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Count, and hang up on more than the limit."""
        self.received += len(data)
        if self.received > self.most:
            self.overrun = True
            if self.transport is not None:
                self.transport.abort()
            return
        _feed(self, data)


class GuardedConnector(TCPConnector):
    """aiohttp's connector, closed but for what the hop permits."""

    def __init__(self, *, tls: ssl.SSLContext, sockets: SocketFactory | None) -> None:
        super().__init__(
            resolver=_VettedResolver(),
            use_dns_cache=False,
            ssl=tls,
            limit=LIMITS.connections,
            limit_per_host=0,  # `pacing` has the turns
            socket_factory=lambda info: _socket(info, sockets),
        )
        # The one private name of aiohttp used here: a test floods headers and fails if it ever stops having an effect.
        self._factory = lambda: CountedHandler(self._loop)  # type: ignore[assignment]  # a partial by its types

    async def connect(self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout) -> Connection:
        """A connection that the hop may use: new and with a vetted peer, or kept and made under the same rule."""
        hop = hop_now.get()
        if hop.handler is not None and not hop.kept:
            # aiohttp repeats an idempotent request whatever broke off. Only a kept connection may turn out dead without the
            # other side having seen the request (RFC 9112, section 9.3.1); a new one has, and may have billed it.
            raise ServerDisconnectedError
        while True:
            connection = await super().connect(req, traces, timeout)
            handler, transport = connection.protocol, connection.transport
            assert isinstance(handler, CountedHandler)
            if transport is None:
                connection.close()
                if handler.fresh:
                    raise ClientConnectionError("closed as soon as it was made")
                continue
            fresh = handler.fresh
            if fresh:
                peer = transport.get_extra_info("peername")
                if not peer or not hop.may_dial(str(peer[0])):
                    connection.close()
                    raise ClientConnectionError("the peer is not the vetted address")
                handler.fresh, handler.made_under, handler.made_via = False, hop.rule, hop.via
            elif (
                (handler.made_under is not hop.rule and handler.made_under != hop.rule)
                or handler.made_via != hop.via
                or handler.should_close
            ):
                connection.close()
                continue
            hop.kept = not fresh
            handler.begin()
            hop.handler = handler
            return connection


class _VettedResolver(AbstractResolver):
    """aiohttp's question about a name, answered by the hop."""

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,  # noqa: ARG002 - aiohttp's signature; both families are dialled
    ) -> list[ResolveResult]:
        hop = hop_now.get()
        if (host, port) != hop.dials:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        addresses = await hop.resolve_dialled()
        return [ResolveResult(hostname=host, host=ip, port=port, family=_family(ip), proto=0, flags=0) for ip in addresses]

    async def close(self) -> None:
        """Nothing is held."""


def _socket(info: AddressInfo, sockets: SocketFactory | None) -> socket.socket:
    """The socket for one address that is about to be dialled, or `PermissionError`."""
    family, kind, proto, _, address = info
    hop = hop_now.get()
    if address[1] != hop.dials[1] or not hop.may_dial(str(address[0])):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return sockets(info) if sockets is not None else socket.socket(family, kind, proto)


def _family(ip: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in ip else socket.AF_INET
