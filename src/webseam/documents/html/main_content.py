"""What of a page is worth reading: one call, `main_content`, from a tree to what is kept of it.

The page is cut into blocks (`blocks`), each is described by numbers (`features`), the learned classifier says how likely each
belongs to what the page is about, and the set of blocks with the best expected F1 is kept (`classifier`). What a reader would
miss though it hardly counts in an F1 is kept with it (`completed`). The rest is taken out of the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.html.blocks import CONTEXT_BIT, blocks_of, prune
from webseam.documents.html.classifier import CAUTION, choose, standard
from webseam.documents.html.features import HEADINGS

if TYPE_CHECKING:
    from array import array
    from collections.abc import Mapping

    from webseam.documents.html.blocks import Blocks
    from webseam.documents.html.classifier import Model
    from webseam.documents.html.tree import Element

FEW_BLOCKS = 20
"""A page of so few blocks is kept but for its frame: the classifier learnt from whole pages."""

SURELY_NOT = 0.002
"""The probability under which a block of such a page is left out all the same,"""

NAMED_NOT = -1.2
"""and the log-odds of a class or id around it: "social", "cookie"."""

PERHAPS = 0.3
"""The probability from which a heading inside what is kept is kept too, if none like it is: that of "Related" is lower."""

ENOUGH = 0.3
"""The share of the words of a table or list from which it is kept whole,"""

ITEM_WORDS = 50
"""unless one block of a list has more words: then it is the posts of a thread, with the buttons between them."""

KIN = 3
LIKELY = 0.5
UNLIKELY = 0.1
"""Of so many blocks that are built alike, when half are kept or as likely, those stay that are not less likely than this."""

SAYS_WHO_CHARS = 40
"""Characters of a line that says who wrote a post, and when."""

_FRAME = sum(CONTEXT_BIT[tag] for tag in ("nav", "footer", "aside", "form", "dialog", "button"))
_HEADER = CONTEXT_BIT["header"]
_MAIN = CONTEXT_BIT["main"] | CONTEXT_BIT["article"]
_HEADINGS = HEADINGS  # a name of this module can be typed where it is compiled
_WHOLE = frozenset({"table", "ul", "ol", "dl"})
_SAYS_WHO = frozenset(
    {
        "author", "byline", "created", "date", "datetime", "member", "nick", "nickname", "postdate", "posted", "poster",
        "published", "time", "timestamp", "user", "username",
    }
)  # fmt: skip


def main_content(body: Element, title: str = "", model: Model | None = None) -> float | None:
    """Take out of `body` what the page is not about; a page that shows text keeps some.

    `title` is the page's, as its head says; `model` another than the package's. Returns the confidence, from 0 to 1: the F1
    that is expected of what is left against what a person would have kept; None when there was nothing to judge.
    """
    blocks = blocks_of(body)
    if not blocks.texts:
        return None
    model = model or standard()
    likely = model.judge(blocks, title)
    kept, confidence = choose(likely, blocks.sizes, CAUTION)
    if not kept:  # no block has a word: signs alone
        return None
    prune(blocks, completed(blocks, kept, likely, model.lexicon.names))
    return confidence


def completed(blocks: Blocks, kept: frozenset[int], likely: array[float], names: Mapping[str, float]) -> set[int]:
    """The blocks that are kept, and those that belong to them.

    On a page of few blocks all but its frame; the rest of what is built alike, of a table or a list of which enough is kept;
    above the posts of a thread, who wrote them and when; headings right above all that. On 1,497 pages the F1 stays the same.
    """
    all_kept = set(kept)
    count = len(blocks.texts)
    inside = [not context & _FRAME for context in blocks.contexts]
    if count <= FEW_BLOCKS:
        around: set[int] = set()  # elements that hold what is kept: what they are called says nothing against the rest
        for index in kept:
            element = blocks.holders[index]
            while element >= 0:
                around.add(element)
                element = blocks.parents[element]
        for index in range(count):
            framed = not inside[index] or (blocks.contexts[index] & _HEADER and not blocks.contexts[index] & _MAIN)
            if not framed and likely[index] >= SURELY_NOT and not _named_not(blocks, blocks.holders[index], around, names):
                all_kept.add(index)
    _keep_kin(blocks, all_kept, kept, likely)
    _complete_tables(blocks, all_kept, inside)
    _say_who(blocks, all_kept, inside)
    headings = {(blocks.tags[index], blocks.names(blocks.holders[index])) for index in kept if blocks.tags[index] in _HEADINGS}
    first = min(all_kept)
    for index in range(count - 2, -1, -1):
        if blocks.tags[index] not in _HEADINGS or not inside[index]:
            continue
        if index + 1 in all_kept or index + 2 in all_kept:
            alike = (blocks.tags[index], blocks.names(blocks.holders[index])) in headings
            if alike or index < first or likely[index] >= PERHAPS:
                all_kept.add(index)
    return all_kept


def _named_not(blocks: Blocks, element: int, around: set[int], names: Mapping[str, float]) -> bool:
    while element >= 0 and element not in around:
        for name in blocks.names(element):
            if names.get(name, 0.0) <= NAMED_NOT and name != "role=presentation":
                return True
        element = blocks.parents[element]
    return False


def _keep_kin(blocks: Blocks, all_kept: set[int], kept: frozenset[int], likely: array[float]) -> None:
    kin: dict[int, list[int]] = {}
    for index, holder in enumerate(blocks.holders):
        kin.setdefault(blocks.signatures[holder], []).append(index)
    for found in kin.values():
        if len(found) >= KIN and 2 * len([index for index in found if likely[index] >= LIKELY or index in kept]) >= len(found):
            all_kept.update([index for index in found if likely[index] >= UNLIKELY])


def _complete_tables(blocks: Blocks, kept: set[int], inside: list[bool]) -> None:
    parents, tags = blocks.parents, blocks.element_tags
    within = [-1] * len(parents)  # the innermost table or list around each element
    for element in range(len(parents)):
        parent = parents[element]
        if tags[element] in _WHOLE:
            within[element] = element
        elif parent >= 0:
            within[element] = within[parent]
    members: dict[int, list[int]] = {}
    for index, holder in enumerate(blocks.holders):
        element = within[holder]
        if element >= 0:
            members.setdefault(element, []).append(index)
    for element, found in members.items():
        sizes = [blocks.sizes[index] for index in found]
        size = sum(sizes)
        chosen = sum([blocks.sizes[index] for index in found if index in kept])
        if size > chosen >= ENOUGH * size and (tags[element] == "table" or max(sizes) <= ITEM_WORDS):
            kept.update([index for index in found if inside[index]])


def _say_who(blocks: Blocks, kept: set[int], inside: list[bool]) -> None:
    found: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for index in range(max(0, min(kept) - 3), min(len(blocks.texts), max(kept) + 4)):
        if not inside[index] or len(blocks.texts[index]) > SAYS_WHO_CHARS:
            continue
        holder = blocks.holders[index]
        parent = blocks.parents[holder]
        if not (_SAYS_WHO.isdisjoint(blocks.names(holder)) and (parent < 0 or _SAYS_WHO.isdisjoint(blocks.names(parent)))):
            found.setdefault((blocks.tags[index], blocks.names(holder)), []).append(index)
    for lines in found.values():
        if len(lines) > 1:  # several posts; of one article the head says it
            kept.update(lines)
