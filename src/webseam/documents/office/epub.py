"""EPUB: the chapters in the order of the spine, each read as a page, and the table of contents before them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from webseam.config import LIMITS
from webseam.documents.decode import decode
from webseam.documents.extract import Extract, given_author, given_title, iso_date
from webseam.documents.html.escape import escape
from webseam.documents.html.hidden import drop_hidden
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.page import drop_escapes_in
from webseam.documents.html.parse import parse as parse_html
from webseam.documents.html.tree import preorder
from webseam.documents.office.archive import Archive
from webseam.documents.office.xml import all_of, attribute, child, children, name_of, parse, parts_of, text_in

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

    from webseam.documents.extract import Budget
    from webseam.documents.html.tree import Element

CONTENTS = 500
"""Lines of the table of contents."""


def read_epub(data: bytes, url: str, budget: Budget) -> Extract:
    """The text of an e-book. Raises `DocumentError`."""
    archive = Archive(data, "e-book")
    book = _Book(archive)
    extract = book.described()
    base = Base(url)
    texts: list[str] = []
    links: dict[str, None] = {}
    chapters = book.spine()
    for place, name in enumerate(chapters):
        if (place and budget.spent) or place >= LIMITS.book_chapters:
            extract.cut = True
            extract.notes.append(f"Of {len(chapters):,} parts of the book the first {place:,} were read.")
            break
        part = archive.read(name, LIMITS.chapter_bytes)
        if not part.data:
            continue
        text = decode(part.data, markup=True).text
        page = parse_html(text)
        if page.escapes:
            extract.hidden += drop_escapes_in(page.html)
        extract.hidden += drop_hidden(page)[0]
        budget.parts -= _without_inner_links(page.html)
        text, cut = to_markdown((page.body,), base, limit=budget.chars)
        budget.chars -= len(text)
        extract.cut |= cut or part.cut or page.cut
        if text:
            texts.append(text)
        links.update(dict.fromkeys(page_links(page.html, base)))
    if texts and (contents := book.contents()):
        texts.insert(0, "Contents:\n\n" + contents)
    extract.content = "\n\n---\n\n".join(texts)
    extract.links = tuple(links)
    if archive.damaged:
        extract.cut = True
        extract.notes.append("The file is damaged or cut off: this is what could be read of it.")
    return extract


class _Book:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        container = parse(archive.read("META-INF/container.xml").data)
        named = next((attribute(node, "full-path") for node in all_of(container, "rootfile")), "")
        self._package = named or next((name for name in archive.names() if name.endswith(".opf")), "")
        self._folder = posixpath.dirname(self._package)
        self._root = parse(archive.read(self._package).data)
        self._items: dict[str, Node] = {
            attribute(node, "id"): node for node in children(child(self._root, "manifest"), "item")[: LIMITS.archive_entries]
        }
        if not self._items:
            raise archive.error("is damaged or cut off: the list of its chapters is missing. Look for another copy")
        self._refuse_encrypted()

    def described(self) -> Extract:
        """The metadata, with no content yet."""
        extract = Extract("")
        authors: list[str] = []
        for node in parts_of(child(self._root, "metadata")):
            text = text_in(node)
            match name_of(node):
                case "title":
                    extract.title = extract.title or given_title(text)
                case "creator" if given_author(text) and len(authors) < 10:
                    authors.append(text)
                case "language":
                    extract.language = extract.language or text
                case "date":
                    extract.date = extract.date or iso_date(text)
        extract.author = ", ".join(authors)
        return extract

    def spine(self) -> list[str]:
        """The names of the chapters in reading order, each once; without a spine, those of the manifest."""
        names: dict[str, None] = {}
        for node in children(child(self._root, "spine"), "itemref"):
            item = self._items.get(attribute(node, "idref"))
            if item is not None and "nav" not in attribute(item, "properties").split():
                names[self._name(attribute(item, "href"))] = None
        if not names:
            names = {self._name(attribute(item, "href")): None for item in self._items.values() if _is_page(item)}
        return list(names)

    def contents(self) -> str:
        """The table of contents as a nested list, from the navigation document or the older NCX; "" without one."""
        for item in self._items.values():
            if "nav" in attribute(item, "properties").split():
                root = parse(self._archive.read(self._name(attribute(item, "href"))).data)
                navs = list(all_of(root, "nav"))
                toc = next((node for node in navs if attribute(node, "type") == "toc"), navs[0] if navs else None)
                return "" if toc is None else _lines(toc, "ol", "li")
        for item in self._items.values():
            if attribute(item, "media-type") == "application/x-dtbncx+xml":
                root = parse(self._archive.read(self._name(attribute(item, "href"))).data)
                found = next(all_of(root, "navMap"), None)
                return "" if found is None else _lines(found, "navPoint", "navPoint")
        return ""

    def _name(self, href: str) -> str:
        return posixpath.normpath(posixpath.join(self._folder, unquote(href.partition("#")[0])))

    def _refuse_encrypted(self) -> None:
        """Encrypted chapters are copy protection; encrypted fonts are common, and no matter."""
        root = parse(self._archive.read("META-INF/encryption.xml").data)
        for node in all_of(root, "CipherReference"):
            name = attribute(node, "URI").lower()
            if name.endswith((".xhtml", ".html", ".htm", ".xml")):
                raise self._archive.error("is copy-protected (DRM) and cannot be read: look for a copy that is not")


def _is_page(item: Node) -> bool:
    return attribute(item, "media-type") in ("application/xhtml+xml", "text/html")


def _lines(top: Node, group: str, entry: str) -> str:
    """The entries below `top`, indented as they nest; `group` is what nests, `entry` an item."""
    lines: list[str] = []
    for node in top.iter():
        if name_of(node) != entry or len(lines) >= CONTENTS:
            continue
        label = next((inner for inner in node if name_of(inner) in ("a", "span", "navLabel")), None)
        depth = sum(1 for above in node.iterancestors() if name_of(above) == group) - (group != entry)
        if text := escape(text_in(label)[: LIMITS.title_chars], in_link=False):
            lines.append("  " * min(max(depth, 0), 6) + f"- {text}")
    return "\n".join(lines)


def _without_inner_links(root: Element) -> int:
    """Links and pictures within the book lead nowhere outside of it: their words stay. How many elements there are."""
    elements = preorder(root)[0]
    for element in elements:
        for name in ("href", "src"):
            value = element.attrs.get(name, "")
            if value and not value.lower().startswith(("http://", "https://", "mailto:")):
                del element.attrs[name]
    return len(elements)
