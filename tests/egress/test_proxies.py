"""Proxies: used only when set and for what is public; nothing that is refused without one is heard of by one.

The proxy of these tests is a real one on loopback: it opens tunnels, forwards absolute URLs, and keeps what it was asked.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
import socket
import sys
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectorError

from webseam.app import App
from webseam.call import Call
from webseam.config import Config
from webseam.egress.addresses import Allowance
from webseam.egress.dialer import Hop, hop_now
from webseam.egress.proxies import Proxy, ignored, proxies, read
from webseam.egress.tls import BY_THE_SYSTEM, Trust
from webseam.egress.urls import parse
from webseam.errors import ConfigurationError, DoorError
from webseam.seam.contract import HttpRequest

SECRET = "s3cret/@:pw"
AUTHORIZED = "Basic " + base64.b64encode(f"us%er:{SECRET}".encode()).decode()
CREDENTIALS = "us%25er:s3cret%2F%40%3Apw@"


class ProxyServer:
    """A proxy. `routes` says which port of loopback a host and port lead to; `refusal` is what it answers to everything."""

    def __init__(self) -> None:
        self.port = 0
        self.connections = 0
        self.asked: list[str] = []
        self.heads: list[str] = []
        self.routes: dict[str, int] = {}
        self.refusal = b""
        self.tasks: set[asyncio.Task[None]] = set()
        self.writers: list[asyncio.StreamWriter] = []

    async def close(self) -> None:
        for writer in self.writers:
            writer.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, *(one.wait_closed() for one in self.writers), return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, _ = head.split("\r\n")[0].split(" ")
        self.asked.append(f"{method} {target}")
        self.heads.append(head)
        if self.refusal:
            writer.write(self.refusal)
            return True
        _, _, rest = target.rpartition("://")
        authority, _, path = rest.partition("/")
        port = self.routes.get(authority if re.search(r":\d+$", authority) else f"{authority}:80")
        if port is None:
            writer.write(b"HTTP/1.1 502 Unknown\r\nContent-Length: 0\r\n\r\n")
            return True
        there, back = await asyncio.open_connection("127.0.0.1", port)
        self.writers.append(back)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pump(reader, back), _pump(there, writer))
            return False
        lines = [line for line in head.split("\r\n")[1:] if not line.lower().startswith("proxy-")]
        back.write("\r\n".join([f"{method} /{path} HTTP/1.1", *lines]).encode("latin-1"))
        answer = await there.readuntil(b"\r\n\r\n")
        size = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        writer.write(answer + await there.readexactly(size))
        back.close()
        return True


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextlib.asynccontextmanager
async def proxied(
    net: Any, setting: str = "http://127.0.0.1:{port}", environ: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[tuple[Any, ProxyServer]]:
    """A net whose door has a proxy, and the proxy; `{port}` in the setting and the environment is the proxy's."""
    proxy = ProxyServer()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(proxy.serve(reader, writer))
        proxy.tasks.add(task)
        task.add_done_callback(proxy.tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=options.pop("proxy_ssl", None))
    proxy.port = server.sockets[0].getsockname()[1]
    values = {name: value.replace("{port}", str(proxy.port)) for name, value in (environ or {}).items()}
    settings = read(setting.replace("{port}", str(proxy.port)), values, resolves=options.pop("resolves", False))
    async with net(proxies=settings, **options) as web:
        try:
            yield web, proxy
        finally:
            await web.egress.close()
            server.close()
            await proxy.close()


async def public(web: Any, proxy: ProxyServer, name: str, answer: Any, port: int = 80, **options: Any) -> Any:
    """A site that the proxy leads to, and that is reached directly too."""
    site = await web.public_site(name, answer, port=port, **options)
    proxy.routes[f"{name}:{port}"] = site.port
    return site


async def refusal(door: Any, url: str, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(HttpRequest(url), **options)
    return caught.value


def trusting(authority: Any) -> dict[str, Any]:
    return {"tls": None, "trust": Trust(ca_file=authority("Sites").pem)}


# ------------------------------------------------------------------------------------------------ what goes through it


def test_http_goes_as_an_absolute_url_byte_for_byte(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            site = await public(web, proxy, "good.test", respond(b"plain"), port=8080)
            call = Call()
            for _ in range(2):
                url = "http://GOOD.test:8080/%7Ea/%2f?q=%C3%A9+%41#part"
                assert (await web.door(call=call).send(HttpRequest(url, headers={"X-Own": "1"}))).body == b"plain"
            assert proxy.asked == ["GET http://good.test:8080/%7Ea/%2f?q=%C3%A9+%41"] * 2
            assert proxy.connections == 1
            assert site.requests[0].headers["host"] == "good.test:8080"
            assert site.requests[0].headers["x-own"] == "1"
            assert web.resolver.asked == ["good.test"] * 2
            assert web.dialled == [("127.0.0.1", proxy.port)]
            assert all(step.detail["proxied"] for step in call.steps)

    asyncio.run(main())


@pytest.mark.parametrize("by_https", [False, True])
def test_https_goes_through_a_tunnel_and_is_verified_at_the_end_of_it(
    net: Any, respond: Any, authority: Any, by_https: bool
) -> None:
    """Through an http proxy, and through one that is spoken to by TLS itself."""
    sites = authority("Sites")
    options = {"proxy_ssl": sites.server("127.0.0.1")} if by_https else {}
    setting = f"{'https' if by_https else 'http'}://{CREDENTIALS}127.0.0.1:{{port}}"

    async def main() -> None:
        async with proxied(net, setting, **options, **trusting(authority)) as (web, proxy):
            site = await public(web, proxy, "good.test", respond(b"secure"), port=443, ssl=sites.server("good.test"))
            other = await public(web, proxy, "other.test", respond(b"x"), port=443, ssl=sites.server("good.test"))
            unknown = authority("Stranger").server("stranger.test")
            stranger = await public(web, proxy, "stranger.test", respond(b"x"), port=443, ssl=unknown)
            for _ in range(2):
                assert (await web.door().send(HttpRequest("https://good.test/p?q"))).body == b"secure"
            assert proxy.asked == ["CONNECT good.test:443"]
            assert site.connections == 1
            assert f"Proxy-Authorization: {AUTHORIZED}\r\n" in proxy.heads[0]
            assert "User-Agent: webseam/" in proxy.heads[0]
            assert "aiohttp" not in proxy.heads[0]
            assert "proxy-authorization" not in site.requests[0].headers
            assert "/p" not in "".join(proxy.heads)
            for host, words in (("other.test", "Hostname mismatch"), ("stranger.test", "WEBSEAM_CA_FILE")):
                error = await refusal(web.door(), f"https://{host}/")
                if by_https and error.kind == "connect" and sys.version_info < (3, 13):
                    continue  # asyncio of some Pythons stumbles over a bad certificate in TLS inside TLS
                assert error.kind == "tls"
                assert words in str(error) or BY_THE_SYSTEM  # which has words of its own
            assert stranger.requests == other.requests == []
            assert set(web.dialled) == {("127.0.0.1", proxy.port)}

    asyncio.run(main())


def test_an_address_is_reached_through_it_too(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            site = await web.site(respond(b"by address"))
            proxy.routes["93.184.216.34:80"] = proxy.routes["[2606:4700::1]:80"] = site.port
            for host in ("93.184.216.34", "[2606:4700::1]"):
                assert (await web.door().send(HttpRequest(f"http://{host}/"))).body == b"by address"
            assert proxy.asked == ["GET http://93.184.216.34/", "GET http://[2606:4700::1]/"]

    asyncio.run(main())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop for Windows")
def test_it_works_under_uvloop(net: Any, respond: Any, authority: Any) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        async with proxied(net, **trusting(authority)) as (web, proxy):
            await public(web, proxy, "good.test", respond(b"a"), port=443, ssl=authority("Sites").server("good.test"))
            await public(web, proxy, "good.test", respond(b"b"))
            assert (await web.door().send(HttpRequest("https://good.test/"))).body == b"a"
            assert (await web.door().send(HttpRequest("http://good.test/"))).body == b"b"
            assert proxy.asked == ["CONNECT good.test:443", "GET http://good.test/"]
            assert (await refusal(web.door(), "https://127.1/")).kind == "blocked_address"

    uvloop.run(main())


# ------------------------------------------------------------------------------------------------ what does not


VARIABLES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


def test_no_proxy_is_used_unless_one_is_set(net: Any, respond: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with proxied(net, "") as (web, proxy):
            for name in VARIABLES:
                monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            await public(web, proxy, "good.test", respond(b"direct"))
            assert (await web.door().send(HttpRequest("http://good.test/"))).body == b"direct"
            assert proxy.connections == 0
        for setting, expected in (("", False), ("env", True)):
            monkeypatch.setenv("WEBSEAM_PROXY", setting)
            app = App(Config({"data": tmp_path}))
            assert (app.egress.proxies is not None) == expected
            await app.close()
            app.shut()

    asyncio.run(main())


def test_what_is_allowed_goes_direct(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net, f"http://{CREDENTIALS}127.0.0.1:{{port}}") as (web, proxy):
            site, origin = await web.allowed_site(respond(b"private"))
            public_site = await public(web, proxy, "good.test", respond(b"allowed"), port=9200)
            web.allowed.append(Allowance("local", "good.test", 9200))
            assert (await web.door().send(HttpRequest(origin))).body == b"private"
            assert (await web.door().send(HttpRequest("http://good.test:9200/"))).body == b"allowed"
            assert proxy.connections == 0
            assert "proxy-authorization" not in {**site.requests[0].headers, **public_site.requests[0].headers}
            error = await refusal(web.door(account="another"), origin)
            assert error.kind == "blocked_address"
            assert proxy.connections == 0

    asyncio.run(main())


SPELLINGS = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "0",
    "localhost",
    "x.localhost",
]
SPELLINGS += [
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd12::1]",
]
SPELLINGS += [
    "169.254.169.254",
    "metadata.google.internal",
    "100.100.100.200",
    "10.0.0.1",
    "192.168.0.1",
    "224.0.0.1",
    "printer",
]


@pytest.mark.parametrize("resolves", [False, True])
def test_no_spelling_of_a_private_address_is_heard_of_by_it(net: Any, respond: Any, resolves: bool) -> None:
    async def main() -> None:
        async with proxied(net, resolves=resolves) as (web, proxy):
            for host in SPELLINGS:
                for url in (f"http://{host}/", f"https://{host}:8443/", f"http://{host}:{proxy.port}/"):
                    assert (await refusal(web.door(), url, follow=True)).kind == "blocked_address", url
            for url in ("http://good.test:22/", "https://93.184.216.34:6379/"):
                assert (await refusal(web.door(), url)).kind == "blocked_port"
            for url in ("http://u:p@good.test/", "ftp://good.test/", "http:good.test", "http://good.test\\@127.0.0.1/"):
                assert (await refusal(web.door(), url)).kind in ("invalid_url", "blocked_scheme")
            for name in ("Proxy-Authorization", "proxy-connection", "Host"):
                with pytest.raises(DoorError, match="set by the door alone"):
                    await web.door().send(HttpRequest("http://good.test/", headers={name: "x"}))
            assert (proxy.connections, web.dialled, web.resolver.asked) == (0, [], [])

    asyncio.run(main())


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["93.184.216.34", "10.0.0.7"], ["::ffff:10.0.0.7"], ["fe80::1%eth0"], [], None]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_resolves_badly_or_not_at_all_is_not_heard_of_by_it(
    net: Any, respond: Any, answers: list[str] | None, scheme: str
) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            if answers is not None:
                web.resolver.names["bad.test"] = [answers]
            error = await refusal(web.door(), f"{scheme}://bad.test/")
            assert error.kind == ("blocked_address" if answers else "dns")
            assert "WEBSEAM_PROXY_RESOLVES=true" in str(error) or answers
            assert (proxy.connections, web.dialled) == (0, [])

    asyncio.run(main())


def test_a_kept_connection_does_not_save_a_name_that_turned_bad(net: Any, respond: Any, authority: Any) -> None:
    async def main() -> None:
        async with proxied(net, **trusting(authority)) as (web, proxy):
            await public(web, proxy, "turns.test", respond(b"good"))
            await public(web, proxy, "turns.test", respond(b"good"), port=443, ssl=authority("Sites").server("turns.test"))
            for scheme in ("http", "https"):
                web.resolver.names["turns.test"] = [["93.184.216.34"], ["127.0.0.1"]]
                assert (await web.door().send(HttpRequest(f"{scheme}://turns.test/"))).body == b"good"
                assert (await refusal(web.door(), f"{scheme}://turns.test/")).kind == "blocked_address"
            assert proxy.asked == ["GET http://turns.test/", "CONNECT turns.test:443"]

    asyncio.run(main())


def test_names_are_left_to_it_only_when_told_so(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net, resolves=True) as (web, proxy):
            site = await web.site(respond(b"resolved there"))
            proxy.routes["unknown-here.test:80"] = site.port
            assert (await web.door().send(HttpRequest("http://unknown-here.test/"))).body == b"resolved there"
            assert web.resolver.asked == []

    asyncio.run(main())


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("http://127.0.0.1/", "blocked_address"),
        ("http://0x7f.1:8080/", "blocked_address"),
        ("//bad.test/", "blocked_address"),
        ("http://good.test:22/", "blocked_port"),
        ("file:///etc/passwd", "blocked_scheme"),
    ],
)
def test_redirects_are_vetted_anew(net: Any, respond: Any, location: str, kind: str) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            await public(web, proxy, "good.test", respond(status=302, location=location))
            web.resolver.names["bad.test"] = [["10.0.0.7"]]
            assert (await refusal(web.door(), "http://good.test/", follow=True)).kind == kind
            assert proxy.asked == ["GET http://good.test/"]

    asyncio.run(main())


def test_a_redirect_goes_through_it_and_the_password_goes_no_further(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net, f"http://{CREDENTIALS}127.0.0.1:{{port}}") as (web, proxy):
            own = await web.site(respond(b"own"))
            web.allowed.append(Allowance("local", "127.0.0.1", own.port))
            first = await public(web, proxy, "good.test", respond(status=307, location="http://next.test/"))
            then = await public(web, proxy, "next.test", respond(b"end"), ip="93.184.216.35")
            assert (await web.door().send(HttpRequest("http://good.test/"), follow=True)).body == b"end"
            assert proxy.asked == ["GET http://good.test/", "GET http://next.test/"]
            assert all(f"Proxy-Authorization: {AUTHORIZED}\r\n" in head for head in proxy.heads)
            assert (await web.door().send(HttpRequest(f"http://127.0.0.1:{own.port}/"))).body == b"own"
            for site in (first, then, own):
                assert "proxy-authorization" not in site.requests[0].headers

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ the proxy's own address


def test_its_name_is_resolved_and_may_be_private(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net, "http://proxy.corp:{port}") as (web, proxy):
            web.resolver.names["proxy.corp"] = [["127.0.0.1"]]
            await public(web, proxy, "good.test", respond(b"x"))
            assert (await web.door().send(HttpRequest("http://good.test/"))).body == b"x"
            assert web.resolver.asked == ["good.test", "proxy.corp"]
            assert (await refusal(web.door(), f"http://proxy.corp:{proxy.port}/")).kind == "blocked_address"
            assert proxy.asked == ["GET http://good.test/"]

    asyncio.run(main())


def test_its_address_is_dialled_for_hops_that_go_through_it_alone_and_they_dial_nothing_else(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net, sockets=None) as (web, proxy):
            other = await web.site(respond(b"inside"))
            session = web.egress.session()
            url, via = parse("http://93.184.216.34/"), Proxy("http", "127.0.0.1", proxy.port, "127.0.0.1")
            another = Proxy("http", "127.0.0.9", proxy.port, "127.0.0.9")
            for through, port in ((None, proxy.port), (via, other.port), (another, proxy.port)):
                hop = Hop(
                    url, rule=None, purpose="index", asked=None, listeners=list, look_up=web.resolver.resolve, via=through
                )
                hop.addresses = ("93.184.216.34",)
                token = hop_now.set(hop)
                for host in ("127.0.0.1", "localhost", "[::1]"):
                    with pytest.raises(ClientConnectorError):
                        await session.get(f"http://{host}:{port}/")
                    with pytest.raises(ClientConnectorError):
                        await session.get("http://93.184.216.34/", proxy=f"http://{host}:{port}")
                hop_now.reset(token)
            assert (proxy.connections, other.connections) == (0, 0)

    asyncio.run(main())


def test_a_connection_whose_peer_is_not_the_proxy_is_not_used(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            await public(web, proxy, "good.test", respond(b"x"))
            web.leads["127.0.0.1", proxy.port] = proxy.port
            lead = web.socket

            def lying(info: Any) -> Any:
                sock = lead(info)
                sock.getpeername = lambda: ("93.184.216.34", proxy.port)
                return sock

            web.egress._sockets = lying
            assert (await refusal(web.door(), "http://good.test/")).kind == "connect"
            assert proxy.asked == []

    asyncio.run(main())


def test_a_listener_of_our_own_is_no_proxy(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with proxied(net) as (web, proxy):
            web.listeners.append(("127.0.0.1", proxy.port))
            await public(web, proxy, "good.test", respond(b"x"))
            error = await refusal(web.door(), "http://good.test/")
            assert (error.kind, proxy.connections) == ("connect", 0)
            assert "WEBSEAM_PROXY" in str(error)

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ kept connections


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxied_and_direct_connections_to_one_host_are_never_swapped(
    net: Any, respond: Any, authority: Any, scheme: str
) -> None:
    """`good.test` is public for everybody, and `friend` may reach its port directly by an exception."""
    port = 443 if scheme == "https" else 80
    options = {"ssl": authority("Sites").server("good.test")} if scheme == "https" else {}

    async def main() -> None:
        async with proxied(net, **trusting(authority)) as (web, proxy):
            await public(web, proxy, "good.test", respond(b"x"), port=port, **options)
            web.allowed.append(Allowance("friend", "good.test", port))
            for number in range(1, 4):
                dialled = len(web.dialled)
                for account in ("local", "friend"):
                    await web.door(account=account).send(HttpRequest(f"{scheme}://good.test/{account}"))
                assert len(web.dialled) == (dialled + 2 if number == 1 else dialled), "kept connections are used"
            wanted = ["CONNECT good.test:443"] if scheme == "https" else ["GET http://good.test/local"] * 3
            assert proxy.asked == wanted
            assert web.dialled == [("127.0.0.1", proxy.port), ("93.184.216.34", port)]

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ the environment


def chosen(environ: dict[str, str], url: str) -> str:
    found = read("env", environ)
    assert found is not None
    through = found.for_url(parse(url))
    return through.url if through else ""


@pytest.mark.parametrize(
    ("environ", "http", "https"),
    [
        ({}, "", ""),
        ({"HTTP_PROXY": "http://a:1", "HTTPS_PROXY": "http://b:2"}, "http://a:1", "http://b:2"),
        ({"http_proxy": "http://a:1", "HTTP_PROXY": "http://z:9"}, "http://a:1", ""),
        ({"ALL_PROXY": "http://c:3", "https_proxy": " http://b:2 "}, "http://c:3", "http://b:2"),
        ({"https_proxy": "proxy.corp:3128", "http_proxy": ""}, "", "http://proxy.corp:3128"),
        ({"https_proxy": "https://B.test./", "http_proxy": "http://[::1]:3128"}, "http://[::1]:3128", "https://b.test.:443"),
        ({"HTTP_PROXY": "http://evil:1", "REQUEST_METHOD": "GET"}, "", ""),
    ],
)
def test_the_environment_says_which_when_it_may(environ: dict[str, str], http: str, https: str) -> None:
    assert chosen(environ, "http://good.test/") == http
    assert chosen(environ, "https://good.test/") == https


@pytest.mark.parametrize(
    ("no_proxy", "direct", "through"),
    [
        ("good.test", ["good.test", "a.good.test", "good.test:8080"], ["notgood.test", "good.test.evil.test"]),
        (".good.test,*.other.test", ["a.good.test", "good.test", "b.other.test"], ["test"]),
        ("GOOD.test. bücher.test", ["good.test", "xn--bcher-kva.test"], ["other.test"]),
        ("good.test:8080, 9.9.9.9:443", ["good.test:8080"], ["good.test", "9.9.9.9"]),
        (
            "93.184.0.0/16,2606:4700::/32,[2001:4860::1]",
            ["93.184.1.1", "[2606:4700::9]", "[2001:4860::1]"],
            ["93.185.1.1", "a.test"],
        ),
        ("*", ["anything.test", "9.9.9.9"], []),
        ("<local>,///,:::,%,a..b,,  ,300.1.2.3/99," + "x" * 300, [], ["good.test", "9.9.9.9", "[2606:4700::1]"]),
    ],
)
def test_what_no_proxy_exempts(no_proxy: str, direct: list[str], through: list[str]) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        for host in direct:
            assert chosen({"ALL_PROXY": "http://p:1", name: no_proxy}, f"http://{host}/") == "", host
        for host in through:
            assert chosen({"ALL_PROXY": "http://p:1", name: no_proxy}, f"http://{host}/") == "http://p:1", host


def test_no_proxy_is_honoured_and_what_it_exempts_is_vetted_all_the_same(net: Any, respond: Any) -> None:
    environ = {"HTTP_PROXY": "http://127.0.0.1:{port}", "NO_PROXY": "near.test,10.0.0.0/8"}

    async def main() -> None:
        async with proxied(net, "env", environ) as (web, proxy):
            await public(web, proxy, "near.test", respond(b"direct"))
            await public(web, proxy, "far.test", respond(b"far"), ip="93.184.216.35")
            assert (await web.door().send(HttpRequest("http://near.test/"))).body == b"direct"
            assert proxy.connections == 0
            assert (await web.door().send(HttpRequest("http://far.test/"))).body == b"far"
            assert proxy.asked == ["GET http://far.test/"]
            web.resolver.names["in.near.test"] = [["10.0.0.7"]]
            for host in ("10.0.0.1", "in.near.test"):
                assert (await refusal(web.door(), f"http://{host}/")).kind == "blocked_address"

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ when it does not work


def no_secret(text: str) -> None:
    for secret in (SECRET, "s3cret", "us%er", "us%25er", AUTHORIZED.split()[1]):
        assert secret not in text


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("status", [407, 403, 502])
def test_a_refusal_of_its_own_names_the_setting(net: Any, respond: Any, scheme: str, status: int) -> None:
    """What it says to an http request but 407 may as well be the site's, and is given as a reply."""

    async def main() -> None:
        async with proxied(net, f"http://{CREDENTIALS}127.0.0.1:{{port}}") as (web, proxy):
            await public(web, proxy, "good.test", respond(b"x"), port=443 if scheme == "https" else 80)
            proxy.refusal = respond(AUTHORIZED.encode(), status=status, x_echo=AUTHORIZED)
            call = Call()
            if scheme == "http" and status != 407:
                assert (await web.door(call=call).send(HttpRequest("http://good.test/"))).status == status
                return
            error = await refusal(web.door(call=call), f"{scheme}://good.test/")
            assert (error.kind, error.unsent, error.status) == ("connect", True, None)
            first = str(error).splitlines()[0]
            assert first.startswith("The proxy refuses to pass on to good.test:")
            assert "WEBSEAM_PROXY or `proxy` in config.toml" in first
            no_secret("".join(traceback.format_exception(error)) + repr(error) + repr(call.steps) + repr(web.egress.proxies))
            assert str(proxy.port) not in str(error)

    asyncio.run(main())


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_one_that_cannot_be_reached_names_the_setting(net: Any, respond: Any, scheme: str) -> None:
    async def main() -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            setting = f"http://{CREDENTIALS}127.0.0.1:{closed.getsockname()[1]}"
            async with net(proxies=read(setting, {})) as web:
                web.resolver.names["good.test"] = [["93.184.216.34"]]
                error = await refusal(web.door(), f"{scheme}://good.test/")
                assert (error.kind, error.unsent) == ("connect", True)
                assert str(error).startswith("The proxy cannot be reached (")
                assert "WEBSEAM_PROXY" in str(error).splitlines()[0]
                no_secret("".join(traceback.format_exception(error)))
        async with net(proxies=read("env", {"ALL_PROXY": "http://gone.corp:3128"})) as web:
            web.resolver.names["good.test"] = [["93.184.216.34"]]
            nothing: list[list[str]] = [[]]
            for name in ("other.corp", "gone.corp"):
                web.resolver.names[name] = nothing
                error = await refusal(web.door(), f"{scheme}://good.test/")
                assert (error.kind, error.unsent) == ("connect", True)
                assert str(error).startswith("The proxy's own name cannot be found: check ALL_PROXY (or WEBSEAM_PROXY")

    asyncio.run(main())


@pytest.mark.parametrize("answer", [b"", b"\x15\x03\x01 nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: " + b"x" * 400_000])
def test_one_that_speaks_no_proxys_language_names_the_setting(net: Any, respond: Any, answer: bytes) -> None:
    async def main() -> None:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        async with net(proxies=read(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", {})) as web:
            web.servers.append(server)
            web.resolver.names["good.test"] = [["93.184.216.34"]]
            error = await refusal(web.door(), "https://good.test/")
            assert error.kind == "connect"
            assert "change WEBSEAM_PROXY" in str(error).splitlines()[0]

    asyncio.run(main())


def test_an_https_proxy_that_is_not_trusted_is_not_told_the_password(net: Any, respond: Any, authority: Any) -> None:
    setting = f"https://{CREDENTIALS}127.0.0.1:{{port}}"

    async def main() -> None:
        for server in (authority("Stranger").server("127.0.0.1"), authority("Sites").server("127.0.0.2")):
            async with proxied(net, setting, proxy_ssl=server, **trusting(authority)) as (web, proxy):
                web.resolver.names["good.test"] = [["93.184.216.34"]]
                for scheme in ("http", "https"):
                    error = await refusal(web.door(), f"{scheme}://good.test/")
                    assert (error.kind, error.unsent) == ("connect", True)
                    assert "No TLS connection to the proxy could be made" in str(error)
                assert proxy.heads == []

    asyncio.run(main())


def test_a_direct_reply_of_407_is_a_reply(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("good.test", respond(b"x", status=407))
            assert (await web.door().send(HttpRequest("http://good.test/"))).status == 407

    asyncio.run(main())


def test_no_error_says_that_a_proxy_is_ignored_when_one_is_set(net: Any, respond: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with proxied(net) as (web, _):
            monkeypatch.setenv("HTTPS_PROXY", "http://elsewhere:1")
            web.allowed.append(Allowance("local", "gone.test", 80))
            error = await refusal(web.door(), "http://gone.test/")
            assert error.kind == "dns"
            assert "ignored" not in str(error)

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    "setting",
    [
        "proxy.test:3128",
        "http://",
        "http:///x",
        "http://s3cret@",
        "http://us:s3cret@proxy.test:0",
        "http://us:s3cret@proxy.test:99999",
        "http://us:s3cret@proxy.test/path",
        "http://us:s3cret/x@proxy.test:3128",
        "http://us:s3cret#x@proxy.test:3128",
        "http://us:s3cret@proxy.test:3128?x",
        "http://u%3As:s3cret@proxy.test:3128",
        "http://us:s3cret%FF@proxy.test:3128",
        "http://us:s3cret@pro xy:3128",
        "socks5://us:s3cret@proxy.test:1080",
        "socks4a://s3cret@proxy.test",
        "ftp://us:s3cret@proxy.test",
        "s3cret",
    ],
)
def test_a_proxy_that_is_none_is_refused_and_not_repeated(setting: str, tmp_path: Path) -> None:
    environments: list[tuple[str, dict[str, str], str]] = [(setting, {}, "WEBSEAM_PROXY or `proxy` in config.toml")]
    if "://" in setting:
        environments.append(("env", {"HTTPS_PROXY": setting}, "HTTPS_PROXY"))
    for value, environ, name in environments:
        with pytest.raises(ConfigurationError) as caught:
            proxies(Config({"data": tmp_path, "proxy": value}), environ)
        first = str(caught.value).splitlines()[0]
        assert name in first
        assert "s3cret" not in "".join(traceback.format_exception(caught.value))
        assert ("SOCKS proxies cannot be used" in first) == ("socks" in setting)


@pytest.mark.parametrize("setting", ["", "off", "None", "direct"])
def test_a_setting_that_says_none_means_none(setting: str) -> None:
    assert read(setting, {"HTTPS_PROXY": "http://p.test:1"}) is None


def test_what_is_ignored_is_told_in_the_number_that_it_has() -> None:
    assert ignored({"NO_PROXY": "*"}) == ""
    assert ignored({"all_proxy": "http://p.test:1"}).startswith("ALL_PROXY is set and ignored")
    assert ignored({"HTTPS_PROXY": "x", "http_proxy": "x"}).startswith("HTTPS_PROXY and HTTP_PROXY are set and ignored")


def test_a_socks_proxy_that_is_not_used_is_no_matter() -> None:
    environ = {"ALL_PROXY": "socks5://127.0.0.1:1", "HTTP_PROXY": "http://a:1", "HTTPS_PROXY": "http://b:2"}
    assert chosen(environ, "http://good.test/") == "http://a:1"


@pytest.mark.parametrize(
    ("value", "expected"), [("true", True), ("on", True), ("0", False), ("", False), (True, True), (False, False)]
)
def test_who_resolves_is_a_setting(value: Any, expected: bool, tmp_path: Path) -> None:
    found = proxies(Config({"data": tmp_path, "proxy": "http://p:1", "proxy_resolves": value}), {})
    assert found is not None
    assert found.resolves is expected
    with pytest.raises(ConfigurationError, match="WEBSEAM_PROXY_RESOLVES"):
        proxies(Config({"data": tmp_path, "proxy": "http://p:1", "proxy_resolves": "perhaps"}), {})


def test_the_doctor_tells_of_it_without_the_password(
    tmp_path: Path, authority: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from webseam.cli import main

    ours = authority("Clients").issue("ourselves", client=True, password="open sesame")
    monkeypatch.setenv("WEBSEAM_CA_FILE", str(authority("Sites").pem))
    monkeypatch.setenv("WEBSEAM_PROXY", f"http://{CREDENTIALS}proxy.test:3128")
    monkeypatch.setenv("WEBSEAM_CLIENT_CERT", str(ours))
    monkeypatch.setenv("WEBSEAM_CLIENT_CERT_HOSTS", "corp.test,second.test")
    monkeypatch.setenv("WEBSEAM_CLIENT_KEY_PASSWORD", "open sesame")
    assert main(["doctor", "--data", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "https through http://proxy.test:3128, http through http://proxy.test:3128" in out
    assert f"those in {authority('Sites').pem}" in out
    assert f"{ours} is shown to corp.test, second.test and their subdomains" in out
    no_secret(out)
    assert "sesame" not in out
    monkeypatch.setenv("WEBSEAM_PROXY", "socks5://us:s3cret@proxy.test")
    monkeypatch.setenv("WEBSEAM_CA_FILE", str(tmp_path / "gone.pem"))
    assert main(["doctor", "--data", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "SOCKS proxies cannot be used" in out
    assert "gone.pem cannot be read" in out
    no_secret(out)
