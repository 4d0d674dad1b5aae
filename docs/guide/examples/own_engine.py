"""An engine of your own behind `web_search`, answered over MCP without a network; with `--stdio`, as a server."""

import asyncio
import json
import sys

from webseam.protocol.engine import Engine
from webseam.testing.fakes import FakeChooser
from webseam.tools.provider import WebTools
from webseam.transports import stdio
from webseam.transports.memory import MemoryClient

SHELF = {
    "Moby-Dick": ("https://books.example/moby-dick", "Call me Ishmael."),
    "Walden": ("https://books.example/walden", "I went to the woods."),
}


class Bookshelf:
    """A search provider is exactly two members: `name` and `search`."""

    name = "bookshelf"

    def search(self, query, count):
        """Up to `count` results; an empty list when nothing matches. To fail, raise: the first line reaches the model."""
        if query == "burnt":
            raise ValueError("The bookshelf has burnt down: set BOOKSHELF_HOME to another one.")
        hits = [{"title": title, "url": url, "snippet": words} for title, (url, words) in SHELF.items() if query in words]
        return hits[:count]


def server():
    """The MCP engine with the two tools over the bookshelf."""
    return Engine({"name": "bookshelf", "version": "1"}).register_provider(WebTools(FakeChooser(Bookshelf())))


async def main():
    """Search, and see a failure arrive word for word."""
    client = MemoryClient(server())
    answer = await client.request("tools/call", {"name": "web_search", "arguments": {"query": "woods"}})
    found = json.loads(answer["content"][0]["text"])
    print(found["provider"], found["results"][0]["title"])
    failed = await client.request("tools/call", {"name": "web_search", "arguments": {"query": "burnt"}})
    print(failed["isError"], failed["content"][0]["text"])


if __name__ == "__main__":
    if "--stdio" in sys.argv:
        sys.exit(stdio.run(server()))
    asyncio.run(main())
