"""The address table: every special range, every form that embeds an IPv4 address, and what an exception may open."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webseam.egress.addresses import allowable, is_own_listener, never_opened, verdict

# IANA IPv4 and IPv6 special-purpose registries (2026), multicast, and the addresses that clouds answer on.
REFUSED = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/31", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24"),
    *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32", "168.63.129.16/32", "100.100.100.200/32"),
    *("::1/128", "::/128", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"),
    *("100:0:0:1::/64", "2001::/23", "2001::/32", "2001:1::1/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48"),
    *("2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    *("5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128"),
    *("4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3", "e000::/4", "200::/7", "400::/6", "800::/5", "1000::/4"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0"]
PUBLIC += ["223.255.255.255", "168.63.129.17", "198.17.255.255", "198.20.0.0", "11.0.0.0", "126.255.255.255", "128.0.0.1"]
PUBLIC += ["2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "2001:4860:4860::8888", "3ffe:ffff::1", "2003::1"]

PRIVATE_IPV4 = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "172.16.0.1", "100.64.0.1", "0.0.0.0", "224.0.0.1"]


def embedded(ip: str) -> list[str]:
    """Every IPv6 address that some mechanism turns into this IPv4 address."""
    number = int(ipaddress.IPv4Address(ip))
    high, low = number >> 16, number & 0xFFFF
    spelt = [f"::{ip}", f"::ffff:{ip}", f"::ffff:0:{ip}", f"64:ff9b::{ip}", f"64:ff9b:1::{ip}", f"64:ff9b:1:fffe::{ip}"]
    spelt += [f"2002:{high:x}:{low:x}::", f"2002:{high:x}:{low:x}::1", f"2002:808:808::{ip}"]
    spelt += [f"2001:0:808:808:0:0:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}", f"2001:0:{high:x}:{low:x}::"]  # Teredo client, server
    spelt += [f"2606:4700::5efe:{ip}", f"2606:4700::200:5efe:{ip}", f"fe80::5efe:{ip}"]  # ISATAP
    return spelt


@pytest.mark.parametrize("cidr", REFUSED)
def test_both_ends_and_the_middle_of_every_special_range_are_refused(cidr: str) -> None:
    network = ipaddress.ip_network(cidr)
    for address in (network[0], network[network.num_addresses // 2], network[-1]):
        assert verdict(str(address)), address


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_may_be_dialled(ip: str) -> None:
    assert verdict(ip) is None
    assert not allowable(ip)


@pytest.mark.parametrize("ip", [form for ip in PRIVATE_IPV4 for form in embedded(ip)])
def test_every_form_that_embeds_a_private_address_is_refused_for_good(ip: str) -> None:
    assert verdict(ip)
    assert not allowable(ip)


@pytest.mark.parametrize("ip", [form for form in embedded("8.8.8.8") if "5efe" not in form])
def test_forms_that_embed_a_public_address_are_refused_as_forms(ip: str) -> None:
    assert verdict(ip)


@pytest.mark.parametrize(
    "text",
    ["", "localhost", "127.1", "0177.0.0.1", "0x7f.0.0.1", "2130706433", "fe80::1%eth0", "2606:4700::1%1", "1.1.1.1 ", "[::1]"],
)
def test_text_that_is_no_plain_address_is_refused_for_good(text: str) -> None:
    assert verdict(text)
    assert not allowable(text)


@pytest.mark.parametrize(
    "ip", ["127.0.0.1", "127.9.9.9", "::1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "fd12::1"]
)
def test_an_owner_may_open_this_machine_and_private_networks(ip: str) -> None:
    assert verdict(ip)
    assert allowable(ip)


@pytest.mark.parametrize(
    "ip",
    [
        *(
            "169.254.169.254",
            "169.254.170.2",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
        ),
        *(
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2002:7f00:1::",
            "::ffff:127.0.0.1",
        ),
    ],
)
def test_metadata_link_local_and_embedding_addresses_are_opened_by_no_exception(ip: str) -> None:
    assert not allowable(ip)
    assert never_opened(f"[{ip}]" if ":" in ip else ip)


def test_names_and_private_addresses_may_be_opened() -> None:
    assert [never_opened(host) for host in ("localhost", "printer", "10.0.0.1", "[::1]", "example.com")] == [None] * 5


@settings(deadline=None)
@given(st.ip_addresses())
def test_what_may_be_dialled_is_global_in_the_standard_library_too(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if verdict(str(ip)) is None:
        assert ip.is_global
        assert not ip.is_multicast


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_mapped_and_compatible_forms_of_any_address_are_refused(ip: ipaddress.IPv4Address) -> None:
    assert all(verdict(form) for form in (f"::ffff:{ip}", f"::{ip}", f"64:ff9b::{ip}", f"::ffff:0:{ip}"))


@pytest.mark.parametrize(
    ("ip", "port", "listener", "ours"),
    [
        ("127.0.0.1", 8377, ("127.0.0.1", 8377), True),
        ("127.0.0.1", 8378, ("127.0.0.1", 8377), False),
        ("::1", 8377, ("127.0.0.1", 8377), True),
        ("127.0.0.2", 8377, ("127.0.0.1", 8377), True),
        ("127.0.0.1", 8377, ("localhost", 8377), True),
        ("127.0.0.1", 8377, ("0.0.0.0", 8377), True),
        ("::1", 8377, ("::", 8377), True),
        ("127.0.0.1", 8377, ("", 8377), True),
        ("192.168.7.7", 8377, ("192.168.7.7", 8377), True),
        ("fd12::7", 8377, ("[fd12::7]", 8377), True),
        ("192.168.7.7", 8377, ("127.0.0.1", 8377), False),
        ("192.0.2.77", 8377, ("0.0.0.0", 8377), False),  # no interface of this machine has it
        ("93.184.216.34", 8377, ("127.0.0.1", 8377), False),
    ],
)
def test_our_own_listening_sockets_are_recognised(ip: str, port: int, listener: tuple[str, int], ours: bool) -> None:
    assert is_own_listener(ip, port, [("10.0.0.1", 1), listener]) is ours
