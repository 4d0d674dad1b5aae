"""What `documents` hands back: one page as text, and what its head says about it. Everything in it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One document as Markdown.

    `author` (one or several), `date` (ISO 8601, when it was published or else changed), `changed` (when it was last, where that
    is a later day) and `site` are what the page says of itself; `language` (BCP 47) too, else what its letters tell.
    `confidence`, from 0 to 1, is how sure it is that `content` is what the page is about; None where nobody judged, or nothing
    was left out.

    `next_page` is where the page says that it goes on, absolute.

    `content_type` is what the bytes were judged to be, `encoding` how they were decoded. `links` are those of the whole page,
    menus included (a crawler wants them): absolute http(s), in document order, each once, without fragments, bounded.
    `robots` are the tokens of `<meta name="robots">`, lower case. `hidden` counts the characters that a reader of the page
    would not see and that were dropped. `refresh` is where `<meta http-equiv="refresh">` points: it is not followed.
    `notes` are sentences of ours.
    """

    title: str
    content: str
    content_type: str
    encoding: str = "utf-8"
    language: str = ""
    links: tuple[str, ...] = ()
    canonical: str = ""
    robots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: int = 0
    truncated: bool = False
    refresh: str = ""
    author: str = ""
    date: str = ""
    changed: str = ""
    site: str = ""
    next_page: str = ""
    confidence: float | None = None
