"""The page on threats: every row is there once, and every function and test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tests.egress.abuse.rows import EXCUSES, ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "threats.md").read_text("utf-8")
LINES = [line.strip("|").split("|") for line in re.findall(r"^\| (?:[\d, ]+|TLS) \|.*\|$", PAGE, re.MULTILINE)]
NAMES = re.compile(r"`([\w/]+\.py): (\w+)`")


@cache
def defined(path: Path) -> frozenset[str]:
    """What a module defines at its top."""
    body = ast.parse(path.read_text("utf-8")).body
    return frozenset(one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))


def file_of(name: str) -> Path:
    """Where a test lies that the page names."""
    return ROOT / name if name.startswith("tests/") else ROOT / "tests" / "egress" / name


def test_every_row_of_the_suite_is_on_the_page_once() -> None:
    named = [int(number) for rows, *_ in LINES if rows.strip() != "TLS" for number in rows.split(",")]
    assert sorted(named) == [row.number for row in ROWS]
    assert len(named) == len(set(named))


def test_every_row_stands_under_the_heading_of_its_group() -> None:
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE):
        found = {int(number) for rows in re.findall(r"^\| ([\d, ]+) \|", part, re.MULTILINE) for number in rows.split(",")}
        assert {row.group for row in ROWS if row.number in found} <= {part[0]}


def test_certificates_are_on_the_page() -> None:
    assert sum(rows.strip() == "TLS" for rows, *_ in LINES) == 4


def test_the_commands_at_the_top_name_what_exists() -> None:
    [commands] = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    [(module, chosen)] = re.findall(r"pytest (\S+\.py) -k (\w+)", commands)
    assert [name for name in defined(ROOT / module) if chosen in name] != []
    assert all((ROOT / path).exists() for path in re.findall(r"pytest (\S+)", commands))


@pytest.mark.parametrize("line", LINES, ids=[line[0].strip().replace(", ", "-") for line in LINES])
def test_what_stops_a_threat_and_what_proves_it_exist(line: list[str]) -> None:
    rows, threat, stops, proof = (cell.strip() for cell in line)
    assert threat
    functions, tests = NAMES.findall(stops), NAMES.findall(proof)
    assert functions, f"row {rows} names nothing that stops it"
    assert tests, f"row {rows} names no test"
    for module, name in functions:
        assert name in defined(ROOT / "src" / "webseam" / module), f"{module}: {name}"
    for module, name in tests:
        path = file_of(module)
        assert path.name.startswith("test_"), "pytest does not collect it"
        assert name.startswith("test_")
        assert name in defined(path), f"{module}: {name}"


def test_every_test_that_an_excuse_leans_on_exists() -> None:
    for excuse in EXCUSES:
        if excuse.proof:
            module, _, name = excuse.proof.partition("::")
            assert name in defined(ROOT / module)
