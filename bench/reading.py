"""bench: our reader beside six others on the same real pages: what they find, how fast, and whole fetches over loopback.

    python bench/reading.py [--only f1|speed|fetch|cases|settings] [--pages N]

Four parts; `peers/readers.py` says who takes part and how each is set up.

f1: the word F1 of WCXB's development pages (`training/scoring.py`), over all and by type of page, and of the Chinese sets. Our
answers come from weights that never saw the page's domain. The differences to each peer are paired, page by page, and their
95 % intervals are bootstrapped over domains: "ahead" and "BEHIND" are intervals that do not hold zero. Then the characters that
each reader hands to a model for a word of the gold text: ranked among those whose recall is within .05 of the best, for leaving
out is the cheapest way to be short.

speed: CPU seconds of one page from its text (ours: from its bytes) to Markdown, on every tenth page. The readers take turns
page by page, in several rounds; a page's time is its median. Imports are not counted. What the others answered for f1 is kept
between runs, speed never is.

fetch: whole tool calls, `peers/fetches.py`.

cases: the small cases of `tests/documents/markdown_cases.py`, all readers marked by the same assertions.

A line `figure` is only printed by a part that ran over all its pages.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, only this folder is there

from bench.peers import fetches
from bench.peers.pages_site import sample
from bench.peers.readers import PEERS, RESILIPARSE, SIDES, TRAFILATURA, US, VARIANTS, WITH_LINKS, Page, Reader, answers, page_of
from scripts import bench_peers
from training.scoring import (
    MAGIC_ARTICLE,
    MAGIC_FORUM,
    WCXB,
    ZH69,
    GoldPage,
    NoPagesError,
    f1_of,
    pages,
    tokens,
    unpacked,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bench.peers.fetches import Round
    from bench.peers.readers import Side

PARTS = ("f1", "speed", "fetch", "cases")
TYPES = ("article", "documentation", "service", "product", "collection", "listing", "forum")
CHINESE = (ZH69, MAGIC_ARTICLE, MAGIC_FORUM)
SPEED_PAGES = 150
ROUNDS = 3
RESAMPLES = 2_000
SEED = 2026
RECALL_APART = 0.05


def main(argv: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(description="Our reader beside the others.")
    parser.add_argument("--only", choices=[*PARTS, "settings"])
    parser.add_argument("--pages", type=int, help="a quick look at the first N pages of each set; no figures")
    options = parser.parse_args(list(argv))
    try:
        unpacked()
    except NoPagesError as error:
        print(f"bench reading: {error}", file=sys.stderr)
        return 1
    bench_peers.install_readers()
    if options.only == "settings":
        settings(options.pages)
        return 0
    parts = {"f1": quality, "speed": speed, "fetch": fetch, "cases": cases}
    for name in [options.only] if options.only else PARTS:
        print(f"\n-- {name}", flush=True)
        parts[name](options.pages)
    return 0


def looked_at(limit: int | None, *data_sets: str) -> Iterator[GoldPage]:
    """The pages of some data sets, at most `limit` of each."""
    for name in data_sets:
        yield from itertools.islice(pages(name), limit)


def slug(side: Side) -> str:
    """A side's name in a figure."""
    return side.name.lower().replace("-", "_").replace(".", "_")


def table(first: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], width: int = 9) -> None:
    """Print a table, numbers to the right."""
    print(f"\n{first:<22}" + "".join(f"{column:>{max(width, len(column) + 2)}}" for column in columns))
    for name, cells in rows:
        print(
            f"{name:<22}"
            + "".join(f"{cell:>{max(width, len(column) + 2)}}" for cell, column in zip(cells, columns, strict=True))
        )


# ------------------------------------------------------------------------------------------------ f1


class Score(NamedTuple):
    """One answer's. `wanted` and `unwanted` are the shares of WCXB's snippets that are in it."""

    f1: float
    precision: float
    recall: float
    wanted: float
    unwanted: float
    chars: int


class Scored(NamedTuple):
    """One page and every side's score for it, in the order of the sides."""

    data_set: str
    page_type: str
    domain: str
    words: int
    scores: tuple[Score, ...]


def quality(limit: int | None) -> None:
    """The part `f1`."""
    scored = scores(SIDES, limit, WCXB, *CHINESE)
    english = [page for page in scored if page.data_set == WCXB]
    chinese = [page for page in scored if page.data_set in CHINESE]
    show_quality(f"WCXB dev, {len(english)} pages", SIDES, english)
    show_types(english)
    behind = show_differences(english)
    print(f"\nChinese sets: {len(chinese)} pages")
    rows = []
    for number, side in enumerate(SIDES):
        sets = [[page.scores[number].f1 for page in chinese if page.data_set == name] for name in CHINESE]
        rows.append((side.name, [f"{mean(one):.3f}" for one in [itertools.chain(*sets), *sets]]))
    table("F1", ["all", *CHINESE], rows)
    difference_rows("us minus", [chinese], ["all"], clusters="page")
    group, per_word = show_characters(english)
    if limit is not None:
        return
    print()
    for number, side in enumerate(SIDES):
        name = "" if side is US else f".{slug(side)}"
        print(f"figure reading.f1.wcxb_dev{name} {mean(page.scores[number].f1 for page in english):.4f}")
        print(f"figure reading.f1.zh{name} {mean(page.scores[number].f1 for page in chinese):.4f}")
    print(f"figure reading.f1.peers_not_behind_us {behind[0]}")
    print(f"figure reading.f1.types_with_a_peer_ahead {behind[1]}")
    print(f"figure reading.chars_per_gold_word {per_word[0]:.2f}")
    if 0 in group:
        print(f"figure reading.chars_per_gold_word.rank {1 + sum(per_word[other] < per_word[0] for other in group)}")
    else:
        print(f"We have no rank: our recall is more than {RECALL_APART} below the best.")


def scores(sides: Sequence[Side], limit: int | None, *data_sets: str) -> list[Scored]:
    """Every page with every side's score. Two sides answer at a time."""
    with ThreadPoolExecutor(2) as threads:
        slowest_first = sorted(sides, key=lambda side: side.program not in ("defuddle", "readability_js"))
        asked = {side: threads.submit(answers, side, looked_at(limit, *data_sets)) for side in slowest_first}
        found = [asked[side].result() for side in sides]
    print("scoring", flush=True)
    scored = []
    for page in looked_at(limit, *data_sets):
        gold = Counter(tokens(page.gold))
        row = tuple(score(one[page.id].markdown, gold, page) for one in found)
        scored.append(Scored(page.data_set, page.page_type, page.domain, gold.total(), row))
    return scored


def score(markdown: str, gold: Counter[str], page: GoldPage) -> Score:
    words = tokens(markdown)
    joined = f" {' '.join(words)} "

    def share(snippets: tuple[str, ...]) -> float:
        return mean([f" {' '.join(tokens(snippet))} " in joined for snippet in snippets])

    return Score(*f1_of(Counter(words), gold), share(page.wanted), share(page.unwanted), len(markdown))


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    found = list(values)
    return statistics.fmean(found) if found else 0.0


def show_quality(title: str, sides: Sequence[Side], scored: list[Scored]) -> None:
    rows = []
    for number, side in enumerate(sides):
        columns = list(zip(*(page.scores[number] for page in scored), strict=True))
        rows.append((side.name, [f"{mean(values):.3f}" for values in columns[:5]]))
    table(title, ["F1", "precision", "recall", "with", "without"], rows)


def show_types(scored: list[Scored]) -> None:
    kinds = [kind for kind in TYPES if any(page.page_type == kind for page in scored)]
    rows = [("pages", [str(sum(page.page_type == kind for page in scored)) for kind in kinds])]
    for number, side in enumerate(SIDES):
        cells = [f"{mean(page.scores[number].f1 for page in scored if page.page_type == kind):.3f}" for kind in kinds]
        rows.append((side.name, cells))
    table("F1 by type", kinds, rows)


def show_differences(scored: list[Scored]) -> tuple[int, int]:
    """Print our paired differences; gives how many peers we are not ahead of over all, and on how many types one is ahead."""
    kinds = [kind for kind in TYPES if any(page.page_type == kind for page in scored)]
    groups = [scored, *([page for page in scored if page.page_type == kind] for kind in kinds)]
    marks = difference_rows("us minus", groups, ["all", *kinds])
    overall = sum(row[0] != "ahead" for row in marks)
    return overall, sum(any(row[place] == "BEHIND" for row in marks) for place in range(1, len(groups)))


def difference_rows(
    title: str, groups: list[list[Scored]], names: Sequence[str], *, clusters: str = "domain"
) -> list[list[str]]:
    """Print the mean difference to each peer with its interval, a line for each peer and group; gives the marks by peer."""
    marks: list[list[str]] = [[] for _ in PEERS]
    print(f"\n{title}: mean difference of F1 and its 95 % interval, {RESAMPLES:,} resamples over {clusters}s")
    for name, group in zip(names, groups, strict=True):
        for place, (difference, low, high) in enumerate(intervals(group, clusters)):
            mark = "ahead" if low > 0 else "BEHIND" if high < 0 else "even"
            marks[place].append(mark)
            print(f"  {name:<14} {PEERS[place].name:<18} {difference:+.3f}  [{low:+.3f}, {high:+.3f}]  {mark}")
    return marks


def intervals(group: list[Scored], clusters: str) -> list[tuple[float, float, float]]:
    """For each peer our mean difference and its 95 % interval: clusters of pages are drawn with replacement, for all alike."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(SIDES))  # pages, then the differences to each peer
    for number, page in enumerate(group):
        row = sums[page.domain if clusters == "domain" else str(number)]
        row[0] += 1
        for place in range(1, len(SIDES)):
            row[place] += page.scores[0].f1 - page.scores[place].f1
    columns = list(zip(*sums.values(), strict=True))
    draw = random.Random(SEED)
    drawn: list[list[float]] = [[] for _ in PEERS]
    for _ in range(RESAMPLES):
        chosen = draw.choices(range(len(columns[0])), k=len(columns[0]))
        count = sum([columns[0][one] for one in chosen])
        for place, values in enumerate(columns[1:]):
            drawn[place].append(sum([values[one] for one in chosen]) / count)
    found = []
    for place, means in enumerate(drawn):
        means.sort()
        found.append((sum(columns[place + 1]) / len(group), means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975)]))
    return found


def show_characters(scored: list[Scored]) -> tuple[list[int], list[float]]:
    """Print characters a gold word; gives the sides whose recall is near the best, and the characters of every side."""
    words = sum(page.words for page in scored)
    recall = [mean(page.scores[number].recall for page in scored) for number in range(len(SIDES))]
    per_word = [sum(page.scores[number].chars for page in scored) / words for number in range(len(SIDES))]
    group = [number for number in range(len(SIDES)) if recall[number] >= max(recall) - RECALL_APART]
    rows = [
        (side.name, [f"{per_word[number]:.2f}", f"{recall[number]:.3f}", "yes" if number in group else "no"])
        for number, side in enumerate(SIDES)
    ]
    table("characters to the model", ["a gold word", "recall", "near the best"], rows)
    return group, per_word


def settings(limit: int | None) -> None:
    """The part `settings`: what each way to set up a peer gives."""
    scored = scores(VARIANTS, limit, WCXB)
    show_quality(f"WCXB dev, {len(scored)} pages", VARIANTS, scored)


# ------------------------------------------------------------------------------------------------ speed


def speed(limit: int | None) -> None:
    """The part `speed`."""
    chosen = sample(min(limit or SPEED_PAGES, SPEED_PAGES))
    size = mean(len(page.html) for page in chosen) / 1e3
    times: dict[str, list[list[float]]] = {side.name: [[] for _ in chosen] for side in SIDES}
    memory: dict[str, float] = {}
    with ExitStack() as stack:
        readers = [stack.enter_context(Reader(side)) for side in SIDES]
        for page in chosen[:3]:
            for reader in readers:
                reader.read(_shipped(page))
        for number in range(ROUNDS):
            for place, page in enumerate(chosen):
                turn = (number + place) % len(readers)
                for reader in readers[turn:] + readers[:turn]:
                    times[reader.side.name][place].append(reader.read(_shipped(page)).seconds)
                if place % 25 == 24:
                    print(f"  round {number + 1} of {ROUNDS}: {place + 1} pages", flush=True)
        memory = {reader.side.name: reader.megabytes() for reader in readers}
    medians = {name: sorted(statistics.median(one) for one in rows) for name, rows in times.items()}
    rate = {name: len(found) / sum(found) for name, found in medians.items()}
    p99 = {name: found[min(len(found) - 1, int(len(found) * 0.99))] for name, found in medians.items()}
    rows = [
        (
            name,
            [
                f"{rate[name]:.1f}",
                f"{found[len(found) // 2] * 1e3:.2f}",
                f"{p99[name] * 1e3:.1f}",
                f"{found[-1] * 1e3:.1f}",
                f"{memory[name]:.0f}",
            ],
        )
        for name, found in medians.items()
    ]
    print(f"\none core, CPU time of {len(chosen)} pages of {size:.0f} KB on average, medians of {ROUNDS} rounds")
    table("", ["pages/s", "p50 ms", "p99 ms", "worst ms", "RSS MB"], rows)
    if len(chosen) < SPEED_PAGES:
        return
    print()
    for peer in PEERS:
        print(f"figure reading.speed.vs_{slug(peer)} {rate[US.name] / rate[peer.name]:.2f}")
    for peer in (TRAFILATURA, RESILIPARSE):
        print(f"figure reading.p99.vs_{slug(peer)}_p99 {p99[US.name] / p99[peer.name]:.3f}")
    print(f"figure reading.speed.pages_per_second {rate[US.name]:.1f}")


def _shipped(page: GoldPage) -> Page:
    """A page for the weights that are shipped."""
    return page_of(page)._replace(fold=None)


# ------------------------------------------------------------------------------------------------ fetch


def fetch(limit: int | None) -> None:
    """The part `fetch`."""
    count = min(limit or SPEED_PAGES, SPEED_PAGES)
    rounds, memory = fetches.measure(count)
    print(f"\nwhole fetches, {fetches.AT_ONCE} at a time, of {count} pages ({fetches.FEW} for {fetches.REFERENCE}), medians")
    rows = [(name, [*_fetched(name, found), f"{memory[name]:.0f}"]) for name, found in rounds.items()]
    table("", ["pages/s", "lowest", "highest", "p50 ms", "p99 ms", "CPU ms", "no text", "RSS MB"], rows)
    if count < SPEED_PAGES:
        return
    rate = {name: statistics.median(one.rate for one in found) for name, found in rounds.items()}
    print(f"\nfigure reading.fetch.vs_trafilatura_aiohttp {rate[fetches.US] / rate[fetches.AIOHTTP]:.2f}")
    print(f"figure reading.fetch.vs_mcp_server_fetch {rate[fetches.US] / rate[fetches.REFERENCE]:.1f}")


def _fetched(name: str, found: list[Round]) -> list[str]:
    rates = [one.rate for one in found]
    p50, p99, cpu = (statistics.median(getattr(one, member) for one in found) for member in ("p50", "p99", "cpu"))
    shown = "-" if name == fetches.REFERENCE else f"{cpu:.1f}"  # its CPU is that of processes that are gone
    few = [f"{one:.1f}" for one in (statistics.median(rates), min(rates), max(rates), p50, p99)]
    return [*few, shown, str(found[-1].empty)]


# ------------------------------------------------------------------------------------------------ cases


def cases(limit: int | None) -> None:
    """The part `cases`."""
    from tests.documents.markdown_cases import CASES, failures, page_of_case

    chosen = CASES[:limit]
    failed: dict[str, list[str]] = {}
    with ExitStack() as stack:
        for side in SIDES:
            reader = stack.enter_context(Reader(WITH_LINKS.get(side, side)))
            asked = [(case, reader.read(Page(case.name, page_of_case(case).encode(), case.url))) for case in chosen]
            failed[side.name] = [case.name for case, answer in asked if failures(case, answer.markdown)]
    groups = list(dict.fromkeys(case.group for case in chosen))
    rows = [("cases", [str(len(chosen)), *(str(sum(case.group == group for case in chosen)) for group in groups)])]
    for name, missed in failed.items():
        passed = [case for case in chosen if case.name not in missed]
        rows.append((name, [str(len(passed)), *(str(sum(case.group == group for case in passed)) for group in groups)]))
    table("cases passed", ["all", *groups], rows, width=7)
    for name, missed in failed.items():
        print(f"\n{name} fails: {', '.join(missed) or 'none'}")
    if limit is not None:
        return
    print()
    for side in SIDES:
        name = "" if side is US else f".{slug(side)}"
        print(f"figure reading.markdown_cases{name} {len(chosen) - len(failed[side.name])} of {len(chosen)}")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
