"""bench: how long an agent waits for the first answer of a server it starts over stdio.

Three sides in turn, each once a round: a bare `python -c pass`, which nobody in Python can beat; `webseam stdio`, from its
start to its answer to `initialize`; and a server with one tool on the official Python SDK, likewise. All run on compiled
modules, as installed ones do: the first round fills the caches and is not counted.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 21
SECONDS = 60
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
SDK_SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("bench")


@server.tool()
def echo(text: str) -> str:
    """Say it again."""
    return text


server.run()
'''


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "sdk_server.py"
        script.write_text(SDK_SERVER)
        sides: dict[str, tuple[list[str], bool]] = {
            "bare python": ([sys.executable, "-c", "pass"], False),
            "webseam stdio": ([*webseam(), "stdio", "--data", str(Path(directory) / "data")], True),
            "python sdk": ([sys.executable, str(script)], True),
        }
        times: dict[str, list[float]] = {name: [] for name in sides}
        order = list(sides)
        for number in range(ROUNDS + 1):
            for name in order[number % 3 :] + order[: number % 3]:  # nobody is always the one after a slow one
                command, answers = sides[name]
                seconds = first_answer(command) if answers else whole(command)
                if number:
                    times[name].append(seconds)
    print(f"{ROUNDS} rounds; ms to the first answer (bare python: to its end)")
    for name, seen in times.items():
        print(f"{name:14}  median {statistics.median(seen) * 1000:7.1f}   min {min(seen) * 1000:7.1f}")
    medians = {name: statistics.median(seen) for name, seen in times.items()}
    print(f"figure stdio.first_answer.vs_bare_python {medians['webseam stdio'] / medians['bare python']:.2f}")
    print(f"figure stdio.first_answer.vs_python_sdk {medians['webseam stdio'] / medians['python sdk']:.3f}")
    return 0


def webseam() -> list[str]:
    """The command as a desktop agent starts it: the installed script where there is one."""
    for name in ("webseam", "webseam.exe"):
        script = Path(sys.executable).parent / name
        if script.exists():
            return [str(script)]
    return [sys.executable, "-m", "webseam"]


def environment() -> dict[str, str]:
    """Ours, but for what would have every module compiled anew at every start."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def whole(command: list[str]) -> float:
    """Seconds from start to end."""
    began = time.perf_counter()
    subprocess.run(command, check=True, env=environment(), timeout=SECONDS)
    return time.perf_counter() - began


def first_answer(command: list[str]) -> float:
    """Seconds from the start of a server to its answer to `initialize`."""
    line = json.dumps(INITIALIZE).encode() + b"\n"
    began = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(line)
        process.stdin.flush()
        answer = process.stdout.readline()
        seconds = time.perf_counter() - began
        process.stdin.close()
        process.wait(SECONDS)
    if not answer or "result" not in json.loads(answer):
        raise SystemExit(f"{' '.join(command)} did not answer `initialize`: {answer!r}")
    return seconds


if __name__ == "__main__":
    raise SystemExit(main())
