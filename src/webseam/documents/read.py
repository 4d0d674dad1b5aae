"""Bytes in, a `Document` out: the one entry point. Pure and synchronous; hostile bytes belong in a worker (`in_worker`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents import base64_data
from webseam.documents.decode import decode
from webseam.documents.document import Document
from webseam.documents.extract import Budget, Extract, too_long
from webseam.documents.invisible import drop_invisible
from webseam.documents.language import by_script
from webseam.documents.markdown_hidden import drop_hidden
from webseam.documents.sniff import Form, charset_of, judge, size_of
from webseam.documents.text import as_markdown, drop_front_matter, markdown_links, markdown_title
from webseam.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.documents.sniff import Judged

FENCE_CHARS = 1_000
"""Room for what is put around a text that is cut: a fence, or the lines of JSON."""

_READERS = {
    Form.PDF: "webseam.documents.pdf:read_pdf",
    Form.WORD: "webseam.documents.office.word:read_word",
    Form.SHEETS: "webseam.documents.office.sheets:read_sheets",
    Form.SLIDES: "webseam.documents.office.slides:read_slides",
    Form.OPEN_DOCUMENT: "webseam.documents.office.opendocument:read_open_document",
    Form.EPUB: "webseam.documents.office.epub:read_epub",
}
"""(bytes, URL, budget) -> Extract, imported when a document wants it."""


def read(
    data: bytes,
    *,
    url: str,
    content_type: str = "",
    whole: bool = False,
    links: bool = True,
    seconds: float = LIMITS.document_seconds,
) -> Document:
    """The text of one document.

    `url` is where it was found: links are resolved against it, and its ending helps to tell what it is. `content_type` is
    HTTP's, charset and all. `whole` asks for all of a page that is HTML, not its main content. Without `links` those of a page
    are not gathered: whoever reads its text needs none. `seconds` is the time that there is: long documents stop before it is
    over and give what was read.

    Raises `DocumentError`: `unsupported_type` for what is not read, `unreadable` for what is encrypted or too damaged,
    `too_large`, and `empty`.
    """
    if len(data) > LIMITS.body_bytes:
        raise DocumentError(
            f"The document has {size_of(len(data))}, and at most {size_of(LIMITS.body_bytes)} are read: ask for a part of it.",
            kind="too_large",
        )
    if not data.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00"):
        raise DocumentError(
            "The document is empty: check the address, or search for another page with the same content.", kind="empty"
        )
    judged = judge(data, url=url, content_type=content_type)
    if judged.form in _READERS:
        module, _, name = _READERS[judged.form].partition(":")
        reader: Callable[[bytes, str, Budget], Extract] = getattr(import_module(module), name)
        return _document(reader(data, url, Budget(seconds)), judged)
    markup = judged.form in (Form.HTML, Form.XML)
    decoded = decode(data, charset=charset_of(content_type), markup=markup)
    if judged.form is Form.HTML:
        return _html(decoded.text, decoded.encoding, decoded.note, url, whole=whole, links=links)
    text, hidden = drop_invisible(decoded.text)
    if (extract := _feed(text, url, judged, Budget(seconds))) is not None:
        extract.hidden += hidden
        extract.notes += [decoded.note] if decoded.note else []
        return _document(extract, judged, decoded.encoding)
    title = ""
    found: tuple[str, ...] = ()
    if judged.form is Form.MARKDOWN:
        text, title = drop_front_matter(text)
        text, unseen = drop_hidden(text)
        hidden += unseen
        title = " ".join((title or markdown_title(text)).split())[: LIMITS.title_chars]
        found = markdown_links(text, url) if links else ()
    notes = [decoded.note] if decoded.note else []
    if judged.form in (Form.JSON, Form.MARKDOWN):
        slimmed = base64_data.from_json(text) if judged.form is Form.JSON else base64_data.from_markdown(text)
        text = slimmed.text
        notes += [slimmed.note] if slimmed.note else []
    text, truncated = _bounded(text, notes, limit=LIMITS.page_chars - FENCE_CHARS)
    content = as_markdown(text, judged)
    if not content.strip():
        raise DocumentError(
            "The document holds no text: check the address, or search for another page with the same content.", kind="empty"
        )
    return Document(
        title=title,
        content=content,
        content_type=judged.content_type,
        encoding=decoded.encoding,
        language=by_script(content),
        links=found,
        notes=tuple(notes),
        hidden=hidden,
        truncated=truncated,
    )


def _feed(text: str, url: str, judged: Judged, budget: Budget) -> Extract | None:
    """The entries of a feed; None for what is none."""
    if judged.form not in (Form.XML, Form.JSON):
        return None
    from webseam.documents.feeds import read_feed, read_json_feed

    return read_feed(text, url, budget) if judged.form is Form.XML else read_json_feed(text, url, budget)


def _document(extract: Extract, judged: Judged, encoding: str = "utf-8") -> Document:
    content, smuggled = drop_invisible(extract.content)
    notes = list(extract.notes)
    # A note of the format's own says what is missing; without one, it is the end.
    content, truncated = _bounded(content, notes, already=extract.cut and not notes)
    if not content.strip():
        raise DocumentError(
            f"The document ({judged.content_type}) holds no text, perhaps pictures: search for the same content elsewhere.",
            kind="empty",
        )
    return Document(
        title=_line(extract.title),
        content=content.strip("\n"),
        content_type=judged.content_type,
        encoding=encoding,
        language=extract.language[:35] or by_script(content),
        links=extract.links,
        notes=tuple(notes),
        hidden=extract.hidden + smuggled,
        truncated=truncated or extract.cut,
        author=_line(extract.author),
        date=extract.date,
    )


def _line(text: str) -> str:
    return " ".join(drop_invisible(text)[0].split())[: LIMITS.title_chars]


def _html(text: str, encoding: str, note: str, url: str, *, whole: bool, links: bool) -> Document:
    from webseam.documents.html.page import read_html  # the parser takes a while to load, and plain text does not need it

    page = read_html(text, url=url, whole=whole, links=links)
    notes = [note] if note else []
    notes += page.notes
    content, smuggled = drop_invisible(page.content)
    content, truncated = _bounded(content, notes, already=page.truncated)
    head = page.head
    if head.refresh:
        # The address is the page's own words, so it stands in the text; the note, which is ours, has no more than the origin.
        notes.append(
            f"The page sends its readers on to an address at {_origin(head.refresh)} (meta refresh), which was not followed: "
            "the first line of the text is that address, fetch it next."
        )
        content = f"<{head.refresh}>\n\n{content}".strip()
    if not content.strip():
        name = f" “{head.title[:100]}”" if head.title else ""
        if truncated:
            raise DocumentError(
                f"The page{name} is longer than is read, and what is read of it shows no text: search for the same content "
                "elsewhere.",
                kind="too_large",
            )
        raise DocumentError(
            f"The page{name} shows no text without running its scripts, which is not done here: "
            "search for the same content elsewhere, or fetch an API or feed of the site.",
            kind="empty",
        )
    return Document(
        title=head.title,
        content=content,
        content_type="text/html",
        encoding=encoding,
        language=head.language or by_script(content),
        links=page.links,
        canonical=head.canonical,
        next_page=page.next_page,
        robots=head.robots,
        notes=tuple(notes),
        hidden=page.hidden + smuggled,
        truncated=truncated,
        refresh=head.refresh,
        author=head.author,
        date=head.date,
        changed=head.changed,
        site=head.site,
        confidence=page.confidence,
    )


def _origin(url: str) -> str:
    """Scheme and host of a URL that `documents.html.links` resolved (in ASCII, without a user); no name is longer than 253."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    return f"{scheme}://{host}" if len(host) <= 260 else "another site"


def _bounded(content: str, notes: list[str], *, limit: int = LIMITS.page_chars, already: bool = False) -> tuple[str, bool]:
    """`content` within `limit`, and whether anything is missing, with a note that says so."""
    cut = len(content) > limit
    if cut:
        content = content[:limit]
    if cut or already:
        notes.append(too_long(content))
    return content, cut or already
