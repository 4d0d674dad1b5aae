"""The two tools, called as the protocol calls them, over the shipped fakes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from webseam.call import Caller
from webseam.protocol.request import Request
from webseam.tools.provider import WebTools


class Answer(NamedTuple):
    """What a tool answered: its text, whether it is an error, and the JSON on its first line (empty when there is none)."""

    text: str
    is_error: bool

    @property
    def head(self) -> dict[str, Any]:
        first = self.text.split("\n", 1)[0]
        return json.loads(first) if first.startswith("{") else {}

    @property
    def first_line(self) -> str:
        return self.text.split("\n", 1)[0]

    @property
    def fenced(self) -> str:
        """What stands between the two marks."""
        _, _, rest = self.text.partition("\n<<<")
        mark, _, rest = rest.partition("\n")
        content, closing, after = rest.rpartition(f"\n{mark}>>>")
        assert closing
        assert after == ""
        return content

    @property
    def mark(self) -> str:
        return self.text.partition("\n<<<")[2].partition("\n")[0]


async def answer(tools: WebTools, name: str, arguments: dict[str, Any], request: Request | None = None) -> Answer:
    result = await tools.call(name, arguments, request or Request(caller=Caller()))
    (block,) = result["content"]
    assert block["type"] == "text"
    return Answer(block["text"], result["isError"])


@pytest.fixture(name="answer")
def _answer() -> Callable[..., Any]:
    return answer


@pytest.fixture
def ask() -> Callable[..., Answer]:
    """`ask(tools, "web_search", query="x")`: one call in a loop of its own."""

    def ask(tools: WebTools, name: str, **arguments: Any) -> Answer:
        return asyncio.run(answer(tools, name, arguments))

    return ask
