"""The command line as argparse knows it: every command, its arguments, its examples. `cli` runs what comes out."""

from __future__ import annotations

import argparse
from typing import Any

from webseam import __version__
from webseam.config import LIMITS


def parser() -> argparse.ArgumentParser:
    """The parser of `webseam`; `run` in its result names the command, as "index add"."""
    top = argparse.ArgumentParser(
        prog="webseam",
        description="The seam between AI agents and the web: web_search and web_fetch over MCP, by the engine you choose.",
        epilog="start here:\n  webseam demo                     see the main job done\n"
        "  webseam stdio                    what a desktop agent starts\n"
        "  webseam COMMAND --help           examples of each command",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.set_defaults(data=None, account="local")
    top.add_argument("--data", metavar="DIR", help="the data directory (also WEBSEAM_DATA)")
    top.add_argument("--version", action="version", version=f"webseam {__version__}")
    group = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    made = _command(
        group, "serve", "serve the two tools over HTTP on this machine",
        "webseam serve\nwebseam serve --port 9000\nwebseam serve --port 0 --json",
    )  # fmt: skip
    made.add_argument("--host", help="the loopback address to bind (default 127.0.0.1)")
    made.add_argument("--port", type=int, help="the port (default 8377; 0 takes a free one)")
    made.add_argument("--json", action="store_true", help="print the address as JSON when ready")

    _command(
        group, "stdio", "serve the two tools over standard input and output, as desktop agents start it",
        "webseam stdio\nclaude mcp add webseam -- webseam stdio",
    )  # fmt: skip

    made = _command(
        group, "search", "run web_search as an agent would",
        'webseam search "how tides work"\nwebseam search tides --count 3 --json\nwebseam search tides --engine mediawiki',
    )  # fmt: skip
    made.add_argument("query", nargs="+")
    made.add_argument("--engine", help="use this engine for this once")
    made.add_argument("--count", type=int)
    made.add_argument("--freshness", help="day, week, month, year or YYYY-MM-DD..YYYY-MM-DD")
    made.add_argument("--country", help="two letters, as DE")
    made.add_argument("--language", help="as en or pt-BR")
    made.add_argument("--include-domain", action="append", metavar="DOMAIN", help="only from there; may be repeated")
    made.add_argument("--exclude-domain", action="append", metavar="DOMAIN", help="never from there; may be repeated")
    made.add_argument("--json", action="store_true", help="the answer as the agent gets it")

    made = _command(
        group, "fetch", "run web_fetch as an agent would",
        "webseam fetch https://example.com/\nwebseam fetch https://example.com/ --find price\n"
        "webseam fetch https://example.com/ --section Install\nwebseam fetch https://example.com/ --cache refresh\n"
        "webseam fetch https://example.com/ --whole\nwebseam fetch https://example.com/ --markdown > page.md",
    )  # fmt: skip
    made.add_argument("url")
    made.add_argument("--engine", help="use this reader for this once")
    made.add_argument("--start", type=int, help="go on from this character")
    made.add_argument("--max-chars", type=int, help="size of the window (default 10000)")
    made.add_argument("--find", help="only the passages that hold this text, word for word (whatever its case)")
    made.add_argument("--section", help="only the section under this heading, or at this start of one")
    made.add_argument("--whole", action="store_true", default=None, help="all of the page, not its main content")
    made.add_argument(
        "--cache",
        choices=("use", "only", "refresh"),
        help="a stored copy while it is fresh (default), nothing else, or a new one",
    )
    form = made.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the answer as data")
    form.add_argument(
        "--markdown",
        action="store_true",
        help="the Markdown alone, to its end (with --max-chars one window); notes go to stderr",
    )

    made = _command(
        group, "use", "choose the engine behind web_search or web_fetch, or see them all",
        "webseam use\nwebseam use search brave\nwebseam use reading builtin\nwebseam use search default",
    )  # fmt: skip
    made.add_argument("role", nargs="?", choices=("search", "reading"))
    made.add_argument("engine", nargs="?", metavar="NAME", help="the engine, or `default`")
    made.add_argument("--json", action="store_true", help="the engines as data")

    made = _command(
        group, "set", "set a field of an engine; a secret is asked for, piped in, or taken from @env:NAME",
        "webseam set brave api_key\nwebseam set brave api_key @env:MY_KEY\npass show brave | webseam set brave api_key\n"
        "webseam set mediawiki base_url https://de.wikipedia.org\nwebseam set brave api_key --remove",
    )  # fmt: skip
    made.add_argument("engine", metavar="NAME", help="the engine, as `webseam use` lists them")
    made.add_argument("field", metavar="FIELD", help="api_key, base_url ...: `webseam use --json` lists an engine's fields")
    made.add_argument(
        "value",
        nargs="?",
        metavar="VALUE",
        help="@env:NAME copies that variable's value once; a value that is no secret may be written",
    )
    made.add_argument("--remove", action="store_true", help="forget it")

    made = _command(
        group, "allow", "trust a private address for one purpose, or see those that are trusted",
        "webseam allow localhost:3000\nwebseam allow wiki.internal:80 --for index\n"
        "webseam allow 127.0.0.1:9000 --for engine:brave\nwebseam allow\nwebseam allow localhost:3000 --remove",
    )  # fmt: skip
    made.add_argument("address", nargs="?", metavar="HOST:PORT")
    made.add_argument("--for", dest="purpose", default="reading", metavar="PURPOSE", help="reading, index or engine:NAME")
    made.add_argument("--remove", action="store_true", help="trust it no more")
    made.add_argument("--json", action="store_true", help="the list as data")

    made = _command(
        group, "index", "fill and look after the private index",
        "webseam index add ~/notes\nwebseam index add https://docs.example.com/ --limit 200\nwebseam index list\n"
        "webseam use search index",
    )  # fmt: skip
    inner = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    made = _command(
        inner, "index add", "index a folder, a file or a site; again takes only what changed",
        "webseam index add ~/notes\nwebseam index add https://docs.example.com/ --limit 200\nwebseam index add a.md b.md",
    )  # fmt: skip
    made.add_argument("what", nargs="+", metavar="DIR|FILE|URL")
    made.add_argument("--name", help="what to call the source")
    made.add_argument("--limit", type=_pages, metavar="N", help="at most N pages of a site")
    made.add_argument("--json", action="store_true", help="the report as data")
    made = _command(inner, "index list", "what is in the private index", "webseam index list --json")
    made.add_argument("--json", action="store_true", help="the list as data")
    made = _command(inner, "index remove", "forget a source and its documents", "webseam index remove notes")
    made.add_argument("name", metavar="SOURCE")
    made = _command(inner, "index rebuild", "make the index anew from its sources", "webseam index rebuild")
    made.add_argument("--json", action="store_true", help="the reports as data")

    made = _command(
        group, "cache", "what is kept of pages that were read, and forgetting it", "webseam cache\nwebseam cache --clear"
    )
    made.add_argument("--clear", action="store_true", help="forget all of it")
    made.add_argument("--json", action="store_true", help="the figures as data")

    _command(group, "demo", "index a small site, then search and read it through an MCP client; keeps nothing", "webseam demo")
    made = _command(group, "doctor", "check this installation and say what to mend", "webseam doctor --json")
    made.add_argument("--json", action="store_true", help="the findings as data")
    return top


def _pages(text: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < 9 else 0
    if not 1 <= number <= LIMITS.max_crawl_pages:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of pages from 1 to {LIMITS.max_crawl_pages:,}")
    return number


def _command(group: Any, run: str, says: str, examples: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = group.add_parser(
        run.rpartition(" ")[2],
        help=says,
        description=says[0].upper() + says[1:] + ".",
        epilog="examples:\n" + "\n".join("  " + line for line in examples.splitlines()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--data", metavar="DIR", default=argparse.SUPPRESS, help="the data directory (also WEBSEAM_DATA)")
    made.set_defaults(run=run)
    return made
