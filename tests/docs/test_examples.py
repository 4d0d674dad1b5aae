"""The examples of the documentation run, and the commands of the README exist."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from webseam.cli import main
from webseam.config import KEYS, Config
from webseam.parser import parser

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "docs").rglob("examples/*.py") if not path.name.startswith("engine_"))
"""Those named engine_* are servers, which do not end by themselves: see test_engine_examples.py."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_of_the_documentation_runs(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_own_engine_of_the_guide_says_what_it_found_and_how_it_failed() -> None:
    example = ROOT / "docs" / "guide" / "examples" / "own_engine.py"
    said = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.splitlines() == ["bookshelf Walden", "True The bookshelf has burnt down: set BOOKSHELF_HOME to another one."]


def test_the_own_engine_of_the_guide_is_a_server_over_stdio() -> None:
    example = ROOT / "docs" / "guide" / "examples" / "own_engine.py"
    call = {"name": "web_search", "arguments": {"query": "Ishmael"}}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n"
    done = subprocess.run(
        [sys.executable, str(example), "--stdio"], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    assert "Moby-Dick" in json.loads(done.stdout)["result"]["content"][0]["text"]


def test_the_vendor_of_the_guide_reads_a_saved_reply_and_teaches() -> None:
    example = ROOT / "docs" / "guide" / "examples" / "a_vendor.py"
    said = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=60, check=True).stdout
    assert said.splitlines() == [
        "https://api.acme.example/v1/search?q=sea+shells&n=2",
        "Shells",
        "Acme Search rejected the key: replace it with `webseam set acme api_key` or ACME_API_KEY.",
    ]


def test_the_readme_has_every_key_of_the_file_with_its_variable_and_default(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(WEBSEAM_\w+)` \| (.+?) \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert [(key, variable) for key, variable, _ in rows] == [(key, f"WEBSEAM_{key.upper()}") for key in KEYS]
    config = Config({"data": tmp_path})
    held = {
        **{key: getattr(config, key) for key in KEYS if key not in ("cache_megabytes", "search", "reading")},
        **{role: config.engines.get(role) for role in ("search", "reading")},
        "cache_megabytes": config.cache_bytes // (1024 * 1024),
    }
    for key, _, shown in rows:
        value = held[key]
        text = f"{value:g}" if isinstance(value, float) else str(value).lower()
        assert shown == ("not set" if value in (None, "", ()) else f"`{text}`"), key


def test_what_the_readme_shows_is_what_one_gets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("tides", "whales", "moon"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nA note about {name}.\n")
    time = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")
    [shown] = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    for command, expected in re.findall(r"^\$ webseam (.*)\n((?:(?!\$).*\n)+)", shown, re.MULTILINE):
        arguments = [str(notes) if word == "~/notes" else word for word in shlex.split(command)]
        main([*arguments, "--data", str(tmp_path / "data")])
        said = capsys.readouterr()
        assert time.sub("", said.out + said.err) == time.sub("", expected), command


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_of_a_page_can_be_parsed(page: Path) -> None:
    for block in re.findall(r"```(?:sh|console)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for line in block.splitlines():
            command = line.removeprefix("$ ").split("  #")[0].strip()
            if command.startswith("webseam "):
                parser().parse_args(shlex.split(command)[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
