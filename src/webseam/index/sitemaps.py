"""What a site says are its pages: the sitemaps that it names, and those that they name, bounded in number and depth.

This side asks for them and picks out what belongs to the site; the bytes are read by `sitemap.py`, in a worker process.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from webseam.config import LIMITS
from webseam.errors import DocumentError, DoorError, WorkerError
from webseam.index.canonical import canonical_url, origin_of
from webseam.seam.contract import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from webseam.seam.contract import Door, RobotsPolicy
    from webseam.workers.pool import WorkerPool

    ParseSitemap = Callable[[bytes], Awaitable[list[tuple[bool, str]]]]
    """bytes -> (whether it is another sitemap, address), ...; raises `DocumentError` and `WorkerError`."""

SITEMAP_FILES: Final = 100


@dataclass(slots=True)
class Sitemaps:
    """What was found: the `pages`, in order and canonical; `failed` sitemaps and why; whether there was more than we take."""

    pages: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    cut: bool = False


async def find(
    origin: str,
    named: Iterable[str],
    *,
    door_for: Callable[[], Door],
    parse_sitemap: ParseSitemap,
    robots: RobotsPolicy = "obey",
) -> Sitemaps:
    """The pages in the sitemaps that robots.txt named, or else in /sitemap.xml, and in the sitemaps that those name.

    Only what lies at `origin` itself counts. That there is no /sitemap.xml, or that robots.txt disallows it, is no failure.
    """
    found = Sitemaps()
    wanted = [url for name in named if (url := canonical_url(name, origin + "/")) and origin_of(url) == origin]
    guessed = not wanted
    queue = deque((url, 1) for url in dict.fromkeys(wanted or [f"{origin}/sitemap.xml"]))
    seen = {url for url, _ in queue}
    pages: dict[str, None] = {}
    while queue:
        url, depth = queue.popleft()
        try:
            for is_sitemap, address in await _read(url, door_for, parse_sitemap, robots, guessed):
                place = canonical_url(address, url)
                if not place or origin_of(place).partition("://")[2] != origin.partition("://")[2]:
                    continue
                if not is_sitemap:
                    pages[place] = None
                elif place not in seen and depth < LIMITS.sitemap_depth and len(seen) < SITEMAP_FILES:
                    seen.add(place)
                    queue.append((place, depth + 1))
                elif place not in seen:
                    found.cut = True
                if len(pages) >= LIMITS.sitemap_urls:
                    found.cut = True
                    queue.clear()
                    break
        except (DoorError, DocumentError, WorkerError) as error:
            if guessed and error.kind == "robots":
                continue
            found.failed.append((url, str(error).partition("\n")[0]))
        guessed = False
    found.pages = list(pages)
    return found


async def _read(
    url: str, door_for: Callable[[], Door], parse: ParseSitemap, robots: RobotsPolicy, guessed: bool
) -> list[tuple[bool, str]]:
    request = HttpRequest(url, headers={"Accept": "application/xml, text/xml, text/plain"})
    reply = await door_for().send(request, follow=True, robots=robots)
    if reply.status >= 400:
        if guessed and reply.status < 500:
            return []
        raise DocumentError(f"it answered with status {reply.status}", kind="unreadable")
    if guessed and b"<" in reply.body[:1000] and "html" in reply.headers.get("content-type", ""):
        return []  # a site that answers every address with a page
    return await parse(reply.body)


async def parse_in_worker(pool: WorkerPool, data: bytes, *, seconds: float = LIMITS.document_seconds) -> list[tuple[bool, str]]:
    """As `sitemap.entries`, in a process of `pool`, within `seconds`. Raises `DocumentError`, and `WorkerError`."""
    try:
        answer = await pool.run("sitemap", data, seconds=seconds)
    except WorkerError as error:
        raise WorkerError(_WORDS.get(error.kind, "{0}").format(error.message, seconds), kind=error.kind) from None
    return msgspec.convert(answer, list[tuple[bool, str]])


_WORDS: Final = {
    "timeout": "it could not be read within {1:.0f} s (it may be built to be slow)",
    "memory": "it needs more memory to be read than is allowed",
    "crashed": "it made the process that reads it fail",
}
