"""Secrets taken out of texts, in whatever spelling they come back: ground for the door, the engines and the tools.

A vendor may echo a key as it was sent, or percent-encoded in an address, escaped in JSON, as entities in HTML, or any mix of
these, character by character, with what cannot be seen in between. Each character of a secret is matched in all of its
spellings. Redact before anything is cut: half a secret in front of a cut is in no spelling, and stays.

Texts may be hostile and megabytes long. A pattern begins with a few literal characters, which `re` looks for at the speed of a
scan; long texts go through it in slices, for one call into `re` keeps every other thread waiting; plain ASCII without
anything that begins an escape, which is most texts, is not given to it at all unless the secret occurs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = "[secret]"

_SHORT = 16 * 1024  # characters
_SLICE = 64 * 1024
_OVERLAP = 16 * 1024  # more than one part of a secret takes in its longest spelling
_PART = 128  # characters matched by one pattern: a pattern's size is bounded, a secret's is not

# What may stand between two characters and is not seen, or is taken out by cleaning: as itself, as JSON and as HTML escape it.
# It is in a pattern once a character, so it is short, and wider than it need be: classes, and no list of what is invisible.
_UNSEEN = (
    r"[^\w\s!-/:-@\[-`{-~]|[\u3164\uffa0]"
    r"|\\{1,4}u(?:00(?:ad|[01].)|20[0-6].|feff)"
    r"|&(?:shy|zwn?j|#(?:173|8[23]..|65279)|#[xX](?:ad|20[0-6].|feff));"
)


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` with "[secret]" in the place of each of `secrets`, whatever the case and spelling. Empty secrets are none."""
    for secret in secrets:
        if not secret or not _may_hold(text, secret):
            continue
        # Parts of one size: a last one of a few characters would be found everywhere.
        size = -(-len(secret) // -(-len(secret) // _PART))
        for at in range(0, len(secret), size):
            text = _replaced(_pattern(secret[at : at + size]), text)
    return text


def _may_hold(text: str, secret: str) -> bool:
    """False when `text` cannot hold `secret`: nothing in it begins an encoding, and the secret is not there as it is."""
    if not text.isascii() or "%" in text or "&" in text or "\\" in text or " " in secret:
        return True
    if len(text) < _SHORT and not text.isprintable():
        return True  # control characters may part the secret; a long text is cleaned, and looked at again
    return secret.lower() in text.lower()


def _replaced(pattern: re.Pattern[str], text: str) -> str:
    pieces: list[str] = []
    done = at = 0
    while at < len(text):
        match = pattern.search(text, at, at + _SLICE + _OVERLAP)
        if match is None:
            at += _SLICE
            continue
        pieces += (text[done : match.start()], REDACTED)
        done = at = match.end()
    return "".join([*pieces, text[done:]]) if pieces else text


@lru_cache(maxsize=256)
def _pattern(part: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_UNSEEN})*".join(map(_spellings, part)))


def _spellings(character: str) -> str:
    """Every way to write `character`, as a pattern. Each alternative begins with a literal: see the module's text."""
    cased = sorted({one for one in (character, character.lower(), character.upper()) if len(one) == 1})
    percent = "|".join("%(?:25){0,3}".join(["", *map(_hex, _bytes(one))]) for one in cased)
    escaped = "|".join(map(_backslashed, cased))
    entities = "|".join(f"#0{{0,6}}{ord(one)}(?:;|(?![0-9]))|#[xX]0{{0,6}}{_hex(f'{ord(one):x}')};?" for one in cased)
    names = "".join(f"|{re.escape(name)}" for one in cased for name in _names().get(one, ()))
    plus = r"|\+" if character == " " else ""
    plain = "|".join(map(re.escape, cased))
    # The longest first, so that of an escaped backslash or percent sign nothing is left.
    return rf"(?:{percent}|&(?:amp;){{0,3}}(?:{entities}{names})|\\\\{{0,3}}(?:{escaped})|{plain}{plus})"


def _backslashed(character: str) -> str:
    """What follows the backslashes in an escape of JSON, JavaScript or Python."""
    code = ord(character)
    ways = [r"\\{1,4}".join(f"u{_hex(unit)}" for unit in _utf16(character)), f"U{_hex(f'{code:08x}')}"]
    ways += [f"x{_hex(f'{code:02x}')}"] if code < 256 else []
    ways += [re.escape(character)] if character in "\"'/\\" else []
    return "|".join(ways)


def _bytes(character: str) -> list[str]:
    return [f"{byte:02x}" for byte in character.encode("utf-8", "surrogatepass")]


def _utf16(character: str) -> list[str]:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return [units[at : at + 4] for at in range(0, len(units), 4)]


def _hex(digits: str) -> str:
    """Hexadecimal digits, in either case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


@lru_cache(maxsize=1)
def _names() -> dict[str, list[str]]:
    """The names of HTML's entities, by character, with their semicolons where they need one."""
    from html.entities import html5

    names: dict[str, list[str]] = {}
    for name, character in sorted(html5.items(), reverse=True):  # "amp;" before "amp"
        if len(character) == 1:
            names.setdefault(character, []).append(name)
    return names
