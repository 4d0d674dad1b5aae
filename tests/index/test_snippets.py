"""What a hit shows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.index.snippets import folded, snippet
from webseam.index.terms import query_terms

FILLER = "Some sentence that says nothing at all. " * 40


def shown(text: str, query: str, chars: int = 300) -> str:
    return snippet(text, query_terms(query), {}, chars)


def test_the_place_where_the_words_are_is_shown_from_its_sentence_on() -> None:
    text = FILLER + "Wombats dig burrows in sandy soil. " + FILLER
    assert shown(text, "burrow digging", 60) == "…Wombats dig burrows in sandy soil. Some sentence that…"


def test_the_place_with_most_of_the_words_wins() -> None:
    text = "Burrows. " + FILLER + "Burrows burrows burrows. " + FILLER + "Sandy burrows of wombats. " + FILLER
    assert "Sandy burrows of wombats" in shown(text, "wombat sandy burrow")


def test_a_rare_word_outweighs_a_common_one() -> None:
    text = "Animals dig here. " + FILLER + "A quokka sleeps. " + FILLER
    terms = query_terms("quokka animals dig")
    assert "quokka" in snippet(text, terms, {"quokka": 9.0, "anim": 1.0, "dig": 1.0}, 200)


def test_a_text_without_the_words_shows_its_beginning() -> None:
    assert shown("Line one.\n\nLine   two.", "absent") == "Line one. Line two."
    assert shown("Heading\n \nLine one,\nLine two.", "absent") == "Heading: Line one, Line two."
    assert shown("", "absent") == ""


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("dying", "die"),
        ("lies", "lying"),
        ("happiness", "happy"),
        ("organizations", "organization"),
        ("running", "run"),
        ("CAFÉS", "cafés"),
        ("skies", "sky"),
        ("relational", "relate"),
        ("generously", "generous"),
        ("x86", "x86"),
        ("flies", "fly"),
        ("using", "use"),
        ("Müller", "muller"),
        ("Muller", "müller"),
        ("RÉSUMÉS", "resume"),
        ("résumé", "re\u0301sume\u0301"),
        ("İstanbul", "istanbul"),
        ("Straße", "strasse"),
        ("Maßstäbe", "massstabe"),
        ("smørrebrød", "smorrebrod"),
        ("Œuvres", "oeuvre"),
        ("tiếng", "tieng"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_every_form_that_the_index_finds_is_shown(word: str, query: str) -> None:
    assert word in shown(FILLER + f"Here {word} stands. " + FILLER, query, 120)


def test_a_word_within_a_word_is_not_the_word() -> None:
    text = "A category of cats. " + FILLER + "The concatenation. " + FILLER + "My cat."
    assert shown(text, "cat", 60).startswith("A category of cats.")
    assert "My cat" in shown("Category and concatenation. " + FILLER + "My cat.", "cat", 100)


def test_letters_that_grow_in_lower_case_do_not_shift_the_place() -> None:
    assert "needle" in shown("İ" * 500 + ". " + FILLER + " needle " + FILLER, "needle", 100)


@given(st.text(max_size=300))
def test_folding_keeps_every_place(text: str) -> None:
    assert len(folded(text).lower()) == len(text)


def test_letters_are_folded_one_by_one_and_many_at_once_alike() -> None:
    letters = "".join(chr(code) for code in range(0xC0, 0x250))
    assert folded(letters) == "".join(folded(letter) for letter in letters)
    assert folded("Ünïcödé, Łódź, Москва ё й 教程 ß") == "Unicode, Lodz, Москва ё й 教程 ß"


def test_at_the_end_of_a_text_more_of_what_comes_before_is_shown() -> None:
    assert len(shown("word " * 500 + "the needle.", "needle", 300)) > 200


def test_the_last_word_of_a_wide_cluster_is_not_cut_away() -> None:
    text = FILLER + "Alpha " + "filler " * 22 + "omega. " + FILLER
    found = shown(text, "alpha omega", 300)
    assert "Alpha" in found
    assert "omega" in found


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=400), st.text(min_size=1, max_size=10), st.integers(60, 200))
def test_a_snippet_is_one_line_within_its_length(text: str, word: str, chars: int) -> None:
    found = snippet(text + word + text, query_terms(word), {}, chars)
    assert len(found) <= chars
    assert "\n" not in found
