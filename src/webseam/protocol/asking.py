"""protocol: questions to the client (elicitation, sampling, roots), asked one way in both eras.

Theory of operation. A provider's method says `await call.ask({key: {"method", "params"}})`.

Handshake era: each question is a request of ours on the stream of the client's own request, and the method waits for the
answers. Over HTTP that takes a session, which is why a provider declares `needs_session`.

2026-07-28 has no requests to clients. There the call ends with an `input_required` result that carries the questions, and the
client sends the request again with the answers. The method then runs again from its start: a question that has been answered
gives its answer at once, the first that has not ends the call again. Answers of earlier rounds, and what the provider keeps in
`Request.state`, travel in the signed `requestState` (see `state`), so nothing is remembered here between the rounds.

In a task (see `tasks`) the questions are put on the task, and the method waits as in the handshake era.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol.codec import decode, msgspec
from webseam.protocol.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MISSING_CLIENT_CAPABILITY,
    client_request,
    notification,
    shown,
)
from webseam.protocol.revisions import CLIENT_METHODS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from webseam.protocol.channel import Channel, Waiter
    from webseam.protocol.request import Request

ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
ROOTS = "roots/list"

_ACTIONS = frozenset({"accept", "decline", "cancel"})


class InputRequiredError(BaseException):
    """The call ends here: the client must answer first. Not an Exception: a provider that catches everything must not
    catch this."""

    def __init__(self, questions: Mapping[str, Any]) -> None:
        super().__init__("input required")
        self.questions = dict(questions)


class ClientRefusedError(ProtocolError):
    """The client answered a question of ours with an error, or not at all. `client_code` is its code, None for no answer."""

    def __init__(self, message: str, client_code: int | None = None) -> None:
        super().__init__(INTERNAL_ERROR, message)
        self.client_code = client_code


def meaning(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What the end of a task group stands for: all that was asked in it, as if at once; else what is wrong with the call (a
    ProtocolError); else what nobody foresaw."""
    asked, other = group.split(InputRequiredError)
    if other is None:
        return InputRequiredError({key: one for leaf in _leaves(asked) for key, one in leaf.questions.items()})
    refused, unforeseen = other.split(ProtocolError)
    return other if unforeseen is not None else next(iter(_leaves(refused)))


def _leaves(group: Any) -> Iterator[Any]:
    if isinstance(group, BaseExceptionGroup):
        for one in group.exceptions:
            yield from _leaves(one)
    else:
        yield group


def elicitation(message: str, schema: Mapping[str, Any], *, with_mode: bool) -> dict[str, Any]:
    """A question to the person: a form of flat fields (2025-06-18, client/elicitation)."""
    mode = {"mode": "form"} if with_mode else {}
    return {"method": ELICIT, "params": {**mode, "message": message, "requestedSchema": dict(schema)}}


def url_elicitation(message: str, url: str, elicitation_id: str) -> dict[str, Any]:
    """A page that the person should visit (2025-11-25, client/elicitation, "URL Mode")."""
    params = {"mode": "url", "message": message, "url": url, "elicitationId": elicitation_id}
    return {"method": ELICIT, "params": params}


def sampling(messages: list[dict[str, Any]], max_tokens: int, more: Mapping[str, Any]) -> dict[str, Any]:
    """A question to the client's model (client/sampling)."""
    return {"method": SAMPLE, "params": {"messages": messages, "maxTokens": max_tokens, **more}}


def roots() -> dict[str, Any]:
    """What the client works on (client/roots)."""
    return {"method": ROOTS, "params": {}}


async def ask(request: Request, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The answers by key. See `Request.ask`."""
    if request.revision and not request.modern and (request.session is None or request.channel is None):
        raise ProtocolError(
            INVALID_REQUEST,
            "Questions to the client need a session: the provider must declare needs_session, and the transport must keep one.",
        )
    questions_declared(request, questions)
    _asked_once(request, questions)
    if request.modern:
        return _from_rounds(request, questions)
    return await _from_client(request, questions)


def _asked_once(request: Request, questions: Mapping[str, Any]) -> None:
    """Raises ValueError for a key that was used before: in 2026-07-28 it has an answer already, to another question."""
    used = request.keys or set()
    again = used & questions.keys()
    if again:
        raise ValueError(f"The key {min(again)!r} was asked before in this call: each question has a key of its own.")
    request.keys = used | questions.keys()


def questions_declared(request: Request, questions: Mapping[str, Mapping[str, Any]]) -> None:
    """Raises ProtocolError (-32021) unless the client declared what the questions need."""
    missing: dict[str, Any] = {}
    for question in questions.values():
        _needed(request, question, missing)
    if missing:
        raise missing_capability(missing)


def missing_capability(required: Mapping[str, Any]) -> ProtocolError:
    """What the client would have to declare (2026-07-28, basic/index, "Per-request protocol fields")."""
    names = ", ".join(_names(required))
    return ProtocolError(
        MISSING_CLIENT_CAPABILITY,
        f"This needs a client that declares the capability {names}.",
        {"requiredCapabilities": dict(required)},
    )


def _names(required: Mapping[str, Any]) -> list[str]:
    return [name if name != "extensions" else next(iter(value)) for name, value in required.items()]


def _needed(request: Request, question: Mapping[str, Any], missing: dict[str, Any]) -> None:
    """Note in `missing` what the client has not declared for `question`. Raises for what no client of this revision has."""
    method = question["method"]
    if method not in CLIENT_METHODS.get(request.revision, ()):
        raise ProtocolError(INVALID_REQUEST, f"Clients of MCP {request.revision or 'this connection'} have no {shown(method)}.")
    name = method.partition("/")[0]
    declared = request.client_capabilities.get(name)
    params = question.get("params") or {}
    if not isinstance(declared, dict):
        missing.setdefault(name, {})
    if method == ELICIT:
        _needed_mode(request, params.get("mode", "form"), declared, missing)
    elif method == SAMPLE and ("tools" in params or "toolChoice" in params):
        known = declared if isinstance(declared, dict) else {}
        if "tools" not in known:
            missing.setdefault(name, {})["tools"] = {}


def _needed_mode(request: Request, mode: str, declared: Any, missing: dict[str, Any]) -> None:
    if mode == "url" and not RULES[request.revision].elicitation_modes:
        raise ProtocolError(INVALID_REQUEST, f"MCP {request.revision} has no URL mode of elicitation.")
    modes = declared if isinstance(declared, dict) else {}
    if mode == "url" and "url" not in modes:
        missing.setdefault("elicitation", {})["url"] = {}
    if mode == "form" and modes and "form" not in modes:  # an empty object means forms (2025-11-25, client/elicitation)
        missing.setdefault("elicitation", {})["form"] = {}


# ------------------------------------------------------------------------------------------------ 2026-07-28


def _from_rounds(request: Request, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    answers, given = dict(request.answers or {}), request.input_responses or {}
    for key, question in questions.items():
        if key not in answers and key in given:
            answers[key] = checked_answer(key, question["method"], given[key])
    request.answers = answers
    unanswered = {key: question for key, question in questions.items() if key not in answers}
    if unanswered:
        raise InputRequiredError(unanswered)
    return {key: answers[key] for key in questions}


def checked_answer(key: str, method: str, answer: Any) -> dict[str, Any]:
    """An answer that has the shape its question asked for. Raises ProtocolError (-32602): the answer is a stranger's."""
    fault = _fault_of(method, answer)
    if fault:
        raise ProtocolError(INVALID_PARAMS, f"inputResponses[{shown(key)!r}] is no answer to {method}: {fault}.")
    checked: dict[str, Any] = answer
    return checked


def _fault_of(method: str, answer: Any) -> str:
    if not isinstance(answer, dict):
        return "it must be an object"
    if method == ELICIT:
        if not isinstance(answer.get("action"), str) or answer["action"] not in _ACTIONS:
            return "action must be accept, decline or cancel"
        if not isinstance(answer.get("content", {}), dict):
            return "content must be an object"
    elif method == SAMPLE:
        if not isinstance(answer.get("content"), dict | list) or not isinstance(answer.get("role"), str):
            return "role and content must be there"
    elif not isinstance(answer.get("roots"), list):
        return "roots must be a list"
    return ""


# ------------------------------------------------------------------------------------------------ handshake era


async def _from_client(request: Request, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    session, channel = request.session, request.channel
    assert session is not None
    assert channel is not None
    if len(session.questions) + len(questions) > LIMITS.pending_questions:
        raise ProtocolError(INTERNAL_ERROR, f"{LIMITS.pending_questions} questions to this client are pending already.")
    asked: dict[int, tuple[str, Waiter]] = {}
    unanswered: set[int] = set()
    try:
        for key, question in questions.items():
            session.sent += 1
            waiter = session.questions[session.sent] = channel.waiter(LIMITS.question_seconds)
            asked[session.sent] = (key, waiter)
            unanswered.add(session.sent)
            channel.send(client_request(session.sent, question["method"], dict(question.get("params") or {})), True)
        answers = {}
        for number, (key, waiter) in asked.items():
            given = await waiter
            unanswered.discard(number)
            if given is None:  # nobody should go on with what nobody waits for
                _withdraw(channel, number, "no answer came")
            answers[key] = _checked_response(questions[key]["method"], given)
        return answers
    finally:
        for number in asked:
            session.questions.pop(number, None)
            if number in unanswered:
                _withdraw(channel, number, "the call has ended")


def _withdraw(channel: Channel, number: int, why: str) -> None:
    """Tell the client that a question of ours need not be answered any more (basic/utilities/cancellation)."""
    channel.send(notification("notifications/cancelled", {"requestId": number, "reason": why}), True)


def _checked_response(method: str, message: Any) -> dict[str, Any]:
    """The result in the client's response. Raises `ClientRefusedError`."""
    if message is None:
        raise ClientRefusedError(f"The client did not answer {method} (within {LIMITS.question_seconds:.0f} s, or it left).")
    try:
        if not isinstance(message.error, msgspec.UnsetType):
            error = decode(message.error)
            code, text = error.get("code"), str(error.get("message", ""))
            raise ClientRefusedError(
                f"The client refused {method}: {shown(text, 500)} ({code})", code if isinstance(code, int) else None
            )
        answer = decode(message.result)
    except (msgspec.DecodeError, RecursionError, AttributeError, TypeError):
        raise ClientRefusedError(f"The client's answer to {method} cannot be read.") from None
    fault = _fault_of(method, answer)
    if fault:
        raise ClientRefusedError(f"The client's answer to {method} cannot be used: {fault}.")
    checked: dict[str, Any] = answer
    return checked
