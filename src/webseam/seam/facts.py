"""What a provider can do, as data beside it: forms, help, `tools/list` and limits are drawn from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webseam.config import LIMITS

FILTERS = ("freshness", "country", "language", "include_domains", "exclude_domains")
"""Every filter `web_search` knows, in the order they are shown."""

SettingType = Literal["secret", "text", "number", "boolean", "choice", "url"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing the owner may set for an engine: `webseam set ENGINE KEY`. `variables` are environment variables also read."""

    key: str
    title: str
    description: str = ""
    type: SettingType = "text"
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


ROBOTS = Setting(
    "robots",
    "Policy on robots.txt",
    "obey: what it disallows is refused. warn: it is fetched all the same, and that is noted. ignore: it is not even asked.",
    type="choice",
    default="obey",
    choices=("obey", "warn", "ignore"),
)
"""The setting of an engine of ours that fetches pages itself."""


@dataclass(frozen=True, slots=True)
class Facts:
    """One engine.

    `filters` are those of `FILTERS` it honours; `countries` and `languages` close those two when not empty. `third_party` says
    that what it is asked leaves this machine for somebody who is not the site itself: such a reader never sees a private URL.
    `keeps` says that a reader uses pages again that it has read, and honours `cache`; `keeps_off` that it would, were the
    cache not switched off. `whole` says that a reader leaves out what is not a page's main content, and gives all of it when
    asked to. `checked` says how its replies were verified: against an official `sdk`, the vendor's `docs`, our own code
    (`own`), or not.
    """

    name: str
    title: str
    description: str = ""
    search: bool = False
    reading: bool = False
    max_count: int = LIMITS.results
    query_chars: int = LIMITS.query_chars
    query_words: int = 0  # 0: no limit
    filters: frozenset[str] = frozenset()
    countries: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    settings: tuple[Setting, ...] = ()
    third_party: bool = True
    keeps: bool = False
    keeps_off: bool = False
    whole: bool = False
    home: str = ""
    key_page: str = ""
    price_page: str = ""
    index_owner: str = ""
    checked: Literal["sdk", "docs", "own", "unverified"] = "unverified"
    checked_on: str = ""

    def setting(self, key: str) -> Setting | None:
        """The setting called `key`, or None."""
        return next((setting for setting in self.settings if setting.key == key), None)

    @property
    def result_limit(self) -> int:
        """The largest `count` a caller may ask for: the engine's own limit within the platform's cap."""
        return min(self.max_count, LIMITS.results)

    @property
    def default_count(self) -> int:
        """The `count` used when the caller gives none."""
        return min(LIMITS.default_results, self.result_limit)
