"""Small documents made by hand: zip archives of XML, and PDFs."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


def archive(parts: Mapping[str, bytes | str], *, stored: tuple[str, ...] = ()) -> bytes:
    """A zip file of `parts`, those in `stored` not compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as writer:
        for name, data in parts.items():
            writer.writestr(name, data, zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return file.getvalue()


def relations(**found: tuple[str, str]) -> str:
    """The part with relationships: id=(kind, target); a target with a scheme is external."""
    rows: list[str] = []
    for name, (kind, target) in found.items():
        mode = "External" if ":" in target else "Internal"
        rows.append(f'<Relationship Id="{name}" Type="{KIND}{kind}" Target="{target}" TargetMode="{mode}"/>')
    return RELATIONS.format("".join(rows))


def word(body: str, more: Mapping[str, str] | None = None, *, prolog: str = "") -> bytes:
    """A DOCX with `body` between `<w:body>` and its end, and `more` parts."""
    return archive(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(a=("officeDocument", "word/document.xml")),
            "word/document.xml": f"{prolog}<w:document {W} {R}><w:body>{body}</w:body></w:document>",
        }
        | dict(more or {})
    )


def workbook(sheet: str, shared: str = "", **sheets: str) -> bytes:
    """An XLSX whose first sheet is called One."""
    rows = {"One": sheet} | sheets
    names = "".join(f'<sheet name="{name}" sheetId="{place}" r:id="s{place}"/>' for place, name in enumerate(rows))
    found = {f"s{place}": ("worksheet", f"worksheets/{place}.xml") for place in range(len(rows))}
    return archive(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(a=("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f"<workbook {R}><sheets>{names}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(t=("sharedStrings", "sharedStrings.xml"), **found),
            "xl/sharedStrings.xml": f"<sst>{shared}</sst>",
        }
        | {f"xl/worksheets/{place}.xml": f"<worksheet {R}>{data}</worksheet>" for place, data in enumerate(rows.values())}
    )


def slides(*pages: str, shown: tuple[int, ...] = ()) -> bytes:
    """A PPTX of `pages`, which are what stands in `<spTree>`; `shown` are their numbers in order, all by default."""
    order = shown or tuple(range(len(pages)))
    listed = "".join(f'<sldId id="{256 + place}" r:id="s{number}"/>' for place, number in enumerate(order))
    found = {f"s{place}": ("slide", f"slides/slide{place}.xml") for place in range(len(pages))}
    return archive(
        {
            "_rels/.rels": relations(a=("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f"<presentation {R}><sldIdLst>{listed}</sldIdLst></presentation>",
            "ppt/_rels/presentation.xml.rels": relations(**found),
        }
        | {
            f"ppt/slides/slide{place}.xml": f"<sld><cSld><spTree>{page}</spTree></cSld></sld>"
            for place, page in enumerate(pages)
        }
    )


def book(chapters: Mapping[str, str], *, spine: tuple[str, ...] = (), more: Mapping[str, str] | None = None) -> bytes:
    """An EPUB of `chapters` (name -> XHTML), in the order of `spine` when that is given."""
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    listed = "".join(f'<itemref idref="{name}"/>' for name in spine or tuple(chapters))
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
            "OPS/book.opf": (
                '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>The Book</dc:title>'
                "<dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language></metadata>"
                f'<manifest>{items}<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
                f"</manifest><spine>{listed}</spine></package>"
            ),
            "OPS/nav.xhtml": (
                '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><nav epub:type="toc"><ol>'
                + "".join(f'<li><a href="{name}">Chapter {name}</a></li>' for name in list(chapters)[:50])
                + "</ol></nav></html>"
            ),
        }
        | {f"OPS/{name}": data for name, data in chapters.items()}
        | dict(more or {}),
        stored=("mimetype",),
    )


def set_pdf(*pages: Sequence[tuple[int, int, int, str]], info: str = "") -> bytes:
    """A PDF of A4 pages of lines in Helvetica, each (x, y, size, words); `info` is its dictionary of metadata."""
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for place, lines in enumerate(pages):
        stream = "".join(f"BT /F {size} Tf {x} {y} Td ({words}) Tj ET\n" for x, y, size, words in lines)
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {5 + 2 * place} 0 R>>")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}endstream")
    objects.append(f"<<{info}>>")
    return _pdf_of(objects, f"/Info {len(objects)} 0 R")


def pdf(pages: int, words: str = "words", *, kids: bool = True) -> bytes:
    """A PDF whose `pages` pages share one content; without `kids` none of them is there."""
    listed = " ".join(f"{number} 0 R" for number in range(5, 5 + pages)) if kids else ""
    stream = f"BT /F 12 Tf 50 700 Td ({words}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Count {pages}/Kids[{listed}]>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
    ]
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 3 0 R>>>>>>"
    objects += [page] * (pages if kids else 0)
    return _pdf_of(objects)


def _pdf_of(objects: Sequence[str], trailer: str = "") -> bytes:
    parts = [b"%PDF-1.4\n"]
    offsets: list[int] = []
    size = len(parts[0])
    for number, data in enumerate(objects, start=1):
        offsets.append(size)
        parts.append(f"{number} 0 obj\n{data}\nendobj\n".encode())
        size += len(parts[-1])
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    parts.append(f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer<</Size {count}/Root 1 0 R{trailer}>>\n".encode())
    parts.append(f"startxref\n{size}\n%%EOF".encode())
    return b"".join(parts)
