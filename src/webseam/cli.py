"""The commands. Each imports its work inside its function, so that `webseam stdio` starts fast and `--help` is instant.

Exit codes: 0 it was done; 1 it was tried and failed (the text says why); 2 the command was written wrongly; 130 interrupted.
What was asked for goes to standard output, everything said about it to standard error.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from webseam.errors import ArgumentError, ConfigurationError, WebseamError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from webseam.app import App
    from webseam.index.indexing import Progress, Report, Source

Answer = TypeVar("Answer")

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None or sys.stderr is None:  # started with a closed descriptor: what is said goes nowhere, not elsewhere
        import os

        sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123 - as long as the process
        sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123 - as long as the process
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a reader that left is understood
        return code
    except WebseamError as error:
        _say_error(error.message)
        return WRONG if isinstance(error, (ArgumentError, ConfigurationError)) else FAILED
    except KeyboardInterrupt:
        _say_error("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output left, as `head` does
        _silence_stdout()
        return OK
    except OSError as error:
        _silence_stdout()
        _say_error(f"The output cannot be written, or a file cannot be used: {error.strerror or error}.")
        return FAILED


def _run(arguments: list[str]) -> int:
    for argument in arguments:
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise ArgumentError(f"{argument!r} is not valid text in this terminal's encoding: write it in UTF-8.")
    # argparse costs as much as a bare interpreter's start: the one command that agents wait for does without it.
    if arguments[:1] == ["stdio"] and (len(arguments) == 1 or (len(arguments) == 3 and arguments[1] == "--data")):
        return _stdio({"data": arguments[2]} if len(arguments) == 3 else {})
    from webseam.parser import parser

    options = parser().parse_args(arguments)
    return COMMANDS[options.run](options)


# ------------------------------------------------------------------------------------------------ the servers


def _stdio(flags: dict[str, Any]) -> int:
    from webseam.app import App
    from webseam.call import Caller
    from webseam.config import Config
    from webseam.transports import stdio

    app = App(Config(flags))
    try:
        return stdio.run(app.engine(), caller=Caller(), close=app.close)
    finally:
        app.shut()


def _run_stdio(options: argparse.Namespace) -> int:
    return _stdio(_flags(options))


def _run_serve(options: argparse.Namespace) -> int:
    import json

    from webseam.call import Caller
    from webseam.transports import http

    app = _app(options)
    try:
        _ = app.egress  # what keeps every page from being read is told before anything listens
        listener = http.listen(app.config.host, app.config.port)
    except BaseException:
        app.shut()
        raise
    try:
        hosts, origins = http.local_names(listener)
        local = Caller()
        endpoint = http.mcp_app(app.engine(), allowed_hosts=hosts, allowed_origins=origins, authenticate=lambda _headers: local)
        # The log says which engines answer before the first agent asks; a wrong choice is told here and now.
        search, reading = app.switchboard.search_facts(local.account), app.switchboard.reading_facts(local.account)
        address = listener.getsockname()
        app.store.listen(address[0], address[1])
        _ = app.tools  # what is wrong with the configuration is told now, not to the first agent

        def ready(server: http.Server) -> None:
            url = f"{server.url}/mcp"
            if options.json:
                print(json.dumps({"url": url, "search": search.name, "reading": reading.name}), flush=True)
                return
            print(f"Webseam answers at {url}", flush=True)
            print(f"  web_search  {search.title} ({search.name})")
            print(f"  web_fetch   {reading.title} ({reading.name})")
            print(f"Connect an agent, for example: claude mcp add --transport http webseam {url}")
            print("Stop with Ctrl-C.", flush=True)

        return http.serve(endpoint, listener, ready=ready, close=app.close)
    finally:
        listener.close()
        with contextlib.suppress(WebseamError):  # a row of a process that is gone counts for nothing
            app.store.unlisten()
        app.shut()


# ------------------------------------------------------------------------------------------------ the two tools by hand


def _run_search(options: argparse.Namespace) -> int:
    import json

    from webseam import terminal

    arguments: dict[str, Any] = {"query": " ".join(options.query)}
    for name in ("count", "freshness", "country", "language"):
        if getattr(options, name) is not None:
            arguments[name] = getattr(options, name)
    domains = {"include_domains": options.include_domain, "exclude_domains": options.exclude_domain}
    arguments |= {name: given for name, given in domains.items() if given}
    [(text, failed)] = _call_tool(options, "search", "web_search", arguments)
    if failed:
        return _failed(text, options.json)
    answer = json.loads(text)
    if options.json:
        print(json.dumps(answer, ensure_ascii=False, indent=2))
        return OK
    for number, result in enumerate(answer["results"], start=1):
        age = terminal.dim(f"  {result['age']}") if result.get("age") else ""
        print(f"{number}. {terminal.bold(result['title'])}{age}\n   {terminal.paint(result['url'], '36')}")
        if result["snippet"]:
            print(f"   {result['snippet']}")
    if not answer["results"]:
        print(f"Nothing was found for this query ({answer['provider']}).", file=sys.stderr)
    for key in ("not_applied", "unresponsive"):
        if answer.get(key):
            print(f"{key}: {json.dumps(answer[key], ensure_ascii=False)}", file=sys.stderr)
    return OK


def _run_fetch(options: argparse.Namespace) -> int:
    arguments: dict[str, Any] = {"url": options.url}
    for name in ("start", "max_chars", "find", "section", "whole", "cache"):
        if getattr(options, name) is not None:
            arguments[name] = getattr(options, name)
    to_the_end = options.markdown and options.max_chars is None
    if to_the_end:
        from webseam.config import LIMITS

        arguments["max_chars"] = LIMITS.max_window_chars
    answers = _call_tool(options, "reading", "web_fetch", arguments, to_the_end=to_the_end)
    text, failed = answers[-1]
    if failed:
        return _failed(text, options.json)
    if options.markdown:
        return _print_markdown([text for text, _ in answers])
    if options.json:
        import json

        head, _, fenced = text.partition("\n")
        print(json.dumps({**json.loads(head), "text": fenced}, ensure_ascii=False, indent=2))
        return OK
    print(text)
    return OK


def _print_markdown(answers: Sequence[str]) -> int:
    """Print what stands in the fences of answers that follow one another; their notes go to standard error."""
    import json

    from webseam.tools.fence import unfenced
    from webseam.tools.web_fetch import OUTLINE, REPEATED

    notes: dict[str, None] = {}
    windows: list[str] = []
    passages: list[str] = []
    for answer in answers:
        first, _, fenced = answer.partition("\n")
        head = json.loads(first)
        notes.update(dict.fromkeys(head.get("notes", ())))
        for label, text in unfenced(fenced):
            if label != OUTLINE and not label.startswith(REPEATED):
                (passages if "find" in head else windows).append(text)
    print(("".join(windows) or "\n\n".join(passages)).rstrip("\n"))
    for note in notes:
        print(note, file=sys.stderr)
    return OK


def _call_tool(
    options: argparse.Namespace, role: str, tool: str, arguments: dict[str, Any], *, to_the_end: bool = False
) -> list[tuple[str, bool]]:
    """Run a tool just as an agent would, or again and again until there is no more: texts and whether each says a failure."""
    import json

    from webseam.call import Caller
    from webseam.transports.memory import MemoryClient

    app = _app(options, chosen={role: options.engine} if options.engine else None)
    if options.engine:
        app.switchboard.facts(options.engine, role)  # a name that does not exist is a command written wrongly

    async def work() -> list[tuple[str, bool]]:
        client = MemoryClient(app.engine(), caller=Caller())
        answers: list[tuple[str, bool]] = []
        start: int | None = None
        while not answers or start is not None:
            more = {} if start is None else {"start": start}
            answer: dict[str, Any] = await client.request("tools/call", {"name": tool, "arguments": arguments | more})
            text = "\n".join(part["text"] for part in answer["content"] if part.get("type") == "text")
            failed = bool(answer.get("isError"))
            answers.append((text, failed))
            start = json.loads(text.partition("\n")[0]).get("next_start") if to_the_end and not failed else None
        return answers

    return _wait(app, work)


def _failed(text: str, as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps({"error": text}, ensure_ascii=False, indent=2))
    else:
        _say_error(text)
    return FAILED


# ------------------------------------------------------------------------------------------------ choices


def _run_use(options: argparse.Namespace) -> int:
    import json

    from webseam import terminal
    from webseam.actions import engines

    app = _app(options)
    try:
        if options.role and options.engine:
            print(engines.use(app.switchboard, options.account, options.role, options.engine))
            return OK
        states = engines.engines(app.switchboard, options.account)
        if options.role:
            states = [state for state in states if getattr(state.facts, options.role)]
        if options.json:
            print(json.dumps([state.as_data() for state in states], ensure_ascii=False, indent=2))
            return OK
        rows = []
        for state in states:
            facts = state.facts
            roles = " and ".join(role for role, can in (("search", facts.search), ("reading", facts.reading)) if can)
            chosen = ", ".join(f"chosen for {role}" for role in state.roles)
            chosen += f" by {state.overruled}" if state.overruled else ""
            rows.append((facts.name, roles, chosen or "-", state.ready or "ready"))
        print(terminal.table(rows, head=("engine", "answers", "chosen", "state")))
    finally:
        app.shut()
    return OK


def _run_set(options: argparse.Namespace) -> int:
    from webseam.actions import engines

    app = _app(options)
    try:
        _facts, field = engines.setting(app.switchboard, options.engine, options.field)
        if options.remove:
            print(engines.unset_field(app.switchboard, options.account, options.engine, options.field))
            return OK
        value = _value(options.value, secret=field.type == "secret", title=field.title)
        print(engines.set_field(app.switchboard, options.account, options.engine, options.field, value))
    finally:
        app.shut()
    return OK


def _value(given: str | None, *, secret: bool, title: str) -> str:
    """A setting's value: `@env:NAME`, the argument itself, a hidden prompt, or standard input."""
    if given is not None and given.startswith("@env:"):
        import os

        name = given.removeprefix("@env:")
        if not name:
            raise ArgumentError("The name of an environment variable must follow @env: as in @env:MY_KEY.")
        if not os.environ.get(name):
            raise ArgumentError(f"The environment variable {name} is not set: set it, or leave the value away to be asked.")
        return os.environ[name]
    if given is not None and secret:
        raise ArgumentError(
            "A secret on the command line stays in the shell's history: leave it away to be asked, pipe it in, "
            "or write @env:NAME."
        )
    if given is not None:
        return given
    if sys.stdin is not None and sys.stdin.isatty():
        try:
            if secret:
                import getpass

                return getpass.getpass(f"{title} (not shown): ")
            return input(f"{title}: ")
        except EOFError:
            print(file=sys.stderr)
            return ""  # told as "No value came"
    return sys.stdin.read(64 * 1024) if sys.stdin is not None else ""


def _run_allow(options: argparse.Namespace) -> int:
    import json

    from webseam.actions import allowances

    app = _app(options)
    try:
        if options.address is None:
            stored = app.store.account(options.account).allowances
            if options.json:
                rows = [{"host": one.host, "port": one.port, "purpose": one.purpose} for one in stored]
                print(json.dumps(rows, indent=2))
                return OK
            for one in stored:
                print(allowances.spelled(one))
            if not stored:
                print("No private address is allowed.", file=sys.stderr)
            return OK
        act = allowances.disallow if options.remove else allowances.allow
        print(act(app.switchboard, options.account, options.address, options.purpose))
    finally:
        app.shut()
    return OK


# ------------------------------------------------------------------------------------------------ the private index


def _run_index_add(options: argparse.Namespace) -> int:
    from webseam.terminal import ProgressLine

    app = _app(options)
    line = ProgressLine()
    if options.name and len(options.what) > 1:
        raise ArgumentError("--name names one source: add the others in a command of their own.")

    async def work() -> list[Report]:
        indexes = app.indexes(options.account)
        # All are resolved before the first is touched: a typing error in the third must not come after an hour.
        sources: list[Source] = []
        for what in options.what:
            sources.append(indexes.resolve(what, name=options.name, limit=options.limit, taken=sources))
        reports = [await indexes.add(source, progress=lambda now: _draw(line, now)) for source in sources]
        hints.extend(filter(None, map(indexes.reading_hint, sources)))
        return reports

    hints: list[str] = []
    try:
        reports = _wait(app, work)
    finally:
        line.clear()
    code = _say_reports(reports, options.json)
    for hint in hints:
        print(hint, file=sys.stderr)
    return code


def _run_index_rebuild(options: argparse.Namespace) -> int:
    from webseam.terminal import ProgressLine

    app = _app(options)
    line = ProgressLine()

    async def work() -> Sequence[Report]:
        return await app.indexes(options.account).rebuild(progress=lambda now: _draw(line, now))

    try:
        reports = _wait(app, work)
    finally:
        line.clear()
    if not reports:
        print("There are no sources to make it from: `webseam index add DIR|FILE|URL`.", file=sys.stderr)
    return _say_reports(reports, options.json)


def _run_index_list(options: argparse.Namespace) -> int:
    import json

    from webseam import terminal

    app = _app(options)

    async def work() -> tuple[list[dict[str, Any]], bool]:
        indexes = app.indexes(options.account)
        return indexes.listing(), indexes.corpus.unfinished() is not None

    rows, unfinished = _wait(app, work)
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif rows:
        cells = [[str(row[key]) for key in ("name", "kind", "documents", "indexed_at", "location")] for row in rows]
        print(terminal.table(cells, head=("source", "kind", "documents", "indexed", "from")))
    else:
        print("Nothing is indexed yet: `webseam index add DIR|FILE|URL`.", file=sys.stderr)
    if unfinished:
        print("A rebuild was not finished (unless one runs now): `webseam index rebuild` goes on with it.", file=sys.stderr)
    return OK


def _run_index_remove(options: argparse.Namespace) -> int:
    app = _app(options)

    async def work() -> int:
        return app.indexes(options.account).remove(options.name)

    removed = _wait(app, work)
    print(f"Removed {options.name}: {removed} document{'' if removed == 1 else 's'}.")
    return OK


def _draw(line: Any, now: Progress) -> None:
    line.show(now.seen, now.total, now.url)


def _say_reports(reports: Sequence[Report], as_json: bool) -> int:
    import json

    if as_json:
        print(json.dumps([report.as_data() for report in reports], ensure_ascii=False, indent=2))
    for report in reports:
        if not as_json:
            print(report.sentence())
        if report.note:
            print(f"  {report.note}", file=sys.stderr)
        for url, why in report.failed[:20]:
            print(f"  {url}: {why.splitlines()[0] if why else 'failed'}", file=sys.stderr)
        if len(report.failed) > 20:
            print(f"  and {len(report.failed) - 20} more (--json lists them all)", file=sys.stderr)
    return FAILED if any(report.failed and not report.read for report in reports) else OK


# ------------------------------------------------------------------------------------------------ what is kept of pages


def _run_cache(options: argparse.Namespace) -> int:
    import json

    from webseam.actions import cache

    config = _app(options).config
    state = cache.clear(config, options.account) if options.clear else cache.state(config, options.account)
    print(json.dumps(state.as_data(), indent=2) if options.json else state.sentence())
    return OK


# ------------------------------------------------------------------------------------------------ demo and doctor


def _run_demo(_options: argparse.Namespace) -> int:
    from webseam import demo

    return demo.run()


def _run_doctor(options: argparse.Namespace) -> int:
    import json

    from webseam import terminal
    from webseam.actions import doctor

    app = _app(options)

    async def work() -> list[doctor.Finding]:
        return await doctor.examine(
            config=app.config,
            data=app.config.data,
            store=lambda: app.store,
            switchboard=lambda: app.switchboard,
            pool=app.pool,
            account=options.account,
        )

    findings = _wait(app, work)
    if options.json:
        rows = [{"check": one.check, "ok": one.ok, "text": one.text} for one in findings]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    else:
        for one in findings:
            mark = terminal.paint("ok  ", "32") if one.ok else terminal.paint("FAIL", "31")
            print(f"{mark} {one.check:12} {one.text}")
    return OK if all(one.ok for one in findings) else FAILED


# ------------------------------------------------------------------------------------------------ shared


def _flags(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name, None) for name in ("data", "host", "port")}


def _app(options: argparse.Namespace, *, chosen: dict[str, str] | None = None) -> App:
    from webseam.app import App
    from webseam.config import Config

    return App(Config(_flags(options)), chosen=chosen)


def _wait(app: App, work: Callable[[], Awaitable[Answer]]) -> Answer:
    """Run `work` in an event loop of its own and let go of everything it opened."""
    import asyncio

    async def whole() -> Answer:
        try:
            return await work()
        finally:
            await app.close()

    try:
        return asyncio.run(whole())
    finally:
        app.shut()


def _say_error(text: str) -> None:
    from webseam import terminal

    print(terminal.paint("webseam:", "31", sys.stderr), text, file=sys.stderr)


def _silence_stdout() -> None:
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "serve": _run_serve,
    "stdio": _run_stdio,
    "search": _run_search,
    "fetch": _run_fetch,
    "use": _run_use,
    "set": _run_set,
    "allow": _run_allow,
    "index add": _run_index_add,
    "index list": _run_index_list,
    "index remove": _run_index_remove,
    "index rebuild": _run_index_rebuild,
    "cache": _run_cache,
    "demo": _run_demo,
    "doctor": _run_doctor,
}
