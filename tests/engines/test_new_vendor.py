"""How little a new vendor is: one small class, and it has settings, errors and limits like the others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from webseam.engines.replies import hits
from webseam.engines.vendor import Vendor, VendorProvider
from webseam.errors import ProviderError
from webseam.seam.contract import HttpReply, HttpRequest, Query, SearchResult
from webseam.seam.facts import Facts, Setting
from webseam.seam.failures import Kind
from webseam.testing.fakes import FakeDoor


class Example(Vendor):
    FACTS: ClassVar = Facts(
        name="example",
        title="Example",
        search=True,
        settings=(Setting("api_key", "Key", type="secret", required=True, variables=("EXAMPLE_API_KEY",)),),
    )
    KINDS: ClassVar = {"NO_CREDITS": Kind.OUT_OF_CREDIT, 418: Kind.REFUSED}

    def request(self, query: Query, settings: Mapping[str, str]) -> HttpRequest:
        body = json.dumps({"query": query.text, "limit": query.count}).encode()
        headers = {"Authorization": f"Bearer {settings['api_key']}", "Content-Type": "application/json"}
        return HttpRequest("https://api.example.com/search", "POST", headers, body, secrets=(settings["api_key"],))

    def results(self, body: Any, reply: HttpReply) -> list[SearchResult]:
        return hits(body["data"], snippet="content")


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, {"data": [{"title": "T", "url": "https://a.example", "content": "c"}]}, None),
        (200, {"data": []}, None),
        (200, {"error": {"code": "NO_CREDITS"}}, "out_of_credit"),
        (429, {"code": "NO_CREDITS"}, "out_of_credit"),
        (429, {"message": "slow down"}, "rate_limited"),
        (418, {}, "refused"),
        (401, {}, "key_rejected"),
        (403, {}, "key_rejected"),
        (402, {}, "out_of_credit"),
        (422, {}, "bad_parameter"),
        (451, {}, "refused"),
        (502, {}, "vendor_down"),
        (404, {}, "unreadable_reply"),
        (200, {"results": []}, "unreadable_reply"),
    ],
)
def test_the_usual_statuses_need_no_code(status: int, body: Any, kind: str | None, run: Callable[..., Any]) -> None:
    reply = HttpReply(status, {"x-request-id": "r-1"}, json.dumps(body).encode(), "https://api.example.com/search")
    asking = VendorProvider(Example(), {"api_key": "k1"}, FakeDoor(reply))
    if kind is None:
        assert len(run(asking.search("x", 5))) == len(body["data"])
        return
    with pytest.raises(ProviderError) as raised:
        run(asking.search("x", 5))
    assert (raised.value.kind, raised.value.request_id) == (kind, "r-1")


def test_a_fault_in_a_vendors_request_is_ours_and_no_unreadable_reply(run: Callable[..., Any]) -> None:
    class Broken(Example):
        def request(self, query: Query, settings: Mapping[str, str]) -> HttpRequest:
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        run(VendorProvider(Broken(), {"api_key": "k"}, FakeDoor()).search("x", 5))
