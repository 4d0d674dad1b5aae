"""What the head of a page says about it: title, language, canonical address, robots, refresh."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.tree import Element, first, text_of
from webseam.documents.invisible import drop_invisible

if TYPE_CHECKING:
    from webseam.documents.html.links import Base
    from webseam.documents.html.parse import Parsed

MAX_META = 500
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")
# "5; url='/next'", "0;/next": the time, a separator, an optional "url=" (HTML Standard, 4.2.5.3, shared declarative refresh).
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(\S.*))", re.IGNORECASE | re.DOTALL)
_ROBOTS_NAMES = frozenset({"robots", "webseam"})


@dataclass(frozen=True, slots=True)
class Head:
    """The facts of a page's head; what is not said is empty. `description` is the page's own summary of itself."""

    title: str = ""
    language: str = ""
    canonical: str = ""
    robots: tuple[str, ...] = ()
    refresh: str = ""
    description: str = ""


def read_head(page: Parsed, base: Base) -> Head:
    """Read the head of `page`."""
    metas: dict[str, str] = {}
    robots: dict[str, None] = {}
    title = canonical = ""
    for element in _elements_of(page)[:MAX_META]:
        attributes = element.attrs
        if element.tag == "title" and not title:
            title = text_of(element)
        elif element.tag == "link" and not canonical and "canonical" in attributes.get("rel", "").lower().split():
            canonical = base.resolve(attributes.get("href", ""))
        elif element.tag == "meta":
            name = (attributes.get("name") or attributes.get("property") or attributes.get("http-equiv") or "").strip().lower()
            value = attributes.get("content", "").strip()
            if name in _ROBOTS_NAMES:
                robots.update(dict.fromkeys(token for token in re.split(r"[,\s]+", value.lower())[:20] if token))
            elif name and value:
                metas.setdefault(name, value)
    if not title:
        title = metas.get("og:title", "") or metas.get("twitter:title", "")
    if not title and (heading := first(page.body, "h1")) is not None:
        title = text_of(heading)
    language = page.html.attrs.get("lang", "") or metas.get("content-language", "") or metas.get("og:locale", "")
    match = _LANGUAGE.match(language.strip())
    return Head(
        title=_line(title, LIMITS.title_chars),
        language=match.group().replace("_", "-")[:35] if match else "",
        canonical=canonical,
        robots=tuple(robots),
        refresh=_refresh(metas.get("refresh", ""), base),
        description=_line(metas.get("description", "") or metas.get("og:description", ""), LIMITS.error_chars),
    )


def _elements_of(page: Parsed) -> list[Element]:
    """Elements of the head, and metadata that broken pages leave at the top of the body."""
    found = [child for child in page.head.children if isinstance(child, Element)]
    found += [child for child in page.body.children if isinstance(child, Element) and child.tag in ("title", "meta", "link")]
    return found


def _refresh(value: str, base: Base) -> str:
    match = _REFRESH.match(value[:2_000])
    if match is None:
        return ""
    return base.resolve(match[1] or match[2] or match[3] or "")


def _line(text: str, limit: int) -> str:
    cleaned = " ".join(drop_invisible(text)[0].split())
    return cleaned if len(cleaned) <= limit else cleaned[: limit - 1].rstrip() + "…"
