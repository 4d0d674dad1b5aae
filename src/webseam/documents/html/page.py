"""One HTML page: parsed, its hidden text dropped, its content chosen, written as Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from webseam.documents.html.head import Head, read_head
from webseam.documents.html.hidden import drop_hidden
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.main_content import main_content
from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.parse import parse
from webseam.documents.html.tree import Element, preorder
from webseam.documents.invisible import drop_escapes

# A script that can do something (data in one has a type of its own), or what is left of one in a page that was saved.
_SCRIPT = re.compile(
    r"<script(?=[\s/>])(?![^>]{0,500}?\btype\s{0,9}=\s{0,9}[\"']?(?:application/(?:ld\+)?json|text/(?:template|html)))"
    r"|\bas=[\"']?script\b|/_next/|<noscript",
    re.IGNORECASE,
)

# A reference to what begins an escape sequence of a terminal (a reference to U+009B means another character).
_REFERENCE = re.compile("&#(?:[xX]0{0,9}1[bB]|0{0,9}27)")

MUCH_HIDDEN = 500
"""Hidden characters from which a page is worth a note, when they are also a fifth of what is shown."""


@dataclass(slots=True)
class HtmlPage:
    """What was made of a page."""

    head: Head
    content: str
    links: tuple[str, ...]
    hidden: int
    truncated: bool
    notes: list[str] = field(default_factory=list)


def read_html(text: str, *, url: str, links: bool = True) -> HtmlPage:
    """Read a page. `content` is empty only when it shows no text at all and says nothing about itself."""
    parsed = parse(text)
    escapes = _drop_escapes(parsed.html) if _has_escapes(text) else 0
    base = Base(url, parsed.head)
    head = read_head(parsed, base)
    found = page_links(parsed.html, base) if links else ()
    hidden, let_be = drop_hidden(parsed.html, scripted=_has_scripts(text))
    chosen = main_content(parsed.body)
    content, truncated = to_markdown(chosen.nodes, base, without=chosen.without)
    if not content and chosen.without:
        content, truncated = to_markdown((parsed.body,), base)
    page = HtmlPage(head, content, found, hidden + escapes, truncated or parsed.cut)
    if let_be:
        page.notes.append("The page hides its text until a script runs; it is given as the server sent it.")
    elif hidden > max(MUCH_HIDDEN, len(content) // 5):
        page.notes.append(
            f"{hidden:,} characters that the page does not show until something is clicked, or ever, were left out."
        )
    if not content:
        _instead_of_nothing(page, parsed.body, base)
    return page


def _has_scripts(text: str) -> bool:
    at = text.find("<script")
    while at >= 0:  # nearly every page has one, written like this: a search for all that it might be comes after
        if _SCRIPT.match(text, at):
            return True
        at = text.find("<script", at + 1)
    return _SCRIPT.search(text) is not None


def _has_escapes(text: str) -> bool:
    return "\x1b" in text or "\x9b" in text or ("&#" in text and _REFERENCE.search(text) is not None)


def _drop_escapes(root: Element) -> int:
    """Take escape sequences out of all text, before Markdown puts its backslashes among them. Returns their characters."""
    dropped = 0
    for element in preorder(root)[0]:
        for name, value in element.attrs.items():
            element.attrs[name], count = drop_escapes(value)
            dropped += count
        for place, child in enumerate(element.children):
            if isinstance(child, str):
                element.children[place], count = drop_escapes(child)
                dropped += count
    return dropped


def _instead_of_nothing(page: HtmlPage, body: Element, base: Base) -> None:
    """For a page without text: its frames, or its own description."""
    frames = _frames(body, base)
    if frames:
        page.content = "\n".join([f"- [{name}]({address})" if name else f"- {address}" for name, address in frames])
        page.notes.append("The page consists of frames; fetch the one that is wanted.")
    elif page.head.description:
        page.content = page.head.description
        page.notes.append(
            "The page shows its text only by running scripts, which is not done here: this is its own description of itself."
        )


def _frames(body: Element, base: Base) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    stack = [body]
    while stack and len(found) < 50:
        element = stack.pop()
        if element.tag == "frame" and (address := base.resolve(element.attrs.get("src", ""))):
            found.append((" ".join(element.attrs.get("name", "").split()), address))
        stack.extend([child for child in reversed(element.children) if isinstance(child, Element)])
    return found
