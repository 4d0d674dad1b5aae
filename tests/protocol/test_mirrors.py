"""Headers that repeat tool parameters (2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters")."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol import Engine, Request, Session
from webseam.protocol.mirrors import LOOKS, mirrored

MODERN = "2026-07-28"
Call = Callable[..., tuple[int, Any]]


def encoded(value: str) -> str:
    return f"=?base64?{b64encode(value.encode()).decode()}?="


def annotated(kind: str = "string", header: Any = "Region", **more: Any) -> dict[str, Any]:
    return {"type": kind, "x-mcp-header": header, **more}


def tool(name: str = "t", **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


class Tools:
    """Lists what it is given, whole or in pages, and says what it was called with. `lists` counts how often it was read."""

    lists_change = True

    def __init__(self, *tools: dict[str, Any]) -> None:
        self.tools: Any = list(tools)
        self.lists = 0

    def list(self, cursor: str | None) -> Any:
        self.lists += 1
        return self.tools

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return [{"type": "text", "text": json.dumps(arguments)}]


@pytest.fixture
def call(request_of: Any, post: Call) -> Call:
    """Call a tool over HTTP; `headers` are the `Mcp-Param-*` that come along, by what follows that."""

    def make(engine: Engine, arguments: Any, headers: dict[str, str] | None = None, name: str = "t") -> tuple[int, Any]:
        return post(
            request_of("tools/call", {"name": name, "arguments": arguments}, MODERN), to=engine, headers=all_of(headers, name)
        )

    return make


def all_of(headers: dict[str, str] | None, name: str = "t") -> dict[str, str]:
    standard = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name}
    return {**standard, **{f"mcp-param-{header}": value for header, value in (headers or {}).items()}}


def served(answer: tuple[int, Any]) -> bool:
    status, reply = answer
    if status == 200:
        assert "result" in reply
        return True
    assert (status, reply["error"]["code"], reply["id"]) == (400, -32020, 1)
    assert reply["error"]["message"].startswith("Header mismatch: ")
    return False


def engine_of(*tools: dict[str, Any], faults: list[BaseException] | None = None) -> Engine:
    return Engine(on_fault=None if faults is None else faults.append).register_provider(Tools(*tools))


# ------------------------------------------------------------------------------------------------ the specification's table


def test_a_value_that_is_provided_must_match_its_header(call: Call) -> None:
    engine = engine_of(tool(region=annotated()))
    assert served(call(engine, {"region": "us-west1"}, {"region": "us-west1"}))
    for other in ("us-east1", "US-WEST1", "us-west1,us-west1", "us-west", ""):
        assert not served(call(engine, {"region": "us-west1"}, {"region": other}))


def test_null_has_no_header(call: Call) -> None:
    engine = engine_of(tool(region=annotated()))
    assert served(call(engine, {"region": None}))
    assert not served(call(engine, {"region": None}, {"region": "null"}))


def test_a_parameter_that_is_not_in_the_arguments_has_no_header(call: Call) -> None:
    engine = engine_of(tool(region=annotated()))
    for arguments in ({}, {"other": 1}, None):
        assert served(call(engine, arguments))
        assert not served(call(engine, arguments, {"region": "x"}))


def test_a_header_that_is_left_out_while_the_value_is_there_is_refused(call: Call) -> None:
    engine = engine_of(tool(region=annotated()))
    status, reply = call(engine, {"region": "x"})
    assert not served((status, reply))
    assert "Mcp-Param-Region header is missing" in reply["error"]["message"]
    assert not served(call(engine, {"region": "x"}, {"regions": "x"}))


def test_a_header_that_no_parameter_has_is_ignored(call: Call) -> None:
    engine = engine_of(tool(region=annotated(), plain={"type": "string"}))
    assert served(call(engine, {"region": "x", "plain": "y"}, {"region": "x", "plain": "z", "weather": "\x00"}))


# ------------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, \u4e16\u754c", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("us-west1", "=?base64?dXMtd2VzdDE=?="),  # encoded without need
        ("", ""),
        ("", "=?base64??="),
        ("=?base64?", "=?base64?"),  # only looks like it
        ("?=", "?="),
        ("a b", "a b"),
        ("a\tb", "a\tb"),  # 0x09 is one of the characters a value consists of
        ('~!@#$%^&*()_+{}|:"<>?', '~!@#$%^&*()_+{}|:"<>?'),
        ("42", "42"),
        ("true", "true"),
        ("\x00", "=?base64?AA==?="),
    ],
)
def test_a_string_is_compared_as_it_is_or_decoded(call: Call, value: str, header: str) -> None:
    assert served(call(engine_of(tool(region=annotated())), {"region": value}, {"region": header}))


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("=?base64?literal?=", "=?base64?literal?="),  # must be encoded again
        ("us-west1", "=?BASE64?dXMtd2VzdDE=?="),
        ("us-west1", "=?base64?dXMtd2VzdDE?="),
        ("us-west1", "=?base64?dXMtd2VzdDE=?"),
        ("us-west1", "=?base64?****?="),
        ("us-west1", "=?base64?dXMtd2Vz dDE=?="),
        ("\u00e9", "\u00e9"),  # no character of a header, though an application may hand it over
        ("a\nb", "a\nb"),
        ("a\x00b", "a\x00b"),
        ("a\x7fb", "a\x7fb"),
        ("\ufffd", "=?base64?/w==?="),  # what is no UTF-8 equals nothing
        ("x" * 1_000, "x" * 999),
    ],
)
def test_a_string_whose_header_is_malformed_or_says_otherwise_is_refused(call: Call, value: str, header: str) -> None:
    assert not served(call(engine_of(tool(region=annotated())), {"region": value}, {"region": header}))


@pytest.mark.parametrize(
    ("value", "header"),
    [
        (42, "42"), (-7, "-7"), (0, "0"), (42, "42.0"), (42.0, "42"), (42, "4.2e1"), (42, "042"), (0, "-0"),
        (2**53 - 1, "9007199254740991"), (-(2**53) + 1, "-9007199254740991"), (42, "=?base64?NDI=?="),
    ],
)  # fmt: skip
def test_integers_are_compared_as_numbers(call: Call, value: Any, header: str) -> None:
    assert served(call(engine_of(tool(size=annotated("integer", "Size"))), {"size": value}, {"size": header}))


@pytest.mark.parametrize(
    ("value", "header"),
    [
        (42, "43"), (42, "42.5"), (42, ""), (42, "forty-two"), (42, "0x2a"), (42, "42 "), (42, " 42"), (42, "4_2"),
        (42, "42,42"),
        (42, "\u0664\u0662"), (42, "inf"), (42, "nan"), (42, "1e400"), (42, "-"), (42, "."), (42, "42" + "0" * 1_000),
        (2**53, "9007199254740992"), (2**53 + 1, "9007199254740992"), (10**400, "1e400"), (1.5, "1.5"), (0, "false"),
        (1, "true"),
        ("42", "42.0"), ([42], "42"), ({"a": 42}, "42"), ([], ""), ({}, ""),
    ],
)  # fmt: skip
def test_what_is_no_equal_integer_is_refused(call: Call, value: Any, header: str) -> None:
    assert not served(call(engine_of(tool(size=annotated("integer", "Size"))), {"size": value}, {"size": header}))


@pytest.mark.parametrize(
    ("value", "header", "same"),
    [
        (True, "true", True), (False, "false", True), (True, "=?base64?dHJ1ZQ==?=", True), (True, "True", False),
        (True, "1", False),
        (False, "0", False), (False, "", False), (True, "false", False), ("true", "true", True),
    ],
)  # fmt: skip
def test_booleans_are_lower_case_words(call: Call, value: Any, header: str, same: bool) -> None:
    assert served(call(engine_of(tool(dry=annotated("boolean", "Dry"))), {"dry": value}, {"dry": header})) is same


# ------------------------------------------------------------------------------------------------ where annotations may stand


def test_nested_properties_are_read_at_their_path(call: Call) -> None:
    deep = {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": annotated(header="Deep")}}}}
    engine = engine_of(tool(a=deep, c={"type": "string"}))
    assert served(call(engine, {"a": {"b": {"c": "x"}}}, {"deep": "x"}))
    elsewhere: list[Any] = [
        {},
        {"c": "x"},
        {"a": None},
        {"a": {}},
        {"a": {"b": "x"}},
        {"a": {"b": ["c", "x"]}},
        {"a": [{"b": 1}]},
    ]
    for arguments in elsewhere:
        assert served(call(engine, arguments))
        assert not served(call(engine, arguments, {"deep": "x"}))


def test_names_of_headers_are_compared_in_any_case(call: Call) -> None:
    """A transport gives them in lower case."""
    engine = engine_of(tool(a=annotated(header="ReGion-ID")))
    assert served(call(engine, {"a": "x"}, {"region-id": "x"}))
    assert not served(call(engine, {"a": "x"}))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("empty", tool(a=annotated(header=""))),
    ("no string", tool(a=annotated(header=5))),
    ("null", tool(a=annotated(header=None))),
    ("a list", tool(a=annotated(header=["A"]))),
    ("a space", tool(a=annotated(header="A B"))),
    ("a colon", tool(a=annotated(header="A:B"))),
    ("a line feed", tool(a=annotated(header="A\nB"))),
    ("a carriage return", tool(a=annotated(header="A\r"))),
    ("outside of ASCII", tool(a=annotated(header="R\u00e9gion"))),
    ("twice", tool(a=annotated(header="A"), b=annotated(header="A"))),
    ("twice in another case", tool(a=annotated(header="Region"), b=annotated(header="rEGION"))),
    ("twice at other depths", tool(a=annotated(header="A"), b={"type": "object", "properties": {"a": annotated(header="a")}})),
    ("a number", tool(a=annotated("number"))),
    ("an object", tool(a=annotated("object"))),
    ("an array", tool(a=annotated("array"))),
    ("null as its type", tool(a=annotated("null"))),
    ("no type", tool(a={"x-mcp-header": "A"})),
    ("several types", tool(a={"type": ["string", "null"], "x-mcp-header": "A"})),
    ("an object as type", tool(a={"type": {}, "x-mcp-header": "A"})),
    ("items", tool(a={"type": "array", "items": annotated()})),
    ("properties of items", tool(a={"type": "array", "items": {"type": "object", "properties": {"b": annotated()}}})),
    ("prefixItems", tool(a={"type": "array", "prefixItems": [annotated()]})),
    ("contains", tool(a={"type": "array", "contains": annotated()})),
    *[(word, tool(a={word: [annotated()]})) for word in ("oneOf", "anyOf", "allOf")],
    *[(word, tool(a={word: annotated()})) for word in ("not", "if", "then", "else", "additionalProperties", "propertyNames")],
    ("patternProperties", tool(a={"patternProperties": {"^a": annotated()}})),
    ("dependentSchemas", tool(a={"dependentSchemas": {"b": {"properties": {"c": annotated()}}}})),
    ("the schema itself", {"name": "t", "inputSchema": {"type": "string", "x-mcp-header": "A"}}),
    ("anyOf at the root", {"name": "t", "inputSchema": {"type": "object", "anyOf": [{"properties": {"a": annotated()}}]}}),
    (
        "$defs",
        {
            "name": "t",
            "inputSchema": {"type": "object", "$defs": {"d": annotated()}, "properties": {"a": {"$ref": "#/$defs/d"}}},
        },
    ),
]


@pytest.mark.parametrize("wrong", [row[1] for row in WRONG], ids=[row[0] for row in WRONG])
def test_an_annotation_where_none_may_stand_is_told_to_the_author_and_checks_nothing(call: Call, wrong: dict[str, Any]) -> None:
    """A client leaves such a tool out; one that calls it all the same sends no headers for it. The other tools are not
    disturbed."""
    with pytest.raises(ValueError):
        mirrored(wrong)
    faults: list[BaseException] = []
    engine = engine_of(wrong, tool("good", region=annotated()), faults=faults)
    assert served(call(engine, {"a": "x"}))
    assert served(call(engine, {"region": "x"}, {"region": "x"}, "good"))
    assert not served(call(engine, {"region": "x"}, {}, "good"))
    [fault] = faults
    assert isinstance(fault, ValueError)
    assert "'t'" in str(fault)


@pytest.mark.parametrize(
    "right",
    [
        {"name": "t"},
        {"name": "t", "inputSchema": True},
        {"name": "t", "inputSchema": {}},
        tool(),
        tool(a=True),
        tool(a={"type": "string", "const": {"x-mcp-header": ""}, "default": {"x-mcp-header": 5}}),
        tool(a={"enum": [{"x-mcp-header": ""}], "examples": [{"x-mcp-header": ""}]}),
        tool(properties={"type": "string"}, items={"type": "string"}),
    ],
)
def test_a_tool_without_annotations_has_none(right: dict[str, Any]) -> None:
    assert mirrored(right) == ()


def test_a_parameter_may_be_called_like_a_keyword(call: Call) -> None:
    names = ("properties", "items", "const", "default", "enum", "examples", "anyOf", "x-mcp-header", "type")
    properties: dict[str, Any] = {name: annotated(header=f"H{number}") for number, name in enumerate(names)}
    engine = engine_of({"name": "t", "inputSchema": {"type": "object", "properties": properties}})
    arguments = dict.fromkeys(names, "x")
    headers = {f"h{number}": "x" for number in range(len(names))}
    assert served(call(engine, arguments, headers))
    for number in range(len(names)):
        assert not served(call(engine, arguments, {**headers, f"h{number}": "y"}))


# ------------------------------------------------------------------------------------------------ the list


def test_the_list_is_read_once(call: Call) -> None:
    provider = Tools(tool("t", region=annotated()), tool("u"))
    engine = Engine().register_provider(provider)
    for _ in range(3):
        assert served(call(engine, {"region": "x"}, {"region": "x"}))
        assert served(call(engine, {}, name="u"))
    assert provider.lists == 1


def test_the_list_is_not_read_where_there_are_no_headers_to_check(talk: Any, request_of: Any) -> None:
    provider = Tools(tool("t", region=annotated()))
    engine = Engine().register_provider(provider)

    async def main() -> None:
        for revision, how in ((MODERN, {}), ("2025-11-25", {"headers": {}}), ("2025-11-25", {"session": Session()})):
            message = request_of("tools/call", {"name": "t", "arguments": {"region": "x"}}, revision)
            assert "result" in (await talk(engine, message, **how))[1]

    asyncio.run(main())
    assert provider.lists == 0


def test_a_list_that_changed_is_read_again(call: Call) -> None:
    provider = Tools(tool("t"))
    engine = Engine().register_provider(provider)
    assert served(call(engine, {"region": "x"}))
    provider.tools = [tool("t", region=annotated())]
    assert served(call(engine, {"region": "x"}))  # nobody said so yet
    engine.changed("tools")
    assert not served(call(engine, {"region": "x"}))
    assert served(call(engine, {"region": "x"}, {"region": "x"}))
    provider.tools = [tool("t")]
    engine.changed("tools", "alice")
    assert served(call(engine, {"region": "x"}))


def test_a_tool_that_was_not_in_the_list_is_looked_for_again(call: Call) -> None:
    provider = Tools(tool("u"))
    engine = Engine().register_provider(provider)
    assert served(call(engine, {"region": "x"}))
    provider.tools = [tool("t", region=annotated())]
    assert not served(call(engine, {"region": "x"}))


def page_of(number: int, last: int) -> dict[str, Any]:
    page: dict[str, Any] = {"tools": [tool(f"t{number}", region=annotated())]}
    return page if number == last else {**page, "nextCursor": str(number + 1)}


class Paged(Tools):
    def list(self, cursor: str | None) -> Any:
        self.lists += 1
        return page_of(int(cursor or 0), 5)


class PagedLater(Paged):
    async def list(self, cursor: str | None) -> Any:
        await asyncio.sleep(0)
        return Paged.list(self, cursor)

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return Tools.call(self, name, arguments)


@pytest.mark.parametrize("provider", [Paged(), PagedLater()])
def test_every_page_of_the_list_is_read_however_it_comes(provider: Paged, talk: Any, request_of: Any) -> None:
    async def main() -> None:
        engine = Engine().register_provider(provider)
        for number in (5, 0, 3):
            name = f"t{number}"
            message = request_of("tools/call", {"name": name, "arguments": {"region": "x"}}, MODERN)
            assert served((await talk(engine, message, headers=all_of({"region": "x"}, name)))[:2])
            assert not served((await talk(engine, message, headers=all_of({"region": "y"}, name)))[:2])
        assert provider.lists == 6

    asyncio.run(main())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_list_without_end_is_read_so_far_and_no_further(talk: Any, request_of: Any, asynchronous: bool) -> None:
    class Endless(Tools):
        def list(self, cursor: str | None) -> Any:
            self.lists += 1
            return {"tools": [], "nextCursor": "again"}

    class EndlessLater(Endless):
        async def list(self, cursor: str | None) -> Any:
            return Endless.list(self, cursor)

    async def main() -> None:
        provider = EndlessLater() if asynchronous else Endless()
        engine = Engine().register_provider(provider)
        message = request_of("tools/call", {"name": "t", "arguments": {}}, MODERN)
        assert served((await talk(engine, message, headers=all_of({})))[:2])
        assert provider.lists <= 101

    asyncio.run(main())


def test_no_more_tools_are_remembered_than_the_limit(call: Call) -> None:
    class Many(Tools):
        def list(self, cursor: str | None) -> Any:
            number = int(cursor or 0)
            tools = [tool(f"t{number + each}") for each in range(1_000)]
            return {"tools": tools, "nextCursor": str(number + 1_000)}

    engine = Engine().register_provider(Many())
    for name in ("t", "u", "v"):
        assert served(call(engine, {}, name=name))
    assert engine._mirrors is not None
    assert len(engine._mirrors.of("")) <= LIMITS.mirrored_tools + 1_000


def test_tools_that_each_caller_has_alone_do_not_pile_up(post: Call, request_of: Any) -> None:
    class Own(Tools):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            return [tool(f"{call.caller}-{number}", region=annotated()) for number in range(500)]

    engine = Engine().register_provider(Own())
    for caller in range(3 * LIMITS.mirrored_tools // 500):
        name = f"{caller}-7"
        message = request_of("tools/call", {"name": name, "arguments": {"region": "x"}}, MODERN)
        assert not served(post(message, to=engine, caller=str(caller), headers=all_of({}, name)))
        assert served(post(message, to=engine, caller=str(caller), headers=all_of({"region": "x"}, name)))
    assert engine._mirrors is not None
    assert sum(map(len, engine._mirrors._callers.values())) <= LIMITS.mirrored_tools + 500


def test_a_call_is_checked_by_what_it_learnt_though_the_list_changes_meanwhile(talk: Any, request_of: Any) -> None:
    gate = asyncio.Event()

    class Turning(Tools):
        async def list(self, cursor: str | None) -> Any:
            await gate.wait()
            return self.tools

    async def main() -> None:
        engine = Engine().register_provider(Turning(tool("t", region=annotated())))
        message = request_of("tools/call", {"name": "t", "arguments": {"region": "x"}}, MODERN)
        calls = [asyncio.create_task(talk(engine, message, headers=all_of(headers))) for headers in ({}, {"region": "x"})]
        await asyncio.sleep(0)
        engine.changed("tools")
        gate.set()
        assert [served((await call)[:2]) for call in calls] == [False, True]

    asyncio.run(main())


@pytest.mark.parametrize(
    "given",
    [
        [tool("t", region=annotated())],
        ({"name": "t", "inputSchema": tool(region=annotated())["inputSchema"]},),
        {"tools": [tool("t", region=annotated())]},
        {"tools": [tool("t", region=annotated())], "nextCursor": None},
        msgspec.Raw(json.dumps({"tools": [tool("t", region=annotated())]}).encode()),
        {"tools": [tool("t", region=annotated())], "prompts": []},
    ],
)
def test_the_list_may_come_in_any_form_a_result_may_have(call: Call, given: Any) -> None:
    provider = Tools()
    provider.tools = given
    engine = Engine().register_provider(provider)
    assert served(call(engine, {"region": "x"}, {"region": "x"}))
    assert not served(call(engine, {"region": "x"}))


def test_a_list_that_is_refused_refuses_the_call(call: Call) -> None:
    class Refusing(Tools):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            raise ProtocolError(-32602, "You may see no tools.")

    status, reply = call(Engine().register_provider(Refusing()), {})
    assert (status, reply["error"]["message"]) == (400, "You may see no tools.")


def test_the_list_is_read_as_the_caller_sees_it(post: Call, request_of: Any) -> None:
    class Own(Tools):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            return [tool(f"of-{call.caller}", region=annotated())]

    engine = Engine().register_provider(Own())
    for caller in ("alice", "bob", "alice"):
        name = f"of-{caller}"
        message = request_of("tools/call", {"name": name, "arguments": {"region": "x"}}, MODERN)
        assert served(post(message, to=engine, caller=caller, headers=all_of({"region": "x"}, name)))
        assert not served(post(message, to=engine, caller=caller, headers=all_of({}, name)))


def test_what_a_list_said_before_it_changed_is_not_believed_afterwards(talk: Any, request_of: Any) -> None:
    """The list is being read when its change is announced: what comes of that reading is old."""
    gate = asyncio.Event()

    class Turning(Tools):
        async def list(self, cursor: str | None) -> Any:
            tools = self.tools
            await gate.wait()
            return tools

    async def main() -> None:
        provider = Turning(tool("t"))
        engine = Engine().register_provider(provider)
        message = request_of("tools/call", {"name": "t", "arguments": {"region": "x"}}, MODERN)
        first = asyncio.create_task(talk(engine, message, headers=all_of({})))
        await asyncio.sleep(0)
        provider.tools = [tool("t", region=annotated())]
        engine.changed("tools")
        gate.set()
        await first
        assert not served((await talk(engine, message, headers=all_of({})))[:2])
        assert served((await talk(engine, message, headers=all_of({"region": "x"})))[:2])

    asyncio.run(main())


def test_a_mismatch_never_reaches_the_tool(talk: Any, request_of: Any) -> None:
    reached: list[str] = []

    class Noting(Tools):
        async def list(self, cursor: str | None) -> Any:
            return self.tools

        async def call(self, name: str, arguments: dict[str, Any]) -> Any:
            reached.append(name)
            return []

    async def main() -> None:
        engine = Engine().register_provider(Noting(tool("t", region=annotated())))
        message = request_of("tools/call", {"name": "t", "arguments": {"region": "x"}}, MODERN)
        for _ in range(2):  # while the list is learnt, and when it is known
            assert not served((await talk(engine, message, headers=all_of({"region": "y"})))[:2])
        assert not reached

    asyncio.run(main())


def test_a_long_value_is_not_repeated_whole(call: Call) -> None:
    _, reply = call(engine_of(tool(region=annotated())), {"region": "x"}, {"region": "y" * 100_000})
    assert len(reply["error"]["message"]) < 400


def test_each_caller_is_checked_by_the_list_that_it_sees(post: Call, request_of: Any) -> None:
    class Varying(Tools):
        def list(self, cursor: str | None, call: Request | None = None) -> Any:
            assert call is not None
            return [tool("t", region=annotated()) if call.caller == "alice" else tool("t")]

    for order in (("alice", "bob"), ("bob", "alice")):
        engine = Engine().register_provider(Varying())
        for _ in range(2):
            for caller in order:
                message = request_of("tools/call", {"name": "t", "arguments": {"region": "eu"}}, MODERN)
                forged = post(message, to=engine, caller=caller, headers=all_of({"region": "FORGED"}, "t"))
                missing = post(message, to=engine, caller=caller, headers=all_of({}, "t"))
                assert (served(forged), served(missing)) == ((False, False) if caller == "alice" else (True, True))


def test_names_that_are_made_up_do_not_have_the_list_read_for_ever(call: Call) -> None:
    provider = Tools(tool("t", region=annotated()))
    engine = Engine().register_provider(provider)
    for number in range(LOOKS * 3):
        call(engine, {}, name=f"made up {number}")
    assert provider.lists <= LOOKS
    assert not served(call(engine, {"region": "x"}))  # what is known is checked all the same
