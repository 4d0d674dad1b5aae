"""MCP over HTTP: the engine bound to bare ASGI by hand. Run it with `uvicorn engine_asgi:app`."""

import asyncio

from engine_tools import engine

from webseam.protocol import Outcome

LIMIT = 10 * 1024 * 1024  # bytes of a body


async def app(scope, receive, send):
    assert scope["type"] == "http"  # a server asks for a lifespan too, and goes on without one
    outcome = await settled(scope, receive)
    await send({"type": "http.response.start", "status": outcome.status, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": outcome.reply or b""})


async def settled(scope, receive):
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}  # in lower case already
    if scope["method"] != "POST" or "origin" in headers:  # pages in a browser send an Origin: none may reach us (DNS rebinding)
        return Outcome(status=405 if scope["method"] != "POST" else 403)
    body, event = bytearray(), {"more_body": True}
    while event.get("more_body"):
        event = await receive()
        body += event.get("body", b"")
        if len(body) > LIMIT or event["type"] == "http.disconnect":
            return Outcome(status=413)
    outcome = engine.receive(bytes(body), headers=headers)
    if outcome.work is not None:
        work, left = asyncio.ensure_future(outcome.work), asyncio.ensure_future(receive())  # after the body: http.disconnect
        outcome.request.on_cancel(work.cancel)
        await asyncio.wait({work, left}, return_when=asyncio.FIRST_COMPLETED)
        left.cancel()
        if outcome.request.modern and not work.done():  # the client left: from 2026-07-28 on that cancels, before it does not
            outcome.request.cancel()
            return Outcome()
        outcome = await work
    return outcome
