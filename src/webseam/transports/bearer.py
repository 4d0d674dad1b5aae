"""transports: bearer tokens (RFC 6750), as an `authenticate` for `mcp_app`. What a token is worth is the caller's business."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_CREDENTIALS = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9\-._~+/]{1,8192}=*) *")  # RFC 6750, section 2.1


def bearer(check: Callable[[str], Any]) -> Callable[[Mapping[str, str]], Any]:
    """Read the token of `Authorization: Bearer ...` and let `check` say whose it is.

    `check` gives the caller, or an awaitable of it, and None for a token it does not know; it is not asked when there is no
    well-formed token. Compare secrets with `hmac.compare_digest`, or look up their hash.
    """

    def authenticate(headers: Mapping[str, str]) -> Any:
        credentials = _CREDENTIALS.fullmatch(headers.get("authorization", ""))
        return None if credentials is None else check(credentials[1])

    return authenticate
