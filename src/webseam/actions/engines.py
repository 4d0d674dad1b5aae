"""Choosing engines and setting their fields."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from webseam.egress.urls import parse
from webseam.errors import ArgumentError, DoorError, WebseamError
from webseam.seam.facts import ROBOTS
from webseam.seam.failures import Kind, failure
from webseam.switchboard import DEFAULT_ENGINES, ROLES, SEARCH, robots_ignore_forbidden

if TYPE_CHECKING:
    from collections.abc import Mapping

    from webseam.seam.facts import Facts, Setting
    from webseam.switchboard import Switchboard

SECRET_CHARS = 4_096
SECRET_LEAST = 8  # a shorter one would be found, and taken out, in every other word
VALUE_CHARS = 4_096


@dataclass(frozen=True, slots=True)
class EngineState:
    """One engine as an account sees it. `ready` is empty, or the sentence that says what is missing.

    `overruled` says what chose it in place of the account, where something did. `values` are the settings that are set, by
    key, none of them a secret.
    """

    facts: Facts
    roles: tuple[str, ...]
    ready: str
    overruled: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    def as_data(self) -> dict[str, Any]:
        """What `--json` prints."""
        facts = self.facts
        return {
            "engine": facts.name,
            "title": facts.title,
            "description": facts.description,
            "search": facts.search,
            "reading": facts.reading,
            "chosen_for": list(self.roles),
            "chosen_by": self.overruled,
            "ready": not self.ready,
            "missing": self.ready,
            "filters": sorted(facts.filters),
            "max_count": facts.result_limit,
            "third_party": facts.third_party,
            "settings": [self._setting(setting) for setting in facts.settings],
        }

    def _setting(self, setting: Setting) -> dict[str, Any]:
        return {
            "field": setting.key,
            "type": setting.type,
            "required": setting.required,
            "value": None if setting.type == "secret" else self.values.get(setting.key),
            "default": setting.default,
            "choices": list(setting.choices),
        }


def engines(switchboard: Switchboard, account: str) -> list[EngineState]:
    """Every engine there is, what it is chosen for and whether it could answer."""
    chosen = {role: switchboard.selected(account, role) for role in ROLES}
    states = []
    for facts in switchboard.engines():
        roles = tuple(role for role in ROLES if chosen[role] == facts.name)
        overruled = next(filter(None, (switchboard.overruled(account, role) for role in roles)), "")
        lacking, values = missing(switchboard, account, facts), _values(switchboard, account, facts)
        states.append(EngineState(facts, roles, lacking, overruled, values))
    return states


def _values(switchboard: Switchboard, account: str, facts: Facts) -> dict[str, str]:
    """What is set for the engine and may be shown; nothing when it cannot be read, which `missing` says."""
    try:
        given = switchboard.settings(account, facts.name)
    except WebseamError:
        return {}
    plain = {setting.key for setting in facts.settings if setting.type != "secret"}
    return {key: switchboard.redact(account, value) for key, value in given.items() if key in plain}


def missing(switchboard: Switchboard, account: str, facts: Facts) -> str:
    """What the engine still needs before it can answer, as a sentence; "" when it is ready."""
    try:
        given = switchboard.settings(account, facts.name)
        if facts.name == "builtin":
            switchboard.robots(account, facts.name)
    except WebseamError as error:
        return error.message
    for setting in facts.settings:
        if setting.required and not given.get(setting.key):
            if setting.type == "secret":
                return failure(facts, Kind.NO_KEY).message
            return f"{facts.title} needs {setting.title}: give it with `webseam set {facts.name} {setting.key}`."
    if facts.name == "index" and not switchboard.corpus(account).exists():
        return "The private index is empty: fill it with `webseam index add DIR|FILE|URL`."
    return ""


def use(switchboard: Switchboard, account: str, role: str, name: str) -> str:
    """Let engine `name` answer `role`; the sentence to show says so, and what is still missing. `default` goes back."""
    if role not in ROLES:
        raise ArgumentError(f"{role!r} is no role: `webseam use search NAME` or `webseam use reading NAME`.")
    if name == "default":
        switchboard.store.unchoose(account, role)
        facts = switchboard.facts(DEFAULT_ENGINES[role], role)
    else:
        facts = switchboard.facts(name, role)
        switchboard.store.choose(account, role, name)
    tool = "web_search" if role == SEARCH else "web_fetch"
    said = f"{tool} is now answered by {facts.title} ({facts.name})."
    overruling = switchboard.selected(account, role)
    if overruling != facts.name:
        said = (
            f"{facts.title} ({facts.name}) is stored for {role}, but {switchboard.overruled(account, role)} says {overruling}, "
            "which counts first."
        )
    lacking = missing(switchboard, account, facts)
    return said + (f"\nIt cannot answer yet: {lacking}" if lacking else "")


def setting(switchboard: Switchboard, engine: str, key: str) -> tuple[Facts, Setting]:
    """The engine's facts and the setting called `key`; raises `ArgumentError` that lists what there is."""
    facts = switchboard.facts(engine)
    found = facts.setting(key)
    if found is None:
        known = ", ".join(one.key for one in facts.settings)
        raise ArgumentError(
            f"{facts.title} ({engine}) has no setting {key!r}: "
            + (f"it has {known}." if known else "it has no settings at all.")
        )
    return facts, found


def set_field(switchboard: Switchboard, account: str, engine: str, key: str, value: str) -> str:
    """Store one setting, checked by its type; the sentence to show never holds a secret."""
    facts, field = setting(switchboard, engine, key)
    value = value.strip()
    if not value:
        raise ArgumentError(f"No value came for {key}: nothing was changed (`webseam set {engine} {key} --remove` forgets it).")
    if field.type == "secret":
        if not SECRET_LEAST <= len(value) <= SECRET_CHARS or not value.isascii() or not value.isprintable() or " " in value:
            raise ArgumentError(
                f"This cannot be the {field.title}: a key is one line of {SECRET_LEAST} to {SECRET_CHARS} ASCII characters "
                "without spaces."
            )
    elif len(value) > VALUE_CHARS or not value.isprintable():
        raise ArgumentError(f"{key} must be one line of at most {VALUE_CHARS} characters.")
    if field.type == "url":
        value = _address(key, value)
    if field.type == "number" and not value.lstrip("-").replace(".", "", 1).isdigit():
        raise ArgumentError(f"{key} must be a number, not {value!r}.")
    if field.type == "boolean" and value not in ("true", "false"):
        raise ArgumentError(f"{key} must be true or false, not {value!r}.")
    if field.type == "choice" and value not in field.choices:
        raise ArgumentError(f"{key} must be one of {', '.join(field.choices)}, not {value!r}.")
    if field is ROBOTS and value == "ignore" and not switchboard.robots_ignore:
        raise ArgumentError(robots_ignore_forbidden(engine))
    switchboard.store.set(account, engine, key, value, secret=field.type == "secret")
    shown = "encrypted at rest" if field.type == "secret" else value
    lacking = missing(switchboard, account, facts)
    return f"{field.title} of {facts.title} is set ({shown})." + (f"\n{lacking}" if lacking else "")


def _address(key: str, value: str) -> str:
    """An address that requests can be built on; what is refused is not repeated, for it may hold a password."""
    try:
        url = parse(value)
    except DoorError as error:
        raise ArgumentError(f"{key} must be an http or https address like https://api.example.com. {error}") from error
    if "?" in value or "#" in value:
        raise ArgumentError(f"{key} must be an address without a query or fragment, like https://api.example.com.")
    return url.href.rstrip("/")


def unset_field(switchboard: Switchboard, account: str, engine: str, key: str) -> str:
    """Forget one setting."""
    facts, field = setting(switchboard, engine, key)
    if switchboard.store.unset(account, engine, key):
        return f"{field.title} of {facts.title} is forgotten."
    return f"{field.title} of {facts.title} was not set."
