"""The door's cache: what is answered without the site, what only after it was asked, and what never."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from webseam.call import Call
from webseam.config import LIMITS
from webseam.egress.addresses import Allowance
from webseam.egress.cache import Cache, Caches
from webseam.errors import DoorError
from webseam.seam.contract import HttpReply, HttpRequest
from webseam.threads import Threads

NOW = 1_800_000_000.0
FRESH = {"cache_control": "max-age=60", "etag": '"1"'}


class Kept:
    """A small internet whose door keeps what it reads, by a clock of its own."""

    def __init__(self, web: Any, caches: Caches, now: list[float]) -> None:
        self.web = web
        self.caches = caches
        self.now = now

    async def get(self, url: str, cache: str = "use", account: str = "local", **options: Any) -> tuple[HttpReply, str]:
        """The reply, and what the steps say of the cache ("hit", "stored hit" after a redirect, "" for nothing)."""
        follow, request = options.pop("follow", True), options.pop("request", {})
        call = Call(account)
        door = self.web.egress.door(call, options.pop("purpose", "reading"))
        reply = await door.send(HttpRequest(url, **request), follow=follow, cache=cache, **options)
        return reply, " ".join(step.detail["cache"] for step in call.steps if "cache" in step.detail)

    async def refused(self, url: str, cache: str = "use", **options: Any) -> DoorError:
        with pytest.raises(DoorError) as caught:
            await self.get(url, cache, **options)
        return caught.value

    def later(self, seconds: float) -> None:
        self.now[0] += seconds

    def entries(self, account: str = "local") -> int:
        return self.caches.of(account).entries.usage().entries


@pytest.fixture
def run(net: Any, tmp_path: Path) -> Callable[[Callable[[Kept], Awaitable[None]]], None]:
    def run(main: Callable[[Kept], Awaitable[None]], **options: Any) -> None:
        now = [NOW]
        caches = Caches(tmp_path / "cache", clock=lambda: now[0])

        async def whole() -> None:
            async with net(**{"cache": caches.of, **options}) as web:
                await main(Kept(web, caches, now))

        asyncio.run(whole())

    return run


def answers(*replies: bytes) -> Callable[[Any, Any], Awaitable[None]]:
    """A site that gives its replies in turn, the last one for ever."""
    left = list(replies)

    async def answer(_: Any, writer: Any) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])

    return answer


# ------------------------------------------------------------------------------------------------ use


def test_a_fresh_page_is_read_without_the_site_and_says_when_it_was_retrieved(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", content_type="text/html", **FRESH))
        first, said = await kept.get(f"{origin}/page?a=b#part")
        assert (said, first.retrieved_at) == ("stored", 0.0)
        kept.later(59)
        again, said = await kept.get(f"{origin}/page?a=b")
        assert (again.status, again.body, again.url) == (200, b"page", f"{origin}/page?a=b")
        assert again.headers == first.headers
        assert (said, again.retrieved_at) == ("hit", NOW)
        await kept.get(f"{origin}/page")  # another address
        assert [request.target for request in site.requests] == ["/page?a=b", "/page"]

    run(main)


def test_a_stale_page_is_confirmed_by_the_site_and_fresh_again(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        changed = formatdate(NOW - 10, usegmt=True)
        site, origin = await kept.web.allowed_site(
            answers(
                respond(b"page", content_type="text/html", x_kept="1", x_new="1", last_modified=changed, **FRESH),
                respond(status=304, content_type="text/x", x_new="2", **FRESH),
            )
        )
        await kept.get(f"{origin}/")
        kept.later(60)
        reply, said = await kept.get(f"{origin}/")
        assert (reply.status, reply.body, said, reply.retrieved_at) == (200, b"page", "revalidated", 0.0)
        assert [reply.headers[name] for name in ("content-type", "x-kept", "x-new")] == ["text/html", "1", "2"]
        asked = site.requests[1].headers
        assert (asked["if-none-match"], asked["if-modified-since"]) == ('"1"', changed)
        kept.later(59)
        reply, said = await kept.get(f"{origin}/")
        assert (reply.body, reply.headers["x-new"], said, reply.retrieved_at) == (b"page", "2", "hit", NOW + 60)
        assert len(site.requests) == 2

    run(main)


def test_a_page_that_changed_takes_the_place_of_the_old_one(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(answers(respond(b"old", **FRESH), respond(b"new", **FRESH)))
        await kept.get(f"{origin}/")
        kept.later(60)
        assert [(reply.body, said) for reply, said in [await kept.get(f"{origin}/")]] == [(b"new", "stored")]
        assert [(reply.body, said) for reply, said in [await kept.get(f"{origin}/")]] == [(b"new", "hit")]
        assert kept.entries() == 1

    run(main)


@pytest.mark.parametrize("headers", [{}, {"cache_control": "no-cache"}, {"cache_control": "max-age=0", "etag": '"a", "b"'}])
def test_a_page_that_cannot_be_confirmed_is_asked_for_plainly(run: Any, respond: Any, headers: dict[str, str]) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **headers))
        for _ in range(2):
            assert (await kept.get(f"{origin}/"))[1] == "stored"
        assert not {"if-none-match", "if-modified-since", "cache-control"} & site.requests[1].headers.keys()

    run(main)


def test_a_304_about_another_page_than_ours_is_followed_by_a_plain_request(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(
            answers(respond(b"old", **FRESH), respond(status=304, etag='"2"'), respond(b"new", etag='"2"'))
        )
        await kept.get(f"{origin}/")
        kept.later(60)
        reply, said = await kept.get(f"{origin}/")
        assert (reply.status, reply.body, said) == (200, b"new", "stored")
        assert ["if-none-match" in request.headers for request in site.requests] == [False, True, False]

    run(main)


def test_a_page_that_vanishes_while_the_site_is_asked_is_asked_for_again(run: Any, respond: Any, tmp_path: Path) -> None:
    large = b"x" * (LIMITS.body_small_bytes + 1)  # a small one is in memory by then

    async def answer(request: Any, writer: Any) -> None:
        if "if-none-match" in request.headers:
            shutil.rmtree(tmp_path / "cache")
            writer.write(respond(status=304, **FRESH))
        else:
            writer.write(respond(large, **FRESH))

    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(answer)
        await kept.get(f"{origin}/")
        kept.later(60)
        reply, said = await kept.get(f"{origin}/")
        assert (reply.status, reply.body, said) == (200, large, "stored")
        assert len(site.requests) == 3

    run(main)


def test_a_304_that_was_not_asked_for_is_no_page(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(status=304, **FRESH))
        reply, said = await kept.get(f"{origin}/")
        assert (reply.status, said) == (304, "")

    run(main)


def test_a_site_that_fails_is_told_and_never_answered_for_by_a_stale_page(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(b"page", cache_control="max-age=60, stale-if-error=9999"))
        await kept.get(f"{origin}/")
        kept.later(60)
        kept.web.servers[0].close()
        await kept.web.egress.close()
        assert (await kept.refused(f"{origin}/")).kind == "connect"
        assert (await kept.refused(f"{origin}/", "refresh")).kind == "connect"
        assert (await kept.get(f"{origin}/", "only"))[0].body == b"page"  # it is still there, for who wants it so

    run(main)


def test_a_passing_trouble_is_answered_as_it_is_and_leaves_what_was_kept(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        await kept.get(f"{origin}/")
        kept.later(60)
        site.answer = respond(b"overloaded", status=503, cache_control="max-age=60")
        assert (await kept.get(f"{origin}/"))[0].status == 503
        assert (await kept.get(f"{origin}/", "only"))[0].body == b"page"
        site.answer = respond(b"gone", status=404)
        assert (await kept.get(f"{origin}/"))[0].status == 404
        assert (await kept.refused(f"{origin}/", "only")).kind == "not_cached"

    run(main)


def test_what_was_kept_is_forgotten_when_the_site_says_no_store(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(answers(respond(b"old", **FRESH), respond(b"new", cache_control="no-store")))
        await kept.get(f"{origin}/")
        kept.later(60)
        reply, said = await kept.get(f"{origin}/")
        assert (reply.body, said, kept.entries()) == (b"new", "", 0)

    run(main)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"cache_control": "no-store"}),
        (200, {"cache_control": "max-age=60", "set_cookie": "a=b"}),
        (200, {"cache_control": "max-age=60", "vary": "*"}),
        (206, {"cache_control": "max-age=60"}),
        (404, {}),
        (500, {"cache_control": "max-age=60"}),
    ],
)
def test_what_must_not_be_kept_is_not(run: Any, respond: Any, status: int, headers: dict[str, str]) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"x", status=status, **headers))
        for _ in range(2):
            assert (await kept.get(f"{origin}/"))[1] == ""
        assert (len(site.requests), kept.entries()) == (2, 0)

    run(main)


def test_a_missing_page_is_believed_for_as_long_as_the_site_says(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"no", status=404, cache_control="max-age=10"))
        for expected in ("stored", "hit"):
            reply, said = await kept.get(f"{origin}/")
            assert (reply.status, said) == (404, expected)
        kept.later(10)
        await kept.get(f"{origin}/")
        assert len(site.requests) == 2

    run(main)


def test_replies_that_vary_are_for_requests_of_their_kind(run: Any, respond: Any) -> None:
    async def answer(request: Any, writer: Any) -> None:
        vary = {"vary": "Accept"} if request.target == "/varies" else {}
        writer.write(respond(request.headers["accept"].encode(), cache_control="max-age=60", **vary))

    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(answer)

        async def get(path: str, accept: str) -> tuple[bytes, str]:
            reply, said = await kept.get(origin + path, request={"headers": {"accept": accept}})
            return reply.body, said

        got = [await get("/varies", kind) for kind in ("text/a", "text/b", "text/a", "text/b")]
        assert got == [(b"text/a", "stored"), (b"text/b", "stored"), (b"text/a", "hit"), (b"text/b", "hit")]
        assert [await get("/same", kind) for kind in ("text/a", "text/b")] == [(b"text/a", "stored"), (b"text/a", "hit")]

    run(main)


def test_a_page_that_varies_by_who_we_are_is_asked_for_by_the_next_version(net: Any, respond: Any, tmp_path: Path) -> None:
    async def main(user_agent: str) -> None:
        async with net(cache=Caches(tmp_path, clock=lambda: NOW).of, user_agent=user_agent) as web:
            kept = Kept(web, Caches(tmp_path), [])
            site = await web.public_site("a.test", respond(user_agent.encode(), vary="User-Agent", **FRESH))
            said = [(await kept.get("http://a.test/"))[1] for _ in range(2)]
            assert (said, len(site.requests)) == (["stored", "hit"], 1)

    asyncio.run(main("webseam/1"))
    asyncio.run(main("webseam/2"))


def test_a_compressed_page_is_kept_as_it_was_read(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(gzip.compress(b"page" * 99), content_encoding="gzip", **FRESH))
        first, _ = await kept.get(f"{origin}/")
        again, said = await kept.get(f"{origin}/")
        assert (again.body, again.headers, said) == (b"page" * 99, first.headers, "hit")
        assert "content-encoding" not in again.headers

    run(main)


# ------------------------------------------------------------------------------------------------ only, refresh, off


def test_only_answers_fresh_or_stale_and_never_asks_the_site(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        error = await kept.refused(f"{origin}/", "only")
        assert error.kind == "not_cached"
        assert "leave cache=only out" in str(error)
        assert (site.connections, kept.web.resolver.asked) == (0, [])
        await kept.get(f"{origin}/")
        for seconds in (0, 60, 1e6):
            kept.later(seconds)
            reply, said = await kept.get(f"{origin}/", "only")
            assert (reply.body, said, reply.retrieved_at) == (b"page", "hit", NOW)
        assert len(site.requests) == 1

    run(main)


@pytest.mark.parametrize("cache_control", ["no-cache", "max-age=0, must-revalidate"])
def test_only_does_not_show_what_the_site_forbids_to_show_unasked(run: Any, respond: Any, cache_control: str) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", cache_control=cache_control))
        await kept.get(f"{origin}/")
        error = await kept.refused(f"{origin}/", "only")
        assert error.kind == "not_cached"
        assert "does not allow the stored copy" in str(error)
        assert len(site.requests) == 1

    run(main)


def test_refresh_asks_the_site_also_about_a_fresh_page(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        immutable = {**FRESH, "cache_control": "max-age=60, immutable"}
        site, origin = await kept.web.allowed_site(
            answers(respond(b"old", **immutable), respond(status=304, **immutable), respond(b"new", **immutable))
        )
        got = [await kept.get(f"{origin}/", cache) for cache in ("refresh", "refresh", "use", "refresh", "use")]
        assert [(reply.body, said) for reply, said in got] == [
            (b"old", "stored"),
            (b"old", "revalidated"),
            (b"old", "hit"),
            (b"new", "stored"),
            (b"new", "hit"),
        ]
        assert [request.headers.get("if-none-match") for request in site.requests] == [None, '"1"', '"1"']
        assert [request.headers["cache-control"] for request in site.requests] == ["no-cache", "max-age=0", "max-age=0"]

    run(main)


def test_without_a_mode_the_cache_is_not_asked_and_not_filled(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(answers(respond(b"1", **FRESH), respond(b"2", **FRESH)))
        await kept.get(f"{origin}/")
        assert (await kept.web.door().send(HttpRequest(f"{origin}/"))).body == b"2"
        assert (await kept.get(f"{origin}/", "off"))[0].body == b"2"
        assert (await kept.get(f"{origin}/"))[0].body == b"1"
        assert len(site.requests) == 3

    run(main)


def test_without_a_cache_everything_is_asked_for_and_only_says_what_to_switch_on(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        for cache in ("use", "refresh"):
            assert (await kept.get(f"{origin}/", cache))[1] == ""
        error = await kept.refused(f"{origin}/", "only")
        assert (error.kind, "WEBSEAM_CACHE" in str(error), len(site.requests)) == ("not_cached", True, 2)

    run(main, cache=lambda _: None)


# ------------------------------------------------------------------------------------------------ passing by


@pytest.mark.parametrize(
    ("request_", "options"),
    [
        ({"headers": {"Authorization": "Bearer k"}}, {}),
        ({"headers": {"Cookie": "a=b"}}, {}),
        ({"headers": {"X-API-Key": "k"}}, {}),
        ({"headers": {"Range": "bytes=0-1"}}, {}),
        ({"headers": {"If-None-Match": '"1"'}}, {}),
        ({"headers": {"Cache-Control": "no-store"}}, {}),
        ({"secrets": ("k",)}, {}),
        ({"method": "HEAD"}, {}),
        ({"method": "POST"}, {}),
        ({"body": b"x"}, {}),
        ({}, {"purpose": "index"}),
        ({}, {"purpose": "engine:brave"}),
        ({}, {"purpose": "plugin:weather"}),
    ],
    ids=str,
)
def test_credentials_and_everything_else_that_is_not_a_plain_read_passes_by(
    run: Any, respond: Any, request_: dict[str, Any], options: dict[str, Any]
) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"public", **FRESH))
        kept.web.allowed.append(Allowance("local", "127.0.0.1", site.port, options.get("purpose", "reading")))
        await kept.get(f"{origin}/")
        site.answer = respond(b"mine", **FRESH) if request_.get("method") != "HEAD" else respond(**FRESH)
        for cache in ("use", "refresh"):
            reply, said = await kept.get(f"{origin}/", cache, request=request_, **options)
            assert (reply.body != b"public", said) == (True, "")
        assert (await kept.refused(f"{origin}/", "only", request=request_, **options)).kind == "not_cached"
        assert len(site.requests) == 3
        reply, said = await kept.get(f"{origin}/")
        assert (reply.body, said, kept.entries()) == (b"public", "hit", 1)

    run(main)


# ------------------------------------------------------------------------------------------------ redirects


def test_each_leg_of_a_redirect_is_kept_for_itself(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        start = await kept.web.public_site("a.test", respond(b"moved", status=301, location="http://b.test/x", **FRESH))
        end = await kept.web.public_site("b.test", respond(b"page", cache_control="max-age=600"), ip="93.184.216.35")
        assert (await kept.get("http://a.test/"))[1] == "stored stored"
        reply, said = await kept.get("http://a.test/")
        assert (reply.body, reply.url, said) == (b"page", "http://b.test/x", "hit hit")
        assert (await kept.get("http://b.test/x"))[1] == "hit"
        kept.later(60)
        assert (await kept.get("http://a.test/"))[1] == "stored hit"
        assert (len(start.requests), len(end.requests)) == (2, 1)

    run(main)


def test_a_redirect_kept_without_its_body_is_not_shown_to_who_wants_the_body(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(b"moved", status=308, location="/", **FRESH))
        assert (await kept.refused(f"{origin}/a")).kind == "too_many_redirects"
        assert (await kept.get(f"{origin}/a", follow=False))[0].body == b"moved"
        reply, said = await kept.get(f"{origin}/a", follow=False)
        assert (reply.status, reply.body, said) == (308, b"moved", "hit")

    run(main)


def test_a_circle_of_kept_redirects_ends_as_one_of_the_network_does(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(status=301, location="/", **FRESH))
        for _ in range(2):
            assert (await kept.refused(f"{origin}/")).kind == "too_many_redirects"
        assert len(site.requests) == 1

    run(main)


# ------------------------------------------------------------------------------------------------ vetted again


@pytest.mark.parametrize("host", ["127.0.0.1", "wiki.corp", "public.test"])
@pytest.mark.parametrize("cache", ["use", "only", "refresh"])
def test_what_was_read_under_an_exception_is_not_shown_without_it(run: Any, respond: Any, host: str, cache: str) -> None:
    async def main(kept: Kept) -> None:
        site = await kept.web.site(respond(b"inside", **FRESH))
        kept.web.resolver.names |= {"wiki.corp": [["127.0.0.1"]], "public.test": [["127.0.0.1"]]}
        exception = Allowance("local", host, site.port)
        kept.web.allowed.append(exception)
        url = f"http://{host}:{site.port}/"
        await kept.get(url)
        kept.web.allowed.clear()
        assert (await kept.refused(url, cache)).kind in ("blocked_address", "blocked_port")
        kept.web.allowed.append(exception)
        assert (await kept.get(url, "only"))[0].body == b"inside"
        assert len(site.requests) == 1

    run(main)


def test_a_name_on_an_open_port_that_was_allowed_is_not_shown_without_the_exception(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site = await kept.web.site(respond(b"inside", **FRESH))
        kept.web.egress.ports = frozenset({site.port})
        kept.web.resolver.names["public.test"] = [["127.0.0.1"]]
        kept.web.allowed.append(Allowance("local", "public.test", site.port))
        url = f"http://public.test:{site.port}/"
        await kept.get(url)
        kept.web.allowed.clear()
        assert (await kept.refused(url)).kind == "blocked_address"  # by its address: the spelling alone shows nothing
        assert (await kept.refused(url, "only")).kind == "not_cached"

    run(main)


def test_a_redirect_from_elsewhere_is_not_answered_with_what_an_exception_let_in(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        inside, origin = await kept.web.allowed_site(respond(b"inside", **FRESH))
        await kept.get(f"{origin}/")
        await kept.web.public_site("a.test", respond(status=301, location=f"{origin}/", **FRESH))
        for cache in ("use", "use", "only"):  # the second time the redirect itself is a hit
            assert (await kept.refused("http://a.test/", cache)).kind == "blocked_address"
        assert len(inside.requests) == 1

    run(main)


def test_a_port_that_was_closed_closes_the_cache_too(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        await kept.web.public_site("a.test", respond(b"page", **FRESH), port=8080)
        await kept.get("http://a.test:8080/")
        kept.web.egress.ports = frozenset({80})
        assert (await kept.refused("http://a.test:8080/")).kind == "blocked_port"

    run(main)


def test_a_hit_asks_no_name_server_and_a_name_that_turned_private_is_refused_when_the_page_is_stale(
    run: Any, respond: Any
) -> None:
    async def main(kept: Kept) -> None:
        site = await kept.web.public_site("a.test", respond(b"public", **FRESH))
        await kept.get("http://a.test/")
        await kept.web.egress.close()
        kept.web.resolver.names["a.test"] = [["127.0.0.1"]]
        assert (await kept.get("http://a.test/"))[0].body == b"public"  # what was read from a public address
        assert kept.web.resolver.asked == ["a.test"]
        kept.later(60)
        assert (await kept.refused("http://a.test/")).kind == "blocked_address"
        assert len(site.requests) == 1

    run(main)


def test_an_exception_made_while_the_cache_is_looked_into_lets_nothing_into_the_public_part(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site = await kept.web.site(respond(b"inside", **FRESH))
        kept.web.egress.ports = frozenset({site.port})
        kept.web.resolver.names["public.test"] = [["127.0.0.1"]]
        url = f"http://public.test:{site.port}/"
        times = 0

        def allowances(_: str) -> list[Allowance]:  # there from the second question on, and then no more
            nonlocal times
            times += 1
            return [Allowance("local", "public.test", site.port)] if times == 2 else []

        kept.web.egress.allowances = allowances
        assert (await kept.refused(url)).kind == "blocked_address"
        times = 9
        assert (await kept.refused(url, "only")).kind == "not_cached"
        assert site.requests == []

    run(main)


# ------------------------------------------------------------------------------------------------ accounts


def test_no_account_ever_sees_what_another_one_read(run: Any, respond: Any, tmp_path: Path) -> None:
    accounts = ["local", "other", "Other", "other/../local", "o" * 100, "con", ""]

    async def main(kept: Kept) -> None:
        site = await kept.web.public_site("a.test", respond(b"page", **FRESH))
        for number, account in enumerate(accounts):
            assert (await kept.refused("http://a.test/", "only", account=account)).kind == "not_cached"
            assert (await kept.get("http://a.test/", account=account))[1] == "stored"
            assert (await kept.get("http://a.test/", account=account))[1] == "hit"
            assert len(site.requests) == number + 1
        folders = list((tmp_path / "cache").iterdir())
        assert len(folders) == len(accounts)
        assert "con" not in [folder.name for folder in folders]  # which Windows takes for a device

    run(main)


def test_an_entry_copied_into_another_accounts_folder_is_not_found_there(run: Any, respond: Any, tmp_path: Path) -> None:
    async def main(kept: Kept) -> None:
        await kept.web.public_site("a.test", respond(b"page", **FRESH))
        await kept.get("http://a.test/", account="one")
        shutil.copytree(tmp_path / "cache" / "one", tmp_path / "cache" / "two")
        assert (await kept.refused("http://a.test/", "only", account="two")).kind == "not_cached"
        assert (await kept.get("http://a.test/", "only", account="one"))[0].body == b"page"

    run(main)


# ------------------------------------------------------------------------------------------------ bounds and trouble


def test_a_large_hit_takes_a_room_like_any_large_body(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(b"x" * (LIMITS.body_small_bytes + 1), **FRESH))
        _, small = await kept.web.allowed_site(respond(b"x" * LIMITS.body_small_bytes, **FRESH))
        for url in (origin, small):
            await kept.get(f"{url}/")
        rooms = kept.web.egress.rooms
        for url, taken in ((origin, 1), (small, 0)):
            with ExitStack() as held:
                assert (await kept.get(f"{url}/", held=held))[1] == "hit"
                assert rooms.taken == taken
        assert rooms.taken == 0

    run(main)


def test_a_hit_larger_than_the_caller_takes_is_refused_as_a_reply_is(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"x" * 100, **FRESH))
        await kept.get(f"{origin}/")
        for cache in ("use", "only", "refresh"):
            assert (await kept.refused(f"{origin}/", cache, max_bytes=99)).kind == "too_large"
        assert (await kept.get(f"{origin}/", max_bytes=100))[1] == "hit"
        assert len(site.requests) == 2

    run(main)


def test_a_folder_that_cannot_be_used_costs_the_cache_and_nothing_else(run: Any, respond: Any, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")

    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        for _ in range(2):
            reply, said = await kept.get(f"{origin}/")
            assert (reply.body, said) == (b"page", "not stored")
        assert len(site.requests) == 2

    run(main)


def test_a_damaged_entry_is_asked_for_anew(run: Any, respond: Any, tmp_path: Path) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        await kept.get(f"{origin}/")
        (file,) = (tmp_path / "cache" / "local").iterdir()
        file.write_bytes(file.read_bytes()[:-1] + b"!")
        assert [(await kept.get(f"{origin}/"))[1] for _ in range(2)] == ["stored", "hit"]
        assert len(site.requests) == 2

    run(main)


def test_a_disk_that_hangs_holds_up_no_page(run: Any, respond: Any, tmp_path: Path) -> None:
    free, threads = threading.Event(), Threads(1, "hanging")
    cache = Cache(tmp_path, patience=0.01, threads=threads)

    async def main(kept: Kept) -> None:
        hanging = asyncio.ensure_future(threads.run(free.wait))
        _, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        try:
            for _ in range(100):  # more than wait for the disk at once
                reply, said = await kept.get(f"{origin}/")
                assert (reply.body, said) == (b"page", "not stored")
            assert (await kept.refused(f"{origin}/", "only")).kind == "not_cached"
        finally:
            free.set()
        await hanging
        while (await kept.get(f"{origin}/"))[1] != "hit":
            pass

    run(main, cache=lambda _: cache)


def test_who_leaves_leaves_a_whole_entry_or_none(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        site, origin = await kept.web.allowed_site(respond(b"x" * 200_000, **FRESH))
        for turns in range(1, 200, 7):
            task = asyncio.ensure_future(kept.get(f"{origin}/{turns}"))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            reply, _ = await kept.get(f"{origin}/{turns}")
            assert len(reply.body) == 200_000
        assert site.requests

    run(main)


def test_requests_at_once_keep_one_entry(run: Any, respond: Any) -> None:
    async def main(kept: Kept) -> None:
        _, origin = await kept.web.allowed_site(respond(b"page", **FRESH))
        got = await asyncio.gather(*(kept.get(f"{origin}/") for _ in range(30)))
        assert {reply.body for reply, _ in got} == {b"page"}
        assert (await kept.get(f"{origin}/"))[1] == "hit"
        assert kept.entries() == 1

    run(main)
