"""Networks that were trained elsewhere, run here: perceptrons of a few layers, in doubles.

All sums are in one order, so that compiled code (`_perceptron.pyx`) and Python give the same answer to the bit. An input of 0
is the usual one (a tag that a block has not), so what it adds is in the sums from the start and takes no time.
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

    __slots__ = ("clipped", "inputs", "mean", "outputs", "scale", "starts", "usual", "weights")

    def __init__(self, stored: NetworkFile) -> None:
        if not stored.layers:
            raise ValueError("no layer: the weights do not fit a network")
        self.clipped = _CLIPPED
        self.mean = _doubles(stored.mean)
        self.scale = _doubles(stored.scale)
        self.inputs = [layer.inputs for layer in stored.layers]
        self.outputs = [layer.outputs for layer in stored.layers]
        self.weights = [_doubles(layer.weights) for layer in stored.layers]
        self.starts = [_doubles(layer.biases) for layer in stored.layers]
        if [len(one) for one in self.weights] != [a * b for a, b in zip(self.inputs, self.outputs, strict=True)]:
            raise ValueError("the weights do not fit their layers")
        if [len(one) for one in self.starts] != self.outputs or [self.inputs[0], *self.outputs] != [*self.inputs, 1]:
            raise ValueError("the layers do not fit one another")
        if not len(self.mean) == len(self.scale) == self.inputs[0] > 0:
            raise ValueError("the inputs do not fit the first layer")
        self.usual = array("d", [_clip(-mean * scale) for mean, scale in zip(self.mean, self.scale, strict=True)])
        add_usual(self.usual, self.weights[0], self.starts[0])

    def probabilities(self, rows: array[float], count: int) -> array[float]:
        """One for each of `count` rows. Raises ValueError when there are not so many."""
        return together([self], rows, count)


def add_usual_in_python(usual: array[float], weights: array[float], starts: array[float]) -> None:
    """Add to the sums of the first layer what the usual inputs give."""
    outputs = len(starts)
    for place, value in enumerate(usual):
        for output in range(outputs):
            starts[output] += value * weights[place * outputs + output]


def run_in_python(networks: list[Network], rows: array[float], count: int) -> array[float]:
    """The mean of what networks say of rows that fit them."""
    made = array("d", bytes(8 * count))
    for network in networks:
        width, last = network.inputs[0], len(network.inputs) - 1
        for index in range(count):
            at = index * width
            values = [
                (place, _clip((value - network.mean[place]) * network.scale[place]) - network.usual[place])
                for place, value in enumerate(rows[at : at + width])
                if value != 0.0
            ]
            sums = array("d")
            for layer, outputs in enumerate(network.outputs):
                weights = network.weights[layer]
                sums = network.starts[layer][:]
                for place, value in values:
                    row = weights[place * outputs : (place + 1) * outputs]
                    for output, weight in enumerate(row):
                        sums[output] += value * weight
                if layer < last:
                    values = [(place, value) for place, value in enumerate(sums) if value > 0.0]
            made[index] += 1.0 / (1.0 + math.exp(-min(max(sums[0], -30.0), 30.0)))
    for index in range(count):
        made[index] /= len(networks)
    return made


try:
    from webseam.documents.html._perceptron import add_usual, run
except ModuleNotFoundError:
    add_usual, run = add_usual_in_python, run_in_python


def _clip(value: float) -> float:
    return min(max(value, -_CLIPPED), _CLIPPED)


def together(networks: list[Network], rows: array[float], count: int) -> array[float]:
    """The mean of what several networks say of each of `count` rows: they err apart from one another.

    Raises ValueError when there are not so many rows, or they do not fit each of the networks.
    """
    if not all(len(rows) == count * network.inputs[0] and network.inputs[0] == networks[0].inputs[0] for network in networks):
        raise ValueError("the rows do not fit the network")
    return run(networks, rows, count)


def share_inputs(networks: list[Network]) -> list[Network]:
    """The networks; those that take their inputs alike know it, and take them once."""
    first = networks[0]
    for network in networks[1:]:
        if network.mean == first.mean and network.scale == first.scale:
            network.mean, network.scale, network.usual = first.mean, first.scale, first.usual
    return networks


def _doubles(stored: bytes) -> array[float]:
    """32-bit floats, little-endian, as doubles."""
    floats = array("f")
    floats.frombytes(stored)
    if sys.byteorder == "big":
        floats.byteswap()
    return array("d", floats)
