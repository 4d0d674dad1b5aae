"""Redirects by hand: each judged anew, with fresh headers, without a body across origins (rows 29 to 33 of the abuse list)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

FORBIDDEN = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
]
FORBIDDEN += ["http://[::ffff:7f00:1]/", "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::7f00:1]/"]
FORBIDDEN += [
    "http://[2002:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fd00:ec2::254]/",
    "http://localhost/",
]
FORBIDDEN += [
    "http://169.254.169.254/latest/",
    "http://metadata.google.internal/",
    "http://10.0.0.1/",
    "http://224.0.0.1/",
    "//127.0.0.1/",
]
FORBIDDEN += ["http://①②⑦.⓪.⓪.①/", "http://printer/", "http://private.test/", "http://mixed.test/", "https://192.168.1.1/"]

SECRETS = {"Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "X-API-Key": "s3cret", "X-Subscription-Token": "s3cret"}


async def refusal(door: Any, url: str, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(HttpRequest(url, **options), follow=True)
    return caught.value


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_a_forbidden_address_is_refused_before_it_is_dialled(net: Any, respond: Any, status: int) -> None:
    async def main() -> None:
        async with net() as web:
            web.resolver.names["private.test"] = [["10.0.0.7"]]
            web.resolver.names["mixed.test"] = [["93.184.216.34", "10.0.0.7"]]
            site = await web.public_site("a.test", b"")
            for target in FORBIDDEN:
                site.answer = respond(status=status, location=target.encode().decode("latin-1"))
                error = await refusal(web.door(), "http://a.test/")
                assert error.kind == "blocked_address", target
                assert "a.test:80 redirects to" in str(error)
                assert "10.0.0.7" not in str(error)
            assert {address for address, _ in web.dialled} == {"93.184.216.34"}

    asyncio.run(main())


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("file:///etc/passwd", "blocked_scheme"),
        ("gopher://127.0.0.1:6379/_", "blocked_scheme"),
        ("javascript:alert(1)", "blocked_scheme"),
        ("http://a.test:22/", "blocked_port"),
        ("http://user:pw@b.test/", "invalid_url"),
        ("http://127.0.0.1\\@b.test/", "invalid_url"),
        ("http://a..b/", "invalid_url"),
        ("http://", "invalid_url"),
        ("/" + "x" * 9_000, "too_large"),  # no header is that long
        ("http://unknown.test/", "dns"),
    ],
)
def test_a_redirect_to_something_else_that_is_no_page_is_refused(net: Any, respond: Any, location: str, kind: str) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(status=302, location=location))
            error = await refusal(web.door(), "http://a.test/")
            assert error.kind == kind or (kind == "too_large" and error.kind == "invalid_url")
            assert "pw" not in str(error)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("location", "target"), [("/x", "/x"), ("x?y#z", "/d/x?y"), ("//a.test/x", "/x"), ("?q", "/d/?q"), ("../x", "/x")]
)
def test_relative_redirects_are_followed(net: Any, respond: Any, location: str, target: str) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(b"there") if request.target == target else respond(status=302, location=location))

            site = await web.public_site("a.test", answer)
            reply = await web.door().send(HttpRequest("http://a.test/d/"), follow=True)
            assert (reply.body, reply.url) == (b"there", f"http://a.test{target}")
            assert site.connections == 1

    asyncio.run(main())


def test_without_follow_a_redirect_is_returned_as_it_is(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(b"moved", status=301, location="http://127.0.0.1/"))
            reply = await web.door().send(HttpRequest("http://a.test/"))
            assert (reply.status, reply.body, reply.headers["location"]) == (301, b"moved", "http://127.0.0.1/")

    asyncio.run(main())


@pytest.mark.parametrize("status", [300, 304, 305, 306])
def test_other_statuses_of_the_300s_are_no_redirects(net: Any, respond: Any, status: int) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(status=status, location="http://127.0.0.1/"))
            assert (await web.door().send(HttpRequest("http://a.test/"), follow=True)).status == status

    asyncio.run(main())


def test_a_redirect_without_a_location_is_a_reply(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(b"where?", status=302))
            assert (await web.door().send(HttpRequest("http://a.test/"), follow=True)).body == b"where?"

    asyncio.run(main())


def test_refresh_headers_and_meta_refresh_are_not_followed(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            page = b'<meta http-equiv="refresh" content="0; url=http://b.test/">'
            site = await web.public_site(
                "a.test", respond(page, refresh="0; url=http://b.test/", link="<http://b.test/>; rel=canonical")
            )
            assert (await web.door().send(HttpRequest("http://a.test/"), follow=True)).body == page
            assert web.resolver.asked == ["a.test"]
            assert len(site.requests) == 1

    asyncio.run(main())


def test_two_different_locations_are_a_bad_reply(net: Any) -> None:
    async def main() -> None:
        async with net() as web:
            answer = b"HTTP/1.1 302 X\r\nLocation: http://b.test/\r\nLocation: http://c.test/\r\nContent-Length: 0\r\n\r\n"
            await web.public_site("a.test", answer)
            assert (await refusal(web.door(), "http://a.test/")).kind == "bad_reply"

    asyncio.run(main())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_header_of_the_caller_crosses_an_origin_or_comes_back(net: Any, respond: Any, status: int) -> None:
    async def main() -> None:
        async with net() as web:
            targets = {"/start": "/same", "/same": "http://b.test/"}

            async def first(request: Any, writer: asyncio.StreamWriter) -> None:
                location = targets.get(request.target)
                writer.write(respond(status=status, location=location) if location else respond(b"end"))

            site = await web.public_site("a.test", first)
            other = await web.public_site("b.test", respond(status=status, location="http://a.test/end"), ip="93.184.216.35")
            headers = SECRETS | {"User-Agent": "mine/1.0", "Accept": "text/html", "Accept-Language": "de"}
            reply = await web.door().send(HttpRequest("http://a.test/start", headers=headers), follow=True)
            assert reply.body == b"end"
            start, same, end = site.requests
            for request in (start, same):
                assert {name: request.headers[name.lower()] for name in headers} == headers
            for request in (*other.requests, end):
                assert "s3cret" not in request.head
                assert request.headers["user-agent"].startswith("webseam/")
                assert (request.headers["accept"], request.headers["accept-language"]) == ("text/html", "de")
                assert not {name.lower() for name in SECRETS} & request.headers.keys()

    asyncio.run(main())


@pytest.mark.parametrize(("ports", "cross"), [((80, 8080), True), ((80, 80), False)])
def test_another_port_is_another_origin(net: Any, respond: Any, ports: tuple[int, int], cross: bool) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(
                    respond(b"x") if request.target == "/b" else respond(status=302, location=f"http://a.test:{ports[1]}/b")
                )

            one = await web.public_site("a.test", answer)
            web.leads["93.184.216.34", 8080] = one.port
            await web.door().send(HttpRequest("http://a.test/a", headers=SECRETS), follow=True)
            assert ("s3cret" not in one.requests[1].head) is cross

    asyncio.run(main())


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_a_post_becomes_a_get_or_is_repeated_within_its_origin(net: Any, respond: Any, status: int, method: str) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(b"x") if request.target == "/b" else respond(status=status, location="/b"))

            site = await web.public_site("a.test", answer)
            request = HttpRequest("http://a.test/a", "POST", {"Content-Type": "text/plain"}, b"body")
            await web.door().send(request, follow=True)
            second = site.requests[1]
            assert (second.method, second.body) == (method, b"body" if method == "POST" else b"")
            assert ("content-type" in second.headers) is (method == "POST")

    asyncio.run(main())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_body_never_crosses_an_origin(net: Any, respond: Any, status: int) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(status=status, location="http://b.test/"))
            other = await web.public_site("b.test", respond(b"x"), ip="93.184.216.35")
            request = HttpRequest("http://a.test/", "POST", {"Content-Type": "text/plain"}, b"s3cret")
            if status in (307, 308):
                with pytest.raises(DoorError) as caught:
                    await web.door().send(request, follow=True)
                assert caught.value.kind == "bad_reply"
                assert other.connections == 0
            else:
                await web.door().send(request, follow=True)
                assert (other.requests[0].method, other.requests[0].body) == ("GET", b"")
                assert "content-type" not in other.requests[0].headers

    asyncio.run(main())


def test_head_stays_head(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                head = b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"
                writer.write(head if request.target == "/b" else respond(status=303, location="/b"))

            site = await web.public_site("a.test", answer)
            reply = await web.door().send(HttpRequest("http://a.test/a", "HEAD"), follow=True)
            assert (reply.status, reply.body) == (200, b"")
            assert [request.method for request in site.requests] == ["HEAD", "HEAD"]

    asyncio.run(main())


def test_circles_and_endless_chains_end(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(status=302, location="/"))
            error = await refusal(web.door(), "http://a.test/")
            assert (error.kind, len(site.requests)) == ("too_many_redirects", 1)

            async def ping(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(status=302, location="/b" if request.target == "/a" else "/a"))

            site = await web.public_site("b.test", ping, ip="93.184.216.35")
            error = await refusal(web.door(), "http://b.test/a")
            assert (error.kind, len(site.requests)) == ("too_many_redirects", 2)

            async def count(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(status=302, location=f"/?{int(request.target[2:] or 0) + 1}"))

            site = await web.public_site("c.test", count, ip="93.184.216.36")
            error = await refusal(web.door(), "http://c.test/?0")
            assert (error.kind, len(site.requests)) == ("too_many_redirects", LIMITS.redirects + 1)

    asyncio.run(main())


def test_as_many_redirects_as_the_limit_are_followed(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def count(request: Any, writer: asyncio.StreamWriter) -> None:
                number = int(request.target[2:])
                writer.write(respond(status=302, location=f"/?{number - 1}") if number else respond(b"end"))

            await web.public_site("a.test", count)
            reply = await web.door().send(HttpRequest(f"http://a.test/?{LIMITS.redirects}"), follow=True)
            assert reply.body == b"end"

    asyncio.run(main())


def test_no_cookie_outlives_a_request(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                cookie = {"set_cookie": "id=1; Domain=test; Path=/"}
                writer.write(
                    respond(b"x", **cookie) if request.target == "/b" else respond(status=302, location="/b", **cookie)
                )

            site = await web.public_site("a.test", answer)
            for account in ("local", "other"):
                await web.door(account=account).send(HttpRequest("http://a.test/a"), follow=True)
            assert all("cookie" not in request.headers for request in site.requests)

    asyncio.run(main())
