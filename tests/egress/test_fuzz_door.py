"""Fuzzing the door: see `fuzz_door`, which runs in a process of its own so that it can be run by hand as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.egress import fuzz_door
from tests.fuzzing import at_length, briefly

FUZZER = "tests.egress.fuzz_door"


def test_seeds_and_a_series_of_random_inputs_have_no_finding() -> None:
    briefly(FUZZER, 1_000)


def test_the_judge_knows_what_is_public() -> None:
    assert [ip for ip in ("93.184.216.34", "2606:4700::1111") if not fuzz_door.public(ip)] == []
    bad = (
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "224.0.0.1",
        "2002:808:808::",
    )
    assert [ip for ip in bad if fuzz_door.public(ip)] == []


@pytest.mark.prove
def test_a_coverage_guided_fuzzer_gets_nothing_dialled_that_is_neither_public_nor_allowed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    at_length(FUZZER, "the door", tmp_path, capfd)
