"""JSON as text that can be read in windows: what is short on one line, one record a line, and hardly longer than it came.

Every string and number is kept as it is written; only the white space between them is ours. What is already on many lines
stays, unless a good part of it is white space. Base64 of some length is a picture or a file: nobody reads it here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LINE_CHARS = 100
"""Of a line that holds a whole array or object, or several elements of an array."""

RECORD_CHARS = 300
"""Of an object in an array on one line."""

BASE64_CHARS = 1_000
"""From here on a string of nothing else is left out; in a data: URL from a tenth of that."""

_MAX_CHARS = 1_000_000
_MAX_DEPTH = 40
_GROWTH = 1.2
_SAVED = 0.6  # of a text on many lines, what the shorter one may have of it
_BRACKETS = re.compile(r"[\[\]{}]")
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}:,]|[^\[\]{}:,"\s]++')
_BASE64 = re.compile(r'"(data:[^",\\]{0,100},)?([A-Za-z0-9+/=\\]{100,}+)"')
_BASE64_KINDS = (re.compile(r"[0-9+/]"), re.compile("[A-Z]"), re.compile("[a-z]"))  # text, hex and genes lack one of them


class Slimmed(NamedTuple):
    """JSON without Base64: how many strings went, and their characters."""

    text: str
    strings: int
    chars: int


def without_base64(text: str) -> Slimmed:
    """JSON whose long strings of Base64 are replaced by a remark that says how long they were."""
    strings = chars = 0

    def replaced(match: re.Match[str]) -> str:
        nonlocal strings, chars
        data = match[2]
        if len(data) < (BASE64_CHARS // 10 if match[1] else BASE64_CHARS) or data.endswith("\\"):
            return match.group()
        if not all(kind.search(data, 0, BASE64_CHARS) for kind in _BASE64_KINDS):
            return match.group()
        strings += 1
        chars += len(data)
        return f'"{match[1] or ""}[{len(data)} characters of Base64]"'

    return Slimmed(_BASE64.sub(replaced, text), strings, chars)


def readable(text: str) -> str:
    """JSON with lines for a window or a search to show; what is none as it is."""
    if len(text) > _MAX_CHARS or _depth(text) > _MAX_DEPTH:
        return text
    import msgspec

    try:
        compact: str = msgspec.json.format(text, indent=-1)
    except (msgspec.DecodeError, RecursionError):
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
    """How deep brackets nest, those in strings counted too: indenting what is deep would multiply its size."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
