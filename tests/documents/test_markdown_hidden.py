"""What nobody sees where Markdown is shown is dropped and counted; what only looks like it stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webseam.documents.markdown_hidden import drop_hidden
from webseam.documents.read import read

PIECES = st.sampled_from(
    [
        *("<div hidden>", "<div>", "</div>", "<p style='display:none'>", "</p>", "<!--", "-->", "`", "``", "```\n", "~~~\n"),
        *("\n", "\n\n", "    ", "- ", "> ", "words ", "\\", "[//]: # (", ")", '[//]: # "', '"', "'", "<br hidden>", "<a ", ">"),
    ]
)


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("<div style='display:none'>GONE</div>", "GONE"),
        ('<div style="display: NONE">\n\nGONE **and**\n\n- GONE\n\n</div>', "\n\nGONE **and**\n\n- GONE\n\n"),
        ("<div hidden><div>GONE</div> GONE</div>", "<div>GONE</div> GONE"),
        ("<SPAN\n hidden=''>GONE</Span>", "GONE"),
        ("<section style=visibility:hidden>GONE <span>x</section>", "GONE <span>x"),
        ("<div style='font-size:0'>GONE</div>", "GONE"),
        ("<div style='dis\\play:none'>GONE</div>", "GONE"),
        ("<span title='>' hidden>GONE</span>", "GONE"),
        ("<div hidden>`</div>` GONE</div>", "`</div>` GONE"),
        ("<div hidden>\n```\n</div>\n```\nGONE</div>", "\n```\n</div>\n```\nGONE"),
        ("<div hidden><!-- </div> -->GONE</div>", "<!-- </div> -->GONE"),
        ("<p hidden>GONE</p>", "GONE"),
        ("<p hidden>\nGONE", "\nGONE"),
        ("<img hidden src=GONE>", ""),
        ("<!-- GONE\n\nGONE -->", " GONE\n\nGONE "),
        ("[//]: # (GONE)", "GONE"),
        ('[comment]: # "GONE\nGONE"', "GONE\nGONE"),
        ("   []: <> 'GONE'", "GONE"),
        ("- <div hidden>\n    GONE\n  </div>", "\n    GONE\n  "),
        ("- item\n\n      <div hidden>GONE</div>", "GONE"),
        ('<div style="display:&#110;one">GONE</div>', "GONE"),
        ("<template>GONE</template>", "GONE"),
        ("<dialog class=a>GONE</dialog>", "GONE"),
        ("a <select><option>GONE</select>"[2:], "<option>GONE"),
        ("<option value=1>GONE</option>", "GONE"),
        ("<div hidden><p>GONE</div>", "<p>GONE"),
        ("<span hidden><p>GONE<p>GONE</p></span>", "<p>GONE<p>GONE</p>"),
        ("<div hidden><table><tr><td>GONE</table></div>", "<table><tr><td>GONE</table>"),
        ("<div hidden>\n\n```html\n<div>\n\n</div>\n```\n\n</div>", "\n\n```html\n<div>\n\n</div>\n```\n\n"),
        ("<div hidden>GONE `a` <https://example.com/> \\*</div>", "GONE `a` <https://example.com/> \\*"),
    ],
)
def test_what_is_hidden_is_dropped_and_counted(hidden: str, words: str) -> None:
    text, dropped = drop_hidden(f"Before.\n\n{hidden}\n\nAfter.\n")
    assert "GONE" not in text
    assert text.startswith("Before.\n\n")
    assert text.endswith("\n\nAfter.\n")
    assert dropped == len(words)


@pytest.mark.parametrize(
    "shown",
    [
        "```html\n<div hidden>a</div>\n<!-- c -->\n[//]: # (c)\n```",
        "~~~\n<div hidden>\n```\n~~~",
        "> ```\n> <div hidden>\n> ```",
        "1. ```html\n   <div hidden>\n\n   ```",
        "Write `<div hidden>` or ``<span hidden> ` `` or `<!-- c -->`.",
        "Write `<div\nhidden>`.",
        "Code:\n\n    <div hidden>\n\n    <!-- c -->",
        "\\<div hidden>",
        "<details>\n<summary>a</summary>\n\nb\n\n</details>",
        "<div data-hidden='x' class='hidden-xs' style='color:red'>a</div>",
        "<div hidden={false}>a</div>",
        "<https://example.com/hidden style>",
        "a < b hidden > c",
        "[ref]: https://example.com/ 'Title'\n[top]: #top",
        "[x]: # not a title",
        "</div hidden> a",
        "<dialog open>a</dialog>",
        "Usage: a <template> <select> [<option>]",
    ],
)
def test_what_is_shown_stays(shown: str) -> None:
    text = f"Before.\n\n{shown}\n\nAfter.\n"
    assert drop_hidden(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "<div hidden>\n\n    </div>\n\nGONE",
        "> <div hidden>\n>\n>     </div>\n>\n> GONE",
        "- <div hidden>\n\n      </div>\n\n  GONE",
        "<div hidden><textarea></div></textarea>GONE</div>",
        "<div hidden><iframe></div></iframe>GONE</div>",
        "<div hidden><!x </div>GONE</div>",
        "<div hidden><?x </div>GONE</div>",
        "<div hidden></ </div>GONE</div>",
        "<div hidden><svg><![CDATA[</div>]]>GONE",
        "<div hidden><table></div>GONE",
        "<div hidden><object></div>GONE",
        "<span hidden><div></span>GONE",
        "<form hidden><div></form>GONE",
        "<div hidden>`<div>`</div>GONE",
        "<div hidden>\\<div></div>GONE",
        "<div hidden><div a<b></div>GONE",
        '<div hidden><b a=x"><div>"></div>GONE',
        "<div hidden>` <textarea> `</div></textarea>GONE",
        "<div hidden>\n\n`\n- `</div>` GONE",
        "<div hidden>\n```\n<b>\n\n```\n</div>\n```\nGONE",
        "<span hidden></span x>GONE",
        "<div hidden><plaintext></div>GONE",
        "<template>\n\nGONE",
    ],
)
def test_an_end_tag_that_may_close_nothing_does_not_show_what_follows(text: str) -> None:
    left, _ = drop_hidden(f"Before.\n\n{text}")
    assert "GONE" not in left
    assert left.startswith("Before.")


def test_an_element_that_is_not_closed_hides_what_follows_and_a_paragraph_no_more_than_itself() -> None:
    assert drop_hidden("a <div hidden> b\n\nc") == ("a ", 5)
    assert drop_hidden("a\n\n<p hidden> b\n\nc") == ("a\n\n\n\nc", 2)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_what_is_left_is_part_of_what_came(text: str) -> None:
    left, dropped = drop_hidden(text)
    rest = iter(text)
    assert all(character in rest for character in left)
    assert 0 <= dropped <= len(text) - len(left)


@pytest.mark.parametrize(
    "unit",
    [
        *("<div hidden>", "<a \"'", "<a '\"", "`", "` ``\n\n", "<!-- ", "    <!-- -->\n", "\n\n    <div hidden></div>"),
        *(
            "[//]: # (\n",
            "[//]: # '\n[]: # \"\n",
            "```\n",
            "~~~~\n```\n",
            "> > ",
            "<p hidden>",
            "<p hidden>\n\n",
            "[]: # (a)\n",
        ),
        *(
            "<textarea></div>",
            "<b></i>",
            "<!x",
            "<?>",
            "</ ",
            "<p><table>",
            "<a '<",
            "\\<b",
            "`\n",
            "\n\n    </div>",
            "```\n\n",
        ),
        *("<select>", "x <template>", "<option>", "<dialog>\n\n", "<b a=\"<b a='"),
        *("<a style='display:none' ", "\\", "<br hidden>", "<div hidden></div>", "<x " + "a=b " * 100),
    ],
)
def test_a_text_made_to_be_slow_is_walked_once(unit: str) -> None:
    size = 300_000
    for before in ("", "<div hidden>", "<div hidden><table>" + "<b>" * 90):
        text, dropped = drop_hidden(before + unit * (size // len(unit)))
        assert len(text) + dropped <= len(before) + size


def test_a_document_of_markdown_hides_it_too() -> None:
    found = read(b"# T\n\n<span hidden>Gone</span> words\n", url="https://example.com/a.md", content_type="text/markdown")
    assert (found.content, found.hidden) == ("# T\n\n words", 4)
