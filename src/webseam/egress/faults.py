"""What goes wrong on the network, said as `DoorError`.

Nothing of an exception's own text is passed on: aiohttp's holds URLs (and with them keys), a socket's the address that a name
led to. What is worth telling is a code: errno, the resolver's, OpenSSL's reason.
"""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from webseam.config import LIMITS
from webseam.egress import refusals
from webseam.egress.proxies import ignored
from webseam.egress.tls import BY_THE_SYSTEM
from webseam.errors import DoorError
from webseam.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webseam.egress.dialer import Hop
    from webseam.egress.proxies import Proxy
    from webseam.egress.urls import Url

# OpenSSL's X509_V_ERR_* of a chain that leads to nobody known, CERT_E_UNTRUSTEDROOT and CERT_E_CHAINING of Windows,
# errSecNotTrusted and errSecCreateChainFailed of macOS.
_UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21, 0x800B0109, 0x800B010A, -67843, -25318})


def translate(error: Exception, url: Url, *, proxies_ignored: bool = True) -> DoorError:
    """`error`, raised while `url` was fetched, as the error to raise. `proxies_ignored`: no proxy is set for Webseam."""
    said = _translate(error, url)
    if proxies_ignored and said is not error and said.kind in ("connect", "dns", "timeout", "tls"):
        words = ignored()
        if words:
            return DoorError(f"{said}\n{words}", kind=said.kind, url=said.url, unsent=said.unsent)
    return said


def _translate(error: Exception, url: Url) -> DoorError:
    if isinstance(error, DoorError):
        return error
    if isinstance(error, TimeoutError):  # aiohttp's are too
        return _error(url, "timeout", f"{url.authority} did not let a connection be made within {LIMITS.connect_seconds:.0f} s")
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror | UnicodeError):
        return _dns(error, url)
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLCertVerificationError):
        return _certificate(error, url)
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return _tls(error, url)
    if isinstance(error, aiohttp.ClientResponseError):
        return _malformed(error, url)
    if isinstance(error, aiohttp.ClientPayloadError):
        return refusals.bad_reply(url, "it ends before it is complete")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return _error(url, "connect", f"{url.authority} closed the connection without a reply: try again later")
    if isinstance(error, aiohttp.InvalidURL):
        return DoorError("The URL is not valid: it cannot be sent. Write it as https://example.com/page.", kind="invalid_url")
    if isinstance(error.__cause__, ssl.SSLError):  # the other side ended TLS 1.3 after it was made
        return _handshake(error.__cause__, url)
    return _connect(error, url)


def timed_out(url: Url, seconds: float, *, cancelled: bool) -> DoorError:
    """The call's own deadline passed, or it was cancelled."""
    if cancelled:
        return DoorError(f"The call was cancelled while {url.authority} was fetched.", kind="timeout", url=url.origin)
    return DoorError(
        f"{url.authority} did not answer completely within {seconds:.3g} s: try again later, or another page.",
        kind="timeout",
        url=url.origin,
    )


def redacted(error: DoorError, secrets: Iterable[str]) -> DoorError:
    """`error` without any of `secrets`."""
    text, url = without_secrets(str(error), secrets), without_secrets(error.url, secrets)
    if text == str(error) and url == error.url:
        return error
    return DoorError(text, kind=error.kind, url=url, status=error.status, retry_after=error.retry_after, unsent=error.unsent)


def _error(url: Url, kind: str, sentence: str, *, unsent: bool = False) -> DoorError:
    return DoorError(f"{sentence}.", kind=kind, url=url.origin, unsent=unsent)


def _dns(error: Exception, url: Url) -> DoorError:
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorDNSError) else error
    if isinstance(inner, socket.gaierror) and inner.errno == socket.EAI_AGAIN:
        return _error(
            url, "dns", f"The name {url.host} could not be looked up (the name server did not answer): try again later"
        )
    return _error(url, "dns", f"The name {url.host} cannot be found: check its spelling, and that this machine has a network")


def _certificate(error: Exception, url: Url) -> DoorError:
    inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error
    # macOS and Windows put names out of the certificate into their words.
    said = str(getattr(inner, "verify_message", "") or "not valid")
    why = "".join(character for character in said if character.isprintable())[:200].rstrip(".")
    cure = "the site has to mend it"
    if getattr(inner, "verify_code", None) in _UNKNOWN_ISSUER:
        cure = (
            "the site has to mend it, or, if a CA that you trust has signed it (your company's, your proxy's), "
            "name that CA's certificate with WEBSEAM_CA_FILE"
        )
        replaced = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)]
        if replaced and not BY_THE_SYSTEM:
            verb, stands = ("is", "stands") if len(replaced) == 1 else ("are", "stand")
            cure += f" ({' and '.join(replaced)} {verb} set, and {stands} for the system's own)"
    return _error(url, "tls", f"The certificate of {url.authority} is not trusted ({why}): {cure}")


def _tls(error: Exception, url: Url) -> DoorError:
    inner = error.os_error if isinstance(error, aiohttp.ClientSSLError) else error
    return _handshake(inner, url)


def _handshake(error: Exception, url: Url) -> DoorError:
    why = str(getattr(error, "reason", "") or "handshake failed").replace("_", " ").lower()
    if "alert" in why and ("certificate" in why or "unknown ca" in why):
        cure = "it wants a client certificate, or another: WEBSEAM_CLIENT_CERT is shown to WEBSEAM_CLIENT_CERT_HOSTS"
    elif "alert" in why:
        cure = "perhaps it speaks no TLS 1.2 or later, or wants a client certificate (WEBSEAM_CLIENT_CERT)"
    else:
        cure = "perhaps that port speaks http"
    return _error(url, "tls", f"No TLS connection to {url.authority} could be made ({why}): {cure}")


def _malformed(error: aiohttp.ClientResponseError, url: Url) -> DoorError:
    cause = error.__cause__
    while cause is not None and not isinstance(cause, LineTooLong):
        cause = cause.__cause__
    if cause is not None or "too many headers" in error.message.lower():
        return refusals.too_large(url, "The headers of", LIMITS.header_bytes)
    return refusals.bad_reply(url, "it is not valid HTTP")


def _connect(error: Exception, url: Url) -> DoorError:
    sentence = f"{url.authority} cannot be reached{_errno(error)}: check the host and the port, and that it is up"
    return _error(url, "connect", sentence, unsent=isinstance(error, aiohttp.ClientConnectorError))


# ------------------------------------------------------------------------------------------------ through a proxy


def proxy_refused(url: Url, via: Proxy, status: int) -> DoorError:
    """The proxy itself answered with `status`."""
    if status == 407:
        why = "it wants a user name and a password, or others" if via.authorization else "it wants a user name and a password"
        cure = f"write them into {via.setting}"
    else:
        why, cure = f"status {status}", f"ask whoever runs it, or change {via.setting}"
    return _error(url, "connect", f"The proxy refuses to pass on to {url.authority} ({why}): {cure}", unsent=True)


def proxy_trouble(error: Exception, hop: Hop) -> DoorError | None:
    """What `error` means in a hop that goes through a proxy, when it is not the site's doing; None when it is."""
    url, via = hop.url, hop.via
    if via is None or isinstance(error, DoorError):
        return None
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return proxy_refused(url, via, error.status)
    if isinstance(error, socket.gaierror | UnicodeError):
        return _error(
            url,
            "dns",
            f"The name {url.host} cannot be found, and names are looked up here before the proxy is asked: check its spelling, "
            "or, if only the proxy can look up names, set WEBSEAM_PROXY_RESOLVES=true",
        )
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return _error(url, "connect", f"The proxy's own name cannot be found: check {via.setting}", unsent=True)
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        sentence = f"The proxy cannot be reached{_errno(error)}: check that it is up, or change {via.setting}"
        return _error(url, "connect", sentence, unsent=True)
    if isinstance(error, aiohttp.ClientConnectorSSLError | aiohttp.ClientConnectorCertificateError):
        if via.scheme == "http" or (error.host, error.port) != (via.host.strip("[]"), via.port):
            return None
        sentence = (
            "No TLS connection to the proxy could be made: its certificate must be trusted (WEBSEAM_CA_FILE adds a CA); "
            f"check {via.setting}"
        )
        return _error(url, "connect", sentence, unsent=True)
    if hop.handler is not None:
        return None
    if isinstance(error, TimeoutError):
        sentence = f"No connection to {url.authority} could be made through the proxy within {LIMITS.connect_seconds:.0f} s"
        return _error(url, "timeout", f"{sentence}: try again later, or change {via.setting}", unsent=True)
    sentence = f"The proxy opened no connection to {url.authority} and gave no reason"
    return _error(url, "connect", f"{sentence}: check that it is a proxy, or change {via.setting}", unsent=True)


def _errno(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return f" ({os.strerror(number)})" if isinstance(number, int) and number > 0 else ""
