"""robots.txt with the meaning of RFC 9309, through the same door (row 47 of the abuse list)."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.call import Call
from webseam.config import LIMITS
from webseam.egress.addresses import Allowance
from webseam.egress.cache import Caches
from webseam.egress.robots import FAILURE_KEPT_SECONDS, MOST_BYTES, MOST_ENTRIES, PRODUCT, Robots, read, relevant
from webseam.egress.urls import parse
from webseam.errors import DoorError
from webseam.seam.contract import HttpReply, HttpRequest, RobotsVerdict

ROBOTS = b"""\
Sitemap: https://a.test/sitemap.xml
User-agent: *
Disallow: /private
Allow: /private/open$
Crawl-delay: 2

User-agent: other
Disallow: /
"""


def verdict(net: Any, answer: Any, path: str = "/", **options: Any) -> RobotsVerdict:
    async def main() -> RobotsVerdict:
        async with net() as web:
            await web.public_site("a.test", answer)
            found: RobotsVerdict = await web.door(**options).robots(f"http://a.test{path}")
            return found

    return asyncio.run(main())


def test_rules_delay_and_sitemaps_are_read(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(ROBOTS))
            door = web.door("index")
            assert await door.robots("http://a.test/x") == RobotsVerdict(True, 2.0, ("https://a.test/sitemap.xml",))
            refused = await door.robots("http://a.test/private/x?y")
            assert (refused.allowed, refused.reason) == (False, "robots.txt of a.test disallows this page for webseam")
            assert (await door.robots("http://a.test/private/open")).allowed
            assert (await door.robots("http://a.test/robots.txt")).allowed
            assert [request.target for request in site.requests] == ["/robots.txt"]
            assert site.requests[0].headers["user-agent"].startswith("webseam/")

    asyncio.run(main())


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429, 451])
def test_client_errors_allow_everything(net: Any, respond: Any, status: int) -> None:
    assert verdict(net, respond(b"User-agent: *\nDisallow: /", status=status)) == RobotsVerdict(True)


@pytest.mark.parametrize("status", [500, 502, 503, 599])
def test_server_errors_disallow_everything_and_say_why(net: Any, respond: Any, status: int) -> None:
    found = verdict(net, respond(b"User-agent: *\nAllow: /", status=status))
    assert not found.allowed
    assert found.reason.startswith(f"robots.txt of a.test answered with status {status}")


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"]
)
def test_an_unreadable_answer_disallows_everything_and_says_why(net: Any, answer: bytes) -> None:
    found = verdict(net, answer)
    assert not found.allowed
    assert found.reason.startswith(
        "robots.txt of a.test could not be read, which counts as a refusal (RFC 9309): a.test:80 sent"
    )


def test_a_site_that_is_down_disallows_everything(net: Any) -> None:
    async def main() -> None:
        async with net() as web:
            assert not (await web.door().robots("http://nowhere.test/x")).allowed

    asyncio.run(main())


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.1/", "http://10.0.0.1/robots.txt", "file:///etc/passwd", "http://a.test:22/", "http://inside.test/"],
)
def test_a_redirect_that_the_door_refuses_disallows_everything(net: Any, respond: Any, target: str) -> None:
    async def main() -> None:
        async with net() as web:
            web.resolver.names["inside.test"] = [["10.0.0.1"]]
            await web.public_site("a.test", respond(status=301, location=target))
            found = await web.door().robots("http://a.test/")
            assert not found.allowed
            assert {address for address, _ in web.dialled} == {"93.184.216.34"}

    asyncio.run(main())


def test_redirects_are_followed_to_other_hosts_and_endless_ones_allow(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(status=301, location="http://b.test/r"))
            await web.public_site("b.test", respond(ROBOTS), ip="93.184.216.35")
            await web.public_site("c.test", respond(status=301, location="/robots.txt"), ip="93.184.216.36")
            assert not (await web.door().robots("http://a.test/private")).allowed
            assert (await web.door().robots("http://c.test/private")).allowed

    asyncio.run(main())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x", "http://localhost:3000/", "http://a.test:22/", "file:///x", "http://inside.test/"]
)
def test_a_url_that_is_refused_itself_raises(net: Any, url: str) -> None:
    async def main() -> None:
        async with net() as web:
            web.resolver.names["inside.test"] = [["10.0.0.1"]]
            for _ in range(2):
                with pytest.raises(DoorError) as caught:
                    await web.door().robots(url)
                assert caught.value.kind.startswith("blocked")
            assert web.dialled == []

    asyncio.run(main())


def test_an_allowed_private_site_is_asked_under_the_same_exception(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(respond(ROBOTS), "index")
            assert not (await web.door("index").robots(f"{origin}/private")).allowed
            with pytest.raises(DoorError):
                await web.door("reading").robots(f"{origin}/private")

    asyncio.run(main())


def test_a_file_over_the_limit_counts_as_far_as_it_is_read(net: Any, respond: Any) -> None:
    start, filler = b"User-agent: *\nDisallow: /early\n", b"#" + b"x" * LIMITS.robots_bytes
    for body, extra in ((start + filler, {}), (gzip.compress(start + filler), {"content_encoding": "gzip"})):
        assert not verdict(net, respond(body + b"\nDisallow: /late\n" if not extra else body, **extra), "/early").allowed
        assert verdict(net, respond(body + b"\nDisallow: /late\n" if not extra else body, **extra), "/late").allowed


def test_an_endless_file_is_read_as_far_as_the_limit(net: Any) -> None:
    async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /early\n")
        while True:
            writer.write(b"#" * 65536)
            await writer.drain()

    assert not verdict(net, answer, "/early").allowed
    assert verdict(net, answer, "/late").allowed


def test_html_instead_of_rules_allows_everything(net: Any, respond: Any) -> None:
    assert verdict(net, respond(b"<!doctype html><title>Home</title><p>Disallow: none", content_type="text/html")).allowed


def test_a_call_that_ends_first_raises_and_spoils_nothing(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", lambda request, writer: request.hang_up())
            with pytest.raises(DoorError) as caught:
                await web.door(seconds=0.2).robots("http://a.test/")
            assert caught.value.kind == "timeout"
            call = Call()
            site.asked.clear()
            task = asyncio.ensure_future(web.door(call=call).robots("http://a.test/"))
            await site.asked.wait()
            call.cancel()
            with pytest.raises(DoorError, match="was cancelled"):
                await task
            site.answer = respond(b"")
            assert (await web.door().robots("http://a.test/")).allowed

    asyncio.run(main())


def test_many_at_once_ask_once_and_a_leaving_one_does_not_take_the_others_along(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            go = asyncio.Event()

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                await go.wait()
                writer.write(respond(ROBOTS))

            site = await web.public_site("a.test", answer)
            first = asyncio.ensure_future(web.door().robots("http://a.test/"))
            await site.asked.wait()
            others = [asyncio.ensure_future(web.door().robots("http://a.test/private")) for _ in range(10)]
            await asyncio.sleep(0)
            first.cancel()
            go.set()
            assert [found.allowed for found in await asyncio.gather(*others)] == [False] * 10
            assert len(site.requests) == 2  # the one that left, and one for all the others

    asyncio.run(main())


def test_accounts_and_purposes_do_not_share_what_is_kept(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(ROBOTS))
            for _ in range(2):
                for account in ("local", "other"):
                    for purpose in ("reading", "index"):
                        await web.door(purpose, account).robots("http://a.test/")
            assert len(site.requests) == 4

    asyncio.run(main())


async def refusal(door: Any, url: str, **options: Any) -> DoorError:
    with pytest.raises(DoorError) as caught:
        await door.send(HttpRequest(url), follow=True, robots="obey", **options)
    return caught.value


def targets(site: Any) -> list[str]:
    return [request.target for request in site.requests]


def test_each_address_of_a_chain_is_asked_for_before_it_is_fetched(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def a(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(status=404) if request.target == "/robots.txt" else respond(status=302, location=to[0]))

            async def b(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(ROBOTS) if request.target == "/robots.txt" else respond(b"there"))

            first, second = await web.public_site("a.test", a), await web.public_site("b.test", b, ip="93.184.216.35")
            to = ["http://b.test/private/x"]
            error = await refusal(web.door(), "http://a.test/")
            assert error.kind == "robots"
            assert str(error).startswith("robots.txt of b.test disallows this page for webseam: respect that, or, ")
            assert (targets(first), targets(second)) == (["/robots.txt", "/"], ["/robots.txt"])
            warned = await web.door().send(HttpRequest("http://a.test/"), follow=True, robots="warn")
            assert (warned.body, len(warned.notes)) == (b"there", 1)
            to[0] = "http://b.test/open"
            reply = await web.door().send(HttpRequest("http://a.test/"), follow=True, robots="obey")
            assert (reply.body, reply.notes) == (b"there", ())
            assert targets(second) == ["/robots.txt", "/private/x", "/open"]
            unasked = await web.door("engine:x").send(HttpRequest("http://b.test/private/x"))
            assert (unasked.body, targets(second).count("/robots.txt")) == (b"there", 1)

    asyncio.run(main())


@pytest.mark.parametrize(("purpose", "engine"), [("reading", "builtin"), ("index", "index"), ("plugin:x", None)])
def test_the_refusal_names_the_setting_of_its_purpose(net: Any, respond: Any, purpose: str, engine: str | None) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("a.test", respond(ROBOTS))
            error = await refusal(web.door(purpose), "http://a.test/private")
            assert (f"webseam set {engine} robots warn" in str(error)) is (engine is not None)
            assert ("webseam set" in str(error)) is (engine is not None)

    asyncio.run(main())


def test_a_host_that_is_not_there_is_told_in_the_words_of_the_network_and_asked_again(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            error = await refusal(web.door(), "http://a.test/")
            assert error.kind == "dns"
            assert str(error).startswith("The name a.test cannot be found")
            web.resolver.names["a.test"] = [["93.184.216.34"]]
            error = await refusal(web.door(), "http://a.test/")
            assert error.kind == "connect"
            assert str(error).startswith("a.test:80 cannot be reached")
            await web.public_site("a.test", respond(b"here"))
            assert (await web.door().send(HttpRequest("http://a.test/"), robots="obey")).body == b"here"

    asyncio.run(main())


@pytest.mark.parametrize("broken", ["unreadable", "refused elsewhere", "hangs up"])
def test_a_server_of_ones_own_without_a_robots_txt_to_be_had_forbids_nothing(net: Any, respond: Any, broken: str) -> None:
    async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
        if request.target != "/robots.txt":
            writer.write(respond(b"page"))
        elif broken == "unreadable":
            writer.write(b"nonsense\r\n\r\n")
        elif broken == "refused elsewhere":
            writer.write(respond(status=302, location="http://10.0.0.1/"))
        else:
            writer.close()

    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(answer)
            for _ in range(2):
                assert (await web.door().send(HttpRequest(f"{origin}/"), robots="obey")).body == b"page"
            await web.public_site("a.test", answer)
            error = await refusal(web.door(), "http://a.test/")
            assert error.kind == "robots"
            assert "Try again later, or, if you have the site's permission, run `webseam set builtin" in str(error)

    asyncio.run(main())


def test_a_server_of_ones_own_is_obeyed_in_what_it_does_say(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(respond(ROBOTS))
            assert (await refusal(web.door(), f"{origin}/private")).kind == "robots"
            _, origin = await web.allowed_site(respond(status=500))
            assert (await refusal(web.door(), f"{origin}/")).kind == "robots"

    asyncio.run(main())


def test_a_redirect_from_elsewhere_does_not_even_ask_a_private_host_for_its_robots_txt(net: Any, respond: Any) -> None:
    """An exception never applies to a redirect from elsewhere: not to the page, and not to the question before it."""

    async def main() -> None:
        async with net() as web:
            site = await web.site(respond(b""))
            web.egress.ports |= {site.port}  # so that the address alone decides
            web.resolver.names["wiki.test"] = [["127.0.0.1"]]
            web.allowed += [Allowance("local", host, site.port, "reading") for host in ("127.0.0.1", "wiki.test")]
            for target in (f"http://127.0.0.1:{site.port}/", f"http://wiki.test:{site.port}/"):

                async def answer(request: Any, writer: asyncio.StreamWriter, target: str = target) -> None:
                    writer.write(respond(status=404) if "robots" in request.target else respond(status=302, location=target))

                await web.public_site("a.test", answer)
                for robots in ("obey", "warn"):
                    with pytest.raises(DoorError, match="exceptions never apply to a redirect from elsewhere"):
                        await web.door().send(HttpRequest("http://a.test/"), follow=True, robots=robots)
                assert site.connections == 0
            reply = await web.door().send(HttpRequest(f"http://127.0.0.1:{site.port}/"), robots="obey")
            assert (reply.status, targets(site)) == (200, ["/robots.txt", "/"])

    asyncio.run(main())


def test_a_secret_in_a_page_that_robots_txt_disallows_is_not_shown(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            await web.public_site("s3cret.test", respond(b"User-agent: *\nDisallow: /"))
            with pytest.raises(DoorError) as caught:
                await web.door().send(HttpRequest("http://s3cret.test/s3cret", secrets=("s3cret",)), robots="obey")
            assert caught.value.kind == "robots"
            assert "s3cret" not in f"{caught.value} {caught.value.url}"

    asyncio.run(main())


def test_what_is_kept_is_shown_without_asking_and_got_again_only_with_leave(net: Any, respond: Any, tmp_path: Path) -> None:
    async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
        if request.target == "/robots.txt":
            writer.write(respond(rules[0]))
        elif "if-none-match" in request.headers:
            writer.write(b'HTTP/1.1 304 X\r\nEtag: "1"\r\n\r\n')
        else:
            writer.write(respond(b"page", cache_control="max-age=60", etag='"1"'))

    rules = [b""]

    async def main() -> None:
        async with net(cache=Caches(tmp_path).of) as web:
            site = await web.public_site("a.test", answer)
            page = HttpRequest("http://a.test/private")

            async def get(cache: str, robots: str = "obey") -> HttpReply:
                reply: HttpReply = await web.door().send(page, cache=cache, robots=robots)
                return reply

            assert (await get("use")).body == b"page"
            assert targets(site) == ["/robots.txt", "/private"]
            web.egress.robots, rules[0] = Robots(), ROBOTS
            for mode in ("use", "only"):
                assert (await get(mode)).retrieved_at
            assert len(site.requests) == 2, "neither the site nor its robots.txt is asked"
            with pytest.raises(DoorError, match=r"robots\.txt of a\.test disallows"):
                await get("refresh")
            assert targets(site)[2:] == ["/robots.txt"]
            confirmed = await get("refresh", "warn")
            assert (confirmed.body, len(confirmed.notes)) == (b"page", 1)
            assert targets(site)[3:] == ["/private"]

    asyncio.run(main())


def test_later_for_robots_txt_is_asked_again_soon() -> None:
    async def main() -> None:
        now, statuses, asked = [0.0], [429, 200], []

        async def fetch(url: str, seconds: float) -> HttpReply:
            asked.append(url)
            return HttpReply(statuses.pop(0), {}, ROBOTS, url)

        robots = Robots(clock=lambda: now[0])
        page = parse("http://a.test/private")
        assert (await robots.verdict(fetch, ("local", "reading"), page)).allowed
        now[0] += FAILURE_KEPT_SECONDS
        assert not (await robots.verdict(fetch, ("local", "reading"), page)).allowed
        assert len(asked) == 2

    asyncio.run(main())


def test_what_is_kept_is_bounded_and_grows_old() -> None:
    async def main() -> None:
        now = [0.0]
        asked: list[str] = []
        status = [200]

        async def fetch(url: str, seconds: float) -> HttpReply:
            asked.append(url)
            return HttpReply(status[0], {}, ROBOTS, url)

        robots = Robots(clock=lambda: now[0])

        async def ask(host: str) -> bool:
            return (await robots.verdict(fetch, ("local", "index"), parse(f"http://{host}/"))).allowed

        assert await ask("a.test")
        now[0] = LIMITS.robots_kept_seconds - 1
        await ask("a.test")
        assert len(asked) == 1
        now[0] += 1
        await ask("a.test")
        assert len(asked) == 2
        status[0] = 503
        assert not await ask("down.test")
        status[0] = 200
        assert not await ask("down.test")
        now[0] += FAILURE_KEPT_SECONDS
        assert await ask("down.test")
        for number in range(MOST_ENTRIES + 5):
            await ask(f"h{number}.test")
        assert len(robots._kept) == MOST_ENTRIES
        before = len(asked)
        await ask("a.test")
        assert len(asked) == before + 1

    asyncio.run(main())


def test_large_files_push_out_older_ones() -> None:
    async def main() -> None:
        body = b"User-agent: *\n" + b"".join(b"Disallow: /%d-%s\n" % (number, b"x" * 400) for number in range(1_000))

        async def fetch(url: str, seconds: float) -> HttpReply:
            return HttpReply(200, {}, body, url)

        robots = Robots()
        for number in range(15):
            await robots.verdict(fetch, ("local", "index"), parse(f"http://h{number}.test/"))
        assert len(robots._kept) < 12
        assert robots._bytes <= MOST_BYTES

    asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ("User-agent: webseam\nDisallow: /", "/", False),
        ("User-agent: WebSeam/1.0\nDisallow: /", "/", False),
        ("USER-AGENT : webseam\nDISALLOW : /", "/", False),
        ("User-agent: web\nDisallow: /", "/", True),  # a prefix is another agent
        ("User-agent: webseambot\nDisallow: /", "/", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: webseam\nAllow: /", "/", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: webseam\n", "/", True),  # our group, empty
        ("User-agent: webseam\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: webseam\nDisallow: /b", "/b", False),
        ("User-agent: x\nUser-agent: webseam\nUser-agent: y\nDisallow: /", "/", False),
        ("User-agent: x\nDisallow: /\nUser-agent: webseam\nDisallow: /a", "/b", True),
        ("User-agent: webseam\nSitemap: https://a.test/s\nUser-agent: x\nDisallow: /", "/", False),
        ("\ufeffUser-agent: *\nDisallow: /", "/", False),
        ("Disallow: /", "/", True),  # of no group
        ("User-agent: *\r\nDisallow: /a # all of it\r\n", "/a", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x.pdf?y", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /caf\u00e9", "/caf%C3%A9", False),
        ("User-agent: *\nDisallow:", "/", True),
        ("", "/", True),
    ],
)
def test_the_group_that_counts_is_found(text: str, path: str, allowed: bool) -> None:
    assert read(text.encode()).verdict(parse(f"http://a.test{path}")).allowed is allowed


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("Crawl-delay: 0.5", 0.5),
        ("Crawl-delay: 86400", 30.0),
        ("Crawl-delay: -1", 0.0),
        ("Crawl-delay: nan", 0.0),
        ("Crawl-delay: inf", 0.0),
        ("Request-rate: 1/5", 5.0),
        ("Crawl-delay: 1\nRequest-rate: 1/10s", 10.0),
        ("Crawl-delay: soon", 0.0),
        ("Request-rate: 0/5", 0.0),
    ],
)
def test_delays_are_clamped(text: str, delay: float) -> None:
    assert read(f"User-agent: *\n{text}\nDisallow: /x".encode()).delay == delay


def test_sitemaps_are_absolute_few_and_different() -> None:
    lines = ["Sitemap: /relative.xml", "sitemap: javascript:alert(1)", "Sitemap: https://a.test/1.xml"] * 2
    lines += [f"Sitemap: https://a.test/{number}.xml" for number in range(2, 1_000)]
    sitemaps = read("\n".join(lines).encode()).sitemaps
    assert len(sitemaps) == 100
    assert sitemaps[0] == "https://a.test/1.xml"


def test_only_the_group_that_counts_is_parsed() -> None:
    """Many user agents times many rules would cost their product: 500 KB could be made into hours."""
    agents = "".join(f"User-agent: bot{number}\n" for number in range(12_000))
    text, _ = relevant(agents + "User-agent: *\n" + "Disallow: /a\n" * 20_000, PRODUCT)
    assert text.count("User-agent") == 1
    assert text.count("\n") <= 10_000


@settings(deadline=None, max_examples=200)
@given(
    st.binary(max_size=500),
    st.lists(st.sampled_from(["User-agent: *", "Disallow: /", "Allow: *$", "Crawl-delay: 1e9", "Sitemap: http://x"])),
)
def test_any_bytes_are_read_as_some_rules(data: bytes, lines: list[str]) -> None:
    rules = read("\n".join(lines).encode() + b"\n" + data)
    assert isinstance(rules.verdict(parse("http://a.test/x?y")).allowed, bool)
    assert 0 <= rules.delay <= 30


@pytest.mark.parametrize(
    "hostile",
    [
        b"Sitemap" + b" " * 499_000 + b"x",
        b"Sitemap:" + b" " * 499_000,
        b"user-agent" + b"\t" * 499_000 + b"x",
        b"User-agent: *\n" + b"disallow" + b" " * 499_000 + b"x",
        b"User-agent: *\nDis" + b"s" * 499_000,
    ],
    ids=["sitemap", "sitemap:", "user-agent", "disallow", "dis"],
)
def test_a_hostile_robots_txt_is_read_in_no_time(hostile: bytes) -> None:
    assert read(hostile).sitemaps == ()  # read one character after another for each, it would take hours


def test_sitemaps_that_are_kept_count_as_what_they_are() -> None:
    lines = b"".join(b"Sitemap: https://x.test/%d/%b\n" % (number, b"y" * 4_000) for number in range(60))
    assert read(lines).size >= 240_000


@pytest.mark.parametrize(
    "line", ["Request-rate: 1/" + "9" * 400, "Crawl-delay: " + "9" * 400, "Crawl-delay: nan", "Crawl-delay: -5"]
)
def test_a_delay_that_is_no_number_of_seconds_is_none_or_the_most(line: str) -> None:
    rules = read(f"User-agent: *\n{line}\nDisallow: /private\n".encode())
    assert rules.delay in (0.0, 30.0)
    assert not rules.verdict(parse("http://a.test/private")).allowed
