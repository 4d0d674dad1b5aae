"""The commands, as a person types them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from webseam.actions.doctor import audience
from webseam.cli import FAILED, OK, WRONG, main
from webseam.demo.site import Handbook
from webseam.testing.vendor import LoopbackVendor

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command; its exit code, standard output and standard error."""

    def command(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([*arguments, "--data", str(tmp_path)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_choosing_an_engine_says_what_is_still_missing(run: Run) -> None:
    code, out, _ = run("use", "search", "brave")
    assert code == OK
    assert "web_search is now answered by Brave Search (brave)." in out
    assert "webseam set brave api_key" in out
    assert "BRAVE_API_KEY" in out
    code, out, _ = run("use", "--json")
    rows = {row["engine"]: row for row in json.loads(out)}
    assert rows["brave"]["chosen_for"] == ["search"]
    assert rows["brave"]["ready"] is False
    assert rows["builtin"]["chosen_for"] == ["reading"]
    run("use", "search", "default")
    assert "mediawiki" in run("use")[1]


def test_the_settings_of_an_engine_come_with_value_default_and_choices(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def settings(engine: str) -> dict[str, dict[str, object]]:
        rows = {row["engine"]: row for row in json.loads(run("use", "--json")[1])}
        return {setting["field"]: setting for setting in rows[engine]["settings"]}

    robots = settings("builtin")["robots"]
    assert (robots["value"], robots["default"], robots["choices"]) == (None, "obey", ["obey", "warn", "ignore"])
    run("set", "builtin", "robots", "warn")
    assert settings("builtin")["robots"]["value"] == "warn"
    monkeypatch.setenv("BRAVE_API_KEY", "BSA-0123456789abcdef")
    run("set", "brave", "base_url", "https://proxy.example/BSA-0123456789abcdef")
    found = settings("brave")
    assert found["api_key"]["value"] is None
    assert str(found["base_url"]["value"]).startswith("https://proxy.example/")
    assert "BSA-" not in run("use", "--json")[1]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["use", "search", "brvae"], ["'brvae'", "brave", "mediawiki"]),
        (["use", "reading", "brave"], ["Brave Search", "reading", "builtin"]),
        (["set", "brave", "colour", "red"], ["colour", "api_key"]),
        (["set", "brave", "api_key", "BSA-visible-in-history"], ["history", "@env:NAME"]),
        (["set", "brave", "api_key", "@env:NOT_SET_ANYWHERE"], ["NOT_SET_ANYWHERE"]),
        (["set", "brave", "api_key", "@env:"], ["must follow @env:"]),
        (["set", "mediawiki", "base_url", "ftp://x"], ["base_url", "https://"]),
        (["set", "mediawiki", "base_url", "http://[::1"], ["base_url", "https://"]),
        (["set", "mediawiki", "base_url", "http://:visible-in-history@host/"], ["base_url", "https://"]),
        (["set", "mediawiki", "base_url", "http://host:99999/"], ["base_url", "https://"]),
        (["set", "mediawiki", "base_url", "http://host/?a=b"], ["base_url", "query"]),
        (["search", "tides", "--engine", "nope"], ["'nope'", "mediawiki"]),
        (["search", "\udcff"], ["UTF-8"]),
        (["allow", "*.internal"], ["wildcard"]),
        (["allow", "169.254.169.254"], ["169.254.169.254 cannot be allowed", "metadata"]),
        (["allow", "local host"], ["webseam allow localhost:3000"]),
        (["allow", "localhost:3000", "--for", "fun"], ["'fun'", "reading", "index"]),
        (["serve", "--host", "0.0.0.0"], ["0.0.0.0"]),
        (["serve", "--port", "99999"], ["99999"]),
    ],
)
def test_a_command_written_wrongly_says_how_to_write_it(run: Run, arguments: list[str], names: list[str]) -> None:
    code, out, err = run(*arguments)
    assert code == WRONG
    assert out == ""
    assert err.startswith("webseam: ")
    assert all(name in err for name in names), err
    assert "visible-in-history" not in err


def test_a_secret_is_taken_from_standard_input_or_the_environment_and_never_shown(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("BSA-0123456789abcdef\n"))
    code, out, err = run("set", "brave", "api_key")
    assert (code, "BSA-" in out + err) == (OK, False)
    assert "encrypted at rest" in out
    monkeypatch.setenv("MY_KEY", "BSA-fedcba9876543210")
    assert run("set", "brave", "api_key", "@env:MY_KEY")[0] == OK
    assert "BSA-" not in run("use", "--json")[1]
    for file in tmp_path.iterdir():
        assert b"BSA-" not in file.read_bytes()
    assert "is forgotten" in run("set", "brave", "api_key", "--remove")[1]
    assert "was not set" in run("set", "brave", "api_key", "--remove")[1]


def test_an_empty_value_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    code, _, err = run("set", "brave", "api_key")
    assert code == WRONG
    assert "nothing was changed" in err


def test_allowing_listing_and_taking_back(run: Run) -> None:
    assert "localhost:3000 for reading" in run("allow", "http://LOCALHOST:3000/some/page")[1]
    run("allow", "[::1]:8080", "--for", "index")
    rows = json.loads(run("allow", "--json")[1])
    assert {"host": "localhost", "port": 3000, "purpose": "reading"} in rows
    assert len(rows) == 2
    assert "No longer allowed" in run("allow", "localhost:3000", "--remove")[1]
    assert "It was not allowed" in run("allow", "localhost:3000", "--remove")[1]


def test_search_prints_hits_for_people_and_the_answer_for_programs(run: Run) -> None:
    with LoopbackVendor("mediawiki") as vendor:
        run("allow", vendor.url, "--for", "engine:mediawiki")
        run("set", "mediawiki", "base_url", vendor.url)
        code, out, _ = run("search", "ocean", "tides", "--engine", "mediawiki", "--count", "2")
        assert code == OK
        assert out.startswith("1. ")
        assert vendor.requests[-1].query["srsearch"] == "ocean tides"
        answer = json.loads(run("search", "tides", "--engine", "mediawiki", "--json")[1])
        assert answer["provider"] == "mediawiki"
        vendor.case = "rate_limit"
        code, out, err = run("search", "tides", "--engine", "mediawiki")
        assert (code, out) == (FAILED, "")
        assert "limit" in err
        code, out, _ = run("search", "tides", "--engine", "mediawiki", "--json")
        assert code == FAILED
        assert "limit" in json.loads(out)["error"]


def test_the_private_index_from_nothing_to_a_page_read(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "my notes"
    (notes / "deep").mkdir(parents=True)
    (notes / "tides.md").write_text("# Spring tides\n\nThe highest tides come at full and new moon.\n")
    (notes / "deep" / "whales.html").write_text("<title>Whales</title><main><p>Whales sing in the deep ocean.</p></main>")
    assert "Nothing is indexed yet" in run("index", "list")[2]
    code, out, _ = run("index", "add", str(notes))
    assert code == OK
    assert "2 added" in out
    assert "2 unchanged" in run("index", "add", str(notes))[1]
    (notes / "tides.md").write_text("# Neap tides\n\nThe lowest tides come at the quarters.\n")
    assert "1 changed, 1 unchanged" in run("index", "add", str(notes))[1]
    [row] = json.loads(run("index", "list", "--json")[1])
    assert row["documents"] == 2
    assert row["kind"] == "folder"
    run("use", "search", "index")
    [hit] = json.loads(run("search", "quarters", "--json")[1])["results"]
    assert hit["url"].startswith("index://")
    assert "quarters" in hit["snippet"]
    code, out, _ = run("fetch", hit["url"])
    assert code == OK
    assert "# Neap tides" in out
    assert str(tmp_path) not in out
    answer = json.loads(run("fetch", hit["url"], "--json")[1])
    assert (answer["provider"], answer["url"]) == ("index", hit["url"])
    assert "# Neap tides" in answer["text"]
    assert "2 documents" in run("index", "remove", row["name"])[1]
    code, _, err = run("index", "remove", row["name"])
    assert code == FAILED
    assert "no source" in err


def test_the_markdown_of_a_page_comes_alone_and_whole(run: Run, tmp_path: Path) -> None:
    text = "# Tides\n\n" + "".join(f"## Part {n}\n\n" + f"The {n}th moon pulls. " * 60 + "\n\n" for n in range(99))
    (tmp_path / "tides.md").write_text(text, "utf-8")
    run("index", "add", str(tmp_path / "tides.md"), "--name", "notes")
    page = "index://notes/tides.md"
    code, out, err = run("fetch", page, "--markdown")
    assert (code, out) == (OK, text.rstrip() + "\n")
    assert err.startswith("This is the copy that was indexed at ")
    assert run("fetch", page, "--markdown", "--section", "Part 98")[1] == text[text.index("## Part 98") :].rstrip() + "\n"
    assert run("fetch", page, "--markdown", "--start", "9", "--max-chars", "20")[1] == "## Part 0\n"
    found = run("fetch", page, "--markdown", "--find", "The 7th moon")[1]
    assert found.count("The 7th moon pulls.") == 60
    code, out, err = run("fetch", page, "--markdown", "--find", "no such words")
    assert (code, out) == (OK, "\n")
    assert "does not occur" in err
    assert run("fetch", page + ".txt", "--markdown")[:2] == (FAILED, "")


def test_the_markdown_of_a_long_table_has_each_row_once(run: Run, tmp_path: Path) -> None:
    text = "# Tides\n\n| n | tide |\n|---|---|\n" + "".join(f"| {n} | {'high ' * 9}|\n" for n in range(2_000))
    (tmp_path / "table.md").write_text(text, "utf-8")
    run("index", "add", str(tmp_path / "table.md"), "--name", "notes")
    code, out, _ = run("fetch", "index://notes/table.md", "--markdown")
    assert (code, out) == (OK, text)


def test_a_site_is_crawled_once_it_is_allowed(run: Run) -> None:
    with Handbook() as book:
        address = book.url.removeprefix("http://").rstrip("/")
        code, _, err = run("index", "add", book.url)
        assert code == FAILED
        assert f"webseam allow {address} --for index" in err
        assert run("index", "list", "--json")[1].strip() == "[]"
        run("allow", address, "--for", "index")
        code, out, err = run("index", "add", book.url, "--name", "handbook")
        assert code == OK
        assert "8 added" in out
        assert f"`webseam allow {address}`" in err
        run("use", "search", "index")
        best = json.loads(run("search", "damaged index rebuild", "--json")[1])["results"][0]
        assert best["url"] == book.url + "private-index.html"
        code, _, err = run("fetch", best["url"])
        assert code == FAILED
        assert f"webseam allow {address}" in err
        run("allow", address)
        assert "webseam allow" not in run("index", "add", book.url)[2]
        assert "# The private index" in run("fetch", best["url"])[1]


def test_robots_txt_is_obeyed_warned_of_or_ignored_as_the_account_says(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with Handbook() as book:
        book.files["/robots.txt"] = b"User-agent: *\nDisallow: /private-index.html\n"
        page = book.url + "private-index.html"
        run("allow", book.url)
        code, out, err = run("fetch", page)
        assert (code, out) == (FAILED, "")
        assert "robots.txt of 127.0.0.1 disallows this page" in err.splitlines()[0]
        assert "webseam set builtin robots warn" in err.splitlines()[0]
        assert book.requests == ["/robots.txt"]
        assert run("set", "builtin", "robots", "warn")[:2] == (
            OK, "Policy on robots.txt of The built-in reader is set (warn).\n",
        )  # fmt: skip
        code, out, _ = run("fetch", page)
        assert code == OK
        assert "robots.txt of 127.0.0.1 disallows this page" in json.loads(out.partition("\n")[0])["notes"][0]
        assert run("set", "builtin", "robots", "ignore")[0] == OK
        book.requests.clear()
        assert "robots.txt of" not in run("fetch", page)[1]
        assert book.requests == ["/private-index.html"]
        monkeypatch.setenv("WEBSEAM_ROBOTS_IGNORE", "off")
        code, out, err = run("fetch", page)
        assert (code, out) == (FAILED, "")
        assert "WEBSEAM_ROBOTS_IGNORE" in err.splitlines()[0]
        assert "webseam set builtin robots obey" in err.splitlines()[0]
        assert book.requests == ["/private-index.html"]
        assert "WEBSEAM_ROBOTS_IGNORE" in run("use", "reading")[1]
        for engine in ("builtin", "index"):
            code, _, err = run("set", engine, "robots", "ignore")
            assert code == WRONG
            assert "WEBSEAM_ROBOTS_IGNORE" in err
        assert run("set", "builtin", "robots", "--remove")[0] == OK
        assert "webseam set builtin robots warn" in run("fetch", page)[2]


def test_a_crawl_obeys_robots_txt_unless_its_own_setting_says_otherwise(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with Handbook() as book:
        book.files["/robots.txt"] = b"User-agent: *\nDisallow: /private-index.html\n"
        run("allow", book.url, "--for", "index")
        run("set", "builtin", "robots", "ignore")
        out = run("index", "add", book.url, "--name", "handbook")[1]
        assert "7 added" in out
        assert "1 refused by robots.txt" in out
        assert "/private-index.html" not in book.requests
        code, _, err = run("index", "add", book.url + "private-index.html", "--name", "one")
        assert code == FAILED
        assert "webseam set index robots warn" in err.splitlines()[0]
        run("set", "index", "robots", "warn")
        out = run("index", "add", book.url)[1]
        assert "1 added" in out
        assert "1 read against robots.txt" in out
        run("set", "index", "robots", "ignore")
        book.requests.clear()
        assert run("index", "add", book.url)[0] == OK
        assert "/robots.txt" not in book.requests
        monkeypatch.setenv("WEBSEAM_ROBOTS_IGNORE", "off")
        book.requests.clear()
        for command in (("index", "add", book.url), ("index", "rebuild")):
            code, _, err = run(*command)
            assert code == FAILED
            assert "WEBSEAM_ROBOTS_IGNORE" in err
        assert book.requests == []
        assert run("use", "search", "index")[0] == OK
        assert json.loads(run("search", "private index", "--json")[1])["results"], "what is indexed is still found"


def test_a_damaged_index_says_so_and_is_rebuilt(run: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Lighthouse\n\nA keeper tends the lamp.\n")
    run("index", "add", str(notes))
    run("use", "search", "index")
    for file in (tmp_path / "indexes").rglob("*"):
        if file.is_file() and file.suffix != ".lock":
            file.write_bytes(b"rubbish")
    code, _, err = run("search", "lighthouse")
    assert code == FAILED
    assert "webseam index rebuild" in err.splitlines()[0]
    assert any(not row["ok"] and row["check"] == "index" for row in json.loads(run("doctor", "--json")[1]))
    code, out, _ = run("index", "rebuild")
    assert code == OK
    assert "1 added" in out
    assert json.loads(run("search", "lighthouse", "--json")[1])["results"]


def test_a_rebuild_of_nothing_says_how_to_begin(run: Run) -> None:
    code, out, err = run("index", "rebuild")
    assert (code, out) == (OK, "")
    assert "webseam index add" in err


def test_doctor_finds_a_fresh_installation_in_order(run: Run) -> None:
    code, out, _ = run("doctor", "--json")
    rows = json.loads(out)
    assert code == OK, out
    assert {row["check"] for row in rows} >= {"python", "data", "settings", "secrets", "search", "reading", "index", "workers"}
    code, out, _ = run("doctor")
    assert "FAIL" not in out


def test_doctor_tells_of_the_contact_and_of_proxies_that_are_ignored(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def texts() -> dict[str, str]:
        return {row["check"]: row["text"] for row in json.loads(run("doctor", "--json")[1])}

    monkeypatch.setenv("HTTPS_PROXY", "http://me:s3cret@proxy.example:3128")
    said = texts()
    assert "HTTPS_PROXY is set and ignored" in said["proxy"]
    assert "WEBSEAM_PROXY=env" in said["proxy"]
    assert "set a contact with WEBSEAM_CONTACT" in said["contact"]
    monkeypatch.setenv("WEBSEAM_PROXY", "env")
    monkeypatch.setenv("WEBSEAM_CONTACT", "me@example.com")
    said = texts()
    assert said["proxy"] == "https through http://proxy.example:3128; it was not asked"
    assert "+me@example.com" in said["contact"]
    monkeypatch.setenv("WEBSEAM_PROXY", "off")
    monkeypatch.setenv("WEBSEAM_CONTACT", "two words")
    said = texts()
    assert said["proxy"] == "none, connections are direct"
    assert said["contact"].startswith("WEBSEAM_CONTACT goes into the User-Agent")


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        (["localhost"], "localhost"),
        (["127.0.0.1", "corp.test"], "127.0.0.1, corp.test and its subdomains"),
        (["corp.test"], "corp.test and its subdomains"),
        (["a.test", "b.test"], "a.test, b.test and their subdomains"),
    ],
)
def test_who_sees_a_certificate_is_said_as_it_is(hosts: list[str], words: str) -> None:
    assert audience(hosts) == words


def test_doctor_names_a_secret_that_cannot_be_read(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("BSA-0123456789abcdef\n"))
    run("set", "brave", "api_key")
    (tmp_path / "vault.key").unlink()
    code, out, _ = run("doctor", "--json")
    assert code == FAILED
    assert any(not row["ok"] and "webseam set brave api_key" in row["text"] for row in json.loads(out))


@pytest.mark.parametrize(
    "command",
    [
        ["serve"],
        ["stdio"],
        ["search"],
        ["fetch"],
        ["use"],
        ["set"],
        ["allow"],
        ["index"],
        ["index", "add"],
        ["cache"],
        ["demo"],
        ["doctor"],
    ],
)
def test_every_command_shows_examples(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([*command, "--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert "examples:\n  webseam" in out or "claude mcp add" in out


def test_output_that_nobody_reads_ends_quietly(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "webseam", "use", "--data", str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait(60) == OK
    assert said == b""


def test_no_colour_outside_a_terminal(run: Run) -> None:
    assert "\x1b" not in "".join(map(str, run("use")))
    assert "\x1b" not in "".join(map(str, run("use", "search", "nothing")))


@pytest.mark.parametrize("limit", ["0", "-1", "99999999999999999999", "many"])
def test_a_page_limit_that_is_none_is_refused(limit: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run("index", "add", "http://localhost/", "--limit", limit)
    assert left.value.code == WRONG
    assert "pages from 1 to" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="the shell's redirections are POSIX's")
@pytest.mark.parametrize(
    ("redirection", "code", "says"),
    [("| true", 0, b""), (">&-", 0, b""), ("2>&-", 0, b""), (">/dev/full", 1, b"cannot be written")],
)
def test_output_that_goes_nowhere_leaves_no_traceback(redirection: str, code: int, says: bytes, tmp_path: Path) -> None:
    if "full" in redirection and not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full on this system")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    line = f'"$0" -m webseam use --data "$1" {redirection}'
    pipe = "set -o pipefail; " if "|" in redirection else ""
    shell = "bash" if pipe else "sh"
    done = subprocess.run(
        [shell, "-c", pipe + line, sys.executable, str(tmp_path)], capture_output=True, env=environment, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_the_end_of_input_at_a_prompt_changes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(""))
    code, _, err = run("set", "mediawiki", "base_url")
    assert code == WRONG
    assert "nothing was changed" in err


def test_a_port_that_is_taken_names_the_flag(run: Run) -> None:
    with LoopbackVendor("mediawiki") as vendor:
        code, _, err = run("serve", "--port", vendor.url.rpartition(":")[2])
    assert code == WRONG
    assert "--port" in err


@pytest.mark.parametrize(
    ("variable", "value"),
    [("WEBSEAM_CONTACT", "two words"), ("WEBSEAM_PROXY", "socks5://p.example"), ("WEBSEAM_CA_FILE", "/no/such/file")],
)
def test_what_keeps_every_page_from_being_read_is_said_before_serving(
    run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with LoopbackVendor("mediawiki") as vendor:  # its port is taken: what comes later would say so
        code, out, err = run("serve", "--port", vendor.url.rpartition(":")[2])
    assert (code, out) == (WRONG, "")
    assert variable in err
    assert len(err.splitlines()) == 1


def test_the_environment_chooses_for_one_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "webseam", "use", "--json", "--data", str(tmp_path)],
        env={**os.environ, "WEBSEAM_SEARCH": "brave"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert next(row for row in json.loads(done.stdout) if row["engine"] == "brave")["chosen_for"] == ["search"]
