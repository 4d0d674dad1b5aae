"""protocol: where msgspec is loaded, and the codecs that are built once.

msgspec imports `typing_extensions` when it is installed (it usually is: aiohttp brings it), which costs more than the rest
of msgspec together and gives nothing on Python 3.11+, where `typing` has all it asks for. A cold start of `webseam stdio` has a
budget, so it is hidden from msgspec for the moment of its import. Where msgspec or `typing_extensions` is loaded already,
nothing is done.
"""

from __future__ import annotations

import sys

_HIDDEN = "typing_extensions"

if "msgspec" in sys.modules or _HIDDEN in sys.modules:
    import msgspec
else:
    sys.modules[_HIDDEN] = None  # type: ignore[assignment]  # None makes `import` raise ImportError: the documented way
    try:
        import msgspec
    finally:
        del sys.modules[_HIDDEN]

__all__ = ["UNSET", "Raw", "Struct", "UnsetType", "decode", "encode", "msgspec", "well_formed"]

Struct = msgspec.Struct
Raw = msgspec.Raw
UNSET = msgspec.UNSET
UnsetType = msgspec.UnsetType

encode = msgspec.json.Encoder().encode
"""JSON on one line, UTF-8. Raises TypeError, RecursionError or ValueError for what has no JSON form."""

decode = msgspec.json.Decoder().decode
"""Any JSON value as plain Python. Raises `msgspec.DecodeError` or RecursionError."""

well_formed = msgspec.json.Decoder(Raw).decode
"""The same bytes, checked to be one JSON value without building it. Raises `msgspec.DecodeError` or RecursionError."""
