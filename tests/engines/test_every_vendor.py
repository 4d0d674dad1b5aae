"""The contract, one suite over every vendor in the catalogue: no engine is exempt.

Success, empty, every failure that is saved, every filter it declares, its limits, and bytes of every hostile kind. The replies
are those that the loopback vendor serves (`webseam.testing`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from webseam.config import LIMITS
from webseam.engines import catalogue
from webseam.engines.vendor import VendorProvider, settings_of
from webseam.errors import DoorError, ProviderError
from webseam.seam.contract import HttpReply, HttpRequest, Query, SearchProvider
from webseam.seam.facts import FILTERS
from webseam.seam.failures import Kind, failure, how_to_set
from webseam.testing.fakes import FakeDoor
from webseam.testing.saved import about, saved
from webseam.testing.vendor import LoopbackVendor

VENDORS = sorted(catalogue.VENDORS)
CASES = [(name, case) for name in VENDORS for case in about(name).cases]
FAILURES = [(name, case) for name, case in CASES if saved(name, case).kind]
ON_PAPER = [(name, case) for name, case in FAILURES if case not in ("hang", "drop")]  # those two send nothing to read
OVER_THE_WIRE = [(name, case) for name, case in FAILURES if case not in ("hang", "not_found")]
SECRET = "not-a-real-key-but-secret"

EXAMPLES: dict[str, Any] = {
    "freshness": ["day", "week", "month", "year", "2026-01-02..2026-03-04"],
    "include_domains": [("example.com",), ("example.com", "docs.example.org")],
    "exclude_domains": [("example.com",), ("example.com", "docs.example.org")],
}


def settings(name: str, **more: str) -> dict[str, str]:
    facts = catalogue.facts(name)
    secrets = {setting.key: SECRET for setting in facts.settings if setting.type == "secret"}
    return settings_of(facts, secrets | more)


def read(name: str, reply: HttpReply, count: int = 10) -> list[Any]:
    return catalogue.vendor(name).reply(reply, Query("sans-io", count))


def provider(name: str, *replies: HttpReply | Exception) -> tuple[VendorProvider, FakeDoor]:
    door = FakeDoor(*replies)
    return VendorProvider(catalogue.vendor(name), settings(name), door), door


def sent(request: HttpRequest) -> str:
    """All of a request that a vendor could read, for comparisons."""
    return json.dumps([request.method, request.url, sorted(request.headers.items()), request.body.decode()])


# ------------------------------------------------------------------------------------------------ facts


@pytest.mark.parametrize("name", VENDORS)
def test_the_facts_are_complete_and_agree_with_the_catalogue(name: str) -> None:
    facts = catalogue.facts(name)
    assert facts.name == name
    assert facts.title
    assert facts.description
    assert facts.home.startswith("https://")
    assert facts.search
    assert facts.third_party
    assert facts.filters <= set(FILTERS)
    assert bool(facts.countries) <= ("country" in facts.filters)
    assert bool(facts.languages) <= ("language" in facts.filters)
    assert 1 <= facts.default_count <= facts.result_limit <= LIMITS.results
    assert facts.checked_on or facts.checked == "unverified"
    for setting in facts.settings:
        if setting.type == "secret":
            assert setting.variables, "a key is read from its usual variable too"
            assert facts.key_page.startswith("https://")
            assert setting.default == ""
    assert isinstance(provider(name)[0], SearchProvider)
    assert provider(name)[0].name == name


@pytest.mark.parametrize("name", VENDORS)
def test_the_replies_that_every_vendor_must_have_are_saved(name: str) -> None:
    cases = about(name).cases
    assert {"success", "empty", "error_in_200", "rate_limit", "bad_parameter"} <= set(cases)
    keyed = any(setting.type == "secret" for setting in catalogue.facts(name).settings)
    assert ("rejected_key" in cases) == keyed
    assert bool(about(name).key) == keyed
    for case in cases:
        kind = saved(name, case).kind
        assert kind in {"", *(kind.value for kind in Kind)}


# ------------------------------------------------------------------------------------------------ replies, pure


@pytest.mark.parametrize("name", VENDORS)
def test_a_success_is_read(name: str) -> None:
    results = read(name, saved(name, "success").reply("https://vendor.example/w/api.php?q=x"))
    assert len(results) >= 3
    for result in results:
        assert set(result) <= {"title", "url", "snippet", "age"}
        assert all(isinstance(value, str) for value in result.values())
        assert result["title"]
        assert result["url"].startswith("https://")
        assert "age" not in result or result["age"]
    assert len({result["url"] for result in results}) == len(results)


@pytest.mark.parametrize("name", VENDORS)
def test_no_more_results_than_asked_for_are_given(name: str) -> None:
    assert len(read(name, saved(name, "success").reply(), count=2)) == 2


@pytest.mark.parametrize("name", VENDORS)
def test_nothing_found_is_an_empty_list(name: str) -> None:
    assert read(name, saved(name, "empty").reply()) == []


@pytest.mark.parametrize(("name", "case"), ON_PAPER)
def test_a_failure_is_raised_with_its_kind_and_a_line_that_teaches(name: str, case: str, run: Callable[..., Any]) -> None:
    reply = saved(name, case)
    asking, _ = provider(name, reply.reply())
    with pytest.raises(ProviderError) as raised:
        run(asking.search("sans-io", 5))
    error = raised.value
    assert (error.kind, error.engine, error.status) == (reply.kind, name, reply.status)
    assert error.retry_after == (None if reply.retry_after is None else pytest.approx(reply.retry_after))
    first, _, rest = str(error).partition("\n")
    assert first.startswith(catalogue.facts(name).title)
    assert first.endswith(".")
    assert f"status {reply.status}" in rest
    assert len(str(error)) < LIMITS.error_chars
    if reply.kind in ("no_key", "key_rejected"):
        assert how_to_set(catalogue.facts(name)) in first


STATUSES = (200, 204, 206, 304, 400, 401, 402, 403, 404, 418, 429, 451, 500, 502, 503, 504, 599)
BODIES = (
    b"",
    b"{}",
    b"null",
    b"[]",
    b"5",
    b'"text"',
    b"\xff\xfe",
    b"{",
    b'{"error": null}',
    b'{"error": {"code": 5}}',
    b"\x00" * 99,
)


@pytest.mark.parametrize("name", VENDORS)
def test_any_reply_is_results_or_a_provider_error(name: str, run: Callable[..., Any]) -> None:
    async def all_of_them() -> None:
        for status in STATUSES:
            for body in BODIES:
                asking, _ = provider(name, HttpReply(status, {}, body, "https://vendor.example/api"))
                with pytest.raises(ProviderError) as raised:
                    await asking.search("x", 5)
                assert raised.value.kind in [kind.value for kind in Kind]

    run(all_of_them())


@pytest.mark.parametrize("name", VENDORS)
def test_a_success_with_any_value_replaced_is_read_or_refused_but_never_a_fault(name: str, run: Callable[..., Any]) -> None:
    """Every node of the saved success is replaced in turn by a value of every other type."""
    original = json.loads(saved(name, "success").body)

    def nodes(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [path, *(inner for key, child in below for inner in nodes(child, (*path, key)))]

    async def all_of_them() -> int:
        tried = 0
        for path in nodes(original):
            for replacement in (None, 5, 1.5, True, "text", "", [], {}, [None], {"a": 1}):
                body = json.loads(json.dumps(original))
                if path:
                    at = body
                    for key in path[:-1]:
                        at = at[key]
                    at[path[-1]] = replacement
                else:
                    body = replacement
                reply = HttpReply(200, {}, json.dumps(body).encode(), "https://vendor.example/w/api.php")
                try:
                    results = await provider(name, reply)[0].search("x", 10)
                except ProviderError:
                    continue
                finally:
                    tried += 1
                assert all(isinstance(value, str) for result in results for value in result.values())
        return tried

    assert run(all_of_them()) > 100


# ------------------------------------------------------------------------------------------------ requests, pure


@pytest.mark.parametrize("name", VENDORS)
def test_the_key_goes_in_a_header_and_is_named_as_a_secret(name: str) -> None:
    request = catalogue.vendor(name).request(Query("sans-io", 5), settings(name))
    assert request.url.startswith("https://")
    assert SECRET not in request.url
    keyed = any(setting.type == "secret" for setting in catalogue.facts(name).settings)
    assert (SECRET in request.headers.values()) == keyed
    assert (SECRET in request.secrets) == keyed


@pytest.mark.parametrize("name", VENDORS)
def test_query_and_count_are_in_the_request_whatever_the_query_holds(name: str) -> None:
    for text in ("plain", "a&b=c#d?e", '100% "quoted" +plus', "中文 ünï", "x\u2028y", "../../etc", "a;b|c"):
        for count in (1, 7, 10):
            request = catalogue.vendor(name).request(Query(text, count), settings(name))
            values = dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True)).values()
            assert text in values or text in request.body.decode()
            assert str(count) in values or str(count) in request.body.decode()
            assert request.url.isascii()


@pytest.mark.parametrize("name", VENDORS)
def test_every_declared_filter_changes_the_request_and_no_other_is_declared(name: str) -> None:
    facts, vendor = catalogue.facts(name), catalogue.vendor(name)
    plain = sent(vendor.request(Query("sans-io", 5), settings(name)))
    for filter_name in FILTERS:
        values = EXAMPLES.get(filter_name) or sorted(facts.countries if filter_name == "country" else facts.languages)
        for value in values or ["US" if filter_name == "country" else "en"]:
            if filter_name == "language" and value == "en":
                continue  # what some vendors take for granted
            filtered = sent(vendor.request(Query("sans-io", 5, **{filter_name: value}), settings(name)))
            assert (filtered != plain) == (filter_name in facts.filters), (filter_name, value)


@pytest.mark.parametrize("name", VENDORS)
def test_a_query_at_the_advertised_limit_is_taken(name: str) -> None:
    facts = catalogue.facts(name)
    words = facts.query_words or 10
    text = " ".join(["w" * max(1, facts.query_chars // words - 1)] * words)[: facts.query_chars]
    assert catalogue.vendor(name).request(Query(text, facts.result_limit), settings(name)).url


# ------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize("name", VENDORS)
def test_a_missing_key_is_said_before_anything_is_asked(name: str) -> None:
    if not any(setting.required for setting in catalogue.facts(name).settings):
        assert VendorProvider(catalogue.vendor(name), {}, FakeDoor())
        return
    for given in ({}, {"api_key": ""}, {"api_key": " \n"}):
        with pytest.raises(ProviderError) as raised:
            VendorProvider(catalogue.vendor(name), given, FakeDoor())
        assert raised.value.kind == "no_key"
        assert how_to_set(catalogue.facts(name)) in str(raised.value)


@pytest.mark.parametrize("name", VENDORS)
def test_settings_that_cannot_be_used_are_named(name: str) -> None:
    for url in (
        "ftp://x.example",
        "x.example",
        "https://x.example/?q=1",
        "https://x.example/#a",
        "https://x.example/a b",
        "//x",
    ):
        with pytest.raises(ProviderError, match=f"webseam set {name} base_url"):
            settings(name, base_url=url)
    assert settings(name, base_url="http://127.0.0.1:9000/")["base_url"] == "http://127.0.0.1:9000"
    for setting in catalogue.facts(name).settings:
        if setting.type == "secret":
            assert settings(name, **{setting.key: f" {SECRET}\n"})[setting.key] == SECRET
            for bad in (f"{SECRET}\nX-Other: 1", "schlüssel", "a\x00b"):
                with pytest.raises(ProviderError, match="holds characters that no key has") as raised:
                    settings(name, **{setting.key: bad})
                assert bad not in str(raised.value)


# ------------------------------------------------------------------------------------------------ the door


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize(
    ("kind", "becomes"),
    [
        ("timeout", "timeout"),
        ("dns", "unreachable"),
        ("connect", "unreachable"),
        ("tls", "unreachable"),
        ("too_large", "unreadable_reply"),
        ("bad_reply", "unreadable_reply"),
    ],
)
def test_what_goes_wrong_on_the_way_is_said_with_the_engines_name(
    name: str, kind: str, becomes: str, run: Callable[..., Any]
) -> None:
    asking, door = provider(name, DoorError("The door's own words.", kind=kind))
    with pytest.raises(ProviderError) as raised:
        run(asking.search("x", 5))
    assert raised.value.kind == becomes
    assert str(raised.value).startswith(catalogue.facts(name).title)
    assert "The door's own words." in str(raised.value).partition("\n")[2]
    assert len(door.sent) == 1  # it may have arrived: not asked again


@pytest.mark.parametrize("name", VENDORS)
@pytest.mark.parametrize("kind", ["blocked_address", "blocked_port", "blocked_scheme", "invalid_url"])
def test_the_doors_refusal_keeps_the_words_that_say_how_to_allow_it(name: str, kind: str, run: Callable[..., Any]) -> None:
    asking, _ = provider(name, DoorError("127.0.0.1:9 is private: run `webseam allow 127.0.0.1:9`.", kind=kind))
    with pytest.raises(DoorError, match="webseam allow"):
        run(asking.search("x", 5))


@pytest.mark.parametrize("name", VENDORS)
def test_a_connection_that_never_opened_is_tried_once_more_and_no_more(name: str, run: Callable[..., Any]) -> None:
    unsent = DoorError("refused", kind="connect", unsent=True)
    asking, door = provider(name, unsent, saved(name, "success").reply())
    assert run(asking.search("x", 5))
    assert len(door.sent) == 2
    asking, door = provider(name, unsent, unsent, saved(name, "success").reply())
    with pytest.raises(ProviderError):
        run(asking.search("x", 5))
    assert len(door.sent) == 2


@pytest.mark.parametrize("name", VENDORS)
def test_no_redirect_is_followed(name: str, run: Callable[..., Any]) -> None:
    for status in (301, 302, 303, 307, 308):
        reply = HttpReply(status, {"location": "https://elsewhere.invalid/x?key=1"}, b"", "https://vendor.example/")
        asking, door = provider(name, reply)
        with pytest.raises(ProviderError, match=r"elsewhere\.invalid/x .*base_url") as raised:
            run(asking.search("x", 5))
        assert "key=1" not in str(raised.value)
        assert door.followed == [False]


@pytest.mark.parametrize("name", VENDORS)
def test_a_key_that_the_vendor_echoes_is_in_no_error(name: str, run: Callable[..., Any]) -> None:
    if not any(setting.type == "secret" for setting in catalogue.facts(name).settings):
        return
    for status, body in ((401, {"error": {"code": SECRET, "message": f"bad key {SECRET}"}}), (200, f"not JSON {SECRET}")):
        raw = body if isinstance(body, str) else json.dumps(body)
        reply = HttpReply(status, {"x-request-id": f"r-{SECRET}"}, raw.encode(), "https://vendor.example/")
        with pytest.raises(ProviderError) as raised:
            run(provider(name, reply)[0].search("x", 5))
        error: BaseException | None = raised.value
        while error is not None:
            assert SECRET not in str(error)
            assert SECRET not in str(getattr(error, "request_id", ""))
            error = error.__cause__ or error.__context__


@pytest.mark.parametrize("name", VENDORS)
def test_no_part_of_an_echoed_key_is_left_in_front_of_a_cut(name: str, run: Callable[..., Any]) -> None:
    if not any(setting.type == "secret" for setting in catalogue.facts(name).settings):
        return
    key = "QZ4XJVKWYPHG" * 2
    spelt = [key, "".join(f"%{ord(one):02x}" for one in key), "\u200b".join(key), "".join(f"&#{ord(one)};" for one in key)]
    settings_given = {setting.key: key for setting in catalogue.facts(name).settings if setting.type == "secret"}
    for echoed in spelt:
        for before in range(100, 620, 3):
            words = "y" * before + echoed
            for reply in (
                HttpReply(200, {}, words.encode(), "https://vendor.example/"),
                HttpReply(302, {"location": f"https://e.invalid/{words}"}, b"", "https://vendor.example/"),
                HttpReply(401, {"x-request-id": words[-120:]}, json.dumps({"error": {"message": words}}).encode(), ""),
            ):
                with pytest.raises(ProviderError) as raised:
                    run(
                        VendorProvider(
                            catalogue.vendor(name), settings_of(catalogue.facts(name), settings_given), FakeDoor(reply)
                        ).search("x", 5)
                    )
                said = str(raised.value) + str(raised.value.request_id)
                assert not re.search(r"y(?!$)(?:Q|%51|\u200b|&#81;)", said), (echoed, before, said)


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendors_reply_may_be_smaller_than_a_page(name: str, run: Callable[..., Any], ask: Callable[..., Any]) -> None:
    asking, door = provider(name, saved(name, "success").reply())
    assert run(asking.search("x", 5))
    assert door.max_bytes == [LIMITS.vendor_reply_bytes]
    refused = DoorError("The reply of e.com is larger than 2,097,152 bytes, the most that is read.", kind="too_large")
    with pytest.raises(ProviderError, match=r"unreadable reply[^\n]*\n.*larger than 2,097,152 bytes") as raised:
        run(provider(name, refused)[0].search("x", 5))
    assert raised.value.kind == Kind.UNREADABLE_REPLY


def test_a_timeout_says_the_seconds_of_the_call_or_none() -> None:
    facts = catalogue.facts("brave")
    assert "within 2.5 s" in failure(facts, Kind.TIMEOUT, seconds=2.5).message
    assert "did not answer in time: try again" in failure(facts, Kind.TIMEOUT).message


# ------------------------------------------------------------------------------------------------ over the wire


@pytest.mark.parametrize("name", VENDORS)
def test_a_search_over_the_wire(name: str, ask: Callable[..., Any]) -> None:
    with LoopbackVendor(name) as loopback:
        assert len(ask(loopback, "sans-io", 2)) == 2
        (received,) = loopback.requests
        assert received.path == about(name).path
        assert "sans-io" in received.query.values() or b"sans-io" in received.body
        assert received.headers["host"] == f"127.0.0.1:{loopback.port}"
        loopback.case = "empty"
        assert ask(loopback) == []


@pytest.mark.parametrize(("name", "case"), OVER_THE_WIRE)
def test_a_failure_over_the_wire(name: str, case: str, ask: Callable[..., Any]) -> None:
    with LoopbackVendor(name, case=case) as loopback:
        with pytest.raises(ProviderError) as raised:
            ask(loopback)
        assert raised.value.kind == saved(name, case).kind
        assert len(loopback.requests) == 1
        loopback.case = "success"
        assert ask(loopback)


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendor_that_never_answers_is_left_at_the_deadline(name: str, ask: Callable[..., Any]) -> None:
    with LoopbackVendor(name, case="hang") as loopback:
        with pytest.raises(ProviderError) as raised:
            ask(loopback, seconds=0.3)
        assert raised.value.kind == "timeout"


@pytest.mark.parametrize("name", VENDORS)
def test_a_wrong_key_and_a_wrong_path_are_answered_as_the_vendor_does(name: str, ask: Callable[..., Any]) -> None:
    with LoopbackVendor(name) as loopback:
        if loopback.key:
            with pytest.raises(ProviderError) as raised:
                ask(loopback, key="another")
            assert raised.value.kind == "key_rejected"
        asking, door = provider(name, saved(name, "not_found").reply())
        assert door.sent == []
        assert asking.name == name
