"""What the fuzzers have in common: how they are run by hand, by `make test` for a moment, and by `make prove` for ten minutes.

    python -m tests.ROOM.fuzz_NAME
    --seconds N    fuzz for so long with atheris (by default FUZZ_SECONDS, or 600), beginning with the seeds
    --quick N      without atheris: the seeds, and N inputs made from a fixed series of random numbers
    --replay FILE  one input, as a finding left it

A finding is printed with the input in hexadecimal, and makes the exit status other than 0.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECONDS = int(os.environ.get("FUZZ_SECONDS", "600"))
ATHERIS_IS_BUILT_FOR = (sys.platform, platform.machine(), sys.implementation.name) == ("linux", "x86_64", "cpython") and (
    (3, 11) <= sys.version_info[:2] <= (3, 14)
)
"""As `pyproject.toml` has it."""
PROGRESS_SECONDS = 30


class Fuzzer(NamedTuple):
    """What is fuzzed. `run` raises what it finds; `shown` is an input for a person; `fresh` makes one of random numbers."""

    run: Callable[[bytes], None]
    shown: Callable[[bytes], str]
    seeds: Callable[[], Iterable[bytes]]
    words: Callable[[], Iterable[bytes]]  # lines of a dictionary as libFuzzer reads them
    fresh: Callable[[random.Random], bytes]
    longest: int
    punctuation: bytes
    settled: Callable[[], None] = lambda: None  # raises what was found in all inputs together
    every: int = 1  # of the seeds, the quick way takes one in so many


def with_atheris() -> Any:
    """The fuzzer's module, where this process is about to fuzz with it; else None."""
    wanted = "--quick" not in sys.argv and "--replay" not in sys.argv
    return importlib.import_module("atheris") if wanted else None


def run_or_tell(fuzzer: Fuzzer, data: bytes) -> None:
    """Run one input; print it if it is a finding."""
    try:
        fuzzer.run(data)
    except BaseException:
        print(f"\nfinding: {data.hex()}\n{fuzzer.shown(data)}", file=sys.stderr, flush=True)
        raise


def quick(fuzzer: Fuzzer, count: int) -> None:
    """The seeds, and inputs made from a fixed series of random numbers: half of them fresh, half seeds with other bytes."""
    began = time.perf_counter()
    corpus = list(fuzzer.seeds())[:: fuzzer.every]
    for data in corpus:
        run_or_tell(fuzzer, data)
    print(f"{len(corpus)} seeds in {time.perf_counter() - began:.1f} s", flush=True)
    series = random.Random(28)
    for number in range(count):
        data = fuzzer.fresh(series) if number % 2 else _with_other_bytes(series.choice(corpus), series, fuzzer.punctuation)
        run_or_tell(fuzzer, data)
    fuzzer.settled()
    print(f"{count} inputs more, {time.perf_counter() - began:.1f} s in all, no finding", flush=True)


def _with_other_bytes(data: bytes, series: random.Random, punctuation: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(series.randrange(1, 6)):
        at = series.randrange(len(changed))
        what = series.randrange(3)
        if what == 0:
            changed[at] = series.choice(punctuation)
        elif what == 1:
            del changed[at : at + series.randrange(20)]
        else:
            changed[at:at] = changed[at : at + series.randrange(40)]
        if not changed:
            return data
    return bytes(changed)


def fuzz(fuzzer: Fuzzer, seconds: int, folder: Path) -> None:
    """Fuzz with atheris, with everything it keeps in `folder`; does not return."""
    atheris: Any = importlib.import_module("atheris")
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    count = 0
    for count, data in enumerate(fuzzer.seeds(), 1):
        (corpus / f"seed-{count}").write_bytes(data)
    words = folder / "words"
    words.write_bytes(b"\n".join(fuzzer.words()) + b"\n")
    print(f"{count} seeds in {folder}, {seconds} s", flush=True)
    options = [
        f"-max_total_time={seconds}", f"-max_len={fuzzer.longest}", f"-dict={words}", f"-artifact_prefix={folder}/",
        "-timeout=30", "-rss_limit_mb=4096", "-print_final_stats=1", "-len_control=0", str(corpus),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options], lambda data: run_or_tell(fuzzer, data))
    atheris.Fuzz()


def main(fuzzer: Fuzzer, what: str) -> None:
    """The command line of one."""
    parser = argparse.ArgumentParser(description=f"Fuzz {what}.")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--quick", type=int)
    parser.add_argument("--replay", type=Path)
    parser.add_argument(
        "--folder", type=Path, help="what is kept goes there (the corpus, a finding); a temporary one by default"
    )
    given = parser.parse_args()
    if given.replay is not None:
        run_or_tell(fuzzer, given.replay.read_bytes())
    elif given.quick is not None:
        quick(fuzzer, given.quick)
    else:
        fuzz(fuzzer, given.seconds, given.folder or Path(tempfile.mkdtemp(prefix="fuzz-")))


# ------------------------------------------------------------------------------------------------ as tests


def briefly(module: str, count: int) -> None:
    """The quick way, in a process of its own. Fails when it finds something."""
    command = [sys.executable, "-m", module, "--quick", str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-8_000:]
    assert "no finding" in done.stdout


def at_length(module: str, what: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With atheris, for as long as FUZZ_SECONDS says. Fails when it finds something."""
    if importlib.util.find_spec("atheris") is None:
        where = f"{sys.platform} {platform.machine()} with Python {platform.python_version()}"
        if ATHERIS_IS_BUILT_FOR and os.environ.get("CI"):
            pytest.fail(f"atheris is not installed, though it is built for {where}: `make clean prove` installs all anew")
        pytest.skip(
            f"atheris, the fuzzer, is not installed on {where}; there are wheels for Linux on x86-64, CPython 3.11 to 3.14"
        )
    with capfd.disabled():
        print(f"\nfuzzing {what} for {SECONDS} s", flush=True)
        code, last = _fuzzed(module, folder)
    assert code == 0, "\n".join(last)


def _fuzzed(module: str, folder: Path) -> tuple[int, list[str]]:
    """The exit status and the last lines of a fuzzer, of which a line is printed now and then."""
    command = [sys.executable, "-m", module, "--seconds", str(SECONDS), "--folder", str(folder)]
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
