"""The settings database: one SQLite file shared by every process of one data directory.

An account's settings are read as one immutable snapshot and kept in memory. Before each use `PRAGMA data_version` says
whether another process has written since (it costs microseconds), so a setting changed in one process is used by the next
call in the others. Writes are single transactions: a killed process leaves the old state or the new one.

A rollback journal, not a write-ahead log: writes are rare and small, a log left behind would be replayed into a backup that
somebody puts in the file's place, and its shared memory does not work on every file system.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from webseam.accounts.tables import MIGRATIONS
from webseam.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from webseam.accounts.vault import Vault

BUSY_SECONDS = 5.0
READ_BUSY_SECONDS = 0.25  # a read is made in the event loop of a server: better the last known settings than a deaf server
ENDS_CHARS = 4
ENDS_FROM = 16  # a shorter secret shows nothing of itself


@dataclass(frozen=True, slots=True)
class StoredSetting:
    """One setting: a plain `value`, or a `sealed` secret of which only the end may be shown."""

    value: str | None = None
    sealed: bytes | None = None
    ends: str = ""


@dataclass(frozen=True, slots=True)
class StoredAllowance:
    """A private address that the owner trusts for one purpose."""

    host: str
    port: int
    purpose: str


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Where documents of the private index come from: `kind` is folder, file or site."""

    name: str
    kind: str
    location: str
    page_limit: int


@dataclass(frozen=True, slots=True)
class AccountSettings:
    """All that is kept for one account, at one moment. `version` grows whenever anything in it changed."""

    version: int = 0
    selections: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, StoredSetting]] = field(default_factory=dict)
    allowances: tuple[StoredAllowance, ...] = ()
    sources: tuple[StoredSource, ...] = ()


class Store:
    """Reads and writes the settings of accounts. One a process; safe to use from several threads."""

    def __init__(self, path: Path, vault: Vault) -> None:
        self.path = path
        self.vault = vault
        self._lock = threading.RLock()
        self._snapshots: dict[str, AccountSettings] = {}
        self._seen: int | None = None
        self._version = 0
        self._file: tuple[int, int] | None = None
        self._connection = self._open()

    # ------------------------------------------------------------------------------------------- reading

    def account(self, account: str) -> AccountSettings:
        """The account's settings as they are now, whichever process wrote them."""
        with self._lock:
            known = account in self._snapshots
            try:
                with self._translated():
                    self._follow_the_file()
                    seen = self._connection.execute("PRAGMA data_version").fetchone()[0]
                if seen != self._seen or not known:
                    with self._transaction("BEGIN", READ_BUSY_SECONDS if known else BUSY_SECONDS):
                        for one in {account, *self._snapshots}:
                            self._refresh(one)
                    self._seen = seen
            except StoreError as error:
                if error.kind != "busy" or account not in self._snapshots:
                    raise
            return self._snapshots[account]

    def secret(self, account: str, engine: str, field: str) -> str | None:
        """The secret in the clear, or None when none is stored. Raises `SecretError` when it cannot be decrypted."""
        stored = self.account(account).settings.get(engine, {}).get(field)
        if stored is None or stored.sealed is None:
            return None
        return self.vault.open(stored.sealed, account=account, engine=engine, field=field)

    def listeners(self) -> list[tuple[str, int]]:
        """The sockets that running servers of this data directory listen on, as (host, port)."""
        import psutil

        with self._lock, self._translated():
            rows = self._connection.execute("SELECT pid, host, port FROM listeners").fetchall()
        return [(host, port) for pid, host, port in rows if pid == os.getpid() or psutil.pid_exists(pid)]

    # ------------------------------------------------------------------------------------------- writing

    def choose(self, account: str, role: str, engine: str) -> None:
        """Let `engine` answer `role` ("search" or "reading") for the account."""
        self._write(account, "INSERT OR REPLACE INTO selections VALUES (?, ?, ?)", (account, role, engine))

    def unchoose(self, account: str, role: str) -> None:
        """Go back to the default engine for `role`."""
        self._write(account, "DELETE FROM selections WHERE account = ? AND role = ?", (account, role))

    def set(self, account: str, engine: str, field: str, value: str, *, secret: bool) -> None:
        """Store one setting; a secret is encrypted first."""
        if secret:
            sealed = self.vault.seal(value, account=account, engine=engine, field=field)
            ends = value[-ENDS_CHARS:] if len(value) >= ENDS_FROM else ""
            row: tuple[object, ...] = (account, engine, field, None, sealed, ends)
        else:
            row = (account, engine, field, value, None, None)
        self._write(account, "INSERT OR REPLACE INTO settings VALUES (?, ?, ?, ?, ?, ?)", row)

    def unset(self, account: str, engine: str, field: str) -> bool:
        """Forget one setting; False when there was none."""
        return self._write(
            account, "DELETE FROM settings WHERE account = ? AND engine = ? AND field = ?", (account, engine, field)
        )

    def allow(self, account: str, allowance: StoredAllowance) -> None:
        """Trust one private address for one purpose."""
        row = (account, allowance.host, allowance.port, allowance.purpose)
        self._write(account, "INSERT OR REPLACE INTO allowances VALUES (?, ?, ?, ?)", row)

    def disallow(self, account: str, allowance: StoredAllowance) -> bool:
        """Trust it no more; False when it was not trusted."""
        row = (account, allowance.host, allowance.port, allowance.purpose)
        return self._write(account, "DELETE FROM allowances WHERE account = ? AND host = ? AND port = ? AND purpose = ?", row)

    def put_source(self, account: str, source: StoredSource) -> None:
        """Remember where documents come from."""
        row = (account, source.name, source.kind, source.location, source.page_limit)
        self._write(account, "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?)", row)

    def remove_source(self, account: str, name: str) -> bool:
        """Forget a source; False when there is none of that name."""
        return self._write(account, "DELETE FROM sources WHERE account = ? AND name = ?", (account, name))

    def listen(self, host: str, port: int) -> None:
        """Say that this process listens there, so that no exception ever reaches it; rows of dead processes go."""
        import psutil

        with self._writing():
            for (pid,) in self._connection.execute("SELECT DISTINCT pid FROM listeners").fetchall():
                if not psutil.pid_exists(pid):
                    self._connection.execute("DELETE FROM listeners WHERE pid = ?", (pid,))
            self._connection.execute("INSERT OR REPLACE INTO listeners VALUES (?, ?, ?)", (os.getpid(), host, port))

    def unlisten(self) -> None:
        """This process listens no more."""
        with self._writing():
            self._connection.execute("DELETE FROM listeners WHERE pid = ?", (os.getpid(),))

    def check(self) -> None:
        """Raise `StoreError` when the file is damaged (`PRAGMA quick_check`)."""
        with self._lock, self._translated():
            said = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if said != "ok":
            raise StoreError(f"{self._damaged()}\nSQLite says: {said}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    # ------------------------------------------------------------------------------------------- within

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # before SQLite makes it for everyone to read
        except OSError as error:
            raise StoreError(
                f"The settings database {self.path} cannot be opened ({error.strerror}): "
                "check who owns it, or give another directory with --data DIR or WEBSEAM_DATA."
            ) from error
        found = self._identity()
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            with self._translated():
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA trusted_schema = OFF")
                self._migrate(connection)
            connection.execute(f"PRAGMA busy_timeout = {READ_BUSY_SECONDS * 1000:.0f}")
        except BaseException:
            connection.close()
            raise
        self._file = found
        return connection

    def _identity(self) -> tuple[int, int] | None:
        """Which file the path leads to now; None when there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _follow_the_file(self) -> None:
        """Open the database anew when the path leads to another file: a backup was put back, the directory was made anew."""
        if self._identity() == self._file:
            return
        self._file = None
        self._connection.close()
        self._connection, self._seen = self._open(), None

    @contextmanager
    def _transaction(self, begin: str, seconds: float) -> Iterator[None]:
        """All or nothing, and one moment for everything that is read; other processes are waited for at most `seconds`."""
        with self._lock, self._translated():
            self._follow_the_file()
            connection = self._connection
            connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
            try:
                connection.execute(begin)
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                connection.execute(f"PRAGMA busy_timeout = {READ_BUSY_SECONDS * 1000:.0f}")

    def _writing(self) -> AbstractContextManager[None]:
        return self._transaction("BEGIN IMMEDIATE", BUSY_SECONDS)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise StoreError(
                f"The settings database {self.path} was written by a newer Webseam (schema {version}, this one knows "
                f"{len(MIGRATIONS)}): update Webseam, or give another directory with --data DIR."
            )
        if version == len(MIGRATIONS):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been first
            for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in script.split(";"):
                    if statement.strip():
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number:d}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _refresh(self, account: str) -> None:
        """Read the account's settings anew; within a transaction."""
        read = self._connection.execute
        settings: dict[str, dict[str, StoredSetting]] = {}
        for engine, name, value, sealed, ends in read(
            "SELECT engine, field, value, sealed, ends FROM settings WHERE account = ?", (account,)
        ):
            settings.setdefault(engine, {})[name] = StoredSetting(value, sealed, ends or "")
        selections = dict(read("SELECT role, engine FROM selections WHERE account = ?", (account,)).fetchall())
        allowances = tuple(
            StoredAllowance(*row)
            for row in read("SELECT host, port, purpose FROM allowances WHERE account = ? ORDER BY 1, 2, 3", (account,))
        )
        sources = tuple(
            StoredSource(*row)
            for row in read("SELECT name, kind, location, page_limit FROM sources WHERE account = ? ORDER BY 1", (account,))
        )
        before = self._snapshots.get(account)
        version = before.version if before else self._version
        after = AccountSettings(version, selections, settings, allowances, sources)
        if after != before:
            self._version += 1
            after = AccountSettings(self._version, selections, settings, allowances, sources)
        self._snapshots[account] = after

    def _write(self, account: str, statement: str, row: tuple[object, ...]) -> bool:
        try:
            with self._writing():
                changed = self._connection.execute(statement, row).rowcount > 0
                self._refresh(account)
        except BaseException:
            self._snapshots.pop(account, None)  # it may hold what was not written
            raise
        return changed

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                if self.path.exists() and self.path.stat().st_size == 0:
                    raise StoreError(self._damaged()) from error
                raise StoreError(
                    f"The settings database {self.path} is locked by another process for more than {BUSY_SECONDS:.0f} s: "
                    "see which `webseam` command is still running, then try again.",
                    kind="busy",
                ) from error
            raise StoreError(
                f"The settings database {self.path} cannot be used ({error}): check the disk and who owns the file."
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(self._damaged()) from error

    def _damaged(self) -> str:
        return (
            f"The settings database {self.path} is damaged: move it away and choose your engines and keys again; "
            "the private index beside it is not touched."
        )
