"""Documents that are text already: Markdown at its word, plain text as it is, JSON, XML and source code between fences.

Small CSV becomes a table of Markdown, which is read more surely; the rest stays as it came, between fences: a table would take
more characters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.code import fenced
from webseam.documents.html.links import MAX_LINKS, Base
from webseam.documents.json_text import readable
from webseam.documents.sniff import Form
from webseam.documents.tabular import cell, table

if TYPE_CHECKING:
    from webseam.documents.sniff import Judged

_HEADING = re.compile(r" {0,3}#{1,2} +(.{1,1000}?)[ #]*$")
_FRONT_MATTER_KEY = {
    "---": re.compile(r"[\w\"'][^\n:]{0,100}:(?:[ \t]|$)"),  # YAML
    "+++": re.compile(r"\[|[\w\"'][^\n=]{0,100}="),  # TOML
}
_FRONT_MATTER_REST = re.compile(r"[ \t]|- |-?$|[#\]})]")  # lines of YAML that go on with what a key began, and comments
_FRONT_MATTER_TITLE = re.compile(r"title[ \t]{0,9}[:=][ \t]{0,9}(.{1,1000})$", re.IGNORECASE)
_FRONT_MATTER_LINES = 100
_FRONT_MATTER_CHARS = 10_000
_LINK = re.compile(
    r"\]\(\s{0,9}<?([^\s()<>]{1,8192})|<(https?://[^\s<>]{1,8192})>|^ {0,3}\[[^\]\n]{1,200}\]:\s{1,9}<?(\S{1,8192})",
    re.MULTILINE,
)


def as_markdown(text: str, judged: Judged) -> str:
    """`text` as it goes into a document of ours."""
    if judged.form in (Form.PLAIN, Form.MARKDOWN):
        return text.strip("\n").rstrip()
    if judged.form is Form.JSON:
        return fenced(readable(text), "json")
    if judged.form is Form.CSV and (rows := _small_table(text, judged.content_type)):
        return table(rows)
    language = {Form.CSV: "csv", Form.XML: "xml"}.get(judged.form, judged.language)
    return fenced(text, language)


def _small_table(text: str, content_type: str) -> list[list[str]]:
    """The rows of CSV that is small, and as wide in every row; none for any other."""
    if len(text) > LIMITS.csv_table_cells * 100:
        return []
    import csv

    delimiter = "\t" if content_type == "text/tab-separated-values" else _delimiter(text)
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True):
            if row:
                rows.append([cell(field) for field in row])
                cells += len(row)
            if cells > LIMITS.csv_table_cells or (row and len(row) != len(rows[0])):
                return []
    except csv.Error:
        return []
    return rows if len(rows) > 1 and len(rows[0]) > 1 else []


def _delimiter(text: str) -> str:
    """What divides the fields: the commonest of three in the first line; many a "CSV" has semicolons or tabs."""
    first = text.lstrip("\n").partition("\n")[0]
    return max(",;\t", key=first.count)


def drop_front_matter(markdown: str) -> tuple[str, str]:
    """Markdown without the block of metadata that it may begin with, and the title in that; "" when there is none.

    Such a block is YAML between two lines `---` (or `---` and `...`), or TOML between two `+++`: at most 100 lines, 10 KB.
    What lies between two thematic breaks looks like no YAML and stays.
    """
    if not markdown.startswith(("---", "+++")):
        return markdown, ""
    lines = markdown[: _FRONT_MATTER_CHARS + 1].split("\n")[: _FRONT_MATTER_LINES + 1]
    fence = lines[0].rstrip()
    if fence not in _FRONT_MATTER_KEY:
        return markdown, ""
    closing = (fence, "...") if fence == "---" else (fence,)
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() in closing), 0)
    if not end or not _is_metadata(lines[1:end], fence):
        return markdown, ""
    titles = (_plain_value(match[1]) for line in lines[1:end] if (match := _FRONT_MATTER_TITLE.match(line)))
    rest = markdown[sum(len(line) + 1 for line in lines[: end + 1]) :]
    return rest, next(titles, "")


def _is_metadata(lines: list[str], fence: str) -> bool:
    key = _FRONT_MATTER_KEY[fence]
    said = [line for line in lines if line.strip() and not line.startswith("#")]
    if not said:
        return not lines  # nothing at all is metadata; a heading between two thematic breaks is not
    return bool(key.match(said[0])) and (
        fence == "+++" or all(key.match(line) or _FRONT_MATTER_REST.match(line) for line in said)
    )


def _plain_value(value: str) -> str:
    """A YAML or TOML value as text when it is written in one line, else "": what goes on below is not put together here."""
    value = value.strip()
    quote = value[:1]
    if quote in ("'", '"'):
        inner = re.match(r"'((?:[^']|'')*)'" if quote == "'" else r'"((?:[^"\\]|\\.)*)"', value)
        if inner is None:
            return ""
        return inner[1].replace("''", "'") if quote == "'" else re.sub(r"\\([\\\"])", r"\1", inner[1])
    return "" if quote in "|>&*!{[#%@`" else value.partition(" #")[0].rstrip()


def markdown_title(markdown: str) -> str:
    """The title that the first heading gives; "" when there is none in the first lines."""
    for line in markdown[: LIMITS.message_depth * 200].splitlines():
        if match := _HEADING.match(line):
            return match[1].strip()
    return ""


def markdown_links(markdown: str, url: str) -> tuple[str, ...]:
    """Where Markdown points: absolute http(s) URLs in order, each once, without fragments, at most `MAX_LINKS`."""
    base = Base(url)
    found: dict[str, None] = {}
    for match in _LINK.finditer(markdown):
        if target := base.resolve(match[1] or match[2] or match[3]).split("#", 1)[0]:
            found[target] = None
            if len(found) >= MAX_LINKS:
                break
    return tuple(found)
