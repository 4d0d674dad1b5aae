"""Foreign XML: no DTD is loaded, no entity is put in, nothing is fetched; libxml2 bounds depth and the size of a text.

Faults do not end it: what comes before them is read. Names are compared without their namespaces, which differ between the
two kinds of Office Open XML ("transitional" and "strict") while the names do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element as Node

_SAFE: dict[str, Any] = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
    "recover": True,
    "remove_comments": True,
    "remove_pis": True,
}
_BLOCK = 64 * 1024
EMPTY = etree.Element("empty")


def parse(data: bytes) -> Node:
    """The root of a part; an element without anything when there is none."""
    if not data:
        return EMPTY
    try:
        root: Node | None = etree.fromstring(data, etree.XMLParser(**_SAFE))
    except (etree.XMLSyntaxError, ValueError):
        return EMPTY
    return EMPTY if root is None else root


def stream(data: bytes, *names: str) -> Iterator[Node]:
    """The elements called one of `names`, each when it ends, in order; they are emptied afterwards, so that none is kept.

    Such elements within one another come out from the inside.
    """
    wanted = [f"{{*}}{name}" for name in names]
    parser = etree.XMLPullParser(events=("end",), tag=wanted, **_SAFE)
    for at in range(0, len(data), _BLOCK):
        try:
            parser.feed(data[at : at + _BLOCK])
        except etree.XMLSyntaxError:
            return
        for _, found in parser.read_events():
            node = cast("Node", found)  # the stubs speak of other events too
            yield node
            node.clear()
            above = node.getparent()
            if above is not None:
                while node.getprevious() is not None:
                    del above[0]


def name_of(node: Node) -> str:
    """The name without its namespace; "" for what is no element (an entity)."""
    tag = node.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(node: Node, *path: str) -> Node | None:
    """The first child with a name, and on along `path`."""
    for name in path:
        for inner in node:
            if name_of(inner) == name:
                node = inner
                break
        else:
            return None
    return node


def parts_of(node: Node | None) -> list[Node]:
    """The children; none when there is no element."""
    return [] if node is None else list(node)


def children(node: Node | None, name: str) -> list[Node]:
    """The children called `name`."""
    return [] if node is None else [inner for inner in node if name_of(inner) == name]


def all_of(root: Node, name: str) -> Iterator[Node]:
    """Every element below `root` called `name`, in order."""
    return root.iter(f"{{*}}{name}")


def attribute(node: Node | None, name: str) -> str:
    """The value of the attribute with that name, in whichever namespace; "" when there is none."""
    if node is None:
        return ""
    value = node.get(name)
    if value is None:
        value = next((str(text) for key, text in node.items() if str(key).rpartition("}")[2] == name), "")
    return str(value)


def text_in(node: Node | None) -> str:
    """All text in an element, white space collapsed."""
    return "" if node is None else " ".join("".join(map(str, node.itertext())).split())


def number(text: str, default: int = 0) -> int:
    """A whole number that is not negative, or `default`."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else default
