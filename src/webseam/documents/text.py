"""Documents that are text already: Markdown at its word, plain text as it is, JSON, CSV, XML and source code between fences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.code import fenced
from webseam.documents.html.links import MAX_LINKS, Base
from webseam.documents.sniff import Form

if TYPE_CHECKING:
    from webseam.documents.sniff import Judged

_COMMENT_OR_FENCE = re.compile(r"<!--|^ {0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,2} +(.{1,1000}?)[ #]*$")
_FRONT_MATTER_TITLE = re.compile(r"title\s{0,9}[:=]\s{0,9}(.{1,1000})$", re.IGNORECASE)
_LINK = re.compile(
    r"\]\(\s{0,9}<?([^\s()<>]{1,8192})|<(https?://[^\s<>]{1,8192})>|^ {0,3}\[[^\]\n]{1,200}\]:\s{1,9}<?(\S{1,8192})",
    re.MULTILINE,
)
_BRACKETS = re.compile(r"[\[\]{}]")
_FORMATTED_CHARS = 500_000
_FORMATTED_DEPTH = 40


def as_markdown(text: str, judged: Judged) -> str:
    """`text` as it goes into a document of ours."""
    if judged.form in (Form.PLAIN, Form.MARKDOWN):
        return text.strip("\n").rstrip()
    if judged.form is Form.JSON:
        return fenced(_readable_json(text), "json")
    language = {Form.CSV: "csv", Form.XML: "xml"}.get(judged.form, judged.language)
    return fenced(text, language)


def drop_comments(markdown: str) -> tuple[str, int]:
    """Markdown without HTML comments, which nobody sees where it is shown, outside fences; and how many characters went."""
    if "<!--" not in markdown:
        return markdown, 0
    kept: list[str] = []
    dropped = 0
    kept_from = position = 0
    while match := _COMMENT_OR_FENCE.search(markdown, position):
        if match[1]:  # a fence: what it holds is shown as it is
            length = min(len(match[1]), 100)
            closing = re.compile(rf"^ {{0,3}}{match[1][0]}{{{length},}}[ \t]*$", re.MULTILINE).search(markdown, match.end())
            if closing is None:
                break
            position = closing.end()
            continue
        end = markdown.find("-->", match.end())
        kept.append(markdown[kept_from : match.start()])
        if end < 0:
            return "".join(kept), dropped + len(markdown) - match.end()
        dropped += end - match.end()
        kept_from = position = end + 3
    kept.append(markdown[kept_from:])
    return "".join(kept), dropped


def markdown_title(markdown: str) -> str:
    """The title that front matter or the first heading gives; "" when there is none in the first lines."""
    lines = markdown[: LIMITS.message_depth * 200].splitlines()
    in_front_matter = bool(lines) and lines[0].strip() in ("---", "+++")
    for number, line in enumerate(lines):
        if in_front_matter and number:
            if line.strip() in ("---", "+++"):
                in_front_matter = False
            elif match := _FRONT_MATTER_TITLE.match(line):
                return match[1].strip().strip("\"'")
        elif match := _HEADING.match(line):
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


def _readable_json(text: str) -> str:
    """JSON on one line put on many, so that a window or a search has lines to show; anything else as it is."""
    if "\n" in text.strip() or len(text) > _FORMATTED_CHARS or _depth(text) > _FORMATTED_DEPTH:
        return text
    import msgspec

    try:
        formatted = msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return text
    return formatted if len(formatted) <= LIMITS.page_chars else text


def _depth(text: str) -> int:
    """How deep brackets nest, those in strings counted too: indenting what is deep would multiply its size."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
