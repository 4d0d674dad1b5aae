"""`web_search` through each vendor over MCP against the loopback vendor: what comes back, and what went out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webseam.actions import allowances, engines
from webseam.app import App
from webseam.call import LOCAL
from webseam.config import Config
from webseam.testing.vendor import LoopbackVendor

CASES = ["success", "empty", "rejected_key", "rate_limit", "error_in_200"]


def over_stdio(data: Path, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of tool calls through `webseam stdio`, as a desktop agent makes them."""
    messages: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n, call in enumerate(calls, start=1)),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "BRAVE_API_KEY"}
    done = subprocess.run(
        [sys.executable, "-m", "webseam", "stdio", "--data", str(data)],
        input="".join(json.dumps(message) + "\n" for message in messages),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=environment,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    return [answers[number]["result"] for number in range(1, len(calls) + 1)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["brave", "mediawiki"])
def test_a_search_through_a_vendor(name: str, case: str, tmp_path: Path) -> None:
    if name == "mediawiki" and case == "rejected_key":
        case = "server_error"  # it has no key to reject: the vendor being down stands in
    with LoopbackVendor(name, case=case) as vendor:
        app = App(Config({"data": tmp_path}))
        allowances.allow(app.switchboard, LOCAL, vendor.url, f"engine:{name}")
        engines.use(app.switchboard, LOCAL, "search", name)
        engines.set_field(app.switchboard, LOCAL, name, "base_url", vendor.url)
        if vendor.key:
            engines.set_field(app.switchboard, LOCAL, name, "api_key", vendor.key)
        app.shut()
        [answer] = over_stdio(tmp_path, {"name": "web_search", "arguments": {"query": "ocean tides", "count": 3}})
        sent = vendor.requests[0]
    text = answer["content"][0]["text"]
    if name == "brave":
        assert (sent.method, sent.path) == ("GET", "/res/v1/web/search")
        assert sent.query["q"] == "ocean tides"
        assert sent.query["count"] == "3"
        assert sent.query["text_decorations"] in ("false", "0")
        assert sent.headers["x-subscription-token"] == vendor.key
    else:
        assert (sent.method, sent.path) == ("GET", "/w/api.php")
        assert sent.query["list"] == "search"
        assert sent.query["srsearch"] == "ocean tides"
        assert sent.query["srlimit"] == "3"
        assert sent.query["format"] == "json"
    assert "webseam" in sent.headers["user-agent"]
    assert "cookie" not in sent.headers
    if case in ("success", "empty"):
        assert not answer.get("isError")
        found = json.loads(text)
        assert found["provider"] == name
        assert found["query"] == "ocean tides"
        assert bool(found["results"]) == (case == "success")
        for result in found["results"]:
            assert result["title"]
            assert result["url"].startswith("http")
            assert isinstance(result["snippet"], str)
            assert "<" not in result["title"]
    else:
        assert answer["isError"] is True
        assert not text.startswith("{")
        assert len(text.splitlines()[0]) > 30
        assert {"rejected_key": "webseam set brave api_key", "rate_limit": "limit"}.get(case, "") in text
        if vendor.key:
            assert vendor.key not in text


def test_a_choice_made_by_another_process_acts_on_the_next_call_of_a_running_child(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "BRAVE_API_KEY"}
    webseam = [sys.executable, "-m", "webseam"]
    child = subprocess.Popen(
        [*webseam, "stdio", "--data", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, "WEBSEAM_PORT": "0"},
    )
    assert child.stdin is not None
    assert child.stdout is not None

    def ask(number: int) -> str:
        assert child.stdin is not None
        assert child.stdout is not None
        message = {"name": "web_search", "arguments": {"query": "tides"}}
        child.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": message}) + "\n")
        child.stdin.flush()
        text: str = json.loads(child.stdout.readline())["result"]["content"][0]["text"]
        return text

    try:
        subprocess.run([*webseam, "use", "search", "index", "--data", str(tmp_path)], check=True, env=environment)
        assert "webseam index add" in ask(1)
        subprocess.run([*webseam, "use", "search", "brave", "--data", str(tmp_path)], check=True, env=environment)
        assert "webseam set brave api_key" in ask(2)
        with LoopbackVendor("brave") as vendor:
            for line in (
                ["allow", vendor.url, "--for", "engine:brave"],
                ["set", "brave", "base_url", vendor.url],
                ["set", "brave", "api_key", "@env:THE_KEY"],
            ):
                subprocess.run(
                    [*webseam, *line, "--data", str(tmp_path)], check=True, env={**environment, "THE_KEY": vendor.key}
                )
            assert json.loads(ask(3))["provider"] == "brave"
    finally:
        child.stdin.close()
        assert child.wait(30) == 0
        child.stdout.close()
