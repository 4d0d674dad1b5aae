"""What the reader of one format hands to `read`, which makes a `Document` of it."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from webseam.config import LIMITS

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?")
# What programs write where nobody gave a title or an author, without brackets and in lower case.
_NO_TITLES = frozenset(
    {
        "", "anonymous", "n/a", "none", "null", "powerpoint presentation", "title", "undefined", "unknown", "unnamed",
        "unspecified", "untitled", "untitled document", "untitled presentation", "untitled spreadsheet", "word document",
    }
)  # fmt: skip
# Of a page's too: what a publishing system writes.
_NOBODY = _NO_TITLES | {
    "admin", "administrator", "apache poi", "author", "creator", "default", "default user", "docx", "exceljs", "libreoffice",
    "microsoft office user", "openoffice", "openpyxl", "owner", "pandoc", "phpexcel", "phpspreadsheet", "phpword",
    "python-docx", "python-pptx", "reportlab", "sheetjs", "un-named", "unknown author", "unknown creator", "user",
    "windows user", "xlsxwriter", "your name", "guest", "nobody", "root", "webmaster", "佚名", "匿名", "未知",
}  # fmt: skip
# What the templates of python-docx and python-pptx say, on whatever day a document was made of them.
_NO_DATES = frozenset({"2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z"})


@dataclass(slots=True)
class Extract:
    """One document's text and what it says about itself. `date` is ISO 8601; `hidden` counts characters that were dropped.

    `cut` says that something is missing at the end, and a note of ours says what.
    """

    content: str
    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    links: tuple[str, ...] = ()
    hidden: int = 0
    cut: bool = False
    notes: list[str] = field(default_factory=list)


class Budget:
    """How much longer a document may be read, in time, characters and parts: long ones stop, and show what they have."""

    __slots__ = ("_until", "chars", "parts")

    def __init__(self, seconds: float = LIMITS.document_seconds, chars: int = LIMITS.page_chars) -> None:
        self._until = time.monotonic() + seconds * LIMITS.document_share
        self.parts = LIMITS.document_parts
        self.chars = chars

    @property
    def spent(self) -> bool:
        """Whether to stop."""
        return self.chars <= 0 or self.parts <= 0 or self.late

    def take(self) -> bool:
        """Whether there is room for one more paragraph, or piece of one."""
        self.parts -= 1
        return self.parts >= 0 and not (self.parts % 64 == 0 and self.late)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._until


def too_long(content: str) -> str:
    """The note on a document of which only `content` was read."""
    return f"The document is longer than is read: only its first {len(content):,} characters are here."


def iso_date(text: str) -> str:
    """An ISO 8601 date, with its time when it has one, out of what metadata say; "" for anything else."""
    match = _DATE.match(text.strip()[:40])
    if match is None or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        return ""
    return match.group()


def given_title(text: str) -> str:
    """A title that somebody gave, on one line; "" for what a program wrote in place of one ("(anonymous)")."""
    return "" if _bare(text) in _NO_TITLES else " ".join(text.split())


def given_author(text: str) -> str:
    """An author whom somebody named, on one line; "" for a program, or what it wrote in place of one."""
    return "" if is_nobody(text) else " ".join(text.split())


def is_nobody(name: str) -> bool:
    """Whether what stands where an author should is what a program puts there for want of one."""
    return _bare(name) in _NOBODY


def _bare(name: str) -> str:
    """A short name without the brackets around it, in lower case."""
    name = " ".join(name.split())
    return (name.strip("()[]<>\"'-. ") if len(name) < 40 else name).casefold()


def last_date(created: str, changed: str) -> str:
    """Of two dates in ISO 8601, either may be "", the later: nothing changes before it is there, whatever a template says."""
    return max(("" if date in _NO_DATES else date for date in (changed, created)), key=lambda date: date[:10])
