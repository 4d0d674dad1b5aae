"""Bytes in, a `Document` out: the one entry point. Pure and synchronous; hostile bytes belong in a worker (`in_worker`)."""

from __future__ import annotations

from webseam.config import LIMITS
from webseam.documents.decode import decode
from webseam.documents.document import Document
from webseam.documents.invisible import drop_invisible
from webseam.documents.sniff import Form, charset_of, judge, size_of
from webseam.documents.text import as_markdown, drop_comments, drop_front_matter, markdown_links, markdown_title
from webseam.errors import DocumentError

FENCE_CHARS = 1_000
"""Room for what is put around a text that is cut: a fence, or the lines of JSON."""


def read(data: bytes, *, url: str, content_type: str = "", whole: bool = False) -> Document:
    """The text of one document.

    `url` is where it was found: links are resolved against it, and its ending helps to tell what it is. `content_type` is
    HTTP's, charset and all. `whole` asks for all of a page that is HTML, not its main content.

    Raises `DocumentError`: `unsupported_type` for what is not text, `too_large`, and `empty`.
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
    markup = judged.form in (Form.HTML, Form.XML)
    decoded = decode(data, charset=charset_of(content_type), markup=markup)
    if judged.form is Form.HTML:
        return _html(decoded.text, decoded.encoding, decoded.note, url, whole=whole)
    text, hidden = drop_invisible(decoded.text)
    title = ""
    links: tuple[str, ...] = ()
    if judged.form is Form.MARKDOWN:
        text, title = drop_front_matter(text)
        text, commented = drop_comments(text)
        hidden += commented
        title = " ".join((title or markdown_title(text)).split())[: LIMITS.title_chars]
        links = markdown_links(text, url)
    notes = [decoded.note] if decoded.note else []
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
        links=links,
        notes=tuple(notes),
        hidden=hidden,
        truncated=truncated,
    )


def _html(text: str, encoding: str, note: str, url: str, *, whole: bool) -> Document:
    from webseam.documents.html.page import read_html  # the parser takes a while to load, and plain text does not need it

    page = read_html(text, url=url, whole=whole)
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
        language=head.language,
        links=page.links,
        canonical=head.canonical,
        robots=head.robots,
        notes=tuple(notes),
        hidden=page.hidden + smuggled,
        truncated=truncated,
        refresh=head.refresh,
        author=head.author,
        date=head.date,
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
        notes.append(f"The document is longer than is read: only its first {len(content):,} characters are here.")
    return content, cut or already
