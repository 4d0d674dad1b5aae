"""What of a page is worth reading: one call, `main_content`, from a tree to what is kept of it.

The page is cut into blocks (`blocks`), each is described by numbers (`features`), the learned classifier says how likely each
belongs to what the page is about, and the set of blocks with the best expected F1 is kept (`classifier`). The rest is taken
out of the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.documents.html.blocks import blocks_of, prune
from webseam.documents.html.classifier import choose, standard

if TYPE_CHECKING:
    from webseam.documents.html.classifier import Model
    from webseam.documents.html.tree import Element


def main_content(body: Element, title: str = "", model: Model | None = None) -> float | None:
    """Take out of `body` what the page is not about; a page that shows text keeps some.

    `title` is the page's, as its head says; `model` another than the package's. Returns the confidence, from 0 to 1: the F1
    that is expected of what is left against what a person would have kept; None when there was nothing to judge.
    """
    blocks = blocks_of(body)
    if not blocks.texts:
        return None
    kept, confidence = choose((model or standard()).judge(blocks, title), blocks.sizes)
    if not kept:  # no block has a word: signs alone
        return None
    prune(blocks, kept)
    return confidence
