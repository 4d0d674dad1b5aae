"""`make train`: the weights of the main-content classifier, from the pages and their gold text, from nothing and by seed.

Cross-validation is by domain, in `scoring.FOLDS` folds, and nested, for a lexicon and two networks stand on one another. What
judges a fold has seen nothing of it: not in the lexicon, not in the first network, not in the second. What the second network
is trained on comes from first networks that had not seen those pages either, for else it would learn to trust them too much.

Writes `main_content.weights` (all pages) into the package, and `training/folds/N.weights` (all but fold N's pages), with which
`bench/reading.py` measures. Prints the cross-validated F1 by type of page, of the words of the blocks that are kept.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: one order of every sum

import argparse
import math
import multiprocessing
import sys
from array import array
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

import msgspec
import numpy as np
from training.labels import labels
from training.lexicon import Counts, count, lexicon
from training.network import Network, train
from training.scoring import FOLDS, NoPagesError, f1_of, pages, tokens, words

from webseam.documents.decode import decode
from webseam.documents.html import classifier
from webseam.documents.html.blocks import Blocks, blocks_of
from webseam.documents.html.classifier import CAUTION, ModelFile, choose, surroundings
from webseam.documents.html.features import WIDTH, Lexicon, features
from webseam.documents.html.page import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from training.scoring import GoldPage

    Floats = NDArray[np.float32]

Result = TypeVar("Result")

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = Path(classifier.__file__).with_name("main_content.weights")
FOLDED = ROOT / "training" / "folds"
SEED = 0
FIRST = {"hidden": (48, 24), "epochs": 6, "dropped": 0.25, "unseen": 0.1}
SECOND = {"hidden": (32, 16), "epochs": 5, "dropped": 0.1}
FIRSTS, SECONDS = 3, 5  # networks of each step, each from a seed of its own


class Example(NamedTuple):
    """One page: its blocks, the words of each as scored, which share of them is gold, and the gold text's words."""

    page_type: str
    data_set: str
    fold: int
    title: str
    blocks: Blocks
    words: list[list[str]]
    shares: list[float]
    gold: Counter[str]

    @property
    def importance(self) -> Floats:
        """Of each block: the square root of its words, so that a page counts for about the square root of its blocks."""
        sizes = np.sqrt(np.array([len(words) for words in self.words], np.float32) + np.float32(0.5))
        return np.asarray(sizes / sizes.sum() * math.sqrt(len(sizes)), np.float32)


def example(page: GoldPage) -> Example:
    """A page made ready."""
    body, title = prepared(decode(page.html, charset="", markup=True).text, url=page.url)
    blocks = blocks_of(body)
    blocks.begins, blocks.pictures = [], []  # the tree is done with
    said = [words(text) for text in blocks.texts]
    gold = tokens(page.gold)
    shares = labels(said, gold) if gold else [0.0] * len(said)
    return Example(page.page_type, page.data_set, page.fold, title, blocks, said, shares, Counter(gold))


# ------------------------------------------------------------------------------------------------ work in processes

_examples: list[Example] = []  # what forked processes share
_lexicons: dict[frozenset[int], Lexicon] = {}
_rows: dict[tuple[int, frozenset[int]], Floats] = {}
_alone: dict[tuple[int, int], array[float]] = {}


def in_processes(work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], what: str) -> list[Result]:
    """`work(*job)` for all jobs, in their order; in forked processes where there are such, for they share what was loaded."""
    results: list[Result] = []
    if "fork" in multiprocessing.get_all_start_methods():
        with ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("fork")) as pool:
            for result in pool.map(work, *zip(*jobs, strict=True), chunksize=max(1, min(20, len(jobs) // 8))):
                results.append(result)
                _progress(what, len(results), len(jobs))
    else:
        for job in jobs:
            results.append(work(*job))
            _progress(what, len(results), len(jobs))
    return results


def _progress(what: str, done: int, of: int) -> None:
    if done == of or done % max(1, of // 20) == 0:
        print(f"{what}: {done} of {of}", flush=True)


def _count(index: int) -> Counts:
    one = _examples[index]
    return count(one.blocks, [len(words) for words in one.words], one.shares)


def _row(index: int, without: frozenset[int]) -> Floats:
    one = _examples[index]
    rows = np.frombuffer(features(one.blocks, _lexicons[without], one.title), np.float64)
    return rows.reshape(-1, WIDTH).astype(np.float32)


def _train_first(without: frozenset[int], outer: frozenset[int], seed: int) -> Network:
    """A first network that has seen no page of the folds `without`; `outer` are those that its rows must not know of."""
    chosen = [index for index, one in enumerate(_examples) if one.fold not in without and any(one.shares)]
    rows = np.concatenate([_rows[index, outer | {_examples[index].fold}] for index in chosen])
    return train(rows, *_targets(chosen), seed=seed, **FIRST)  # type: ignore[arg-type]


def _targets(chosen: list[int]) -> tuple[Floats, Floats]:
    shares = np.concatenate([np.array(_examples[index].shares, np.float32) for index in chosen])
    return shares, np.concatenate([_examples[index].importance for index in chosen])


def _train_second(outer: int, seed: int) -> Network:
    """A second network that has seen no page of the fold `outer` (-1: of none)."""
    chosen = [index for index, one in enumerate(_examples) if one.fold != outer and any(one.shares)]
    return train(np.concatenate([_around(index, outer) for index in chosen]), *_targets(chosen), seed=seed, **SECOND)  # type: ignore[arg-type]


def _around(index: int, outer: int) -> Floats:
    rows = np.frombuffer(surroundings(_examples[index].blocks, _alone[index, outer]), np.float64)
    return rows.reshape(-1, classifier.AROUND).astype(np.float32)


def _doubles(values: Floats) -> array[float]:
    return array("d", values.astype(np.float64).tobytes())


# ------------------------------------------------------------------------------------------------ the whole


def main() -> int:
    """Train, cross-validated."""
    parser = argparse.ArgumentParser(prog="make train", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    try:
        sources = list(pages())
    except NoPagesError as error:
        print(error, file=sys.stderr)
        return 1
    found = in_processes(example, [(page,) for page in sources], "pages read")
    _examples[:] = [one for one in found if one.blocks.texts]
    del sources, found
    counts = in_processes(_count, [(index,) for index in range(len(_examples))], "words counted")

    folds = range(FOLDS)
    for without in {frozenset({a, b}) for a in folds for b in folds} | {frozenset[int]()}:
        _lexicons[without] = lexicon(one for one, example in zip(counts, _examples, strict=True) if example.fold not in without)
    jobs = [(index, frozenset({one.fold, other})) for index, one in enumerate(_examples) for other in folds]
    _rows.update(zip(jobs, in_processes(_row, jobs, "blocks described"), strict=True))

    # First networks: without two folds (what the second networks of the other are trained on), without one, and of all.
    plans: list[tuple[frozenset[int], frozenset[int]]] = [
        (frozenset({outer, inner}), frozenset({outer})) for outer in folds for inner in folds if inner != outer
    ]
    plans += [(frozenset({outer}), frozenset({outer})) for outer in folds]
    plans.append((frozenset(), frozenset()))
    firsts = in_processes(
        _train_first,
        [(without, outer, options.seed + number) for without, outer in plans for number in range(FIRSTS)],
        "first networks",
    )
    by_plan = {plan: firsts[place * FIRSTS : (place + 1) * FIRSTS] for place, plan in enumerate(plans)}
    for index, one in enumerate(_examples):
        for outer in folds:
            networks = by_plan[frozenset({outer, one.fold}), frozenset({outer})]
            rows = _rows[index, frozenset({outer, one.fold})]
            _alone[index, outer] = _doubles(np.mean([network.probabilities(rows) for network in networks], 0))
        _alone[index, -1] = _alone[index, one.fold]
    seconds = in_processes(
        _train_second,
        [(outer, options.seed + number) for outer in (*folds, -1) for number in range(SECONDS)],
        "second networks",
    )

    of_fold = {outer: seconds[place * SECONDS : (place + 1) * SECONDS] for place, outer in enumerate((*folds, -1))}

    FOLDED.mkdir(exist_ok=True)
    for outer in folds:
        _write(FOLDED / f"{outer}.weights", frozenset({outer}), by_plan[frozenset({outer}), frozenset({outer})], of_fold[outer])
    _write(WEIGHTS, frozenset(), by_plan[frozenset(), frozenset()], of_fold[-1])
    report(of_fold)
    return 0


def _write(path: Path, without: frozenset[int], first: Iterable[Network], second: Iterable[Network]) -> None:
    words = _lexicons[without]
    stored = ModelFile(dict(words.names), dict(words.words), [one.stored() for one in first], [one.stored() for one in second])
    path.write_bytes(msgspec.msgpack.encode(stored))
    print(f"wrote {path.relative_to(ROOT)}, {path.stat().st_size:,} bytes", flush=True)


def report(seconds: Mapping[int, Sequence[Network]]) -> None:
    """Print the cross-validated F1 by data set and type."""
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for index, one in enumerate(_examples):
        around = _around(index, one.fold)
        likely = _doubles(np.mean([network.probabilities(around) for network in seconds[one.fold]], 0))
        kept, _ = choose(likely, one.blocks.sizes, CAUTION)
        answer: Counter[str] = Counter()
        for block in kept:
            answer.update(one.words[block])
        score = f1_of(answer, one.gold)[0]
        scores[one.data_set].append(score)
        scores[f"{one.data_set} {one.page_type}"].append(score)
    print("\ncross-validated F1 of the words of kept blocks")
    for name in sorted(scores):
        print(f"{name:<28}{len(scores[name]):>6}{sum(scores[name]) / len(scores[name]):>8.4f}")


if __name__ == "__main__":
    raise SystemExit(main())
