"""When to come back: `Retry-After`, read once for pages, vendors, the crawl and the door. Imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping

_VALUE_CHARS = 100


def retry_after(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds (RFC 9110, section 10.2.3: a number or a date), within `LIMITS.retry_after_seconds`.

    None for nonsense, and for a time that is already over. A date counts from the reply's own `Date`, so that a clock which is
    wrong, here or there, does no harm. `headers` have lower-case names.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return clamped(float(value[:12]))
    try:
        return clamped(_seconds_until(value[:_VALUE_CHARS], headers.get("date", "")[:_VALUE_CHARS]))
    except _NO_DATE:
        return None


def clamped(seconds: float) -> float | None:
    """A waiting time that can be shown: at most `LIMITS.retry_after_seconds`; None for one that is already over."""
    return min(seconds, LIMITS.retry_after_seconds) if seconds >= 0 else None


_NO_DATE = (ValueError, TypeError, IndexError, OverflowError)  # what the standard library says of one or the other nonsense


def _seconds_until(when: str, since: str) -> float:
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    def moment(date: str) -> datetime:
        parsed = parsedate_to_datetime(date)
        return parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)

    then = moment(when)
    try:
        now = moment(since)
    except _NO_DATE:
        now = datetime.now(UTC)
    return (then - now).total_seconds()
