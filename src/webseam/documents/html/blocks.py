"""A page as the classifier sees it: a list of text blocks in document order, and the tree of block elements around them.

A block is a run of text and inline elements between two block borders, the smallest piece that is kept or left out. `Blocks`
holds them column by column (one list for each property, one entry for each block), and the elements that hold them likewise.
An inline element that holds blocks is walked through like a block, but is none: what it holds belongs to the block around.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.documents.html.tree import is_block

if TYPE_CHECKING:
    from collections.abc import Collection

    from webseam.documents.html.tree import Child, Element

MAX_BLOCKS = 20_000
"""Blocks of a page that are looked at; what comes after them is left out. The page with most of 1,497 has 6,000."""

TOKENS = 12
"""Words of an element's class, id and role that are looked at."""

# What an element says of all that is in it.
CONTEXT = (
    "nav", "header", "footer", "aside", "form", "article", "main", "section", "table", "ul", "ol", "figure", "blockquote",
    "pre", "dl", "details", "dialog", "button", "a", "h1", "p", "noscript", "label", "fieldset",
)  # fmt: skip
CONTEXT_BIT = {tag: 1 << place for place, tag in enumerate(CONTEXT)}

_INLINE_BIT = {tag: CONTEXT_BIT[tag] for tag in ("button", "label", "noscript")}
_IGNORED = frozenset({"head", "title", "meta", "link", "template", "input", "area", "map", "rp", "frame", "noframes"})
_WORDS = re.compile(r"[a-zA-Z]{2,}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SAID = re.compile(r"[^\W\d_]+|\d+|_+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def words_of(text: str) -> list[str]:
    """The words of a text, lower case; a character of Chinese, Japanese or Korean is one."""
    text = text.lower()
    if not text.isascii() and _CJK.search(text):
        text = _CJK.sub(r" \g<0> ", text)
    return _SAID.findall(text)


class Blocks:
    """The blocks of one page. `parents` comes before its children, and the page's body is element 0, its own parent -1."""

    __slots__ = (
        "begins", "contexts", "depths", "element_tags", "elements", "ends", "holders", "link_chars", "names", "parents",
        "pictures", "signatures", "sizes", "tags", "texts", "words",
    )  # fmt: skip

    def __init__(self) -> None:
        # of each block
        self.texts: list[str] = []  # white space collapsed
        self.words: list[list[str]] = []  # lower case
        self.sizes: list[int] = []  # in words
        self.link_chars: list[int] = []  # of them inside links
        self.holders: list[int] = []  # the index of the block element around
        self.contexts: list[int] = []  # bits of `CONTEXT_BIT`
        self.depths: list[int] = []
        self.tags: list[str] = []  # of the holder
        self.begins: list[tuple[Element, int]] = []  # the element, block or inline, and the place of the block's first child
        self.ends: list[int] = []  # the place after its last child
        # of each block element
        self.elements: list[Element] = []
        self.parents: list[int] = []
        self.element_tags: list[str] = []
        self.names: list[tuple[str, ...]] = []  # words of its class, id and role
        self.signatures: list[int] = []  # equal where the path of tags and names from the body down is
        self.pictures: list[tuple[Element, int, int, int]] = []  # runs without text that show one; how many blocks came before


def blocks_of(body: Element) -> Blocks:
    """The blocks of a page whose hidden text has been dropped."""
    walk = _Walk()
    walk.element(body, -1, 0, 0, False)
    return walk.blocks


class _Walk:
    __slots__ = ("bits", "blocks", "known", "linked", "paths", "picture", "pieces")

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.known: dict[str, tuple[str, ...]] = {}
        self.paths: dict[tuple[int, str, tuple[str, ...]], int] = {}
        self.pieces: list[str] = []
        self.linked = self.bits = 0
        self.picture = False

    def element(self, element: Element, parent: int, context: int, depth: int, in_link: bool) -> None:
        """A block element."""
        blocks = self.blocks
        index = len(blocks.elements)
        blocks.elements.append(element)
        blocks.parents.append(parent)
        blocks.element_tags.append(element.tag)
        attributes = element.attrs
        names: tuple[str, ...] = ()
        if attributes:
            names = self.words(attributes)
        blocks.names.append(names)
        path = (blocks.signatures[parent] if parent >= 0 else 0, element.tag, names[:3])
        blocks.signatures.append(self.paths.setdefault(path, len(self.paths) + 1))
        self.children(element, index, context | CONTEXT_BIT.get(element.tag, 0), depth + 1, in_link)

    def words(self, attributes: dict[str, str]) -> tuple[str, ...]:
        raw = attributes.get("class", "")
        if "id" in attributes:
            raw = raw + " " + attributes["id"]
        found = self.known.get(raw)
        if found is None:
            words = [word.lower() for word in _WORDS.findall(_CAMEL.sub(" ", raw[:400]))]
            found = self.known[raw] = tuple(dict.fromkeys(words))[:TOKENS]
        role = attributes.get("role")
        return (*found, "role=" + role[:40].lower()) if role else found

    def children(self, element: Element, holder: int, context: int, depth: int, in_link: bool) -> None:
        """What a block element, or an inline one that holds blocks, has in it."""
        begin = place = 0
        for child in element.children:
            if isinstance(child, str):
                self.part(child, in_link)
                place += 1
                continue
            inner = child
            if inner.blocky:
                if begin < place:
                    self.end(element, begin, place, holder, context, depth)
                begin = place + 1
                tag = inner.tag
                if tag in _IGNORED:
                    pass
                elif is_block(tag):
                    self.element(inner, holder, context, depth, in_link)
                else:
                    self.children(inner, holder, context | CONTEXT_BIT.get(tag, 0), depth, in_link or tag == "a")
            else:
                self.part(inner, in_link)
            place += 1
        if begin < place:
            self.end(element, begin, place, holder, context, depth)

    def part(self, child: Child, in_link: bool) -> None:
        if isinstance(child, str):
            self.pieces.append(child)
            if in_link:
                self.linked += len(child)
            return
        element = child
        tag = element.tag
        if tag in _IGNORED:
            return
        if tag == "br":
            self.pieces.append(" ")
        elif tag == "img":
            self.picture = True
        elif tag == "math" and not element.children:
            self.pieces.append(element.attrs.get("alt", ""))
        else:
            linked = in_link or tag == "a"
            self.bits |= _INLINE_BIT.get(tag, 0)
            for inner in element.children:
                self.part(inner, linked)

    def end(self, element: Element, begin: int, end: int, holder: int, context: int, depth: int) -> None:
        """The run `element.children[begin:end]` is over."""
        blocks = self.blocks
        text = " ".join("".join(self.pieces).split())
        self.pieces.clear()
        if text and len(blocks.texts) < MAX_BLOCKS:
            words = words_of(text)
            blocks.texts.append(text)
            blocks.words.append(words)
            blocks.sizes.append(len(words))
            blocks.link_chars.append(min(self.linked, len(text)))
            blocks.holders.append(holder)
            blocks.contexts.append(context | self.bits)
            blocks.depths.append(depth)
            blocks.tags.append(blocks.element_tags[holder])
            blocks.begins.append((element, begin))
            blocks.ends.append(end)
        elif self.picture:
            blocks.pictures.append((element, begin, end, len(blocks.texts)))
        self.linked = self.bits = 0
        self.picture = False


def prune(blocks: Blocks, kept: Collection[int]) -> None:
    """Empty the places of the blocks that are not in `kept`, and those of pictures between them, in the tree itself.

    A picture stays when the blocks before and after it do.
    """
    for index in range(len(blocks.texts)):
        if index not in kept:
            element, begin = blocks.begins[index]
            for place in range(begin, blocks.ends[index]):
                element.children[place] = ""
    last = len(blocks.texts) - 1
    for element, begin, end, before in blocks.pictures:
        if max(0, before - 1) not in kept or min(last, before) not in kept:
            for place in range(begin, end):
                element.children[place] = ""
