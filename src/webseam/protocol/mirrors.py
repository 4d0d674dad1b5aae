"""protocol: tool parameters that a client repeats in `Mcp-Param-*` headers (2026-07-28, basic/transports/streamable-http,
"Custom Headers from Tool Parameters"), so that what routes by headers sees what we execute.

Which parameters those are stands in the tool's own schema (`x-mcp-header`), so the engine reads the provider's list when it
first needs to know. A tool that was not in the list then is looked for once more, as whoever calls it sees the list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.channel import awaited
from webseam.protocol.codec import Raw, decode
from webseam.protocol.inbound import RefusedError, decode_header
from webseam.protocol.jsonrpc import HEADER_MISMATCH, shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from webseam.protocol.request import Request

ANNOTATION = "x-mcp-header"
PREFIX = "mcp-param-"
PAGES = 100
LOOKS = 64
"""How often the list is read for one caller, until it changes."""
_SAFE = 2**53 - 1
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_TYPES = frozenset({"string", "integer", "boolean"})

Mirrored = tuple[tuple[str, tuple[str, ...]], ...]
"""Header (lower case) and the path of the parameter, for each annotated parameter of a tool."""


def mirrored(tool: Mapping[str, Any]) -> Mirrored:
    """The annotations of a tool's `inputSchema`. Raises ValueError, which says what is wrong, for one that is not allowed."""
    found: list[tuple[str, tuple[str, ...]]] = []
    schema = tool.get("inputSchema")
    if isinstance(schema, dict):
        _walk(schema, (), found, reachable=True)
    names = [name for name, _ in found]
    if len(set(names)) != len(names):
        raise ValueError(f"two parameters have the same {ANNOTATION}")
    return tuple(found)


def _walk(schema: dict[str, Any], path: tuple[str, ...], found: list[tuple[str, tuple[str, ...]]], reachable: bool) -> None:
    if ANNOTATION in schema:
        found.append((_header(schema, path, reachable), path))
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, dict):
            for name, sub in value.items():
                if isinstance(sub, dict):
                    _walk(sub, (*path, name), found, reachable)
        elif keyword not in ("const", "default", "enum", "examples"):  # those hold values, not schemas
            for sub in value if isinstance(value, list) else (value,):
                if isinstance(sub, dict):  # below any other keyword an annotation is an error
                    _walk(sub, path, found, reachable=False)


def _header(schema: Mapping[str, Any], path: tuple[str, ...], reachable: bool) -> str:
    name = schema[ANNOTATION]
    where = ".".join(path) or "the schema itself"
    if not reachable or not path:
        raise ValueError(f"{ANNOTATION} stands at {where}, which is not reached by `properties` alone")
    if not isinstance(name, str) or not name or not _TOKEN.issuperset(name):
        raise ValueError(f"{ANNOTATION} of {where} is not a header name")
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ValueError(f"{ANNOTATION} of {where} needs the type string, integer or boolean")
    return PREFIX + name.lower()


class Mirrors:
    """What is known of the tools of one provider. `listed` is its `list`; `on_fault` hears of annotations that are wrong."""

    __slots__ = ("_callers", "_listed", "_looked", "_on_fault", "_size")

    def __init__(self, listed: Callable[..., Any], on_fault: Callable[[BaseException], None]) -> None:
        self._listed = listed
        self._on_fault = on_fault
        self._callers: dict[str, dict[str, Mirrored]] = {}  # a list may vary by who asks
        self._looked: dict[str, int] = {}
        self._size = 0

    def of(self, principal: str) -> dict[str, Mirrored]:
        """The tools that have been in this caller's list."""
        tools = self._callers.get(principal)
        if tools is None:
            if self._size >= LIMITS.mirrored_tools or len(self._callers) >= LIMITS.mirrored_tools:
                self.forget()
            tools = self._callers[principal] = {}
        return tools

    def forget(self) -> None:
        """The list changed: what is being read of it is old as well, and must not be noted any more."""
        self._callers = {}
        self._looked = {}
        self._size = 0

    def may_look(self, principal: str) -> bool:
        """Whether the list may be read again for a tool that was not in it: who makes names up gets tired of it first."""
        looked = self._looked.get(principal, 0)
        self._looked[principal] = looked + 1
        return looked < LOOKS

    def learn(self, request: Request) -> Awaitable[Any] | None:
        """Read the whole list, as the caller of `request` sees it. None when that is done, else the page to go on with by
        `learn_from`."""
        tools = self.of(request.principal)
        cursor: str | None = None
        for _ in range(PAGES):
            page = self._listed(cursor, request)
            if hasattr(page, "__await__"):
                awaitable: Awaitable[Any] = page
                return awaitable
            cursor = self._note_page(page, tools)
            if cursor is None:
                break
        return None

    async def learn_from(self, page: Any, request: Request) -> dict[str, Mirrored]:
        """Go on with a page that `learn` gave. Gives what is known then; that is not what `of` gives if the list changed."""
        tools = self.of(request.principal)
        cursor = self._note_page(await awaited(page), tools)
        for _ in range(PAGES - 1):
            if cursor is None:
                break
            cursor = self._note_page(await awaited(self._listed(cursor, request)), tools)
        return tools

    def _note_page(self, page: Any, noted: dict[str, Mirrored]) -> str | None:
        """Note the tools of one page; gives the cursor of the next, None when there is none worth reading."""
        if type(page) is Raw:
            page = decode(page)
        tools, cursor = (page, None) if isinstance(page, list | tuple) else (page.get("tools", ()), page.get("nextCursor"))
        before = len(noted)
        for tool in tools:
            self._note(tool, noted)
        self._size += len(noted) - before
        return cursor if len(noted) < LIMITS.mirrored_tools else None

    def _note(self, tool: Mapping[str, Any], noted: dict[str, Mirrored]) -> None:
        try:
            noted[tool["name"]] = mirrored(tool)
        except ValueError as error:  # clients leave such a tool out of their list: its author should hear of it
            noted[tool["name"]] = ()
            self._on_fault(ValueError(f"The tool {tool['name']!r} has an invalid inputSchema: {error}."))

    @staticmethod
    def check(parameters: Mirrored, arguments: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Compare the headers with the arguments. Raises `RefusedError` (-32020) where they differ."""
        for header, path in parameters:
            value: Any = arguments
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            given = headers.get(header)
            if not _same(given, value):
                raise _mismatch(header, given, value)


def _same(given: str | None, value: Any) -> bool:
    if value is None or given is None:
        return value is None and given is None
    text = decode_header(given) if given.isascii() and given.replace("\t", " ").isprintable() else None
    if text is None:
        return False
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, str):
        return text == value
    return isinstance(value, int | float) and _same_number(text, value)


def _same_number(text: str, value: float) -> bool:
    """Compared as numbers: 42.0 is 42 ("Server Validation")."""
    if len(text) > 32 or not set(text) <= set("0123456789+-.eE"):
        return False
    try:
        number = float(text)
        return number == float(value) and abs(number) <= _SAFE and number == int(number)
    except (ValueError, OverflowError):
        return False


def _mismatch(header: str, given: str | None, value: Any) -> RefusedError:
    name = "Mcp-Param-" + header.removeprefix(PREFIX).title()
    if given is None:
        text = f"The {name} header is missing: it repeats an argument of the tool."
    elif value is None:
        text = f"The {name} header is there, but not the argument that it repeats."
    else:
        text = f"The {name} header says {shown(given)!r}, which is not what the argument says."
    return RefusedError(HEADER_MISMATCH, f"Header mismatch: {text}")
