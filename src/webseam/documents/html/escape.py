"""Pieces of Markdown text: escaping, paragraphs, marks and indents.

What is read by a model, raw, is escaped as lightly as can be while page text cannot pose as structure: what would begin a
heading, a list, a quote, a fence or a table at the start of a line, and links, code, emphasis and tags inside one.
"""

from __future__ import annotations

import re

from webseam.documents.chars import collapse, has_marks

_INLINE = re.compile(r"`|~(?=~)|(?<=~)~|\*(?=\S)|(?<=\S)\*|<(?=[A-Za-z/!?])|\](?=[(\[:])")
_UNDERSCORES = re.compile(r"(?<![\w\\])_+(?=\w)")
_BRACKETS = re.compile(r"[\[\]]")
_LINE_START = re.compile(r"#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|={2,}(?=\s*$)|-{2,}(?=\s*$)|~{3,}|\|")
_ORDERED = re.compile(r"(\d{1,9})([.)])(?=\s|$)")


def escape(text: str, in_link: bool = False) -> str:
    """Page text as Markdown that shows it: white space collapsed; with `in_link`, unable to end the link's text."""
    text = collapse(text)
    if not has_marks(text):
        return text
    escaped = _INLINE.sub(r"\\\g<0>", text)
    if "_" in escaped:
        escaped = _UNDERSCORES.sub(_backslashes, escaped)
    return _BRACKETS.sub(r"\\\g<0>", escaped) if in_link else escaped


def paragraphs(gathered: str) -> list[str]:
    """The paragraphs of a gathered line: hard breaks for single `<br>`, a new paragraph for two or more."""
    if "\n" not in gathered:
        text = collapse(gathered).strip(" ")
        return [text] if text else []
    found: list[str] = []
    lines: list[str] = []
    for line in [*gathered.split("\n"), ""]:
        line = collapse(line).strip(" ")
        if line:
            lines.append(line)
        elif lines:
            found.append("  \n".join(lines))
            lines = []
    return found


def _backslashes(match: re.Match[str]) -> str:
    return "".join(["\\" + character for character in match.group()])


def line_start(line: str) -> str:
    """`line`, unable to pose as a heading, an item, a quote, a rule, a fence or a row."""
    if not line or not (line[0] in "#-+*>=~|" or line[0].isdecimal()):
        return line
    if _LINE_START.match(line):
        return "\\" + line
    return _ORDERED.sub(r"\1\\\2", line, count=1) if _ORDERED.match(line) else line


def wrap(inside: str, mark: str) -> str:
    """`inside` between marks, line by line, the spaces at its ends put outside (marks next to a space are no marks)."""
    wrapped = []
    for line in inside.split("\n"):
        text = line.strip()
        if not text:
            wrapped.append(line)
            continue
        start = len(line) - len(line.lstrip())
        end = len(line.rstrip())
        wrapped.append(f"{line[:start]}{mark}{text}{mark}{line[end:]}")
    return "\n".join(wrapped)


def indent(text: str, width: int) -> str:
    pad = " " * width
    return "\n".join([pad + line if line else line for line in text.split("\n")])
