"""PDF, Office files and feeds built to hang, crash or drown whoever reads them: text or one sentence, within the deadline."""

from __future__ import annotations

import asyncio
import io
import random
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from tests.documents.packages import archive, book, pdf, relations, slides, word, workbook

from webseam.config import LIMITS
from webseam.documents.document import Document
from webseam.documents.extract import Budget
from webseam.documents.in_worker import read_in_worker
from webseam.documents.office.epub import read_epub
from webseam.documents.read import read
from webseam.errors import DocumentError, WorkerError
from webseam.workers.pool import WorkerPool

FILES = Path(__file__).parent / "files"
MEGABYTE = 1_000_000
URL = "https://example.com/it"
LAUGHS = "<!DOCTYPE x [" + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol" * 100}">' for n in range(12)) + "]>"
BLOWUP = f'<!DOCTYPE x [<!ENTITY a "{"a" * 100_000}">]>'
BOX = "<sp><txBody><p><r><t>words</t></r></p></txBody></sp>"
PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"


def outcome(runner: asyncio.Runner, pool: WorkerPool, data: bytes, content_type: str = "") -> Document | DocumentError:
    """What came of a document in a worker process: never a `WorkerError`, which would be a crash, a hang or a flood."""
    assert len(data) <= LIMITS.body_bytes
    try:
        document = runner.run(read_in_worker(pool, data, url=URL, content_type=content_type))
    except DocumentError as error:
        refused = error
    else:
        assert len(document.content) <= LIMITS.page_chars
        return document
    assert len(refused.message.splitlines()[0]) < 300
    return refused


def zip_of_zeros(name: str, size: int, **parts: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as writer:
        for other, text in parts.items():
            writer.writestr(other, text)
        with writer.open(name, "w") as part:
            for _ in range(size // MEGABYTE):
                part.write(b"\0" * MEGABYTE)
    return file.getvalue()


def many_entries(count: int) -> bytes:
    """A zip file whose directory has `count` entries, and a name that makes it a Word document."""
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, 0, 0, 0, 17, 0) + b"word/document.xml"
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    directory = entry * count
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), len(local), 0)
    return local + directory + end


SHARED = {
    "xl/workbook.xml": "<workbook/>",
    "xl/_rels/workbook.xml.rels": relations(a=("sharedStrings", "sharedStrings.xml")),
}
SENTENCES: dict[str, tuple[bytes, str, str]] = {
    "an encrypted PDF": ((FILES / "locked.pdf").read_bytes(), "unreadable", "asks for a password"),
    "a zip bomb": (zip_of_zeros("word/document.xml", 300 * MEGABYTE), "too_large", "400 times its size, as a zip bomb does"),
    "a zip bomb beside the text": (
        zip_of_zeros("xl/sharedStrings.xml", 200 * MEGABYTE, **SHARED),
        "too_large",
        "zip bomb",
    ),
    "a hundred thousand entries": (many_entries(140_000), "too_large", "holds more than 20,000 files"),
    "an archive of archives": (archive({"a.zip": archive({"b.zip": b"x" * 1000})}), "unsupported_type", "a zip archive"),
    "nothing of a Word document but its name": (archive({"word/document": ""}), "unreadable", "is damaged or cut off"),
    "an OLE file": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512), "unsupported_type", "or one with a password"),
    "a book with no list of chapters": (
        archive({"mimetype": "application/epub+zip"}, stored=("mimetype",)),
        "unreadable", "the list of its chapters is missing",
    ),
    "a workbook of the binary kind": (
        archive({"xl/workbook.bin": "x", "_rels/.rels": relations(a=("officeDocument", "xl/workbook.bin"))}),
        "unreadable", "is of the binary kind or damaged",
    ),
    "entities in entities, and no more": (word(PARAGRAPH.format("&l11;"), prolog=LAUGHS), "empty", "holds no text"),
}  # fmt: skip


@pytest.mark.parametrize("name", SENTENCES)
def test_a_hostile_package_is_one_sentence(runner: asyncio.Runner, pool: WorkerPool, name: str) -> None:
    data, kind, words = SENTENCES[name]
    found = outcome(runner, pool, data)
    assert isinstance(found, DocumentError)
    assert found.kind == kind
    assert words in found.message.splitlines()[0]


def loop_of_rows(count: int) -> str:
    return "<sheetData>" + "<row><c><v>1</v></c></row>" * count + "</sheetData>"


TEXTS: dict[str, bytes] = {
    "entities in entities": word(PARAGRAPH.format("words &l11;"), prolog=LAUGHS),
    "a long entity, often": word(PARAGRAPH.format("words") + f"<w:p a='{'&a;' * 10_000}'/>", prolog=BLOWUP),
    "an entity that leads to a file": word(
        PARAGRAPH.format("words &f;"), prolog='<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    ),
    "an entity that leads to the network": word(
        PARAGRAPH.format("words"), prolog='<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % f SYSTEM "http://127.0.0.1:9/">%f;]>'
    ),
    "names that lead elsewhere": word(
        PARAGRAPH.format("words"), {"../../../../etc/cron.d/x": "x", "/abs": "x", "C:\\x": "x", "word/../../y": "x"}
    ),
    "a relationship that leads out of the archive": word(
        PARAGRAPH.format("words"), {"word/_rels/document.xml.rels": relations(s=("styles", "../../../../../../etc/passwd"))}
    ),
    "deep tables": word("<w:tbl><w:tr><w:tc>" * 60 + "</w:tc></w:tr></w:tbl>" * 60 + PARAGRAPH.format("words")),
    "elements within elements": word(PARAGRAPH.format("words") + "<w:sdt><w:sdtContent>" * 100_000),
    "many runs": word(
        PARAGRAPH.format("words") + "<w:p>" + "<w:r><w:t>x</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>y</w:t></w:r>" * 30_000
    ),
    "styles that are based on one another": word(
        "<w:p><w:pPr><w:pStyle w:val='a'/></w:pPr><w:r><w:t>words</w:t></w:r></w:p>",
        {
            "word/_rels/document.xml.rels": relations(s=("styles", "styles.xml")),
            "word/styles.xml": "<w:styles xmlns:w='x'><w:style w:styleId='a'><w:basedOn w:val='b'/></w:style>"
            "<w:style w:styleId='b'><w:basedOn w:val='a'/></w:style></w:styles>",
        },
    ),
    "notes that refer to themselves": word(
        "<w:p><w:r><w:t>words</w:t><w:footnoteReference w:id='1'/></w:r></w:p>",
        {
            "word/_rels/document.xml.rels": relations(s=("footnotes", "footnotes.xml")),
            "word/footnotes.xml": "<w:footnotes xmlns:w='x'><w:footnote w:id='1'><w:p><w:r><w:t>note</w:t>"
            "<w:footnoteReference w:id='1'/></w:r></w:p></w:footnote></w:footnotes>",
        },
    ),
    "a wide table": word(
        PARAGRAPH.format("words")
        + "<w:tbl><w:tr>" + "<w:tc><w:tcPr><w:gridSpan w:val='999999999'/></w:tcPr></w:tc>" * 20_000 + "</w:tr></w:tbl>"
    ),
    "a string that is shared by a million cells": workbook(
        "<sheetData>" + ("<row>" + "<c t='s'><v>0</v></c>" * 100 + "</row>") * 5_000 + "</sheetData>",
        f"<si><t>words {'x' * 100_000}</t></si>",
    ),
    "a million rows": workbook("<sheetData><row><c t='str'><v>words</v></c></row></sheetData>", "", Two=loop_of_rows(400_000)),
    "cells that are far away": workbook(
        "<sheetData><row><c t='str'><v>words</v></c></row>"
        + "".join(f'<row r="{n}00"><c r="XFD{n}00"><v>1</v></c></row>' for n in range(1, 9_000))
    ),
    "references that are none": workbook(
        "<sheetData><row r='99999999999'><c r='ZZZZZZZ99' t='s'><v>-5</v></c><c s='77777777777' t='str'><v>words</v></c></row>"
    ),
    "a number beyond all measure": workbook("<sheetData><row><c><v>1e999</v></c><c t='str'><v>words</v></c></row>"),
    "one slide ten thousand times": slides(BOX, shown=(0,) * 10_000),
    "groups within groups": slides("<grpSp>" * 120 + "</grpSp>" * 120 + BOX),
    "a book that goes in circles": book({"a.xhtml": "<p>words <a href='a.xhtml'>a</a>"}, spine=("a.xhtml", "nav") * 5_000),
    "a book of a hundred thousand chapters": book({"a.xhtml": "<p>words"}, spine=(*map(str, range(100_000)), "a.xhtml")),
    "a chapter out of the archive": book({"a.xhtml": "<p>words", "../../../../../etc/passwd": "<p>x"}),
    "nested elements in a chapter": book({"a.xhtml": "<div>" * 100_000 + "words"}),
    "a PDF with a hundred thousand pages": pdf(60_000),
    "a PDF that says it has a billion pages": pdf(3).replace(b"/Count 3", b"/Count 999999999"),
    "a PDF whose pages lead to themselves": pdf(3).replace(b"/Kids[5 0 R 6 0 R 7 0 R]", b"/Kids[2 0 R 5 0 R 6 0 R]"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_package_gives_the_text_that_is_there(runner: asyncio.Runner, pool: WorkerPool, name: str) -> None:
    found = outcome(runner, pool, TEXTS[name])
    assert isinstance(found, Document), found
    assert "words" in found.content
    assert "root:" not in found.content


def test_a_pdf_with_a_hundred_thousand_pages_says_how_many_were_read() -> None:
    found = read(pdf(60_000), url=URL)
    assert found.truncated
    assert found.notes[0].startswith("Of 60,000 pages the first ")


def test_a_document_that_is_long_stops_before_its_time_is_over() -> None:
    found = read(pdf(60_000), url=URL, seconds=0.5)
    assert found.truncated
    assert 0 < found.content.count("[Page ") < LIMITS.pdf_pages


def test_a_package_that_is_cut_off_gives_what_comes_before() -> None:
    dice = random.Random(5)
    words = " ".join(f"word{dice.randrange(10**6)}" for _ in range(30_000))
    whole = archive(
        {"[Content_Types].xml": "<Types/>", "word/document.xml": f"<document><body>{PARAGRAPH.replace('w:', '').format(words)}"}
    )
    found = read(whole[: len(whole) // 2], url=URL)
    assert found.truncated
    assert found.content.startswith(words[:1000])
    assert found.notes == ("The file is damaged or cut off: this is what could be read of it.",)


def test_a_part_that_is_damaged_gives_what_comes_before() -> None:
    data = bytearray(word("".join(PARAGRAPH.format(f"words {n} {zlib.crc32(b'%d' % n)}") for n in range(5_000))))
    data[len(data) // 2] ^= 0xFF
    found = outcome_here(bytes(data))
    assert isinstance(found, Document)
    assert "words 10 " in found.content


def test_an_encrypted_archive_is_said() -> None:
    data = bytearray(word(PARAGRAPH.format("words")))
    at = data.index(b"PK\x01\x02")
    while at >= 0:
        data[at + 8] |= 1
        at = data.find(b"PK\x01\x02", at + 4)
    found = outcome_here(bytes(data))
    assert isinstance(found, DocumentError)
    assert "protected by a password" in found.message


def outcome_here(data: bytes) -> Document | DocumentError:
    try:
        return read(data, url=URL)
    except DocumentError as error:
        return error


@pytest.mark.parametrize("name", ["report.pdf", "report.docx", "sales.xlsx", "deck.pptx", "letter.odt"])
def test_truncated_and_mutated_files_are_text_or_a_sentence(runner: asyncio.Runner, pool: WorkerPool, name: str) -> None:
    whole = (FILES / name).read_bytes()
    dice = random.Random(20261130)
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 20)):
            at = dice.randrange(len(data))
            length = dice.choice((1, 2, 30, 500))
            if dice.random() < 0.5:
                data[at : at + length] = dice.randbytes(length)
            else:
                del data[at : at + length]
        outcome(runner, pool, bytes(data[: dice.choice((len(data), len(data) // 2, len(data) * 9 // 10))]))


@pytest.mark.parametrize(
    "data",
    [
        word(PARAGRAPH.format("words") + "<w:p/>" * 3_000_000),
        workbook("<sheetData><row><c t='str'><v>words</v></c>" + "<c><v>1</v></c>" * 900_000),
    ],
    ids=["empty paragraphs", "one long row"],
)
def test_the_memory_that_a_package_takes_is_bounded(runner: asyncio.Runner, pool: WorkerPool, data: bytes) -> None:
    found = outcome(runner, pool, data)
    assert isinstance(found, Document), found
    assert "words" in found.content
    assert found.truncated


@pytest.mark.parametrize("spent", ["time", "chars", "parts"])
def test_a_long_book_stops_and_gives_what_was_read(spent: str) -> None:
    budget = Budget(0.0 if spent == "time" else 60.0)
    budget.chars = 10 if spent == "chars" else budget.chars
    budget.parts = 10 if spent == "parts" else budget.parts
    found = read_epub(book({f"{number}.xhtml": "<p>some words" + "<b></b>" * 10 for number in range(8)}), URL, budget)
    assert found.cut
    assert found.notes == ["Of 8 parts of the book the first 1 were read."]


def test_workers_die_alone(runner: asyncio.Runner, pool: WorkerPool) -> None:
    with pytest.raises(WorkerError):
        runner.run(read_in_worker(pool, pdf(60_000), url=URL, seconds=0.01))
    assert "words" in runner.run(read_in_worker(pool, pdf(1), url=URL)).content
