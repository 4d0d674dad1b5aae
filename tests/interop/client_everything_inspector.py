"""The command line of the MCP Inspector: `client_everything_inspector.py NODE ERA http URL` or `... ERA stdio COMMAND ...`."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

INSPECTOR = Path(__file__).parent / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


def main(node: str, era: str, _transport: str, *where: str) -> None:
    def ask(method: str, *options: str) -> dict:
        command = [
            node,
            str(INSPECTOR),
            "--cli",
            *where,
            "--format",
            "json",
            "--protocol-era",
            era,
            "--method",
            method,
            *options,
        ]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # what it says of a failure is below
        try:
            return json.loads(done.stdout)["result"]
        except (ValueError, KeyError):
            raise SystemExit(f"inspector {method}: {done.returncode}\n{done.stdout}\n{done.stderr}") from None

    commands = {
        "tools": ("tools/list",),
        "added": ("tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=40"),
        "bytes": ("resources/read", "--uri", "memo://bytes"),
        "ask": ("prompts/get", "--prompt-name", "ask", "--prompt-args", "topic=seams", "tone=kindly"),
    }
    with ThreadPoolExecutor(2) as pool:
        said = dict(zip(commands, pool.map(lambda command: ask(*command), commands.values()), strict=True))
    answer = {
        "tools": [tool["name"] for tool in said["tools"]["tools"]],
        "added": said["added"]["content"][0]["text"],
        "structured": said["added"]["structuredContent"],
        "bytes": said["bytes"]["contents"][0]["blob"],
        "ask": said["ask"]["messages"][0]["content"]["text"],
    }
    print(json.dumps(answer))


main(*sys.argv[1:])
