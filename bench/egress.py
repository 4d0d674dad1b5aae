"""bench: what the door costs: a small page through it, beside bare aiohttp, which it is built on, and httpx2.

The same page of the same site on this machine, 32 requests at a time over connections that are kept. Ours goes by a name,
with every check on: the spelling of the URL, the exception that opens this address, the vetted address, the bytes counted, the
deadline, the step recorded. The others have none of that, and are set up as fast as they can be: the address written out, no
redirects, no decompression, no proxies. All sides run in the same event loop, uvloop's where there is one, and take turns in
many windows of a tenth of a second: longer and fewer ones (15 of 0.4 s) met a noisy machine's changes so unevenly that one tree
gave 0.69 and 0.85 within ten minutes. The figure is a ratio of medians.
"""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

import aiohttp
import httpx2
from bench.peers.small_site import PAGE

from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.seam.contract import HttpRequest

AT_ONCE = 32
WINDOW_SECONDS = 0.1
ROUNDS = 75
NAME = "site.example"
DOOR, AIOHTTP, HTTPX2 = "door", "bare aiohttp", "httpx2"

Get = Callable[[], Awaitable[bytes]]


class Resolver:
    """One name."""

    async def resolve(self, _host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]


def main() -> int:
    site = subprocess.Popen([sys.executable, str(Path(__file__).parent / "peers" / "small_site.py")], stdout=subprocess.PIPE)
    try:
        assert site.stdout is not None
        port = int(site.stdout.readline())
        factory = None
        if importlib.util.find_spec("uvloop"):
            import uvloop

            factory = uvloop.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            rates = runner.run(measured(port))
    finally:
        site.kill()
        site.wait()
    print(f"\nrequests/s of a page of {len(PAGE)} bytes, {AT_ONCE} at a time; {ROUNDS} rounds")
    print(f"{'':<14}{'median':>9}{'lowest':>9}{'highest':>9}{'CPU us':>9}")
    medians = {}
    for name, samples in rates.items():
        medians[name] = statistics.median(rate for rate, _ in samples)
        cpu = statistics.median(cpu for _, cpu in samples)
        print(f"{name:<14}{medians[name]:>9.0f}{min(samples)[0]:>9.0f}{max(samples)[0]:>9.0f}{cpu:>9.0f}")
    print()
    print(f"figure egress.vs_bare_aiohttp {medians[DOOR] / medians[AIOHTTP]:.2f}")
    print(f"figure egress.vs_httpx2 {medians[DOOR] / medians[HTTPX2]:.2f}")
    return 0


async def measured(port: int) -> dict[str, list[tuple[float, float]]]:
    """The samples of each side: requests a second, and the CPU of this process for each."""

    allowed = [Allowance("local", NAME, port)]
    egress = Egress(resolver=Resolver(), allowances=lambda _: allowed)
    request = HttpRequest(f"http://{NAME}:{port}/tides")

    async def through_the_door() -> bytes:
        return (await egress.door(Call(), "reading").send(request, follow=True)).body

    session = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())
    url = f"http://127.0.0.1:{port}/tides"

    async def by_aiohttp() -> bytes:
        async with session.get(url, allow_redirects=False) as response:
            return await response.read()

    client = httpx2.AsyncClient(trust_env=False, limits=httpx2.Limits(max_connections=100, max_keepalive_connections=100))

    async def by_httpx2() -> bytes:
        return (await client.get(url)).content

    sides: dict[str, Get] = {DOOR: through_the_door, AIOHTTP: by_aiohttp, HTTPX2: by_httpx2}
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in sides}
    for number in range(-1, ROUNDS):
        print("." if number >= 0 else "warming up ", end="", flush=True)
        order = list(sides)
        order = order[number % 3 :] + order[: number % 3]
        for name in order:
            sample = await window(sides[name])
            if number >= 0:
                samples[name].append(sample)
    print()
    await egress.close()
    await session.close()
    await client.aclose()
    return samples


async def window(get: Get) -> tuple[float, float]:
    """Requests a second, and CPU microseconds of each, with `AT_ONCE` under way."""
    count = 0
    began, cpu = time.perf_counter(), time.process_time()
    end = began + WINDOW_SECONDS

    async def worker() -> None:
        nonlocal count
        while time.perf_counter() < end:
            if await get() != PAGE:
                raise SystemExit("That is not the page.")
            count += 1

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return count / (time.perf_counter() - began), (time.process_time() - cpu) / count * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
