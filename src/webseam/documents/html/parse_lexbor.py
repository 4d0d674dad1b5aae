"""The tree of a page by lexbor (Apache-2.0, wrapped by selectolax, MIT): the parser where turbohtml has no wheel.

Both parsers build the tree that the HTML Standard prescribes, and the loop below leaves the same things behind as the first
one's. Two things are lexbor's own. It compares every attribute of a tag with those before it, and looks through all open
elements at every block: a page of a hundred thousand nested `<div>` would take it minutes, so `bounded` takes the excess away
first. And it keeps the content of a `<template>` outside the tree, where a query finds it.

Of 1,497 real pages 1,496 gave the same tree by both, and of 20,000 random ones 19,957. What differs: `</col>`, which turbohtml
takes for the end of the `<colgroup>` (the Standard ignores it); attributes of a second `<html>` in a frameset, which turbohtml
drops; and `<image>` for `<img>` straight in a `<table>`, which lexbor drops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from webseam.documents.html.bounded import bounded
from webseam.documents.html.concealment import Concealment
from webseam.documents.html.hidden import Styles, hidden_by
from webseam.documents.html.kept import (
    KEPT_ATTRIBUTES,
    SPECIAL,
    SPLIT_ATTRIBUTES,
    VALUE_CHARS,
    Parsed,
    cut_value,
    parsed,
    tex_of_script,
)
from webseam.documents.html.tree import MAX_DEPTH, MAX_ELEMENTS, Element, is_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode as Source

GUESSED_AMONG = (
    "cp1252", "cp1251", "cp1250", "gb18030", "cp932", "euc_jp", "cp949", "big5hkscs", "koi8_r", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "cp874", "iso8859_2", "cp866",
)  # fmt: skip
"""The encodings that pages without a declaration are in. Among all that Python knows, the rare ones win too often."""


def parse(text: str) -> Parsed:
    """The tree of an HTML page. There is no bad HTML, says the Standard: whatever comes is a tree."""
    text, cut = bounded(text)
    root = LexborHTMLParser(text).root
    if root is None:  # pragma: no cover - the Standard gives every document a root
        return parsed(Element("html"), (), cut=cut)
    return _load(root, cut=cut)


def likely_encoding(sample: bytes) -> str:
    """The label of the encoding that the letters of `sample` are likeliest in, by how often they occur; "" when none is."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample, steps=5, chunk_size=512, cp_isolation=list(GUESSED_AMONG), preemptive_behaviour=False).best()
    return best.encoding.replace("_", "-") if best is not None else ""


def _load(source: Source, *, cut: bool) -> Parsed:
    """Copy the parser's tree in document order; what lies deeper than `MAX_DEPTH` goes into the last element above it."""
    root = Element("html", _attributes(source))
    made: list[tuple[Element, Element]] = []  # child, parent
    styles = Styles()
    seen = 0
    stack: list[tuple[Iterator[Source], Element, int]] = [(source.iter(include_text=True), root, 1)]
    while stack:
        nodes, element, depth = stack[-1]
        add = element.children.append
        for node in nodes:
            tag = node.tag
            if tag == "-text":
                add(node.text_content or "")
            elif tag and tag[0] != "-":  # comments are called "-comment"; an element's name begins with a letter
                seen += 1
                if seen > MAX_ELEMENTS:
                    return parsed(root, made, cut=True)
                if tag in SPECIAL:
                    copied, inner = _special(node, tag)
                    if copied is not None:
                        add(copied)
                    if inner is not None:
                        stack.append((inner.iter(include_text=True), element, depth))
                        break
                    continue
                if depth >= MAX_DEPTH:
                    if hidden_by(Element(tag, _attributes(node)), styles) is not Concealment.NONE:
                        continue  # nothing above it could be asked later: the element itself is not copied
                    if is_block(tag):
                        add("\n")
                    stack.append((node.iter(include_text=True), element, depth))
                    break
                copy = Element(tag, _attributes(node))
                made.append((copy, element))
                add(copy)
                stack.append((node.iter(include_text=True), copy, depth + 1))
                break
        else:
            stack.pop()
    return parsed(root, made, cut=cut)


def _special(node: Source, tag: str) -> tuple[Element | None, Source | None]:
    """What to copy in the place of an element that is left behind: TeX of MathJax 2, the content of a shadow root."""
    if tag == "script":
        return tex_of_script(node.attributes.get("type") or "", node.text()), None
    if tag == "template" and "shadowrootmode" in node.attributes:
        fragments = node.template_fragments()  # its own alone: templates within it are in a tree of their own
        return None, fragments[0] if fragments else None
    return None, None


def _attributes(node: Source) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name, value in node.attributes.items():
        if name in KEPT_ATTRIBUTES:
            text = value or ""
            text = " ".join(text.split()) if name in SPLIT_ATTRIBUTES else text
            kept[name] = text if len(text) <= VALUE_CHARS else cut_value(name, text)
    return kept
