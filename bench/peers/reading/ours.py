"""Our reader as a process that lives long: `ours.py`, by the rules of extract.py.

It gets the bytes of a page (`data`, in base64), not its text, and what is counted is all that `web_fetch` has done in a
worker: decoding, judging the type, parsing, the head, hidden text, the main content, Markdown. A line with a `fold` is answered
with the weights of that fold, which never saw the domains of its pages.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from webseam import __version__
from webseam.documents.decode import decode
from webseam.documents.html.classifier import Model
from webseam.documents.html.page import read_html
from webseam.documents.read import read
from webseam.errors import DocumentError

FOLDS = Path(__file__).resolve().parents[3] / "training" / "folds"


@cache
def of_fold(fold: int) -> Model:
    """The weights that saw no page of this fold."""
    return Model.load(FOLDS / f"{fold}.weights")


def ours(data: bytes, url: str, fold: int | None) -> str:
    """The Markdown of a page. The one place that says which weights are used: `fold` None means those that are shipped."""
    if fold is None:
        return read(data, url=url, content_type="text/html", links=False).content
    return read_html(decode(data, charset="", markup=True).text, url=url, links=False, model=of_fold(fold)).content


def main() -> None:
    gc.freeze()
    gc.disable()  # as `workers.child` does while a document is read
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(**members: Any) -> None:
        answers.write(json.dumps(members) + "\n")
        answers.flush()

    answer(versions=f"webseam {__version__}")
    for line in sys.stdin.buffer:
        page = json.loads(line)
        data = base64.b64decode(page["data"])
        markdown, error = "", ""
        began = time.process_time()
        try:
            markdown = ours(data, page["url"], page.get("fold"))
        except DocumentError as failure:
            error = failure.message
        answer(markdown=markdown, error=error, seconds=time.process_time() - began)
        gc.collect()


if __name__ == "__main__":
    main()
