"""transports: a request of HTTP as far as it is no message yet: its headers, its body, and how it is refused.

What is refused here is so by HTTP alone, and answered by raising `Answer`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.protocol.codec import encode
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_REQUEST, shown
from webseam.transports.exchange import Begun

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping

    Event = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Event]]

BODY_SECONDS = LIMITS.call_seconds
DROPPED_BYTES = LIMITS.message_bytes * 7
"""How much of a message that is too large is read all the same: a client that is still sending would not see the answer."""
RETRY_AFTER_SECONDS = 1
LARGE_HEAD = (
    f"The headers are too large: send at most {LIMITS.header_count}, and {LIMITS.header_bytes // 1024} KB of them altogether."
)
CLOSE = (b"connection", b"close")
RETRY = (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)
LARGE_DIGITS = len(str(LIMITS.message_bytes))
"""A Content-Length of fewer digits is not too large."""


class Answer(Exception):  # noqa: N818  # it is how a check answers, not an error of ours
    """An answer that ends the request here."""

    def __init__(self, status: int, text: str, *headers: tuple[bytes, bytes], code: int = INVALID_REQUEST) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers
        self.body = encode({"jsonrpc": "2.0", "error": {"code": code, "message": text}})


if TYPE_CHECKING:
    _Mapping = Mapping[str, str]
else:
    _Mapping = object  # an instance of an abstract class takes twice as long to make


class Headers(_Mapping):
    """The headers of a request by lower-case name, decoded when they are asked for: most never are."""

    __slots__ = ("raw",)

    def __init__(self, fields: Collection[tuple[bytes, bytes]]) -> None:
        """Raises `Answer` when there are too many."""
        if len(fields) > LIMITS.header_count:
            raise Answer(431, LARGE_HEAD, CLOSE)
        self.raw = dict(fields)
        if len(self.raw) != len(fields):
            self.raw = _combined(fields)

    def replaced(self, name: bytes, value: bytes) -> Headers:
        """The same, with another value for one of them."""
        return Headers((self.raw | {name: value}).items())

    def get(self, name: str, default: Any = None) -> Any:
        value = self.raw.get(name.encode())
        return default if value is None else value.strip(b" \t").decode("latin-1")  # RFC 9110, section 5.5

    def __getitem__(self, name: str) -> str:
        return self.raw[name.encode()].strip(b" \t").decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1") for name in self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.encode() in self.raw

    def keys(self) -> KeysView[str]:
        return KeysView(self)

    def items(self) -> ItemsView[str, str]:
        return ItemsView(self)

    def values(self) -> ValuesView[str]:
        return ValuesView(self)


Mapping.register(Headers)


class Count:
    """How many there are of something, in all and of each caller. `what` completes the sentence that refuses another."""

    __slots__ = ("_all", "_callers", "_each", "_of", "_what")

    def __init__(self, what: str, of_all: int, of_each: int) -> None:
        self._what = what
        self._of = of_all
        self._each = of_each
        self._all = 0
        self._callers: dict[str, int] = {}

    def full(self, principal: str) -> bool:
        """Whether there is no place for another."""
        return self._all >= self._of or self._callers.get(principal, 0) >= self._each

    def refusal(self, principal: str) -> Answer:
        """What says so."""
        limit = self._each if self._all < self._of and self._callers.get(principal, 0) >= self._each else self._of
        text = f"{limit} {self._what}, as many as this server takes on: try again in {RETRY_AFTER_SECONDS} s."
        return Answer(503, text, RETRY, code=INTERNAL_ERROR)

    def take(self, principal: str) -> None:
        """Take a place; to be given back."""
        self._all += 1
        self._callers[principal] = self._callers.get(principal, 0) + 1

    def give(self, principal: str) -> None:
        """Give a place back."""
        self._all -= 1
        own = self._callers[principal] - 1
        if own:
            self._callers[principal] = own
        else:
            del self._callers[principal]


# ------------------------------------------------------------------------------------------------ requests


def at_once(receiving: Any) -> tuple[Event | None, Any]:
    """The first event of a request, which is there already but for slow clients; else what to await for it."""
    if not hasattr(receiving, "send"):
        return None, receiving
    try:
        waited = receiving.send(None)
    except StopIteration as done:
        return done.value, None
    return None, Begun(receiving, waited)


async def first_event(receiving: Awaitable[Event]) -> Event:
    """The first event of a request from a slow client. Raises `Answer`."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await receiving
    except TimeoutError:
        raise _too_slow() from None


def check_length(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a body by the length it claims, where its sender would learn of it: one that is only sent once we say so, or so
    large that nobody sends it by mistake. Raises `Answer`."""
    length = headers[b"content-length"].strip()
    if not length.isdigit():
        raise Answer(400, "The Content-Length header is not a number.", CLOSE)
    declared = int(length[:20])
    if declared > DROPPED_BYTES or (declared > LIMITS.message_bytes and b"expect" in headers):
        raise _too_large()


async def whole_body(event: Event, headers: Mapping[bytes, bytes], receive: Receive) -> bytes | None:
    """The whole of a body that begins with `event`; None when the client left. Raises `Answer` when it is too large or takes
    too long."""
    limit = LIMITS.message_bytes
    length = headers.get(b"content-length", b"0").strip()
    if not length.isdigit():
        raise Answer(400, "The Content-Length header is not a number.", CLOSE)
    declared = int(length[:20])
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while event["type"] == "http.request":
                piece = event.get("body", b"")
                size += len(piece)
                if size > DROPPED_BYTES:
                    raise _too_large()
                if max(size, declared) <= limit:
                    pieces.append(piece)
                else:  # dropped, but read to its end: a client that is still sending would not see the answer
                    pieces.clear()
                if not event.get("more_body"):
                    break
                event = await receive()
            else:
                return None
    except TimeoutError:
        raise _too_slow() from None
    if max(size, declared) > limit:
        raise _too_large()
    return b"".join(pieces)


def _too_slow() -> Answer:
    return Answer(408, f"The message did not arrive within {BODY_SECONDS:.0f} s.", CLOSE)


def _too_large() -> Answer:
    return Answer(413, f"A message may have at most {LIMITS.message_bytes} bytes.", CLOSE)


def check_message(headers: Mapping[bytes, bytes]) -> None:
    """Refuse what is no message of ours, by its headers alone. Raises `Answer`."""
    content_type = headers.get(b"content-type", b"")
    if content_type != b"application/json" and not _is_json(content_type):
        raise Answer(415, "Messages are sent as `Content-Type: application/json`.")
    encoding = headers.get(b"content-encoding")
    if encoding is not None and encoding.lower() != b"identity":
        raise Answer(415, "Messages are sent without a Content-Encoding.")
    accept = headers.get(b"accept", BOTH)
    if accept != BOTH and not accepts(accept, JSON_RANGES):
        raise Answer(406, "Answers are application/json: send `Accept: application/json, text/event-stream`.")


def _combined(fields: Collection[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    """Headers of which some came more than once, joined (RFC 9110, section 5.2): so that none is chosen over another.
    Raises `Answer` when they are too large."""
    if sum(len(name) + len(value) for name, value in fields) > LIMITS.header_bytes:
        raise Answer(431, LARGE_HEAD, CLOSE)
    headers: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        headers.setdefault(name, []).append(value)
    return {name: b", ".join(values) for name, values in headers.items()}


def _is_json(content_type: bytes) -> bool:
    return content_type.partition(b";")[0].strip().lower() == b"application/json"


JSON_RANGES = frozenset({b"application/json", b"application/*", b"*/*"})
EVENT_RANGES = frozenset({b"text/event-stream", b"text/*", b"*/*"})
_NOT_AT_ALL = re.compile(rb"(^|;)\s*[qQ]=0(\.0*)?\s*(;|$)")  # RFC 9110, section 12.4.2
BOTH = b"application/json, text/event-stream"
"""What most clients send, word for word."""


def accepts(accept: bytes, ranges: frozenset[bytes]) -> bool:
    """Whether one of `ranges` is among what is accepted. Clients must accept both JSON and event streams."""
    for part in accept.split(b","):
        name, _, parameters = part.partition(b";")
        if name.strip().lower() in ranges and not _NOT_AT_ALL.search(parameters):
            return True
    return False


def text_of(value: bytes) -> str:
    return shown(value.decode("latin-1"))
