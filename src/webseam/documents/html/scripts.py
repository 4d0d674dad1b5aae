"""The JSON in a page's scripts, which the parser leaves behind: found in its source by `str.find`, a few, within bounds."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

MAX_SCRIPTS = 30
TAG_CHARS = 500

_WRAPPED = re.compile(r"(?://|/\*)?\s*+(?:<!\[CDATA\[|<!--)\s*+(?:\*/)?")
_WRAPPED_END = re.compile(r"(?:(?://|/\*)?\s*(?:\]\]>|-->)\s*(?:\*/)?|;)\Z")
_WRAPPED_END_CHARS = 100
_TRAILING_COMMA = re.compile(r",(?=\s{0,99}[}\]])")


def scripts(source: str, marks: tuple[str, ...], limit: int) -> list[str]:
    """What stands in the scripts whose tag or beginning holds one of `marks`: in document order, each at most `limit` long."""
    found: dict[int, str] = {}
    for mark in marks:
        at = -1
        for _ in range(MAX_SCRIPTS):
            at = source.find(mark, at + 1)
            if at == -1:
                break
            tag = source.rfind("<script", max(0, at - TAG_CHARS), at)
            if tag == -1:
                continue
            begin = source.find(">", tag, at + TAG_CHARS) + 1
            if not begin or begin in found:
                continue
            end = _closing(source, begin)
            if at < end <= begin + limit:
                found[begin] = source[begin:end]
            at = max(at, end)
    return [found[begin] for begin in sorted(found)[:MAX_SCRIPTS]]


def _closing(source: str, begin: int) -> int:
    """Where the end tag of a script stands; the end of the source when there is none."""
    at = source.find("</", begin)
    while at >= 0:
        if source[at + 2 : at + 8].lower() == "script":
            return at
        at = source.find("</", at + 2)
    return len(source)


def decoded(script: str) -> Any:
    """The JSON that a script is, or begins with, with the slips forgiven that are common; None when it is none."""
    try:
        return msgspec.json.decode(script)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass
    script = _unwrapped(script.strip())
    for text in (script, _TRAILING_COMMA.sub("", script)):
        try:
            return _FORGIVING.raw_decode(text)[0]
        except (RecursionError, ValueError):
            continue
    return None


def _unwrapped(script: str) -> str:
    """A script without what hides it from readers that know no scripts, and without a semicolon."""
    if (end := _WRAPPED_END.search(script, max(0, len(script) - _WRAPPED_END_CHARS))) is not None:
        script = script[: end.start()]
    if (start := _WRAPPED.match(script)) is not None:
        script = script[start.end() :]
    return script.strip()


_FORGIVING = json.JSONDecoder(strict=False)
