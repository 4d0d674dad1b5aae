"""What a page says about itself: title, author, date, language, site, canonical address, robots, refresh.

Each fact has several places, asked in this order: `<meta>` of the head (OpenGraph, article:, Dublin Core, citation_ and the
names that publishers use), JSON-LD, and for author and date what stands right below the first heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.dates import iso_date
from webseam.documents.extract import is_nobody
from webseam.documents.html.structured import Said
from webseam.documents.html.tree import Element, first, text_of
from webseam.documents.invisible import drop_invisible

if TYPE_CHECKING:
    from webseam.documents.html.links import Base
    from webseam.documents.html.parse import Parsed
    from webseam.documents.html.tree import Child

MAX_META = 500
MAX_AUTHORS = 5

BYLINE_CHARS = 400
"""How far below the first heading a byline stands."""

BYLINE_TEXT = 1_000
"""Characters of an element that is one, white space and all."""

BYLINE_ELEMENTS = 2_000
"""Elements of a page that are looked through for its first heading and byline."""

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
# "5; url='/next'", "0;/next": the time, a separator, an optional "url=" (HTML Standard, 4.2.5.3, shared declarative refresh).
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S.*))", re.IGNORECASE | re.DOTALL)
_ROBOTS_NAMES = frozenset({"robots", "webseam"})
_AUTHORS = (
    "author", "article:author", "og:article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author",
    "sailthru.author", "byl",
)  # fmt: skip
_DATES = (
    "article:published_time", "og:article:published_time", "og:published_time", "datepublished", "citation_publication_date",
    "citation_date", "citation_online_date", "dc.date.issued", "dcterms.issued", "dc.date", "dcterms.date", "dcterms.created",
    "dc.date.created", "parsely-pub-date", "sailthru.date", "publishdate", "publish-date", "publish_date", "pubdate",
    "article.published", "date",
)  # fmt: skip
_CHANGED = ("article:modified_time", "og:updated_time", "dcterms.modified", "last-modified")
_SITES = ("og:site_name", "application-name", "dc.publisher", "citation_journal_title")
_BYLINES = frozenset(
    {
        "author", "author-name", "author__name", "authorname", "byline", "byline-name", "byline__name", "entry-author",
        "p-author", "post-author",
    }
)  # fmt: skip
_BY = re.compile(r"(?:by|written by|posted by|authors?|作者)\b\s?[:：|]?\s*", re.IGNORECASE)
_AUTHOR_CHARS = 100
_BREAK = "\n"
_BETWEEN = " \t,|•·–—-"
# What follows a name on its line: when it was written.
_WHEN = re.compile(
    r"\b(?:(?:[0-9]{1,2}(?:st|nd|rd|th)?\s{1,3})?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?\s{0,3}[0-9]"
    r"|[0-9]{1,4}[/.-][0-9]{1,2}[/.-]|(?:19|20)[0-9]{2}\b|updated\b|published\b|posted on\b)",
    re.IGNORECASE,
)
# What stands between a title and the name of its site.
_SEPARATOR = re.compile(r"\s*[|·•»›–—:]\s*|\s+[-~/]+\s+")
ITEM_LINK_CHARS = 25
"""Characters of a link from which an item of a list is a thing of its own, not a part of a byline."""

_HEADINGS = frozenset({"h2", "h3", "h4"})
_ITEMS = _HEADINGS | {"article", "li", "tr"}


@dataclass(frozen=True, slots=True)
class Head:
    """The facts of a page's head; what is not said is empty. `description` is the page's own summary of itself.

    `author` is one or several, with commas between; `date` (ISO 8601) is when the page was published, else changed; `changed`
    (ISO 8601) is when it was last, where that is a later day. `title` is without the name of the site behind it where the page
    says how it is called without; `tab` is all of `<title>`. `price` is what a shop puts into its `<meta>`: amount, currency.
    """

    title: str = ""
    language: str = ""
    canonical: str = ""
    robots: tuple[str, ...] = ()
    refresh: str = ""
    description: str = ""
    author: str = ""
    date: str = ""
    changed: str = ""
    site: str = ""
    tab: str = ""
    price: tuple[str, str] = ("", "")


def read_head(page: Parsed, base: Base, said: Said = Said()) -> Head:  # noqa: B008 - it is a constant
    """Read the head of `page`; `said` is what its JSON-LD says."""
    metas: dict[str, str] = {}
    robots: dict[str, None] = {}
    authors: dict[str, None] = {}
    title = canonical = ""
    for element in _elements_of(page)[:MAX_META]:
        attributes = element.attrs
        if element.tag == "title" and not title:
            title = text_of(element)
        elif element.tag == "link" and not canonical and "canonical" in attributes.get("rel", "").lower().split():
            canonical = base.resolve(attributes.get("href", ""))
        elif element.tag == "meta":
            name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or ""
            name = (name or attributes.get("http-equiv", "")).strip().lower()
            value = attributes.get("content", "").strip()
            if name in _ROBOTS_NAMES:
                robots.update(dict.fromkeys(token for token in re.split(r"[,\s]+", value.lower())[:20] if token))
            elif name and value:
                if name in ("citation_author", "dc.creator", "author") and (written := _author(value)):
                    authors[written] = None
                metas.setdefault(name, value)
    if not title:
        title = metas.get("og:title", "") or metas.get("twitter:title", "")
    if not title and (heading := first(page.body, "h1")) is not None:
        title = text_of(heading)
    author = ", ".join([*authors][:MAX_AUTHORS]) or next(
        (name for key in _AUTHORS if (name := _author(metas.get(key, "")))), ""
    )
    author = author or _author(said.author, MAX_AUTHORS * _AUTHOR_CHARS)
    date = _date(metas, _DATES) or said.date
    if not author or not date:
        below = _below_heading(page.body, base)
        author, date = author or below[0], date or below[1]
    language = (
        page.html.attrs.get("lang", "") or metas.get("content-language", "") or metas.get("og:locale", "") or said.language
    )
    match = _LANGUAGE.match(language.strip())
    changed = _date(metas, _CHANGED) or said.changed
    date = date or changed
    site = _line(next((metas[key] for key in _SITES if key in metas), "") or said.site, LIMITS.age_chars)
    tab = _line(title, LIMITS.title_chars)
    return Head(
        title=_without_site(tab, _line(metas.get("og:title", ""), LIMITS.title_chars), site),
        language=match.group().replace("_", "-")[:35] if match else "",
        canonical=canonical,
        robots=tuple(robots),
        refresh=_refresh(metas.get("refresh", ""), base),
        description=_line(metas.get("description", "") or metas.get("og:description", ""), LIMITS.error_chars),
        author=_line(author, LIMITS.title_chars),
        date=date,
        changed=changed if changed[:10] > date[:10] else "",
        site=site,
        tab=tab,
        price=(
            metas.get("product:price:amount", "") or metas.get("og:price:amount", ""),
            metas.get("product:price:currency", "") or metas.get("og:price:currency", ""),
        ),
    )


def _date(metas: dict[str, str], names: tuple[str, ...]) -> str:
    return next((date for name in names if (date := iso_date(metas.get(name, "")))), "")


def _without_site(title: str, short: str, site: str) -> str:
    """`title`, or `short`, how the page is called elsewhere, when `title` is that with the name of the site behind it."""
    if not short or not title.startswith(short) or not (match := _SEPARATOR.match(title, len(short))):
        return title
    rest = title[match.end() :].casefold()
    if short.casefold() == site.casefold():  # the name of the site stands first
        return title
    return short if (site and site.casefold() in rest) or len(short) > len(rest) else title


def _elements_of(page: Parsed) -> list[Element]:
    """Elements of the head, and metadata that broken pages leave at the top of the body."""
    found = [child for child in page.head.children if isinstance(child, Element)]
    found += [child for child in page.body.children if isinstance(child, Element) and child.tag in ("title", "meta", "link")]
    return found


def _below_heading(body: Element, base: Base) -> tuple[str, str]:
    """The author and the date in what follows the first heading, each "" when none does.

    A listing's dates are of its items, not of the page: none is taken from where a heading is a link, or an item of a list has
    a title that is one. An author is: that of a thread's first post is right more often than that of a listing's is wrong.
    """
    author = date = ""
    chars = elements = 0
    seen = of_items = False
    stack: list[Child] = [body]
    while stack and chars < BYLINE_CHARS and elements < BYLINE_ELEMENTS and not (author and date):
        node = stack.pop()
        if isinstance(node, str):
            chars += len(node.strip()) if seen else 0
            continue
        elements += 1
        if node.tag == "h1":
            seen = True
            continue
        if seen:
            if not of_items and node.tag in _ITEMS:
                of_items = _is_of_an_item(node, base)
            if node.tag == "time" and not date and not of_items:
                date = iso_date(node.attrs.get("datetime", "")) or iso_date(" ".join(_short_text(node).split()))
            if not author and node.attrs and _is_byline(node):
                lines = _short_text(node).split("\n")
                author = next(
                    (name for line in lines if len(name := _author(_WHEN.split(line, maxsplit=1)[0].strip(_BETWEEN))) > 1), ""
                )
        stack.extend(reversed(node.children))
    return author, date


def _is_of_an_item(element: Element, base: Base) -> bool:
    """Whether a heading is a link to another page, or an article or item of a list holds such, or one with a title for text."""
    here = base.resolve("").partition("#")[0]
    stack: list[tuple[Child, bool]] = [(element, False)]
    for _ in range(60):
        if not stack:
            return False
        node, titled = stack.pop()
        if isinstance(node, str):
            continue
        titled = titled or node.tag in _HEADINGS
        if node.tag == "a" and base.resolve(node.attrs.get("href", "")).partition("#")[0] not in ("", here):
            titled = titled or (element.tag != "article" and len(_short_text(node).strip()) >= ITEM_LINK_CHARS)
            if titled:
                return True
        stack.extend([(child, titled) for child in reversed(node.children[:60])])
    return False


def _short_text(element: Element) -> str:
    """The text of an element that holds little, a line for each of its blocks; "" of any other."""
    parts: list[str] = []
    stack: list[Child] = [element]
    room = BYLINE_TEXT
    for _ in range(50):
        if not stack:
            return "".join(parts)
        node = stack.pop()
        if isinstance(node, str):
            room -= len(node)
            if room < 0:
                return ""
            parts.append(node if node is _BREAK else node.replace("\n", " "))
        else:
            if node.blocky:
                parts.append("\n")
                stack.append(_BREAK)
            stack.extend(reversed(node.children[:50]))
    return ""


def _is_byline(element: Element) -> bool:
    attributes = element.attrs
    if attributes.get("rel") == "author" or attributes.get("itemprop") == "author":
        return True
    return "class" in attributes and not _BYLINES.isdisjoint(attributes["class"].lower().split())


def _author(text: str, limit: int = _AUTHOR_CHARS) -> str:
    """A name without what leads to it ("By "); "" for what is none: an address, a handle, a paragraph."""
    text = " ".join(text.split())
    if match := _BY.match(text):
        text = text[match.end() :]
    if len(text) > limit or "://" in text or text.startswith("@") or not any(map(str.isalpha, text)) or is_nobody(text):
        return ""
    return text


def _refresh(value: str, base: Base) -> str:
    match = _REFRESH.match(value[:2_000])
    if match is None:
        return ""
    return base.resolve(match[1] or match[2] or match[3] or "")


def _line(text: str, limit: int) -> str:
    cleaned = " ".join(drop_invisible(text)[0].split())
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1].rstrip() + "…"
