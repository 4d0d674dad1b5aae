"""Bad documents through the whole of `web_fetch`: the best text there is, or one sentence, and the next page is read."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests.documents.packages import archive, book, pdf, slides, word, workbook
from tests.documents.test_hostile_packages import BLOWUP, BOX, LAUGHS, PARAGRAPH, SHARED, zip_of_zeros
from tests.serving import Served, Server, Site

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = Path(__file__).parent / "documents" / "files"
MEGABYTE = 1_000_000
RUSSIAN = "<title>Приливы</title><p>Луна притягивает море, и море идёт за ней дважды в день."
PDF = "application/pdf"
PAGE_OF_MANY = pdf(1).replace(b"/Count 1", b"/Count 100000").replace(b"/Kids[5 0 R]", b"/Kids[" + b"5 0 R " * 100_000 + b"]")


class Bad(NamedTuple):
    """A document, and what its answer has in its text; or, when it `fails`, in its first line. `notes` stand in the head."""

    served: Served
    words: str
    fails: bool = False
    notes: str = ""


def refused(
    piece: bytes, words: str, content_type: str = "text/html", times: int = 1, sized: bool = True, coding: str = ""
) -> Bad:
    return Bad(Served(piece, content_type, times, sized, coding), words, fails=True)


def read(piece: bytes, words: str = "words", content_type: str = "text/html", notes: str = "") -> Bad:
    return Bad(Served(piece, content_type), words, notes=notes)


def bomb(package: bytes, name: str) -> bytes:
    """A zip archive with entities that grow without end declared in one of its parts."""
    with zipfile.ZipFile(io.BytesIO(package)) as reader:
        parts = {part: reader.read(part) for part in reader.namelist()}
    return archive(parts | {name: LAUGHS.encode() + parts[name]})


TOO_LARGE = "is larger than 10,485,760 bytes, the most that is read"
BAD: dict[str, Bad] = {
    "wrong charset: UTF-8 is said, windows-1251 sent": read(
        RUSSIAN.encode("cp1251"), "Луна притягивает море", "text/html; charset=utf-8", "guessed as windows-1251"
    ),
    "wrong charset: windows-1252 is said, UTF-8 sent": read(
        RUSSIAN.encode(), "Луна притягивает море", "text/html; charset=windows-1252", "it is UTF-8"
    ),
    "wrong charset: UTF-16 is said, ASCII sent": read(
        b"<p>The moon pulls", "The moon pulls", "text/html; charset=utf-16", "it is UTF-8"
    ),
    "wrong charset: one that does not exist": read(RUSSIAN.encode(), "Луна притягивает море", "text/html; charset=nonsense"),
    "wrong charset: two that differ": read(
        b"<meta charset=big5>" + RUSSIAN.encode("koi8-r"), "Луна притягивает море", "text/html; charset=koi8-r"
    ),
    "no charset: windows-1251": read(RUSSIAN.encode("cp1251"), "Луна притягивает море", notes="no encoding was declared"),
    "no charset: UTF-16": read("<title>Tides</title><p>Some words".encode("utf-16-le"), notes="utf-16-le was recognised"),
    "no charset, no type": read(RUSSIAN.encode(), "Луна притягивает море", ""),
    "broken HTML": read(b"</p></html><b><table><p>words</b><tr><a href='<td>x</table></i>y<div <p>z</ul"),
    "broken HTML: a comment without an end": read(b"<p>words<!-- <p>more"),
    "broken HTML: a tag without an end": read(b"<p>words<a href='x"),
    "a hundred thousand nested elements": read(b"<div>" * 100_000 + b"words"),
    "a hundred thousand nested tables": refused(b"<table><tr><td>" * 100_000 + b"words", "longer than is read"),
    "a billion columns": read(b"<table><tr><th colspan=1000000000>words<tr><td rowspan=1000000000>x<td>y</table>"),
    "fifty megabytes on one line": refused(b"x" * MEGABYTE, TOO_LARGE, times=50),
    "fifty megabytes on one line, without a length": refused(b"x" * MEGABYTE, TOO_LARGE, times=50, sized=False),
    "fifty megabytes on one line, compressed": refused(gzip.compress(b"x" * (50 * MEGABYTE)), TOO_LARGE, coding="gzip"),
    "ten megabytes on one line": read(b"<p>" + b"words " * 1_700_000, notes="longer than is read"),
    "ten megabytes on one line of plain text": read(
        b"words " * 1_700_000, content_type="text/plain", notes="longer than is read"
    ),
    "a million attributes": read(b"<p " + b" ".join(b"a%d=1" % number for number in range(1_000_000)) + b">words"),
    "an attribute of nine megabytes": read(b"<p title='" + b"x" * (9 * MEGABYTE) + b"'>words"),
    "empty: not a byte": refused(b"", "answered with nothing at all"),
    "empty: blanks": refused(b" \r\n\t", "The document is empty"),
    "empty: no text": refused(b"<!doctype html><html><head></head><body></body></html>", "shows no text"),
    "empty: a script": refused(b"<title>App</title><div id=app></div><script>run()</script>", "“App” shows no text"),
    "frames": read(b"<title>F</title><frameset><frame src=/words.html><frame src=b></frameset>", notes="consists of frames"),
    "frames within frames": read(b"<frameset>" * 100 + b"<frame src=/words.html>", notes="consists of frames"),
    "a PDF with a password": refused((FILES / "locked.pdf").read_bytes(), "is encrypted and asks for a password", PDF),
    "a PDF without its end": read((FILES / "report.pdf").read_bytes()[:-600], "First Things", PDF, "damaged or cut off"),
    "half a PDF": refused((FILES / "report.pdf").read_bytes()[:1_800], "is damaged or cut off", PDF),
    "a hundred thousand pages": read(PAGE_OF_MANY, "words", PDF, "Of 100,000 pages the first"),
    "a zip bomb in a Word document": refused(zip_of_zeros("word/document.xml", 200 * MEGABYTE), "as a zip bomb does"),
    "a zip bomb in a workbook": refused(zip_of_zeros("xl/sharedStrings.xml", 200 * MEGABYTE, **SHARED), "as a zip bomb does"),
    "a zip bomb in a zip archive": refused(archive({"a.zip": zip_of_zeros("b", 200 * MEGABYTE)}), "a zip archive"),
    "an XML bomb in a Word document": read(word(PARAGRAPH.format("words &l11;"), prolog=LAUGHS)),
    "an XML bomb of one long entity": read(word(PARAGRAPH.format("words") + f"<w:p a='{'&a;' * 10_000}'/>", prolog=BLOWUP)),
    "an XML bomb in a workbook": read(
        bomb(
            workbook("<sheetData><row><c t='s'><v>0</v></c></row></sheetData>", "<si><t>words</t></si><si><t>&l11;</t></si>"),
            "xl/sharedStrings.xml",
        )
    ),
    "an XML bomb in slides": read(bomb(slides(BOX.replace("words", "words &l11;")), "ppt/slides/slide0.xml")),
    "an XML bomb in a book": read(bomb(book({"a.xhtml": "<p>words &l11;</p>"}), "OPS/a.xhtml")),
    "an XML bomb in a book's list of chapters": read(bomb(book({"a.xhtml": "<p>words"}), "OPS/book.opf")),
    "an XML bomb": read(f"{LAUGHS}<x>words &l11;</x>".encode(), content_type="application/xml"),
}  # fmt: skip


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="module")
def server(runner: asyncio.Runner, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("data"), site)
    yield server
    runner.run(server.close())


@pytest.mark.parametrize("name", BAD)
def test_a_bad_document_is_text_or_a_sentence_and_the_next_page_is_read(
    runner: asyncio.Runner, server: Server, site: Site, name: str
) -> None:
    bad = BAD[name]
    path = f"/bad-{list(BAD).index(name)}"
    site.served[path] = bad.served
    answer = runner.run(server.fetch(path))
    assert answer.is_error == bad.fails, answer.text[:1_000]
    if bad.fails:
        assert bad.words in answer.first_line
        assert len(answer.first_line) < 300
    else:
        head = json.loads(answer.first_line)
        assert bad.words in answer.text[len(answer.first_line) :]
        assert bad.notes in " ".join(head.get("notes", ()))
    assert runner.run(server.answers_a_normal_page())
