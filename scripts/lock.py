"""Resolve `pyproject.toml` into the hashed locks under `requirements/`: `make lock`.

`dev.txt` holds everything, `core.txt` what a user installs. Both are universal (markers, not one machine's choice) and hold a
hash of every file of every release, so `pip install --require-hashes` works on each platform.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {"core.txt": [], "dev.txt": ["--group", "dev"]}


def main() -> int:
    """Write both locks; `--upgrade` takes the newest releases."""
    upgrade = ["--upgrade"] if "--upgrade" in sys.argv[1:] else []
    for name, extra in LOCKS.items():
        target = ROOT / "requirements" / name
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--python-version", "3.11", "--no-emit-index-url", "--no-header", "--no-annotate", *upgrade, *extra]
        subprocess.run([*command, "pyproject.toml", "--output-file", str(target)], cwd=ROOT, check=True)
        packages = sum(1 for line in target.read_text().splitlines() if "==" in line)
        print(f"{target.relative_to(ROOT)}: {packages} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
