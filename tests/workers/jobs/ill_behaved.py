"""Jobs for the tests of the pool: what hostile input makes a worker do. Imported in the worker process only."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

from webseam.errors import DocumentError


def echo(*values: Any) -> list[Any]:
    return list(values)


def pid() -> int:
    return os.getpid()


def forever() -> None:
    while True:
        time.sleep(0.01)


def forever_without_letting_go() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")  # one call that holds the interpreter


def hog() -> None:
    held = []
    while True:
        held.append(bytearray(os.urandom(1)) * 8_000_000)
        time.sleep(0.001)


def no_memory() -> None:
    raise MemoryError


def exit_now() -> None:
    os._exit(3)


def leave() -> None:
    sys.exit("bye")


def abort() -> None:
    os.abort()


def fault() -> None:
    raise ValueError("a secret in the text")


def refusal() -> None:
    raise DocumentError("It is not read.", kind="unsupported_type")


def not_plain() -> object:
    return object()


def shout() -> str:
    print("noise", flush=True)
    os.write(1, b"more noise")
    return sys.stdin.read()


def modules() -> list[str]:
    import webseam.documents.html.page
    import webseam.documents.read  # noqa: F401 - what the real job loads

    return sorted(sys.modules)


def environment() -> dict[str, str]:
    return dict(os.environ)


def ignores_interrupts() -> bool:
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def touch(path: str) -> None:
    Path(path).write_text(str(os.getpid()), encoding="utf-8")
