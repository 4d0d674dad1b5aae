"""What a provider answered, held to the contract: shapes checked, strings cleaned, everything capped.

It does not matter who answered, a bundled vendor, a package or a plugin: what the tools pass on went through here. `redact`
takes the account's secrets out of a string: as it came, before anything of it is cut off, and once more when it is cleaned,
for cleaning joins what something invisible parted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProviderError
from webseam.seam.contract import Page
from webseam.tools.clean import clean_block, cut, is_visible_line, line_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    Redact = Callable[[str], str]

_EXAMINED = 1_000  # results looked at to find those that can be shown
_OF_A_PAGE = (
    "content", "final_url", "title", "content_type", "retrieved_at", "author", "date", "changed", "language", "site",
    "canonical", "next_page",
)  # fmt: skip
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?)?)?", re.ASCII)
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*", re.ASCII)
_SLACK = 4_096  # characters of a page behind its cut that are still searched for secrets


def results(answered: Any, count: int, who: str, redact: Redact) -> list[dict[str, str]]:
    """At most `count` results as the contract's SearchResult, in their order, each URL once.

    A URL that nobody could read (not http(s) or `index:`, with userinfo or hidden characters in it) is left out. Raises
    ProviderError when `answered` has the wrong shape, or when nothing in it can be shown: an empty list from us always means
    that nothing was found. `who` is the engine's title.
    """
    if not isinstance(answered, list | tuple):
        raise _unreadable(f"{who} answered with {_shape(answered)}, and a list of results was expected.")
    shown: dict[str, dict[str, str]] = {}
    for position, item in enumerate(answered[:_EXAMINED]):
        if not isinstance(item, Mapping):
            raise _unreadable(f"{who} answered with {_shape(item)} at results[{position}], and a mapping was expected.")
        url = _string(item, "url", position, who).strip().replace(" ", "%20")
        if not readable_url(url):
            continue
        url = redact(url)
        result = {
            "title": plain(_string(item, "title", position, who), LIMITS.title_chars, redact) or cut(url, LIMITS.title_chars),
            "url": url,
            "snippet": plain(_string(item, "snippet", position, who), LIMITS.snippet_chars, redact),
        }
        age = plain(_string(item, "age", position, who), LIMITS.age_chars, redact)
        if age:
            result["age"] = age
        shown.setdefault(_same(url), result)
        if len(shown) >= min(count, LIMITS.results):
            break
    if answered and not shown:
        raise _unreadable(f"{who} answered with {len(answered)} results, and none has a URL that can be read (http or https).")
    return list(shown.values())


def remarks(answered: Any, name: str, redact: Redact) -> list[str]:
    """What the answer says of itself in its attribute `name` (`not_applied`, `unresponsive`): names, cleaned and few."""
    said = getattr(answered, name, ())
    if not isinstance(said, list | tuple):
        return []
    return [line_of(item, LIMITS.age_chars, redact) for item in said[: LIMITS.domains] if isinstance(item, str)]


def page(answered: Any, url: str, who: str, retrieved_at: str, redact: Redact) -> Page:
    """The page a reader answered with, as a cleaned Page within `LIMITS.page_chars`. Raises ProviderError for a wrong shape."""
    if isinstance(answered, Page):
        found: Mapping[str, Any] = {name: getattr(answered, name) for name in _OF_A_PAGE}
        confidence: Any = answered.confidence
        truncated, notes = answered.truncated, answered.notes if isinstance(answered.notes, tuple | list) else ()
    elif isinstance(answered, Mapping):
        # A mapping's `url` is where the page was found: it is all that a plugin can say.
        found = {**answered, "final_url": answered.get("url")}
        truncated, notes = answered.get("truncated", False), ()
        confidence = answered.get("confidence")
    else:
        raise _unreadable(f"{who} answered with {_shape(answered)}, and a page (a mapping with `content`) was expected.")
    for name in _OF_A_PAGE:
        value = found.get(name)
        if not isinstance(value, str) and not (value is None and name != "content"):
            raise _unreadable(f"{who} answered with {_shape(value)} as the page's `{name}`, and a string was expected.")
    content = found["content"]
    shown = redact(content[: LIMITS.page_chars + _SLACK])[: LIMITS.page_chars]
    cleaned = clean_block(shown)
    final_url = redact((found.get("final_url") or "").strip()[: LIMITS.url_chars + _SLACK])
    return Page(
        url=url,
        content=cleaned if cleaned is shown else redact(cleaned),
        final_url=final_url if readable_url(final_url) else url,
        title=plain(found.get("title") or "", LIMITS.title_chars, redact),
        content_type=line_of(found.get("content_type") or "", LIMITS.age_chars, redact) or "text/markdown",
        retrieved_at=line_of(found.get("retrieved_at") or "", LIMITS.age_chars, redact) or retrieved_at,
        truncated=bool(truncated) or len(content) > LIMITS.page_chars,
        notes=tuple(line_of(str(note), LIMITS.title_chars, redact) for note in notes[: LIMITS.domains]),
        author=plain(found.get("author") or "", LIMITS.title_chars, redact),
        date=_date(found.get("date") or ""),
        changed=_date(found.get("changed") or ""),
        language=_language(found.get("language") or ""),
        site=plain(found.get("site") or "", LIMITS.age_chars, redact),
        canonical=_address(found.get("canonical") or "", redact),
        next_page=_address(found.get("next_page") or "", redact),
        confidence=float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else None,
    )


def _date(written: str) -> str:
    """An ISO 8601 date, with or without its time, month and day; "" for anything else."""
    if not _DATE.fullmatch(written):
        return ""
    from datetime import datetime

    try:
        datetime.fromisoformat((written + "-01-01")[:10] if len(written) < 10 else written)
    except ValueError:
        return ""
    return written


def _language(tag: str) -> str:
    return tag if len(tag) <= 35 and _LANGUAGE.fullmatch(tag) else ""


def _address(url: str, redact: Redact) -> str:
    url = redact(url.strip()[: LIMITS.url_chars + _SLACK])
    return url if readable_url(url) and not url.lower().startswith("index:") else ""


def readable_url(url: str) -> bool:
    """Whether `url` is absolute, http(s) or `index:`, without userinfo, hidden characters or white space."""
    if not 0 < len(url) <= LIMITS.url_chars or not is_visible_line(url) or " " in url or "\\" in url:
        return False
    scheme, separator, rest = url.partition(":")
    if scheme.lower() == "index":
        return bool(rest)
    if scheme.lower() not in ("http", "https") or not separator or not rest.startswith("//"):
        return False
    authority = _authority(rest)
    return bool(authority) and "@" not in authority


def _authority(rest: str) -> str:
    """The host and port of what follows "http:": up to the first of / ? #."""
    end = min((at for mark in "/?#" if (at := rest.find(mark, 2)) != -1), default=len(rest))
    return rest[2:end]


def _same(url: str) -> str:
    """`url` with what makes no difference taken off, to see that two are the same: the case of the host, a lone final slash."""
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        return url
    authority = _authority(rest)
    tail = rest[2 + len(authority) :]
    port = {"http": ":80", "https": ":443"}.get(scheme.lower(), "")
    return f"{scheme.lower()}://{authority.lower().removesuffix(port)}{'' if tail == '/' else tail}"


def _string(item: Mapping[str, Any], name: str, position: int, who: str) -> str:
    value = item.get(name)
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise _unreadable(f"{who} answered with {_shape(value)} at results[{position}].{name}, and a string was expected.")
    if not value and name == "url":
        raise _unreadable(f"{who} answered without results[{position}].url, and an absolute URL was expected.")
    return value


def _shape(value: Any) -> str:
    if value is None:
        return "nothing (None)"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name[:60]}"


def _unreadable(sentence: str) -> ProviderError:
    return ProviderError(sentence, kind="unreadable_reply")
