"""Hundreds of pages that are broken in every way: each is text or a sentence, in bounded memory, and the server goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.documents.mutants import WRITTEN, mutant
from tests.documents.test_compiled import answer, answers_in_python, compiled

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1024 * 1024
MOST_BYTES = 500 * MEGABYTE
"""How much the whole tree may grow. Each of two workers may have 512 MB; no mutant is so large that it should take half."""

MOST_KEPT_BYTES = 350 * MEGABYTE
"""How much larger it may be in the end: what two workers keep of what they had, and the pages that the server keeps."""

SEED = 20261130


@pytest.fixture
def shared_or_none(request: pytest.FixtureRequest) -> Path | None:
    """The reference data where they are: without them the mutants are those of a handful of pages."""
    try:
        found: Path = request.getfixturevalue("shared")
    except pytest.skip.Exception:
        return None
    return found


def figures(seed: int, count: int, shared: Path | None, seconds: int) -> dict[str, Any]:
    """What `mutated_pages` tells of so many mutants; `seconds` is when it hangs."""
    command = [sys.executable, "-m", "tests.documents.mutated_pages", str(seed), str(count), *([str(shared)] if shared else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    assert done.returncode == 0, done.stderr[-8_000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def hold(found: dict[str, Any], count: int) -> None:
    assert not found["findings"], json.dumps(found["findings"], indent=1)
    assert sum(found["ended"].values()) == count
    assert set(found["ended"]) <= {"document", "empty", "too_large", "unsupported_type", "unreadable"}
    assert found["ended"]["document"] > count // 2
    assert sum(found["served"].values()) == count // 5
    assert found["normal"] == count // 10
    start, most, end = (found[key] for key in ("start_bytes", "peak_bytes", "end_bytes"))
    grown = f"{(most - start) / MEGABYTE:.0f} MB at most, {(end - start) / MEGABYTE:.0f} MB in the end"
    assert most - start < MOST_BYTES, grown
    assert end - start < MOST_KEPT_BYTES, grown


def test_500_mutants_are_text_or_a_sentence_and_the_server_answers_meanwhile(shared_or_none: Path | None) -> None:
    hold(figures(SEED, 500, shared_or_none, 300), 500)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(1, 6))
def test_5000_mutants_are_text_or_a_sentence_and_the_server_answers_meanwhile(seed: int, shared_or_none: Path | None) -> None:
    hold(figures(seed, 1_000, shared_or_none, 1_200), 1_000)


@compiled
def test_mutants_are_read_alike_by_what_is_compiled() -> None:
    pages = [page for number in range(120) if len(page := mutant(SEED, number, WRITTEN).data) < 100_000]
    assert len(pages) > 50
    for number, (page, expected) in enumerate(zip(pages, answers_in_python(pages), strict=True)):
        assert answer(page) == expected, number


def test_a_mutant_is_the_same_each_time() -> None:
    assert [mutant(1, number, WRITTEN) for number in range(20)] == [mutant(1, number, WRITTEN) for number in range(20)]
    assert len({mutant(1, number, WRITTEN).data for number in range(100)}) > 90
