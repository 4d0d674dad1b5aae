"""What `webseam stdio` loads before the first call: the cause of a fast start, asserted instead of a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
DISCOVER = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": META}}
MODERN_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": META}}

HARNESS = """
import sys
from webseam.cli import main
code = main(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


def lines(*messages: dict[str, object]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


@pytest.mark.parametrize("messages", [(INITIALIZE, LIST), (DISCOVER, MODERN_LIST)], ids=["handshake", "2026-07-28"])
@pytest.mark.parametrize("source", ["pipe", "file"])
def test_the_handshake_is_answered_without_asyncio_ssl_or_pydantic(
    messages: tuple[dict[str, object], ...], source: str, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", HARNESS, "stdio", "--data", str(tmp_path / "data")]
    if source == "pipe":
        done = subprocess.run(command, input=lines(*messages), capture_output=True, timeout=60, check=False)
    else:
        said = tmp_path / "said.jsonl"
        said.write_bytes(lines(*messages))
        with said.open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=60, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2], done.stderr
    assert [tool["name"] for tool in answers[1]["result"]["tools"]] == ["web_search", "web_fetch"]
    code, *modules = done.stderr.decode().split()
    assert code == "0"
    assert not {"asyncio", "ssl", "pydantic", "aiohttp", "cryptography", "argparse"} & set(modules)


def test_the_first_answer_needs_neither_the_settings_nor_the_platform_directories(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HARNESS, "stdio", "--data", str(tmp_path / "data")]
    done = subprocess.run(command, input=lines(INITIALIZE), capture_output=True, timeout=60, check=False)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "webseam"
    assert not {"sqlite3", "platformdirs", "webseam.switchboard"} & set(done.stderr.decode().split())
    assert not (tmp_path / "data").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
def test_answers_that_cannot_be_written_are_told_once(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "webseam", "stdio", "--data", str(tmp_path)],
            input=lines(INITIALIZE),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"cannot be written" in done.stderr
