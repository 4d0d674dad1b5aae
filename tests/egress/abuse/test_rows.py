"""Every row of the abuse list through every path. The rows are in `rows`, the paths in `paths`; here they meet."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable
from pathlib import Path as FilePath

import pytest
from tests.egress.abuse.attacks import OTHER_ACCOUNT, Attack
from tests.egress.abuse.bodies import HTML, headed
from tests.egress.abuse.paths import NOT_BUILT, PATHS, Path
from tests.egress.abuse.rows import EXCUSES, FAULTS, ROWS, Excuse, Row
from tests.egress.abuse.web import Web

from webseam.egress.addresses import Allowance
from webseam.egress.robots import Robots

ROOT = FilePath(__file__).resolve().parents[3]
SOURCES = ROOT / "src" / "webseam"

Made = Callable[[], Web]

EVERY = {(row.number, path.name): (row, path) for row in ROWS for path in PATHS}
EXCUSED: dict[tuple[int, str], Excuse] = {
    (number, name): excuse for excuse in EXCUSES for number in excuse.rows for name in sorted(excuse.paths)
}
KNOWN = {(fault.row, name, fault.label): fault for fault in FAULTS for name in sorted(fault.paths)}
RUN = [pair for key, pair in EVERY.items() if key not in EXCUSED]


def named(pairs: list[tuple[Row, Path]]) -> list[str]:
    return [f"row-{row.number}-{path.name}" for row, path in pairs]


@pytest.mark.parametrize(("row", "path"), RUN, ids=named(RUN))
def test_a_row_meets_a_path(web: Made, runner: asyncio.Runner, row: Row, path: Path) -> None:
    async def meet(attack: Attack, net: Web) -> None:
        net.turn()
        net.seconds = attack.seconds
        try:
            fault = KNOWN.get((row.number, path.name, attack.label))
            if fault is None:
                await attack.meet(net, path)
                return
            with pytest.raises(AssertionError):
                await attack.meet(net, path)
            faults.append(fault.what)
        except BaseException as error:
            error.add_note(f"row {row.number} ({row.title}), {attack.label[:200]!r}, through {path.name}")
            raise

    async def alone(attack: Attack) -> None:
        async with web() as net:
            await meet(attack, net)

    async def main() -> None:
        async with asyncio.timeout(120), web() as net:
            if row.together:
                async with asyncio.TaskGroup() as group:
                    for attack in row.attacks:
                        group.create_task(alone(attack))
                return
            for attack in row.attacks:
                await (alone(attack) if attack.alone else meet(attack, net))

    faults: list[str] = []
    runner.run(main())
    if faults:
        pytest.xfail("\n".join(faults))


@pytest.mark.parametrize(("key", "excuse"), EXCUSED.items(), ids=[f"row-{number}-{name}" for number, name in EXCUSED])
def test_a_pair_that_cannot_be_is_excused(key: tuple[int, str], excuse: Excuse) -> None:
    assert key in EVERY, "there is no such pair any more"
    assert re.fullmatch(r"[A-Z].{40,}\.", excuse.why)
    if excuse.proof:
        assert (ROOT / excuse.proof.partition("::")[0]).is_file()


def test_every_row_meets_every_path_or_says_why_it_cannot() -> None:
    assert [row.number for row in ROWS] == list(range(1, 56))
    assert len({path.name for path in PATHS}) == len(PATHS)
    assert {(row.number, path.name) for row, path in RUN} | EXCUSED.keys() == EVERY.keys()
    assert not {(row.number, path.name) for row, path in RUN} & EXCUSED.keys()
    assert all(row.attacks for row, _ in RUN), "a row that tries nothing holds nothing"


def test_no_excuse_is_stale() -> None:
    given = [(number, name) for excuse in EXCUSES for number in excuse.rows for name in excuse.paths]
    assert len(given) == len(set(given)), "a pair is excused twice"
    for row in ROWS:
        excused_everywhere = all((row.number, path.name) in EXCUSED for path in PATHS)
        assert bool(row.attacks) is not excused_everywhere, (
            f"row {row.number} has attacks and no path, or a path and no attacks"
        )
    followed = {path.name for path in PATHS if path.reaches}
    assert not {name for (number, name) in EXCUSED if number in range(37, 45)} & followed


def test_every_known_fault_names_an_attack_that_is_tried() -> None:
    tried = {(row.number, path.name, attack.label) for row, path in RUN for attack in row.attacks}
    assert KNOWN.keys() <= tried


def test_a_path_that_is_built_is_in_the_list() -> None:
    for name, (room, words) in NOT_BUILT.items():
        assert words
        assert not (SOURCES / room).exists(), f"{room}/ is there: make {name} a line of PATHS and take it out of NOT_BUILT"
        assert not (SOURCES / f"{room}.py").exists()


def test_every_place_in_the_sources_that_uses_a_door_is_some_path() -> None:
    uses = re.compile(r"\.door\(|_?door(?:_for\(\))?\.(?:send|robots)\(")
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if path.parent.name != "egress" and uses.search(path.read_text("utf-8"))
    }
    assert found == {module for path in PATHS for module in path.modules}


def test_no_row_of_the_list_is_missing(shared: FilePath) -> None:
    text = (shared / "facts" / "abuse.md").read_text("utf-8")
    assert {int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)} == {row.number for row in ROWS}


ACCOUNTS = ("local", OTHER_ACCOUNT)
PLACES = (("home.test", 80), ("home.test", 8080), ("away.test", 80))
PURPOSES = sorted({path.purpose for path in PATHS})


@pytest.mark.parametrize("path", PATHS, ids=[path.name for path in PATHS])
def test_an_exception_opens_one_path_of_one_account_and_nothing_else(web: Made, runner: asyncio.Runner, path: Path) -> None:
    """Exception x path x account: for each account and purpose that an exception may be for, who gets through."""

    async def main() -> None:
        async with web() as net:
            home = await net.site(headed(b"<p>A page at home.", HTML))
            net.leads["127.0.0.9", 80] = net.leads["127.0.0.9", 8080] = home.port
            net.resolver.names["home.test"] = [["127.0.0.9"]]
            for allowed, purpose, place in itertools.product(ACCOUNTS, PURPOSES, PLACES):
                net.allowed[:] = [Allowance(allowed, *place, purpose)]
                for account in ACCOUNTS:
                    net.turn()
                    net.egress.robots = Robots()  # which remembers an origin by account and purpose
                    before = len(home.requests)
                    outcome = await path.attempt(net, "http://home.test/page", account)
                    net.hold(outcome.shown)
                    opened = (allowed, purpose, place) == (account, path.purpose, PLACES[0]) and path.own
                    assert (len(home.requests) > before) is opened, (allowed, purpose, place, account, outcome)

    runner.run(main())
