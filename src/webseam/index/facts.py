"""What the private index can do as an engine. Imports nothing heavy: the handshake reads it."""

from __future__ import annotations

from typing import Final

from webseam.seam.facts import ROBOTS, Facts

FACTS: Final = Facts(
    name="index",
    title="The private index",
    description="Full-text search over the folders and sites that you indexed. Nothing leaves this machine.",
    search=True,
    reading=True,
    filters=frozenset({"include_domains", "exclude_domains"}),
    settings=(ROBOTS,),
    third_party=False,
    checked="own",
)
