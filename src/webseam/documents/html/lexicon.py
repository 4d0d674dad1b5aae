"""The words by which `main_content` tells a page's frame from its content: names in class and id, roles, headings. English.

Chosen on real pages with known content: the share of an element's text that was content, by the words in its class and id.
"""

from __future__ import annotations

import re

ROLES = frozenset(
    {
        "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar", "menuitem",
        "navigation", "search", "status", "toolbar", "tooltip",
    }
)  # fmt: skip

NAMES = frozenset(
    {
        # the frame of the site
        "breadcrumb", "breadcrumbs", "colophon", "copyright", "crumbs", "drawer", "facet", "facets", "filter", "filters",
        "flyout", "foot", "footer", "masthead", "megamenu", "menu", "menus", "nav", "navbar", "navigation", "offcanvas",
        "pager", "pagination", "rail", "searchbar", "sidebar", "skip", "sort", "subheader", "submenu", "subnav", "switcher",
        "toolbar", "topbar",
        # what lies over or between
        "accept", "ad", "ads", "adsbygoogle", "advert", "advertisement", "advertising", "banner", "consent", "cookie",
        "cookies", "disclaimer", "disclosure", "gdpr", "legal", "modal", "newsletter", "onetrust", "optin", "overlay",
        "picker", "popover", "popup", "printonly", "privacy", "promo", "promotion", "reject", "signup", "sponsor",
        "sponsored", "subscribe", "subscription", "survey", "tooltip",
        # what leads elsewhere
        "outbrain", "recently", "recommendation", "recommendations", "recommended", "recs", "related", "rss", "similar",
        "taboola", "tags", "trending", "upsell", "widgettitle",
        # who wrote it and who likes it
        "author", "avatar", "badges", "bio", "byline", "follow", "helpful", "likes", "postprofile", "share", "sharing",
        "signature", "social", "socials",
        # accounts and forms
        "captcha", "cart", "checkout", "disqus", "login", "minicart", "register", "respond", "signin", "wishlist",
    }
)  # fmt: skip

COMMENTS = frozenset({"comment", "comments", "commentlist", "commentform", "disqus", "replies", "respond"})

FORUM = frozenset(
    {
        "community", "discourse", "discussion", "forum", "forums", "lemmy", "phpbb", "qa", "question", "questions", "thread",
        "threads", "topic", "topics", "vbulletin", "xenforo",
    }
)  # fmt: skip

_THINGS = (
    "articles?|posts?|products?|story|stories|topics?|reading|content|items?|search(?:es)?|news|resources|videos?|questions|links"
    "|pages|categories|threads|discussions|guides|coverage|games|jobs|properties|listings"
)
ELSEWHERE = re.compile(
    "|".join(
        (
            rf"(?:more )?(?:related|recommended|suggested|similar)(?: (?:{_THINGS}))?(?: for you)?$",
            rf"(?:most )?(?:popular|trending|recent|latest)(?: (?:now|today|comments|{_THINGS}))?$",
            r"recommendations(?: for you)?$",
            r"(?:you|we) (?:may|might|could|would|['’]ll|will) (?:also |think you )?(?:like|love|enjoy|be interested)",
            r"you may have missed",
            r"more (?:from|like this|stories|articles|posts|news|in |on |to (?:read|explore|love)|products|great|top)",
            r"(?:people|customers|others|shoppers|users) (?:also|who)\b",
            r"(?:frequently|often) bought",
            r"recently (?:viewed|added|posted)",
            r"(?:what to )?(?:read|watch|up) next",
            r"keep (?:reading|exploring)|explore (?:more|related|our other)|discover more|see more",
            r"read (?:also|this next|more(?: about| on)?)$|also (?:read|on)\b",
            r"(?:sponsored|promoted|advertisement)\b",
            r"share (?:this|on|with)\b|share$",
            r"(?:leave|post|write|add) a (?:reply|comment|review)",
            r"(?:about the author|about author|written by|meet the author)s?$",
            r"newsletter|subscribe|sign up|join (?:our|the) (?:newsletter|mailing)|get (?:our|the) (?:newsletter|latest)",
            r"stay (?:connected|updated|in touch|up to date)|(?:follow|connect with) us",
            r"(?:tags|categories|filed under|filters?|filter by|sort by|archives|navigation|menu|search|site ?map) ?:?$",
            r"quick links ?:?$",
            r"(?:cookie|privacy) (?:policy|preferences?|settings|notice)",
        )
    ),
    re.IGNORECASE,
)
"""Headings of sections that lead elsewhere; matched against the heading's text with its white space collapsed."""
