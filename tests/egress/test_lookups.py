"""Names are looked up a few at a time for each account, whoever has left by then."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.egress.lookups import Lookups
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest


class Hanging:
    """A name server that answers once it is let."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if not host.startswith("well"):
            await self.gate.wait()
            raise socket.gaierror(socket.EAI_AGAIN, "no answer")
        return ["93.184.216.34"]


def test_an_account_whose_names_hang_keeps_no_look_up_from_another() -> None:
    async def main() -> None:
        lookups, server = Lookups(), Hanging()
        waiting = [asyncio.ensure_future(lookups.resolve("greedy", server, f"hangs{number}.test", 80)) for number in range(30)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(server.asked) == len(lookups) == LIMITS.lookups_per_account
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        again = asyncio.ensure_future(lookups.resolve("greedy", server, "hangs.test", 80))
        assert await lookups.resolve("modest", server, "well.test", 80) == ["93.184.216.34"]
        assert len(lookups) == LIMITS.lookups_per_account, "those that nobody waits for count until they have ended"
        assert "hangs.test" not in server.asked
        server.gate.set()
        with pytest.raises(socket.gaierror):
            await again
        assert len(lookups) == 0
        assert not lookups._free
        assert not lookups._users

    asyncio.run(main())


def test_a_call_that_runs_out_of_time_over_names_says_so_and_leaves_nothing(net: Any) -> None:
    async def main() -> None:
        server = Hanging()
        async with net(resolver=server) as web:
            for number in range(20):
                with pytest.raises(DoorError) as caught:
                    await web.door(seconds=0.05).send(HttpRequest(f"http://hangs{number}.test/"))
                assert caught.value.kind == "timeout"
            assert len(server.asked) == LIMITS.lookups_per_account
            server.gate.set()
            await asyncio.sleep(0.01)
            assert web.egress.turns.taken == 0

    asyncio.run(main())
