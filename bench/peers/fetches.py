"""Whole fetches over loopback, as a client makes them: `web_fetch` of a real `webseam serve`, trafilatura behind aiohttp, and
`mcp-server-fetch`.

A site serves real pages; each server fetches each page once a round, `AT_ONCE` at a time, at an address that it has not seen
(so that no cache answers). The servers take turns. Site, servers and client share two cores, where the system lets us say so.
`mcp-server-fetch` speaks over stdio and starts a Node for each page: it is given a few pages and one round.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import aiohttp
from bench.peers.load import HANDSHAKE, Cost, loop_factory, message
from bench.peers.readers import HERE, TRAFILATURA
from scripts import bench_peers
from scripts.peers import node, python_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Fetch = Callable[[str], Awaitable[bool]]

AT_ONCE = 16
PORTS = 4
ROUNDS = 5
FEW = 16
REFERENCE_SECONDS = 60
"""Pages for mcp-server-fetch, and how long is waited for one: beyond, it counts as one without a text."""
US, AIOHTTP, REFERENCE = "webseam serve", "trafilatura + aiohttp", "mcp-server-fetch"


class Round(NamedTuple):
    """One round of one server: pages/s, milliseconds at the median and the 99th percentile, its CPU milliseconds a page, and
    of how many pages it gave no text."""

    rate: float
    p50: float
    p99: float
    cpu: float
    empty: int


def measure(pages: int, rounds: int = ROUNDS) -> tuple[dict[str, list[Round]], dict[str, float]]:
    """The rounds of every server, and the MB that its processes hold at the end."""
    two_cores()
    with ExitStack() as stack, asyncio.Runner(loop_factory=loop_factory()) as runner:
        data = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        site = stack.enter_context(
            started([sys.executable, str(Path(__file__).parent / "pages_site.py"), str(pages), str(PORTS)])
        )
        ports = first_line(site).split()
        return runner.run(_measured(stack, Path(data), ports, pages, rounds))


def two_cores() -> None:
    """Keep this process, and those it starts, on two cores. Elsewhere than on Linux it has what there is."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


class started:  # noqa: N801 - used as a function
    """A server process, ended at the end."""

    def __init__(self, command: list[str], **environment: str) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **environment}
        )

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


def first_line(process: subprocess.Popen[bytes]) -> str:
    """What a server says when it is ready."""
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    if not line:
        raise SystemExit(f"{process.args!r} did not start: run it to see why.")
    return line


async def _measured(
    stack: ExitStack, data: Path, ports: list[str], pages: int, rounds: int
) -> tuple[dict[str, list[Round]], dict[str, float]]:
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    servers: dict[str, tuple[int, Fetch]] = {
        US: _webseam(stack, data, ports, session),
        AIOHTTP: _aiohttp_trafilatura(stack, session),
    }
    reference = await _Reference.begun(stack)
    found: dict[str, list[Round]] = {name: [] for name in (*servers, REFERENCE)}
    for number in range(-1, rounds):
        names = list(servers) if number % 2 else list(servers)[::-1]
        for name in names:
            pid, fetch = servers[name]
            one = await _round(pid, fetch, _addresses(ports, pages, f"{number}"))
            if number >= 0:
                found[name].append(one)
                print(f"  {name}: {one.rate:.1f} pages/s", flush=True)
    few = min(FEW, pages)
    print(f"  {REFERENCE}: {few} pages", flush=True)
    found[REFERENCE].append(await _round(reference.pid, reference.fetch, _addresses(ports, pages, "few", pages // few)))
    memory = {name: Cost(pid).megabytes() for name, (pid, _) in servers.items()}
    memory[REFERENCE] = Cost(reference.pid).megabytes()
    await session.close()
    return found, memory


def _addresses(ports: list[str], pages: int, turn: str, step: int = 1) -> Iterator[str]:
    for number in range(0, pages, step):
        yield f"http://127.0.0.1:{ports[number % len(ports)]}/{number}?turn={turn}"


async def _round(pid: int, fetch: Fetch, addresses: Iterator[str]) -> Round:
    times: list[float] = []
    empty = 0

    async def worker() -> None:
        nonlocal empty
        for url in addresses:  # shared: whoever is free takes the next
            began = time.perf_counter()
            empty += not await fetch(url)
            times.append(time.perf_counter() - began)

    cost = Cost(pid)
    cpu, began = cost.seconds(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    wall, cpu = time.perf_counter() - began, cost.seconds() - cpu
    times.sort()
    count = len(times)
    p99 = times[min(count - 1, int(count * 0.99))]
    return Round(count / wall, times[count // 2] * 1e3, p99 * 1e3, cpu / count * 1e3, empty)


def _call(tool: str, number: int, url: str) -> bytes:
    return message("tools/call", HANDSHAKE, number, name=tool, arguments={"url": url})


def _webseam(stack: ExitStack, data: Path, ports: list[str], session: aiohttp.ClientSession) -> tuple[int, Fetch]:
    webseam = [sys.executable, "-m", "webseam"]
    for port in ports:
        subprocess.run([*webseam, "allow", f"127.0.0.1:{port}", "--data", str(data)], check=True, stdout=subprocess.DEVNULL)
    process = stack.enter_context(started([*webseam, "serve", "--json", "--port", "0", "--data", str(data)]))
    endpoint = json.loads(first_line(process))["url"]
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": HANDSHAKE,
    }

    async def fetch(url: str) -> bool:
        async with session.post(endpoint, data=_call("web_fetch", 1, url), headers=headers) as response:
            answer = await response.json()
        return _has_text(answer, url)

    return process.pid, fetch


def _has_text(answer: dict[str, Any], url: str) -> bool:
    """Whether a tool gave a text. Raises SystemExit for anything but a page that shows none."""
    result = answer.get("result")
    if result is None:
        raise SystemExit(f"{url}: that is no answer of the tool: {json.dumps(answer)[:500]}")
    text = result["content"][0]["text"]
    if not result.get("isError"):
        return True
    if "no text" in text or "empty" in text or "failed to be simplified" in text:
        return False
    if text.startswith("Error executing tool fetch: Failed to fetch"):
        return False  # with a Node for each page on two cores, mcp-server-fetch's own client gives up
    raise SystemExit(f"{url} was not read: {text[:500]}")


def _aiohttp_trafilatura(stack: ExitStack, session: aiohttp.ClientSession) -> tuple[int, Fetch]:
    python = str(python_of(bench_peers.READERS))
    process = stack.enter_context(
        started([python, str(HERE / "aiohttp_trafilatura.py"), json.dumps(dict(TRAFILATURA.settings))])
    )
    port = first_line(process).strip()

    async def fetch(url: str) -> bool:
        async with session.get(f"http://127.0.0.1:{port}/?url={quote(url, safe='')}") as response:
            return bool((await response.json())["content"])

    return process.pid, fetch


class _Reference:
    """mcp-server-fetch over its pipes. It finds the packages that it would install itself among those of our lock."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.pid = process.pid
        self._process = process
        self._number = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}

    @classmethod
    async def begun(cls, stack: ExitStack) -> _Reference:
        """Start it and shake hands."""
        python = python_of(bench_peers.READERS)
        library = next(python.parents[1].glob("[Ll]ib/**/readabilipy/javascript"))
        (library / "node_modules").mkdir(exist_ok=True)  # there, it installs nothing
        command = [str(python), "-m", "mcp_server_fetch", "--allow-private-ips"]
        path = os.pathsep.join([str(node().parent), os.environ.get("PATH", "")])
        self = cls(stack.enter_context(started(command, PATH=path, NODE_PATH=str(HERE / "node_modules"))))
        threading.Thread(target=self._listen, args=(asyncio.get_running_loop(),), daemon=True).start()
        client = {"name": "bench", "version": "1"}
        await self._ask(
            lambda n: message("initialize", HANDSHAKE, n, protocolVersion=HANDSHAKE, capabilities={}, clientInfo=client)
        )
        self._send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return self

    async def fetch(self, url: str) -> bool:
        """Fetch a page."""
        try:
            async with asyncio.timeout(REFERENCE_SECONDS):
                return _has_text(await self._ask(lambda number: _call("fetch", number, url)), url)
        except TimeoutError:
            return False

    async def _ask(self, request: Callable[[int], bytes]) -> dict[str, Any]:
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._send(request(number))
        found: dict[str, Any] = await answer
        return found

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            answer = json.loads(line)
            if "id" in answer and "method" not in answer:
                loop.call_soon_threadsafe(self._answered, answer)

    def _answered(self, answer: dict[str, Any]) -> None:
        waiting = self._waiting.pop(answer["id"])
        if not waiting.done():  # nobody waits for one that came too late
            waiting.set_result(answer)
