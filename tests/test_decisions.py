"""House rules that are checked, not told."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return [path for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    return [ROOT / name for name in listed.stdout.splitlines()]


def test_every_lint_exception_carries_its_reason() -> None:
    bare = re.compile(r"#\s*(?:noqa: [A-Z0-9, ]+|type: ignore\[[^\]]+\])\s*$")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked()
        if path.suffix == ".py" and path.exists() and path.is_relative_to(ROOT / "src")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if bare.search(line)
    ]
    assert found == []


def test_every_decision_is_numbered_and_says_its_context_and_choice() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        assert re.match(rf"# {int(page.name[:4])}\. ", page.read_text("utf-8")), page.name
