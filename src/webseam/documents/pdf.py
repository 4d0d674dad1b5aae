"""PDF: the text of each page in reading order, with page marks, and headings out of the outline or the size of letters.

PDFium (through pypdfium2, the extra `documents`) says which characters stand where; `pdf_layout` makes columns, paragraphs and
tables of them. PDFium is native code that is fed with hostile bytes: it is meant to run in a worker process, which may die.

A page begins with a line `[Page 3]`. Entries of the outline become headings where their words stand on the page, or at its top.
Text that nobody sees is dropped and counted: outside of the page, too small to read, or of the colour of what is behind it. A
layer of invisible text over a scan is not: it is what was recognised there.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from webseam.config import LIMITS
from webseam.documents.extract import Extract, given_author, given_title, iso_date, last_date
from webseam.documents.html.escape import escape, line_start
from webseam.documents.invisible import drop_invisible
from webseam.documents.pdf_layout import Block, Piece, page_blocks
from webseam.documents.pdf_running import LARGER, Box, drop_running_lines
from webseam.documents.sniff import size_of
from webseam.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webseam.documents.extract import Budget

WIDE_GAP = 0.9
"""A gap between words of a line, in heights of its letters, from which they are two pieces: columns, cells."""

OUTLINE_ENTRIES = 2_000
PAGE_PIECES = 10_000
SMALLEST = 2.0
"""The height of letters, in points (1/72 inch), below which nobody reads them."""

RENDERED_PAGES = 30
"""Pages that are drawn, small, to see whether white text has something dark behind it."""

_RENDERED_SIDE = 1_000
_PALE = 245
_HEADING_CHARS = 150
_PASSWORD, _SECURITY = 4, 5  # fpdfview.h, FPDF_ERR_*
_OBJECT = re.compile(rb"(?<![0-9])([0-9]{1,7})[ \r\n]([0-9]{1,5})[ \r\n]obj\b")
_OBJECTS = 200_000
_CATALOG = re.compile(rb"/Type\s{0,9}/Catalog\b")
_PAGE = re.compile(rb"/Type\s{0,9}/Page(?![A-Za-z])")
_PDF_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?(?:(\d{2})(\d{2})(\d{2})?)?")
_NO_TITLE = re.compile(r"untitled|microsoft word - |.*\.(?:docx?|indd|tex|dvi|pdf|qxd|rtf|pptx?|xlsx?)$", re.IGNORECASE)
_LINE = re.compile(r"([^\n\ufffe\x02]*+[\ufffe\x02]?)\n?")  # PDFium writes U+FFFE (or U+0002) for a hyphen at the end of a line
_LETTERS = re.compile(r"[\W_]+")


class _Entry(NamedTuple):
    """An entry of the outline; `page` is counted from 0."""

    title: str
    level: int
    page: int


def read_pdf(data: bytes, _url: str, budget: Budget) -> Extract:
    """The text of a PDF. Raises `DocumentError`: `unsupported_type` without the library, `unreadable`, `empty` for scans."""
    try:
        import pypdfium2
    except ModuleNotFoundError:
        raise DocumentError(
            f"This is a PDF document (application/pdf, {size_of(len(data))}), and what reads those is not installed: "
            'pip install "webseam[documents]".',
            kind="unsupported_type",
        ) from None
    mended = b""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        mended = _mended(data) if code not in (_PASSWORD, _SECURITY) else b""
        try:
            if not mended:
                raise _unreadable(data, code) from None
            document = pypdfium2.PdfDocument(mended)
        except pypdfium2.PdfiumError:
            raise _unreadable(data, code) from None
    with document:
        try:
            extract = _Pdf(document, budget).read(data)
        except DocumentError:
            if mended:  # not for want of a text layer
                raise _unreadable(data, None) from None
            raise
    if mended:
        extract.cut = True
        extract.notes.append("The PDF is damaged or cut off: this is what could be read of it.")
    return extract


def _mended(data: bytes) -> bytes:
    """A PDF without its end, with one that names its catalog, or else the pages that are found; b"" when there are none.

    PDFium finds the objects of such a file by itself, but not which of them it begins with.
    """
    pages: list[bytes] = []
    root = b""
    for match in itertools.islice(_OBJECT.finditer(data), _OBJECTS):
        name = b"%s %s R" % match.groups()
        inside = data[match.end() : match.end() + 2_000].partition(b"endobj")[0]
        if _CATALOG.search(inside):
            root = name
        elif len(pages) < LIMITS.pdf_pages and _PAGE.search(inside):
            pages.append(name)
    if root:
        return data + b"\nendobj\ntrailer<</Root %s>>\nstartxref\n0\n%%%%EOF\n" % root
    if not pages:
        return b""
    made = b"\nendobj\n9999990 0 obj<</Type/Catalog/Pages 9999991 0 R>>endobj\n"
    made += b"9999991 0 obj<</Type/Pages/Count %d/Kids[%s]>>endobj\n" % (len(pages), b" ".join(pages))
    return data + made + b"trailer<</Root 9999990 0 R>>\nstartxref\n0\n%%EOF\n"


def _unreadable(data: bytes, code: int | None) -> DocumentError:
    size = size_of(len(data))
    if code in (_PASSWORD, _SECURITY):
        return DocumentError(
            f"This PDF ({size}) is encrypted and asks for a password: look for a copy that does not.", kind="unreadable"
        )
    return DocumentError(
        f"This PDF ({size}) is damaged or cut off, and no page of it can be read: look for another copy.", kind="unreadable"
    )


class _Pdf:
    def __init__(self, document: Any, budget: Budget) -> None:
        self._document = document
        self._budget = budget
        self._hidden = 0
        self._rendered = 0
        self._boxes: list[Box] = []  # of the pages that were read

    def read(self, data: bytes) -> Extract:
        """The whole document."""
        count = len(self._document)
        pages: list[list[Block]] = []
        damaged = 0
        for number in range(min(count, LIMITS.pdf_pages)):
            if number and self._budget.spent:
                break
            blocks = self._page(number)
            damaged += blocks is None
            pages.append(blocks or [])
            self._budget.chars -= sum(len(block.text) + 2 for block in pages[-1]) + 12
        if not any(pages):
            if damaged or not count:
                raise _unreadable(data, None)
            raise DocumentError(
                f"This PDF ({size_of(len(data))}, pages: {count:,}) has no text layer: it is scanned or drawn, and pictures of "
                "text are not read here. Look for the same content as a page or another PDF.",
                kind="empty",
            )
        running = drop_running_lines(pages, self._boxes)
        outline = self._outline()
        extract = Extract(_written(pages, outline), hidden=self._hidden)
        self._describe(extract, pages)
        if running:
            extract.notes.append(f"Headers, footers and page numbers that return were left out: {running:,} lines.")
        if len(pages) < count:
            extract.cut = True
            extract.notes.append(f"Of {count:,} pages the first {len(pages):,} were read.")
        if damaged:
            extract.notes.append(f"Pages that are damaged and could not be read: {damaged:,}.")
        empty = sum(1 for blocks in pages if not blocks) - damaged
        if empty:
            extract.notes.append(f"Pages without a text layer (pictures, or nothing): {empty:,} of {len(pages):,}.")
        return extract

    def _describe(self, extract: Extract, pages: list[list[Block]]) -> None:
        said = self._document.get_metadata_dict(skip_empty=True)
        title = given_title(said.get("Title", "")[: LIMITS.title_chars])
        if not title or _NO_TITLE.match(title):
            first = [block for block in pages[0] if block.text and not block.table] if pages else []
            largest = max(first, key=lambda block: block.size, default=None)
            title = " ".join(largest.text.split()) if largest and len(largest.text) <= LIMITS.title_chars else ""
        extract.title = title
        extract.author = given_author(said.get("Author", "")[: LIMITS.title_chars])
        extract.date = last_date(_date(said.get("CreationDate", "")), _date(said.get("ModDate", "")))

    def _outline(self) -> list[_Entry]:
        found: list[_Entry] = []
        for bookmark in itertools.islice(self._document.get_toc(max_depth=6), OUTLINE_ENTRIES):
            title = " ".join(drop_invisible(bookmark.get_title()[: LIMITS.title_chars])[0].split())
            target = bookmark.get_dest()
            page = target.get_index() if target is not None else None
            if title and page is not None:
                found.append(_Entry(title, min(bookmark.level + 1, 6), page))
        return found

    # ------------------------------------------------------------------------------------- a page

    def _page(self, number: int) -> list[Block] | None:
        """The blocks of a page; None when it cannot be read."""
        import pypdfium2

        try:
            page = self._document[number]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            self._boxes.append(Box(0.0, 0.0))
            return None
        try:
            return page_blocks(self._pieces(page, text_page))
        finally:
            text_page.close()
            page.close()

    def _pieces(self, page: Any, text_page: Any) -> list[Piece]:
        """The pieces of text of a page, as PDFium's lines come, cut at wide gaps; upright whatever the page's rotation."""
        import pypdfium2.raw as pdfium

        count = min(text_page.count_chars(), LIMITS.pdf_page_chars)
        buffer = (ctypes.c_ushort * (count + 1))()
        units = pdfium.FPDFText_GetText(text_page, 0, count, buffer)
        text = bytes(buffer)[: max(units - 1, 0) * 2].decode("utf-16-le", "replace")
        rotation = page.get_rotation()
        left, bottom, right, top = _turned(page.get_bbox(), rotation)
        self._boxes.append(Box(bottom, top))
        glyphs = _Glyphs(text_page, rotation, max(units - 1, 0))
        found: list[Piece] = []
        pale: list[Piece] = []
        at = 0
        for match in _LINE.finditer(text):
            line = match[1]
            glyphs.start = at
            at += _units(match.group())
            for begin, end in glyphs.split(line):
                piece = glyphs.piece(line, begin, end)
                if piece is None or len(found) >= PAGE_PIECES:
                    continue
                words, dropped = drop_invisible(piece.text.replace("\ufffe", "\u2010").replace("\x02", "\u2010"))
                self._hidden += dropped
                piece = piece._replace(text=words)
                across, up = (piece.x0 + piece.x1) / 2, (piece.y0 + piece.y1) / 2
                if piece.size < SMALLEST or not (left <= across <= right and bottom <= up <= top):
                    self._hidden += len(words)
                elif words:
                    found.append(piece)
                    if glyphs.is_pale(line, begin):
                        pale.append(piece)
        if pale:
            unseen = self._unseen(page, pale)
            self._hidden += sum(len(piece.text) for piece in unseen)
            gone = {id(piece) for piece in unseen}
            found = [piece for piece in found if id(piece) not in gone]
        return found

    def _unseen(self, page: Any, pale: Sequence[Piece]) -> list[Piece]:
        """Those pieces whose place on the page, drawn, is of one colour all over."""
        if self._rendered >= RENDERED_PAGES or page.get_rotation() or self._budget.late:
            return []
        self._rendered += 1
        left, bottom, right, top = page.get_bbox()
        scale = min(2.0, _RENDERED_SIDE / max(right - left, top - bottom, 1.0))
        bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
        try:
            pixels = bytes(bitmap.buffer)
            stride, width, height = bitmap.stride, bitmap.width, bitmap.height
        finally:
            bitmap.close()
        found: list[Piece] = []
        for piece in pale:
            first, last = (max(0, min(int((x - left) * scale), width)) for x in (piece.x0, piece.x1 + 1))
            above, below = (max(0, min(int((top - y) * scale), height)) for y in (piece.y1, piece.y0 - 1))
            seen = [pixels[row * stride + first : row * stride + last] for row in range(above, below)]
            tones = [tone for row in seen if row for tone in (min(row), max(row))]
            if not tones or max(tones) - min(tones) < 12:
                found.append(piece)
        return found


class _Glyphs:
    """Where the characters of a text page stand, turned as the page is shown.

    Characters are counted in UTF-16 units, as PDFium counts; `start` is where the line that is asked about begins.
    """

    def __init__(self, text_page: Any, rotation: int, units: int) -> None:
        import pypdfium2.raw as pdfium

        self._page = text_page.raw
        self._pdfium = pdfium
        self._rotation = rotation
        self._rect = pdfium.FS_RECTF()
        self._reference = ctypes.byref(self._rect)
        self.start = 0
        # PDFium counts a few characters that are not in its text; where it did not, the numbers are the same.
        self._alike = not units or pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, units - 1) == units - 1

    def split(self, line: str) -> list[tuple[int, int]]:
        """The pieces of `line` as (begin, end): cut at spaces that are wide."""
        found: list[tuple[int, int]] = []
        begin = 0
        stop = len(line.rstrip())
        place = line.find(" ", 1)
        while 0 < place < stop:
            following = place + 1
            while line[following] == " ":
                following += 1
            before, after = self._box(line, place - 1), self._box(line, following)
            if before and after and after[0] - before[2] > WIDE_GAP * max(before[3] - before[1], 1.0):
                found.append((begin, place))
                begin = following
            place = line.find(" ", following)
        found.append((begin, stop))
        return found

    def piece(self, line: str, begin: int, end: int) -> Piece | None:
        """A part of `line` with its box; the height of its letters is the middle one of three. None when it is empty."""
        while begin < end and line[begin].isspace():
            begin += 1
        while begin < end and line[end - 1].isspace():
            end -= 1
        if begin >= end:
            return None
        boxes = [box for place in (begin, (begin + end) // 2, end - 1) if (box := self._box(line, place))]
        if not boxes:
            return None
        heights = sorted(box[3] - box[1] for box in boxes)
        return Piece(
            line[begin:end],
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
            heights[len(heights) // 2],
        )

    def is_pale(self, line: str, place: int) -> bool:
        """Whether a character is written in white, or nearly, or in nothing."""
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        if not self._pdfium.FPDFText_GetFillColor(self._page, self._index(line, place), red, green, blue, alpha):
            return False
        return alpha.value < 10 or min(red.value, green.value, blue.value) >= _PALE

    def _index(self, line: str, place: int) -> int:
        unit = self.start + (place if line.isascii() else _units(line[:place]))
        return unit if self._alike else int(self._pdfium.FPDFText_GetCharIndexFromTextIndex(self._page, unit))

    def _box(self, line: str, place: int) -> tuple[float, float, float, float] | None:
        if not self._pdfium.FPDFText_GetLooseCharBox(self._page, self._index(line, place), self._reference):
            return None
        rect = self._rect
        return _turned((rect.left, min(rect.bottom, rect.top), rect.right, max(rect.bottom, rect.top)), self._rotation)


def _units(text: str) -> int:
    return len(text) + sum(1 for character in text if character > "\uffff") if not text.isascii() else len(text)


def _turned(box: tuple[float, float, float, float], rotation: int) -> tuple[float, float, float, float]:
    """A box on a page that is shown turned by `rotation` degrees, clockwise."""
    x0, y0, x1, y1 = box
    if rotation == 90:
        return y0, -x1, y1, -x0
    if rotation == 180:
        return -x1, -y1, -x0, -y0
    if rotation == 270:
        return -y1, x0, -y0, x1
    return box


# ------------------------------------------------------------------------------------------- as Markdown


def _written(pages: list[list[Block]], outline: list[_Entry]) -> str:
    levels = {} if outline else _levels(pages)
    entries: dict[int, list[_Entry]] = {}
    for entry in outline:
        entries.setdefault(entry.page, []).append(entry)
    parts: list[str] = []
    for number, blocks in enumerate(pages):
        if len(pages) > 1:
            parts.append(f"[Page {number + 1}]")
        headings, loose = _placed(blocks, entries.get(number, []))
        parts += ["#" * entry.level + " " + escape(entry.title) for entry in loose]
        for place, block in enumerate(blocks):
            level = headings.get(place) or (_heading(block, levels) if levels else 0)
            if level:
                parts.append("#" * level + " " + " ".join(escape(block.text).split()))
            elif block.item and place and blocks[place - 1].item and parts:
                parts[-1] += "\n" + block.text
            elif block.table or block.item:
                parts.append(block.text)
            else:
                parts.append(line_start(escape(block.text)))
    return "\n\n".join(parts)


def _placed(blocks: list[Block], entries: list[_Entry]) -> tuple[dict[int, int], list[_Entry]]:
    """Which blocks of a page the entries of the outline mean (block -> level), and the entries that no block shows."""
    headings: dict[int, int] = {}
    loose: list[_Entry] = []
    plain = [_LETTERS.sub("", block.text[: _HEADING_CHARS * 2]).lower() for block in blocks] if entries else []
    following = 0
    for entry in entries[:100]:
        wanted = _LETTERS.sub("", entry.title).lower()
        for place in [*range(following, len(blocks)), *range(following)]:
            shown = plain[place]
            if place not in headings and not blocks[place].table and _means(wanted, shown):
                headings[place] = entry.level
                following = place + 1
                break
        else:
            loose.append(entry)
    return headings, loose


def _means(entry: str, shown: str) -> bool:
    """Whether an entry of the outline is a heading on its page: either may lack the number that the other one has."""
    if not entry or not shown or len(shown) > len(entry) + 15:
        return False
    return shown.endswith(entry) or (len(shown) > 5 and entry.endswith(shown))


def _levels(pages: list[list[Block]]) -> dict[float, int]:
    """Which sizes of letters are headings, and of which level: at most four that are larger than most of the text."""
    sizes: Counter[float] = Counter()
    for blocks in pages:
        for block in blocks:
            sizes[block.size] += len(block.text)
    if not sizes:
        return {}
    body = sizes.most_common(1)[0][0]
    larger = sorted((size for size in sizes if size >= body * LARGER), reverse=True)
    return {size: level for level, size in enumerate(larger[:4], start=1)}


def _heading(block: Block, levels: dict[float, int]) -> int:
    text = block.text
    if block.table or block.item or len(text) > _HEADING_CHARS or block.lines > 3 or text.endswith((".", ",", ";")):
        return 0
    return levels.get(block.size, 0) if any(character.isalpha() for character in text) else 0


def _date(said: str) -> str:
    """A date of PDF ("D:20240131093000+01'00'") as ISO 8601."""
    match = _PDF_DATE.match(said.strip()[:40])
    if match is None:
        return ""
    return iso_date(f"{match[1]}-{match[2] or '01'}-{match[3] or '01'}")
