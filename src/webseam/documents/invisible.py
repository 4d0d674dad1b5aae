"""Characters that a reader does not see but a model reads: text is smuggled in them, so they are dropped and counted.

Dropped: control characters, zero-width and filler characters, bidirectional controls, the tag block, and variation
selectors beyond the one that may follow a character. Kept because people write with them: U+200D between emoji and U+200C /
U+200D between letters of the scripts that join (Arabic, Persian, the Indic ones), the tag sequence of a sub-national flag.
Soft hyphens and marks of direction vanish without being counted: every second page has some, and they hold no text.
"""

from __future__ import annotations

import re

_SUSPECTS = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]+"
)
_LONGEST_MEANT = 3
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
_UNCOUNTED = frozenset("\u00ad\u061c\u200e\u200f\ufeff\r")
_JOINERS = frozenset("\u200c\u200d")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")


def drop_invisible(text: str) -> tuple[str, int]:
    """`text` without invisible characters, and how many were dropped. CR LF and CR become LF, FF a space."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x0c" in text:
        text = text.replace("\x0c", " ")
    if _SUSPECTS.search(text) is None:
        return text, 0
    kept: list[str] = []
    dropped = 0
    position = 0
    for match in _SUSPECTS.finditer(text):
        start, end = match.span()
        if text[start - 1 : start] == "\U0001f3f4" and (flag := _FLAG.match(text, start - 1)):
            start = flag.end()
        elif end - start <= _LONGEST_MEANT:
            while start < end and _means_something(text[start], text[start - 1 : start], text[start + 1 : start + 2]):
                start += 1
        run = text[start:end]
        kept.append(text[position:start])
        position = end
        dropped += len(run) - sum(map(run.count, _UNCOUNTED))
    kept.append(text[position:])
    return "".join(kept), dropped


def _means_something(character: str, before: str, after: str) -> bool:
    """Whether an invisible character changes how its neighbours look, as its script or an emoji sequence needs."""
    if not before or before.isspace():
        return False
    if character in _JOINERS:
        return bool(after) and _joins(before) and _joins(after)
    if _SELECTORS.match(character):
        return _SELECTORS.match(before) is None and ord(before) > 0x22
    return False


def _joins(character: str) -> bool:
    """Whether `character` is of a script with joiners, or part of an emoji sequence."""
    code = ord(character)
    return (
        0x0590 <= code < 0x1100
        or 0x1700 <= code < 0x1C00
        or 0x2600 <= code < 0x27C0
        or code == 0xFE0F
        or 0x1F000 <= code < 0x1FB00
    )
