"""What is sent, what is recorded, and what never shows: headers, User-Agent, secrets, proxies, steps, event loops."""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from typing import Any
from urllib.parse import quote

import pytest

from webseam import __version__
from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress, default_user_agent
from webseam.errors import ConfigurationError, DoorError
from webseam.seam.contract import HttpRequest

SECRET = "k3y +/ä%&"


async def refusal(door: Any, request: HttpRequest, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(request, **options)
    return caught.value


def test_a_request_arrives_as_it_was_made(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"ok", status=201, x_note="a"))
            headers = {"X-Subscription-Token": "abc", "Content-Type": "application/json", "accept": "application/json"}
            request = HttpRequest(f"{origin}/v1/search?q=a%20b&u=http://x.y/%C3%A4", "post", headers, b'{"a":1}')
            reply = await web.door().send(request)
            assert (reply.status, reply.body, reply.headers["x-note"], reply.url) == (201, b"ok", "a", request.url)
            got = site.requests[0]
            assert (got.method, got.target, got.body) == ("POST", "/v1/search?q=a%20b&u=http://x.y/%C3%A4", b'{"a":1}')
            assert got.headers == {
                "host": f"127.0.0.1:{site.port}",
                "user-agent": web.egress.user_agent,
                "accept": "application/json",
                "accept-encoding": "gzip, deflate, br, zstd",
                "x-subscription-token": "abc",
                "content-type": "application/json",
                "content-length": "7",
            }
            assert "HTTP/1.1" in got.head.partition("\r\n")[0]

    asyncio.run(main())


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_bodies_of_any_size_arrive(net: Any, respond: Any, size: int) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"ok"))
            await web.door().send(HttpRequest(origin, "PUT", {"Content-Type": "text/plain"}, b"x" * size))
            assert (site.requests[0].method, len(site.requests[0].body)) == ("PUT", size)
            assert site.requests[0].headers["content-length"] == str(size)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("GET", {"X-A": "a\r\nHost: evil"}),
        ("GET", {"X-A": "a\nb"}),
        ("GET", {"X-A": "a\x00"}),
        ("GET", {"X-A": "a\x7f"}),
        ("GET", {"X-A": "\ud800"}),
        ("GET", {"X-A": "a" * 20_000}),
        ("GET", {"X A": "a"}),
        ("GET", {"X-A\r\nHost": "a"}),
        ("GET", {"": "a"}),
        ("GET", {"X-Ä": "a"}),
        ("GET", {"Host": "evil.test"}),
        ("GET", {"hOsT": "evil.test"}),
        ("GET", {"Content-Length": "5"}),
        ("GET", {"Transfer-Encoding": "chunked"}),
        ("GET", {"Connection": "close"}),
        ("GET", {"Upgrade": "websocket"}),
        ("GET", {"Expect": "100-continue"}),
        ("GET", {"Proxy-Authorization": "Basic x"}),
        ("GET / HTTP/1.1\r\nX:", {}),
        ("CONNECT", {}),
        ("TRACE", {}),
        ("", {}),
    ],
)
def test_requests_that_would_break_their_frame_are_refused(
    net: Any, respond: Any, method: str, headers: dict[str, str]
) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"ok"))
            error = await refusal(web.door(), HttpRequest(origin, method, headers))
            assert error.kind == "invalid_request"
            assert "\r" not in str(error)
            assert site.connections == 0

    asyncio.run(main())


def test_what_can_be_decoded_is_the_doors_to_say(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(respond(b"ok"))
            await web.door().send(HttpRequest(origin, headers={"Accept-Encoding": "lzma"}))
            assert site.requests[0].headers["accept-encoding"] == "gzip, deflate, br, zstd"

    asyncio.run(main())


def test_the_user_agent_is_honest_and_a_caller_may_have_its_own(
    net: Any, respond: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEBSEAM_CONTACT", raising=False)
    assert default_user_agent() == f"webseam/{__version__} (web reader for AI agents; set a contact with WEBSEAM_CONTACT)"
    monkeypatch.setenv("WEBSEAM_CONTACT", "mailto:ops@example.com")
    assert default_user_agent() == f"webseam/{__version__} (web reader for AI agents; +mailto:ops@example.com)"
    for bad in ("a b", "x\r\nHost: y", "(comment)", "ä", "x" * 201):
        monkeypatch.setenv("WEBSEAM_CONTACT", bad)
        with pytest.raises(ConfigurationError, match="WEBSEAM_CONTACT"):
            default_user_agent()

    async def main() -> None:
        async with net(user_agent="ours/1") as web:
            site, origin = await web.allowed_site(respond(b"ok"))
            await web.door().send(HttpRequest(origin))
            await web.door().send(HttpRequest(origin, headers={"USER-AGENT": "theirs/2"}))
            assert [request.headers["user-agent"] for request in site.requests] == ["ours/1", "theirs/2"]
            assert site.requests[1].head.lower().count("user-agent") == 1

    asyncio.run(main())


def test_steps_tell_hops_without_paths_or_secrets(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(status=302, location="http://b.test/other?token=t0ken"))
            await web.public_site("b.test", respond(b"12345"), ip="93.184.216.35")
            call = Call()
            request = HttpRequest("http://a.test/path?key=t0ken", headers={"X-Key": "t0ken"}, secrets=("t0ken",))
            await web.door(call=call).send(request, follow=True)
            assert [step.detail for step in call.steps] == [
                {"method": "GET", "host": "a.test", "status": 302},
                {"method": "GET", "host": "b.test", "status": 200, "bytes": 5},
            ]
            assert [(step.name, step.outcome) for step in call.steps] == [("http", "ok")] * 2
            await refusal(web.door(call=call), HttpRequest("http://t0ken.nowhere.test/", secrets=("t0ken",)))
            assert call.steps[-1].outcome == "dns"
            assert "t0ken" not in repr(call.steps)

    asyncio.run(main())


SPELLINGS = [SECRET, quote(SECRET, safe=""), quote(SECRET), quote(SECRET, safe="").lower(), SECRET.replace(" ", "+")]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_error_shows_a_secret_however_it_is_spelt(net: Any, respond: Any, spelling: str) -> None:
    async def main() -> None:
        async with net() as web:
            site, origin = await web.allowed_site(b"garbage " + spelling.encode() + b"\r\n\r\n")
            # Wherever a secret may stand in a request, and wherever the other side may echo it.
            safe = quote(SECRET, safe="")
            urls = [
                f"{origin}/{safe}?key={safe}",
                f"http://a.test/{safe}",
                f"http://a.test:22/{safe}",
                f"http://10.0.0.1/{safe}",
            ]
            for url in urls:
                await shows_nothing(web, HttpRequest(url, headers={"X-Key": SECRET}, secrets=(SECRET,)))
            site.answer = respond(status=302, location=f"http://h/{safe}")
            await shows_nothing(web, HttpRequest(f"{origin}/{safe}", secrets=(SECRET,)))
            await shows_nothing(web, HttpRequest(f"http://{safe}@a.test/", secrets=(SECRET,)))
            await shows_nothing(web, HttpRequest(f"{safe}://a.test/", secrets=(SECRET,)))

    async def shows_nothing(web: Any, request: HttpRequest) -> None:
        with pytest.raises(DoorError) as caught:
            await web.door().send(request, follow=True)
        shown = str(caught.value) + caught.value.url + "".join(traceback.format_exception(caught.value))
        assert not [one for one in SPELLINGS if one.lower() in shown.lower()]

    asyncio.run(main())


def test_a_secret_in_a_host_name_is_redacted_in_the_error(net: Any) -> None:
    async def main() -> None:
        async with net() as web:
            error = await refusal(web.door(), HttpRequest("http://t0ken.example.test/", secrets=("T0KEN", "")))
            assert str(error).startswith("The name [secret].example.test cannot be found")
            assert error.url == "http://[secret].example.test"

    asyncio.run(main())


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_proxies_of_the_environment_are_ignored_and_a_failure_says_so(
    net: Any, respond: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

    async def main() -> None:
        async with net() as web:
            proxy = await web.site(respond(b"from the proxy"))
            _, origin = await web.allowed_site(respond(b"direct"))
            monkeypatch.setenv(variable, f"http://user:pw@127.0.0.1:{proxy.port}")
            assert (await web.door().send(HttpRequest(origin))).body == b"direct"
            assert proxy.connections == 0
            with socket.socket() as closed:
                closed.bind(("127.0.0.1", 0))
                port = closed.getsockname()[1]
                web.allowed.append(Allowance("local", "127.0.0.1", port))
                error = await refusal(web.door(), HttpRequest(f"http://127.0.0.1:{port}/"))
            assert error.kind == "connect"
            first, second = str(error).split("\n")
            assert first.startswith(f"127.0.0.1:{port} cannot be reached (")
            assert (
                second == f"{variable.upper()} is set and ignored: Webseam connects directly. Set WEBSEAM_PROXY=env to use it."
            )

    asyncio.run(main())


def test_many_requests_at_once_share_few_connections(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(b"ok"))
            own, origin = await web.allowed_site(respond(b"ok"))
            for where, found, most in ("http://a.test", site, 6), (origin, own, 32):  # a stranger's site, one of one's own
                replies = await asyncio.gather(*(web.door().send(HttpRequest(f"{where}/{number}")) for number in range(100)))
                assert [reply.body for reply in replies] == [b"ok"] * 100
                assert found.connections <= most

    asyncio.run(main())


def test_an_egress_may_be_used_in_one_loop_after_another(net: Any, respond: Any) -> None:
    allowed: list[Allowance] = []
    egress = Egress(allowances=lambda _: allowed)

    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(respond(b"ok"))
            allowed[:] = web.allowed
            assert (await egress.door(Call(), "reading").send(HttpRequest(origin))).body == b"ok"
            await egress.close()

    for _ in range(2):
        asyncio.run(main())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop for Windows")
def test_the_door_works_and_refuses_under_uvloop(net: Any, respond: Any) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        async with net(sockets=None) as web:
            site, origin = await web.allowed_site(respond(b"ok"))
            for _ in range(3):
                assert (await web.door().send(HttpRequest(origin))).body == b"ok"
            assert site.connections == 1
            web.resolver.names["in.test"] = [["127.0.0.1"]]
            web.allowed.append(Allowance("local", "in.test", site.port))
            assert (await web.door().send(HttpRequest(f"http://in.test:{site.port}/"))).body == b"ok"
            for url in ("http://localhost/", "http://127.1/", "http://out.test/"):
                web.resolver.names["out.test"] = [["93.184.216.34", "10.0.0.1"]]
                assert (await refusal(web.door(), HttpRequest(url))).kind == "blocked_address"
            slow = await web.allowed_site(lambda request, writer: request.hang_up())
            error = await refusal(web.door(seconds=0.2), HttpRequest(slow[1]))
            assert error.kind == "timeout"
            call = Call()
            task = asyncio.ensure_future(web.door(call=call).send(HttpRequest(slow[1])))
            slow[0].asked.clear()
            await slow[0].asked.wait()
            call.cancel()
            with pytest.raises(DoorError, match="was cancelled"):
                await task

    uvloop.run(main())
