"""Text that a reader of the page does not see: dropped and counted, because it is the way instructions are smuggled in.

An element is hidden by `hidden`, `aria-hidden="true"`, or an inline style that does not show it. Style sheets are not read.
But pages also hide what their server rendered until a script runs. So a hidden element is let be when the page without it
would be nearly empty (links, header and footer not counted) and it holds most of the text; what is hidden inside it stays so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.documents.html.tree import preorder

if TYPE_CHECKING:
    from webseam.documents.html.tree import Element

NEARLY_EMPTY = 400
"""Visible characters under which a page is thought to wait for its script."""

_STYLE = re.compile(
    r"""display\s*:\s*none
      | visibility\s*:\s*(?:hidden|collapse)
      | font-size\s*:\s*0(?:\.0+)?(?:px|pt|r?em|%|\s*(?:[;!]|$))
      | (?:text-indent|left|top|right|bottom|margin(?:-left|-top)?)\s*:\s*-\d{4,}
      | clip\s*:\s*rect\(\s*(?:0(?:px)?|1px)[\s,]+(?:0(?:px)?|1px)[\s,]+(?:0(?:px)?|1px)[\s,]+(?:0(?:px)?|1px)\s*\)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_NO_ROOM = re.compile(r"(?:^|[;\s])(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:[;!]|$)", re.IGNORECASE)
_CUT_OFF = re.compile(r"overflow\s*:\s*hidden", re.IGNORECASE)
_MAX_STYLE = 1_000
# Said for screen readers only: "Skip to content", "opens in a new window", labels of icons.
_SCREEN_READER = frozenset(
    {
        "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader", "screenreader",
        "screen-reader-only", "sr-text", "u-visually-hidden", "a11y-hidden", "show-for-sr", "element-invisible",
    }
)  # fmt: skip
_FRAME = frozenset({"a", "head", "nav", "header", "footer", "aside", "button", "noscript"})
# MathML that the page shows as a picture: the picture goes, the formula stays (MediaWiki).
_FORMULA = "mwe-math-mathml"


def is_hidden(element: Element) -> bool:
    """Whether `element` says of itself that it is not shown."""
    attributes = element.attrs
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    style = attributes.get("style", "")[:_MAX_STYLE]
    if style and (_STYLE.search(style) or (_NO_ROOM.search(style) and _CUT_OFF.search(style))):
        return _FORMULA not in attributes.get("class", "")
    names = attributes.get("class")
    return bool(names) and not _SCREEN_READER.isdisjoint(names.lower().split())  # type: ignore[union-attr] # bool(names) says it


def drop_hidden(root: Element) -> tuple[int, bool]:
    """Take hidden elements out of the tree. Returns how many characters went, and whether some were let be for their share."""
    elements, parents = preorder(root)
    hidden = {index for index, element in enumerate(elements) if index and is_hidden(element)}
    if not hidden:
        return 0, False
    sizes, weights = _measure(elements, parents)
    outermost = _outermost_within(0, elements, parents, hidden)
    visible = weights[0] - sum(weights[index] for index in outermost)
    let_be = False
    while visible < NEARLY_EMPTY and outermost:
        # The page waits for a script: show the largest hidden part, and judge anew what is hidden inside it.
        largest = max(outermost, key=weights.__getitem__)
        if weights[largest] <= max(visible, 0):
            break
        let_be = True
        outermost.remove(largest)
        inside = _outermost_within(largest, elements, parents, hidden)
        visible += weights[largest] - sum(weights[index] for index in inside)
        outermost += inside
    gone = {id(elements[index]) for index in outermost}
    for parent in {parents[index] for index in outermost}:
        element = elements[parent]
        element.children = [child for child in element.children if id(child) not in gone]
    return sum(sizes[index] for index in outermost), let_be


def _measure(elements: list[Element], parents: list[int]) -> tuple[list[int], list[int]]:
    """Of every element: the characters in it, and those that are neither in a link nor in the frame around the content."""
    sizes: list[int] = []
    weights: list[int] = []
    aside: list[bool] = []
    for index, element in enumerate(elements):
        aside.append(element.tag in _FRAME or (index > 0 and aside[parents[index]]))
        size = sum(len(child.strip()) for child in element.children if isinstance(child, str))
        sizes.append(size)
        weights.append(0 if aside[index] else size)
    for index in range(len(elements) - 1, 0, -1):
        sizes[parents[index]] += sizes[index]
        weights[parents[index]] += weights[index]
    return sizes, weights


def _outermost_within(top: int, elements: list[Element], parents: list[int], hidden: set[int]) -> list[int]:
    """The outermost hidden elements inside the element at `top` (which in preorder are those right after it)."""
    covered: set[int] = set()
    found: list[int] = []
    for index in range(top + 1, len(elements)):
        if parents[index] < top:
            break
        if parents[index] in covered:
            covered.add(index)
        elif index in hidden:
            covered.add(index)
            found.append(index)
    return found
