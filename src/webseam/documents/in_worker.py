"""Reading in a worker process: one hostile document costs one worker, never the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from webseam.config import LIMITS
from webseam.documents.document import Document
from webseam.errors import WorkerError

if TYPE_CHECKING:
    from webseam.workers.pool import WorkerPool


async def read_in_worker(
    pool: WorkerPool,
    data: bytes,
    *,
    url: str,
    content_type: str = "",
    whole: bool = False,
    seconds: float = LIMITS.document_seconds,
) -> Document:
    """As `read.read`, in a process of `pool`, within `seconds`.

    Raises `DocumentError` as `read` does, and `WorkerError` when the document took too long, too much memory, or the process.
    """
    try:
        answer = await pool.run("read", data, url, content_type, whole, seconds=seconds)
    except WorkerError as error:
        raise WorkerError(_WORDS.get(error.kind, "{0}").format(error.message, seconds), kind=error.kind) from None
    return msgspec.convert(answer, Document)


_WORDS = {
    "timeout": "The document could not be read within {1:.0f} s (it may be built to be slow): fetch a simpler page.",
    "memory": "The document needs more memory to be read than is allowed: fetch a simpler page, or a part of it.",
    "crashed": "The document made the process that reads it fail: fetch another page with the same content.",
}


def read_job(data: bytes, url: str, content_type: str, whole: bool = False) -> Document:
    """What the worker runs for `read_in_worker`."""
    from webseam.documents.read import read

    return read(data, url=url, content_type=content_type, whole=whole)
