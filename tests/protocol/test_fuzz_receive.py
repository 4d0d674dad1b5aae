"""Fuzzing `Engine.receive`: see `fuzz_receive`, which runs in a process of its own so that it can be run by hand as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzzing import at_length, briefly

FUZZER = "tests.protocol.fuzz_receive"


def test_seeds_and_a_series_of_random_inputs_have_no_finding() -> None:
    briefly(FUZZER, 1_000)


@pytest.mark.prove
def test_a_coverage_guided_fuzzer_finds_nothing_in_receive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    at_length(FUZZER, "Engine.receive", tmp_path, capfd)
