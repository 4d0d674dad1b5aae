"""A vendor: two pure functions around somebody else's HTTP, and the provider that runs them through a door.

A vendor's file holds its facts, `request()` (a query becomes an HTTP request) and `results()` (a decoded reply becomes a list
of results). Nothing in it does IO, so a saved reply tests it. What vendors have in common is here: settings and their defaults,
the reading of JSON, what a status means, when to come back, and that a failure is always raised and never an empty list. Where
a vendor says the same in its own way, `KINDS` maps its statuses and error codes, and `complaint()` finds them in the reply.

Titles and snippets are passed on as the vendor spells them, markup and entities included: the tools turn them into text, once.

The handshake reads a vendor's facts, so its file imports what a call alone needs inside the functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from webseam.config import LIMITS
from webseam.engines import replies
from webseam.engines.replies import Complaint
from webseam.errors import DoorError, ProviderError, WebseamError
from webseam.redaction import without_secrets
from webseam.seam.failures import Kind, failure, how_to_set
from webseam.seam.waiting import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from webseam.seam.contract import Door, HttpReply, HttpRequest, Query, SearchResult
    from webseam.seam.facts import Facts

_BY_STATUS = {
    400: Kind.BAD_PARAMETER,
    401: Kind.KEY_REJECTED,
    402: Kind.OUT_OF_CREDIT,
    403: Kind.KEY_REJECTED,
    408: Kind.VENDOR_DOWN,
    413: Kind.BAD_PARAMETER,
    414: Kind.BAD_PARAMETER,
    422: Kind.BAD_PARAMETER,
    429: Kind.RATE_LIMITED,
    451: Kind.REFUSED,
}
_BY_DOOR = {
    "timeout": Kind.TIMEOUT,
    "dns": Kind.UNREACHABLE,
    "connect": Kind.UNREACHABLE,
    "tls": Kind.UNREACHABLE,
    "too_large": Kind.UNREADABLE_REPLY,
    "bad_reply": Kind.UNREADABLE_REPLY,
}


class Vendor(ABC):
    """One search vendor. A subclass gives `FACTS`, `request` and `results`; the rest only where it differs."""

    FACTS: ClassVar[Facts]

    KINDS: ClassVar[Mapping[int | str, Kind]] = {}
    """What a status, or an error code, of this vendor means where it is not what everybody means by it."""

    @abstractmethod
    def request(self, query: Query, settings: Mapping[str, str]) -> HttpRequest:
        """The request that asks `query`. Pure. Raises ProviderError when the vendor could not take it (it is too long, say)."""

    @abstractmethod
    def results(self, body: Any, reply: HttpReply) -> Sequence[SearchResult]:
        """The results in a reply's decoded JSON. Pure. Whatever it raises besides ProviderError means an unreadable reply."""

    def reply(self, reply: HttpReply, query: Query) -> list[SearchResult]:
        """At most `query.count` results. Pure. Raises ProviderError for every kind of failure, whatever the status says."""
        body = self.decoded(reply)
        return list(self.results(body, reply))[: query.count]

    def decoded(self, reply: HttpReply) -> Any:
        """The JSON of a reply that is a success. Raises ProviderError for one that is not."""
        import msgspec

        success = 200 <= reply.status < 300
        try:
            body = msgspec.json.decode(reply.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if success:
                seen = reply.body.decode("utf-8", "replace")
                raise self.fault(reply, Complaint(words=f"(not JSON) {seen}"), Kind.UNREADABLE_REPLY) from None
            body = None
        found = self.complaint(body, reply)
        if success and found is None:
            return body
        raise self.fault(reply, found or Complaint())

    def complaint(self, body: Any, reply: HttpReply) -> Complaint | None:
        """The error that a reply reports, None when it reports none: "error" in a 200 is a failure too."""
        return replies.complaint(body, success=200 <= reply.status < 300)

    def fault(self, reply: HttpReply, found: Complaint, kind: Kind | None = None) -> ProviderError:
        """The error to raise for a reply that is not a success; its kind by the vendor's code, then by the status."""
        # Redacted first, cut afterwards, by `failure`: half a secret could not be found any more.
        words = without_secrets(": ".join(part for part in (found.code, found.words) if part), reply.secrets)
        number = without_secrets(replies.request_id(reply) or found.request_id, reply.secrets)
        kind = kind or self.KINDS.get(found.code) or self.KINDS.get(reply.status) or self.kind_of(reply.status)
        return failure(
            self.FACTS,
            kind,
            status=reply.status,
            retry_after=self.retry_after(reply) if kind in (Kind.RATE_LIMITED, Kind.VENDOR_DOWN) else None,
            vendor_says=words,
            request_id=number or None,
        )

    def kind_of(self, status: int) -> Kind:
        """What a status means when the vendor says nothing more of it."""
        # An error in a 200, like a 5xx, is the vendor's; what else is not in the table is none of the answers we know.
        other = Kind.VENDOR_DOWN if status >= 500 or status < 300 else Kind.UNREADABLE_REPLY
        kind = _BY_STATUS.get(status, other)
        keyless = not any(setting.type == "secret" for setting in self.FACTS.settings)
        return Kind.REFUSED if kind is Kind.KEY_REJECTED and keyless else kind

    def retry_after(self, reply: HttpReply) -> float | None:
        """Seconds until the vendor wants to be asked again, None when it does not say."""
        return retry_after(reply.headers)


class VendorProvider:
    """A SearchProvider: one vendor, with the owner's settings and a door bound to the call.

    Raises ProviderError when a setting is missing or cannot be used.
    """

    def __init__(self, vendor: Vendor, settings: Mapping[str, str], door: Door) -> None:
        self._vendor = vendor
        self._settings = settings_of(vendor.FACTS, settings)
        self._door = door

    @property
    def name(self) -> str:
        """The vendor's name."""
        return self._vendor.FACTS.name

    async def search(self, query: str, count: int, **filters: Any) -> list[SearchResult]:
        """Ask the vendor. Raises ProviderError, or DoorError when the door refuses the address that the owner set."""
        from dataclasses import replace

        from webseam.seam.contract import Query

        asked = Query(query, count, **filters)
        request = self._vendor.request(asked, self._settings)
        try:
            return self._read(replace(await self._send(request), secrets=request.secrets), asked)
        except ProviderError as error:
            told = error
        # Outside the handler: neither the cause nor the context of a redacted error may bring the secret back.
        raise _redacted(told, request.secrets)

    async def _send(self, request: HttpRequest) -> HttpReply:
        try:
            try:
                return await self._door.send(request, max_bytes=LIMITS.vendor_reply_bytes)
            except DoorError as error:
                if not error.unsent:
                    raise
            return await self._door.send(request, max_bytes=LIMITS.vendor_reply_bytes)
        except DoorError as error:
            kind = _BY_DOOR.get(error.kind)
            if kind is None:
                raise  # an address or a port that is the owner's to allow: the door's own words say how
            raise failure(self._vendor.FACTS, kind, door_says=str(error)) from error

    def _read(self, reply: HttpReply, asked: Query) -> list[SearchResult]:
        vendor = self._vendor
        if 300 <= reply.status < 400:
            # Followed, the key would go along to whatever host is named there.
            where = without_secrets(reply.headers.get("location", ""), reply.secrets).partition("?")[0][:200]
            words = f"go to {where} (redirects of vendors are not followed: see base_url of {self.name})"
            raise vendor.fault(reply, Complaint(words=words), Kind.UNREADABLE_REPLY)
        try:
            return vendor.reply(reply, asked)
        except WebseamError:
            raise
        except Exception as error:
            # A vendor's code over a stranger's bytes: whatever goes wrong, they were not what it reads.
            words = f"({type(error).__name__} where its results should be)"
            raise vendor.fault(reply, Complaint(words=words), Kind.UNREADABLE_REPLY) from error


def settings_of(facts: Facts, given: Mapping[str, str]) -> dict[str, str]:
    """Every setting, as the owner gave it or by default. Raises ProviderError naming the one that is missing or unusable."""
    settings: dict[str, str] = {}
    for setting in facts.settings:
        value = (given.get(setting.key) or "").strip() or setting.default
        if setting.required and not value and setting.type == "secret":
            raise failure(facts, Kind.NO_KEY)
        if setting.required and not value:
            raise _unusable(facts, setting.key, "is not set")
        if setting.type == "secret" and not (value.isascii() and value.isprintable()):
            # It goes into a header, where a line break would be the beginning of another one.
            sentence = f"The key of {facts.title} holds characters that no key has: set it again with {how_to_set(facts)}."
            raise ProviderError(sentence, kind=Kind.NO_KEY, engine=facts.name)
        if setting.type == "url" and value:
            value = value.rstrip("/")
            if not value.lower().startswith(("http://", "https://")) or set(value) & set("?#\\ ") or not value.isprintable():
                raise _unusable(facts, setting.key, "must be an http(s) URL without ? and #")
        if setting.type == "choice" and value and value not in setting.choices:
            raise _unusable(facts, setting.key, f"must be one of {', '.join(setting.choices)}")
        settings[setting.key] = value
    return settings


def _unusable(facts: Facts, key: str, why: str) -> ProviderError:
    sentence = f"{key} of {facts.title} {why}: change it with `webseam set {facts.name} {key}`."
    return ProviderError(sentence, kind=Kind.NOT_AVAILABLE, engine=facts.name)


def _redacted(error: ProviderError, secrets: Sequence[str]) -> ProviderError:
    """`error`, or one like it without the secrets that the vendor put into what it says."""
    words, number = without_secrets(str(error), secrets), without_secrets(error.request_id or "", secrets)
    behind = " ".join(str(one) for one in (error.__cause__, error.__context__) if one is not None)
    if (words, number, behind) == (str(error), error.request_id or "", without_secrets(behind, secrets)):
        return error
    return ProviderError(
        words,
        kind=error.kind,
        engine=error.engine,
        retry_after=error.retry_after,
        status=error.status,
        request_id=number or None,
    )
