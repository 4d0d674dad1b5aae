"""Pictures and files inside a text, as Base64: nobody reads them here, and they would take the place of what is read."""

from __future__ import annotations

import re
from typing import NamedTuple

STRING_CHARS = 1_000
"""From here on a string of JSON that is nothing but Base64 is left out."""

URL_CHARS = 100
"""From here on what a data: URL holds is left out."""

_DATA = r"data:[\w/+.;=-]{0,100};base64,"
_URL = re.compile(rf"({_DATA})([A-Za-z0-9+/=]{{{URL_CHARS},}}+)", re.IGNORECASE)
_STRING = re.compile(rf'"({_DATA})?([A-Za-z0-9+/=\\]{{{URL_CHARS},}}+)"', re.IGNORECASE)
_KINDS = (re.compile(r"[0-9+/]"), re.compile("[A-Z]"), re.compile("[a-z]"))  # words, hex and genes lack one of them


class Slimmed(NamedTuple):
    """A text without Base64: how many pieces of it went, and their characters."""

    text: str
    pieces: int
    chars: int

    @property
    def note(self) -> str:
        """A sentence that says so; "" when nothing went."""
        if not self.pieces:
            return ""
        return f"Base64 (pictures, files) was left out: {self.chars:,} characters in {self.pieces:,} pieces."


def from_json(text: str) -> Slimmed:
    """JSON whose long strings of Base64 are replaced by a remark that says how long they were."""
    return _replaced(text, _STRING, '"', STRING_CHARS)


def from_markdown(text: str) -> Slimmed:
    """Markdown whose data: URLs end where their Base64 began, with the same remark."""
    if ";base64," not in text.lower():
        return Slimmed(text, 0, 0)
    return _replaced(text, _URL, "", URL_CHARS)


def _replaced(text: str, pattern: re.Pattern[str], quote: str, least: int) -> Slimmed:
    pieces = chars = 0

    def remark(match: re.Match[str]) -> str:
        nonlocal pieces, chars
        url, data = match[1] or "", match[2]
        if not url and (len(data) < least or not all(kind.search(data, 0, least) for kind in _KINDS)):
            return match.group()
        if data.endswith("\\"):
            return match.group()  # of an escaped quote, which ends no string
        pieces += 1
        chars += len(data)
        return f"{quote}{url}{len(data)}-characters-of-Base64{quote}"

    return Slimmed(pattern.sub(remark, text), pieces, chars)
