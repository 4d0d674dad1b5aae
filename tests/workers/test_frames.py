"""Frames: length and MessagePack, bounded."""

from __future__ import annotations

import io
from typing import Any

import pytest

from webseam.workers.frames import MAX_FRAME_BYTES, FrameError, encode_frame, read_frame


@pytest.mark.parametrize("value", [None, 0, "é", b"\x00", [1, [2, {"a": None}]], {"k": b"v" * 100_000}])
def test_what_goes_in_comes_out(value: Any) -> None:
    assert read_frame(io.BytesIO(encode_frame(value) + b"rest")) == value


def test_the_end_of_the_stream_is_none() -> None:
    assert read_frame(io.BytesIO(b"")) is None


@pytest.mark.parametrize(
    "data",
    [b"\x00", b"\x00\x00\x00", b"\x00\x00\x00\x05ab", b"\x00\x00\x00\x01\xc1", (MAX_FRAME_BYTES + 1).to_bytes(4, "big") + b"a"],
)
def test_a_bad_frame_is_an_error(data: bytes) -> None:
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))


def test_deep_values_are_errors_and_no_crash() -> None:
    with pytest.raises(FrameError):
        read_frame(io.BytesIO((1_000_001).to_bytes(4, "big") + b"\x91" * 1_000_000 + b"\xc0"))


@pytest.mark.parametrize("value", [object(), b"x" * (MAX_FRAME_BYTES + 1), 2**70])
def test_what_cannot_be_sent_is_an_error(value: Any) -> None:
    with pytest.raises(FrameError):
        encode_frame(value)
