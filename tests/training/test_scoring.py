"""How an answer is scored: the words of its Markdown, and no more; folds that keep a domain's pages together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from training import scoring

MARKDOWN = {
    "# Two *small* **words**": "two small words",
    "[text](https://example.org/a_(b)?c=d) ends": "text ends",
    "[![A dog](https://example.org/a.png)](https://example.org/x) ends": "ends",
    "![A dog](a.png) ends": "ends",
    "a \\[b\\](c) \\_d\\_ snake\\_case": "a b c d snake_case",
    "1. one\n2. two\n\n- 3. three": "one two three",
    "1984\\. It was": "1984 it was",
    "```python\nx = __init__\n```": "x init",
    "| a | b |\n|---|---|\n| `c` | d_e |": "a b c d_e",
    "> > quoted": "quoted",
    "a<br>b<sup>2</sup> \\<b> List<int>": "a b 2 b list int",
    "see <https://example.org/a>\n\n[1]: https://example.org": "see",
    "汉字 ab한국": "汉 字 ab 한 국",
    "It’s 3.5": "it s 3 5",
}


@pytest.mark.parametrize("markdown", MARKDOWN)
def test_the_words_of_markdown_are_those_that_are_shown(markdown: str) -> None:
    assert scoring.tokens(markdown) == MARKDOWN[markdown].split()


def test_a_link_before_a_colon_is_no_definition() -> None:
    assert scoring.tokens("[Home page](https://a.example): where all begins") == ["home", "page", "where", "all", "begins"]
    assert scoring.tokens("[home]: https://a.example 'Title'\n[^1]: a note") == ["1", "a", "note"]


def test_f1_counts_each_word_as_often_as_it_is_there() -> None:
    assert scoring.f1("a b b c", "b b b d") == (0.5, 0.5, 0.5)
    assert scoring.f1("", "a") == (0.0, 0.0, 0.0)
    assert scoring.f1("a", "") == (0.0, 0.0, 0.0)
    assert scoring.f1("", "") == (1.0, 1.0, 1.0)


def test_a_domain_is_what_somebody_registered() -> None:
    assert scoring.domain("https://user@Forum.Example.co.uk:8443/x?y") == "example.co.uk"
    assert scoring.domain("http://www.example.com") == "example.com"
    assert scoring.domain("https://co.uk/") == "co.uk"
    assert scoring.folds("example.com") == scoring.folds("example.com")
    assert {scoring.folds(f"{number}.example") for number in range(100)} == set(range(scoring.FOLDS))


def test_marks_without_an_end_take_linear_time() -> None:
    for piece in ("[a](", "![", "\\", "<a ", "](", "`" * 3, "_", "[a]:"):
        assert scoring.tokens(piece * 50_000) is not None


def test_pages_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "CACHE", tmp_path / "cache")
    monkeypatch.setitem(os.environ, "WEBSEAM_SHARED", str(tmp_path / "nowhere"))
    with pytest.raises(scoring.NoPagesError, match="WEBSEAM_SHARED"):
        next(scoring.pages())
