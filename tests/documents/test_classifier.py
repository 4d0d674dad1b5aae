"""The learned classifier: its file, its arithmetic, its choice, and what it does to a tree."""

from __future__ import annotations

import itertools
import math
import random
from array import array
from pathlib import Path

import msgspec
import pytest

from webseam.documents.html import classifier
from webseam.documents.html.blocks import CONTEXT_BIT, MAX_BLOCKS, blocks_of, prune
from webseam.documents.html.classifier import AROUND, Model, ModelFile, choose, standard, surroundings
from webseam.documents.html.features import BASE, PAGE, WIDTH, Lexicon, features
from webseam.documents.html.main_content import main_content
from webseam.documents.html.parse import parse
from webseam.documents.html.perceptron import Layer, Network, NetworkFile, run_in_python, share_inputs, together
from webseam.documents.html.tree import text_of

ARTICLE = (
    "<title>Tides</title><body><nav class=menu><ul><li><a href=/>Home</a><li><a href=/about>About us</a></ul></nav>"
    "<main><h1>Tides</h1>"
    + "<p>The sea rises and falls twice a day, drawn by the moon, and a little by the sun, which is heavier and farther.</p>"
    * 6
    + "<img src=moon.png alt=Moon><p>Where a bay narrows, the water has nowhere to go but up, as it does in Fundy.</p></main>"
    "<footer class=footer><p>© 2026 The Tide Company. All rights reserved. <a href=/privacy>Privacy policy</a></p></footer>"
)


PAGE_FROM = BASE - PAGE


def network(sizes: tuple[int, ...], seed: int = 1) -> NetworkFile:
    """One whose weights are drawn by seed."""
    drawn = random.Random(seed)

    def floats(count: int, spread: float) -> bytes:
        return array("f", [drawn.gauss(0, spread) for _ in range(count)]).tobytes()

    layers = [Layer(a, b, floats(a * b, 0.5), floats(b, 0.1)) for a, b in itertools.pairwise(sizes)]
    return NetworkFile(floats(sizes[0], 1.0), array("f", [0.5] * sizes[0]).tobytes(), layers)


def test_the_weights_of_the_package_are_small_and_fit() -> None:
    path = Path(classifier.__file__).with_name("main_content.weights")
    assert path.stat().st_size < 500_000
    model = standard()
    assert {one.inputs[0] for one in model.first} == {WIDTH}
    assert {one.inputs[0] for one in model.second} == {AROUND}
    assert len(model.lexicon.names) > 1_000
    assert standard() is model


def test_a_network_gives_what_is_worked_out_by_hand() -> None:
    stored = network((3, 4, 1))
    rows = array("d", [0.5, -2.0, 40.0, 0.0, 1.0, -1.0])
    found = Network(stored).probabilities(rows, 2)

    def floats(data: bytes) -> list[float]:
        values = array("f")
        values.frombytes(data)
        return list(values)

    mean, scale = floats(stored.mean), floats(stored.scale)
    for row in range(2):
        values = [min(max((rows[row * 3 + i] - mean[i]) * scale[i], -8.0), 8.0) for i in range(3)]
        for number, layer in enumerate(stored.layers):
            weights, biases = floats(layer.weights), floats(layer.biases)
            sums = [
                biases[o] + math.fsum(values[i] * weights[i * layer.outputs + o] for i in range(layer.inputs))
                for o in range(layer.outputs)
            ]
            values = sums if number == len(stored.layers) - 1 else [max(one, 0.0) for one in sums]
        assert found[row] == pytest.approx(1 / (1 + math.exp(-values[0])), abs=1e-12)


@pytest.mark.parametrize("sizes", [(7, 1), (30, 24, 1), (30, 53, 24, 17, 1), (162, 48, 24, 1)])
def test_networks_together_give_the_same_in_python(sizes: tuple[int, ...]) -> None:
    dice = random.Random(sizes[0])
    networks = share_inputs([Network(network(sizes)), Network(network(sizes)), Network(network(sizes, seed=2))])
    assert networks[1].usual is networks[0].usual
    assert networks[2].usual is not networks[0].usual
    rows = array("d", [dice.choice([0.0, 0.0, dice.gauss(0, 3), 1e9, -0.0]) for _ in range(25 * sizes[0])])
    assert together(networks, rows, 25) == run_in_python(networks, rows, 25)
    assert together(networks, array("d"), 0) == array("d")
    with pytest.raises(ValueError, match="rows do not fit"):
        together([networks[0], Network(network((sizes[0] + 1, 1)))], rows, 25)


def test_what_does_not_fit_is_refused() -> None:
    good = network((3, 4, 1))
    with pytest.raises(ValueError, match="rows do not fit"):
        Network(good).probabilities(array("d", [0.0] * 5), 2)
    for layers in (
        [],
        [good.layers[0]],
        [good.layers[1], good.layers[0]],
        [msgspec.structs.replace(good.layers[0], weights=b""), good.layers[1]],
        [msgspec.structs.replace(good.layers[0], biases=b""), good.layers[1]],
    ):
        with pytest.raises(ValueError, match="fit"):
            Network(msgspec.structs.replace(good, layers=layers))
    with pytest.raises(ValueError, match="fit"):
        Network(msgspec.structs.replace(good, mean=b""))


def test_a_file_without_a_network_is_refused() -> None:
    one = network((WIDTH, 2, 1))
    for first, second in (([], [one]), ([one], [])):
        with pytest.raises(ValueError, match="no network"):
            Model(ModelFile({}, {}, first, second))


def test_what_comes_after_the_last_block_that_is_judged_stays() -> None:
    body = parse("<p>a" * MAX_BLOCKS + "<p>b <img src=c>").body
    blocks = blocks_of(body)
    assert len(blocks.texts) == MAX_BLOCKS
    assert blocks.pictures == []
    prune(blocks, {0})
    assert text_of(body) == "a b"


def test_the_choice_is_the_best_of_all_sets() -> None:
    drawn = random.Random(7)
    for _ in range(50):
        count = drawn.randint(1, 8)
        likely = array("d", [drawn.random() for _ in range(count)])
        words = [drawn.randint(1, 60) for _ in range(count)]
        gold = sum(p * w for p, w in zip(likely, words, strict=True))

        def expected(
            chosen: tuple[int, ...], likely: array[float] = likely, words: list[int] = words, gold: float = gold
        ) -> float:
            return 2 * sum(likely[i] * words[i] for i in chosen) / (sum(words[i] for i in chosen) + gold)

        sets = [chosen for size in range(1, count + 1) for chosen in itertools.combinations(range(count), size)]
        kept, confidence = choose(likely, words)
        assert confidence == pytest.approx(max(map(expected, sets)))
        assert expected(tuple(kept)) == pytest.approx(confidence)
        cautious, same = choose(likely, words, 1.5)
        assert same == confidence
        odds = 1.5 * confidence / (2 - confidence)
        assert cautious == {i for i in kept if likely[i] >= odds * (1 - likely[i])} or len(cautious) == 1


def test_caution_leaves_a_block_that_has_words() -> None:
    assert choose(array("d", [0.2, 0.3, 0.1]), [5, 0, 5], 1e9)[0] == {0, 1}
    assert choose(array("d", [0.2, 0.3]), [0, 0], 1e9)[0] == frozenset()


def test_blocks_know_their_links_their_places_and_their_kin() -> None:
    body = parse(
        "<nav><a href=/>Home page</a></nav><ul><li class=x>One <b>two</b><li class=x>Three</ul><div>a<p>b</p>c</div>"
    ).body
    blocks = blocks_of(body)
    assert blocks.texts == ["Home page", "One two", "Three", "a", "b", "c"]
    assert blocks.link_chars == [9, 0, 0, 0, 0, 0]
    assert blocks.sizes == [2, 2, 1, 1, 1, 1]
    assert blocks.contexts[0] & CONTEXT_BIT["nav"]
    assert blocks.contexts[1] & CONTEXT_BIT["ul"]
    alike = [blocks.signatures[holder] for holder in blocks.holders]
    assert alike[1] == alike[2]
    assert len(set(alike)) == 4
    assert blocks.holders[3] == blocks.holders[5]


def test_what_is_not_kept_is_taken_out_and_pictures_go_with_their_neighbours() -> None:
    body = parse("<p>Keep</p><img src=a><p>Keep too</p><img src=b><p>Drop</p>tail <i>too</i>").body
    blocks = blocks_of(body)
    prune(blocks, {0, 1})
    assert text_of(body) == "Keep Keep too"
    assert len(blocks.pictures) == 2
    pictures = [child.attrs["src"] for child in body.children if not isinstance(child, str) and child.tag == "img"]
    assert pictures == ["a"]


def test_rows_are_numbers_whatever_the_page() -> None:
    pages = [
        "",
        "<p>",
        "<p>x",
        "<p>" + "!" * 5_000,
        "<table>" + "<tr><td>1<td>2" * 50,
        ARTICLE,
        "<h1>a<h1>b<h2>c",
        "<p>\u202e中文。中文",
    ]
    for page in pages:
        blocks = blocks_of(parse(page).body)
        rows = features(blocks, Lexicon({"menu": -1.0}, {"the": 0.5}), "Tides")
        assert len(rows) == WIDTH * len(blocks.texts)
        assert all(map(math.isfinite, rows))
        around = surroundings(blocks, array("d", [0.25] * len(blocks.texts)))
        assert len(around) == AROUND * len(blocks.texts)
        assert all(map(math.isfinite, around))


def rows_of(html: str, title: str = "") -> list[list[float]]:
    rows = list(features(blocks_of(parse(html).body), Lexicon({}, {}), title))
    return [rows[begin : begin + WIDTH] for begin in range(0, len(rows), WIDTH)]


@pytest.mark.parametrize(
    ("text", "money", "dated", "asks", "wide"),
    [
        ("now 12 € only", 1, 0, 0, 0),
        ("in 1999", 0, 1, 0, 0),
        ("2026-11-30, at noon", 0, 1, 0, 0),
        ("at 9:05", 0, 1, 0, 0),
        ("11999 of 2100: 9", 0, 0, 0, 0),
        ("1:a, 19990", 0, 0, 0, 0),
        ("do they fold?", 0, 0, 1, 0),
        ("潮？ ab", 0, 0, 0, 0.4),
        ("潮￥?", 1, 0, 1, 2 / 3),
    ],
)
def test_prices_dates_questions_and_scripts_are_seen(text: str, money: int, dated: int, asks: int, wide: float) -> None:
    for rows in (rows_of(f"<p>{text}"), rows_of(f"<p>{text}<p>{text}")):
        assert rows[0][58:62] == [money, dated, asks, pytest.approx(wide)]
        assert rows[0][PAGE_FROM + 11 :][:4] == [pytest.approx(math.log1p(one * len(rows))) for one in (money, dated, asks)] + [
            pytest.approx(wide)
        ]


def test_a_block_knows_the_headings_that_it_stands_under() -> None:
    rows = rows_of("<p>a<h2>b</h2><p>c<h1>d</h1><p>e<h3>f</h3><p>g<h4>h</h4><h3>i</h3><p>j<p>j")
    assert [row[67] for row in rows] == [0, 2, 0, 1, 0, 3, 0, 4, 3, 0, 0], "its own level"
    assert [row[68] for row in rows] == [0, 0, 1, 0, 1, 1, 2, 2, 1, 2, 2], "how many"
    assert [row[69] for row in rows] == [0, 0, 2, 0, 1, 1, 3, 3, 1, 3, 3], "the level of the nearest"
    away = [-1, -1, 1, -1, 1, 2, 1, 2, 5, 1, 2]
    assert [row[70] for row in rows] == [one if one < 0 else pytest.approx(math.log1p(one)) for one in away]
    away = [-1, -1, 1, -1, 1, 2, 3, 4, 5, 6, 7]
    assert [row[71] for row in rows] == [one if one < 0 else pytest.approx(math.log1p(one)) for one in away]
    assert [row[72] for row in rows] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert [row[65] for row in rows] == pytest.approx([one / 5 for one in (0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5)])
    assert [row[57] for row in rows][-3:] == pytest.approx([0.0, math.log(2), math.log(2)]), "how often its text is there"


def test_an_article_is_kept_and_its_frame_is_not() -> None:
    page = parse(ARTICLE)
    confidence = main_content(page.body, "Tides")
    text = text_of(page.body)
    assert text.count("The sea rises and falls") == 6
    assert "Fundy" in text
    assert "About us" not in text
    assert "Privacy policy" not in text
    assert confidence is not None
    assert confidence > 0.8


def test_a_page_that_shows_text_keeps_some() -> None:
    for html in ("<a href=/>Log in</a>", "<footer>Contact</footer>", "<nav><li>One<li>Two</nav>"):
        page = parse(html)
        main_content(page.body)
        assert text_of(page.body)
    for html in ("", "<p>!?</p>"):
        page = parse(html)
        before = text_of(page.body)
        assert main_content(page.body) is None
        assert text_of(page.body) == before


def test_another_model_may_be_used(tmp_path: Path) -> None:
    stored = ModelFile({}, {}, [network((WIDTH, 2, 1))], [network((AROUND, 2, 1))])
    path = tmp_path / "other.weights"
    path.write_bytes(msgspec.msgpack.encode(stored))
    other = classifier.Model.load(path)
    assert not other.lexicon.names
    page = parse(ARTICLE)
    assert main_content(page.body, "Tides", other) is not None
