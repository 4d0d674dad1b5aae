"""The shipped loopback vendor: it answers what is saved, remembers what it was asked, and can be run by hand."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from webseam.testing import saved as saved_replies
from webseam.testing.saved import about, saved, vendors
from webseam.testing.vendor import LoopbackVendor


def get(url: str, **headers: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with opener.open(request, timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_it_serves_the_case_and_remembers_the_request() -> None:
    with LoopbackVendor("brave") as vendor:
        status, body = get(f"{vendor.url}/res/v1/web/search?q=a%20b&count=2&empty=", X_Subscription_Token=vendor.key)
        assert (status, body) == (200, saved("brave", "success").body)
        vendor.case = "rate_limit"
        assert get(f"{vendor.url}/res/v1/web/search?q=c", X_Subscription_Token=vendor.key)[0] == 429
        first, second = vendor.requests
        assert (first.method, first.path, first.query) == ("GET", "/res/v1/web/search", {"q": "a b", "count": "2", "empty": ""})
        assert first.headers["x-subscription-token"] == vendor.key
        assert second.query == {"q": "c"}


def test_a_wrong_key_a_missing_one_and_a_wrong_path_are_answered_as_the_vendor_would() -> None:
    with LoopbackVendor("brave") as vendor:
        url = f"{vendor.url}/res/v1/web/search?q=x"
        assert json.loads(get(url, X_Subscription_Token="other")[1])["error"]["code"] == "SUBSCRIPTION_TOKEN_INVALID"
        assert json.loads(get(url)[1])["error"]["code"] == "VALIDATION"
        assert get(f"{vendor.url}/elsewhere", X_Subscription_Token=vendor.key)[0] == 404
        assert len(vendor.requests) == 3


def test_what_is_not_saved_is_named_with_what_is() -> None:
    with pytest.raises(KeyError, match=r"no saved reply 'sucess': there are .*success"):
        LoopbackVendor("brave", case="sucess")
    with pytest.raises(KeyError):
        LoopbackVendor("nobody")
    with LoopbackVendor("mediawiki") as vendor, pytest.raises(KeyError):
        vendor.case = "vendor"


def test_it_ends_at_once_even_while_a_request_hangs() -> None:
    vendor = LoopbackVendor("mediawiki", case="hang").start()
    with pytest.raises(OSError, match="timed out"):
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{vendor.url}/w/api.php", timeout=0.2)
    vendor.close()
    with pytest.raises(OSError, match=r"refused|Errno"):
        get(f"{vendor.url}/w/api.php")


@pytest.mark.parametrize("name", vendors())
def test_every_saved_reply_is_whole_and_says_what_it_is(name: str) -> None:
    for case in about(name).cases:
        reply = saved(name, case)
        assert 200 <= reply.status < 600
        assert all(value.isprintable() and header.isascii() for header, value in reply.headers.items())
        assert len(b"".join(reply.chunks())) == reply.size
        for room in (name, "any"):
            file = saved_replies._root() / room / f"{case}.json"
            if file.is_file():
                assert json.loads(file.read_text("utf-8"))["about"]


def test_it_runs_by_hand_and_says_how_to_ask_it() -> None:
    command = [sys.executable, "-m", "webseam.testing.vendor", "brave", "--case", "empty"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        url = next(word for word in first.split() if word.startswith("http")).rstrip(".")
        lines = [process.stdout.readline() for _ in range(4)]
        assert lines[0] == f"  webseam set brave base_url {url}\n"
        assert "webseam allow 127.0.0.1:" in lines[1]
        assert get(f"{url}/res/v1/web/search?q=x", X_Subscription_Token="brave-key-for-tests-only")[0] == 200
        assert process.stdout.readline().endswith("-> empty\n")
    finally:
        process.terminate()
        process.communicate(timeout=10)
    refused = subprocess.run([*command[:-1], "nonsense"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "brave has no case nonsense: there are" in refused.stderr
