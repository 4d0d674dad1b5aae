"""Where a page goes on that is one of several: the next page of a listing, a thread, a book.

Asked in this order: `<link rel=next>`, `<a rel=next>`, and any link that says "Next page", or "Next" or an arrow inside what is
named as a pagination. It has to be the whole text of a link: one with the title of another article leads to that. Of links to
different places none is taken, and neither is one that leads to the page itself (slides do) or to another host: an agent
follows it unseen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webseam.documents.html.tree import Element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webseam.documents.html.links import Base
    from webseam.documents.html.parse import Parsed
    from webseam.documents.html.tree import Child

MAX_LINKS = 2_000
"""Links of a page that are looked at, from the last back: a pagination stands below what it is of."""

MAX_CANDIDATES = 50
"""Those that say "next", of which a closer look is taken."""

TEXT_CHARS = 40
TEXT_NODES = 12
"""What the whole text of such a link has at most."""

NAME_CHARS = 200

ADDRESS_CHARS = 500
"""Of the next page: it stands outside the fence around the page's own words."""

LEVELS = 6
"""How far above a link its pagination is looked for."""

_NEXT = frozenset(
    {
        "next", "next page", "older", "older posts", "older entries", "older articles", "more results", "go to next page",
        "weiter", "nächste", "nächste seite", "ältere beiträge", "suivant", "suivante", "page suivante", "siguiente",
        "página siguiente", "siguiente página", "próximo", "próxima", "próxima página", "seguinte", "successivo", "successiva",
        "pagina successiva", "avanti", "volgende", "volgende pagina", "nästa", "nästa sida", "næste", "neste", "seuraava",
        "następna", "następna strona", "dalej", "další", "ďalej", "следующая", "следующая страница", "далее", "дальше",
        "вперед", "вперёд", "наступна", "sonraki", "sonraki sayfa", "επόμενη", "التالي", "הבא", "ถัดไป", "trang sau",
        "berikutnya", "下一页", "下一頁", "下页", "下頁", "后一页", "後一頁", "次へ", "次のページ", "次ページ",
        "次", "다음", "다음 페이지",
    }
)  # fmt: skip
# Said of pages only, wherever it stands; "Next" alone may be the next slide.
_SURE = re.compile(
    "page|posts|entries|articles|seite|beiträge|página|pagina|sida|strona|страница|sayfa|trang|页|頁|ページ|페이지"
)
_ARROWS = "»›→>❯▶⟩≫＞"
_DECORATION = f" \t\n\r\u00a0.…|[]()‹«←<{_ARROWS}"
_BEGINNINGS = frozenset({word[0] for word in _NEXT} | set(_DECORATION) | {""})
_PAGINATION = re.compile(
    r"pagi?n|pager|paging|pagenav|page-?(?:list|number|link|nav)|nav-?links|post-?nav|posts-navigation|seitennav"
)


def next_page(page: Parsed, base: Base, url: str) -> str:
    """The address of the page that follows the one at `url`; "" when it names none."""
    here = base.resolve(url).partition("#")[0]
    host = _host(here)

    def leads(elements: Iterable[Element]) -> str:
        found = {to.partition("#")[0] for element in elements if (to := base.resolve(element.attrs.get("href", "")))}
        found = {to for to in found if to != here and _host(to) == host and len(to) <= ADDRESS_CHARS}
        return found.pop() if len(found) == 1 else ""

    in_head = [child for child in page.head.children if isinstance(child, Element) and child.tag == "link" and _is_next(child)]
    if in_head and (to := leads(in_head[:1])):
        return to
    elements = page.seen.elements
    candidates = 0
    named: list[Element] = []
    ranks: tuple[list[Element], ...] = ([], [], [])
    places = [place for place, element in enumerate(elements) if element.tag == "a" and "href" in element.attrs]
    for place in places[-MAX_LINKS:]:
        link = elements[place]
        if len(link.children) == 1 and isinstance(text := link.children[0], str) and text[:1].lower() not in _BEGINNINGS:
            continue  # nearly every link
        rank = _rank(link)
        if rank is None:
            continue
        candidates += 1
        if candidates > MAX_CANDIDATES:
            break
        if "rel" in link.attrs and _is_next(link):
            named.append(link)
        elif (rank == 0 and _SURE.search(" ".join(_texts(link)).lower())) or _in_pagination(page, place):
            ranks[rank].append(link)
    return next((to for links in (named, *ranks) if links and (to := leads(links))), "")


def _is_next(element: Element) -> bool:
    return "next" in element.attrs.get("rel", "").lower().split()


def _host(url: str) -> str:
    return urlsplit(url).netloc.removeprefix("www.")


def _rank(link: Element) -> int | None:
    """0 for a link that says "next", 1 for an arrow, 2 for a double arrow, which may mean the last; None for any other."""
    texts = _texts(link)
    if not any(map(str.strip, texts)):
        texts = [link.attrs.get("aria-label", "") or link.attrs.get("title", "")]
    words = [word for text in texts if (word := text.strip(_DECORATION).lower())]
    if words:  # one for screen readers and one for eyes perhaps: "Next page", "Next ›"
        return 0 if all(map(_NEXT.__contains__, words)) or " ".join(" ".join(words).split()) in _NEXT else None
    arrow = "".join(texts).strip()
    return None if not arrow or arrow.strip(_ARROWS) else 2 if arrow in ("»", "≫", ">>") else 1


def _texts(link: Element) -> list[str]:
    """The pieces of a link's text, when it is a short one."""
    found: list[str] = []
    room = TEXT_CHARS
    stack: list[Child] = [*reversed(link.children)]
    for _ in range(TEXT_NODES):
        if not stack:
            return found
        node = stack.pop()
        if isinstance(node, str):
            room -= len(node.strip())
            found.append(node)
        else:
            stack.extend(reversed(node.children))
        if room < 0:
            break
    return ["no"]


def _in_pagination(page: Parsed, place: int) -> bool:
    for _ in range(LEVELS):
        if place < 0:
            return False
        attributes = page.seen.elements[place].attrs
        if any(
            _PAGINATION.search(attributes[name][:200].lower()) for name in ("class", "id", "aria-label") if name in attributes
        ):
            return True
        place = page.seen.parents[place]
    return False
