"""The lexicon: which words of classes and ids, and which words of a text, go with content."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from webseam.documents.html.blocks import WORDS
from webseam.documents.html.features import Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from webseam.documents.html.blocks import Blocks

PAGES_WITH_NAME = 4
PAGES_WITH_WORD = 10
SHORT = WORDS  # words of a block up to which its words are counted
LEAST = 0.2


class Counts(NamedTuple):
    """Of one page: how much of its text stands under a name, how much of that is content; the same of words, by blocks."""

    names: Counter[str]
    names_kept: Counter[str]
    words: Counter[str]
    words_kept: Counter[str]
    text: float
    text_kept: float


def count(blocks: Blocks, sizes: Sequence[int], shares: Sequence[float]) -> Counts:
    """The counts of a page whose blocks have so many words, and so much of each in the gold text."""
    names: Counter[str] = Counter()
    names_kept: Counter[str] = Counter()
    words: Counter[str] = Counter()
    words_kept: Counter[str] = Counter()
    text = text_kept = 0.0
    above: dict[int, list[str]] = {}
    for index, (size, share) in enumerate(zip(sizes, shares, strict=True)):
        weight = math.sqrt(size + 1)
        text += weight
        text_kept += weight * share
        holder = blocks.holders[index]
        if holder not in above:
            found: dict[str, None] = {}
            element = holder
            while element >= 0:
                found.update(dict.fromkeys(blocks.names(element)))
                element = blocks.parents[element]
            above[holder] = list(found)
        for name in above[holder]:
            names[name] += weight  # type: ignore[assignment]  # Counter takes floats
            names_kept[name] += weight * share  # type: ignore[assignment]
        said = blocks.words[index]
        if blocks.sizes[index] <= SHORT:
            for word in dict.fromkeys(said):
                words[word] += 1
                words_kept[word] += share  # type: ignore[assignment]
    return Counts(names, names_kept, words, words_kept, text, text_kept)


def lexicon(pages: Iterable[Counts]) -> Lexicon:
    """Log-odds against those of a page at large, pulled towards them where little was seen; two decimals."""
    names: Counter[str] = Counter()
    names_kept: Counter[str] = Counter()
    names_pages: Counter[str] = Counter()
    words: Counter[str] = Counter()
    words_kept: Counter[str] = Counter()
    words_pages: Counter[str] = Counter()
    text = text_kept = 0.0
    for page in pages:
        names.update(page.names)
        names_kept.update(page.names_kept)
        names_pages.update(page.names.keys())
        words.update(page.words)
        words_kept.update(page.words_kept)
        words_pages.update(page.words.keys())
        text += page.text
        text_kept += page.text_kept
    usual = text_kept / text

    def log_odds(kept: float, seen: float, pull: float) -> float:
        share = (kept + pull * usual) / (seen + pull)
        return round(math.log(share / (1 - share)) - math.log(usual / (1 - usual)), 2)

    by_name = {
        name: log_odds(names_kept[name], names[name], 30) for name in sorted(names) if names_pages[name] >= PAGES_WITH_NAME
    }
    by_word = {
        word: log_odds(words_kept[word], words[word], 8) for word in sorted(words) if words_pages[word] >= PAGES_WITH_WORD
    }
    return Lexicon(
        {name: value for name, value in by_name.items() if abs(value) > LEAST},
        {word: value for word, value in by_word.items() if abs(value) > LEAST},
    )
