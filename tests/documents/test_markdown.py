"""HTML to Markdown, case by case. A page lies at https://example.com/dir/page."""

from __future__ import annotations

import pytest

from webseam.documents.html.links import Base
from webseam.documents.html.markdown import to_markdown
from webseam.documents.html.parse import parse

HERE = "https://example.com/dir/page"


def markdown(html: str, limit: int = 100_000) -> str:
    page = parse(html)
    return to_markdown([page.body], Base(HERE, page.head), limit=limit)[0]


CASES: dict[str, tuple[str, str]] = {
    # paragraphs, breaks, white space
    "paragraphs": ("<p>One\n two</p><p>Three", "One two\n\nThree"),
    "text beside blocks": ("before<div>inside</div>after", "before\n\ninside\n\nafter"),
    "one br is a hard break": ("<p>a<br>b", "a  \nb"),
    "two br end a paragraph": ("a<br><br>b", "a\n\nb"),
    "br at the ends says nothing": ("<p><br>a<br></p>", "a"),
    "no-break space stays": ("<p>10&nbsp;km", "10\xa0km"),
    "custom elements are blocks": ("<my-card>a</my-card><my-card>b</my-card>", "a\n\nb"),
    "white space where no word is": (
        "<div>\n <p> a </p>\n\t<p>b</p> \n</div>\n c <div> d</div>",
        "a\n\nb\n\nc\n\nd",
    ),
    "white space between words": ("<i>a</i>\n<b>b</b> <!-- --> <i>c</i><span> </span>d", "*a* **b** *c* d"),
    "white space in a pre": ("<pre>a\n  <b>b</b>\n\n  <i>c</i>\n </pre>", "```\na\n  b\n\n  c\n```"),
    "white space after a pre": ("<pre>a</pre> <p>b <i> </i> c", "```\na\n```\n\nb c"),
    "white space around a script": ("a <script>x</script> b<p>\n<script>y</script>\nc", "a b\n\nc"),
    "spans holding blocks": ("<span><p>a</p><p>b</p></span>", "a\n\nb"),
    # headings
    "heading levels": ("<h1>A</h1><h3>B</h3><h6>C</h6>", "# A\n\n### B\n\n###### C"),
    "permalink in a heading goes": ('<h2 id=x>Title<a class=headerlink href="#x">¶</a></h2>', "## Title"),
    "link in a heading stays": ('<h2><a href="/a">Title</a></h2>', "## [Title](https://example.com/a)"),
    "bold in a heading is no news": ("<h2><b>Title</b></h2>", "## Title"),
    "br in a heading is a space": ("<h2>A<br>B</h2>", "## A B"),
    "empty heading": ("<h2> </h2><p>x", "x"),
    # emphasis
    "strong and em": ("<p><b>a</b> <em>b</em>", "**a** *b*"),
    "spaces move out of marks": ("<p>x<b> a </b>y", "x **a** y"),
    "strong within strong": ("<b>a <strong>b</strong></b>", "**a b**"),
    "empty strong": ("<p>a<b></b>b", "ab"),
    "strong over a break": ("<p><b>a<br>b</b>", "**a**  \n**b**"),
    "struck": ("<p><del>$20</del> $15", "~~$20~~ $15"),
    "quotation marks": ("<p><q>so</q>", "“so”"),
    "superscript and subscript": ("<p>x<sup>2</sup> H<sub>2</sub>O e<sup>i pi</sup>", "x^2 H_2O e^(i pi)"),
    "footnote reference": ('<p>so<sup><a href="#fn1">[1]</a></sup>', "so[1]"),
    "ruby": ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
    # links
    "relative link": ('<a href="x">a</a>', "[a](https://example.com/dir/x)"),
    "root link": ('<a href="/x?a=1&amp;b=2">a</a>', "[a](https://example.com/x?a=1&b=2)"),
    "base": ('<base href="https://other.org/b/"><a href="x">a</a>', "[a](https://other.org/b/x)"),
    "relative base": ('<base href="/up/"><a href="x">a</a>', "[a](https://example.com/up/x)"),
    "no scheme": ('<a href="//cdn.org/x">a</a>', "[a](https://cdn.org/x)"),
    "parentheses and spaces": ('<a href="/a b(c)">a</a>', "[a](https://example.com/a%20b%28c%29)"),
    "brackets in the text": ('<a href="/x">[a]</a>', "[\\[a\\]](https://example.com/x)"),
    "a place on this page": ('<a href="#s">a</a> <a href="/dir/page#t">b</a>', "a b"),
    "a place on another page": ('<a href="/o#t">b</a>', "[b](https://example.com/o#t)"),
    "javascript": ('<a href="javascript:alert(1)">a</a>', "a"),
    "javascript in disguise": ('<a href=" java\nscript:alert(1)">a</a>', "a"),
    "data": ('<a href="data:text/html,x">a</a>', "a"),
    "mail": ('<a href="mailto:a@b.org">a</a>', "[a](mailto:a@b.org)"),
    "text that is the address": ('<a href="https://a.org/x">https://a.org/x</a>', "https://a.org/x"),
    "empty link": ('<p>a<a href="/x"> </a>b', "a b"),
    "spaces move out of links": ('<p>a<a href="/x"> b </a>c', "a [b](https://example.com/x) c"),
    "link around blocks": (
        '<a href="/x"><div><h3>Card</h3><p>Text</p></div></a>',
        "### [Card](https://example.com/x)\n\nText",
    ),
    "link around a paragraph": ('<a href="/x"><p>One</p><p>Two</p></a>', "[One](https://example.com/x)\n\nTwo"),
    "nonsense address": ('<a href="http://[bad">a</a>', "a"),
    # pictures
    "picture": ('<img src="/a.png" alt="A dog">', "![A dog](https://example.com/a.png)"),
    "picture without alt": ('<img src="a.png">', "![](https://example.com/dir/a.png)"),
    "decoration": ('<p>x<img src="a.png" alt="">', "x"),
    "base64": ('<p><img src="data:image/png;base64,AAAA" alt="Chart">', "![Chart]()"),
    "a lazy picture beside itself": (
        '<img src="data:image/gif;base64,R0" alt="A [b]"><noscript><img src="/r.jpg" alt="A [b]"></noscript>',
        "![A \\[b\\]](https://example.com/r.jpg)",
    ),
    "a link around a picture without an address": ('<a href="/x"><img src="data:," alt="A"></a>', "[A](https://example.com/x)"),
    "lazy picture": ('<img src="data:image/gif;base64,R0" data-src="/r.jpg" alt="A">', "![A](https://example.com/r.jpg)"),
    "blank picture": ('<img src="/blank.gif" data-src="/r.jpg" alt="A">', "![A](https://example.com/r.jpg)"),
    "srcset": ('<img srcset="/s.jpg 1x, /l.jpg 2x" alt="A">', "![A](https://example.com/s.jpg)"),
    "tracking pixel": ('<p>x<img src="/p.gif" width=1 height=1>', "x"),
    "linked picture": (
        '<a href="/x"><img src="/a.png" alt="A"></a>',
        "[![A](https://example.com/a.png)](https://example.com/x)",
    ),
    "figure": (
        '<figure><img src="/a.png" alt="A"><figcaption>Cap</figcaption></figure>',
        "![A](https://example.com/a.png)\n\nCap",
    ),
    # lists
    "bullets": ("<ul><li>a<li>b</ul>", "- a\n- b"),
    "numbers": ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
    "start": ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
    "value": ("<ol><li>a<li value=7>b<li>c</ol>", "1. a\n7. b\n8. c"),
    "reversed": ("<ol reversed start=3><li>a<li>b</ol>", "3. a\n2. b"),
    "nested": ("<ul><li>a<ul><li>b<ol><li>c</ol></ul><li>d</ul>", "- a\n  - b\n    1. c\n- d"),
    "nested beside": ("<ul><li>a</li><ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
    "paragraphs in items": ("<ul><li><p>a</p><p>b</p><li>c</ul>", "- a\n\n  b\n\n- c"),
    "code in an item": ("<ol><li>a<pre>x\ny</pre></ol>", "1. a\n\n   ```\n   x\n   y\n   ```"),
    "empty items": ("<ul><li> <li>b</ul>", "- b"),
    "check boxes": ("<ul><li><input type=checkbox checked> a<li><input type=checkbox>b</ul>", "- [x] a\n- [ ] b"),
    "loose text in a list": ("<ul>a<li>b</ul>", "- a\n- b"),
    "items in a wrapper": ("<ul><div><li>a<li>b</div></ul>", "- a\n- b"),
    "item without a list": ("<li>a", "- a"),
    "definitions": ("<dl><dt>T<dd>D<dd>E<dt>U<dd>F</dl>", "T\n: D\n: E\n\nU\n: F"),
    "definitions in div": ("<dl><div><dt>T<dd>D</div></dl>", "T\n: D"),
    "definition of two blocks": ("<dl><dt>T<dd><p>a<p>b</dl>", "T\n: a\n\n  b"),
    # code
    "code": ("<pre>  a\n\n    b\n</pre>", "```\n  a\n\n    b\n```"),
    "language on code": ('<pre><code class="language-js">x</code></pre>', "```js\nx\n```"),
    "language on pre": ('<pre class="brush: python">x</pre>', "```python\nx\n```"),
    "language of GitHub": ('<div class="highlight highlight-source-rust"><pre>x</pre></div>', "```rust\nx\n```"),
    "language of Sphinx": (
        '<div class="highlight-python notranslate"><div class="highlight"><pre>x</pre></div></div>',
        "```python\nx\n```",
    ),
    "no language": ('<pre><code class="language-none code-block">x</code></pre>', "```\nx\n```"),
    "fence in code": ("<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"),
    "spans in code": ("<pre><span>a</span> <b>b</b>\n<i>c</i></pre>", "```\na b\nc\n```"),
    "lines as blocks": ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
    "br in code": ("<pre>a<br>b</pre>", "```\na\nb\n```"),
    "tabs": ("<pre>a\tb</pre>", "```\na\tb\n```"),
    "line numbers": ('<pre><span class="lineno">1</span>a</pre>', "```\na\n```"),
    "copy button": ("<pre>a<button>Copy</button></pre>", "```\na\n```"),
    "markup in code is text": ("<pre>&lt;b&gt; *x* [a](b)</pre>", "```\n<b> *x* [a](b)\n```"),
    "inline code": ("<p>the <code>a_b *c*</code> call", "the `a_b *c*` call"),
    "tick in code": ("<p><code>a`b</code>", "``a`b``"),
    "tick at the end": ("<p><code>`a`</code>", "`` `a` ``"),
    "keyboard": ("<p><kbd>Ctrl</kbd>", "`Ctrl`"),
    # tables
    "table": ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n|---|---|\n| 1 | 2 |"),
    "thead": ("<table><thead><tr><td>A<td>B</thead><tr><td>1<td>2</table>", "| A | B |\n|---|---|\n| 1 | 2 |"),
    "tfoot is last": (
        "<table><tfoot><tr><td>s<td>3</tfoot><tr><th>A<th>B<tr><td>1<td>2</table>",
        "| A | B |\n|---|---|\n| 1 | 2 |\n| s | 3 |",
    ),
    "pipes": ("<table><tr><th>A|B<th>C<tr><td><code>x|y</code><td>2</table>", "| A\\|B | C |\n|---|---|\n| `x\\|y` | 2 |"),
    "colspan": ("<table><tr><th>A<th>B<th>C<tr><td colspan=2>1<td>2</table>", "| A | B | C |\n|---|---|---|\n| 1 |  | 2 |"),
    "rowspan": (
        "<table><tr><th>A<th>B<tr><td rowspan=2>1<td>2<tr><td>3</table>",
        "| A | B |\n|---|---|\n| 1 | 2 |\n|  | 3 |",
    ),
    "lines in a cell": ("<table><tr><th>A<th>B<tr><td>a<br>b<td><p>c<p>d</table>", "| A | B |\n|---|---|\n| a b | c d |"),
    "link in a cell": (
        '<table><tr><th>A<th>B<tr><td><a href="/x">a</a><td>b</table>',
        "| A | B |\n|---|---|\n| [a](https://example.com/x) | b |",
    ),
    "caption": ("<table><caption>Cap</caption><tr><th>A<th>B<tr><td>1<td>2</table>", "Cap\n\n| A | B |\n|---|---|\n| 1 | 2 |"),
    "blank rows": ("<table><tr><th>A<th>B<tr><td><td><tr><td>1<td>2</table>", "| A | B |\n|---|---|\n| 1 | 2 |"),
    "empty table": ("<p>a<table></table>b", "a\n\nb"),
    "table that lays out a page": ("<table><tr><td><h2>A</h2><p>a<td><p>b</table>", "## A\n\na\n\nb"),
    "table in a table": (
        "<table><tr><td>x<td><table><tr><th>A<th>B<tr><td>1<td>2</table></table>",
        "x\n\n| A | B |\n|---|---|\n| 1 | 2 |",
    ),
    "presentation": ("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>", "a b\n\nc d"),
    # quotes, rules, details
    "quote": ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
    "quote in a quote": ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
    "list in a quote": ("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b"),
    "rule": ("a<hr>b", "a\n\n---\n\nb"),
    "rules at the ends": ("<hr>a<hr><hr>", "a"),
    "details": ("<details><summary>More</summary><p>a</details>", "**More**\n\na"),
    # formulas
    "TeX in MathML": (
        '<math display=block><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>',
        "$$x^2$$",
    ),
    "TeX in a script": ('<p>so <script type="math/tex">a_1</script>', "so $a_1$"),
    "MediaWiki": (
        '<p><span class="mwe-math-element"><math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi></math></span>',
        "$E=mc^{2}$",
    ),
    "MathML alone": ("<p><math><mi>a</mi><mo>+</mo><mi>b</mi></math>", "a+b"),
    # what is not text
    "scripts and styles": ("<p>a<script>x</script><style>y</style><template>z</template>b", "ab"),
    "controls": ("<p>a <select><option>x</select><textarea>y</textarea><input value=z> b", "a b"),
    "svg, frames, films": ("<p>a<svg><text>x</text></svg><iframe>y</iframe><video>z</video>", "a"),
    "comments": ("<p>a<!-- b -->c", "ac"),
    "shadow root": ("<x-y><template shadowrootmode=open><p>a</template></x-y>", "a"),
    # text that must not pose as structure
    "a hash": ("<p># a", "\\# a"),
    "a dash": ("<p>- a", "\\- a"),
    "a number": ("<p>1. a", "1\\. a"),
    "a year": ("<p>1984. a", "1984\\. a"),
    "a decimal": ("<p>1.5 a", "1.5 a"),
    "a quote mark": ("<p>&gt; a", "\\> a"),
    "a rule": ("<p>---", "\\---"),
    "an underline": ("<p>a<br>===", "a  \n\\==="),
    "a row": ("<p>| a | b |", "\\| a | b |"),
    "after a break": ("<p>a<br># b", "a  \n\\# b"),
    "stars": ("<p>*a* and 2 * 3", "\\*a\\* and 2 * 3"),
    "underscores": ("<p>_a_ snake_case __init__", "\\_a_ snake_case \\_\\_init__"),
    "ticks": ("<p>`a`", "\\`a\\`"),
    "a fence": ("<p>```<p>x", "\\`\\`\\`\n\nx"),
    "a link": ("<p>[a](http://evil.example)", "[a\\](http://evil.example)"),
    "a definition": ("<p>[a]: http://evil.example", "[a\\]: http://evil.example"),
    "a tag": ("<p>&lt;script&gt; 1 &lt; 2", "\\<script> 1 < 2"),
    "strikes": ("<p>~~a~~", "\\~\\~a\\~\\~"),
}


@pytest.mark.parametrize("name", CASES)
def test_html_becomes_the_markdown_that_says_the_same(name: str) -> None:
    html, expected = CASES[name]
    assert markdown(html) == expected


def test_a_billion_columns_are_a_few() -> None:
    text = markdown("<table><tr><th colspan=1000000000>A<th>B<tr><td>1<td rowspan=1000000000>2<tr><td>3</table>")
    assert len(text) < 10_000
    assert text.startswith("| A |")


def test_a_table_of_spans_grows_no_faster_than_its_rows() -> None:
    rows = "<tr><td colspan=1000 rowspan=65534>x</td></tr>" * 500
    assert len(markdown(f"<table>{rows}</table>")) < 1_000_000


def test_quotes_and_lists_beyond_the_deepest_indent_are_flat() -> None:
    assert len(markdown("<blockquote>" * 60 + "x<br>" * 100)) < 10_000
    assert len(markdown("<ul><li>" * 50 + "x<br>" * 100)) < 10_000


def test_output_is_cut_at_the_limit() -> None:
    page = parse("<p>word</p>" * 1_000)
    text, cut = to_markdown([page.body], Base(HERE), limit=100)
    assert cut
    assert len(text) <= 100
    assert text.endswith("word")
