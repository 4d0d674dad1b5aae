"""conformance: the server that the official suite is run against: `python tests/conformance/server.py [--port N]`.

It is the engine, as anybody would use it, with providers that have the names and answers which the suite's scenarios ask for.
Prints its address when it is ready.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run as a script, it finds no more than its own folder

from tests.conformance.fixtures import Completions, Prompts, Resources
from tests.conformance.fixtures_tasks import TASKS
from tests.conformance.fixtures_tools import TOOLS, Tools

from webseam.protocol import Engine, MemoryTaskStore
from webseam.transports.http import listen, local_names, mcp_app, serve


def build() -> Engine:
    """The engine with everything the suite asks for."""
    engine = Engine(
        {"name": "webseam-conformance", "version": "1", "title": "Webseam's engine, for the conformance suite"},
        instructions="Every name is the suite's.",
        on_fault=traceback.print_exception,
        task_store=MemoryTaskStore(),
    )
    engine.register_provider(Tools({**TOOLS, **TASKS}, engine.changed))
    return engine.register_provider(Resources()).register_provider(Prompts()).register_provider(Completions())


def main(argv: list[str] | None = None) -> int:
    """Serve on loopback until interrupted; gives the exit code."""
    parser = argparse.ArgumentParser(description="Serve what the official conformance suite asks for, on loopback.")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    listener = listen("127.0.0.1", parser.parse_args(argv).port)
    hosts, origins = local_names(listener)
    app = mcp_app(
        build(), allowed_hosts=hosts, allowed_origins=origins, on_fault=traceback.print_exception, resumable_answers=True
    )
    return serve(app, listener, ready=lambda server: print(f"{server.url}/mcp", flush=True))


if __name__ == "__main__":
    raise SystemExit(main())
