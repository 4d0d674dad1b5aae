"""A `style` attribute taken apart as a browser does it (CSS Syntax 3, 5.5.6; CSS Cascade, 6.4): declarations, and who wins.

Comments, escapes, strings and brackets are read as CSS reads them, because each is a way to write `display: none` so that a
search for these words does not find it. What is not a declaration is skipped up to the next `;`.
"""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[^\\\"'(){}\[\]/]*")
_TOKEN = re.compile(
    r"""/\*.*?(?:\*/|\Z)
      | (?P<string>"(?:[^"\\\n]|\\.)*+(?:"|\n|\Z|\\\Z) | '(?:[^'\\\n]|\\.)*+(?:'|\n|\Z|\\\Z)
        | (?<![\w-])url\(\s*(?!["'\s])(?:[^)\\]|\\.)*+(?:\)|\Z|\\\Z))
      | \\(?:(?P<code>[0-9a-f]{1,6})[ \t\r\n\f]?|(?P<escaped>[^\n]))
      | (?P<mark>[;{}()\[\]])
      | (?P<plain>[^\\"'(){}\[\]/;u]+|.)
    """,
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(r"-{0,2}[a-z_][\w-]*")
_IMPORTANT = re.compile(r"!\s*important\s*\Z")
_PREFIX = re.compile(r"-(?:webkit|moz|ms|o)-")


def declarations(style: str) -> dict[str, list[str]]:
    """The values of each property, the one that wins first: a browser takes the first that it understands.

    Names and values are in lower case, without vendor prefixes and comments; a string or a `url()` is `""`.
    """
    ranked: dict[str, tuple[list[str], list[str]]] = {}
    for declaration in style.lower().split(";") if _PLAIN.fullmatch(style) else _split(style):
        name, colon, value = declaration.partition(":")
        name = name.strip()
        if not colon or not _NAME.fullmatch(name):
            continue
        if name[0] == "-":
            name = _PREFIX.sub("", name, count=1)
        value = " ".join(value.split())
        important = _IMPORTANT.search(value) if "!" in value else None
        if important:
            value = value[: important.start()].rstrip()
        ranked.setdefault(name, ([], []))[0 if important else 1].append(value)
    return {name: [*reversed(important), *reversed(normal)] for name, (important, normal) in ranked.items()}


def _split(style: str) -> list[str]:
    """The declarations as text: `;` within brackets and strings ends none."""
    found: list[str] = []
    parts: list[str] = []
    depth = 0
    for match in _TOKEN.finditer(style):
        kind = match.lastgroup
        if kind == "plain":
            parts.append(match["plain"])
        elif kind == "mark":
            mark = match["mark"]
            depth = depth + 1 if mark in "({[" else max(0, depth - 1) if mark in ")}]" else depth
            if depth == 0 and mark in ";}":
                found.append("".join(parts).lower())
                parts.clear()
            else:
                parts.append(mark)
        elif kind in ("code", "escaped"):
            parts.append(_unescaped(match))
        else:
            parts.append('""' if kind == "string" else " ")  # a comment parts what it stands between
    found.append("".join(parts).lower())
    return found


def _unescaped(match: re.Match[str]) -> str:
    """The character that an escape means, when it can be part of a word; an escaped mark is no mark, but U+FFFD."""
    code = int(match["code"], 16) if match["code"] else ord(match["escaped"])
    if not 0 < code < 0x110000 or 0xD800 <= code < 0xE000:
        return "\ufffd"
    character = chr(code)
    return character if character.isalnum() or character in "-_" else "\ufffd"
