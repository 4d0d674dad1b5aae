"""What is compiled gives the same answer as the Python that it is made of, which runs here in a process of its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tarfile
from dataclasses import asdict
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from webseam.documents import chars
from webseam.documents.html import load as loader
from webseam.documents.html import load_in_python, tree
from webseam.documents.html.tree import MAX_DEPTH, Element
from webseam.documents.read import read
from webseam.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from webseam.documents.html.kept import Parsed

IS_COMPILED = str(tree.__file__).endswith(tuple(EXTENSION_SUFFIXES))
compiled = pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled here: there is nothing to compare with")

HERE = "https://example.com/dir/page"

IN_PYTHON = """
import sys
from dataclasses import asdict
import msgspec
from webseam.documents.html import tree
from webseam.documents.read import read
from webseam.errors import DocumentError
assert tree.__file__.endswith(".py"), tree.__file__
answers = []
for data in msgspec.msgpack.decode(sys.stdin.buffer.read()):
    try:
        answers.append(asdict(read(data, url="https://example.com/dir/page", content_type="text/html")))
    except DocumentError as error:
        answers.append({"error": error.message})
sys.stdout.buffer.write(msgspec.msgpack.encode(answers))
"""

PIECES = [
    "<script>", "</script>", "<!--", "-->", "<style>", "</style>", "<svg>", "</svg>", "<math>", "</math>", "<xmp>", "</xmp>",
    "<p>", "</p>", "<b>", "</b>", "<table>", "<tr>", "<td>", "</table>", "<template>", "<template shadowrootmode=open>",
    "</template>", "<pre>\n", "\n", "</pre>", "<textarea>", "</textarea>", "<select>", "<option>", "</select>", "<plaintext>",
    "<title>", "</title>", "&amp;", "&lt;", "<", "words ", "a&nbsp;b", "<source>", "<foreignObject>", "</foreignObject>",
    "<mi>", "</mi>", "<noscript>", "</noscript>", "<noembed>", "<iframe>", "</iframe>", "</a>", "<frameset>", "<frame>",
    "<a href='x&amp;y\"z<>' class=' a  b\tc '>", "<br>", "</br>", "<col>", "<object>", "</object>", "<listing>\n\nq",
    "<div hidden>", "</div>", "<x-y \"b=c =d 'e/>", "<script type='math/tex'>x<y</script>", "<form>", "<caption>", "<?pi?>",
    "<!x>", "</ j>", "<image alt=x src=/i>", "\r", "&#13;", "<button>", "<a<b c<d=e>", "<li>", "<ul>", "<ol start=4>", "# ",
    "1. ", "* ", "_a_", "[x](y)", "`", "é", "漢字", "\U0001f600", "\u2028", "\x85", "<sup>2</sup>", "<code>`a`</code>", "<dl>",
    "<dt>", "<dd>", "<blockquote>", "<h2>", "</h2>", "<img src=a.png alt='a_b'>", "<p style='display:none'>", "<em>", "</em>",
    "<div class='sr-only x'>", "<a href='#x'>", "<b aria-controls='x y'>", "<script type='application/ld+json'>{}</script>",
    "\x9b", " ", "<span> </span>", "<i>", "\t<p>", "</i> ",
    "<div class='highlight-python'>", "<div style='color:#fff;background:#fff'>", "\u200b",
]  # fmt: skip


def answer(data: bytes) -> Any:
    try:
        found: dict[str, Any] = asdict(read(data, url=HERE, content_type="text/html"))
    except DocumentError as error:
        found = {"error": error.message}
    return msgspec.msgpack.decode(msgspec.msgpack.encode(found))


def answers_in_python(pages: list[bytes]) -> list[Any]:
    environment = {**os.environ, "WEBSEAM_PURE": "1"}
    asked = msgspec.msgpack.encode(pages)
    command = [sys.executable, "-c", IN_PYTHON]
    done = subprocess.run(command, input=asked, capture_output=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found: list[Any] = msgspec.msgpack.decode(done.stdout)
    return found


def random_pages(seed: int, count: int) -> Iterator[str]:
    dice = random.Random(seed)
    for _ in range(count):
        yield "".join(dice.choices(PIECES, k=dice.randint(2, 40)))


@compiled
def test_random_pages_are_read_alike() -> None:
    pages = [page.encode() for page in random_pages(1, 1_500)]
    for page, expected in zip(pages, answers_in_python(pages), strict=True):
        assert answer(page) == expected, page


@compiled
def test_real_pages_are_read_alike(shared: Path) -> None:
    pages: list[bytes] = []
    with tarfile.open(shared / "pages" / "wcxb-dev.tar.xz") as archive:
        members = (member for member in archive if member.name.endswith(".html"))
        for number, member in enumerate(members):
            if number % 25 == 0 and member.size < 400_000 and (file := archive.extractfile(member)) is not None:
                pages.append(file.read())
    assert len(pages) > 40
    assert [answer(page) for page in pages] == answers_in_python(pages)


def same(one: Element, other: Element) -> bool:
    if (one.tag, one.attrs, bool(one.blocky), len(one.children)) != (
        other.tag,
        other.attrs,
        bool(other.blocky),
        len(other.children),
    ):
        return False
    for mine, yours in zip(one.children, other.children, strict=True):
        if isinstance(mine, str) or isinstance(yours, str):
            if mine != yours:
                return False
        elif not same(mine, yours):
            return False
    return True


@compiled
@pytest.mark.parametrize("seed", range(20))
def test_trees_are_alike_also_of_what_no_parser_writes(seed: int) -> None:
    assert loader.load is not load_in_python.load
    for text in random_pages(seed, 50):
        for prefix in ("<html>", "", "</p>", "<html " + "<div>" * MAX_DEPTH):
            for newline_added, raw_in_math in ((True, False), (False, True)):
                html = prefix + text.replace("=open", '="open"').replace("'", '"')
                one = loader.load(html, cut=False, newline_added=newline_added, raw_in_math=raw_in_math)
                other = load_in_python.load(html, cut=False, newline_added=newline_added, raw_in_math=raw_in_math)
                assert (one.cut, same(one.html, other.html)) == (other.cut, True), html
                assert noted(one) == noted(other), html


def noted(page: Parsed) -> tuple[Any, ...]:
    """What was noted of a page's elements; and whether it is of all of them, in their order."""
    seen = page.seen
    assert (seen.elements, seen.parents) == tree.preorder(page.html)
    for index, end in enumerate(seen.ends):
        inside = [place for place in range(index + 1, len(seen.parents)) if index in above(place, seen.parents)]
        assert inside == list(range(index + 1, end))
    return seen.parents, seen.ends, seen.concealed, seen.opened, seen.linked_data, page.escapes


def above(index: int, parents: list[int]) -> Iterator[int]:
    while index >= 0:
        index = parents[index]
        yield index


@compiled
def test_every_character_is_looked_at_alike() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        assert chars.has_invisible(character) == chars.has_invisible_in_python(character), hex(code)
        assert chars.has_marks(character) == chars.has_marks_in_python(character), hex(code)
        twice = f"a{character}{character} b"
        assert chars.collapse(twice) == chars.collapse_in_python(twice), hex(code)
    for code in range(0, sys.maxunicode + 1, 64):
        among = "".join([f"a{character}{character} {character}1" for character in map(chr, range(code, code + 64))])
        assert chars.squeeze(among) == chars.squeeze_in_python(among), hex(code)
        assert chars.words(among, 1_000) == chars.words_in_python(among, 1_000), hex(code)
        assert chars.names(among, 1_000) == chars.names_in_python(among, 1_000), hex(code)


@compiled
@pytest.mark.parametrize("seed", range(20))
def test_text_is_looked_at_alike(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(500):
        text = "".join(
            dice.choices(
                ["ab", "Ab", "A", "b", "-", "_", " ", "\n", "\xa0", "12", "é", "ΑΣ", "İ", "漢字", "・", "²", "😀"],
                k=dice.randint(0, 12),
            )
        )
        assert chars.squeeze(text) == chars.squeeze_in_python(text), text
        assert chars.words(text, 4) == chars.words_in_python(text, 4), text
        assert chars.names(text, 2) == chars.names_in_python(text, 2), text
