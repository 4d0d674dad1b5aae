"""One extractor as a process that lives long: `extract.py NAME SETTINGS`, run by the interpreter of the peers' environment.

The first line of its output is `{"versions": ...}`. Each line of its input is `{"html": ..., "url": ...}`, and each further
line of its output `{"markdown": ..., "error": ..., "seconds": ...}`: the CPU time of the extraction alone, neither the imports
nor the messages counted. What an extractor raises is an empty answer with `error`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Extract = Callable[[str, str], str | None]


def trafilatura(settings: dict[str, Any]) -> Extract:
    from trafilatura import extract

    def run(html: str, url: str) -> str | None:
        return extract(html, url=url, output_format="markdown", **settings)

    return run


def resiliparse(settings: dict[str, Any]) -> Extract:
    from resiliparse.extract.html2text import extract_plain_text

    def run(html: str, _url: str) -> str:
        return extract_plain_text(html, main_content=True, **settings)

    return run


def readability_lxml(settings: dict[str, Any]) -> Extract:
    from markdownify import markdownify
    from readability import Document

    def run(html: str, url: str) -> str:
        return markdownify(Document(html, url=url).summary(html_partial=True), heading_style="ATX", **settings)

    return run


def html_to_markdown(settings: dict[str, Any]) -> Extract:
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    preprocessing = PreprocessingOptions(enabled=True, preset="aggressive")

    def run(html: str, url: str) -> str | None:
        options = ConversionOptions(extract_metadata=False, preprocessing=preprocessing, base_url=url, **settings)
        return convert(html, options).content

    return run


EXTRACTORS: dict[str, tuple[Callable[[dict[str, Any]], Extract], tuple[str, ...]]] = {
    "trafilatura": (trafilatura, ("trafilatura", "lxml")),
    "resiliparse": (resiliparse, ("resiliparse",)),
    "readability_lxml": (readability_lxml, ("readability-lxml", "markdownify", "lxml")),
    "html_to_markdown": (html_to_markdown, ("html-to-markdown",)),
}


def main(name: str, settings: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints goes elsewhere
    make, packages = EXTRACTORS[name]
    extract = make(json.loads(settings))

    def answer(**members: Any) -> None:
        answers.write(json.dumps(members) + "\n")
        answers.flush()

    answer(versions=", ".join(f"{package} {version(package)}" for package in packages))
    for line in sys.stdin.buffer:
        page = json.loads(line)
        markdown, error = "", ""
        began = time.process_time()
        try:
            markdown = extract(page["html"], page["url"]) or ""
        except Exception as failure:  # noqa: BLE001 - whatever it is, it is this page's answer
            error = repr(failure)[:200]
        answer(markdown=markdown, error=error, seconds=time.process_time() - began)


if __name__ == "__main__":
    main(*sys.argv[1:])
