"""Taking on providers: what counts as a role, how its members are called, what they may give."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from webseam.protocol.engine import Engine
from webseam.protocol.request import Request

Ask = Callable[..., tuple[int, Any]]


class Plain:
    def list(self, cursor: str | None) -> Any:
        return []

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return []


def takes_nothing() -> Any:
    return []


def provider(**members: Any) -> Any:
    """An object of a class `Made` with these members."""
    return type("Made", (), {name: staticmethod(member) if callable(member) else member for name, member in members.items()})()


# ------------------------------------------------------------------------------------------------ refusing


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (provider(call=lambda name, arguments: []), ["Made", "tools", "list"]),
        (provider(list=lambda cursor: []), ["Made", "none of the roles", "tools", "resources", "prompts"]),
        (provider(list=lambda cursor: [], read=lambda uri: []), ["Made", "resources", "templates"]),
        (provider(list=lambda cursor: [], templates=takes_nothing), ["Made", "resources", "read"]),
        (provider(list_prompts=lambda cursor: []), ["Made", "prompts", "get"]),
        (provider(list=lambda cursor: [], call=5), ["Made", "tools", "call", "not callable"]),
        (provider(list=takes_nothing, call=lambda name, arguments: []), ["Made", "tools", "list", "cursor"]),
        (provider(list=lambda cursor: [], call=lambda name: []), ["Made", "tools", "call", "arguments"]),
        (provider(list=lambda cursor: [], call=lambda a, b, c, d: []), ["Made", "tools", "call", "one more"]),
        (Plain, ["Plain", "class", "instance"]),
        (None, ["NoneType"]),
    ],
)
def test_what_does_not_fit_is_refused_by_provider_role_and_member(bad: Any, words: list[str]) -> None:
    with pytest.raises(TypeError) as caught:
        Engine().register_provider(bad)
    for word in words:
        assert word in str(caught.value)


def test_a_provider_of_which_one_role_is_taken_is_taken_on_in_none() -> None:
    class Both(Plain):
        def get(self, name: str, arguments: dict[str, Any]) -> Any:
            return []

    engine = Engine().register_provider(Plain())
    with pytest.raises(ValueError, match="Both"):
        engine.register_provider(Both())
    assert engine.capabilities() == {"tools": {}}


# ------------------------------------------------------------------------------------------------ the request


def seen(method: Callable[..., Any]) -> Any:
    """What `call` was given besides its two arguments, when the provider's `call` is `method`."""
    engine = Engine().register_provider(provider(list=lambda cursor: [], call=method))
    return engine.handlers()["tools/call"]({"name": "n", "arguments": {"a": 1}})["content"]


def test_the_request_reaches_methods_that_have_a_parameter_for_it() -> None:
    class Invocable:
        def __call__(self, name: str, arguments: dict[str, Any], who: Any) -> list[Any]:
            return [who]

    def traced(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    takers: list[Callable[..., Any]] = [
        lambda name, arguments, who: [who],
        lambda name, arguments, call=None: [call],
        lambda name, arguments, *, call: [call],
        lambda name, arguments, *rest, call=None: [call],
        traced(lambda name, arguments, call: [call]),
        traced(traced(lambda name, arguments, *, call: [call])),
        Invocable(),
    ]
    for taker in takers:
        assert isinstance(seen(taker)[0], Request), taker


def test_methods_without_a_parameter_for_it_are_called_without_the_request() -> None:
    def with_option(name: str, arguments: dict[str, Any], page_size: int = 10) -> list[Any]:
        return [page_size]

    assert seen(with_option) == [10]
    assert seen(lambda name, arguments: [len(arguments)]) == [1]
    assert seen(lambda *given: [len(given)]) == [2]
    assert seen(functools.partial(lambda first, name, arguments: [first], 7)) == [7]


def test_bound_static_and_class_methods_are_told_apart() -> None:
    class Mixed:
        @staticmethod
        def list(cursor: str | None, call: Request) -> Any:
            return [{"name": type(call).__name__}]

        @classmethod
        def call(cls, name: str, arguments: dict[str, Any], call: Request) -> Any:
            return [cls.__name__, call.caller]

    engine = Engine().register_provider(Mixed())
    assert engine.handlers()["tools/list"]({})["tools"][0]["name"].endswith("Anonymous")
    assert engine.handlers()["tools/call"]({"name": "n"}) == {"content": ["Mixed", None]}


@pytest.mark.parametrize(
    ("templates", "expected"),
    [
        (lambda: [1], [1]),
        (lambda cursor: [cursor], ["c"]),
        (lambda call: [type(call).__name__], ["_Anonymous"]),
        (lambda *, call: [type(call).__name__], ["_Anonymous"]),
        (lambda cursor, call: [cursor, type(call).__name__], ["c", "_Anonymous"]),
    ],
)
def test_templates_may_do_without_a_cursor(templates: Any, expected: list[Any]) -> None:
    engine = Engine().register_provider(provider(list=lambda cursor: [], read=lambda uri: [], templates=templates))
    assert engine.handlers()["resources/templates/list"]({"cursor": "c"}) == {"resourceTemplates": expected}


def test_the_request_says_who_asks_and_how(request_of: Any, post: Ask) -> None:
    requests: list[Request] = []

    def noted(cursor: str | None, call: Request) -> list[Any]:
        requests.append(call)
        return []

    engine = Engine().register_provider(provider(list=noted, call=lambda name, arguments: []))
    message = request_of("tools/list", {"_meta": {"progressToken": "t", "traceparent": "00-1"}}, "2026-07-28")
    post(message, to=engine, caller="me")
    post({"jsonrpc": "2.0", "id": "b", "method": "tools/list"}, to=engine)
    modern, old = requests
    assert (modern.id, modern.method, modern.revision, modern.caller, modern.modern) == (
        1,
        "tools/list",
        "2026-07-28",
        "me",
        True,
    )
    assert modern.client_info == {"name": "test", "version": "1"}
    assert modern.client_capabilities == {}
    assert modern.progress_token == "t"
    assert modern.meta["traceparent"] == "00-1"
    assert (old.id, old.revision, old.caller, old.modern, old.meta) == ("b", "2025-11-25", None, False, {})
    assert (old.client_info, old.client_capabilities, old.progress_token) == (None, {}, None)


# ------------------------------------------------------------------------------------------------ results


def result(given: Any, ask: Ask, revision: str = "2025-11-25", faults: list[BaseException] | None = None) -> Any:
    engine = Engine(on_fault=(faults if faults is not None else []).append)
    engine.register_provider(provider(list=lambda cursor: [], call=lambda name, arguments: given))
    return ask("tools/call", {"name": "n"}, revision, to=engine)[1]


TEXT = [{"type": "text", "text": "\u00e9"}]


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "given",
    [
        {"content": TEXT},
        TEXT,
        tuple(TEXT),
        msgspec.Raw(json.dumps({"content": TEXT}).encode()),
        msgspec.Raw(json.dumps({"content": TEXT}, indent=2).encode() + b"\r\n"),
    ],
)
def test_a_result_may_be_an_object_a_list_or_json(ask: Ask, given: Any, revision: str) -> None:
    assert result(given, ask, revision)["result"]["content"] == TEXT


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    "given",
    [
        None,
        "text",
        5,
        object(),
        {},
        {"contents": []},
        msgspec.Raw(b"[]"),
        msgspec.Raw(b"{"),
        msgspec.Raw(b""),
        msgspec.Raw(b'{"content":tru}'),
        {"content": [object()]},
        {"content": ["\ud800"]},
        {"content": [{("a", "b"): 1}]},
    ],
)
def test_a_result_that_is_none_is_an_internal_error(ask: Ask, given: Any, revision: str) -> None:
    faults: list[BaseException] = []
    assert result(given, ask, revision, faults)["error"] == {"code": -32603, "message": "Internal error"}
    assert len(faults) == 1


def test_a_result_that_refers_to_itself_is_an_internal_error(ask: Ask) -> None:
    endless: dict[str, Any] = {}
    endless["content"] = [endless]
    assert result(endless, ask)["error"]["code"] == -32603


def test_every_reply_is_one_line(ask: Ask, post: Ask, request_of: Any) -> None:
    for given in ({"content": [{"type": "text", "text": "a\nb\r\nc\u2028"}]}, msgspec.Raw(b'{\n"content":\r\n[]}')):
        engine = Engine().register_provider(provider(list=lambda cursor: [], call=lambda name, arguments, given=given: given))
        for revision in ("2025-11-25", "2026-07-28"):
            outcome = engine.receive(json.dumps(request_of("tools/call", {"name": "n"}, revision)).encode())
            assert outcome.reply is not None
            assert b"\n" not in outcome.reply
            assert b"\r" not in outcome.reply


def test_metadata_of_a_provider_stays_beside_the_servers(ask: Ask) -> None:
    for given in ({"content": [], "_meta": {"a": 1}}, msgspec.Raw(b'{"content":[],"_meta":{"a":1}}')):
        meta = result(given, ask, "2026-07-28")["result"]["_meta"]
        assert meta["a"] == 1
        assert meta["io.modelcontextprotocol/serverInfo"]["name"] == "mcp-server"


def test_a_result_that_asks_for_input_needs_no_content_and_is_not_cached(ask: Ask) -> None:
    asked = {"resultType": "input_required", "requestState": 1}
    answer = result(asked, ask, "2026-07-28")["result"]
    assert answer["resultType"] == "input_required"
    assert "ttlMs" not in answer


def test_an_error_of_a_provider_carries_its_data_and_one_with_bad_data_is_internal(ask: Ask) -> None:
    from webseam.errors import ProtocolError

    def fail(data: Any) -> Any:
        def call(name: str, arguments: dict[str, Any]) -> Any:
            raise ProtocolError(-32602, "No.", data)

        engine = Engine().register_provider(provider(list=lambda cursor: [], call=call))
        return ask("tools/call", {"name": "n"}, to=engine)[1]["error"]

    assert fail({"why": [1]}) == {"code": -32602, "message": "No.", "data": {"why": [1]}}
    assert fail({"why": object()}) == {"code": -32603, "message": "Internal error"}


class Odd(BaseException):
    """What nobody should raise, and somebody will."""


@pytest.mark.parametrize("error", [Odd("secret"), asyncio.CancelledError(), BaseExceptionGroup("secret", [Odd("secret")])])
def test_whatever_a_plain_provider_raises_is_a_fault_that_is_answered(ask: Ask, error: BaseException) -> None:
    def call(name: str, arguments: dict[str, Any]) -> Any:
        raise error

    faults: list[BaseException] = []
    engine = Engine(on_fault=faults.append).register_provider(provider(list=lambda cursor: [], call=call))
    assert ask("tools/call", {"name": "n"}, to=engine)[1]["error"] == {"code": -32603, "message": "Internal error"}
    assert faults == [error]


@pytest.mark.parametrize("error", [Odd("secret"), BaseExceptionGroup("secret", [Odd("secret")])])
def test_whatever_a_coroutine_raises_is_a_fault_but_for_its_own_cancellation(talk: Any, request_of: Any, error: Any) -> None:
    async def call(name: str, arguments: dict[str, Any]) -> Any:
        raise {"odd": error, "cancelled": asyncio.CancelledError()}[name]

    async def main() -> None:
        faults: list[BaseException] = []
        engine = Engine(on_fault=faults.append).register_provider(provider(list=lambda cursor: [], call=call))
        _, reply, _ = await talk(engine, request_of("tools/call", {"name": "odd"}, "2025-11-25"))
        assert reply["error"] == {"code": -32603, "message": "Internal error"}
        assert len(faults) == 1
        with pytest.raises(asyncio.CancelledError):
            await talk(engine, request_of("tools/call", {"name": "cancelled"}, "2025-11-25"))

    asyncio.run(main())


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_the_process_ends_it(ask: Ask, error: BaseException) -> None:
    def call(name: str, arguments: dict[str, Any]) -> Any:
        raise error

    with pytest.raises(type(error)):
        ask("tools/call", {"name": "n"}, to=Engine().register_provider(provider(list=lambda cursor: [], call=call)))


@pytest.mark.parametrize("raw", [b"{ }", b'{"content":[{"type":"text","text":"\xff\xfe"}]}'])
def test_json_that_is_given_as_it_is_stays_json(ask: Ask, raw: bytes) -> None:
    engine = Engine(on_fault=lambda error: None).register_provider(
        provider(list=lambda cursor: [], call=lambda name, arguments: msgspec.Raw(raw))
    )
    answer = ask("tools/call", {"name": "n"}, "2026-07-28", to=engine)[1]  # decoded, so it is JSON
    assert "error" in answer


@pytest.mark.parametrize("kind", ["weird", "input_required", "task"])
def test_a_result_of_a_type_that_its_request_has_not_is_a_fault(ask: Ask, kind: str) -> None:
    faults: list[BaseException] = []
    prompts = provider(list_prompts=lambda cursor: [], get=lambda name, arguments: {"resultType": kind})
    engine = Engine(on_fault=faults.append).register_provider(prompts)
    assert ask("prompts/get", {"name": "n"}, "2026-07-28", to=engine)[1]["error"]["code"] == -32603
    assert len(faults) == 1


def test_the_default_is_to_log_faults(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    def call(name: str, arguments: dict[str, Any]) -> Any:
        raise ValueError("why it failed")

    ask("tools/call", {"name": "n"}, to=Engine().register_provider(provider(list=lambda cursor: [], call=call)))
    [record] = caplog.records
    assert record.name == "webseam.protocol"
    assert record.exc_info is not None
    assert "why it failed" in record.getMessage()
