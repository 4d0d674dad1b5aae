"""Characters that a reader does not see but a model reads: text is smuggled in them, so they are dropped and counted.

Dropped: control characters, and with ESC the whole sequence that it begins; zero-width and filler characters, bidirectional
controls, the tag block, the controls of musical notation and shorthand, and variation selectors. Kept because people write with
them: U+FE0E and U+FE0F behind a symbol that is text or emoji, U+200D between emoji, U+200C and U+200D between letters of the
scripts that join (Arabic, Persian, the Indic ones), the tag sequences of the three sub-national flags. The blank of Braille
becomes a space. Soft hyphens and marks of direction vanish without being counted: every second page has some, and they hold
no text.
"""

from __future__ import annotations

import re

from webseam.documents.chars import has_invisible

_SUSPECTS = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
# ECMA-48: a control sequence, a control string, any other escape; what begins one that does not end. Of the one-character forms
# only colours: the rest stands in pages whose UTF-8 was decoded wrongly before they were saved, and what follows is their text.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-9;]{0,20}m"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*+(?:\x07|\x1b\\)"
    r"|\x1b[ -/]*[0-~]"
    r"|[\x1b\x9b]"
)
_ESCAPE = re.compile("[\x1b\x9b]")
_LONGEST_MEANT = 3
_FLAG = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_UNCOUNTED = frozenset("\u00ad\u061c\u200e\u200f\ufeff\r")
_JOINERS = frozenset("\u200c\u200d")
_TEXT_OR_EMOJI = frozenset("\ufe0e\ufe0f")
# Symbols with both looks (Unicode, emoji-variation-sequences.txt), the blocks of emoji whole; digits only as keycaps.
_TWO_LOOKS = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa"
    "\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff]"
)
_KEYS = frozenset("#*0123456789")
_KEYCAP = "\u20e3"


def drop_invisible(text: str) -> tuple[str, int]:
    """`text` without invisible characters, and how many were dropped. CR LF and CR become LF, FF a space."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x0c" in text:
        text = text.replace("\x0c", " ")
    if "\u2800" in text:
        text = text.replace("\u2800", " ")
    if not has_invisible(text):
        return text, 0
    kept: list[str] = []
    dropped = 0
    if _ESCAPE.search(text) is not None:
        text, dropped = drop_escapes(text)
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


def drop_escapes(text: str) -> tuple[str, int]:
    """`text` without the escape sequences that a terminal obeys, and how many characters they had."""
    without = _ESCAPES.sub("", text)
    return without, len(text) - len(without)


def _means_something(character: str, before: str, after: str) -> bool:
    """Whether an invisible character changes how its neighbours look, as its script or an emoji sequence needs."""
    if not before or before.isspace():
        return False
    if character in _JOINERS:
        return bool(after) and _joins(before) and _joins(after)
    if character in _TEXT_OR_EMOJI:
        return _TWO_LOOKS.match(before) is not None or (before in _KEYS and after == _KEYCAP)
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
