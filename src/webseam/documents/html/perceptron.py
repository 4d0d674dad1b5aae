# cython: boundscheck=False, wraparound=False
"""Networks that were trained elsewhere, run here: perceptrons of a few layers, in doubles.

All sums are in one order, so that compiled code and Python give the same answer to the bit. Nothing checks an index where this
is compiled: `Network` checks that its own parts fit one another, and `probabilities` that the rows do.
"""

from __future__ import annotations

import math
import sys
from array import array

import msgspec

_CLIPPED = 8.0


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


class Network:
    """A perceptron of a few layers: rectified inside, one probability out."""

    __slots__ = ("biases", "inputs", "mean", "outputs", "scale", "weights")

    def __init__(self, stored: NetworkFile) -> None:
        if not stored.layers:
            raise ValueError("no layer: the weights do not fit a network")
        self.mean = _doubles(stored.mean)
        self.scale = _doubles(stored.scale)
        self.inputs = [layer.inputs for layer in stored.layers]
        self.outputs = [layer.outputs for layer in stored.layers]
        self.weights = [_doubles(layer.weights) for layer in stored.layers]
        self.biases = [_doubles(layer.biases) for layer in stored.layers]
        if [len(one) for one in self.weights] != [a * b for a, b in zip(self.inputs, self.outputs, strict=True)]:
            raise ValueError("the weights do not fit their layers")
        if [len(one) for one in self.biases] != self.outputs or [self.inputs[0], *self.outputs] != [*self.inputs, 1]:
            raise ValueError("the layers do not fit one another")
        if not len(self.mean) == len(self.scale) == self.inputs[0]:
            raise ValueError("the inputs do not fit the first layer")

    def probabilities(self, rows: array[float], count: int) -> array[float]:
        """One for each of `count` rows. Raises ValueError when there are not so many."""
        layers, width = len(self.inputs), self.inputs[0]
        if len(rows) != count * width:
            raise ValueError("the rows do not fit the network")
        if not count:
            return array("d")
        made = array("d", rows)
        values = made
        mean, scale = self.mean, self.scale
        for index in range(count):
            at = index * width
            for place in range(width):
                value = (values[at + place] - mean[place]) * scale[place]
                values[at + place] = min(max(value, -_CLIPPED), _CLIPPED)
        for layer in range(layers):
            inputs, outputs = self.inputs[layer], self.outputs[layer]
            weights, biases = self.weights[layer], self.biases[layer]
            made = array("d", bytes(8 * count * outputs))
            sums = made
            output = 0
            while output + 8 <= outputs:  # eight at a time: their weights stay near, and their sums in registers
                for index in range(count):
                    one, two, three, four = biases[output], biases[output + 1], biases[output + 2], biases[output + 3]
                    five, six, seven, eight = biases[output + 4], biases[output + 5], biases[output + 6], biases[output + 7]
                    start, at = index * inputs, output
                    for place in range(inputs):
                        value = values[start + place]
                        one += value * weights[at]
                        two += value * weights[at + 1]
                        three += value * weights[at + 2]
                        four += value * weights[at + 3]
                        five += value * weights[at + 4]
                        six += value * weights[at + 5]
                        seven += value * weights[at + 6]
                        eight += value * weights[at + 7]
                        at += outputs
                    at = index * outputs + output
                    sums[at], sums[at + 1], sums[at + 2], sums[at + 3] = one, two, three, four
                    sums[at + 4], sums[at + 5], sums[at + 6], sums[at + 7] = five, six, seven, eight
                output += 8
            while output < outputs:
                for index in range(count):
                    one = biases[output]
                    start, at = index * inputs, output
                    for place in range(inputs):
                        one += values[start + place] * weights[at]
                        at += outputs
                    sums[index * outputs + output] = one
                output += 1
            if layer < layers - 1:
                for place in range(count * outputs):
                    sums[place] = max(sums[place], 0.0)
            values = sums
        for index in range(count):
            values[index] = 1.0 / (1.0 + math.exp(-min(max(values[index], -30.0), 30.0)))
        return made


def together(networks: list[Network], rows: array[float], count: int) -> array[float]:
    """The mean of what several networks say: they err apart from one another."""
    made = networks[0].probabilities(rows, count)
    answers = made
    for network in networks[1:]:
        others = network.probabilities(rows, count)
        for index in range(count):
            answers[index] += others[index]
    for index in range(count):
        answers[index] /= len(networks)
    return made


def _doubles(stored: bytes) -> array[float]:
    """32-bit floats, little-endian, as doubles."""
    floats = array("f")
    floats.frombytes(stored)
    if sys.byteorder == "big":
        floats.byteswap()
    return array("d", floats)
