"""The vendors, as a literal table: to add one is a file in `vendors/` and a line here.

Nothing is imported until it is asked for. The engines that are no vendors (the private index, the built-in reader) have rooms
of their own; the switchboard knows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webseam.engines.vendor import Vendor
    from webseam.seam.facts import Facts

VENDORS = {
    "brave": "webseam.engines.vendors.brave:Brave",
    "mediawiki": "webseam.engines.vendors.mediawiki:MediaWiki",
}


def vendor(name: str) -> Vendor:
    """The vendor called `name`. Raises KeyError when there is none."""
    from importlib import import_module

    module, _, attribute = VENDORS[name].partition(":")
    made: Vendor = getattr(import_module(module), attribute)()
    return made


def facts(name: str) -> Facts:
    """What the vendor called `name` can do. Raises KeyError when there is none."""
    return vendor(name).FACTS
