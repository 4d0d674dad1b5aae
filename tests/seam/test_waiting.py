"""`Retry-After` in both forms, and everything else that is sent under that name."""

from __future__ import annotations

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.config import LIMITS
from webseam.seam.waiting import clamped, retry_after

DATE = {"date": "Mon, 30 Nov 2026 10:00:00 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "0"}, 0),
        ({"retry-after": " 120 "}, 120),
        ({"retry-after": "1000000000"}, 3_600),
        ({"retry-after": "9" * 5_000}, 3_600),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "5, 10"}, None),
        ({"retry-after": "١٢"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT", **DATE}, 30),
        ({"retry-after": "Monday, 30-Nov-26 10:00:30 GMT", **DATE}, 30),  # RFC 850
        ({"retry-after": "Mon Nov 30 10:00:30 2026", **DATE}, 30),  # asctime
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 -0000", "date": "Mon, 30 Nov 2026 10:00:00 -0000"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:30 +0100", **DATE}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 09:00:00 GMT", **DATE}, None),
        ({"retry-after": "Fri, 30 Nov 2029 10:00:00 GMT", **DATE}, 3_600),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 3_600),
        ({"retry-after": "Mon, 99 Nov 2026 99:00:00 GMT"}, None),
        ({"retry-after": "Mon, 30 Nov 99999999999999999999 10:00:30 GMT"}, None),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT" + " " * 5_000, **DATE}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 10:00:30 GMT (" + "x" * 60_000, **DATE}, "any"),
    ],
)
def test_both_forms_are_read_and_clamped(headers: dict[str, str], seconds: float | str | None) -> None:
    found = retry_after(headers)
    if seconds == "any":
        assert found is None or 0 <= found <= LIMITS.retry_after_seconds
    else:
        assert found == seconds


def test_a_date_without_a_sensible_date_of_the_reply_counts_from_now() -> None:
    soon = format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1_000), usegmt=True)
    for headers in ({}, {"date": "nonsense"}, {"date": "Mon, 99 Nov 99999999999999999999 10:00:00"}):
        found = retry_after({"retry-after": soon, **headers})
        assert found is not None
        assert 0 < found <= 1_000


def test_what_is_over_is_no_time_to_wait() -> None:
    assert [clamped(seconds) for seconds in (-1.0, 0.0, 5.0, 1e9)] == [None, 0.0, 5.0, LIMITS.retry_after_seconds]


@given(st.text(), st.text())
def test_any_text_is_read_as_some_time_or_none(value: str, date: str) -> None:
    found = retry_after({"retry-after": value, "date": date})
    assert found is None or 0 <= found <= LIMITS.retry_after_seconds
