"""What `webseam index` says of its sources, as a person types it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from webseam.cli import FAILED, OK, main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command of `webseam index`; its exit code, standard output and standard error."""

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["index", *arguments, "--data", str(tmp_path / "data")])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of one document."""
    made = tmp_path / "notes"
    made.mkdir()
    (made / "a.md").write_text("# Lighthouse\n\nA keeper tends the lamp.\n")
    return made


def test_what_is_left_out_is_said_and_is_no_failure(run: Run, notes: Path) -> None:
    (notes / "empty.md").write_text("")
    assert run("add", str(notes)) == (
        OK,
        "notes: 1 added, 0 changed, 0 unchanged, 0 removed, 0 failed; left out: 1 empty\n",
        "",
    )
    [data] = json.loads(run("add", str(notes), "--json")[1])
    assert (data["unchanged"], data["rewritten"], data["left_out"]) == (1, 0, {"empty": 1})


def test_a_rebuild_says_that_documents_were_rewritten(run: Run, notes: Path) -> None:
    run("add", str(notes))
    assert run("rebuild") == (OK, "notes: 0 added, 0 changed, 1 rewritten, 0 removed, 0 failed\n", "")


def test_one_folder_has_one_name(run: Run, notes: Path) -> None:
    run("add", str(notes), "--name", "My Notes")
    code, _, err = run("add", str(notes), "--name", "other")
    assert code == FAILED
    assert "'my-notes' already" in err
    assert "webseam index remove my-notes" in err
    assert "1 unchanged" in run("add", str(notes), "--name", "My Notes")[1], "the name as it was typed the first time"
    assert "1 unchanged" in run("add", str(notes))[1]
    assert [row["name"] for row in json.loads(run("list", "--json")[1])] == ["my-notes"]


def test_two_folders_of_one_name_in_one_command_do_not_replace_each_other(run: Run, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "notes"
    other.mkdir(parents=True)
    (other / "b.md").write_text("Whales.")
    code, _, err = run("add", str(notes), str(other))
    assert code == FAILED
    assert "'notes' already" in err
    assert [(row["location"], row["documents"]) for row in json.loads(run("list", "--json")[1])] == [(str(notes.resolve()), 1)]


def test_a_source_of_which_nothing_could_be_read_is_a_failed_command_whatever_became_of_the_others(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    lost = tmp_path / "lost"
    lost.mkdir()
    (lost / "b.md").write_text("Whales sing.")
    assert run("add", str(notes), str(lost))[0] == OK
    lost.rename(tmp_path / "unplugged")
    code, out, err = run("rebuild")
    assert code == FAILED
    assert "notes: 0 added, 0 changed, 1 rewritten" in out
    assert "does not exist" in err


def test_a_new_source_with_nothing_in_it_is_not_remembered(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = run("add", str(empty))
    assert code == FAILED
    assert "if it was indexed before, `webseam index remove empty` forgets it" in err
    assert run("list", "--json")[1].strip() == "[]"
