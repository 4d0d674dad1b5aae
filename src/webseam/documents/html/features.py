"""What the classifier is told of each block: a row of numbers.

The row of a block has `WIDTH` numbers: its own text, its place, the containers around it, the other blocks like it, the
headings it stands under, the page, and a few of the numbers of the three blocks before and after it.
"""

from __future__ import annotations

import math
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from webseam.documents.chars import words as words_of
from webseam.documents.html.blocks import CONTEXT, WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webseam.documents.html.blocks import Blocks

_TAGS = (
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "td", "th", "div", "pre", "blockquote", "dt", "dd", "figcaption", "section",
    "article", "summary", "ul", "main",
)  # fmt: skip
_TAG_PLACE = {tag: place for place, tag in enumerate(_TAGS)}
_OTHER_TAG = len(_TAGS)

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HEADINGS = HEADINGS  # a name of this module can be typed where it is compiled
_LEVEL = {f"h{level}": level for level in range(1, 7)}
_LONG = 100

OWN = 73
PAGE = 15
NEIGHBOURS = (0, 2, 9, 16, 20, 22, 5, 26)
SIDES = 3
BASE = OWN + len(CONTEXT) + (_OTHER_TAG + 1) + PAGE
WIDTH = BASE + len(NEIGHBOURS) * 2 * SIDES


class Lexicon(NamedTuple):
    """Log-odds that a block is content: by a word of the class, id or role of what holds it, and by a word in its text."""

    names: Mapping[str, float]
    words: Mapping[str, float]


_LOGS = array("d", [math.log1p(number) for number in range(4096)])


def _log(number: int) -> float:
    return _LOGS[number] if number < 4096 else math.log1p(number)


def zeros(kind: str, count: int) -> array[Any]:
    """So many numbers, 0 each."""
    return array(kind, (0,)) * count


class _Marks:
    """What characters a text has."""

    __slots__ = ("bar", "capitals", "copyright", "dated", "digits", "money", "punctuation", "wide")

    def __init__(self) -> None:
        self.punctuation = self.capitals = self.digits = 0  # the last two of ASCII
        self.wide = 0  # of CJK, near enough
        self.bar = self.copyright = self.money = False
        self.dated = False  # a year, or a time of the day

    def count(self, text: str) -> None:
        punctuation = capitals = digits = wide = 0
        bar = copyright_ = money = dated = False
        run = number = 0  # how many digits stand right before, and what they say; -1 after digits and a colon
        for char in text:
            if "0" <= char <= "9":
                digits += 1
                if run < 0:
                    dated = True
                    run = 0
                if run == 0:
                    number = 0
                if run < 4:
                    number = number * 10 + ord(char) - 48
                run += 1
                continue
            if run:
                if run == 4 and 1900 <= number < 2100:
                    dated = True
                run = -1 if run > 0 and char == ":" else 0
            if "a" <= char <= "z" or char == " ":
                continue
            if char >= "\u2e80":
                wide += 1
            if "A" <= char <= "Z":
                capitals += 1
            elif char in ".,;:!?。，！？；：、":
                punctuation += 1
            elif char in "$€£¥￥₹":
                money = True
            elif char == "|":
                bar = True
            elif char == "©":
                copyright_ = True
        if run == 4 and 1900 <= number < 2100:
            dated = True
        self.punctuation, self.capitals, self.digits, self.wide = punctuation, capitals, digits, wide
        self.bar, self.copyright, self.money, self.dated = bar, copyright_, money, dated


def features(blocks: Blocks, lexicon: Lexicon, title: str) -> array[float]:
    """The rows of all blocks, one after the other."""
    count = len(blocks.texts)
    made = zeros("d", WIDTH * count)
    if not count:
        return made
    rows = made
    texts, by_name, by_word = blocks.texts, lexicon.names, lexicon.words
    block_tags, tags = blocks.tags, blocks.element_tags
    link_chars, holders = array("q", blocks.link_chars), array("q", blocks.holders)
    parents, signatures, named = array("q", blocks.parents), array("q", blocks.signatures), array("q", blocks.named)
    contexts, depths, sizes, first_words = blocks.contexts, blocks.depths, blocks.sizes, blocks.words
    elements = len(parents)
    width, base, sides, of_page = WIDTH, BASE, SIDES, PAGE
    tags_from, page_from = OWN + len(CONTEXT), BASE - PAGE

    # What the elements hold; whatever holds one comes before it.
    text = zeros("q", elements)
    link = zeros("q", elements)
    held = zeros("q", elements)
    for index in range(count):
        element = holders[index]
        text[element] += len(texts[index])
        link[element] += link_chars[index]
        held[element] += 1
    for element in range(elements - 1, 0, -1):
        parent = parents[element]
        text[parent] += text[element]
        link[parent] += link[element]
        held[parent] += held[element]
    total = max(1, text[0])

    # What their names say: the least, the most and the sum from the body down, and their own.
    different = len(blocks.said)
    lowest, highest, sums = zeros("d", different), zeros("d", different), zeros("d", different)
    for place in range(different):
        low = high = sum_ = 0.0
        for name in blocks.said[place]:
            found = by_name.get(name)
            if found is not None:
                value = found
                sum_ += value
                low = min(low, value)
                high = max(high, value)
        lowest[place], highest[place], sums[place] = low, high, sum_
    least, most, summed, own = zeros("d", elements), zeros("d", elements), zeros("d", elements), zeros("d", elements)
    for element in range(elements):
        parent, place = parents[element], named[element]
        least[element], most[element], summed[element], own[element] = lowest[place], highest[place], sums[place], sums[place]
        if parent >= 0:
            least[element] = min(least[parent], lowest[place])
            most[element] = max(most[parent], highest[place])
            summed[element] = summed[parent] + sums[place]

    # Blocks alike, by the path of tags and names that leads to them.
    alike = zeros("q", elements + 1)
    alike_text = zeros("q", elements + 1)
    alike_link = zeros("q", elements + 1)
    # Where the long paragraphs are.
    prose = zeros("d", elements)
    long_blocks = long_text = headings = 0
    times: dict[str, int] = {}
    heading = -1
    for index in range(count):
        size, linked, element = len(texts[index]), link_chars[index], holders[index]
        signature = signatures[element]
        alike[signature] += 1
        alike_text[signature] += size
        alike_link[signature] += linked
        if block_tags[index] in _HEADINGS:
            headings += 1
            if heading < 0 and block_tags[index] == "h1":
                heading = index
        times[texts[index]] = times.get(texts[index], 0) + 1
        if size > _LONG and linked < 0.3 * size:
            long_blocks += 1
        if size > 60 and linked < 0.4 * size:
            long_text += size
            share = 1.0
            while element >= 0 and share > 0.3:
                prose[element] += (size - linked) * share
                element = parents[element]
                share *= 0.8
    best = 0
    for element in range(elements):
        if prose[element] > prose[best]:
            best = element
    above_best = zeros("d", elements)
    for element in range(elements):
        if element == best or (parents[element] >= 0 and above_best[parents[element]] > 0.0):
            above_best[element] = 1.0

    kinds = {"article": 0, "main": 0, "li": 0, "td": 0, "form": 0}
    for tag in tags:
        if tag in kinds:
            kinds[tag] += 1
    page = array("d", (
        _log(total), link[0] / total, _log(count), min(kinds["article"], 20), min(kinds["main"], 3), _log(long_blocks),
        prose[best] / total, heading / count, _log(kinds["li"]), _log(kinds["td"]), _log(kinds["form"]), 0.0, 0.0, 0.0, 0.0,
    ))  # fmt: skip

    title_words = frozenset(words_of(title, WORDS)[0])
    marks = _Marks()
    seen: dict[str, int] = {}
    section_score = section_worst = 0.0
    section_from = 0
    before = long_before = headings_before = 0
    met = zeros("q", elements + 1)
    open_ = array("q", [-1] * 7)  # the heading of each level that a block stands under
    nearest = nearest_level = outermost = outermost_level = 0  # of these headings; level 0 where there is none
    opened = 0
    money = dated = asking = wide = 0
    for index in range(count):
        string = texts[index]
        size, linked, holder = len(string), link_chars[index], holders[index]
        words, number = first_words[index], sizes[index]
        score = worst = 0.0
        hits = 0
        shared = False
        for word in words:
            found = by_word.get(word)
            if found is not None:
                value = found
                score += value
                hits += 1
                worst = min(worst, value)
            if word in title_words:
                shared = True
        first = parents[holder] if parents[holder] >= 0 else holder
        second = parents[first] if parents[first] >= 0 else first
        third = parents[second] if parents[second] >= 0 else second
        fifth = third
        for _ in range(2):
            fifth = parents[fifth] if parents[fifth] >= 0 else fifth
        signature = signatures[holder]
        same = alike[signature]
        repeated = seen.get(string, 0)
        seen[string] = repeated + 1
        in_title = len(title_words.intersection(words)) if shared else 0
        last = string[-1]
        at = index * width
        rows[at] = _log(size)
        rows[at + 1] = _log(number)
        rows[at + 2] = linked / size
        rows[at + 3] = size / max(1, number)
        marks.count(string)
        rows[at + 4] = 10 * marks.punctuation / size
        rows[at + 5] = 1.0 if last in ".!?。！？…\"”'" else 0.0
        rows[at + 6] = 1.0 if last in ":：" else 0.0
        rows[at + 7] = marks.capitals / size
        rows[at + 8] = marks.digits / size
        rows[at + 9] = float(number > 20)
        rows[at + 10] = depths[index]
        rows[at + 11] = index / count
        rows[at + 12] = before / total
        rows[at + 13] = _log(index)
        rows[at + 14] = _log(count - index)
        rows[at + 15] = float(repeated)
        rows[at + 16] = score / (hits + 1)
        rows[at + 17] = score
        rows[at + 18] = worst
        rows[at + 19] = hits / (number + 1)
        rows[at + 20] = least[holder]
        rows[at + 21] = most[holder]
        rows[at + 22] = summed[holder]
        rows[at + 23] = own[holder]
        rows[at + 24] = own[first]
        rows[at + 25] = link[holder] / max(1, text[holder])
        rows[at + 26] = _log(text[holder])
        rows[at + 27] = link[first] / max(1, text[first])
        rows[at + 28] = _log(text[first])
        rows[at + 29] = link[second] / max(1, text[second])
        rows[at + 30] = _log(text[second])
        rows[at + 31] = link[third] / max(1, text[third])
        rows[at + 32] = _log(text[third])
        rows[at + 33] = link[fifth] / max(1, text[fifth])
        rows[at + 34] = text[fifth] / total
        rows[at + 35] = _log(held[first])
        rows[at + 36] = _log(held[second])
        rows[at + 37] = _log(held[third])
        rows[at + 38] = _log(same)
        rows[at + 39] = alike_text[signature] / total
        rows[at + 40] = alike_link[signature] / max(1, alike_text[signature])
        rows[at + 41] = _log(alike_text[signature] // same)
        rows[at + 42] = above_best[holder]
        rows[at + 43] = in_title / (len(title_words) + 1)
        rows[at + 44] = in_title / (number + 1)
        rows[at + 45] = (index - heading) / count if heading >= 0 else -1.0
        rows[at + 46] = 1.0 if marks.copyright or (size > 8 and "copyright" in string[:80].lower()) else 0.0
        rows[at + 47] = 1.0 if marks.bar else 0.0
        rows[at + 48] = text[holder] / total
        rows[at + 49] = text[first] / total
        rows[at + 50] = text[second] / total
        rows[at + 51] = float(held[holder]) / same
        rows[at + 52] = most[first]
        rows[at + 53] = section_score
        rows[at + 54] = section_worst
        rows[at + 55] = _log(index - section_from)
        level = 0
        is_heading = block_tags[index] in _HEADINGS
        if is_heading:
            level = _LEVEL[block_tags[index]]
            for other in range(level, 7):
                open_[other] = -1
            nearest_level = outermost_level = opened = 0
            for other in range(1, level):
                if open_[other] >= 0:
                    nearest, nearest_level = open_[other], other
                    if not opened:
                        outermost, outermost_level = nearest, other
                    opened += 1
        asks = last in "?？"
        rows[at + 56] = 1.0 if is_heading else 0.0
        rows[at + 57] = _log(times[string] - 1)
        rows[at + 58] = 1.0 if marks.money else 0.0
        rows[at + 59] = 1.0 if marks.dated else 0.0
        rows[at + 60] = 1.0 if asks else 0.0
        rows[at + 61] = marks.wide / size
        rows[at + 62] = float(met[signature]) / same
        rows[at + 63] = _log(met[signature])
        rows[at + 64] = float(long_before) / max(1, long_text)
        rows[at + 65] = float(headings_before) / max(1, headings)
        rows[at + 66] = _log(headings_before)
        rows[at + 67] = level
        rows[at + 68] = opened
        rows[at + 69] = nearest_level
        rows[at + 70] = _log(index - nearest) if nearest_level else -1.0
        rows[at + 71] = _log(index - outermost) if nearest_level else -1.0
        rows[at + 72] = 1.0 if outermost_level == 1 else 0.0
        context = contexts[index]
        place = at + OWN
        while context:
            if context & 1:
                rows[place] = 1.0
            context >>= 1
            place += 1
        place = at + tags_from + _TAG_PLACE.get(block_tags[index], _OTHER_TAG)
        rows[place] = 1.0
        before += size
        met[signature] += 1
        if size > 60 and linked < 0.4 * size:
            long_before += size
        money += marks.money
        dated += marks.dated
        asking += asks
        wide += marks.wide
        if is_heading:
            open_[level] = nearest = index
            nearest_level = level
            if not opened:
                outermost, outermost_level = index, level
            opened += 1
            headings_before += 1
            section_score, section_worst, section_from = score / (hits + 1), worst, index
    page[11], page[12], page[13], page[14] = _log(money), _log(dated), _log(asking), wide / total
    columns = array("q", NEIGHBOURS)
    copied = len(columns)
    for index in range(count):
        place = index * width + page_from
        for column in range(of_page):
            rows[place + column] = page[column]
        place = index * width + base
        for other in range(index - sides, index + sides + 1):
            if other == index:
                continue
            for column in range(copied):
                rows[place + column] = rows[other * width + columns[column]] if 0 <= other < count else -1.0
            place += copied
    return made
