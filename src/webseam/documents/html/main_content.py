"""What of a page is worth reading: one call, `main_content`, from a tree to the nodes to keep. A hand-written heuristic.

How it works, in four steps over one preorder list of the elements with their text sizes:

1. What says of itself that it is no content is left out: by element (`nav`, `footer`, `aside`), by role, by the words in its
   class and id. A word proves little alone ("sidebar" is a class of many a body), so nothing goes that holds a large share of
   the page's text, its `<main>` or its first heading.
2. Comments go when there is an article above them, and stay where they are the content (forums).
3. Sections whose heading says that they lead elsewhere ("Related articles", "You may also like") go.
4. The smallest `<main>` or `<article>` that still holds most of the text is taken; else the body.

Where that leaves nearly nothing, the whole body is the answer: it is never empty when the page shows text. Whatever comes in
the place of this file keeps the call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webseam.documents.html import lexicon
from webseam.documents.html.tree import text_of

if TYPE_CHECKING:
    from webseam.documents.html.tree import Child, Element

SMALL_SHARE = 0.3
"""What holds more of the page's text than this is not judged by its class or id."""

LARGE_SHARE = 0.5
"""What holds more than this is not judged by its element or role either."""

MAIN_SHARE = 0.4
"""A `<main>` or `<article>` with less of the text outside links is one among others."""

ARTICLE_CHARS = 1_000
"""With this much text outside links and comments, comments are an appendix."""

FORM_CHARS = 300
"""A form with more text than this is a page inside a form, not a form on a page."""

FEW_CHARS = 100
"""Less than this is nearly nothing."""

HEADING_CHARS = 80
MAX_OTHER_SECTIONS = 200

_BOILERPLATE = frozenset({"nav", "footer", "aside", "dialog", "menu"})
_JUDGED_BY_NAME = frozenset(
    {
        "a", "center", "details", "div", "dl", "fieldset", "figure", "form", "header", "li", "ol", "p", "section", "span",
        "table", "ul",
    }
)  # fmt: skip
_REGIONS = frozenset({"div", "section", "ul", "ol", "li", "article", "form"})
_MAIN = frozenset({"main", "article"})
# A button here is the question that an answer folds out of.
_QUESTIONS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"})
_SPLIT = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}


@dataclass(frozen=True, slots=True)
class MainContent:
    """The nodes to keep, in document order, and the elements inside them to leave out.

    `confidence`, from 0 to 1, is how sure it is that these are what the page is about; None when nobody judged.
    """

    nodes: tuple[Element, ...]
    without: frozenset[Element] = frozenset()
    confidence: float | None = None


def main_content(body: Element) -> MainContent:
    """The part of `body` that is worth reading."""
    page = _Page(body)
    page.leave_out_boilerplate()
    page.leave_out_comments()
    page.leave_out_other_sections()
    return page.chosen()


class _Page:
    """The elements of a page in document order, by index.

    `begin` and `end` say where an element's text lies in the page's (in characters), `own` how much of it is not in an
    element inside; `gone` is an element that is left out, or is in one that is; `without` are the outermost of those.
    """

    def __init__(self, body: Element) -> None:
        self.elements: list[Element] = []
        self.parents: list[int] = []
        self.begin: list[int] = []
        self.end: list[int] = []
        self.own: list[int] = []
        self.in_link: list[bool] = []
        self._measure(body)
        self.total = max(1, self.end[0])
        self.gone = [False] * len(self.elements)
        self.without: set[int] = set()
        self.holds_main = self._holders_of_main()

    def _measure(self, body: Element) -> None:
        elements, parents, begin, end = self.elements, self.parents, self.begin, self.end
        own, in_link = self.own, self.in_link
        position = 0
        stack: list[tuple[Child | None, int, bool]] = [(body, -1, False)]
        while stack:
            node, parent, linked = stack.pop()
            if node is None:  # all of `parent` has been seen
                end[parent] = position
            elif isinstance(node, str):
                size = len(node.strip())
                position += size
                own[parent] += size
            else:
                index = len(elements)
                linked = linked or node.tag == "a"
                elements.append(node)
                parents.append(parent)
                begin.append(position)
                end.append(position)
                own.append(0)
                in_link.append(linked)
                if node.children:
                    stack.append((None, index, linked))
                    stack.extend([(child, index, linked) for child in reversed(node.children)])

    def _holders_of_main(self) -> list[bool]:
        holds = [False] * len(self.elements)
        for index in range(len(self.elements) - 1, -1, -1):
            element = self.elements[index]
            if element.tag in ("main", "h1") or element.attrs.get("role") == "main":
                holds[index] = True
            if holds[index] and index:
                holds[self.parents[index]] = True
        return holds

    def size(self, index: int) -> int:
        """Characters of text in an element."""
        return self.end[index] - self.begin[index]

    def leave_out(self, index: int) -> None:
        self.without.add(index)
        self.gone[index] = True

    # ---------------------------------------------------------------------------------------- 1. boilerplate

    def leave_out_boilerplate(self) -> None:
        unscripted = sum(self.size(index) for index, element in enumerate(self.elements) if element.tag == "noscript")
        keep_unscripted = unscripted > self.total - unscripted  # a page that shows nothing else (Discourse)
        in_article = [False] * len(self.elements)
        for index in range(1, len(self.elements)):
            parent = self.parents[index]
            tag = self.elements[index].tag
            in_article[index] = in_article[parent] or tag in ("main", "article")
            if self.gone[parent]:
                self.gone[index] = True
            elif tag == "noscript":
                if not keep_unscripted:
                    self.leave_out(index)
            elif tag == "button":
                if self.elements[parent].tag not in _QUESTIONS:
                    self.leave_out(index)
            elif tag == "header":
                if not self.holds_main[index] and not in_article[index] and self.size(index) <= LARGE_SHARE * self.total:
                    self.leave_out(index)
            elif self._is_boilerplate(index):
                self.leave_out(index)

    def _is_boilerplate(self, index: int) -> bool:
        element = self.elements[index]
        size = self.size(index)
        if size > LARGE_SHARE * self.total:
            return False
        if element.tag in _BOILERPLATE or element.attrs.get("role", "").lower() in lexicon.ROLES:
            return True
        if element.tag == "form" and size < FORM_CHARS:
            return True
        if element.tag not in _JUDGED_BY_NAME or self.holds_main[index] or size > SMALL_SHARE * self.total:
            return False
        return not lexicon.NAMES.isdisjoint(_words(element))

    # ---------------------------------------------------------------------------------------- 2. comments

    def leave_out_comments(self) -> None:
        if not lexicon.FORUM.isdisjoint(_words(self.elements[0])):
            return
        regions: list[int] = []
        inside = [False] * len(self.elements)
        plain = 0
        for index in range(1, len(self.elements)):
            if self.gone[index]:
                continue
            element = self.elements[index]
            inside[index] = inside[self.parents[index]]
            if not inside[index] and element.attrs and element.tag in _REGIONS:
                words = _words(element)
                if not lexicon.COMMENTS.isdisjoint(words):
                    regions.append(index)
                    inside[index] = True
                elif self.size(index) > LARGE_SHARE * self.total and not lexicon.FORUM.isdisjoint(words):
                    return
            if not inside[index] and not self.in_link[index]:
                plain += self.own[index]
        if plain >= ARTICLE_CHARS:
            for index in regions:
                self.leave_out(index)

    # ---------------------------------------------------------------------------------------- 3. sections that lead elsewhere

    def leave_out_other_sections(self) -> None:
        index_of = {id(element): index for index, element in enumerate(self.elements)}
        found = 0
        for index in range(1, len(self.elements)):
            if self.gone[self.parents[index]]:
                self.gone[index] = True
            element = self.elements[index]
            if self.gone[index] or element.tag not in _HEADINGS or self.size(index) > HEADING_CHARS:
                continue
            if not lexicon.ELSEWHERE.match(text_of(element)):
                continue
            found += 1
            if found > MAX_OTHER_SECTIONS:
                break
            top = self._section_of(index)
            self.leave_out(top)
            if self.size(top) <= self.size(index) + 20:  # the heading stands alone: what follows it is the section
                for sibling in self._until_next_heading(top, _HEADINGS[element.tag], index_of):
                    self.leave_out(sibling)

    def _section_of(self, heading: int) -> int:
        """The largest element around a heading that begins with it and is small enough to be a section."""
        top = heading
        while (parent := self.parents[top]) > 0:
            if (
                self.begin[heading] - self.begin[parent] > 3
                or self.size(parent) > SMALL_SHARE * self.total
                or self.holds_main[parent]
                or self.elements[parent].tag in ("main", "article")
            ):
                break
            top = parent
        return top

    def _until_next_heading(self, top: int, level: int, index_of: dict[int, int]) -> list[int]:
        """The elements after `top` up to a heading of its level, `<main>`, or the share that a section may have."""
        found: list[int] = []
        budget = SMALL_SHARE * self.total
        siblings = iter(self.elements[self.parents[top]].children)
        for child in siblings:
            if child is self.elements[top]:
                break
        for child in siblings:
            if isinstance(child, str):
                continue
            index = index_of[id(child)]
            budget -= self.size(index)
            if budget < 0 or _HEADINGS.get(child.tag, 9) <= level or child.tag in ("main", "article") or self.holds_main[index]:
                break
            found.append(index)
        return found

    # ---------------------------------------------------------------------------------------- 4. the choice

    def chosen(self) -> MainContent:
        kept = [0] * len(self.elements)  # characters that stay
        plain = [0] * len(self.elements)  # those of them outside links
        for index in range(len(self.elements)):
            if index and self.gone[self.parents[index]]:
                self.gone[index] = True
            if not self.gone[index]:
                kept[index] = self.own[index]
                plain[index] = 0 if self.in_link[index] else self.own[index]
        for index in range(len(self.elements) - 1, 0, -1):
            kept[self.parents[index]] += kept[index]
            plain[self.parents[index]] += plain[index]
        if kept[0] < FEW_CHARS and kept[0] < self.total:
            return MainContent((self.elements[0],))
        best = 0
        for index, element in enumerate(self.elements):
            if self.gone[index] or plain[index] <= max(MAIN_SHARE * plain[0], 2 * FEW_CHARS):
                continue
            if element.tag in _MAIN or element.attrs.get("role") in _MAIN or "articleBody" in element.attrs.get("itemprop", ""):
                best = index
        return MainContent((self.elements[best],), frozenset(self.elements[index] for index in self.without))


def _words(element: Element) -> frozenset[str]:
    """The words of an element's class and id: "postNav-left" says post, nav, left."""
    attributes = element.attrs
    if "class" not in attributes and "id" not in attributes:
        return frozenset()
    raw = attributes.get("class", "")[:300] + " " + attributes.get("id", "")[:100]
    return frozenset(_SPLIT.split(_CAMEL.sub(" ", raw).lower()))
