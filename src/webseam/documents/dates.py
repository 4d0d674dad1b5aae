"""Dates as pages write them, made ISO 8601: "2026-05-01", "2026-05-01T10:00:00+02:00", "2026-05", "2026".

Only what has one meaning is taken: "01/05/2026" is the first of May here and the fifth of January there, so it is none.
"""

from __future__ import annotations

import datetime as dt
import re

_CHARS = 60
_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?",
    re.IGNORECASE | re.ASCII,
)
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z|[+-]\d{4})?)?", re.ASCII)
_PART = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?", re.ASCII)
_CHINESE = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]", re.ASCII)
_DAY_MONTH = re.compile(
    r"(?:[a-z]{3,9},?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s.-]+(?:of\s+)?([a-z]{3,9})\.?[\s,-]+(\d{4})\b", re.IGNORECASE | re.ASCII
)
_MONTH_DAY = re.compile(
    r"(?:[a-z]{3,9},?\s+)?([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b", re.IGNORECASE | re.ASCII
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_FIRST_YEAR, _LAST_YEAR = 1400, 2200


def iso_date(text: str) -> str:
    """The date that `text` begins with, or is; "" when that is none, or none there ever was. A time keeps its zone."""
    text = text.strip()[:_CHARS]
    if match := _ISO.match(text) or _COMPACT.fullmatch(text):
        return _checked(*match.groups())
    if match := _CHINESE.match(text):
        return _checked(*match.groups())
    if match := _DAY_MONTH.match(text):
        return _checked(match[3], _month(match[2]), match[1])
    if match := _MONTH_DAY.match(text):
        return _checked(match[3], _month(match[1]), match[2])
    if match := _PART.fullmatch(text):
        if not match[2]:
            return match[1] if _FIRST_YEAR <= int(match[1]) <= _LAST_YEAR else ""
        return _checked(match[1], match[2], "1")[:7]
    return ""


def _month(name: str) -> str:
    name = name.lower()
    if name[:3] not in _MONTHS:
        return ""
    number = _MONTHS.index(name[:3])
    return str(number + 1) if _NAMES[number].startswith(name) or name == "sept" else ""


def _checked(
    year: str, month: str, day: str, hour: str | None = None, minute: str | None = None, second: str | None = None,
    zone: str | None = None,
) -> str:  # fmt: skip
    try:
        date = dt.date(int(year), int(month), int(day))
        time = dt.time(int(hour), int(minute or 0), int(second or 0)) if hour else None
    except ValueError:
        return ""
    if not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        return ""
    if time is None:
        return date.isoformat()
    return f"{date.isoformat()}T{time.isoformat()}{_zone(zone or '')}"


def _zone(zone: str) -> str:
    if zone.upper() in ("Z", "UTC", "GMT"):
        return "Z"
    if not zone:
        return ""
    hours, minutes = zone[1:3], zone[3:].lstrip(":") or "00"
    return f"{zone[0]}{hours}:{minutes}" if int(hours) < 15 and int(minutes) < 60 else ""
