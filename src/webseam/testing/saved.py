"""Saved replies: what a vendor answered, as a file: `replies/<vendor>/<case>.json`.

    {"about": "...", "status": 200, "headers": {...}, "body": <JSON, or a string sent as it is>}

A case of a failure says its `kind` (`seam.failures.Kind`), and `retry_after` where the vendor tells it. Cases in `replies/any`
hold for every vendor that has none of its own by that name; they may also `repeat` a text after the body, `hang`, or `drop` the
connection. `vendor.json` says the path of the API, the header of the key, the one key that is valid there, and which case
answers a request without a key, or with another.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from webseam.seam.contract import HttpReply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_SHARED = "any"
_VENDOR = "vendor"


@dataclass(frozen=True, slots=True)
class Saved:
    """One saved reply. `kind` is "" for a success; `chunk` is sent `times` times after `body`."""

    case: str
    status: int
    headers: dict[str, str]
    body: bytes
    kind: str = ""
    retry_after: float | None = None
    chunk: bytes = b""
    times: int = 0
    hang: bool = False
    drop: bool = False

    @property
    def size(self) -> int:
        """How many bytes the body has in all."""
        return len(self.body) + len(self.chunk) * self.times

    def chunks(self) -> Iterator[bytes]:
        """The body in pieces of about 64 KB."""
        yield self.body
        each = max(1, 65_536 // max(1, len(self.chunk)))
        for begin in range(0, self.times, each):
            yield self.chunk * min(each, self.times - begin)

    def reply(self, url: str = "http://127.0.0.1/") -> HttpReply:
        """As a door would hand it over."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        return HttpReply(self.status, headers, b"".join(self.chunks()), url)


@dataclass(frozen=True, slots=True)
class About:
    """A vendor's saved self: see the module."""

    path: str
    key_header: str = ""
    key: str = ""
    without_key: str = ""
    wrong_key: str = ""
    cases: tuple[str, ...] = field(default=())


def vendors() -> list[str]:
    """The vendors with saved replies."""
    return sorted(entry.name for entry in _root().iterdir() if entry.is_dir() and entry.name != _SHARED)


def about(name: str) -> About:
    """The vendor's path, key and cases. Raises KeyError when nothing of it is saved."""
    if name not in vendors():
        raise KeyError(name)
    found = {
        entry.name.removesuffix(".json") for room in (name, _SHARED) for entry in (_root() / room).iterdir() if _is_json(entry)
    }
    return About(**_load(_root() / name / f"{_VENDOR}.json"), cases=tuple(sorted(found - {_VENDOR})))


def saved(name: str, case: str) -> Saved:
    """One case of a vendor. Raises KeyError when there is none of that name."""
    for room in (name, _SHARED):
        file = _root() / room / f"{case}.json"
        if case != _VENDOR and file.is_file():
            return _saved(case, _load(file))
    raise KeyError(f"{name} has no saved reply {case!r}: there are {', '.join(about(name).cases)}")


def _saved(case: str, data: dict[str, Any]) -> Saved:
    body = data["body"]
    repeat = data.get("repeat", {"text": "", "times": 0})
    return Saved(
        case=case,
        status=data["status"],
        headers=data["headers"],
        body=(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)).encode(),
        kind=data.get("kind", ""),
        retry_after=data.get("retry_after"),
        chunk=repeat["text"].encode(),
        times=repeat["times"],
        hang=data.get("hang", False),
        drop=data.get("drop", False),
    )


def _load(file: Traversable) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return loaded


def _is_json(entry: Traversable) -> bool:
    return entry.name.endswith(".json")


def _root() -> Traversable:
    return files("webseam.testing") / "replies"
