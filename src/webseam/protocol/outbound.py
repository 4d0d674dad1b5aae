"""protocol: from what a provider gave to the bytes of a result, in the shape that the request's revision wants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.protocol.codec import Raw, decode, encode, well_formed
from webseam.protocol.jsonrpc import result_reply
from webseam.protocol.revisions import ROLE_ITEMS, SERVER_KEY

if TYPE_CHECKING:
    from webseam.protocol.jsonrpc import RequestId
    from webseam.protocol.revisions import Rules, Shape

_ADDED = ("resultType", "ttlMs", "cacheScope")
"""Members that only exist in the modern era."""


def as_object(result: Any, shape: Shape) -> dict[str, Any]:
    """What a provider gave, as the object it stands for: a bare list becomes the member that `shape` names.

    Raises TypeError when it is neither, or lacks that member: a fault of the provider.
    """
    if isinstance(result, list | tuple) and shape.items:
        return {shape.items: result}
    if type(result) is Raw:
        result = decode(result)
    if not isinstance(result, dict):
        wanted = f"a list, which becomes {shape.items!r}, or an object" if shape.items else "an object"
        raise TypeError(f"A provider of {shape.role or 'nothing'} gave {type(result).__name__}: it must give {wanted}.")
    if shape.items and shape.items not in result and result.get("resultType", "complete") == "complete":
        raise TypeError(f"A provider of {shape.role} gave an object without {shape.items!r}: {sorted(map(str, result))[:10]}.")
    if shape.items in ROLE_ITEMS and len(ROLE_ITEMS & result.keys()) > 1:  # one list for several roles
        return {key: value for key, value in result.items() if key == shape.items or key not in ROLE_ITEMS}
    return result


class Results:
    """Encodes results for one server, whose name goes into each (2026-07-28, basic/index, "Per-response protocol fields")."""

    __slots__ = ("_meta", "_server", "_tail")

    def __init__(self, server_info: dict[str, Any]) -> None:
        self._server = Raw(encode(server_info))
        self._meta = Raw(encode({SERVER_KEY: self._server}))
        self._tail = b',"_meta":' + bytes(self._meta) + b"}"

    def reply(self, message_id: RequestId, result: Any, shape: Shape, rules: Rules) -> bytes:
        """The response that carries `result`; raises as `encode`. Copies a large result once."""
        if type(result) is list and shape.items:
            result = {shape.items: result}
        plain = type(result) is dict and "_meta" not in result and "resultType" not in result
        if plain and rules.modern and not shape.cached and shape.items in result:
            body = memoryview(encode(result))[1:-1]
            head = b'{"jsonrpc":"2.0","id":%b,"result":{"resultType":"complete",' % encode(message_id)
            return b"".join((head, body, self._tail, b"}"))
        return result_reply(message_id, self.encode(result, shape, rules))

    def encode(self, result: Any, shape: Shape, rules: Rules) -> bytes:
        """One JSON object on one line. Raises what `json` would for a result that has no JSON form, TypeError for no result."""
        if type(result) is Raw:
            text = _checked(result)
            if not rules.modern:
                return text
            if not shape.cached and b'"_meta"' not in text and b'"resultType"' not in text and text[1:-1].strip():
                return b'{"resultType":"complete",' + text[1:-1] + self._tail
            result = decode(text)
        result = as_object(result, shape)
        if rules.modern:
            return encode(self._complete(result, shape))
        for member in _ADDED:
            if member in result:
                return encode({key: value for key, value in result.items() if key not in _ADDED})
        return encode(result)

    def of_task(self, result: Any, shape: Shape) -> Raw:
        """The result that a task's work gave, as the call would have answered with it."""
        result = as_object(result, shape)
        if result.get("resultType", "complete") != "complete":
            raise TypeError("The work of a task gave a result that is not the last word.")
        return Raw(encode({"resultType": "complete", **result}))

    def _complete(self, result: dict[str, Any], shape: Shape) -> dict[str, Any]:
        full = {"resultType": "complete", **result}
        if shape.cached and full["resultType"] == "complete":
            # Safe unless the provider knows better: stale at once, and nobody else's.
            full.setdefault("ttlMs", 0)
            full.setdefault("cacheScope", "private")
        meta = full.get("_meta")
        full["_meta"] = {SERVER_KEY: self._server, **meta} if meta else self._meta
        return full


def _checked(result: Raw) -> bytes:
    """A result given as JSON: one object on one line."""
    text = bytes(result).strip()
    if text[:1] != b"{":
        raise TypeError("A provider gave JSON that is not an object.")
    well_formed(text)
    if not text.isascii():
        text.decode()  # UnicodeDecodeError: a fault of the provider
    return text if b"\n" not in text and b"\r" not in text else encode(decode(text))
