"""What the fuzzer holds an engine to: whether a message is due an answer, decided apart from the engine, and what an answer
may be."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from webseam.config import LIMITS
from webseam.protocol.revisions import MODERN, VERSION_KEY


class FindingError(AssertionError):
    """The engine did something that it must not."""


def hold(condition: object, text: str, *about: Any) -> None:
    if not condition:
        raise FindingError(f"{text}: {', '.join(_short(one) for one in about)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 1_000 else f"{text[:1_000]}... ({len(text)})"


NOTHING, ANSWER, ERROR, REFUSAL, BATCH, ANYTHING = "nothing", "answer", "error", "refusal", "batch", "anything"


class Due(NamedTuple):
    """What a message is due: `NOTHING`; an `ANSWER` or an `ERROR` with `id`; a `REFUSAL`, which has no id; a `BATCH` of what is
    due to each; `ANYTHING` where it cannot be told."""

    what: str
    id: Any = None
    method: str = ""
    version: str | None = None
    parts: tuple[Due, ...] = ()

    @property
    def methods(self) -> set[str]:
        return {self.method, *(part.method for part in self.parts)}


def due(data: bytes, *, modern: bool) -> Due:
    """What the bytes are due from an engine that serves the `modern` era, or does not."""
    wanted = _due(data)
    if modern:
        return wanted
    return wanted._replace(version=None, parts=tuple(part._replace(version=None) for part in wanted.parts))


def _due(data: bytes) -> Due:
    if len(data) > LIMITS.message_bytes:
        return Due(REFUSAL)
    try:
        message = json.loads(data.decode(), parse_constant=_no_json, parse_int=_whole, parse_float=_real)
    except (RecursionError, OverflowError):
        return Due(ANYTHING)
    except ValueError:
        return Due(REFUSAL)
    if isinstance(message, list):
        return Due(BATCH, parts=tuple(_due_one(part) for part in message))
    return _due_one(message)


def _no_json(word: str) -> Any:
    raise ValueError(word)


def _whole(digits: str) -> int:
    if len(digits) > 300:  # decoders may differ
        raise OverflowError
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if len(digits) > 300 or math.isinf(number):
        raise OverflowError
    return number


def _due_one(message: Any) -> Due:
    if not isinstance(message, dict):
        return Due(REFUSAL)
    there, message_id = "id" in message, message.get("id")
    usable = isinstance(message_id, str | int) and not isinstance(message_id, bool)
    if isinstance(message_id, str):
        message_id = re.sub("[\ud800-\udfff]", "\ufffd", message_id)
    method = message.get("method")
    if isinstance(method, str) and not there:
        return Due(NOTHING, method=method)
    sound = message.get("jsonrpc") == "2.0" and ("method" not in message or isinstance(method, str))
    if not sound or _depth(message) > LIMITS.message_depth:
        return Due(ERROR, message_id) if usable else Due(REFUSAL)
    if isinstance(method, str):
        return Due(ANSWER, message_id, method, _version(message)) if usable else Due(REFUSAL, method=method)
    if ("result" in message or "error" in message) and (usable or not there):
        return Due(NOTHING)
    return Due(ERROR, message_id) if usable else Due(REFUSAL)


def _version(message: dict[str, Any]) -> str | None:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else None


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return 0
    return 1 + max(map(_depth, value), default=0)


# ------------------------------------------------------------------------------------------------ answers

COMMON = {-32700, -32600, -32601, -32602, -32603, 7}  # 7 is the provider's own
MODERN_CODES = COMMON | {-32020, -32021, -32022}
HANDSHAKE_CODES = COMMON | {-32002, -32042, -32022}
STATUSES = {200, 202, 400, 404, 413}
MODERN_STATUSES = {-32601: 404, **dict.fromkeys((-32700, -32600, -32602, -32020, -32021, -32022), 400)}
LEAKS = (b"Traceback", b'File \\"', b".py:", b'.py\\"', b"/webseam", b"site-packages", b"hunter2", b" object at 0x")


def check_answer(due: Due, reply: bytes | None, status: int, asked: bytes, faults: int) -> Any:
    """Whether `reply` is what was due to the message `asked`; gives it decoded."""
    hold(status in STATUSES, "a status that there is not", status, asked)
    if reply is None:
        hold(due.what in (NOTHING, ANYTHING) or _silent(due), "no answer, though one is due", asked, due)
        hold(status in (202, 400, 413), "no answer has this status", status, asked)
        return None
    hold(due.what != NOTHING, "an answer, though none is due", asked, reply)
    answer = decoded(reply)
    for leak in LEAKS:
        hold(leak not in reply or leak in asked, "an answer tells of our inside", leak, reply, asked)
    if isinstance(answer, list):
        hold(due.what in (BATCH, ANYTHING), "an array answers what is no batch", asked, reply)
        _check_batch(due, answer, asked, faults)
    elif due.what == BATCH:
        check_message(Due(REFUSAL), answer, asked, faults)
    else:
        check_message(due, answer, asked, faults)
        _check_status(due, answer, status, asked)
    return answer


def decoded(reply: bytes) -> Any:
    """One line of JSON."""
    hold(b"\n" not in reply and b"\r" not in reply, "not one line", reply)
    try:
        return json.loads(reply.decode(), parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise FindingError(f"not JSON ({error}): {_short(reply)}") from None


def _silent(due: Due) -> bool:
    return due.what == BATCH and all(part.what == NOTHING for part in due.parts)


def _check_batch(due: Due, answers: list[Any], asked: bytes, faults: int) -> None:
    wanted = [part for part in due.parts if part.what != NOTHING]
    if due.what == BATCH:
        hold(answers and len(answers) <= len(wanted), "more answers than are due in a batch, or none", asked, answers)
    for answer in answers:  # some may have been cancelled
        while wanted and not _fits(wanted[0], answer):
            wanted.pop(0)
        hold(wanted or due.what != BATCH, "an answer in a batch that nothing asked for", answer, asked)
        check_message(wanted.pop(0) if wanted else Due(ANYTHING), answer, asked, faults)


def _fits(due: Due, answer: Any) -> bool:
    return isinstance(answer, dict) and (_same_id(due.id, answer) if due.what in (ANSWER, ERROR) else answer.get("id") is None)


def _same_id(wanted: Any, answer: Any) -> bool:
    found = answer.get("id")
    if isinstance(wanted, str) and len(wanted) > LIMITS.id_chars:  # refused, and not repeated in full
        return "error" in answer and (found is None or (isinstance(found, str) and wanted.startswith(found)))
    return found == wanted and type(found) is type(wanted)


def check_message(due: Due, answer: Any, asked: bytes, faults: int) -> None:
    """Whether one answer has the shape, the id and an error code that may be."""
    hold(isinstance(answer, dict) and answer.get("jsonrpc") == "2.0", "not an answer of JSON-RPC 2.0", answer, asked)
    hold(answer.keys() <= {"jsonrpc", "id", "result", "error"}, "an answer with other members", answer, asked)
    hold(("result" in answer) != ("error" in answer), "neither result nor error, or both", answer, asked)
    if due.what in (ANSWER, ERROR):
        same = _same_id(due.id, answer)
        hold(same, "another id than the request's", answer, due.id, asked)
    elif due.what == REFUSAL:
        hold(answer.get("id") is None, "an id where none can be known", answer, asked)
    if "error" not in answer:
        hold(due.what in (ANSWER, ANYTHING), "a result for what is no request", answer, asked)
        hold(isinstance(answer["result"], dict), "a result that is no object", answer)
        hold(("resultType" in answer["result"]) == (due.version in MODERN) or due.what == ANYTHING, "resultType", answer, asked)
        return
    error = answer["error"]
    hold(isinstance(error, dict) and error.keys() <= {"code", "message", "data"}, "a strange error", error)
    hold(isinstance(error.get("message"), str) and len(error["message"]) < 2_000, "an error says nothing, or all", error)
    codes = MODERN_CODES if due.version is not None else HANDSHAKE_CODES
    hold(error["code"] in codes, "an error code that this revision has not", error, asked)
    if error["message"] == "Internal error":  # what an accident says; the others are said on purpose
        hold(faults, "an internal error", error, asked)


def _check_status(due: Due, answer: Any, status: int, asked: bytes) -> None:
    code = answer["error"]["code"] if "error" in answer else None
    if code is None:
        hold(status == 200, "a result with another status than 200", status, asked)
    elif due.what == ANSWER and due.version in MODERN and code in MODERN_STATUSES:
        hold(status == MODERN_STATUSES[code], "an error with another status than its own", status, answer, asked)
