"""The internet that the abuse suite meets: public names lead to the tests' servers; what is forbidden listens and counts.

Every address that no test made public leads to one listener, whatever its port. So nothing is "refused" here because nobody was
there: had a socket been made for 10.0.0.7:6379, it would have connected, and the listener would have counted it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.egress.conftest import TLS, FakeResolver, Handler, LeadingSocket, Net, Request, Site, reply

from webseam.accounts.store import Store
from webseam.accounts.vault import Vault
from webseam.switchboard import Switchboard
from webseam.workers.pool import WorkerPool

SITE_IP = "93.184.216.34"
OTHER_IP = "93.184.216.35"
VENDOR_IP = "93.184.216.36"
INSIDE = "what-only-the-inside-knows"
KEY = "abuse-suite-key-5f1c9a7e"
NEEDLESS = frozenset({"cookie", "authorization", "proxy-authorization", "x-api-key", "x-subscription-token", "referer"})


@dataclass
class Tally:
    """What the whole run met, for the line at its end."""

    attempts: int = 0
    touched: list[str] = field(default_factory=list)


class ScriptedResolver(FakeResolver):
    """As its base; besides, names that fail in their own way, and names about which nothing is ever heard."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: dict[str, OSError] = {}
        self.silent: set[str] = set()

    async def resolve(self, host: str, port: int) -> list[str]:
        if host in self.silent:
            self.asked.append(host)
            await asyncio.Event().wait()
        if host in self.faults:
            self.asked.append(host)
            raise self.faults[host]
        return await super().resolve(host, port)


class Web(Net):
    """One account's surroundings for one pair of the suite. `turn()` before each attempt: another site, with nothing on it yet.

    `routes` are what the paths put on the site to lead to the URL; everything else there is answered by `hostile`.
    """

    resolver: ScriptedResolver

    def __init__(
        self,
        folder: Path,
        pool: WorkerPool,
        tally: Tally,
        *,
        setenv: Callable[[str, str], None],
        tls: tuple[ssl.SSLContext, ssl.SSLContext] | None = None,
    ) -> None:
        resolver = ScriptedResolver()
        super().__init__(resolver=resolver, tls=tls[1] if tls else TLS)
        self.resolver = resolver
        self.egress.allowances = lambda _: self.allowed  # everybody's: the door itself has to tell whose they are
        self.folder = folder
        self.pool = pool
        self.tally = tally
        self.setenv = setenv
        self.seconds = 20.0
        self.routes: dict[str, bytes] = {}
        self.hostile: bytes | Handler | None = None
        self.met: list[str] = []
        self.slept: list[float] = []
        self.name = ""
        self.here: Site
        self.other: Site
        self.vendor: Site
        self.inside: list[Site] = []
        self._server_tls = tls[0] if tls else None
        self._turns = itertools.count(1)
        self._store: Store | None = None
        self._looked: Counter[int] = Counter()  # how many requests of each site `hold` has seen

    async def __aenter__(self) -> Web:
        self.inside.append(await self.site(reply(INSIDE.encode(), content_type="text/plain")))
        if socket.has_ipv6:
            with suppress(OSError):  # a machine without IPv6
                self.inside.append(await self.site(reply(INSIDE.encode(), content_type="text/plain"), "::1"))
        self.here = await self.public_site("site.test", self._answer, ip=SITE_IP)
        self.leads[SITE_IP, 8080] = self.here.port
        self.other = await self.public_site("other.test", reply(b"elsewhere", content_type="text/plain"), ip=OTHER_IP)
        self.vendor = await self.public_site("vendor.test", b"", ip=VENDOR_IP)
        if self._server_tls is not None:
            secure = await self.public_site("secure.test", self._answer, port=443, ip=SITE_IP, ssl=self._server_tls)
            self.leads[SITE_IP, 443] = secure.port
        self.turn()
        return self

    async def __aexit__(self, *given: object) -> None:
        await super().__aexit__(*given)
        if self._store is not None:
            self._store.close()

    def turn(self) -> None:
        """A new site: robots.txt is remembered by origin, pages by address, and no attempt may profit from the one before."""
        self.name = f"s{next(self._turns)}.test"
        self.resolver.names[self.name] = [[SITE_IP]]
        self.routes.clear()
        self.met.clear()
        self.hostile = None

    @property
    def origin(self) -> str:
        """The site of this attempt."""
        return f"http://{self.name}"

    def spelled(self, template: str) -> str:
        """A URL of the table with the ports and names of this run in it."""
        made = template.replace("{site}", self.name).replace("{four}", str(self.inside[0].port))
        return made.replace("{six}", str(self.inside[-1].port))

    @property
    def switchboard(self) -> Switchboard:
        """As `App` wires it, over this web's door."""
        if self._store is None:
            self._store = Store(self.folder / "settings.sqlite3", Vault(self.folder / "vault.key"))
        return Switchboard(
            self._store, egress=lambda: self.egress, pool=lambda: self.pool, indexes=self.folder / "indexes", chosen={}
        )

    async def sleep(self, seconds: float) -> None:
        """What a crawl waits with."""
        self.slept.append(seconds)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        route = self.routes.get(request.target.partition("?")[0])
        if route is not None:
            writer.write(route)
        elif self.hostile is None:
            writer.write(reply(b"nothing here", 404))
        else:
            self.met.append(request.target)
            if isinstance(self.hostile, bytes):
                writer.write(self.hostile)
            else:
                await self.hostile(request, writer)
        await writer.drain()

    def socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """A socket for an address that the door is about to dial: to the test's server there, or else to the inside."""
        _, kind, proto, _, address = info
        self.dialled.append((address[0], address[1]))
        to = self.leads.get((address[0], address[1]), self.inside[0].port)
        return LeadingSocket(socket.AF_INET, kind, proto, to=to)

    # -------------------------------------------------------------------------------------------- what holds of every attempt

    def hold(self, shown: str, private: Iterable[str] = ()) -> None:
        """Nothing forbidden was dialled or met, nothing secret is shown or sent on. `private` answers are told to nobody."""
        self.tally.attempts += 1
        strangers = [address for address in self.dialled if address not in self.leads]
        met = [site for site in self.inside if site.connections]
        if strangers or met:
            self.tally.touched += [f"{ip}:{port}" for ip, port in strangers] or ["a listener on loopback"]
        assert strangers == []
        assert met == []
        assert INSIDE not in shown
        assert KEY not in shown
        assert "Traceback" not in shown
        for address in private:
            assert address not in shown.replace(self.name, ""), "an address that a name led to was told"
        for number, site in enumerate(self.sites):
            looked, self._looked[number] = self._looked[number], len(site.requests)
            for request in site.requests[looked:]:
                assert "authorization" not in request.headers
                assert request.headers["host"].partition(":")[0] in self.resolver.asked, "Host is not the name that was vetted"
                assert "cookie" not in request.headers
        for request in self.other.requests:
            assert not NEEDLESS & request.headers.keys()
            assert KEY not in request.head


EAI_AGAIN = socket.gaierror(socket.EAI_AGAIN, "the name server did not answer")


def environment_proxies(web: Web) -> None:
    """What a developer's or an attacker's environment may hold: every proxy variable leads inside."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        for spelling in (name, name.lower()):
            web.setenv(spelling, f"http://user:{KEY}@127.0.0.1:{web.inside[0].port}")
    assert os.environ["HTTP_PROXY"]
