"""protocol: the revisions of MCP, as tables.

`SHAPES` maps (revision, method) to what the message looks like; a missing key *is* the version gate, so no code asks whether a
revision is newer than another. `RULES` holds what differs between revisions apart from methods. To follow a new revision, or
to serve one more method, add rows.

Two eras share the tables. The handshake era (up to 2025-11-25) agrees on a revision by `initialize`; from 2026-07-28 on every
request names its revision in `params._meta` and stands alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.protocol.codec import UNSET, Struct, UnsetType, msgspec
from webseam.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MODERN = ("2026-07-28",)
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = MODERN + HANDSHAKE
"""Every revision there is a row for, newest first."""

WITHOUT_HEADER = "2025-03-26"
"""What an HTTP request without `MCP-Protocol-Version` speaks (2025-06-18, basic/transports)."""

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"


# ------------------------------------------------------------------------------------------------ params


class Meta(Struct):
    """The members of `params._meta` that the engine itself reads; the rest stays with the message."""

    version: str | UnsetType = msgspec.field(name=VERSION_KEY, default=UNSET)
    capabilities: dict[str, Any] | UnsetType = msgspec.field(name=CAPABILITIES_KEY, default=UNSET)
    client: dict[str, Any] | UnsetType = msgspec.field(name=CLIENT_KEY, default=UNSET)
    log_level: str | UnsetType = msgspec.field(name=LOG_LEVEL_KEY, default=UNSET)
    progress_token: str | int | UnsetType = msgspec.field(name="progressToken", default=UNSET)


class Params(Struct, kw_only=True):
    """The params of a message of which nothing but `_meta` matters."""

    meta: Meta | UnsetType | None = msgspec.field(name="_meta", default=UNSET)


class InitializeParams(Params, kw_only=True):
    """`initialize`. A client that leaves something out is answered all the same: negotiation is never an error."""

    protocol_version: str = msgspec.field(name="protocolVersion", default="")
    capabilities: dict[str, Any] | None = None
    client_info: dict[str, Any] | None = msgspec.field(name="clientInfo", default=None)


class CancelledParams(Params, kw_only=True):
    """`notifications/cancelled`."""

    request_id: str | int = msgspec.field(name="requestId")
    reason: str | UnsetType | None = UNSET


class ListParams(Params, kw_only=True):
    """Any list. The cursor is the provider's own and passes through untouched."""

    cursor: str | None = None


class NamedParams(Params, kw_only=True):
    """`tools/call` and `prompts/get`. `arguments` absent or null means none."""

    name: str
    arguments: dict[str, Any] | None = None


class UriParams(Params, kw_only=True):
    """`resources/read`."""

    uri: str


# ------------------------------------------------------------------------------------------------ methods


class Shape(Struct, frozen=True):
    """What a method looks like in the revisions that have it.

    `role` is the kind of provider that serves it, "" for the engine itself. `items` is the member of the result that a list
    given by the provider becomes. `cached` results carry `ttlMs` and `cacheScope` where the revision asks for it. `named` is
    the param that the `Mcp-Name` header repeats. A `notification` has no id and no result.
    """

    params: type[Params] = Params
    role: str = ""
    items: str = ""
    cached: bool = False
    named: str = ""
    notification: bool = False


SERVED: tuple[tuple[str, tuple[str, ...], Shape], ...] = (
    ("initialize", HANDSHAKE, Shape(InitializeParams)),
    ("notifications/initialized", HANDSHAKE, Shape(notification=True)),
    ("ping", HANDSHAKE, Shape()),
    ("server/discover", MODERN, Shape(cached=True)),
    ("notifications/cancelled", REVISIONS, Shape(CancelledParams, notification=True)),
    ("tools/list", REVISIONS, Shape(ListParams, "tools", "tools", cached=True)),
    ("tools/call", REVISIONS, Shape(NamedParams, "tools", "content", named="name")),
    ("resources/list", REVISIONS, Shape(ListParams, "resources", "resources", cached=True)),
    ("resources/templates/list", REVISIONS, Shape(ListParams, "resources", "resourceTemplates", cached=True)),
    ("resources/read", REVISIONS, Shape(UriParams, "resources", "contents", cached=True, named="uri")),
    ("prompts/list", REVISIONS, Shape(ListParams, "prompts", "prompts", cached=True)),
    ("prompts/get", REVISIONS, Shape(NamedParams, "prompts", "messages", named="name")),
)

SHAPES: dict[tuple[str, str], Shape] = {
    (revision, method): shape for method, revisions, shape in SERVED for revision in revisions
}

ROLE_ITEMS = frozenset({"tools", "resources", "resourceTemplates", "prompts"})
"""What lists are lists of."""

VERBS: dict[str, Shape] = {method: shape for method, _, shape in SERVED}
"""Every method that some revision has. Its params are read before the revision is known, since they name it."""


class _Decoders(dict[str, "Callable[[Any], Any]"]):
    """Method -> decoder of its params. Each is built once, when it is first needed: all of them are a millisecond of start."""

    def __missing__(self, method: str) -> Callable[[Any], Any]:
        shape = VERBS.get(method)
        if shape is None:  # not kept: the method's name is a stranger's
            return decode_params
        decoder = self[method] = msgspec.json.Decoder(shape.params).decode
        return decoder


DECODERS = _Decoders()
decode_params = msgspec.json.Decoder(Params).decode


# ------------------------------------------------------------------------------------------------ other differences


class Rules(Struct, frozen=True):
    """What a revision does differently, apart from its methods.

    `modern`: requests stand alone, results say their `resultType` and server. `batches`: a message may be an array.
    `statuses`: the HTTP status of an error code; those not named are 200, as every answer in the handshake era.
    `renumbered`: codes that must not be sent, and what is sent instead.
    """

    modern: bool = False
    batches: bool = False
    statuses: dict[int, int] = msgspec.field(default_factory=dict)
    renumbered: dict[int, int] = msgspec.field(default_factory=dict)


RULES: dict[str, Rules] = {
    "2026-07-28": Rules(
        modern=True,
        statuses={
            PARSE_ERROR: 400,
            INVALID_REQUEST: 400,
            INVALID_PARAMS: 400,
            METHOD_NOT_FOUND: 404,
            HEADER_MISMATCH: 400,
            MISSING_CLIENT_CAPABILITY: 400,
            UNSUPPORTED_PROTOCOL_VERSION: 400,
        },
        renumbered={RESOURCE_NOT_FOUND: INVALID_PARAMS, URL_ELICITATION_REQUIRED: INVALID_PARAMS},
    ),
    "2025-11-25": Rules(),
    "2025-06-18": Rules(),
    "2025-03-26": Rules(batches=True),
    "2024-11-05": Rules(),
}
