"""The readers that `bench/reading.py` compares: ours and six others, each a process that lives long and is asked page by page.

How the others are set up, each so that it does best. What their manuals recommend for Markdown was tried with and without what
they offer beside (`VARIANTS`; `python bench/reading.py --only settings` measures them anew), and the best F1 over WCXB's
development pages was taken:

* trafilatura: Markdown, tables (its default), neither links nor comments: .822 (with links .821, with comments .818, with both
  .816). Where Markdown itself is judged it keeps links and pictures.
* resiliparse: main content with its formatting and comments: .776 (without comments .771, with links .741). It writes no
  Markdown: what it gives is text with bullets. Where Markdown is judged it keeps links.
* readability-lxml: the summary, by markdownify, headings as ATX.
* html-to-markdown: preprocessing `aggressive`, links against the page's address, no front matter.
* defuddle: on linkedom, Markdown, no requests of its own (`useAsync: false`).
* Readability.js: on linkedom, by turndown with its GFM plugin, headings as ATX, code between fences.

All of them get the page's text already decoded, by our decoder and at no cost to them; we get its bytes and pay for decoding.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
from scripts import bench_peers
from scripts.peers import node, python_of

from webseam.documents.decode import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Self

    from training.scoring import GoldPage

HERE = Path(__file__).resolve().parent / "reading"
CACHE = bench_peers.ROOT / ".cache" / "reading"
SECONDS = 60
"""For one page: a reader that takes longer is ended, and its answer is empty."""


class Side(NamedTuple):
    """One reader: `program` is the name by which extract.py or extract.mjs knows it, "" for ours."""

    name: str
    program: str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def command(self) -> list[str]:
        """What starts it."""
        if not self.program:
            return [sys.executable, str(HERE / "ours.py")]
        settings = json.dumps(dict(self.settings))
        if self.program in ("defuddle", "readability_js"):
            return [str(node()), str(HERE / "extract.mjs"), self.program, settings]
        return [str(python_of(bench_peers.READERS)), str(HERE / "extract.py"), self.program, settings]


def _side(name: str, program: str, **settings: Any) -> Side:
    return Side(name, program, tuple(settings.items()))


US = Side("webseam")
TRAFILATURA = _side("trafilatura", "trafilatura", include_comments=False)
RESILIPARSE = _side("resiliparse", "resiliparse", preserve_formatting=True, comments=True)
READABILITY_LXML = _side("readability-lxml", "readability_lxml")
HTML_TO_MARKDOWN = _side("html-to-markdown", "html_to_markdown")
DEFUDDLE = _side("defuddle", "defuddle")
READABILITY_JS = _side("Readability.js", "readability_js")
PEERS = (TRAFILATURA, RESILIPARSE, READABILITY_LXML, HTML_TO_MARKDOWN, DEFUDDLE, READABILITY_JS)
SIDES = (US, *PEERS)

WITH_LINKS = {
    TRAFILATURA: _side("trafilatura", "trafilatura", include_comments=False, include_links=True, include_images=True),
    RESILIPARSE: _side("resiliparse", "resiliparse", preserve_formatting=True, comments=True, links=True),
}
"""What leaves links out for the sake of its F1 keeps them where links are looked for."""

VARIANTS = (
    TRAFILATURA,
    _side("trafilatura, links", "trafilatura", include_comments=False, include_links=True),
    _side("trafilatura, comments", "trafilatura", include_comments=True),
    _side("trafilatura, both", "trafilatura", include_comments=True, include_links=True),
    RESILIPARSE,
    _side("resiliparse, no comments", "resiliparse", preserve_formatting=True, comments=False),
    _side("resiliparse, links", "resiliparse", preserve_formatting=True, comments=True, links=True),
)


class Answer(NamedTuple):
    """What a reader made of a page: Markdown ("" with an `error`), and the CPU seconds that it took."""

    markdown: str
    error: str
    seconds: float


class Page(NamedTuple):
    """What a reader is given. `fold` is the page's, when our answer must come from weights that never saw its domain."""

    id: str
    html: bytes
    url: str
    fold: int | None = None


def page_of(page: GoldPage) -> Page:
    """A page as readers are given it."""
    return Page(page.id, page.html, page.url, page.fold)


class Reader:
    """A side's process, started when it is first asked and again when it was ended. A context manager."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.versions = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end()

    def read(self, page: Page) -> Answer:
        """What it makes of a page."""
        message: dict[str, Any] = {"url": page.url}
        if self.side.program:
            message["html"] = decode(page.html, markup=True).text
        else:
            message |= {"data": base64.b64encode(page.html).decode(), "fold": page.fold}
        answer = self._ask(json.dumps(message).encode() + b"\n")
        if answer is None:
            return Answer("", f"it did not answer within {SECONDS} s, or left", float(SECONDS))
        return Answer(answer["markdown"], answer["error"], answer["seconds"])

    def megabytes(self) -> float:
        """Resident memory."""
        return float(psutil.Process(self._start().pid).memory_info().rss / 1e6)

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = self.side.command
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
            assert self._process.stdout is not None
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit(f"{self.side.name} did not start: run {' '.join(command)} to see why.")
            self.versions = json.loads(line)["versions"]
        return self._process

    def _ask(self, line: bytes) -> Any:
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        end = threading.Timer(SECONDS, process.kill)
        end.daemon = True
        end.start()
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:  # it left
            answer = b""
        finally:
            end.cancel()
        if not answer.endswith(b"\n"):
            self._end()
            return None
        return json.loads(answer)

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def answers(side: Side, pages: Iterable[GoldPage], *, every: int = 250) -> dict[str, Answer]:
    """What a side makes of every page, by the page's id; says how far it is after `every` so many.

    What the others answered is kept in `.cache/reading` by their versions, settings and our decoder's text, and asked anew only
    when one of these changed; our own answers never are.
    """
    found: dict[str, Answer] = {}
    with Reader(side) as reader:
        kept = _Kept(side, reader.versions)
        for number, page in enumerate(pages, start=1):
            mark = f"{page.id} {zlib.crc32(page.html)}"
            answer = kept.answers.get(mark)
            if answer is None:
                answer = reader.read(page_of(page))
                kept.add(mark, answer)
            found[page.id] = answer
            if number % every == 0:
                print(f"  {side.name}: {number} pages", flush=True)
        kept.close()
    failures = [answer.error for answer in found.values() if answer.error]
    print(f"  {side.name} ({reader.versions}): {len(found)} pages, {len(failures)} without an answer", flush=True)
    return found


class _Kept:
    """A file of answers, a line each, that grows as they come: a run that was ended goes on where it was."""

    def __init__(self, side: Side, versions: str) -> None:
        self.answers: Mapping[str, Answer] = {}
        self._file = None
        if not side.program:
            return
        source = Path(side.command[1]).read_bytes()
        key = hashlib.sha256(repr((versions, side.program, side.settings)).encode() + source).hexdigest()[:16]
        path = CACHE / f"{side.program}-{key}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        self.answers = {mark: Answer(*answer) for mark, answer in map(json.loads, whole.splitlines())}
        self._file = path.open("ab", buffering=0)
        self._file.truncate(len(whole))

    def add(self, mark: str, answer: Answer) -> None:
        """Keep an answer."""
        if self._file is not None:
            self._file.write(json.dumps([mark, answer]).encode() + b"\n")

    def close(self) -> None:
        """No more are added."""
        if self._file is not None:
            self._file.close()
