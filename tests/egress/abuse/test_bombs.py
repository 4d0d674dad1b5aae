"""Bombs of every kind at once: the reader stays small and goes on answering. See `bombs`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
MOST_BYTES = 80 * 1024 * 1024

ENDS = {
    **dict.fromkeys(("gzip", "br", "zstd", "deflate", "endless", "zip", "docx", "docx-in-gzip"), "too_large"),
    "loris": "timeout",
}


def figures(rounds: int) -> dict[str, Any]:
    """What `bombs` tells of so many rounds."""
    site = [sys.executable, "-m", "tests.egress.abuse.bombs_site"]
    with subprocess.Popen(site, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        try:
            port = serving.stdout.readline().strip()
            command = [sys.executable, "-m", "tests.egress.abuse.bombs", port, str(rounds)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60 + 20 * rounds, check=False)
        finally:
            serving.stdin.close()
    assert done.returncode == 0, done.stderr[-8_000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def said(found: dict[str, Any]) -> str:
    start = found["start_bytes"]
    most, left = (found[key] - start for key in ("peak_bytes", "end_bytes"))
    return (
        f"bombs: {found['rounds']} rounds, the tree at most {most / 2**20:.1f} MB above its start of {start / 2**20:.1f} MB "
        f"({left / 2**20:+.1f} MB at the end); {found['pages']} normal pages in between, the slowest in "
        f"{found['page_seconds_most'] * 1000:.0f} ms"
    )


def hold(found: dict[str, Any]) -> None:
    assert found["ended"] == {attack: {kind: found["rounds"]} for attack, kind in ENDS.items()}
    assert found["pages_beside"] >= found["rounds"], "no normal page was answered while the attacks went on"
    assert found["peak_bytes"] - found["start_bytes"] < MOST_BYTES, said(found)


def told(rounds: int, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The figures, shown whatever is captured."""
    found = figures(rounds)
    with capfd.disabled():
        print(f"\n{said(found)}", flush=True)
    return found


def test_bombs_at_once_are_refused_in_little_memory_and_normal_pages_are_answered_meanwhile(
    capfd: pytest.CaptureFixture[str],
) -> None:
    hold(told(3, capfd))


@pytest.mark.prove
def test_fifty_rounds_of_bombs_stay_within_80_mb_and_normal_pages_within_a_second(capfd: pytest.CaptureFixture[str]) -> None:
    found = told(50, capfd)
    hold(found)
    assert found["page_seconds_most"] < 1.0, said(found)
