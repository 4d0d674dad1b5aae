"""Resolve what we depend on into the hashed locks under `requirements/`: `make lock`.

From `pyproject.toml`: `dev.txt` holds everything, `core.txt` what a user installs. From the `.in` file of the same name: the
peers that tests and benchmarks run beside us, in environments of their own. All are universal (markers, not one machine's
choice) and hold a hash of every file of every release, so `pip install --require-hashes` works on each platform.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "core.txt": ["pyproject.toml"],
    "dev.txt": ["--group", "dev", "pyproject.toml"],
    **{f"{name}.txt": [f"requirements/{name}.in"] for name in ("mcp1", "clients", "bench", "reading")},
}


def main() -> int:
    """Write the locks; `--upgrade` takes the newest releases."""
    upgrade = ["--upgrade"] if "--upgrade" in sys.argv[1:] else []
    for name, source in LOCKS.items():
        target = ROOT / "requirements" / name
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--python-version", "3.11", "--no-emit-index-url", "--no-header", "--no-annotate", *upgrade]
        subprocess.run([*command, *source, "--output-file", str(target)], cwd=ROOT, check=True)
        packages = sum(1 for line in target.read_text().splitlines() if "==" in line)
        print(f"{target.relative_to(ROOT)}: {packages} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
