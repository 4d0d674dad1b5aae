"""One writer at a time, and what survives its death."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from webseam.errors import CorpusError
from webseam.index.corpus import Corpus
from webseam.index.writer_lock import LOCK_FILE, NOTE_FILE, WriterLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from webseam.index.corpus import StoredDocument

    Make = Callable[..., StoredDocument]

HOLDER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from webseam.index.corpus import Corpus

    with Corpus(Path(sys.argv[1])).writer("index add handbook"):
        print("holding", flush=True)
        sys.stdin.read()
    """
)

INDEXER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from webseam.index.corpus import Corpus, StoredDocument

    first = int(sys.argv[2])
    with Corpus(Path(sys.argv[1])).writer("index add endless") as writer:
        for batch in range(first, first + 1_000_000, 7):
            urls = [f"https://example.com/{number}" for number in range(batch, batch + 7)]
            for url in urls:
                writer.put(StoredDocument(url, "endless", "Title", f"words of {url} " * 20, url))
            writer.commit()
            print(*urls, flush=True)
    """
)


def hold(directory: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "holding\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_second_writer_is_told_who_writes(corpus: Corpus) -> None:
    holder = hold(corpus.directory)
    try:
        with pytest.raises(CorpusError) as caught, corpus.writer("index add notes"):
            pass
        assert caught.value.kind == "busy"
        first_line = str(caught.value).splitlines()[0]
        assert f"process {holder.pid} " in first_line
        assert "`index add handbook`" in first_line
        assert "wait" in first_line
        with pytest.raises(CorpusError, match=str(holder.pid)):
            corpus.reset()
        assert corpus.search("anything", 3) == [], "reading goes on"
    finally:
        end(holder)


def test_two_writers_of_one_process_exclude_each_other_too(corpus: Corpus) -> None:
    with (
        corpus.writer("index add one"),
        pytest.raises(CorpusError, match=f"process {os.getpid()} .*index add one"),
        Corpus(corpus.directory).writer("index add two"),
    ):
        pass


def test_a_killed_writer_holds_nobody_up_and_is_not_named(corpus: Corpus, make: Make) -> None:
    end(hold(corpus.directory))
    assert (corpus.directory / NOTE_FILE).exists(), "it had no time to take its note away"
    with corpus.writer("index add notes") as writer:
        writer.put(make("https://example.com/a"))
    assert corpus.count() == 1
    assert not (corpus.directory / NOTE_FILE).exists()


@pytest.mark.parametrize(
    "note",
    [
        "",
        "{",
        "[]",
        "null",
        '{"pid": "x", "started": 1, "what": "w", "since": 1}',
        '{"pid": 1, "started": 1.0, "what": "another process with this number", "since": 1}',
        '{"pid": 999999999, "started": 1, "what": "nobody", "since": 1}',
        '{"pid": -1, "started": 1, "what": "nobody", "since": 1e300}',
        '{"pid": 1e400, "started": 1, "what": "nobody", "since": 1}',
    ],
)
def test_a_note_that_is_stale_or_broken_names_nobody(corpus: Corpus, note: str) -> None:
    lock = WriterLock.take(corpus.directory, "index add real")
    (corpus.directory / NOTE_FILE).write_text(note)
    with pytest.raises(CorpusError, match="written by another Webseam process"):
        WriterLock.take(corpus.directory, "other")
    lock.release()
    lock.release()
    WriterLock.take(corpus.directory, "other").release()


def test_the_note_shows_no_control_characters(corpus: Corpus) -> None:
    lock = WriterLock.take(corpus.directory, "index add \x1b[31mred\n")
    assert json.loads((corpus.directory / NOTE_FILE).read_text())["pid"] == os.getpid()
    with pytest.raises(CorpusError) as caught:
        WriterLock.take(corpus.directory, "other")
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    lock.release()


def test_an_index_where_nothing_can_be_written_says_so(tmp_path: Path, make: Make) -> None:
    (tmp_path / "file").write_text("not a folder")
    corpus = Corpus(tmp_path / "file" / "index")
    with pytest.raises(CorpusError, match="--data") as caught, corpus.writer("test"):
        pass
    assert caught.value.kind == "unwritable"


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE stands in for a full disk")
def test_a_full_disk_is_named_and_costs_nothing_that_was_committed(filled: Corpus) -> None:
    script = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from webseam.errors import CorpusError
        from webseam.index.corpus import Corpus, StoredDocument

        try:
            with Corpus(Path(sys.argv[1])).writer("test") as writer:
                resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
                for number in range(2000):
                    writer.put(StoredDocument(f"https://example.com/{number}", "big", "T", f"w{number} " * 500, "f"))
                writer.commit()
        except CorpusError as error:
            print(error.kind, error)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        with Corpus(Path(sys.argv[1])).writer("test") as writer:
            writer.remove("https://docs.example.com/01")
        print("lifted")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(filled.directory)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith("unwritable"), done.stdout
    assert done.stdout.endswith("lifted\n")
    assert filled.count() == 14
    with filled.writer("again") as writer:
        writer.remove("index://notes/a.md")
    assert filled.count() == 13


def kill_while_indexing(directory: Path, times: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    for turn in range(times):
        process = subprocess.Popen(
            [sys.executable, "-c", INDEXER, str(directory), str(len(acknowledged))], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(chance.randrange(1, 4)):
            acknowledged.update(process.stdout.readline().split())
        # A random part of the next batch: putting, committing, merging.
        try:
            process.wait(chance.uniform(0, 0.03))
        except subprocess.TimeoutExpired:
            process.kill()
        rest = process.communicate()[0]
        acknowledged.update(url for line in rest.splitlines(keepends=True) if line.endswith("\n") for url in line.split())
        corpus = Corpus(directory)
        corpus.check()
        kept = corpus.fingerprints("endless")
        assert acknowledged <= kept.keys(), f"turn {turn}: lost {sorted(acknowledged - kept.keys())[:5]}"
        acknowledged = set(kept)
        assert len(corpus.search("words", 10)) == 10 or len(kept) < 10
    with Corpus(directory).writer("afterwards") as writer:
        writer.remove("https://example.com/0")
    assert Corpus(directory).count() == len(acknowledged) - 1


def test_every_acknowledged_document_survives_kill_9_twenty_times(tmp_path: Path) -> None:
    kill_while_indexing(tmp_path / "index", 20, seed=1)


@pytest.mark.prove
def test_every_acknowledged_document_survives_kill_9_two_hundred_times(tmp_path: Path) -> None:
    kill_while_indexing(tmp_path / "index", 200, seed=2)


def test_the_lock_file_is_private_to_its_owner(corpus: Corpus) -> None:
    WriterLock.take(corpus.directory, "test").release()
    if sys.platform != "win32":
        assert (corpus.directory / LOCK_FILE).stat().st_mode & 0o777 == 0o600
        assert corpus.directory.stat().st_mode & 0o777 == 0o700
