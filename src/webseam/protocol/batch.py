"""protocol: batches, which exist in 2025-03-26 alone.

The messages are answered one after the other, their work too (JSON-RPC 2.0, section 6, leaves the order to the server): so a
batch is never more than one pending call, however many messages it holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webseam.protocol.outcome import Outcome, joined, unanswered

if TYPE_CHECKING:
    from webseam.protocol.request import Request


def answer_batch(outcomes: list[Outcome], request: Request) -> Outcome:
    """One outcome for those of the messages. `request` stands for them all: cancelling it cancels each."""
    if not any(outcome.work for outcome in outcomes):
        return joined(outcomes)
    request.unstarted = _Unstarted(outcomes)
    request.on_cancel(lambda: _cancel(outcomes))
    return Outcome(None, 200, _finish(outcomes, request), request)


async def _finish(outcomes: list[Outcome], request: Request) -> Outcome:
    request.unstarted = None
    try:
        for index, outcome in enumerate(outcomes):
            if outcome.work is not None:
                if outcome.request is not None:
                    outcome.request.attach(request.channel)
                outcomes[index] = await outcome.work
        return unanswered() if request.cancelled else joined(outcomes)
    finally:  # when it ends early, what has not begun will not
        for outcome in outcomes:
            if outcome.work is not None:
                outcome.abandon()


def _cancel(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.request is not None:
            outcome.request.cancel()


class _Unstarted:
    """The work of a batch that nobody has begun to await: closing it closes each."""

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: list[Outcome]) -> None:
        self._outcomes = outcomes

    def close(self) -> None:
        for outcome in self._outcomes:
            outcome.abandon()
