"""The private index on disk: its fields, its analyzers and the number of its format.

tantivy writes the schema into the index's own `meta.json`, analyzers by name. Our analyzer names carry `FORMAT`, so the index
itself says which version of this file wrote it and there is no marker beside it that could disagree.

`body` is the Markdown that is read back and is not analysed; `text` is what is searched and what snippets are cut from: the
same without its marks and link targets (`plain.py`).
"""

from __future__ import annotations

from typing import Final

from webseam.errors import CorpusError

try:
    import tantivy
except ImportError as error:  # a platform without a wheel
    raise CorpusError(
        f"The private index needs tantivy, which cannot be imported here ({error}): install it with `pip install tantivy`, or "
        "choose another engine with `webseam use`.",
        kind="unwritable",
    ) from error

FORMAT: Final = 2
"""Raised with every change of the fields, of an analyzer, or of what is put into a field."""

ENGLISH: Final = f"webseam-{FORMAT}-english"
WORDS: Final = f"webseam-{FORMAT}-words"


def schema() -> tantivy.Schema:
    """The fields of one document."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("source", stored=True, fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("host", tokenizer_name="raw", index_option="basic")  # the host and each domain above it
    builder.add_text_field("title", stored=True, tokenizer_name=ENGLISH, index_option="freq")
    builder.add_text_field("text", stored=True, tokenizer_name=ENGLISH, index_option="freq")
    builder.add_text_field("other", tokenizer_name=WORDS, index_option="freq")  # what `ENGLISH` cannot find: see terms.py
    builder.add_bytes_field("body", stored=True)
    builder.add_bytes_field("fingerprint", stored=True)
    builder.add_bytes_field("content_type", stored=True)
    builder.add_unsigned_field("indexed_at", stored=True, fast=True)  # seconds since 1970, UTC
    return builder.build()


FIELDS: Final = ("url", "source", "host", "title", "text", "other", "body", "fingerprint", "content_type", "indexed_at")


def english() -> tantivy.TextAnalyzer:
    """`simple -> remove_long -> ascii_fold -> lowercase -> stopwords -> stemmer`: tantivy's default costs up to 18 % of nDCG.

    Folding makes "Müller" and "muller" one word. It comes before the lower case, of which "İ" comes out as two characters, one
    of them an accent that would be left.
    """
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(40))
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def words() -> tantivy.TextAnalyzer:
    """Words as they are, between spaces."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def register(index: tantivy.Index) -> None:
    """Give an opened index our analyzers: tantivy stores their names alone."""
    index.register_tokenizer(ENGLISH, english())
    index.register_tokenizer(WORDS, words())
