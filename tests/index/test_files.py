"""What of a folder is indexed, and under which addresses."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from webseam.config import LIMITS
from webseam.index.files import Files, SourceFile, UnreadFile


def urls(root: Path, source: str = "notes") -> list[str]:
    return [file.url for file in Files(root, source) if isinstance(file, SourceFile)]


def unread(root: Path) -> dict[str, str]:
    return {file.url: file.why for file in Files(root, "notes") if isinstance(file, UnreadFile)}


def test_markdown_html_and_text_are_taken_by_name_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a.MARKDOWN", "c.html", "d.htm", "e.txt", "f.rst", "g.text", "h.ps", "i.py", "README", "j.md.bak"):
        (tmp_path / name).write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "z.md").write_text("x")
    names = ["a.MARKDOWN", "b.md", "c.html", "d.htm", "e.txt", "f.rst", "g.text", "sub/z.md"]
    assert urls(tmp_path) == [f"index://notes/{name}" for name in names]
    types = [file.content_type for file in Files(tmp_path, "notes") if isinstance(file, SourceFile)]
    assert types == ["text/markdown"] * 2 + ["text/html"] * 2 + ["text/plain"] * 3 + ["text/markdown"]


def test_what_is_passed_over_is_counted_but_for_hidden_things(tmp_path: Path) -> None:
    for name in ("a.md", "b.ps", "c.py", ".hidden.pdf"):
        (tmp_path / name).write_text("x")
    found = Files(tmp_path, "notes")
    assert len(list(found)) == 1
    assert found.left_out == {"of another type": 2}


def test_names_are_percent_encoded_and_lead_back_to_the_file(tmp_path: Path) -> None:
    name = "50% #1? ä & [b].md"
    if sys.platform == "win32":
        name = name.replace("?", "")
    (tmp_path / name).write_text("x")
    [url] = urls(tmp_path, "my notes/é")
    assert url.startswith("index://my%20notes%2F%C3%A9/50%25%20%231")
    assert url.isascii()
    assert unquote(url.rpartition("/")[2]) == name


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="those file systems hold no such names")
def test_a_name_that_is_no_text_has_an_address_too(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/bad\xff.md", "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(b"x")
    [file_found] = [file for file in Files(tmp_path, "notes") if isinstance(file, SourceFile)]
    assert file_found.url == "index://notes/bad%FF.md"
    assert file_found.read() == b"x"


def test_hidden_things_and_dependencies_are_passed_over(tmp_path: Path) -> None:
    for folder in (".git", "node_modules", "__pycache__", ".hidden"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.md").write_text("x")
    (tmp_path / ".secret.md").write_text("x")
    assert urls(tmp_path) == []
    assert unread(tmp_path) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_out_of_the_folder_and_back_up_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("x")
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a.md").write_text("x")
    (root / "linked-folder").symlink_to(outside, target_is_directory=True)
    (root / "linked.md").symlink_to(outside / "secret.md")
    (root / "sub" / "up").symlink_to(root, target_is_directory=True)
    (root / "dangling.md").symlink_to(root / "nothing.md")
    (root / "circle.md").symlink_to(root / "circle.md")
    (root / "inside.md").symlink_to(root / "sub" / "a.md")
    (root / "rooted").symlink_to("/", target_is_directory=True)
    os.mkfifo(root / "pipe.md")
    assert urls(root) == ["index://notes/inside.md", "index://notes/sub/a.md"]
    through_a_link = tmp_path / "alias"
    through_a_link.symlink_to(root, target_is_directory=True)
    assert urls(through_a_link) == urls(root)


def test_a_file_that_is_too_large_is_named(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(LIMITS.index_file_bytes + 1)
    (tmp_path / "small.txt").write_text("x")
    assert urls(tmp_path) == ["index://notes/small.txt"]
    assert unread(tmp_path) == {"index://notes/large.txt": "it is larger than 10 MB"}


def test_a_single_file_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "b.md").write_text("x")
    assert urls(tmp_path / "a.md") == ["index://notes/a.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits for owner, group and others")
def test_a_folder_that_cannot_be_read_is_named() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not below pytest's own folder, which only its owner can enter
        root = Path(folder)
        root.chmod(0o755)
        (root / "closed").mkdir(mode=0)
        superuser = os.geteuid() == 0
        if superuser:
            os.seteuid(65_534)  # permissions do not bind the superuser: look as somebody else
        try:
            assert list(unread(root)) == ["index://notes/closed/"]
        finally:
            if superuser:
                os.seteuid(0)
            (root / "closed").chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_folders_linked_to_one_another_are_walked_once_each_by_their_own_path(tmp_path: Path) -> None:
    names = [f"d{number}" for number in range(10)]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("x")
        for other in names:
            (tmp_path / name / f"to-{other}").symlink_to(tmp_path / other, target_is_directory=True)
    assert urls(tmp_path) == [f"index://notes/{name}/a.md" for name in names]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_is_followed_where_there_is_no_other_way_and_does_not_take_a_folders_own_path(tmp_path: Path) -> None:
    for name in (".hidden", "real"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("x")
    (tmp_path / "alias").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "shown").symlink_to(tmp_path / ".hidden", target_is_directory=True)
    (tmp_path / "shown-again").symlink_to(tmp_path / ".hidden", target_is_directory=True)
    assert urls(tmp_path) == ["index://notes/real/a.md", "index://notes/shown/a.md"]


def test_the_number_of_files_is_bounded(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("x")
    few, all_of_them = Files(tmp_path, "notes", most=3), Files(tmp_path, "notes", most=5)
    assert [entry.url for entry in few] == [f"index://notes/{number}.md" for number in range(3)]
    assert few.cut
    assert len(list(all_of_them)) == 5
    assert not all_of_them.cut
