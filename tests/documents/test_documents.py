"""PDF, Office, OpenDocument and EPUB: files of other programs (`files/`), and small ones made here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.documents.packages import archive, book, pdf, relations, set_pdf, slides, word, workbook

from webseam.documents.document import Document
from webseam.documents.read import read
from webseam.errors import DocumentError

FILES = Path(__file__).parent / "files"
OFFICE = "application/vnd.openxmlformats-officedocument."


def document(data: bytes, content_type: str = "") -> Document:
    return read(data, url="https://example.com/files/it", content_type=content_type)


def file(name: str) -> Document:
    return document((FILES / name).read_bytes())


# ------------------------------------------------------------------------------------------- PDF


def test_a_pdf_is_read_in_reading_order_with_page_marks_and_its_outline_as_headings() -> None:
    found = file("report.pdf")
    assert (found.title, found.content_type) == ("The Yearly Report", "application/pdf")
    assert (found.author, found.date) == ("Ann Author", "2000-01-01")
    pages = found.content.split("[Page ")
    assert pages[1] == (
        "1]\n\n# 1. First Things\n\n"
        "The first paragraph goes on over several lines of text, so that it has to be put together again, and its last word "
        "but one is hyphenated at the end of a line.\n\n"
        "A second paragraph stands below, after a gap, and it is also of two lines.\n\n"
        "- one item of a list\n- another item of the list that is long enough to need two lines\n\n"
        "| Year | Revenue | Profit |\n|---|---|---|\n| 2023 | 1,000 | 10 |\n| 2024 | 2,000 | 20 |\n\n"
    )


def test_columns_are_read_one_after_the_other_although_they_are_written_row_by_row() -> None:
    page = file("report.pdf").content.split("[Page ")[2]
    assert page.startswith("2]\n\n## Two columns\n\nA wide title above the two columns of this page\n\n")
    places = [page.index(f"{side} column, line {line} ") for side in ("left", "right") for line in range(12)]
    assert places == sorted(places)


def test_text_that_nobody_sees_in_a_pdf_is_dropped_and_counted() -> None:
    found = file("report.pdf")
    page = found.content.split("[Page ")[3]
    assert page == "3]\n\nWhat everybody sees.\n\nwhite words on black"
    assert found.hidden == len("white words on white") + len("tiny words") + len("words beside the page")


def test_a_page_that_is_turned_reads_as_it_is_shown() -> None:
    assert file("turned.pdf").content == "The first line on a page that is turned and the second line of it."


def test_one_page_has_no_mark_and_words_of_a_pdf_are_no_markdown() -> None:
    assert document(pdf(1, "# a *star* [Page 7] <b>")).content == "\\# a \\*star\\* [Page 7] \\<b>"


def test_a_page_whose_size_stands_with_its_parent_is_read_to_its_edges() -> None:
    found = document(set_pdf([(50, 825, 11, "Above the edge of a page of Letter size.")]))
    assert (found.content, found.hidden) == ("Above the edge of a page of Letter size.", 0)


TEXT = [(50, 600, 11, "Words of the page, which go on for a while."), (50, 400, 11, "And more of them, farther down.")]


def in_pages(count: int, *lines: tuple[int, int, int, str]) -> Document:
    """A PDF of `count` pages with the same lines on each, but that N is a number that counts up and M one that does not."""
    pages = [
        [(x, y, size, words.replace("N", str(page + 1)).replace("M", str(37 * page + 5))) for x, y, size, words in lines]
        for page in range(count)
    ]
    return document(set_pdf(*([*page, *TEXT] for page in pages)))


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ([(50, 30, 9, "Page N of 6")], []),
        ([(290, 30, 11, "- N -")], []),
        ([(290, 30, 9, "100N")], []),
        ([(50, 800, 9, "Annual Report 2024")], ["Annual Report 2024"]),
        ([(50, 800, 9, "Annual Report 2024"), (500, 800, 9, "N")], ["Annual Report 2024 1"]),
        ([(50, 800, 9, "N"), (400, 800, 9, "CHAPTER 1. TIDES")], ["1 CHAPTER 1. TIDES"]),
        ([(50, 30, 9, "The Company | N")], ["The Company | 1"]),
        ([(50, 30, 9, "Status 2024-05, page N")], ["Status 2024-05, page 1"]),
    ],
)
def test_running_lines_of_a_pdf_are_dropped_but_for_the_first_and_counted(
    lines: list[tuple[int, int, int, str]], left: list[str]
) -> None:
    found = in_pages(6, *lines)
    words = {words for _, _, _, words in TEXT}
    shown = [block for block in found.content.split("\n\n") if block not in words and not block.startswith("[Page ")]
    assert shown == left
    assert found.notes == (f"Headers, footers and page numbers that return were left out: {6 - len(left)} lines.",)


def test_a_number_that_is_called_one_is_not_the_number_of_a_page() -> None:
    for label in ("Invoice number:", "Invoice No.", "Ticket #"):
        found = in_pages(6, (50, 800, 11, label.replace("N", "n")), (500, 800, 11, "100N"))
        assert all(f"100{page}" in found.content for page in range(1, 7))


@pytest.mark.parametrize(
    "line",
    [
        (50, 800, 11, "Invoice 100N"),
        (50, 800, 11, "Invoice number: 100N"),
        (50, 800, 20, "Step N"),
        (50, 800, 20, "N"),
        (50, 800, 11, "QN 2024 results"),
        (50, 800, 11, "Room M"),
        (290, 800, 11, "M"),
        (50, 500, 11, "Total: M.50 EUR"),
        (50, 500, 11, "Page N"),
        (50, 500, 11, "All is well."),
        (50, 800, 20, "The Company"),
    ],
)
def test_what_a_page_says_stays_although_its_neighbours_say_nearly_the_same(line: tuple[int, int, int, str]) -> None:
    found = in_pages(6, line)
    pages = found.content.split("[Page ")[1:]
    for page, text in enumerate(pages):
        assert line[3].replace("N", str(page + 1)).replace("M", str(37 * page + 5)) in text
    assert found.notes == ()


def test_a_header_that_changes_with_the_chapter_is_dropped_in_each() -> None:
    pages = [[(50, 800, 9, f"Chapter {page // 5 + 1}"), (500, 800, 9, str(page + 1)), *TEXT] for page in range(15)]
    found = document(set_pdf(*pages))
    assert [found.content.count(f"Chapter {number} ") for number in (1, 2, 3)] == [1, 1, 1]


def test_headers_that_take_turns_are_dropped_and_lines_of_few_pages_are_not() -> None:
    turns = [[(50, 800, 9, "Left Title" if page % 2 else "Right Title"), *TEXT] for page in range(8)]
    assert document(set_pdf(*turns)).content.count(" Title") == 2
    few = [[(50, 800, 9, "A remark" if page < 4 else f"Word {page * 7}"), *TEXT] for page in range(10)]
    assert document(set_pdf(*few)).content.count("A remark") == 4
    moved = [[(50, 800 - 12 * page, 9, "A remark"), *TEXT] for page in range(6)]
    assert document(set_pdf(*moved)).content.count("A remark") == 6


@pytest.mark.parametrize("name", ["(anonymous)", "anonymous", "Untitled", "(unspecified)", " ", "None"])
def test_what_a_program_writes_for_want_of_a_name_is_no_author_and_no_title(name: str) -> None:
    said = name.replace("(", "\\(").replace(")", "\\)")
    found = document(set_pdf([(50, 700, 20, "The heading"), *TEXT], info=f"/Title({said})/Author({said})"))
    assert (found.title, found.author) == ("The heading", "")
    found = document(described(f"<dc:title>{name}</dc:title><dc:creator>{name}</dc:creator>"))
    assert (found.title, found.author) == ("", "")


@pytest.mark.parametrize("name", ["openpyxl", "python-docx", "Microsoft Office User", "Windows User"])
def test_a_program_is_no_author_but_may_be_a_title(name: str) -> None:
    found = document(described(f"<dc:title>{name}</dc:title><dc:creator>{name}</dc:creator>"))
    assert (found.title, found.author) == (name, "")
    found = document(set_pdf(TEXT, info=f"/Title({name})/Author({name})"))
    assert (found.title, found.author) == (name, "")


@pytest.mark.parametrize(
    ("created", "changed", "date"),
    [
        ("2024-05-06T00:00:00Z", "2025-01-02T03:04:05Z", "2025-01-02T03:04:05Z"),
        ("2024-05-06T00:00:00Z", "2013-12-23T23:15:00Z", "2024-05-06T00:00:00Z"),
        ("2024-05-06T00:00:00Z", "2020-01-01T00:00:00Z", "2024-05-06T00:00:00Z"),
        ("2024-05-06T00:00:00Z", "", "2024-05-06T00:00:00Z"),
        ("2024-05-06T00:00:00Z", "2024-05-06T10:00:00Z", "2024-05-06T10:00:00Z"),
        ("2013-12-23T23:15:00Z", "2013-12-23T23:15:00Z", ""),
    ],
)
def test_the_date_is_the_last_change_but_never_before_a_document_was_there(created: str, changed: str, date: str) -> None:
    metadata = f"<dcterms:created>{created}</dcterms:created><dcterms:modified>{changed}</dcterms:modified>"
    assert document(described(metadata)).date == date


def described(metadata: str) -> bytes:
    """A DOCX with these metadata."""
    spaces = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
    core = f"<cp:coreProperties xmlns:cp='x' {spaces}>{metadata}</cp:coreProperties>"
    return word(paragraph(run("words")), {"docProps/core.xml": core})


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        ((FILES / "locked.pdf").read_bytes(), "unreadable", "is encrypted and asks for a password"),
        ((FILES / "scan.pdf").read_bytes(), "empty", "(1 KB, pages: 1) has no text layer"),
        (b"%PDF-1.7\n%\xe2\xe3", "unreadable", "(12 bytes) is damaged or cut off"),
        (b"junk\n%PDF-1.7\n", "unreadable", "is damaged or cut off"),
        (pdf(3, kids=False), "unreadable", "is damaged or cut off"),
    ],
)
def test_a_pdf_without_text_is_a_sentence(data: bytes, kind: str, words: str) -> None:
    with pytest.raises(DocumentError) as raised:
        document(data, "text/html")
    assert raised.value.kind == kind
    assert words in raised.value.message.splitlines()[0]


@pytest.mark.parametrize(("end", "pages"), [(b"xref", 5), (b"8 0 obj", 3)])
def test_a_pdf_that_is_cut_off_gives_the_pages_that_are_there(end: bytes, pages: int) -> None:
    whole = pdf(5, "words on a page")
    found = document(whole[: whole.index(end)])
    assert found.content.count("words on a page") == pages
    assert found.truncated
    assert found.notes[-1] == "The PDF is damaged or cut off: this is what could be read of it."


def test_a_pdf_whose_beginning_is_lost_gives_the_pages_that_are_there() -> None:
    whole = pdf(5, "words on a page")
    found = document(b"%PDF-1.4\n" + whole[whole.index(b"3 0 obj") : whole.index(b"xref")])
    assert found.content.count("words on a page") == 5


def test_without_the_extra_a_pdf_is_refused_with_the_command_that_adds_it() -> None:
    code = (
        "import sys; sys.modules['pypdfium2'] = None\n"
        "from webseam.documents.read import read\n"
        "try: read(b'%PDF-1.7', url='https://example.com/')\n"
        "except Exception as error: print(error.kind, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == (
        "unsupported_type This is a PDF document (application/pdf, 8 bytes), and what reads those is not installed: "
        'pip install "webseam[documents]".'
    )


# ------------------------------------------------------------------------------------------- Word


def test_a_word_document_keeps_its_structure() -> None:
    found = file("report.docx")
    assert (found.title, found.content_type) == ("Report", OFFICE + "wordprocessingml.document")
    assert (found.author, found.date) == ("Ann Author", "2024-05-06T07:08:09Z")
    assert found.content == (
        "# Annual Report\n\n# First part\n\nSome **bold** and *italic* text with a * star.\n\n"
        "- One\n  - Nested\n- Two\n\n1. First\n2. Second\n\n> A quote\n\n"
        "| r0c0 r0c1 |  | r0c2 |\n|---|---|---|\n| r1c0 | r1c1 | r1c2 r2c2 |\n| r2c0 | r2c1 |  |\n\n"
        "## Second part\n\nEnd."
    )
    assert found.hidden == len(" SECRET")


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(inside: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{inside}</w:p>"


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (paragraph(run("a", "<w:b/>") + run("b", "<w:b/>") + run(" c")), "**ab** c"),
        (paragraph(run("a", '<w:b w:val="0"/>') + run("b", "<w:strike/>")), "a~~b~~"),
        (paragraph(run("x") + run("2", '<w:vertAlign w:val="superscript"/>')), "x^2"),
        (paragraph(f"<w:hyperlink r:id='l'>{run('there')}</w:hyperlink>"), "[there](https://example.org/there)"),
        (paragraph(f"<w:hyperlink r:id='j'>{run('there')}</w:hyperlink>"), "there"),
        (
            paragraph(
                '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
                '<w:r><w:instrText> HYPERLINK "https://example.org/f" </w:instrText></w:r>'
                f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("field")}'
                '<w:r><w:fldChar w:fldCharType="end"/></w:r>' + run(" after")
            ),
            "[field](https://example.org/f) after",
        ),
        (paragraph(f"<w:del>{run('gone')}</w:del><w:ins>{run('new')}</w:ins>"), "new"),
        (paragraph(run("a") + "<w:r><w:br/></w:r>" + run("b")), "a  \nb"),
        (paragraph(run("h"), '<w:outlineLvl w:val="2"/>'), "### h"),
        (f"<w:sdt><w:sdtContent>{paragraph(run('in a control'))}</w:sdtContent></w:sdt>", "in a control"),
        (paragraph(run("# no heading")), "\\# no heading"),
        (paragraph(run("a") + '<w:r><w:footnoteReference w:id="2"/></w:r>'), "a[^1]\n\n[^1]: The note."),
        (
            "<w:p><w:r><w:drawing><wp:docPr xmlns:wp='x' descr='A chart of tides'/></w:drawing></w:r></w:p>",
            "![A chart of tides]()",
        ),
        (
            "<w:p><w:r><w:drawing><w:txbxContent>" + paragraph(run("boxed")) + "</w:txbxContent></w:drawing></w:r></w:p>",
            "boxed",
        ),
    ],
)  # fmt: skip
def test_what_stands_in_a_paragraph(body: str, content: str) -> None:
    links = relations(
        l=("hyperlink", "https://example.org/there"),
        j=("hyperlink", "javascript:alert(1)"),
        n=("footnotes", "footnotes.xml"),
    )
    note = f"<w:footnotes xmlns:w='x'><w:footnote w:id='2'>{paragraph(run('The note.'))}</w:footnote></w:footnotes>"
    data = word(body, {"word/_rels/document.xml.rels": links, "word/footnotes.xml": note})
    assert document(data).content == content


STYLES = f"""<w:styles xmlns:w='x'>
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Heir"><w:basedOn w:val="Gone"/></w:style>
<w:style w:type="paragraph" w:styleId="Bar"><w:pPr><w:shd w:val="clear" w:fill="203040"/></w:pPr></w:style>
<w:style w:type="character" w:styleId="Letter"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="character" w:styleId="White"><w:rPr><w:color w:val="FFFFFF"/></w:rPr></w:style>
<w:style w:type="table" w:styleId="Grid">
<w:tblStylePr><w:tcPr><w:shd w:val="clear" w:fill="000080"/></w:tcPr></w:tblStylePr></w:style>
{"".join(f'<w:style w:styleId="s{n}"><w:basedOn w:val="s{n + 1}"/></w:style>' for n in range(18))}
<w:style w:styleId="s18"><w:basedOn w:val="Gone"/></w:style>
</w:styles>"""
WHITE = '<w:color w:val="FFFFFF"/>'


def styled(body: str) -> Document:
    return document(
        word(
            paragraph(run("Seen.")) + body,
            {"word/_rels/document.xml.rels": relations(s=("styles", "styles.xml")), "word/styles.xml": STYLES},
        )
    )


def cell(inside: str, properties: str = "", table: str = "", row: str = "") -> str:
    return (
        f"<w:tbl><w:tblPr>{table}</w:tblPr><w:tr><w:trPr>{row}</w:trPr><w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc></w:tr>"
        f"<w:tr><w:tc>{paragraph(run('other'))}</w:tc></w:tr></w:tbl>"
    )


@pytest.mark.parametrize(
    "body",
    [
        paragraph(run("gone", "<w:vanish/>")),
        paragraph(run("gone", WHITE)),
        paragraph(run("gone", '<w:color w:val="FEFEFE"/><w:shd w:val="clear" w:fill="auto"/>')),
        paragraph(run("gone", '<w:color w:val="203040"/>'), '<w:pStyle w:val="Bar"/>'),
        paragraph(run("gone", WHITE), '<w:pStyle w:val="Bar"/><w:shd w:val="clear" w:fill="auto"/>'),
        paragraph(run("gone", '<w:rStyle w:val="White"/>')),
        paragraph(run("gone", '<w:sz w:val="1"/>')),
        paragraph(run("gone", '<w:sz w:val="1.5pt"/>')),
        paragraph(run("gone"), '<w:pStyle w:val="Gone"/>'),
        paragraph(run("gone"), '<w:pStyle w:val="Heir"/>'),
        paragraph(run("gone"), '<w:pStyle w:val="s0"/>'),
        paragraph(run("gone", '<w:rStyle w:val="Letter"/>')),
        cell(paragraph(run("gone")), row="<w:hidden/>"),
        cell(paragraph(run("gone", WHITE))),
        paragraph(f"<w:r><w:rPr><w:vanish/></w:rPr><w:drawing><w:txbxContent>{paragraph(run('gone'))}</w:txbxContent></w:drawing></w:r>"),
    ],
)  # fmt: skip
def test_text_that_nobody_sees_in_a_word_document_is_dropped_and_counted(body: str) -> None:
    found = styled(body)
    assert "gone" not in found.content
    assert found.content.startswith("Seen.")
    assert found.hidden == 4


@pytest.mark.parametrize(
    "body",
    [
        paragraph(run("here", '<w:vanish w:val="0"/>'), '<w:pStyle w:val="Gone"/>'),
        paragraph(run("here", WHITE + '<w:shd w:val="clear" w:fill="000000"/>')),
        paragraph(run("here", WHITE + '<w:highlight w:val="black"/>')),
        paragraph(run("here", WHITE), '<w:pStyle w:val="Bar"/>'),
        paragraph(run("here", '<w:color w:val="auto"/><w:rStyle w:val="White"/>')),
        paragraph(run("here", '<w:sz w:val="4"/>')),
        cell(paragraph(run("here", WHITE)), '<w:shd w:val="clear" w:fill="808080"/>'),
        cell(paragraph(run("here", WHITE)), table='<w:tblStyle w:val="Grid"/>'),
        cell(paragraph(run("here")), row='<w:hidden w:val="false"/>'),
        f"<w:p><w:r><w:drawing><w:txbxContent>{paragraph(run('here', WHITE))}</w:txbxContent></w:drawing></w:r></w:p>",
    ],
)
def test_text_that_is_seen_in_a_word_document_stays(body: str) -> None:
    found = styled(body)
    assert "here" in found.content
    assert found.hidden == 0


def test_white_text_on_a_page_that_is_shown_dark_stays() -> None:
    data = "<w:document xmlns:w='x'><w:background w:color='101010'/><w:body>{}</w:body></w:document>"
    more = {
        "word/document.xml": data.format(paragraph(run("here", WHITE))),
        "word/_rels/document.xml.rels": relations(s=("settings", "settings.xml")),
        "word/settings.xml": "<w:settings xmlns:w='x'><w:displayBackgroundShape/></w:settings>",
    }
    assert document(word("", more)).content == "here"


# ------------------------------------------------------------------------------------------- spreadsheets


def test_a_workbook_is_a_heading_and_tables_for_each_sheet() -> None:
    found = file("sales.xlsx")
    assert (found.title, found.content_type) == ("Book", OFFICE + "spreadsheetml.sheet")
    assert found.content == (
        "## Sales\n\n| Item | Date | Price | Share | Ok |\n|---|---|---|---|---|\n"
        "| Tea \\| cup | 2024-01-31 | 2.5 | 25% | TRUE |\n| Sum |  | 0.3 |  |  |\n\n"
        "A remark\n\n[link](https://example.org/x)\n\n| Merged |  |\n|---|---|\n| 1 | 2 |\n\n## Empty"
    )
    assert found.notes == (
        "Hidden sheets were left out: 1.",
        "Formulas whose results are not in the file, so that their cells are empty here: 1.",
    )
    assert found.links == ("https://example.org/x",)


def test_formulas_without_a_result_are_counted() -> None:
    cells = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1+1</f><v>2</v></c><c r="C1"><f>A1+2</f></c></row>'
        '<row r="2"><c r="A2"><f>A1+3</f><v></v></c><c r="B2" t="str"><f>""</f><v></v></c><c r="C2"/></row>'
    )
    found = document(workbook(f"<sheetData>{cells}</sheetData>"))
    assert found.content.startswith("## One\n\n| 1 | 2 |")
    assert found.notes == ("Formulas whose results are not in the file, so that their cells are empty here: 2.",)
    assert not found.truncated


def test_a_sheet_that_says_it_is_colossal_costs_what_is_in_it() -> None:
    cells = (
        '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1" t="s"><v>1</v></c><c r="XFD1"><v>5</v></c></row>'
        '<row r="1048576"><c r="B1048576"><v>7</v></c></row></sheetData>'
    )
    found = document(workbook(cells, "<si><t>zero</t></si><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>no</t></rPh></si>"))
    assert found.content == "## One\n\nrich text\n\n7"
    assert found.notes == ("The sheet “One” has more columns: its first 100 are here.",)
    assert found.truncated


def test_only_so_many_rows_are_read_and_it_is_said() -> None:
    rows = "".join(f"<row><c><v>{row}</v></c><c><v>1</v></c></row>" for row in range(6_000))
    found = document(workbook(f"<sheetData>{rows}</sheetData>"))
    assert "| 4999 | 1 |" in found.content
    assert "| 5000 | 1 |" not in found.content
    assert found.notes == ("The sheet “One” has more rows: its first 5,000 are here.",)


# ------------------------------------------------------------------------------------------- presentations


def test_slides_come_in_order_with_titles_lists_tables_and_notes() -> None:
    found = file("deck.pptx")
    assert (found.title, found.content_type) == ("Deck", OFFICE + "presentationml.presentation")
    assert found.content == (
        "## Slide 1: Hello\n\n- Point\n  - Sub\n- Point 2[link](https://example.org/)\n\nNotes:\n\n> Say hello.\n\n"
        "## Slide 2: Table\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )


def box(text: str) -> str:
    return f"<sp><txBody><p><r><t>{text}</t></r></p></txBody></sp>"


def test_the_order_of_slides_is_that_of_the_presentation_not_of_their_names() -> None:
    found = document(slides(box("a"), f"<grpSp>{box('b')}</grpSp>", box("c"), shown=(2, 1, 0)))
    assert found.content == "## Slide 1\n\nc\n\n## Slide 2\n\nb\n\n## Slide 3\n\na"


# ------------------------------------------------------------------------------------------- OpenDocument, EPUB


def test_an_opendocument_text_keeps_its_structure() -> None:
    found = file("letter.odt")
    assert (found.title, found.content_type) == ("ODT head", "application/vnd.oasis.opendocument.text")
    assert found.content == "# ODT head\n\nPlain **bold** [link](https://example.org/o)\n\n- item"


def open_document(kind: str, body: str) -> bytes:
    return archive(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<document-content><body><{kind}>{body}</{kind}></body></document-content>",
        },
        stored=("mimetype",),
    )


def test_what_an_opendocument_sheet_repeats_is_bounded() -> None:
    rows = (
        '<table-row><table-cell value-type="date" date-value="2024-01-31"><p>31 Jan</p></table-cell>'
        "<table-cell><p>b</p></table-cell></table-row>"
        '<table-row number-rows-repeated="1048576"><table-cell number-columns-repeated="16384"/></table-row>'
        '<table-row number-rows-repeated="999999">'
        '<table-cell number-columns-repeated="999999"><p>x</p></table-cell></table-row>'
    )
    found = document(open_document("spreadsheet", f'<table name="S">{rows}</table>'))
    assert found.content.startswith("## S\n\n| 2024-01-31 | b |\n|---|---|\n\n| x | x |")
    assert len(found.content) < 5_000_000


def test_an_opendocument_presentation_is_its_slides() -> None:
    frames = "<frame class='title'><text-box><p>T</p></text-box></frame><frame><text-box><p>Words</p></text-box></frame>"
    assert document(open_document("presentation", f"<page>{frames}</page>")).content == "## Slide 1: T\n\nWords"


def test_a_book_is_its_chapters_in_the_order_of_the_spine() -> None:
    chapters = {
        "b.xhtml": "<html><body><h1>Two</h1><p>Second <a href='a.xhtml'>inner</a> <a href='https://example.org/o'>outer</a>.</p></body></html>",
        "a.xhtml": "<html><body><h1>One</h1><p hidden>unseen</p><p>First.</p></body></html>",
    }
    found = document(book(chapters, spine=("a.xhtml", "b.xhtml")))
    assert (found.title, found.language, found.content_type) == ("The Book", "en", "application/epub+zip")
    assert found.content == (
        "Contents:\n\n- Chapter b.xhtml\n- Chapter a.xhtml\n\n---\n\n# One\n\nFirst.\n\n---\n\n"
        "# Two\n\nSecond inner [outer](https://example.org/o)."
    )
    assert found.hidden == len("unseen")
    assert found.author == "Ann, Bob"


def test_copy_protection_is_said() -> None:
    rights = "<encryption><CipherReference URI='OPS/a.xhtml'/></encryption>"
    with pytest.raises(DocumentError, match=r"copy-protected \(DRM\)") as raised:
        document(book({"a.xhtml": "x"}, more={"META-INF/encryption.xml": rights}))
    assert raised.value.kind == "unreadable"


def test_encrypted_fonts_are_no_copy_protection() -> None:
    rights = "<encryption><CipherReference URI='OPS/font.otf'/></encryption>"
    assert "words" in document(book({"a.xhtml": "<p>words"}, more={"META-INF/encryption.xml": rights})).content
