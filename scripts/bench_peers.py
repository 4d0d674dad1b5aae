"""Install what benchmarks measure us against: they call `install` or `install_readers` before they begin.

`.venv-bench` holds FastMCP and `bench/peers/node_modules` the official TypeScript SDK, for `bench/protocol.py`; the official
Python SDK is in the development lock itself. `.venv-reading` and `bench/peers/reading/node_modules` hold the extractors for
`bench/reading.py`. All from hashed locks; done once.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

from scripts.peers import install_node_packages, install_python_packages

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
FASTMCP = ROOT / ".venv-bench"
READERS = ROOT / ".venv-reading"


def install() -> None:
    """Install the servers that are missing."""
    print("installing FastMCP and the TypeScript SDK, unless they are there", flush=True)
    install_python_packages(FASTMCP, ROOT / "requirements" / "bench.txt")
    install_node_packages(PEERS)


def install_readers() -> None:
    """Install the extractors that are missing."""
    print("installing the extractors of Python and of Node, unless they are there", flush=True)
    install_python_packages(READERS, ROOT / "requirements" / "reading.txt")
    install_node_packages(PEERS / "reading")


if __name__ == "__main__":
    install()
    install_readers()
