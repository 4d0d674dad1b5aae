"""Text that a page does not show: the ways to hide it that an element says of itself, and what must not be taken for one."""

from __future__ import annotations

import pytest

from webseam.documents.document import Document
from webseam.documents.html.concealment import Concealment, concealment
from webseam.documents.html.hidden import SCREEN_READER, drop_hidden
from webseam.documents.html.inline_style import declarations
from webseam.documents.html.parse import parse
from webseam.documents.html.tree import text_of
from webseam.documents.invisible import drop_invisible
from webseam.documents.read import read

WORDS = "Sphinx of black quartz, judge my vow, and do so before the evening comes. "


def page(html: str) -> Document:
    return read(html.encode(), url="https://example.com/", content_type="text/html; charset=utf-8")


def everything(html: str) -> Document:
    return read(html.encode(), url="https://example.com/", content_type="text/html; charset=utf-8", whole=True)


# ---------------------------------------------------------------------------------------------- inline styles

HIDING = (
    "display:/**/none", "display/* a */:none", r"d\69splay:none", r"d\000069 splay: none", r"display:n\6fne", "DISPLAY:NONE",
    ("padding:0;" * 800) + "display:none",
    "x:';';display:none", "x:url(a;b);display:none", "x:'\n;display:none", "x;display:none",
    "x:(;);display:none", "{}display:none", "display:none;display:nonsense", "display:none!IMPORTANT;display:block",
    "visibility:hidden", "visibility:collapse", "content-visibility:hidden",
    "font:0/0 a", "font:italic 0px/2 serif", "font-size:0.1px", "font-size:1px", "font-size:.05em", "font-size:1pt",
    "font-size:0%", "font-size:calc(0px)", "color:transparent", "color:#fff;background:#fff", "color:WHITE;background:#FFFFFF",
    "color:rgb(255, 255, 255);background-color:white",
    "color:rgba(0,0,0,0)", "color:rgb(0 0 0 / 0%)", "color:#0000",
    "-webkit-text-fill-color:transparent", "max-height:0em;overflow:hidden", "height:0.0px;overflow:hidden",
    "height:0;overflow:clip", "height:0;overflow-y:hidden", "width:1px;overflow-x:clip", "height:0;overflow:auto",
    "height:0;padding:0 9px;overflow:hidden", "clip:rect(0 0 0 0)", "clip:rect(0.1px,0,0,0)", "clip:rect(1px, 1px, 1px, 1px)",
    "clip:rect(auto,0,auto,auto)", "clip-path:inset(50%)", "clip-path:inset(100%)", "clip-path:inset(0 0 100% 0)",
    "clip-path:circle(0)", "clip-path:circle(0 at 50% 50%)", "-webkit-clip-path:polygon(0 0, 0 0, 0 0)", "filter:opacity(0)",
    "filter:blur(1px) opacity(0%)", "transform:scale(0)", "transform:rotate(9deg) scaleY(0)", "scale:0",
    "transform:matrix(0,0,0,0,0,0)", "transform:translateX(-9999px)", "transform:translate(0,-999px)",
    "transform:translate3d(-100vw,0,0)", "translate:-60em", "zoom:0.01", "position:absolute;left:-999px", "left:-999em",
    "position:fixed;left:-200vw", "left:9999px", "right:-500px", "right:9999px", "top:-600px", "bottom:-600px",
    "position:fixed;top:9999px", "margin-left:-9999px", "text-indent:-9999px", "text-indent:9999px", "left:calc(0px - 9999px)",
    "text-indent:100%;white-space:nowrap;overflow:hidden", "left:-101%", "inset:0 auto auto -9999px",
)  # fmt: skip


@pytest.mark.parametrize("style", HIDING, ids=range(len(HIDING)))
def test_a_style_that_shows_nothing_hides_its_text(style: str) -> None:
    document = page(f'<p>{WORDS * 10}<div style="{style}">Ignore this</div>')
    assert "Ignore" not in document.content
    assert document.hidden == len("Ignore this")


SHOWING = (
    "display:block", "display:no/**/ne", "x:'display:none'", "x:url(display:none;display:none)", "x:(;display:none;)",
    "display:none;display:block", "display:none;display:block!important", r"display\:none", "/* display:none */color:red",
    "--display:none", "opacity:0", "font-size:12px", "font:bold 12px/0 a", "font:400 1rem x", "font-size:small",
    "color:#fff", "color:#fff;background:#000", "color:#fff;background:#fff url(dark.png)", "color:white;background:var(--x)",
    "color:transparent;background-clip:text", "color:transparent;text-shadow:0 0 5px red", "height:0",
    "height:0;padding-bottom:56%;overflow:hidden", "height:0;min-height:200px;overflow:hidden", "height:100%;overflow:hidden",
    "width:50%;overflow:hidden", "clip:rect(0,100px,100px,0)", "clip:auto", "clip-path:inset(10%)", "clip-path:circle(50%)",
    "clip-path:polygon(0 0, 100% 0, 50% 100%)", "filter:opacity(0.5)", "filter:opacity(05%)", "transform:scale(0.9)",
    "transform:translate(-50%,-50%)", "transform:translate3d(0,746px,0)", "transform:translateX(-100%)", "zoom:1", "zoom:0",
    "left:-10px", "left:600px;position:absolute", "top:2500px;position:absolute", "left:50%;margin-left:-600px",
    "width:900%;left:-100%", "text-indent:2em", "margin-top:-10vw", "right:0;bottom:0", "color:red",
)  # fmt: skip


@pytest.mark.parametrize("style", SHOWING, ids=range(len(SHOWING)))
def test_a_style_of_text_that_is_seen_hides_nothing(style: str) -> None:
    assert concealment(style) is Concealment.NONE


def test_letters_that_are_not_seen_go_and_what_is_readable_inside_stays() -> None:
    document = page(
        f"<p>{WORDS * 10}"
        "<div style='font-size:0'>Gone <b>gone <i style='font-size:1em'>gone</i></b>"
        "<span style='font-size:14px'>Kept</span></div>"
        "<div style='color:transparent'>Gone <u style='color:red'>red</u></div>"
        "<div style='color:#fff;background:#fff'>Gone <u style='color:white'>gone</u> <u style='background:#000'>dark</u></div>"
    )
    assert document.content.removeprefix((WORDS * 10).strip()).split() == ["Kept", "red", "dark"]
    assert document.hidden == 6 * len("gone")


def test_declarations_come_in_the_order_in_which_they_win() -> None:
    assert declarations("A:1; a : 2 !important;b:c\t d;a:3; -webkit-a: 4;;") == {"a": ["2", "4", "3", "1"], "b": ["c d"]}
    assert declarations("a:'x;\\'y';b:[1;2];c:url( x;y )") == {"a": ['""'], "b": ["[1;2]"], "c": ['""']}


def test_more_styles_than_any_page_has_are_not_read_and_not_shown() -> None:
    lots = "".join(f"<p style='x{number}:{')' * 8_000}'>a" for number in range(140))
    content = page(f"<h1>Title</h1>{lots}<p style='color:red'>Unread</p>").content
    assert content.startswith("# Title")
    assert "Unread" not in content


# ---------------------------------------------------------------------------------------------- elements and attributes


@pytest.mark.parametrize(
    "html",
    ["<p hidden=until-found>Ignore</p>", "<noembed>Ignore</noembed>", "<p aria-hidden='TRUE '>Ignore</p>"],
)
def test_what_is_shown_only_when_asked_for_is_not_shown(html: str) -> None:
    assert "Ignore" not in page(f"<p>{WORDS * 10}</p>{html}").content


def test_a_popover_is_not_shown() -> None:
    page = parse("<p>Seen</p><div popover>Ignore</div>")
    assert drop_hidden(page) == (len("Ignore"), False)
    assert text_of(page.html) == "Seen"


def test_the_formula_behind_a_picture_is_kept_and_nothing_with_it() -> None:
    hidden = "<span class='mwe-math-mathml-inline' style='display:none'>"
    formula = '<math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>'
    content = page(f"<p>{WORDS}{hidden}Ignore {formula} this</span></p><p>{hidden}Ignore</span>").content
    assert content.endswith("$E=mc^{2}$")
    assert "Ignore" not in content


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<math alttext='Ignore this'></math>", ""),
        ("<math><semantics><mi>x</mi><annotation encoding='text/plain'>Ignore this</annotation></semantics></math>", "x"),
        ("<math><mi>x</mi><annotation-xml><mtext>Ignore this</mtext></annotation-xml></math>", "x"),
        ("<math alttext='Ignore this and obey'><mi>x</mi></math>", "x"),
        ("<math alttext='do as I say now or be off'><mi>x</mi></math>", "x"),
        ("<math><mi>x</mi><annotation encoding='application/x-tex'>\\text{Ignore this}</annotation></math>", "x"),
        (
            (
                "<math><semantics><mrow><mtext>area</mtext><mo>=</mo><mi>π</mi><msup><mi>r</mi><mn>2</mn></msup></mrow>"
                "<annotation encoding='application/x-tex'>\\text{area}=\\pi r^2</annotation></semantics></math>"
            ),
            "$\\text{area}=\\pi r^2$",
        ),
        (
            "<math alttext='\\begin{array}{cccc}a&amp;b\\end{array}'><mtable><mtr><mtd>a<mtd>b</mtable></math>",
            "$\\begin{array}{cccc}a&b\\end{array}$",
        ),
    ],
)
def test_tex_is_taken_when_it_says_what_the_formula_shows(html: str, shown: str) -> None:
    assert page(f"<p>{WORDS}<p>Then: {html}").content.rsplit("Then:", 1)[1].strip() == shown


# ---------------------------------------------------------------------------------------------- pages that wait for a script


def test_a_short_page_does_not_get_its_hidden_text_shown() -> None:
    instructions = f"<div style='display:none'>Ignore this. {WORDS * 8}</div>"
    visible = "A short page of a sentence or two, which is all that its reader is meant to see of it."
    for html in (
        f"<p>A page.</p>{instructions}",  # without a script
        f"<script type='application/ld+json'>{{}}</script><p>A page.</p>{instructions}",
        f"<script>x()</script><p>{visible}</p>{instructions}",
        f"<script>x()</script><header>{visible * 5}</header>{instructions}",
        f"<script>x()</script>{f'<a href=/>{visible}</a>' * 5}{instructions}",
    ):
        assert "Ignore" not in page(html).content


def test_only_what_scripts_show_is_let_be() -> None:
    for attribute in ("class=sr-only", "style='left:-9999px'", "hidden=until-found", "style='font-size:0'"):
        document = page(f"<script>x()</script><h1>A</h1><div {attribute}>Ignore this. {WORDS * 8}</div>")
        assert "Ignore" not in document.content


def test_a_page_streamed_in_hidden_parts_is_read_whole() -> None:
    menu = "<nav>" + "<a href=/x>Some department</a> " * 30 + "</nav>"
    parts = f"<div hidden id=S:0>The shell. {WORDS}<div hidden id=S:1>What it is about. {WORDS * 4}</div></div>"
    document = page(f"{menu}<main>Loading</main>{parts}<script>$RC('B:0','S:0')</script>")
    assert "The shell." in document.content
    assert "What it is about." in document.content


def test_a_saved_page_whose_scripts_were_taken_out_still_waits_for_them() -> None:
    for trace in (
        "<link rel=preload as=script href=/a>",
        "<img src=/_next/image?url=x>",
        "<noscript>Scripts, please</noscript>",
    ):
        assert "Held back" in page(f"{trace}<div hidden>Held back. {WORDS * 5}</div>").content


# ---------------------------------------------------------------------------------------------- characters


@pytest.mark.parametrize(
    "text",
    ["❤️", "☎︎", "1️⃣ #️⃣ *️⃣", "👁️‍🗨️", "🏳️‍🌈", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "⠓⠑⠇⠇⠕"],
)
def test_selectors_and_tags_of_emoji_stay(text: str) -> None:
    assert drop_invisible(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\ufe0fb\ufe00c", "abc"),
        ("1\ufe0f2", "12"),
        ("\u2764\ufe01\ufe0f", "\u2764"),
        ("\u845b\U000e0100", "\u845b"),
        ("\u1820\u180b", "\u1820"),
        ("a\U0001d173\U0001d17a\U0001bca0\U0001bca3b", "ab"),
        ("a\u3164\u115f\u1160\uffa0b", "ab"),
        ("\U0001f3f4\U000e0069\U000e0067\U000e006e\U000e007f", "\U0001f3f4"),
        ("a\x1b[31mb\x1b[0m\x9b1mc\x1b]0;title\x07d\x1b]8;;x\x1b\\e\x1bPq\x1b\\f\x1b(Bg\x1b", "abcdefg"),
    ],
)
def test_characters_that_carry_what_nobody_sees_are_dropped(text: str, shown: str) -> None:
    assert drop_invisible(text) == (shown, len(text) - len(shown))


def test_text_that_was_decoded_wrongly_is_no_escape_sequence() -> None:
    wrong = "\u201cbasic\u201d (BRE), \u201cextended\u201d".encode().decode("latin-1")
    assert drop_invisible(wrong)[0] == "\xe2basic\xe2 (BRE), \xe2extended\xe2"


def test_the_blank_of_braille_is_a_space() -> None:
    assert drop_invisible("a\u2800b") == ("a b", 0)


@pytest.mark.parametrize("escape", ["\x1b", "&#27;", "&#x1B;", "&#x0001b;"])
def test_escape_sequences_go_whole_and_loosen_no_markup(escape: str) -> None:
    document = page(
        f"<title>{escape}[31mT</title><h2>{escape}[1mRed</h2><p>{f'{escape}[`' * 3}x</p><a href=/>{escape}[31mlink</a>"
        f"<p>{escape}<b></b>`</p><pre>{escape}[2Jcode</pre>"
    )
    assert document.title == "T"
    assert document.content == "## Red\n\nx\n\n[link](https://example.com/)\n\n\\`\n\n```\ncode\n```"


# ---------------------------------------------------------------------------------------------- links


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("http://google.com@evil.example/", "http://evil.example/"),
        ("http://user:secret@evil.example:8080/x", "http://evil.example:8080/x"),
        ("//\u0430pple.example/p?q#f", "https://xn--pple-43d.example/p?q#f"),
        ("https://B\u00dcCHER.example", "https://xn--bcher-kva.example"),
        ("https://fa\u00df.example/", "https://xn--fa-hia.example/"),  # IDNA 2008, not 2003
        ("https://%65vil.example/", "https://evil.example/"),
        ("http://127.1:9001/x", "http://127.0.0.1:9001/x"),
        ("http://[::1]:80/x", "http://[::1]/x"),
        ("https://example.org:8443/\u00fc", "https://example.org:8443/\u00fc"),
        ("https://a b.example/", ""),
        ("https://xn--a.b\u00fc\u200d.example/", ""),
        ("/a\u2800b\u3164\ufe0f", "https://example.com/a%E2%A0%80b%E3%85%A4%EF%B8%8F"),
    ],
)
def test_a_link_names_the_host_that_a_browser_asks(href: str, url: str) -> None:
    document = page(f'<p>See <a href="{href}">known.example</a>')
    assert document.content == (f"See [known.example]({url})" if url else "See known.example")
    assert document.links == ((url.split("#", maxsplit=1)[0],) if url else ())


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display:none">SECRET</div>',
        "<div hidden><p>SECRET</p></div>",
        "<div popover>SECRET</div>",
        f'<div style="{"a:b;" * 4_000}display:none">SECRET</div>',
    ],
)
@pytest.mark.parametrize("depth", [0, 115, 130, 400])
def test_hidden_text_stays_hidden_however_deep_it_lies(hidden: str, depth: int) -> None:
    page = "<main><p>" + "A page with words enough to be shown for what it is. " * 20 + "</p>"
    page += "<div>" * depth + "<p>deep words</p>" + hidden + "</div>" * depth + "</main>"
    content = read(page.encode(), url="https://x.example/", content_type="text/html; charset=utf-8").content
    assert "SECRET" not in content
    assert "deep words" in content


def test_what_is_streamed_into_a_hidden_box_is_the_page() -> None:
    """React sends what was not ready as `<div hidden id="S:0">`; a script puts it where `<template id="B:0">` is."""
    html = f"<main><p>{WORDS * 8}</p><template id='B:0'></template></main><div hidden id='%s'><p>Late. {WORDS * 8}</p></div>"
    assert "Late." in everything(html % "S:0").content
    assert "Late." in everything(html % "S:1f").content
    for name in ("S:", "S:zz", "late", "XS:0", "S:0 x"):
        document = everything(html % name)
        assert "Late." not in document.content
        assert document.hidden > 500


def test_what_stands_behind_a_dialog_is_the_page_and_a_small_part_hidden_from_readers_is_not() -> None:
    dialog = "<div role=dialog><p>We value your privacy and so do all our partners.</p><button>Accept</button></div>"
    behind = f"<main %s><h1>T</h1><p>Behind. {WORDS * 20}</p></main>{dialog}"
    assert "Behind." in everything(behind % "aria-hidden=true").content
    hidden = f"<main><p>{WORDS * 20}</p></main><div %s><p>Ignore. {WORDS * 16}</p></div>"
    assert "Ignore." not in everything(hidden % "aria-hidden=true").content
    large = f"<main><p>{WORDS * 10}</p></main><div %s><p>Ignore. {WORDS * 20}</p></div>"
    assert "Ignore." not in everything(large % "aria-hidden=true style='display:none'").content
    assert "Ignore." not in everything(large % "hidden").content


@pytest.mark.parametrize(
    "fold",
    [
        "<button aria-controls=x>More</button><div id=x hidden>%s</div>",
        "<a href='#x'>More</a><div id=x style='display:none'>%s</div>",
        "<a data-bs-target='#x'>More</a><div id=x style='display:none'>%s</div>",
        "<div role=tabpanel hidden>%s</div>",
        "<div class='faq-item'><h3>Why?</h3><div style='display:none'>%s</div></div>",
        "<div class='myAccordion' aria-hidden=true>%s</div>",
    ],
)
def test_what_a_click_opens_is_not_hidden(fold: str) -> None:
    text = f"<p>Folded. {WORDS * 3}</p>"
    assert "Folded." in everything(f"<main><p>{WORDS * 10}</p>{fold % text}</main>").content
    inside = fold % f"<p style='font-size:0'>SECRET</p>{text}"
    assert "SECRET" not in everything(f"<main><p>{WORDS * 10}</p>{inside}</main>").content


@pytest.mark.parametrize("name", sorted(SCREEN_READER))
def test_what_is_said_for_screen_readers_only_is_not_shown(name: str) -> None:
    found = page(f"<p>{WORDS * 10}</p><p class='other {name.upper()}'>Ignore all of this.</p>")
    assert "Ignore" not in found.content
    assert found.hidden == len("Ignore all of this.")


def test_a_style_too_long_to_be_read_shows_nothing() -> None:
    assert "Ignore" not in page(f"<p>{WORDS * 10}</p><p style='{'a:b;' * 20_000}display:none'>Ignore all of this.</p>").content
