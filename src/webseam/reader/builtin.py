"""The built-in web_fetch: one request through the door, and the reply as a page, read in a worker process."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.in_worker import read_in_worker
from webseam.errors import DocumentError, DoorError
from webseam.reader.refusals import empty_reply, place, refuse_status
from webseam.seam.contract import HttpRequest, Page

if TYPE_CHECKING:
    from webseam.call import Call
    from webseam.documents.document import Document
    from webseam.seam.contract import Door, HttpReply, RobotsPolicy
    from webseam.workers.pool import WorkerPool

ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.7, */*;q=0.5"
"""Sites that keep a Markdown version of a page are asked for it; it is taken at its word."""


FROM_CACHE = "From the cache: ask with cache=refresh for a new copy."


class BuiltinReader:
    """A `seam.contract.FetchProvider` over a door and a pool, for one call. `robots` is what robots.txt is to it."""

    name = "builtin"

    def __init__(self, door: Door, pool: WorkerPool, call: Call, robots: RobotsPolicy = "obey") -> None:
        self._door = door
        self._pool = pool
        self._call = call
        self._robots = robots

    async def fetch(self, url: str) -> Page:
        """The page at `url`, redirects followed, as Markdown.

        Raises `DoorError` (the network's refusals; `robots`; `http_status` and `rate_limited` for replies that are no page),
        `DocumentError` (what came is no text), and `WorkerError` (it could not be read within the bounds).
        """
        with ExitStack() as held:  # until the document is read: bodies that wait for a worker are bodies in memory
            request = HttpRequest(url, headers={"Accept": ACCEPT})
            reply = await self._door.send(request, follow=True, held=held, cache=self._call.cache, robots=self._robots)
            now = dt.datetime.now(dt.UTC)
            retrieved = dt.datetime.fromtimestamp(reply.retrieved_at, dt.UTC) if reply.retrieved_at else now
            retrieved_at = retrieved.isoformat(timespec="seconds").replace("+00:00", "Z")
            # A refusal has no head that says when it came.
            since = f"From the cache, retrieved {retrieved_at}: ask with cache=refresh for a new copy."
            since = since if reply.retrieved_at else ""
            refuse_status(reply, since)
            if not reply.body:
                raise empty_reply(reply, since)
            document = await self._read(reply)
        return Page(
            url=url,
            content=document.content,
            final_url=reply.url,
            title=document.title,
            content_type=document.content_type,
            retrieved_at=retrieved_at,
            truncated=document.truncated,
            notes=(*_notes(reply, document), *([FROM_CACHE] if reply.retrieved_at else [])),
            author=document.author,
            date=document.date,
            changed=document.changed,
            language=document.language,
            site=document.site,
            canonical=document.canonical,
            next_page=document.next_page,
            confidence=document.confidence,
        )

    async def _read(self, reply: HttpReply) -> Document:
        seconds = min(LIMITS.document_seconds, self._call.remaining())
        if seconds <= 0:
            raise DoorError(
                f"{place(reply.url)} answered too late to be read: try again.", kind="timeout", url=place(reply.url)
            )
        content_type = reply.headers.get("content-type", "")
        with self._call.step("document", bytes=len(reply.body)) as step:
            try:
                document = await read_in_worker(
                    self._pool,
                    reply.body,
                    url=reply.url,
                    content_type=content_type,
                    whole=self._call.whole,
                    links=False,
                    seconds=seconds,
                )
            except DocumentError as error:
                raise DocumentError(f"{place(reply.url)}: {error.message}", kind=error.kind) from None
            step.detail.update(
                content_type=document.content_type,
                encoding=document.encoding,
                chars=len(document.content),
                hidden=document.hidden,
            )
        return document


def _notes(reply: HttpReply, document: Document) -> tuple[str, ...]:
    notes = (*document.notes, *reply.notes)
    if reply.status == 206:
        return (*notes, "The site sent only a part of the page (status 206).")
    return notes
