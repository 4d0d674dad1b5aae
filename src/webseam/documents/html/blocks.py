"""A page as the classifier sees it: a list of text blocks in document order, and the tree of block elements around them.

A block is a run of text and inline elements between two block borders, the smallest piece that is kept or left out. `Blocks`
holds them column by column (one list for each property, one entry for each block), and the elements that hold them likewise.
An inline element that holds blocks is walked through like a block, but is none: what it holds belongs to the block around.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.chars import names, squeeze, words
from webseam.documents.html.tree import is_block

if TYPE_CHECKING:
    from collections.abc import Collection

    from webseam.documents.html.tree import Child, Element

MAX_BLOCKS = 20_000
"""Blocks of a page that are judged; what comes after them stays. The page with most of 1,497 has 6,000."""

TOKENS = 12
"""Words of an element's class and id that are looked at,"""

NAME_CHARS = 400
"""in so many of their characters."""

WORDS = 40
"""Words of a block that are looked at; the others are only counted."""

# What an element says of all that is in it.
CONTEXT = (
    "nav", "header", "footer", "aside", "form", "article", "main", "section", "table", "ul", "ol", "figure", "blockquote",
    "pre", "dl", "details", "dialog", "button", "a", "h1", "p", "noscript", "label", "fieldset",
)  # fmt: skip
CONTEXT_BIT = {tag: 1 << place for place, tag in enumerate(CONTEXT)}

_BIT = CONTEXT_BIT
_INLINE_BIT = {tag: CONTEXT_BIT[tag] for tag in ("button", "label", "noscript")}
_IGNORED = frozenset({"head", "title", "meta", "link", "template", "input", "area", "map", "rp", "frame", "noframes"})
_MANY = 1 << 20
"""More than there are elements of a page: three numbers below it make one."""


class Blocks:
    """The blocks of one page. `parents` comes before its children, and the page's body is element 0, its own parent -1."""

    __slots__ = (
        "begins", "contexts", "depths", "element_tags", "ends", "holders", "link_chars", "linked", "named", "parents",
        "pictures", "said", "signatures", "sizes", "tags", "texts", "words",
    )  # fmt: skip

    def __init__(self) -> None:
        # of each block
        self.texts: list[str] = []  # white space collapsed
        self.words: list[list[str]] = []  # the first `WORDS`, lower case
        self.sizes: list[int] = []  # in words
        self.link_chars: list[int] = []  # of them inside links
        self.holders: list[int] = []  # the index of the block element around
        self.contexts: list[int] = []  # bits of `CONTEXT_BIT`
        self.depths: list[int] = []
        self.tags: list[str] = []  # of the holder
        self.begins: list[tuple[Element, int]] = []  # the element, block or inline, and the place of the block's first child
        self.ends: list[int] = []  # the place after its last child
        # of each block element
        self.parents: list[int] = []
        self.element_tags: list[str] = []
        self.said: list[tuple[str, ...]] = [()]  # words of classes, ids and roles; and for each element which of these it has
        self.named: list[int] = []
        self.signatures: list[int] = []  # equal where the path of tags and names from the body down is
        # Runs without text that show a picture; how many blocks came before, and where the picture links to.
        self.pictures: list[tuple[Element, int, int, int, str]] = []
        self.linked: set[str] = set()  # where text links to

    def names(self, element: int) -> tuple[str, ...]:
        """The words of an element's class, id and role."""
        return self.said[self.named[element]]


def blocks_of(body: Element) -> Blocks:
    """The blocks of a page whose hidden text has been dropped."""
    walk = _Walk()
    walk.element(body, -1, 0, 0, None)
    return walk.blocks


class _Walk:
    __slots__ = ("bits", "blocks", "firsts", "href", "known", "linked", "paths", "picture", "pieces", "tags")

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.known: dict[str | tuple[str, str], tuple[int, int]] = {}
        # What a path of tags and names ends with, by number; and the paths, by the number of the path above and of both.
        self.firsts: dict[tuple[str, ...], int] = {(): 0}
        self.tags: dict[str, int] = {}
        self.paths: dict[int, int] = {}
        self.pieces: list[str] = []
        self.linked = self.bits = 0
        self.picture = False
        self.href = ""

    def element(self, element: Element, parent: int, context: int, depth: int, link: str | None) -> None:
        """A block element; `link` is where the link leads that is around it."""
        blocks = self.blocks
        tag = element.tag
        index = len(blocks.parents)
        blocks.parents.append(parent)
        blocks.element_tags.append(tag)
        path = blocks.signatures[parent] if parent >= 0 else 0
        path = (path * _MANY + self.tags.setdefault(tag, len(self.tags))) * _MANY
        if element.attrs:
            known = self.names(element.attrs)
            blocks.named.append(known[1])
            path += known[0]
        else:
            blocks.named.append(0)
        blocks.signatures.append(self.paths.setdefault(path, len(self.paths) + 1))
        self.children(element, index, context | _BIT.get(tag, 0), depth + 1, link)

    def names(self, attributes: dict[str, str]) -> tuple[int, int]:
        """Of the words of an element's class, id and role: the number of the first three, and their place in `Blocks.said`."""
        said = attributes.get("class", "")
        name = attributes.get("id")
        if name is not None:
            said = said + " " + name
        role = attributes.get("role")
        key = (said, role) if role else said
        known = self.known.get(key)
        if known is None:
            found = names(said[:NAME_CHARS], TOKENS)
            if role:
                found = (*found, "role=" + role[:40].lower())
            place = len(self.blocks.said)
            if found:
                self.blocks.said.append(found)
            else:
                place = 0
            known = self.known[key] = (self.firsts.setdefault(found[:3], len(self.firsts)), place)
        return known

    def children(self, element: Element, holder: int, context: int, depth: int, link: str | None) -> None:
        """What a block element, or an inline one that holds blocks, has in it."""
        begin = place = 0
        in_link = link is not None
        for child in element.children:
            if isinstance(child, str):
                self.part(child, in_link)
                place += 1
                continue
            inner = child
            if inner.blocky:
                if begin < place:
                    self.end(element, begin, place, holder, context, depth, link)
                begin = place + 1
                tag = inner.tag
                if tag in _IGNORED:
                    pass
                elif is_block(tag):
                    self.element(inner, holder, context, depth, link)
                else:
                    around = inner.attrs.get("href", "") if tag == "a" else link
                    self.children(inner, holder, context | _BIT.get(tag, 0), depth, around)
            else:
                self.part(inner, in_link)
            place += 1
        if begin < place:
            self.end(element, begin, place, holder, context, depth, link)

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
            linked = in_link
            if tag == "a":
                linked = True
                self.href = element.attrs.get("href", "")
            self.bits |= _INLINE_BIT.get(tag, 0)
            for inner in element.children:
                self.part(inner, linked)

    def end(self, element: Element, begin: int, end: int, holder: int, context: int, depth: int, link: str | None) -> None:
        """The run `element.children[begin:end]` is over."""
        blocks = self.blocks
        href = self.href or link
        text = squeeze(self.pieces[0] if len(self.pieces) == 1 else "".join(self.pieces))
        self.pieces.clear()
        if text and len(blocks.texts) < MAX_BLOCKS:
            first, count = words(text, WORDS)
            blocks.texts.append(text)
            blocks.words.append(first)
            blocks.sizes.append(count)
            blocks.link_chars.append(min(self.linked, len(text)))
            blocks.holders.append(holder)
            blocks.contexts.append(context | self.bits)
            blocks.depths.append(depth)
            blocks.tags.append(blocks.element_tags[holder])
            blocks.begins.append((element, begin))
            blocks.ends.append(end)
            if href:
                blocks.linked.add(href)
        elif self.picture and not text:
            blocks.pictures.append((element, begin, end, len(blocks.texts), href or ""))
        self.linked = self.bits = 0
        self.picture = False
        self.href = ""


def prune(blocks: Blocks, kept: Collection[int]) -> None:
    """Empty the places of the blocks that are not in `kept`, and those of pictures between them, in the tree itself.

    A picture stays when the blocks before and after it do, and no text links to where it links to: the picture of an item would
    say its name twice.
    """
    for index in range(len(blocks.texts)):
        if index not in kept:
            element, begin = blocks.begins[index]
            children = element.children
            for place in range(begin, blocks.ends[index]):
                children[place] = ""
    last = len(blocks.texts) - 1
    for element, begin, end, before, href in blocks.pictures:
        if max(0, before - 1) not in kept or min(last, before) not in kept or href in blocks.linked:
            for place in range(begin, end):
                element.children[place] = ""
