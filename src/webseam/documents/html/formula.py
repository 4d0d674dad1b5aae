"""Formulas in a page: as TeX when the page has it, else their symbols."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.documents.html.tree import Element, text_of

if TYPE_CHECKING:
    from webseam.documents.html.tree import Child

_ENVELOPE = re.compile(r"\{\\(?:displaystyle|textstyle)\s+(.*)\}", re.DOTALL)


def formula(element: Element) -> str:
    """A formula as TeX when the page has it (MathJax, KaTeX, MediaWiki), else its symbols."""
    tex = element.attrs.get("alt") or element.attrs.get("alttext") or ""
    stack: list[Child] = list(reversed(element.children))
    while stack and not tex:
        node = stack.pop()
        if isinstance(node, Element):
            if node.tag == "annotation" and "tex" in node.attrs.get("encoding", "").lower():
                tex = "".join(child for child in node.children if isinstance(child, str))
            stack.extend(reversed(node.children))
    tex = " ".join(tex.split())
    if not tex:
        return text_of(element)
    if match := _ENVELOPE.fullmatch(tex):
        tex = match[1]
    mark = "$$" if element.attrs.get("display") == "block" else "$"
    return f"{mark}{tex}{mark}"
