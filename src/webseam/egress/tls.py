"""TLS: which certificates are trusted, and who gets to see ours.

Theory of operation. The system's store is trusted, and the CAs of `ca_file` besides: they add to it and replace nothing.

* macOS and Windows: the system itself judges each chain, through `truststore`. It judges after OpenSSL's handshake, before a
  byte of HTTP is sent, and adds what `load_verify_locations` was given (macOS: as anchors beside its own,
  `SecTrustSetAnchorCertificatesOnly(trust, False)`; Windows: a second try after the store's refusal). It learns of them from
  `get_ca_certs`, which knows nothing of a folder's (`capath`), and of no certificate that is not a CA's: so a folder is read
  here, file by file. The system may get what is missing in a chain, and lists of what was revoked, from where the certificate
  says: by itself, outside the door.
* Elsewhere OpenSSL is the system's judge, and its store files are read once for each context. `truststore` would read them
  for every connection (70 ms in the event loop with OpenSSL 3.0, and a list of folders that grows with each:
  https://github.com/sethmlarson/truststore/issues/212).

`SSL_CERT_FILE` and `SSL_CERT_DIR` are OpenSSL's: they say where the system's store lies, in the place of the usual file or
folder, and are heard where OpenSSL judges, not on macOS and Windows. Whoever narrows the store with them does not find it
widened by us; whoever wants to add to it sets `ca_file`, which adds to whatever they name.

The flags are the same in every Python: TLS 1.2 or later, the name checked, `http/1.1` alone by ALPN; not VERIFY_X509_STRICT,
which Python 3.13 sets by default and many companies' CAs do not satisfy.

Our certificate. A client certificate says who we are, so it is shown only to the hosts that `client_cert_hosts` names and to
their subdomains, whoever's call it is, and only while every leg so far was at such a host: a page elsewhere cannot send a
request there in our name. It has a context of its own. aiohttp's pool is keyed by the context, so a connection that was made
with the certificate is never met by a request without, nor the other way round. (On macOS and Windows the listed host sees
the certificate before the system has judged the host's: it is meant for that host, and the key never leaves.)
"""

from __future__ import annotations

import re
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from webseam.config import LIMITS
from webseam.egress.urls import parse
from webseam.errors import ConfigurationError, DoorError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

    from webseam.config import Config
    from webseam.egress.legs import Leg

BY_THE_SYSTEM: Final = sys.platform in ("darwin", "win32")
"""Whether the system judges certificates, and not OpenSSL with the system's files."""

SYSTEM_FILES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",  # older ones
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # the BSDs
)
"""Where the store lies when it is not where this OpenSSL was built to look (a Python that brought its own)."""

_CA_SETTING: Final = "WEBSEAM_CA_FILE or `ca_file` in config.toml"
_CERT_SETTING: Final = "WEBSEAM_CLIENT_CERT or `client_cert` in config.toml"
_KEY_SETTING: Final = "WEBSEAM_CLIENT_KEY or `client_key` in config.toml"
_HOSTS_SETTING: Final = "WEBSEAM_CLIENT_CERT_HOSTS or `client_cert_hosts` in config.toml"
_CERTIFICATE: Final = re.compile(r"-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----")
_PRIVATE_KEY: Final = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
_ENCRYPTED: Final = re.compile(r"-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED")
_HASHED: Final = re.compile(r"[0-9a-f]{8}\.\d+")


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate of ours, its key, and the `hosts` that get to see it: A-labels, which stand for their subdomains too."""

    cert: Path
    key: Path
    hosts: tuple[str, ...]
    password: str = field(default="", repr=False)

    def is_for(self, host: str) -> bool:
        """Whether `host` (as `Url.host` spells it) is one of the hosts. One label and an address stand for themselves alone."""
        return any(host == one or ("." in one and host.endswith(f".{one}")) for one in self.hosts)

    def load(self, context: ssl.SSLContext) -> None:
        """Put it into `context`. Raises `ConfigurationError`."""
        try:
            # A password is always given: OpenSSL would ask the terminal for one.
            context.load_cert_chain(self.cert, self.key, password=lambda: self.password)
        except ssl.SSLError as error:
            if "KEY_VALUES_MISMATCH" in str(error):
                raise ConfigurationError(
                    f"The key in {self.key} is not that of the certificate in {self.cert}: change {_KEY_SETTING}."
                ) from None
            if _ENCRYPTED.search(_text(self.key, _KEY_SETTING)):
                wrong = "is not the right one" if self.password else "is not set"
                raise ConfigurationError(
                    f"The key in {self.key} is encrypted and its password {wrong}: set WEBSEAM_CLIENT_KEY_PASSWORD."
                ) from None
            raise ConfigurationError(
                f"The client certificate {self.cert} with the key {self.key} cannot be used: change {_CERT_SETTING}, "
                f"or {_KEY_SETTING}."
            ) from None
        except (OSError, ValueError):
            raise ConfigurationError(
                f"The client certificate {self.cert} with the key {self.key} cannot be used: change {_CERT_SETTING}."
            ) from None


class Trust:
    """What this process trusts beside the system's store, and the contexts made of it when they are first needed.

    Reads the files at once: raises `ConfigurationError` when one of them cannot be used.
    """

    __slots__ = ("_authorities", "_certified", "_plain", "certificate")

    def __init__(self, *, ca_file: Path | None = None, certificate: ClientCertificate | None = None) -> None:
        self._authorities = _authorities(ca_file) if ca_file is not None else ""
        self.certificate = certificate
        self._plain: ssl.SSLContext | None = None
        self._certified: ssl.SSLContext | None = None
        if certificate is not None:  # read once: a file that is replaced meanwhile counts from the next start
            self._certified = tls_context(self._authorities)
            certificate.load(self._certified)

    def context(self) -> ssl.SSLContext:
        """The context for every host that does not get to see our certificate."""
        if self._plain is None:
            self._plain = tls_context(self._authorities)
        return self._plain

    def certified(self, leg: Leg) -> ssl.SSLContext | None:
        """The context with our certificate, when the host of `leg` gets to see it; else None."""
        certificate = self.certificate
        if certificate is None or leg.url.scheme != "https" or not certificate.is_for(leg.url.host):
            return None
        if not all(certificate.is_for(urlsplit(href).hostname or "") for _, href in leg.seen):
            return None
        return self._certified


def tls_context(authorities: str = "", *, by_the_system: bool = BY_THE_SYSTEM) -> ssl.SSLContext:
    """A client's context: the system's certificates and those in the PEM text `authorities`; names checked, HTTP/1.1 only."""
    context: ssl.SSLContext
    if by_the_system:
        import truststore

        context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _load_system_files(context)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if authorities:
        context.load_verify_locations(cadata=authorities)
    return context


def trust(config: Config) -> Trust:
    """What `config` says is trusted and shown. Raises `ConfigurationError` that names the setting."""
    return Trust(ca_file=config.ca_file, certificate=_client_certificate(config))


def _client_certificate(config: Config) -> ClientCertificate | None:
    cert, key, hosts = config.client_cert, config.client_key, config.client_cert_hosts
    if cert is None:
        if key is not None or hosts:
            raise ConfigurationError(f"A client certificate's key or hosts are set, but no certificate: set {_CERT_SETTING}.")
        return None
    if not hosts:
        raise ConfigurationError(
            f"The client certificate {cert} would be shown to nobody: name the hosts that may see it with {_HOSTS_SETTING}."
        )
    if not _CERTIFICATE.search(_text(cert, _CERT_SETTING)):
        raise ConfigurationError(f"{cert} holds no certificate in PEM: change {_CERT_SETTING}.")
    if not _PRIVATE_KEY.search(_text(key or cert, _KEY_SETTING)):
        raise ConfigurationError(f"{key or cert} holds no private key in PEM: change {_KEY_SETTING}.")
    return ClientCertificate(cert, key or cert, _hosts(hosts), config.client_key_password)


def _hosts(names: Sequence[str]) -> tuple[str, ...]:
    """`names` as `Url.host` spells them."""
    hosts: list[str] = []
    for name in names:
        try:
            url = parse(f"https://{name}/")
        except DoorError:
            url = None
        if url is None or url.port != 443 or name.endswith(":443") or any(character in name for character in "/?#"):
            raise ConfigurationError(
                f"{name[:100]!r} is not a host: write {_HOSTS_SETTING} as names like corp.example, "
                "without scheme, port or *. Subdomains are meant too."
            )
        hosts.append(url.host)
    return tuple(dict.fromkeys(hosts))


def _load_system_files(context: ssl.SSLContext) -> None:
    """What `truststore` does for each connection, once: OpenSSL's own paths, and the usual files when nothing lies there."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or _is_hashed(paths.capath):
        context.set_default_verify_paths()
        return
    for path in SYSTEM_FILES:
        if Path(path).is_file():
            context.load_verify_locations(cafile=path)
            return


def _is_hashed(folder: str | None) -> bool:
    """Whether OpenSSL would find anything in `folder`."""
    try:
        return folder is not None and any(_HASHED.fullmatch(file.name) for file in Path(folder).iterdir())
    except OSError:
        return False


def _authorities(path: Path) -> str:
    """Every certificate in the file or folder `path`, as PEM. Raises `ConfigurationError` when there is none."""
    found: list[str] = []
    for file in _files(path):
        certificates = _CERTIFICATE.findall(_text(file, _CA_SETTING))
        try:
            if certificates:
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata="\n".join(certificates))
        except (ssl.SSLError, ValueError):
            raise ConfigurationError(f"{file} holds a broken certificate: mend it, or change {_CA_SETTING}.") from None
        found += certificates
    if not found:
        raise ConfigurationError(f"{path} holds no certificate in PEM (-----BEGIN CERTIFICATE-----): change {_CA_SETTING}.")
    return "\n".join(dict.fromkeys(found))


def _files(path: Path) -> Iterator[Path]:
    try:
        if not path.is_dir():
            yield path
            return
        files = sorted(file for file in path.iterdir() if file.is_file())
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror}): change {_CA_SETTING}.") from None
    if len(files) > LIMITS.ca_files:
        raise ConfigurationError(f"{path} holds more than {LIMITS.ca_files:,} files: change {_CA_SETTING} to a folder of CAs.")
    yield from files


def _text(path: Path, setting: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LIMITS.ca_bytes + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a path"
        raise ConfigurationError(f"{path} cannot be read ({why}): change {setting}.") from None
    if len(content) > LIMITS.ca_bytes:
        raise ConfigurationError(f"{path} is larger than {LIMITS.ca_bytes // 1024:,} KB: change {setting}.")
    return content.decode("ascii", "replace")
