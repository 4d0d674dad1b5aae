"""Every exception Webseam raises on purpose.

    WebseamError                    its text teaches: the first line says what went wrong and what would change it
    ├── ConfigurationError          a flag, a WEBSEAM_* variable or config.toml is wrong
    ├── ArgumentError               an argument of a tool or a command is wrong
    ├── ProviderError               an engine could not answer; `kind` is one of `seam.failures.Kind`
    ├── DoorError                   the door to the network refused or failed; `kind` is one of `DOOR_KINDS`
    ├── DocumentError               bytes could not be turned into text; `kind` is one of `DOCUMENT_KINDS`
    ├── WorkerError                 a worker process was killed or died; `kind` is one of `WORKER_KINDS`
    ├── CorpusError                 the private index; `kind` is one of `CORPUS_KINDS`
    ├── StoreError                  the settings database
    │   └── SecretError        a stored secret cannot be decrypted with the key at hand
    └── ProtocolError               a JSON-RPC error to be sent: `code`, message, optional `data`

`kind` is for programs, the text is for people and models. No text ever holds a secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

DOOR_KINDS = frozenset(
    {
        "blocked_address",
        "blocked_scheme",
        "blocked_port",
        "invalid_url",
        "too_large",
        "too_many_redirects",
        "timeout",
        "dns",
        "connect",
        "tls",
        "robots",
        "rate_limited",
        "http_status",
        "unsupported_type",
        "bad_reply",
        "invalid_request",
        "not_cached",
    }
)
DOCUMENT_KINDS = frozenset({"unsupported_type", "unreadable", "too_large", "empty"})
WORKER_KINDS = frozenset({"timeout", "memory", "crashed", "busy"})
CORPUS_KINDS = frozenset({"busy", "damaged", "missing", "no_source", "unwritable"})


class WebseamError(Exception):
    """The root. `str(error)` is what a person or a model reads."""

    kind: str = "error"

    def __init__(self, message: str, *, kind: str | None = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind

    @property
    def message(self) -> str:
        """The whole text; its first line stands on its own."""
        return str(self)


class ConfigurationError(WebseamError):
    """A flag, an environment variable or `config.toml` says something that cannot be used."""

    kind = "configuration"


class ArgumentError(WebseamError):
    """An argument of a tool or a command cannot be used; the text names it."""

    kind = "argument"


class ProviderError(WebseamError):
    """An engine could not answer.

    `kind` is one of `webseam.seam.failures.Kind`; `retry_after` is in seconds when the vendor said so; `status` and
    `request_id` are the vendor's own.
    """

    kind = "unreadable_reply"

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        engine: str = "",
        retry_after: float | None = None,
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, kind=kind)
        self.engine = engine
        self.retry_after = retry_after
        self.status = status
        self.request_id = request_id


class DoorError(WebseamError):
    """The door to the network refused, or the other side failed. `kind` is one of `DOOR_KINDS`.

    `status` is the HTTP status when there was one; `retry_after` is in seconds, already clamped. `unsent` says that no
    connection was made, so that nothing reached the other side: asking again is safe whatever was asked.
    """

    kind = "connect"

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        url: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        unsent: bool = False,
    ) -> None:
        super().__init__(message, kind=kind)
        self.url = url
        self.status = status
        self.retry_after = retry_after
        self.unsent = unsent


class DocumentError(WebseamError):
    """Bytes that could not be turned into text. `kind` is one of `DOCUMENT_KINDS`."""

    kind = "unreadable"


class WorkerError(WebseamError):
    """A worker process was stopped or died while it worked for us. `kind` is one of `WORKER_KINDS`."""

    kind = "crashed"


class CorpusError(WebseamError):
    """The private index cannot do what was asked. `kind` is one of `CORPUS_KINDS`."""

    kind = "damaged"


class StoreError(WebseamError):
    """The settings database cannot be read or written."""

    kind = "store"


class SecretError(StoreError):
    """A stored secret does not decrypt with the key at hand. Nothing is lost: with the right key it reads again."""

    kind = "secret_unreadable"


class ProtocolError(WebseamError):
    """A JSON-RPC error response (JSON-RPC 2.0, section 5.1)."""

    kind = "protocol"

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
