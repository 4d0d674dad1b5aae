"""What vendors' replies have in common: how an error looks in a body, where the results lie."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webseam.seam.contract import HttpReply, SearchResult

# In the order of what they are worth where several are there.
_WORDS = ("message", "detail", "info", "description", "reason", "error", "error_message", "msg")
_CODES = ("code", "error_code", "tag", "error_name", "type", "status")
_IDS = ("id", "request_id", "requestId", "ref_id")


class Complaint(NamedTuple):
    """An error as the vendor puts it: its code, its words, the number of the request where the body has it."""

    code: str = ""
    words: str = ""
    request_id: str = ""


def complaint(body: Any, *, success: bool) -> Complaint | None:
    """The error that a decoded body reports, None when it reports none.

    A body with an `error` or `errors` that is not empty is an error whatever the status; where the status is none of `success`,
    words and codes at the top count too.
    """
    if not isinstance(body, dict):
        return None
    found = body.get("error") or body.get("errors")
    if found and isinstance(found, list):
        found = found[0]
    if not found and not success:
        found = {key: body[key] for key in (*_WORDS, *_CODES, *_IDS) if body.get(key)}
    return _complaint(found) if found else None


def _complaint(found: Any, depth: int = 4) -> Complaint:
    if isinstance(found, str):
        return Complaint(words=found)
    if not isinstance(found, dict):
        return Complaint()
    inner = next((found[key] for key in _WORDS if isinstance(found.get(key), dict)), None)
    if inner and depth:
        return _complaint(inner, depth - 1)
    return Complaint(_first(found, _CODES, str | int), _first(found, _WORDS, str), _first(found, _IDS, str))


def _first(found: Mapping[str, Any], keys: tuple[str, ...], kinds: Any) -> str:
    return next((str(found[key]) for key in keys if isinstance(found.get(key), kinds) and found[key] != ""), "")


def hits(
    items: Any, *, title: str = "title", url: str = "url", snippet: str = "snippet", age: tuple[str, ...] = ()
) -> list[SearchResult]:
    """A vendor's list of results, under the names it gives them; one without a URL is left out. `age`: the first that is set.

    Raises ValueError when `items` is not a list of objects, or when it is not empty and none of them has a URL.
    """
    if not isinstance(items, list):
        raise ValueError(f"a list of results was expected, got {type(items).__name__}")
    found: list[SearchResult] = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(url), str) or not item[url]:
            continue
        hit: SearchResult = {"title": text(item.get(title)), "url": item[url], "snippet": text(item.get(snippet))}
        when = next((item[key] for key in age if isinstance(item.get(key), str) and item[key]), "")
        if when:
            hit["age"] = when
        found.append(hit)
    if items and not found:
        raise ValueError("no result has a URL")
    return found


def text(value: Any) -> str:
    """`value` when it is a string, "" otherwise: a title or snippet that is null, or missing, is no reason to fail."""
    return value if isinstance(value, str) else ""


def request_id(reply: HttpReply) -> str | None:
    """The vendor's own number of the request, as its support will ask for it."""
    return reply.headers.get("x-request-id") or reply.headers.get("request-id") or None
