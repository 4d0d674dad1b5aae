"""Does the lock resolve to wheels on every platform we promise? `make platforms` prints the table.

For each lock and platform the resolver is asked for wheels alone, offline of any build; a package without a wheel is listed
as a gap, taken out, and the rest asked again. Exit status 1 when a gap is not among the known ones below.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = {
    "Linux x86-64": "x86_64-manylinux_2_28",
    "Linux arm64": "aarch64-manylinux_2_28",
    "macOS arm64": "aarch64-apple-darwin",
    "macOS x86-64": "x86_64-apple-darwin",
    "Windows x86-64": "x86_64-pc-windows-msvc",
}
PYTHONS = ("3.11", "3.13")
LOCKS = {"core": "core.txt", "dev": "dev.txt"}

KNOWN_GAPS: dict[tuple[str, str], str] = {}
"""(package, platform) -> what happens there instead."""


def requirements(lock: Path) -> list[str]:
    """The pinned lines of a lock without their hashes, markers kept."""
    lines = lock.read_text().splitlines()
    return [line.rstrip("\\ ").strip() for line in lines if re.match(r"[A-Za-z0-9_.\-\[\]]+==", line)]


def unresolvable(pins: list[str], platform: str, python: str) -> tuple[int, list[str]]:
    """How many pins resolve to wheels there, and the names of those that do not."""
    gaps: list[str] = []
    while True:
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder) / "wanted.in"
            wanted.write_text("\n".join(pins) + "\n")
            command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--python-platform", platform, "--python-version", python, "--no-header", "--no-annotate", str(wanted)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return sum(1 for line in done.stdout.splitlines() if "==" in line), gaps
        names = [pin.split("==")[0].lower() for pin in pins]
        said = " ".join(done.stderr.split())
        culprit = next((name for name in re.findall(r"[Bb]ecause ([A-Za-z0-9_.\-]+)==", said) if name.lower() in names), None)
        if culprit is None:
            raise SystemExit(f"The resolver failed for another reason than a missing wheel:\n{done.stderr}")
        gaps.append(culprit.lower())
        pins = [pin for pin in pins if pin.split("==")[0].lower() != culprit.lower()]


def main() -> int:
    """Print the table, or with `--json` the same as data."""
    rows: list[dict[str, object]] = []
    unknown: list[tuple[str, str]] = []
    for lock, file in LOCKS.items():
        pins = requirements(ROOT / "requirements" / file)
        for title, platform in PLATFORMS.items():
            for python in PYTHONS:
                wheels, gaps = unresolvable(pins, platform, python)
                unknown += [(title, gap) for gap in gaps if (gap, title) not in KNOWN_GAPS]
                rows.append({"lock": lock, "platform": title, "python": python, "wheels": wheels, "gaps": gaps})
                if "--json" not in sys.argv[1:]:
                    said = ", ".join(f"{gap} ({KNOWN_GAPS.get((gap, title), 'no wheel')})" for gap in gaps) or "none"
                    print(f"{lock:5} {title:15} Python {python:5} {wheels:3} wheels   gaps: {said}", flush=True)
    if "--json" in sys.argv[1:]:
        print(json.dumps(rows, indent=2))
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
