"""From a source into the index: what changed and nothing else."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from webseam.config import LIMITS
from webseam.errors import CorpusError, DocumentError, WorkerError
from webseam.index.corpus import Corpus
from webseam.index.indexing import Progress, Report, Source, add, rebuild, remove
from webseam.index.looks import FolderLook

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[Callable[..., Any]], Any]


def no_door() -> Any:
    raise AssertionError("a folder needs no door")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three documents."""
    made = tmp_path / "notes"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("# Alpha\n\nThe first words.", encoding="utf-8")
    (made / "b.txt").write_text("Beta words of plain text.", encoding="utf-8")
    (made / "sub" / "c.html").write_text("<title>Gamma</title><p>Third words, in HTML, of a paragraph.</p>", encoding="utf-8")
    return made


@pytest.fixture
def add_folder(corpus: Corpus, folder: Path, parse: Any, parse_sitemap: Any) -> Callable[..., Report]:
    """Indexes the folder."""

    def add_folder(**options: Any) -> Report:
        source = Source.of(str(folder))
        return asyncio.run(
            add(corpus, source, door_for=no_door, parse=options.pop("parse", parse), parse_sitemap=parse_sitemap, **options)
        )

    return add_folder


@pytest.fixture
def add_site(corpus: Corpus, site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any) -> Callable[..., Report]:
    """Indexes the site."""

    def add_site(start: str = "/", **options: Any) -> Report:
        source = Source.of(site.url + start, name="site")
        report: Report = through_the_door(
            lambda door_for: add(corpus, source, door_for=door_for, parse=parse, parse_sitemap=parse_sitemap, **options)
        )
        return report

    return add_site


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


# ------------------------------------------------------------------------------------------------ folders


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_name_is_not_the_current_folder(empty: str) -> None:
    with pytest.raises(CorpusError, match="empty"):
        Source.of(empty)


def test_a_folder_is_indexed_and_searched(corpus: Corpus, add_folder: Any) -> None:
    report = add_folder()
    assert counts(report) == (3, 0, 0, 0)
    assert report.complete
    hits = {hit.url: hit.title for hit in corpus.search("words", 10)}
    assert hits == {"index://notes/a.md": "Alpha", "index://notes/b.txt": "b", "index://notes/sub/c.html": "Gamma"}


def test_a_second_run_writes_what_changed_and_nothing_else(corpus: Corpus, folder: Path, add_folder: Any) -> None:
    add_folder()
    before = {path: path.stat().st_mtime_ns for path in corpus.directory.rglob("*.store")}
    parsed: list[str] = []

    async def parse_nothing(data: bytes, url: str, content_type: str) -> Any:
        parsed.append(url)
        raise DocumentError("no")

    assert counts(add_folder(parse=parse_nothing)) == (0, 0, 3, 0)
    assert parsed == []
    assert {path: path.stat().st_mtime_ns for path in corpus.directory.rglob("*.store")} == before, "nothing is written"

    (folder / "a.md").write_text("# Alpha\n\nThe first letters.", encoding="utf-8")
    (folder / "b.txt").unlink()
    (folder / "d.md").write_text("Delta words.", encoding="utf-8")
    assert counts(add_folder()) == (1, 1, 1, 1)
    assert {hit.url for hit in corpus.search("words", 10)} == {"index://notes/d.md", "index://notes/sub/c.html"}
    assert corpus.count() == 3


def test_anew_writes_everything_again(corpus: Corpus, add_folder: Any) -> None:
    add_folder()
    acknowledged: list[str] = []
    report = add_folder(anew=True, progress=lambda step: acknowledged.extend(step.acknowledged))
    assert counts(report) == (0, 0, 0, 0)
    assert report.rewritten == 3
    assert report.sentence() == "notes: 0 added, 0 changed, 3 rewritten, 0 removed, 0 failed"
    assert len(acknowledged) == 3
    assert corpus.count() == 3


def test_a_file_that_cannot_be_read_this_time_is_kept_and_reported(
    corpus: Corpus, folder: Path, add_folder: Any, parse: Any
) -> None:
    add_folder()
    (folder / "a.md").write_text("changed", encoding="utf-8")
    (folder / "b.txt").write_text("changed too", encoding="utf-8")

    async def failing(data: bytes, url: str, content_type: str) -> Any:
        if url.endswith("a.md"):
            raise WorkerError("The document took too long.\nmore", kind="timeout")
        return await parse(data, url, content_type)

    report = add_folder(parse=failing)
    assert report.failed == [("index://notes/a.md", "The document took too long.")]
    assert counts(report) == (0, 1, 1, 0)
    assert [hit.url for hit in corpus.search("alpha", 5)] == ["index://notes/a.md"]


def test_what_is_left_out_of_a_folder_is_told_and_is_no_failure(corpus: Corpus, folder: Path, add_folder: Any) -> None:
    (folder / "empty.md").write_text("", encoding="utf-8")
    (folder / "sub" / "blank.txt").write_text(" \n\n", encoding="utf-8")
    (folder / "only-metadata.md").write_text("---\ntitle: Nothing yet\n---\n", encoding="utf-8")
    (folder / "paper.ps").write_bytes(b"%!PS")
    steps: list[Progress] = []
    report = add_folder(progress=steps.append)
    assert report.left_out == {"of another type": 1, "empty": 3}
    assert (report.failed, report.complete) == ([], True)
    assert report.sentence() == (
        "notes: 3 added, 0 changed, 0 unchanged, 0 removed, 0 failed; left out: 1 of another type, 3 empty"
    )
    assert steps[-1].seen == steps[-1].total == 3
    (folder / "a.md").write_text("", encoding="utf-8")
    assert counts(add_folder()) == (0, 0, 2, 1), "what was emptied is in the index no longer"


def test_documents_in_a_folder_are_indexed(corpus: Corpus, folder: Path, add_folder: Any) -> None:
    files = Path(__file__).parent.parent / "documents" / "files"
    for name in ("report.pdf", "report.docx", "sales.xlsx", "deck.pptx", "letter.odt"):
        (folder / name).write_bytes((files / name).read_bytes())
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7")
    report = add_folder()
    assert [url for url, _ in report.failed] == ["index://notes/broken.pdf"]
    assert "is damaged or cut off" in report.failed[0][1]
    assert corpus.search("hyphenated", 5)[0].title == "The Yearly Report"
    assert corpus.search("remark", 5)[0].url == "index://notes/sales.xlsx"


def test_a_report_is_data_too(corpus: Corpus, folder: Path, add_folder: Any, parse: Any) -> None:
    (folder / "b.txt").write_text("", encoding="utf-8")

    async def failing(data: bytes, url: str, content_type: str) -> Any:
        if url.endswith("a.md"):
            raise WorkerError("The document took too long.", kind="timeout")
        return await parse(data, url, content_type)

    assert add_folder(parse=failing).as_data() == {
        "source": "notes",
        "added": 1,
        "changed": 0,
        "unchanged": 0,
        "rewritten": 0,
        "removed": 0,
        "complete": True,
        "note": "",
        "failed": [{"url": "index://notes/a.md", "why": "The document took too long."}],
        "left_out": {"empty": 1},
        "against_robots": 0,
    }


def test_front_matter_is_neither_found_nor_shown_but_gives_the_title(corpus: Corpus, folder: Path, add_folder: Any) -> None:
    (folder / "post.md").write_text("---\ntitle: 'The lamp'\ntags: [quagga]\n---\n# Heading\n\nA keeper.", encoding="utf-8")
    add_folder()
    [hit] = corpus.search("keeper", 5)
    assert (hit.title, hit.snippet) == ("The lamp", "Heading: A keeper.")
    assert corpus.search("quagga", 5) == []


def test_a_folder_that_is_gone_or_empty_removes_nothing(
    corpus: Corpus, folder: Path, add_folder: Any, parse: Any, parse_sitemap: Any
) -> None:
    source = Source.of(str(folder))
    add_folder()
    for path in folder.rglob("*"):
        if path.is_file():
            path.unlink()
    forget = "if it was indexed before, `webseam index remove notes` forgets it"
    with pytest.raises(CorpusError, match=f"nothing in .*; {forget}. Nothing was removed") as caught:
        add_folder()
    assert caught.value.kind == "no_source"
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(CorpusError, match=f"does not exist .*; {forget}") as caught:
        asyncio.run(add(corpus, source, door_for=no_door, parse=parse, parse_sitemap=parse_sitemap))
    assert caught.value.kind == "no_source"
    assert corpus.count() == 3


def test_a_document_is_acknowledged_by_the_commit_that_holds_it(corpus: Corpus, folder: Path, add_folder: Any) -> None:
    for number in range(LIMITS.index_commit_documents + 20):
        (folder / f"{number:04}.txt").write_text(f"words {number}")
    acknowledged: set[str] = set()
    steps: list[Progress] = []

    def progress(step: Progress) -> None:
        steps.append(step)
        if step.acknowledged:
            acknowledged.update(step.acknowledged)
            assert acknowledged <= set(corpus.fingerprints("notes")), "what is acknowledged is there"

    report = add_folder(progress=progress)
    assert len(acknowledged) == report.added == LIMITS.index_commit_documents + 23
    assert len([step for step in steps if step.acknowledged]) >= 2
    assert steps[-1].seen == steps[-1].total == report.added
    assert [step.seen for step in steps] == sorted(step.seen for step in steps)


def test_a_cancelled_job_lets_go_of_the_index_and_keeps_what_it_acknowledged(
    corpus: Corpus, folder: Path, parse: Any, parse_sitemap: Any
) -> None:
    for number in range(LIMITS.index_commit_documents + 50):
        (folder / f"{number:04}.txt").write_text(f"words {number}")
    acknowledged: list[str] = []

    async def main() -> None:
        first = asyncio.Event()

        def progress(step: Progress) -> None:
            if step.acknowledged:
                acknowledged.extend(step.acknowledged)
                first.set()

        task = asyncio.create_task(
            add(corpus, Source.of(str(folder)), door_for=no_door, parse=parse, parse_sitemap=parse_sitemap, progress=progress)
        )
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert set(acknowledged) <= set(corpus.fingerprints("notes"))
    with corpus.writer("afterwards") as writer:
        writer.remove_source("notes")
    assert corpus.count() == 0


def test_the_event_loop_goes_on_while_documents_are_written(
    corpus: Corpus, folder: Path, parse: Any, parse_sitemap: Any
) -> None:
    (folder / "long.txt").write_text("words and more words " * 100_000)

    async def main() -> int:
        task = asyncio.create_task(
            add(corpus, Source.of(str(folder)), door_for=no_door, parse=parse, parse_sitemap=parse_sitemap)
        )
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        await task
        return turns

    assert asyncio.run(main()) > 100


def test_who_comes_second_is_told_who_writes(corpus: Corpus, add_folder: Any) -> None:
    with corpus.writer("index add handbook"), pytest.raises(CorpusError, match="index add handbook") as caught:
        add_folder()
    assert caught.value.kind == "busy"


# ------------------------------------------------------------------------------------------------ sites


def test_a_site_is_indexed_and_a_second_run_is_incremental(corpus: Corpus, site: Any, add_site: Any) -> None:
    site.page("/", links=("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.page(path)
    assert counts(add_site()) == (4, 0, 0, 0)
    assert counts(add_site()) == (0, 0, 4, 0)
    site.page("/a", "It says something else now, about wombats and their burrows.")
    site.put("/b", status=404)
    site.page("/", links=("/a", "/b", "/d"))
    site.page("/d")
    report = add_site()
    assert counts(report) == (1, 2, 0, 2)
    assert report.complete
    assert [hit.url for hit in corpus.search("wombat", 5)] == [site.url + "/a"]
    assert set(corpus.fingerprints("site")) == {site.url + path for path in ("/", "/a", "/d")}


def test_pages_that_fail_this_time_are_kept_and_so_is_what_they_may_lead_to(corpus: Corpus, site: Any, add_site: Any) -> None:
    site.page("/", links=("/hub", "/old"))
    site.page("/hub", links=("/below",))
    site.page("/below")
    site.page("/old")
    add_site()
    site.page("/", links=("/hub",))
    site.put("/hub", status=500)
    report = add_site()
    assert report.failed == [(site.url + "/hub", "it answered with status 500")]
    assert not report.complete
    assert "/hub could not be read" in report.note
    assert counts(report) == (0, 1, 0, 0), "the page that lost its link may still be linked from what could not be read"
    site.page("/hub", links=("/below",))
    assert counts(add_site()) == (0, 0, 3, 1)


def test_a_page_known_to_be_gone_goes_even_when_others_failed(corpus: Corpus, site: Any, add_site: Any) -> None:
    site.page("/", links=("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.page(path)
    add_site()
    site.put("/a", status=500)
    site.put("/b", status=410)
    site.page("/c", head='<meta name="robots" content="noindex">')
    assert counts(add_site()) == (0, 0, 1, 2)
    assert set(corpus.fingerprints("site")) == {site.url + "/", site.url + "/a"}


def test_a_crawl_that_reaches_its_limit_removes_nothing(corpus: Corpus, site: Any, add_site: Any) -> None:
    site.page("/", links=tuple(f"/{number}" for number in range(6)))
    for number in range(6):
        site.page(f"/{number}")
    assert add_site(limit=5).added == 5
    site.page("/", links=tuple(f"/{number}" for number in range(5, -1, -1)))
    report = add_site(limit=3)
    assert report.removed == 0
    assert "--limit" in report.note
    assert corpus.count() == 7
    assert add_site().removed == 0


def test_a_site_that_cannot_be_begun_removes_nothing(corpus: Corpus, site: Any, add_site: Any) -> None:
    site.page("/", links=("/a",))
    site.page("/a")
    add_site()
    site.put("/", status=503)
    site.answers["/"].headers["Retry-After"] = "0"
    with pytest.raises(CorpusError, match="status 503"):
        add_site()
    assert corpus.count() == 2
    with corpus.writer("free again"):
        pass


def test_the_report_of_a_site_tells_what_was_left_out(site: Any, add_site: Any) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    site.page("/", links=("/private/a", "/missing", "/gone"))
    site.put("/gone", status=410)
    report = add_site()
    assert report.left_out == {"refused by robots.txt": 1, "not found": 2}
    assert report.sentence() == (
        "site: 1 added, 0 changed, 0 unchanged, 0 removed, 0 failed; left out: 1 refused by robots.txt, 2 not found"
    )


# ------------------------------------------------------------------------------------------------ rebuild, remove, sources


def test_a_damaged_index_is_rebuilt_from_its_sources(
    corpus: Corpus, folder: Path, site: Any, through_the_door: Run, parse: Any, parse_sitemap: Any
) -> None:
    site.page("/", "Wombats live here and they dig.")
    sources = [
        Source.of(str(folder)),
        Source.of(site.url, name="site"),
        replace(Source.of(str(folder), name="lost"), location="/no/where"),
    ]

    def run() -> list[Report]:
        reports: list[Report] = through_the_door(
            lambda door_for: rebuild(corpus, sources, door_for=door_for, parse=parse, parse_sitemap=parse_sitemap)
        )
        return reports

    first = run()
    assert [counts(report) for report in first] == [(3, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 0)]
    assert "does not exist" in first[2].note
    for path in corpus.directory.rglob("*.idx"):
        garbled = path.with_suffix(".garbled")
        garbled.write_bytes(path.read_bytes()[::-1])
        garbled.replace(path)
    with pytest.raises(CorpusError, match="webseam index rebuild"):
        Corpus(corpus.directory).count()
    assert [counts(report)[0] for report in run()] == [3, 1, 0]
    assert corpus.count() == 4
    assert [hit.url for hit in corpus.search("wombats", 5)] == [site.url + "/"]


def test_rebuilding_a_sound_index_keeps_what_cannot_be_read_now_and_drops_what_has_no_source(
    corpus: Corpus, folder: Path, add_folder: Any, parse: Any, parse_sitemap: Any, make: Any
) -> None:
    add_folder()
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/stray", source="forgotten"))
    source = Source.of(str(folder))
    folder.rename(folder.with_name("unplugged"))
    [report] = asyncio.run(rebuild(corpus, [source], door_for=no_door, parse=parse, parse_sitemap=parse_sitemap))
    assert not report.complete
    assert [(one.name, one.documents) for one in corpus.sources()] == [("notes", 3)]


def test_a_rebuild_that_was_killed_is_gone_on_with_and_then_finished(
    corpus: Corpus, folder: Path, tmp_path: Path, parse: Any, parse_sitemap: Any
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.md").write_text("Delta words.")
    sources = [Source.of(str(folder)), Source.of(str(other))]

    def run(**options: Any) -> list[Report]:
        return asyncio.run(rebuild(corpus, sources, door_for=no_door, parse=parse, parse_sitemap=parse_sitemap, **options))

    run()
    corpus.check()
    [documents] = corpus.directory.glob("documents-*")
    (documents / "meta.json").write_text("{}")

    class Killed(BaseException):
        pass

    def die_at_the_second(source: Source) -> None:
        if source.name == "other":
            raise Killed

    with pytest.raises(Killed):
        run(begin=die_at_the_second)
    assert len(corpus.search("words", 10)) == 3
    with pytest.raises(CorpusError, match="not finished"):
        corpus.check()
    assert [counts(report) for report in run()] == [(0, 0, 3, 0), (1, 0, 0, 0)]
    corpus.check()
    assert [report.rewritten for report in run()] == [3, 1]


def test_nothing_is_removed_while_the_first_documents_are_being_added(corpus: Corpus) -> None:
    forgotten: list[str] = []
    with (
        corpus.writer("index add notes"),
        pytest.raises(CorpusError, match="index add notes") as caught,
    ):
        remove(corpus, "notes", forget=lambda: forgotten.append("notes"))
    assert caught.value.kind == "busy"
    assert forgotten == []
    assert remove(corpus, "notes", forget=lambda: forgotten.append("notes")) == 0
    assert forgotten == ["notes"]


def test_removing_where_nothing_was_indexed_makes_no_index(corpus: Corpus) -> None:
    assert remove(corpus, "notes", forget=lambda: None) == 0
    assert not corpus.exists()


def test_a_folder_of_too_many_files_says_so_and_nothing_of_it_is_removed(
    corpus: Corpus, folder: Path, add_folder: Any, parse: Any
) -> None:
    add_folder()
    known = corpus.fingerprints("notes")
    look = FolderLook(Source.of(str(folder)), known=known, parse=parse, most=1)

    async def main() -> list[str]:
        return [found.url async for found in look.found()]

    assert asyncio.run(main()) == ["index://notes/a.md"]
    assert not look.complete
    assert "more than 1 files" in look.why_incomplete
    assert not any(look.is_gone(url) for url in known)


def test_a_listing_under_way_is_told(folder: Path, parse: Any) -> None:
    told: list[tuple[str, int]] = []
    go_on = threading.Event()

    class Slow(FolderLook):
        def _list(self, root: Path, listing: Any, left: Any) -> None:
            super()._list(root, listing, left)
            assert go_on.wait(20)

    def listed(url: str, count: int) -> None:
        told.append((url, count))
        go_on.set()

    look = Slow(Source.of(str(folder)), known={}, parse=parse, listed=listed)

    async def main() -> int:
        return len([found async for found in look.found()])

    assert asyncio.run(main()) == 3
    assert told[0] == ("index://notes/sub/c.html", 3)


def test_a_source_is_removed_with_all_its_documents(corpus: Corpus, add_folder: Any, make: Any) -> None:
    add_folder()
    with corpus.writer("test") as writer:
        writer.put(make("https://example.com/", source="other"))
    assert remove(corpus, "notes") == 3
    assert [one.name for one in corpus.sources()] == ["other"]
    with pytest.raises(CorpusError, match="there are other") as caught:
        remove(corpus, "notes")
    assert caught.value.kind == "no_source"


def test_a_source_is_named_after_its_place(tmp_path: Path) -> None:
    (tmp_path / "My Notes (2026)").mkdir()
    (tmp_path / "read.me.md").write_text("x")
    folder = Source.of(str(tmp_path / "My Notes (2026)"), taken=["my-notes-2026", "my-notes-2026-2"])
    assert (folder.name, folder.kind) == ("my-notes-2026-3", "folder")
    assert Path(folder.location).is_absolute()
    assert Source.of(str(tmp_path / "read.me.md")).name == "read.me"
    assert Source.of("HTTPS://www.Example.com:443/Docs/?utm_source=x#y") == Source(
        "example.com-docs", "https://www.example.com/Docs/", "site"
    )
    assert Source.of("http://127.0.0.1:8000").name == "127.0.0.1-8000"
    assert Source.of("https://example.com", name="My Site", taken=["my-site"]).name == "my-site"
    assert Source.of(str(tmp_path)).location == Source.of(str(tmp_path / "My Notes (2026)" / "..")).location


@pytest.mark.parametrize(
    "what", ["/no/such/folder", "example.com/docs", "ftp://example.com/", "https://", "", "a\0b", "~nobody-at-all/x"]
)
def test_what_cannot_be_a_source_says_what_could(what: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as caught:
        Source.of(str(tmp_path / "nothing") if what == "" else what)
    assert caught.value.kind == "no_source"


def test_a_file_of_another_type_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "a.ps").write_text("x")
    with pytest.raises(CorpusError, match="Markdown, HTML and text, PDF, Office files and e-books"):
        Source.of(str(tmp_path / "a.ps"))


def test_a_source_survives_json() -> None:
    source = Source("docs", "https://example.com/", "site", 40)
    assert Source.from_json(source.to_json()) == source
    assert Source.from_json(Source("n", "/x", "folder").to_json()).limit is None
    with pytest.raises(ValueError, match="folder"):
        Source.from_json({"name": "n", "location": "/x", "kind": "planet"})
