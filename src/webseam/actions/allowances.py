"""Trusting a private address: which host and port, for which purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.accounts.store import StoredAllowance
from webseam.egress.addresses import never_opened
from webseam.egress.urls import parse
from webseam.errors import ArgumentError, DoorError

if TYPE_CHECKING:
    from webseam.switchboard import Switchboard

READING = "reading"
INDEX = "index"


def allowance(switchboard: Switchboard, address: str, purpose: str = READING) -> StoredAllowance:
    """What `webseam allow ADDRESS --for PURPOSE` means: the host as WHATWG URLs spell it, the port (80 when none is given)."""
    kind, _, name = purpose.partition(":")
    if kind == "engine" and name:
        switchboard.facts(name)
    elif purpose not in (READING, INDEX):
        raise ArgumentError(f"{purpose!r} is no purpose: --for reading, --for index or --for engine:NAME.")
    given = address.strip()
    if "*" in given:
        raise ArgumentError(f"{given!r} holds a wildcard: allow one host and port, as `webseam allow localhost:3000`.")
    try:
        url = parse(given if "://" in given else f"http://{given}/")
    except DoorError as error:
        raise ArgumentError(f"{given!r} is not a host and port: write it as `webseam allow localhost:3000`.") from error
    return StoredAllowance(url.host, url.port, purpose)


def spelled(found: StoredAllowance) -> str:
    """`localhost:3000 for reading`."""
    return f"{found.host}:{found.port} for {found.purpose}"


def allow(switchboard: Switchboard, account: str, address: str, purpose: str = READING) -> str:
    """Trust the address from the next request on, in every running process."""
    found = allowance(switchboard, address, purpose)
    never = never_opened(found.host)
    if never is not None:
        raise ArgumentError(f"{found.host} cannot be allowed: it is {never}, which no exception opens.")
    switchboard.store.allow(account, found)
    return f"Allowed: {spelled(found)}. Redirects from other sites to it stay refused."


def disallow(switchboard: Switchboard, account: str, address: str, purpose: str = READING) -> str:
    """Trust it no more."""
    found = allowance(switchboard, address, purpose)
    if switchboard.store.disallow(account, found):
        return f"No longer allowed: {spelled(found)}."
    return f"It was not allowed: {spelled(found)}."
