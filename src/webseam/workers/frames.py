"""Frames between the server and its worker processes: four bytes of length (big-endian), then MessagePack.

to the worker      {jobs: {name: "module:function"}, memory: bytes}     once
                   [id, job, [argument, ...], seconds]                  for each job
from the worker    [id, "done", result]
                   [id, "raised", class, kind, message]                 an error of ours, raised by the job
                   [id, "failed", name]                                 any other exception: its class name, no text
"""

from __future__ import annotations

from typing import IO, Any

import msgspec

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""A page of `LIMITS.page_chars` takes at most 20 MB in UTF-8."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()


class FrameError(Exception):
    """The other side ended within a frame, or sent one that is too large or no MessagePack."""


def encode_frame(value: Any) -> bytes:
    """`value` as one frame. Raises `FrameError` when it is too large or holds what MessagePack cannot carry."""
    try:
        body = _encoder.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FrameError(f"cannot be sent: {error}") from error
    if len(body) > MAX_FRAME_BYTES:
        raise FrameError(f"{len(body)} bytes are more than a frame may have")
    return len(body).to_bytes(4, "big") + body


def write_frame(file: IO[bytes], frame: bytes) -> None:
    """Write a whole frame and flush. Raises `OSError` when the other side is gone."""
    file.write(frame)
    file.flush()


def read_frame(file: IO[bytes]) -> Any | None:
    """The value of the next frame, or None at the end of the stream. Raises `FrameError`."""
    head = file.read(4)
    if not head:
        return None
    size = int.from_bytes(head, "big")
    if len(head) < 4 or size > MAX_FRAME_BYTES:
        raise FrameError("bad length")
    body = file.read(size)
    if len(body) < size:
        raise FrameError("cut off")
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FrameError("no MessagePack") from error
