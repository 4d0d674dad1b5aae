"""The one file that knows the HTML parser: a string of HTML in, a bounded tree of our own out.

turbohtml (MIT) parses as the HTML Standard says, in linear time and without recursion: a million nested `<div>`, tables made
of traps for the adoption agency, a million attributes and 50 MB on one line were tried, and none took 2 s. Its tree is copied
by a loop, with bounds, into `tree.Element`; scripts, styles and comments are left behind on the way. Another parser
(selectolax, lxml) would replace this file and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import turbohtml
from turbohtml import Element as Source
from turbohtml import Text

from webseam.config import LIMITS
from webseam.documents.html.tree import MAX_DEPTH, MAX_ELEMENTS, Element, is_block

if TYPE_CHECKING:
    from collections.abc import Iterator

LEFT_BEHIND = frozenset(
    {
        "script", "style", "object", "embed", "applet", "canvas", "audio", "video", "param", "source", "track", "svg",
        "iframe", "select", "option", "datalist", "textarea",
    }
)  # fmt: skip
KEPT_ATTRIBUTES = frozenset(
    {
        "align", "alt", "alttext", "aria-hidden", "aria-label", "checked", "cite", "class", "colspan", "content",
        "data-lang", "data-language", "data-lazy-src", "data-original", "data-src", "data-srcset", "datetime", "dir",
        "display", "encoding", "height", "hidden", "href", "http-equiv", "id", "itemprop", "itemtype", "lang",
        "language", "name", "open", "property", "rel", "reversed", "role", "rowspan", "src", "srcset", "start", "style",
        "title", "type", "value", "width",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed page: its root, its head, and its body (or frameset, or the root again). `cut`: elements were left out."""

    html: Element
    head: Element
    body: Element
    cut: bool = False


def parse(text: str) -> Parsed:
    """The tree of an HTML page. There is no bad HTML, says the Standard: whatever comes is a tree."""
    # Declarative shadow roots are met as templates, and copied as if their content stood in the page (as a reader sees it).
    document = turbohtml.parse(text, positions=False, allow_declarative_shadow_roots=False)
    if document.root is None:  # pragma: no cover - the Standard gives every document a root
        empty = Element("html")
        return Parsed(empty, Element("head"), empty)
    html, cut = _load(document.root)
    head = body = None
    for child in html.children:
        if isinstance(child, Element):
            if child.tag == "head" and head is None:
                head = child
            elif child.tag in ("body", "frameset") and body is None:
                body = child
    return Parsed(html, head or Element("head"), body or html, cut)


def likely_encoding(sample: bytes) -> str:
    """The label of the encoding that the letters of `sample` are likeliest in, by how often pairs of them occur.

    Of 104 short texts (19 languages in their 26 encodings) it was right about 100, charset-normalizer about 83.
    """
    from turbohtml.detect import detect

    return detect(sample).encoding or ""


def _load(source: Source) -> tuple[Element, bool]:
    """Copy the parser's tree in document order; what lies deeper than `MAX_DEPTH` goes into the last element above it."""
    root = Element("html", _attributes(source))
    made: list[tuple[Element, Element]] = []  # child, parent
    seen = 0
    stack: list[tuple[Iterator[turbohtml.Node], Element, int]] = [(iter(source.children), root, 1)]
    while stack:
        nodes, element, depth = stack[-1]
        add = element.children.append
        for node in nodes:
            kind = type(node)
            if kind is Text:
                add(node.data)  # type: ignore[attr-defined] # `type() is` (turbohtml's classes are final) is what it costs to copy fast
            elif kind is Source:
                assert isinstance(node, Source)
                tag = node.tag
                seen += 1
                if seen > MAX_ELEMENTS:
                    return _finish(root, made), True
                if tag in LEFT_BEHIND or tag == "template":
                    copied, inner = _special(node, tag)
                    if copied is not None:
                        add(copied)
                    if inner is not None:
                        stack.append((iter(inner.children), element, depth))
                        break
                    continue
                if depth >= MAX_DEPTH:
                    if is_block(tag):
                        add("\n")
                    stack.append((iter(node.children), element, depth))
                    break
                copy = Element(tag, _attributes(node))
                made.append((copy, element))
                add(copy)
                stack.append((iter(node.children), copy, depth + 1))
                break
        else:
            stack.pop()
    return _finish(root, made), False


def _finish(root: Element, made: list[tuple[Element, Element]]) -> Element:
    """Tell every ancestor of a block that it holds one (children come after their parents in `made`)."""
    for child, parent in reversed(made):
        if child.blocky:
            parent.blocky = True
    return root


def _special(node: Source, tag: str) -> tuple[Element | None, turbohtml.Node | None]:
    """What to copy in the place of an element that is left behind: TeX of MathJax 2, the content of a shadow root."""
    if tag == "script":
        kind = node.attr("type") or ""
        if kind.startswith("math/tex"):
            return Element(
                "math", {"alt": node.text[: LIMITS.url_chars], "display": "block" if "display" in kind else ""}
            ), None
    elif tag == "template" and node.attr("shadowrootmode") is not None and node.children:
        return None, node.children[0]
    return None, None


def _attributes(node: Source) -> dict[str, str]:
    attributes = node.attrs
    if not attributes:
        return {}
    kept: dict[str, str] = {}
    for name, value in attributes.items():
        if name in KEPT_ATTRIBUTES:
            # Class and rel come as lists. A value beyond any use (a data: URL in `src`) is cut; its beginning says what it is.
            text = " ".join(value) if isinstance(value, list) else value or ""
            kept[name] = text if len(text) <= LIMITS.url_chars else text[: LIMITS.url_chars + 1]
    return kept
