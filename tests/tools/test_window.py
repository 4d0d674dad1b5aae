"""tools/window.py: windows, sections, passages and outlines of a text that is never changed."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webseam.tools.window import Layout, _Flat, _marks, _tables, find, window_end

# Markdown-like soup: what borders, fences and headings are made of, and what could be torn.
PIECES = st.sampled_from(
    [
        *(
            "# ",
            "## ",
            "### T",
            "#",
            "`",
            "```\n",
            "~~~\n",
            "```py\n",
            "===\n",
            "---\n",
            "| a | b |\n",
            "|---|-:|\n",
            "- item\n",
        ),
        *("\n", "\n\n", "\n\n\n", " ", "\t", "word ", "Long words here. ", "x" * 30, "中文。", "e\u0301", "👩\u200d💻"),
    ]
)
TEXTS = st.lists(PIECES, max_size=80).map("".join)


def windows(text: str, size: int) -> list[tuple[int, int]]:
    layout = Layout(text)
    start, cuts = 0, []
    while start < len(text):
        end = window_end(text, start, size, layout)
        cuts.append((start, end))
        start = end
    return cuts


@given(TEXTS, st.integers(1, 400))
@example("\n\n" * 20, 1)
@example("```\n" + "a\n\n" * 40, 20)
def test_windows_put_together_are_the_text(text: str, size: int) -> None:
    cuts = windows(text, size)
    assert "".join(text[start:end] for start, end in cuts) == text
    for start, end in cuts:
        assert 0 < end - start <= size


@given(TEXTS, st.integers(1, 200), st.data())
def test_the_same_start_and_size_end_at_the_same_place(text: str, size: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    assert window_end(text, start, size, Layout(text)) == window_end(text, start, size, Layout(text))
    if start < len(text):
        assert start < window_end(text, start, size, Layout(text)) <= min(len(text), start + size)


def test_a_window_ends_before_a_heading_rather_than_in_a_paragraph() -> None:
    text = "# One\n\n" + "Words of one. " * 60 + "\n\n# Two\n\n" + "Words of two. " * 60
    end = window_end(text, 0, 1_000, Layout(text))
    assert text[end:].startswith("# Two")


def test_a_window_ends_at_a_blank_line_then_a_line_then_a_sentence_then_a_word() -> None:
    paragraphs = "\n\n".join("Sentence after sentence. " * 8 for _ in range(10))
    end = window_end(paragraphs, 0, 700, Layout(paragraphs))
    assert paragraphs[:end].endswith("\n\n")
    lines = "\n".join("a row of a table" for _ in range(100))
    assert lines[: window_end(lines, 0, 700, Layout(lines))].endswith("\n")
    sentences = "One sentence, and it ends. " * 100
    assert sentences[: window_end(sentences, 0, 700, Layout(sentences))].endswith("ends. ")
    chinese = "这是一个句子，它结束了。" * 100
    assert chinese[: window_end(chinese, 0, 700, Layout(chinese))].endswith("。")
    words = "word " * 400
    assert words[: window_end(words, 0, 703, Layout(words))].endswith("word ")
    wall = "x" * 2_000
    assert window_end(wall, 0, 700, Layout(wall)) == 700


def test_a_code_block_is_kept_whole_when_it_fits_and_cut_at_a_line_when_it_does_not() -> None:
    code = "```python\n" + "\n\n".join(f"line_{n} = {n}" for n in range(20)) + "\n```\n"
    text = "Intro words. " * 30 + "\n\n" + code + "\nAfter."
    begin = text.index("```python")
    end = window_end(text, 0, begin + 60, Layout(text))
    assert end == begin
    assert text[begin : window_end(text, begin, len(code) + 2, Layout(text))].startswith(code)
    alone = "```\n" + "a long line of code\n" * 200 + "```\n"
    assert alone[: window_end(alone, 0, 500, Layout(alone))].endswith("code\n")


def test_no_accent_or_emoji_is_torn_from_its_base() -> None:
    text = "👩\u200d💻" * 200
    assert (window_end(text, 0, 100, Layout(text))) % 3 == 0
    accents = "e\u0301" * 200
    assert window_end(accents, 0, 101, Layout(accents)) == 100


# ------------------------------------------------------------------------------------------------ headings


def test_headings_are_found_and_what_only_looks_like_one_is_not() -> None:
    text = (
        "Setext One\n==========\n\nText\n\n## Two ##\n\n```sh\n# a comment\n```\n\n#hashtag\n\n"
        "not setext\nbecause of this line\n---\n\nSetext Three\n------------\n\n| a | b |\n|---|---|\n\n"
        "~~~\n## in tildes\n~~~\n    # indented code\n####### seven\n### [Linked *four*](https://x.example/(a)) ¶\n"
    )
    assert [(heading.level, heading.title) for heading in Layout(text).headings] == [
        (1, "Setext One"),
        (2, "Two"),
        (2, "Setext Three"),
        (3, "Linked four"),
    ]


def test_a_section_runs_to_the_next_heading_of_its_level_or_above() -> None:
    text = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\n# E\n\ne\n"
    sections = {heading.title: text[heading.start : heading.end] for heading in Layout(text).headings}
    assert sections["A"] == text[: text.index("# E")]
    assert sections["B"] == "## B\n\nb\n\n### C\n\nc\n\n"
    assert sections["C"] == "### C\n\nc\n\n"
    assert sections["D"] == "## D\n\nd\n\n"
    assert sections["E"] == "# E\n\ne\n"


@given(TEXTS)
def test_sections_lie_in_the_text_begin_at_their_heading_and_nest(text: str) -> None:
    layout = Layout(text)
    for heading in layout.headings:
        assert 0 <= heading.start < heading.end <= len(text)
    for first, second in zip(layout.headings, layout.headings[1:], strict=False):
        assert first.start < second.start
        assert (first.end <= second.start) == (second.level <= first.level)
    for (begin, end), (following, _) in zip(layout.fences, layout.fences[1:], strict=False):
        assert begin < end <= following


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("Install", ["Install"]),
        ("install", ["Install"]),
        ("## Install", ["Install"]),
        ("INSTALL  on", ["Install on Linux", "Install on Windows"]),
        ("linux", ["Install on Linux"]),
        ("on", ["Install on Linux", "Install on Windows", "Configuration"]),
        ("conf", ["Configuration"]),
        ("`code` here", ["The code here"]),
        ("nothing", []),
        ("", []),
    ],
)
def test_a_section_is_found_by_equal_then_beginning_then_contained_text(wanted: str, found: list[str]) -> None:
    text = "# Install\n\n## Install on Linux\n\n## Install on Windows\n\n# Configuration\n\n# The `code` here\n"
    hits = [heading.title for heading in Layout(text).sections(wanted)] if wanted else []
    assert hits == found


def test_the_outline_keeps_to_its_size_by_leaving_out_the_deepest() -> None:
    text = "".join(f"# Part {n}\n\n" + "".join(f"## Part {n}.{m}\n\ntext\n\n" for m in range(10)) for n in range(20))
    lines = Layout(text).outline(60).split("\n")
    assert len(lines) == 21
    assert lines[0].startswith("- Part 0 (start 0, ")
    assert lines[-1] == "- ... and 200 more headings"
    flat = "".join(f"# H{n}\n\n" for n in range(100))
    assert len(Layout(flat).outline(60).split("\n")) == 61
    assert Layout("no headings").outline() == ""


def test_outline_starts_and_sizes_are_those_of_the_sections() -> None:
    text = "# A\n\nsome text\n\n## B\n\nmore\n"
    for line in Layout(text).outline().split("\n"):
        match = re.fullmatch(r" *- (\w) \(start (\d+), (\d+) chars\)", line)
        assert match is not None
        assert text[int(match[2]) :].startswith(("# " if match[1] == "A" else "## ") + match[1])
    assert "start 0, 27 chars" in Layout(text).outline()


# ------------------------------------------------------------------------------------------------ find


@given(TEXTS, st.sampled_from(["word", "WORD", "x", "long words", "中", "\u0301", "."]), st.integers(1, 600), st.data())
@settings(max_examples=200)
def test_passages_are_ordered_apart_within_bounds_and_hold_what_was_looked_for(
    text: str, wanted: str, size: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    found = find(text, wanted, start, stop, size)
    pattern = re.compile(r"\s+".join(map(re.escape, wanted.split())), re.IGNORECASE)
    expected = list(pattern.finditer(text, start, stop))
    assert found.hits == len(expected)
    assert bool(found.passages) == bool(expected)
    assert sum(passage.end - passage.start for passage in found.passages) <= size
    assert len(found.passages) <= 20
    previous = start
    for passage in found.passages:
        assert previous <= passage.start < passage.end <= stop
        previous = passage.end + 1
    if size >= 40:  # large enough for a whole hit
        for passage in found.passages:
            assert pattern.search(text, passage.start, passage.end)
    # Every hit is shown, or comes at or after the place to go on from.
    for match in expected if size >= 40 else ():
        shown = any(passage.start <= match.start() and match.end() <= passage.end for passage in found.passages)
        assert shown or (found.more is not None and match.start() >= found.more)


def test_going_on_shows_every_hit_once() -> None:
    text = "\n\n".join(
        f"Paragraph {n} is about nothing. " + "Filler. " * 90 + ("needle" if n % 3 == 0 else "") for n in range(120)
    )
    start, seen = 0, []
    for _ in range(100):
        found = find(text, "needle", start, len(text), 10_000)
        seen += [match.start() for p in found.passages for match in re.finditer("needle", text[p.start : p.end])]
        if found.more is None:
            break
        assert found.more > start
        start = found.more
    assert len(seen) == 40


def test_case_and_the_kind_of_white_space_do_not_matter() -> None:
    text = "He said: The   Quick\nBROWN fox. Straße."
    assert find(text, "the quick brown", 0, len(text), 500).hits == 1
    assert find(text, "STRASSE", 0, len(text), 500).hits == 0  # offsets stay exact: no folding that changes lengths
    assert find(text, "(fox", 0, len(text), 500).hits == 0  # literal, no pattern


def test_hits_that_are_near_each_other_share_a_passage() -> None:
    text = "Before. " * 100 + "needle one, needle two. " + "After. " * 100
    found = find(text, "needle", 0, len(text), 10_000)
    assert (found.hits, len(found.passages), found.more) == (2, 1, None)


def test_no_more_than_twenty_passages_are_shown() -> None:
    text = ("needle\n\n" + "Filler text. " * 60 + "\n\n") * 50
    found = find(text, "needle", 0, len(text), 50_000)
    assert (found.hits, len(found.passages)) == (50, 20)
    assert found.more is not None
    assert text.startswith("needle", found.more)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(["a", "b", "A", "é", "É", "İ", "ß", "Σ", "ς", " ", "  ", "\n", "\t ", "\u00a0"]), max_size=60).map(
        "".join
    ),
    st.text("abAÉ ", min_size=1, max_size=5).filter(str.strip),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(1, 9),
)
@example("a  b" * 5, "a b", 0, 60, 1)
def test_hits_are_those_of_a_plain_pattern_at_the_offsets_of_the_text(
    text: str, wanted: str, start: int, length: int, step: int
) -> None:
    start = min(start, len(text))
    stop = min(len(text), start + length)
    flat = _Flat(text, start, stop, step)
    found = [(flat.offset(at), flat.offset(at + size - 1) + 1) for at, size in flat.places(" ".join(wanted.split()).lower())]
    pattern = r"\s+".join(re.escape(word) for word in wanted.split())
    expected = [match.span() for match in re.compile(pattern, re.IGNORECASE).finditer(text, start, stop)]
    assert found == expected


@given(TEXTS)
def test_a_text_has_the_same_marks_however_it_is_sliced(text: str) -> None:
    whole = [match.span() for match in _marks(text, len(text) + 1)]
    assert [[match.span() for match in _marks(text, size)] for size in (1, 3, 10)] == [whole] * 3


@given(TEXTS)
@example("|a|\n|-|\n|b|\n|-|\n\n|a|\n|-|")
def test_tables_are_a_row_a_line_of_dashes_and_rows_however_the_text_is_sliced(text: str) -> None:
    found = list(_tables(text, len(text) + 1))
    assert [list(_tables(text, size)) for size in (1, 3, 10)] == [found] * 3
    done = 0
    for start, rows, end in found:
        assert done <= start < rows <= end <= len(text)
        assert start == 0 or text[start - 1] == "\n"
        assert all(line.startswith("|") for line in text[start:end].splitlines())
        assert set(text[start:rows].splitlines()[1]) <= set("|-: \t")
        assert not text.startswith("|", end)
        done = end


@given(TEXTS, st.integers(1, 200), st.data())
@example("x\n~~~", 1, None)
@example("x\n```csv\na,b", 100, None)
def test_what_is_repeated_lies_before_the_window_and_within_its_room(text: str, room: int, data: st.DataObject | None) -> None:
    at = len(text) if data is None else data.draw(st.integers(0, len(text)))
    found = Layout(text).beginning(text, at, room)
    assert found is None or (0 <= found.start < found.end <= at and found.end - found.start <= room)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a " * 2_400_000, " ".join(["a"] * 99 + ["b"])),
        ("a" * 5_000_000, "a" * 199 + "b"),
        ("ab" * 2_500_000, "ab" * 99 + "aa"),
        ("\n\n \t" * 1_200_000, "a b"),
    ],
)
def test_a_search_made_to_be_slow_takes_as_many_looks_as_the_text_is_long(text: str, wanted: str) -> None:
    assert find(text, wanted, 0, len(text), 10_000) == ([], 0, None)


def test_the_titles_of_a_page_of_headings_are_bounded() -> None:
    for title in ("[a](((((b)" * 100, "](()()()" * 100, "_*" * 500, "\\*" * 500):
        headings = Layout(f"# {title}\n" * 5_000).headings
        assert 0 < len(headings) <= 1_001
        assert all(len(heading.title) <= 400 for heading in headings)


def test_a_page_of_five_megabytes_is_read_off_in_a_moment() -> None:
    for text in (
        "#\n" * 2_500_000,
        "a" * 5_000_000,
        "- item\n" * 700_000,
        "a\n" * 2_500_000,
        "```\n" * 1_250_000,
        "x " * 2_500_000,
        "|-|\n" * 1_250_000,
        "|\n|-|\n\n" * 700_000,
        "|-" * 2_500_000,
        "|-|\n" + "|\n" * 2_500_000,
    ):
        layout = Layout(text)
        assert len(layout.headings) <= 20_000
        window_end(text, 0, 10_000, layout)
        window_end(text, len(text) // 2, 10_000, layout)
        find(text, "a b c", 0, len(text), 10_000)
        find(text, "a", 0, len(text), 10_000)


@pytest.mark.parametrize("heading", ["## Part\n\n", "Part\n----\n\n", "# Chapter\n\n## Part\n\n"])
def test_a_heading_is_not_left_behind_at_the_end_of_a_window(heading: str) -> None:
    before, after = "Words before. " * 46 + "\n\n", "Words after. " * 60
    text = before + heading + after + "\n\n" + after
    assert window_end(text, 0, 1_000, Layout(text)) == len(before)
    # One that stands with its text stays: the window would be cut in half for nothing.
    text = before + heading + "Short.\n\n" + after
    assert window_end(text, 0, 1_000, Layout(text)) == len(before + heading + "Short.\n\n")


def test_a_window_of_nothing_but_headings_goes_on() -> None:
    text = "## Part\n\n" * 500
    start, layout = 0, Layout(text)
    for _ in range(100):
        start = window_end(text, start, 1_000, layout)
        if start == len(text):
            break
    assert start == len(text)
