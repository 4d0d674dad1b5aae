"""The guide of the protocol engine: each block of code is an example file, or runs and prints what stands below it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from webseam.config import LIMITS
from webseam.protocol import REVISIONS
from webseam.protocol.revisions import VERBS
from webseam.protocol.roles import OPTIONAL, ROLES
from webseam.protocol.verbs import COMPLETIONS
from webseam.transports.http import GRACE_SECONDS

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
PAGE = (GUIDE / "protocol-engine.md").read_text("utf-8")
FILES = {path.read_text("utf-8"): path.name for path in sorted(GUIDE.glob("examples/engine_*.py"))}
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", PAGE, re.DOTALL)
OWN = [(code, said) for code, said in BLOCKS if code not in FILES]


def test_the_guide_holds_each_example_word_for_word() -> None:
    shown = {FILES[code] for code, _ in BLOCKS if code in FILES}
    assert shown == set(FILES.values()) - {"engine_tools.py"}


@pytest.mark.parametrize(("code", "said"), OWN, ids=[str(number) for number in range(len(OWN))])
def test_a_block_of_the_guide_runs_and_prints_what_stands_below_it(code: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == said


def test_the_first_provider_of_the_guide_has_twenty_lines() -> None:
    first = OWN[0][0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 20


def test_the_guide_names_every_revision_and_every_member_of_every_role() -> None:
    for revision in REVISIONS:
        assert revision in PAGE
    for kind, members in ROLES.items():
        named = {member for row, _ in rows(kind) for member in re.findall(r"`(\w+)\(", row)}
        assert named == set(members) | set(OPTIONAL.get(kind, ()))


def rows(kind: str) -> list[tuple[str, str]]:
    """The members of a role in the guide's table, and what they give."""
    [first] = re.findall(rf"^\| {kind} \| .*\n(?:\| \| .*\n)*", PAGE, re.MULTILINE)
    return re.findall(r"^\|.*?\| (.*?) \| (.*) \|$", first, re.MULTILINE)


@pytest.mark.parametrize("kind", ROLES)
def test_the_guide_names_the_main_member_of_every_result(kind: str) -> None:
    given = {member for _, gives in rows(kind) for member in re.findall(r'`\{"(\w+)"', gives)}
    assert given == {shape.items for shape in VERBS.values() if shape.role == kind and shape.items}


def test_the_figures_of_the_guide_are_those_of_the_table_of_limits() -> None:
    for figure in (
        f"{LIMITS.message_bytes // 1024**2} MiB, {LIMITS.message_depth} levels and {LIMITS.message_nodes:,} objects",
        f"at most {LIMITS.question_seconds:.0f} s",
        f"for {LIMITS.request_state_seconds:.0f} s at most",
        f"{COMPLETIONS} values are sent at most",
        f"Calls have {GRACE_SECONDS} s",
    ):
        assert figure in PAGE
