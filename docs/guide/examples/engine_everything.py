"""One provider with all there is: it reports, logs, asks, is watched, completes, and works on as a task."""

import asyncio

from webseam.protocol import INVALID_PARAMS, RESOURCE_NOT_FOUND, Engine, MemoryTaskStore, ProtocolError

RECIPES = {"carrot": "Carrots, flour, eggs.", "cherry": "Cherries, flour, eggs.", "plum": "Plums, flour, eggs."}
CAKE = {"type": "object", "properties": {"cake": {"type": "string", "enum": list(RECIPES)}}, "required": ["cake"]}
SIZE = {"type": "object", "properties": {"size": {"type": "string", "enum": ["small", "large"]}}, "required": ["size"]}
SHELF = "bakery://shelf"


class Bakery:
    needs_session = True  # it asks, and tells of changes: in the handshake era, both take a session
    logs = True
    shelf = ()

    def list_tools(self, cursor):
        tools = [{"name": name, "description": f"{name} a cake.", "inputSchema": CAKE} for name in ("bake", "order", "design")]
        return {"tools": tools, "ttlMs": 60_000, "cacheScope": "public"}

    async def call(self, name, arguments, call):
        tool = {"bake": self.bake, "order": self.order, "design": self.design}.get(name)
        if tool is None:
            raise ProtocolError(INVALID_PARAMS, f"Unknown tool: {name}")
        if arguments.get("cake") not in list(RECIPES):  # nothing was checked against the schema: this may be no string
            return {"content": [{"type": "text", "text": f"There are {', '.join(RECIPES)}."}], "isError": True}
        return await tool(arguments["cake"], call)

    async def bake(self, cake, call):
        for minute in range(1, 4):
            await asyncio.sleep(0.001)
            call.progress(minute, 3, f"Minute {minute}")
        call.log("info", {"baked": cake}, "oven")
        self.shelf = (*self.shelf, cake)
        engine.updated(SHELF)
        return {"content": [{"type": "text", "text": f"A {cake} cake."}], "structuredContent": {"shelf": self.shelf}}

    async def order(self, cake, call):
        answer = await call.elicit(f"Which size of {cake} cake?", SIZE, key="size")
        size = answer.get("content", {}).get("size")
        ordered = answer["action"] == "accept" and size in ("small", "large")
        return [{"type": "text", "text": f"Ordered: a {size} {cake} cake." if ordered else "Nothing was ordered."}]

    async def design(self, cake, call):
        async def work(call):  # given a request of its own: questions go on the task
            return [{"type": "text", "text": await asyncio.to_thread(str.upper, cake)}]  # what blocks goes to a thread

        return await call.run_as_task(work)

    def list_resources(self, cursor):
        return [{"uri": SHELF, "name": "shelf", "mimeType": "text/plain"}]

    def templates(self):
        return [{"uriTemplate": "bakery://recipe/{cake}", "name": "recipe", "mimeType": "text/plain"}]

    def read(self, uri):
        texts = {SHELF: " ".join(self.shelf), **{f"bakery://recipe/{cake}": text for cake, text in RECIPES.items()}}
        if uri not in texts:
            raise ProtocolError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        return [{"uri": uri, "mimeType": "text/plain", "text": texts[uri]}]

    def subscribe(self, uri):
        if uri != SHELF:
            raise ProtocolError(RESOURCE_NOT_FOUND, "Nothing else ever changes.", {"uri": uri})

    def list_prompts(self, cursor):
        return [{"name": "praise", "arguments": [{"name": "cake", "description": "Which cake.", "required": True}]}]

    def get(self, name, arguments):
        if name != "praise" or "cake" not in arguments:
            raise ProtocolError(INVALID_PARAMS, "There is one prompt, `praise`, and it needs `cake`.")
        return [{"role": "user", "content": {"type": "text", "text": f"Praise this {arguments['cake']} cake."}}]

    def complete(self, ref, argument, context):
        return [cake for cake in RECIPES if argument["name"] == "cake" and cake.startswith(argument["value"])]


engine = Engine({"name": "bakery", "version": "1"}, task_store=MemoryTaskStore()).register_provider(Bakery())
