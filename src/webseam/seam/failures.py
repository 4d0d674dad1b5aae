"""How an engine fails: the kinds, and the sentence for each.

Peers swallow a vendor's failure into an empty list; here every failure is raised, and its first line says which engine,
what happened, and the setting and variable that would change it. The vendor's own words follow on later lines.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from webseam.config import LIMITS
from webseam.errors import ProviderError

if TYPE_CHECKING:
    from webseam.seam.facts import Facts


class Kind(StrEnum):
    """What went wrong at an engine."""

    NO_KEY = "no_key"
    KEY_REJECTED = "key_rejected"
    OUT_OF_CREDIT = "out_of_credit"
    RATE_LIMITED = "rate_limited"
    BAD_PARAMETER = "bad_parameter"
    REFUSED = "refused"  # by region or plan
    VENDOR_DOWN = "vendor_down"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNREADABLE_REPLY = "unreadable_reply"
    NOT_AVAILABLE = "not_available"  # the engine cannot answer as it is set up (no index yet, say)


def how_to_set(facts: Facts) -> str:
    """The words that say how the engine's key is given, as "`webseam set brave api_key` or BRAVE_API_KEY"."""
    for setting in facts.settings:
        if setting.type == "secret":
            ways = [f"`webseam set {facts.name} {setting.key}`", *setting.variables]
            return " or ".join(ways)
    return f"`webseam set {facts.name}`"


def failure(
    facts: Facts,
    kind: Kind,
    *,
    status: int | None = None,
    retry_after: float | None = None,
    vendor_says: str = "",
    door_says: str = "",
    request_id: str | None = None,
    seconds: float | None = None,
) -> ProviderError:
    """The error to raise for `kind`, worded for the engine. `vendor_says` is foreign text: it goes on a later line, cut.

    It must be without secrets when it comes here: half of one in front of the cut could not be found any more. `door_says` are
    the words of our own door, when nothing came from the vendor; `seconds` is how long was waited, for a timeout.
    """
    title = facts.title
    within = f"within {seconds:.3g} s" if seconds is not None else "in time"
    wait = f" Try again in {retry_after:.0f} s." if retry_after is not None else " Try again later."
    sentence = {
        Kind.NO_KEY: f"{title} needs a key that is not set: give it with {how_to_set(facts)}"
        + (f" (get one at {facts.key_page})." if facts.key_page else "."),
        Kind.KEY_REJECTED: f"{title} rejected the key: replace it with {how_to_set(facts)}.",
        Kind.OUT_OF_CREDIT: f"{title} says the account is out of credit: top it up"
        + (f" at {facts.price_page}" if facts.price_page else "")
        + ", or choose another engine with `webseam use`.",
        Kind.RATE_LIMITED: f"{title} limits how often it may be asked, and the limit is reached.{wait}",
        Kind.BAD_PARAMETER: f"{title} refused a parameter of this request: change the query or the filters.",
        Kind.REFUSED: f"{title} refuses this for the account's region or plan: choose another engine with `webseam use`.",
        Kind.VENDOR_DOWN: f"{title} has a fault of its own.{wait}",
        Kind.UNREACHABLE: f"{title} cannot be reached: check the network, or `base_url` of {facts.name} when it is set.",
        Kind.TIMEOUT: f"{title} did not answer {within}: try again, or choose another engine with `webseam use`.",
        Kind.UNREADABLE_REPLY: f"{title} sent a reply that cannot be read (unreadable reply): try again; if it goes on, choose "
        "another engine with `webseam use`.",
        Kind.NOT_AVAILABLE: f"{title} cannot answer yet.",
    }[kind]
    details = []
    if status is not None:
        details.append(f"status {status}")
    if request_id:
        details.append(f"request {request_id[:100]}")
    if vendor_says:
        details.append(f"it says: {' '.join(vendor_says.split())[: LIMITS.error_chars // 4]}")
    if door_says:
        details.append(" ".join(door_says.split()))
    text = sentence + (f"\n{facts.name}: " + "; ".join(details) if details else "")
    return ProviderError(
        text, kind=kind.value, engine=facts.name, retry_after=retry_after, status=status, request_id=request_id
    )
