"""The looks at single characters that are worth compiling (`_chars.pyx`), or else in Python, with the same answer."""

from __future__ import annotations

import re

_SPACES = re.compile(r"[ \t\n\f\r\u2028\u2029\x85]+")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_MARKS = re.compile(r"[`~*<\]_\[]")
_WORDS = re.compile(r"[^\W\d_]+|\d+|_+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_NAMES = re.compile(r"[a-zA-Z]{2,}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def collapse_in_python(text: str) -> str:
    """`text` with one space for each run of white space (as it is in HTML, and what else ends a line)."""
    return _SPACES.sub(" ", text)


def has_marks_in_python(text: str) -> bool:
    """Whether there is a character that may be a mark of Markdown within a line."""
    return _MARKS.search(text) is not None


def has_invisible_in_python(text: str) -> bool:
    """Whether there is a character that a reader does not see, white space apart (`invisible` says which may stay)."""
    return _INVISIBLE.search(text) is not None


def squeeze_in_python(text: str) -> str:
    """`text` with one space for each run of what Unicode calls white space, and none at its ends."""
    return " ".join(text.split())


def words_in_python(text: str, most: int) -> tuple[list[str], int]:
    """The first `most` words of a text, lower case, and how many there are.

    A word is a run of letters, of digits or of low lines; a character of Chinese, Japanese or Korean is one.
    """
    if not text.isascii() and _CJK.search(text):
        text = _CJK.sub(r" \g<0> ", text)
    found = _WORDS.findall(text)
    return [word.lower() for word in found[:most]], len(found)


def names_in_python(text: str, most: int) -> tuple[str, ...]:
    """The first `most` words of a class or id, each once and in lower case: `post-metaData` has three."""
    words = [word.lower() for word in _NAMES.findall(_CAMEL.sub(" ", text))]
    return tuple(dict.fromkeys(words))[:most]


try:
    from webseam.documents._chars import collapse, has_invisible, has_marks, names, squeeze, words
except ModuleNotFoundError:
    collapse, has_invisible, has_marks = collapse_in_python, has_invisible_in_python, has_marks_in_python
    names, squeeze, words = names_in_python, squeeze_in_python, words_in_python

__all__ = [
    "collapse", "collapse_in_python", "has_invisible", "has_invisible_in_python", "has_marks", "has_marks_in_python", "names",
    "names_in_python", "squeeze", "squeeze_in_python", "words", "words_in_python",
]  # fmt: skip
