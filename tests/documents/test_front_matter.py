"""Metadata that a Markdown document begins with is no content, and gives the title."""

from __future__ import annotations

import pytest

from webseam.documents.document import Document
from webseam.documents.read import read
from webseam.errors import DocumentError


def markdown(text: str) -> Document:
    return read(text.encode(), url="index://notes/a.md", content_type="text/markdown")


@pytest.mark.parametrize(
    ("block", "title"),
    [
        ("---\ntitle: The lamp\n---\n", "The lamp"),
        ("---\r\ntitle: The lamp\r\ndate: 2026-01-01\r\n---\r\n", "The lamp"),
        ('\ufeff---  \nlayout: post\nTitle:   "The \\"lamp\\""  # not yet\n...\n', 'The "lamp"'),
        ("---\ntitle: 'The keeper''s lamp'\n---\n", "The keeper's lamp"),
        ("---\ntitle: A lamp: how to tend it # or not\n---\n", "A lamp: how to tend it"),
        ("---\n# set by the site\n\ntags:\n- a\n- b: c\nauthor:\n  title: Keeper\nlist: [\n  x\n]\n---\n", "Heading"),
        ("---\ntitle: |\n  Two\n  lines\n---\n", "Heading"),
        ("---\ntitle: [a, b]\n---\n", "Heading"),
        ('---\ntitle: "unclosed\n---\n', "Heading"),
        ("---\ntitle:\n---\n", "Heading"),
        ("---\n---\n", "Heading"),
        ('+++\ntitle = "The lamp"\n[extra]\nx = """\nlong\n"""\n+++\n', "The lamp"),
    ],
)
def test_front_matter_is_not_shown_and_its_title_wins(block: str, title: str) -> None:
    document = markdown(block + "\n# Heading\n\nText.\n")
    assert document.content == "# Heading\n\nText."
    assert document.title == title
    assert document.hidden == 0


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA thematic break.\n\nTitle: not one",
        "---\ntitle: never closed\n\nText.",
        "---\n\nProse between two breaks.\n\n---\n\nMore.",
        "---\n\n# Heading\n\n---\n\nMore.",
        "---\n\n---\n\nMore.",
        "---\ntitle: x\nA line of prose\n---\nMore.",
        "---\n- a list\n- of things\n---\nMore.",
        "----\ntitle: x\n----\nMore.",
        "Text.\n\n---\ntitle: x\n---\nMore.",
        "---\n" + "key: value\n" * 100 + "---\nMore.",
        "---\nkey: " + "x" * 10_000 + "\n---\nMore.",
        "+++\nsome words\n+++\nMore.",
    ],
)
def test_what_is_no_front_matter_stays(text: str) -> None:
    assert markdown(text).content == text


def test_a_comment_in_front_matter_does_not_reach_into_the_text() -> None:
    assert markdown("---\ntitle: a <!-- b\n---\nText. --> More.").content == "Text. --> More."


def test_a_document_of_nothing_but_front_matter_is_empty() -> None:
    with pytest.raises(DocumentError) as caught:
        markdown("---\ntitle: Later\n---\n")
    assert caught.value.kind == "empty"


def test_other_text_keeps_what_looks_like_front_matter() -> None:
    text = "---\ntitle: x\n---\nText."
    assert read(text.encode(), url="index://notes/a.txt", content_type="text/plain").content == text
