"""MCP over HTTP for those who have a token. Run it with `python engine_served.py`, or `uvicorn engine_served:app`."""

import hashlib
import json
import logging
import os
import sys

from engine_tools import Waiting

from webseam.protocol import Engine
from webseam.transports.bearer import bearer
from webseam.transports.http import listen, mcp_app, serve

CALLERS = json.loads(os.environ.get("CALLERS", "{}"))  # {"<SHA-256 of a token, in hex>": "alice"}
STATE_KEY = bytes.fromhex(os.environ.get("STATE_KEY", ""))  # 32 bytes, the same for every worker
LOG = logging.getLogger("waiting")


def check(token):
    """Whose the token is, None for nobody's. Tokens are random (`secrets.token_urlsafe(32)`), so a plain hash hides them."""
    return CALLERS.get(hashlib.sha256(token.encode()).hexdigest())


def on_fault(error):
    LOG.error("A fault in the server", exc_info=error)


engine = Engine({"name": "waiting", "version": "1"}, state_key=STATE_KEY or None, on_fault=on_fault)
app = mcp_app(
    engine.register_provider(Waiting()),
    allowed_hosts=["mcp.example.com"],
    allowed_origins=["https://app.example.com"],
    authenticate=bearer(check),
)

if __name__ == "__main__":
    logging.basicConfig()
    listener = listen(os.environ.get("ADDRESS", "127.0.0.1"), int(os.environ.get("PORT", "8000")), signed_in=True)
    sys.exit(serve(app, listener, ready=lambda server: print(server.url, flush=True), on_fault=on_fault))
