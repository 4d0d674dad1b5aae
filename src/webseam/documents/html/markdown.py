"""Our Markdown: kept nodes of a page in, CommonMark with GFM's tables and strike-through out.

How it works. `_Writer.flow` walks the children of a block. Text and inline elements gather in a line; a block element ends
the line and adds blocks of its own. A block is a kind and a text without surrounding blank lines; lists, quotes and
definitions indent the blocks of their inside. White space collapses as in a browser, so a line feed inside a gathered line can
only be a `<br>`: one is a hard break, two or more end the paragraph (as people wrote before `<p>`).

The walk recurses: `tree.MAX_DEPTH` bounds it. Lists and quotes indent at most `MAX_INDENTS` deep, tables have at most
`tables.MAX_COLUMNS`, and the whole at most `limit` characters, so nothing here grows faster than the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.documents.html.code import code_span, fenced, language_of, named_language, verbatim
from webseam.documents.html.escape import escape, indent, line_start, paragraphs, wrap
from webseam.documents.html.formula import formula
from webseam.documents.html.lists import check_box, definitions, integer, list_items
from webseam.documents.html.tables import table_rows, write_table
from webseam.documents.html.tree import Element, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Literal

    from webseam.documents.html.links import Base
    from webseam.documents.html.tree import Child

    Kind = Literal["text", "heading", "list", "code", "table", "quote", "rule"]

MAX_INDENTS = 12
PERMALINKS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink"})
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
SILENT = frozenset(
    {
        "head", "script", "style", "template", "svg", "iframe", "object", "embed", "canvas", "audio",
        "video", "map", "area", "select", "option", "optgroup", "datalist", "textarea", "meta", "link", "title", "rp",
        "frame", "noframes", "progress", "meter",
    }
)  # fmt: skip
_WRITTEN_BLOCKS = frozenset(HEADINGS) | {
    "ul", "ol", "menu", "dir", "li", "pre", "listing", "xmp", "plaintext", "table", "blockquote", "dl", "hr", "summary", "dt",
}  # fmt: skip
_WRITTEN_INLINE = frozenset(
    {
        "br", "a", "img", "strong", "b", "em", "i", "cite", "dfn", "var", "code", "kbd", "samp", "tt", "del", "s", "strike",
        "sup", "sub", "q", "rt", "math", "button",
    }
)  # fmt: skip

_EMPTY_PICTURE = re.compile(r"(?:blank|spacer|pixel|transparent|1x1|placeholder|loading)[^/]*\.(?:gif|png|svg)", re.IGNORECASE)

# A picture that waits for a script, beside itself for readers without one.
_TWICE = re.compile(r"!\[((?:[^\[\]\\]|\\.){0,500})\]\(\)\s*(?=!\[\1\]\()")


class _Flow:
    """Blocks as they come, and the line being gathered."""

    __slots__ = ("blocks", "line")

    def __init__(self) -> None:
        self.blocks: list[tuple[Kind, str]] = []
        self.line: list[str] = []


def to_markdown(nodes: Sequence[Element], base: Base, *, limit: int = LIMITS.page_chars) -> tuple[str, bool]:
    """The Markdown of `nodes` one after the other, and whether it was cut at `limit`."""
    writer = _Writer(base, limit)
    flow = _Flow()
    for node in nodes:
        writer.child(node, flow)
        writer.end_line(flow)
    text = "\n\n".join([text for _, text in _trimmed(flow.blocks)])
    if len(text) <= limit:
        return text, writer.left < 0
    return text[:limit].rsplit("\n", 1)[0].rstrip(), True


def _trimmed(blocks: list[tuple[Kind, str]]) -> list[tuple[Kind, str]]:
    """`blocks` without rules at the ends and without two rules in a row."""
    kept: list[tuple[Kind, str]] = []
    for block in blocks:
        if block[0] == "rule" and (not kept or kept[-1][0] == "rule"):
            continue
        kept.append(block)
    while kept and kept[-1][0] == "rule":
        kept.pop()
    return kept


def _holds_block(element: Element) -> bool:
    return bool([child for child in element.children if not isinstance(child, str) and child.blocky])


class _Writer:
    """One walk. `strong`, `emphasis`, `link` and `heading` count how many of each we are inside of; `card` is the address of a
    link around blocks: the first line inside takes it."""

    def __init__(self, base: Base, limit: int) -> None:
        self.base = base
        self.left = limit
        self.strong = self.emphasis = self.link = self.heading = self.indents = 0
        self.card = ""
        self.language = ""  # what a box around code says of its language (Sphinx, Rouge)

    # ---------------------------------------------------------------------------------------- blocks

    def flow(self, children: Iterable[Child], into: _Flow) -> None:
        for child in children:
            if self.left < 0:
                return
            self.child(child, into)

    def child(self, child: Child, into: _Flow) -> None:
        if isinstance(child, str):
            into.line.append(self.text(child))
            return
        element = child
        if element.tag in SILENT:
            return
        if element.blocky and element.tag != "math":
            self.block(element, into)
        else:
            into.line.append(self.inline(element))

    def blocks_of(self, children: Iterable[Child]) -> list[tuple[Kind, str]]:
        flow = _Flow()
        self.flow(children, flow)
        self.end_line(flow)
        return flow.blocks

    def block(self, element: Element, into: _Flow) -> None:
        tag = element.tag
        if tag == "a":
            self.card_link(element, into)
            return
        self.end_line(into)
        if tag not in _WRITTEN_BLOCKS:
            outer = self.language
            self.language = named_language(element) or outer
            self.flow(element.children, into)
            self.end_line(into)
            self.language = outer
        elif tag in HEADINGS:
            self.write_heading(element, HEADINGS[tag], into)
        elif tag in ("ul", "ol", "menu", "dir"):
            self.write_list(element, into)
        elif tag == "li":
            self.add("list", self.item("- ", element)[0], into)
        elif tag in ("pre", "listing", "xmp", "plaintext"):
            self.write_code(element, into)
        elif tag == "table":
            self.write_table(element, into)
        elif tag == "blockquote":
            self.write_quote(element, into)
        elif tag == "dl":
            self.write_definitions(element, into)
        elif tag == "hr":
            self.add("rule", "---", into)
        else:
            self.write_term(element, into)

    def add(self, kind: Kind, text: str, into: _Flow) -> None:
        if text:
            into.blocks.append((kind, text))
            self.left -= len(text) + 2

    def end_line(self, into: _Flow) -> None:
        """Turn what was gathered into paragraphs."""
        if not into.line:
            return
        gathered = "".join(into.line)
        if "]()" in gathered:
            gathered = _TWICE.sub("", gathered)
        into.line.clear()
        for text in paragraphs(gathered):
            if self.card and "](" not in text:
                lines = text.split("  \n", 1)
                lines[0] = f"[{lines[0]}]({self.card})"
                text, self.card = "  \n".join(lines), ""
            elif "\n" in text:
                text = "  \n".join([line_start(line) for line in text.split("  \n")])
            else:
                text = line_start(text)
            self.add("text", text, into)

    def card_link(self, element: Element, into: _Flow) -> None:
        """A link around blocks: its first line becomes the link, the rest stays plain."""
        self.end_line(into)
        outer = self.card
        self.card = self.base.target(element.attrs.get("href", "")) or outer
        self.flow(element.children, into)
        self.end_line(into)
        self.card = ""

    def write_heading(self, element: Element, level: int, into: _Flow) -> None:
        self.heading += 1
        self.strong += 1
        text = self.one_line(element.children)
        self.strong -= 1
        self.heading -= 1
        if text and self.card and "](" not in text:
            text, self.card = f"[{text}]({self.card})", ""
        if text:
            self.add("heading", "#" * level + " " + text, into)

    def write_term(self, element: Element, into: _Flow) -> None:
        self.strong += 1
        text = self.one_line(element.children)
        self.strong -= 1
        if text:
            self.add("text", f"**{text}**", into)

    def write_quote(self, element: Element, into: _Flow) -> None:
        self.indents += 1
        blocks = self.blocks_of(element.children)
        self.indents -= 1
        text = "\n\n".join([text for _, text in _trimmed(blocks)])
        if text and self.indents < MAX_INDENTS:
            text = "\n".join(["> " + line if line else ">" for line in text.split("\n")])
        self.add("quote", text, into)

    def write_code(self, element: Element, into: _Flow) -> None:
        self.add("code", fenced(verbatim(element), language_of(element) or self.language), into)

    def write_table(self, element: Element, into: _Flow) -> None:
        table = table_rows(element)
        if table.caption is not None:
            self.flow(table.caption.children, into)
            self.end_line(into)
        if table.is_data:
            self.add("table", write_table(table, self.one_line), into)
            return
        for row in table.rows:  # a table that lays out the page: rows of plain cells are lines, the rest are blocks
            for cell in row.cells:
                self.flow(cell.children, into)
                if _holds_block(cell):
                    self.end_line(into)
                else:
                    into.line.append(" ")
            self.end_line(into)

    # ---------------------------------------------------------------------------------------- lists

    def write_list(self, element: Element, into: _Flow) -> None:
        items: list[tuple[str, bool]] = []
        number = integer(element.attrs.get("start", ""), 1) if element.tag == "ol" else 0
        step = -1 if "reversed" in element.attrs else 1
        self.indents += 1
        for child in list_items(element):
            if self.left < 0:
                break
            if element.tag == "ol":
                number = integer(child.attrs.get("value", ""), number)
                marker = f"{number}. "
            else:
                marker = "- "
            if child.tag in ("ul", "ol") and items:  # a list put beside the item that it belongs to
                nested = self.blocks_of([child])
                items[-1] = (items[-1][0] + "\n" + indent("\n".join([text for _, text in nested]), 2), items[-1][1])
                continue
            text, tight = self.item(marker, child)
            if text:
                items.append((text, tight))
                number += step
        self.indents -= 1
        tight = not [text for text, tight in items if not tight]
        self.add("list", ("\n" if tight else "\n\n").join([text for text, _ in items]), into)

    def item(self, marker: str, element: Element) -> tuple[str, bool]:
        """One item with its marker, and whether it is tight: at most one paragraph, and lists."""
        blocks = _trimmed(self.blocks_of(element.children if element.tag == "li" else [element]))
        if not blocks:
            return "", True
        tight = len([kind for kind, _ in blocks if kind != "list"]) <= 1
        text = ("\n" if tight else "\n\n").join([text for _, text in blocks])
        if self.indents > MAX_INDENTS:
            return text, tight
        if element.tag == "li" and (box := check_box(element)):
            text = box + text
        return marker + indent(text, len(marker)).lstrip(" "), tight

    def write_definitions(self, element: Element, into: _Flow) -> None:
        """Terms, and under each its definitions after ": " (as PHP Markdown Extra and Pandoc write them)."""
        lines: list[str] = []
        for child in definitions(element):
            if child.tag == "dt":
                if text := self.one_line(child.children):
                    lines.append(("\n" if lines else "") + line_start(text))
            else:
                self.indents += 1
                text = "\n\n".join([text for _, text in _trimmed(self.blocks_of(child.children))])
                self.indents -= 1
                if text:
                    lines.append(": " + indent(text, 2).lstrip(" ") if self.indents < MAX_INDENTS else text)
        self.add("text", "\n".join(lines), into)

    # ---------------------------------------------------------------------------------------- inline

    def one_line(self, children: Iterable[Child]) -> str:
        """Everything in `children` on one line: for headings, terms and cells."""
        parts: list[str] = []
        self.gather(children, parts)
        return " ".join("".join(parts).split())

    def gather(self, children: Iterable[Child], parts: list[str]) -> None:
        for child in children:
            if isinstance(child, str):
                parts.append(self.text(child))
                continue
            element = child
            if element.tag in SILENT:
                continue
            if element.blocky and element.tag not in ("a", "math"):
                parts.append(" • " if element.tag == "li" and parts and not self.heading else " ")
                self.gather(element.children, parts)
                parts.append(" ")
            else:
                parts.append(self.inline(element))

    def inside(self, element: Element) -> str:
        parts: list[str] = []
        self.gather(element.children, parts)
        return "".join(parts)

    def text(self, text: str) -> str:
        if len(text) > self.left:
            text = text[: max(self.left, 0)]
        return escape(text, self.link > 0)

    def inline(self, element: Element) -> str:
        tag = element.tag
        if tag not in _WRITTEN_INLINE:
            return self.inside(element)
        if tag == "br":
            return "\n"
        if tag == "a":
            return self.write_link(element)
        if tag == "img":
            return self.write_image(element)
        if tag in ("strong", "b"):
            self.strong += 1
            inside = self.inside(element)
            self.strong -= 1
            return inside if self.strong else wrap(inside, "**")
        if tag in ("em", "i", "cite", "dfn", "var"):
            self.emphasis += 1
            inside = self.inside(element)
            self.emphasis -= 1
            return inside if self.emphasis else wrap(inside, "*")
        if tag in ("code", "kbd", "samp", "tt"):
            return code_span(text_of(element))
        if tag in ("del", "s", "strike"):
            return wrap(self.inside(element), "~~")
        if tag in ("sup", "sub"):
            return self.write_script(element, "^" if tag == "sup" else "_")
        if tag == "q":
            return f"“{self.inside(element)}”"
        if tag == "rt":
            return f"({self.inside(element).strip()})"
        if tag == "math":
            return formula(element)
        return f" {self.inside(element)} "

    def write_link(self, element: Element) -> str:
        if self.link:
            return self.inside(element)
        url = self.base.target(element.attrs.get("href", ""))
        if not url:
            text = self.inside(element)
            return "" if self.heading and text.strip().lower() in PERMALINKS else text
        self.link += 1
        raw = self.inside(element)
        self.link -= 1
        text = " ".join(raw.split())
        if not text or (self.heading and text.lower() in PERMALINKS):
            return " " if raw else ""
        before, after = " " if raw[0].isspace() else "", " " if raw[-1].isspace() else ""
        if text == url:
            return before + url + after
        return f"{before}[{text}]({url}){after}"

    def write_image(self, element: Element) -> str:
        attributes = element.attrs
        if attributes.get("width") in ("0", "1") or attributes.get("height") in ("0", "1"):
            return ""
        alt = " ".join(attributes.get("alt", "").split())[: LIMITS.snippet_chars]
        if "alt" in attributes and not alt:
            return ""  # the Standard's mark of a decoration (section 4.8.4.4.4)
        alt = escape(alt, True)
        url = self.picture_address(attributes)
        if not url and self.link:
            return alt  # it is what the link says
        return f"![{alt}]({url})" if url or alt else ""

    def picture_address(self, attributes: dict[str, str]) -> str:
        """Where the picture is: lazy pages put a blank one, or none, in `src`."""
        for name in ("src", "data-src", "data-original", "data-lazy-src", "srcset", "data-srcset"):
            value = attributes.get(name, "").strip()
            if name.endswith("srcset"):
                value = value.split(None, 1)[0].rstrip(",") if value else ""
            if value and value[:5].lower() != "data:" and not _EMPTY_PICTURE.search(value[-200:]):
                return self.base.resolve(value)
        return ""

    def write_script(self, element: Element, mark: str) -> str:
        text = " ".join(self.inside(element).split())
        if not text or text.startswith(("[", "\\[", "(")):  # a reference to a footnote
            return text
        return f"{mark}{text}" if text.isalnum() else f"{mark}({text})"
