"""The benchmark of the reader: what it says about a difference, and answers that are kept between runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.peers import readers
from bench.peers.readers import SIDES, TRAFILATURA, US, Answer, Page, Reader
from bench.reading import Score, Scored

from bench import reading


def scored(domain: str, ours: float, theirs: float) -> Scored:
    row = [Score(f1, f1, f1, 1.0, 0.0, 10) for f1 in (ours, *[theirs] * (len(SIDES) - 1))]
    return Scored("set", "article", domain, 10, tuple(row))


def test_a_difference_that_every_domain_has_is_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    pages = [scored(f"{number}.example", 0.9, 0.8 + number / 1_000) for number in range(20)]
    assert reading.show_differences(pages) == (0, 0)
    assert reading.show_differences([page._replace(scores=page.scores[::-1]) for page in pages])[1] == 1
    assert "BEHIND" in capsys.readouterr().out


def test_many_pages_of_one_domain_are_one_witness() -> None:
    pages = [scored("one.example", 0.9, 0.8)] * 50 + [scored(f"{number}.example", 0.8, 0.81) for number in range(4)]
    difference, low, high = reading.intervals(pages, "domain")[0]
    assert low < 0 < difference < high
    assert reading.intervals(pages, "page")[0][1] > 0


def test_the_characters_of_a_reader_that_finds_little_have_no_rank() -> None:
    page = scored("one.example", 0.5, 0.9)
    group, per_word = reading.show_characters([page])
    assert 0 not in group
    assert per_word == [1.0] * len(SIDES)


def test_an_answer_that_was_cut_off_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "CACHE", tmp_path)
    kept = readers._Kept(TRAFILATURA, "1")
    kept.add("a", Answer("text", "", 0.5))
    kept.close()
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes() + json.dumps(["b", ["more", "", 0.5]]).encode()[:-3])
    again = readers._Kept(TRAFILATURA, "1")
    assert again.answers == {"a": Answer("text", "", 0.5)}
    again.add("b", Answer("more", "", 0.5))
    again.close()
    for versions, found in (("1", {"a", "b"}), ("2", set())):
        last = readers._Kept(TRAFILATURA, versions)
        last.close()
        assert set(last.answers) == found


def test_our_side_reads_a_page_and_says_what_is_none() -> None:
    with Reader(US) as reader:
        read = reader.read(Page("a", b"<title>T</title><p>Words of it.</p>", "https://example.com/"))
        assert (read.markdown, read.error) == ("Words of it.", "")
        assert reader.read(Page("b", b"<p></p>", "https://example.com/")).error
        assert reader.versions.startswith("webseam ")
