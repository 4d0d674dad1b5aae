"""Content codings: right, damaged, cut short, and bombs, fed in pieces of every size."""

from __future__ import annotations

import contextlib
import gzip
import sys
import zlib
from collections.abc import Callable
from functools import cache

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.egress.decoding import MOST_FRAMES, PIECE, Decoder, TooMuchError, UndecodableError, codings

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(data) + compressor.flush()


def brotli_quickly(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=3))


ENCODE: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli_quickly,
    "zstd": zstd.compress,
}
TEXT = b"".join(b"line %d of a page that repeats itself\n" % number for number in range(20_000))


def decode(names: list[str], data: bytes, limit: int = 10**7, step: int = 4096) -> bytes:
    decoder = Decoder(names, limit)
    pieces = [piece for start in range(0, len(data), step) for piece in decoder.feed(data[start : start + step])]
    decoder.finish()
    assert all(len(piece) <= 2 * PIECE for piece in pieces) or not names
    return b"".join(pieces)


@pytest.mark.parametrize("step", [1, 2, 7, 4096, 10**7])
@pytest.mark.parametrize("name", ENCODE)
def test_each_coding_is_undone_whatever_the_pieces(name: str, step: int) -> None:
    text = TEXT[:5_000] if step < 10 else TEXT
    assert decode([name], ENCODE[name](text), step=step) == text


@pytest.mark.parametrize("step", [1, 5, 10**7])
def test_deflate_without_its_wrapper_is_undone(step: int) -> None:
    assert decode(["deflate"], raw_deflate(TEXT[:5_000]), step=step) == TEXT[:5_000]


@pytest.mark.parametrize("outer", ENCODE)
@pytest.mark.parametrize("inner", ENCODE)
def test_two_layers_are_undone_outermost_first(inner: str, outer: str) -> None:
    assert decode(codings(f"{inner}, {outer}"), ENCODE[outer](ENCODE[inner](TEXT))) == TEXT


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@pytest.mark.parametrize("step", [1, 3, 10**6])
def test_several_members_are_one_body(name: str, step: int) -> None:
    data = ENCODE[name](b"one ") + ENCODE[name](b"") + ENCODE[name](b"two")
    assert decode([name], data, step=step) == b"one two"


@pytest.mark.parametrize("step", [1, 10**6])
def test_what_follows_the_stream_is_ignored(step: int) -> None:
    for name in ("gzip", "deflate"):
        assert decode([name], ENCODE[name](b"page") + b"\0\0\0garbage", step=step) == b"page"
    assert decode(["gzip"], gzip.compress(b"page") + b"\x1f", step=step) == b"page"


@pytest.mark.parametrize("name", ENCODE)
def test_an_empty_body_needs_no_decoding(name: str) -> None:
    assert decode([name], b"") == b""


@pytest.mark.parametrize("name", ENCODE)
@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_a_body_cut_short_is_undecodable(name: str, keep: float) -> None:
    data = ENCODE[name](TEXT)
    with pytest.raises(UndecodableError):
        decode([name], data[: max(1, int(len(data) * keep))])


@pytest.mark.parametrize("name", ENCODE)
def test_a_damaged_body_is_undecodable(name: str) -> None:
    for data in (b"<html>this is no compressed body at all</html>" * 50, ENCODE[name](TEXT)[:50] + b"\xff" * 500):
        with pytest.raises(UndecodableError):
            decode([name], data)


@cache
def bomb_of(*names: str) -> bytes:
    """Twenty megabytes of nothing, encoded."""
    return ENCODE[names[-1]](bomb_of(*names[:-1]) if len(names) > 1 else b"\0" * 20_000_000)


@pytest.mark.parametrize("name", ENCODE)
@pytest.mark.parametrize("step", [100, 10**8])
def test_a_bomb_stops_at_the_limit(name: str, step: int) -> None:
    bomb = bomb_of(name)
    decoder, out = Decoder([name], 1_000_000), 0
    with pytest.raises(TooMuchError):
        for start in range(0, len(bomb), step):
            for piece in decoder.feed(bomb[start : start + step]):
                out += len(piece)
    assert out <= 1_000_000 + 2 * PIECE


@pytest.mark.parametrize("outer", ENCODE)
@pytest.mark.parametrize("inner", ENCODE)
def test_a_bomb_in_two_layers_stops_at_the_limit(inner: str, outer: str) -> None:
    with pytest.raises(TooMuchError):
        decode([inner, outer], bomb_of(inner, outer), limit=1_000_000)


def test_an_outer_layer_that_feeds_an_inner_one_nothing_stops_at_the_limit() -> None:
    nothing = b"\x1f\x8b\x08\x08\0\0\0\0\0\0" + b"a" * 20_000_000  # a gzip header with an endless file name
    with pytest.raises(TooMuchError):
        decode(["gzip", "gzip"], gzip.compress(nothing), limit=1_000_000)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_endless_empty_members_are_refused(name: str) -> None:
    with pytest.raises(UndecodableError, match="parts"):
        decode([name], ENCODE[name](b"") * (MOST_FRAMES + 1), step=10**7)


def test_a_zstd_window_over_eight_megabytes_is_refused() -> None:
    for window, readable in ((23, True), (24, False), (27, False)):
        compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window})
        body = compressor.compress(TEXT) + compressor.flush()  # streamed, so that the frame names its window
        if readable:
            assert decode(["zstd"], body) == TEXT
        else:
            with pytest.raises(UndecodableError, match="window"):
                decode(["zstd"], body)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("", []),
        ("identity", []),
        ("none", []),
        ("UTF-8", []),
        ("GZip", ["gzip"]),
        (" br ,", ["br"]),
        ("deflate, gzip", ["deflate", "gzip"]),
    ],
)
def test_the_header_is_read_leniently(header: str, names: list[str]) -> None:
    assert codings(header) == names


@pytest.mark.parametrize("header", ["gzip, gzip, gzip", "compress", "dcb", "aes128gcm", "gzip;q=1", "br gzip"])
def test_unknown_or_too_many_codings_are_refused(header: str) -> None:
    with pytest.raises(UndecodableError):
        codings(header)


@settings(deadline=None)
@given(st.binary(max_size=2_000), st.sampled_from(sorted(ENCODE)), st.integers(1, 50))
def test_hostile_bytes_decode_or_are_refused(data: bytes, name: str, step: int) -> None:
    with contextlib.suppress(UndecodableError, TooMuchError):
        decode([name], data, limit=100_000, step=step)


@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=2_000), st.sampled_from(sorted(ENCODE)), st.integers(1, 50))
def test_whatever_was_encoded_comes_back(data: bytes, name: str, step: int) -> None:
    assert decode([name], ENCODE[name](data), step=step) == data
