"""Text that a reader of the page does not see: dropped and counted, because it is the way instructions are smuggled in.

An element is hidden by what it is (`<noembed>`), by `hidden`, `popover` or `aria-hidden="true"`, by the class that says "for
screen readers", or by an inline style that does not show it (`concealment`). Style sheets are not read. What stands at opacity
0 is not called hidden: of 1,497 real pages 67 fade in what they are about, a hundred thousand characters of it.

What the reader opens by a click is not hidden: a section that folds, a tab, a slide (`_open_folds`), known by a control
that names it or by the words in its class. A page may use those words for text that no click shows; so may it show the
text. Nor is hidden what a script puts in its place as soon as it has come, or what only stands behind a dialog
(`_stands_behind`).

Pages also hide what their server rendered until a script runs. So text hidden in the way of such pages (not displayed, not
visible) is let be when the page has scripts, shows next to nothing without them, and the hidden element holds most of its
text; what is hidden inside it stays so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from webseam.documents.chars import names as names_in
from webseam.documents.html.concealment import Concealment, concealment, readable_within
from webseam.documents.html.kept import STYLE_CHARS
from webseam.documents.html.tree import MAX_ELEMENTS, first

if TYPE_CHECKING:
    from webseam.documents.html.kept import Parsed, Seen
    from webseam.documents.html.tree import Child, Element

NEARLY_EMPTY = 80
"""Visible characters under which a page is thought to wait for its script; links and the frame around the content apart."""

NEARLY_EMPTY_WITH_FRAME = 400
"""The same with all that is visible but links of a few words, which are what such pages show: their menus."""

ENOUGH = 400
"""Characters of a page that waited for its script at which no more hidden text is shown: it comes in several parts."""

FEW_WORDS = 40
"""Characters of a link or a button in a menu. Longer ones are text that somebody reads."""

BEHIND_CHARS = 1_000
"""Characters from which an element may be the page itself, behind a dialog."""

MAX_STYLE_CHARS = 1_000_000
"""Of all inline styles of a page that differ. A page made against their reader has more."""

# Said for screen readers only: "Skip to content", "opens in a new window", labels of icons.
SCREEN_READER = frozenset(
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


_SPOKEN = SCREEN_READER  # a name of this module can be typed where it is compiled
_NONE, _SCRIPTED, _TEXT, _BOX = Concealment.NONE, Concealment.SCRIPTED, Concealment.TEXT, Concealment.BOX


# Words in the classes of what folds, on itself or on what it stands in.
_FOLDED = frozenset(
    {
        "accordion", "accordions", "answer", "carousel", "collapse", "collapsed", "collapsible", "details", "expand",
        "expandable", "expander", "faq", "pane", "panel", "panels", "slick", "slide", "slider", "slides", "swiper", "tab",
        "tabpanel", "tabs", "toggle",
    }
)  # fmt: skip
# A script that can do something (data in one has a type of its own), or what is left of one in a page that was saved.
_SCRIPT = re.compile(
    r"<script(?=[\s/>])(?![^>]{0,500}?\btype\s{0,9}=\s{0,9}[\"']?(?:application/(?:ld\+)?json|text/(?:template|html)))"
    r"|\bas=[\"']?script\b|/_next/|<noscript",
    re.IGNORECASE,
)

_STREAMED = re.compile(r"S:[0-9a-f]{1,4}")
_NAME_CHARS = 400


class Styles:
    """The inline styles of one page, each judged once; beyond `MAX_STYLE_CHARS` none is read, and its element not shown."""

    def __init__(self) -> None:
        self.known: dict[str, Concealment] = {}
        self.room = MAX_STYLE_CHARS
        self.spoken: dict[str, bool] = {}  # classes: whether one says "for screen readers"

    def judge(self, style: str) -> Concealment:
        found = self.known.get(style)
        if found is None:
            self.room -= len(style)
            read = self.room > 0 and len(style) < STYLE_CHARS  # what hides may stand behind a cut
            found = self.known[style] = concealment(style) if read else Concealment.BOX
        return found

    def is_spoken(self, names: str) -> bool:
        found = self.spoken.get(names)
        if found is None:
            found = self.spoken[names] = not _SPOKEN.isdisjoint(names.lower().split())
        return found


def hidden_by(element: Element, styles: Styles) -> Concealment:
    """How `element` says of itself that it is not shown."""
    if element.tag == "noembed":
        return _BOX
    attributes = element.attrs
    if not attributes:
        return _NONE
    if "popover" in attributes:
        return _BOX
    value = attributes.get("hidden")
    if value is not None:
        return _BOX if value.strip().lower() == "until-found" else _SCRIPTED
    value = attributes.get("aria-hidden")
    if value is not None and value.strip().lower() == "true":
        return _SCRIPTED
    value = attributes.get("class")
    if value and styles.is_spoken(value):
        return _BOX
    value = attributes.get("style")
    return styles.judge(value) if value else _NONE


def drop_hidden(page: Parsed, source: str = "") -> tuple[int, bool]:
    """Take hidden elements out of a page. Returns how many characters went, and whether some were let be for their share.

    `source` is the text of the page, in which scripts are looked for that might show what it hides; without it there are none.
    """
    seen = page.seen
    how = dict(seen.concealed)
    if not how:
        return 0, False
    elements, parents = seen.elements, seen.parents
    dropped = 0
    room = MAX_ELEMENTS
    for index in [index for index, kind in how.items() if kind is _TEXT]:
        if room < 0:
            how[index] = _BOX
            continue
        del how[index]
        count, work = _drop_text(elements[index])
        dropped += count
        room -= work
    for index in [index for index in how if _FORMULA in elements[index].attrs.get("class", "")]:
        if (formula := first(elements[index], "math")) is not None:
            del how[index]
            elements[index].children = [formula]
    _open_folds(how, seen)
    hidden = sorted(how)
    if _shows_enough(elements, parents, how) or not has_scripts(source):
        outermost = _outermost_within(0, seen.ends, hidden)
        _take_out(outermost, elements, parents)
        return dropped + sum([_size_of(elements[index]) for index in outermost]), False
    sizes, weights, shown = _measure(elements, parents)
    outermost = _outermost_within(0, seen.ends, hidden)
    visible = weights[0] - sum([weights[index] for index in outermost])
    with_frame = shown[0] - sum([shown[index] for index in outermost])
    waits = visible < NEARLY_EMPTY and with_frame < NEARLY_EMPTY_WITH_FRAME
    let_be = False
    shown_all_the_same: set[int] = set()
    # The largest first, of equals the one that was found first.
    parts = [(-weights[index], place, index) for place, index in enumerate(outermost) if how[index] is _SCRIPTED]
    heapify(parts)
    while waits and visible < ENOUGH and parts:
        # The page waits for a script: show the largest hidden part, and judge anew what is hidden inside it.
        largest = heappop(parts)[2]
        if weights[largest] <= max(visible, 0):
            break
        let_be = True
        shown_all_the_same.add(largest)
        inside = _outermost_within(largest, seen.ends, hidden)
        visible += weights[largest] - sum([weights[index] for index in inside])
        for index in inside:
            if how[index] is _SCRIPTED:
                heappush(parts, (-weights[index], len(outermost), index))
            outermost.append(index)
    outermost = [index for index in outermost if index not in shown_all_the_same]
    _take_out(outermost, elements, parents)
    return dropped + sum([sizes[index] for index in outermost]), let_be


def has_scripts(source: str) -> bool:
    """Whether a page has scripts, or shows that it had before it was saved."""
    at = source.find("<script")
    while at >= 0:  # nearly every page has one, written like this: a search for all that it might be comes after
        if _SCRIPT.match(source, at):
            return True
        at = source.find("<script", at + 1)
    return _SCRIPT.search(source) is not None


def _open_folds(how: dict[int, Concealment], seen: Seen) -> None:
    """Take out of `how` what the reader opens by a click: sections that fold, tabs, slides."""
    elements, opened = seen.elements, seen.opened
    sizes: list[int] = []
    for index in [index for index, kind in how.items() if kind is _SCRIPTED]:
        element = elements[index]
        if not sizes and "aria-hidden" in element.attrs:
            sizes = _sizes(elements, seen.parents)
        if (
            _folds(element, opened)
            or _folds(elements[seen.parents[index]], opened)
            or _stands_behind(element, sizes[index] if sizes else 0, sizes[0] if sizes else 0)
        ):
            del how[index]


def _sizes(elements: list[Element], parents: list[int]) -> list[int]:
    """The characters in each element."""
    sizes = [0] * len(elements)
    for index in range(len(elements) - 1, -1, -1):
        for child in elements[index].children:
            if isinstance(child, str):
                sizes[index] += len(child.strip())
        if index:
            sizes[parents[index]] += sizes[index]
    return sizes


def _stands_behind(element: Element, size: int, whole: int) -> bool:
    """Whether an element, of so many of a page's characters, is what the page shows: streamed by React into a box that a script
    then puts in its place, or hidden from screen readers, and from nobody else, while a dialog is open before it."""
    attributes = element.attrs
    if "hidden" in attributes:
        return _STREAMED.fullmatch(attributes.get("id", "")) is not None
    if "style" in attributes or "aria-hidden" not in attributes:
        return False
    return size > BEHIND_CHARS and 2 * size > whole


def _folds(element: Element, opened: set[str]) -> bool:
    attributes = element.attrs
    if not attributes:
        return False
    if attributes.get("role") == "tabpanel" or attributes.get("id") in opened:
        return True
    names = attributes.get("class")
    return names is not None and not _FOLDED.isdisjoint(names_in(names[:_NAME_CHARS], _NAME_CHARS))


def _take_out(places: list[int], elements: list[Element], parents: list[int]) -> None:
    gone = {elements[index] for index in places}
    for parent in {parents[index] for index in places}:
        element = elements[parent]
        element.children = [child for child in element.children if isinstance(child, str) or child not in gone]


def _shows_enough(elements: list[Element], parents: list[int], hidden: dict[int, Concealment]) -> bool:
    """Whether a page shows so much outside its links and its frame that it waits for no script. Most say it in a few lines."""
    out: list[bool] = []
    visible = 0
    for index in range(len(elements)):
        element = elements[index]
        outside = element.tag in _FRAME or (index > 0 and (index in hidden or out[parents[index]]))
        out.append(outside)
        if not outside:
            for child in element.children:
                if isinstance(child, str):
                    visible += len(child.strip())
            if visible >= NEARLY_EMPTY:
                return True
    return False


def _size_of(element: Element) -> int:
    """The characters in an element."""
    size = 0
    for child in element.children:
        size += len(child.strip()) if isinstance(child, str) else _size_of(child)
    return size


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
    sizes: list[int] = []
    weights: list[int] = []
    shown: list[int] = []
    aside: list[bool] = []
    unseen: list[bool] = []
    for index in range(len(elements)):
        element = elements[index]
        parent = parents[index]
        size = 0
        for child in element.children:
            if isinstance(child, str):
                size += len(child.strip())
        aside.append(element.tag in _FRAME or (index > 0 and aside[parent]))
        unseen.append(element.tag in _NOT_SEEN or (index > 0 and unseen[parent]))
        sizes.append(size)
        weights.append(0 if aside[index] else size)
        shown.append(0 if unseen[index] else size)
    for index in range(len(elements) - 1, 0, -1):
        parent = parents[index]
        if shown[index] <= FEW_WORDS and elements[index].tag in _IN_MENUS:
            shown[index] = 0
        sizes[parent] += sizes[index]
        weights[parent] += weights[index]
        shown[parent] += shown[index]
    return sizes, weights, shown


def _outermost_within(top: int, ends: list[int], hidden: list[int]) -> list[int]:
    """The outermost hidden elements inside the element at `top`: those that no other of them holds. `hidden` is sorted."""
    found: list[int] = []
    after, end = top + 1, ends[top]
    for index in hidden[bisect_left(hidden, after) :]:
        if index >= end:
            break
        if index >= after:
            found.append(index)
            after = ends[index]
    return found
