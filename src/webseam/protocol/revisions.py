"""protocol: the revisions of MCP, as tables.

`SHAPES` maps (revision, method) to what the message looks like; a missing key *is* the version gate, so no code asks whether a
revision is newer than another. `RULES` holds what differs between revisions apart from methods. To follow a new revision, or
to serve one more method, add rows.

Two eras share the tables. The handshake era (up to 2025-11-25) agrees on a revision by `initialize`; from 2026-07-28 on every
request names its revision in `params._meta` and stands alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Union

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
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

LISTEN = "subscriptions/listen"
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"


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


class RoundParams(Params, kw_only=True):
    """What may come back with the answers that a call asked for (2026-07-28, basic/patterns/mrtr). Before, these are unknown
    members, which may be anything: their types are looked at where they mean something."""

    input_responses: Any = msgspec.field(name="inputResponses", default=UNSET)
    request_state: Any = msgspec.field(name="requestState", default=UNSET)


class NamedParams(RoundParams, kw_only=True):
    """`tools/call` and `prompts/get`. `arguments` absent or null means none."""

    name: str
    arguments: dict[str, Any] | None = None


class UriParams(RoundParams, kw_only=True):
    """`resources/read` and the subscriptions of the handshake era."""

    uri: str


class Argument(Struct):
    """The argument to complete: what it is called, and what was typed of it."""

    name: str
    value: str


class Context(Struct):
    """The arguments that are known already."""

    arguments: dict[str, str] | None = None


class CompleteParams(Params, kw_only=True):
    """`completion/complete`. `ref` names a prompt (`ref/prompt`) or a resource template (`ref/resource`)."""

    ref: dict[str, Any]
    argument: Argument
    context: Context | None = None


class LevelParams(Params, kw_only=True):
    """`logging/setLevel`."""

    level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class Filter(Struct):
    """What a client wants to be told about. What we do not know of it is not honoured."""

    tools: bool | None = msgspec.field(name="toolsListChanged", default=None)
    prompts: bool | None = msgspec.field(name="promptsListChanged", default=None)
    resources: bool | None = msgspec.field(name="resourcesListChanged", default=None)
    uris: list[str] | None = msgspec.field(name="resourceSubscriptions", default=None)
    tasks: list[str] | None = msgspec.field(name="taskIds", default=None)


class ListenParams(Params, kw_only=True):
    """`subscriptions/listen`."""

    notifications: Filter


class TaskParams(Params, kw_only=True):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str = msgspec.field(name="taskId")


class UpdateTaskParams(TaskParams, kw_only=True):
    """`tasks/update`."""

    input_responses: dict[str, Any] = msgspec.field(name="inputResponses")


# ------------------------------------------------------------------------------------------------ methods


class Shape(Struct, frozen=True):
    """What a method looks like in the revisions that have it.

    `role` is the kind of provider that serves it, "" for the engine itself. `items` is the member of the result that a list
    given by the provider becomes. `cached` results carry `ttlMs` and `cacheScope` where the revision asks for it. `named` is
    the param that the `Mcp-Name` header repeats. A `notification` has no id and no result. A method that is `remembered` needs
    a session. `rounds` may end with questions to the client.
    """

    params: type[Params] = Params
    role: str = ""
    items: str = ""
    cached: bool = False
    named: str = ""
    notification: bool = False
    remembered: bool = False
    rounds: bool = False


SERVED: tuple[tuple[str, tuple[str, ...], Shape], ...] = (
    ("initialize", HANDSHAKE, Shape(InitializeParams)),
    ("notifications/initialized", HANDSHAKE, Shape(notification=True)),
    ("ping", HANDSHAKE, Shape()),
    ("logging/setLevel", HANDSHAKE, Shape(LevelParams, "logging", remembered=True)),
    ("server/discover", MODERN, Shape(cached=True)),
    (LISTEN, MODERN, Shape(ListenParams)),
    ("notifications/cancelled", REVISIONS, Shape(CancelledParams, notification=True)),
    ("tools/list", REVISIONS, Shape(ListParams, "tools", "tools", cached=True)),
    ("tools/call", REVISIONS, Shape(NamedParams, "tools", "content", named="name", rounds=True)),
    ("resources/list", REVISIONS, Shape(ListParams, "resources", "resources", cached=True)),
    ("resources/templates/list", REVISIONS, Shape(ListParams, "resources", "resourceTemplates", cached=True)),
    ("resources/read", REVISIONS, Shape(UriParams, "resources", "contents", cached=True, named="uri", rounds=True)),
    ("resources/subscribe", HANDSHAKE, Shape(UriParams, "resources", remembered=True)),
    ("resources/unsubscribe", HANDSHAKE, Shape(UriParams, "resources", remembered=True)),
    ("prompts/list", REVISIONS, Shape(ListParams, "prompts", "prompts", cached=True)),
    ("prompts/get", REVISIONS, Shape(NamedParams, "prompts", "messages", named="name", rounds=True)),
    ("completion/complete", REVISIONS, Shape(CompleteParams, "completions", "completion")),
    ("tasks/get", MODERN, Shape(TaskParams, "tasks", named="task_id")),
    ("tasks/update", MODERN, Shape(UpdateTaskParams, "tasks", named="task_id")),
    ("tasks/cancel", MODERN, Shape(TaskParams, "tasks", named="task_id")),
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


def request_decoder() -> Callable[[bytes], Any]:
    """A decoder of whole requests, params and all, of every method there is; a third faster than one after the other.

    What it gives has `id`, `params` and `verb`, the method. It refuses what is not a plain request: then the ladder of
    `inbound` says what that is. Built once, and not at the start: it takes some milliseconds.
    """
    if not _REQUESTS:
        envelopes = [
            msgspec.defstruct(
                "Envelope",
                [("jsonrpc", Literal["2.0"]), ("id", str | int), _params_field(shape)],
                tag_field="method",
                tag=method,
                namespace={"verb": method},
            )
            for method, shape in VERBS.items()
            if not shape.notification
        ]
        _REQUESTS.append(msgspec.json.Decoder(Union[tuple(envelopes)]).decode)  # noqa: UP007  # made of a list
    return _REQUESTS[0]


def _params_field(shape: Shape) -> tuple[Any, ...]:
    """Left out where they may be."""
    try:
        shape.params()
    except TypeError:
        return ("params", shape.params)
    return ("params", shape.params, msgspec.field(default_factory=shape.params))


_REQUESTS: list[Callable[[bytes], Any]] = []

DECODERS = _Decoders()
decode_params = msgspec.json.Decoder(Params).decode


# ------------------------------------------------------------------------------------------------ other differences


class Rules(Struct, frozen=True):
    """What a revision does differently, apart from its methods.

    `modern`: requests stand alone, results say their `resultType` and server. `batches`: a message may be an array.
    `progress_messages`: progress may say something. `primed_streams`: an SSE stream begins with an event that only has an id.
    `elicitation_modes`: an elicitation names its mode, and there is one by URL.
    `statuses`: the HTTP status of an error code; those not named are 200, as every answer in the handshake era.
    `renumbered`: codes that must not be sent, and what is sent instead.
    """

    modern: bool = False
    batches: bool = False
    progress_messages: bool = True
    primed_streams: bool = False
    elicitation_modes: bool = True
    statuses: dict[int, int] = msgspec.field(default_factory=dict)
    renumbered: dict[int, int] = msgspec.field(default_factory=dict)


BEFORE_URLS = {MISSING_CLIENT_CAPABILITY: INVALID_REQUEST, URL_ELICITATION_REQUIRED: INVALID_REQUEST}
"""Before 2025-11-25 neither code had a meaning."""

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
    "2025-11-25": Rules(primed_streams=True, renumbered={MISSING_CLIENT_CAPABILITY: INVALID_REQUEST}),
    "2025-06-18": Rules(elicitation_modes=False, renumbered=BEFORE_URLS),
    "2025-03-26": Rules(batches=True, elicitation_modes=False, renumbered=BEFORE_URLS),
    "2024-11-05": Rules(progress_messages=False, elicitation_modes=False, renumbered=BEFORE_URLS),
}

CLIENT_METHODS: dict[str, tuple[str, ...]] = {
    "2026-07-28": ("elicitation/create", "sampling/createMessage", "roots/list"),
    "2025-11-25": ("elicitation/create", "sampling/createMessage", "roots/list"),
    "2025-06-18": ("elicitation/create", "sampling/createMessage", "roots/list"),
    "2025-03-26": ("sampling/createMessage", "roots/list"),
    "2024-11-05": ("sampling/createMessage", "roots/list"),
}
"""What may be asked of a client: by a request of ours in the handshake era, within a result from 2026-07-28 on."""
