"""The looks at single characters that are worth compiling (`_chars.pyx`), or else in Python, with the same answer."""

from __future__ import annotations

import re

_SPACES = re.compile(r"[ \t\n\f\r\u2028\u2029\x85]+")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKS = re.compile(r"[`~*<\]_\[]")


def collapse_in_python(text: str) -> str:
    """`text` with one space for each run of white space (as it is in HTML, and what else ends a line)."""
    return _SPACES.sub(" ", text)


def has_marks_in_python(text: str) -> bool:
    """Whether there is a character that may be a mark of Markdown within a line."""
    return _MARKS.search(text) is not None


def has_invisible_in_python(text: str) -> bool:
    """Whether there is a character that a reader does not see, white space apart (`invisible` says which may stay)."""
    return _INVISIBLE.search(text) is not None


try:
    from webseam.documents._chars import collapse, has_invisible, has_marks
except ModuleNotFoundError:
    collapse, has_invisible, has_marks = collapse_in_python, has_invisible_in_python, has_marks_in_python

__all__ = ["collapse", "collapse_in_python", "has_invisible", "has_invisible_in_python", "has_marks", "has_marks_in_python"]
