"""A coverage-guided fuzzer over the door: `python -m tests.egress.fuzz_door`, from the root of the checkout (see
`tests.fuzzing`).

An input is a text: the URL that is asked for, and lines that say what else there is.

    http://a.example/x          the URL
    W:reading                   the purpose of the door
    A:b.example:8080:reading    an exception of the account (O:... one of another account)
    R:a.example=1.2.3.4,::1|10.0.0.1   what the resolver answers to a name, the first time | and the next
    L:http://b.example/         where the site redirects to, one line for each reply

Every socket leads to one site on loopback, whatever address it was made for, and is noted. Judged is what was dialled, by a
reading of IANA's registries that has nothing to do with `egress.addresses`: it was public, or a private address of a host that
an exception of this account and purpose names, at the origin that was asked for.
"""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import random
import socket
import sys
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.fuzzing import Fuzzer, main, with_atheris

if __name__ == "__main__" and (atheris := with_atheris()) is not None:
    with atheris.instrument_imports(include=["webseam.egress"], enable_loader_override=False):
        for module in ("addresses", "urls", "legs", "dialer", "client"):
            importlib.import_module(f"webseam.egress.{module}")

from webseam.call import Call
from webseam.egress.addresses import Allowance
from webseam.egress.client import OPEN_PORTS, Egress
from webseam.errors import DoorError
from webseam.seam.contract import HttpRequest

LONGEST = 2_048
MOST = 20  # lines of a kind
SECONDS = 10.0


class Setting(NamedTuple):
    """What an input says."""

    url: str
    purpose: str
    allowed: list[Allowance]
    names: dict[str, list[list[str]]]
    locations: list[str]


def parse(data: bytes) -> Setting:
    url, *lines = data.decode("utf-8", "surrogateescape").split("\n")
    purpose = "reading"
    allowed: list[Allowance] = []
    locations: list[str] = []
    names: dict[str, list[list[str]]] = {}
    for line in lines:
        kind, _, rest = line.partition(":")
        if kind == "W":
            purpose = rest
        elif kind in ("A", "O") and len(allowed) < MOST:
            host, _, more = rest.rpartition(":")
            host, _, port = host.rpartition(":")
            if port.isascii() and port.isdigit() and len(port) < 6:
                allowed.append(Allowance("local" if kind == "A" else "another", host, int(port), more))
        elif kind == "R" and len(names) < MOST:
            name, _, script = rest.partition("=")
            names[name] = [answers.split(",")[:MOST] for answers in script.split("|")[:MOST]]
        elif kind == "L" and len(locations) < MOST:
            locations.append(rest)
    return Setting(url, purpose, allowed, names, locations)


# ------------------------------------------------------------------------------------------------ the judge

PRIVATE = [
    ipaddress.ip_network(network)
    for network in (
        "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15", "::1/128", "fc00::/7",
    )
]  # fmt: skip
"""What an exception may open."""

NEVER = [
    ipaddress.ip_network(network)
    for network in (
        "168.63.129.16/32", "100.100.100.200/32", "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128",
        # Named by IANA, or once used, for what is no host of the Web, though Python may call some of it global.
        "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.175.48.0/24", "192.0.0.0/24",
        "2001::/23", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "64:ff9b::/96", "64:ff9b:1::/48", "::/96",
        "::ffff:0:0:0/96", "fec0::/10", "5f00::/16",
    )
]  # fmt: skip


def within(address: Any, networks: Iterable[Any]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def public(ip: str) -> bool:
    """Whether anybody may dial it."""
    address = ipaddress.ip_address(ip)
    embedded = address.version == 6 and (
        address.ipv4_mapped or address.sixtofour or address.teredo or address not in ipaddress.ip_network("2000::/3")
    )
    return (
        address.is_global
        and not embedded
        and not (address.is_multicast or address.is_reserved or address.is_link_local or address.is_unspecified)
        and not within(address, NEVER)
    )


def openable(ip: str) -> bool:
    """Whether an exception may open it."""
    address = ipaddress.ip_address(ip)
    return within(address, PRIVATE) and not (within(address, NEVER) and address.version == 4)


class FindingError(AssertionError):
    """Something was dialled that must not be."""


# ------------------------------------------------------------------------------------------------ the net


class Resolver:
    """Answers as the input says."""

    def __init__(self, names: dict[str, list[list[str]]]) -> None:
        self.names = names

    async def resolve(self, host: str, port: int) -> list[str]:
        script = self.names.get(host)
        if not script:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return script.pop(0) if len(script) > 1 else script[0]


class Site(asyncio.Protocol):
    """What every socket leads to: it notes for whom it is taken, and redirects as long as it is told to."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.data = b""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, found, _ = self.data.partition(b"\r\n\r\n")
        if not found:
            return
        self.data = b""
        fields = [line.split(b": ", 1) for line in head.split(b"\r\n")[1:]]
        hosts = [field[1].decode("latin-1") for field in fields if field[0].lower() == b"host"]
        self.net.hosts.append(hosts[0] if len(hosts) == 1 else "")
        locations = self.net.setting.locations
        if locations:
            where = locations.pop(0).encode("utf-8", "surrogateescape").replace(b"\r", b"").replace(b"\n", b"")
            self.transport.write(b"HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n" % where)
        else:
            self.transport.write(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok")


class LeadingSocket(socket.socket):
    """Connects to the site whatever it is told, and says that it did as it was told."""

    port = 0
    told: Any = None

    def connect(self, address: Any) -> None:
        self.told = address
        super().connect(("127.0.0.1", self.port))

    def getpeername(self) -> Any:
        return self.told


class Net:
    """The site, and what was dialled: (address, port, how many requests had been answered by then)."""

    def __init__(self) -> None:
        self.port = 0
        self.setting = parse(b"")
        self.dialled: list[tuple[str, int, int]] = []
        self.hosts: list[str] = []

    def socket(self, info: Any) -> socket.socket:
        _, kind, proto, _, address = info
        self.dialled.append((address[0], address[1], len(self.hosts)))
        made = LeadingSocket(socket.AF_INET, kind, proto)
        made.port = self.port
        return made

    def judge(self) -> None:
        for ip, port, number in self.dialled:
            if public(ip):
                named = port in OPEN_PORTS or self.allowed(ip, port, number)
            else:
                named = openable(ip) and self.allowed(ip, port, number)
            if not named:
                raise FindingError(f"{ip} port {port} was dialled, request {number + 1} of {self.hosts}")

    def allowed(self, ip: str, port: int, number: int) -> bool:
        """Whether an exception names the host that was asked for, and no other host was asked on the way."""
        origin = {host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host for host in self.hosts[: number + 1]}
        return len(origin) <= 1 and any(
            one.account == "local"
            and one.port == port
            and one.purpose == self.setting.purpose
            and (not origin or one.host in origin)
            for one in self.setting.allowed
        )


NET = Net()
RUNNER = asyncio.Runner()


async def begin() -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Site(NET), "127.0.0.1", 0)
    NET.port = server.sockets[0].getsockname()[1]


async def ask(setting: Setting) -> None:
    NET.setting, NET.dialled, NET.hosts = setting, [], []
    egress = Egress(
        allowances=lambda account: [one for one in setting.allowed if one.account == account],
        listeners=lambda: [("127.0.0.1", NET.port)],
        resolver=Resolver(setting.names),
        sockets=NET.socket,
        tls=TLS,
    )
    try:
        await egress.door(Call(seconds=SECONDS), setting.purpose).send(HttpRequest(setting.url), follow=True)
    except DoorError as error:
        if not str(error) or len(str(error)) > 8_000:
            raise FindingError(f"not a sentence: {error}") from None
    finally:
        await egress.close()


def run_one(data: bytes) -> None:
    """One input. Raises FindingError; what else it raises is a finding as well."""
    if not NET.port:
        RUNNER.run(begin())
    RUNNER.run(ask(parse(data)))
    NET.judge()


# ------------------------------------------------------------------------------------------------ inputs

SPELLINGS = (
    "127.0.0.1", "127.1", "localhost", "LOCALHOST.", "x.localhost", "2130706433", "0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "0",
    "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]",
    "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:0:0:0:0:80ff:fffe]", "[fe80::1]", "[fec0::1]", "[fc00::1]",
    "[fd00:ec2::254]", "169.254.169.254", "metadata.google.internal", "100.100.100.200", "192.0.0.192", "168.63.129.16",
    "10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "198.18.0.1", "192.0.2.1", "192.88.99.1", "224.0.0.1",
    "255.255.255.255", "[ff02::1]", "[2001:db8::1]", "127。0。0。1", "①②⑦.⓪.⓪.①", "example.com@127.0.0.1",
    "127.0.0.1\\@a.example", "a.example:22", "[2606:4700::1111]", "93.184.216.34", "a.example", "faß.example",
    "[2606:4700:0:0:0:5efe:a00:1]",
)  # fmt: skip


def seeds() -> Iterable[bytes]:
    """Every spelling: asked for, led to by a name, redirected to, and with an exception."""
    for host in SPELLINGS:
        bare = host.strip("[]")
        yield f"http://{host}/".encode()
        yield f"http://a.example/\nR:a.example=93.184.216.34\nL:http://{host}/\nL:/next".encode()
        yield f"http://a.example/\nR:a.example={bare}".encode()
        yield f"http://a.example/\nR:a.example=93.184.216.34,{bare}".encode()
        yield f"http://a.example/\nR:a.example=93.184.216.34|{bare}\nL:http://a.example:8080/\nL:/".encode()
        yield f"http://{host}:3000/\nA:{host}:3000:reading\nL:http://{host}:3000/b\nL:http://b.example/".encode()
        yield f"http://b.example:3000/\nA:b.example:3000:reading\nR:b.example={bare}\nL:http://{host}/".encode()
        yield f"http://a.example/\nR:a.example=93.184.216.34\nA:{host}:3000:reading\nL:http://{host}:3000/".encode()
        yield f"http://{host}:3000/\nO:{host}:3000:reading\nA:{host}:3000:index".encode()


def dictionary() -> Iterable[bytes]:
    words = {
        *SPELLINGS,
        "http://",
        "https://",
        "://",
        "\nL:",
        "\nR:",
        "\nA:",
        "\nO:",
        "\nW:",
        "=",
        "|",
        ",",
        ":3000",
        ":reading",
        "%2f",
        "@",
    }
    for word in sorted(words):
        escaped = "".join(f"\\x{byte:02x}" for byte in word.encode())
        yield f'"{escaped}"'.encode()


def fresh(series: random.Random) -> bytes:
    """Lines of spellings."""

    def host() -> str:
        return series.choice((*SPELLINGS, "a.example", "b.example"))

    def line() -> str:
        name, scheme = series.choice(("a.example", "b.example")), series.choice(("http://", "//", "https://", "/"))
        port, purpose = series.choice(("3000", "80", "22")), series.choice(("reading", "index"))
        return series.choice(
            (
                f"L:{scheme}{host()}/",
                f"R:{name}={host().strip('[]')}|{host().strip('[]')}",
                f"{series.choice('AO')}:{host()}:{port}:{purpose}",
            )
        )

    url = f"{series.choice(('http', 'http', 'https'))}://{host()}{series.choice(('', ':3000', ':80', ':22'))}/"
    return "\n".join([url, *(line() for _ in range(series.randrange(8)))]).encode()


def _tls() -> Any:
    import ssl

    return ssl.create_default_context()


TLS = _tls()
FUZZER = Fuzzer(
    run_one, lambda data: str(parse(data)), seeds, dictionary, fresh, LONGEST, b"\n:/.@[]%=|,0123456789abcdefLRAO#?\\"
)

if __name__ == "__main__":
    warnings.simplefilter("error")
    main(FUZZER, "the door")
    sys.exit(0)
