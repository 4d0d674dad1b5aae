"""What `webseam index` says of its sources, as a person types it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from webseam.app import App
from webseam.cli import FAILED, OK, main
from webseam.config import Config
from webseam.errors import CorpusError
from webseam.index.corpus import Corpus, StoredDocument

if TYPE_CHECKING:
    from webseam.index.indexing import Progress

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
    assert run("add", str(notes), str(other), str(notes))[0] == OK
    rows = [(row["name"], row["location"], row["documents"]) for row in json.loads(run("list", "--json")[1])]
    assert rows == [("notes", str(notes.resolve()), 1), ("notes-2", str(other.resolve()), 1)]


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


# ------------------------------------------------------------------------------------------------ two at once, and what is left


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """The index that the commands write."""
    return Corpus(tmp_path / "data" / "indexes" / "local")


def rows(run: Run) -> list[tuple[str, str, str, int]]:
    return [(row["name"], row["kind"], row["location"], row["documents"]) for row in json.loads(run("list", "--json")[1])]


def test_a_source_cannot_be_removed_while_its_first_documents_are_added(run: Run, notes: Path, corpus: Corpus) -> None:
    run("add", str(notes))
    shutil.rmtree(corpus.directory)
    with corpus.writer("index add notes"):
        code, _, err = run("remove", "notes")
        assert code == FAILED
        assert "`index add notes`" in err
        assert rows(run) == [("notes", "folder", str(notes.resolve()), 0)]
    assert run("remove", "notes") == (OK, "Removed notes: 0 documents.\n", "")
    assert rows(run) == []


def test_a_new_source_that_comes_second_is_not_remembered(run: Run, notes: Path, corpus: Corpus) -> None:
    with corpus.writer("index add handbook"):
        code, _, err = run("add", str(notes))
    assert code == FAILED
    assert "index add handbook" in err
    assert rows(run) == []


def test_documents_of_an_unknown_source_are_listed_and_can_be_removed(run: Run, notes: Path, corpus: Corpus) -> None:
    run("add", str(notes))
    with corpus.writer("test") as writer:
        writer.put(StoredDocument("index://lost/a.md", "lost", "Lost", "words", "1"))
    assert rows(run) == [("notes", "folder", str(notes.resolve()), 1), ("lost", "?", "", 1)]
    assert run("remove", "lost") == (OK, "Removed lost: 1 document.\n", "")
    assert [name for name, *_ in rows(run)] == ["notes"]
    code, _, err = run("remove", "lost")
    assert code == FAILED
    assert "there is notes" in err


def test_a_source_whose_settings_vanish_while_it_is_added_leaves_nothing(notes: Path, tmp_path: Path, corpus: Corpus) -> None:
    app = App(Config({"data": str(tmp_path / "data")}))

    async def add() -> None:
        indexes = app.indexes("local")

        def forget(step: Progress) -> None:
            app.store.remove_source("local", step.source)

        try:
            with pytest.raises(CorpusError, match="notes was removed meanwhile"):
                await indexes.add(indexes.resolve(str(notes)), progress=forget)
        finally:
            await app.close()

    try:
        asyncio.run(add())
    finally:
        app.shut()
    assert corpus.count() == 0


def test_a_rebuild_does_not_bring_back_what_was_removed_meanwhile(notes: Path, tmp_path: Path, corpus: Corpus) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("Whales.")
    app = App(Config({"data": str(tmp_path / "data")}))

    async def work() -> list[tuple[str, str]]:
        indexes = app.indexes("local")

        def forget(step: Progress) -> None:
            app.store.remove_source("local", "other")

        try:
            for what in (notes, other):
                await indexes.add(indexes.resolve(str(what)))
            return [(report.source, report.note) for report in await indexes.rebuild(progress=forget)]
        finally:
            await app.close()

    try:
        (_, none), (_, note) = asyncio.run(work())
    finally:
        app.shut()
    assert none == ""
    assert "other was removed meanwhile" in note


def test_a_rebuild_that_was_not_finished_is_told_by_list(run: Run, notes: Path, corpus: Corpus) -> None:
    run("add", str(notes))
    corpus.reset()
    code, out, err = run("list")
    assert code == OK
    assert "notes" in out
    assert "`webseam index rebuild` goes on with it" in err
    assert run("rebuild")[0] == OK
    assert run("list")[2] == ""
    corpus.check()
