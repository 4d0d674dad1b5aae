"""The arguments of the two tools, checked: what a model sends, and the sentence it gets when that cannot be used.

An argument that is null, "" or [] counts as not given, whatever its type: many clients fill in everything they know of. Lenient
only where there is one meaning: a whole number may come as 5, 5.0 or "5"; one domain may come without its list.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from webseam.config import LIMITS
from webseam.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Choice = TypeVar("Choice", bound=str)

ANY = "any"
"""The default of a closed choice: some clients cannot fill a choice that holds ""."""

_DOMAIN_CHARS = 253  # RFC 1035, section 2.3.4, without the root's dot
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,15})\s*", re.ASCII)
_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})\.\.(\d{4}-\d{2}-\d{2})", re.ASCII)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}", re.ASCII)


def given(arguments: Mapping[str, Any], name: str) -> Any:
    """The value of `name`, or None when it was not given."""
    value = arguments.get(name)
    return None if value == "" or value == [] else value


def refuse_unknown(tool: str, arguments: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Raise ArgumentError for the first argument that `tool` does not have."""
    allowed = list(allowed)
    for name in arguments:
        if name not in allowed:
            raise ArgumentError(f"{tool} has no argument {_shown(name)}: it takes {', '.join(allowed)}.")


def text(arguments: Mapping[str, Any], name: str, limit: int, *, example: str = "") -> str:
    """A string of at most `limit` characters, "" when not given."""
    value = given(arguments, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ArgumentError(f"{name} must be a string{example and f', as {example}'}, not {_kind(value)}.")
    if len(value) > limit:
        raise ArgumentError(f"{name} has {len(value):,} characters, and at most {limit:,} are allowed: shorten it.")
    return value


def whole_number(arguments: Mapping[str, Any], name: str, default: int, low: int, high: int | None, *, who: str = "") -> int:
    """A whole number from `low` to `high` (None: no upper end); `who` says whose limit it is."""
    value = given(arguments, name)
    if value is None:
        return default
    number = _whole(value)
    span = f"from {low:,} to {high:,}" if high is not None else f"of at least {low:,}"
    if number is None:
        raise ArgumentError(f"{name} must be a whole number {span}, not {_kind(value)}.")
    if number < low or (high is not None and number > high):
        raise ArgumentError(f"{name} must be a whole number {span}{who and f' ({who})'}, not {_kind(number)}.")
    return number


def choice(arguments: Mapping[str, Any], name: str, accepted: tuple[Choice, ...]) -> Choice:
    """One of `accepted`, in any case; the first of them when not given."""
    value = given(arguments, name)
    if value is None:
        return accepted[0]
    for one in accepted:
        if isinstance(value, str) and value.strip().lower() == one:
            return one
    raise ArgumentError(f"{name} cannot be {_kind(value)}: take {', '.join(accepted)}.")


def flag(arguments: Mapping[str, Any], name: str) -> bool:
    """True or false, false when not given; some clients write them as strings."""
    value = given(arguments, name)
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().lower(), value)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise ArgumentError(f"{name} must be true or false, not {_kind(value)}.")


def freshness(value: Any) -> str:
    """ "day", "week", "month", "year" or "YYYY-MM-DD..YYYY-MM-DD"; "" for any time."""
    accepted = 'day, week, month, year, or a range of dates as "2026-01-01..2026-01-31"'
    if not isinstance(value, str):
        raise ArgumentError(f"freshness must be a string ({accepted}), not {_kind(value)}.")
    word = value.strip().lower()
    if word == ANY:
        return ""
    if word in ("day", "week", "month", "year"):
        return word
    dates = _RANGE.fullmatch(word)
    if dates is not None:
        from datetime import date

        try:
            ordered = date.fromisoformat(dates[1]) <= date.fromisoformat(dates[2])
        except ValueError as error:
            raise ArgumentError(f"freshness {_shown(value)} holds a date that does not exist: take {accepted}.") from error
        if not ordered:
            raise ArgumentError(f"freshness {_shown(value)} ends before it begins: put the earlier date first.")
        return word
    raise ArgumentError(f"freshness cannot be {_shown(value)}: take {accepted}.")


def country(value: Any, accepted: frozenset[str], who: str) -> str:
    """An ISO 3166-1 alpha-2 code in upper case, one of `accepted` when that is not empty; "" for any."""
    if not isinstance(value, str):
        raise ArgumentError(f'country must be a string, as "US", not {_kind(value)}.')
    code = value.strip().upper()
    if code == ANY.upper():
        return ""
    if accepted and code not in accepted:
        raise ArgumentError(f"country cannot be {_shown(value)} with {who}: it knows {', '.join(sorted(accepted))}.")
    if not accepted and not re.fullmatch("[A-Z]{2}", code):
        raise ArgumentError(f'country must be a code of two letters (ISO 3166-1), as "US", not {_shown(value)}.')
    return code


def language(value: Any, accepted: frozenset[str], who: str) -> str:
    """A BCP 47 tag as `accepted` spells it, or without its region when only that is known ("fr-CA" -> "fr"); "" for any."""
    if not isinstance(value, str):
        raise ArgumentError(f'language must be a string, as "en" or "pt-BR", not {_kind(value)}.')
    tag = value.strip()
    if tag.lower() == ANY:
        return ""
    if not _LANGUAGE.fullmatch(tag):
        raise ArgumentError(f'language must be a language tag, as "en" or "pt-BR", not {_shown(value)}.')
    parts = tag.replace("_", "-").split("-")
    if not accepted:
        return "-".join([parts[0].lower(), *(part.title() if len(part) == 4 else part.upper() for part in parts[1:])])
    by_spelling = {known.lower(): known for known in accepted}
    for length in range(len(parts), 0, -1):
        known = by_spelling.get("-".join(parts[:length]).lower())
        if known is not None:
            return known
    raise ArgumentError(f"language cannot be {_shown(value)} with {who}: it knows {', '.join(sorted(accepted))}.")


def domains(name: str, value: Any) -> tuple[str, ...]:
    """A list of domains as lower-case A-labels, without scheme, port, path, "*." or the final dot; each once, in order."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise ArgumentError(f'{name} must be a list of domains, as ["example.com"], not {_kind(value)}.')
    if len(value) > LIMITS.domains:
        raise ArgumentError(f"{name} holds {len(value)} domains, and at most {LIMITS.domains} are allowed: shorten the list.")
    return tuple(dict.fromkeys(_domain(name, item) for item in value))


def _domain(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f'{name} must hold domains as strings, as ["example.com"], not {_kind(value)}.')
    domain = value.strip().lower().removeprefix("*.").removesuffix(".")[: _DOMAIN_CHARS + 1]
    if not domain.isascii():
        # The deviation characters read differently in IDNA 2003 (which Python has) and 2008 (which sites use).
        if set(domain) & set("ßς\u200c\u200d"):
            raise ArgumentError(f"{name}: write {_shown(value)} in its xn-- form.")
        try:
            domain = domain.encode("idna").decode("ascii")
        except UnicodeError as error:
            raise ArgumentError(f"{name}: {_shown(value)} is not a domain.") from error
    labels = domain.split(".")
    if len(domain) > _DOMAIN_CHARS or not all(_LABEL.fullmatch(label) for label in labels):
        raise ArgumentError(
            f"{name}: {_shown(value)} is not a domain: write the host alone, without scheme, port or path, as example.com."
        )
    return domain


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (match := _WHOLE.fullmatch(value)):
        return int(match[1])
    return None


def _kind(value: Any) -> str:
    """What a value is, in JSON's words, with the value itself where that is short."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _shown(value)
    if isinstance(value, int | float):
        # An integer of thousands of digits cannot even be written out (sys.set_int_max_str_digits).
        return str(value) if abs(value) < 10**20 else "a number of that size"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "null"


def _shown(value: str) -> str:
    from webseam.tools.clean import clean_line, cut

    return f'"{cut(clean_line(value[:400]), 60)}"'
