"""transports: listening, and the HTTP server (uvicorn) around an ASGI application such as `mcp_app`."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any

import uvicorn

from webseam.errors import ConfigurationError
from webseam.transports.asgi import Application, mcp_app

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from types import FrameType

    from webseam.transports.asgi import App

__all__ = ["Server", "listen", "local_names", "mcp_app", "serve"]

GRACE_SECONDS = 5
CLOSE_SECONDS = 5.0
FLUSH_SECONDS = 0.1
KEEP_ALIVE_SECONDS = 75
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def listen(host: str, port: int, *, signed_in: bool = False) -> socket.socket:
    """A socket bound to `host` and `port` (0: the system chooses), for `serve`.

    `signed_in` says that callers have to sign in; without it nothing but this machine may reach us. Raises
    ConfigurationError when the address cannot or must not be bound.
    """
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"{port} is no port: choose one between 1 and 65535, or 0 to let the system choose.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"{host!r} is not an address of this machine: choose another with --host.") from error
    if not signed_in and not _is_loopback(str(address[0])):
        raise ConfigurationError(
            f"{host} would let everyone on the network use this server, as nobody has to sign in: use --host 127.0.0.1 "
            "(in a program: have callers sign in, with `authenticate` of mcp_app, and say signed_in=True)."
        )
    listener = socket.socket(family, kind, protocol)
    try:
        if sys.platform == "win32":  # there, SO_REUSEADDR would share the port with whoever has it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1)  # with SO_REUSEADDR two may bind; the second to listen is refused
    except OSError as error:
        listener.close()
        raise _cannot_bind(host, port, error) from error
    return listener


def _cannot_bind(host: str, port: int, error: OSError) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        why = f"Port {port} of {host} is taken, perhaps by another `webseam serve`: choose another with --port."
    elif error.errno == errno.EACCES:
        why = f"This user may not listen on port {port}: choose one above 1023 with --port."
    else:
        why = f"{host}, port {port}, cannot be listened on ({error.strerror}): choose others with --host and --port."
    return ConfigurationError(why)


def _is_loopback(address: str) -> bool:
    import ipaddress

    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def local_names(listener: socket.socket) -> tuple[frozenset[str], frozenset[str]]:
    """What a client on this machine may write for `listener`: the Hosts (`host:port`) and the Origins (`http://host:port`)."""
    address, port = listener.getsockname()[:2]
    names = {*LOOPBACK, f"[{address}]" if ":" in address else address}
    hosts = {f"{name}:{port}" for name in names}
    if port == 80:  # then the port is left out
        hosts |= names
    return frozenset(hosts), frozenset(f"http://{host}" for host in hosts)


def serve(
    app: App,
    listener: socket.socket,
    *,
    ready: Callable[[Server], None] | None = None,
    close: Callable[[], Awaitable[None]] | None = None,
    on_fault: Callable[[BaseException], None] | None = None,
    grace_seconds: int = GRACE_SECONDS,
) -> int:
    """Serve until SIGINT, SIGTERM or `Server.stop`; gives the exit code. The arguments are those of `Server` and its `run`."""
    return Server(app, listener, close=close, on_fault=on_fault, grace_seconds=grace_seconds).run(ready)


class Server:
    """An ASGI application on a socket of `listen`.

    `close` is awaited in the event loop once nothing is served any more; `on_fault` is told when it fails. When the server
    stops, the streams of an `mcp_app` end in good order; what is pending has `grace_seconds` to be answered, and is answered
    503 then, or breaks off if its answer had begun.
    """

    def __init__(
        self,
        app: App,
        listener: socket.socket,
        *,
        close: Callable[[], Awaitable[None]] | None = None,
        on_fault: Callable[[BaseException], None] | None = None,
        grace_seconds: int = GRACE_SECONDS,
    ) -> None:
        self._listener = listener
        self._close = close
        self._on_fault = on_fault
        config = uvicorn.Config(
            app,
            http=_http_protocol(),
            ws="none",
            lifespan="auto",
            log_config=None,
            log_level="critical",  # a client's bad bytes are answered; they are no news for whoever runs the server
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=grace_seconds,
        )
        self._uvicorn = _Uvicorn(config)
        if isinstance(app, Application):
            self._uvicorn.stopping = app.stop

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """Where a client on this machine finds the server, without a path."""
        address = str(self._listener.getsockname()[0])
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104  # compared with, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def run(self, ready: Callable[[Server], None] | None = None) -> int:
        """Serve, in this thread, until stopped. `ready` is called once connections are accepted."""
        if ready is not None:
            self._uvicorn.ready = lambda: ready(self)
        factory: Callable[[], asyncio.AbstractEventLoop] | None = None
        if _there_is("uvloop"):
            import uvloop

            factory = uvloop.new_event_loop
        with self._signals(), asyncio.Runner(loop_factory=factory) as runner:
            runner.run(self._serve())
        return 0

    def stop(self) -> None:
        """Stop serving soon; from any thread."""
        self._uvicorn.should_exit = True

    async def _serve(self) -> None:
        try:
            await self._uvicorn.serve([self._listener])
        finally:
            self._listener.close()
            if self._close is not None:
                await self._clean_up(self._close)

    async def _clean_up(self, close: Callable[[], Awaitable[None]]) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await close()
        except Exception as error:  # noqa: BLE001  # we stop all the same; the owner hears of it
            if self._on_fault is not None:
                self._on_fault(error)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, at once on a second SIGINT. Only the main thread may say so."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(number: int, _frame: FrameType | None) -> None:
            self._uvicorn.force_exit = self._uvicorn.should_exit and number == signal.SIGINT
            self._uvicorn.should_exit = True

        before: list[tuple[int, Any]] = [(number, signal.signal(number, stop)) for number in (signal.SIGINT, signal.SIGTERM)]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)


class _Uvicorn(uvicorn.Server):
    """uvicorn, told to say when it is ready, and to leave the signals to us: it would raise them again once it has stopped."""

    ready: Callable[[], None] | None = None
    stopping: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self.ready is not None:
            self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.stopping is not None:
            self.stopping()
        await super().shutdown(sockets)
        if self.server_state.tasks:  # they were cancelled by now, and may say so
            await asyncio.wait(self.server_state.tasks, timeout=CLOSE_SECONDS)
        if self.server_state.connections:
            await asyncio.sleep(FLUSH_SECONDS)
        for connection in list(self.server_state.connections):  # of clients that do not read: closing would wait for them
            connection.transport.abort()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _http_protocol() -> Any:
    if not _there_is("httptools"):
        return "h11"
    from webseam.transports.gathering import gathering_protocol

    return gathering_protocol()


def _there_is(module: str) -> bool:
    """Whether an optional part of uvicorn is installed."""
    import importlib.util

    return importlib.util.find_spec(module) is not None
