"""The learned part of reading a page: which of its blocks are what the page is about.

Small networks in two steps. The first sees each block by itself, with its row of `features`. The second sees what
the first said, of the block and of those around it (`surroundings`): the neighbours, the containers, the section, the blocks
built alike; it mends what stands alone. Its answer is the probability that the gold text of a page holds the block.

The blocks that are kept are those with the best expected F1 (`choose`): the probabilities are sorted, and the best cut in that
order is taken. The F1 expected there is the confidence in the answer.

Weights and lexicons are one file of the package (`main_content.weights`, written by `make train`; see its model card in
docs/reference). All sums are of doubles and in one order, so that compiled code and Python give the same answer to the bit.
"""

from __future__ import annotations

import math
from array import array
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from webseam.documents.html.features import HEADINGS, Lexicon, features

if TYPE_CHECKING:
    from webseam.documents.html.blocks import Blocks

AROUND = 24
"""Numbers of a block's surroundings."""

_CLIPPED = 8.0
_SIDES = (-3, -2, -1, 1, 2, 3)
_NOBODY = -0.1  # in the place of a probability where there is no block


class Layer(msgspec.Struct, array_like=True):
    """`outputs` sums over all inputs; `weights` is input by input, as bytes of little-endian 32-bit floats."""

    inputs: int
    outputs: int
    weights: bytes
    biases: bytes


class NetworkFile(msgspec.Struct, array_like=True):
    """A network as it is stored: what is taken from each input, what it is then multiplied by, and the layers."""

    mean: bytes
    scale: bytes
    layers: list[Layer]


class ModelFile(msgspec.Struct):
    """The file: MessagePack."""

    names: dict[str, float]
    words: dict[str, float]
    first: list[NetworkFile]
    second: list[NetworkFile]


class Network:
    """A perceptron of a few layers: rectified inside, one probability out."""

    __slots__ = ("biases", "inputs", "mean", "outputs", "scale", "weights")

    def __init__(self, stored: NetworkFile) -> None:
        self.mean = _doubles(stored.mean)
        self.scale = _doubles(stored.scale)
        self.inputs = [layer.inputs for layer in stored.layers]
        self.outputs = [layer.outputs for layer in stored.layers]
        self.weights = [_doubles(layer.weights) for layer in stored.layers]
        self.biases = [_doubles(layer.biases) for layer in stored.layers]
        if [len(one) for one in self.weights] != [a * b for a, b in zip(self.inputs, self.outputs, strict=True)]:
            raise ValueError("the weights do not fit their layers")

    def probabilities(self, rows: array[float], count: int) -> array[float]:
        """One for each of `count` rows."""
        answers = array("d", bytes(8 * count))
        data, result, mean, scale = rows, answers, self.mean, self.scale
        layers, width = len(self.inputs), self.inputs[0]
        values = array("d", bytes(8 * max(width, *self.outputs)))
        sums = array("d", bytes(8 * max(self.outputs)))
        for index in range(count):
            for place in range(width):
                value = (data[index * width + place] - mean[place]) * scale[place]
                values[place] = min(max(value, -_CLIPPED), _CLIPPED)
            for layer in range(layers):
                inputs, outputs = self.inputs[layer], self.outputs[layer]
                weights, biases = self.weights[layer], self.biases[layer]
                for output in range(outputs):
                    sums[output] = biases[output]
                for place in range(inputs):
                    value = values[place]
                    if value != 0.0:
                        at = place * outputs
                        for output in range(outputs):
                            sums[output] += value * weights[at + output]
                for output in range(outputs):
                    values[output] = max(sums[output], 0.0)
            last = min(max(sums[0], -30.0), 30.0)
            result[index] = 1.0 / (1.0 + math.exp(-last))
        return answers


class Model:
    """Two networks and the lexicon they were trained with."""

    __slots__ = ("first", "lexicon", "second")

    def __init__(self, stored: ModelFile) -> None:
        self.lexicon = Lexicon(stored.names, stored.words)
        self.first = [Network(one) for one in stored.first]
        self.second = [Network(one) for one in stored.second]

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


def together(networks: list[Network], rows: array[float], count: int) -> array[float]:
    """The mean of what several networks say: they err apart from one another."""
    answers = networks[0].probabilities(rows, count)
    for network in networks[1:]:
        others = network.probabilities(rows, count)
        for index in range(count):
            answers[index] += others[index]
    for index in range(count):
        answers[index] /= len(networks)
    return answers


@cache
def standard() -> Model:
    """The model of the package, loaded once."""
    return Model.load(Path(__file__).with_name("main_content.weights"))


def choose(probabilities: array[float], words: list[int]) -> tuple[frozenset[int], float]:
    """The blocks whose expected F1 is best, and that F1; `words` are of each block.

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
    kept = 0
    for place, index in enumerate(order):
        found += likely[index] * words[index]
        size += words[index]
        expected = 2.0 * found / (size + gold) if size else 0.0
        if expected > best:
            best, kept = expected, place + 1
    return frozenset(order[:kept]), best


def surroundings(blocks: Blocks, given: array[float]) -> array[float]:
    """What the second networks are told: `AROUND` numbers for each block. `given` are the probabilities of the first."""
    count = len(given)
    made = array("d", bytes(8 * AROUND * count))
    if not count:
        return made
    rows, alone = made, given
    parents, holders, words, signatures = blocks.parents, blocks.holders, blocks.words, blocks.signatures
    elements = len(parents)
    weight = [0.0] * elements
    weighed = [0.0] * elements
    kinds = max(signatures) + 1
    alike = [0.0] * kinds
    alike_weighed = [0.0] * kinds
    sizes = array("d", bytes(8 * (count + 1)))  # of the blocks before
    sums = array("d", bytes(8 * (count + 1)))
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
        while end < count and blocks.tags[end] not in HEADINGS:
            end += 1
        headed = alone[begin] if blocks.tags[begin] in HEADINGS else _NOBODY
        section = (sums[end] - sums[begin]) / (sizes[end] - sizes[begin])
        for index in range(begin, end):
            at = index * AROUND
            likely = alone[index]
            rows[at] = likely
            place = at + 1
            for side in _SIDES:
                other = index + side
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


def _doubles(stored: bytes) -> array[float]:
    """32-bit floats, little-endian, as doubles."""
    import sys

    floats = array("f")
    floats.frombytes(stored)
    if sys.byteorder == "big":
        floats.byteswap()
    return array("d", floats)
