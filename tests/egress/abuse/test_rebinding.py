"""A thousand names that change their mind: a public address first, this machine the second time they are asked for."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable

from tests.egress.abuse.bodies import headed
from tests.egress.abuse.paths import READ, Outcome, location, reader
from tests.egress.abuse.web import SITE_IP, Web
from tests.egress.conftest import Request

ROUNDS = 1_000
AT_ONCE = 40
INSIDE = ("127.0.0.1", "::1", "10.0.0.7", "169.254.169.254")


class Fickle:
    """Answers each name once with the public address and from then on with one inside, after a wait of its own."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.asked: Counter[str] = Counter()

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked[host] += 1
        first = self.asked[host] == 1
        inside = self.chance.choice(INSIDE)
        mixed = self.chance.random() < 0.2
        await asyncio.sleep(self.chance.random() / 200)
        if first:
            return [SITE_IP]
        return [SITE_IP, inside] if mixed else [inside]


async def _page(request: Request, writer: asyncio.StreamWriter) -> None:
    """A page; or a redirect to the same name, to another one, or from one to the other and back. No connection is kept."""
    number = request.headers["host"].partition(".")[0].removeprefix("twin-")
    twin = "" if request.headers["host"].startswith("twin-") else "twin-"
    target = {
        "/same": f"http://{number}.rebind.test/page",
        "/twin": f"http://{twin}{number}.rebind.test/page",
        "/there": f"http://{twin}{number}.rebind.test/back",
        "/back": f"http://{twin}{number}.rebind.test/page",
    }.get(request.target)
    if target is None:
        writer.write(headed(b"words of a page", "Content-Type: text/plain", "Connection: close"))
    else:
        writer.write(location(target).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))


# What each start leads to: the kind, and how often a name is looked up in all.
STARTS = {"/page": (READ, 1), "/same": ("blocked_address", 2), "/twin": (READ, 2), "/there": ("blocked_address", 3)}


def test_a_thousand_names_that_change_their_mind_never_lead_inside(web: Callable[[], Web], runner: asyncio.Runner) -> None:
    async def main() -> None:
        async with web() as net:
            fickle = Fickle(20_261_130)
            net.egress.resolver = fickle
            net.here.answer = _page
            gate = asyncio.Semaphore(AT_ONCE)

            async def one(number: int, start: str) -> tuple[str, Outcome]:
                async with gate:
                    return start, await reader(net, f"http://n{number}.rebind.test{start}", robots="ignore")

            starts = list(STARTS)
            found = await asyncio.gather(*(one(number, starts[number % len(starts)]) for number in range(ROUNDS)))
            for number, (start, outcome) in enumerate(found):
                kind, lookups = STARTS[start]
                assert outcome.kind == kind, outcome.shown
                asked = fickle.asked[f"n{number}.rebind.test"] + fickle.asked[f"twin-n{number}.rebind.test"]
                assert asked == lookups, "one resolution a hop"
            net.resolver.asked += list(fickle.asked)
            net.hold("")
            assert set(net.dialled) == {(SITE_IP, 80)}
            # A connection for each hop that was not refused, and none besides.
            hops = sum(lookups - (kind != READ) for kind, lookups in (STARTS[start] for start, _ in found))
            assert len(net.dialled) == net.here.connections == len(net.here.requests) == hops
            assert [site.connections for site in net.inside] == [0] * len(net.inside)

    runner.run(main())


def test_a_name_that_changes_its_mind_after_its_robots_txt_is_refused(web: Callable[[], Web], runner: asyncio.Runner) -> None:
    async def main() -> None:
        async with web() as net:
            net.egress.resolver = Fickle(20_261_130)
            net.here.answer = headed(b"", "Content-Type: text/plain", "Connection: close")
            found = await asyncio.gather(*(reader(net, f"http://n{number}.rebind.test/page") for number in range(100)))
            assert {outcome.kind for outcome in found} == {"blocked_address"}
            assert set(net.dialled) == {(SITE_IP, 80)}
            assert {request.target for request in net.here.requests} == {"/robots.txt"}
            assert [site.connections for site in net.inside] == [0] * len(net.inside)

    runner.run(main())
