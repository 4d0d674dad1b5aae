"""Documents built to hang, crash or drown whoever reads them: text, or a sentence, within the deadline of the worker."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from webseam.config import LIMITS
from webseam.documents.in_worker import read_in_worker
from webseam.documents.read import read
from webseam.errors import DocumentError, WebseamError, WorkerError
from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from pathlib import Path

    from webseam.documents.document import Document

MEGABYTE = 1_000_000


def filled(unit: bytes, size: int = MEGABYTE // 4) -> bytes:
    return unit * (size // len(unit))


HOSTILE: dict[str, bytes] = {
    "a hundred thousand nested divs": b"<div>" * 100_000 + b"deep words",
    "nested inline elements": filled(b"<b><i><font>", 300_000) + b"deep words",
    "misnested formatting": b"<a><b>" * 20_000 + b"</a></b>" * 20_000 + b"<p>deep words",
    "formatting that is rebuilt in every paragraph": b"<p><b><i><u><s><em><strong>x" * 2_000,
    "nested tables": b"<table><tr><td>" * 20_000 + b"deep words",
    "text put before its table": b"<table>" + filled(b"<b>x"),
    "a billion columns and rows": b"<table>" + filled(b"<tr><td colspan=1000000000 rowspan=1000000000>x"),
    "a row of cells": b"<table><tr>" + filled(b"<td>x"),
    "nested lists": b"<ul><li>" * 50_000 + b"deep words",
    "nested quotes": b"<blockquote>" * 1_000 + filled(b"x<br>", 200_000),
    "a million attributes": b"<div " + b" ".join(b"a%d=1" % number for number in range(900_000)) + b">words",
    "one large attribute": b'<div class="' + filled(b"a ", 5 * MEGABYTE) + b'">words',
    "styles": filled(b'<p style="' + b"height:0;" * 100 + b'">x'),
    "ten megabytes on one line": b"<p>" + filled(b"word ", 10 * MEGABYTE),
    "entities": filled(b"&amp;"),
    "broken entities": filled(b"&notit;"),
    "less-than signs": filled(b"<"),
    "stars": filled(b"*a"),
    "brackets": filled(b"]("),
    "ticks": b"<code>" + filled(b"` "),
    "zero-width spaces": filled("\u200b".encode()) + b"<p>words",
    "tag characters": b"<p>words" + filled("\U000e0041".encode()),
    "shadow roots": filled(b"<div><template shadowrootmode=open>x", 300_000),
    "headings that lead elsewhere": filled(b"<div><h3>Related</h3></div>", 300_000) + b"words.",
    "hidden elements": filled(b"<p hidden>x", 300_000) + b"<p>words",
    "hidden in hidden where a script may show it": b"<script></script>" + filled(b"<p hidden><b hidden>x</b></p>", 800_000),
    "what may stand behind a dialog": filled(b"<span aria-hidden=true>" * 100 + b"x " * 501 + b"</span>" * 100, 3 * MEGABYTE)
    + b"<p>words",
    "an author in an author": b"<h1>T</h1><p>x" + b"<span class=author>" * 45 + b"a1 " * 600_000 + b"words",
    "comments": filled(b"<!--", 300_000) + b"--><p>words",
    "meta": filled(b"<meta charset="),
    "data after a long blank": b"<script type=application/ld+json>{" + filled(b" ") + b"x</script><p>words",
    "data before a long blank": b"<script type=application/ld+json>{};" + filled(b"\n") + b"x</script><p>words",
    "long attributes that are written again in every paragraph": b"<p>words<a href='"
    + filled(b"x", 40_000)
    + b"'>"
    + b"<p>x" * 10_000
    + b"words",
    "random bytes beyond ASCII": bytes(random.Random(7).choices(range(0xA0, 0x100), k=300_000)),
}


def read_one(runner: asyncio.Runner, pool: WorkerPool, data: bytes, content_type: str = "text/html") -> Document:
    return runner.run(read_in_worker(pool, data, url="https://example.com/", content_type=content_type))


def outcome(
    runner: asyncio.Runner, pool: WorkerPool, data: bytes, content_type: str = "text/html"
) -> Document | DocumentError | WorkerError:
    """What came of a document, with what holds for every one of them checked."""
    try:
        document = read_one(runner, pool, data, content_type)
    except (DocumentError, WorkerError) as error:
        found = error
    else:
        assert len(document.content) <= LIMITS.page_chars
        return document
    assert len(found.message.splitlines()[0]) < 300
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_gives_text_or_a_sentence(runner: asyncio.Runner, pool: WorkerPool, name: str) -> None:
    data = HOSTILE[name]
    found = outcome(runner, pool, data)
    if data.endswith(b"words"):
        assert not isinstance(found, WebseamError)
        assert "words" in found.content
    else:
        assert not isinstance(found, WorkerError)
    assert read_one(runner, pool, b"<p>The next page.").content == "The next page."


@pytest.mark.parametrize(
    ("content_type", "data"),
    [
        ("application/json", b"[" * 500_000 + b"]" * 500_000),
        ("application/json", filled(b'{"a":')),
        (
            "application/json",
            b'["' + b"]" * 3_000 + b'",' + b"[" * 900 + b'"' + b"x" * 120 + b'",' + b"{}," * 320_000 + b"1" + b"]" * 901,
        ),
        ("text/markdown", filled(b"<!-- ")),
        ("text/markdown", filled(b"<!-- -->") + b"words"),
        ("text/markdown", filled(b"```\n")),
        ("text/markdown", filled(b"](")),
        ("text/csv", filled(b'"')),
        ("application/xml", b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>' + filled(b"<a>")),
        ("text/plain", filled(b"\x1b[31m")),
    ],
)
def test_hostile_text_gives_text_or_a_sentence(
    runner: asyncio.Runner, pool: WorkerPool, content_type: str, data: bytes
) -> None:
    found = outcome(runner, pool, data, content_type)
    assert not isinstance(found, WorkerError)
    assert read_one(runner, pool, b"<p>The next page.").content == "The next page."


def test_a_page_that_takes_too_long_is_a_sentence_and_the_next_is_read(runner: asyncio.Runner, pool: WorkerPool) -> None:
    slow = filled(b"<a href=/x>y</a> ", 3 * MEGABYTE)
    with pytest.raises(WorkerError, match=r"could not be read within 0 s|No worker process") as raised:
        runner.run(read_in_worker(pool, slow, url="https://example.com/", content_type="text/html", seconds=0.2))
    assert raised.value.kind == "timeout"
    assert read_one(runner, pool, b"<p>The next page.").content == "The next page."


def test_depth_is_no_recursion() -> None:
    for tag in ("div", "span", "blockquote", "ul><li", "dl><dd", "b", "a href=/x", "table><tr><td", "pre", "x-y", "q", "sup"):
        content = read(f"<{tag}>".encode() * 5_000 + b"words", url="https://example.com/", content_type="text/html").content
        assert "words" in content


def mutated(data: bytes, dice: random.Random) -> bytes:
    page = bytearray(data)
    for _ in range(dice.randint(1, 40)):
        at = dice.randrange(len(page) + 1)
        length = dice.choice((1, 2, 5, 50, 500))
        match dice.randrange(5):
            case 0:
                del page[at : at + length]
            case 1:
                page[at:at] = dice.randbytes(length)
            case 2:
                page[at:at] = page[dice.randrange(len(page) + 1) :][: length * 20]
            case 3:
                page[at:at] = dice.choice(
                    (b"<table>", b"</div>", b"<!--", b"<svg>", b"<pre>", b'"', b"<p hidden>", b"\x00", b"<li>")
                )
            case _:
                page[at : at + length] = b"<" * length
    return bytes(page)


def real_pages(shared: Path, count: int) -> list[bytes]:
    import tarfile

    found: list[bytes] = []
    with tarfile.open(shared / "pages" / "wcxb-dev.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".html") and member.size < 300_000:
                file = archive.extractfile(member)
                assert file is not None
                found.append(file.read())
                if len(found) >= count:
                    break
    return found


@pytest.mark.prove
def test_mutated_pages_are_text_or_a_sentence(runner: asyncio.Runner, pool: WorkerPool, shared: Path) -> None:
    dice = random.Random(20261130)
    pages = real_pages(shared, 25)
    for number in range(500):
        data = mutated(dice.choice(pages), dice)
        found = outcome(runner, pool, data, dice.choice(("text/html", "", "text/html; charset=shift_jis")))
        assert not isinstance(found, WorkerError), f"mutation {number}: {found}"
