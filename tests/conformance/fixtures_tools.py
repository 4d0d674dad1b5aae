"""conformance: the tools that the official suite calls, with the names, questions and answers its scenarios ask for.

`SAID` are the tools that always give the same answer, `ASKING` those that ask the client once and then say something about what
it answered, `TOOLS` all there are. Those that may run as tasks lie in `fixtures_tasks`.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from webseam.protocol import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from webseam.protocol import Request

    Run = Callable[[dict[str, Any], Request], Awaitable[Any]]

Items = list[dict[str, Any]]

INVALID_PARAMS = -32602
PAUSE_SECONDS = 0.05  # the suite wants to see notifications one after the other
RETRY_MS = 200

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"  # one red pixel
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="  # two samples of silence


NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


class Tool(NamedTuple):
    """What a tool is listed with, and what it does."""

    description: str
    run: Run
    schema: dict[str, Any] = NO_ARGUMENTS


def text(words: str) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def resource(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    """An embedded resource."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


def takes(required: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with `properties`; `required` names, with blanks between, those that must be there."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": required.split()} if required else schema


def form(message: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A question to the person."""
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def prompt(words: str, max_tokens: int) -> dict[str, Any]:
    """A question to the client's model."""
    messages = [{"role": "user", "content": text(words)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


STRING: dict[str, Any] = {"type": "string"}
ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
IMAGE: dict[str, Any] = {"type": "image", "data": PNG, "mimeType": "image/png"}
NAME = form("What is your name?", takes("name", name=STRING))
CONFIRM = form("Please confirm", takes("ok", ok={"type": "boolean"}))

# ------------------------------------------------------------------------------------------------ always the same answer

SAID: dict[str, Items] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}],
    "test_embedded_resource": [
        resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
}


def says(content: Items, *, failed: bool = False) -> Run:
    """What always gives the same answer."""

    async def run(_arguments: dict[str, Any], _call: Request) -> dict[str, Any]:
        return {"content": content, "isError": failed}

    return run


# ------------------------------------------------------------------------------------------------ one round of questions


class Asking(NamedTuple):
    """What is asked, and what is said about the answers."""

    questions: dict[str, dict[str, Any]]
    about: Callable[[dict[str, Any]], str]
    keeps_state: bool = False


DEFAULTS = takes(
    name={"type": "string", "description": "User name", "default": "John Doe"},
    age={"type": "integer", "description": "User age", "default": 30},
    score={"type": "number", "description": "User score", "default": 95.5},
    status={"type": "string", "description": "User status", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "description": "Verification status", "default": True},
)


def _titled(kind: str) -> list[dict[str, str]]:
    return [{"const": f"value{n}", "title": f"{rank} {kind}"} for n, rank in enumerate(("First", "Second", "Third"), 1)]


OPTIONS = ["option1", "option2", "option3"]
ENUMS = takes(
    untitledSingle={"type": "string", "description": "Select one option", "enum": OPTIONS},
    titledSingle={"type": "string", "description": "Select one option with titles", "oneOf": _titled("Option")},
    legacyEnum={
        "type": "string",
        "description": "Select one option (legacy)",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti={
        "type": "array",
        "description": "Select multiple options",
        "minItems": 1,
        "maxItems": 3,
        "items": {"type": "string", "enum": OPTIONS},
    },
    titledMulti={
        "type": "array",
        "description": "Select multiple options with titles",
        "minItems": 1,
        "maxItems": 3,
        "items": {"anyOf": _titled("Choice")},
    },
)


def _field(answer: dict[str, Any], name: str) -> str:
    return str((answer.get("content") or {}).get(name, "nothing"))


def _completed(answers: dict[str, Any]) -> str:
    answer = answers["form"]
    return f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content') or {})}"


ASKING: dict[str, Asking] = {
    "test_elicitation_sep1034_defaults": Asking(
        {"form": form("Please review and update the form fields with defaults", DEFAULTS)}, _completed
    ),
    "test_elicitation_sep1330_enums": Asking({"form": form("Please select options from the enum fields", ENUMS)}, _completed),
    "test_streaming_elicitation": Asking({"user_name": NAME}, lambda _answers: "Streaming complete"),
    "test_missing_capability": Asking({"sample": prompt("Say hello", 10)}, lambda _answers: "Success"),
    "test_input_required_result_elicitation": Asking(
        {"user_name": NAME}, lambda answers: f"Hello, {_field(answers['user_name'], 'name')}!"
    ),
    "test_input_required_result_sampling": Asking(
        {"capital_question": prompt("What is the capital of France?", 100)},
        lambda answers: f"Sampling result: {_field(answers['capital_question'], 'text')}",
    ),
    "test_input_required_result_list_roots": Asking(
        {"client_roots": ROOTS}, lambda answers: f"Found {len(answers['client_roots']['roots'])} root(s)"
    ),
    "test_input_required_result_request_state": Asking(
        {"confirm": CONFIRM}, lambda _answers: "state-ok: requestState validated", keeps_state=True
    ),
    "test_input_required_result_tampered_state": Asking(
        {"confirm": CONFIRM}, lambda _answers: "integrity-ok: state verified", keeps_state=True
    ),
    "test_input_required_result_multiple_inputs": Asking(
        {"user_name": NAME, "greeting": prompt("Generate a greeting", 50), "client_roots": ROOTS},
        lambda answers: (
            f"Name: {_field(answers['user_name'], 'name')}; Greeting: {_field(answers['greeting'], 'text')}; "
            f"Roots: {len(answers['client_roots']['roots'])}"
        ),
        keeps_state=True,
    ),
}


def asks(asking: Asking) -> Run:
    """What asks, and says something about the answers."""

    async def run(_arguments: dict[str, Any], call: Request) -> Items:
        if asking.keeps_state:
            call.state = call.state or {"nonce": secrets.token_hex(8)}
        return [text(asking.about(await call.ask(asking.questions)))]

    return run


# ------------------------------------------------------------------------------------------------ what takes more than that


async def _elicitation(arguments: dict[str, Any], call: Request) -> Items:
    schema = takes("username email", username=STRING, email={"type": "string", "format": "email"})
    answer = await call.elicit(arguments["message"], schema)
    return [text(f"User response: action={answer['action']}, content={json.dumps(answer.get('content') or {})}")]


async def _sampling(arguments: dict[str, Any], call: Request) -> Items:
    answer = await call.sample([{"role": "user", "content": text(arguments["prompt"])}], 100)
    return [text(f"LLM response: {_field(answer, 'text')}")]


async def _two_rounds(_arguments: dict[str, Any], call: Request) -> Items:
    call.state = {"round": 1}
    name = await call.elicit("Step 1: What is your name?", takes("name", name=STRING), key="step1")
    call.state = {"round": 2}
    color = await call.elicit("Step 2: What is your favorite color?", takes("color", color=STRING), key="step2")
    return [text(f"Multi-round complete for {_field(name, 'name')}, who likes {_field(color, 'color')}")]


async def _what_the_client_can_answer(_arguments: dict[str, Any], call: Request) -> Items:
    """Asks only for what was declared."""
    possible = {
        "elicitation": form("Elicitation input", takes("value", value=STRING)),
        "sampling": prompt("Sample request", 50),
    }
    questions = {f"{name}_input": possible[name] for name in possible if name in call.client_capabilities}
    if not questions:
        return [text("No supported capabilities declared")]
    answers = await call.ask(questions)
    return [text(f"capabilities-ok: received {', '.join(answers)}")]


async def _progress(_arguments: dict[str, Any], call: Request) -> Items:
    for done in (0, 50, 100):
        call.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(PAUSE_SECONDS)
    return [text(str(call.progress_token))]


async def _logging(_arguments: dict[str, Any], call: Request) -> Items:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        call.log("info", words)
        await asyncio.sleep(PAUSE_SECONDS)
    return [text("Tool with logging executed successfully")]


async def _reconnection(_arguments: dict[str, Any], call: Request) -> Items:
    call.close_stream(RETRY_MS)
    await asyncio.sleep(2 * PAUSE_SECONDS)
    return [text("Reconnection test completed: the answer came on another connection than the call.")]


async def _echo_arguments(arguments: dict[str, Any], _call: Request) -> Items:
    return [text(f"Called with {json.dumps(arguments)}")]


JSON_SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": STRING, "city": STRING}},
    },
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

TOOLS: dict[str, Tool] = {
    **{
        name: Tool(f"Always answers with the same {len(content)} content block(s)", says(content))
        for name, content in SAID.items()
    },
    **{name: Tool(f"Asks the client for {', '.join(asking.questions)}", asks(asking)) for name, asking in ASKING.items()},
    "test_error_handling": Tool(
        "Always fails", says([text("This tool intentionally returns an error for testing")], failed=True)
    ),
    "test_elicitation": Tool("Asks the person what the message says", _elicitation, takes("message", message=STRING)),
    "test_sampling": Tool("Asks the client's model the prompt", _sampling, takes("prompt", prompt=STRING)),
    "test_input_required_result_multi_round": Tool("Asks a second question after the first is answered", _two_rounds),
    "test_input_required_result_capabilities": Tool("Asks for what the client can answer", _what_the_client_can_answer),
    "test_tool_with_progress": Tool("Reports progress", _progress),
    "test_tool_with_logging": Tool("Logs what it does", _logging),
    "test_logging_tool": Tool("Logs what it does, to those who want to know", _logging),
    "test_reconnection": Tool("Closes the connection before it answers", _reconnection),
    "test_x_mcp_header": Tool(
        "Has an argument that is mirrored in an HTTP header",
        _echo_arguments,
        takes(region={"type": "string", "description": "Where to", "x-mcp-header": "Region"}),
    ),
    "json_schema_2020_12_tool": Tool("Has a schema of many keywords", _echo_arguments, JSON_SCHEMA_2020_12),
}


class Tools:
    """`tools`, and two more whose call changes a list: `changed(kind)` tells those who listen."""

    needs_session = True
    logs = True
    lists_change = True

    def __init__(self, tools: dict[str, Tool], changed: Callable[[str], object]) -> None:
        def changes(kind: str) -> Run:
            async def run(_arguments: dict[str, Any], _call: Request) -> Items:
                changed(kind)
                return [text(f"The list of {kind} has changed")]

            return run

        self._tools = {
            **tools,
            "test_trigger_tool_change": Tool("Says that the list of tools has changed", changes("tools")),
            "test_trigger_prompt_change": Tool("Says that the list of prompts has changed", changes("prompts")),
        }

    def list(self, cursor: str | None) -> Items:
        return [
            {"name": name, "description": tool.description, "inputSchema": tool.schema} for name, tool in self._tools.items()
        ]

    async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
        tool = self._tools.get(name)
        if tool is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")
        missing = [name for name in tool.schema.get("required", ()) if name not in arguments]
        if missing:
            return {"content": [text(f"Missing: {', '.join(missing)}")], "isError": True}
        return await tool.run(arguments, call)
