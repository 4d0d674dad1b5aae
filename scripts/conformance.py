"""Run the official conformance suite against our engine: `make conformance`.

The suite (npm `@modelcontextprotocol/conformance`, pinned with its hashes in `tests/conformance`) is installed beside the
server it is run against, `tests/conformance/server.py`, and runs on the Node of the development environment. One line for
each set of scenarios, then every check that did not pass; the exit code is 1 when there is one.

What counts is what the suite has an opinion on: a check with the status SUCCESS, FAILURE or WARNING (a "should" that is not
met). INFO and SKIPPED do not count: the first only tells, the second is about what a server does not offer.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script, it finds no more than its own folder

from scripts.peers import fingerprint, install_node_packages, node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "tests" / "conformance"
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance"
RUN_SECONDS = 300
STOP_SECONDS = 30
MESSAGE_CHARS = 2_000

SETS = {
    "2025-11-25": ("--requirements", "2025-11-25"),
    "2026-07-28": ("--requirements", "2026-07-28"),
    "all": ("--suite", "all"),
}
"""Name -> what the suite is told. The first two are what a revision requires, and what may be added to it."""

_RUNNING = re.compile(r"^=== Running scenario: (\S+) ===$", re.MULTILINE)
_RESULT = re.compile(r"server-(\S+)-\d{4}-\d\d-\d\dT[\d-]+Z")


class Check(NamedTuple):
    """One check that counts. `message` says why it did not pass."""

    scenario: str
    id: str
    status: str
    message: str

    @property
    def passed(self) -> bool:
        """Whether the server did what was wanted."""
        return self.status == "SUCCESS"

    def __str__(self) -> str:
        return f"{self.status.lower():7} {self.scenario}: {self.id}: {self.message}"


def installed() -> bool:
    """Whether the suite is there, in the version that the lock names."""
    mark = HERE / "node_modules" / ".lock"
    return mark.exists() and mark.read_text() == fingerprint(HERE / "package.json", HERE / "package-lock.json")


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """The server that the suite is run against; gives its address."""
    server = subprocess.Popen([sys.executable, str(HERE / "server.py")], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    with server:
        try:
            url = server.stdout.readline().strip()
            if not url:
                raise RuntimeError(f"The server did not start: run {HERE / 'server.py'} to see why.")
            yield url
        finally:
            server.terminate()
            server.wait(STOP_SECONDS)


def run(name: str, url: str) -> list[Check]:
    """Run one of `SETS` against the server at `url`; gives the checks that count, in the order they were made.

    Raises RuntimeError when the suite itself failed.
    """
    with tempfile.TemporaryDirectory() as out:
        command = [str(node()), str(SUITE / "dist" / "index.js"), "server", "--url", url, *SETS[name], "-o", out]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=RUN_SECONDS, check=False)
        results = {found[1]: path for path in Path(out).iterdir() if (found := _RESULT.fullmatch(path.name))}
        scenarios = _RUNNING.findall(done.stdout)
        if not scenarios:
            raise RuntimeError(f"The suite ran nothing: {done.stderr.strip() or done.stdout.strip()}")
        return [check for scenario in scenarios for check in _checks(scenario, results.get(scenario))]


def _checks(scenario: str, result: Path | None) -> list[Check]:
    if result is None or not (result / "checks.json").exists():  # it threw: the suite counts that as a failure, too
        return [Check(scenario, scenario, "FAILURE", "the scenario did not come to an end")]
    return [
        Check(scenario, check["id"], check["status"], _message(check))
        for check in json.loads((result / "checks.json").read_text(encoding="utf-8"))
        if check["status"] in ("SUCCESS", "FAILURE", "WARNING")
    ]


def _message(check: dict[str, Any]) -> str:
    details = check.get("details") or {}
    message = check.get("errorMessage") or details.get("message") or check["description"]
    return str(message)[:MESSAGE_CHARS]


def scored(name: str) -> set[str]:
    """The scenarios that a revision requires of a server; none for a set that is not a revision's."""
    requirements = SUITE / "requirements" / f"{name}.yaml"
    if not requirements.exists():
        return set()
    found = re.search(r"^server:\n((?:  - \S+\n)+)", requirements.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{requirements} has no list of scenarios for a server"
    return set(found[1].replace("  - ", "").split())


def summary(name: str, checks: Sequence[Check]) -> str:
    """The set in one line."""
    ran = {check.scenario for check in checks}
    failed = {check.scenario for check in checks if not check.passed}
    required, tasks = scored(name), {scenario for scenario in ran if scenario.startswith("tasks-")}
    parts = [(required, "scored scenarios")] if required else [(ran, "scenarios")]
    if required and tasks:
        parts.append((tasks, "tasks"))
    shares = ", ".join(f"{len(part - failed & part)} of {len(part)} {words}" for part, words in parts)
    return f"{name}: {sum(check.passed for check in checks)} of {len(checks)} checks passed ({shares})"


def main() -> int:
    """Run every set; gives the exit code."""
    install_node_packages(HERE)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the suite's sentences have characters that not every console has
    failures: list[str] = []
    with serving() as url:
        for name in SETS:
            checks = run(name, url)
            print(summary(name, checks), flush=True)
            failures += [f"{name}  {check}" for check in checks if not check.passed]
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
