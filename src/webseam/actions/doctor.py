"""What works here and what does not, each with what would mend it."""

from __future__ import annotations

import platform
import stat
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from webseam.actions.engines import missing
from webseam.documents.in_worker import read_in_worker
from webseam.egress.client import default_user_agent
from webseam.egress.proxies import ignored, proxies
from webseam.egress.tls import trust
from webseam.errors import WebseamError
from webseam.switchboard import ROLES, SEARCH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from webseam.accounts.store import Store
    from webseam.config import Config
    from webseam.switchboard import Switchboard
    from webseam.workers.pool import WorkerPool

SAMPLE = b"<title>Sample</title><main><h1>Sample</h1><p>A sentence that a worker reads.</p></main>"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, whether it holds, and a sentence."""

    check: str
    ok: bool
    text: str


async def examine(*, config: Config, data: Path, store: Callable[[], Store], switchboard: Callable[[], Switchboard],
                  pool: WorkerPool, account: str) -> list[Finding]:  # fmt: skip
    """Every check in turn; one that fails does not stop the others."""
    checks: list[tuple[str, Callable[[], Awaitable[str]]]] = []

    async def python() -> str:
        return f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.machine()}"

    async def directory() -> str:
        mode = stat.S_IMODE(data.stat().st_mode)  # noqa: ASYNC240 - one stat, and nothing else runs in this loop
        if sys.platform != "win32" and mode & 0o077:
            raise WebseamError(f"{data} can be read by other users of this machine: `chmod 700 {data}`.")
        return str(data)

    async def settings() -> str:
        store().check()
        return f"{store().path.name} is sound"

    async def secrets() -> str:
        kept = [
            (engine, field)
            for engine, fields in store().account(account).settings.items()
            for field, value in fields.items()
            if value.sealed is not None
        ]
        for engine, field in kept:
            store().secret(account, engine, field)
        return f"{len(kept)} stored, all can be read" if kept else "none stored"

    def engine(role: str) -> Callable[[], Awaitable[str]]:
        async def check() -> str:
            facts = switchboard().search_facts(account) if role == SEARCH else switchboard().reading_facts(account)
            lacking = missing(switchboard(), account, facts)
            if lacking:
                raise WebseamError(lacking)
            return f"{facts.title} ({facts.name}) is set up" + ("; it was not asked" if facts.third_party else "")

        return check

    async def index() -> str:
        corpus = switchboard().corpus(account)
        if not corpus.exists():
            return "empty; `webseam index add DIR|FILE|URL` fills it"
        corpus.check()
        return f"{corpus.count()} documents from {len(corpus.sources())} sources"

    async def certificates() -> str:
        trusted = trust(config)
        trusted.context()
        words = f"the system's{f', and those in {config.ca_file}' if config.ca_file else ''}"
        if trusted.certificate is not None:
            words += f"; {trusted.certificate.cert} is shown to {audience(trusted.certificate.hosts)}"
        return words

    async def proxy() -> str:
        through = proxies(config)
        if through is None:
            words = "" if config.proxy else ignored()
            return f"none; {words}" if words else "none, connections are direct"
        through.check(trust(config))
        return through.summary() + ("; it was not asked" if through.http or through.https else "")

    async def contact() -> str:
        return f"sites read this of who asks: {default_user_agent()}"

    async def workers() -> str:
        document = await read_in_worker(pool, SAMPLE, url="https://sample.invalid/", content_type="text/html")
        lacking = "" if find_spec("pypdfium2") else '; no PDFs, for which: pip install "webseam[documents]"'
        return f"a worker process reads pages ({document.title!r}){lacking}"

    checks += [("python", python), ("data", directory), ("settings", settings), ("secrets", secrets)]
    checks += [(role, engine(role)) for role in ROLES]
    checks += [("index", index), ("workers", workers), ("certificates", certificates), ("proxy", proxy), ("contact", contact)]
    return [await _finding(name, check) for name, check in checks]


def audience(hosts: Sequence[str]) -> str:
    """The hosts that see a client certificate, in words. A name of one label and an address have no subdomains."""
    wide = [host for host in hosts if "." in host and not host.replace(".", "").isdecimal()]
    if len(wide) == len(hosts) > 1:
        return f"{', '.join(hosts)} and their subdomains"
    return ", ".join(f"{host} and its subdomains" if host in wide else host for host in hosts)


async def _finding(name: str, check: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(name, True, await check())
    except (WebseamError, OSError) as error:
        return Finding(name, False, str(error).splitlines()[0] if str(error) else type(error).__name__)
