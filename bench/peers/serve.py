"""`serve.py MODULE`: the `app` of a module in this folder on uvicorn, set up as `webseam.transports.http` sets it up.

The port is the system's choice, and the first line of the output.
"""

from __future__ import annotations

import importlib
import importlib.util
import socket
import sys

import uvicorn


def main(module: str) -> None:
    app = importlib.import_module(module).app  # this folder is where Python looks first for what a script of it imports
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)  # uvicorn listens again, with its own backlog
    config = uvicorn.Config(
        app,
        http="httptools",
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
    )
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(config).run([listener])


main(*sys.argv[1:])
