"""Room for bodies: what the process holds at once is bounded, and nobody waits for ever."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

import pytest

from webseam.call import Call
from webseam.config import LIMITS
from webseam.egress.rooms import ROOMS, Claim, Rooms
from webseam.errors import DoorError
from webseam.seam.contract import HttpReply, HttpRequest

LARGE = LIMITS.body_small_bytes + 1


def test_small_bodies_and_rooms_together_are_within_the_budget() -> None:
    together = ROOMS * LIMITS.body_bytes + LIMITS.connections * LIMITS.body_small_bytes
    assert ROOMS >= 2
    assert together <= LIMITS.body_bytes_in_flight


def test_more_large_replies_than_there_are_rooms_take_turns_and_all_arrive(net: Any, respond: Any) -> None:
    async def main() -> tuple[list[HttpReply], Rooms]:
        async with net() as web:
            origins = [(await web.allowed_site(respond(b"x" * LARGE * 8)))[1] for _ in range(3)]
            rooms = web.egress.rooms = Rooms(4)  # of which an account has two at most
            doors = [web.door() for _ in range(9)]
            sending = [door.send(HttpRequest(f"{origins[at % 3]}/")) for at, door in enumerate(doors)]
            return await asyncio.gather(*sending), rooms

    replies, rooms = asyncio.run(main())
    assert [len(reply.body) for reply in replies] == [LARGE * 8] * 9
    assert rooms.most_taken == 2
    assert rooms.taken == 0


def test_a_held_body_counts_until_its_holder_is_done_and_small_ones_pass_by(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:
            _, origin = await web.allowed_site(respond(b"x" * LARGE))
            _, small = await web.allowed_site(respond(b"x" * LIMITS.body_small_bytes))
            web.egress.rooms = Rooms(1)
            with ExitStack() as held:
                await web.door().send(HttpRequest(f"{origin}/"), held=held)
                assert web.egress.rooms.taken == 1
                waiting = asyncio.ensure_future(web.door().send(HttpRequest(f"{origin}/")))
                assert len((await web.door().send(HttpRequest(f"{small}/"))).body) == LIMITS.body_small_bytes
                assert not waiting.done()
            assert len((await waiting).body) == LARGE
            assert web.egress.rooms.taken == 0

    asyncio.run(main())


def test_who_waits_past_the_deadline_is_told_that_others_took_the_room(net: Any, respond: Any) -> None:
    async def main() -> DoorError:
        async with net() as web:
            _, origin = await web.allowed_site(respond(b"x" * LARGE))
            web.egress.rooms = Rooms(1)
            with ExitStack() as held:
                await web.door().send(HttpRequest(f"{origin}/"), held=held)
                with pytest.raises(DoorError) as caught:
                    await web.door(seconds=0.2).send(HttpRequest(f"{origin}/"))
            assert len((await web.door().send(HttpRequest(f"{origin}/"))).body) == LARGE
            return caught.value

    error = asyncio.run(main())
    assert error.kind == "timeout"
    assert "sends a large reply, and too many others were being read" in str(error).partition("\n")[0]


def test_a_refused_a_broken_and_a_cancelled_reply_give_their_room_back(net: Any, respond: Any) -> None:
    async def hangs(request: Any, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * LARGE)
        await writer.drain()
        await request.hang_up()

    async def breaks(request: Any, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * LARGE)
        await writer.drain()
        writer.close()

    async def main() -> None:
        async with net() as web:
            rooms = web.egress.rooms = Rooms(1)
            _, origin = await web.allowed_site(breaks)
            for held in (None, ExitStack()):
                with pytest.raises(DoorError):
                    await web.door().send(HttpRequest(f"{origin}/"), held=held)
                if held is not None:
                    held.close()
                assert rooms.taken == 0
            site, origin = await web.allowed_site(hangs)
            call = Call()
            sending = asyncio.ensure_future(web.door(call=call).send(HttpRequest(f"{origin}/")))
            await site.asked.wait()
            while not rooms.taken:
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(DoorError):
                await sending
            assert rooms.taken == 0

    asyncio.run(main())


def test_a_claim_takes_one_room_however_large_its_body_grows() -> None:
    async def main() -> None:
        rooms = Rooms(1)
        claim = Claim(rooms)
        await claim.grow(LIMITS.body_small_bytes)
        assert rooms.taken == 0
        for size in range(LARGE, LIMITS.body_bytes, 1_000_000):
            await claim.grow(size)
        assert rooms.taken == 1
        claim.close()
        claim.close()
        assert rooms.taken == 0

    asyncio.run(main())


def test_the_egress_serves_one_loop_after_another(net: Any, respond: Any) -> None:
    web = net()
    for _ in range(2):

        async def main() -> None:
            async with web:
                _, origin = await web.allowed_site(respond(b"x" * LARGE))
                web.egress.rooms = Rooms(1)
                await asyncio.gather(*(web.door().send(HttpRequest(f"{origin}/")) for _ in range(3)))

        asyncio.run(main())


def test_an_account_whose_replies_never_end_leaves_room_for_another(net: Any, respond: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def endless(request: Any, writer: asyncio.StreamWriter) -> None:
                writer.write(respond(b"x" * LARGE * 2)[:-1])
                await request.hang_up()

            await web.public_site("endless.test", endless)
            await web.public_site("large.test", respond(b"x" * LARGE), ip="93.184.216.35")
            rooms = web.egress.rooms = Rooms(4)
            doors = [web.door(account="greedy") for _ in range(8)]
            greedy = [asyncio.ensure_future(door.send(HttpRequest("http://endless.test/"))) for door in doors]
            while rooms.taken < 2:
                await asyncio.sleep(0.01)
            reply = await web.door(account="modest").send(HttpRequest("http://large.test/"))
            assert len(reply.body) == LARGE
            assert rooms.most_taken == 3
            for one in greedy:
                one.cancel()
            await asyncio.gather(*greedy, return_exceptions=True)
            assert rooms.taken == 0
            assert not rooms._accounts

    asyncio.run(main())
