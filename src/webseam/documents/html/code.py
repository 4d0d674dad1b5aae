"""Code in a page: its exact text, its language, its fence."""

from __future__ import annotations

import re

from webseam.documents.html.tree import Element

_FENCE = re.compile(r"`{3,}")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|brush:\s*|sourceCode\s+)([A-Za-z0-9+#.-]{1,20})"
)
_NO_LANGUAGE = frozenset({"", "none", "plaintext", "text", "txt", "plain", "default", "auto", "code"})
_GUTTER = frozenset(
    {"gutter", "linenos", "lineno", "line-numbers-rows", "linenumbers", "blob-num", "hljs-ln-numbers", "rouge-gutter"}
)
_NO_CODE = frozenset({"button", "noscript", "script", "style", "template"})


def fenced(code: str, language: str = "") -> str:
    """`code` between fences longer than any inside it; "" when it is blank."""
    code = code.strip("\n").rstrip()
    if not code.strip():
        return ""
    longest = max([len(run) for run in _FENCE.findall(code)], default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def code_span(text: str) -> str:
    if "`" not in text:
        return f"`{text}`" if text else ""
    longest = max([len(run) for run in _TICKS.findall(text)], default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def verbatim(element: Element) -> str:
    """The text of `element` with its white space; blocks and `<br>` end a line; gutters of line numbers and buttons go."""
    parts: list[str] = []

    def end_line() -> None:
        if parts and not parts[-1].endswith("\n"):
            parts.append("\n")

    def walk(node: Element) -> None:
        for child in node.children:
            if isinstance(child, str):
                if child:
                    parts.append(child)
            elif child.tag == "br":
                parts.append("\n")
            elif child.tag in _NO_CODE or not _GUTTER.isdisjoint(child.attrs.get("class", "").split()):
                continue
            elif child.tag in ("td", "th"):
                walk(child)
            elif child.blocky:
                end_line()
                walk(child)
                end_line()
            else:
                walk(child)

    walk(element)
    return "".join(parts)


def named_language(element: Element) -> str:
    """The language that the class of `element` names, in the ways highlighters do ("language-py", "highlight-source-js")."""
    attributes = element.attrs
    if not attributes:
        return ""
    name = attributes.get("data-lang") or attributes.get("data-language") or ""
    if not name:
        names = attributes.get("class", "")
        if not ("lang" in names or "highlight-" in names or "brush:" in names or "sourceCode" in names):
            return ""
        if match := _LANGUAGE.search(names[:300]):
            name = match[1]
    if not re.fullmatch(r"[A-Za-z0-9+#.-]{1,20}", name) or name.lower() in _NO_LANGUAGE:
        return ""
    return name.lower()


def language_of(pre: Element) -> str:
    """The language of a `<pre>`: named on it, or on the `<code>` in it."""
    if name := named_language(pre):
        return name
    for child in pre.children:
        if isinstance(child, Element) and child.tag == "code" and (name := named_language(child)):
            return name
    return ""
