"""tools/list: what agents see, and how little it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from webseam.engines import catalogue
from webseam.protocol.request import Request
from webseam.seam.facts import FILTERS, Facts
from webseam.testing.fakes import FakeChooser
from webseam.tools.provider import WebTools


def listed(facts: Facts) -> dict[str, Any]:
    search, fetch = WebTools(FakeChooser(search_facts=facts)).list(None, Request())
    assert (search["name"], fetch["name"]) == ("web_search", "web_fetch")
    return search


def test_only_the_filters_that_the_engine_honours_are_listed() -> None:
    for honoured in ((), ("freshness",), ("country", "include_domains"), FILTERS):
        search = listed(Facts("some", "Some", search=True, filters=frozenset(honoured)))
        assert list(search["inputSchema"]["properties"]) == ["query", "count", *(f for f in FILTERS if f in honoured)]


@pytest.mark.parametrize("name", catalogue.VENDORS)
def test_every_argument_of_every_vendor_has_a_plain_type_a_default_and_a_description(name: str) -> None:
    for tool in WebTools(FakeChooser(search_facts=catalogue.facts(name))).list(None, Request()):
        schema = tool["inputSchema"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        for argument, entry in schema["properties"].items():
            assert entry["type"] in ("string", "integer", "array"), argument
            assert entry["description"]
            assert ("default" in entry) != (argument in schema["required"]), argument
            assert "" not in entry.get("enum", ())  # some clients refuse a tool with an empty choice
        assert "anyOf" not in json.dumps(tool)
        assert tool["annotations"]["readOnlyHint"] is True
        assert tool["annotations"]["openWorldHint"] is True
        assert tool["title"]
        assert len(json.dumps(tool)) < 4_000  # every conversation pays for it


def test_limits_and_closed_lists_come_from_the_engine() -> None:
    search = listed(catalogue.facts("brave"))
    properties = search["inputSchema"]["properties"]
    assert properties["query"]["maxLength"] == 400
    assert "50 words" in properties["query"]["description"]
    assert (properties["count"]["minimum"], properties["count"]["maximum"], properties["count"]["default"]) == (1, 10, 8)
    assert {"any", "US", "JP", "ALL"} <= set(properties["country"]["enum"])
    assert "SG" not in properties["country"]["enum"]
    assert {"ja", "pt-BR", "zh-Hant"} <= set(properties["language"]["enum"])
    assert "jp" not in properties["language"]["enum"]


def test_an_engine_that_gives_less_offers_less() -> None:
    count = listed(Facts("small", "Small", search=True, max_count=5))["inputSchema"]["properties"]["count"]
    assert (count["maximum"], count["default"]) == (5, 5)


def test_a_long_closed_list_is_not_spelled_out() -> None:
    languages = frozenset(f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrst")
    search = listed(Facts("many", "Many", search=True, filters=frozenset({"language"}), languages=languages))
    assert "enum" not in search["inputSchema"]["properties"]["language"]


def test_the_cache_is_offered_where_the_reader_keeps_pages() -> None:
    for keeps in (True, False):
        facts = Facts("some", "Some", reading=True, keeps=keeps)
        fetch = WebTools(FakeChooser(reading_facts=facts)).list(None, Request())[1]
        assert ("cache" in fetch["inputSchema"]["properties"]) is keeps


def test_the_whole_page_is_offered_where_the_reader_has_it() -> None:
    for whole in (True, False):
        facts = Facts("some", "Some", reading=True, whole=whole)
        fetch = WebTools(FakeChooser(reading_facts=facts)).list(None, Request())[1]
        assert (fetch["inputSchema"]["properties"].get("whole", {}).get("type") == "boolean") is whole


def test_the_list_is_the_same_every_time() -> None:
    tools = WebTools(FakeChooser(search_facts=catalogue.facts("brave")))
    assert json.dumps(tools.list(None, Request())) == json.dumps(tools.list(None, Request()))


def test_listing_imports_nothing_heavy() -> None:
    script = """
import sys
from webseam.engines import catalogue
from webseam.protocol.request import Request
from webseam.tools.provider import WebTools

class Chooser:
    def search_facts(self, account): return catalogue.facts("brave")
    reading_facts = search_facts

assert len(WebTools(Chooser()).list(None, Request())) == 2
heavy = {"asyncio", "ssl", "pydantic", "aiohttp", "sqlite3", "socket", "http.client", "urllib.parse", "webseam.seam.contract"}
heavy &= set(sys.modules)
sys.exit(f"imported: {sorted(heavy)}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
