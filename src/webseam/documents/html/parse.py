"""The one door to the HTML parser: a string of HTML in, a bounded tree of our own out.

Two parsers stand behind it, and both read as the HTML Standard says: turbohtml (`parse_turbo`), and where it has no wheel
(Intel Macs) lexbor, as selectolax wraps it (`parse_lexbor`). `tests/documents/test_parsers.py` holds them to the same answer.
"""

from __future__ import annotations

from webseam.documents.html.kept import Parsed

try:
    from webseam.documents.html.parse_turbo import likely_encoding, parse
except ModuleNotFoundError:  # turbohtml is not installed; one that is there and broken raises ImportError, and should be heard
    from webseam.documents.html.parse_lexbor import likely_encoding, parse

__all__ = ["Parsed", "likely_encoding", "parse"]
