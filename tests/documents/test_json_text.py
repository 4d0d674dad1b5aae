"""JSON with lines to read: the same data, hardly longer, records on lines of their own, no Base64."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.documents import base64_data
from webseam.documents.document import Document
from webseam.documents.json_text import readable
from webseam.documents.read import read

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=120) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=20), inner, max_size=6),
    max_leaves=60,
)


def document(data: str, content_type: str = "application/json") -> Document:
    return read(data.encode(), url="https://example.com/x", content_type=content_type)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@given(VALUES)
def test_the_data_stay_the_same(value: Any) -> None:
    assert json.loads(readable(compact(value))) == value
    assert json.loads(readable(json.dumps(value, indent=4))) == value


def test_an_array_of_records_is_a_record_a_line() -> None:
    records = [{"id": n, "v": [n, n, n], "n": f"x{n}"} for n in range(500)]
    lines = readable(compact({"total": 500, "records": records})).split("\n")
    assert lines[:4] == ["{", ' "total":500,', ' "records":[', '  {"id":0,"v":[0,0,0],"n":"x0"},']
    assert lines[-3:] == ['  {"id":499,"v":[499,499,499],"n":"x499"}', " ]", "}"]


def test_elements_of_a_long_array_fill_lines() -> None:
    lines = readable(compact([[n, n] for n in range(1000)])).split("\n")
    assert (lines[0], lines[-1]) == ("[", "]")
    assert all(80 < len(line) <= 100 for line in lines[1:-2])


def test_a_record_may_be_longer_than_other_lines_and_a_long_one_is_put_on_several() -> None:
    record = {"id": 1, "words": "w" * 200}
    assert readable(compact([record, record])) == f"[\n {compact(record)},\n {compact(record)}\n]"
    long = {"id": 1, "words": "w" * 400}
    assert readable(compact([long])).split("\n") == ["[", " {", '  "id":1,', f'  "words":"{"w" * 400}"', " }", "]"]


def deep(levels: int) -> Any:
    value: Any = {"a": 1, "words": "x" * 90}
    for _ in range(levels):
        value = [value, *[{"b": 1}] * 5]
    return value


@pytest.mark.parametrize(
    "value",
    [
        [0] * 5_000,
        [{"a": n} for n in range(5_000)],
        {str(n): n for n in range(5_000)},
        [[[{"x": [n] * 40} for n in range(20)]] * 5] * 5,
        deep(38),
    ],
)
def test_it_is_hardly_longer_than_it_came(value: Any) -> None:
    text = compact(value)
    assert text != readable(text)
    assert len(readable(text)) <= 1.25 * len(text)


def test_strings_and_numbers_stay_as_they_are_written() -> None:
    text = '{"a":1.000,"b":"\\u00e9\\/ [,]{:}","a":123456789012345678901234567890,"c":1E5}'
    assert readable(text) == text


def test_what_is_on_many_lines_stays_unless_it_is_mostly_white_space() -> None:
    settings = json.dumps({"name": "words", "description": "more words", "private": True}, indent=2)
    assert readable(settings) == settings
    assert readable('{"a":1}\n{"a":2}\n') == '{"a":1}\n{"a":2}\n'
    points = json.dumps([[1, 2]] * 1_000, indent=4)
    assert len(readable(points)) < len(points) / 5


def test_base64_is_left_out_and_said() -> None:
    picture = base64.b64encode(random.Random(5).randbytes(3_000)).decode()
    outputs = [{"data": {"image/png": picture + "\n"}}, {"data": {"text/html": f"data:image/png;base64,{picture[:400]}"}}]
    found = document(json.dumps({"cells": [{"source": ["print(1)"], "outputs": outputs}]}), "application/x-ipynb+json")
    assert found.notes == ("Base64 (pictures, files) was left out: 4,402 characters in 2 pieces.",)
    assert '"image/png":"4002-characters-of-Base64"' in found.content
    assert '"text/html":"data:image/png;base64,400-characters-of-Base64"' in found.content
    assert "print(1)" in found.content
    assert len(found.content) < 400


def test_base64_of_markdown_is_left_out_of_data_urls() -> None:
    picture = base64.b64encode(random.Random(5).randbytes(3_000)).decode()
    source = f"![a chart](data:image/png;base64,{picture})\n\n[image1]: <data:image/svg+xml;charset=utf-8;base64,{picture}>\n"
    found = document(source, "text/markdown")
    assert found.content == (
        "![a chart](data:image/png;base64,4000-characters-of-Base64)\n\n"
        "[image1]: <data:image/svg+xml;charset=utf-8;base64,4000-characters-of-Base64>"
    )
    assert found.notes == ("Base64 (pictures, files) was left out: 8,000 characters in 2 pieces.",)
    assert document(picture, "text/markdown").content == picture


@pytest.mark.parametrize("unit", ["data:", "data:;base64,", '"data:', '"' + "a" * 99, "\\" * 101 + '"', "data:" + "a" * 99])
def test_base64_is_looked_for_in_one_walk(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert base64_data.from_json(text).text == text
    assert base64_data.from_markdown(text).text == text


@pytest.mark.parametrize("text", ["ACGT" * 500, "0123abcd" * 500, "Aa1 " * 500, "word" * 400, "Aa1+" * 240, "漢字" * 1_000])
def test_what_only_looks_like_base64_stays(text: str) -> None:
    found = document(compact({"a": text}))
    assert found.notes == ()
    assert json.loads(found.content.strip("`json\n")) == {"a": text}
