"""Jobs that do what jobs should not."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent / "jobs"


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The functions of `ill_behaved` as a table of jobs; workers find the module on their path."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    names = [line[4:].split("(")[0] for line in (HERE / "ill_behaved.py").read_text().splitlines() if line.startswith("def ")]
    return {name: f"ill_behaved:{name}" for name in names}
