"""Formulas in a page: as TeX when the page has it and shows the same, else their symbols.

A reader sees neither the TeX in a formula nor its alternative text, so both must say what the symbols say: words that are not
among them are not taken for TeX.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from webseam.documents.html.tree import Element, text_of

if TYPE_CHECKING:
    from webseam.documents.html.tree import Child

_ENVELOPE = re.compile(r"\{\\(?:displaystyle|textstyle)\s+(.*)\}", re.DOTALL)
# What is TeX's own: commands, and arguments that name something instead of showing it.
_COMMAND = re.compile(
    r"\\begin\s?\{[a-z]*array\*?\}(?:\[\w\])?\{[^{}]{0,100}\}"
    r"|\\(?:begin|end|color|textcolor|colorbox|label|hspace|vspace|class|cssId|style|href|mspace|hskip|kern)\*?\s?\{[^{}]{0,100}\}"
    r"|\\[a-zA-Z]+"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
SPARE_LETTERS = 8
"""Letters that TeX may have beyond those that are shown: units, positions, columns."""


def formula(element: Element) -> str:
    """A formula as TeX when the page has it (MathJax, KaTeX, MediaWiki) and shows it, else its symbols."""
    shown, tex = _symbols_and_tex(element)
    alternative = element.attrs.get("alt") or (element.attrs.get("alttext") if shown else "")
    tex = next((found for one in (alternative, tex) if (found := _spaced(one or "")) and _says(found, shown)), "")
    if not tex:
        return shown
    if match := _ENVELOPE.fullmatch(tex):
        tex = match[1]
    mark = "$$" if element.attrs.get("display") == "block" else "$"
    return f"{mark}{tex}{mark}"


def _symbols_and_tex(element: Element) -> tuple[str, str]:
    """The text of a formula that is shown, and its annotation in TeX."""
    tex = ""
    symbols = Element("math")
    stack: list[Child] = list(reversed(element.children))
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            symbols.children.append(node)
        elif node.tag not in ("annotation", "annotation-xml"):
            stack.extend(reversed(node.children))
        elif not tex and "tex" in node.attrs.get("encoding", "").lower():
            tex = "".join(child for child in node.children if isinstance(child, str))
    return text_of(symbols), tex


def _says(tex: str, shown: str) -> bool:
    """Whether `tex` has no words but those that are `shown`. Nothing shown: a formula that MathJax 2 would draw."""
    if not shown:
        return True
    symbols = "".join(unicodedata.normalize("NFKC", shown).split()).casefold()
    source = _COMMAND.sub(" ", unicodedata.normalize("NFKC", tex)).casefold()
    if any(word not in symbols for word in _WORD.findall(source)):
        return False
    return (Counter(filter(str.isalpha, source)) - Counter(symbols)).total() <= SPARE_LETTERS


def _spaced(text: str) -> str:
    return " ".join(text.split())
