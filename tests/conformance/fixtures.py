"""conformance: the resources, prompts and completions that the official suite asks for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.conformance.fixtures_tools import IMAGE, INVALID_PARAMS, PNG, STRING, Items, resource, takes, text

from webseam.protocol import ProtocolError

if TYPE_CHECKING:
    from webseam.protocol import Request

RESOURCE_NOT_FOUND = -32002  # the engine sends -32602 where the revision wants that

RESOURCES: dict[str, tuple[str, dict[str, str]]] = {
    "test://static-text": ("text/plain", {"text": "This is the content of the static text resource."}),
    "test://static-binary": ("image/png", {"blob": PNG}),
    "test://watched-resource": ("text/plain", {"text": "Watched resource content"}),
}
TEMPLATE = "test://template/{id}/data"
_FROM_TEMPLATE = re.compile(r"test://template/([^/]+)/data")

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
"""Name -> the arguments, all required."""

COMPLETIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("test_prompt_with_arguments", "arg1"): ("paris", "park", "party", "testing"),
    (TEMPLATE, "id"): ("123", "124", "200"),
}
"""(prompt or template, argument) -> its values."""


class Resources:
    """Three resources, one template; what there is can be subscribed to."""

    needs_session = True

    def list(self, cursor: str | None) -> Items:
        return [
            {"uri": uri, "name": uri.rpartition("/")[2], "description": "For the suite", "mimeType": mime_type}
            for uri, (mime_type, _) in RESOURCES.items()
        ]

    def templates(self) -> Items:
        return [{"uriTemplate": TEMPLATE, "name": "template", "description": "One for each id", "mimeType": "application/json"}]

    def read(self, uri: str) -> Items:
        if uri in RESOURCES:
            mime_type, content = RESOURCES[uri]
            return [{"uri": uri, "mimeType": mime_type, **content}]
        found = _FROM_TEMPLATE.fullmatch(uri)
        if found is None:
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        words = f'{{"id":"{found[1]}","templateTest":true,"data":"Data for ID: {found[1]}"}}'
        return [{"uri": uri, "mimeType": "application/json", "text": words}]

    def subscribe(self, uri: str) -> None:
        self.read(uri)


class Prompts:
    """One with each kind of content, and one that asks the person before it gives anything."""

    lists_change = True

    def list(self, cursor: str | None) -> Items:
        return [
            {
                "name": name,
                "description": "For the suite",
                "arguments": [{"name": argument, "description": "Any text", "required": True} for argument in arguments],
            }
            for name, arguments in PROMPTS.items()
        ]

    async def get(self, name: str, arguments: dict[str, str], call: Request) -> Items:
        if name not in PROMPTS:
            raise ProtocolError(INVALID_PARAMS, f"Unknown prompt: {name}")
        missing = [argument for argument in PROMPTS[name] if argument not in arguments]
        if missing:
            raise ProtocolError(INVALID_PARAMS, f"Prompt {name} also needs {', '.join(missing)}")
        if name == "test_input_required_result_prompt":
            question = "What context should the prompt use?"
            answer = await call.elicit(question, takes("context", context=STRING), key="user_context")
            content = [text(f"Prompt with context: {(answer.get('content') or {}).get('context', 'none')}")]
        else:
            content = _content(name, arguments)
        return [{"role": "user", "content": block} for block in content]


def _content(name: str, arguments: dict[str, str]) -> Items:
    if name == "test_simple_prompt":
        return [text("This is a simple prompt for testing.")]
    if name == "test_prompt_with_arguments":
        return [text(f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'")]
    if name == "test_prompt_with_image":
        return [IMAGE, text("Please analyze the image above.")]
    embedded = resource(arguments["resourceUri"], "text/plain", "Embedded resource content for testing.")
    return [embedded, text("Please process the embedded resource above.")]


class Completions:
    """The values that begin with what is there already."""

    def complete(self, ref: dict[str, Any], argument: dict[str, str], context: dict[str, str]) -> list[str]:
        values = COMPLETIONS.get((ref.get("name") or ref.get("uri", ""), argument["name"]), ())
        return [value for value in values if value.startswith(argument["value"])]
