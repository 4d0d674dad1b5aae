"""protocol: the roles a provider may have, and how one is taken on.

A provider is any object with the members of one or more roles; nothing is inherited. Every method may be a plain function,
which must not block, or a coroutine function. Every method may take one more parameter, named `call` or merely required: it
receives the `Request` (who asks, by which revision, and whether they still wait).

Results are plain dicts in the shape of the MCP schema. Where the result's main member is a list, the list alone will do; a
result that is JSON already may be given as `msgspec.Raw` (an object, without what the engine adds: `resultType`, `_meta`).

An object with several roles is registered once for each. As every role has a `list`, such an object names its lists apart
(`list_tools`, `list_resources`, `list_prompts`, which come before a plain `list`), or its `list` returns one dict with a
member for each kind.

A provider declares what else it needs or does by attributes, all False unless it says otherwise:

    needs_session   it asks the client (`Request.ask`) or tells it of changes, and wants that in the handshake era as well:
                    HTTP then gives out session ids. In 2026-07-28 no session is needed for either.
    logs            it calls `Request.log`
    lists_change    its lists change while it runs, and it says so with `Engine.changed`
    subscribe(uri)  a member of a resource provider whose resources change, which it says with `Engine.updated`; called when a
                    client begins to watch one, as `unsubscribe(uri)`, if there is one, when it says that it no longer does, or
                    its subscription ends; a client of the handshake era that merely leaves is not told of

A name or URI that does not exist is `errors.ProtocolError` with `jsonrpc.INVALID_PARAMS` (tools, prompts) or
`jsonrpc.RESOURCE_NOT_FOUND` (resources; sent as -32602 where the revision wants that). A tool that ran and failed is a normal
result with `isError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from webseam.protocol.codec import Raw

    Result = dict[str, Any] | list[Any] | Raw


class ToolProvider(Protocol):
    """Serves `tools/list` and `tools/call`."""

    def list(self, cursor: str | None, /) -> Result | Awaitable[Result]:
        """`{"tools": [...], "nextCursor"?, "ttlMs"?, "cacheScope"?}`, or the list of tools, always in the same order."""

    def call(self, name: str, arguments: dict[str, Any], /) -> Result | Awaitable[Result]:
        """`{"content": [...], "isError"?, "structuredContent"?}`, or the content blocks."""


class ResourceProvider(Protocol):
    """Serves `resources/list`, `resources/templates/list` and `resources/read`."""

    def list(self, cursor: str | None, /) -> Result | Awaitable[Result]:
        """`{"resources": [...], "nextCursor"?}`, or the list of resources."""

    def templates(self) -> Result | Awaitable[Result]:
        """`{"resourceTemplates": [...]}`, or the list of templates. A parameter named `cursor` receives the cursor."""

    def read(self, uri: str, /) -> Result | Awaitable[Result]:
        """`{"contents": [...]}`, or the list of contents."""


class PromptProvider(Protocol):
    """Serves `prompts/list` and `prompts/get`."""

    def list(self, cursor: str | None, /) -> Result | Awaitable[Result]:
        """`{"prompts": [...], "nextCursor"?}`, or the list of prompts."""

    def get(self, name: str, arguments: dict[str, Any], /) -> Result | Awaitable[Result]:
        """`{"messages": [...], "description"?}`, or the messages."""


class CompletionProvider(Protocol):
    """Serves `completion/complete`."""

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str], /) -> Result | Awaitable[Result]:
        """`{"completion": {"values": [...], "total"?, "hasMore"?}}`, or the values. `ref` is the prompt (`{"type":
        "ref/prompt", "name"}`) or resource template (`{"type": "ref/resource", "uri"}`), `argument` the `name` and the
        `value` typed so far, `context` the arguments known already."""


ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    "tools": {"list": ("cursor",), "call": ("name", "arguments")},
    "resources": {"list": ("cursor",), "templates": ("cursor",), "read": ("uri",)},
    "prompts": {"list": ("cursor",), "get": ("name", "arguments")},
    "completions": {"complete": ("ref", "argument", "context")},
}
"""Kind -> member -> what the engine has for it. `list` is in several roles, so the others tell which role is meant."""

OPTIONAL = {"resources": {"subscribe": ("uri",), "unsubscribe": ("uri",)}}
"""What a role may have besides."""

OPTIONAL_CURSOR = "templates"
"""The one member that may do without what the engine has for it: `templates()`."""

_VARIABLE_POSITIONAL = 0x04  # co_flags, see the `inspect` module: CO_VARARGS
_WRAPPERS = 8


def roles_of(provider: object) -> dict[str, dict[str, Callable[..., Any]]]:
    """Kind -> member -> a callable taking what `ROLES` lists and then the Request, for each role the provider has.

    Raises TypeError, naming provider, role and member, when there is no role, a member is missing or does not fit.
    """
    if isinstance(provider, type):
        raise TypeError(f"{provider.__name__} is a class: register an instance of it.")
    found = {
        kind: {member: _bind(provider, kind, member, passed) for member, passed in members.items()}
        for kind, members in ROLES.items()
        if hasattr(provider, f"list_{kind}") or any(hasattr(provider, member) for member in members if member != "list")
    }
    for kind, members in OPTIONAL.items():
        for member, passed in members.items():
            if kind in found and hasattr(provider, member):
                found[kind][member] = _bind(provider, kind, member, passed)
    if not found:
        wanted = "; ".join(f"{kind}: {', '.join(members)}" for kind, members in ROLES.items())
        raise TypeError(f"{type(provider).__name__} has none of the roles a provider may have ({wanted}).")
    return found


def _bind(provider: object, kind: str, member: str, passed: tuple[str, ...]) -> Callable[..., Any]:
    """The member as the engine calls it. How it wants to be called is decided here, once."""
    who = f"{type(provider).__name__} has the role {kind}, but its member {member}"
    method = getattr(provider, f"list_{kind}", None) if member == "list" else None
    if method is None:
        method = getattr(provider, member, None)
    if method is None and member == "list":
        raise TypeError(f"{who}({', '.join(passed)}) is missing: name it list, or list_{kind} where it has several roles.")
    if method is None:
        raise TypeError(f"{who}({'' if member == OPTIONAL_CURSOR else ', '.join(passed)}) is missing.")
    if not callable(method):
        raise TypeError(f"{who} is not callable.")
    parameters = _parameters(method)
    if parameters is None:
        return _without_request(method, len(passed))
    names, required, keywords, variable = parameters
    count = len(passed)
    if member == OPTIONAL_CURSOR and names[:1] != ["cursor"]:
        count = 0
    if required > count + 1 or (len(names) < count and not variable):
        raise TypeError(
            f"{who} takes ({', '.join(names)}): it must take ({', '.join(passed)}), and may take the request as one more."
        )
    if "call" in keywords or "call" in names[count:]:
        return lambda *given: method(*given[:count], call=given[-1])
    if required == count + 1:
        return method if count == len(passed) else lambda *given: method(*given[:count], given[-1])
    return _without_request(method, count)


def _without_request(method: Callable[..., Any], count: int) -> Callable[..., Any]:
    return lambda *given: method(*given[:count])


def _parameters(method: Any) -> tuple[list[str], int, tuple[str, ...], bool] | None:
    """Positional parameters (without self), how many are required, keyword-only ones, and whether `*args` takes more.

    From the code object: `inspect.signature` would be exact and costs 10 ms of cold start. None for a callable without one
    (`functools.partial`, or written in C): it is taken to fit, and gets no request.
    """
    function = getattr(method, "__func__", method)
    if not hasattr(function, "__code__"):
        function = type(method).__call__
    bound = 0 if function is method else 1
    for _ in range(_WRAPPERS):  # decorators that used functools.wraps lead to what they wrap
        function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    names = list(code.co_varnames[bound : code.co_argcount])
    required = len(names) - len(function.__defaults__ or ())
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return names, required, keywords, bool(code.co_flags & _VARIABLE_POSITIONAL)
