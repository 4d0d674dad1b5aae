"""What is searched for: the terms of a text, and the query made of them.

Most words go through the English analyzer into `title` and `text`. Three kinds would be lost in it, and go into `other`:

- scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese), as overlapping pairs of characters, the
  last character of a run also alone, so that a single character is found by prefix;
- a word stuck to such a run ("Python教程");
- stop words of a title, for a query of nothing else ("to be or not to be", the `for` statement), with their accents ("thé").

Accents do not count (`schema.english`). A letter and its accent are one character here or two, as the text was typed: they are
composed (`composed`) before anything is made of a text.

A query is built from terms and never parsed, so it has no syntax: `title:`, `AND`, `"`, `*` are text like any other.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

import tantivy

from webseam.config import LIMITS
from webseam.index.schema import english

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TITLE_BOOST: Final = 0.4
"""Against 1 for the text. None at all, and more than 0.5, cost nDCG."""

QUERY_TERMS: Final = 64
PREFIX_TERMS: Final = 200

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_RUN: Final = re.compile(f"[{_UNSPACED}]+")
_STUCK: Final = re.compile(f"[A-Za-z0-9]+(?=[{_UNSPACED}])|(?<=[{_UNSPACED}])[A-Za-z0-9]+")

_ENGLISH: Final = english()
_PLAIN_WORDS: Final = (
    tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    .filter(tantivy.Filter.remove_long(40))
    .filter(tantivy.Filter.lowercase())
    .build()
)


def composed(text: str) -> str:
    """`text` in Unicode's form C: the analyzer would take an accent of its own for the end of the word."""
    return unicodedata.normalize("NFC", text)


def english_terms(text: str) -> list[str]:
    """The stems of `text` in order, stop words left out."""
    return list(_ENGLISH.analyze(text))


def pairs(text: str) -> Iterator[str]:
    """The overlapping pairs of each run of `text` that is written without spaces, and the run's last character."""
    for run in _RUN.findall(text):
        for at in range(len(run) - 1):
            yield run[at : at + 2]
        yield run[-1]


def other_terms(title: str, text: str) -> str:
    """The value of the field `other`."""
    terms = [*pairs(title), *pairs(text)]
    if terms:
        terms += english_terms(" ".join(_STUCK.findall(f"{title}\n{text}")))
    return " ".join([*terms, *_stop_words(title)])


def _stop_words(text: str) -> list[str]:
    return [word for word in dict.fromkeys(_PLAIN_WORDS.analyze(text)) if not _ENGLISH.analyze(word)]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a query asks for. `words` are stems, `characters` are pairs of `pairs()`, `prefixes` single such characters.

    `stop_words` are there only when there is nothing else.
    """

    words: tuple[str, ...] = ()
    characters: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    stop_words: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.characters or self.prefixes or self.stop_words)


def query_terms(query: str) -> Terms:
    """The terms of what a person or a model typed; empty when it holds nothing that could be searched for."""
    query = composed(query[: LIMITS.query_chars])
    words = english_terms(_RUN.sub(" ", query))
    characters: list[str] = []
    prefixes: list[str] = []
    for run in _RUN.findall(query):
        if len(run) == 1:
            prefixes.append(run)
        else:
            characters += [run[at : at + 2] for at in range(len(run) - 1)]
    stop_words = [] if words or characters or prefixes else _stop_words(query)
    return Terms(_distinct(words), _distinct(characters), _distinct(prefixes), _distinct(stop_words))


def _distinct(terms: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))[:QUERY_TERMS]


def query_of(terms: Terms, schema: tantivy.Schema, searcher: tantivy.Searcher) -> tantivy.Query:
    """Any of the terms, ranked by BM25; a word counts in the title too."""
    should = tantivy.Occur.Should
    clauses: list[tuple[tantivy.Occur, tantivy.Query]] = []

    def term(field: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(schema, field, value, index_option="freq")

    for word in terms.words:
        clauses.append((should, term("text", word)))
        clauses.append((should, tantivy.Query.boost_query(term("title", word), TITLE_BOOST)))
    others = (*terms.characters, *terms.stop_words, *terms.words)
    clauses += [(should, term("other", value)) for value in others]
    for prefix in terms.prefixes:
        found = [value for value, _ in searcher.terms_with_prefix("other", prefix, limit=PREFIX_TERMS)]
        if found:
            clauses.append((should, tantivy.Query.term_set_query(schema, "other", found)))
    return tantivy.Query.boolean_query(clauses)


def weights(terms: Terms, searcher: tantivy.Searcher) -> dict[str, float]:
    """How much each term tells about a document: its inverse document frequency, over all documents."""
    documents = searcher.num_docs

    def weight(field: str, value: str) -> float:
        return log(1 + documents / (1 + searcher.doc_freq(field, value)))

    found = {word: weight("text", word) for word in terms.words}
    found.update({value: weight("other", value) for value in (*terms.characters, *terms.prefixes)})
    return found
