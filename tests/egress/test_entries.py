"""The files of the cache: whole or absent, whoever writes, dies or meddles; and never more than the limit."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from webseam.egress.entries import BLOCK, SLOTS, Entries, Head, Usage

ASKED = {"Accept": "text/html"}
MEGABYTE = 1024 * 1024


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def head(body: bytes, name: str, *, at: float = 1_000.0, **more: object) -> Head:
    said = {"key": name, "status": 200, "headers": {"etag": '"a"'}, "selecting": {}, "requested_at": at, "responded_at": at}
    return Head(**{**said, "size": len(body), "digest": hashlib.sha256(body).hexdigest(), **more})  # type: ignore[arg-type]


def keep(entries: Entries, body: bytes, number: int = 0, **more: object) -> bool:
    return entries.keep(ASKED, head(body, key(number), **more), body)  # type: ignore[arg-type]


def body_of(entries: Entries, number: int = 0, asked: dict[str, str] = ASKED) -> bytes | None:
    found = entries.find(key(number), asked)
    return entries.body(found) if found is not None else None


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def test_what_is_kept_is_found_by_whoever_looks(tmp_path: Path) -> None:
    keep(Entries(tmp_path / "a" / "b"), b"body")
    found = Entries(tmp_path / "a" / "b").find(key(0), {"accept": "anything"})
    assert found is not None
    assert (found.body, found.head.headers, found.head.responded_at) == (b"body", {"etag": '"a"'}, 1_000.0)
    assert Entries(tmp_path / "a" / "b").find(key(1), ASKED) is None
    assert Entries(tmp_path / "nowhere").find(key(0), ASKED) is None


def test_a_large_body_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    keep(entries, b"x" * 1_000)
    found = entries.find(key(0), ASKED, body_up_to=999)
    assert found is not None
    assert found.body is None
    assert entries.body(found) == b"x" * 1_000
    keep(entries, b"y" * 1_000)  # replaced meanwhile: the body of another reply is not that of this one
    assert entries.body(found) is None


def test_replies_that_vary_lie_side_by_side_within_the_slots(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    for number in range(SLOTS + 2):
        asked, body = {"Accept": str(number)}, str(number).encode()
        entries.keep(asked, head(body, key(0), at=number, selecting={"accept": str(number)}), body)
        assert entries.find(key(0), {"accept": "other"}) is None
    found = [body_of(entries, 0, {"Accept": str(number)}) for number in range(SLOTS + 2)]
    assert found == [None, None, b"2", b"3", b"4", b"5"]  # the oldest went
    keep(entries, b"for all", at=99.0)
    assert body_of(entries, 0, {"Accept": "3"}) == b"for all"  # the newest of those that match
    entries.forget(key(0), {"Accept": "3"})
    assert body_of(entries, 0, {"Accept": "3"}) is None
    assert body_of(entries, 0, {"Accept": "4"}) is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits for owner, group and others")
def test_files_and_folders_are_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        keep(Entries(tmp_path / "cache" / "local"), b"body")
    finally:
        os.umask(before)
    (file,) = files(tmp_path / "cache" / "local")
    assert [path.stat().st_mode & 0o777 for path in (file.parent.parent, file.parent, file)] == [0o700, 0o700, 0o600]


def test_nothing_says_which_address_it_was(tmp_path: Path) -> None:
    keep(Entries(tmp_path), b"body")
    (file,) = files(tmp_path)
    assert b"example" not in file.read_bytes()
    assert file.name == f"{key(0)}.0"


# ------------------------------------------------------------------------------------------------ damage


def test_an_entry_with_one_byte_changed_anywhere_is_absent(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    keep(entries, b"a body of some bytes")
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert entries.find(key(0), ASKED) is None, at
    file.write_bytes(whole)
    assert body_of(entries) == b"a body of some bytes"


def test_an_entry_that_was_cut_or_grew_is_absent(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    keep(entries, b"a body of some bytes")
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        assert entries.find(key(0), ASKED) is None, size
    file.write_bytes(whole + b"\0")
    assert entries.find(key(0), ASKED) is None
    assert keep(entries, b"anew")
    assert body_of(entries) == b"anew"


def test_an_entry_under_the_name_of_another_is_absent(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    keep(entries, b"of zero")
    (file,) = files(tmp_path)
    file.rename(tmp_path / f"{key(1)}.0")
    assert entries.find(key(1), ASKED) is None


def test_what_is_not_ours_is_neither_read_nor_counted_nor_removed(tmp_path: Path) -> None:
    entries = Entries(tmp_path, limit_bytes=64 * BLOCK)
    (tmp_path / "notes.txt").write_bytes(b"x" * MEGABYTE)
    (tmp_path / f"{key(0)}.0").mkdir()
    (tmp_path / f"{key(1)}.0").write_bytes(b"")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / f"{key(2)}.0")
    if sys.platform != "win32":
        (tmp_path / f"{key(3)}.0").symlink_to(tmp_path / "notes.txt")
    assert [entries.find(key(number), ASKED) for number in range(4)] == [None] * 4
    for number in range(10, 200):
        keep(entries, b"x", number)
    entries.clear()
    assert entries.usage() == Usage(0, 0)
    assert (tmp_path / "notes.txt").stat().st_size == MEGABYTE
    assert (tmp_path / f"{key(0)}.0").is_dir()


def test_a_folder_that_was_removed_is_made_anew(tmp_path: Path) -> None:
    entries = Entries(tmp_path / "cache" / "local")
    keep(entries, b"one")
    for file in files(tmp_path / "cache" / "local"):
        file.unlink()
    (tmp_path / "cache" / "local").rmdir()
    (tmp_path / "cache").rmdir()
    assert entries.find(key(0), ASKED) is None
    assert keep(entries, b"two")
    assert body_of(entries) == b"two"


def test_headers_that_are_no_text_are_not_kept_and_what_was_there_is_gone(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    keep(entries, b"old")
    assert not keep(entries, b"new", headers={"location": "/\udcff"})
    assert entries.find(key(0), ASKED) is None


# ------------------------------------------------------------------------------------------------ room


def test_the_least_recently_used_go_and_the_limit_is_never_passed(tmp_path: Path) -> None:
    now = [1_000.0]
    limit = 100 * BLOCK
    entries = Entries(tmp_path, limit_bytes=limit, clock=lambda: now[0])
    for number in range(300):
        now[0] += 1
        keep(entries, b"x" * (BLOCK // 2), number)
        assert body_of(entries, 0) is not None, number  # used each time, so it never is the oldest
        assert entries.usage().bytes <= limit
    assert body_of(entries, 299) is not None
    assert body_of(entries, 1) is None
    assert entries.usage().entries > 80


def test_a_body_larger_than_an_eighth_of_the_limit_is_not_kept_and_what_it_replaces_is_gone(tmp_path: Path) -> None:
    entries = Entries(tmp_path, limit_bytes=80 * BLOCK)
    keep(entries, b"small")
    assert not keep(entries, b"x" * 10 * BLOCK)
    assert entries.find(key(0), ASKED) is None
    assert entries.usage() == Usage(0, 0)


def test_what_a_dead_process_left_unfinished_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True)
    dead = tmp_path / f".{int(child.stdout)}-{'0' * 16}.new"
    other = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    living = tmp_path / f".{other.pid}-{'0' * 16}.new"
    ours = tmp_path / f".{os.getpid()}-{'0' * 16}.new"  # of a process of our number before us, as in a container
    for path in (dead, living, ours):
        path.write_bytes(b"x" * MEGABYTE)
    try:
        keep(Entries(tmp_path), b"body")
        assert [path.exists() for path in (dead, living, ours)] == [False, True, False]
        later = living.stat().st_mtime + 601
        keep(Entries(tmp_path, clock=lambda: later), b"body")
        assert not living.exists()
    finally:
        other.communicate()


def test_clearing_says_what_it_was(tmp_path: Path) -> None:
    entries = Entries(tmp_path)
    for number in range(3):
        keep(entries, b"x", number)
    assert entries.usage() == Usage(3, 3 * BLOCK)
    assert entries.clear() == Usage(3, 3 * BLOCK)
    assert entries.clear() == entries.usage() == Usage(0, 0)
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------ processes

# Writes without end, small and large, over one another. A body says which key and turn it is of, in every one of its blocks.
WRITER = textwrap.dedent(
    """
    import hashlib, random, sys
    from pathlib import Path
    from webseam.egress.entries import Entries, Head

    folder, seed, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    entries = Entries(folder, limit_bytes=limit)
    print("begun", flush=True)
    for turn in range(1_000_000):
        number = chance.randrange(12)
        key = hashlib.sha256(str(number).encode()).hexdigest()
        body = f"<{number} {seed} {turn}>".encode() * chance.choice((1, 500, 40_000))
        head = Head(key=key, status=200, headers={"x": str(number)}, selecting={}, requested_at=1.0, responded_at=1.0,
                    size=len(body), digest=hashlib.sha256(body).hexdigest())
        try:
            entries.keep({}, head, body)
        except OSError:  # on Windows, for want of patience
            pass
        entries.find(key, {})
        if turn % 5 == 4:
            print(turn, flush=True)
    """
)


def start(folder: Path, seed: int, limit: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(seed), str(limit)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def until(process: subprocess.Popen[str], lines: int) -> None:
    assert process.stdout is not None
    for _ in range(lines):
        assert process.stdout.readline()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def check(entries: Entries, *, all_whole: bool = True) -> int:
    """Every entry that can be read is one that was written, and every file under an entry's name can; how many there are."""
    read = 0
    for number in range(12):
        found = entries.find(key(number), {})
        if found is None:
            continue
        body = found.body if found.body is not None else entries.body(found)
        if body is None:
            assert not all_whole
            continue
        first = body[: body.index(b">") + 1]
        assert first.startswith(f"<{number} ".encode())
        assert body == first * (len(body) // len(first))
        assert found.head.headers == {"x": str(number)}
        read += 1
    if all_whole:
        assert read == len(files(entries.folder))
    return read


def kill_writers(folder: Path, times: int) -> int:
    """Kill a writer so often, at any moment; how often that left something unfinished."""
    chance = random.Random(7)
    torn = 0
    for seed in range(times):
        process = start(folder, seed, 16 * MEGABYTE)
        until(process, chance.randrange(1, 4))
        for _ in range(chance.randrange(30_000)):  # anywhere between two lines
            pass
        kill(process)
        torn += any(path.name.startswith(".") for path in folder.iterdir())
        check(Entries(folder))
    assert check(Entries(folder)) > 0
    keep(Entries(folder), b"next")
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    return torn


def test_a_writer_that_is_killed_leaves_whole_entries_alone(tmp_path: Path) -> None:
    kill_writers(tmp_path, 20)


@pytest.mark.prove
def test_two_hundred_writers_that_are_killed_leave_whole_entries_alone(tmp_path: Path) -> None:
    assert kill_writers(tmp_path, 200) > 0  # some died in the middle of a file, or nothing was shown


def test_processes_that_write_at_once_leave_whole_entries_within_the_limit(tmp_path: Path) -> None:
    limit = 8 * MEGABYTE
    writers = [start(tmp_path, seed, limit) for seed in (1, 2)]
    entries = Entries(tmp_path, limit_bytes=limit)
    try:
        for _ in range(20):
            for writer in writers:
                until(writer, 1)
            check(entries, all_whole=False)
            assert entries.usage().bytes <= limit + 2 * (limit // 16 + limit // 8)
    finally:
        for writer in writers:
            kill(writer)
    assert check(entries) > 0
