"""The demonstration, step by step, each printed for a person to read.

What a person would type is typed: the lines after `$` are commands that really run, and what stands below them is what they
said. Everything happens in a temporary directory; nothing of the person's own settings is read or written.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from webseam.demo.clients import connect
from webseam.demo.site import Handbook
from webseam.errors import WebseamError
from webseam.terminal import bold, dim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from webseam.demo.clients import Client

QUERY = "how do I allow a private address"
SECONDS = 60.0
SNIPPET = 160


def run() -> int:
    """Show the main job; 0 when every step did what it says. Raises `WebseamError` when one did not."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="webseam-demo-", ignore_cleanup_errors=True))
        webseam = _Webseam(folder)
        book = stack.enter_context(Handbook())
        address = book.url.removeprefix("http://").rstrip("/")
        _heading("1. A small documentation site, served on this machine, goes into a private index")
        webseam("allow", address, "--for", "index")
        webseam("index", "add", book.url, "--name", "handbook")
        webseam("use", "search", "index")
        webseam("allow", address)
        _heading("2. The server starts, an MCP client connects")
        url = stack.enter_context(webseam.serve())
        client = connect(url)
        _say(f"{url}, asked by {client.name}")
        for tool in client.tools():
            _say(f"{bold(tool['name'])}({', '.join(tool['inputSchema'].get('properties', {}))})")
        _heading("3. The agent searches")
        best = _search(client)
        _heading("4. The agent reads the best hit")
        _say(_ask(client, "web_fetch", {"url": best}))
        _heading("5. A page cannot send the agent into your network")
        _say(_ask(client, "web_fetch", {"url": "http://169.254.169.254/latest/meta-data/"}, fails=True))
        _heading("6. A failure says what would change it")
        webseam("use", "search", "brave")
        _say(_ask(client, "web_search", {"query": QUERY}, fails=True))
    _how_to_connect()
    return 0


class _Webseam:
    """The command line with a data directory of its own and no settings from the environment."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.command = [sys.executable, "-m", "webseam"]
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("WEBSEAM_") and name != "BRAVE_API_KEY"
        }

    def __call__(self, *arguments: str) -> None:
        """Run one command as it is printed; `WebseamError` when it fails."""
        _say(f"$ webseam {shlex.join(arguments)}")
        done = subprocess.run(
            [*self.command, *arguments, "--data", self.folder],
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=SECONDS,
            check=False,
        )
        _say(dim(done.stdout.rstrip()))
        if done.returncode != 0:
            raise WebseamError(f"The demonstration stopped at this command:\n{done.stderr}`webseam doctor` says what to mend.")

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        """`webseam serve` on a free port, as a process of its own; its URL once it answers."""
        command = [*self.command, "serve", "--data", self.folder, "--port", "0", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.environment)
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise WebseamError(f"The server did not start (exit code {process.wait(SECONDS)}): its own words are above.")
            yield json.loads(line)["url"]
        finally:
            process.terminate()
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def _search(client: Client) -> str:
    """Search, print the hits, give the URL of the first."""
    answer = json.loads(_ask(client, "web_search", {"query": QUERY, "count": 3}))
    for number, hit in enumerate(answer["results"], start=1):
        _say(f"{number}. {bold(hit['title'])}  {hit['url']}\n   {dim(hit['snippet'][:SNIPPET].rstrip() + '…')}")
    if not answer["results"]:
        raise WebseamError("The search found nothing in the site that was just indexed: `webseam doctor` says what to mend.")
    best: str = answer["results"][0]["url"]
    return best


def _ask(client: Client, tool: str, arguments: dict[str, object], *, fails: bool = False) -> str:
    """Call a tool; its text. `WebseamError` when it fails, or should have failed and did not."""
    _say(bold(f"{tool}({', '.join(f'{name} = {value!r}' for name, value in arguments.items())})"))
    text, failed = client.call(tool, arguments)
    if failed != fails:
        raise WebseamError(f"{tool} {'failed' if failed else 'was answered and should have been refused'}:\n{text}")
    return text


def _how_to_connect() -> None:
    """The last words: what to type to have this in one's own agent. The whole path, where the name alone is not found."""
    import shutil

    installed = Path(sys.executable).with_name("webseam.exe" if sys.platform == "win32" else "webseam")
    command = "webseam" if shutil.which("webseam") else str(installed) if installed.exists() else "webseam"
    _heading("Now connect your own agent")
    configuration = json.dumps({"mcpServers": {"webseam": {"command": command, "args": ["stdio"]}}})
    _say(
        f"Claude Code     claude mcp add webseam -- {shlex.quote(command)} stdio\n"
        "Claude Desktop, Cursor and others, in their JSON file:\n"
        f"                {configuration}\n"
        f"Over HTTP       {shlex.quote(command)} serve, then http://127.0.0.1:8377/mcp\n"
        "The README has a block for each client, and how to switch off its own web tools."
    )
    print("\nDone. Nothing of this was kept.")


def _heading(text: str) -> None:
    print(f"\n{bold(text)}", flush=True)


def _say(text: str) -> None:
    print("\n".join("  " + line for line in text.splitlines()), flush=True)
