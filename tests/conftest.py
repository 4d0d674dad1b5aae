"""What several rooms' tests share."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _no_settings_of_the_person_who_runs_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a developer (keys, proxies, WEBSEAM_*) must not decide what a test sees."""
    for name in list(os.environ):
        if name.startswith("WEBSEAM_") and name not in ("WEBSEAM_SHARED", "WEBSEAM_PURE"):
            monkeypatch.delenv(name)
        if name.upper() in ("BRAVE_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The project's reference data, which lies beside a checkout and is not part of it."""
    found = Path(os.environ.get("WEBSEAM_SHARED", ROOT.parent / "shared"))
    if not found.is_dir():
        pytest.skip(f"the reference data are not here: put them beside the checkout, as {found.name}/, or set WEBSEAM_SHARED")
    return found


def pytest_configure() -> None:
    """What is compiled runs in the place of its source: tests of an older one would say nothing of this one."""
    spec = importlib.util.spec_from_file_location("compiled", ROOT / "scripts" / "compiled.py")
    assert spec is not None
    assert spec.loader is not None
    compiled = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compiled)
    if old := compiled.stale():
        raise pytest.UsageError(f"{old[0].name} has changed since it was compiled: python scripts/compiled.py")
