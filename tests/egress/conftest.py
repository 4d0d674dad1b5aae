"""A small internet on loopback: raw servers, a resolver with a script, and sockets that lead public addresses to them.

Addresses are judged before a socket is made for them, so a public test address can lead to a loopback server without weakening
anything that is tested: what the table refuses never gets as far as a socket.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import Egress
from webseam.egress.tls import tls_context

PUBLIC = "93.184.216.34"
TLS = tls_context()  # made once: reading the system's certificates takes longer than most tests


@dataclass
class Request:
    """One request as it came off the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    head: str
    reader: asyncio.StreamReader

    async def hang_up(self) -> None:
        """Wait until the other side has closed the connection."""
        await self.reader.read()


Handler = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes = b"", status: int = 200, **headers: str) -> bytes:
    """A plain reply; `content_type="..."` becomes `Content-Type`."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


@dataclass
class Site:
    """A server: what it was asked, how often it was connected to, and when its connections ended."""

    answer: bytes | Handler
    port: int = 0
    connections: int = 0
    requests: list[Request] = field(default_factory=list)
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await read_request(reader)) is not None:
                self.requests.append(request)
                self.asked.set()
                if isinstance(self.answer, bytes):
                    writer.write(self.answer)
                    await writer.drain()
                else:
                    await self.answer(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.closed.set()
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, target, _ = first.split(" ", 2)
    return Request(method, target, headers, body, head, reader)


class FakeResolver:
    """Names with scripted answers: a list of answers is used up one by one, the last one stays."""

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        await asyncio.sleep(0)
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        script = self.names[host]
        return script.pop(0) if len(script) > 1 else script[0]


class Net:
    """The whole of it, for one event loop: `async with net() as web`."""

    def __init__(self, **options: Any) -> None:
        self.resolver = FakeResolver()
        self.allowed: list[Allowance] = []
        self.listeners: list[tuple[str, int]] = []
        self.leads: dict[tuple[str, int], int] = {}
        self.dialled: list[tuple[str, int]] = []
        self.servers: list[asyncio.Server] = []
        self.sites: list[Site] = []
        self.egress = Egress(
            allowances=lambda account: [one for one in self.allowed if one.account == account],
            listeners=lambda: self.listeners,
            **{"resolver": self.resolver, "sockets": self.socket, "tls": TLS, **options},
        )

    async def __aenter__(self) -> Net:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.egress.close()
        for server in self.servers:
            server.close()
        for task in [task for site in self.sites for task in site.tasks]:
            task.cancel()
        await asyncio.gather(*(task for site in self.sites for task in site.tasks), return_exceptions=True)
        for server in self.servers:
            await server.wait_closed()

    async def site(self, answer: bytes | Handler, host: str | list[str] = "127.0.0.1", **options: Any) -> Site:
        """A server on loopback."""
        site = Site(answer)

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(site.serve(reader, writer))
            site.tasks.add(task)
            task.add_done_callback(site.tasks.discard)

        server = await asyncio.start_server(connected, host, 0, **options)
        site.port = server.sockets[0].getsockname()[1]
        self.servers.append(server)
        self.sites.append(site)
        return site

    async def allowed_site(self, answer: bytes | Handler, purpose: str = "reading") -> tuple[Site, str]:
        """A server on loopback that may be reached, and its origin."""
        site = await self.site(answer)
        self.allowed.append(Allowance("local", "127.0.0.1", site.port, purpose))
        return site, f"http://127.0.0.1:{site.port}"

    async def public_site(self, name: str, answer: bytes | Handler, port: int = 80, ip: str = PUBLIC, **options: Any) -> Site:
        """A server that `name` leads to by a public address."""
        site = await self.site(answer, **options)
        self.resolver.names[name] = [[ip]]
        self.leads[ip, port] = site.port
        return site

    def door(self, purpose: str = "reading", account: str = "local", seconds: float = 20.0, call: Call | None = None) -> Any:
        """A door, for a call of its own unless one is given."""
        return self.egress.door(call or Call(account, seconds=seconds), purpose)

    def socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """A socket for an address that was vetted: public ones lead to loopback, the others are what they are."""
        family, kind, proto, _, address = info
        self.dialled.append((address[0], address[1]))
        if (address[0], address[1]) not in self.leads:
            if address[0].startswith("127.") or address[0] == "::1":
                return socket.socket(family, kind, proto)
            raise OSError(101, "no such public address in this test")
        return LeadingSocket(socket.AF_INET, kind, proto, to=self.leads[address[0], address[1]])


class LeadingSocket(socket.socket):
    """Connects to a loopback port whatever it is told, and says that it did as it was told."""

    def __init__(self, *args: Any, to: int) -> None:
        super().__init__(*args)
        self.to = to
        self.told: Any = None

    def connect(self, address: Any) -> None:
        self.told = address
        super().connect(("127.0.0.1", self.to))

    def getpeername(self) -> Any:
        return self.told


class Authority:
    """A CA: `pem` is its certificate; it issues certificates for servers and clients, each in one file with its key."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self.name, self.key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.pem = folder / "ca.pem"
        self.pem.write_bytes(builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def issue(self, *names: str, password: str = "", client: bool = False, days: int = 2) -> Path:
        """A certificate for `names` (names or addresses) that is good for `days`, which may be past."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
        builder = self._builder(subject, key, days)
        builder = builder.add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        sealing = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
        path = self.folder / f"issued-{len(list(self.folder.iterdir()))}.pem"
        path.write_bytes(
            builder.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealing)
        )
        return path

    def server(self, *names: str, clients: Authority | None = None, days: int = 2) -> ssl.SSLContext:
        """The context of a server for `names`; with `clients` one that asks for their certificates, and does without."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.issue(*names, days=days))
        if clients is not None:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(clients.pem)
        return context

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: int = 2) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        end = now + dt.timedelta(days=days)
        return builder.not_valid_before(min(now, end) - dt.timedelta(days=1)).not_valid_after(end)


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Authority]:
    """CAs, each made once: `authority("Name")`."""
    made: dict[str, Authority] = {}

    def get(name: str) -> Authority:
        if name not in made:
            made[name] = Authority(tmp_path_factory.mktemp("ca"), name)
        return made[name]

    return get


@pytest.fixture
def net() -> type[Net]:
    return Net


@pytest.fixture
def respond() -> Callable[..., bytes]:
    return reply
