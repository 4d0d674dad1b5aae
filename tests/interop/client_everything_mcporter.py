"""The command line of mcporter: `client_everything_mcporter.py NODE http URL` or `... NODE stdio COMMAND ...`."""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MCPORTER = Path(__file__).parent / "node_modules" / "mcporter" / "dist" / "cli.js"


def main(node: str, transport: str, *where: str) -> None:
    server = {"url": where[0]} if transport == "http" else {"command": where[0], "args": list(where[1:])}

    def ask(*command: str) -> dict:
        asked = [node, str(MCPORTER), "--config", str(config), *command]
        done = subprocess.run(asked, capture_output=True, encoding="utf-8", check=False)  # what it says of a failure is below
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"mcporter {command}: {done.returncode}\n{done.stdout}\n{done.stderr}") from None

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        config = Path(folder) / "mcporter.json"
        config.write_text(json.dumps({"mcpServers": {"everything": server}, "imports": []}))
        commands = {
            "tools": ("list", "everything", "--json"),
            "added": ("call", "everything.add", "a=2", "b=40", "--output", "json"),
            "refused": ("call", "everything.echo", "text=", "--output", "json"),
            "resources": ("resource", "everything", "--json"),
            "bytes": ("resource", "everything", "memo://bytes", "--json"),
        }
        said = dict(zip(commands, pool.map(lambda command: ask(*command), commands.values()), strict=True))
    answer = {
        "tools": [tool["name"] for tool in said["tools"]["tools"]],
        "structured": said["added"],
        "refused": said["refused"]["content"][0]["text"] if said["refused"]["isError"] else None,
        "resources": [resource["uri"] for resource in said["resources"]["resources"]],
        "bytes": said["bytes"]["contents"][0]["blob"],
    }
    print(json.dumps(answer))


main(*sys.argv[1:])
