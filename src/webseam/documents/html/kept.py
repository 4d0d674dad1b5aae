"""What is kept of a parsed page, whichever parser read it: the attributes, the elements, and the tree's last touches.

The loop that makes `tree.Element` of what a parser found is in `load`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from webseam.documents.html.concealment import Concealment

LEFT_BEHIND = frozenset(
    {
        "script", "style", "object", "embed", "applet", "canvas", "audio", "video", "param", "source", "track", "svg",
        "iframe", "select", "option", "datalist", "textarea",
    }
)  # fmt: skip
SPECIAL = LEFT_BEHIND | {"template"}
"""Elements that are not copied; what stands in their place, if anything, takes a closer look."""

KEPT_ATTRIBUTES = frozenset(
    {
        "align", "alt", "alttext", "aria-controls", "aria-hidden", "aria-label", "checked", "cite", "class", "colspan",
        "content", "data-bs-target", "data-lang", "data-language", "data-lazy-src", "data-original", "data-src",
        "data-srcset", "data-target", "datetime", "dir", "display", "encoding", "height", "hidden", "href",
        "http-equiv", "id", "itemprop", "itemtype", "lang", "language", "name", "open", "popover", "property", "rel",
        "reversed", "role", "rowspan", "src", "srcset", "start", "style", "title", "type", "value", "width",
    }
)  # fmt: skip
SPLIT_ATTRIBUTES = frozenset({"class", "rel"})
"""Those of the kept attributes that are sets of tokens: white space around a token is not part of it."""

CONTROLS = frozenset({"data-bs-target", "data-target", "href"})
"""Attributes that say which element of the page is shown when theirs is clicked, as `#id`; besides `aria-controls`."""

VALUE_CHARS = LIMITS.url_chars + 1
"""Where an attribute's value is cut. One beyond any use (a data: URL in `src`) stays so; its beginning says what it is."""


MAX_LINKED_DATA = 30
LINKED_CHARS = 500_000
"""Scripts of JSON-LD that are kept of a page, and how long one may be."""

STYLE_CHARS = 65_536
"""Where a style is cut: what hides an element may stand at its end."""


def cut_value(name: str, value: str) -> str:
    """An attribute's value that is longer than `VALUE_CHARS`, as much of it as is kept."""
    return value[: STYLE_CHARS if name == "style" else VALUE_CHARS]


@dataclass(slots=True)
class Seen:
    """What was noted of the elements of a page while they were made, in document order; the root is the first."""

    elements: list[Element] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)  # of each; -1 for the root
    ends: list[int] = field(default_factory=list)  # where the elements in it are over
    concealed: dict[int, Concealment] = field(default_factory=dict)  # those that say of themselves that they are not shown
    opened: set[str] = field(default_factory=set)  # the ids that something on the page leads to or controls
    linked_data: list[str] = field(default_factory=list)  # what stands in scripts of JSON-LD


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed page: its root, its head, and its body (or frameset, or the root again). `cut`: elements were left out.

    `escapes`: there may be escape sequences of a terminal in its text.
    """

    html: Element
    head: Element
    body: Element
    seen: Seen
    cut: bool = False
    escapes: bool = False


def parsed(html: Element, seen: Seen | None = None, *, cut: bool, escapes: bool = False) -> Parsed:
    """A page from its copied tree."""
    head = body = None
    for child in html.children:
        if isinstance(child, Element):
            if child.tag == "head" and head is None:
                head = child
            elif child.tag in ("body", "frameset") and body is None:
                body = child
    return Parsed(html, head or Element("head"), body or html, seen or Seen([html], [-1], [1]), cut, escapes)


def is_linked_data(kind: str) -> bool:
    """Whether that is the type of a script of JSON-LD, as it is written on pages."""
    return "ld+json" in kind.lower()


def tex_of_script(kind: str, tex: str) -> Element | None:
    """The formula that MathJax 2 keeps in a `<script type="math/tex">`; None for any other type of script."""
    if not kind.startswith("math/tex"):
        return None
    return Element("math", {"alt": tex[: LIMITS.url_chars], "display": "block" if "display" in kind else ""})
