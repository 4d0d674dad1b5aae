"""Turns and rests: nobody holds up another account, nobody waits for ever, and a host that wants to be left alone is."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.call import Call
from webseam.config import LIMITS
from webseam.egress.pacing import Rests, Turns
from webseam.egress.robots import Robots
from webseam.egress.rooms import Claim, Rooms
from webseam.egress.urls import parse
from webseam.errors import DoorError
from webseam.seam.contract import HttpReply, HttpRequest

SECOND = "93.184.216.35"
LARGE = LIMITS.body_small_bytes + 1


def empty(turns: Turns) -> bool:
    """Whether nothing is left of what was."""
    return not (
        turns.taken or turns.waiting or turns._accounts or turns._hosts or turns._pairs or turns._lines
    )  # fmt: skip


class Crowd:
    """Those who want turns, one task each; `order` is who got one, in the order of getting it."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def come(self, name: str, account: str, host: str = "h") -> None:
        """One more, who keeps its turn until `end`."""
        self.ends[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._one(name, account, host))
        await asyncio.sleep(0)

    async def _one(self, name: str, account: str, host: str) -> None:
        if not self.turns.enter(account, host):
            await self.turns.wait(account, host)
        self.order.append(name)
        try:
            await self.ends[name].wait()
        finally:
            self.turns.leave(account, host)

    async def end(self, name: str) -> None:
        """That one is done."""
        self.ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def all(self) -> None:
        """Everybody is done, one after another, as they got their turns."""
        at = 0
        while at < len(self.tasks):
            await self.end(self.order[at])
            at += 1


def test_the_bounds_of_one_account_leave_something_for_others() -> None:
    assert LIMITS.connections_per_account < LIMITS.connections
    assert LIMITS.connections_per_account_and_host < LIMITS.connections_per_host
    turns = Turns()
    assert [turns.enter("a", "h") for _ in range(LIMITS.connections_per_host)].count(True) == (
        LIMITS.connections_per_account_and_host
    )
    assert turns.enter("b", "h")
    assert [turns.enter("a", f"h{number}") for number in range(LIMITS.connections)].count(True) == (
        LIMITS.connections_per_account - LIMITS.connections_per_account_and_host
    )
    assert turns.enter("b", "h1")


def test_who_is_free_to_go_neither_waits_nor_leaves_anything_behind() -> None:
    """Outside an event loop: nothing of asyncio is made."""
    turns = Turns()
    assert turns.enter("a", "h")
    assert turns.taken == 1
    turns.leave("a", "h")
    assert empty(turns)


def test_one_request_is_not_held_up_by_the_five_hundred_of_another_account() -> None:
    async def main() -> list[str]:
        crowd = Crowd(Turns(with_host=2, of_both=2))
        for number in range(500):
            await crowd.come(f"a{number}", "a")
        await crowd.come("b", "b")
        assert (crowd.turns.taken, crowd.turns.waiting) == (2, 499)
        await crowd.end("a0")
        await crowd.end("a1")
        served = list(crowd.order)
        await crowd.all()
        assert empty(crowd.turns)
        return served

    assert asyncio.run(main()) == ["a0", "a1", "a2", "b"]


def test_accounts_take_turns_with_a_host_and_each_keeps_its_own_order() -> None:
    async def main() -> list[str]:
        crowd = Crowd(Turns(with_host=1))
        await crowd.come("first", "z")
        for account, count in (("a", 4), ("b", 2), ("c", 1)):
            for number in range(count):
                await crowd.come(f"{account}{number}", account)
        await crowd.all()
        assert empty(crowd.turns)
        return crowd.order

    assert asyncio.run(main()) == ["first", "a0", "b0", "c0", "a1", "b1", "a2", "a3"]


def test_an_account_takes_turns_between_its_own_hosts() -> None:
    async def main() -> list[str]:
        crowd = Crowd(Turns(together=1))
        await crowd.come("first", "z")
        for number in range(3):
            await crowd.come(f"slow{number}", "a", "slow")
        await crowd.come("quick", "a", "quick")
        await crowd.all()
        assert empty(crowd.turns)
        return crowd.order

    assert asyncio.run(main()) == ["first", "slow0", "quick", "slow1", "slow2"]


def test_many_slow_servers_of_one_account_leave_turns_for_another() -> None:
    async def main() -> None:
        crowd = Crowd(Turns(together=4, of_account=2))
        for number in range(10):
            await crowd.come(f"a{number}", "a", f"slow{number}")
        await crowd.come("b", "b", "quick")
        assert crowd.order == ["a0", "a1", "b"]
        await crowd.all()
        assert empty(crowd.turns)

    asyncio.run(main())


def test_a_line_that_cannot_move_is_passed_by_and_keeps_its_place() -> None:
    async def main() -> list[str]:
        crowd = Crowd(Turns(together=3, with_host=1))
        await crowd.come("stuck", "z", "slow")
        await crowd.come("x", "x", "one")
        await crowd.come("y", "y", "two")
        await crowd.come("a", "a", "slow")  # waits for the slow host
        await crowd.come("b0", "b", "three")  # these wait for any turn at all
        await crowd.come("b1", "b", "four")
        await crowd.end("x")
        assert crowd.order[-1] == "b0"
        await crowd.end("stuck")
        await crowd.all()
        assert empty(crowd.turns)
        return crowd.order

    assert asyncio.run(main()) == ["stuck", "x", "y", "b0", "a", "b1"]


def test_one_turn_given_back_can_let_two_go_on() -> None:
    async def main() -> None:
        crowd = Crowd(Turns(together=9, of_account=1, with_host=1))
        await crowd.come("a0", "a", "h")
        await crowd.come("a1", "a", "other")  # waits for its own account
        await crowd.come("b", "b", "h")  # waits for the host
        assert crowd.order == ["a0"]
        await crowd.end("a0")
        assert sorted(crowd.order) == ["a0", "a1", "b"]
        await crowd.all()
        assert empty(crowd.turns)

    asyncio.run(main())


def test_who_is_cancelled_while_waiting_leaves_the_line() -> None:
    async def main() -> None:
        crowd = Crowd(Turns(with_host=1))
        await crowd.come("first", "a")
        await crowd.come("leaves", "b")
        await crowd.come("stays", "c")
        crowd.tasks["leaves"].cancel()
        await asyncio.gather(crowd.tasks["leaves"], return_exceptions=True)
        assert crowd.turns.waiting == 1
        await crowd.end("first")
        assert crowd.order == ["first", "stays"]
        await crowd.end("stays")
        assert empty(crowd.turns)

    asyncio.run(main())


@pytest.mark.parametrize("cancelled_first", [True, False])
def test_who_is_cancelled_in_the_same_moment_passes_the_turn_on(*, cancelled_first: bool) -> None:
    async def main() -> None:
        crowd = Crowd(Turns(with_host=1))
        await crowd.come("first", "a")
        await crowd.come("leaves", "b")
        await crowd.come("stays", "c")
        if cancelled_first:
            crowd.tasks["leaves"].cancel()
            crowd.ends["first"].set()
        else:
            assert crowd.turns.taken == 1
            crowd.tasks["first"].cancel()
            while crowd.turns._lines.get("b"):  # until the turn is handed on to the one that leaves
                await asyncio.sleep(0)
            assert crowd.order == ["first"]
            crowd.tasks["leaves"].cancel()
        await asyncio.gather(crowd.tasks["first"], crowd.tasks["leaves"], return_exceptions=True)
        await asyncio.sleep(0)
        assert crowd.order == ["first", "stays"]
        await crowd.end("stays")
        assert empty(crowd.turns)

    asyncio.run(main())


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 3)), max_size=40))
def test_whatever_happens_no_bound_is_broken_nobody_waits_in_vain_and_nothing_is_left(acts: list[tuple[str, str, int]]) -> None:
    bounds = (5, 3, 4, 2)

    async def main() -> None:
        turns = Turns(*bounds)
        crowd = Crowd(turns)
        for number, (account, host, act) in enumerate(acts):
            inside = [name for name in crowd.order if not crowd.tasks[name].done()]
            if act == 0 and crowd.tasks:
                list(crowd.tasks.values())[number % len(crowd.tasks)].cancel()
                await asyncio.sleep(0)
            elif act == 1 and inside:
                await crowd.end(inside[number % len(inside)])
            else:
                await crowd.come(f"{account}{host}{number}", account, host)
            await asyncio.sleep(0)
            now = [(name[0], name[1]) for name in crowd.order if not crowd.tasks[name].done()]
            accounts, hosts = Counter(one for one, _ in now), Counter(one for _, one in now)
            assert turns.taken == len(now) <= bounds[0]
            assert all(count <= bounds[1] for count in accounts.values())
            assert all(count <= bounds[2] for count in hosts.values())
            assert all(count <= bounds[3] for count in Counter(now).values())
            for waiting, lines in turns._lines.items():
                assert not any(turns.enter(waiting, host) for host in lines), "who waits could not go on"
        for task in crowd.tasks.values():
            task.cancel()
        await asyncio.gather(*crowd.tasks.values(), return_exceptions=True)
        assert empty(turns)

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ through the door


def gated(respond: Any, body: bytes = b"x") -> tuple[Callable[..., Any], asyncio.Event]:
    """A server that answers when its gate is open."""
    gate = asyncio.Event()

    async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
        await gate.wait()
        writer.write(respond(body))

    return answer, gate


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0)


def test_slow_servers_of_one_account_do_not_keep_another_from_its_page(net: Any, respond: Any) -> None:
    """As many slow servers as there are connections used to hold all of them."""

    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            slow = await web.public_site("slow0.test", answer)
            for number in range(1, LIMITS.connections + 6):
                web.resolver.names[f"slow{number}.test"] = [["93.184.216.34"]]
            await web.public_site("quick.test", respond(b"quick"), ip=SECOND)
            turns = web.egress.turns
            sending = [
                asyncio.create_task(web.door(account="greedy").send(HttpRequest(f"http://slow{number}.test/")))
                for number in range(LIMITS.connections + 6)
            ]
            await until(lambda: len(slow.requests) == LIMITS.connections_per_account)
            assert turns.waiting == LIMITS.connections + 6 - LIMITS.connections_per_account
            assert (await web.door(account="other").send(HttpRequest("http://quick.test/"))).body == b"quick"
            gate.set()
            assert {reply.status for reply in await asyncio.gather(*sending)} == {200}
            assert empty(turns)

    asyncio.run(main())


def test_many_requests_of_one_account_to_a_host_do_not_keep_another_from_it(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            site = await web.public_site("a.test", answer)
            url = HttpRequest("http://a.test/many")
            sending = [asyncio.create_task(web.door(account="greedy").send(url)) for _ in range(40)]
            await until(lambda: len(site.requests) == LIMITS.connections_per_account_and_host)
            other = asyncio.create_task(web.door(account="other").send(HttpRequest("http://a.test/one")))
            await until(lambda: site.requests[-1].target == "/one")
            gate.set()
            await asyncio.gather(other, *sending)
            assert empty(web.egress.turns)

    asyncio.run(main())


def test_who_waits_past_the_deadline_is_told_that_it_was_not_the_site(net: Any, respond: Any) -> None:
    async def main() -> tuple[DoorError, Call]:
        async with net() as web:
            answer, gate = gated(respond)
            site = await web.public_site("a.test", answer)
            web.egress.turns = Turns(with_host=1)
            first = asyncio.create_task(web.door().send(HttpRequest("http://a.test/")))
            await site.asked.wait()
            call = Call(seconds=0.2)
            with pytest.raises(DoorError) as caught:
                await web.door(call=call).send(HttpRequest("http://a.test/"))
            assert len(site.requests) == 1
            gate.set()
            await first
            assert empty(web.egress.turns)
            return caught.value, call

    error, call = asyncio.run(main())
    assert (error.kind, error.unsent) == ("timeout", True)
    assert str(error).startswith("Too many requests are waiting, and the one to a.test:80 had no turn within 0.2 s")
    assert call.steps[0].detail["waited"] > 0


def test_who_waits_for_robots_txt_in_vain_is_told_the_same_and_the_site_is_not_blamed(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            site = await web.public_site("a.test", answer)
            web.egress.turns = Turns(with_host=1)
            first = asyncio.create_task(web.door().send(HttpRequest("http://a.test/")))
            await site.asked.wait()
            with pytest.raises(DoorError, match="Too many requests are waiting") as caught:
                await web.door(seconds=0.2).send(HttpRequest("http://a.test/x"), robots="obey")
            assert caught.value.kind == "timeout"
            with pytest.raises(DoorError, match="Too many requests are waiting"):
                await web.door(seconds=0.2).robots("http://a.test/x")
            web.egress.robots = Robots(seconds=0.2)  # the time for robots.txt runs out, not that of the call
            with pytest.raises(DoorError, match=r"^Too many requests are waiting"):
                await web.door().robots("http://a.test/x")
            gate.set()
            await first
            assert (await web.door().send(HttpRequest("http://a.test/x"), robots="obey")).status == 200
            assert empty(web.egress.turns)

    asyncio.run(main())


def test_who_gets_the_turn_too_late_asks_nothing_and_passes_it_on(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            site = await web.public_site("a.test", answer)
            web.egress.turns = Turns(with_host=1)
            sending = [asyncio.create_task(web.door().send(HttpRequest("http://a.test/first")))]
            await site.asked.wait()
            now = [0.0]
            late = asyncio.create_task(
                web.door(call=Call(seconds=20, clock=lambda: now[0])).send(HttpRequest("http://a.test/late"))
            )
            await until(lambda: web.egress.turns.waiting == 1)
            sending.append(asyncio.create_task(web.door().send(HttpRequest("http://a.test/last"))))
            await until(lambda: web.egress.turns.waiting == 2)
            now[0] = 19.99
            gate.set()
            with pytest.raises(DoorError, match="Too many requests are waiting") as caught:
                await late
            assert caught.value.kind == "timeout"
            await asyncio.gather(*sending)
            assert [request.target for request in site.requests] == ["/first", "/last"]
            assert empty(web.egress.turns)

    asyncio.run(main())


def test_a_cancelled_call_leaves_the_line(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            site = await web.public_site("a.test", answer)
            web.egress.turns = Turns(with_host=1)
            first = asyncio.create_task(web.door().send(HttpRequest("http://a.test/")))
            await site.asked.wait()
            call = Call()
            second = asyncio.create_task(web.door(call=call).send(HttpRequest("http://a.test/")))
            await until(lambda: web.egress.turns.waiting == 1)
            call.cancel()
            with pytest.raises(DoorError, match="was cancelled"):
                await second
            assert web.egress.turns.waiting == 0
            gate.set()
            await first
            assert len(site.requests) == 1
            assert empty(web.egress.turns)

    asyncio.run(main())


def test_whatever_becomes_of_a_request_its_turn_is_given_back(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            hangs = await web.public_site("hangs.test", lambda request, writer: request.hang_up())
            await web.public_site("rubbish.test", b"rubbish\r\n\r\n", ip=SECOND)
            await web.public_site("large.test", respond(b"x" * 2_000), ip="93.184.216.36")
            await web.public_site("moved.test", respond(status=302, location="http://10.0.0.1/"), ip="93.184.216.37")
            web.resolver.names["closed.test"] = [["93.184.216.38"]]
            for name in ("rubbish", "large", "moved", "closed", "unknown"):
                with pytest.raises(DoorError):
                    await web.door().send(HttpRequest(f"http://{name}.test/"), follow=True, max_bytes=1_000)
                assert empty(web.egress.turns), name
            with pytest.raises(DoorError):
                await web.door(seconds=0.1).send(HttpRequest("http://hangs.test/"))
            hangs.asked.clear()
            task = asyncio.create_task(web.door().send(HttpRequest("http://hangs.test/")))
            await hangs.asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert empty(web.egress.turns)

    asyncio.run(main())


def test_turns_and_rooms_together_do_not_lock_each_other(net: Any, respond: Any) -> None:
    """Few of both, large bodies that are kept, large files of robots.txt, redirects: everybody comes through."""

    async def main() -> list[HttpReply]:
        async with net() as web:

            async def answer(request: Any, writer: asyncio.StreamWriter) -> None:
                if request.target == "/robots.txt":
                    writer.write(respond(b"#" * LARGE))
                elif request.target == "/moved":
                    writer.write(respond(status=302, location="http://b.test/"))
                else:
                    writer.write(respond(b"x" * LARGE))

            await web.public_site("a.test", answer)
            await web.public_site("b.test", answer, ip=SECOND)
            web.egress.turns, web.egress.rooms = Turns(together=2, of_account=2, with_host=1, of_both=1), Rooms(1)

            async def read(number: int) -> HttpReply:
                with ExitStack() as held:
                    door = web.door(account=f"account{number % 3}")
                    request = HttpRequest(("http://a.test/moved", "http://a.test/", "http://b.test/")[number % 3])
                    reply: HttpReply = await door.send(request, follow=True, held=held, robots="obey")
                    await asyncio.sleep(0)
                return reply

            async with asyncio.timeout(20):
                replies = await asyncio.gather(*(read(number) for number in range(24)))
            assert empty(web.egress.turns)
            assert web.egress.rooms.taken == 0
            return replies

    assert {len(reply.body) for reply in asyncio.run(main())} == {LARGE}


def test_who_waits_for_a_turn_keeps_no_room(net: Any, respond: Any) -> None:
    """A reply of the cache that is confirmed and then found to be gone has taken a room, and the site is asked once more."""

    async def main() -> None:
        async with net() as web:
            answer, gate = gated(respond)
            await web.public_site("a.test", answer)
            web.egress.turns, web.egress.rooms = Turns(with_host=1), Rooms(1)
            first = asyncio.create_task(web.door().send(HttpRequest("http://a.test/")))
            await until(lambda: web.egress.turns.taken == 1)
            claim = Claim(web.egress.rooms)
            await claim.grow(LARGE)
            call = Call()
            with call.step("http") as step:
                waits = web.door(call=call)._in_line("http://a.test", parse("http://a.test/"), step, claim)
            line = asyncio.create_task(waits)
            await until(lambda: web.egress.turns.waiting == 1)
            assert web.egress.rooms.taken == 0
            gate.set()
            await asyncio.gather(first, line)
            web.egress.turns.leave("local", "http://a.test")
            assert empty(web.egress.turns)

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ Retry-After


def test_a_host_that_says_when_to_come_back_is_left_alone_until_then(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            now = [1_000.0]
            web.egress.rests = Rests(clock=lambda: now[0])
            site = await web.public_site("a.test", respond(status=429, retry_after="40"))
            await web.public_site("b.test", respond(status=302, location="http://a.test/"), ip=SECOND)
            assert (await web.door().send(HttpRequest("http://a.test/"))).status == 429
            now[0] += 10.5
            for url in ("http://a.test/other", "http://b.test/"):
                for purpose in ("reading", "index"):
                    with pytest.raises(DoorError) as caught:
                        await web.door(purpose).send(HttpRequest(url), follow=True)
                    assert (caught.value.kind, caught.value.retry_after) == ("rate_limited", 29.5)
                    assert str(caught.value) == (
                        "a.test asked to be left alone for another 30 s (Retry-After): try again then."
                    )
            with pytest.raises(DoorError, match="asked to be left alone"):
                await web.door().robots("http://a.test/")
            with pytest.raises(DoorError, match="asked to be left alone"):
                await web.door().send(HttpRequest("http://a.test/"), robots="obey")
            assert len(site.requests) == 1
            site.answer = respond(b"welcome")
            now[0] += 29.5
            assert (await web.door().send(HttpRequest("http://a.test/"), robots="obey")).body == b"welcome"
            assert not len(web.egress.rests)

    asyncio.run(main())


def test_accounts_and_vendors_are_not_kept_from_a_host_that_another_asked_too_often(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(status=503, retry_after="40"))
            await web.door().send(HttpRequest("http://a.test/"))
            assert (await web.door(account="other").send(HttpRequest("http://a.test/"))).status == 503
            for _ in range(2):
                assert (await web.door("engine:x").send(HttpRequest("http://a.test/"))).status == 503
            assert len(site.requests) == 4
            assert len(web.egress.rests) == 2

    asyncio.run(main())


@pytest.mark.parametrize(
    ("status", "value"), [(429, "0"), (429, "-5"), (429, "soon"), (429, ""), (200, "40"), (403, "40"), (500, "40")]
)
def test_nothing_is_remembered_of_a_reply_that_says_no_time(net: Any, respond: Any, status: int, value: str) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(status=status, retry_after=value))
            for _ in range(2):
                assert (await web.door().send(HttpRequest("http://a.test/"))).status == status
            assert len(site.requests) == 2
            assert not len(web.egress.rests)

    asyncio.run(main())


def test_robots_txt_that_says_later_allows_nothing_before_that(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            site = await web.public_site("a.test", respond(status=429, retry_after="40"))
            with pytest.raises(DoorError, match="asked to be left alone"):
                await web.door().send(HttpRequest("http://a.test/x"), robots="obey")
            assert [request.target for request in site.requests] == ["/robots.txt"]

    asyncio.run(main())


def test_what_is_remembered_is_bounded_and_the_longest_wish_counts() -> None:
    now = [0.0]
    rests = Rests(clock=lambda: now[0])
    rests.begin("a", "h", 40)
    rests.begin("a", "h", 10)
    assert rests.left("a", "h") == 40
    assert rests.left("b", "h") == 0
    now[0] = 39.0
    assert rests.left("a", "h") == 1
    now[0] = 40.0
    assert rests.left("a", "h") == 0
    assert not len(rests)
    for number in range(LIMITS.resting_hosts + 5):
        rests.begin("a", f"h{number}", 10)
    assert len(rests) == LIMITS.resting_hosts
    assert rests.left("a", "h0") == 0
    assert rests.left("a", f"h{LIMITS.resting_hosts}") == 10
