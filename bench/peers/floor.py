"""The floor: what nobody on uvicorn can beat. It reads the body, and has one answer for each length of it.

The first request of a length is read and answered properly; every later one gets the same bytes, unread.
"""

from __future__ import annotations

import json
from typing import Any

ANSWERS: dict[int, bytes] = {}


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The ASGI application."""
    if scope["type"] != "http":
        raise RuntimeError("There is HTTP here, and nothing else.")
    event = await receive()
    body = event["body"]
    while event["more_body"]:
        event = await receive()
        body += event["body"]
    answer = ANSWERS.get(len(body)) or ANSWERS.setdefault(len(body), echo(body))
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": answer})


def echo(body: bytes) -> bytes:
    """The right answer to a call of `echo`."""
    message = json.loads(body)
    result: dict[str, Any] = {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]}
    if "_meta" in message["params"]:
        server = {"io.modelcontextprotocol/serverInfo": {"name": "bench", "version": "1"}}
        result = {"resultType": "complete", **result, "_meta": server}
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
