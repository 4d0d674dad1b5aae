"""What the abuse suite shares: one event loop, one pool of workers, a certificate; and the line that the run ends with."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.egress.abuse.web import Tally, Web

from webseam.workers.pool import WorkerPool

TALLY = pytest.StashKey[Tally]()
PAIR = re.compile(r"test_a_row_meets_a_path\[row-\d+-[\w-]+\]$")
EXCUSED = re.compile(r"test_a_pair_that_cannot_be_is_excused\[row-\d+-[\w-]+\]$")


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="session")
def pool(runner: asyncio.Runner) -> Iterator[WorkerPool]:
    pool = WorkerPool(processes=1)
    yield pool
    runner.run(pool.close())


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The context of a server called secure.test, and that of a client that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "secure.test")])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=2))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.test")]), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    path = tmp_path_factory.mktemp("tls") / "secure.pem"
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + signed)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cadata=signed.decode())


@pytest.fixture
def web(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    pool: WorkerPool,
    tls: tuple[ssl.SSLContext, ssl.SSLContext],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[], Web]:
    """Makes an internet: `async with web() as net`."""
    tally = request.config.stash.setdefault(TALLY, Tally())
    made = iter(range(1_000))

    def web() -> Web:
        folder = tmp_path / str(next(made))
        folder.mkdir()
        return Web(folder, pool, tally, setenv=monkeypatch.setenv, tls=tls)

    return web


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many pairs held. Said whatever the verbosity: it is what the suite is for."""

    def count(outcome: str, pattern: re.Pattern[str]) -> int:
        reports = terminalreporter.stats.get(outcome, ())
        return sum(1 for report in reports if pattern.search(getattr(report, "nodeid", "")))

    held, failed = count("passed", PAIR), count("failed", PAIR) + count("error", PAIR)
    if not held and not failed:
        return
    tally = config.stash.setdefault(TALLY, Tally())
    line = f"abuse: {held} pairs held, {count('passed', EXCUSED)} excused"
    faults = count("xfailed", PAIR)
    line += f", {faults} with a known fault" if faults else ""
    line += f", {failed} NOT HELD" if failed else ""
    touched = ", ".join(sorted(set(tally.touched))) or "none"
    terminalreporter.write_line(f"{line}; {tally.attempts:,} attempts, connections to forbidden addresses: {touched}")
