"""What the classifier is trained on and by: targets, lexicon, networks. None of it needs the pages."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from training.labels import labels
from training.lexicon import count, lexicon
from training.network import train

from webseam.documents.html.blocks import blocks_of
from webseam.documents.html.parse import parse
from webseam.documents.html.perceptron import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray


def words(*texts: str) -> list[list[str]]:
    return [text.split() for text in texts]


def test_a_long_block_is_gold_wherever_it_stands() -> None:
    (gold,) = words("the sea rises and falls twice a day drawn by the moon")
    blocks = words(
        "drawn by the moon and by nothing else",
        "the sea rises and falls twice a day",
        "all rights reserved by the tide company",
    )
    assert labels(blocks, gold) == [pytest.approx(1 / 5), 1.0, 0.0]


def test_a_short_block_is_gold_where_the_order_of_the_page_has_room_for_it() -> None:
    (gold,) = words("tides the sea rises and falls twice a day home is where the harbour lies today depth 7")
    blocks = words(
        "home",
        "tides",
        "the sea rises and falls twice a day",
        "home is where the harbour lies today",
        "depth",
        "7",
        "home",
        "tides",
    )
    assert labels(blocks, gold) == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]


def test_nothing_is_gold_on_a_page_without_words() -> None:
    assert labels([], ["a"]) == []
    assert labels(words("a", ""), ["b"]) == [0.0, 0.0]


def test_a_lexicon_knows_what_goes_with_content() -> None:
    html = "<div class='menu top'><p>Home page</p></div><div class='post'><p>Words of the keeper</p></div>"
    counts = []
    for _ in range(30):
        blocks = blocks_of(parse(html).body)
        counts.append(count(blocks, blocks.sizes, [0.0, 1.0]))
    found = lexicon(counts)
    assert found.names["menu"] < 0 < found.names["post"]
    assert found.words["home"] < 0 < found.words["keeper"]
    assert lexicon(counts[:3]).names == {}, "what only three pages say is not learnt"


def test_training_learns_and_gives_the_same_weights_again() -> None:
    drawn = np.random.default_rng(5)
    rows = drawn.standard_normal((6_000, 5)).astype(np.float32)
    targets = (rows[:, 0] + rows[:, 1] ** 2 > 1).astype(np.float32)

    def trained(seed: int) -> bytes:
        network = train(rows, targets, np.ones(len(rows), np.float32), hidden=(24, 12), epochs=30, dropped=0.0, seed=seed)
        return msgspec.msgpack.encode(network.stored())

    first = trained(1)
    assert trained(1) == first
    assert trained(2) != first
    network = train(rows, targets, np.ones(len(rows), np.float32), hidden=(24, 12), epochs=30, dropped=0.0, seed=1)
    likely = network.probabilities(rows)
    assert ((likely > 0.5) == (targets > 0.5)).mean() > 0.9
    shipped = Network(network.stored()).probabilities(array("d", rows.astype(np.float64).tobytes()), len(rows))
    assert np.abs(np.array(shipped) - likely).max() < 1e-4, "what runs is what was trained"


def test_inputs_that_are_dropped_in_training_are_made_up_for_by_others() -> None:
    drawn = np.random.default_rng(5)
    rows = drawn.standard_normal((20_000, 2)).astype(np.float32)
    rows[:, 1] = rows[:, 0] + 0.3 * rows[:, 1]
    targets = (rows[:, 0] > 0).astype(np.float32)

    def trained(unseen: float) -> NDArray[np.float32]:
        ones = np.ones(len(rows), np.float32)
        network = train(rows, targets, ones, hidden=(8,), epochs=40, dropped=0.0, unseen=unseen, seed=1)
        return network.probabilities(np.array([[0.0, -1.0]], np.float32))  # the first, which says all, is as usual

    assert trained(0.3) < 0.1 < trained(0.0)
