"""From bytes to text. What is slow is compiled (`scripts/compiled.py`), with the same answer as the Python that it is made of.

`WEBSEAM_PURE=1` runs that Python: where a compiled module is suspected, and to test it.
"""

import os
import sys

if os.environ.get("WEBSEAM_PURE"):
    from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

    for _folder in (__path__[0], os.path.join(__path__[0], "html")):  # noqa: PTH118 - the very string that the import looks up
        sys.path_importer_cache[_folder] = FileFinder(_folder, (SourceFileLoader, SOURCE_SUFFIXES))
