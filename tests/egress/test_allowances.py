"""Exceptions: who may reach what, for which purpose; never by a redirect from elsewhere; never through a kept connection."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

ACCOUNTS = ("local", "other")
PURPOSES = ("reading", "index", "engine:searxng", "engine:brave", "plugin:weather")


async def refused(door: Any, url: str, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(HttpRequest(url), **options)
    assert caught.value.kind in ("blocked_address", "blocked_port")
    return caught.value


def test_an_exception_counts_for_its_account_purpose_host_and_port_alone(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.site(respond(b"inside"))
            other = await web.site(respond(b"other"))
            web.resolver.names |= {"localhost": [["127.0.0.1"]], "wiki.corp": [["127.0.0.1"]], "public.test": [["127.0.0.1"]]}
            hosts = ("127.0.0.1", "localhost", "wiki.corp", "public.test")
            for account, purpose, host in itertools.product(ACCOUNTS, PURPOSES, hosts):
                web.allowed[:] = [Allowance(account, host, site.port, purpose)]
                for who, why, where in itertools.product(ACCOUNTS, PURPOSES, hosts):
                    door = web.door(why, who)
                    if (who, why, where) == (account, purpose, host):
                        reply = await door.send(HttpRequest(f"http://{where}:{site.port}/"))
                        assert reply.body == b"inside"
                    else:
                        await refused(door, f"http://{where}:{site.port}/")
                    await refused(door, f"http://{where}:{other.port}/")
            assert len(site.requests) == len(ACCOUNTS) * len(PURPOSES) * len(hosts)
            assert other.connections == 0

    asyncio.run(main())


def test_spellings_of_one_address_are_one_exception_but_a_name_is_not_its_address(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site, _ = await web.allowed_site(respond(b"x"))
            for host in ("127.1", "0x7f.1", "2130706433", "127。0。0。1"):
                assert (await web.door().send(HttpRequest(f"http://{host}:{site.port}/"))).status == 200
            for host in ("127.0.0.2", "localhost", "[::1]", "[::ffff:127.0.0.1]"):
                await refused(web.door(), f"http://{host}:{site.port}/")

    asyncio.run(main())


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "[fd00:ec2::254]", "0.0.0.0", "[::]"),
        *("224.0.0.1", "[fe80::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "metadata.google.internal"),
    ],
)
def test_metadata_and_special_addresses_stay_refused_even_when_allowed(net: Any, host: str) -> None:
    async def main() -> None:
        async with net() as web:
            canonical = {"[::ffff:127.0.0.1]": "[::ffff:7f00:1]"}.get(host, host)
            web.allowed.append(Allowance("local", canonical, 80))
            web.resolver.names["metadata.google.internal"] = [["169.254.169.254"]]
            error = await refused(web.door(), f"http://{host}/")
            assert "no exception can open it" in str(error)
            assert web.dialled == []

    asyncio.run(main())


def test_an_exception_opens_the_port_of_a_public_host(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("search.test", respond(b"x"), port=9200)
            await refused(web.door(), "http://search.test:9200/")
            web.allowed.append(Allowance("local", "search.test", 9200))
            assert (await web.door().send(HttpRequest("http://search.test:9200/"))).status == 200

    asyncio.run(main())


def test_the_refusal_prints_the_command_that_allows_it(net: Any) -> None:
    async def main() -> None:
        async with net() as web:
            said = {purpose: str(await refused(web.door(purpose), "http://localhost:3000/x")) for purpose in PURPOSES}
            assert said["reading"] == (
                "localhost:3000 is a private address and private addresses are refused: "
                "if you trust it, run `webseam allow localhost:3000` (for reading)."
            )
            assert "run `webseam allow localhost:3000 --for index` (for index)." in said["index"]
            assert "run `webseam allow localhost:3000 --for engine:brave` (for the engine brave)." in said["engine:brave"]
            assert "--for plugin:weather` (for the plugin weather)." in said["plugin:weather"]
            assert '`webseam allow "[::1]:3000"`' in str(await refused(web.door(), "http://[::1]:3000/"))
            assert "`webseam allow printer:80`" in str(await refused(web.door(), "http://printer"))
            assert "`webseam allow db.internal:443`" in str(await refused(web.door(), "https://db.internal/"))

    asyncio.run(main())


def test_a_redirect_within_the_asked_origin_keeps_the_exception(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(b"there") if request.target == "/there" else respond(status=302, location="/there"))

            _, origin = await web.allowed_site(answer)
            reply = await web.door().send(HttpRequest(f"{origin}/here"), follow=True)
            assert (reply.body, reply.url) == (b"there", f"{origin}/there")

    asyncio.run(main())


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_from_elsewhere_uses_an_exception(net: Any, respond: Any, purpose: str, status: int) -> None:
    async def main() -> None:
        async with net() as web:
            inside, origin = await web.allowed_site(respond(b"inside"), purpose)
            _, other_origin = await web.allowed_site(respond(status=status, location=f"{origin}/"), purpose)
            await web.public_site("evil.test", respond(status=status, location=f"{origin}/"))
            web.resolver.names["inside.test"] = [["127.0.0.1"]]
            web.allowed.append(Allowance("local", "inside.test", inside.port, purpose))
            await web.public_site(
                "evil2.test", respond(status=status, location=f"http://inside.test:{inside.port}/"), ip="93.184.216.35"
            )
            await web.public_site("evil3.test", respond(status=status, location="http://printer/"), ip="93.184.216.36")
            for start in ("http://evil.test/", "http://evil2.test/", "http://evil3.test/", f"{other_origin}/"):
                error = await refused(web.door(purpose), start, follow=True)
                assert "exceptions never apply to a redirect from elsewhere" in str(
                    error
                ) or "redirect from elsewhere may only" in str(error)
            assert inside.connections == 0
            assert (await web.door(purpose).send(HttpRequest(f"{origin}/"))).body == b"inside"

    asyncio.run(main())


def test_coming_back_by_a_detour_does_not_bring_the_exception_back(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            inside, origin = await web.allowed_site(respond(status=302, location="http://evil.test/"))
            await web.public_site("evil.test", respond(status=302, location=f"{origin}/admin"))
            error = await refused(web.door(), f"{origin}/", follow=True)
            assert error.kind == "blocked_address"
            assert [request.target for request in inside.requests] == ["/"]

    asyncio.run(main())


def test_a_redirect_within_an_origin_reached_from_elsewhere_is_still_from_elsewhere(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            inside = await web.site(respond(b"inside"))
            web.leads["127.0.0.1", 8080] = inside.port
            await web.public_site("evil.test", respond(status=302, location="http://both.test:8080/1"))
            onward = respond(status=302, location="/2", connection="close")
            await web.public_site("both.test", onward, port=8080, ip="93.184.216.35")
            web.resolver.names["both.test"] = [["93.184.216.35"], ["127.0.0.1"]]
            web.allowed.append(Allowance("local", "both.test", 8080))
            error = await refused(web.door(), "http://evil.test/", follow=True)
            assert "resolves to a private address: exceptions never apply" in str(error)
            assert inside.connections == 0

    asyncio.run(main())


def test_an_exception_withdrawn_counts_no_more_even_on_a_kept_connection(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"x"))
            await web.door().send(HttpRequest(origin))
            web.allowed.clear()
            await refused(web.door(), origin)
            assert len(site.requests) == 1

    asyncio.run(main())


def test_a_kept_private_connection_is_not_reused_for_a_public_looking_request(net: Any, respond: Any) -> None:
    """The same host and port, once under an exception (a private address), then without: the pool must tell them apart."""

    async def main() -> None:
        async with net() as web:
            site = await web.site(respond(b"inside"))
            web.leads["127.0.0.1", 8080] = site.port
            web.resolver.names["both.test"] = [["127.0.0.1"]]
            web.allowed += [Allowance("local", "both.test", 8080, purpose) for purpose in ("reading", "index")]
            for _ in range(2):
                assert (await web.door("reading").send(HttpRequest("http://both.test:8080/"))).body == b"inside"
            assert site.connections == 1  # kept
            assert (await web.door("index").send(HttpRequest("http://both.test:8080/"))).body == b"inside"
            assert site.connections == 2  # not shared between purposes
            for purpose, account in (("engine:brave", "local"), ("reading", "other")):
                await refused(web.door(purpose, account), "http://both.test:8080/")
            await web.public_site("both.test", respond(b"outside"), port=8080)
            reply = await web.door("reading", "other").send(HttpRequest("http://both.test:8080/"))
            assert reply.body == b"outside"
            assert site.connections == 2

    asyncio.run(main())


def test_public_connections_are_kept_and_shared(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(b"x"))
            for account, purpose in (("local", "reading"), ("other", "index"), ("local", "engine:brave")):
                await web.door(purpose, account).send(HttpRequest("http://a.test/"))
            assert (site.connections, len(site.requests)) == (1, 3)
            assert web.resolver.asked == ["a.test"]

    asyncio.run(main())


def test_a_connection_that_received_bytes_while_idle_is_not_reused(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            smuggled = asyncio.Event()

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(request.target.encode()))
                await writer.drain()
                if request.target == "/first":
                    await smuggled.wait()
                    writer.write(respond(b"poison"))
                    await writer.drain()
                    smuggled.clear()

            site = await web.public_site("a.test", answer)
            assert (await web.door().send(HttpRequest("http://a.test/first"))).body == b"/first"
            smuggled.set()
            while smuggled.is_set():
                await asyncio.sleep(0)
            for _ in range(5):  # sent over loopback, they are there already: the loop has to look
                await asyncio.sleep(0)
            assert (await web.door().send(HttpRequest("http://a.test/second"))).body == b"/second"
            assert site.connections == 2

    asyncio.run(main())


def test_exceptions_are_asked_for_at_every_request(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.site(respond(b"x"))
            call = Call()
            door = web.door(call=call)
            await refused(door, f"http://127.0.0.1:{site.port}/")
            web.allowed.append(Allowance("local", "127.0.0.1", site.port))
            assert (await door.send(HttpRequest(f"http://127.0.0.1:{site.port}/"))).status == 200
            assert [step.outcome for step in call.steps] == ["blocked_address", "ok"]

    asyncio.run(main())
