"""A server of ours, and what is said to it in bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from webseam.protocol import Engine
from webseam.transports.http import Server, listen, local_names, mcp_app


@contextlib.contextmanager
def served(app: Any = None, engine: Engine | None = None, **how: Any) -> Iterator[int]:
    """The port of a server of `app`, or of an engine, by default with nothing but its own methods."""
    listener = listen("127.0.0.1", 0)
    hosts, origins = local_names(listener)
    ready = threading.Event()
    server = Server(app or mcp_app(engine or Engine(), allowed_hosts=hosts, allowed_origins=origins, **how), listener)
    thread = threading.Thread(target=server.run, args=(lambda _: ready.set(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield server.port
    finally:
        server.stop()
        thread.join(30)


PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":%d,"result":{}}'


def post(port: int, number: int, *fields: bytes) -> bytes:
    body = PING % number
    head = [b"POST /mcp HTTP/1.1", b"Host: 127.0.0.1:%d" % port, b"Content-Type: application/json", *fields]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(body), b"", body])


def everything(connection: socket.socket) -> bytes:
    """All that comes until the connection is closed, in whatever way."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            data += piece
    return data


def told(port: int, *pieces: bytes) -> bytes:
    """What a server answers to pieces that come one by one."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.01)  # so that they are not read as one
        return everything(connection)
