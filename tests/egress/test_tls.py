"""TLS: the name is checked, the vetted address dialled, and failures name their cause."""

from __future__ import annotations

import asyncio
import datetime as dt
import ssl
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from webseam.errors import DoorError
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
            assert "self-signed" in str(caught.value).replace("self signed", "self-signed")
            assert site.requests == []

    asyncio.run(main())


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
