"""What the servers of this folder serve: one tool, one resource, one prompt."""

import asyncio

from webseam.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Engine, ProtocolError

WAIT = {
    "name": "wait",
    "description": "Waits, and then says so.",
    "inputSchema": {
        "type": "object",
        "properties": {"seconds": {"type": "number", "minimum": 0, "maximum": 3600}},
        "required": ["seconds"],
    },
}


class Waiting:
    """A provider with three roles. Plain functions must not block; what takes time is a coroutine function."""

    def list_tools(self, cursor):
        return [WAIT]

    async def call(self, name, arguments, call):
        if name != "wait":
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")
        seconds = arguments.get("seconds")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= 3600:
            return {"content": [{"type": "text", "text": "seconds must be a number from 0 to 3600."}], "isError": True}
        call.progress(0, seconds)
        await asyncio.sleep(seconds)
        return [{"type": "text", "text": f"Waited {seconds} s."}]

    def list_resources(self, cursor):
        return [{"uri": "memo://patience", "name": "patience", "mimeType": "text/plain"}]

    def templates(self):
        return []

    def read(self, uri):
        if uri != "memo://patience":
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        return [{"uri": uri, "mimeType": "text/plain", "text": "All things come to those who wait."}]

    def list_prompts(self, cursor):
        return [{"name": "calm", "arguments": [{"name": "who", "required": True}]}]

    def get(self, name, arguments):
        if name != "calm" or "who" not in arguments:
            raise ProtocolError(INVALID_PARAMS, "There is one prompt, `calm`, and it needs `who`.")
        return [{"role": "user", "content": {"type": "text", "text": f"Calm {arguments['who']} down."}}]


engine = Engine({"name": "waiting", "version": "1"}).register_provider(Waiting())
