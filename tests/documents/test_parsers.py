"""Both HTML parsers give the same answer: turbohtml, and lexbor where turbohtml has no wheel.

`read` runs here with the first, and in a process of its own, to which turbohtml is not installed, with the second. Whole
documents are compared: content, title, links, notes, counts. Nothing is normalised: no difference has called for it.
"""

from __future__ import annotations

import codecs
import random
import subprocess
import sys
import tarfile
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from webseam.documents.html import parse, parse_lexbor
from webseam.documents.html.bounded import MAX_ATTRIBUTES, MAX_OPEN, MAX_TAGS, bounded
from webseam.documents.html.tree import MAX_DEPTH, MAX_ELEMENTS, Element
from webseam.documents.read import read
from webseam.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from selectolax.lexbor import LexborNode

try:
    from webseam.documents.html import parse_turbo
except ModuleNotFoundError:  # pragma: no cover - Intel Macs
    PARSERS: list[ModuleType] = [parse_lexbor]
else:
    PARSERS = [parse_turbo, parse_lexbor]

both = pytest.mark.skipif(len(PARSERS) < 2, reason="turbohtml has no wheel for this platform: there is nothing to compare with")

HERE = "https://example.com/dir/page"
WORDS = "Sphinx of black quartz, judge my vow, and do so before the evening comes. "

WITHOUT_TURBOHTML = """
import sys
sys.modules["turbohtml"] = None  # what an import finds where it is not installed
from dataclasses import asdict
import msgspec
from webseam.documents.html.parse import parse
from webseam.documents.read import read
from webseam.errors import DocumentError
assert parse.__module__ == "webseam.documents.html.parse_lexbor", parse.__module__
answers = []
for data, content_type in msgspec.msgpack.decode(sys.stdin.buffer.read()):
    try:
        answers.append(asdict(read(data, url="https://example.com/dir/page", content_type=content_type)))
    except DocumentError as error:
        answers.append({"error": error.message})
sys.stdout.buffer.write(msgspec.msgpack.encode(answers))
"""


def by_first(data: bytes, content_type: str = "text/html; charset=utf-8") -> Any:
    try:
        found: dict[str, Any] = asdict(read(data, url=HERE, content_type=content_type))
    except DocumentError as error:
        found = {"error": error.message}
    return msgspec.msgpack.decode(msgspec.msgpack.encode(found))  # the same types as an answer that came from a process


def by_second(pages: list[bytes], content_type: str = "text/html; charset=utf-8") -> list[Any]:
    asked = msgspec.msgpack.encode([(page, content_type) for page in pages])
    done = subprocess.run([sys.executable, "-c", WITHOUT_TURBOHTML], input=asked, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answers: list[Any] = msgspec.msgpack.decode(done.stdout)
    return answers


CASES: dict[str, str] = {
    "nothing but words": "words",
    "a whole page": "<!DOCTYPE html><html lang=en><head><title>A &amp; B</title><link rel='x  canonical' href=/c>"
    "<meta name=robots content=noindex></head><body><nav><a href=/m>Menu</a></nav>"
    f"<main><h1>H</h1><p>{WORDS * 5}<a href=/x>x</a></main></body>",
    "formatting closed in the wrong order": "<p><b>a<i>b</b>c</i>d<p>e",
    "a block in formatting": "<b>a<div>b</b>c</div>d<a href=/1>e<p>f</a>g",
    "links in links": "<a href=/1>a<a href=/2>b</a>c</a>d",
    "formatting over paragraphs": "<p><font size=2><b>a<p>b<p>c</b>d",
    "paragraphs in paragraphs": "<p>a<div>b</p>c<p>d<h2>e<p>f</h3>g",
    "buttons and forms": "<form><p>a<button><p>b<button>c</form><form>d",
    "headings in headings": "<h1>a<h2>b</h1>c",
    "end tags of nothing": "</p></br></div></li>a</b></body>b</html>c<p>d",
    "content after the end": "<body><p>a</body></html><p>b<title>t</title>",
    "a table without tbody": "<table><tr><th>A<th>B<tr><td>1<td>2</table>",
    "a table of odd parts": "<table><caption>C</caption><col><thead><tr><td>h<tfoot><tr><td>f<tbody><tr><td>b"
    "<tr><td colspan=2>w</table>",
    "text straight in a table": "<table>a<tr>b<td>c</td>d</tr><p>e</p></table>f",
    "a table in a table": "<table><tr><td><table><tr><td>in</table>out<td>b</table>",
    "a table that is not closed": "<p>a<table><tr><td>b<p>c",
    "cells without a table": "<tr><td>a</td><td>b</td></tr>",
    "nested lists": "<ul><li>a<ul><li>b<li>c</ul><li>d<ol start=3><li>e<p>f</ol></ul>",
    "lists in the wrong place": "<ul>a<ul><li>b</ul>c</ul><li>d<dl><dt>e<dd>f<dt>g<dd><p>h</dl>",
    "items that nest": "<li><dd>a<li><dd>b",
    "a shadow root": f"<x-y><template shadowrootmode=open><p>{WORDS}<slot></slot></template><p>light</x-y>",
    "shadow roots within one another": "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=closed>deep</template>"
    "</x-b> middle</template></x-a> end",
    "an ordinary template": "<p>a<template><p>never</template>b",
    "a template in a table": "<table><template><tr><td>never</template><tr><td>a</table>",
    "many shadow roots": "<x-y><template shadowrootmode=open><p>a</template></x-y>" * 500,
    "MathJax": "<p>a <script type='math/tex'>x &lt; y_1</script> b<script type='math/tex; mode=display'>\\frac{1}{2}</script>",
    "MathML": "<p><math alttext='a^2'><msup><mi>a</mi><mn>2</mn></msup>"
    "<annotation-xml encoding=text/html><p>x</annotation-xml></math>",
    "scripts and styles": "<p>a<script>document.write('<p>b</p>')</script><style>p{}</style>"
    "<script><!--<script></script>--></script>c",
    "noscript": "<head><noscript><link rel=x></noscript><title>T</title></head>"
    "<noscript><img src=a.png alt='A picture'>text</noscript>b",
    "noscript with an element that ends the head": "<head><noscript><img src=a></noscript><title>T</title></head><p>b",
    "frames": "<frameset cols=1><frame src=a.html name=A><frame src=b.html><noframes><p>x</noframes></frameset>",
    "entities": "<p>&amp; &lt &copy &notit; &#x80; &#0; &#xD800; &bogus; &NotEqualTilde; &#128512; &ampx &amp;amp; "
    "<a href='?a=1&copy=2&lt;=3'>l</a>",
    "white space": "<pre>\n\n  a\r\n\tb\rc</pre><p> a \n\n b&nbsp;c \x0c d<textarea>\nx</textarea>",
    "raw text": "<p>a<xmp><b>b</b></xmp><iframe><p>c</iframe><noembed>d</noembed><listing>\ne</listing>",
    "plain text": "<p>a<plaintext><b>b</p>",
    "comments": "<p>a<!-- b -->c<!-->d<!--->e<!-- f --!>g<!bogus>h<?pi?>i</ j>k<![CDATA[l]]>m<!-- <p>n",
    "SVG": "<p>a<svg><title>t</title><path d=x /><foreignObject><p>b</foreignObject></svg>c<svg><p>d</svg>e",
    "selects": "<select><option>a<option selected>b<p>c</select>d<select><optgroup label=x><option>e</select>f",
    "ruby": "<ruby>漢<rp>(<rt>kan<rp>)</ruby><ruby><rb>a<rtc>b<rt>c</ruby>",
    "tokens with spaces": "<div class=' a \n ad-slot '><a rel=' nofollow\tme ' href=/x>a</a></div><p>b",
    "attributes": "<a href=/1 href=/2 HREF=/3 a\"b=c =d x=>a</a><a href=/4/>b</a>"
    "<img alt='' src=x><p title='a&quot;b\r\nc' hidden>x",
    "names": "<DIV><P>a</dIv><x-Y>b</X-y><o:p>c</o:p><image src=/i.png alt=I><h7>d</h7>",
    "NUL": "<p>a\x00b<div class='a\x00'>c",
    "an unfinished tag": "<p>a<b",
    "an unfinished attribute": "<p>a<b title='",
    "an unfinished comment": "<p>a<!-- b",
    "less-than signs": "<p>a < b <c <1 <<b>d</b> <>e</>",
    "a base": "<base href=/b/><a href=x>a</a>",
    "a hidden page": "<body style='display: none'><p>a</p><div aria-hidden=true>b</div><p style='visibility:hidden'>c",
    "a long value": f"<img alt='a' src='data:{'x' * 20_000}'><a href='/{'y' * 20_000}'>b</a>c",
    "a hundred thousand nested divs": "<div>" * 100_000 + "deep words",
    "nested divs with text": "".join(f"<div>w{number} " for number in range(2_000)),
    "deep and back": "<div><span>" * 1_000 + "deep" + "</span></div>" * 1_000 + "<p>after</p><ul><li>a<li>b</ul>",
    "nested lists without end": "<ul><li>" * 50_000 + "deep words",
    "items without end that nest": "<li><dd>" * 20_000 + "deep words",
    "nested tables without end": "<table><tr><td>" * 20_000 + "deep words",
    "two hundred thousand attributes": "<div " + " ".join([f"a{number}=1" for number in range(200_000)]) + "><p>a</div>b",
    "more elements than are looked at": "<p>a" + "<br>" * MAX_ELEMENTS + "<p>b",
}  # fmt: skip


@pytest.fixture(scope="module")
def second() -> dict[str, Any]:
    return dict(zip(CASES, by_second([html.encode() for html in CASES.values()]), strict=True))


@both
@pytest.mark.parametrize("name", CASES)
def test_both_parsers_give_the_same_document(name: str, second: dict[str, Any]) -> None:
    assert parse.parse.__module__ == "webseam.documents.html.parse_turbo"
    assert second[name] == by_first(CASES[name].encode())


def words_f1(one: str, other: str) -> float:
    first, second = Counter(one.split()), Counter(other.split())
    return 2 * (first & second).total() / max(1, first.total() + second.total())


@both
def test_both_parsers_give_the_same_document_for_real_pages(shared: Path) -> None:
    pages: dict[str, bytes] = {}
    with tarfile.open(shared / "pages" / "wcxb-dev.tar.xz") as archive:
        members = (member for member in archive if member.name.endswith(".html"))
        for number, member in enumerate(members):
            if number % 20 == 0 and member.size < 400_000 and (file := archive.extractfile(member)) is not None:
                pages[member.name] = file.read()
    assert len(pages) > 50
    found = [by_first(page, "text/html") for page in pages.values()]
    differing = {
        name: words_f1(one.get("content", ""), other.get("content", ""))
        for name, one, other in zip(pages, found, by_second(list(pages.values()), "text/html"), strict=True)
        if one != other
    }
    assert len(differing) <= 0.05 * len(pages), differing
    assert min(differing.values(), default=1.0) >= 0.99, differing


# What lexbor is given.

ORDINARY = {
    "paragraphs": "<p><font size=2>a",
    "items": "<li><b>a",
    "cells": "<table><tr><td><div>a<td><font>b</table>",
    "cells of one table": "<td><div>a",
    "definitions": "<dt>a<dd><i>b",
    "anchors": "<a name=x>a",
    "formatting around a block": "<b><div>a</b></div>",
    "an inline element around a block": "<div><span><div>a</span></div></div>",
    "void elements": "<br><img src=a/><input>",
    "pictures": "<svg viewBox=x><g><path d='a'/><circle r=1 /></g></svg>",
    "scripts": "<script>a('<div><div>' + \"<div a='\")</script>",
    "comments": "<!-- <div> <div -->",
    "tags in values": "<p title='<div>' alt=\"<div>\">",
    "options": "<option>a",
}


@pytest.mark.parametrize("name", ORDINARY)
def test_what_is_long_and_shallow_is_left_as_it_is(name: str) -> None:
    text = "<table>" * (name == "cells of one table") + ORDINARY[name] * 2_000
    assert bounded(text) == (text, False)


@pytest.mark.parametrize(
    "unit",
    [
        "<div>",
        "<div><script></div></script>",
        "<div><!-- </div> -->",
        "<div><!--></div --></p>",
        "<div title='</div>'>",
        "<div><p></div title='>'><div>",
        "<span><div></span>",
        "<div><table><td></div>",
        "<svg><div/>",
        "<div><?</div>",
        "<DIV></dI >",
        "<ul><li>",
        "<li><dd>",
    ],
)
def test_what_is_deep_is_made_shallow(unit: str) -> None:
    text, cut = bounded(unit * 5_000 + "words")
    assert not cut
    assert text.endswith("words")
    assert depth_by_lexbor(text) <= 4 * MAX_OPEN


def depth_by_lexbor(text: str) -> int:
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(text).root
    assert root is not None
    deepest = 0
    stack: list[tuple[LexborNode, int]] = [(root, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        stack += [(child, depth + 1) for child in node.iter()]
    return deepest


NESTING = [  # without formatting elements: the Standard opens them anew after a block, which is not counted
    "div", "p", "ul", "li", "dd", "dt", "span", "table", "tr", "td", "tbody", "button", "h1", "section", "form", "svg", "math",
    "mi", "option", "select", "object", "ruby", "rt", "x-y",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_random_tags_repeated_are_made_shallow(seed: int) -> None:
    dice = random.Random(seed)
    names = dice.sample(NESTING, 4)
    unit = "".join(dice.choice(("<{}>", "<{}>x", "</{}>", "<{}/>")).format(dice.choice(names)) for _ in range(6))
    assert depth_by_lexbor(bounded(unit * 3_000)[0]) <= 8 * MAX_OPEN


def test_text_and_blocks_beyond_the_depth_stay_apart() -> None:
    text, _ = bounded("<div>" * MAX_OPEN + "<div>a</div><b>b</b><div>c<br>d</div>" + "</div>" * MAX_OPEN + "<p>e")
    assert text.removeprefix("<div>" * MAX_OPEN) == "\na" + "b" + "\nc<br>d" + "</div>" * MAX_OPEN + "<p>e"


@pytest.mark.parametrize("value", ["", "=1", "='>'", ' = "a b"', "=/"])
def test_attributes_beyond_any_use_are_cut_off(value: str) -> None:
    attributes = [f" a{number}{value}" for number in range(2 * MAX_ATTRIBUTES)]
    text, cut = bounded("<p>a<div" + "".join(attributes) + ">b</div>")
    assert (text, cut) == ("<p>a<div" + "".join(attributes[:MAX_ATTRIBUTES]) + ">b</div>", False)
    few = "<div" + "".join(attributes[:MAX_ATTRIBUTES]) + ">b</div>"
    assert bounded(few) == (few, False)


def test_tags_beyond_those_that_are_read_are_cut_off_and_said() -> None:
    page = parse_lexbor.parse("<td>" * MAX_TAGS + "a<p>b")
    assert page.cut
    assert page.body.children == ["a"]


# What both promise.


@pytest.mark.parametrize("parser", PARSERS)
def test_a_tree_is_bounded_in_depth_and_number(parser: ModuleType) -> None:
    def deepest(root: Element) -> int:
        found, stack = 0, [(root, 1)]
        while stack:
            element, depth = stack.pop()
            found = max(found, depth)
            stack += [(child, depth + 1) for child in element.children if isinstance(child, Element)]
        return found

    assert deepest(parser.parse("<div>" * 3_000).html) == MAX_DEPTH
    assert not parser.parse("<p>a" * 1_000).cut
    assert parser.parse("<br>" * (MAX_ELEMENTS + 1)).cut


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Привет, мир! Это обычный русский текст, который мы хотим прочитать без ошибок.", "cp1251"),
        ("Привет, мир! Это обычный русский текст, который мы хотим прочитать без ошибок.", "koi8-r"),
        ("日本語のテキストです。これは宣言のない文字コードで書かれています。", "shift_jis"),
        ("日本語のテキストです。これは宣言のない文字コードで書かれています。", "euc_jp"),
        ("你好，这是一个没有声明编码的中文网页，我们想要正确地读取它的内容。", "gbk"),
        ("안녕하세요, 이것은 선언되지 않은 인코딩으로 작성된 한국어 웹 페이지입니다.", "euc-kr"),
        ("Γεια σου κόσμε! Αυτό είναι ένα συνηθισμένο ελληνικό κείμενο.", "cp1253"),
        ("שלום עולם, זה טקסט רגיל בעברית שאנחנו רוצים לקרוא בלי שגיאות.", "cp1255"),
        ("Zażółć gęślą jaźń, to jest zwykły polski tekst, który chcemy przeczytać bez błędów.", "cp1250"),
    ],
)
def test_an_encoding_is_recognised_by_its_letters(parser: ModuleType, text: str, codec: str) -> None:
    data = (text * 3).encode(codec)
    label = parser.likely_encoding(data)
    assert data.decode(codecs.lookup(label).name) == text * 3


@pytest.mark.parametrize("parser", PARSERS)
def test_noise_is_in_no_encoding_that_cannot_be_named(parser: ModuleType) -> None:
    label = parser.likely_encoding(bytes(random.Random(7).choices(range(0xA0, 0x100), k=32_768)))
    assert label == "" or codecs.lookup(label)
