"""An index that is not what was written says so: never a crash, a hang or a silent wrong answer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from webseam.errors import CorpusError
from webseam.index.corpus import Corpus
from webseam.index.schema import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.index.corpus import StoredDocument

    Make = Callable[..., StoredDocument]


def truncate(data: bytes) -> bytes:
    return data[: len(data) // 2]


def empty(data: bytes) -> bytes:
    return b""


def garble_all(data: bytes) -> bytes:
    return bytes(byte ^ 0x5A for byte in data)


def garble_middle(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0xFF for byte in data[middle : middle + 3]) + data[middle + 3 :]


def flip_first_bit(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:] if data else data


def flip_last_bit(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1]) if data else data


def append(data: bytes) -> bytes:
    return data + b"\0" * 64


WAYS = [truncate, empty, garble_all, garble_middle, flip_first_bit, flip_last_bit, append]

ASK = textwrap.dedent(
    """
    import json, sys
    from pathlib import Path
    from webseam.errors import CorpusError
    from webseam.index.corpus import Corpus

    for line in sys.stdin:
        corpus = Corpus(Path(line.strip()))
        try:
            hits = sorted(hit.url for hit in corpus.search("marsupials nocturnal", 20))
            documents = [corpus.document(url).body for url in hits]
            answer = ["answer", hits, documents, corpus.count(), [[s.name, s.documents] for s in corpus.sources()],
                      sorted(corpus.fingerprints("docs").items())]
        except CorpusError as error:
            answer = [error.kind, str(error)]
        try:
            with corpus.writer("test") as writer:
                writer.remove("https://never.example/")
            answer.append("written")
        except CorpusError as error:
            answer.append(error.kind)
        print(json.dumps(answer), flush=True)
    """
)


def test_whatever_happens_to_a_file_the_answer_is_right_or_says_damaged(filled: Corpus, tmp_path: Path) -> None:
    """Every file of the index in turn, in every way, in another process: a crash or a hang there fails here."""
    whole = filled.directory
    names = sorted(path.relative_to(whole) for path in whole.rglob("*") if path.is_file())
    assert {path.suffix for path in names} >= {".term", ".idx", ".pos", ".fieldnorm", ".fast", ".store", ".del", ".json"}
    cases = [(name, way) for name in names for way in WAYS] + [(name, None) for name in names]
    copies = []
    for number, (name, way) in enumerate(cases):
        copy = tmp_path / f"copy{number}"
        shutil.copytree(whole, copy)
        if way is None:
            (copy / name).unlink()
        else:
            (copy / name).write_bytes(way((copy / name).read_bytes()))
        copies.append(copy)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        check=False,
        input="".join(f"{path}\n" for path in [whole, *copies]),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    right, *answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert right[0] == "answer"
    assert right[3] == 15
    assert len(answers) == len(cases)
    damaged = 0
    for (name, way), answer in zip(cases, answers, strict=True):
        case = f"{name} {way.__name__ if way else 'removed'}"
        if answer[0] == "answer":
            assert answer[:-1] == right[:-1], case
        else:
            damaged += 1
            assert answer[0] == "damaged", case
            first_line = answer[1].splitlines()[0]
            assert "webseam index rebuild" in first_line, case
            assert "nothing else is lost" in first_line, case
            assert answer[-1] == "damaged", f"{case}: what cannot be read is not written to"
    assert damaged > len(cases) // 2


def test_a_damaged_index_is_made_anew_and_other_files_are_left_alone(filled: Corpus, make: Make) -> None:
    beside = filled.directory.parent / "settings.db"
    beside.write_text("kept")
    [documents] = filled.directory.glob("documents-*")
    (documents / "meta.json").write_text("{")
    with pytest.raises(CorpusError) as caught:
        filled.count()
    assert caught.value.kind == "damaged"
    assert filled.exists()
    filled.reset()
    assert filled.count() == 0
    with filled.writer("index add docs") as writer:
        writer.put(make("https://example.com/a"))
    assert [hit.url for hit in filled.search("words", 5)] == ["https://example.com/a"]
    assert beside.read_text() == "kept"


def test_an_open_reader_notices_damage_at_the_next_commit_and_recovers_after_a_reset(filled: Corpus, make: Make) -> None:
    reader = Corpus(filled.directory)
    assert reader.count() == 15
    [documents] = filled.directory.glob("documents-*")
    meta = documents / "meta.json"
    good = meta.read_bytes()
    meta.unlink()
    with pytest.raises(CorpusError, match=r"meta\.json is missing"):
        reader.count()
    meta.write_bytes(good)
    assert reader.count() == 15
    filled.reset()
    assert reader.count() == 0


def test_an_index_of_another_format_says_so(filled: Corpus) -> None:
    [documents] = filled.directory.glob("documents-*")
    meta = documents / "meta.json"
    meta.write_text(meta.read_text().replace(ENGLISH, "webseam-0-english"))
    with pytest.raises(CorpusError, match=r"another version of Webseam.*webseam-0-english.*webseam index rebuild") as caught:
        filled.search("marsupials", 3)
    assert caught.value.kind == "damaged"
    with pytest.raises(CorpusError, match="another version of Webseam"), filled.writer("test"):
        pass
    filled.reset()
    assert filled.count() == 0


def test_an_index_that_was_begun_but_never_finished_is_no_index(corpus: Corpus, make: Make) -> None:
    (corpus.directory / "documents.new").mkdir(parents=True)
    (corpus.directory / "documents.new" / "meta.json").write_text("{")
    assert not corpus.exists()
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/a"))
    assert corpus.count() == 1
    assert not (corpus.directory / "documents.new").exists()


def test_a_directory_that_is_a_file_is_damage(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("surprise")
    corpus = Corpus(tmp_path / "index")
    with pytest.raises(CorpusError) as caught:
        corpus.count()
    assert caught.value.kind == "damaged"
    assert corpus.exists()


def test_a_generation_that_is_a_file_is_damage_and_can_be_reset(filled: Corpus) -> None:
    (filled.directory / "documents-2").write_text("surprise")
    with pytest.raises(CorpusError) as caught:
        filled.count()
    assert caught.value.kind == "damaged"
    filled.reset()
    assert filled.count() == 0
    assert [path.name for path in filled.directory.glob("documents*")] == ["documents-3"]


@pytest.mark.parametrize(
    "meta",
    [
        "[]",
        "null",
        '{"segments": 1, "schema": []}',
        '{"segments": [], "schema": []}',
        '{"segments": [1], "schema": [{"name": "text"}]}',
        "[" * 100_000,
        '{"segments": [{"segment_id": "../../../etc/passwd"}], "schema": []}',
    ],
)
def test_a_table_of_contents_of_nonsense_is_damage(filled: Corpus, meta: str) -> None:
    [documents] = filled.directory.glob("documents-*")
    (documents / "meta.json").write_text(meta)
    with pytest.raises(CorpusError) as caught:
        filled.count()
    assert caught.value.kind == "damaged"


def test_a_directory_of_the_last_number_does_not_make_the_index_unmendable(filled: Corpus, make: Make) -> None:
    for _ in range(2):
        (filled.directory / "documents-999999999").mkdir()
        with pytest.raises(CorpusError, match="damaged"):
            filled.count()
        filled.reset()
        assert filled.count() == 0
        with filled.writer("index add docs") as writer:
            writer.put(make("https://example.com/a"))
        assert filled.count() == 1


def test_a_directory_of_a_higher_number_costs_no_good_generation_before_the_owner_asks_for_it(filled: Corpus) -> None:
    [good] = filled.directory.glob("documents-*")
    (filled.directory / "documents-5000").mkdir()
    with pytest.raises(CorpusError, match=r"meta\.json is missing"), filled.writer("index add docs"):
        pass
    assert good.is_dir()
    (filled.directory / "documents-5000").rmdir()
    assert filled.count() == 15


def test_a_rebuild_that_was_not_finished_is_told_and_answers_all_the_same(filled: Corpus, make: Make) -> None:
    filled.check()
    assert filled.unfinished() is None
    filled.reset()
    with filled.writer("index add docs") as writer:
        writer.put(make("https://example.com/a"))
    later = Corpus(filled.directory)
    assert [hit.url for hit in later.search("words", 5)] == ["https://example.com/a"]
    later.verify()
    with pytest.raises(CorpusError, match=r"rebuild was not finished.*webseam index rebuild") as caught:
        later.check()
    assert caught.value.kind == "damaged"
    rebuilt = later.unfinished()
    assert rebuilt is not None
    filled.reset()
    later.finish(rebuilt)
    assert later.unfinished() not in (None, rebuilt), "another rebuild took its place"
    now = later.unfinished()
    assert now is not None
    later.finish(now)
    later.check()
