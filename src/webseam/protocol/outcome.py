"""protocol: what became of a message, as a value for the transport."""

from __future__ import annotations

from collections.abc import Coroutine  # noqa: TC003  # msgspec looks the annotations up when somebody asks for `help()`
from typing import TYPE_CHECKING, Any

from webseam.protocol.codec import Struct
from webseam.protocol.jsonrpc import INTERNAL_ERROR, NO_ID, error_reply
from webseam.protocol.request import Request  # noqa: TC001  # as above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from webseam.protocol.inbound import RefusedError
    from webseam.protocol.revisions import Rules


class Outcome(Struct, eq=False):
    """What became of a message.

    Either it is settled: `reply` is to be sent (None: nothing is), `status` is its HTTP status; `before` are the messages that
    go out ahead of it, if any. Or `work` is to be awaited, once: it gives the settled outcome, and `request` is what is
    pending: a transport that can send before the answer lends it a channel first (`request.attach`), and cancels it when
    nobody waits any more. A cancelled request is never answered.
    """

    reply: bytes | None = None
    status: int = 200
    work: Coroutine[Any, Any, Outcome] | None = None
    request: Request | None = None
    before: list[bytes] | None = None

    def abandon(self) -> None:
        """Do not await `work` after all. The request counts as cancelled."""
        if self.request is not None:
            self.request.cancel()
        if self.work is not None:
            self.work.close()
            self.work = None


def is_fault(error: BaseException, *, waited: bool) -> bool:
    """Whether an exception is its provider's fault, and no way to end the process or a task that was `waited` for."""
    if isinstance(error, Exception):
        return True
    if isinstance(error, BaseExceptionGroup):
        return all(is_fault(one, waited=waited) for one in error.exceptions)
    ends = isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit) or getattr(error, "ends_process", False)
    return not ends and not (waited and type(error).__name__ == "CancelledError")  # asyncio's: not imported here


def unanswered(status: int = 202) -> Outcome:
    """Nothing is sent: the message was a notification or a response, or its request was cancelled."""
    return Outcome(None, status)


def lost(request: Request) -> Outcome:
    """The answer to a request whose work ended without one, though nobody cancelled it: a provider let the cancellation of
    something of its own escape. Only a transport can tell that from its own cancelling."""
    return Outcome(error_reply(request.id, INTERNAL_ERROR, "Internal error"))


def failed(message_id: str | int, code: int, text: str, data: Any, rules: Rules) -> Outcome:
    """An error, with the status that the revision gives its code."""
    return Outcome(error_reply(message_id, code, text, data), rules.statuses.get(code, 200))


def refused(refusal: RefusedError, *, modern: bool = False) -> Outcome:
    """What the ladder of checks refused. `modern` leaves out an id that could not be read."""
    if not refusal.answered:
        return unanswered(refusal.status)
    message_id = NO_ID if modern and refusal.message_id is None else refusal.message_id
    return Outcome(error_reply(message_id, refusal.code, str(refusal), refusal.data), refusal.status)


def joined(outcomes: Sequence[Outcome]) -> Outcome:
    """The answer to a batch: an array of the answers there are, nothing when there is none (JSON-RPC 2.0, section 6)."""
    replies = [outcome.reply for outcome in outcomes if outcome.reply is not None]
    before = [message for outcome in outcomes for message in outcome.before or ()]
    return Outcome(b"[" + b",".join(replies) + b"]", before=before or None) if replies else unanswered()
