"""Is the index on disk what tantivy wrote? Asked before anything of it is mapped into memory.

tantivy checks no checksum when it opens an index: bytes that have changed give wrong answers, a panic or an endless loop later.
But each of its segment files ends with one (`{"version": ..., "crc": N}`, the footer's length, the magic number 1337: see
`Footer` in its `directory/footer.rs`), and a file is never changed once written. So each file is read once by each process,
about a gigabyte a second, and is known to be whole from then on.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final

from webseam.errors import CorpusError
from webseam.index.schema import ENGLISH, FIELDS

if TYPE_CHECKING:
    from pathlib import Path

META: Final = "meta.json"
"""tantivy's table of contents: which segments there are, and the schema."""

_MAGIC: Final = 1337
_FOOTER_BYTES: Final = 4096
_META_BYTES: Final = 16 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_PARTS: Final = ("term", "idx", "pos", "fieldnorm", "fast", "store")


def damaged(what: str, detail: str = "") -> CorpusError:
    """The error for an index that cannot be trusted. `what` is the fault, as "its file x is missing"."""
    return CorpusError(
        f"The private index is damaged ({what}): `webseam index rebuild` makes it anew from its sources; nothing else is lost."
        + (f"\n{' '.join(detail.split())[:500]}" if detail else ""),
        kind="damaged",
    )


def verify(documents: Path, meta: bytes, whole: set[str]) -> None:
    """Check every file that `meta` names, but those in `whole`, and add them to it.

    Raises `CorpusError` "damaged", and `FileNotFoundError` for a file that is not there: it may have been merged into another
    since `meta` was read.
    """
    contents = _contents(meta)
    _check_format(contents)
    names = _file_names(contents)
    for name in names:
        if name not in whole:
            _check_file(documents / name)
    whole.clear()
    whole.update(names)


def read_meta(documents: Path) -> bytes:
    """The bytes of the table of contents."""
    try:
        with (documents / META).open("rb") as file:
            return file.read(_META_BYTES)
    except FileNotFoundError as error:
        raise damaged(f"its table of contents {META} is missing") from error
    except OSError as error:
        raise damaged(f"its table of contents {META} cannot be read", str(error)) from error


def _contents(meta: bytes) -> dict[str, Any]:
    try:
        contents = json.loads(meta)
        if isinstance(contents, dict) and isinstance(contents["segments"], list) and isinstance(contents["schema"], list):
            return contents
    except (ValueError, KeyError, RecursionError):
        pass
    raise damaged(f"its table of contents {META} cannot be read")


def _check_format(contents: dict[str, Any]) -> None:
    try:
        fields = {field["name"]: field for field in contents["schema"]}
        analyzer = str(fields["text"]["options"]["indexing"]["tokenizer"])
    except (KeyError, TypeError) as error:
        raise damaged(f"its table of contents {META} is not ours") from error
    if analyzer != ENGLISH or tuple(fields) != FIELDS:
        raise CorpusError(
            f"The private index was written by another version of Webseam (its format is {analyzer!r}, this version reads "
            f"{ENGLISH!r}): `webseam index rebuild` makes it anew from its sources; nothing else is lost.",
            kind="damaged",
        )


def _file_names(contents: dict[str, Any]) -> list[str]:
    names = []
    try:
        for segment in contents["segments"]:
            number = segment["segment_id"].replace("-", "")
            int(number, 16)
            names += [f"{number}.{part}" for part in _PARTS]
            if segment.get("deletes"):
                names.append(f"{number}.{int(segment['deletes']['opstamp'])}.del")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise damaged(f"its table of contents {META} cannot be read") from error
    return names


def _check_file(path: Path) -> None:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            tail_start = file.seek(max(0, size - _FOOTER_BYTES))
            body, checksum = _footer(file.read(), size - tail_start, size)
            file.seek(0)
            found = 0
            while body > 0:
                block = file.read(min(_BLOCK, body))
                if not block:
                    break
                found = zlib.crc32(block, found)
                body -= len(block)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise damaged(f"its file {path.name} cannot be read", str(error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged(f"its file {path.name} is cut short or overwritten") from error
    if found != checksum:
        raise damaged(f"its file {path.name} does not match its checksum")


def _footer(tail: bytes, length: int, size: int) -> tuple[int, int]:
    """How many bytes come before the footer, and their checksum."""
    footer_length, magic = int.from_bytes(tail[-8:-4], "little"), int.from_bytes(tail[-4:], "little")
    if magic != _MAGIC or footer_length + 8 > length:
        raise ValueError("no footer")
    return size - footer_length - 8, int(json.loads(tail[-8 - footer_length : -8])["crc"])
