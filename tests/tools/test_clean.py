"""tools/clean.py: nothing invisible survives, nothing legitimate is lost."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.tools.clean import clean_block, clean_line, cut, is_visible_line, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("a\x1b]8;;http://evil.example/\x07link\x1b]8;;\x07", "alink"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x9b2Jb", "ab"),
        ("a\x1bP1$r0m\x1b\\b", "ab"),
        ("a\x1b(Bb", "ab"),
        ("a\x1b[b", "a"),  # ESC [ b is a whole sequence (REP)
        ("a\x00\x07\x08\x7f\x80b", "ab"),
        ("\u202egpj.exe\u202c", "gpj.exe"),
        ("\u2066a\u2069\u200e\u200f\u061cb\u206a", "ab"),
        ("a\U000e0001\U000e0041\U000e007fb", "ab"),
        ("z\u200be\u2060r\ufeffo\u00ad\u3164", "zero"),
        ("in\u200cvi\u200dsible", "invisible"),
        ("\ud800lone", "\ufffdlone"),
        ("non\ufffe\ufdd0", "non"),
        ("one\u2028two\u2029three\r\nfour\rfive\x0bsix\x85seven", "one two three four five six seven"),
        ("  a \t b\u00a0c ", "a b c"),
        ("x\ufe0f\ufe0f\ufe01\U000e0150", "x\ufe0f"),
    ],
)
def test_what_hides_or_moves_text_is_removed(text: str, expected: str) -> None:
    assert clean_line(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",  # Persian needs its ZWNJ
        "क्‍ष",  # Devanagari needs its ZWJ
        "👩‍💻 👨‍👩‍👧 🏳️‍🌈 👍🏽",
        "❤️",
        "עברית and العربية and 中文 and ไทย and Ελληνικά",
        "e\u0301 combining, ﬁ ligature, № sign",
    ],
)
def test_legitimate_text_keeps_every_character(text: str) -> None:
    assert clean_line(text) == text


def test_a_block_keeps_lines_tabs_and_spaces() -> None:
    text = "# Title\n\n\tcode  with   spaces\n- item\u00a0one\n"
    assert clean_block(text) == text
    assert clean_block("a\r\nb\rc") == "a\nb\nc"


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_no_hidden_character_survives_whatever_comes(text: str) -> None:
    cleaned = clean_block(text)
    for character in cleaned:
        if character in "\n\t":
            continue
        assert unicodedata.category(character) not in ("Cc", "Cs"), hex(ord(character))
        assert not 0xE0000 <= ord(character) <= 0xE007F
        assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff"
    cleaned.encode()


@given(st.text(max_size=80))
def test_a_cleaned_line_is_one_visible_line(text: str) -> None:
    cleaned = clean_line(text)
    assert "\n" not in cleaned
    assert cleaned == cleaned.strip()


def test_hostile_megabytes_take_no_time_to_speak_of() -> None:
    for text in ("\x9d" * 300_000, "\x1b]a" * 300_000, "\x9b1" * 300_000, "\u200d" * 1_000_000, "\x1b[" + "1;" * 500_000):
        clean_block(text)  # quadratic work would not come back within the hour
    for text in ("<script>" * 100_000, "<a " * 100_000, "<!--" * 100_000, "&amp" * 100_000, "<a b='" * 100_000):
        plain(text, 500)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<b>bold</b> and <span class="searchmatch">match</span>', "bold and match"),
        ("Fish &amp; chips &quot;now&quot; &#x27;here&#39; &nbsp; &mdash;", "Fish & chips \"now\" 'here' —"),
        ("&lt;div&gt; is a tag", "<div> is a tag"),
        ("<script>alert(1)</script>after", "after"),
        ("<style>a{}</style><!-- hidden -->seen", "seen"),
        ("one<br>two</p><p>three", "one two three"),
        ("<img src=x onerror=alert(1)>text", "text"),
        ("List<String> and vector<int>", "List<String> and vector<int>"),
        ("a <T> generic, if x < 3 && y > 4", "a <T> generic, if x < 3 && y > 4"),
        ("&#8238;reversed&#x202E;", "reversed"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("&#0;&#xD800;&#1114112;", "\ufffd\ufffd\ufffd"),
    ],
)
def test_html_in_a_title_becomes_text_once(text: str, expected: str) -> None:
    assert plain(text, 300) == expected


def test_a_cut_ends_between_words_and_says_so() -> None:
    text = "word " * 100
    short = cut(text, 52)
    assert len(short) <= 52
    assert short.endswith("word…")
    assert cut("x" * 400, 300) == "x" * 299 + "…"
    assert cut("short", 300) == "short"


def test_a_visible_line_holds_nothing_hidden() -> None:
    assert is_visible_line("https://example.com/ä?x=1")
    for text in ("a\nb", "a\u200bb", "a\x1bb", "a\u202eb", "a\ud800"):
        assert not is_visible_line(text)


@pytest.mark.parametrize("character", ["\u115f", "\u1160", "\u17b4", "\U0001bca0", "\U0001d173", "\U000e0101", "\U000e01ef"])
def test_characters_that_draw_nothing_and_could_carry_bytes_are_removed(character: str) -> None:
    assert clean_block(f"a{character}b{character * 3}") == "ab"
