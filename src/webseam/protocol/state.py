"""protocol: `requestState`, which travels through the client from one round of a request to the next, and is signed.

2026-07-28, basic/patterns/mrtr: what comes back is an attacker's until the signature holds. The signature covers who asked,
which request it was (method, name and arguments) and until when; so state is worth nothing to another caller, on another
request or later. It is signed, not hidden: the client can read it. It can come back more than once before it lapses.

Form: base64url(payload) "." base64url(HMAC-SHA256(payload)), the payload being JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol.codec import Struct, encode, msgspec
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import Callable


class Sealed(Struct):
    """What the state holds: the answers there are so far, and what the provider put there."""

    answers: dict[str, Any]
    own: Any
    expires: float
    about: str


class StateSealer:
    """Signs and checks `requestState` with `key`; `now` gives seconds since the epoch."""

    __slots__ = ("_key", "_now")

    def __init__(self, key: bytes | None, now: Callable[[], float] | None = None) -> None:
        if key is not None and len(key) < 32:
            raise ValueError("state_key must have at least 32 bytes: os.urandom(32) makes one.")
        self._key = key
        self._now = now

    def seal(self, answers: dict[str, Any], own: Any, about: str) -> str:
        """The state as a string for the client. Raises ProtocolError when there is too much of it."""
        payload = encode(Sealed(answers, own, self._time() + LIMITS.request_state_seconds, about))
        if len(payload) > LIMITS.request_state_bytes:
            raise ProtocolError(
                INTERNAL_ERROR,
                f"The state of this request and the answers to it are larger than {LIMITS.request_state_bytes} bytes.",
            )
        return f"{_text(payload)}.{_text(self._signature(payload))}"

    def unseal(self, state: str, about: str) -> Sealed:
        """What `seal` was given for the same `about`. Raises ProtocolError for anything else."""
        import hmac

        payload, _, signature = state.partition(".")
        try:
            if len(state) > 2 * LIMITS.request_state_bytes:
                raise ValueError
            data = _bytes(payload)
            if not hmac.compare_digest(self._signature(data), _bytes(signature)):
                raise ValueError
            sealed = msgspec.json.decode(data, type=Sealed)
        except (ValueError, msgspec.DecodeError):  # UnicodeError and binascii.Error are ValueErrors
            raise _refused("it was not issued by this server, or was changed") from None
        if sealed.about != about:
            raise _refused("it belongs to another request")
        if sealed.expires < self._time():
            raise _refused(f"it is older than {LIMITS.request_state_seconds:.0f} s")
        return sealed

    def _signature(self, payload: bytes) -> bytes:
        import hmac

        if self._key is None:  # made when first needed: most servers never do
            import secrets

            self._key = secrets.token_bytes(32)
        return hmac.digest(self._key, payload, "sha256")

    def _time(self) -> float:
        if self._now is None:
            import time

            return time.time()
        return self._now()


def about(method: str, salient: Any, principal: str) -> str:
    """A digest of what the state is bound to: the request as far as it does not change between rounds, and who asks."""
    import hashlib

    text = msgspec.json.encode([method, salient, principal], order="deterministic")  # an object has no order of its own
    return hashlib.sha256(text).hexdigest()


def _refused(why: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"The requestState is not accepted: {why}. Start the request anew, without it.")


def _text(data: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    import base64

    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _text(data) != text:  # another spelling of the same bytes: ours has one
        raise ValueError
    return data
