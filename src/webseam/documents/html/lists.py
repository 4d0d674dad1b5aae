"""Lists in a page: what their items are, for pages that do not write them as the Standard says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from webseam.documents.html.tree import Child


def integer(value: str, default: int) -> int:
    """`value` as a whole number that is not negative, or `default`."""
    value = value.strip()
    return int(value) if value.isdecimal() and value.isascii() and len(value) <= 9 else default


def check_box(element: Element) -> str:
    """GFM's mark for an item that begins with a check box."""
    for child in element.children:
        if isinstance(child, str):
            if child.strip():
                return ""
        elif child.tag == "input":
            return ("[x] " if "checked" in child.attrs else "[ ] ") if child.attrs.get("type") == "checkbox" else ""
        elif child.tag not in ("label", "p"):
            return ""
        else:
            return check_box(child)
    return ""


def list_items(element: Element) -> list[Element]:
    """What the items of a list are: its `<li>`, lists put directly inside, and whatever else holds text there."""
    found: list[Element] = []
    loose: list[Child] = []

    def end_loose() -> None:
        if any(child.strip() if isinstance(child, str) else True for child in loose):
            found.append(Element("li", {}, list(loose)))
        loose.clear()

    for child in element.children:
        if isinstance(child, str):
            loose.append(child)
        elif child.tag in ("li", "ul", "ol"):
            end_loose()
            found.append(child)
        elif any(isinstance(inner, Element) and inner.tag == "li" for inner in child.children):
            end_loose()
            found += list_items(child)
        else:
            loose.append(child)
    end_loose()
    return found


def definitions(element: Element) -> list[Element]:
    """The terms and definitions of a `<dl>`, also those in a `<div>`; what else holds text there is a definition."""
    found: list[Element] = []
    for child in element.children:
        if isinstance(child, str):
            if child.strip():
                found.append(Element("dd", {}, [child]))
        elif child.tag in ("dt", "dd"):
            found.append(child)
        elif any(isinstance(inner, Element) and inner.tag in ("dt", "dd", "div") for inner in child.children):
            found += definitions(child)
        else:
            found.append(Element("dd", {}, [child]))
    return found
