"""Text that a reader of the page does not see: dropped and counted, because it is the way instructions are smuggled in.

An element is hidden by what it is (`<noembed>`), by `hidden`, `popover` or `aria-hidden="true"`, by the class that says "for
screen readers", or by an inline style that does not show it (`concealment`). Style sheets are not read. What stands at opacity
0 is not called hidden: of 1,497 real pages 67 fade in what they are about, a hundred thousand characters of it.

Pages also hide what their server rendered until a script runs. So text hidden in the way of such pages (not displayed, not
visible) is let be when the page has scripts, shows next to nothing without them, and the hidden element holds most of its
text; what is hidden inside it stays so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.documents.html.concealment import Concealment, concealment, readable_within
from webseam.documents.html.tree import MAX_ELEMENTS, first, preorder

if TYPE_CHECKING:
    from webseam.documents.html.tree import Child, Element

NEARLY_EMPTY = 80
"""Visible characters under which a page is thought to wait for its script; links and the frame around the content apart."""

NEARLY_EMPTY_WITH_FRAME = 400
"""The same with all that is visible but links of a few words, which are what such pages show: their menus."""

ENOUGH = 400
"""Characters of a page that waited for its script at which no more hidden text is shown: it comes in several parts."""

FEW_WORDS = 40
"""Characters of a link or a button in a menu. Longer ones are text that somebody reads."""

MAX_STYLE_CHARS = 1_000_000
"""Of all inline styles of a page that differ. A page made against their reader has more."""

# Said for screen readers only: "Skip to content", "opens in a new window", labels of icons.
_SCREEN_READER = frozenset(
    {
        "sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "screen-reader", "screenreader",
        "screen-reader-only", "sr-text", "u-visually-hidden", "a11y-hidden", "show-for-sr", "element-invisible",
    }
)  # fmt: skip
_FRAME = frozenset({"a", "head", "nav", "header", "footer", "aside", "button", "noscript"})
_NOT_SEEN = frozenset({"head", "noscript"})
_IN_MENUS = frozenset({"a", "button"})
# MathML that the page shows as a picture: the picture goes, the formula stays (MediaWiki).
_FORMULA = "mwe-math-mathml"


_FOLDS = frozenset(
    {
        "accordion", "accordions", "answer", "carousel", "collapse", "collapsed", "collapsible", "details", "expand",
        "expandable", "expander", "faq", "pane", "panel", "panels", "slick", "slide", "slider", "slides", "swiper", "tab",
        "tabpanel", "tabs", "toggle",
    }
)  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Styles:
    """The inline styles of one page, each judged once; beyond `MAX_STYLE_CHARS` none is read, and its element not shown."""

    def __init__(self) -> None:
        self.known: dict[str, Concealment] = {}
        self.room = MAX_STYLE_CHARS

    def judge(self, style: str) -> Concealment:
        found = self.known.get(style)
        if found is None:
            self.room -= len(style)
            found = self.known[style] = concealment(style) if self.room > 0 else Concealment.BOX
        return found


def hidden_by(element: Element, styles: Styles) -> Concealment:
    """How `element` says of itself that it is not shown."""
    if element.tag == "noembed":
        return Concealment.BOX
    attributes = element.attrs
    if not attributes:
        return Concealment.NONE
    if "popover" in attributes or attributes.get("hidden", "").strip().lower() == "until-found":
        return Concealment.BOX
    if "hidden" in attributes or attributes.get("aria-hidden", "").strip().lower() == "true":
        return Concealment.SCRIPTED
    names = attributes.get("class")
    if names and not _SCREEN_READER.isdisjoint(names.lower().split()):
        return Concealment.BOX
    style = attributes.get("style")
    return styles.judge(style) if style else Concealment.NONE


def drop_hidden(root: Element, *, scripted: bool) -> tuple[int, bool]:
    """Take hidden elements out of the tree. Returns how many characters went, and whether some were let be for their share.

    `scripted` says whether the page has scripts that might show what it hides.
    """
    elements, parents = preorder(root)
    styles = Styles()
    how = {index: kind for index, element in enumerate(elements) if index and (kind := hidden_by(element, styles)).value}
    if not how:
        return 0, False
    dropped = 0
    room = MAX_ELEMENTS
    for index in [index for index, kind in how.items() if kind is Concealment.TEXT]:
        if room < 0:
            how[index] = Concealment.BOX
            continue
        del how[index]
        count, work = _drop_text(elements[index])
        dropped += count
        room -= work
    for index in [index for index in how if _FORMULA in elements[index].attrs.get("class", "")]:
        if (formula := first(elements[index], "math")) is not None:
            del how[index]
            elements[index].children = [formula]
    hidden = set(how)
    sizes, weights, shown = _measure(elements, parents)
    outermost = _outermost_within(0, elements, parents, hidden)
    folded = [index for index in outermost if how[index] is Concealment.SCRIPTED]
    if folded:
        outermost = _without_folded(folded, outermost, elements, parents, hidden, how)
    visible = weights[0] - sum(weights[index] for index in outermost)
    with_frame = shown[0] - sum(shown[index] for index in outermost)
    waits = scripted and visible < NEARLY_EMPTY and with_frame < NEARLY_EMPTY_WITH_FRAME
    let_be = False
    while waits and visible < ENOUGH:
        # The page waits for a script: show the largest hidden part, and judge anew what is hidden inside it.
        candidates = [index for index in outermost if how[index] is Concealment.SCRIPTED]
        largest = max(candidates, key=weights.__getitem__, default=-1)
        if largest < 0 or weights[largest] <= max(visible, 0):
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
    return dropped + sum(sizes[index] for index in outermost), let_be


def _without_folded(
    candidates: list[int],
    outermost: list[int],
    elements: list[Element],
    parents: list[int],
    hidden: set[int],
    how: dict[int, Concealment],
) -> list[int]:
    """What stays hidden when the folds of a page are opened: sections and tabs that the reader opens by a click."""
    opened: set[str] = set()
    for element in elements:
        attributes = element.attrs
        if not attributes:
            continue
        for name in ("aria-controls", "data-target", "data-bs-target", "href"):
            target = attributes.get(name, "")
            if name == "aria-controls" or target[:1] == "#":
                opened.update(target.removeprefix("#").split())
    remaining = [index for index in outermost if how[index] is not Concealment.SCRIPTED]
    stack = candidates
    while stack:
        index = stack.pop()
        if not _is_folded(elements, parents, index, opened):
            remaining.append(index)
            continue
        for inner in _outermost_within(index, elements, parents, hidden):
            if how[inner] is Concealment.SCRIPTED:
                stack.append(inner)
            else:
                remaining.append(inner)
    return remaining


def _is_folded(elements: list[Element], parents: list[int], index: int, opened: set[str]) -> bool:
    for _ in range(2):
        if index < 1:
            return False
        attributes = elements[index].attrs
        if attributes.get("id") in opened or attributes.get("role") == "tabpanel":
            return True
        if not _FOLDS.isdisjoint(_WORD.findall(_CAMEL.sub(" ", attributes.get("class", "")).lower())):
            return True
        index = parents[index]
    return False


def _drop_text(element: Element) -> tuple[int, int]:
    """Take the text out of `element`, whose letters are not to be seen, but not out of what has readable letters inside.

    Returns how many characters went, and how much work it was, in elements.
    """
    readable = readable_within(element.attrs["style"])
    dropped = work = 0
    stack = [element]
    while stack:
        one = stack.pop()
        work += 1 + len(one.attrs.get("style", "")) // 30
        kept: list[Child] = []
        for child in one.children:
            if isinstance(child, str):
                dropped += len(child.strip())
                continue
            kept.append(child)
            if not ("style" in child.attrs and readable(child.attrs["style"])):
                stack.append(child)
        one.children = kept
    return dropped, work


def _measure(elements: list[Element], parents: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Of every element: the characters in it; those that are neither in a link nor in the frame around the content; and those
    that are not in a menu."""
    sizes = [sum(len(child.strip()) for child in element.children if isinstance(child, str)) for element in elements]
    aside: list[bool] = []
    unseen: list[bool] = []
    for index, element in enumerate(elements):
        aside.append(element.tag in _FRAME or (index > 0 and aside[parents[index]]))
        unseen.append(element.tag in _NOT_SEEN or (index > 0 and unseen[parents[index]]))
    weights = [0 if out else size for size, out in zip(sizes, aside, strict=True)]
    shown = [0 if out else size for size, out in zip(sizes, unseen, strict=True)]
    for index in range(len(elements) - 1, 0, -1):
        if elements[index].tag in _IN_MENUS and shown[index] <= FEW_WORDS:
            shown[index] = 0
        sizes[parents[index]] += sizes[index]
        weights[parents[index]] += weights[index]
        shown[parents[index]] += shown[index]
    return sizes, weights, shown


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
