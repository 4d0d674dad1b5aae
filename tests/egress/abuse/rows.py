"""What a reader of the web has to survive, row by row: the project's abuse list in our own words, as data.

A row holds attacks. Most are a URL that must be refused (`Refused`) or a site that answers as none should (`Answered`); a row
whose rule is of another kind has an attack of its own. An attack meets one path at a time and asserts what its row demands;
what holds for all (nothing forbidden is dialled, nothing secret is shown) is asserted by `Web.hold`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final, Literal

from tests.egress.abuse import bodies
from tests.egress.abuse.attacks import (
    FOREIGN_ARGUMENTS,
    SHORT,
    Answered,
    Attack,
    Cookies,
    Echo,
    Embedded,
    ForeignArgument,
    KeptConnection,
    LookAlike,
    OffTheList,
    OthersPage,
    Password,
    ProxyVariables,
    Rebinding,
    Redirects,
    Refused,
    RobotsTxt,
    Shell,
    SilentTls,
    Smuggled,
    Spelled,
    Variants,
    kinds,
)
from tests.egress.abuse.bodies import HTML, Handler, headed, without_end
from tests.egress.abuse.paths import PATHS, READ, Outcome, Path, location
from tests.egress.abuse.web import EAI_AGAIN, KEY, SITE_IP, Web

from webseam.config import LIMITS

Group = Literal["A", "B", "C", "D", "E"]
GROUPS: Final[dict[Group, range]] = {
    "A": range(1, 17),
    "B": range(17, 27),
    "C": range(27, 37),
    "D": range(37, 45),
    "E": range(45, 56),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `together` says that its attacks wait for deadlines, and are tried at once."""

    number: int
    title: str
    attacks: tuple[Attack, ...]
    together: bool = False

    @property
    def group(self) -> Group:
        """Addresses, URLs, names and redirects, bodies and time, everything behind."""
        return next(group for group, numbers in GROUPS.items() if self.number in numbers)


def refused(kind: str, *urls: str) -> tuple[Attack, ...]:
    """URLs that are refused with one of `kind` (several are parted by a space)."""
    return tuple(Refused(url, frozenset(kind.split())) for url in urls)


def named(kind: str, name: str, *answers: str) -> Refused:
    """A name and what the resolver answers for it."""
    return Refused(f"http://{name}/", frozenset(kind.split()), {name: list(answers)})


# ------------------------------------------------------------------------------------------------ A: how addresses are spelled

LOOPBACK: Final = (
    "http://127.0.0.1/",
    "http://127.0.0.1:{four}/",
    "https://127.0.0.1/",
    "http://127.1/",
    "http://127.9.9.9:8080/",
    "http://localhost/",
    "http://localhost:{four}/",
    "http://LOCALHOST./",
    "http://x.localhost/",
)

ADDRESSES: Final = (
    Row(1, "this machine, written plainly", refused("blocked_address", *LOOPBACK)),
    Row(
        2,
        "one decimal number",
        refused("blocked_address", "http://2130706433/", "http://3232235777/", "http://2130706433:{four}/"),
    ),
    Row(3, "octal", refused("blocked_address", "http://0177.0.0.1/", "http://017700000001/", "http://0177.0.0.1:{four}/")),
    Row(
        4,
        "hexadecimal",
        refused("blocked_address", "http://0x7f.0.0.1/", "http://0x7f000001/", "http://0x7f.1:22/", "http://0X7F.1/"),
    ),
    Row(
        5,
        "unspecified: this host",
        refused("blocked_address", "http://0/", "http://0.0.0.0/", "http://[::]/", "http://0.0.0.0:{four}/"),
    ),
    Row(6, "IPv6 loopback", refused("blocked_address", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::1]:{six}/")),
    Row(
        7,
        "IPv4 mapped into IPv6",
        refused(
            "blocked_address",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]:{four}/",
            "http://[::ffff:a9fe:a9fe]/latest/",
        ),
    ),
    Row(8, "IPv4-compatible IPv6", refused("blocked_address", "http://[::127.0.0.1]/", "http://[::7f00:1]/")),
    Row(9, "IPv4 translated into IPv6 (SIIT)", refused("blocked_address", "http://[::ffff:0:127.0.0.1]/")),
    Row(
        10,
        "NAT64, well-known and local",
        refused("blocked_address", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::a00:1]/"),
    ),
    Row(11, "6to4 and Teredo", refused("blocked_address", "http://[2002:7f00:1::]/", "http://[2001:0:0:0:0:0:80ff:fffe]/")),
    Row(
        12,
        "link-local, site-local, unique local",
        (
            *refused("blocked_address invalid_url", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/"),
            *refused(
                "blocked_address", "http://[fe80::1]/", "http://[fec0::1]/", "http://[fc00::1]/", "http://[fd00:ec2::254]/"
            ),
        ),
    ),
    Row(
        13,
        "cloud metadata, by address and by name",
        (
            *refused(
                "blocked_address",
                "http://169.254.169.254/latest/meta-data/",
                "http://169.254.170.2/",
                "http://100.100.100.200/",
            ),
            *refused("blocked_address", "http://192.0.0.192/", "http://168.63.129.16/", "http://metadata/computeMetadata/v1/"),
            named("blocked_address", "metadata.google.internal", "169.254.169.254"),
            named("blocked_address", "metadata.goog", "169.254.169.254"),
            named("blocked_address", "wire.test", "168.63.129.16"),
        ),
    ),
    Row(
        14,
        "private, shared, reserved and multicast ranges",
        refused(
            "blocked_address",
            *(
                f"http://{host}/"
                for host in (
                    *("10.0.0.1", "10.0.0.1:6379", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "198.18.0.1"),
                    *("192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
                    *("255.255.255.255", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[100::1]", "[4000::1]"),
                )
            ),
        ),
    ),
    Row(
        15,
        "names of which one answer is public and one is not",
        (
            named("blocked_address", "mixed.test", SITE_IP, "10.0.0.7"),
            named("blocked_address", "mixed6.test", SITE_IP, "fd12::7"),
            named("blocked_address", "mixed-first.test", "192.168.7.7", SITE_IP),
            named("blocked_address", "many.test", *[SITE_IP] * 20, "10.0.0.7"),
            named("blocked_address", "mapped.test", SITE_IP, "::ffff:10.0.0.7"),
            named("blocked_address", "scoped.test", SITE_IP, "fe80::7%eth0"),
            named("blocked_address", "nonsense.test", SITE_IP, "localhost"),
        ),
    ),
    Row(
        16,
        "public names that spell a private address",
        (
            named("blocked_address", "169.254.169.254.nip.test", "169.254.169.254"),
            named("blocked_address", "app.10-0-0-7.sslip.test", "10.0.0.7"),
            named("blocked_address", "loopback.test", "127.0.0.7"),
            named("blocked_address", "loopback6.test", "::1"),
        ),
    ),
)

# ------------------------------------------------------------------------------------------------ B: how URLs are read

_SCHEMES: Final = (
    *("file:///etc/passwd", "ftp://site.test/x", "gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1:11211/stats"),
    *("ldap://127.0.0.1/", "jar:http://site.test/x.jar!/", "data:text/html,<b>x", "javascript:alert(1)", "JaVaScRiPt:alert(1)"),
    *(
        "blob:http://site.test/1-2",
        "view-source:http://site.test/",
        "ws://site.test/",
        "wss://site.test/",
        "unix:/run/docker.sock",
    ),
    *("FILE:///etc/passwd", "about:blank", "chrome://settings", "netdoc:/etc/passwd", "http+unix://%2Frun%2Fdocker.sock/"),
)


URLS: Final = (
    Row(
        17,
        "a user name or password in front of the host",
        refused(
            "invalid_url", "http://example.com@127.0.0.1/", "http://user:pw@{site}/", "http://@{site}/", "http://:@127.0.0.1/"
        ),
    ),
    Row(
        18,
        "a backslash where hosts end",
        refused("invalid_url", "http://127.0.0.1\\@example.com/", "http:\\\\127.0.0.1\\", "http://example.com\\.127.0.0.1/"),
    ),
    Row(
        19,
        "tabs, line breaks, NUL and spaces inside",
        (
            *refused("invalid_url", "http://example.com\t@127.0.0.1/", "http://127.0.0.1\r\n/x", "http://127.0.0\n.1/"),
            *refused(
                "invalid_url", "http://127.0.0.1\x00.example.com/", "http://127.0.0.1%00.example.com/", "http://\t127.0.0.1/"
            ),
            *refused("invalid_url", "http://127.0.0.1%0d%0aHost:%20x/", "http://127.0.0.1%09/", "http://127.0.0.1%20/"),
            *refused("invalid_url blocked_address", "http://127.0.0.1/ ", " http://127.0.0.1/", "http://127.0.0.1/\x7f"),
        ),
    ),
    Row(
        20,
        "delimiters that two parsers read in two ways",
        (
            *refused("blocked_address invalid_url", "http://127.0.0.1#@example.com/", "http://127.0.0.1?@example.com/"),
            *refused(
                "invalid_url", "http://example.com%2f@127.0.0.1/", "http://example.com%23@127.0.0.1/", "http://a%40127.0.0.1/"
            ),
        ),
    ),
    Row(
        21,
        "wide and ideographic dots and digits",
        refused(
            "blocked_address",
            "http://127。0。0。1/",
            "http://127．0．0．1/",
            "http://127｡0｡0｡1/",
            "http://１２７.0.0.1:{four}/",
        ),
    ),
    Row(
        22,
        "digits and letters in circles",
        refused("blocked_address", "http://①②⑦.⓪.⓪.①/", "http://ⓛocalhost/", "http://①②⑦.1/"),
    ),
    Row(
        23,
        "names outside ASCII",
        (
            Spelled("faß.test", "xn--fa-hia.test"),
            Spelled("еxample.test", "xn--xample-2of.test"),  # a Cyrillic е
            Spelled("soft\u00adened.test", "softened.test"),
        ),
    ),
    Row(
        24,
        "no host, strange ports, endless names",
        (
            *refused(
                "invalid_url blocked_address", "http:///127.0.0.1/", "http:127.0.0.1/", "//127.0.0.1/", "http:/127.0.0.1/"
            ),
            *refused(
                "invalid_url",
                "http://{site}:0/",
                "http://{site}:65536/",
                "http://{site}:80:80/",
                "http://{site}:x/",
                "http://[::1/",
            ),
            *refused(
                "invalid_url", f"http://{'a' * 10_000}.test/", f"http://{{site}}/{'a' * 100_000}", "http://a..test/", "http://"
            ),
            *refused("invalid_url", f"http://{'a.' * 200}test/", "http://*.test/", "http://1.2.3.4.5/", "http://0x100000000/"),
        ),
    ),
    Row(25, "schemes that are not the web's", refused("blocked_scheme invalid_url", *_SCHEMES)),
    Row(
        26,
        "ports that are not the web's, on public hosts",
        refused("blocked_port", *(f"http://site.test:{port}/" for port in (1, 22, 25, 2375, 6379, 9200, 11211, 65535))),
    ),
)

# ------------------------------------------------------------------------------------------------ C: names and redirects


REDIRECT_TARGETS: Final = (
    *(attack.label for row in ADDRESSES for attack in row.attacks if not getattr(attack, "names", {})),
    "//127.0.0.1/",
    "//[::1]:8080/",
    "http:\\\\127.0.0.1/",
)


def _few(web: Web, path: Path, outcome: Outcome) -> None:
    assert len(web.met) <= LIMITS.redirects + 2


def _count(request: Any) -> int:
    digits = request.target.rpartition("n=")[2]
    return int(digits) if digits.isdigit() else 0


async def _varying(request: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(location(f"/evil?n={_count(request) + 1}"))


async def _fifty(request: Any, writer: asyncio.StreamWriter) -> None:
    number = _count(request)
    writer.write(location(f"/evil?n={number + 1}") if number < 50 else headed(b"<p>the end", HTML))


def _key_stays(web: Web, path: Path, outcome: Outcome) -> None:
    """`Web.hold` has looked at what the other site got; here, that a vendor's key went to the vendor alone."""
    if path.name.startswith(("base-url", "vendor", "web_search")):
        assert web.other.requests == []
    for request in web.here.requests:
        if KEY in request.head:
            assert path.name == "base-url-brave"


_PLAIN_REFRESH: Final = (
    b'<meta http-equiv="refresh" content="0; url=http://127.0.0.1/">'
    b'<link rel=canonical href="http://127.0.0.1/c"><p>Words of a page.'
)

REDIRECTS: Final = (
    Row(
        27,
        "a name that changes its mind",
        (
            Rebinding("public, then loopback", [[SITE_IP], ["127.0.0.1"]]),
            Rebinding("public, then private and IPv6", [[SITE_IP], ["10.0.0.7", "::1"]]),
            Rebinding("public, then both", [[SITE_IP], [SITE_IP, "127.0.0.1"]]),
        ),
    ),
    Row(
        28,
        "names that do not resolve",
        (
            Refused("http://nowhere.test/", kinds("dns")),
            Refused("http://empty.test/", kinds("dns"), {"empty.test": []}),
            Refused("http://servfail.test/", kinds("dns"), faults={"servfail.test": EAI_AGAIN}),
            Refused("http://broken.test/", kinds("dns", "connect"), faults={"broken.test": OSError(5, "no name server")}),
            Refused("http://silent.test/", kinds("timeout"), silent=("silent.test",), seconds=SHORT),
        ),
        together=True,
    ),
    Row(
        29,
        "redirects to all of these, by status, by header, by page",
        (
            Redirects("302", 302, REDIRECT_TARGETS),
            *(Redirects(str(status), status, REDIRECT_TARGETS[::7]) for status in (301, 303, 307, 308)),
            Answered(
                "Refresh, meta refresh, Link",
                headed(_PLAIN_REFRESH, HTML, "Refresh: 0; url=http://127.0.0.1/", "Link: <http://127.0.0.1/>; rel=canonical"),
                kinds(READ),
            ),
        ),
    ),
    Row(
        30,
        "redirects to other schemes, and from https down to http",
        (
            *(
                Answered(target, location(target), kinds("blocked_scheme"))
                for target in ("file:///etc/passwd", "FTP://site.test/")
            ),
            Answered("gopher", location("gopher://127.0.0.1:6379/_"), kinds("blocked_scheme")),
            Answered(
                "down", location("http://other.test/"), kinds("blocked_scheme"), url="https://secure.test/evil", unmet=True
            ),
        ),
    ),
    Row(
        31,
        "redirects without end",
        (
            Answered("to itself", location("/evil"), kinds("too_many_redirects"), _few),
            Answered("with a query that varies", _varying, kinds("too_many_redirects"), _few),
            Answered("fifty hops", _fifty, kinds("too_many_redirects"), _few),
        ),
    ),
    Row(
        32,
        "a redirect to another origin, asked with a key",
        tuple(
            Answered(str(status), location("http://other.test/", status), kinds(READ), _key_stays)
            for status in (301, 302, 303, 307, 308)
        ),
    ),
    Row(33, "cookies", (Cookies(),)),
    Row(34, "proxies named by the environment", (ProxyVariables(),)),
    Row(35, "kept connections", (KeptConnection(),)),
    Row(
        36,
        "names that look like a trusted one",
        (
            *map(
                LookAlike,
                ("nottrusted.test", "trusted.test.evil.test", "x.trusted.test", "trusted.tes", "fass.test", "trustedtest.test"),
            ),
            OffTheList(),
        ),
    ),
)

# ------------------------------------------------------------------------------------------------ D: bodies, time, decoders

_CHUNK: Final = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
_TEXT: Final = "Content-Type: text/plain"


async def _one_hundred(_: Any, writer: asyncio.StreamWriter) -> None:
    await without_end(b"", b"HTTP/1.1 100 Continue\r\n\r\n")(_, writer)


def coded(*codings: str, names: str = "") -> bytes:
    """A bomb, and what it is called."""
    return headed(bodies.bomb(*codings), HTML, f"Content-Encoding: {names or ', '.join(codings)}")


def bombs() -> tuple[Attack, ...]:
    """Bombs in every coding, packed when they are first sent."""

    def late(*codings: str, names: str = "") -> Handler:
        async def answer(_: Any, writer: asyncio.StreamWriter) -> None:
            writer.write(coded(*codings, names=names))

        return answer

    sets = [("gzip",), ("deflate",), ("br",), ("zstd",), ("gzip", "gzip"), ("zstd", "br")]
    found: list[Attack] = [Answered(" in ".join(codings), late(*codings), kinds("too_large")) for codings in sets]
    found.append(Answered("a window of 128 MB", late("zstd-wide", names="zstd"), kinds("bad_reply", "too_large")))
    found.append(Answered("three times over", late("gzip", "gzip", "gzip"), kinds("bad_reply")))
    return tuple(found)


def clamped(web: Web, path: Path, outcome: Outcome) -> None:
    """No wait that anybody asks for is longer than the limit, or negative."""
    assert outcome.retry_after is None or 0 <= outcome.retry_after <= LIMITS.retry_after_seconds
    assert all(0 <= seconds <= 30 for seconds in web.slept)


def status(code: int, *lines: str, body: bytes = b"<p>A page that says so.") -> Answered:
    """A reply by its status."""
    text = b"" if code in (204, 205, 304) else body
    found = kinds(READ) if code == 206 else kinds("http_status", "rate_limited")
    return Answered(f"{code} {' '.join(lines)}", headed(text, HTML, *lines, status=f"{code} X"), found, clamped)


_FAR: Final = "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"
_DOCUMENTS: Final = kinds(READ, "empty", "unreadable", "unsupported_type", "timeout", "memory", "too_large", "crashed")


def document(label: str, body: bytes, content_type: str = "text/html; charset=utf-8", *found: str) -> Answered:
    """A document that came whole, and is built to hang, drown or mislead whoever reads it."""
    return Answered(label, headed(body, f"Content-Type: {content_type}"), kinds(*found) if found else _DOCUMENTS)


def unread(label: str, body: bytes, content_type: str) -> Answered:
    """A document with nothing in it to be read: of another type, damaged, or a bomb."""
    return document(label, body, content_type, "unsupported_type", "unreadable", "too_large", "empty")


_WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_XXE: Final = b"PK\x03\x04" + b"\0" * 26 + b"word/document.xml" + bodies.OUTSIDE

BODIES: Final = (
    Row(
        37,
        "bodies without end, and lengths that lie",
        (
            Answered("chunks", without_end(bodies.head(HTML, "Transfer-Encoding: chunked"), _CHUNK), kinds("too_large")),
            Answered("no length", without_end(bodies.head(HTML, "Connection: close"), b"x" * 65_536), kinds("too_large")),
            Answered(
                "a length of 200 MB",
                without_end(bodies.head(HTML, "Content-Length: 200000000"), b"x" * 65_536),
                kinds("too_large"),
            ),
            Answered(
                "a length too long",
                bodies.head(HTML, "Content-Length: 500", "Connection: close") + b"<p>short",
                kinds("bad_reply", "timeout"),
                seconds=SHORT,
            ),
            Answered(
                "a length too short", bodies.head(HTML, "Content-Length: 8") + b"<p>short and more", kinds(READ, "bad_reply")
            ),
            Answered(
                "two lengths", bodies.head(HTML, "Content-Length: 8", "Content-Length: 9") + b"<p>short", kinds("bad_reply")
            ),
            Answered(
                "a length and chunks",
                bodies.head(HTML, "Content-Length: 3", "Transfer-Encoding: chunked") + b"8\r\n<p>short\r\n0\r\n\r\n",
                kinds(READ, "bad_reply"),
            ),
            Answered(
                "padded chunks",
                without_end(bodies.head(HTML, "Transfer-Encoding: chunked"), b"1;" + b"p" * 4_000 + b"\r\nx\r\n"),
                kinds("too_large", "bad_reply"),
            ),
        ),
        together=True,
    ),
    Row(38, "bombs in every coding", bombs()),
    Row(
        39,
        "replies that take for ever",
        (
            Answered(
                "headers drop by drop",
                bodies.drop_by_drop(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
                kinds("timeout"),
                seconds=SHORT,
            ),
            Answered("a body drop by drop", bodies.drop_by_drop(bodies.head(HTML), b"x"), kinds("timeout"), seconds=SHORT),
            Answered("silence", bodies.silence, kinds("timeout"), seconds=SHORT),
            Answered("100 Continue without end", _one_hundred, kinds("too_large", "bad_reply", "timeout"), seconds=5.0),
            SilentTls(),
        ),
        together=True,
    ),
    Row(
        40,
        "headers that flood, and replies that are no HTTP",
        (
            Answered("ten thousand headers", headed(b"x", *(f"X-{n}: y" for n in range(10_000))), kinds("too_large")),
            Answered("a line of a megabyte", headed(b"x", "X-Long: " + "y" * 1_000_000), kinds("too_large")),
            Answered("headers without end", without_end(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"), kinds("too_large")),
            Answered("a bare CR in a value", headed(b"<p>words", HTML, "X-A: b\rSet-Cookie: x=1"), kinds("bad_reply", READ)),
            Answered("a bare LF in a value", headed(b"<p>words", HTML, "X-A: b\nX-B: c"), kinds("bad_reply", READ)),
            Answered("NUL in a value", headed(b"<p>words", HTML, "X-A: b\0c"), kinds("bad_reply", READ)),
            Answered("a status that is none", b"HTTP/1.1 abc OK\r\n\r\n", kinds("bad_reply")),
            Answered("a version that is none", b"HTTP/9.9 200 OK\r\nContent-Length: 1\r\n\r\nx", kinds("bad_reply")),
            Answered("HTTP/0.9", b"<p>an answer without a head", kinds("bad_reply", "connect")),
            Answered("another protocol", b"SSH-2.0-OpenSSH_9.6\r\n" * 3, kinds("bad_reply")),
            Answered("101", bodies.head("Upgrade: h2c", "Connection: Upgrade", status="101 X"), kinds("bad_reply")),
        ),
    ),
    Row(
        41,
        "markup built to hang or to reach out",
        (
            document("a hundred thousand divs", b"<div>" * 100_000 + b"deep words"),
            document("a page of 50 MB on one line", bytes(1), "text/html", "empty"),
            Answered("50 MB on one line", without_end(bodies.head(HTML), b"word " * 10_000), kinds("too_large")),
            document("entities in entities", bodies.ENTITIES, "application/xml"),
            document("entities from outside", bodies.OUTSIDE, "application/xml"),
            document(
                "an SVG with a script",
                b"<svg xmlns='http://www.w3.org/2000/svg'><script href='http://127.0.0.1/'/></svg>",
                "image/svg+xml",
            ),
            document("unclosed everything", b"<a><b>" * 20_000 + b"</a></b>" * 20_000 + b"<p>words"),
        ),
    ),
    Row(
        42,
        "PDF, Office documents and archives",
        (
            unread(
                "a PDF",
                b"%PDF-1.7\n1 0 obj<</Pages 1 0 R/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n" * 100,
                "application/pdf",
            ),
            unread("a PDF called HTML", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n/Encrypt", "text/html"),
            unread("a zip bomb called a Word document", bodies.zip_bomb(), _WORD),
            unread("a zip bomb called an e-book", bodies.zip_bomb("OEBPS/chapter.xhtml"), "application/epub+zip"),
            unread("a zip bomb called HTML", bodies.zip_bomb(), "text/html"),
            unread("entities from outside in a Word document", _XXE, _WORD),
        ),
    ),
    Row(
        43,
        "encodings that lie, and bytes that are no text",
        (
            document("a charset that does not exist", "<p>Grüße und Worte".encode(), "text/html; charset=klingon", READ),
            document("a charset that is not the one", "<p>Grüße und Worte".encode("utf-16"), "text/html; charset=utf-8", READ),
            document("UTF-7", b"<p>+ADw-script+AD4-alert(1) words", "text/html; charset=utf-7", READ),
            document(
                "Shift JIS without a word",
                "<p>これは日本語のページです。長い文章が続きます。".encode("shift_jis"),
                "text/html",
                READ,
            ),
            document("NULs in plain text", b"w\0o\0r\0d\0\0\0\1\2\3" * 100, "text/plain", READ, "unsupported_type", "empty"),
            unread("a picture called HTML", b"\x89PNG\r\n\x1a\n" + bytes(5_000), "text/html"),
            unread("a program called text", b"\x7fELF" + bytes(range(256)) * 20, "text/plain"),
            document(
                "a picture and a page in one", b"GIF89a/*<p>words*/=1;//" + b"<p>words" * 20, "text/html", "unsupported_type"
            ),
        ),
    ),
    Row(
        44,
        "statuses that are no page, and waits that are asked for",
        (
            *map(status, (204, 206, 300, 304, 402, 404, 410, 418, 451, 500, 502, 599, 999)),
            status(401, 'WWW-Authenticate: Basic realm="type your password here"'),
            status(403, "cf-mitigated: challenge"),
            *(status(429, f"Retry-After: {wait}") for wait in ("5", "-5", "1000000000", "9" * 300, "soon", "1e9", "")),
            *(status(code, _FAR) for code in (429, 503)),
            status(503, "Retry-After: Mon, 30 Nov 1970 00:00:00 GMT"),
        ),
    ),
)

# ------------------------------------------------------------------------------------------------ E: everything behind


def _sent(request: Any) -> str:
    return request.headers.get("x-subscription-token", "no key")  # type: ignore[no-any-return]  # of a real Request


async def _echo(request: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(headed(f"<p>You sent {request.head}".encode(), HTML, f"X-Request-Id: {_sent(request)}", status="500 X"))


async def _echo_json(request: Any, writer: asyncio.StreamWriter) -> None:
    key = _sent(request)
    said = f'{{"error": {{"code": "{key}", "message": "the key {key} or %{ord(key[0]):x}{key[1:]} is wrong"}}}}'
    writer.write(headed(said.encode(), "Content-Type: application/json", status="401 X"))


async def _echo_location(request: Any, writer: asyncio.StreamWriter) -> None:
    writer.write(location(f"http://127.0.0.1/{_sent(request)}?key={_sent(request)}".replace(" ", "-")))


BEHIND: Final = (
    Row(45, "what a browser would load", tuple(map(Embedded, ("127.0.0.1", "beacon.test")))),
    Row(46, "arguments that would change how the network is used", tuple(map(ForeignArgument, FOREIGN_ARGUMENTS))),
    Row(
        47,
        "a robots.txt that means harm",
        (
            RobotsTxt("500", headed(b"", status="500 X"), forbids=True),
            RobotsTxt("a redirect inside", location("http://127.0.0.1/robots.txt"), forbids=True),
            RobotsTxt("a redirect to a file", location("file:///etc/passwd"), forbids=True),
            RobotsTxt("HTML", headed(b"<!doctype html><p>no rules", HTML), forbids=False),
            RobotsTxt("10 MB", headed(b"User-agent: *\nDisallow: /x\n" * 400_000, _TEXT), forbids=False),
            RobotsTxt("no end", without_end(bodies.head(_TEXT), b"User-agent: a\n" * 1_000), forbids=False),
            RobotsTxt("silence", bodies.silence, forbids=True, seconds=SHORT),
        ),
        together=True,
    ),
    Row(
        48,
        "the same again, at once, and for another account",
        tuple(map(Variants, ("http://127.0.0.1/", "http://mixed.test/"))),
    ),
    Row(49, "what one account got, asked for by another", (OthersPage(),)),
    Row(50, "plugins", ()),
    Row(
        51,
        "what a shell would obey",
        tuple(
            map(
                Shell,
                (
                    "/$(touch${IFS}webseam-was-here)",
                    "/`touch%20webseam-was-here`",
                    "/;touch webseam-was-here",
                    "/--output=webseam-was-here",
                    "/\u202egpj.exe",
                    "/a|b&c>webseam-was-here",
                    "/\"'",
                ),
            )
        ),
    ),
    Row(52, "pages that speak to the model", (Smuggled(),)),
    Row(53, "secrets carried out in a URL that the model is asked to fetch", ()),
    Row(54, "our own HTTP endpoint: foreign Host and Origin", ()),
    Row(
        55,
        "secrets in errors",
        (Echo("a page", _echo), Echo("an error in JSON", _echo_json), Echo("a redirect", _echo_location), Password()),
    ),
)

ROWS: Final = (*ADDRESSES, *URLS, *REDIRECTS, *BODIES, *BEHIND)


# ------------------------------------------------------------------------------------------------ pairs that cannot be


@dataclass(frozen=True, slots=True)
class Fault:
    """An attack that a path does not stand yet, and what is wrong. The suite fails when it does, until this is taken out."""

    row: int
    label: str
    paths: frozenset[str]
    what: str


FAULTS: Final[tuple[Fault, ...]] = ()


@dataclass(frozen=True, slots=True)
class Excuse:
    """Why rows cannot meet paths. `proof` is the test that holds them there instead, where anything is left to hold."""

    rows: tuple[int, ...]
    paths: frozenset[str]
    why: str
    proof: str = ""


_EVERY: Final = frozenset(path.name for path in PATHS)

EXCUSES: Final = (
    Excuse(
        (31, *range(37, 46), 47, 49, 51, 52),
        frozenset(path.name for path in PATHS if not path.reaches),
        "A vendor's redirect is not followed (rows 29 to 32 hold that), so what answers at its end is never asked.",
    ),
    Excuse(
        (46,),
        _EVERY - {"web_fetch", "web_search"},
        "A URL is all that this path takes: no argument of a tool, a page or a vendor reaches it.",
    ),
    Excuse(
        (50,),
        _EVERY,
        "There are no plugins yet: they will be a path of their own, and meet every row.",
    ),
    Excuse(
        (53,),
        _EVERY,
        "The mode in which only URLs of the user or of earlier results are fetched is not built; its length is row 24.",
        "tests/egress/test_urls.py::test_a_url_may_be_as_long_as_the_limit",
    ),
    Excuse(
        (54,),
        _EVERY,
        "This comes in at our own endpoint and goes out by no path.",
        "tests/transports/test_http.py::test_only_our_own_host_and_port_are_answered_to",
    ),
)
