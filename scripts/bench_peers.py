"""Install the servers that `bench/protocol.py` measures us against: it calls `install` before it begins.

`.venv-bench` holds FastMCP, `bench/peers/node_modules` the official TypeScript SDK. Both from hashed locks; done once. The
official Python SDK is in the development lock itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

from scripts.peers import install_node_packages, install_python_packages

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
FASTMCP = ROOT / ".venv-bench"


def install() -> None:
    """Install what is missing."""
    print("installing FastMCP and the TypeScript SDK, unless they are there", flush=True)
    install_python_packages(FASTMCP, ROOT / "requirements" / "bench.txt")
    install_node_packages(PEERS)


if __name__ == "__main__":
    install()
