"""protocol: JSON-RPC 2.0 envelopes, error codes and the bounds on a message (https://www.jsonrpc.org/specification)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from webseam.config import LIMITS
from webseam.protocol.codec import UNSET, Raw, Struct, UnsetType, encode, msgspec

if TYPE_CHECKING:
    import re

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

_LEVELS = bytes.maketrans(b"{}", b"[]")
_NOT_LEVELS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def too_deep(data: bytes, limit: int = LIMITS.message_depth) -> bool:
    """Whether well-formed JSON nests deeper than `limit` levels.

    Most messages have fewer brackets than that and cost two counts. Otherwise the strings are cut away and the innermost pairs
    removed, all at once, `limit` times: each round takes exactly one level off the deepest place. All of it is C code on
    bytes; a decoder that counts levels would be ten times slower.
    """
    if data.count(b"[") + data.count(b"{") <= limit:
        return False
    outside = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    levels = b"".join(outside).translate(_LEVELS, _NOT_LEVELS)
    for _ in range(limit):
        if not levels:
            return False
        levels = levels.replace(b"[]", b"")
    return bool(levels)


def mended(data: bytes) -> bytes:
    """`data` with U+FFFD for each escaped half of a surrogate pair that has no other half; the same length.

    The grammar of JSON allows them (RFC 8259, section 8.2) and JavaScript writes them for an emoji that was cut in half, but
    they are no Unicode text and the decoder refuses the whole message: its sender would never learn which request that was.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    import re

    pair = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    return re.sub(pair + rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.", _whole, data)


def _whole(escape: re.Match[bytes]) -> bytes:
    """The escape as it is, unless it is half a pair."""
    found = escape[0]
    return b"\\ufffd" if len(found) == 6 else found


def result_reply(message_id: RequestId, result: bytes) -> bytes:
    """The response that carries an encoded result."""
    return b'{"jsonrpc":"2.0","id":' + encode(message_id) + b',"result":' + result + b"}"


def error_reply(message_id: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    """The error response. `message_id` is None when the request's own could not be read (section 5)."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return encode({"jsonrpc": "2.0", "id": message_id, "error": error})


def shown(value: str, limit: int = 100) -> str:
    """`value` short enough to be repeated in an error: what a caller sent is never echoed without bound."""
    return value if len(value) <= limit else value[:limit] + "..."
