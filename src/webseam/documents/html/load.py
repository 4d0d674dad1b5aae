"""From the HTML that a parser writes of its tree to our tree: compiled (`_load.pyx`), or in Python with the same answer."""

from __future__ import annotations

try:
    from webseam.documents.html._load import load
except ModuleNotFoundError:
    from webseam.documents.html.load_in_python import load

__all__ = ["load"]
