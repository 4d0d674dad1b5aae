"""What each kind of page must keep: forums their authors, dates and order, listings their items, documentation its code."""

# ruff: noqa: E501 - pages are written as sites write them

from __future__ import annotations

import re

from webseam.documents.document import Document
from webseam.documents.read import read

WORDS = "Sphinx of black quartz, judge my vow, and do so before the evening comes. "


def page(html: str) -> Document:
    return read(html.encode(), url="https://example.com/t/42", content_type="text/html; charset=utf-8")


def in_order(content: str, *parts: str) -> None:
    """Every part stands in `content`, each behind the one before."""
    at = 0
    for part in parts:
        found = content.find(part, at)
        assert found != -1, f"{part!r} is not behind character {at} of:\n{content}"
        at = found + len(part)


def test_a_board_keeps_authors_dates_and_the_order_of_posts() -> None:
    """Markup as phpBB 3.3 writes it: the author in a column of its own, the date in a line above the text."""
    posts = "".join(
        f"""<div id="p{n}" class="post has-profile bg{n % 2 + 1}"><div class="inner">
        <dl class="postprofile" id="profile{n}"><dt class="has-profile-rank"><div class="avatar-container"></div>
        <a href="./memberlist.php?u={n}" class="username">keeper{n}</a></dt><dd class="profile-posts"><strong>Posts:</strong> {n}7</dd></dl>
        <div class="postbody"><div id="post_content{n}"><h3><a href="#p{n}">Re: The lamp</a></h3>
        <ul class="post-buttons"><li><a href="./posting.php" title="Reply with quote">Quote</a></li></ul>
        <p class="author"><a href="./viewtopic.php?p={n}">Post</a> <span class="responsive-hide">by <strong>
        <a href="./memberlist.php?u={n}" class="username">keeper{n}</a></strong> &raquo; </span>
        <time datetime="2026-05-0{n}T10:00:00+00:00">0{n} May 2026, 10:00</time></p>
        <div class="content">Answer number {n}. {WORDS}</div></div></div></div></div>"""
        for n in range(1, 5)
    )
    content = page(
        f"""<body id="phpbb" class="nojs section-viewtopic"><div id="wrap" class="wrap"><div id="page-header"><div class="navbar">
        <ul id="nav-main"><li><a href="./faq.php">FAQ</a></li></ul></div></div>
        <div id="page-body" class="page-body" role="main"><h2 class="topic-title"><a href="./viewtopic.php?t=42">The lamp</a></h2>
        {posts}</div><div id="page-footer" class="page-footer"><ul><li>All times are UTC</li></ul></div></div>"""
    ).content
    in_order(
        content, "The lamp", *[part for n in range(1, 5) for part in (f"keeper{n}", f"0{n} May 2026", f"Answer number {n}.")]
    )


def test_a_discussion_keeps_authors_dates_and_the_order_of_posts() -> None:
    """Markup as Discourse gives it to readers without scripts."""
    posts = "".join(
        f"""<div id="post_{n}" itemprop="comment" itemscope class="topic-body crawler-post"><div class="crawler-post-meta">
        <span class="creator" itemprop="author"><a itemprop="url" href="/u/keeper{n}"><span itemprop="name">keeper{n}</span></a></span>
        <span class="crawler-post-infos"><time itemprop="datePublished" datetime="2026-05-0{n}T10:00:00Z" class="post-time">
        May {n}, 2026, 10:00am</time></span></div>
        <div class="post" itemprop="text"><p>Answer number {n}. {WORDS}</p><pre><code class="lang-sh">make lamp-{n}</code></pre></div></div>"""
        for n in range(1, 5)
    )
    content = page(
        f"""<body class="crawler"><header><a href="/">The forum</a></header><div id="main-outlet" class="wrap" role="main">
        <div id="topic-title"><h1><a href="/t/42">The lamp</a></h1></div><div itemscope itemtype="http://schema.org/DiscussionForumPosting">
        {posts}</div></div><footer class="container wrap"><nav><ul><li><a href="/">Home</a></li></ul></nav></footer>"""
    ).content
    parts = [
        part
        for n in range(1, 5)
        for part in (f"keeper{n}", f"May {n}, 2026", f"Answer number {n}.", f"```sh\nmake lamp-{n}\n```")
    ]
    in_order(content, "# ", "The lamp", *parts)


def test_questions_keep_votes_answers_who_and_when() -> None:
    """Markup as Stack Exchange writes it."""

    def post(kind: str, n: int, votes: int, text: str) -> str:
        return f"""<div id="{kind}-{n}" class="{kind}"><div class="post-layout"><div class="votecell post-layout--left">
        <div class="js-voting-container"><button>Up vote</button><div class="js-vote-count" itemprop="upvoteCount">{votes}</div></div></div>
        <div class="{kind}cell post-layout--right"><div class="s-prose js-post-body" itemprop="text"><p>{text} {WORDS}</p>
        <pre class="lang-py s-code-block"><code>lamp({n})</code></pre></div>
        <div class="user-info"><div class="user-action-time">answered <span title="2026-05-0{n}" class="relativetime">May {n}, 2026 at 10:00</span></div>
        <div class="user-details" itemprop="author"><a href="/users/{n}">keeper{n}</a></div></div></div></div></div>"""

    document = page(
        f"""<title>How is the lamp lit? - The exchange</title><body class="question-page"><div class="container"><div id="left-sidebar"><nav><a href="/questions">Questions</a></nav></div>
        <div id="content"><div id="question-header"><h1><a href="/questions/42">How is the lamp lit?</a></h1></div><div id="mainbar" role="main">
        {post("question", 1, 7, "I ask.")}<div id="answers"><h2>2 Answers</h2>{post("answer", 2, 5, "By hand.")}{post("answer", 3, 1, "By wire.")}
        </div></div><div id="sidebar" role="complementary"><h4>Hot Network Questions</h4><a href="/q/1">Other</a></div></div></div>"""
    )
    content = document.content
    parts = [
        "I ask.",
        "lamp(1)",
        "May 1, 2026",
        "keeper1",
        "By hand.",
        "lamp(2)",
        "May 2, 2026",
        "keeper2",
        "By wire.",
        "keeper3",
    ]
    assert "How is the lamp lit?" in document.title
    in_order(content, *parts)
    assert "Other" not in content


def test_a_product_keeps_price_specification_and_availability() -> None:
    content = page(
        f"""<header><nav><a href="/">Shop</a></nav></header><main><div class="product"><h1>Brass lamp</h1>
        <div class="price-box"><span class="currency">€</span><span class="price">1.299,50</span></div><p class="stock">In stock</p>
        <form action="/cart"><label>Quantity</label><button>Add to cart</button></form><div class="description"><p>{WORDS * 3}</p></div>
        <h2>Specification</h2><table><tr><th>Power</th><td>40 W</td></tr><tr><th>Weight</th><td>3 kg</td></tr></table></div>
        <div class="related-products"><h2>You may also like</h2><a href="/2">Iron lamp</a></div></main><footer>Imprint</footer>"""
    ).content
    in_order(content, "# Brass lamp", "1.299,50", "In stock", "Sphinx", "## Specification", "Power", "40 W", "Weight", "3 kg")
    assert "Iron lamp" not in content


def test_a_listing_keeps_every_item_with_its_link_and_price() -> None:
    cards = "".join(
        f"""<li class="product-card"><a href="/lamp/{n}"><img src="/i/{n}.jpg" alt=""><h3>Lamp {n}</h3></a>
        <p class="card-text">A lamp for room {n}.</p><span class="price">${n}9.00</span></li>"""
        for n in range(1, 25)
    )
    content = page(
        f"""<nav><a href="/">Shop</a></nav><main><h1>Lamps</h1><ul class="product-grid">{cards}</ul>
        <nav class="pagination"><a href="?page=2">2</a></nav></main>"""
    ).content
    parts = [part for n in range(1, 25) for part in (f"Lamp {n}", f"A lamp for room {n}.", f"${n}9.00")]
    in_order(content, "# Lamps", *parts)
    assert re.findall(r"\(https://example\.com/lamp/(\d+)\)", content) == [str(n) for n in range(1, 25)]


def test_a_list_of_links_with_points_and_comments_keeps_them() -> None:
    """Markup as Hacker News writes it: an item is two rows of a table."""
    rows = "".join(
        f"""<tr class="athing submission" id="{n}"><td align="right" class="title"><span class="rank">{n}.</span></td>
        <td class="title"><span class="titleline"><a href="https://site{n}.example/">Story {n}</a></span></td></tr>
        <tr><td colspan="1"></td><td class="subtext"><span class="score">{n}0 points</span> by <a href="user?id=k{n}">keeper{n}</a>
        <a href="item?id={n}">{n} comments</a></td></tr>"""
        for n in range(1, 16)
    )
    content = page(
        f"<body><center><table id=hnmain><tr><td><table class=itemlist>{rows}</table></td></tr></table></center>"
    ).content
    in_order(
        content,
        *[part for n in range(1, 16) for part in (f"Story {n}", f"https://site{n}.example", f"{n}0 points", f"keeper{n}")],
    )


def test_documentation_keeps_code_tables_and_its_headings() -> None:
    content = page(
        f"""<div class="wy-grid-for-nav"><nav class="wy-nav-side"><ul><li><a href="i.html">Install</a></li></ul></nav>
        <section class="wy-nav-content-wrap"><div role="navigation"><ul class="wy-breadcrumbs"><li>Docs</li></ul></div>
        <div role="main" class="document"><div itemprop="articleBody"><section id="lamp"><h1>lamp<a class="headerlink" href="#lamp">¶</a></h1>
        <p>{WORDS}</p><div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="kn">import</span> lamp

<span class="n">lamp</span>.on(   <span class="n">n</span>=1)
</pre></div></div><h2>Parameters<a class="headerlink" href="#p">¶</a></h2>
        <table class="docutils"><thead><tr><th>Name</th><th>Type</th></tr></thead><tbody><tr><td><code>n</code></td><td>int</td></tr></tbody></table>
        <dl class="py function"><dt class="sig" id="lamp.on"><span class="descname">on</span>(<em>n</em>)</dt><dd><p>Lights lamp <em>n</em>.</p></dd></dl>
        <div class="admonition warning"><p class="admonition-title">Warning</p><p>Hot.</p></div></section></div></div>
        <footer><a href="next.html">Next</a></footer></section></div>"""
    ).content
    in_order(
        content,
        "# lamp\n",
        "```python\nimport lamp\n\nlamp.on(   n=1)\n```",
        "## Parameters\n",
        "| Name | Type |",
        "| `n` | int |",
    )
    in_order(content, "Lights lamp *n*.", "Warning", "Hot.")
    assert "Install" not in content
    assert "¶" not in content
