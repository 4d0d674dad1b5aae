"""URL parsing: one reading of every spelling, and clean refusals (rows 17 to 26 of the abuse list)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.config import LIMITS
from webseam.egress.urls import Url, is_private_name, join, parse, refuse_private
from webseam.errors import DoorError

LOOPBACK = ["127.0.0.1", "127.1", "127.0.1", "2130706433", "0177.0.0.1", "017700000001", "0x7f.0.0.1", "0x7f000001", "0x7f.1"]
LOOPBACK += ["0x7F.0.0.0x1", "127。0。0。1", "127．0．0．1", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "%31%32%37.0.0.1", "127.0.0.1."]


@pytest.mark.parametrize("host", LOOPBACK)
def test_every_spelling_of_loopback_is_read_as_loopback(host: str) -> None:
    url = parse(f"http://{host}:8080/")
    assert (url.host, url.ip, url.port) == ("127.0.0.1", "127.0.0.1", 8080)


@pytest.mark.parametrize(
    ("text", "host", "ip"),
    [
        ("http://0/", "0.0.0.0", "0.0.0.0"),
        ("http://3232235777/", "192.168.1.1", "192.168.1.1"),
        ("http://[::]/", "[::]", "::"),
        ("http://[0:0:0:0:0:0:0:1]/", "[::1]", "::1"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]", "::ffff:7f00:1"),
        ("http://LOCALHOST./", "localhost", ""),
        ("http://ⓛocalhost/", "localhost", ""),
        ("HTTP://EXAMPLE.com./", "example.com", ""),
        ("http://faß.de/", "xn--fa-hia.de", ""),
        ("http://fass.de/", "fass.de", ""),
        ("http://ex\u00adample.com/", "example.com", ""),  # soft hyphen
        ("http://аррӏе.com/", "xn--80ak6aa92e.com", ""),  # Cyrillic
    ],
)
def test_the_host_is_the_one_that_is_vetted_and_dialled(text: str, host: str, ip: str) -> None:
    assert (parse(text).host, parse(text).ip) == (host, ip)


@pytest.mark.parametrize(
    ("text", "href", "origin", "port", "target"),
    [
        ("https://example.com", "https://example.com/", "https://example.com", 443, "/"),
        ("http://example.com:80/a", "http://example.com/a", "http://example.com", 80, "/a"),
        ("http://example.com:/a", "http://example.com/a", "http://example.com", 80, "/a"),
        ("https://example.com:8443/a?b=c#d", "https://example.com:8443/a?b=c", "https://example.com:8443", 8443, "/a?b=c"),
        ("http://x.org/a/../b/./c", "http://x.org/b/c", "http://x.org", 80, "/b/c"),
        ("http://x.org/%2e%2e/a", "http://x.org/a", "http://x.org", 80, "/a"),
        ("http://x.org/ä b?ö=ü", "http://x.org/%C3%A4%20b?%C3%B6=%C3%BC", "http://x.org", 80, "/%C3%A4%20b?%C3%B6=%C3%BC"),
        ("http://x.org//y@z/?u=http://a@b", "http://x.org//y@z/?u=http://a@b", "http://x.org", 80, "//y@z/?u=http://a@b"),
        ("http://x.org/a%0d%0ab%00", "http://x.org/a%0d%0ab%00", "http://x.org", 80, "/a%0d%0ab%00"),
    ],
)
def test_urls_come_out_canonical(text: str, href: str, origin: str, port: int, target: str) -> None:
    url = parse(text)
    assert (url.href, url.origin, url.port, url.target, str(url)) == (href, origin, port, target, href)
    assert parse(url.href) == url


INVALID = [
    *("", " ", "example.com", "example.com/page", "localhost:3000", "//127.0.0.1/", "/etc/passwd", "http", "http:"),
    *("http://", "https:///", "http:///127.0.0.1/", "http:127.0.0.1/", "http:/127.0.0.1/", "http://?x", "http://#x"),
    *(
        "http://user:pw@host/",
        "http://user@host.com/",
        "http://example.com@127.0.0.1/",
        "http://@host.com/",
        "http://:@host.com/",
    ),
    *("http://example.com%2f@127.0.0.1/", "http://example.com%40127.0.0.1/", "http://127.0.0.1\\@example.com/"),
    *("http:\\\\example.com\\", "http://example.com\\.evil.com/", "http://example.com/a\\b", "http://example.com\t@127.0.0.1/"),
    *(
        "http://exam\tple.com/",
        "http://example.com/\r\nHost: x",
        "http://example.com/a\nb",
        "http://example.com/\x00",
        "\thttp://a.com",
    ),
    *(
        "http://example.com/ ",
        " http://example.com/",
        "http://example.com/\n",
        "\x01http://a.com/",
        "http://a.com/\x7f",
        "http://a.com/\x85",
    ),
    *(
        "http://a.com\u3000",
        "http://a.com/\ud800",
        "http://a%00.com/",
        "http://a%0d%0a.com/",
        "http://a b.com/",
        "http://a%20b.com/",
    ),
    *(
        "http://a.com:0/",
        "http://a.com:65536/",
        "http://a.com:80:80/",
        "http://a.com:-1/",
        "http://a.com:8o/",
        "http://a.com:٣/",
    ),
    *(
        "http://[::1/",
        "http://::1/",
        "http://[::1]]/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[1::2::3]/",
    ),
    *("http://256.1.1.1/", "http://1.2.3.4.5/", "http://0x100000000/", "http://a.1/", "http://1.2.3.08/", "http://4294967296/"),
    *(
        "http://a..b/",
        "http://.a.com/",
        "http://a.com../",
        "http://./",
        "http://a*b.com/",
        "http://a^b.com/",
        "http://a$b.com/",
        "http://<a>/",
    ),
    *(f"http://{'a' * 64}.com/", f"http://{'a.' * 127}com/", f"http://{'a' * 10_000}/", f"http://a.com/{'x' * 100_000}"),
    *("http://a.com/%", "http://a.com/%zz", "http://a.com/?q=100%", "http://a.com/%f", "http://a.com:80@b.com/"),
]


@pytest.mark.parametrize("text", INVALID)
def test_what_cannot_or_should_not_be_read_is_an_invalid_url(text: str) -> None:
    with pytest.raises(DoorError) as caught:
        parse(text)
    assert caught.value.kind == "invalid_url"
    first, _, rest = str(caught.value).partition("\n")
    assert first.startswith("The URL is not valid: ")
    assert len(first) < 200
    assert not rest


@pytest.mark.parametrize(
    "scheme",
    [
        "file",
        "ftp",
        "gopher",
        "dict",
        "ldap",
        "jar",
        "data",
        "javascript",
        "blob",
        "view-source",
        "ws",
        "wss",
        "unix",
        "FiLe",
        "about",
        "httpx",
        "http+unix",
        "mailto",
        "chrome",
        "netdoc",
        "sftp",
        "tftp",
        "JaVaScRiPt",
        "feed",
        "index",
    ],
)
def test_other_schemes_are_blocked(scheme: str) -> None:
    for text in (f"{scheme}:///etc/passwd", f"{scheme}://127.0.0.1/", f"{scheme}:x"):
        with pytest.raises(DoorError) as caught:
            parse(text)
        assert caught.value.kind == "blocked_scheme"


def test_a_refusal_does_not_repeat_a_password() -> None:
    with pytest.raises(DoorError) as caught:
        parse("https://user:hunter2@example.com/")
    assert "hunter2" not in str(caught.value)
    assert "user name or password" in str(caught.value)


def test_a_url_may_be_as_long_as_the_limit() -> None:
    text = "http://a.com/" + "x" * (LIMITS.url_chars - 13)
    assert len(parse(text).href) == LIMITS.url_chars


BASE = parse("https://example.com/a/b?c=d")


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("/x", "https://example.com/x"),
        ("x?y", "https://example.com/a/x?y"),
        ("?y", "https://example.com/a/b?y"),
        ("", "https://example.com/a/b?c=d"),
        ("#top", "https://example.com/a/b?c=d"),
        ("//other.org/x", "https://other.org/x"),
        ("../../../x", "https://example.com/x"),
        ("HTTP://Other.org", "http://other.org/"),
        (" /x ", "https://example.com/x"),
        ("/100%", "https://example.com/100%"),
        ("/caf\udce9", "https://example.com/caf%E9"),  # a Latin-1 byte in a Location header
        ("/café", "https://example.com/caf%C3%A9"),
    ],
)
def test_references_are_read_against_their_page(reference: str, href: str) -> None:
    assert join(BASE, reference).href == href


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("file:///etc/passwd", "blocked_scheme"),
        ("javascript:alert(1)", "blocked_scheme"),
        ("ftp://example.com/", "blocked_scheme"),
        ("http://user:pw@example.com/", "invalid_url"),
        ("//user@example.com/", "invalid_url"),
        ("https:\\\\evil.com", "invalid_url"),
        ("\\\\evil.com", "invalid_url"),
        ("https:evil.com", "invalid_url"),
        ("https:///evil.com", "invalid_url"),
        ("/a\r\nX: y", "invalid_url"),
        ("/a\tb", "invalid_url"),
        ("//", "invalid_url"),
        ("x" * 10_000, "invalid_url"),
    ],
)
def test_references_are_refused_as_urls_are(reference: str, kind: str) -> None:
    with pytest.raises(DoorError) as caught:
        join(BASE, reference)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "x.localhost",
        "LOCALHOST",
        "localhost.",
        "printer",
        "db.internal",
        "metadata.google.internal",
        "nas.local",
        "pc.lan",
        "router.home.arpa",
        "wiki.corp",
        "box.home",
        "a.intranet",
        "x.localdomain",
        "metadata",
        "metadata.goog",
        "kubernetes.default.svc",
    ],
)
def test_names_of_private_networks_are_recognised(host: str) -> None:
    assert is_private_name(host)
    with pytest.raises(DoorError) as caught:
        refuse_private(parse(f"http://{host}/"))
    assert caught.value.kind == "blocked_address"


@pytest.mark.parametrize(
    "host", ["example.com", "local.example.com", "internal.org", "notlocalhost.com", "127.0.0.1", "[::1]", "mylan.de"]
)
def test_other_hosts_are_no_private_names(host: str) -> None:
    assert not is_private_name(host)


@pytest.mark.parametrize(
    "host", ["127.1", "10.0.0.1", "[::1]", "169.254.169.254", "0x7f.1", "[::ffff:10.0.0.1]", "224.0.0.1", "0"]
)
def test_a_third_party_sees_no_private_address_literal(host: str) -> None:
    with pytest.raises(DoorError) as caught:
        refuse_private(parse(f"http://{host}/"), "Tavily")
    assert "Tavily is never sent one" in str(caught.value)


def test_a_third_party_may_see_public_urls() -> None:
    for text in ("https://example.com/", "http://1.1.1.1/", "http://[2606:4700::1]/"):
        refuse_private(parse(text))


def outcome(read: Callable[[], Url]) -> Url | DoorError:
    try:
        return read()
    except DoorError as error:
        return error


@settings(deadline=None)
@given(
    st.text(max_size=60), st.sampled_from(["", "http://", "https://", "http:", "//", "http://a.com/", "http://[", "http://1."])
)
def test_whatever_is_written_is_read_once_and_for_all_or_refused(text: str, start: str) -> None:
    url = outcome(lambda: parse(start + text))
    if isinstance(url, DoorError):
        assert url.kind in ("invalid_url", "blocked_scheme")
        return
    assert parse(url.href) == url
    assert url.href == url.origin + url.target
    assert url.href.isascii()
    assert not set(url.href) & set("\r\n\t\\ \x00")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_whatever_a_redirect_says_is_read_or_refused(text: str) -> None:
    url = outcome(lambda: join(BASE, text))
    if isinstance(url, DoorError):
        assert url.kind in ("invalid_url", "blocked_scheme")
        return
    assert url.scheme in ("http", "https")
    assert "@" not in url.origin
