"""RFC 9111 as a table: what may be kept, for how long it is fresh, what asks for a newer one, what a 304 changes."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from webseam.egress import freshness
from webseam.egress.freshness import Received

NOW = 1_800_000_000.0
HOUR, DAY = 3_600.0, 86_400.0


def date(seconds_ago: float = 0.0) -> str:
    return formatdate(NOW - seconds_ago, usegmt=True)


def received(status: int = 200, **headers: str) -> Received:
    return Received(status, {name.replace("_", "-"): value for name, value in headers.items()}, NOW, NOW)


@pytest.mark.parametrize(
    ("status", "headers", "kept"),
    [
        (200, {}, True),  # a status that may be kept by default (RFC 9110, 15.1), for `only` and with validators
        (200, {"cache_control": "private, max-age=60"}, True),  # a cache of one account is private
        (200, {"cache_control": "no-cache"}, True),
        (200, {"cache_control": "must-revalidate"}, True),
        (200, {"cache_control": "no-store"}, False),
        (200, {"cache_control": "max-age=60, NO-STORE"}, False),
        (200, {"cache_control": 'max-age=60, x="a, b", no-store'}, False),
        (200, {"cache_control": "no-store, must-understand"}, False),
        (200, {"cache_control": 'max-age=60, x="no-store"'}, True),
        (200, {"cache_control": ",".join(["x"] * 1_000)}, False),
        (200, {"set_cookie": "a=b", "cache_control": "max-age=60"}, False),
        (200, {"content_range": "bytes 0-1/2"}, False),
        (200, {"vary": "*"}, False),
        (200, {"vary": "Accept, *"}, False),
        (200, {"vary": "Accept"}, True),
        (203, {}, True),
        (300, {}, True),
        (301, {}, True),
        (308, {}, True),
        (302, {}, False),
        (302, {"cache_control": "max-age=60"}, True),
        (307, {"expires": date(-60)}, True),
        (303, {"cache_control": "max-age=60"}, False),
        (404, {}, False),
        (404, {"last_modified": date(DAY)}, False),
        (404, {"cache_control": "max-age=60"}, True),
        (404, {"cache_control": "max-age=0"}, False),
        (410, {"cache_control": "max-age=60"}, True),
        (204, {"cache_control": "max-age=60"}, False),
        (206, {"cache_control": "max-age=60"}, False),
        (304, {"cache_control": "max-age=60"}, False),
        (401, {"cache_control": "max-age=60"}, False),
        (403, {"cache_control": "max-age=60"}, False),
        (429, {"cache_control": "max-age=60"}, False),
        (500, {"cache_control": "max-age=60"}, False),
        (503, {"cache_control": "max-age=60"}, False),
    ],
)
def test_what_may_be_kept(status: int, headers: dict[str, str], kept: bool) -> None:
    assert freshness.may_keep(received(status, **headers)) is kept


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (200, {}, 0),
        (200, {"cache_control": "max-age=60"}, 60),
        (200, {"cache_control": "Max-Age=60"}, 60),
        (200, {"cache_control": 'max-age="60"'}, 60),
        (200, {"cache_control": "max-age=60, max-age=30"}, 30),
        (200, {"cache_control": "max-age=60, max-age=x"}, 0),
        (200, {"cache_control": "max-age"}, 0),
        (200, {"cache_control": "max-age=-1"}, 0),
        (200, {"cache_control": "max-age=1.5"}, 0),
        (200, {"cache_control": "max-age=٣"}, 0),
        (200, {"cache_control": "max-age=" + "9" * 5_000}, freshness.MOST_SECONDS),
        (200, {"cache_control": "s-maxage=60"}, 0),  # for shared caches
        (200, {"cache_control": "max-age=60, s-maxage=600"}, 60),
        (200, {"cache_control": "max-age=60", "expires": date(-600)}, 60),  # max-age comes first (5.3)
        (200, {"cache_control": "max-age=60, immutable"}, 60),
        (200, {"expires": date(-600)}, 600),
        (200, {"expires": date(-600), "date": date(100)}, 700),  # by the site's own clock
        (200, {"expires": date(600)}, 0),
        (200, {"expires": "0"}, 0),
        (200, {"expires": "-1"}, 0),
        (200, {"expires": "0", "last_modified": date(10 * HOUR)}, 0),  # said, if badly: no guess
        (200, {"last_modified": date(10 * HOUR)}, HOUR),
        (200, {"last_modified": date(10 * HOUR + 100), "date": date(100)}, HOUR),
        (200, {"last_modified": date(365 * DAY)}, DAY),
        (200, {"last_modified": date(-HOUR)}, 0),  # changed in the future
        (200, {"last_modified": "yesterday"}, 0),
        (301, {"last_modified": date(10 * HOUR)}, HOUR),
        (302, {"last_modified": date(10 * HOUR)}, 0),
        (404, {"cache_control": "max-age=86400"}, freshness.MOST_MISSING_SECONDS),
        (410, {"cache_control": "max-age=60"}, 60),
        (200, {"expires": "Sunday, 06-Nov-94 08:49:37 GMT"}, 0),
        (200, {"expires": "Fri Jan 15 09:00:00 2027", "date": "Fri, 15 Jan 2027 08:00:00 GMT"}, HOUR),
        (200, {"expires": "x" * 60_000}, 0),
    ],
)
def test_how_long_a_reply_is_fresh(status: int, headers: dict[str, str], seconds: float) -> None:
    assert freshness.lifetime(received(status, **headers)) == pytest.approx(seconds, abs=1e-3)


@pytest.mark.parametrize(
    ("headers", "took", "later", "seconds"),
    [
        ({}, 0, 0, 0),
        ({}, 0, 10, 10),
        ({"age": "100"}, 0, 10, 110),
        ({"age": "100"}, 5, 10, 115),  # what it spent on its way counts
        ({"age": "100, 3"}, 0, 0, 100),
        ({"age": "-100"}, 0, 0, 0),
        ({"age": "x"}, 0, 10, 10),
        ({"date": date(50)}, 0, 10, 60),
        ({"date": date(50), "age": "100"}, 0, 10, 110),
        ({"date": date(-50)}, 0, 10, 10),  # a site whose clock is ahead
    ],
)
def test_how_old_a_reply_is(headers: dict[str, str], took: float, later: float, seconds: float) -> None:
    assert freshness.age(Received(200, headers, NOW - took, NOW), NOW + later) == pytest.approx(seconds, abs=1e-3)


def test_a_reply_is_fresh_until_its_lifetime_is_over() -> None:
    reply = received(cache_control="max-age=60")
    assert freshness.is_fresh(reply, NOW + 59.9)
    assert not freshness.is_fresh(reply, NOW + 60)
    assert not freshness.is_fresh(reply, NOW - 1)  # our clock was set back: nobody knows
    assert not freshness.is_fresh(received(cache_control="max-age=60, no-cache"), NOW)
    assert not freshness.is_fresh(received(cache_control='max-age=60, no-cache="Set-Cookie"'), NOW)


@pytest.mark.parametrize(
    ("cache_control", "may"),
    [("", True), ("max-age=1", True), ("no-cache", False), ("must-revalidate", False), ("proxy-revalidate", True)],
)
def test_what_may_be_shown_stale_to_who_wants_it(cache_control: str, may: bool) -> None:
    assert freshness.may_be_stale({"cache-control": cache_control}) is may


@pytest.mark.parametrize(
    ("headers", "asking"),
    [
        ({}, {}),
        ({"etag": '"a"'}, {"If-None-Match": '"a"'}),
        ({"etag": 'W/"a"'}, {"If-None-Match": 'W/"a"'}),
        ({"etag": '"a", "b"'}, {}),
        ({"etag": '"a" \r\nX: y'}, {}),
        ({"etag": "é"}, {}),
        ({"etag": "x" * 2_000}, {}),
        ({"last-modified": date()}, {"If-Modified-Since": date()}),
        ({"last-modified": "yesterday"}, {}),
        ({"etag": '"a"', "last-modified": date()}, {"If-None-Match": '"a"', "If-Modified-Since": date()}),
    ],
)
def test_what_asks_for_a_newer_one(headers: dict[str, str], asking: dict[str, str]) -> None:
    assert freshness.validators(headers) == asking


@pytest.mark.parametrize(
    ("said", "kept", "confirms"),
    [
        ({}, {"etag": '"a"'}, True),
        ({"etag": '"a"'}, {"etag": '"a"'}, True),
        ({"etag": 'W/"a"'}, {"etag": '"a"'}, True),
        ({"etag": '"b"'}, {"etag": '"a"'}, False),
        ({"etag": '"b"'}, {"last-modified": "x"}, False),  # a strong validator of which we have none (4.3.4)
        ({"last-modified": "x"}, {"last-modified": "x"}, True),
        ({"last-modified": "y"}, {"last-modified": "x"}, False),
        ({"last-modified": "y"}, {"etag": '"a"', "last-modified": "x"}, True),
    ],
)
def test_what_a_304_is_about(said: dict[str, str], kept: dict[str, str], confirms: bool) -> None:
    assert freshness.confirms(said, kept) is confirms


def test_a_304_changes_the_headers_but_not_what_they_say_of_the_body() -> None:
    kept = {
        "content-type": "text/html",
        "content-length": "5",
        "etag": '"a"',
        "cache-control": "max-age=1",
        "age": "7",
        "x": "",
    }
    said = {
        "content-type": "text/plain",
        "content-length": "0",
        "content-encoding": "gzip",
        "cache-control": "max-age=9",
        "connection": "close, x-hop",
        "x-hop": "1",
        "date": date(),
    }
    assert freshness.confirmed(said, kept) == {
        "content-type": "text/html",
        "content-length": "5",
        "etag": '"a"',
        "cache-control": "max-age=9",
        "x": "",
        "date": date(),
    }


@pytest.mark.parametrize(
    ("vary", "one", "other", "same"),
    [
        ("", {"Accept": "a"}, {"Accept": "b"}, True),
        ("Accept", {"Accept": "a"}, {"accept": "a"}, True),
        ("accept", {"Accept": "a,  b"}, {"Accept": "a, b"}, True),
        ("Accept", {"Accept": "a"}, {"Accept": "b"}, False),
        ("Accept", {"Accept": "a"}, {}, False),
        ("Accept-Language, Accept", {"Accept": "a"}, {"Accept": "a", "Accept-Language": "de"}, False),
        ("Cookie, Origin", {}, {}, True),
    ],
)
def test_what_vary_tells_apart(vary: str, one: dict[str, str], other: dict[str, str], same: bool) -> None:
    assert (freshness.selecting(vary, one) == freshness.selecting(vary, other)) is same


@pytest.mark.parametrize("status", [200, 204, 206, 303, 401, 403, 404, 410, 451])
def test_an_answer_that_is_not_kept_takes_the_place_of_what_was(status: int) -> None:
    assert freshness.replaces(status)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_a_passing_trouble_leaves_what_was(status: int) -> None:
    assert not freshness.replaces(status)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('a="' * 20_000, {"no-store"}),
        ('a="\\"' * 15_000, {"no-store"}),
        ('a="' + '\\"' * 30_000, {"a"}),
        ("=," * 30_000, set()),
        ('"' * 60_000, set()),
        ("a=" * 30_000, {"a"}),
        ("a," * 63 + "b", {"a", "b"}),
        ("a," * 64 + "b", {"no-store"}),
    ],
    ids=range(8),
)
def test_a_hostile_cache_control_is_read_without_going_back(value: str, found: set[str]) -> None:
    assert set(freshness.directives({"cache-control": value})) == found  # a pattern that goes back takes minutes
