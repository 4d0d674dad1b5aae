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
from webseam.errors import DoorError
from webseam.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from webseam.egress.urls import Url

_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


def translate(error: Exception, url: Url) -> DoorError:
    """`error`, raised while `url` was fetched, as the error to raise."""
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
    """`sentence` with its full stop, and a line on proxies when the environment names one."""
    ignored = [name for name in _PROXY_VARIABLES if os.environ.get(name) or os.environ.get(name.lower())]
    proxies = f"\n{' and '.join(ignored)} is set and ignored: Webseam connects directly." if ignored else ""
    return DoorError(f"{sentence}.{proxies}", kind=kind, url=url.origin, unsent=unsent)


def _dns(error: Exception, url: Url) -> DoorError:
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorDNSError) else error
    if isinstance(inner, socket.gaierror) and inner.errno == socket.EAI_AGAIN:
        return _error(
            url, "dns", f"The name {url.host} could not be looked up (the name server did not answer): try again later"
        )
    return _error(url, "dns", f"The name {url.host} cannot be found: check its spelling, and that this machine has a network")


def _certificate(error: Exception, url: Url) -> DoorError:
    inner = error.certificate_error if isinstance(error, aiohttp.ClientConnectorCertificateError) else error
    why = str(getattr(inner, "verify_message", "") or "not valid")
    return _error(url, "tls", f"The certificate of {url.authority} is not trusted ({why}): the site has to mend it")


def _tls(error: Exception, url: Url) -> DoorError:
    inner = error.os_error if isinstance(error, aiohttp.ClientSSLError) else error
    why = str(getattr(inner, "reason", "") or "handshake failed").replace("_", " ").lower()
    return _error(url, "tls", f"No TLS connection to {url.authority} could be made ({why}): perhaps that port speaks http")


def _malformed(error: aiohttp.ClientResponseError, url: Url) -> DoorError:
    cause = error.__cause__
    while cause is not None and not isinstance(cause, LineTooLong):
        cause = cause.__cause__
    if cause is not None or "too many headers" in error.message.lower():
        return refusals.too_large(url, "The headers of", LIMITS.header_bytes)
    return refusals.bad_reply(url, "it is not valid HTTP")


def _connect(error: Exception, url: Url) -> DoorError:
    number = getattr(error, "errno", None)
    why = f" ({os.strerror(number)})" if isinstance(number, int) and number > 0 else ""
    sentence = f"{url.authority} cannot be reached{why}: check the host and the port, and that it is up"
    return _error(url, "connect", sentence, unsent=isinstance(error, aiohttp.ClientConnectorError))
