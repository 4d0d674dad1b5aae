"""MCP over HTTP: the engine bound to Starlette by hand. Run it with `uvicorn engine_starlette:app`.

The endpoint works unchanged in FastAPI: `app.add_api_route("/mcp", mcp, methods=["POST"])`.
"""

import asyncio

from engine_tools import engine
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

LIMIT = 10 * 1024 * 1024  # bytes of a body


async def mcp(request: Request):
    if "origin" in request.headers:  # pages in a browser send an Origin: none may reach us (DNS rebinding)
        return Response(status_code=403)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LIMIT:
            return Response(status_code=413)
    outcome = engine.receive(bytes(body), headers=request.headers)  # they are found in lower case
    if outcome.work is not None:
        work, left = asyncio.ensure_future(outcome.work), asyncio.ensure_future(request.receive())
        outcome.request.on_cancel(work.cancel)
        await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
        if outcome.request.modern and not work.done():  # the client left: from 2026-07-28 on that cancels, before it does not
            outcome.request.cancel()
            return Response()
        outcome = await work
    return Response(outcome.reply, outcome.status, media_type="application/json")


app = Starlette(routes=[Route("/mcp", mcp, methods=["POST"])])
