"""What the built-in reader can do as an engine. Imports nothing heavy: the handshake reads it."""

from __future__ import annotations

from typing import Final

from webseam.seam.facts import ROBOTS, Facts

FACTS: Final = Facts(
    name="builtin",
    title="The built-in reader",
    description="Fetches the page itself and turns it into Markdown on this machine. No key, and nobody but the site is asked.",
    reading=True,
    settings=(ROBOTS,),
    third_party=False,
    keeps=True,
    whole=True,
    checked="own",
)
