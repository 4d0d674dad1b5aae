"""What goes out over stdio besides answers: progress, logs, questions and changes; and what ends them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.transports.conftest import SECONDS, call_of, modern, modern_call, request, text

from webseam.config import LIMITS
from webseam.protocol.engine import Engine
from webseam.protocol.request import Request
from webseam.protocol.revisions import SUBSCRIPTION_KEY
from webseam.transports import stdio

PROGRAM = """
import sys
from webseam.protocol.engine import Engine
from webseam.protocol.tasks import MemoryTaskStore
from webseam.transports import stdio

FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
text = lambda value: [{"type": "text", "text": value}]
say = lambda *words: print(*words, file=sys.stderr, flush=True)


class Tools:
    logs = lists_change = needs_session = True
    at_the_end = None

    def list(self, cursor):
        return []

    def call(self, name, arguments, call):
        if name == "says":
            call.progress(1)
            call.log("info", "said")
            print("not a message")
            return text("said")
        if name == "changed":
            engine.changed("tools")
            return text("changed")
        if name == "updated":
            engine.updated("memo://one")
            return text("updated")
        if name == "two stages":
            call.progress(1)
        return self.later(name, arguments, call)

    async def later(self, name, arguments, call):
        import asyncio
        if name == "counts":
            for number in range(1, 6):
                call.progress(number, 5, "line\\n" + str(number))
                call.log("info", {"a\\r\\n": number})
                print("not a message")
                await asyncio.sleep(0)
        if name == "raw":
            from webseam.protocol.codec import Raw
            call.log("info", Raw(b'{\\n"a":\\r\\n1}'))
            return {"content": text("raw"), "structuredContent": Raw(b'{\\n"a":\\r\\n1}')}
        if name == "asks":
            answer = await call.elicit("Who?", FORM)
            return text(str(answer.get("content")))
        if name == "asks at the end":
            Tools.at_the_end = asyncio.Event()
            say("waiting", call.id)
            await Tools.at_the_end.wait()
            return text(str(await call.elicit("Who?", FORM)))
        if name == "two stages":
            call.progress(2)
        if name == "lingers":
            async def lingers():
                for number in range(3):
                    await asyncio.sleep(0)
                    call.progress(number)
                say("lingered")
            self.task = asyncio.ensure_future(lingers())
        if name == "wait":
            say("waiting", call.id)
            try:
                await asyncio.Event().wait()
            finally:
                call.progress(99)
                say("stopped", call.id)
        if name == "task":
            async def work(task):
                say("task began")
                try:
                    await asyncio.Event().wait()
                finally:
                    say("task ended")
            return await call.run_as_task(work)
        return text(name)


class Resources:
    def list(self, cursor):
        return []

    def templates(self):
        return []

    def read(self, uri):
        return []

    def subscribe(self, uri):
        say("watched", uri)

    def unsubscribe(self, uri):
        say("unwatched", uri)
        if Tools.at_the_end is not None:
            Tools.at_the_end.set()


engine = Engine(on_fault=lambda error: say("fault", repr(error)), task_store=MemoryTaskStore())
engine.register_provider(Tools()).register_provider(Resources())
say("ready")
code = stdio.run(engine)
say("left")
raise SystemExit(code)
"""


class Child:
    """The server and its pipes. Whatever comes on its standard output must be messages."""

    def __init__(self, program: Path) -> None:
        command = [sys.executable, "-W", "error", str(program)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self.said: list[str] = []
        self.watchdog = threading.Timer(SECONDS, self.process.kill)
        self.watchdog.start()
        self.expect("ready")

    def send(self, *messages: Any) -> None:
        self.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        self.stdin.flush()

    def next(self) -> Any:
        line = self.stdout.readline()
        if not line:
            return None
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def until(self, message_id: Any) -> list[Any]:
        """Everything up to the answer to that request."""
        seen: list[Any] = []
        while True:
            message = self.next()
            assert message is not None, f"no answer to {message_id!r}: {self.said} {seen}"
            seen.append(message)
            if message.get("id") == message_id and "method" not in message:
                return seen

    def expect(self, words: str) -> None:
        for line in self.stderr:
            self.said.append(line.decode().strip())
            if self.said[-1] == words:
                return
        raise AssertionError(f"it ended without saying {words!r}: {self.said}")

    def finish(self) -> tuple[int, list[Any]]:
        """Close its input; gives the exit code and the messages not read yet."""
        out, said = self.process.communicate(timeout=SECONDS)
        self.said += said.decode().splitlines()
        assert not [
            line for line in self.said if "never" in line or "destroyed" in line or "Traceback" in line or "fault" in line
        ]
        return self.process.returncode, [json.loads(line) for line in out.splitlines()]

    def begin(self, revision: str = "2025-11-25") -> None:
        params = {"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": {"name": "t", "version": "1"}}
        self.send(request("initialize", params, "begin"), {"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.until("begin")


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    path = tmp_path / "server.py"
    path.write_text(PROGRAM)
    one = Child(path)
    yield one
    one.watchdog.cancel()
    if one.process.poll() is None:
        one.process.kill()
    one.process.wait()
    for pipe in (one.stdin, one.stdout, one.stderr):
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


def cancelled(message_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": message_id}}


def accepted(asked: dict[str, Any], name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "content": {"name": name}}}


def listening(message_id: Any, **wanted: Any) -> dict[str, Any]:
    return modern("subscriptions/listen", {"notifications": wanted}, message_id)


# ------------------------------------------------------------------------------------------------ before the answer


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_progress_and_logs_come_before_the_answer_in_order(child: Child, era: str) -> None:
    if era == "handshake":
        child.begin()
    child.send(call_of("counts", 1) if era == "handshake" else modern_call("counts", 1, level="info"))
    *before, answer = child.until(1)
    assert [message["method"] for message in before] == ["notifications/progress", "notifications/message"] * 5
    assert [message["params"]["progress"] for message in before[::2]] == [1, 2, 3, 4, 5]
    assert before[0]["params"]["message"] == "line\n1"
    assert answer["result"]["content"] == text("counts")
    assert child.finish() == (0, [])


@pytest.mark.parametrize("stage", ["first", "second"])
def test_a_provider_that_answers_at_once_is_heard_before_its_answer(child: Child, stage: str) -> None:
    if stage == "second":
        child.send(modern_call("counts", 0))
        child.until(0)
    child.send(modern_call("says", 1, level="debug"))
    assert [message.get("method") for message in child.until(1)] == ["notifications/progress", "notifications/message", None]
    assert child.finish() == (0, [])


def test_what_is_said_before_there_is_work_comes_before_what_the_work_says(child: Child) -> None:
    child.send(modern_call("two stages", 1))
    *before, _ = child.until(1)
    assert [message["params"]["progress"] for message in before] == [1, 2]


def test_json_that_a_provider_wrote_over_several_lines_is_one_line(child: Child) -> None:
    child.send(modern_call("raw", 1, level="info"))
    log, answer = child.until(1)
    assert log["params"]["data"] == answer["result"]["structuredContent"] == {"a": 1}


def test_what_is_said_after_the_answer_is_not_sent(child: Child) -> None:
    child.send(modern_call("lingers", 1))
    (answer,) = child.until(1)
    assert answer["result"]["content"] == text("lingers")
    child.expect("lingered")
    child.send(modern_call("says", 2))
    assert child.next()["params"]["progressToken"] == 2


# ------------------------------------------------------------------------------------------------ questions


def test_a_question_is_answered_while_other_calls_go_on(child: Child) -> None:
    child.begin()
    child.send(call_of("asks", 1))
    asked = child.next()
    assert (asked["method"], asked["params"]["message"]) == ("elicitation/create", "Who?")
    child.send(request("ping", None, 2), call_of("counts", 3), call_of("asks", 4))
    seen = child.until(3)
    second = next((message for message in seen if message.get("method") == "elicitation/create"), None) or child.next()
    child.send(accepted(second, "second"), accepted(asked, "first"))
    answers = {message["id"]: message for message in (child.next(), child.next())}
    assert answers[1]["result"]["content"] == text("{'name': 'first'}")
    assert answers[4]["result"]["content"] == text("{'name': 'second'}")
    assert child.finish() == (0, [])


def test_a_client_that_does_not_take_questions_is_told_so(child: Child) -> None:
    child.send(call_of("asks", 1))
    (answer,) = child.until(1)
    assert answer["error"]["code"] == -32600


def test_in_2026_the_question_is_the_result_and_the_client_writes_no_response(child: Child) -> None:
    child.send(modern_call("asks", 1, capabilities={"elicitation": {}}))
    (answer,) = child.until(1)
    result = answer["result"]
    assert result["resultType"] == "input_required"
    ((key, asked),) = result["inputRequests"].items()
    assert asked["method"] == "elicitation/create"
    again = modern_call("asks", 2, capabilities={"elicitation": {}})
    again["params"]["inputResponses"] = {key: {"action": "accept", "content": {"name": "me"}}}
    if "requestState" in result:
        again["params"]["requestState"] = result["requestState"]
    child.send(again)
    (answer,) = child.until(2)
    assert answer["result"]["content"] == text("{'name': 'me'}")
    assert child.finish() == (0, [])


def test_a_cancelled_question_is_not_waited_for(child: Child) -> None:
    child.begin()
    child.send(call_of("asks", 1))
    asked = child.next()
    child.send(cancelled(1), accepted(asked, "late"), request("ping", None, 2))
    assert [message["id"] for message in child.until(2)] == [2]
    assert child.finish() == (0, [])


def test_at_the_end_of_input_nobody_waits_for_an_answer_that_cannot_come(child: Child) -> None:
    child.begin()
    child.send(call_of("asks", 1))
    assert child.next()["method"] == "elicitation/create"
    code, rest = child.finish()
    assert code == 0
    assert next(message for message in rest if message.get("id") == 1)["error"]["code"] == -32603


def test_after_the_end_of_input_nobody_is_waited_for(child: Child) -> None:
    child.begin()
    child.send(listening("a", resourceSubscriptions=["memo://one"]), call_of("asks at the end", 1))
    child.expect("waiting 1")
    code, rest = child.finish()  # which ends the subscription, and with it the wait of the call
    assert code == 0
    assert next(message for message in rest if message.get("id") == 1 and "error" in message)["error"]["code"] == -32603


# ------------------------------------------------------------------------------------------------ changes


def test_listeners_hear_what_they_asked_for_until_they_are_cancelled(child: Child) -> None:
    child.send(
        listening("tools", toolsListChanged=True),
        listening("memo", resourceSubscriptions=["memo://one"]),
        listening(7, toolsListChanged=True, promptsListChanged=True),
    )
    acknowledged = [child.next() for _ in range(3)]
    assert {message["method"] for message in acknowledged} == {"notifications/subscriptions/acknowledged"}
    honoured = {message["params"]["_meta"][SUBSCRIPTION_KEY]: message["params"]["notifications"] for message in acknowledged}
    assert honoured == {
        "tools": {"toolsListChanged": True},
        "memo": {"resourceSubscriptions": ["memo://one"]},
        7: {"toolsListChanged": True},
    }
    child.expect("watched memo://one")

    child.send(modern_call("changed", 1))
    told = {message["params"]["_meta"][SUBSCRIPTION_KEY] for message in child.until(1) if "method" in message}
    told |= {child.next()["params"]["_meta"][SUBSCRIPTION_KEY] for _ in range(2 - len(told))}
    assert told == {"tools", 7}

    child.send(cancelled("memo"))
    child.expect("unwatched memo://one")
    child.send(modern_call("updated", 2), modern_call("changed", 3))
    seen = child.until(3)
    seen += [child.next() for _ in range(4 - len(seen))]
    assert sorted(str(message.get("method")) for message in seen) == [
        "None", "None", "notifications/tools/list_changed", "notifications/tools/list_changed",
    ]  # fmt: skip
    child.send(cancelled("tools"), cancelled(7), modern_call("changed", 4))
    assert [message["id"] for message in child.until(4)] == [4]
    assert child.finish() == (0, [])


def test_an_ended_subscription_leaves_its_id_free(child: Child) -> None:
    for _ in range(3):
        child.send(listening("a", toolsListChanged=True))
        assert child.next()["params"]["_meta"] == {SUBSCRIPTION_KEY: "a"}
        child.send(cancelled("a"), request("ping", None, 1))
        assert child.next()["id"] == 1


def test_a_session_hears_of_changes_without_asking(child: Child) -> None:
    child.begin()
    child.send(request("resources/subscribe", {"uri": "memo://one"}, 1))
    child.until(1)
    child.send(call_of("changed", 2), call_of("updated", 3))
    seen = child.until(3)
    methods = [message["method"] for message in seen if "method" in message]
    while len(methods) < 2:
        methods.append(child.next()["method"])
    assert sorted(methods) == ["notifications/resources/updated", "notifications/tools/list_changed"]
    child.send(request("resources/unsubscribe", {"uri": "memo://one"}, 4))
    child.until(4)
    child.send(call_of("updated", 5))
    assert [message.get("id") for message in child.until(5)] == [5]
    assert child.finish() == (0, [])


def test_in_the_first_stage_a_session_hears_of_changes_as_well(child: Child) -> None:
    child.begin()
    child.send(call_of("changed", 2))
    assert sorted(str(message.get("method")) for message in (child.next(), child.next())) == [
        "None", "notifications/tools/list_changed",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------ leaving and cancelling


def test_at_the_end_of_input_we_leave_at_once_although_somebody_listens(child: Child) -> None:
    child.send(listening("a", toolsListChanged=True, resourceSubscriptions=["memo://one"]))
    child.next()
    assert child.finish() == (0, [])
    assert child.said[-2:] == ["unwatched memo://one", "left"]


def test_at_the_end_of_input_tasks_end(child: Child) -> None:
    child.send(modern_call("task", 1, capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}}))
    assert child.until(1)[0]["result"]["resultType"] == "task"
    child.expect("task began")
    assert child.finish()[0] == 0
    assert "task ended" in child.said


def test_nothing_more_is_sent_for_a_cancelled_call(child: Child) -> None:
    child.send(modern_call("wait", 1), modern_call("wait", "two"))
    child.expect("waiting 1")
    child.expect("waiting two")
    child.send(cancelled(1))
    child.expect("stopped 1")
    child.send(request("ping", None, 2), cancelled("two"))
    assert [message["id"] for message in child.until(2)] == [2]
    child.expect("stopped two")
    assert child.finish() == (0, [])


def test_however_many_listen_and_wait_a_cancellation_is_still_read(child: Child) -> None:
    count = LIMITS.pending_calls
    child.send(*(listening(f"l{number}", toolsListChanged=True) for number in range(count // 2)))
    child.send(*(modern_call("wait", number) for number in range(count // 2)))
    for number in range(count // 2):
        child.expect(f"waiting {number}")
    child.send(cancelled(5))
    child.expect("stopped 5")
    child.send(request("ping", None, "ping"))
    assert child.until("ping")


def test_subscriptions_take_no_place_from_calls_and_have_a_bound_of_their_own(child: Child) -> None:
    count = LIMITS.open_streams_per_caller
    child.send(*(listening(f"l{number}", toolsListChanged=True) for number in range(count + 1)))
    refusal = child.until(f"l{count}")[-1]
    assert refusal["error"]["code"] == -32603
    assert str(count) in refusal["error"]["message"]
    child.send(*(modern_call("wait", number) for number in range(LIMITS.pending_calls)))
    for number in range(LIMITS.pending_calls):
        child.expect(f"waiting {number}")
    child.send(cancelled("l0"), listening("another", toolsListChanged=True), request("ping", None, "ping"))
    seen = child.until("ping")
    child.send(request("ping", None, "pong"))
    assert "another" in [subscription(message) for message in [*seen, *child.until("pong")]]


def subscription(message: Any) -> Any:
    return message.get("params", {}).get("_meta", {}).get(SUBSCRIPTION_KEY)


def test_a_call_that_waits_for_room_may_be_cancelled_and_the_next_is_served(child: Child) -> None:
    child.send(*(modern_call("wait", number) for number in range(LIMITS.pending_calls)))
    child.send(modern_call("counts", "first", level="emergency"), modern_call("counts", "second", level="emergency"))
    for number in range(LIMITS.pending_calls):
        child.expect(f"waiting {number}")
    child.send(cancelled("first"), request("ping", None, "ping"))
    assert [message["id"] for message in child.until("ping")] == ["ping"]
    child.send(cancelled(0))
    child.expect("stopped 0")
    assert {message["params"]["progressToken"] for message in child.until("second") if "method" in message} == {"second"}
    child.send(*(cancelled(number) for number in range(1, LIMITS.pending_calls)))
    assert child.finish() == (0, [])


# ------------------------------------------------------------------------------------------------ a client that does not read


def test_a_flood_to_a_client_that_does_not_read_is_held_within_bounds() -> None:
    """The provider can be ahead of what was read by no more than the pipe and one batch of messages hold."""
    fcntl = pytest.importorskip("fcntl", reason="it is measured by what a POSIX pipe holds")
    count, said = 20_000, [0]
    filler = "x" * 200

    class Floods:
        logs = True

        def list(self, cursor: str | None) -> Any:
            return []

        async def call(self, name: str, arguments: dict[str, Any], call: Request) -> Any:
            for number in range(1, count + 1):
                call.progress(number, None, filler)
                said[0] = number
            return text("flooded")

    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    holds = fcntl.fcntl(our_read, fcntl.F_GETPIPE_SZ) if hasattr(fcntl, "F_GETPIPE_SZ") else 1 << 20
    engine = Engine().register_provider(Floods())
    thread = threading.Thread(target=lambda: stdio.run(engine, stdin=their_read, stdout=their_write))
    thread.start()
    os.write(our_write, json.dumps(modern_call("flood", 1)).encode() + b"\n")
    read = 0
    with os.fdopen(our_read, "rb", buffering=0) as out:
        rest = b""
        while b'"id":1' not in rest:
            piece = out.read(4096)
            assert piece
            ahead = said[0] * len(filler) - read
            assert ahead <= holds + 4096 + 200 * 1024, "more is held than the pipe and one batch"
            read += len(piece)
            rest = (rest + piece)[-10_000:]
        assert said[0] == count
        os.close(our_write)
        thread.join(SECONDS)
    os.close(their_read)
    os.close(their_write)
    assert not thread.is_alive()


def test_a_client_may_leave_in_the_middle_of_a_flood(child: Child) -> None:
    child.send(*(modern_call("counts", number, level="debug") for number in range(200)))
    child.next()
    child.stdout.close()
    child.send(modern_call("counts", "last"))
    child.expect("left")
    assert child.process.wait(SECONDS) == 0


def test_many_calls_that_talk_keep_their_messages_whole(child: Child) -> None:
    count = 300
    sender = threading.Thread(
        target=lambda: child.send(*(modern_call("counts", number, level="debug") for number in range(count)))
    )
    sender.start()
    seen: dict[int, list[float]] = {number: [] for number in range(count)}
    answered = 0
    while answered < count:
        message = child.next()
        if "method" not in message:
            assert seen[message["id"]] == [1, 2, 3, 4, 5]
            answered += 1
        elif message["method"] == "notifications/progress":
            seen[message["params"]["progressToken"]].append(message["params"]["progress"])
    sender.join()
    assert child.finish() == (0, [])
