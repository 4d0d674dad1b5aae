"""Fuzzing `Engine.receive`: see `fuzz_receive`, which runs in a process of its own so that it can be run by hand as well."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = int(os.environ.get("FUZZ_SECONDS", "600"))
COMMAND = [sys.executable, "-m", "tests.protocol.fuzz_receive"]
ATHERIS_IS_BUILT_FOR = (sys.platform, platform.machine(), sys.implementation.name) == ("linux", "x86_64", "cpython") and (
    (3, 11) <= sys.version_info[:2] <= (3, 14)
)
"""As `pyproject.toml` has it."""
PROGRESS_SECONDS = 30


def test_seeds_and_a_series_of_random_inputs_have_no_finding() -> None:
    command = [*COMMAND, "--quick", "1000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-8_000:]
    assert "no finding" in done.stdout


@pytest.mark.prove
def test_a_coverage_guided_fuzzer_finds_nothing_in_receive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    if importlib.util.find_spec("atheris") is None:
        where = f"{sys.platform} {platform.machine()} with Python {platform.python_version()}"
        if ATHERIS_IS_BUILT_FOR and os.environ.get("CI"):
            pytest.fail(f"atheris is not installed, though it is built for {where}: `make clean prove` installs all anew")
        pytest.skip(
            f"atheris, the fuzzer, is not installed on {where}; there are wheels for Linux on x86-64, CPython 3.11 to 3.14"
        )
    with capfd.disabled():
        print(f"\nfuzzing Engine.receive for {SECONDS} s", flush=True)
        code, last = _fuzzed(tmp_path)
    assert code == 0, "\n".join(last)


def _fuzzed(folder: Path) -> tuple[int, list[str]]:
    """The exit status and the last lines of a fuzzer, of which a line is printed now and then."""
    command = [*COMMAND, "--seconds", str(SECONDS), "--folder", str(folder)]
    last: list[str] = []
    told = time.monotonic()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as fuzzer:
        assert fuzzer.stdout is not None
        for line in fuzzer.stdout:
            last = [*last[-60:], line.rstrip()[:4_000]]
            if line.startswith("stat::") or "cov:" not in line or time.monotonic() - told >= PROGRESS_SECONDS:
                told = time.monotonic()
                print(line.rstrip()[:200], flush=True)
    return fuzzer.returncode, last
