"""JSON as text that can be read in windows: what is short on one line, one record a line, and hardly longer than it came.

Every string and number is kept as it is written; only the white space between them is ours. What is already on many lines
stays, unless a good part of it is white space.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LINE_CHARS = 100
"""Of a line that holds a whole array or object, or several elements of an array."""

RECORD_CHARS = 300
"""Of an object in an array on one line."""

_MAX_CHARS = 1_000_000
_MAX_DEPTH = 40
_GROWTH = 1.2
_SAVED = 0.6  # of a text on many lines, what the shorter one may have of it
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:,]|[^\[\]{}:,"\s]++')


def readable(text: str) -> str:
    """JSON with lines for a window or a search to show; what is none as it is."""
    if len(text) > _MAX_CHARS:
        return text
    import msgspec

    try:
        compact: str = msgspec.json.format(text, indent=-1)
    except (msgspec.DecodeError, RecursionError):
        return text
    if _depth(compact) > _MAX_DEPTH:
        return text
    whole = _nested(compact)
    if isinstance(whole, str):
        formatted = whole
    else:
        formatted = "\n".join(_lines(whole, "", " "))
        if len(formatted) > _GROWTH * len(compact):
            formatted = "\n".join(_lines(whole, "", ""))
    return formatted if "\n" not in text.strip() or len(formatted) <= _SAVED * len(text) else text


class _Wide(NamedTuple):
    """An array or object that does not go on a line. An element, or a value behind its key: text on one line, or wide."""

    opening: str
    parts: list[tuple[str, str | _Wide]]


def _nested(compact: str) -> str | _Wide:
    """Compact JSON, which is valid, as a line or as what does not go on one."""
    opened: list[_Wide] = [_Wide("", [])]
    key = ""
    keys: list[str] = []
    for match in _TOKEN.finditer(compact):
        part = match.group()
        if part in ("{", "["):
            opened.append(_Wide(part, []))
            keys.append(key)
            key = ""
        elif part == ":":
            _, value = opened[-1].parts.pop()
            key = f"{value}:"
        elif part in ("}", "]"):
            closed = opened.pop()
            key = keys.pop()
            room = RECORD_CHARS if part == "}" and opened[-1].opening == "[" else LINE_CHARS
            opened[-1].parts.append((key, _on_a_line(closed, room)))
            key = ""
        elif part != ",":
            opened[-1].parts.append((key, part))
            key = ""
    return opened[0].parts[0][1]


def _on_a_line(closed: _Wide, room: int) -> str | _Wide:
    size = 1 + len(closed.parts)
    words: list[str] = []
    for key, value in closed.parts:
        if not isinstance(value, str):
            return closed
        size += len(key) + len(value)
        words.append(key + value)
        if size > room:
            return closed
    return closed.opening + ",".join(words) + ("}" if closed.opening == "{" else "]")


def _lines(wide: _Wide, indent: str, step: str) -> list[str]:
    """The lines of what does not go on one, of which the first has no indent."""
    lines = [wide.opening]
    inner = indent + step
    filling = False
    last = len(wide.parts) - 1
    for place, (key, value) in enumerate(wide.parts):
        comma = "," if place < last else ""
        if not isinstance(value, str):
            first, *others = _lines(value, inner, step)
            lines.append(f"{inner}{key}{first}")
            lines += others
            lines[-1] += comma
            filling = False
            continue
        # Objects in an array are records, each on a line of its own; other elements fill lines.
        fills = wide.opening == "[" and not value.startswith("{")
        if filling and fills and len(lines[-1]) + len(value) < LINE_CHARS:
            lines[-1] += value + comma
        else:
            lines.append(f"{inner}{key}{value}{comma}")
        filling = fills
    lines.append(indent + ("}" if wide.opening == "{" else "]"))
    return lines


def _depth(text: str) -> int:
    """How deep valid JSON nests: indenting what is deep would multiply its size."""
    depth = deepest = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("]", "}"):
            depth -= 1
    return deepest
