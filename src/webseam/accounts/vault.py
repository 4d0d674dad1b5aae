"""Secrets at rest: AES-256-GCM, bound to where they belong.

A sealed secret is `0x01 | key id (4 bytes) | nonce (12 bytes) | ciphertext and tag`. The additional data are account, engine
and field, so that a sealed value copied to another row does not open (NIST SP 800-38D). The key is 32 bytes, from
`WEBSEAM_VAULT_KEY`, the file named by `WEBSEAM_VAULT_KEY_FILE`, or `vault.key` (mode 0600) in the data directory, made when
the first secret is stored.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import secrets
from typing import TYPE_CHECKING

from webseam.errors import ConfigurationError, SecretError

if TYPE_CHECKING:
    from pathlib import Path

VERSION = b"\x01"
KEY_BYTES = 32
KEY_ID_BYTES = 4
NONCE_BYTES = 12


class Vault:
    """Seals and opens secrets. Reads its key when first needed, and makes one only to seal."""

    def __init__(self, key_file: Path) -> None:
        self.key_file = key_file
        self._key: bytes | None = None

    def seal(self, secret: str, *, account: str, engine: str, field: str) -> bytes:
        """The secret, encrypted for this account, engine and field."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        key = self._load() or self._make()
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(key).encrypt(nonce, secret.encode(), _place(account, engine, field))
        return VERSION + key_id(key) + nonce + sealed

    def open(self, sealed: bytes, *, account: str, engine: str, field: str) -> str:
        """The secret back; raises `SecretError` when the key is missing or another one, or the bytes were changed."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        again = f"or give it again with `webseam set {engine} {field}`"
        key = self._load()
        if key is None:
            raise SecretError(
                f"The stored {field} of {engine} cannot be read, {self.key_file} is missing: restore it, {again}."
            )
        head = len(VERSION) + KEY_ID_BYTES
        if sealed[:1] != VERSION or len(sealed) < head + NONCE_BYTES + 16:
            raise SecretError(f"The stored {field} of {engine} is damaged: give it again with `webseam set {engine} {field}`.")
        if sealed[1:head] != key_id(key):
            self._key = None  # another process may have made a new key: what the file says now counts
            key = self._load() or key
        if sealed[1:head] != key_id(key):
            raise SecretError(
                f"The stored {field} of {engine} was encrypted with another key than {self._origin()}: "
                f"restore that key, {again}."
            )
        nonce, body = sealed[head : head + NONCE_BYTES], sealed[head + NONCE_BYTES :]
        try:
            return AESGCM(key).decrypt(nonce, body, _place(account, engine, field)).decode()
        except InvalidTag as error:
            raise SecretError(
                f"The stored {field} of {engine} is damaged: give it again with `webseam set {engine} {field}`."
            ) from error

    def _origin(self) -> str:
        if os.environ.get("WEBSEAM_VAULT_KEY"):
            return "WEBSEAM_VAULT_KEY"
        return os.environ.get("WEBSEAM_VAULT_KEY_FILE") or str(self.key_file)

    def _load(self) -> bytes | None:
        if self._key is None:
            given = os.environ.get("WEBSEAM_VAULT_KEY")
            named = os.environ.get("WEBSEAM_VAULT_KEY_FILE")
            if given:
                self._key = _decode(given, "WEBSEAM_VAULT_KEY")
            else:
                from pathlib import Path

                path = Path(named) if named else self.key_file
                try:
                    text = path.expanduser().read_text("ascii", errors="replace")
                except FileNotFoundError:
                    if named:
                        raise ConfigurationError(f"WEBSEAM_VAULT_KEY_FILE names {path}, which does not exist.") from None
                    return None
                except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory to put for "~"
                    why = getattr(error, "strerror", None) or error
                    raise ConfigurationError(f"The vault's key {path} cannot be read ({why}).") from error
                self._key = _decode(text, str(path))
        return self._key

    def _make(self) -> bytes:
        """A new key in `vault.key`. Whole or not at all: two processes that start together end with one key."""
        key = secrets.token_bytes(KEY_BYTES)
        self.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.key_file.with_name(f"{self.key_file.name}.{os.getpid()}.{secrets.token_hex(4)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(base64.b64encode(key) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, self.key_file)
        except FileExistsError:
            pass  # another process was first: its key counts
        except OSError:  # a file system without hard links
            if not self.key_file.exists():
                draft.replace(self.key_file)
        draft.unlink(missing_ok=True)
        made = self._load()
        if made is None:
            raise ConfigurationError(f"The vault's key {self.key_file} cannot be written: check the data directory.")
        return made


def key_id(key: bytes) -> bytes:
    """Four bytes that name a key without telling it."""
    return hashlib.sha256(b"webseam vault key" + key).digest()[:KEY_ID_BYTES]


def _decode(text: str, origin: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            f"{origin} does not hold a vault key: 32 random bytes in base64 are needed, as `openssl rand -base64 32` prints."
        )
    return key


def _place(account: str, engine: str, field: str) -> bytes:
    return json.dumps([account, engine, field]).encode()
