"""protocol: from bytes to a message that may be answered, as a ladder of checks. The first that fails refuses the message.

What is refused here never reached a provider. `RefusedError` carries all that a transport must know: the error, the id it
belongs to, the HTTP status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol.codec import UNSET, Raw, UnsetType, decode, msgspec
from webseam.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEVELS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    Message,
    brackets,
    decode_message,
    mended,
    shown,
    split_batch,
    too_deep,
    too_many,
)
from webseam.protocol.revisions import (
    CAPABILITIES_KEY,
    DECODERS,
    HANDSHAKE,
    LOG_LEVEL_KEY,
    MODERN,
    RULES,
    SHAPES,
    VERSION_KEY,
    WITHOUT_HEADER,
    Meta,
    decode_params,
    request_decoder,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webseam.protocol.jsonrpc import RequestId

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"

_NOTHING = b"{}"


class RefusedError(ProtocolError):
    """A message that is not served. `status` is for HTTP; `answered` is False where JSON-RPC wants no answer."""

    def __init__(
        self,
        code: int,
        message: str,
        data: dict[str, Any] | None = None,
        *,
        message_id: RequestId | None = None,
        status: int = 400,
        answered: bool = True,
    ) -> None:
        super().__init__(code, message, data)
        self.message_id = message_id
        self.status = status
        self.answered = answered


# ------------------------------------------------------------------------------------------------ the envelope


def read_message(data: bytes) -> Message | None:
    """The one message in `data`; None when it is a batch (a JSON array). Raises `RefusedError`."""
    if len(data) > LIMITS.message_bytes:
        raise RefusedError(INVALID_REQUEST, f"The message is larger than {LIMITS.message_bytes} bytes.", status=413)
    levels = brackets(data)  # no more than that
    crowded = levels > LIMITS.message_nodes and too_many(data)
    try:
        if not data.isascii():
            data.decode()  # the parts that stay raw are not checked by the decoder
        message = decode_message(data)
    except msgspec.ValidationError as error:
        if crowded:
            raise _beyond(_CROWDED) from None
        if data.lstrip(b" \t\r\n")[:1] == b"[":
            return None
        raise _invalid(data, str(error)) from None
    except RecursionError:
        raise _beyond(_DEEP) from None
    except UnicodeDecodeError:
        raise RefusedError(PARSE_ERROR, "The message is not valid UTF-8.") from None
    except msgspec.DecodeError as error:
        whole = mended(data)
        if whole != data:
            return read_message(whole)
        raise RefusedError(PARSE_ERROR, f"The message is not valid JSON: {shown(str(error))}") from None
    if crowded:  # its params are still raw: nothing of them has been made
        raise _beyond(_CROWDED, message)
    if levels > LIMITS.message_depth and too_deep(data):
        raise _beyond(_DEEP, message)
    if message.id is None:
        raise RefusedError(INVALID_REQUEST, "A request's id is a string or an integer, not null.")
    return message


def read_request(data: bytes) -> Any:
    """The request in `data`, read in one go (`revisions.request_decoder`); None for whatever the ladder has to look at."""
    if len(data) > LIMITS.message_bytes or brackets(data) > LIMITS.message_depth:
        return None
    try:
        if not data.isascii():
            data.decode()
        return request_decoder()(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


_DEEP = f"The message nests deeper than {LIMITS.message_depth} levels."
_CROWDED = f"The message holds more than {LIMITS.message_nodes} objects and arrays."


def _beyond(text: str, message: Message | None = None) -> RefusedError:
    """The refusal of a message beyond a bound, under its id where that could be read."""
    if message is None:  # so deep that the decoder gave up, or no message
        return RefusedError(INVALID_REQUEST, text)
    if message.id is UNSET or message.id is None:
        return RefusedError(INVALID_REQUEST, text, answered=message.id is None or message.method is UNSET)
    return RefusedError(INVALID_REQUEST, text, message_id=message.id)


def _invalid(data: bytes, why: str) -> RefusedError:
    """JSON, but not a JSON-RPC message: its id is repeated where there is a usable one (JSON-RPC 2.0, section 5)."""
    try:
        found = decode(mended(data))
    except (msgspec.DecodeError, RecursionError):
        return RefusedError(PARSE_ERROR, "The message is not valid JSON.")
    message_id = None
    if isinstance(found, dict):
        given = found.get("id")
        if isinstance(given, str) or (isinstance(given, int) and not isinstance(given, bool)):
            message_id = given
        if "id" not in found and isinstance(found.get("method"), str):
            return RefusedError(
                INVALID_REQUEST, why, answered=False
            )  # a notification: never answered, not even when it is wrong
    return RefusedError(INVALID_REQUEST, f"The message is not a JSON-RPC 2.0 message: {shown(why, 200)}", message_id=message_id)


def read_batch(data: bytes) -> list[Raw]:
    """The messages of a batch, each still raw. Raises `RefusedError`."""
    try:
        parts = split_batch(mended(data))
    except RecursionError:
        raise _beyond(_DEEP) from None
    except msgspec.DecodeError as error:
        raise RefusedError(PARSE_ERROR, f"The message is not valid JSON: {shown(str(error))}") from None
    if not parts:
        raise RefusedError(INVALID_REQUEST, "The batch is empty.")
    if len(parts) > LIMITS.batch_messages:
        raise RefusedError(INVALID_REQUEST, f"The batch holds more than {LIMITS.batch_messages} messages.")
    return parts


# ------------------------------------------------------------------------------------------------ params


def read_params(method: str, raw: Raw | UnsetType, headers: Mapping[str, str] | None) -> Any:
    """The params of `method` in its shape. Null is taken as left out. Raises `RefusedError`, without the message's id."""
    try:
        return DECODERS[method](_NOTHING if raw is UNSET else raw)
    except msgspec.ValidationError as error:
        text = b"" if raw is UNSET else bytes(raw)
        if text == b"null":
            return read_params(method, UNSET, headers)
        if _not_of_its_revision(method, text):
            raise RefusedError(METHOD_NOT_FOUND, f"Method not found: {shown(method)}", status=404) from None
        status = 400 if _seems_modern(text, headers) else 200
        if text and text[:1] not in b"{[":
            raise RefusedError(INVALID_REQUEST, "The params of a message are an object.", status=status) from None
        raise RefusedError(INVALID_PARAMS, f"{shown(method)}: {shown(str(error), 300)}", status=status) from None
    except msgspec.DecodeError as error:  # what only shows when a string is unescaped
        text = b"" if raw is UNSET else bytes(raw)
        whole = mended(text)
        if whole != text:
            return read_params(method, Raw(whole), headers)
        raise RefusedError(PARSE_ERROR, f"The message is not valid JSON: {shown(str(error))}") from None


def is_modern(message: Message) -> bool:
    """Whether a message carries metadata of its own."""
    if message.params is UNSET:
        return False
    try:
        meta = decode_params(message.params).meta
    except msgspec.DecodeError:
        return False
    return meta is not None and meta is not UNSET and meta.version in MODERN


def _not_of_its_revision(method: str, params: bytes) -> bool:
    """Whether a method that some other revision has is asked for: then its params need not be what they would be there."""
    try:
        meta = decode_params(params).meta
    except msgspec.DecodeError:
        return False
    if meta is None or meta is UNSET or meta.version is UNSET:
        return False
    return meta.version in MODERN and (meta.version, method) not in SHAPES


def _seems_modern(params: bytes, headers: Mapping[str, str] | None) -> bool:
    """The likely era of a message whose params cannot be read: it decides the HTTP status alone."""
    return VERSION_KEY.encode() in params or (headers is not None and headers.get(VERSION_HEADER) in MODERN)


# ------------------------------------------------------------------------------------------------ the revision


def modern_revision(
    method: str, params: Any, named: str, meta: Meta, versions: Sequence[str], headers: Mapping[str, str] | None
) -> str:
    """The revision that a request with its own metadata is served by. Raises `RefusedError`.

    2026-07-28, basic/index, "Per-request protocol fields"; basic/transports/streamable-http, "Server Validation". The
    headers come before the version, so that a client that contradicts itself is told so.
    """
    version = meta.version
    assert version is not UNSET
    if meta.capabilities is UNSET:
        raise RefusedError(INVALID_PARAMS, f"params._meta lacks {CAPABILITIES_KEY!r}, which every request carries.")
    if headers is not None:
        check_headers(method, getattr(params, named, None) if named else None, version, headers)
    if version not in versions or version not in MODERN:
        raise unsupported(version, [served for served in versions if served in MODERN])
    if meta.log_level is not UNSET and meta.log_level not in LEVELS:
        raise RefusedError(INVALID_PARAMS, f"params._meta[{LOG_LEVEL_KEY!r}] must be one of {', '.join(LEVELS)}.")
    return version


def handshake_revision(session_revision: str | None, versions: Sequence[str], headers: Mapping[str, str] | None) -> str:
    """The revision that a message without metadata of its own is served by. Raises `RefusedError`.

    What the session agreed on, else what the HTTP header says, else what its absence means (2025-06-18, basic/transports,
    "Protocol Version Header").
    """
    if headers is not None:
        header = headers.get(VERSION_HEADER)
        if header is not None and header in MODERN and header in versions:
            raise RefusedError(
                INVALID_PARAMS,
                f"In {header} every request carries params._meta with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}.",
            )
        if header is not None and (header not in versions or header not in HANDSHAKE):
            raise unsupported(header, versions)
        if session_revision is None and header is not None:
            return header
        if session_revision is None and WITHOUT_HEADER in versions:
            return WITHOUT_HEADER
    if session_revision is not None:
        return session_revision
    for version in versions:
        if version in HANDSHAKE:
            return version
    raise RefusedError(
        INVALID_PARAMS,
        f"Every request carries params._meta with {VERSION_KEY!r} (served: {', '.join(versions)}) and {CAPABILITIES_KEY!r}.",
    )


def unsupported(requested: str, versions: Sequence[str]) -> RefusedError:
    """The refusal of a revision that is not served; it names those that are, so that the client can go on."""
    data = {"supported": list(versions), "requested": shown(requested)}
    if not any(RULES[version].modern for version in versions):  # the code has no meaning in the handshake era
        return RefusedError(INVALID_REQUEST, f"Unsupported protocol version (served: {', '.join(versions)})", data)
    return RefusedError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


# ------------------------------------------------------------------------------------------------ headers


def check_headers(method: str, name: str | None, version: str, headers: Mapping[str, str]) -> None:
    """Compare the headers that repeat parts of the body with the body. Raises `RefusedError` (-32020).

    What routes by the headers must see what we execute: 2026-07-28, basic/transports/streamable-http, "Server Validation".
    """
    if headers.get(VERSION_HEADER) != version:
        raise _mismatch("MCP-Protocol-Version", headers.get(VERSION_HEADER), version)
    if headers.get(METHOD_HEADER) != method:
        raise _mismatch("Mcp-Method", headers.get(METHOD_HEADER), method)
    if name is not None:
        given = headers.get(NAME_HEADER)
        if given != name or given.startswith("=?base64?") or not given.isascii():
            decoded = decode_header(given) if given is not None and given.isascii() else None
            if decoded != name:
                raise _mismatch("Mcp-Name", given, name)


def decode_header(value: str) -> str | None:
    """What a header value stands for: `=?base64?...?=` is decoded. None when that is malformed, so that it equals nothing."""
    if not (value.startswith("=?base64?") and value.endswith("?=") and len(value) >= 11):
        return value
    import binascii

    try:
        payload = value[9:-2].encode("ascii")
        decoded = binascii.a2b_base64(payload, strict_mode=True)
        if binascii.b2a_base64(decoded, newline=False) != payload:  # another spelling of the same: not what a client sends
            return None
        return decoded.decode()
    except (ValueError, UnicodeError):
        return None


def _mismatch(header: str, given: str | None, expected: str) -> RefusedError:
    if given is None:
        text = f"The {header} header is missing: it repeats {shown(expected)!r} from the body."
    else:
        text = f"The {header} header says {shown(given)!r}, the body {shown(expected)!r}."
    return RefusedError(HEADER_MISMATCH, f"Header mismatch: {text}")
