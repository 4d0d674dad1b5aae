"""stdio, as a client sees it: a child process with three pipes. The server is a small program on the engine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.transports import stdio

SECONDS = 20
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and pipes")

PROGRAM = """
import sys
from webseam.protocol.engine import Engine
from webseam.transports import stdio


def asyncio_event(events={}):
    import asyncio
    return events.setdefault("go", asyncio.Event())


class Tools:
    running = most = 0

    def list(self, cursor):
        if cursor == "print":
            print("printed by somebody")
            sys.stdout.flush()
        if cursor == "child":
            import subprocess
            code = "import sys; print('child of', len(sys.stdin.read()))"
            subprocess.run([sys.executable, "-c", code], check=True)
        return [{"name": "modules", "description": " ".join(sorted(sys.modules)), "inputSchema": {"type": "object"}}]

    def call(self, name, arguments, call):
        if name == "now":
            return [{"type": "text", "text": "now"}]
        if name == "large":
            return [{"type": "text", "text": "x" * 1_000_000}]
        if name == "breaks":
            raise RuntimeError("secret")
        return self.later(name, call)

    async def later(self, name, call):
        import asyncio
        Tools.running += 1
        Tools.most = max(Tools.most, Tools.running)
        try:
            if name == "go":
                asyncio_event().set()
            elif name == "crowd":
                if Tools.running == arguments_limit:
                    asyncio_event().set()
                await asyncio_event().wait()
            elif name == "wait":
                print("waiting", call.id, file=sys.stderr, flush=True)
                await asyncio_event().wait()
            elif name == "gives up":
                raise asyncio.CancelledError
            elif name == "forever":
                print("waiting", call.id, file=sys.stderr, flush=True)
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("stopped", call.id, file=sys.stderr, flush=True)
            raise
        finally:
            Tools.running -= 1
        return [{"type": "text", "text": f"{name} {Tools.most}"}]


async def close():
    print("closed", file=sys.stderr, flush=True)


arguments_limit = 64
report = lambda error: print("fault", type(error).__name__, file=sys.stderr, flush=True)
print("ready", file=sys.stderr, flush=True)
raise SystemExit(stdio.run(Engine(on_fault=report).register_provider(Tools()), close=close))
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(PROGRAM)
    return path


class Child:
    """The server and its pipes."""

    def __init__(self, program: Path, **how: Any) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        self.process = subprocess.Popen([sys.executable, str(program)], **pipes)
        self.expect_log("ready")

    def send(self, *messages: Any) -> None:
        stdin = self.process.stdin
        assert stdin is not None
        for message in messages:
            stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        stdin.flush()

    def answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def expect_log(self, text: str) -> None:
        """Wait until the server has said so on standard error."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if line.decode().strip() == text:
                return
        raise AssertionError(f"the server ended without saying {text!r}")

    def finish(self) -> tuple[int, list[Any], str]:
        """Close its input; gives the exit code, the answers not read yet, and what it said."""
        out, said = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, [json.loads(line) for line in out.splitlines()], said.decode()


@pytest.fixture
def start(program: Path) -> Iterator[Callable[..., Child]]:
    children: list[Child] = []

    def make(**how: Any) -> Child:
        children.append(Child(program, **how))
        return children[-1]

    yield make
    for child in children:
        if child.process.poll() is None:
            child.process.kill()
        child.process.wait()
        for pipe in (child.process.stdin, child.process.stdout, child.process.stderr):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # what was buffered for a child that is gone
                    pipe.close()


def request(message_id: Any, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params or {}}


def call(message_id: Any, name: str) -> dict[str, Any]:
    return request(message_id, "tools/call", {"name": name, "arguments": {}})


def cancelled(message_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": message_id}}


HANDSHAKE = [
    request(
        1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    ),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    request(2, "tools/list"),
]
LINES = b"".join(json.dumps(message).encode() + b"\n" for message in HANDSHAKE)


def run(program: Path, data: bytes, tmp_path: Path, kind: str) -> tuple[int, list[Any], str]:
    """Give the whole input at once, through a pipe or as a plain file."""
    command = [sys.executable, str(program)]
    if kind == "file":
        path = tmp_path / "input.jsonl"
        path.write_bytes(data)
        with path.open("rb") as file:
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=SECONDS, check=False)
    else:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


# ------------------------------------------------------------------------------------------------ reading and answering


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_a_handshake_is_answered_in_order_and_nothing_else_is_written(program: Path, tmp_path: Path, kind: str) -> None:
    code, answers, _ = run(program, LINES, tmp_path, kind)
    assert code == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"


def test_a_handshake_needs_neither_asyncio_nor_ssl_nor_pydantic(program: Path, tmp_path: Path) -> None:
    _, answers, _ = run(program, LINES, tmp_path, "pipe")
    modules = set(answers[1]["result"]["tools"][0]["description"].split())
    heavy = {"asyncio", "ssl", "socket", "pydantic", "inspect", "logging", "dataclasses", "urllib", "http", "threading"}
    assert not heavy & modules


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_calls_are_answered_before_we_leave_at_the_end_of_input(program: Path, tmp_path: Path, kind: str) -> None:
    data = LINES + b"".join(json.dumps(call(n, name)).encode() + b"\n" for n, name in ((3, "wait"), (4, "now"), (5, "go")))
    code, answers, said = run(program, data, tmp_path, kind)
    assert code == 0
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3, 4, 5]
    assert said.endswith("closed\n") or "closed\r\n" in said


@pytest.mark.parametrize("kind", ["pipe", "file"])
def test_line_ends_blank_lines_and_a_missing_last_newline_do_not_matter(program: Path, tmp_path: Path, kind: str) -> None:
    data = b"\n\r\n  \n" + LINES.replace(b"\n", b"\r\n") + b"\n" + json.dumps(request(3, "ping")).encode()
    code, answers, _ = run(program, data, tmp_path, kind)
    assert (code, [answer["id"] for answer in answers]) == (0, [1, 2, 3])


def test_no_input_at_all_ends_with_zero(program: Path, tmp_path: Path) -> None:
    assert run(program, b"", tmp_path, "pipe")[:2] == (0, [])
    assert run(program, b"", tmp_path, "file")[:2] == (0, [])


def test_input_that_is_closed_from_the_start_ends_with_zero(program: Path) -> None:
    command = [sys.executable, str(program)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_what_is_no_message_is_answered_and_the_next_line_is_served(start: Callable[..., Child]) -> None:
    child = start()
    child.send(b"hello\n", b'{"jsonrpc":"2.0","id":1}\n', b"\xff\xfe\n", request(2, "ping"))
    assert [child.answer()["error"]["code"] for _ in range(3)] == [-32700, -32600, -32700]
    assert child.answer() == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize("concurrent", [False, True])
def test_a_line_over_the_limit_is_refused_and_skipped(start: Callable[..., Child], concurrent: bool) -> None:
    child = start()
    if concurrent:
        child.send(call(0, "go"))
        assert child.answer()["id"] == 0
    large = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"a" * LIMITS.message_bytes + b'"}}\n'
    child.send(large, request(2, "ping"))
    refused = child.answer()
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)
    assert child.answer()["id"] == 2


def test_a_line_within_the_limit_may_come_in_many_pieces(start: Callable[..., Child]) -> None:
    child = start()
    text = "a" * 3_000_000
    child.send(request(1, "ping", {"x": text}), request(2, "ping"))
    assert [child.answer()["id"], child.answer()["id"]] == [1, 2]


@pytest.mark.parametrize("concurrent", [False, True])
def test_what_others_print_never_reaches_standard_output(start: Callable[..., Child], concurrent: bool) -> None:
    child = start()
    if concurrent:
        child.send(call(0, "go"))
        assert child.answer()["id"] == 0
    child.send(request(1, "tools/list", {"cursor": "print"}))
    assert child.answer()["id"] == 1
    child.expect_log("printed by somebody")
    child.send(request(2, "tools/list", {"cursor": "child"}), request(3, "ping"))
    assert [child.answer()["id"], child.answer()["id"]] == [2, 3]
    child.expect_log("child of 0")  # nor can a child process read what is meant for us


def test_a_fault_of_a_provider_is_answered_and_told_to_the_owner(start: Callable[..., Child]) -> None:
    child = start()
    child.send(call(1, "breaks"), request(2, "ping"))
    assert child.answer()["error"] == {"code": -32603, "message": "Internal error"}
    assert child.answer()["id"] == 2
    child.expect_log("fault RuntimeError")


def test_a_cancellation_that_a_provider_lets_escape_is_answered_all_the_same(start: Callable[..., Child]) -> None:
    child = start()
    child.send(call(1, "gives up"), request(2, "ping"))
    answers = {answer["id"]: answer for answer in (child.answer(), child.answer())}
    assert answers[1]["error"] == {"code": -32603, "message": "Internal error"}
    child.expect_log("fault RuntimeError")


# ------------------------------------------------------------------------------------------------ side by side


def test_calls_run_side_by_side(start: Callable[..., Child]) -> None:
    child = start()
    child.send(call(1, "wait"))
    child.expect_log("waiting 1")
    child.send(request(2, "ping"), call(3, "now"))
    assert [child.answer()["id"], child.answer()["id"]] == [2, 3]
    child.send(call(4, "go"))
    assert {child.answer()["id"], child.answer()["id"]} == {1, 4}


def test_a_cancelled_call_stops_and_is_not_answered(start: Callable[..., Child]) -> None:
    child = start()
    child.send(call(1, "forever"), call("two", "wait"))
    child.expect_log("waiting 1")
    child.send(cancelled(1), cancelled(99))
    child.expect_log("stopped 1")
    child.send(request(3, "ping"), call(1, "go"))  # its id is free again
    assert child.answer()["id"] == 3
    assert {child.answer()["id"], child.answer()["id"]} == {1, "two"}
    code, rest, _ = child.finish()
    assert (code, rest) == (0, [])


def test_a_call_cancelled_in_the_same_breath_is_not_answered(start: Callable[..., Child]) -> None:
    child = start()
    child.send(json.dumps(call(1, "forever")).encode() + b"\n" + json.dumps(cancelled(1)).encode() + b"\n")
    child.send(request(2, "ping"))
    assert child.answer()["id"] == 2
    code, rest, said = child.finish()
    assert (code, rest) == (0, [])
    assert "never awaited" not in said


def test_no_more_calls_run_at_once_than_the_limit(start: Callable[..., Child]) -> None:
    child = start()
    count = LIMITS.pending_calls + 20
    child.send(*(call(n, "crowd") for n in range(count)), request("last", "ping"))
    answers = [child.answer() for _ in range(count + 1)]
    assert sorted(answer["id"] for answer in answers if answer["id"] != "last") == list(range(count))
    texts = {answer["result"]["content"][0]["text"] for answer in answers if answer["id"] != "last"}
    assert texts == {f"crowd {LIMITS.pending_calls}"}


def test_many_answers_are_written_whole(start: Callable[..., Child]) -> None:
    child = start()
    sender = threading.Thread(target=child.send, args=[call(n, ("now", "large", "go")[n % 3]) for n in range(60)])
    sender.start()
    assert sorted(child.answer()["id"] for _ in range(60)) == list(range(60))
    sender.join()


# ------------------------------------------------------------------------------------------------ leaving


def test_we_leave_when_nobody_reads_the_answers(start: Callable[..., Child]) -> None:
    child = start()
    assert child.process.stdout is not None
    child.process.stdout.close()
    child.send(request(1, "ping"))
    assert child.process.wait(SECONDS) == 0


@POSIX
def test_we_leave_at_once_when_input_is_closed_and_nobody_reads_what_is_pending(start: Callable[..., Child]) -> None:
    child = start()
    child.send(call(1, "forever"))
    child.expect_log("waiting 1")
    assert child.process.stdin is not None
    assert child.process.stdout is not None
    child.process.stdin.close()
    child.process.stdout.close()
    child.expect_log("stopped 1")
    child.expect_log("closed")
    assert child.process.wait(SECONDS) == 0


@POSIX
@pytest.mark.parametrize("stage", ["in the handshake", "with a call pending", "with a reader that stalls"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signals_end_it_quietly(start: Callable[..., Child], stage: str, number: int, code: int) -> None:
    child = start()
    if stage == "in the handshake":
        child.send(request(1, "ping"))
        assert child.answer()["id"] == 1
    elif stage == "with a call pending":
        child.send(call(1, "forever"))
        child.expect_log("waiting 1")
    elif stage == "with a reader that stalls":
        child.send(call(1, "forever"), *(call(n, "large") for n in range(2, 12)))
        child.expect_log("waiting 1")
        assert child.process.stdout is not None
        child.process.stdout.read(70_000)  # more than a pipe holds: it is writing now
    child.process.send_signal(number)
    assert child.process.wait(SECONDS) == code
    assert child.process.stderr is not None
    said = child.process.stderr.read().decode()
    assert "Traceback" not in said
    assert "never" not in said


@POSIX
def test_it_serves_other_descriptors_and_outside_the_main_thread() -> None:
    class Tools:
        def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, name: str, arguments: dict[str, Any]) -> Any:
            return []

    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    codes: list[int] = []
    engine = Engine().register_provider(Tools())
    thread = threading.Thread(target=lambda: codes.append(stdio.run(engine, stdin=their_read, stdout=their_write)))
    thread.start()
    os.write(our_write, LINES + json.dumps(call(3, "x")).encode() + b"\n")
    with os.fdopen(our_read, "rb") as answers:
        assert [json.loads(answers.readline())["id"] for _ in range(3)] == [1, 2, 3]
        os.close(our_write)
        thread.join(SECONDS)
    assert codes == [0]
    os.close(their_read)
    os.close(their_write)


@POSIX
def test_what_gets_through_the_engine_is_answered_and_keeps_nobody_waiting() -> None:
    class Tools:
        def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, name: str, arguments: dict[str, Any]) -> Any:
            await asyncio.sleep(0)
            if name == "broken":
                raise GeneratorExit("of a provider")
            return []

    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    codes: list[int] = []
    faults: list[BaseException] = []
    engine = Engine(on_fault=faults.append).register_provider(Tools())
    thread = threading.Thread(target=lambda: codes.append(stdio.run(engine, stdin=their_read, stdout=their_write)))
    thread.start()
    os.write(
        our_write, LINES + b"".join(json.dumps(call(*one)).encode() + b"\n" for one in ((3, "broken"), (4, "x"), (5, "broken")))
    )
    with os.fdopen(our_read, "rb") as answers:
        found = {answer["id"]: answer for answer in (json.loads(answers.readline()) for _ in range(5))}
        os.close(our_write)
        thread.join(SECONDS)
    assert codes == [0]
    assert [found[number]["error"]["code"] for number in (3, 5)] == [-32603, -32603]
    assert "result" in found[4]
    assert [str(fault) for fault in faults] == ["of a provider", "of a provider"]
    os.close(their_read)
    os.close(their_write)


@POSIX
@pytest.mark.parametrize("kind", ["non-blocking pipes", "sockets"])
def test_it_serves_whatever_a_client_gives_it_as_standard_streams(start: Callable[..., Child], kind: str) -> None:
    if kind == "sockets":  # as Node does
        (ours, theirs), (our_out, their_out) = socket.socketpair(), socket.socketpair()
        read, write, child_in, child_out = our_out.detach(), ours.detach(), theirs.detach(), their_out.detach()
    else:
        (child_in, write), (read, child_out) = os.pipe(), os.pipe()
        os.set_blocking(child_in, False)
        os.set_blocking(child_out, False)
    child = start(stdin=child_in, stdout=child_out)
    os.close(child_in)
    os.close(child_out)
    with os.fdopen(read, "rb") as answers:
        os.write(write, json.dumps(request(0, "ping")).encode() + b"\n")
        assert json.loads(answers.readline())["id"] == 0
        calls = [call(n, ("now", "large", "go")[n % 3]) for n in range(1, 40)]
        os.write(write, b"".join(json.dumps(one).encode() + b"\n" for one in calls))
        assert sorted(json.loads(answers.readline())["id"] for _ in calls) == list(range(1, 40))
        os.close(write)
        assert child.process.wait(SECONDS) == 0
