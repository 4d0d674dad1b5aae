"""Running headers, footers and page numbers of a PDF, found by what they say and where they stand. Pure.

What a page says must not be lost because its neighbours say nearly the same ("Invoice 1001", "Invoice 1002"). So a line is
taken for a running one only when all of this holds: it stands alone near the upper or lower edge of its page, at the same
height on most pages (or on most of the odd ones, or of the even ones), in letters that are no larger than those of the text,
with the very same words. Its numbers are the same too, but for one that counts up with the pages and is set like the number of
a page: alone, behind "page", or apart from the words. With such a number most pages from its first to its last are enough, as
headers change with the chapter; and three pages are, where there is nothing but the number.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import product
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webseam.documents.pdf_layout import Block

MARGIN = 0.12
"""Of the height of a page, from either edge: where running lines stand."""

LARGER = 1.15
"""Times the size of the text from which a line is a heading."""

FEWEST = 3
"""Pages that show a line, at least."""

_LINE_CHARS = 150
_LINES = 3  # of a header or a footer
_SAME_HEIGHT = 6.0  # points
_COUNTS = "\0"  # stands in no text
_NUMBER = re.compile(r"[0-9]{1,6}")
_NUMBERS = 3  # of one line, of which any may be the page's
_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"([^\W\d_]{1,12})[.\s]{0,3}$")
_NO_PAGE = re.compile(r"(?:[:#№]|\b(?:no|nr)\.?)\s*$", re.IGNORECASE)
_PAGE_WORDS = frozenset(
    {
        "page", "pages", "pg", "p", "pp", "seite", "seiten", "página", "páginas", "pagina", "pág", "pag", "sida", "side",
        "sivu", "strona", "str", "strana", "stránka", "oldal", "sayfa", "halaman", "trang", "bladzijde", "blz", "страница",
        "стр", "сторінка", "стор", "σελίδα", "第", "页", "頁", "ページ", "페이지", "쪽",
    }
)  # fmt: skip
_AROUND_PAGE_WORDS = _PAGE_WORDS | {
    "of", "de", "von", "di", "van", "av", "af", "sur", "z", "ze", "из", "з", "共", "计", "計", "の", "중",
}  # fmt: skip


class Box(NamedTuple):
    """Where a page ends below and above, in points."""

    bottom: float
    top: float


class _Line(NamedTuple):
    """A line near an edge of a page: `page` is counted from 0, `height` in points from that edge."""

    page: int
    block: Block
    height: float
    keys: frozenset[str]


def drop_running_lines(pages: Sequence[list[Block]], boxes: Sequence[Box]) -> int:
    """Take running lines out of `pages`, and say how many went.

    The first of each stays, unless it is nothing but the number of a page. A page with hardly anything else on it keeps them.
    """
    full = [number for number, blocks in enumerate(pages) if len(blocks) > 2]
    if len(full) < FEWEST:
        return 0
    body = _body(pages)
    lines = [line for number in full for line in _near_edges(number, pages[number], boxes[number], body)]
    running = _running(lines, full)
    dropped: dict[int, set[int]] = defaultdict(set)
    met: set[str] = set()
    for line in lines:
        found = {key for key in line.keys & running.keys() if abs(line.height - running[key]) <= _SAME_HEIGHT}
        if found & met or (_is_bare(line.block.text) and any(_COUNTS in key for key in found)):
            dropped[line.page].add(id(line.block))
        met |= found
    for number, gone in dropped.items():
        pages[number][:] = [block for block in pages[number] if id(block) not in gone]
    return sum(map(len, dropped.values()))


def _body(pages: Iterable[list[Block]]) -> float:
    """The size of the letters of the text."""
    sizes: Counter[float] = Counter()
    for blocks in pages:
        for block in blocks:
            sizes[block.size] += len(block.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _near_edges(number: int, blocks: list[Block], box: Box, body: float) -> list[_Line]:
    """The lines of a page that may be running ones: the outermost, near its upper and its lower edge."""
    found: list[_Line] = []
    reach = MARGIN * (box.top - box.bottom)
    downwards = sorted(blocks, key=lambda block: -block.y)
    for edge, inwards in ((box.top, downwards), (box.bottom, downwards[::-1])):
        for block in inwards[:_LINES]:
            height = abs(block.y - edge)
            if block.lines > 1 or len(block.text) > _LINE_CHARS or height > reach:
                break  # what is farther in has text beyond it
            if block.size < LARGER * body:
                side = "above" if edge == box.top else "below"
                found.append(_Line(number, block, height, frozenset(f"{side} {key}" for key in _keys(block, number))))
    return found


def _keys(block: Block, page: int) -> Iterable[str]:
    """What the line would have to be the same in on other pages: itself, or itself with the page's number in some place.

    A number that is taken for the page's is written as its distance from it, which is the same on every page.
    """
    text = block.text
    numbers = list(_NUMBER.finditer(text))
    places = [match for match in numbers if _is_page_number(block, match)] if len(numbers) <= _NUMBERS else []
    for chosen in product((False, True), repeat=len(places)):
        key = ""
        at = 0
        for match, counts in zip(places, chosen, strict=True):
            if counts:
                key += f"{text[at : match.start()]}{_COUNTS}{int(match.group()) - page} "
                at = match.end()
        yield key + text[at:]


def _is_page_number(block: Block, match: re.Match[str]) -> bool:
    """Whether a number is set as the number of a page is."""
    if _is_bare(block.text):
        return True
    before, after = block.text[: match.start()], block.text[match.end() :]
    if _NO_PAGE.search(before):
        return False
    word = _LAST_WORD.search(before)
    if word is not None and word[1].lower() in _PAGE_WORDS:
        return True
    if not before.strip():
        return block.pieces[:1] == (match.group(),) or after.lstrip()[:1] in ("|", "•", "·")
    return not after.strip() and (block.pieces[-1:] == (match.group(),) or before.rstrip()[-1:] in ("|", "•", "·"))


def _is_bare(text: str) -> bool:
    """Whether a line is nothing but the number of a page: "12", "- 12 -", "Page 12 of 40"."""
    return _NUMBER.search(text) is not None and all(word.lower() in _AROUND_PAGE_WORDS for word in _WORD.findall(text))


def _running(lines: Sequence[_Line], full: Sequence[int]) -> dict[str, float]:
    """The keys that stand at one height on most pages, or most odd or even ones, and that height."""
    groups: dict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        for key in line.keys:
            groups[key].append(line)
    sides = [sum(1 for number in full if number % 2 == side) for side in (0, 1)]
    found: dict[str, float] = {}
    for key, group in groups.items():
        if len(group) < FEWEST:
            continue
        height = median(line.height for line in group)
        shown = {line.page for line in group if abs(line.height - height) <= _SAME_HEIGHT}
        on_side = [sum(1 for page in shown if page % 2 == side) for side in (0, 1)]
        if len(shown) < FEWEST:
            continue
        if len(shown) > len(full) / 2 or any(FEWEST <= on_side[side] > sides[side] / 2 for side in (0, 1)):
            found[key] = height
        elif _COUNTS in key:
            first, last = min(shown), max(shown)
            step = 1 if all(on_side) else 2
            if len(shown) > ((last - first) // step + 1) / 2 or _is_bare(group[0].block.text):
                found[key] = height
    return found
