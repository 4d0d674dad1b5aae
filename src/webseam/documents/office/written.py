"""A tree that was built by hand as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.tree import Element, preorder

if TYPE_CHECKING:
    from webseam.documents.html.links import Base
    from webseam.documents.html.tree import Child

MAX_NESTING = 8
"""Lists, tables and groups within one another; deeper ones are left out."""


def written(tree: Element, base: Base, limit: int) -> tuple[str, bool]:
    """The Markdown of `tree`, and whether it was cut at `limit` characters."""
    elements, parents = preorder(tree)
    for place in range(len(elements) - 1, 0, -1):
        if elements[place].blocky:
            elements[parents[place]].blocky = True
    return to_markdown((tree,), base, limit=limit)


class Lists:
    """Items as they come, each with its level, put into nested lists below `into`."""

    def __init__(self, into: Element) -> None:
        self._into = into
        self._open: list[tuple[int, Element]] = []

    def end(self) -> None:
        """What follows belongs to no list."""
        self._open.clear()

    def item(self, line: list[Child], level: int, *, ordered: bool) -> None:
        """Add one item."""
        level = min(level, MAX_NESTING)
        tag = "ol" if ordered else "ul"
        lists = self._open
        while lists and (lists[-1][0] > level or (lists[-1][0] == level and lists[-1][1].tag != tag)):
            lists.pop()
        if not lists or lists[-1][0] < level:
            made = Element(tag)
            above = lists[-1][1].children[-1] if lists else self._into
            assert isinstance(above, Element)
            above.children.append(made)
            lists.append((level, made))
        lists[-1][1].children.append(Element("li", {}, line))
