"""protocol: JSON-RPC 2.0 envelopes, error codes and the bounds on a message (https://www.jsonrpc.org/specification)."""

from __future__ import annotations

from typing import Any, Literal

from webseam.config import LIMITS
from webseam.protocol.codec import UNSET, Raw, Struct, UnsetType, encode, msgspec

# JSON-RPC 2.0, section 5.1
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
# MCP, handshake era only
RESOURCE_NOT_FOUND = -32002
URL_ELICITATION_REQUIRED = -32042
# MCP 2026-07-28, basic/index, "Error Codes"
HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022

RequestId = str | int

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of log messages, from the least to the most severe (RFC 5424, section 6.2.1)."""


class Message(Struct):
    """Any JSON-RPC message. Payloads stay raw until it is known what they should be.

    MCP narrows JSON-RPC: an id is a string or an integer and never null (null is decoded here to be refused by name).
    """

    jsonrpc: Literal["2.0"]
    id: str | int | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


decode_message = msgspec.json.Decoder(Message).decode
split_batch = msgspec.json.Decoder(list[Raw]).decode

_SHORT = 4096
_LEVELS = bytes.maketrans(b"{}", b"[]")
_NOT_LEVELS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def brackets(data: bytes) -> int:
    """How many levels and nodes there may be at most: most messages have few. Counted to the end only where there are many."""
    if len(data) <= _SHORT:
        return data.count(b"[") + data.count(b"{")
    found = 0
    for bracket in (b"[", b"{"):  # looking is faster than counting, as long as little is found
        at = data.find(bracket)
        while at >= 0:
            found += 1
            if found > LIMITS.message_depth:
                return data.count(b"[") + data.count(b"{")
            at = data.find(bracket, at + 1)
    return found


def too_many(data: bytes, limit: int = LIMITS.message_nodes) -> bool:
    """Whether there are more objects and arrays than `limit`: asked before they are made, as each takes 60 times its bytes."""
    outside = b"".join(_outside_strings(data))  # one piece: counting in a million small ones would be what takes long
    return outside.count(b"[") + outside.count(b"{") > limit


def _outside_strings(data: bytes) -> list[bytes]:
    return data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]


def too_deep(data: bytes, limit: int = LIMITS.message_depth) -> bool:
    """Whether well-formed JSON nests deeper than `limit` levels.

    The strings are cut away and the innermost pairs removed, all at once, `limit` times: each round takes exactly one level
    off the deepest place. All of it is C code on bytes; a decoder that counts levels would be ten times slower.
    """
    levels = b"".join(_outside_strings(data)).translate(_LEVELS, _NOT_LEVELS)
    for _ in range(limit):
        if not levels:
            return False
        levels = levels.replace(b"[]", b"")
    return bool(levels)


def mended(data: bytes) -> bytes:
    """What the decoder refused, with U+FFFD for each escaped half of a surrogate pair that has no other half; the same length.

    The grammar of JSON allows them (RFC 8259, section 8.2) and JavaScript writes them for an emoji that was cut in half, but
    they are no Unicode text and the decoder refuses the whole message: its sender would never learn which request that was.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    import re

    high, low = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    half = re.compile(high + rb"(?!" + low + rb")|(?<!" + high + rb")" + low)
    parts = data.split(b"\\\\")  # between escaped backslashes, every other backslash begins an escape
    return b"\\\\".join(half.sub(rb"\\ufffd", part) if b"\\ud" in part or b"\\uD" in part else part for part in parts)


def result_reply(message_id: RequestId, result: bytes) -> bytes:
    """The response that carries an encoded result."""
    return b"".join((b'{"jsonrpc":"2.0","id":', encode(message_id), b',"result":', result, b"}"))


class _NoId:
    """The mark of an error that belongs to no message, where the `id` is left out rather than null."""


NO_ID = _NoId()


def error_reply(message_id: RequestId | _NoId | None, code: int, message: str, data: Any = None) -> bytes:
    """The error response.

    `message_id` is None when the request's own could not be read (JSON-RPC 2.0, section 5), `NO_ID` where the revision has
    the member left out then (2026-07-28, basic/index, "Error Responses").
    """
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    if message_id is NO_ID:
        return encode({"jsonrpc": "2.0", "error": error})
    return encode({"jsonrpc": "2.0", "id": message_id, "error": error})


def notification(method: str, params: dict[str, Any] | None = None) -> bytes:
    """A message that is not answered."""
    if params is None:
        return encode({"jsonrpc": "2.0", "method": method})
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def client_request(message_id: RequestId, method: str, params: dict[str, Any]) -> bytes:
    """A request of ours to the client, which only the handshake era has."""
    return encode({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})


def shown(value: str, limit: int = 100) -> str:
    """`value` short enough to be repeated in an error: what a caller sent is never echoed without bound."""
    return value if len(value) <= limit else value[:limit] + "..."
