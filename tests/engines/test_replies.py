"""What all vendors' replies have in common: errors of every spelling, lists of results."""

from __future__ import annotations

from typing import Any

import pytest

from webseam.engines.replies import Complaint, complaint, hits


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"error": {"code": "BAD", "detail": "No.", "id": "r1"}}, Complaint("BAD", "No.", "r1")),
        ({"errors": [{"code": "BAD", "detail": "No."}]}, Complaint("BAD", "No.")),
        ({"error": "plain words"}, Complaint("", "plain words")),
        ({"error": ["first", "second"]}, Complaint("", "first")),
        ({"error": True}, Complaint()),
        ({"error": {"message": "m", "type": "t", "code": 429}}, Complaint("429", "m")),
        ({"detail": {"error": "inner"}}, Complaint("", "inner")),
        ({"message": "Unauthorized.", "statusCode": 403}, Complaint("", "Unauthorized.")),
        ({"error": {"error": {"error": {"error": {"error": {"error": {"error": "deep"}}}}}}}, Complaint()),
        ({"requestId": "r9", "error": "e", "tag": "T"}, Complaint("", "e")),
        ({}, None),
        ({"results": []}, None),
        ({"error": None, "errors": []}, None),
        ([], None),
        (None, None),
    ],
)
def test_an_error_is_found_however_it_is_spelt(body: Any, found: Complaint | None) -> None:
    assert complaint(body, success=False) == found


def test_words_at_the_top_of_a_success_are_no_error() -> None:
    assert complaint({"message": "ok", "code": 0, "type": "search"}, success=True) is None
    assert complaint({"message": "ok", "error": {"code": "X"}}, success=True) == Complaint("X")


def test_results_are_read_under_the_vendors_names() -> None:
    items = [
        {"name": "A", "link": "https://a.example", "text": "t", "date": "2026"},
        {"name": None, "link": "https://b.example"},
        {"name": "no link"},
        {"name": "bad link", "link": 5},
        "no object",
    ]
    assert hits(items, title="name", url="link", snippet="text", age=("published", "date")) == [
        {"title": "A", "url": "https://a.example", "snippet": "t", "age": "2026"},
        {"title": "", "url": "https://b.example", "snippet": ""},
    ]
    assert hits([]) == []


@pytest.mark.parametrize("items", [None, {}, "x", [{"title": "no url"}], [None]])
def test_a_list_in_which_nothing_can_be_used_is_no_empty_answer(items: Any) -> None:
    with pytest.raises(ValueError, match=r"expected|no result"):
        hits(items)
