"""A coverage-guided fuzzer over `Engine.receive`: `python -m tests.protocol.fuzz_receive`, from the root of the checkout (see
`tests.fuzzing`).

Each input is a conversation with a new engine (`fuzz_input`, `fuzz_provider`), driven to its end by hand (`fuzz_loop`) and held
to `fuzz_oracle`. What is asked of it besides: when everybody has left nothing is pending, nobody listens, and no task runs.
"""

from __future__ import annotations

import gc
import importlib
import json
import random
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Coroutine
from typing import Any

from tests.fuzzing import Fuzzer, main, with_atheris

if __name__ == "__main__" and (atheris := with_atheris()) is not None:
    with atheris.instrument_imports(include=["webseam.protocol"], enable_loader_override=False):
        for module in ("engine", "tasks", "mirrors", "changes", "asking"):  # some are only loaded when they are needed
            importlib.import_module(f"webseam.protocol.{module}")

from tests.protocol.fuzz_input import SESSIONS, Setting, Step, dictionary, filled, parse, seeds
from tests.protocol.fuzz_loop import Loop, Task, Waiter
from tests.protocol.fuzz_oracle import ANSWER, ANYTHING, FindingError, check_answer, decoded, due, hold
from tests.protocol.fuzz_provider import engine_of

from webseam.protocol.inbound import METHOD_HEADER, NAME_HEADER, VERSION_HEADER
from webseam.protocol.outcome import Outcome
from webseam.protocol.request import Request
from webseam.protocol.revisions import MODERN, VERSION_KEY
from webseam.protocol.session import Session

SLOW_SECONDS = 2.0
LONGEST = 8_192
"""Bytes of an input: `filled` makes long messages of short ones."""


class Channel:
    """Where the messages of one request go."""

    def __init__(self, talk: Conversation, request: Request) -> None:
        self.talk = talk
        self.request = request
        self.over = False

    def send(self, message: bytes, keep: bool) -> None:
        takes_back = b'"method":"notifications/cancelled"' in message  # a question that it asked before
        hold(not self.over, "something is said after the answer", message)
        hold(takes_back or not self.request.cancelled, "something is said after the end", message)
        self.talk.told(message)

    def waiter(self, seconds: float | None = None) -> Waiter:
        return self.talk.loop.waiter(seconds)

    def spawn(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        task = self.talk.loop.spawn(work)
        self.talk.background.append(task)
        return task.cancel

    def close_stream(self, retry_ms: int | None) -> None:
        hold(retry_ms == 5, "close_stream was given something else", retry_ms)


class Conversation:
    """One engine, at most one session, and what was said so far."""

    def __init__(self, setting: Setting, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.longest = 0.0
        self.faults: list[BaseException] = []
        self.engine, self.provider = engine_of(setting.kind, self.faults.append)
        self.setting = setting
        self.loop = Loop()
        self.background: list[Task] = []
        self.session = self._session(SESSIONS[setting.session])
        self.callers = ["a", "b"]
        self.pending: list[tuple[Request, Task]] = []
        self.asked: list[int] = []
        self.owners: dict[str, str] = {}
        self.known = {b"$TASK": b"none", b"$STATE": b"none", b"$ASKED": b"1"}
        self.cancellable = False

    def _session(self, kind: str) -> Session | None:
        if kind == "none":
            return None
        session = Session(handshake_first=kind == "first", push=self.told)
        if kind not in ("new", "first"):
            if kind not in self.engine.protocol_versions:
                return None
            session.revision, session.principal, session.initialized = kind, "a", True
            session.client_capabilities = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}
        return session

    # -------------------------------------------------------------------------------------------- steps

    def take(self, step: Step) -> None:
        """One thing happens."""
        letter = step.letter
        if letter in "mwx":
            self.message(filled(step.data, self.known), step)
        elif letter in "ao":
            number = (self.asked[-1] if letter == "a" else self.asked[0]) if self.asked else 1
            data = filled(step.data, self.known)
            self.message(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (number, data or b"null"), step)
        elif letter in "rs":
            began = self.clock()
            self.loop.run(1) if letter == "s" else self.loop.run()
            self.longest = max(self.longest, self.clock() - began)
        elif letter == "t":
            self.loop.pass_time()
        elif letter == "c" and self.pending:
            self.cancellable = True
            self.pending[-1][0].cancel()
        elif letter == "u" and len(self.engine.protocol_versions) > 1:
            self.provider.change()
        elif letter == "e" and self.session is not None:
            self.cancellable = True
            self.session.end()
        elif letter == "q":
            self.engine.end_subscriptions()

    def message(self, data: bytes, step: Step) -> None:
        """Receive it, and see to what comes of it."""
        caller = self.callers[step.letter == "x"]
        wanted = due(data, modern=MODERN[0] in self.engine.protocol_versions)
        if wanted.what == ANYTHING or "notifications/cancelled" in wanted.methods:
            self.cancellable = True
        headers = None
        if self.setting.http:
            headers = step.headers if step.headers is not None else fitting_headers(data)
        before = len(self.faults)
        began = self.clock()
        outcome = self.engine.receive(data, caller, self.session, headers)
        self.longest = max(self.longest, self.clock() - began)
        if outcome.work is None:
            self.answered(wanted, outcome, data, caller, before)
            return
        hold(outcome.reply is None and outcome.request is not None, "work, and something else besides", outcome)
        assert outcome.request is not None
        request = outcome.request
        channel = Channel(self, request)
        if self.setting.channel:
            request.attach(channel)

        def settled(outcome: Outcome | None) -> None:
            channel.over = True
            if request.cancelled:
                hold(self.cancellable, "cancelled by nobody", data)
                hold(outcome is None or outcome.reply is None, "a cancelled request is answered", data, outcome)
            else:
                hold(outcome is not None, "the work came to nothing", data)
                assert outcome is not None
                self.answered(wanted, outcome, data, caller, before)

        task = self.loop.spawn(outcome.work, settled)
        request.on_cancel(task.cancel)
        self.pending.append((request, task))

    def answered(self, wanted: Any, outcome: Outcome, data: bytes, caller: str, before: int) -> None:
        """Look at an answer, and learn from it what later messages may name."""
        hold(outcome.work is None, "work that leads to work", data)
        for message in outcome.before or ():
            self.told(message)
        if wanted.what == "batch" and self.cancellable and outcome.reply is None:
            return
        answer = check_answer(wanted, outcome.reply, outcome.status, data, len(self.faults) - before or self._batched(wanted))
        if wanted.what != ANSWER or not isinstance(answer, dict) or "result" not in answer:
            return
        result = answer["result"]
        if wanted.method.startswith("tasks/"):
            named = json.loads(data)["params"]["taskId"]
            hold(self.owners.get(named, caller) == caller, "somebody reaches a task of somebody else", data, answer)
        task, state = result.get("taskId"), result.get("requestState")
        if isinstance(task, str) and wanted.method in ("tools/call", "tasks/get"):
            owner = self.owners.setdefault(task, caller)
            hold(owner == caller, "somebody sees a task of somebody else", data, answer)
            self.known[b"$TASK"] = task.encode()
        if isinstance(state, str) and result.get("resultType") == "input_required":
            self.known[b"$STATE"] = state.encode()

    def _batched(self, wanted: Any) -> int:
        return len(self.faults) if wanted.what in ("batch", ANYTHING) else 0

    def told(self, data: bytes) -> None:
        """A message that is no answer: a notification, or a question to the client."""
        message = decoded(data)
        hold(isinstance(message, dict) and message.get("jsonrpc") == "2.0", "not a message of JSON-RPC", data)
        hold(isinstance(message.get("method"), str) and not message.keys() & {"result", "error"}, "no method", data)
        if "id" in message:
            self.asked.append(message["id"])
            self.known[b"$ASKED"] = b"%d" % message["id"]

    # -------------------------------------------------------------------------------------------- the end

    def close(self) -> None:
        """Everybody leaves. Nothing may be left, and no fault that was not made on purpose."""
        self.loop.run()
        self.loop.pass_time()
        self.loop.run()
        self.engine.end_subscriptions()
        self.loop.run()
        hold(self.session is None or not self.session.questions, "questions that nobody waits for any more", self.session)
        self.cancellable = True
        if self.session is not None:
            self.session.end()
        for task in self.background:
            task.cancel()
        for request, task in self.pending:
            if not task.over:
                request.cancel()
        self.loop.run()
        hold(not self.loop.tasks, "something goes on after the end", [task.work for task in self.loop.tasks])
        if self.session is not None:
            hold(not self.session.pending and not self.session.questions, "pending after the end", self.session.pending)
        hold(not self.engine._changes._listeners, "somebody listens after the end", self.engine._changes._listeners)
        tasks = self.engine._tasks
        hold(tasks is None or not tasks._running, "a task runs after the end")
        if len(self.faults) > self.provider.owed:
            told = "".join("".join(traceback.format_exception(fault)) for fault in self.faults)
            raise FindingError(f"a fault that nobody made on purpose: {told}")


def fitting_headers(data: bytes) -> dict[str, str]:
    """What a right client of 2026-07-28 sends along with the message; of an earlier revision, nothing."""
    try:
        message = json.loads(data)
        params = message["params"]
        version = params["_meta"][VERSION_KEY]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    if not isinstance(params, dict) or not isinstance(version, str):
        return {}
    headers = {VERSION_HEADER: version, METHOD_HEADER: str(message.get("method"))}
    name = params.get("name", params.get("uri", params.get("taskId")))
    if isinstance(name, str):
        headers[NAME_HEADER] = header_value(name)
    arguments = params.get("arguments")
    if isinstance(arguments, dict):
        deep = arguments.get("deep")
        number = deep.get("n") if isinstance(deep, dict) else None
        for header, value in (("mcp-param-region", arguments.get("region")), ("mcp-param-n", number)):
            if value is not None:
                headers[header] = header_value(value if isinstance(value, str) else json.dumps(value))
    return headers


def header_value(value: str) -> str:
    """As it is where it can be, else in base64."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith("=?base64?"):
        return value
    import base64

    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


# ------------------------------------------------------------------------------------------------ running

UNHEARD: list[str] = []


def _unheard(unraisable: Any) -> None:
    UNHEARD.append(f"{unraisable.err_msg} {unraisable.exc_value!r} {unraisable.object!r}")


def _run(data: bytes, clock: Callable[[], float]) -> float:
    """Hold the conversation; gives the seconds that its longest step took the engine."""
    setting, steps = parse(data)
    talk = Conversation(setting, clock)
    for step in steps:
        talk.take(step)
    talk.close()
    return talk.longest


def run_one(data: bytes) -> None:
    """One input. Raises FindingError; what else it raises is a finding as well."""
    if _run(data, time.perf_counter) > SLOW_SECONDS:  # or others keep the machine busy: look again, at this thread's own time
        took = _run(data, time.thread_time)
        hold(took < SLOW_SECONDS, f"a step took {took:.1f} s")
    hold(not UNHEARD, "an exception that nobody hears of", UNHEARD)


def shown(data: bytes) -> str:
    """The conversation of an input."""
    setting, steps = parse(data)
    return "\n".join([str(setting), *(repr(step)[:1_000] for step in steps)])


def fresh(series: random.Random) -> bytes:
    """An input made of choices."""
    return bytes((1, series.randrange(5), series.randrange(7), series.randrange(4))) + series.randbytes(series.randrange(80))


def settled() -> None:
    """After all inputs."""
    gc.collect()
    hold(not UNHEARD, "an exception that nobody hears of", UNHEARD)


FUZZER = Fuzzer(
    run_one,
    shown,
    seeds,
    dictionary,
    fresh,
    LONGEST,
    b'{}[]",:0123456789nulltruefalse\\$ \n',
    settled,
    every=2,  # they resemble each other
)

if __name__ == "__main__":
    warnings.simplefilter("error")
    sys.unraisablehook = _unheard
    main(FUZZER, "Engine.receive")
