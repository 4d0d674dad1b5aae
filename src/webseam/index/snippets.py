"""A snippet: the stretch of a text that shows best what was searched for.

Where a term occurs is found without analysing the whole text (megabytes, ten times a search): the stems of our analyzer are,
but for their last letter, beginnings of the words they stand for, so `str.find` leads to candidates and the analyzer judges the
distinct ones. The three words that Snowball's English stemmer turns into something else are spelled out. Accents are taken
away first, as the analyzer does, but letter by letter, so that a place in the folded text is the same place in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import tantivy

from webseam.index.terms import english_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webseam.index.terms import Terms

OCCURRENCES: Final = 500
"""Of one term, at most this many places are looked at."""

LEAD: Final = 90
"""So many characters before the first match are shown, when the sentence does not begin nearer."""

_SLACK: Final = 45  # what cutting at a word may take from the end of a long snippet

_IRREGULAR: Final = {"die": ("dying",), "lie": ("lying",), "tie": ("tying",)}  # Snowball English, exceptional forms
_LIGATURES: Final = (("ss", "ß"), ("ae", "æ"), ("oe", "œ"), ("th", "þ"))  # one letter that the analyzer makes two
_LATIN: Final = (
    (0xAA, 0x250),
    (0x1E00, 0x1F00),
    (0x2070, 0x2095),
    (0xFF10, 0xFF5B),
)  # with the digits and letters of East Asia
_FEW_LETTERS: Final = 60
_SENTENCE: Final = re.compile(r"(?:[.!?:][\"')\]]?\s+|\n\s*|[。！？]\s*)(?=\S)")
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n")
_SPACE: Final = re.compile(r"\s+")


def snippet(text: str, terms: Terms, weights: Mapping[str, float], chars: int) -> str:
    """At most `chars` characters of `text` in one line, around the best cluster of `terms`; its beginning when none occurs."""
    places = _places(text, terms)
    start, end = _cluster(places, weights, chars) if places else (0, 0)
    begin = _beginning(text, start, end, chars)
    return _cut(text, begin, chars)


def _places(text: str, terms: Terms) -> list[tuple[int, int, str]]:
    """Where the terms occur, as (start, end, term), in order."""
    lowered = folded(text).lower()
    places: list[tuple[int, int, str]] = []
    for stem in terms.words:
        places += _words(lowered, stem)
    for characters in (*terms.characters, *terms.prefixes):
        places += _find(lowered, characters.lower(), characters)
    places.sort()
    return places


def folded(text: str) -> str:
    """`text` without accents, as long as before: what the analyzer makes two letters of stays."""
    if text.isascii():
        return text
    letters = _plain_letters()
    there = set(_foldable().findall(text))
    if len(there) > _FEW_LETTERS:
        return _foldable().sub(lambda match: letters[match[0]], text)
    for letter in there:  # what a language has: several times as fast
        text = text.replace(letter, letters[letter])
    return text


@lru_cache(maxsize=1)
def _plain_letters() -> dict[str, str]:
    """The letters and digits that the analyzer turns into one of ASCII, each with that one: asked of tantivy itself."""
    fold = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.ascii_fold()).build()
    letters = {}
    for character in (chr(code) for start, end in _LATIN for code in range(start, end)):
        plain = "".join(fold.analyze(character)) if character.isalnum() else character
        if plain != character and len(plain) == 1:
            letters[character] = plain
    return letters


@lru_cache(maxsize=1)
def _foldable() -> re.Pattern[str]:
    return re.compile(f"[{''.join(_plain_letters())}]")


@lru_cache(maxsize=20_000)
def _stems(word: str) -> tuple[str, ...]:
    return tuple(english_terms(word))


def _words(lowered: str, stem: str) -> Iterator[tuple[int, int, str]]:
    spellings = [stem, *(stem.replace(two, one) for two, one in _LIGATURES if two in stem and one in lowered)]
    beginnings = [spelled[:-1] if len(spelled) > 2 else spelled for spelled in spellings]
    beginnings += _IRREGULAR.get(stem, ())
    for beginning in beginnings:
        found = tried = at = 0
        while found < OCCURRENCES and tried < 20 * OCCURRENCES and (at := lowered.find(beginning, at)) >= 0:
            tried += 1
            end = at + len(beginning)
            if at and lowered[at - 1].isalnum():
                at = end
                continue
            while end < len(lowered) and lowered[end].isalnum() and end - at <= 60:
                end += 1
            if stem in _stems(lowered[at:end]):
                found += 1
                yield at, end, stem
            at = end


def _find(lowered: str, characters: str, term: str) -> Iterator[tuple[int, int, str]]:
    at = -1
    for _ in range(OCCURRENCES):
        at = lowered.find(characters, at + 1)
        if at < 0:
            return
        yield at, at + len(characters), term


def _cluster(places: list[tuple[int, int, str]], weights: Mapping[str, float], chars: int) -> tuple[int, int]:
    """The stretch of matches, within `chars`, that says most: the weight of each term once, a little for each repetition."""
    width = max(1, chars - LEAD)
    seen: dict[str, int] = {}
    score = best_score = 0.0
    best = (places[0][0], places[0][1])
    first = 0
    for start, end, term in places:
        seen[term] = seen.get(term, 0) + 1
        score += weights.get(term, 1.0) * (1.0 if seen[term] == 1 else 0.05)
        while end - places[first][0] > width and places[first][0] < start:
            gone = places[first][2]
            seen[gone] -= 1
            score -= weights.get(gone, 1.0) * (0.05 if seen[gone] else 1.0)
            first += 1
        if score > best_score + 1e-9:
            best_score, best = score, (places[first][0], end)
    return best


def _beginning(text: str, start: int, end: int, chars: int) -> int:
    """Where to begin so that `start` to `end` is shown: at the sentence when it begins near, otherwise at a word."""
    room = max(0, chars - (end - start) - _slack(chars))
    earliest = max(0, start - room)
    sentences = [match.end() for match in _SENTENCE.finditer(text, earliest, start) if match.end() <= start]
    if earliest == 0:
        sentences.insert(0, 0)
    at_the_end = chars - (len(text) - start)  # there the text before is all that can be shown
    near = bisect_left(sentences, start - min(room, max(2 * LEAD, at_the_end)))
    if near < len(sentences):
        return sentences[near]
    begin = max(earliest, start - max(LEAD, at_the_end))
    if begin == 0 or text[begin - 1].isspace():
        return begin
    space = _SPACE.search(text, begin, start)
    return space.end() if space else begin


def _one_line(text: str) -> str:
    """`text` without line breaks; a heading is set off from what follows it."""
    line = ""
    for paragraph in _PARAGRAPHS.split(text):
        words = " ".join(paragraph.split())
        if words:
            line += (": " if line[-1:].isalnum() else " " if line else "") + words
    return line


def _slack(chars: int) -> int:
    return min(_SLACK, chars // 6)


def _cut(text: str, begin: int, chars: int) -> str:
    """One line of at most `chars` from `begin` on, cut at words, with "…" where something was left out."""
    lead = "…" if begin else ""
    line = lead + _one_line(text[begin : begin + 4 * chars])
    if len(line) <= chars and begin + 4 * chars >= len(text):
        return line
    line = line[: chars - 1]
    space = line.rfind(" ", max(0, chars - _slack(chars) + 3))
    return (line[:space] if space > 0 else line).rstrip(" ,;:-") + "…"
