"""Which addresses may be dialled: our own table, and the exceptions that an owner makes.

Theory of operation. `ipaddress.is_global` is not asked: it calls multicast global, and `::127.0.0.1`, `fec0::1` and (it depends
on the version) `64:ff9b::7f00:1` too. Instead:

* IPv4: everything is public but the ranges below: IANA's special-purpose registry (also the entries that it calls globally
  reachable: none serves web pages), multicast, the reserved rest, and addresses that clouds answer on.
* IPv6: nothing is public but global unicast, 2000::/3, less the ranges below. So every form that embeds an IPv4 address is
  refused as a form, whatever it embeds (mapped, compatible, SIIT, NAT64, 6to4, Teredo), and what IANA has yet to allocate too.
  An ISATAP interface identifier keeps a public prefix, so there the embedded address is judged.
* A name is as bad as its worst answer; that rule is the dialer's.

Each range is PRIVATE (an owner may make an exception: this machine, the home or company network) or NEVER. Link-local
addresses, cloud metadata, unspecified, multicast, reserved and embedding forms are NEVER: no exception opens them, because
what answers there gives its keys to whoever asks, or because a plain spelling of the same address exists.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final


PRIVATE: Final = True
NEVER: Final = False

# The first match counts: a single address stands before the range around it.
_IPV4: Final = (
    ("168.63.129.16/32", "cloud metadata (Azure wire server)", NEVER),
    ("100.100.100.200/32", "cloud metadata (Alibaba)", NEVER),
    ("192.0.0.192/32", "cloud metadata (Oracle)", NEVER),
    ("0.0.0.0/8", "this host on this network (RFC 791)", NEVER),
    ("10.0.0.0/8", "private use (RFC 1918)", PRIVATE),
    ("100.64.0.0/10", "shared address space (RFC 6598)", PRIVATE),
    ("127.0.0.0/8", "loopback (RFC 1122)", PRIVATE),
    ("169.254.0.0/16", "link-local and cloud metadata (RFC 3927)", NEVER),
    ("172.16.0.0/12", "private use (RFC 1918)", PRIVATE),
    ("192.0.0.0/24", "IETF protocol assignments (RFC 6890)", NEVER),
    ("192.0.2.0/24", "documentation (RFC 5737)", NEVER),
    ("192.31.196.0/24", "AS112-v4 (RFC 7535)", NEVER),
    ("192.52.193.0/24", "AMT (RFC 7450)", NEVER),
    ("192.88.99.0/24", "6to4 relay anycast (RFC 7526)", NEVER),
    ("192.168.0.0/16", "private use (RFC 1918)", PRIVATE),
    ("192.175.48.0/24", "AS112 (RFC 7534)", NEVER),
    ("198.18.0.0/15", "benchmarking (RFC 2544)", PRIVATE),
    ("198.51.100.0/24", "documentation (RFC 5737)", NEVER),
    ("203.0.113.0/24", "documentation (RFC 5737)", NEVER),
    ("224.0.0.0/4", "multicast (RFC 5771)", NEVER),
    ("240.0.0.0/4", "reserved and limited broadcast (RFC 1112, RFC 8190)", NEVER),
)
_IPV6: Final = (
    ("::1/128", "loopback (RFC 4291)", PRIVATE),
    ("::/128", "unspecified (RFC 4291)", NEVER),
    ("fd00:ec2::/32", "cloud metadata (AWS)", NEVER),
    ("fd20:ce::254/128", "cloud metadata (Google)", NEVER),
    ("fd00:42::42/128", "cloud metadata (Scaleway)", NEVER),
    ("::/96", "IPv4-compatible (RFC 4291)", NEVER),
    ("::ffff:0:0/96", "IPv4-mapped (RFC 4291)", NEVER),
    ("::ffff:0:0:0/96", "IPv4-translated, SIIT (RFC 2765)", NEVER),
    ("64:ff9b::/96", "NAT64 (RFC 6052)", NEVER),
    ("64:ff9b:1::/48", "local-use NAT64 (RFC 8215)", NEVER),
    ("100::/64", "discard-only (RFC 6666)", NEVER),
    ("100:0:0:1::/64", "dummy prefix (RFC 9780)", NEVER),
    ("2001::/32", "Teredo (RFC 4380)", NEVER),
    ("2001::/23", "IETF protocol assignments (RFC 2928)", NEVER),
    ("2001:db8::/32", "documentation (RFC 3849)", NEVER),
    ("2002::/16", "6to4 (RFC 3056)", NEVER),
    ("2620:4f:8000::/48", "AS112 (RFC 7534)", NEVER),
    ("3fff::/20", "documentation (RFC 9637)", NEVER),
    ("5f00::/16", "segment routing (RFC 9602)", NEVER),
    ("fc00::/7", "unique local (RFC 4193)", PRIVATE),
    ("fe80::/10", "link-local (RFC 4291)", NEVER),
    ("fec0::/10", "site-local, deprecated (RFC 3879)", NEVER),
    ("ff00::/8", "multicast (RFC 4291)", NEVER),
)
_V4_RANGES: Final = tuple((ipaddress.IPv4Network(cidr), why, kind) for cidr, why, kind in _IPV4)
_V6_RANGES: Final = tuple((ipaddress.IPv6Network(cidr), why, kind) for cidr, why, kind in _IPV6)
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)  # upper half of the interface identifier (RFC 5214, section 6.1)


def verdict(ip: str) -> str | None:
    """None when the address may be dialled; otherwise what it is. Text that is no plain IP address (a scope id) is refused."""
    return _judge(ip)[0]


def allowable(ip: str) -> bool:
    """Whether an exception may open an address that `verdict` refuses: loopback and private networks, nothing else."""
    why, kind = _judge(ip)
    return why is not None and kind is PRIVATE


@lru_cache(maxsize=4096)
def _judge(ip: str) -> tuple[str | None, bool]:
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return "not an IP address", NEVER
    if isinstance(address, ipaddress.IPv4Address):
        return _judge_ipv4(address)
    if address.scope_id is not None:
        return "an address with a scope id (RFC 4007)", NEVER
    for v6_range, why, kind in _V6_RANGES:
        if address in v6_range:
            return why, kind
    if address not in _GLOBAL_UNICAST:
        return "not global unicast (RFC 4291)", NEVER
    number = int(address)
    if (number >> 32) & 0xFFFFFFFF in _ISATAP:
        embedded, _ = _judge_ipv4(ipaddress.IPv4Address(number & 0xFFFFFFFF))
        if embedded is not None:
            return f"ISATAP (RFC 5214) of {embedded}", NEVER
    return None, PRIVATE


def _judge_ipv4(address: ipaddress.IPv4Address) -> tuple[str | None, bool]:
    for v4_range, why, kind in _V4_RANGES:
        if address in v4_range:
            return why, kind
    return None, PRIVATE


# ------------------------------------------------------------------------------------------------ exceptions


@dataclass(frozen=True, slots=True)
class Allowance:
    """One exception: `account` may reach `host` (as `Url.host` spells it) on `port` for `purpose`, though it is private or the
    port is not open.

    It is about the host as written: an exception for `localhost` says nothing of `127.0.0.1`. It counts for a URL that the
    caller itself asked for and for redirects within that origin; never for a redirect from elsewhere, never for one of our own
    listening sockets, never for an address that is NEVER in the table. Purposes: `reading`, `index`, `engine:NAME`,
    `plugin:NAME`.
    """

    account: str
    host: str
    port: int
    purpose: str = "reading"


def never_opened(host: str) -> str | None:
    """What `host` (as `Url.host` spells it) is when it is an address that no exception opens; None for names and the others."""
    ip = host.strip("[]")
    if ":" not in ip and not ip.replace(".", "").isdigit():
        return None
    why = verdict(ip)
    return why if why is not None and not allowable(ip) else None


def is_own_listener(ip: str, port: int, listeners: Iterable[tuple[str, int]]) -> bool:
    """Whether dialling `ip` and `port` would reach one of our own `listeners` (host and port as they were bound)."""
    for host, bound in listeners:
        if bound != port:
            continue
        try:
            at = ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            at = None  # a name, or "" for every interface
        target = ipaddress.ip_address(ip)
        if at == target or (target.is_loopback and (at is None or at.is_loopback)):
            return True
        if (at is None or at.is_unspecified) and _is_this_machine(target):
            return True
    return False


def _is_this_machine(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an interface of this machine has `address`: then, and only then, a socket can be bound to it."""
    import socket

    if address.is_loopback:
        return True
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
