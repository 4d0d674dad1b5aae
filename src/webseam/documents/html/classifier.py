"""The learned part of reading a page: which of its blocks are what the page is about.

Small networks in two steps. Those of the first see each block by itself, with its row of `features`. Those of the second see
what the first said, of the block and of those around it (`surroundings`): the neighbours, the containers, the section, the
blocks built alike; they mend what stands alone. Their answer is the probability that the gold text of a page
holds the block.

The blocks that are kept are those with the best expected F1 (`choose`): the probabilities are sorted, and the best cut in that
order is taken. The F1 expected there is the confidence in the answer.

Weights and lexicons are one file of the package (`main_content.weights`, written by `make train`; docs/model-card.md). All sums
are of doubles and in one order, so that compiled code and Python give the same answer to the bit.
"""

from __future__ import annotations

import math
from array import array
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from webseam.documents.html.features import HEADINGS, Lexicon, features, zeros
from webseam.documents.html.perceptron import Network, NetworkFile, share_inputs, together

if TYPE_CHECKING:
    from webseam.documents.html.blocks import Blocks

AROUND = 24
"""Numbers of a block's surroundings."""

CAUTION = 1.35
"""How much better the odds of what is kept must be than the best expected F1 asks for: the blocks of a page err together."""

_SIDES = 3
_HEADINGS = HEADINGS  # a name of this module can be typed where it is compiled
_NOBODY = -0.1  # in the place of a probability where there is no block


class ModelFile(msgspec.Struct):
    """The file: MessagePack."""

    names: dict[str, float]
    words: dict[str, float]
    first: list[NetworkFile]
    second: list[NetworkFile]


class Model:
    """The networks of both steps, and the lexicon they were trained with. Raises ValueError for a file that has none."""

    __slots__ = ("first", "lexicon", "second")

    def __init__(self, stored: ModelFile) -> None:
        if not stored.first or not stored.second:
            raise ValueError("a step has no network")
        self.lexicon = Lexicon(stored.names, stored.words)
        self.first = share_inputs([Network(one) for one in stored.first])
        self.second = share_inputs([Network(one) for one in stored.second])

    @staticmethod
    def load(path: Path) -> Model:
        """The model in a file. Raises OSError, `msgspec.DecodeError`, ValueError."""
        return Model(msgspec.msgpack.decode(path.read_bytes(), type=ModelFile))

    def judge(self, blocks: Blocks, title: str) -> array[float]:
        """The probability of each block that it belongs to what the page is about."""
        count = len(blocks.texts)
        rows = features(blocks, self.lexicon, title)
        alone = together(self.first, rows, count)
        return together(self.second, surroundings(blocks, alone), count)


@cache
def standard() -> Model:
    """The model of the package, loaded once."""
    return Model.load(Path(__file__).with_name("main_content.weights"))


def choose(probabilities: array[float], words: list[int], caution: float = 1.0) -> tuple[frozenset[int], float]:
    """The blocks whose expected F1 is best, and that F1; `words` are of each block.

    Of these blocks, those with `caution` times the odds of the last one that would be worth its words; one is always left.

    With `p` for a block's share of gold words and `w` for its words, the F1 of a set is near 2 Σpw / (Σw + G), where the sums
    are over the set and G, the gold text's words, is expected to be Σpw over all blocks. The blocks with the highest `p` are
    best (Lewis, 1995: the optimal decision for F is a threshold).
    """
    likely = probabilities
    order = sorted(range(len(words)), key=[-one for one in probabilities].__getitem__)
    gold = 0.0
    for index in range(len(words)):
        gold += likely[index] * words[index]
    found = 0.0
    size = 0
    best = 0.0
    kept = least = 0
    for place, index in enumerate(order):
        found += likely[index] * words[index]
        size += words[index]
        expected = 2.0 * found / (size + gold) if size else 0.0
        if expected > best:
            best, kept = expected, place + 1
            if not least:
                least = kept
    odds = caution * best / (2.0 - best)  # a block is worth its words from the probability best / 2
    while kept > least:
        index = order[kept - 1]
        if likely[index] >= odds * (1.0 - likely[index]):
            break
        kept -= 1
    return frozenset(order[:kept]), best


def surroundings(blocks: Blocks, given: array[float]) -> array[float]:
    """What the second networks are told: `AROUND` numbers for each block. `given` are the probabilities of the first."""
    count = len(given)
    made = zeros("d", AROUND * count)
    if not count:
        return made
    rows, alone = made, given
    parents, holders = array("q", blocks.parents), array("q", blocks.holders)
    words, signatures, tags = blocks.sizes, array("q", blocks.signatures), blocks.tags
    elements = len(parents)
    weight = zeros("d", elements)
    weighed = zeros("d", elements)
    alike = zeros("d", elements + 1)
    alike_weighed = zeros("d", elements + 1)
    sizes = zeros("d", count + 1)  # of the blocks before
    sums = zeros("d", count + 1)
    highest = 0.0
    for index in range(count):
        size = words[index] + 0.5
        likely = size * alone[index]
        element = holders[index]
        signature = signatures[element]
        alike[signature] += size
        alike_weighed[signature] += likely
        while element >= 0:
            weight[element] += size
            weighed[element] += likely
            element = parents[element]
        sizes[index + 1] = sizes[index] + size
        sums[index + 1] = sums[index] + likely
        highest = max(highest, alone[index])
    threshold = 1.0
    for index in choose(given, words)[0]:
        threshold = min(threshold, alone[index])
    mean = sums[count] / sizes[count]

    # The highest of the blocks from the first to each, and from each to the last.
    until = array("d", given)
    onward = array("d", given)
    for index in range(1, count):
        until[index] = max(until[index], until[index - 1])
    for index in range(count - 2, -1, -1):
        onward[index] = max(onward[index], onward[index + 1])

    begin = 0
    while begin < count:  # one section after the other: a heading and what stands under it
        end = begin + 1
        while end < count and tags[end] not in _HEADINGS:
            end += 1
        headed = alone[begin] if tags[begin] in _HEADINGS else _NOBODY
        section = (sums[end] - sums[begin]) / (sizes[end] - sizes[begin])
        for index in range(begin, end):
            at = index * AROUND
            likely = alone[index]
            rows[at] = likely
            place = at + 1
            for other in range(index - _SIDES, index + _SIDES + 1):
                if other != index:
                    rows[place] = alone[other] if 0 <= other < count else _NOBODY
                    place += 1
            element = holders[index]
            for _ in range(4):
                rows[place] = weighed[element] / weight[element]
                place += 1
                if parents[element] >= 0:
                    element = parents[element]
            signature = signatures[holders[index]]
            rows[place] = alike_weighed[signature] / alike[signature]
            near, far = max(0, index - 8), min(count, index + 9)
            rows[place + 1] = (sums[far] - sums[near]) / (sizes[far] - sizes[near])
            near, far = max(0, index - 20), min(count, index + 21)
            rows[place + 2] = (sums[far] - sums[near]) / (sizes[far] - sizes[near])
            rows[place + 3] = mean
            rows[place + 4] = threshold
            rows[place + 5] = likely - threshold
            rows[place + 6] = highest
            rows[place + 7] = until[index]
            rows[place + 8] = onward[index]
            rows[place + 9] = headed
            rows[place + 10] = section
            rows[place + 11] = math.log((likely + 1e-4) / (1.0 - likely + 1e-4))
            rows[place + 12] = math.log1p(words[index] + 0.5)
        begin = end
    return made
