"""The settings database: kept by account, shared by processes, never half written."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from webseam.accounts.store import Store, StoredAllowance, StoredSource
from webseam.accounts.vault import Vault
from webseam.errors import SecretError, StoreError

KEY = "BSA-0123456789-abcdef-SECRET"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "settings.sqlite3", Vault(tmp_path / "vault.key"))
    yield made
    made.close()


def another(store: Store) -> Store:
    """The same database as another process would open it."""
    return Store(store.path, Vault(store.vault.key_file))


def test_settings_of_one_account_are_not_seen_by_another(store: Store) -> None:
    store.choose("local", "search", "brave")
    store.set("local", "brave", "api_key", KEY, secret=True)
    store.allow("local", StoredAllowance("localhost", 3000, "reading"))
    store.put_source("local", StoredSource("docs", "folder", "/docs", 0))
    other = store.account("other")
    assert (other.selections, other.settings, other.allowances, other.sources) == ({}, {}, (), ())
    assert store.secret("other", "brave", "api_key") is None


def test_a_setting_changed_by_another_process_is_used_by_the_next_call(store: Store) -> None:
    assert store.account("local").selections == {}
    writer = another(store)
    writer.choose("local", "search", "brave")
    assert store.account("local").selections == {"search": "brave"}
    writer.unchoose("local", "search")
    assert store.account("local").selections == {}
    writer.close()


def test_the_version_grows_with_every_change_and_only_then(store: Store) -> None:
    first = store.account("local").version
    assert store.account("local").version == first
    store.choose("local", "search", "brave")
    second = store.account("local").version
    store.choose("local", "search", "mediawiki")
    store.choose("local", "search", "brave")
    assert first < second < store.account("local").version
    writer = another(store)
    before = store.account("local").version
    writer.choose("stranger", "search", "brave")
    assert store.account("local").version == before
    writer.close()


def test_secrets_are_encrypted_at_rest_and_read_back(store: Store) -> None:
    store.set("local", "brave", "api_key", KEY, secret=True)
    assert store.secret("local", "brave", "api_key") == KEY
    assert store.account("local").settings["brave"]["api_key"].ends == "CRET"
    for file in store.path.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_a_short_secret_shows_nothing_of_itself(store: Store) -> None:
    store.set("local", "brave", "api_key", "short", secret=True)
    assert store.account("local").settings["brave"]["api_key"].ends == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits for owner, group and others")
def test_database_and_key_are_the_owners_alone(store: Store) -> None:
    store.set("local", "brave", "api_key", KEY, secret=True)
    for file in (store.path, store.vault.key_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_sealed_secret_moved_to_another_account_does_not_open(store: Store) -> None:
    store.set("local", "brave", "api_key", KEY, secret=True)
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE settings SET account = 'thief'")
    connection.close()
    with pytest.raises(SecretError, match="webseam set brave api_key"):
        store.secret("thief", "brave", "api_key")


def test_another_key_names_the_secret_that_cannot_be_read_and_loses_nothing(store: Store, tmp_path: Path) -> None:
    store.set("local", "brave", "api_key", KEY, secret=True)
    kept = store.vault.key_file.read_bytes()
    store.vault.key_file.unlink()
    with pytest.raises(SecretError, match=r"api_key of brave cannot be read.*is missing"):
        another(store).secret("local", "brave", "api_key")
    other = Vault(tmp_path / "vault.key")
    other.seal("x", account="a", engine="b", field="c")
    with pytest.raises(SecretError, match="another key"):
        another(store).secret("local", "brave", "api_key")
    store.vault.key_file.write_bytes(kept)
    assert another(store).secret("local", "brave", "api_key") == KEY


def test_the_key_may_come_from_the_environment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSEAM_VAULT_KEY", "A" * 43 + "=")
    store.set("local", "brave", "api_key", KEY, secret=True)
    assert not store.vault.key_file.exists()
    assert another(store).secret("local", "brave", "api_key") == KEY


def test_two_that_start_together_end_with_one_key(tmp_path: Path) -> None:
    vaults = [Vault(tmp_path / "vault.key") for _ in range(8)]
    sealed: list[bytes] = []
    threads = [
        threading.Thread(target=lambda v=v: sealed.append(v.seal("s", account="a", engine="e", field="f"))) for v in vaults
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {Vault(tmp_path / "vault.key").open(one, account="a", engine="e", field="f") for one in sealed} == {"s"}
    assert [file.name for file in tmp_path.iterdir()] == ["vault.key"]


def test_a_damaged_database_says_so_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "settings.sqlite3"
    path.write_bytes(b"this is not a database, it is a letter to a friend" * 100)
    with pytest.raises(StoreError, match=r"is damaged: move it away"):
        Store(path, Vault(tmp_path / "vault.key"))


def test_a_database_that_was_put_in_the_place_of_ours_is_the_one_that_counts(store: Store, tmp_path: Path) -> None:
    store.choose("local", "search", "index")
    backup = Store(tmp_path / "backup.sqlite3", store.vault)
    backup.choose("local", "search", "brave")
    backup.close()
    (tmp_path / "backup.sqlite3").replace(store.path)
    assert store.account("local").selections == {"search": "brave"}
    writer = another(store)
    writer.choose("local", "search", "mediawiki")
    writer.close()
    assert store.account("local").selections == {"search": "mediawiki"}


def test_a_key_that_was_made_anew_is_taken_up_by_running_processes(store: Store) -> None:
    store.set("local", "brave", "api_key", KEY, secret=True)
    assert store.secret("local", "brave", "api_key") == KEY
    store.vault.key_file.unlink()
    writer = another(store)
    writer.set("local", "brave", "api_key", KEY + "-2", secret=True)
    writer.close()
    assert store.secret("local", "brave", "api_key") == KEY + "-2"


def test_a_lock_that_is_held_costs_a_reader_little_and_a_writer_says_who_waits(store: Store) -> None:
    store.choose("local", "search", "index")
    holder = sqlite3.connect(store.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert store.account("local").selections == {"search": "index"}
    with pytest.raises(StoreError, match="locked by another process"):
        store.choose("local", "search", "brave")
    holder.execute("ROLLBACK")
    holder.close()
    store.choose("local", "search", "brave")


def test_a_newer_schema_refuses_to_start(store: Store) -> None:
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreError, match="newer Webseam"):
        another(store)


def test_listeners_of_dead_processes_are_forgotten(store: Store) -> None:
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    ).stdout
    with sqlite3.connect(store.path) as connection:
        connection.execute("INSERT INTO listeners VALUES (?, '127.0.0.1', 9)", (int(dead),))
    connection.close()
    store.listen("127.0.0.1", 8377)
    assert store.listeners() == [("127.0.0.1", 8377)]
    store.unlisten()
    assert store.listeners() == []


def test_removing_says_whether_there_was_anything(store: Store) -> None:
    allowance = StoredAllowance("localhost", 3000, "reading")
    assert not store.disallow("local", allowance)
    store.allow("local", allowance)
    assert store.disallow("local", allowance)
    store.set("local", "brave", "base_url", "http://x.example", secret=False)
    assert store.unset("local", "brave", "base_url")
    assert not store.unset("local", "brave", "base_url")


def test_writers_in_several_processes_lose_nothing(store: Store) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from webseam.accounts.store import Store, StoredAllowance\n"
        "from webseam.accounts.vault import Vault\n"
        "path = Path(sys.argv[1])\n"
        "store = Store(path, Vault(path.with_name('vault.key')))\n"
        "for port in range(1, 41): store.allow('local', StoredAllowance('h' + sys.argv[2], port, 'reading'))\n"
        "store.close()\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", script, str(store.path), str(number)]) for number in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    assert len(store.account("local").allowances) == 120
