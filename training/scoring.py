"""Real pages with gold text, and how an answer is scored against it: for training and for measuring, never shipped.

The pages lie beside the checkout (`shared/pages`, or under WEBSEAM_SHARED) as archives, which are unpacked once into
`.cache/pages`: WCXB's development split (seven types of pages, English; annotations CC-BY-4.0), 69 Chinese articles, and
magic-html's articles and forums (annotations Apache-2.0).

A score is what WCXB's script computes: the F1 of two multisets of lower-cased words. Two things are added, on both sides alike:
Markdown's marks, link targets and pictures are taken away first, and each CJK character is a word (their scripts do not write
spaces, so that a whole clause would be one word). Where the gold text has no words, an empty answer is right, any other wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "pages"
ARCHIVES = ("wcxb-dev.tar.xz", "chinese.tar.xz")
WCXB, ZH69, MAGIC_ARTICLE, MAGIC_FORUM = "wcxb_dev", "zh69", "magic_article", "magic_forum"
DATA_SETS = (WCXB, ZH69, MAGIC_ARTICLE, MAGIC_FORUM)
FOLDS = 5

# ------------------------------------------------------------------------------------------------ scoring

_TARGET = r"\((?:\\.|[^()\\\n]|\((?:\\.|[^()\\\n])*\))*\)"
_FENCE = re.compile(r"^([ \t>]*)(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_PICTURE = re.compile(r"!\[(?:\\.|[^\[\]\\])*\]" + _TARGET)
_LINK_END = re.compile(r"(?<!\\)\]" + _TARGET)
_DEFINITION = re.compile(r"^[ \t>]*\[[^\]\n^][^\]\n]{0,100}\]:[ \t]*\S+(?:[ \t]+[\"'(][^\n]*)?[ \t]*$", re.MULTILINE)
_AUTOLINK = re.compile(r"(?<!\\)<(?:https?|mailto):[^<>\s]*>")
# Tags that Markdown has no mark for, and that writers of it leave in.
_TAG = re.compile(
    r"(?<!\\)</?(?:a|br|p|div|span|sup|sub|u|mark|kbd|table|thead|tbody|tfoot|tr|td|th|colgroup|col|caption|ul|ol|li|dl|dt|dd|pre|code|"
    r"blockquote|h[1-6]|b|i|em|strong|details|summary|iframe|video|audio|source|img|math)(?:\s[^<>]*)?/?>"
)
_ORDERED = re.compile(r"^([ \t>]*(?:[-*+] )?)\d{1,9}[.)](?=\s)", re.MULTILINE)
_UNDERSCORES = re.compile(r"(?<!\w)_+|_+(?!\w)")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


def plain(markdown: str) -> str:
    """The text of `markdown` without its marks, link targets and pictures."""
    text = _FENCE.sub(r"\1", markdown)
    text = _DEFINITION.sub(" ", text)  # before a link that begins a line, with a colon behind it, looks like one
    text = _PICTURE.sub(" ", text)
    text = _LINK_END.sub("]", text)
    text = _AUTOLINK.sub(" ", text)
    text = _TAG.sub(" ", text)
    text = _ORDERED.sub(r"\1", text)
    text = _ESCAPE.sub("", text)
    return _UNDERSCORES.sub("", text)


def tokens(markdown: str) -> list[str]:
    """The words of `markdown`, lower-cased, in order; each CJK character is one."""
    return words(unicodedata.normalize("NFC", plain(markdown)))


def words(text: str) -> list[str]:
    """The words of plain text, lower-cased, in order; each CJK character is one."""
    return _TOKEN.findall(text.lower())


def f1(predicted: str, gold: str) -> tuple[float, float, float]:
    """F1, precision and recall of an answer, each from 0 to 1; both texts may be Markdown."""
    return f1_of(Counter(tokens(predicted)), Counter(tokens(gold)))


def f1_of(predicted: Counter[str], gold: Counter[str]) -> tuple[float, float, float]:
    """As `f1`, for words that were counted already."""
    found, wanted = predicted.total(), gold.total()
    if not wanted:
        return (0.0, 0.0, 0.0) if found else (1.0, 1.0, 1.0)
    shared = (predicted & gold).total()
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / found, shared / wanted
    return 2 * precision * recall / (precision + recall), precision, recall


# ------------------------------------------------------------------------------------------------ domains

# Second labels under which a country registers names ("example.co.uk"): enough to keep one owner's pages together.
_SECOND = frozenset({"ac", "co", "com", "edu", "gob", "gov", "go", "gv", "id", "ne", "net", "nom", "or", "org", "sch"})


def domain(url: str) -> str:
    """The registrable domain of a URL, near enough: its last two labels, or three under a country's "co" and the like."""
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0].lower().strip(".")
    labels = host.split(".")
    if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND:
        return ".".join(labels[-3:])
    return ".".join(labels[-2:])


def folds(domain: str) -> int:
    """The fold of a domain, 0 to `FOLDS` - 1: pages of one domain are never on both sides of a cross-validation."""
    return int(hashlib.md5(domain.encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


# ------------------------------------------------------------------------------------------------ pages


class GoldPage(NamedTuple):
    """One page. `id` is its own among all data sets; `domain` is what `folds` takes (the id, when the set gives no URL).

    `wanted` and `unwanted` are WCXB's snippets: what an answer must hold, and what it must not.
    """

    id: str
    data_set: str
    url: str
    domain: str
    page_type: str
    html: bytes
    gold: str
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()

    @property
    def fold(self) -> int:
        """The fold whose weights never saw this page's domain."""
        return folds(self.domain)


class NoPagesError(Exception):
    """The archives are not there. The message says where they should be."""


def pages(*data_sets: str) -> Iterator[GoldPage]:
    """The pages of `data_sets` (all of `DATA_SETS` when none is named), in a fixed order, one in memory at a time.

    Raises NoPagesError when the archives are not beside the checkout.
    """
    folder = unpacked()
    readers = {WCXB: _wcxb, ZH69: _zh69, MAGIC_ARTICLE: _magic, MAGIC_FORUM: _magic}
    for name in data_sets or DATA_SETS:
        yield from readers[name](folder, name)


def unpacked() -> Path:
    """The folder with the unpacked archives, unpacking what is not there. Raises NoPagesError."""
    shared = Path(os.environ.get("WEBSEAM_SHARED", ROOT.parent / "shared")) / "pages"
    for name in ARCHIVES:
        archive = shared / name
        target = CACHE / name.partition(".")[0]
        if target.is_dir():
            continue
        if not archive.is_file():
            raise NoPagesError(
                f"There is no {archive}: put the pages there, or set WEBSEAM_SHARED to the folder that holds pages/."
            )
        print(f"unpacking {name} into {CACHE}", flush=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=target.name, dir=CACHE))  # a run that is killed leaves no half of an archive
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        try:
            scratch.rename(target)
        except OSError:  # another run was faster
            shutil.rmtree(scratch)
            if not target.is_dir():
                raise
    return CACHE


def _wcxb(folder: Path, name: str) -> Iterator[GoldPage]:
    root = folder / "wcxb-dev" / "wcxb-dev"
    for path in sorted((root / "gold").glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        truth = data["ground_truth"]
        kind = data["_internal"]["page_type"]["primary"]
        url = data.get("url") or truth.get("url") or ""
        yield GoldPage(
            id=f"{name}/{path.stem}",
            data_set=name,
            url=url or "https://example.com/",
            domain=domain(url) or f"{name}/{path.stem}",
            page_type="collection" if kind == "category" else kind,
            html=(root / "html" / f"{path.stem}.html").read_bytes(),
            gold=truth.get("main_content") or "",  # two pages have none: nothing is right there, for anybody
            wanted=tuple(truth.get("with") or ()),
            unwanted=tuple(truth.get("without") or ()),
        )


def _zh69(folder: Path, name: str) -> Iterator[GoldPage]:
    root = folder / "chinese" / "zh"
    for path in sorted((root / "gold").glob("*.txt")):
        page = f"{name}/{path.stem}"
        html = (root / "html" / f"{path.stem}.html").read_bytes()
        yield GoldPage(page, name, "https://example.com/", page, "article", html, path.read_text(encoding="utf-8"))


def _magic(folder: Path, name: str) -> Iterator[GoldPage]:
    kind = name.rpartition("_")[2]
    root = folder / "chinese" / "magic" / kind
    for key, entry in sorted(json.loads((root / "base.json").read_text(encoding="utf-8")).items()):
        html = (root / "htmls" / f"{key}.html").read_bytes()
        yield GoldPage(f"{name}/{key}", name, entry["url"], domain(entry["url"]), kind, html, entry["content"])
