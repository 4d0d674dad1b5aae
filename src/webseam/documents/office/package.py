"""What DOCX, XLSX and PPTX share (Open Packaging Conventions): relationships between parts, and metadata."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from webseam.documents.extract import Extract, given_author, given_title, iso_date, last_date
from webseam.documents.office.archive import Archive, Part
from webseam.documents.office.xml import all_of, attribute, name_of, parse, text_in

if TYPE_CHECKING:
    from lxml.etree import _Element as Node

MAX_RELATIONS = 50_000


class Relation(NamedTuple):
    """Where a relationship leads: the name of a part, or for an external one an address."""

    kind: str  # the last word of its type: "hyperlink", "slide", "notesSlide"
    target: str
    external: bool


class Package:
    """An Office file. `main` is the name of its main part, `usual` where that lies when nothing says."""

    def __init__(self, data: bytes, what: str, usual: str) -> None:
        self.archive = Archive(data, what)
        self.cut = self.archive.damaged
        roots = self.relations("")
        found = next((relation.target for relation in roots.values() if relation.kind == "officeDocument"), usual)
        self.main = found if found in self.archive else usual
        if self.main not in self.archive:
            raise self.archive.error("is damaged or cut off: the part with its text is missing. Look for another copy")

    def read(self, name: str) -> bytes:
        """The bytes of a part; b"" when it is missing."""
        part: Part = self.archive.read(name)
        if part.cut and part.data:
            self.cut = True
        return part.data

    def tree(self, name: str) -> Node:
        """The root of a part of XML."""
        return parse(self.read(name))

    def relations(self, name: str) -> dict[str, Relation]:
        """The relationships of the part `name` ("" for the package), by id."""
        folder, _, base = name.rpartition("/")
        found: dict[str, Relation] = {}
        for node in all_of(self.tree(f"{folder}/_rels/{base}.rels"), "Relationship"):
            external = attribute(node, "TargetMode").lower() == "external"
            target = attribute(node, "Target")
            if not external:
                target = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
            found[attribute(node, "Id")] = Relation(attribute(node, "Type").rpartition("/")[2], target, external)
            if len(found) >= MAX_RELATIONS:
                break
        return found

    def related(self, name: str, kind: str) -> str:
        """The part that `name` has a relationship of that kind to; "" when there is none."""
        relations = self.relations(name).values()
        return next((found.target for found in relations if found.kind == kind and not found.external), "")

    def described(self, content: str) -> Extract:
        """`content` with the metadata of the package."""
        extract = Extract(content, cut=self.cut)
        created = changed = ""
        core = self.related("", "core-properties") or "docProps/core.xml"
        for node in self.tree(core):
            text = text_in(node)
            match name_of(node):
                case "title":
                    extract.title = given_title(text)
                case "creator":
                    extract.author = given_author(text)
                case "language":
                    extract.language = text
                case "modified":
                    changed = iso_date(text)
                case "created":
                    created = iso_date(text)
        extract.date = last_date(created, changed)
        if self.archive.damaged:
            extract.notes.append("The file is damaged or cut off: this is what could be read of it.")
        return extract
