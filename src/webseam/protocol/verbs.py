"""protocol: the verbs: what each method does. Those of the roles are bound to a provider's members, the others are our own.

A verb takes the params in their shape and the request, and gives the result, or an awaitable of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol.channel import Following, awaited
from webseam.protocol.codec import Raw, decode, msgspec
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND
from webseam.protocol.outbound import as_object
from webseam.protocol.revisions import SUBSCRIPTION_KEY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from webseam.protocol.changes import Changes
    from webseam.protocol.request import Request
    from webseam.protocol.revisions import Shape
    from webseam.protocol.tasks import Tasks

    Handler = Callable[..., Any]
    Verb = Callable[[Any, Request], Any]
    Members = Mapping[str, Callable[..., Any]]

COMPLETIONS = 100
"""What one answer may hold (2025-11-25, server/utilities/completion)."""


def verbs_of(kind: str, members: Members) -> dict[str, Verb]:
    """The verbs that the members of one role serve; `tools/call` is the engine's, as it has headers to check first."""
    listed = members.get("list")
    verbs: dict[str, Verb] = {}
    if listed is not None:
        verbs[f"{kind}/list"] = lambda params, request: listed(params.cursor, request)
    if kind == "resources":
        templates, read = members["templates"], members["read"]
        verbs["resources/templates/list"] = lambda params, request: templates(params.cursor, request)
        verbs["resources/read"] = lambda params, request: read(params.uri, request)
        if "subscribe" in members:
            verbs["resources/subscribe"] = lambda params, request: _subscribe(members["subscribe"], params, request)
            verbs["resources/unsubscribe"] = lambda params, request: _unsubscribe(members.get("unsubscribe"), params, request)
    elif kind == "prompts":
        get = members["get"]
        verbs["prompts/get"] = lambda params, request: get(params.name, params.arguments or {}, request)
    elif kind == "completions":
        complete = members["complete"]
        verbs["completion/complete"] = lambda params, request: _complete(complete, params, request)
    return verbs


# ------------------------------------------------------------------------------------------------ completion


def _complete(complete: Callable[..., Any], params: Any, request: Request) -> Any:
    argument = {"name": params.argument.name, "value": params.argument.value}
    context = (params.context.arguments if params.context is not None else None) or {}
    result = complete(params.ref, argument, context, request)
    return Following(_completed_later(result), result) if hasattr(result, "__await__") else completed(result)


async def _completed_later(result: Awaitable[Any]) -> dict[str, Any]:
    return completed(await result)


def completed(result: Any) -> dict[str, Any]:
    """The result of `completion/complete`: a bare list becomes one, and no more than `COMPLETIONS` values are sent."""
    if type(result) is Raw:
        result = decode(result)
    completion = {"values": list(result)} if isinstance(result, list | tuple) else dict(result["completion"])
    values = completion["values"]
    if len(values) > COMPLETIONS:
        completion = {"total": len(values), **completion, "values": values[:COMPLETIONS], "hasMore": True}
    return {"completion": completion}


# ------------------------------------------------------------------------------------------------ sessions


def initialized(_params: Any, request: Request) -> None:
    """`notifications/initialized`: from now on changes may be pushed."""
    if request.session is not None:
        request.session.initialized = True


def cancelled(params: Any, request: Request) -> None:
    """`notifications/cancelled`: what it names stops and is not answered; what it does not know it ignores."""
    if request.session is not None:
        pending = request.session.pending.get(params.request_id)
        if pending is not None:
            pending.cancel()


def set_level(params: Any, request: Request) -> dict[str, Any]:
    """`logging/setLevel`."""
    assert request.session is not None
    request.session.log_level = params.level
    return {}


async def _subscribe(subscribe: Callable[..., Any], params: Any, request: Request) -> dict[str, Any]:
    session = request.session
    assert session is not None
    if params.uri in session.watched:
        return {}
    _short(params.uri)
    if len(session.watched) >= LIMITS.session_subscriptions:
        raise ProtocolError(
            INVALID_PARAMS, f"A client may watch {LIMITS.session_subscriptions} resources: unsubscribe from some."
        )
    await awaited(subscribe(params.uri, request))
    session.watched.add(params.uri)
    return {}


async def _unsubscribe(unsubscribe: Callable[..., Any] | None, params: Any, request: Request) -> dict[str, Any]:
    assert request.session is not None
    if params.uri in request.session.watched:
        request.session.watched.discard(params.uri)
        if unsubscribe is not None:
            await awaited(unsubscribe(params.uri, request))
    return {}


# ------------------------------------------------------------------------------------------------ subscriptions/listen


async def listen(
    params: Any,
    request: Request,
    changes: Changes,
    kinds: Collection[str],
    resources: Members,
    tasks: Tasks | None,
    on_fault: Callable[[BaseException], None],
) -> dict[str, Any]:
    """`subscriptions/listen`: open until the client closes it, or `Changes.end` does.

    `kinds` are the lists that may change; `resources` are the members of that role's provider, and `on_fault` is told of an
    `unsubscribe` that fails. What cannot be honoured is
    left out of the acknowledgement (2026-07-28, basic/patterns/subscriptions).
    """
    from webseam.protocol.changes import Listener

    channel = request.channel
    if channel is None or request.id is None:
        raise ProtocolError(INTERNAL_ERROR, "This server is reached by a transport that cannot keep a stream open.")
    wanted = params.notifications
    honoured: dict[str, Any] = {
        f"{kind}ListChanged": True for kind in ("tools", "prompts", "resources") if kind in kinds and getattr(wanted, kind)
    }
    task_ids: list[str] = []
    if wanted.tasks is not None and tasks is not None:
        task_ids = await tasks.readable(_bounded(wanted.tasks), request)
        honoured["taskIds"] = task_ids
    told = [kind.removesuffix("ListChanged") for kind in honoured if kind.endswith("ListChanged")]
    uris: list[str] = []
    listener = None
    try:
        await _watch(_bounded(wanted.uris or []), uris, resources, request)
        if wanted.uris and "subscribe" in resources:
            honoured["resourceSubscriptions"] = uris
        listener = Listener(
            request.id,
            request.principal,
            lambda message, keep: request.emit(message, keep=keep),
            channel.waiter(),
            kinds=told,
            uris=uris,
            tasks=task_ids,
        )
        changes.add(listener)
        listener.tell("notifications/subscriptions/acknowledged", {"notifications": honoured})
        await listener.waiter
    finally:  # however it ends, and before it began as well
        if listener is not None:
            changes.remove(listener)
        await _unwatch(uris, resources, request, on_fault)
    return {"_meta": {SUBSCRIPTION_KEY: request.id}}


def _bounded(names: list[str]) -> list[str]:
    if len(names) > LIMITS.session_subscriptions:
        raise ProtocolError(INVALID_PARAMS, f"A subscription may name {LIMITS.session_subscriptions} resources or tasks.")
    for name in names:
        _short(name)
    return list(dict.fromkeys(names))


def _short(name: str) -> None:
    """Raises ProtocolError for a name too long to be remembered."""
    if len(name) > LIMITS.url_chars:
        raise ProtocolError(INVALID_PARAMS, f"What is watched is named by {LIMITS.url_chars} characters at most.")


async def _watch(uris: list[str], watched: list[str], resources: Members, request: Request) -> None:
    """Add to `watched` those of the URIs that the provider lets be watched."""
    subscribe = resources.get("subscribe")
    if subscribe is None:
        return
    for uri in uris:
        try:
            await awaited(subscribe(uri, request))
        except ProtocolError:
            continue
        watched.append(uri)


async def _unwatch(uris: list[str], resources: Members, request: Request, on_fault: Callable[[BaseException], None]) -> None:
    unsubscribe = resources.get("unsubscribe")
    if unsubscribe is not None:
        for uri in uris:
            try:
                await awaited(unsubscribe(uri, request))
            except Exception as error:  # noqa: BLE001  # the others are to be told of all the same
                on_fault(error)


# ------------------------------------------------------------------------------------------------ without an envelope


def handler_of(shape: Shape, verb: Verb, anonymous: Request) -> Handler:
    """A verb for callers with an envelope of their own: plain params in, a plain result out."""

    async def shaped(result: Awaitable[Any]) -> Any:
        return as_object(await result, shape)

    def handler(params: Mapping[str, Any] | None = None, call: Request = anonymous) -> Any:
        try:
            given = msgspec.convert({} if params is None else params, shape.params)
        except msgspec.ValidationError as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None
        if shape.remembered and call.session is None:
            raise ProtocolError(METHOD_NOT_FOUND, "This method needs a session: the request that is passed to it has none.")
        result = verb(given, call)
        if shape.notification:
            return None
        return shaped(result) if hasattr(result, "__await__") else as_object(result, shape)

    return handler
