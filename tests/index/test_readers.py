"""Running readers see every commit, whoever made it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING

from webseam.index.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from webseam.index.corpus import StoredDocument

    Make = Callable[..., StoredDocument]

READER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from webseam.errors import CorpusError
    from webseam.index.corpus import Corpus

    corpus = Corpus(Path(sys.argv[1]))
    for line in sys.stdin:
        try:
            print(corpus.count(), len(corpus.search("words", 10)), flush=True)
        except CorpusError as error:
            print(error.kind, flush=True)
    """
)


class Reader:
    """Another process that asks the index when told to."""

    def __init__(self, directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", READER, str(directory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        self.process.communicate("", timeout=20)


def test_a_reader_in_another_process_sees_each_commit_at_its_next_search(corpus: Corpus, make: Make) -> None:
    readers = [Reader(corpus.directory) for _ in range(2)]
    try:
        assert [reader.ask() for reader in readers] == ["missing"] * 2
        with corpus.writer("test") as writer:
            for number in range(1, 14):
                writer.put(make(f"https://example.com/{number}", "words"))
                assert corpus.search("words", 30) == [] or corpus.count() == number - 1
                writer.commit()
                assert [reader.ask() for reader in readers] == [f"{number} {min(number, 10)}"] * 2
                assert corpus.count() == number
        corpus.reset()
        assert [reader.ask() for reader in readers] == ["0 0"] * 2
        with corpus.writer("test") as writer:
            writer.put(make("https://example.com/again", "words"))
        assert [reader.ask() for reader in readers] == ["1 1"] * 2
    finally:
        for reader in readers:
            reader.end()


def test_threads_that_search_while_one_writes_see_whole_commits(corpus: Corpus, make: Make) -> None:
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/0", "words"))
    faults: list[BaseException] = []
    finished = threading.Event()

    def search() -> None:
        last = 0
        try:
            while not finished.is_set():
                found = len(corpus.search("words", 1000))
                assert found >= last, "never a step back"
                assert found % 10 in (0, 1), "a commit is seen whole"
                last = found
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    with corpus.writer("test") as writer:
        for commit in range(16):
            for number in range(10):
                writer.put(make(f"https://example.com/{commit}/{number}", "words"))
            writer.commit()
    finished.set()
    for thread in threads:
        thread.join(30)
    assert not faults
    assert corpus.count() == 161


def test_a_reader_opened_before_a_reset_goes_on_with_what_is_there(filled: Corpus, make: Make) -> None:
    reader = Corpus(filled.directory)
    assert reader.count() == 15
    filled.reset()
    filled.reset()
    assert reader.count() == 0
    assert [path.name for path in filled.directory.glob("documents*")] == ["documents-3"]
