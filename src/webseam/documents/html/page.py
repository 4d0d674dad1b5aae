"""One HTML page: parsed, its hidden text dropped, its content chosen, written as Markdown.

Where a page shows next to nothing, what it says in data (`from_data`) is read in its place; the price of a product that
stands nowhere else is added to its text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from webseam.documents.html.head import Head, read_head
from webseam.documents.html.hidden import drop_hidden
from webseam.documents.html.links import Base, page_links
from webseam.documents.html.main_content import main_content
from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.parse import Parsed, parse
from webseam.documents.html.structured import (
    LinkedData,
    linked_data,
    list_of_facts,
    missing_from,
    price_of,
    product_facts,
    said_by,
)
from webseam.documents.html.tree import Element, preorder
from webseam.documents.invisible import drop_escapes

if TYPE_CHECKING:
    from webseam.documents.html.classifier import Model

MUCH_HIDDEN = 500
"""Hidden characters from which a page is worth a note, when they are also a fifth of what is shown."""


NEARLY_EMPTY = 200
"""Characters of Markdown under which a page is asked for what it says in data."""


@dataclass(slots=True)
class HtmlPage:
    """What was made of a page. `confidence` is that of its main content (see `Document`)."""

    head: Head
    content: str
    links: tuple[str, ...]
    hidden: int
    truncated: bool
    confidence: float | None = None
    notes: list[str] = field(default_factory=list)


def read_html(text: str, *, url: str, whole: bool = False, links: bool = True, model: Model | None = None) -> HtmlPage:
    """Read a page: its main content, or all that it shows when `whole`.

    `content` is empty only when the page shows no text at all and says nothing about itself. Without `links`, those of the page
    are not gathered. `model` is another classifier than the package's.
    """
    parsed = parse(text)
    escapes = drop_escapes_in(parsed.html) if parsed.escapes else 0
    shown = _shown(parsed, text, url, links=links)
    base, data, hidden = shown.base, shown.data, shown.hidden
    confidence = None if whole else main_content(parsed.body, shown.head.title, model)
    content, truncated = to_markdown((parsed.body,), base)
    page = HtmlPage(shown.head, content, shown.links, hidden + escapes, truncated or parsed.cut, confidence)
    if shown.let_be:
        page.notes.append("The page hides its text until a script runs; it is given as the server sent it.")
    elif hidden > max(MUCH_HIDDEN, len(content) // 5):
        page.notes.append(
            f"{hidden:,} characters that the page does not show until something is clicked, or ever, were left out."
        )
    if len(content) < NEARLY_EMPTY:
        _from_data(page, text, data, base)
    if page.content:
        _add_facts(page, data, base)
    else:
        _instead_of_nothing(page, parsed.body, base)
    return page


def prepared(text: str, *, url: str) -> tuple[Element, str]:
    """The body of a page as the classifier gets it, and its title: for those who train one."""
    parsed = parse(text)
    return parsed.body, _shown(parsed, text, url, links=False).head.title


class _Shown(NamedTuple):
    """What a page says of itself, once what it hides (so many characters) is gone from its tree; `let_be`: some is left."""

    base: Base
    data: LinkedData
    head: Head
    links: tuple[str, ...]
    hidden: int
    let_be: bool


def _shown(parsed: Parsed, text: str, url: str, *, links: bool) -> _Shown:
    base = Base(url, parsed.head)
    data = linked_data(parsed.seen.linked_data)
    head = read_head(parsed, base, said_by(data))
    found = page_links(parsed.html, base) if links else ()
    hidden, let_be = drop_hidden(parsed, text)
    return _Shown(base, data, head, found, hidden, let_be)


def _from_data(page: HtmlPage, text: str, data: LinkedData, base: Base) -> None:
    """For a page that shows next to nothing: what its JSON-LD or the state of its scripts says, when that is more."""
    from webseam.documents.html.from_data import body_of, state_of  # few pages need it

    root = body_of(data)
    found = to_markdown((root,), base)[0] if root is not None else ""
    if len(found) < NEARLY_EMPTY and (root := state_of(text)) is not None:
        stated = to_markdown((root,), base)[0]
        found = stated if len(stated) > 2 * len(found) else found
    if len(found) <= len(page.content):
        return
    page.content = found if page.content in found else f"{page.content}\n\n{found}"
    page.confidence = None
    page.notes.append("The page shows its text only by running scripts, which is not done here: this is from the data in it.")


def _add_facts(page: HtmlPage, data: LinkedData, base: Base) -> None:
    """Put what a shop says of its product only in data under the page's first heading."""
    facts = product_facts(data)
    if not facts and (price := price_of(*page.head.price)):
        facts = [("Price", price)]
    if not facts or not (missing := missing_from(page.content, facts)):
        return
    lines = to_markdown((list_of_facts(missing),), base)[0]
    first, _, rest = page.content.partition("\n\n")
    parts = (first, lines, rest) if first.startswith("# ") and "\n" not in first else (lines, page.content)
    page.content = "\n\n".join([part for part in parts if part])
    page.notes.append("What the page says of its product only in data, not in its text, stands first.")


def drop_escapes_in(root: Element) -> int:
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
