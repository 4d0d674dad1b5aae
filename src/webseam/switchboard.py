"""The switchboard: which provider answers this account, with which settings and door. Implements the seam's `Chooser`.

What was chosen is what answers. Nothing here looks for another engine when the chosen one cannot.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from webseam.call import LOCAL, folder_name
from webseam.config import LIMITS
from webseam.errors import ArgumentError, ConfigurationError, DoorError
from webseam.seam.facts import ROBOTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from webseam.accounts.store import Store
    from webseam.call import Call
    from webseam.egress.client import Egress
    from webseam.index.corpus import Corpus
    from webseam.seam.contract import FetchProvider, RobotsPolicy, SearchProvider
    from webseam.seam.facts import Facts
    from webseam.workers.pool import WorkerPool

SEARCH = "search"
READING = "reading"
ROLES = (SEARCH, READING)

DEFAULT_ENGINES = {SEARCH: "mediawiki", READING: "builtin"}
"""What answers until the owner chooses: engines that need no key."""

INDEX_SCHEME = "index:"
"""Documents of the private index that have no address on the web: `index://SOURCE/path`."""


class Switchboard:
    """Builds the chosen provider for a call. `chosen` (role -> engine) overrules what the local account has stored.

    `egress` and `pool` are asked for only when a provider needs them: a handshake opens neither. `caching` says whether the
    door keeps what it reads. `robots_ignore` is whether the operator lets accounts ignore
    robots.txt.
    """

    def __init__(
        self,
        store: Store,
        *,
        egress: Callable[[], Egress],
        pool: Callable[[], WorkerPool],
        indexes: Path,
        chosen: Mapping[str, str] | None = None,
        caching: bool = True,
        robots_ignore: bool = True,
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.robots_ignore = robots_ignore
        self._egress = egress
        self._pool = pool
        self._chosen = dict(chosen or {})
        self._caching = caching
        self._corpora: dict[str, Corpus] = {}
        self._secrets: dict[str, set[str]] = {}

    # ------------------------------------------------------------------------------------------- engines

    def engines(self) -> list[Facts]:
        """The facts of every engine there is, by name."""
        from webseam.engines.catalogue import VENDORS

        return [self.facts(name) for name in sorted({"builtin", "index", *VENDORS})]

    def facts(self, name: str, role: str | None = None) -> Facts:
        """One engine's facts; raises `ArgumentError` when there is none of that name, or none for that role."""
        from webseam.engines import catalogue

        if name == "builtin":
            from webseam.reader import facts as reader

            found = reader.FACTS
        elif name == "index":
            from webseam.index import facts as index

            found = index.FACTS
        elif name in catalogue.VENDORS:
            found = catalogue.facts(name)
        else:
            known = ", ".join(facts.name for facts in self.engines() if role is None or _answers(facts, role))
            raise ArgumentError(f"There is no engine called {name!r}: choose one of {known}.")
        if role is not None and not _answers(found, role):
            known = ", ".join(facts.name for facts in self.engines() if _answers(facts, role))
            raise ArgumentError(f"{found.title} ({name}) does not answer {role}: choose one of {known}.")
        return found

    def selected(self, account: str, role: str) -> str:
        """The name of the engine that answers `role` for the account."""
        if account == LOCAL and role in self._chosen:
            return self._chosen[role]
        return self.store.account(account).selections.get(role, DEFAULT_ENGINES[role])

    def overruled(self, account: str, role: str) -> str:
        """What names the engine instead of the account's own choice, as "WEBSEAM_SEARCH or config.toml"; "" for nothing."""
        return f"WEBSEAM_{role.upper()} or config.toml" if account == LOCAL and role in self._chosen else ""

    def settings(self, account: str, engine: str) -> dict[str, str]:
        """The engine's settings for the account, secrets in the clear.

        What the owner stored counts first; the vendor's usual environment variables (and `..._FILE`) are read for the account
        of the person who runs the process, and for nobody else.
        """
        facts = self.facts(engine)
        stored = self.store.account(account).settings.get(engine, {})
        values: dict[str, str] = {}
        for setting in facts.settings:
            kept = stored.get(setting.key)
            value: str | None
            if kept is not None and kept.sealed is not None:
                value = self.store.secret(account, engine, setting.key)
            elif kept is not None:
                value = kept.value
            else:
                value = _from_environment(setting.variables) if account == LOCAL else None
            if value:
                values[setting.key] = value
                if setting.type == "secret":
                    self._secrets.setdefault(account, set()).add(value)
        return values

    def robots(self, account: str, engine: str) -> RobotsPolicy:
        """What robots.txt is to the account's `engine`, which fetches pages itself.

        Raises `ProviderError` when the account chose what the operator forbids: a choice is never swapped for another.
        """
        chosen = self.settings(account, engine).get(ROBOTS.key, ROBOTS.default)
        if chosen == "ignore" and not self.robots_ignore:
            from webseam.errors import ProviderError
            from webseam.seam.failures import Kind

            raise ProviderError(robots_ignore_forbidden(engine), kind=Kind.NOT_AVAILABLE, engine=engine)
        return cast("RobotsPolicy", chosen)

    def corpus(self, account: str) -> Corpus:
        """The account's private index; nothing is opened yet."""
        from webseam.index.corpus import Corpus

        if account not in self._corpora:
            self._corpora[account] = Corpus(self.indexes / folder_name(account))
        return self._corpora[account]

    # ------------------------------------------------------------------------------------------- Chooser

    def search_facts(self, account: str) -> Facts:
        """What the account's search engine can do."""
        return self._selected_facts(account, SEARCH)

    def reading_facts(self, account: str) -> Facts:
        """What the account's reader can do."""
        facts = self._selected_facts(account, READING)
        return facts if self._caching or not facts.keeps else replace(facts, keeps=False, keeps_off=True)

    def searcher(self, call: Call) -> SearchProvider:
        """The account's search provider; raises `ProviderError` when a required setting is missing."""
        name = self.search_facts(call.account).name
        if name == "index":
            from webseam.index.provider import IndexProvider

            return IndexProvider(self.corpus(call.account))
        from webseam.engines.catalogue import vendor
        from webseam.engines.vendor import VendorProvider

        door = self._egress().door(call, f"engine:{name}")
        return VendorProvider(vendor(name), self.settings(call.account, name), door)

    def reader(self, call: Call, url: str) -> tuple[FetchProvider, str]:
        """The provider that reads `url`, and the URL in its canonical spelling; vetted before any provider sees it."""
        name = self.reading_facts(call.account).name
        if url[: len(INDEX_SCHEME)].lower() == INDEX_SCHEME:
            name, canonical = "index", _index_url(url)
        else:
            from webseam.egress.urls import parse, refuse_private

            parsed = parse(url)
            canonical = parsed.href
            if self.facts(name).third_party:
                refuse_private(parsed)
        if name == "index":
            from webseam.index.provider import IndexProvider

            return IndexProvider(self.corpus(call.account)), canonical
        from webseam.reader.builtin import BuiltinReader

        robots = self.robots(call.account, name)
        return BuiltinReader(self._egress().door(call, "reading"), self._pool(), call, robots), canonical

    def version(self, account: str) -> int:
        """A number that grows whenever a setting of the account changed, in whichever process."""
        return self.store.account(account).version

    def redact(self, account: str, text: str) -> str:
        """`text` without the account's secrets that this process has read, in the spellings they could take on their way."""
        from webseam.redaction import without_secrets

        return without_secrets(text, tuple(self._secrets.get(account, ())))  # another thread may read a new one meanwhile

    def _selected_facts(self, account: str, role: str) -> Facts:
        try:
            return self.facts(self.selected(account, role), role)
        except ArgumentError as error:
            origin = self.overruled(account, role)
            raise ArgumentError(f"{error} ({origin} names it.)" if origin else str(error)) from error


def robots_ignore_forbidden(engine: str) -> str:
    """The sentence for an account that chose, or wants to choose, what the operator forbids."""
    return (
        "Ignoring robots.txt is forbidden by whoever runs this Webseam (`robots_ignore` in config.toml, or "
        f"WEBSEAM_ROBOTS_IGNORE): run `webseam set {engine} robots obey`, or `warn`."
    )


def _answers(facts: Facts, role: str) -> bool:
    return facts.search if role == SEARCH else facts.reading


def _index_url(url: str) -> str:
    if len(url) > LIMITS.url_chars or not url.isprintable() or " " in url:
        raise DoorError(
            f"This is not a document of the private index: use the URL that web_search gave, at most {LIMITS.url_chars} "
            "characters, percent-encoded.",
            kind="invalid_url",
        )
    return INDEX_SCHEME + url[len(INDEX_SCHEME) :]


def _from_environment(variables: tuple[str, ...]) -> str | None:
    for variable in variables:
        value = os.environ.get(variable)
        if value and value.strip():
            return value.strip()
        named = os.environ.get(variable + "_FILE")
        if named:
            try:
                with open(named, encoding="utf-8") as file:  # noqa: PTH123 -- pathlib would cost its import for one read
                    return file.read(64 * 1024).strip()
            except (OSError, UnicodeDecodeError) as error:
                raise ConfigurationError(f"{variable}_FILE names {named}, which cannot be read: {error}") from error
    return None
