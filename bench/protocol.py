"""bench: what our protocol engine costs beside the official Python SDK, FastMCP, the TypeScript SDK, and a floor.

Every side serves the same tool, `echo(text)`, and gets the same bytes: calls by 2026-07-28 (what the figures are taken from)
and by 2025-11-25, over HTTP on 1 and on 32 keep-alive connections, and over stdio one after another. The floor is a bare ASGI
application with a constant answer; it, the Python SDK and FastMCP run on the same uvicorn, uvloop and httptools as we do. Our
side alone checks the bearer token that every request carries. Peers are set up as fast as they can be: low-level servers,
stateless, JSON answers, no logging.

The machine is noisy, so the sides take turns, in several rounds, and a figure is a ratio of medians over the rounds. `server`
and `client` are the shares of a core that the server and the load generator had. Where 32 connections leave a server far below
100 %, it got no more from the machine: others were using it, or the load generator (near 100 % itself) was the limit.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

from bench.peers.load import HANDSHAKE, MODERN, TEXTS, Calls, Cost, Pipe, Sample, call, http_window, loop_factory, message, post
from bench.peers.webseam_server import TOKEN
from scripts import bench_peers
from scripts.peers import node, python_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PEERS = bench_peers.PEERS
US, SDK, FASTMCP, TYPESCRIPT, FLOOR = "webseam", "python sdk", "fastmcp", "typescript sdk", "floor"
SMALL, LARGE = TEXTS
MANY = 32
WINDOW_SECONDS = 0.3
WARM_UP_SECONDS = 1.0
"""For each kind of request, once: V8 compiles what it has seen often."""
PRIMARY_ROUNDS, COLD_ROUNDS = 13, 9
ROUNDS = {MODERN: 5, HANDSHAKE: 3}
"""Many and short: the machine's speed changes within seconds."""


class Side(NamedTuple):
    """How a server is started."""

    name: str
    http: list[str]
    stdio: list[str] | None


class Cell(NamedTuple):
    """What is measured: over what, by which revision, on how many connections, with which of `TEXTS`."""

    over: str
    revision: str
    connections: int
    size: str

    def __str__(self) -> str:
        return f"{self.over} {self.revision}, {self.connections} at a time, {self.size}"


PRIMARY = Cell("http", MODERN, MANY, SMALL)
PRIMARY_STDIO = Cell("stdio", MODERN, 1, SMALL)

Samples = dict[tuple[Cell, str], list[Sample]]


def sides() -> list[Side]:
    """Everybody."""
    serve = str(PEERS / "serve.py")
    ours, sdk = [sys.executable, str(PEERS / "webseam_server.py")], str(PEERS / "python_sdk.py")
    fastmcp = str(python_of(bench_peers.FASTMCP))
    typescript = [str(node()), str(PEERS / "typescript_sdk.mjs")]
    return [
        Side(FLOOR, [sys.executable, serve, "floor"], None),
        Side(US, [*ours, "http"], [*ours, "stdio"]),
        Side(SDK, [sys.executable, serve, "python_sdk"], [sys.executable, sdk]),
        Side(FASTMCP, [fastmcp, serve, "fastmcp_server"], [fastmcp, str(PEERS / "fastmcp_server.py")]),
        Side(TYPESCRIPT, [*typescript, "http"], [*typescript, "stdio"]),
    ]


def main() -> int:
    bench_peers.install()
    everybody = sides()
    samples: Samples = {}
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "errors"
        memory = http(everybody, samples, log)
        stdio(everybody, samples, log)
        cold = cold_starts(everybody, log)
    show(everybody, samples, memory, cold)
    figures(samples, memory, cold)
    return 0


def turns(everybody: list[Side], number: int) -> list[Side]:
    """The sides, another one first each round: nobody is always the one after a slow one."""
    number %= len(everybody)
    return everybody[number:] + everybody[:number]


def start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """A server, with pipes; what it says on standard error is kept in `log`."""
    with log.open("ab") as errors:
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment(), bufsize=0
        )


def environment() -> dict[str, str]:
    """Ours, but for what would have every module compiled anew at every start, and every stream unbuffered."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")}


# ------------------------------------------------------------------------------------------------ measuring


def http(everybody: list[Side], samples: Samples, log: Path) -> dict[str, list[float]]:
    """Fill in the samples over HTTP; gives what memory each server holds after the calls by 2026-07-28 with a small payload,
    and at the end."""
    cells = [Cell("http", revision, count, size) for revision in (MODERN, HANDSHAKE) for size in TEXTS for count in (1, MANY)]
    memory: dict[str, list[float]] = {side.name: [] for side in everybody}
    with ExitStack() as stack, asyncio.Runner(loop_factory=loop_factory()) as runner:
        ports: dict[str, tuple[int, int]] = {}
        for side in everybody:
            process = stack.enter_context(start(side.http, log))
            stack.callback(process.terminate)
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.strip().isdigit():
                raise SystemExit(f"{' '.join(side.http)} did not start:\n{log.read_text()[-2000:]}")
            ports[side.name] = int(line), process.pid

        def window(cell: Cell, name: str, seconds: float) -> Sample:
            port, pid = ports[name]
            text = TEXTS[cell.size]
            request = post(port, call(text, cell.revision), cell.revision, TOKEN)
            return runner.run(http_window(port, pid, request, text, cell.connections, seconds))

        for cell in progress(cells):
            if cell.connections == 1:
                for side in everybody:
                    window(cell._replace(connections=MANY), side.name, WARM_UP_SECONDS)
            for number in range(PRIMARY_ROUNDS if cell == PRIMARY else ROUNDS[cell.revision]):
                for side in turns(everybody, number):
                    samples.setdefault((cell, side.name), []).append(window(cell, side.name, WINDOW_SECONDS))
            if cell in (PRIMARY, cells[-1]):
                for name, (_, pid) in ports.items():
                    memory[name].append(Cost(pid).megabytes())
    return memory


def stdio(everybody: list[Side], samples: Samples, log: Path) -> None:
    """Fill in the samples over stdio."""
    cells = [Cell("stdio", revision, 1, size) for revision in (MODERN, HANDSHAKE) for size in TEXTS]
    with ExitStack() as stack:
        calls: dict[tuple[str, str], Calls] = {}
        for side in everybody:
            for revision in (MODERN, HANDSHAKE) if side.stdio else ():
                assert side.stdio is not None
                pipe = Pipe(stack.enter_context(start(side.stdio, log)))
                stack.callback(pipe.close)
                calls[side.name, revision] = Calls(pipe, revision)
        for cell in progress(cells):
            for number in range(-1, PRIMARY_ROUNDS if cell == PRIMARY_STDIO else ROUNDS[cell.revision]):
                for side in turns(everybody, number):
                    if side.stdio:
                        seconds = WINDOW_SECONDS if number >= 0 else WARM_UP_SECONDS
                        sample = calls[side.name, cell.revision].window(TEXTS[cell.size], seconds)
                        if number >= 0:
                            samples.setdefault((cell, side.name), []).append(sample)


def cold_starts(everybody: list[Side], log: Path) -> dict[str, list[float]]:
    """Milliseconds from the start of a server to its first answer, which is the list of its tools, over stdio.

    The first round fills the caches of compiled modules and is not counted.
    """
    line = message("tools/list", MODERN) + b"\n"
    times: dict[str, list[float]] = {}
    print("cold starts", flush=True)
    for number in range(COLD_ROUNDS + 1):
        for side in turns(everybody, number):
            if side.stdio is None:
                continue
            began = time.perf_counter()
            with start(side.stdio, log) as process:
                pipe = Pipe(process)
                answer = pipe.ask(line)
                seconds = time.perf_counter() - began
                pipe.close()
            if b'"echo"' not in answer or b'"result"' not in answer:
                raise SystemExit(f"{side.name} did not list its tools: {answer!r}")
            if number:
                times.setdefault(side.name, []).append(seconds * 1e3)
    return times


def progress(cells: list[Cell]) -> Iterator[Cell]:
    for cell in cells:
        print(f"{cell}", flush=True)
        yield cell


# ------------------------------------------------------------------------------------------------ figures


def median(samples: Iterable[Sample]) -> Sample:
    """Each member's median."""
    return Sample(*(statistics.median(values) for values in zip(*samples, strict=True)))


def show(everybody: list[Side], samples: Samples, memory: dict[str, list[float]], cold: dict[str, list[float]]) -> None:
    """The raw figures of every side."""
    for cell in dict.fromkeys(cell for cell, _ in samples):
        print(f"\n{cell}:  medians of {len(samples[cell, US])} rounds")
        columns = {"calls/s": 9, "lowest": 8, "highest": 8, "p50 ms": 9, "p99 ms": 9, "CPU us": 9, "server": 7, "client": 7}
        print(" " * 15 + "".join(f" {name:>{width}}" for name, width in columns.items()))
        for side in everybody:
            if (cell, side.name) in samples:
                one, rates = median(samples[cell, side.name]), [sample.rate for sample in samples[cell, side.name]]
                print(
                    f"{side.name:<15} {one.rate:>9.0f} {min(rates):>8.0f} {max(rates):>8.0f} {one.p50:>9.3f} {one.p99:>9.3f} "
                    f"{one.cpu:>9.1f} {one.cpu * one.rate / 1e6:>7.0%} {one.client:>7.0%}"
                )
    print("\nMB of the HTTP server after the small payload and at the end; ms from a start to the first answer over stdio")
    for side in everybody:
        times = cold.get(side.name)
        first = f"   median {statistics.median(times):7.1f}   min {min(times):7.1f}" if times else ""
        print(f"{side.name:<15} {memory[side.name][0]:7.1f} {memory[side.name][1]:7.1f}{first}")
    print()


def figures(samples: Samples, memory: dict[str, list[float]], cold: dict[str, list[float]]) -> None:
    """Our ratios: of calls a second, the more the better; of everything else, the less."""
    peers = {"python_sdk": SDK, "fastmcp": FASTMCP, "typescript_sdk": TYPESCRIPT}

    def ratio(cell: Cell, member: str, peer: str) -> float:
        ours, theirs = (getattr(median(samples[cell, name]), member) for name in (US, peer))
        return float(ours / theirs)

    for label, revision, size in (
        ("http32", MODERN, SMALL), ("http32_handshake", HANDSHAKE, SMALL), ("http32_50kb", MODERN, LARGE),
    ):  # fmt: skip
        cell = Cell("http", revision, MANY, size)
        for name, peer in peers.items():
            print(f"figure protocol.{label}.vs_{name} {ratio(cell, 'rate', peer):.2f}")
        print(f"figure protocol.{label}.cpu_vs_floor {ratio(cell, 'cpu', FLOOR):.2f}")
    for label, size in (("stdio", SMALL), ("stdio_50kb", LARGE)):
        for name, peer in peers.items():
            print(f"figure protocol.{label}.cpu_vs_{name} {ratio(Cell('stdio', MODERN, 1, size), 'cpu', peer):.3f}")
    for name, peer in peers.items():
        print(f"figure protocol.cold_start.vs_{name} {statistics.median(cold[US]) / statistics.median(cold[peer]):.3f}")
    for name, peer in peers.items():
        print(f"figure protocol.rss.vs_{name} {memory[US][0] / memory[peer][0]:.2f}")


if __name__ == "__main__":
    sys.exit(main())
