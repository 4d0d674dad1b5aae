"""A perceptron trained by AdamW, in numpy: soft targets, a weight for each row, dropout, one cycle of the learning rate.

Dropout is of what the layers say (`dropped`) and of the inputs themselves (`unseen`: what is dropped is as usual, for it is 0).

Everything is drawn from one seeded generator and computed by one thread in one order, so the same rows give the same weights.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from webseam.documents.html.perceptron import Layer, NetworkFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

CLIPPED = 8.0
BATCH = 1024
HIGHEST_RATE = 4e-3
DECAY = 0.1
BETAS = (0.9, 0.999)


class Network:
    """Layers of `sizes`; the last has one output, a logit."""

    def __init__(self, sizes: tuple[int, ...], mean: Floats, scale: Floats, generator: np.random.Generator) -> None:
        self.mean = mean
        self.scale = scale
        self.weights: list[Floats] = [
            (generator.standard_normal((inputs, outputs)) * math.sqrt(2 / inputs)).astype(np.float32)
            for inputs, outputs in pairwise(sizes)
        ]
        self.biases: list[Floats] = [np.zeros(outputs, np.float32) for outputs in sizes[1:]]

    def probabilities(self, rows: Floats) -> Floats:
        """One for each row."""
        values = np.clip((rows - self.mean) * self.scale, -CLIPPED, CLIPPED)
        for place, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ weights + biases
            if place < len(self.weights) - 1:
                values = np.maximum(values, 0)
        return np.asarray(1 / (1 + np.exp(-values[:, 0])), np.float32)

    def stored(self) -> NetworkFile:
        """As the package stores it."""
        layers = [
            Layer(len(weights), len(biases), weights.astype("<f4").tobytes(), biases.astype("<f4").tobytes())
            for weights, biases in zip(self.weights, self.biases, strict=True)
        ]
        return NetworkFile(self.mean.astype("<f4").tobytes(), self.scale.astype("<f4").tobytes(), layers)


def train(
    rows: Floats,
    targets: Floats,
    importance: Floats,
    *,
    hidden: tuple[int, ...],
    epochs: int,
    dropped: float,
    unseen: float = 0.0,
    seed: int,
) -> Network:
    """A network for `rows` (one block each) whose targets are shares from 0 to 1."""
    generator = np.random.default_rng(seed)
    mean = rows.mean(0, dtype=np.float64).astype(np.float32)
    scale = (1 / (rows.std(0, dtype=np.float64) + 1e-3)).astype(np.float32)
    network = Network((rows.shape[1], *hidden, 1), mean, scale, generator)
    rows = np.clip((rows - mean) * scale, -CLIPPED, CLIPPED)
    importance = importance / importance.mean()
    parameters = network.weights + network.biases
    first = [np.zeros_like(one) for one in parameters]
    second = [np.zeros_like(one) for one in parameters]
    batches = len(rows) // BATCH
    step = 0
    for _ in range(epochs):
        order = generator.permutation(len(rows))
        for batch in range(batches):
            picked = order[batch * BATCH : (batch + 1) * BATCH]
            seen = rows[picked]
            if unseen:
                seen *= (generator.random(seen.shape, dtype=np.float32) > unseen) / np.float32(1 - unseen)
            gradients = _gradients(network, seen, targets[picked], importance[picked], dropped, generator)
            step += 1
            rate = _rate(step / (epochs * batches))
            for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
                first[place] += (1 - BETAS[0]) * (gradient - first[place])
                second[place] += (1 - BETAS[1]) * (gradient * gradient - second[place])
                moved = first[place] / (1 - BETAS[0] ** step) / (np.sqrt(second[place] / (1 - BETAS[1] ** step)) + 1e-8)
                parameter -= rate * (moved + (DECAY * parameter if parameter.ndim == 2 else 0))
    return network


def _rate(done: float) -> float:
    """The learning rate: a linear rise over three tenths, then half a cosine down."""
    if done < 0.3:
        return HIGHEST_RATE * (0.04 + 0.96 * done / 0.3)
    return HIGHEST_RATE * (0.5 * (1 + math.cos(math.pi * (done - 0.3) / 0.7)) + 1e-4)


def _gradients(
    network: Network, rows: Floats, targets: Floats, importance: Floats, dropped: float, generator: np.random.Generator
) -> list[Floats]:
    """Of the weighted cross-entropy, for the weights and then the biases."""
    seen = [rows]
    masks: list[Floats] = []
    values = rows
    last = len(network.weights) - 1
    for place, (weights, biases) in enumerate(zip(network.weights, network.biases, strict=True)):
        values = values @ weights + biases
        if place < last:
            mask = (generator.random(values.shape, dtype=np.float32) > dropped).astype(np.float32) / np.float32(1 - dropped)
            values = np.maximum(values, 0) * mask
            masks.append(mask)
            seen.append(values)
    wrong = 1 / (1 + np.exp(-values[:, 0])) - targets
    flow = (wrong * importance / len(rows)).astype(np.float32)[:, None]
    of_weights: list[Floats] = []
    of_biases: list[Floats] = []
    for place in range(last, -1, -1):
        of_weights.append(seen[place].T @ flow)
        of_biases.append(flow.sum(0))
        if place:
            flow = (flow @ network.weights[place].T) * (seen[place] > 0) * masks[place - 1]
    return of_weights[::-1] + of_biases[::-1]
