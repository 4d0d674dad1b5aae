"""The tables of the settings database, as steps from one version to the next. Every row belongs to an account."""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    # version 1
    """
    CREATE TABLE selections (
        account TEXT NOT NULL, role TEXT NOT NULL, engine TEXT NOT NULL,
        PRIMARY KEY (account, role)
    ) STRICT;
    CREATE TABLE settings (
        account TEXT NOT NULL, engine TEXT NOT NULL, field TEXT NOT NULL,
        value TEXT,      -- a plain setting
        sealed BLOB,     -- or a secret, encrypted by the vault
        ends TEXT,       -- the last characters of a secret, to recognise it by
        PRIMARY KEY (account, engine, field),
        CHECK ((value IS NULL) <> (sealed IS NULL))
    ) STRICT;
    CREATE TABLE allowances (
        account TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL, purpose TEXT NOT NULL,
        PRIMARY KEY (account, host, port, purpose)
    ) STRICT;
    CREATE TABLE sources (
        account TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, location TEXT NOT NULL, page_limit INTEGER NOT NULL,
        PRIMARY KEY (account, name)
    ) STRICT;
    CREATE TABLE listeners (
        pid INTEGER NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
        PRIMARY KEY (pid, host, port)
    ) STRICT;
    """,
)
