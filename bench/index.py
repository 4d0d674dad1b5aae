"""The private index against SQLite FTS5 on SciFact: ranking, indexing and search, both sides in one run.

SciFact (https://github.com/allenai/scifact, as the BEIR benchmark splits it) is 5,183 abstracts and 300 judged claims. It lies
beside the checkout (`shared/retrieval/scifact.tar.xz`, or under WEBSEAM_SHARED). Both sides index title and text, answer each
claim with ten hits of title, address and snippet, and are judged by nDCG@10. FTS5 stems with `porter`; it has no stop words,
so its query is every word of the claim, joined by OR.
"""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
HITS = 10
LEAST_NDCG = 0.68


class Data(NamedTuple):
    """The collection: `judged` is query id -> document id -> relevance."""

    documents: list[dict[str, str]]
    queries: list[dict[str, str]]
    judged: dict[str, dict[str, int]]


class Figures(NamedTuple):
    """What one side did."""

    name: str
    ndcg: float
    documents_per_second: float
    p50: float  # milliseconds
    p99: float
    megabytes: float


def load(archive: Path) -> Data:
    """The collection in `archive`."""
    files: dict[str, str] = {}
    with tarfile.open(archive) as tar:
        for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
            member = tar.extractfile(f"scifact/{name}")
            if member is None:
                raise SystemExit(f"{archive} holds no scifact/{name}: fetch it again.")
            files[name] = member.read().decode()
    judged: dict[str, dict[str, int]] = {}
    for line in files["qrels.tsv"].splitlines():
        query, document, relevance = line.split()
        judged.setdefault(query, {})[document] = int(relevance)
    documents = [json.loads(line) for line in files["corpus.jsonl"].splitlines()]
    queries = [query for line in files["queries.jsonl"].splitlines() if (query := json.loads(line))["id"] in judged]
    return Data(documents, queries, judged)


def ndcg(ranked: list[str], judged: dict[str, int]) -> float:
    """nDCG of one ranking, cut at `HITS`."""
    gained = sum(judged.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(ranked[:HITS]))
    ideal = sum(relevance / math.log2(rank + 2) for rank, relevance in enumerate(sorted(judged.values(), reverse=True)[:HITS]))
    return gained / ideal


def measure(
    name: str, data: Data, index: Callable[[], None], search: Callable[[str], list[str]], size: Callable[[], int]
) -> Figures:
    """Index the documents, then ask every query twice: once for the ranking (and the caches), once for the time."""
    began = time.perf_counter()
    index()
    indexing = time.perf_counter() - began
    total = sum(ndcg(search(query["text"]), data.judged[query["id"]]) for query in data.queries)
    times = []
    for query in data.queries:
        began = time.perf_counter()
        search(query["text"])
        times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return Figures(
        name,
        total / len(data.queries),
        len(data.documents) / indexing,
        times[len(times) // 2],
        times[min(len(times) - 1, math.ceil(len(times) * 0.99) - 1)],
        size() / 1e6,
    )


def webseam(data: Data, directory: Path) -> Figures:
    """Our side, through `Corpus` as the engine uses it."""
    from webseam.index.corpus import Corpus, StoredDocument

    corpus = Corpus(directory / "index")

    def index() -> None:
        with corpus.writer("bench") as writer:
            for document in data.documents:
                url = f"https://scifact.example/{document['id']}"
                writer.put(StoredDocument(url, "scifact", document["title"], document["text"], document["id"]))

    def search(query: str) -> list[str]:
        return [hit.url.rpartition("/")[2] for hit in corpus.search(query, HITS)]

    def size() -> int:
        return sum(path.stat().st_size for path in corpus.directory.rglob("*") if path.is_file())

    return measure("webseam", data, index, search, size)


def fts5(data: Data, directory: Path) -> Figures:
    """The peer."""
    path = directory / "fts5.db"
    database = sqlite3.connect(path)
    database.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, title, text, tokenize = 'porter unicode61')")

    def index() -> None:
        rows = [(document["id"], document["title"], document["text"]) for document in data.documents]
        with database:
            database.executemany("INSERT INTO documents VALUES (?, ?, ?)", rows)

    def search(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows: list[Any] = database.execute(
            "SELECT id, title, snippet(documents, 2, '', '', '...', 60) FROM documents WHERE documents MATCH ? "
            "ORDER BY bm25(documents) LIMIT ?",
            (words, HITS),
        ).fetchall()
        return [row[0] for row in rows]

    figures = measure("sqlite fts5", data, index, search, lambda: path.stat().st_size)
    database.close()
    return figures


def main() -> int:
    """Run both sides; 0 when our ranking is as good as promised."""
    shared = Path(os.environ.get("WEBSEAM_SHARED", ROOT.parent / "shared"))
    archive = shared / "retrieval" / "scifact.tar.xz"
    if not archive.is_file():
        print(f"bench index: there is no {archive}: put SciFact there, or set WEBSEAM_SHARED.", file=sys.stderr)
        return 1
    data = load(archive)
    print(f"SciFact: {len(data.documents)} documents, {len(data.queries)} queries, {HITS} hits each")
    print(f"{'':<12} {'nDCG@10':>8} {'documents/s':>12} {'query p50':>10} {'p99':>10} {'on disk':>9}")
    with tempfile.TemporaryDirectory() as directory:
        ours, peer = webseam(data, Path(directory)), fts5(data, Path(directory))
    for side in (ours, peer):
        print(
            f"{side.name:<12} {side.ndcg:>8.4f} {side.documents_per_second:>12.0f} {side.p50:>7.2f} ms {side.p99:>7.2f} ms "
            f"{side.megabytes:>6.1f} MB"
        )
    print(f"figure index.ndcg10.scifact {ours.ndcg:.4f}")
    print(f"figure index.query_p50.vs_fts5 {ours.p50 / peer.p50:.3f}")
    if ours.ndcg < LEAST_NDCG:
        print(f"bench index: nDCG@10 is {ours.ndcg:.4f}, below the {LEAST_NDCG} that is promised.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
