"""Call: what travels with one request from the agent to the network and back.

Account, agent, deadline, cancellation and the steps taken so far. The call log, metrics, traces and the command line
read `Call.steps`; nothing is instrumented twice. A Call belongs to one request and is never shared.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from webseam.config import LIMITS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Literal

LOCAL = "local"
"""The account of the one person who runs Webseam for themselves."""


def folder_name(account: str) -> str:
    """The name of the folder that holds what is kept for the account: its own where every system takes it, else a hash."""
    import re

    if re.fullmatch(r"(?!(?:aux|con|nul|prn|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,40}", account):
        return account
    import hashlib

    return "a." + hashlib.sha256(account.encode()).hexdigest()[:32]


class Caller:
    """Who asks, as the transport learnt it: the account and, where there are several, the agent of it."""

    __slots__ = ("account", "agent")

    def __init__(self, account: str = LOCAL, agent: str | None = None) -> None:
        self.account = account
        self.agent = agent

    @property
    def principal(self) -> str:
        """Whose the caller's sessions, tasks and request states are (see `webseam.protocol.request.principal_of`)."""
        return self.account

    def __repr__(self) -> str:
        return f"Caller({self.account!r}, {self.agent!r})"


class Step:
    """One thing that was done for a call: `name`, when it began (s after the call did), how long it took (s), details.

    `outcome` is `"ok"` or the `kind` of what was raised. Details never hold a secret, a header value or a body. `with` ends it.
    """

    __slots__ = ("_call_began", "_clock", "began", "detail", "name", "outcome", "seconds")

    def __init__(self, call: Call, name: str, detail: dict[str, Any]) -> None:
        self._clock = call.clock  # not the call: it holds its steps
        self._call_began = call.began
        self.name = name
        self.began = call.clock() - call.began
        self.seconds = 0.0
        self.outcome = "ok"
        self.detail = detail

    def __enter__(self) -> Step:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.seconds = self._clock() - self._call_began - self.began
        if error is not None:
            self.outcome = getattr(error, "kind", type(error).__name__)

    def __repr__(self) -> str:
        return f"Step({self.name!r}, {self.seconds * 1000:.1f} ms, {self.outcome}, {self.detail})"


class Call:
    """One request on its way. `deadline` is in seconds of `clock` (`time.monotonic`).

    `cache` is what the caller wants of pages that are kept: "use" them, "only" them, or "refresh" them. `whole` says that the
    caller wants all of a page, not its main content.
    """

    __slots__ = ("_callbacks", "account", "agent", "began", "cache", "cancelled", "clock", "deadline", "steps", "whole")

    def __init__(
        self,
        account: str = LOCAL,
        agent: str | None = None,
        *,
        seconds: float = LIMITS.call_seconds,
        clock: Callable[[], float] = time.monotonic,
        cache: Literal["use", "only", "refresh"] = "use",
        whole: bool = False,
    ) -> None:
        self.account = account
        self.agent = agent
        self.cache: Literal["use", "only", "refresh"] = cache
        self.whole = whole
        self.clock = clock
        self.began = clock()
        self.deadline = self.began + seconds
        self.cancelled = False
        self.steps: list[Step] = []
        self._callbacks: list[Callable[[], None]] = []

    def remaining(self) -> float:
        """Seconds until the deadline, never negative; 0 once cancelled."""
        if self.cancelled:
            return 0.0
        return max(0.0, self.deadline - self.clock())

    def cancel(self) -> None:
        """Say that nobody waits for the answer any more; runs what `on_cancel` was given, once."""
        if self.cancelled:
            return
        self.cancelled = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run `callback` when the call is cancelled; at once when it already is."""
        if self.cancelled:
            callback()
        else:
            self._callbacks.append(callback)

    def step(self, name: str, **detail: Any) -> Step:
        """Record one step, which lasts as long as its `with`; what is raised inside is recorded by its kind and goes on."""
        step = Step(self, name, detail)
        if len(self.steps) < LIMITS.call_steps:
            self.steps.append(step)
        return step
