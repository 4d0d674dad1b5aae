"""What the fuzzer sends: real messages of every method and revision, and how bytes become a conversation.

An input is a line of settings and then a line for each step: a letter that says what happens, and what it happens with, mostly
a message. So the mutations of libFuzzer work on messages as they are (`TEXT`). Or it is a string of choices (`CHOICES`), which
take real messages and change their structure: that gets past the parser. Placeholders (`$TASK`, `$STATE`, `$ASKED`) stand for
what only the run itself makes.

The choices are read here rather than by `atheris.FuzzedDataProvider`, so that a finding runs again where atheris does not.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from tests.protocol.fuzz_provider import KINDS, NAMES

from webseam.config import LIMITS
from webseam.protocol.jsonrpc import LEVELS
from webseam.protocol.revisions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE,
    LOG_LEVEL_KEY,
    MODERN,
    REVISIONS,
    TASKS_EXTENSION,
    VERBS,
    VERSION_KEY,
)

T = TypeVar("T")

TEXT, CHOICES = 0, 1
SESSIONS = ("none", "new", "first", *HANDSHAKE)
"""No session, one that has agreed on nothing, one that must begin with `initialize`, and those that have agreed."""
CAPABILITIES: dict[str, Any] = {
    "elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}, "extensions": {TASKS_EXTENSION: {}},
}  # fmt: skip
MOST_STEPS = 24
MOST_BYTES = LIMITS.message_bytes + 1_000
"""A message may become so large, a little more than an engine takes."""


class Step(NamedTuple):
    """Something that happens: a letter of `LETTERS`, its message, and headers where they are not those that fit."""

    letter: str
    data: bytes = b""
    headers: dict[str, str] | None = None


LETTERS = {
    "m": "a message", "w": "a message with headers that do not fit", "x": "the other caller's message",
    "a": "an answer to the newest question", "o": "an answer to the oldest question", "r": "everything goes on",
    "s": "everything goes one step", "t": "time passes", "c": "the newest request is cancelled", "u": "everything changes",
    "e": "the session ends", "q": "the server ends subscriptions",
}  # fmt: skip


class Setting(NamedTuple):
    """What the conversation is held with."""

    kind: int
    session: int
    http: bool
    channel: bool


# ------------------------------------------------------------------------------------------------ seeds


def _rounds(**more: Any) -> dict[str, Any]:
    return {**more, "requestState": "$STATE", "inputResponses": ANSWERS}


ANSWERS: dict[str, Any] = {
    "elicitation-1": {"action": "accept", "content": {"name": "x"}},
    "elicitation-2": {"action": "decline"},
    "elicitation-3": {"action": "cancel"},
    "sampling-1": {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"},
    "roots-1": {"roots": [{"uri": "file:///x"}]},
    "first": {"action": "accept", "content": {}},
    "second": {"roots": []},
    "named": {"action": "accept"},
    "now": {"action": "accept"},
    "a": {"roots": []},
    "b": {"action": "decline"},
}

FILTER = {
    "toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True, "taskIds": ["$TASK", "unknown"],
    "resourceSubscriptions": ["memo://one", "other://x"],
}  # fmt: skip

PARAMS: dict[str, list[dict[str, Any]]] = {
    "initialize": [
        {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": {"name": "f", "version": "1"}}
        for version in (*REVISIONS, "1999-01-01")
    ],
    "notifications/cancelled": [{"requestId": 1, "reason": "no more"}, {"requestId": "one"}],
    "logging/setLevel": [{"level": level} for level in LEVELS],
    "subscriptions/listen": [{"notifications": FILTER}, {"notifications": {}}],
    "tools/list": [{}, {"cursor": "2"}],
    "tools/call": [
        *({"name": name, "arguments": {"region": "é", "deep": {"n": 42}}} for name in NAMES),
        *(_rounds(name=name, arguments={"region": "é", "deep": {"n": 42}}) for name in NAMES[:9]),
    ],
    "resources/read": [{"uri": "memo://one"}, {"uri": "memo://ask"}, _rounds(uri="memo://ask"), {"uri": "other://x"}],
    "resources/subscribe": [{"uri": "memo://one"}, {"uri": "other://x"}],
    "resources/unsubscribe": [{"uri": "memo://one"}],
    "prompts/get": [{"name": "greet", "arguments": {"who": "x"}}, {"name": "ask"}, _rounds(name="ask")],
    "completion/complete": [
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": "x"}},
        {"ref": {"type": "ref/resource", "uri": "memo://{name}"}, "argument": {"name": "name", "value": ""},
         "context": {"arguments": {"who": "y"}}},
    ],
    "tasks/get": [{"taskId": "$TASK"}],
    "tasks/update": [{"taskId": "$TASK", "inputResponses": ANSWERS}],
    "tasks/cancel": [{"taskId": "$TASK"}],
}  # fmt: skip

STRAYS: tuple[Any, ...] = (
    {"jsonrpc": "2.0", "id": 7, "method": "no/such", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "id": 1, "result": ANSWERS["first"]},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}},
    {"jsonrpc": "2.0", "id": None, "method": "ping"},
    {"jsonrpc": "1.0", "id": 3, "method": "ping"},
    {"jsonrpc": "2.0", "id": 3, "method": "ping", "params": [1]},
    [],
)


def message_of(method: str, params: dict[str, Any], revision: str, number: int) -> dict[str, Any]:
    """A real message of a revision."""
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if not method.startswith("notifications/"):
        message["id"] = "one" if number % 5 == 4 else number
    message["method"] = method
    meta: dict[str, Any] = {"progressToken": number, "traceparent": "00-1-1-01"}
    if revision in MODERN:
        client = {"name": "f", "version": "1"}
        meta |= {VERSION_KEY: revision, CAPABILITIES_KEY: CAPABILITIES, CLIENT_KEY: client, LOG_LEVEL_KEY: "debug"}
    message["params"] = {**params, "_meta": meta}
    return message


MESSAGES: tuple[Any, ...] = (
    *(
        message_of(method, params, revision, number)
        for revision in (MODERN[0], HANDSHAKE[0])
        for method in VERBS
        for number, params in enumerate(PARAMS.get(method, [{}]), 1)
    ),
    *STRAYS,
)
"""What is real in either era; what a message of the other revisions looks like is the same."""

RESULTS: tuple[Any, ...] = (
    *ANSWERS.values(),
    {},
    None,
    1,
    [],
    {"action": "maybe"},
    {"roots": 1},
    {"role": "x", "content": "y"},
)


def text_of(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def text_input(setting: Setting, *steps: bytes) -> bytes:
    """An input of the `TEXT` form."""
    flags = (1 if setting.http else 0) | (2 if setting.channel else 0)
    return bytes((TEXT, setting.kind, setting.session, flags)) + b"\n".join(steps)


def seeds() -> Iterator[bytes]:
    """The corpus to begin with: every message over every session and transport; and conversations that get far."""
    for kind, (_, revisions, _) in enumerate(KINDS):
        for number, message in enumerate(MESSAGES):
            session = number % len(SESSIONS)
            for http in (False, True):
                yield text_input(Setting(kind, session, http, True), b"m" + text_of(message), b"r", b"a{}", b"r")
        for revision in revisions:
            yield from conversations(kind, revision)


def conversations(kind: int, revision: str) -> Iterator[bytes]:
    """Each tool is called, asked, answered, cancelled; changes come in between."""
    agreed = 0 if revision in MODERN else SESSIONS.index(revision)
    calls = [params for params in PARAMS["tools/call"] if "requestState" not in params]
    for number, params in enumerate(calls):
        call = b"m" + text_of(message_of("tools/call", params, revision, 1))
        again = b"m" + text_of(message_of("tools/call", _rounds(**params), revision, 2))
        get = b"m" + text_of(message_of("tasks/get", {"taskId": "$TASK"}, revision, 3))
        update = b"m" + text_of(message_of("tasks/update", PARAMS["tasks/update"][0], revision, 6))
        other = b"x" + text_of(message_of("tasks/cancel", {"taskId": "$TASK"}, revision, 7))
        first = b"a" + text_of(RESULTS[number % len(RESULTS)])
        answers = [b"a" + text_of(ANSWERS["first"]), b"o" + text_of(ANSWERS["second"])]
        http = Setting(kind, agreed, True, True)
        yield text_input(
            http, call, b"r", first, b"r", again, b"r", again, b"r", again, b"r", get, update, b"r", other, b"r", get
        )
        yield text_input(http, call, b"r", *answers, b"r", *answers, b"r", get, update, b"r", get, b"r")
        others = text_of(message_of("tools/call", _rounds(**{**params, "arguments": {"region": "é"}}), revision, 2))
        yield text_input(http, call, b"r", b"x" + again[1:], b"r", b"m" + others, b"r", call, b"r", b"c", b"r")
        yield text_input(http._replace(channel=False), call, b"r", b"c", b"r", again)
        yield text_input(http._replace(http=False), call, b"s", b"c", b"m" + text_of(MESSAGES[0]), b"t", b"r", b"e", b"r")
    listen = b"m" + text_of(message_of("subscriptions/listen", PARAMS["subscriptions/listen"][0], revision, 1))
    told = b'm{"jsonrpc":"2.0","method":"notifications/initialized"}'
    watch = b"m" + text_of(message_of("resources/subscribe", {"uri": "memo://one"}, revision, 2))
    yield text_input(Setting(kind, agreed, True, True), told, listen, watch, b"r", b"u", b"r", b"q", b"r")
    batch = [message_of(method, PARAMS.get(method, [{}])[0], revision, number) for number, method in enumerate(VERBS)]
    yield text_input(Setting(kind, agreed, False, True), b"m" + text_of(batch), b"r", b"a{}", b"t", b"r")


def dictionary() -> Iterator[bytes]:
    """What libFuzzer may put in: methods, keys, values."""
    words = {
        "$TASK",
        "$STATE",
        "$ASKED",
        "\\ud800",
        "\\ud83d\\ude00",
        "=?base64?eA==?=",
        "1e400",
        "0" * 30,
        "[[[[",
        '{"":{"":',
        "}}",
    }
    words |= {*VERBS, *REVISIONS, *NAMES, *KEYS, *LEVELS, *ANSWERS}
    for word in sorted(words):
        yield b'"' + b"".join(b"\\x%02x" % byte for byte in word.encode()) + b'"'


KEYS = (
    "jsonrpc", "id", "method", "params", "result", "error", "_meta", "name", "arguments", "uri", "cursor", "requestId",
    "reason", "protocolVersion", "capabilities", "clientInfo", "level", "notifications", "taskId", "inputResponses",
    "requestState", "ref", "argument", "value", "context", "progressToken", "action", "content", "roots", "role", "code",
    "message", "region", "deep", "n", VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY, LOG_LEVEL_KEY, TASKS_EXTENSION,
    "elicitation", "form", "url", "sampling", "tools", "extensions", *FILTER,
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 1.5, 1e308, 2**53, 2**63, 2**64, -(10**40), "", "x", "one", "a" * 200, "é", "\ud800",
    "\u2028", "\x00", '"', "\\", "\r\n", [], {}, [[]], {"": {}}, [None, 1, "x"], "$TASK", "$STATE", "$ASKED", "memo://one",
    "memo://ask", "2.0", "=?base64?eA==?=", "__class__", "%s{0}", *REVISIONS, *NAMES, *VERBS, "2099-01-01", CAPABILITIES,
    FILTER, ANSWERS, *LEVELS[:2],
)  # fmt: skip

DEEP = tuple(
    f"${kind}{levels}" for kind in ("LIST", "DICT", "LONG") for levels in (1, 30, 61, 62, 63, 64, 65, 200, 3_000, 20_000)
)
"""Stand for so many levels, or characters (see `filled`)."""


def filled(data: bytes, known: dict[bytes, bytes]) -> bytes:
    """The message with something in place of its placeholders."""
    if b"$" not in data:
        return data
    for name, value in known.items():
        data = data.replace(name, value)
    room = MOST_BYTES

    def much(found: re.Match[bytes]) -> bytes:
        nonlocal room
        more = _much(found[1], int(found[2]))
        room -= len(more)
        return more if room >= 0 else b"1"

    return re.sub(rb'"\$(LIST|DICT|LONG)(\d{1,5})"', much, data)


def _much(kind: bytes, count: int) -> bytes:
    if kind == b"LONG":
        return b'"' + b"x" * count + b'"'
    return b"[" * count + b"]" * count if kind == b"LIST" else b'{"a":' * count + b"1" + b"}" * count


# ------------------------------------------------------------------------------------------------ from bytes to steps


class Choices:
    """Bytes, read as choices; when they are used up, every choice is the first."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    @property
    def more(self) -> bool:
        return self.at < len(self.data)

    def below(self, count: int) -> int:
        size = 1 if count <= 256 else 2
        taken = self.data[self.at : self.at + size]
        self.at += size
        return int.from_bytes(taken) % count

    def pick(self, among: Sequence[T]) -> T:
        return among[self.below(len(among))]

    def often(self, of: int) -> bool:
        """True but for one time in `of`, and once there are no more choices."""
        return self.below(of) != of - 1


def parse(data: bytes) -> tuple[Setting, list[Step]]:
    """The conversation that an input stands for."""
    head = Choices(data[:4])
    form, kind, session, flags = head.below(2), head.below(len(KINDS)), head.below(len(SESSIONS)), head.below(4)
    setting = Setting(kind, session, bool(flags & 1), bool(flags & 2))
    if form == TEXT:
        steps = [_written(line) for line in data[4:].split(b"\n")[:MOST_STEPS]]
    else:
        choices = Choices(data[4:])
        steps = []
        while choices.more and len(steps) < MOST_STEPS:
            steps.append(_chosen(choices))
    return setting, steps


def _written(line: bytes) -> Step:
    letter = chr(line[0]) if line else "r"
    if letter not in LETTERS:
        return Step("m", line)
    if letter == "w":
        wrong = Choices(line[1:3])
        return Step("w", line[1:], _wrong_headers(wrong))
    return Step(letter, line[1:])


def _chosen(choices: Choices) -> Step:
    letter = choices.pick("mmmmmmmmmmmmwwxaaoorrrrrsstcueq")
    if letter in "ao":
        result = choices.pick(RESULTS)
        return Step(letter, _encoded(_changed(result, choices), choices))
    if letter not in "mwx":
        return Step(letter)
    if choices.often(12):
        message = _changed(choices.pick(MESSAGES), choices)
    else:
        message = [_changed(choices.pick(MESSAGES), choices) for _ in range(choices.below(6))]
    return Step(letter, _encoded(message, choices), _wrong_headers(choices) if letter == "w" else None)


def _encoded(value: Any, choices: Choices) -> bytes:
    form = choices.below(16)
    if form == 1:
        return json.dumps(value, indent=1).encode()
    if form == 2:  # nothing but escapes
        return json.dumps(value).replace("a", "\\u0061").encode()
    if form == 3:
        return text_of(value)[: choices.below(512)]
    if form == 4:
        return b'{"jsonrpc":"2.0","id":3,"method":"ping",' + text_of(value)[1:]
    return text_of(value) if form % 2 else json.dumps(value).encode()


def _wrong_headers(choices: Choices) -> dict[str, str]:
    names = ("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "mcp-param-n")
    values = (
        *REVISIONS,
        "",
        "x",
        "tools/call",
        "echo",
        "=?base64?eA==?=",
        "=?base64?x",
        "\xff",
        "é",
        "42",
        "42.0",
        "true",
        "9" * 40,
    )
    return {name: choices.pick(values) for name in names if choices.below(3)}


def _changed(value: Any, choices: Choices) -> Any:
    """The value with none, one or several changes of its structure."""
    changes = max(0, choices.below(8) - 3)
    if changes:
        value = copy.deepcopy(value)
    for _ in range(changes):
        value = _changed_once(value, choices)
    return value


def _changed_once(value: Any, choices: Choices) -> Any:
    holder: Any = [value]
    key: Any = 0
    whole = holder
    for _ in range(choices.below(6)):  # how deep the change goes
        inner = holder[key]
        if isinstance(inner, dict) and inner:
            holder, key = inner, choices.pick(list(inner))
        elif isinstance(inner, list) and inner:
            holder, key = inner, choices.below(len(inner))
        else:
            break
    what = choices.below(12)
    old = holder[key]
    if what < 5:
        holder[key] = copy.deepcopy(choices.pick(VALUES))
    elif what < 7 and isinstance(old, dict):
        old[choices.pick(KEYS)] = copy.deepcopy(choices.pick(VALUES))
    elif what < 9 and isinstance(holder, dict):
        del holder[key]
    elif what == 9 and isinstance(holder, dict):
        holder[choices.pick(KEYS)] = holder.pop(key)
    elif what == 10:
        holder[key] = choices.pick(DEEP)
    else:
        holder[key] = _large(old, choices)
    return whole[0]


def _large(value: Any, choices: Choices) -> Any:
    if len(repr(value)) > 10_000:  # it is large already
        return value
    count = choices.pick((2, 51, 101, 1_001))
    form = choices.below(3)
    if form == 0:
        return "é" * count
    return {f"k{number}": None for number in range(count)} if form == 1 else [value] * min(count, 101)
