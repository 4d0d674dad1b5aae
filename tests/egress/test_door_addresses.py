"""The door and addresses: spellings, names, rebinding, ports, our own sockets (rows 1 to 28 of the abuse list).

Each refusal is also checked at the other end: the listener that the address would have led to was not connected to.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from typing import Any

import pytest
from aiohttp import ClientConnectorError

from webseam.egress.addresses import Allowance
from webseam.egress.dialer import Hop, hop_now
from webseam.egress.urls import parse
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

V4_LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0177.0.0.1",
    "017700000001",
    "0x7f.0.0.1",
    "0x7f000001",
    "0x7f.1",
    "127.9.9.9",
]
V4_LOOPBACK += ["127。0。0。1", "①②⑦.⓪.⓪.①", "0", "0.0.0.0", "localhost", "LOCALHOST.", "x.localhost", "ⓛocalhost"]
V6_LOOPBACK = [
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
]
V6_LOOPBACK += ["[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:0:0:0:0:80ff:fffe]"]
ELSEWHERE = ["169.254.169.254", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a00:1]", "metadata.google.internal"]
ELSEWHERE += ["100.100.100.200", "192.0.0.192", "168.63.129.16", "[fd00:ec2::254]", "3232235777", "10.0.0.1", "172.16.0.1"]
ELSEWHERE += [
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "224.0.0.1",
    "255.255.255.255",
    "[ff02::1]",
]
ELSEWHERE += [
    "[fec0::1]",
    "[fc00::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[fe80::1]",
    "printer",
    "db.internal",
    "nas.local",
    "router.home.arpa",
]


async def refusal(door: Any, url: str, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(HttpRequest(url), **options)
    return caught.value


def test_no_spelling_of_this_machine_reaches_a_listener_on_it(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net(sockets=None) as web:
            four = await web.site(respond(b"inside"), "0.0.0.0")
            six = await web.site(respond(b"inside"), "::1")
            for site in (four, six):
                for host in V4_LOOPBACK + V6_LOOPBACK:
                    for scheme in ("http", "https"):
                        error = await refusal(web.door(), f"{scheme}://{host}:{site.port}/x", follow=True)
                        assert error.kind == "blocked_address", host
                        assert "inside" not in str(error)
            assert (four.connections, six.connections) == (0, 0)
            assert web.resolver.asked == []

    asyncio.run(main())


@pytest.mark.parametrize("host", ELSEWHERE)
def test_private_and_special_hosts_are_refused_without_asking_dns_or_dialling(net: Any, host: str) -> None:
    async def main() -> None:
        async with net() as web:
            error = await refusal(web.door(), f"http://{host}/latest/meta-data/")
            assert error.kind == "blocked_address"
            assert (web.resolver.asked, web.dialled) == ([], [])

    asyncio.run(main())


@pytest.mark.parametrize(
    "answers",
    [
        ["127.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        ["10.0.0.7", "93.184.216.34"],
        ["93.184.216.34", "fd12::1"],
        ["93.184.216.34", "::1"],
        ["93.184.216.34", "::ffff:10.0.0.7"],
        ["169.254.169.254"],
        ["fe80::1%eth0"],
        ["2606:4700::1", "64:ff9b::a00:7"],
        ["not an address"],
        ["93.184.216.34"] * 20 + ["10.0.0.7"],
    ],
)
def test_one_bad_answer_refuses_the_whole_name_and_no_address_is_told(net: Any, answers: list[str]) -> None:
    async def main() -> None:
        async with net() as web:
            web.resolver.names["169.254.169.254.nip.test"] = [answers]
            error = await refusal(web.door(), "http://169.254.169.254.nip.test/")
            assert error.kind == "blocked_address"
            assert "resolves to a" in str(error)
            text = str(error).replace("169.254.169.254.nip.test", "")
            assert not [answer for answer in answers if answer in text]
            assert web.dialled == []

    asyncio.run(main())


def test_a_name_that_changes_its_mind_gets_one_resolution_a_hop(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            inside = await web.site(respond(b"inside"))
            outside = await web.public_site("rebind.test", respond(b"outside", connection="close"))
            web.leads["127.0.0.1", 80] = inside.port
            web.resolver.names["rebind.test"] = [["93.184.216.34"], ["127.0.0.1"]]
            reply = await web.door().send(HttpRequest("http://rebind.test/"))
            assert reply.body == b"outside"
            assert web.resolver.asked == ["rebind.test"]
            assert web.dialled == [("93.184.216.34", 80)]
            error = await refusal(web.door(), "http://rebind.test/")
            assert error.kind == "blocked_address"
            assert web.resolver.asked == ["rebind.test"] * 2
            assert (inside.connections, outside.connections) == (0, 1)

    asyncio.run(main())


def test_three_hundred_changes_of_mind_at_once_never_reach_this_machine(net: Any, respond: Any) -> None:
    class Fickle:
        """Public, then loopback, then public...; each answer after a wait of its own."""

        def __init__(self) -> None:
            self.chance = random.Random(7)
            self.turns = itertools.cycle([["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::1"]])

        async def resolve(self, host: str, port: int) -> list[str]:
            answer = next(self.turns)
            await asyncio.sleep(self.chance.random() / 100)
            return answer

    async def main() -> None:
        async with net(resolver=Fickle()) as web:
            inside = await web.site(respond(b"inside"), "127.0.0.1")
            await web.public_site("rebind.test", respond(b"outside", connection="close"))
            web.leads |= {("127.0.0.1", 80): inside.port, ("::1", 80): inside.port}
            got = await asyncio.gather(
                *(web.door().send(HttpRequest("http://rebind.test/")) for _ in range(300)), return_exceptions=True
            )
            assert {getattr(one, "body", None) or getattr(one, "kind", "") for one in got} == {b"outside", "blocked_address"}
            assert inside.connections == 0

    asyncio.run(main())


def test_a_request_repeated_on_a_new_connection_dials_what_was_vetted_first(net: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def hang_up(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.close()

            site = await web.public_site("rebind.test", hang_up)
            web.resolver.names["rebind.test"] = [["93.184.216.34"], ["127.0.0.1"]]
            error = await refusal(web.door(), "http://rebind.test/")
            assert error.kind == "connect"
            assert web.resolver.asked == ["rebind.test"]
            assert set(web.dialled) == {("93.184.216.34", 80)}
            assert site.connections >= 1

    asyncio.run(main())


def test_the_name_goes_into_host_and_the_vetted_address_is_dialled(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("faß.test".encode("idna").decode(), respond(b"x"))
            web.resolver.names["xn--fa-hia.test"] = [["93.184.216.34"]]
            site8080 = await web.public_site("plain.test", respond(b"x"), port=8080)
            await web.door().send(HttpRequest("http://faß.test/ä"))
            await web.door().send(HttpRequest("http://plain.test:8080/"))
            assert site.requests[0].headers["host"] == "xn--fa-hia.test"
            assert site.requests[0].target == "/%C3%A4"
            assert site8080.requests[0].headers["host"] == "plain.test:8080"
            assert web.dialled == [("93.184.216.34", 80), ("93.184.216.34", 8080)]

    asyncio.run(main())


def test_a_second_vetted_address_is_dialled_when_the_first_is_down(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("two.test", respond(b"x"))
            web.resolver.names["two.test"] = [["93.184.216.35", "93.184.216.34"]]
            reply = await web.door().send(HttpRequest("http://two.test/"))
            assert reply.status == 200
            assert web.dialled == [("93.184.216.35", 80), ("93.184.216.34", 80)]

    asyncio.run(main())


def test_a_connection_whose_peer_is_another_address_is_not_used(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("liar.test", respond(b"x"))
            lead = web.socket

            def lying(info: Any) -> Any:
                sock = lead(info)
                sock.getpeername = lambda: ("127.0.0.1", 80)
                return sock

            web.egress._sockets = lying
            error = await refusal(web.door(), "http://liar.test/")
            assert error.kind == "connect"
            assert site.requests == []

    asyncio.run(main())


def test_the_transport_itself_dials_nothing_but_what_the_hop_vetted(net: Any, respond: Any) -> None:
    """Even if something led aiohttp to another address than the URL that was judged, no socket is made for it."""

    async def main() -> None:
        async with net(sockets=None) as web:
            site = await web.site(respond(b"inside"))
            session = web.egress.session()
            with pytest.raises(LookupError):
                await session.get(f"http://127.0.0.1:{site.port}/")
            for judged in ("http://93.184.216.34/", "http://a.test/", f"http://93.184.216.34:{site.port}/"):
                hop = Hop(
                    parse(judged), rule=None, purpose="reading", asked=None, listeners=lambda: (), look_up=web.resolver.resolve
                )
                hop.addresses = ("93.184.216.34", "127.0.0.1")
                token = hop_now.set(hop)
                for dialled in ("127.0.0.1", "[::1]", "localhost", "93.184.216.34", "10.0.0.1"):
                    with pytest.raises(ClientConnectorError):
                        await session.get(f"http://{dialled}:{site.port + (dialled[0] == '9')}/")
                hop_now.reset(token)
            assert site.connections == 0

    asyncio.run(main())


@pytest.mark.parametrize("answers", [[], None])
def test_names_without_an_address_fail_closed(net: Any, answers: list[str] | None) -> None:
    async def main() -> None:
        async with net() as web:
            if answers is not None:
                web.resolver.names["gone.test"] = [answers]
            error = await refusal(web.door(), "http://gone.test/")
            assert error.kind == "dns"
            assert str(error).startswith("The name gone.test cannot be found: check its spelling")
            assert web.dialled == []

    asyncio.run(main())


@pytest.mark.parametrize("port", [1, 22, 25, 81, 2375, 6379, 9200, 11211, 65535])
def test_other_ports_of_public_hosts_are_closed(net: Any, port: int) -> None:
    async def main() -> None:
        async with net() as web:
            for host in ("example.com", "93.184.216.34", "[2606:4700::1]"):
                error = await refusal(web.door("engine:brave"), f"http://{host}:{port}/")
                assert error.kind == "blocked_port"
                assert f"webseam allow {host}:{port} --for engine:brave" in str(error).replace('"', "")
            assert (web.resolver.asked, web.dialled) == ([], [])

    asyncio.run(main())


@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("http", 8080), ("http", 443), ("http", 8443)])
def test_web_ports_of_public_hosts_are_open(net: Any, respond: Any, scheme: str, port: int) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("open.test", respond(b"x"), port=port)
            assert (await web.door().send(HttpRequest(f"{scheme}://open.test:{port}/"))).status == 200

    asyncio.run(main())


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "localhost", "::", ""])
def test_our_own_listening_sockets_are_refused_even_when_allowed(net: Any, respond: Any, bound: str) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"own"))
            web.resolver.names["own.test"] = [["127.0.0.1"]]
            web.allowed.append(Allowance("local", "own.test", site.port))
            web.listeners.append((bound, site.port))
            for url in (f"{origin}/mcp", f"http://own.test:{site.port}/mcp"):
                error = await refusal(web.door(), url)
                assert error.kind == "blocked_address"
                assert "an address Webseam itself listens on" in str(error)
            assert site.connections == 0

    asyncio.run(main())


def test_the_system_resolver_is_vetted_too(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net(resolver=None, sockets=None) as web:
            site = await web.site(respond(b"mine"))
            error = await refusal(web.door(), f"http://localhost:{site.port}/")
            assert error.kind == "blocked_address"
            web.allowed.append(Allowance("local", "localhost", site.port))
            assert (await web.door().send(HttpRequest(f"http://localhost:{site.port}/"))).body == b"mine"
            error = await refusal(web.door(), "http://does-not-exist.invalid/")
            assert error.kind == "dns"

    asyncio.run(main())
