"""Feeds: RSS 0.9 to 2.0, RDF, Atom and JSON Feed as a list of entries, each a heading with link, date, author and text.

HTML in an entry is read as a page is; what it hides is dropped.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.documents.extract import Extract, iso_date
from webseam.documents.html.escape import escape
from webseam.documents.html.hidden import drop_hidden
from webseam.documents.html.links import Base
from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.parse import parse as parse_html
from webseam.documents.html.tree import text_of
from webseam.documents.office.xml import all_of, attribute, children, name_of, parse, text_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget

ENTRY_CHARS = 20_000
"""Of the text of one entry: a feed is to choose from, its pages are to be read."""

_ROOTS = frozenset({"rss", "feed", "RDF"})
_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "date", "issued", "updated", "modified")


@dataclass(slots=True)
class _Item:
    title: str = ""
    url: str = ""
    author: str = ""
    date: str = ""
    text: str = ""


def read_feed(text: str, url: str, budget: Budget) -> Extract | None:
    """The entries of an RSS, RDF or Atom feed; None for XML that is something else."""
    start = text[:2_000].lower()
    if not any(mark in start for mark in ("<rss", "<feed", "rdf")):
        return None
    root = parse(_undeclared(text).encode("utf-8", "replace"))
    if name_of(root) not in _ROOTS:
        return None
    base = Base(url)
    channel = next((node for node in root if name_of(node) == "channel"), root)
    nodes = [node for node in all_of(root, "*") if name_of(node) in ("item", "entry")]
    if name_of(root) == "RDF" and not nodes and channel is root:
        return None
    extract = Extract("")
    extract.title = _plain(_first(channel, "title"))
    extract.language = _first(channel, "language") or attribute(root, "lang")
    extract.author = _author(channel)
    extract.date = _date(_first(channel, "updated", "lastBuildDate", "pubDate", "date"))
    about = _first(channel, "description", "subtitle", "tagline")
    return _written(extract, about, [_item(node) for node in nodes[: LIMITS.feed_entries]], len(nodes), base, budget)


def read_json_feed(text: str, url: str, budget: Budget) -> Extract | None:
    """The entries of a JSON Feed; None for JSON that is something else (https://www.jsonfeed.org/version/1.1/)."""
    if "jsonfeed.org/version/" not in text[:2_000]:
        return None
    import msgspec

    try:
        feed: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(feed, dict) or not isinstance(feed.get("items"), list):
        return None
    entries = [entry for entry in feed["items"] if isinstance(entry, dict)]
    items = [
        _Item(
            _string(entry, "title"),
            _string(entry, "url") or _string(entry, "external_url"),
            _names(entry),
            _date(_string(entry, "date_published") or _string(entry, "date_modified")),
            _string(entry, "content_html") or _escaped(_string(entry, "content_text") or _string(entry, "summary")),
        )
        for entry in entries[: LIMITS.feed_entries]
    ]
    extract = Extract("", _string(feed, "title"), _names(feed), language=_string(feed, "language"))
    return _written(extract, _string(feed, "description"), items, len(entries), Base(url), budget)


def _written(extract: Extract, about: str, items: Sequence[_Item], count: int, base: Base, budget: Budget) -> Extract:
    parts = [f"# {_line(extract.title)}"] if extract.title else []
    if about and about != extract.title:
        parts.append(_body(about, base, extract))
    links: dict[str, None] = {}
    for number, item in enumerate(items):
        if number and budget.spent:
            extract.cut = True
            extract.notes.append(f"Of {count:,} entries the first {number:,} are here.")
            break
        url = base.resolve(item.url.strip()) if item.url.strip() else ""
        title = _line(item.title) or _line(item.date) or "Entry"
        heading = f"[{title.replace('[', '(').replace(']', ')')}]({url})" if url else title
        said = " · ".join(filter(None, (item.date, _line(item.author))))
        body = _body(item.text, base, extract)
        parts += filter(None, (f"## {heading}", said, body))
        budget.chars -= len(heading) + len(said) + len(body)
        if url:
            links[url.partition("#")[0]] = None
    if count > LIMITS.feed_entries:
        extract.cut = True
        extract.notes.append(f"Of {count:,} entries the first {LIMITS.feed_entries:,} are here.")
    extract.links = tuple(links)
    extract.content = "\n\n".join(parts)
    return extract


def _item(node: Node) -> _Item:
    item = _Item(title=_plain(_first(node, "title")), author=_author(node), date=_date(_first(node, *_DATES)))
    links = children(node, "link")
    alternate = next((link for link in links if attribute(link, "rel") in ("", "alternate")), None)
    if alternate is not None:
        item.url = attribute(alternate, "href") or text_in(alternate)
    if not item.url:
        guid = next((inner for inner in node if name_of(inner) == "guid"), None)
        if attribute(guid, "isPermaLink").lower() != "false" and text_in(guid).startswith("http"):
            item.url = text_in(guid)
    for name in _TEXTS:
        for inner in children(node, name):
            if name == "content" and attribute(inner, "url"):  # <media:content> is a picture or a film
                continue
            if attribute(inner, "type") == "xhtml":
                item.text = _xhtml(inner)
            elif attribute(inner, "type") == "text":
                item.text = _escaped(str(inner.text or ""))
            else:
                item.text = "".join(map(str, inner.itertext()))
            if item.text.strip():
                return item
    return item


def _body(text: str, base: Base, extract: Extract) -> str:
    """HTML, or plain text, as Markdown; headings are set below those of the entries."""
    text = text.strip()
    if not text:
        return ""
    page = parse_html(text[: ENTRY_CHARS * 5])
    extract.hidden += drop_hidden(page)[0]
    written, cut = to_markdown((page.body,), base, limit=ENTRY_CHARS)
    return written + (" […]" if cut else "")


def _first(node: Node, *names: str) -> str:
    """The text of the first child that has one of `names`, in their order."""
    for name in names:
        for inner in children(node, name):
            if text := text_in(inner):
                return text
    return ""


def _plain(text: str) -> str:
    """A title without the HTML that many feeds put into theirs."""
    if "<" not in text and "&" not in text:
        return text
    return text_of(parse_html(text[: LIMITS.error_chars]).body)


def _author(node: Node) -> str:
    for name in ("author", "creator"):
        for inner in children(node, name):
            if text := _first(inner, "name") or (text_in(inner) if not len(inner) else ""):
                return text[: LIMITS.title_chars]
    return ""


def _date(text: str) -> str:
    """A date of RFC 822 or ISO 8601 as ISO 8601; "" for anything else."""
    if found := iso_date(text):
        return found
    try:
        return parsedate_to_datetime(text[:100]).astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _xhtml(node: Node) -> str:
    from lxml import etree

    return etree.tostring(node, encoding="unicode", method="html", with_tail=False)[: ENTRY_CHARS * 5]


def _undeclared(text: str) -> str:
    """XML without its declaration: the text is decoded already, whatever encoding it names."""
    text = text.lstrip("\ufeff \t\r\n")
    return text.partition("?>")[2] if text[:5].lower() == "<?xml" else text


def _line(text: str) -> str:
    return " ".join(escape(text[: LIMITS.title_chars]).split())


def _escaped(text: str) -> str:
    """Plain text as HTML."""
    text = text[: ENTRY_CHARS * 5].replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"<p>{paragraph}" for paragraph in text.split("\n\n"))


def _string(entry: dict[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) else ""


def _names(entry: dict[str, Any]) -> str:
    authors = entry.get("authors") or [entry.get("author")]
    if not isinstance(authors, list):
        return ""
    return ", ".join(filter(None, (_string(author, "name") for author in authors[:10] if isinstance(author, dict))))
