"""Where documents come from: a folder, a file, a site."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from webseam.errors import CorpusError
from webseam.index.canonical import canonical_url
from webseam.index.files import CONTENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Kind = Literal["folder", "file", "site"]

NAME_CHARS: Final = 60
_NOT_IN_NAMES: Final = re.compile(r"[^\w.]+|_+")


@dataclass(frozen=True, slots=True)
class Source:
    """One source. `location` is an absolute path or a canonical URL: one place has one spelling.

    `limit` is the page limit of a site; None is `LIMITS.crawl_pages`.
    """

    name: str
    location: str
    kind: Kind
    limit: int | None = None

    @classmethod
    def of(cls, what: str, *, name: str | None = None, limit: int | None = None, taken: Collection[str] = ()) -> Source:
        """What a person means by `what`: a folder, a file, or the address of a site.

        Without a `name` one is made of the place, other than those `taken`; a given one is spelled as names are ("My notes" is
        "my-notes"). Raises `CorpusError` "no_source" when `what` is nothing that can be indexed.
        """
        kind: Kind
        if not what.strip():  # an unset shell variable; `Path("")` would be the current folder
            raise _no_source("The name of what to index is empty: give a folder, a file, or the address of a site.")
        if "://" in what:
            location = canonical_url(what)
            if not location:
                shown = re.sub(r"//[^/?#]*@", "//...@", what)[:200]  # a password may stand there
                raise _no_source(
                    f"{shown!r} is not the address of a site: give one that begins with http:// or https://, without a user "
                    "name or password."
                )
            place, kind = location.partition("://")[2].partition("?")[0].removeprefix("www."), "site"
        else:
            location, kind = _file_or_folder(what)
            place = Path(location).name if kind == "folder" else Path(location).stem
        if name is not None:
            spelled = _spelled(name)
            if not spelled:
                raise _no_source(f"{name[:200]!r} cannot be the name of a source: use letters and digits.")
            return cls(spelled, location, kind, limit)
        return cls(_free(_spelled(place) or kind, taken), location, kind, limit)

    def to_json(self) -> dict[str, Any]:
        """The source as JSON can carry it."""
        return {"name": self.name, "location": self.location, "kind": self.kind, "limit": self.limit}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Source:
        """The source that `to_json` wrote. Raises KeyError, TypeError and ValueError for anything else."""
        if data["kind"] not in ("folder", "file", "site"):
            raise ValueError(f"a source is a folder, a file or a site, not {data['kind']!r}")
        limit = data.get("limit")
        return cls(str(data["name"]), str(data["location"]), data["kind"], None if limit is None else int(limit))


def _file_or_folder(what: str) -> tuple[str, Kind]:
    try:
        path = Path(what).expanduser()
        location = os.path.realpath(path)
        location.encode("utf-8")
        folder, file = path.is_dir(), path.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # a NUL, a name that is not UTF-8, no home directory
        raise _no_source(f"{what[:200]!r} cannot be the name of a folder or a file: {error}.") from error
    if folder:
        return location, "folder"
    if not file:
        raise _no_source(
            f"There is no folder or file {what[:200]!r}: give one that exists, or a site's address with https:// before it."
        )
    if path.suffix.lower() not in CONTENT_TYPES:
        raise _no_source(
            f"{what[:200]} cannot be indexed: Markdown, HTML and text, PDF, Office files and e-books can "
            f"({' '.join(CONTENT_TYPES)})."
        )
    return location, "file"


def _no_source(message: str) -> CorpusError:
    return CorpusError(message, kind="no_source")


def _spelled(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text.lower())[:NAME_CHARS].strip("-.")


def _free(name: str, taken: Collection[str]) -> str:
    if name not in taken:
        return name
    return next(free for number in range(2, len(taken) + 3) if (free := f"{name}-{number}") not in taken)
