"""What is kept of the pages that were read: how much it is, and forgetting it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from webseam.call import folder_name
from webseam.egress.entries import Entries
from webseam.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from webseam.config import Config

FOLDER = "cache"
"""In the data directory; below it a folder for each account."""


@dataclass(frozen=True, slots=True)
class State:
    """What lies in `folder` for one account; `cleared`: what lay there until now. `limit` is None when the cache is off."""

    folder: Path
    entries: int
    bytes: int
    limit: int | None
    cleared: bool = False

    def as_data(self) -> dict[str, Any]:
        """For `--json`. Bytes are those on the disk."""
        said = {"folder": str(self.folder), "on": self.limit is not None, "limit_bytes": self.limit}
        if self.cleared:
            return {**said, "entries": 0, "bytes": 0, "cleared": {"entries": self.entries, "bytes": self.bytes}}
        return {**said, "entries": self.entries, "bytes": self.bytes}

    def sentence(self) -> str:
        """For a person."""
        kept = f"{self.entries:,} {'reply' if self.entries == 1 else 'replies'}, {_size(self.bytes)}"
        if self.cleared:
            return f"Forgotten: {kept}, in {self.folder}."
        room = f"of at most {_size(self.limit)}" if self.limit is not None else "the cache is off (WEBSEAM_CACHE, config.toml)"
        return f"Kept: {kept}, {room}, in {self.folder}."


def state(config: Config, account: str) -> State:
    """How much is kept for the account."""
    entries = _entries(config, account)
    with _usable(entries.folder):
        return State(entries.folder, *entries.usage(), limit=config.cache_bytes if config.cache else None)


def clear(config: Config, account: str) -> State:
    """Forget all that is kept for the account, also when the cache is off. Running processes go on with an empty one."""
    entries = _entries(config, account)
    with _usable(entries.folder):
        return State(entries.folder, *entries.clear(), limit=config.cache_bytes if config.cache else None, cleared=True)


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Say which folder cannot be used; raises `ConfigurationError`. Pages are read all the same, only not kept."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"The cache in {folder} cannot be used ({error.strerror}): make room for a folder there, or choose another data "
            "directory with --data or WEBSEAM_DATA."
        ) from error


def _entries(config: Config, account: str) -> Entries:
    return Entries(config.data / FOLDER / folder_name(account), limit_bytes=config.cache_bytes)


def _size(size: int) -> str:
    return f"{size / 1024:,.0f} KB" if size < 1024 * 1024 else f"{size / (1024 * 1024):,.1f} MB"
