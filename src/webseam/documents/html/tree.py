"""The tree that the rest of `documents.html` works on: plain elements, bounded in depth and number by the loader.

It is ours and not the parser's, so that the parser can be changed in one file (`parse.py`), and so that a walk may recurse:
no tree is deeper than `MAX_DEPTH`. Elements know their children, not their parents: a tree has no reference cycles and is
freed as soon as a document is done with. Whoever needs parents asks `preorder`.
"""

from __future__ import annotations

from typing import TypeAlias

MAX_DEPTH = 120
"""What lies deeper goes into the last element above it, as in browsers at 512. The deepest of 1,497 real pages has 54."""

MAX_ELEMENTS = 150_000
"""Elements of a page that are looked at. The largest of 1,497 real pages has 10,000."""

BLOCK = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl",
        "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
        "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup", "option",
        "p", "plaintext", "pre", "search", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th",
        "thead", "tr", "ul", "xmp",
    }
)  # fmt: skip
"""Elements that begin a new block (HTML Standard, section 15.3, "display: block" and the list and table displays)."""


class Element:
    """One element. `blocky` says that it is a block, or holds one. Attribute names are lower case; values are bounded."""

    __slots__ = ("attrs", "blocky", "children", "tag")

    def __init__(self, tag: str, attrs: dict[str, str] | None = None, children: list[Child] | None = None) -> None:
        self.tag = tag
        self.attrs = attrs if attrs is not None else {}
        self.children: list[Child] = children if children is not None else []
        self.blocky = is_block(tag)

    def __repr__(self) -> str:
        return f"<{self.tag} {self.attrs}> with {len(self.children)} children"


Child: TypeAlias = Element | str


def is_block(tag: str) -> bool:
    """Whether `tag` begins a new block. Custom elements do: pages are built of them (`<app-root>`), but not MathJax's."""
    return tag in BLOCK or ("-" in tag and not tag.startswith("mjx-"))


def preorder(root: Element) -> tuple[list[Element], list[int]]:
    """Every element of `root` in document order, itself first, and for each the index of its parent (-1 for the root)."""
    elements: list[Element] = []
    parents: list[int] = []
    stack: list[tuple[Element, int]] = [(root, -1)]
    while stack:
        element, parent = stack.pop()
        index = len(elements)
        elements.append(element)
        parents.append(parent)
        if element.children:
            stack.extend([(child, index) for child in reversed(element.children) if not isinstance(child, str)])
    return elements, parents


def text_of(element: Element) -> str:
    """All text in `element`, white space collapsed."""
    parts: list[str] = []
    stack: list[Child] = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        else:
            if node.blocky:
                parts.append(" ")
            stack.extend(reversed(node.children))
    return " ".join("".join(parts).split())


def first(root: Element, tag: str) -> Element | None:
    """The first element called `tag`, in document order."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag == tag:
            return element
        stack.extend([child for child in reversed(element.children) if not isinstance(child, str)])
    return None
