"""Proxies: which requests go through one, and what that means for the checks.

Theory of operation. Webseam connects directly unless the setting `proxy` says otherwise: it is the URL of one, or `env`,
which takes HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY from the environment, once, when the door is built. Nothing else
names a proxy: no account, no page, no tool's argument, no plugin.

* Only what is public goes through it. What an exception (`webseam allow`) opens is dialled directly, whatever is set.
* The URL is read, its spelling judged, its port too, as ever. Then, for each hop anew, its name is resolved here and every
  answer vetted, and a name that cannot be resolved or has one bad answer is refused, before the proxy hears of it. But the
  proxy resolves the name again by itself and dials what it finds: that this is what was vetted, and no private address behind
  the proxy, is for the proxy to see to. Its operator's rules are the last word there, as the peer that we can check is the
  proxy.
* Where the local name server knows no outside names, `proxy_resolves` leaves resolving to the proxy. Then only the spelling
  is judged: a public name that leads to a private address reaches it, if the proxy lets it.
* The proxy's own address is the operator's choice and may be private. It is dialled for hops that go through it, and for no
  other.
* https goes through a tunnel (CONNECT): the certificate is checked against the target's name, and the proxy sees names alone.
  http goes as an absolute URL: the proxy sees and may change everything.
* What the proxy is to know (user name, password) is sent to it alone: in the request that opens the tunnel, or beside the
  absolute URL.

Imports neither asyncio nor aiohttp.
"""

from __future__ import annotations

import base64
import ipaddress
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from ada_url import URL, HostType

from webseam.egress.urls import parse
from webseam.errors import ConfigurationError, DoorError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

    from webseam.config import Config
    from webseam.egress.tls import Trust
    from webseam.egress.urls import Url

SETTING: Final = "WEBSEAM_PROXY or `proxy` in config.toml"
ENVIRONMENT: Final = "env"
NONE: Final = ("", "off", "none", "direct")
"""What the setting says when no proxy is to be used."""
VARIABLES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?!/)")
_NETWORK: Final = re.compile(r"[0-9a-fA-F.:]+(?:/\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. `host` is an A-label, an IPv4 or a bracketed IPv6 address; `ip` the address of a literal, else "";
    `authorization` what it wants to be told, as a header's value; `setting` what to change, in words.
    """

    scheme: str
    host: str
    port: int
    ip: str = ""
    authorization: str = field(default="", repr=False)
    setting: str = SETTING

    @property
    def url(self) -> str:
        """Its URL, without user name and password."""
        return f"{self.scheme}://{self.host}:{self.port}"


class Exemption(NamedTuple):
    """One entry of NO_PROXY: a name with its subdomains, or a network; `port` 0 means every port."""

    name: str = ""
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    port: int = 0

    def is_for(self, url: Url) -> bool:
        """Whether `url` is to be dialled directly."""
        if self.port and self.port != url.port:
            return False
        if self.network is not None:
            return bool(url.ip) and ipaddress.ip_address(url.ip) in self.network
        return self.name == "*" or url.host == self.name or url.host.endswith(f".{self.name}")


@dataclass(frozen=True, slots=True)
class Proxies:
    """Which proxy a URL goes through. `resolves`: names are left to the proxy to look up."""

    http: Proxy | None
    https: Proxy | None
    exemptions: tuple[Exemption, ...] = ()
    resolves: bool = False

    def for_url(self, url: Url) -> Proxy | None:
        """The proxy for a public `url`; None when it is dialled directly."""
        if any(exemption.is_for(url) for exemption in self.exemptions):
            return None
        return self.https if url.scheme == "https" else self.http

    def check(self, trust: Trust) -> None:
        """Raise `ConfigurationError` when a client certificate would be shown to the proxy too."""
        if trust.certificate is not None and any(proxy and proxy.scheme == "https" for proxy in (self.http, self.https)):
            raise ConfigurationError(
                "A client certificate cannot be used beside an https proxy, which would get to see it: "
                f"write the proxy with http:// in {SETTING}, or unset WEBSEAM_CLIENT_CERT."
            )

    def summary(self) -> str:
        """What is used, for people; without user names and passwords."""
        used = [f"{scheme} through {proxy.url}" for scheme, proxy in (("https", self.https), ("http", self.http)) if proxy]
        words = ", ".join(used) or "none in the environment"
        return words + ("; names are looked up by the proxy alone, and not vetted here" if used and self.resolves else "")


def proxies(config: Config, environ: Mapping[str, str] = os.environ) -> Proxies | None:
    """What `config` says; None for no proxy. Raises `ConfigurationError` that names the setting and shows no password."""
    return read(config.proxy, environ, resolves=config.proxy_resolves)


def read(setting: str, environ: Mapping[str, str], *, resolves: bool = False) -> Proxies | None:
    """What the setting `proxy` means in the environment `environ`. Raises `ConfigurationError`."""
    if setting.lower() in NONE:
        return None
    if setting.lower() != ENVIRONMENT:
        proxy = _proxy(setting, SETTING)
        return Proxies(proxy, proxy, resolves=resolves)
    # A server that runs programs for each request (CGI) passes a header "Proxy" on as HTTP_PROXY: the client's word, not ours.
    names = ("http_proxy",) if "REQUEST_METHOD" in environ else ("http_proxy", "HTTP_PROXY")
    every = ("all_proxy", "ALL_PROXY")
    return Proxies(
        _from_environment(environ, (*names, *every)),
        _from_environment(environ, ("https_proxy", "HTTPS_PROXY", *every)),
        _exemptions(environ.get("no_proxy") or environ.get("NO_PROXY") or ""),
        resolves,
    )


def ignored(environ: Mapping[str, str] = os.environ) -> str:
    """What to say of the proxies in `environ` when Webseam is not told to use them; "" when there are none."""
    names = [name for name in VARIABLES if environ.get(name) or environ.get(name.lower())]
    if not names:
        return ""
    verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
    return f"{' and '.join(names)} {verb} set and ignored: Webseam connects directly. Set WEBSEAM_PROXY=env to use {them}."


def _from_environment(environ: Mapping[str, str], names: tuple[str, ...]) -> Proxy | None:
    for name in names:
        value = environ.get(name, "").strip()
        if value:
            value = value if _SCHEME.match(value) else f"http://{value}"
            return _proxy(value, f"{name} (or WEBSEAM_PROXY, which says to use it)")
    return None


def _proxy(text: str, setting: str) -> Proxy:
    """The proxy that a URL names. No error repeats the URL: it may hold a password."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise _wrong("begins with neither http:// nor https://", setting)
    name = scheme[1].lower()
    if name.startswith("socks"):
        raise ConfigurationError(f"SOCKS proxies cannot be used, http and https ones can: change {setting}.")
    if name not in ("http", "https"):
        raise _wrong("begins with neither http:// nor https://", setting)
    try:
        url = URL(text)
        user, password = unquote(url.username, errors="strict"), unquote(url.password, errors="strict")
    except ValueError:
        raise _wrong("cannot be read (percent-encode what is special in the user name and password)", setting) from None
    if url.pathname != "/" or url.search or url.hash:
        raise _wrong("has a path (percent-encode / ? and # in the user name and password)", setting)
    if ":" in user:
        raise _wrong("has a colon in the user name, which cannot be sent", setting)
    port = int(url.port) if url.port else {"http:": 80, "https:": 443}[url.protocol]
    host = url.hostname
    ip = host.strip("[]") if url.host_type in (HostType.IPV4, HostType.IPV6) else ""
    if not port or not host:
        raise _wrong("names no host and port", setting)
    basic = base64.b64encode(f"{user}:{password}".encode()).decode() if user or password else ""
    return Proxy(url.protocol[:-1], host, port, ip, f"Basic {basic}" if basic else "", setting)


def _wrong(why: str, setting: str) -> ConfigurationError:
    return ConfigurationError(f"The proxy's URL {why}: change {setting} to something like http://proxy.example:3128.")


def _exemptions(text: str) -> tuple[Exemption, ...]:
    """NO_PROXY as most programs read it. What cannot be read exempts nothing."""
    found = (_exemption(entry) for entry in text.replace(",", " ").split()[:1_000])
    return tuple(one for one in found if one is not None)


def _exemption(entry: str) -> Exemption | None:
    if entry == "*":
        return Exemption("*")
    plain = entry.strip("[]")
    if _NETWORK.fullmatch(plain):
        try:
            return Exemption(network=ipaddress.ip_network(plain, strict=False))
        except ValueError:
            pass  # an address with a port
    name = entry.removeprefix("*").removeprefix(".")
    host, colon, port = name.rpartition(":")
    written = int(port) if colon and port.isdecimal() and len(port) < 6 else 0
    try:
        url = parse(f"http://{host if written else name}/")
    except DoorError:
        return None
    if url.ip:
        return Exemption(network=ipaddress.ip_network(url.ip), port=written)
    return Exemption(url.host, port=written)
