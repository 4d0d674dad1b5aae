"""Pages as no site would send them on purpose: real ones, cut up and put together again by a series of random numbers.

`mutant(seed, number, pages)` depends on its arguments alone, so that one which does harm can be made again by itself.
"""

from __future__ import annotations

import random
import re
import tarfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

MOST_BYTES = 1_500_000
ROOM = 300_000
"""What one step adds at most."""

ARCHIVES = {"wcxb-dev.tar.xz": 40, "chinese.tar.xz": 20}
"""Real pages of many kinds and scripts, and how many are taken of them."""

WRITTEN: tuple[bytes, ...] = (
    b"""<!doctype html><html lang=en><head><meta charset=utf-8><title>Tides</title><base href="/sea/"><style>.menu
    li{display:none} .sr-only{position:absolute;clip:rect(0 0 0 0)}</style><script
    type="application/ld+json">{"@context":"https://schema.org","@type":
    "Article","author":{"@type":"Person","name":"Ann"},"datePublished":"2026-01-02"}</script></head><body><nav><ul
    class=menu><li> <a href="/">Home</a><li><a href="/about">About</a></ul></nav><main><article><h1>Tides</h1><p>The
    <b>moon</b> pulls at the <em>sea </em>, and the sea <a href="moon?utm_source=x">follows</a> it twice a
    day.</p><h2>Spring</h2><p>When sun and moon pull the same way, the water stands higher than on any other day of the
    month.</p><ol start=3><li>Full moon<li>New moon<ul><li>Neap</ul></ol> <blockquote><p>Time and tide wait for no
    man.</p></blockquote></article></main><footer>Imprint</footer></body></html>""",
    b"""<html><head><title>Prices</title></head><body><h1>Prices</h1><table><caption>In euro</caption><thead><tr><th
    rowspan=2>Thing <th
    colspan="2">Price</tr><tr><th>Old<th>New</tr></thead><tbody><tr><td>Boat<td>1,200<td>990<tr><td>Oar<td>50<td>45</tbody></table>
    <dl><dt>Boat<dd>Takes you over.<dt>Oar<dd>Takes the boat.</dl><img src=boat.png alt="A
    boat"><form><select><option>One<option>Two </select><textarea>Say
    something</textarea><button>Send</button></form></body></html>""",
    b"""<!doctype html><title>How to read a file</title><main><h1>How to read a file</h1><p>Open it, and read it line by
    line:</p> <div class="highlight-python"><pre><code class="language-python">with open(name) as file:\n    for line in
    file:\n        print(line) </code></pre></div><p>The area is <math><mfrac><mi>a</mi><mn>2</mn></mfrac><annotation
    encoding="application/x-tex">a/2 </annotation></math>, see <sup><a href="#n1"
    id=r1>1</a></sup>.</p><details><summary>More</summary><p>Files end.</p></details> <svg><title>A
    picture</title><foreignObject><p>In it</p></foreignObject></svg><p id=n1>A note. <kbd>Ctrl</kbd>
    <q>So</q></p></main>""",
    """<!doctype html><html lang=ru><head><meta charset="windows-1251"><title>Приливы</title></head><body><div
    class=post><div class=author>Анна</div><time datetime="2026-03-01">1 марта</time><div class=text><p>Луна притягивает
    море, и море идёт за ней дважды в день.</p></div></div><div class=post><div class=author>Борис</div><time
    datetime="2026-03-02">2 марта</time><div class=text><p>А солнце ей помогает, когда они стоят на одной
    линии.</p></div></div></body></html>""".encode("cp1251"),
    """<html lang=zh><meta http-equiv=content-type content="text/html;
    charset=gb18030"><title>潮汐</title><body>
    <h1>潮汐</h1><p>月亮牵引着大海，海水每天涨落两次。太阳和月亮在同一方向时，潮水最高。</p><ul><li>满月<li>新月</ul><p>时间和潮水不等人。</p></body></html>""".encode("gb18030"),
    b"""<html><head><title>Shell</title></head><body><div id="__next"></div><noscript><p>Switch scripts
    on.</p></noscript><script id="__NEXT_DATA__"
    type="application/json">{"props":{"pageProps":{"title":"Shell","body":"<p>What the script would have shown, at some
    length, so that it is worth to be taken.</p>"}}}</script></body></html>""",
    b"""<html><head><title>Frames</title></head><frameset cols="20%,80%"><frame src="menu.html" name=menu><frame
    src="text.html"> <noframes><body><p>Your browser shows no frames. <a href="text.html">The
    text</a>.</p></body></noframes></frameset></html>""",
)  # fmt: skip

TAGS = (
    b"div", b"p", b"span", b"b", b"a href=/x", b"ul><li", b"ol start=7><li", b"dl><dd", b"blockquote", b"table><tr><td",
    b"table", b"tr", b"td", b"pre", b"code", b"h2", b"section", b"details", b"svg", b"math", b"select", b"form", b"button",
    b"x-y", b"font", b"sup", b"template shadowrootmode=open", b"p hidden", b"div class=sr-only", b"div style='display:none'",
    b"figure", b"ruby", b"article",
)  # fmt: skip
UNCLOSED = (
    b"<!--", b"<![CDATA[", b"<script>", b"<style>", b"<textarea>", b"<title>", b"<xmp>", b"<plaintext>", b"<noscript>",
    b"<iframe>", b"<template>", b"<svg>", b"<math>", b"<select>", b"<table>", b"<pre>", b"<noframes>", b"<frameset>", b"<?",
    b"<!doctype", b"</", b'<a href="', b"<p style='", b"<script type='application/ld+json'>", b"<h1>", b"<head>", b"&", b"&#",
    b"<option>", b"<a<",
)  # fmt: skip
NUMBERS = (b"0", b"-1", b"1000000000", b"9" * 40, b"1e9", b"65535", b"2147483648", b"\xd9\xa3", b" 7 ", b"")
COUNTED = re.compile(rb"""(=["']?)\d+(?=["'\s>])""")
CHARSET = re.compile(rb"""(charset\s*=\s*["']?)[\w-]+""", re.IGNORECASE)
LABELS = (
    "utf-8", "utf-16", "utf-16be", "utf-7", "utf-32", "shift_jis", "iso-2022-jp", "euc-kr", "gb18030", "big5", "windows-1251",
    "iso-8859-8", "macintosh", "koi8-r", "x-user-defined", "ascii", "no-such-charset", "", "\x00", "utf-8;charset=big5",
    "a" * 5_000,
)  # fmt: skip
CODECS = ("utf-16", "utf-16-be", "utf-8-sig", "utf-32", "shift_jis", "gb18030", "iso2022_jp", "cp1251", "utf-7")
KINDS = ("text/html",) * 6 + (
    "",
    "application/xhtml+xml",
    "text/plain",
    "application/octet-stream",
    "text/markdown",
    "application/xml",
)
CONTROLS = (
    *(bytes([code]) for code in (*range(32), 127)),
    *(chr(code).encode() for code in (0x80, 0x85, 0xA0, 0xAD, 0x200B, 0x200E, 0x2028, 0x202E, 0x2066, 0xFEFF, 0xFFFE, 0x1D173)),
    *(chr(0xE0000 + code).encode() for code in (1, 0x41, 0x7F)),
    b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\xaf",
)  # fmt: skip
REFERENCES = (
    b"&#0;", b"&#x110000;", b"&#99999999999999999999;", b"&#xD800;", b"&#13;", b"&notit;", b"&amp;lt;", b"&#8238;", b"&nbsp;",
    b"&CounterClockwiseContourIntegral;", b"&#x80;", b"&lt;script&gt;",
)  # fmt: skip


class Mutant(NamedTuple):
    """One page: its bytes, what HTTP calls it, and the steps that made it, for whoever looks into one."""

    data: bytes
    content_type: str
    steps: tuple[str, ...]


def mutant(seed: int, number: int, pages: Sequence[bytes]) -> Mutant:
    """The mutant of that number in the series of `seed`."""
    dice = random.Random(f"{seed}/{number}")
    page = bytearray(dice.choice(pages))
    steps: list[str] = []
    for _ in range(dice.choice((1, 1, 2, 3, 5, 8, 20))):
        step = dice.choice(STEPS)
        step(page, dice, pages)
        steps.append(step.__name__)
        del page[MOST_BYTES:]
    content_type = dice.choice(KINDS)
    if content_type and dice.random() < 0.4:
        content_type += f"; charset={dice.choice(LABELS)}"
    return Mutant(bytes(page), content_type, tuple(steps))


def pages(shared: Path | None) -> list[bytes]:
    """The pages to begin with: those written here, and real ones where the reference data are."""
    found = list(WRITTEN)
    if shared is None:
        return found
    for name, count in ARCHIVES.items():
        with tarfile.open(shared / "pages" / name) as archive:
            taken = 0
            for member in archive:
                if taken == count:
                    break
                if (
                    member.name.endswith(".html")
                    and member.size < 250_000
                    and (file := archive.extractfile(member)) is not None
                ):
                    found.append(file.read())
                    taken += 1
    return found


# ------------------------------------------------------------------------------------------------ steps


def _place(page: bytearray, dice: random.Random) -> int:
    """Anywhere, or where a tag begins."""
    at = dice.randrange(len(page) + 1)
    if dice.random() < 0.5:
        return at
    return max(0, page.find(b"<", at))


def _span(page: bytearray, dice: random.Random) -> slice:
    start = _place(page, dice)
    if dice.random() < 0.3 and (end := page.find(b">", start)) != -1:
        return slice(start, end + 1)
    return slice(start, start + dice.choice((1, 2, 10, 100, 1_000, 20_000)))


def _insert(page: bytearray, dice: random.Random, data: bytes) -> None:
    at = _place(page, dice)
    page[at:at] = data


def _many(piece: bytes, dice: random.Random) -> bytes:
    return piece * min(dice.choice((2, 50, 3_000, 30_000)), ROOM // max(1, len(piece)))


def deleted(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    del page[_span(page, dice)]


def duplicated(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    _insert(page, dice, bytes(page[_span(page, dice)]))


def swapped(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    one, other = sorted((_span(page, dice), _span(page, dice)), key=lambda span: span.start)
    first, second = bytes(page[one]), bytes(page[other])
    page[other] = first
    page[one] = second


def nested(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """A span within itself, as tags that are not closed leave it."""
    span = _span(page, dice)
    piece = bytes(page[span])
    for _ in range(dice.choice((1, 3, 8))):
        middle = len(piece) // 2
        if len(piece) > ROOM // 2:
            break
        piece = piece[:middle] + piece + piece[middle:]
    page[span] = piece


def cut(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """The end is missing, mostly from the middle of a tag."""
    at = page.find(b"<", dice.randrange(len(page) + 1))
    if at > len(page) // 4:
        del page[at + dice.randrange(12) :]


def flipped(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    for _ in range(dice.choice((1, 10, 300)) if page else 0):
        page[dice.randrange(len(page))] ^= 1 << dice.randrange(8)


def grafted(page: bytearray, dice: random.Random, pages: Sequence[bytes]) -> None:
    other = bytearray(dice.choice(pages))
    _insert(page, dice, bytes(other[_span(other, dice)]))


def repeated(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    start = _place(page, dice)
    _insert(page, dice, _many(bytes(page[start : start + dice.choice((1, 3, 10, 40, 200, 2_000))]), dice))


def attributes(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """In a tag that is there: many, one that is long, or one that never ends."""
    at = page.find(b">", dice.randrange(len(page) + 1))
    count = dice.choice((10, 1_000, 20_000))
    page[max(0, at) : max(0, at)] = dice.choice(
        (
            b"".join(b" a%d=%d" % (number, number) for number in range(count)),
            b' class="' + b"a b " * count + b'"',
            b' style="' + b"color:red;" * count + b'"',
            b" class=x" * count,
            b' title="',
            b" href='",
            b' id="' + b"x" * count + b'"',
        )
    )


def unclosed(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    _insert(page, dice, _many(dice.choice(UNCLOSED), dice) if dice.random() < 0.2 else dice.choice(UNCLOSED))


def deep(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    tags = dice.choices(TAGS, k=dice.choice((1, 1, 2, 4)))
    opened = b"".join(b"<%s>" % tag for tag in tags)
    closed = b"".join(b"</%s>" % tag.split(b">")[-1].split()[0] for tag in reversed(tags))
    count = min(dice.choice((5, 300, 5_000, 50_000)), ROOM // len(opened))
    middle = dice.choice((b"", b"x", b"words ")) + bytes(page[_span(page, dice)])
    _insert(page, dice, opened * count + middle + (closed * count if dice.random() < 0.5 else b""))


def controls(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    for _ in range(dice.choice((1, 20, 500))):
        at = dice.randrange(len(page) + 1)
        page[at:at] = dice.choice(CONTROLS)
    if dice.random() < 0.3:
        _insert(page, dice, _many(dice.choice(CONTROLS), dice))


def numbers(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """Huge ones and such that are none, where some were, and in a table and lists of their own."""
    number = dice.choice(NUMBERS)
    page[:] = COUNTED.sub(lambda found: found[1] + dice.choice((number, dice.choice(NUMBERS))), bytes(page))
    row = b"<td colspan='%s' rowspan='%s'>x" % (number, dice.choice(NUMBERS))
    table = b"<table>" + _many(b"<tr>" + row * dice.choice((1, 3, 40)), dice) + b"</table>"
    listed = b"<ol start='%s'>" % number + _many(b"<li value='%s'>x" % dice.choice(NUMBERS), dice) + b"</ol>"
    _insert(page, dice, dice.choice((table, listed, b"<col span=%s>" % number, b"<font size=%s>" % number)))


def references(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    _insert(page, dice, _many(dice.choice(REFERENCES), dice))


def recoded(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """In another encoding than it says, or says it is in another."""
    if dice.random() < 0.5:
        page[:] = page.decode("utf-8", "replace").encode(dice.choice(CODECS), "replace")
    else:
        label = dice.choice(LABELS).encode()
        page[:] = CHARSET.sub(lambda found: found[1] + label, bytes(page))
        page[0:0] = b"<meta charset='%s'>" % label


def sheets(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """A style sheet that hides things by many rules, or is broken."""
    names = [b".%c%d" % (dice.choice(b"abcdef"), number) for number in range(dice.choice((3, 300, 5_000)))]
    hides = dice.choice((b"display:none", b"visibility:hidden", b"font-size:0", b"opacity:0", b"color:#fff;background:#fff"))
    rules = dice.choice(
        (
            b"".join(b"%s{%s}" % (name, hides) for name in names),
            b",".join(names) + b"{%s}" % hides,
            b" ".join(names) + b"{%s}" % hides,
            b"@media x{" * len(names) + b"p{%s}" % hides,
            b"/*" * len(names),
            b"p{" * len(names),
            b":not(" * len(names) + b"p{%s}" % hides,
        )
    )
    _insert(page, dice, b"<style>" + rules[:ROOM] + b"</style><p class='a0 b1 c2'>x")


def data(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """Data in scripts: nested, repeated, broken."""
    opened = dice.choice(
        (
            b"<script type='application/ld+json'>",
            b"<script id=__NEXT_DATA__ type='application/json'>",
            b"<script>window.__INITIAL_STATE__=",
            b"<script>self.__next_f.push(",
        )
    )
    piece = dice.choice(
        (b"[", b'{"a":', b'{"@graph":[', b'"\\u0041', b'{"@type":"Article","author":', b"1e999,", b'"\\ud800",', b"9")
    )
    values = piece * (ROOM // dice.choice((10, 100, 3_000)) // len(piece))
    if dice.random() < 0.5:
        items = b",".join(
            b'{"@type":"Product","@id":"#%d","name":"x<b>","text":"<p>words %d"}' % (at, at) for at in range(2_000)
        )
        values = b'{"@graph":[' + items + b"]}"
    where = 0 if dice.random() < 0.5 else _place(page, dice)
    page[where:where] = opened + values + b"</script>"


def marks(page: bytearray, dice: random.Random, _pages: Sequence[bytes]) -> None:
    """What Markdown would take for its own."""
    pieces = (
        b"*",
        b"_",
        b"`",
        b"[",
        b"](",
        b"#",
        b"|",
        b"~",
        b"> ",
        b"<",
        b"\\",
        b"$",
        b"![",
        b"\n---\n",
        b"\n===\n",
        b"\n# x\n",
        b"\n```\n",
    )
    where = dice.choice((b"<p>", b"<pre>", b"<h2>", b"<code>", b"<td>", b"<li>"))
    _insert(page, dice, where + _many(dice.choice(pieces), dice))


STEPS: tuple[Callable[[bytearray, random.Random, Sequence[bytes]], None], ...] = (
    deleted, duplicated, swapped, nested, cut, flipped, grafted, repeated, attributes, unclosed, deep, controls, numbers,
    references, recoded, sheets, data, marks,
)  # fmt: skip
