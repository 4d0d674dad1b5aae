"""Markdown without its marks."""

from __future__ import annotations

import pytest

from webseam.index.plain import plain


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Title", "Title"),
        ("a *b* **c** ***d*** ~~e~~ _f_", "a b c d e f"),
        ("snake_case __init__ 5 * 3 = 15", "snake_case __init__ 5 * 3 = 15"),
        ('[text](https://example.com/a_(b)?c=d "t") after', "text after"),
        ("![alt](a.png) [![inner](b.png)](https://x)", "alt inner"),
        ("[text][ref]\n\n[ref]: https://example.com/zebra", "text\n\n"),
        ("a [1] note", "a [1] note"),
        ("`code` ``a b`` `", "code a b `"),
        ("```python\ndef f(*args, **kw): return a_b\n```\nafter", "def f(*args, **kw): return a_b\nafter"),
        ("~~~\n# not a heading\n~~~", "# not a heading"),
        ("```\nunclosed\n# stays", "unclosed\n# stays"),
        ("> quoted\n> > twice", "quoted\ntwice"),
        ("- one\n* two\n- [x] done\n1. first", "one\ntwo\ndone\n1. first"),
        ("a <b>bold</b> <https://example.com> <!-- gone --> x < y", "a  bold      x < y"),
        (r"\*plain\* \[not\](a link)", "*plain* [not](a link)"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "  a   b  \n\n  1   2  "),
        ("above\n\n---\n\nbelow", "above\n\n\n\nbelow"),
        ("\n\na\n", "\n\na\n"),
    ],
)
def test_marks_and_link_targets_go_and_words_stay(markdown: str, text: str) -> None:
    assert plain(markdown) == text


MARKS = [
    "[", "](", "`", "```x\n", "`` a `", "<!--", "<a", "*", "_", "-", "|-", "- ", "> ", " ", "\n ", "[a](b ", "()", "~", "# ",
    "[a]: ", "![", "\\", "|", "a_", "\n[", "\n>", "\n```", "\n~~~~", "\n|", "<a <", "](()", "_a", "*a", "``", "\n- [", "![[",
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_repeating_a_mark_does_not_cost_its_square(mark: str) -> None:
    """The square of this length would be hours; what is asserted is that we get here."""
    text = mark * (300_000 // len(mark)) + "x"
    assert len(plain(text)) <= len(text)
