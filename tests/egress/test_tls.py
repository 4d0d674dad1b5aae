"""TLS: the name is checked, the vetted address dialled, and failures name their cause; CAs of one's own, and a certificate."""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from webseam.config import LIMITS, Config
from webseam.egress.proxies import read
from webseam.egress.tls import BY_THE_SYSTEM, ClientCertificate, Trust, tls_context, trust
from webseam.errors import ConfigurationError, DoorError
from webseam.seam.contract import HttpRequest


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for good.test that signs itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "good.test")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=2))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("good.test")]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = builder.sign(key, hashes.SHA256())
    path = tmp_path_factory.mktemp("tls") / "good.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


def contexts(certificate: Path) -> tuple[ssl.SSLContext, ssl.SSLContext, list[str | None]]:
    """The server's context, a client's that trusts it, and the names that clients sent."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    names: list[str | None] = []
    server.sni_callback = lambda _, name, __: names.append(name)
    return server, ssl.create_default_context(cafile=str(certificate)), names


def test_sni_and_host_are_the_name_and_the_address_is_the_vetted_one(net: Any, respond: Any, certificate: Path) -> None:
    server, client, names = contexts(certificate)

    async def main() -> None:
        async with net(tls=client) as web:
            site = await web.public_site("good.test", respond(b"secure"), port=443, ssl=server)
            for _ in range(2):
                assert (await web.door().send(HttpRequest("https://GOOD.test./x"))).body == b"secure"
            assert names == ["good.test"]
            assert site.requests[0].headers["host"] == "good.test"
            assert web.dialled == [("93.184.216.34", 443)]

    asyncio.run(main())


def test_a_certificate_for_another_name_is_refused(net: Any, respond: Any, certificate: Path) -> None:
    server, client, _ = contexts(certificate)

    async def main() -> None:
        async with net(tls=client) as web:
            site = await web.public_site("other.test", respond(b"x"), port=443, ssl=server)
            with pytest.raises(DoorError) as caught:
                await web.door().send(HttpRequest("https://other.test/"))
            assert caught.value.kind == "tls"
            assert "certificate of other.test:443 is not trusted (Hostname mismatch" in str(caught.value)
            assert site.requests == []

    asyncio.run(main())


def test_a_certificate_that_nobody_vouches_for_is_refused(net: Any, respond: Any, certificate: Path) -> None:
    server, _, _ = contexts(certificate)

    async def main() -> None:
        async with net() as web:
            site = await web.public_site("good.test", respond(b"x"), port=443, ssl=server)
            with pytest.raises(DoorError) as caught:
                await web.door().send(HttpRequest("https://good.test/"))
            assert caught.value.kind == "tls"
            said = str(caught.value).replace("self signed", "self-signed")
            assert "self-signed" in said or BY_THE_SYSTEM  # which has words of its own
            assert "WEBSEAM_CA_FILE" in said.splitlines()[0]
            assert site.requests == []

    asyncio.run(main())


def test_a_certificate_whose_time_is_over_is_refused(net: Any, respond: Any, authority: Any) -> None:
    ca = authority("Time")
    over = "tls: The certificate of good.test:443 is not trusted (certificate has expired"
    for days, expected in ((2, "secure"), (-1, over)):
        tls = tls_context(ca.pem.read_text(), by_the_system=False)
        said = asyncio.run(outcome(net, respond, ca.server("good.test", days=days), tls=tls))
        assert said.startswith(expected), said


def test_tls_to_a_port_that_speaks_http_says_so(net: Any) -> None:
    async def main() -> None:
        async with net() as web:

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                await reader.read()
                writer.close()

            server = await asyncio.start_server(accept, "127.0.0.1", 0)
            web.servers.append(server)
            web.resolver.names["plain.test"] = [["93.184.216.34"]]
            web.leads["93.184.216.34", 443] = server.sockets[0].getsockname()[1]
            with pytest.raises(DoorError) as caught:
                await web.door().send(HttpRequest("https://plain.test/"))
            assert caught.value.kind == "tls"
            assert "perhaps that port speaks http" in str(caught.value)

    asyncio.run(main())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_from_https_down_to_http_is_refused(net: Any, respond: Any, certificate: Path, status: int) -> None:
    server, client, _ = contexts(certificate)

    async def main() -> None:
        async with net(tls=client) as web:
            await web.public_site("good.test", respond(status=status, location="http://plain.test/"), port=443, ssl=server)
            plain = await web.public_site("plain.test", respond(b"x"), ip="93.184.216.35")
            with pytest.raises(DoorError) as caught:
                await web.door().send(HttpRequest("https://good.test/"), follow=True)
            assert caught.value.kind == "blocked_scheme"
            assert "down to http" in str(caught.value)
            assert plain.connections == 0

    asyncio.run(main())


# ------------------------------------------------------------------------------------------------ CAs of one's own


async def outcome(net: Any, respond: Any, server: ssl.SSLContext, host: str = "good.test", **options: Any) -> str:
    """What comes of asking a site that shows `server`'s certificate: its body, or the error."""
    async with net(**options) as web:
        await web.public_site(host, respond(b"secure"), port=443, ssl=server)
        try:
            return str((await web.door().send(HttpRequest(f"https://{host}/"))).body.decode())
        except DoorError as error:
            return f"{error.kind}: {error}"


@pytest.mark.skipif(BY_THE_SYSTEM, reason="where the system judges, a test would have to change its store")
@pytest.mark.parametrize("by_the_system", [False, True])
def test_a_ca_of_ones_own_adds_to_the_systems_store(
    net: Any, respond: Any, authority: Any, monkeypatch: pytest.MonkeyPatch, by_the_system: bool
) -> None:
    """The store of this test is one CA, which OpenSSL is told of in its own way. Both ways to ask for it are judged."""
    system, own, stranger = authority("System"), authority("Own"), authority("Stranger")
    monkeypatch.setenv("SSL_CERT_FILE", str(system.pem))
    monkeypatch.setenv("SSL_CERT_DIR", str(system.folder))

    async def main() -> None:
        for added, trusted in (("", {system}), (own.pem.read_text(), {system, own})):
            for one in (system, own, stranger):
                context = tls_context(added, by_the_system=by_the_system)
                said = await outcome(net, respond, one.server("good.test"), tls=context)
                assert (said == "secure") == (one in trusted), (one.name, said)
            context = tls_context(added, by_the_system=by_the_system)
            said = await outcome(net, respond, system.server("good.test"), "other.test", tls=context)
            assert said.startswith("tls: ")
            assert "Hostname mismatch" in said
            assert "WEBSEAM_CA_FILE" not in said

    asyncio.run(main())


@pytest.mark.skipif(BY_THE_SYSTEM, reason="OpenSSL's variables are heard where OpenSSL judges")
def test_an_unknown_ca_names_the_setting_and_what_stands_for_the_store(
    net: Any, respond: Any, authority: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    said = asyncio.run(outcome(net, respond, authority("Stranger").server("good.test")))
    assert said.startswith("tls: The certificate of good.test:443 is not trusted (")
    assert "name that CA's certificate with WEBSEAM_CA_FILE" in said
    assert "SSL_CERT" not in said
    monkeypatch.setenv("SSL_CERT_FILE", str(authority("System").pem))
    said = asyncio.run(outcome(net, respond, authority("Stranger").server("good.test"), tls=tls_context()))
    assert "(SSL_CERT_FILE is set, and stands for the system's own)" in said
    monkeypatch.setenv("SSL_CERT_DIR", str(authority("System").folder))
    said = asyncio.run(outcome(net, respond, authority("Stranger").server("good.test"), tls=tls_context()))
    assert "(SSL_CERT_FILE and SSL_CERT_DIR are set, and stand for the system's own)" in said


def test_a_file_and_a_folder_of_cas_are_trusted(net: Any, respond: Any, authority: Any, tmp_path: Path) -> None:
    one, two = authority("One"), authority("Two")
    (tmp_path / "bundle.crt").write_text(f"# Főtanúsítvány\n{one.pem.read_text()}\n{one.pem.read_text()}", encoding="utf-8")
    (tmp_path / "two.pem").write_bytes(two.pem.read_bytes())
    (tmp_path / "README").write_text("no certificate")
    (tmp_path / "below").mkdir()

    async def main() -> None:
        for ca_file, trusted in ((tmp_path / "bundle.crt", {one}), (tmp_path, {one, two})):
            for ca in (one, two):
                said = await outcome(net, respond, ca.server("good.test"), tls=None, trust=Trust(ca_file=ca_file))
                assert (said == "secure") == (ca in trusted), said

    asyncio.run(main())


def test_the_systems_store_is_whole_beside_a_ca_of_ones_own(authority: Any) -> None:
    plain, more = tls_context(by_the_system=False), tls_context(authority("One").pem.read_text(), by_the_system=False)
    assert more.cert_store_stats()["x509_ca"] == plain.cert_store_stats()["x509_ca"] + 1


def test_what_is_negotiated(net: Any, respond: Any, authority: Any) -> None:
    server = authority("One").server("good.test")
    server.set_alpn_protocols(["h2", "http/1.1"])
    chosen: list[str | None] = []

    async def answer(request: Any, writer: Any) -> None:
        chosen.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        writer.write(respond(b"x"))

    async def main() -> None:
        async with net(tls=None, trust=Trust(ca_file=authority("One").pem)) as web:
            await web.public_site("good.test", answer, port=443, ssl=server)
            await web.door().send(HttpRequest("https://good.test/"))

    asyncio.run(main())
    assert chosen == ["http/1.1"]
    for by_the_system in (False, True):
        context = tls_context(by_the_system=by_the_system)
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2
        assert context.check_hostname
        assert context.verify_mode == ssl.CERT_REQUIRED


# ------------------------------------------------------------------------------------------------ our own certificate


def shown(respond: Any, seen: list[str], **headers: str) -> Callable[..., Any]:
    """A site that notes whose certificate it is shown ("" for none) and answers, or redirects."""

    async def answer(request: Any, writer: Any) -> None:
        certificate = writer.get_extra_info("peercert") or {}
        seen.append(dict(part for parts in certificate.get("subject", ()) for part in parts).get("commonName", ""))
        writer.write(respond(b"x", status=302 if headers else 200, **headers))

    return answer


def our_trust(authority: Any, *hosts: str) -> Trust:
    clients, sites = authority("Clients"), authority("Sites")
    ours = clients.issue("ourselves", client=True)
    return Trust(ca_file=sites.pem, certificate=ClientCertificate(ours, ours, hosts))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("corp.test", "ourselves"),
        ("a.b.corp.test", "ourselves"),
        ("xn--bcher-kva.test", "ourselves"),
        ("notcorp.test", ""),
        ("corp.test.evil.test", ""),
        ("other.test", ""),
        ("anything.wiki", ""),
    ],
)
def test_our_certificate_is_shown_to_its_hosts_alone(
    net: Any, respond: Any, authority: Any, host: str, expected: str, tmp_path: Path
) -> None:
    seen: list[str] = []
    clients, sites = authority("Clients"), authority("Sites")
    settings = {
        "data": tmp_path,
        "ca_file": str(sites.pem),
        "client_cert": str(clients.issue("ourselves", client=True)),
        "client_cert_hosts": "CORP.test., bücher.test,wiki",
    }

    async def main() -> None:
        async with net(tls=None, trust=trust(Config(settings))) as web:
            server = sites.server(host, clients=clients)
            await web.public_site(host, shown(respond, seen), port=443, ssl=server)
            await web.door().send(HttpRequest(f"https://{host}/"))
            await web.door().robots(f"https://{host}/")
            await web.public_site(host, respond(b"plain"), port=80)
            assert (await web.door().send(HttpRequest(f"http://{host}/"))).body == b"plain"

    asyncio.run(main())
    assert seen == [expected] * 2


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (("corp.test", "other.test"), ["ourselves", ""]),
        (("other.test", "corp.test"), ["", ""]),
        (("corp.test", "other.test", "sub.corp.test"), ["ourselves", "", ""]),
        (("corp.test", "sub.corp.test", "second.test"), ["ourselves"] * 3),
    ],
)
def test_our_certificate_does_not_follow_a_redirect_elsewhere_nor_come_back_from_there(
    net: Any, respond: Any, authority: Any, chain: tuple[str, ...], expected: list[str]
) -> None:
    seen: list[str] = []

    async def main() -> None:
        async with net(tls=None, trust=our_trust(authority, "corp.test", "second.test")) as web:
            for number, host in enumerate(chain):
                after = {"location": f"https://{chain[number + 1]}/"} if number + 1 < len(chain) else {}
                server = authority("Sites").server(host, clients=authority("Clients"))
                ip = f"93.184.216.{number + 34}"
                await web.public_site(host, shown(respond, seen, **after), port=443, ip=ip, ssl=server)
            await web.door().send(HttpRequest(f"https://{chain[0]}/"), follow=True)

    asyncio.run(main())
    assert seen == expected


def test_robots_txt_behind_a_redirect_from_elsewhere_does_not_get_to_see_it(net: Any, respond: Any, authority: Any) -> None:
    seen: list[str] = []

    async def main() -> None:
        async with net(tls=None, trust=our_trust(authority, "corp.test")) as web:
            server = authority("Sites").server("other.test", clients=authority("Clients"))
            await web.public_site("other.test", shown(respond, seen, location="https://corp.test/secret"), port=443, ssl=server)
            server = authority("Sites").server("corp.test", clients=authority("Clients"))
            await web.public_site("corp.test", shown(respond, seen), port=443, ip="93.184.216.35", ssl=server)
            await web.door().send(HttpRequest("https://other.test/"), follow=True, robots="warn")

    asyncio.run(main())
    assert set(seen) == {""}


def test_a_chain_that_holds_a_lone_percent_sign_keeps_no_turn(net: Any, respond: Any, authority: Any) -> None:
    seen: list[str] = []

    async def main() -> None:
        async with net(tls=None, trust=our_trust(authority, "corp.test")) as web:

            async def odd(request: Any, writer: asyncio.StreamWriter) -> None:
                step = int(request.target.removeprefix("/").removeprefix("%zz") or 0)
                where = f"/%zz{step + 1}" if step < 5 else "https://corp.test/"
                writer.write(respond(b"", 302, location=where))

            await web.public_site("odd.test", odd)
            server = authority("Sites").server("corp.test", clients=authority("Clients"))
            await web.public_site("corp.test", shown(respond, seen), port=443, ip="93.184.216.35", ssl=server)
            for _ in range(5):
                await web.door().send(HttpRequest("http://odd.test/"), follow=True)
            assert web.egress.turns.taken == 0

    asyncio.run(main())
    assert set(seen) == {""}


def test_kept_connections_with_and_without_our_certificate_are_never_swapped(net: Any, respond: Any, authority: Any) -> None:
    seen: list[str] = []

    async def main() -> None:
        async with net(tls=None, trust=our_trust(authority, "corp.test")) as web:
            server = authority("Sites").server("corp.test", clients=authority("Clients"))
            corp = await web.public_site("corp.test", shown(respond, seen), port=443, ssl=server)
            away = respond(status=302, location="https://corp.test/b")
            away_server = authority("Sites").server("away.test")
            await web.public_site("away.test", away, port=443, ip="93.184.216.35", ssl=away_server)
            for _ in range(3):
                await web.door().send(HttpRequest("https://corp.test/a"))
                await web.door().send(HttpRequest("https://away.test/"), follow=True)
            assert corp.connections == 2

    asyncio.run(main())
    assert seen == ["ourselves", ""] * 3


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_site_that_insists_on_a_certificate_is_an_error_that_names_the_setting(
    net: Any, respond: Any, authority: Any, version: ssl.TLSVersion
) -> None:
    """The server runs in a thread: asyncio's own hangs up without the alert that says why."""
    server = authority("Sites").server("good.test", clients=authority("Clients"))
    server.verify_mode = ssl.CERT_REQUIRED
    server.maximum_version = version

    def refuse(listening: socket.socket) -> None:
        accepted = server.wrap_socket(listening.accept()[0], server_side=True, do_handshake_on_connect=False)
        with accepted:
            with pytest.raises(ssl.SSLError):
                accepted.do_handshake()
            accepted.shutdown(socket.SHUT_WR)
            while socket.socket.recv(accepted, 65_536):  # what the client sent meanwhile: unread, it would reset the connection
                pass

    async def main() -> None:
        async with net(tls=None, trust=Trust(ca_file=authority("Sites").pem)) as web:
            with socket.create_server(("127.0.0.1", 0)) as listening:
                thread = threading.Thread(target=refuse, args=(listening,))
                thread.start()
                web.resolver.names["good.test"] = [["93.184.216.34"]]
                web.leads["93.184.216.34", 443] = listening.getsockname()[1]
                with pytest.raises(DoorError) as caught:
                    await web.door().send(HttpRequest("https://good.test/", method="POST"))
                await asyncio.to_thread(thread.join)
            assert caught.value.kind == "tls"
            assert "WEBSEAM_CLIENT_CERT" in str(caught.value).splitlines()[0]

    asyncio.run(main())


def test_an_encrypted_key_is_opened_with_its_password_and_asks_nobody(authority: Any, tmp_path: Path) -> None:
    sealed = authority("Clients").issue("ourselves", client=True, password="open sesame")
    settings: dict[str, Any] = {"data": tmp_path, "client_cert": str(sealed), "client_cert_hosts": "corp.test"}
    assert "open sesame" not in repr(trust(Config({**settings, "client_key_password": "open sesame"})).certificate)
    for password, words in (
        ("", "its password is not set"),
        ("mistaken", "its password is not the right one"),
        ("x" * 2000, ""),
    ):
        with pytest.raises(ConfigurationError) as caught:
            trust(Config({**settings, "client_key_password": password}))
        assert words in str(caught.value)
        assert "mistaken" not in str(caught.value)
        assert "WEBSEAM_CLIENT" in str(caught.value).splitlines()[0]


# ------------------------------------------------------------------------------------------------ settings that are none


def wrong(setting: str, settings: dict[str, Any]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        trust(Config(settings))
    said = str(caught.value)
    assert f"WEBSEAM_{setting.upper()}" in said.splitlines()[0]
    return said


@pytest.mark.parametrize("setting", ["ca_file", "client_cert", "client_key"])
def test_files_that_are_none_are_refused_by_name(setting: str, authority: Any, tmp_path: Path) -> None:
    ours = str(authority("Clients").issue("ourselves", client=True))
    settings = {"data": tmp_path, "client_cert": ours, "client_key": ours, "client_cert_hosts": "corp.test"}
    assert trust(Config(settings)).certificate is not None
    (tmp_path / "empty").write_text("")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "folder").mkdir()
    (tmp_path / "huge").write_bytes(b"-" * (LIMITS.ca_bytes + 1))
    for path in ("missing", "empty", "binary", "folder", "huge", "nul\0", "~nobody-of-this-name/x"):
        wrong(setting, {**settings, setting: path if path[0] == "~" else str(tmp_path / path)})
    wrong(setting, {**settings, setting: 7})


def test_a_broken_ca_in_a_folder_is_named(authority: Any, tmp_path: Path) -> None:
    broken = tmp_path / "b.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    (tmp_path / "a.pem").write_bytes(authority("One").pem.read_bytes())
    assert str(broken) in wrong("ca_file", {"data": tmp_path, "ca_file": str(tmp_path)})


def test_a_key_of_another_certificate_is_named(authority: Any, tmp_path: Path) -> None:
    first, second = (str(authority("Clients").issue("ourselves", client=True)) for _ in range(2))
    settings = {"data": tmp_path, "client_cert": first, "client_key": second, "client_cert_hosts": "corp.test"}
    assert "is not that of the certificate" in wrong("client_key", settings)


@pytest.mark.parametrize(
    "hosts",
    ["", " , ", "*", "*.corp.test", "https://corp.test", "corp.test/", "corp.test:443", "corp.test:8443", "a b", "a#b", 7, [7]],
)
def test_a_certificate_without_hosts_or_with_hosts_that_are_none_is_refused(hosts: Any, authority: Any, tmp_path: Path) -> None:
    ours = str(authority("Clients").issue("ourselves", client=True))
    wrong("client_cert_hosts", {"data": tmp_path, "client_cert": ours, "client_cert_hosts": hosts})


@pytest.mark.parametrize("setting", ["client_key", "client_cert_hosts"])
def test_a_key_or_hosts_without_a_certificate_are_refused(setting: str, tmp_path: Path) -> None:
    wrong("client_cert", {"data": tmp_path, setting: "corp.test"})


def test_no_settings_are_no_error(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('ca_file = ""\nclient_cert_hosts = []\nclient_cert = " "\n')
    assert trust(Config({"data": tmp_path})).certificate is None


def test_our_certificate_beside_an_https_proxy_is_refused(net: Any, authority: Any) -> None:
    """aiohttp would show it to the proxy, too."""
    with pytest.raises(ConfigurationError, match="WEBSEAM_PROXY"):
        net(trust=our_trust(authority, "corp.test"), proxies=read("https://proxy.test:3128", {}))
    net(trust=our_trust(authority, "corp.test"), proxies=read("http://proxy.test:3128", {}))
