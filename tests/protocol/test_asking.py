"""Questions to the client, asked one way in both eras (client/elicitation, client/sampling, client/roots; 2026-07-28,
basic/patterns/mrtr)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from webseam.errors import ProtocolError
from webseam.protocol import ClientRefusedError, Engine, Request, Session
from webseam.protocol.asking import InputRequiredError
from webseam.protocol.jsonrpc import INVALID_PARAMS
from webseam.protocol.revisions import HANDSHAKE, REVISIONS
from webseam.transports.memory import MemoryClient

Tool = Callable[[Request], Awaitable[Any]]
Talk = Callable[..., Any]
RequestOf = Callable[..., dict[str, Any]]
MODERN, NEWEST = "2026-07-28", HANDSHAKE[0]
ERAS = (NEWEST, MODERN)
WITH_FORMS = ("2025-06-18", "2025-11-25", "2026-07-28")
EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
YES = {"action": "accept", "content": {"name": "Ada"}}
SAID = {"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m", "stopReason": "endTurn"}
ROOTS = {"roots": [{"uri": "file:///home", "name": "home"}]}


class Asker:
    """What it is asked for, in any role, it asks the client first. `runs` counts how often its method began."""

    needs_session = True

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.runs = 0

    async def list_tools(self, cursor: str | None, call: Request) -> Any:
        return await self._run(call) if cursor == "ask" else []

    async def list_prompts(self, cursor: str | None) -> Any:
        return []

    async def list_resources(self, cursor: str | None) -> Any:
        return []

    async def templates(self) -> Any:
        return []

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [{"type": "text", "text": json.dumps(await self._run(call))}]

    async def get(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        return [{"role": "user", "content": {"type": "text", "text": json.dumps(await self._run(call))}}]

    async def read(self, uri: str, call: Request) -> Any:
        return [{"uri": uri, "text": json.dumps(await self._run(call))}]

    async def _run(self, call: Request) -> Any:
        self.runs += 1
        return await self.tool(call)


class Person:
    """Who sits at the client: answers by method, and remembers what was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers = {"elicitation/create": YES, "sampling/createMessage": SAID, "roots/list": ROOTS, **answers}
        self.asked: list[tuple[str, Any]] = []

    def __call__(self, method: str, params: dict[str, Any]) -> Any:
        self.asked.append((method, params))
        return self.answers[method]


def engine_of(tool: Tool, faults: list[BaseException] | None = None) -> Engine:
    return Engine(on_fault=None if faults is None else faults.append).register_provider(Asker(tool))


def ask_with(
    tool: Tool,
    person: Person,
    revision: str,
    capabilities: dict[str, Any] | None = None,
    faults: list[BaseException] | None = None,
) -> Any:
    """What the tool returned when a client of `revision` called it and `person` answered."""

    async def main() -> Any:
        client = MemoryClient(
            engine_of(tool, faults),
            revision=revision,
            capabilities=EVERYTHING if capabilities is None else capabilities,
            answer=person,
        )
        result = await client.request("tools/call", {"name": "t", "arguments": {}})
        assert not client.session.questions
        return json.loads(result["content"][0]["text"])

    return asyncio.run(main())


def refusal_of(tool: Tool, revision: str, capabilities: dict[str, Any] | None = None) -> ProtocolError:
    person = Person()
    with pytest.raises(ProtocolError) as caught:
        ask_with(tool, person, revision, capabilities)
    assert not person.asked  # what the client cannot do is never asked of it
    return caught.value


async def one_form(call: Request) -> Any:
    return await call.elicit("Who are you?", FORM)


async def one_page(call: Request) -> Any:
    return await call.elicit_url("Please pay.", "https://pay.example/1", "e-1")


async def one_sample(call: Request) -> Any:
    return await call.sample([{"role": "user", "content": {"type": "text", "text": "6 * 7?"}}], 100, systemPrompt="Be brief.")


async def with_tools(call: Request) -> Any:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    return await call.sample([{"role": "user", "content": {"type": "text", "text": "?"}}], 100, tools=[tool])


async def the_roots(call: Request) -> Any:
    return await call.list_roots()


# ------------------------------------------------------------------------------------------------ each kind of question


@pytest.mark.parametrize("revision", WITH_FORMS)
@pytest.mark.parametrize("answer", [YES, {"action": "decline"}, {"action": "cancel"}])
def test_a_form_comes_back_as_the_person_left_it(revision: str, answer: dict[str, Any]) -> None:
    person = Person(**{"elicitation/create": answer})
    assert ask_with(one_form, person, revision) == answer
    [(method, params)] = person.asked
    assert method == "elicitation/create"
    assert (params["message"], params["requestedSchema"]) == ("Who are you?", FORM)
    assert params.get("mode") == (None if revision == "2025-06-18" else "form")  # which did not have the member


@pytest.mark.parametrize("revision", ERAS)
def test_a_page_to_visit_is_asked_with_its_address_and_never_with_a_schema(revision: str) -> None:
    person = Person(**{"elicitation/create": {"action": "accept"}})
    assert ask_with(one_page, person, revision) == {"action": "accept"}
    [(_, params)] = person.asked
    assert (params["mode"], params["url"], params["message"]) == ("url", "https://pay.example/1", "Please pay.")
    assert "requestedSchema" not in params


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_model_of_the_client_is_asked_in_every_revision(revision: str) -> None:
    person = Person()
    assert ask_with(one_sample, person, revision) == SAID
    [(_, params)] = person.asked
    assert (params["maxTokens"], params["systemPrompt"]) == (100, "Be brief.")


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_roots_of_the_client_are_listed_in_every_revision(revision: str) -> None:
    assert ask_with(the_roots, Person(), revision) == ROOTS["roots"]


@pytest.mark.parametrize("revision", ERAS)
def test_several_questions_go_out_at_once_and_come_back_by_key(revision: str) -> None:
    async def three(call: Request) -> Any:
        return await call.ask(
            {
                "who": {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}},
                "what": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
                "where": {"method": "roots/list"},
            }
        )

    person = Person()
    assert ask_with(three, person, revision) == {"who": YES, "what": SAID, "where": ROOTS}
    assert len(person.asked) == 3


@pytest.mark.parametrize("revision", ERAS)
def test_no_questions_at_all_are_answered_at_once(revision: str) -> None:
    async def none(call: Request) -> Any:
        return await call.ask({})

    assert ask_with(none, Person(), revision, {}) == {}


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(
    ("method", "params", "member"),
    [("prompts/get", {"name": "p"}, "messages"), ("resources/read", {"uri": "x:y"}, "contents")],
)
def test_prompts_and_resources_may_ask_as_tools_do(revision: str, method: str, params: dict[str, Any], member: str) -> None:
    async def main() -> None:
        client = MemoryClient(engine_of(one_form), revision=revision, capabilities=EVERYTHING, answer=Person())
        assert "Ada" in json.dumps((await client.request(method, params))[member])

    asyncio.run(main())


def test_a_list_may_not_end_with_questions(talk: Talk, request_of: RequestOf) -> None:
    """2026-07-28, basic/patterns/mrtr, "Supported Requests": on no other client requests."""

    async def main() -> None:
        faults: list[BaseException] = []
        message = request_of("tools/list", {"cursor": "ask", "_meta": capable(EVERYTHING)}, MODERN)
        _, reply, _ = await talk(engine_of(one_form, faults), message)
        assert reply["error"] == {"code": -32603, "message": "Internal error"}
        assert len(faults) == 1

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ what is not declared


@pytest.mark.parametrize(
    ("tool", "declared", "required"),
    [
        (one_form, {}, {"elicitation": {}}),
        (one_form, {"elicitation": None}, {"elicitation": {}}),
        (one_form, {"elicitation": True}, {"elicitation": {}}),
        (one_form, {"sampling": {}, "roots": {}}, {"elicitation": {}}),
        (one_form, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        (one_page, {"elicitation": {}}, {"elicitation": {"url": {}}}),  # an empty object stands for forms alone
        (one_page, {"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}),
        (one_page, {}, {"elicitation": {"url": {}}}),
        (one_sample, {}, {"sampling": {}}),
        (one_sample, {"elicitation": {}}, {"sampling": {}}),
        (with_tools, {"sampling": {}}, {"sampling": {"tools": {}}}),
        (with_tools, {"sampling": True}, {"sampling": {"tools": {}}}),
        (with_tools, {"sampling": 5}, {"sampling": {"tools": {}}}),
        (with_tools, {"sampling": "tools"}, {"sampling": {"tools": {}}}),
        (with_tools, {"sampling": ["tools"]}, {"sampling": {"tools": {}}}),
        (the_roots, {}, {"roots": {}}),
        (the_roots, {"roots": []}, {"roots": {}}),
    ],
)
def test_a_capability_that_is_missing_is_named_and_never_used(
    tool: Tool, declared: dict[str, Any], required: dict[str, Any]
) -> None:
    modern = refusal_of(tool, MODERN, declared)
    assert (modern.code, modern.data) == (-32021, {"requiredCapabilities": required})
    assert next(iter(required)) in str(modern)
    before = refusal_of(tool, NEWEST, declared)
    assert before.code == -32600  # the other code has no meaning there
    assert next(iter(required)) in str(before)


def test_everything_that_is_missing_is_named_at_once() -> None:
    async def three(call: Request) -> Any:
        return await call.ask(
            {
                "a": {"method": "elicitation/create", "params": {"mode": "url"}},
                "b": {"method": "roots/list"},
                "c": {"method": "sampling/createMessage", "params": {}},
            }
        )

    refusal = refusal_of(three, MODERN, {"sampling": {}})
    assert refusal.data == {"requiredCapabilities": {"elicitation": {"url": {}}, "roots": {}}}


def test_a_missing_capability_is_answered_with_400_over_http(talk: Talk, request_of: RequestOf) -> None:
    async def main() -> None:
        headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "t"}
        status, reply, _ = await talk(engine_of(one_form), request_of("tools/call", {"name": "t"}, MODERN), headers=headers)
        assert (status, reply["error"]["code"]) == (400, -32021)

    asyncio.run(main())


def test_a_provider_may_do_without_what_the_client_has_not() -> None:
    async def careful(call: Request) -> Any:
        try:
            return await call.elicit("?", FORM)
        except ProtocolError as error:
            return error.code

    for revision in ERAS:
        assert ask_with(careful, Person(), revision, {}) == -32021


@pytest.mark.parametrize("revision", ["2025-03-26", "2024-11-05"])
@pytest.mark.parametrize("tool", [one_form, one_page])
def test_there_is_no_elicitation_before_2025_06_18_whatever_the_client_declares(revision: str, tool: Tool) -> None:
    refusal = refusal_of(tool, revision)
    assert refusal.code == -32600
    assert revision in str(refusal)
    assert "elicitation/create" in str(refusal)


def test_there_are_no_pages_to_visit_before_2025_11_25() -> None:
    refusal = refusal_of(one_page, "2025-06-18")
    assert refusal.code == -32600
    assert "2025-06-18" in str(refusal)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("method", ["tools/call", "ping", "elicitation/complete", "", "x" * 5_000])
def test_nothing_else_can_be_asked_of_a_client(revision: str, method: str) -> None:
    async def other(call: Request) -> Any:
        return await call.ask({"k": {"method": method, "params": {}}})

    refusal = refusal_of(other, revision)
    assert refusal.code == -32600
    assert len(str(refusal)) < 300


def test_without_a_session_the_error_says_that_one_is_needed(talk: Talk, request_of: RequestOf) -> None:
    async def main() -> None:
        _, reply, _ = await talk(engine_of(one_form), request_of("tools/call", {"name": "t"}, NEWEST), headers={})
        assert reply["error"]["code"] == -32600
        assert "needs_session" in reply["error"]["message"]

    asyncio.run(main())


def test_a_handler_without_a_transport_says_that_nobody_can_be_asked() -> None:
    handler = engine_of(one_form).handlers()["tools/call"]
    with pytest.raises(ProtocolError, match="elicitation/create"):
        asyncio.run(handler({"name": "t"}))


# ------------------------------------------------------------------------------------------------ answers that are none

NO_FORM: list[Any] = [
    None, [], "accept", 5, True, {}, {"action": "maybe"}, {"action": None}, {"action": 1}, {"action": []}, {"action": {}},
    {"action": ["accept"]}, {"action": "accept", "content": 5}, {"action": "accept", "content": []},
    {"content": {"name": "x"}},
]  # fmt: skip
NO_SAMPLE: list[Any] = [
    None, [], "42", {}, {"role": "assistant"}, {"role": 1, "content": {}}, {"content": {}}, {"role": "a", "content": "text"},
    {"role": [], "content": []},
]  # fmt: skip
NO_ROOTS: list[Any] = [None, [], {}, {"roots": {}}, {"roots": None}, {"roots": "file:///"}]
GARBAGE = [
    *[(one_form, "elicitation/create", answer) for answer in NO_FORM],
    *[(one_sample, "sampling/createMessage", answer) for answer in NO_SAMPLE],
    *[(the_roots, "roots/list", answer) for answer in NO_ROOTS],
]


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(("tool", "method", "answer"), GARBAGE)
def test_an_answer_of_another_shape_never_reaches_the_provider(revision: str, tool: Tool, method: str, answer: Any) -> None:
    faults: list[BaseException] = []
    with pytest.raises(ProtocolError) as caught:
        ask_with(tool, Person(**{method: answer}), revision, faults=faults)
    assert not faults  # it is the client's fault
    assert caught.value.code == (INVALID_PARAMS if revision == MODERN else -32603)
    assert method in str(caught.value)


def test_a_client_that_refuses_is_told_apart_from_one_that_says_no(wire: Any, under_way: Any, request_of: RequestOf) -> None:
    caught: list[ClientRefusedError] = []

    async def patient(call: Request) -> Any:
        try:
            return await call.elicit("?", FORM)
        except ClientRefusedError as refused:
            caught.append(refused)
            raise

    async def main() -> None:
        for error, code, words in (
            ({"code": -1, "message": "User rejected"}, -1, "User rejected"),
            ({"code": "?", "message": ["x"]}, None, "refused"),
            ({"message": "a" * 100_000}, None, "aaa"),
            ({}, None, "refused"),
            (None, None, "cannot be read"),
            ([], None, "cannot be read"),
            ("no", None, "cannot be read"),
            (5, None, "cannot be read"),
        ):
            channel, session = wire(), capable_session()
            engine = engine_of(patient)
            async with under_way(engine, request_of("tools/call", {"name": "t"}), channel, session=session) as task:
                asked = await channel.until(1)
                engine.receive(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}).encode(), session=session)
                reply = await task
            assert reply["error"]["code"] == -32603
            assert words in reply["error"]["message"]
            assert len(reply["error"]["message"]) < 1_000
            assert caught.pop().client_code == code
            assert not session.questions
            assert not session.pending

    asyncio.run(main())


def test_a_client_that_never_answers_is_given_up_and_told_so(wire: Any, talk: Talk, request_of: RequestOf) -> None:
    async def main() -> None:
        channel, session = wire(silent=True), capable_session()
        _, reply, _ = await talk(engine_of(one_form), request_of("tools/call", {"name": "t"}), channel=channel, session=session)
        assert reply["error"]["code"] == -32603
        assert "did not answer elicitation/create" in reply["error"]["message"]
        asked, given_up = channel.sent
        assert given_up["method"] == "notifications/cancelled"
        assert given_up["params"]["requestId"] == asked["id"]
        assert not session.questions

    asyncio.run(main())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_session_that_ends_ends_the_waiting_too(wire: Any, under_way: Any, request_of: RequestOf, count: int) -> None:
    faults: list[BaseException] = []

    async def several(call: Request) -> Any:
        return await call.ask({str(number): {"method": "roots/list"} for number in range(count)})

    async def main() -> None:
        channel, session = wire(), capable_session()
        engine = engine_of(several, faults)
        async with under_way(engine, request_of("tools/call", {"name": "t"}), channel, session=session) as task:
            asked = await channel.until(count)
            if count > 1:  # one is answered in the same moment
                answer_to(engine, session, channel.sent[0], ROOTS)
            session.end()
            assert asked["method"] == "roots/list"
            with contextlib.suppress(asyncio.CancelledError):
                assert await task is None
        assert not session.questions
        assert not faults

    asyncio.run(main())


def test_a_session_that_ends_while_nobody_cancels_the_work_is_an_answer_that_never_came(
    wire: Any, talk: Talk, request_of: RequestOf
) -> None:
    """A transport need not stop what runs: then the provider learns that nobody answered, and it is no fault."""
    faults: list[BaseException] = []
    learnt: list[str] = []

    async def several(call: Request) -> Any:
        try:
            return await call.ask({str(number): {"method": "roots/list"} for number in range(3)})
        except ProtocolError as error:
            learnt.append(str(error))
            raise

    async def main() -> None:
        channel, session = wire(), capable_session()
        engine = engine_of(several, faults)
        task = asyncio.create_task(talk(engine, request_of("tools/call", {"name": "t"}), channel=channel, session=session))
        await channel.until(3)
        answer_to(engine, session, channel.sent[0], ROOTS)
        session.end()
        _, reply, _ = await task
        assert reply is None
        assert not faults
        assert "did not answer" in learnt[0]

    asyncio.run(main())


def test_a_cancelled_call_takes_its_questions_along(wire: Any, under_way: Any, request_of: RequestOf) -> None:
    async def main() -> None:
        channel, session = wire(), capable_session()
        engine = engine_of(one_form)
        async with under_way(engine, request_of("tools/call", {"name": "t"}), channel, session=session):
            asked = await channel.until(1)
            assert list(session.questions) == [asked["id"]]
        assert not session.questions
        answer_to(engine, session, asked, YES)  # too late: nothing happens

    asyncio.run(main())


@pytest.mark.parametrize("answered_by", ["another id", "a string", "another session", "no session", "a null id"])
def test_only_the_answer_to_the_question_is_taken(wire: Any, under_way: Any, request_of: RequestOf, answered_by: str) -> None:
    async def main() -> None:
        channel, session = wire(), capable_session()
        engine = engine_of(one_form)
        async with under_way(engine, request_of("tools/call", {"name": "t"}), channel, session=session) as task:
            asked = await channel.until(1)
            stray: dict[str, Any] = {
                "another id": asked["id"] + 1, "a string": str(asked["id"]), "a null id": None,
            }  # fmt: skip
            to = {"another session": capable_session(), "no session": None}.get(answered_by, session)
            message = {"jsonrpc": "2.0", "id": stray.get(answered_by, asked["id"]), "result": {"action": "decline"}}
            engine.receive(json.dumps(message).encode(), session=to)
            await asyncio.sleep(0)
            assert not task.done()
            answer_to(engine, session, asked, YES)
            answer_to(engine, session, asked, {"action": "cancel"})  # the second answer to a question is one too many
            reply = await task
        assert json.loads(reply["result"]["content"][0]["text"]) == YES

    asyncio.run(main())


def test_questions_of_two_calls_on_one_session_are_told_apart(wire: Any, under_way: Any, request_of: RequestOf) -> None:
    async def main() -> None:
        session, first, second = capable_session(), wire(), wire()
        engine = engine_of(one_form)
        one, two = {**request_of("tools/call", {"name": "t"}), "id": 1}, {**request_of("tools/call", {"name": "t"}), "id": 2}
        async with (
            under_way(engine, one, first, session=session) as task_one,
            under_way(engine, two, second, session=session) as task_two,
        ):
            asked_one, asked_two = await first.until(1), await second.until(1)
            assert asked_one["id"] != asked_two["id"]
            answer_to(engine, session, asked_two, {"action": "accept", "content": {"n": 2}})
            assert (await task_two)["id"] == 2
            assert not task_one.done()
            answer_to(engine, session, asked_one, {"action": "accept", "content": {"n": 1}})
            assert '"n": 1' in (await task_one)["result"]["content"][0]["text"].replace('\\"', '"')

    asyncio.run(main())


def capable_session(revision: str = NEWEST) -> Session:
    session = Session()
    session.revision = revision
    session.client_capabilities = EVERYTHING
    return session


def answer_to(engine: Engine, session: Session | None, asked: dict[str, Any], result: Any) -> None:
    outcome = engine.receive(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode(), session=session)
    assert outcome.reply is None


# ------------------------------------------------------------------------------------------------ rounds


def capable(capabilities: dict[str, Any]) -> dict[str, Any]:
    return {"io.modelcontextprotocol/clientCapabilities": capabilities}


class Rounds:
    """A client of 2026-07-28 by hand: each round is a new request, with what the test gives it."""

    def __init__(self, tool: Tool, talk: Talk, request_of: RequestOf, faults: list[BaseException] | None = None) -> None:
        self.asker = Asker(tool)
        self.engine = Engine(on_fault=None if faults is None else faults.append).register_provider(self.asker)
        self.talk = talk
        self.request_of = request_of
        self.count = 0

    async def __call__(self, responses: Any = None, state: Any = None, **more: Any) -> Any:
        params: dict[str, Any] = {"name": "t", "arguments": {}, "_meta": capable(EVERYTHING), **more}
        if responses is not None:
            params["inputResponses"] = responses
        if state is not None:
            params["requestState"] = state
        self.count += 1
        message = {**self.request_of("tools/call", params, MODERN), "id": self.count}
        status, reply, _ = await self.talk(self.engine, message)
        assert reply["id"] == self.count
        return reply["result"] if "result" in reply else (reply["error"]["code"], reply["error"]["message"], status)


def test_each_round_asks_one_more_and_earlier_answers_travel_in_the_state(talk: Talk, request_of: RequestOf) -> None:
    async def three(call: Request) -> Any:
        first = await call.elicit("1", FORM, key="first")
        second = await call.sample([], 10, key="second")
        third = await call.list_roots(key="third")
        return [first, second, third]

    async def main() -> None:
        rounds = Rounds(three, talk, request_of)
        result = await rounds()
        assert result["resultType"] == "input_required"
        assert list(result["inputRequests"]) == ["first"]
        assert "requestState" not in result  # there is nothing to remember yet
        result = await rounds({"first": YES})
        assert list(result["inputRequests"]) == ["second"]
        again = await rounds({"second": SAID}, result["requestState"])
        assert list(again["inputRequests"]) == ["third"]
        assert again["requestState"] != result["requestState"]
        last = await rounds({"third": ROOTS}, again["requestState"])
        assert json.loads(last["content"][0]["text"]) == [YES, SAID, ROOTS["roots"]]
        assert rounds.asker.runs == 4

    asyncio.run(main())


def test_what_a_client_left_unanswered_is_asked_again(talk: Talk, request_of: RequestOf) -> None:
    async def two(call: Request) -> Any:
        question = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": FORM}}
        return await call.ask({"a": question, "b": question})

    async def main() -> None:
        rounds = Rounds(two, talk, request_of)
        assert set((await rounds())["inputRequests"]) == {"a", "b"}
        result = await rounds({"b": YES, "c": {"action": "accept"}})
        assert list(result["inputRequests"]) == ["a"]
        result = await rounds({}, result["requestState"])
        assert list(result["inputRequests"]) == ["a"]  # b is remembered, though this round answered nothing
        result = await rounds({"a": {"action": "decline"}}, result["requestState"])
        assert json.loads(result["content"][0]["text"]) == {"a": {"action": "decline"}, "b": YES}

    asyncio.run(main())


@pytest.mark.parametrize("extra", [{"other": YES}, {"other": None}, {"other": []}, {"": 5}, {"\u00e9" * 100: "x"}])
def test_answers_to_what_was_not_asked_are_ignored(talk: Talk, request_of: RequestOf, extra: dict[str, Any]) -> None:
    async def main() -> None:
        rounds = Rounds(one_form, talk, request_of)
        result = await rounds()
        [key] = result["inputRequests"]
        assert json.loads((await rounds({key: YES, **extra}))["content"][0]["text"]) == YES
        assert (await rounds(extra))["resultType"] == "input_required"

    asyncio.run(main())


@pytest.mark.parametrize("responses", [[], "x", 5, True])
def test_input_responses_that_are_no_object_are_refused(talk: Talk, request_of: RequestOf, responses: Any) -> None:
    async def main() -> None:
        code, _, status = await Rounds(one_form, talk, request_of)(responses)
        assert (code, status) == (-32602, 400)

    asyncio.run(main())


@pytest.mark.parametrize("state", [5, [], {}, True])
def test_a_request_state_that_is_no_string_is_refused(talk: Talk, request_of: RequestOf, state: Any) -> None:
    async def main() -> None:
        code, _, status = await Rounds(one_form, talk, request_of)({}, state)
        assert (code, status) == (-32602, 400)

    asyncio.run(main())


@pytest.mark.parametrize("answer", NO_FORM)
def test_a_wrong_answer_is_refused_by_its_key_and_the_next_try_may_be_right(
    talk: Talk, request_of: RequestOf, answer: Any
) -> None:
    async def named(call: Request) -> Any:
        return await call.elicit("?", FORM, key="the name")

    async def main() -> None:
        faults: list[BaseException] = []
        rounds = Rounds(named, talk, request_of, faults)
        code, text, status = await rounds({"the name": answer})
        assert (code, status) == (-32602, 400)
        assert "the name" in text
        assert json.loads((await rounds({"the name": YES}))["content"][0]["text"]) == YES
        assert not faults

    asyncio.run(main())


def test_what_the_provider_keeps_comes_back_in_the_next_round(talk: Talk, request_of: RequestOf) -> None:
    seen: list[Any] = []

    async def counting(call: Request) -> Any:
        seen.append(call.state)
        call.state = {"round": (call.state or {"round": 0})["round"] + 1, "text": "\u00e9\U0001f600\x00"}
        await call.elicit("?", FORM, key=f"q{call.state['round']}")
        return call.state

    async def main() -> None:
        rounds = Rounds(counting, talk, request_of)
        result = await rounds()
        for number in (1, 2, 3):
            assert list(result["inputRequests"]) == [f"q{number}"]
            result = await rounds({f"q{number}": YES}, result["requestState"])
        assert seen == [None, *({"round": number, "text": "\u00e9\U0001f600\x00"} for number in (1, 2, 3))]

    asyncio.run(main())


@pytest.mark.parametrize("state", [0, "", False, [], {}, 1.5, "x", [None], {"a": {"b": [1, "2"]}}])
def test_any_json_value_may_be_kept(talk: Talk, request_of: RequestOf, state: Any) -> None:
    seen: list[Any] = []

    async def keeping(call: Request) -> Any:
        seen.append(call.state)
        call.state = state
        return await call.elicit("?", FORM, key="k")

    async def main() -> None:
        rounds = Rounds(keeping, talk, request_of)
        result = await rounds()
        await rounds({"k": YES}, result["requestState"])
        assert seen == [None, state]
        assert type(seen[1]) is type(state)

    asyncio.run(main())


def test_what_has_no_json_form_cannot_be_kept(talk: Talk, request_of: RequestOf) -> None:
    async def main() -> None:
        for unfit in (object(), {1, object()}, lambda: None):

            async def keeping(call: Request, unfit: Any = unfit) -> Any:
                call.state = unfit
                return await call.elicit("?", FORM)

            faults: list[BaseException] = []
            assert (await Rounds(keeping, talk, request_of, faults)())[:2] == (-32603, "Internal error")
            assert len(faults) == 1

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ careless providers


def test_a_provider_that_catches_every_exception_does_not_catch_the_question(talk: Talk, request_of: RequestOf) -> None:
    ended: list[str] = []

    async def careless(call: Request) -> Any:
        try:
            with contextlib.suppress(Exception):
                return await call.elicit("?", FORM)
        except Exception:  # noqa: BLE001  # what is tested
            return "caught"
        finally:
            ended.append("closed")
        return "suppressed"

    async def main() -> None:
        result = await Rounds(careless, talk, request_of)()
        assert result["resultType"] == "input_required"
        assert ended == ["closed"]

    assert not issubclass(InputRequiredError, Exception)
    asyncio.run(main())


@pytest.mark.parametrize("revision", ERAS)
def test_questions_may_be_asked_side_by_side_by_gather(revision: str) -> None:
    async def both(call: Request) -> Any:
        return await asyncio.gather(call.elicit("?", FORM, key="a"), call.list_roots(key="b"))

    assert ask_with(both, Person(), revision) == [YES, ROOTS["roots"]]


@pytest.mark.parametrize("revision", ERAS)
def test_questions_may_be_asked_side_by_side_in_a_task_group(revision: str) -> None:
    async def both(call: Request) -> Any:
        async with asyncio.TaskGroup() as group:
            one = group.create_task(call.elicit("?", FORM, key="a"))
            two = group.create_task(call.list_roots(key="b"))
        return [one.result(), two.result()]

    assert ask_with(both, Person(), revision) == [YES, ROOTS["roots"]]


def test_a_task_group_that_fails_otherwise_is_a_fault_and_never_a_question(talk: Talk, request_of: RequestOf) -> None:
    faults: list[BaseException] = []

    async def fail() -> None:
        raise RuntimeError("secret")

    async def both(call: Request) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(call.elicit("?", FORM))
            group.create_task(fail())

    async def main() -> None:
        result = await Rounds(both, talk, request_of, faults)()
        assert result[:2] == (-32603, "Internal error")
        assert len(faults) == 1

    asyncio.run(main())


@pytest.mark.parametrize("revision", ERAS)
def test_what_a_client_lacks_is_told_out_of_a_task_group_as_well(revision: str) -> None:
    async def both(call: Request) -> Any:
        async with asyncio.TaskGroup() as group, asyncio.TaskGroup() as inner:
            inner.create_task(call.list_roots())
            group.create_task(call.elicit("?", FORM))

    refusal = refusal_of(both, revision, {})
    assert refusal.code == (-32021 if revision == MODERN else -32600)


def test_nested_task_groups_ask_all_at_once(talk: Talk, request_of: RequestOf) -> None:
    async def four(call: Request) -> Any:
        answers = []
        async with asyncio.TaskGroup() as outer:
            answers = [outer.create_task(pair(call, name)) for name in ("a", "b")]
        return [answer.result() for answer in answers]

    async def pair(call: Request, name: str) -> Any:
        async with asyncio.TaskGroup() as inner:
            both = [inner.create_task(call.elicit("?", FORM, key=f"{name}{number}")) for number in (1, 2)]
        return [one.result() for one in both]

    async def main() -> None:
        rounds = Rounds(four, talk, request_of)
        given: dict[str, Any] = {}
        state = None
        for _ in range(5):
            result = await rounds(given, state)
            if "inputRequests" not in result:
                break
            given, state = dict.fromkeys(result["inputRequests"], YES), result.get("requestState")
        assert json.loads(result["content"][0]["text"]) == [[YES, YES], [YES, YES]]

    asyncio.run(main())


@pytest.mark.parametrize("revision", ERAS)
def test_a_question_may_wait_for_another_within_a_timeout(revision: str) -> None:
    async def timed(call: Request) -> Any:
        async with asyncio.timeout(60):
            return await call.elicit("?", FORM)

    assert ask_with(timed, Person(), revision) == YES


@pytest.mark.parametrize("revision", ERAS)
def test_one_key_is_one_question(revision: str) -> None:
    """2026-07-28, basic/patterns/mrtr: keys are unique within the request. The answer to one question must never be taken for
    the answer to another; the author hears of it in every era, not in one."""
    faults: list[BaseException] = []

    async def twice(call: Request) -> Any:
        await call.elicit("Your name?", FORM, key="same")
        return await call.sample([], 10, key="same")

    with pytest.raises(ProtocolError) as caught:
        ask_with(twice, Person(), revision, faults=faults)
    assert (caught.value.code, str(caught.value)) == (-32603, "Internal error")
    assert "same" in str(faults[0])


def test_unnamed_questions_are_numbered_the_same_each_round(talk: Talk, request_of: RequestOf) -> None:
    async def unnamed(call: Request) -> Any:
        return [await call.elicit("1", FORM), await call.elicit("2", FORM), await call.list_roots()]

    async def main() -> None:
        rounds = Rounds(unnamed, talk, request_of)
        result, keys = await rounds(), []
        while "inputRequests" in result:
            [(key, question)] = result["inputRequests"].items()
            keys.append(key)
            answer = ROOTS if question["method"] == "roots/list" else YES
            result = await rounds({key: answer}, result.get("requestState"))
        assert len(set(keys)) == 3
        assert json.loads(result["content"][0]["text"]) == [YES, YES, ROOTS["roots"]]

    asyncio.run(main())


def test_a_provider_may_write_the_questions_itself_and_its_state_is_signed(talk: Talk, request_of: RequestOf) -> None:
    class ByHand:
        def list(self, cursor: str | None) -> Any:
            return []

        def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            if call.state is not None:
                return [{"type": "text", "text": json.dumps([call.state, call.input_responses])}]
            return {
                "resultType": "input_required",
                "inputRequests": {"r": {"method": "roots/list"}},
                "requestState": {"step": 1},
            }

    async def main() -> None:
        engine = Engine().register_provider(ByHand())
        params: dict[str, Any] = {"name": "t", "_meta": capable(EVERYTHING)}
        _, reply, _ = await talk(engine, request_of("tools/call", params, MODERN))
        assert reply["result"]["inputRequests"] == {"r": {"method": "roots/list"}}
        state = reply["result"]["requestState"]
        assert isinstance(state, str)
        params = {**params, "inputResponses": {"r": ROOTS}, "requestState": state}
        _, reply, _ = await talk(engine, request_of("tools/call", params, MODERN))
        assert json.loads(reply["result"]["content"][0]["text"]) == [{"step": 1}, {"r": ROOTS}]
        _, reply, _ = await talk(engine, request_of("tools/call", {**params, "requestState": "eyJ9.x"}, MODERN))
        assert reply["error"]["code"] == -32602

    asyncio.run(main())


def test_questions_that_a_provider_wrote_itself_need_the_capability_too(talk: Talk, request_of: RequestOf) -> None:
    """2026-07-28, basic/patterns/mrtr: servers must not send what the client has not declared support for."""

    class ByHand:
        def list(self, cursor: str | None) -> Any:
            return []

        def call(self, name: str, arguments: dict[str, Any]) -> Any:
            return {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}}

    async def main() -> None:
        _, reply, _ = await talk(Engine().register_provider(ByHand()), request_of("tools/call", {"name": "t"}, MODERN))
        assert reply["error"]["code"] == -32021
        assert reply["error"]["data"] == {"requiredCapabilities": {"roots": {}}}

    asyncio.run(main())


def test_what_belongs_to_rounds_means_nothing_before_there_were_any(talk: Talk, request_of: RequestOf) -> None:
    async def what_came(call: Request) -> Any:
        return [call.input_responses or {}, call.state]

    async def main() -> None:
        engine = engine_of(what_came)
        for responses, state in (({"k": YES}, "x.y"), (5, 5), (None, None)):
            params = {"name": "t", "inputResponses": responses, "requestState": state}
            _, reply, _ = await talk(engine, request_of("tools/call", params, NEWEST), session=capable_session())
            assert json.loads(reply["result"]["content"][0]["text"]) == [{}, None]

    asyncio.run(main())


def test_a_question_of_a_cancelled_call_is_withdrawn() -> None:
    class Asks:
        needs_session = True

        def list(self, cursor: str | None) -> Any:
            return [{"name": "ask", "inputSchema": {"type": "object"}}]

        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            return await call.elicit("Your name?", {"type": "object", "properties": {}})

    async def main() -> None:
        asked = asyncio.Event()

        async def never(method: str, params: dict[str, Any]) -> Any:
            asked.set()
            await asyncio.Event().wait()

        client = MemoryClient(Engine().register_provider(Asks()), capabilities={"elicitation": {}}, answer=never)
        call = asyncio.create_task(client.request("tools/call", {"name": "ask", "arguments": {}}))
        await asked.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        [withdrawn] = client.received
        assert withdrawn["method"] == "notifications/cancelled"
        assert withdrawn["params"]["requestId"] == 1
        assert not client.session.questions

    asyncio.run(main())
