"""Which blocks of a page its gold text holds: the target that the classifier is trained on."""

from __future__ import annotations

from collections import defaultdict

GRAM = 4
LONG = 6
MOST_PLACES = 40  # of one short block in the gold text; what stands everywhere says little


def labels(blocks: list[list[str]], gold: list[str]) -> list[float]:
    """The share of each block's words that the gold text holds, from 0 to 1.

    Blocks of `LONG` words and more are found by their runs of `GRAM` words, wherever they stand. Shorter ones are held when
    they belong to the heaviest choice of blocks whose places in the gold text are in the page's order and do not overlap:
    "Home" of a menu is not taken for "home" of a sentence that another block accounts for.
    """
    places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for size in range(1, LONG):
        for place in range(len(gold) - size + 1):
            places[tuple(gold[place : place + size])].append(place)
    shares = [0.0] * len(blocks)
    spans: list[list[tuple[int, int]]] = []  # of each block: where it may stand
    last = 0
    for index, words in enumerate(blocks):
        size = len(words)
        if not size:
            spans.append([])
        elif size < LONG:
            candidates = places.get(tuple(words), [])
            spans.append([(place, place + size) for place in candidates] if len(candidates) <= MOST_PLACES else [])
        else:
            runs = [places.get(tuple(words[place : place + GRAM])) for place in range(size - GRAM + 1)]
            hits = [min(found, key=lambda other: abs(other - last)) for found in runs if found]
            shares[index] = len(hits) / (size - GRAM + 1)
            if shares[index] > 0.5:
                last = hits[-1] + GRAM
                spans.append([(hits[0], last)] if 0 < last - hits[0] < 3 * size else [])
            else:
                spans.append([])
    for index in _heaviest(spans, len(gold)):
        if len(blocks[index]) < LONG:
            shares[index] = 1.0
    return shares


def _heaviest(spans: list[list[tuple[int, int]]], length: int) -> list[int]:
    """The indices of the blocks of the heaviest chain of spans, in the order of both blocks and places; weight is length."""
    best: list[int] = [0] * (length + 1)  # a Fenwick tree of maxima: an index of `chain`
    chain: list[tuple[int, int, int]] = [(0, -1, 0)]  # weight, block, the link before
    for index, candidates in enumerate(spans):
        found: list[tuple[int, int]] = []
        for begin, end in candidates:
            before, place = 0, begin
            while place > 0:
                if chain[best[place]][0] > chain[before][0]:
                    before = best[place]
                place -= place & -place
            found.append((end, len(chain)))
            chain.append((chain[before][0] + end - begin, index, before))
        for end, link in found:  # only now: a block stands in one place
            place = end
            while place <= length:
                if chain[link][0] > chain[best[place]][0]:
                    best[place] = link
                place += place & -place
    top = max(range(len(chain)), key=lambda link: chain[link][0])
    chosen: list[int] = []
    while chain[top][1] >= 0:
        chosen.append(chain[top][1])
        top = chain[top][2]
    return chosen
