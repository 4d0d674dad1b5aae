"""The looks at single characters that are worth compiling (`_chars.pyx`), or else in Python, with the same answer."""

from __future__ import annotations

import re

_SPACES = re.compile(r"[ \t\n\f\r\u2028\u2029\x85]+")
_MARKS = re.compile(r"[`~*<\]_\[]")


def collapse_in_python(text: str) -> str:
    """`text` with one space for each run of white space (as it is in HTML, and what else ends a line)."""
    return _SPACES.sub(" ", text)


def has_marks_in_python(text: str) -> bool:
    """Whether there is a character that may be a mark of Markdown within a line."""
    return _MARKS.search(text) is not None


try:
    from webseam.documents.html._chars import collapse, has_marks
except ModuleNotFoundError:
    collapse, has_marks = collapse_in_python, has_marks_in_python

__all__ = ["collapse", "collapse_in_python", "has_marks", "has_marks_in_python"]
