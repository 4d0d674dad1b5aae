"""The engine passes every check of the official conformance suite, of both revisions that have a set of requirements."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # where `scripts` lies

from scripts import conformance

CHECKS = {"2025-11-25": 84, "2026-07-28": 196}
"""How many count in the version of the suite that is pinned: fewer would mean that something was not asked."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if not conformance.installed():
        assert not os.environ.get("CI"), "the conformance suite is not installed: `make test` installs it"
        pytest.skip("the conformance suite is not installed: `make test` installs it")
    with conformance.serving() as address:
        yield address


@pytest.mark.parametrize("requirements", CHECKS)
def test_every_check_of_a_revision_passes(requirements: str, url: str) -> None:
    checks = conformance.run(requirements, url)
    assert [str(check) for check in checks if not check.passed] == []
    assert len(checks) == CHECKS[requirements]
    assert conformance.scored(requirements) <= {check.scenario for check in checks}


def test_a_server_that_is_not_there_passes_no_scenario() -> None:
    if not conformance.installed():
        pytest.skip("the conformance suite is not installed: `make test` installs it")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
    checks = conformance.run("2026-07-28", address)
    required = conformance.scored("2026-07-28")
    assert required <= {check.scenario for check in checks if not check.passed}
    assert f"0 of {len(required)} scored scenarios" in conformance.summary("2026-07-28", checks)
