"""The two tools as the protocol knows them: a ToolProvider over whatever engine the account chose.

`list` answers the handshake and imports nothing heavy. `call` checks the arguments, asks the Chooser for the provider, asks the
provider, and turns the outcome into one text block. Everything that goes wrong on the way and has a sentence of its own is an
`isError` result that a model can read; a fault of our own code is left to the engine, which answers -32603 without its text.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from webseam.call import Call, Caller
from webseam.config import LIMITS
from webseam.errors import ArgumentError, ProtocolError, WebseamError
from webseam.protocol.jsonrpc import INVALID_PARAMS
from webseam.tools import web_fetch, web_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from webseam.protocol.request import Request
    from webseam.seam.contract import Chooser
    from webseam.threads import Threads
    from webseam.tools.asking import Asking
    from webseam.tools.pages import Kept, Pages

Made = TypeVar("Made")

LONG = 100_000
"""Characters of a page from which on it is worked over in a thread."""


class WebTools:
    """`web_search` and `web_fetch`. A call may take `seconds`; `clock` is in seconds, `wall` in seconds since 1970."""

    def __init__(
        self,
        chooser: Chooser,
        *,
        seconds: float = LIMITS.call_seconds,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._chooser = chooser
        self._seconds = seconds
        self._clock = clock
        self._wall = wall
        self._asking: Asking | None = None
        self._pages: Pages | None = None
        self._threads: Threads | None = None

    def list(self, cursor: str | None, call: Request) -> list[dict[str, Any]]:  # noqa: ARG002 - two tools are one page
        """Both tools, with the filters that the account's engine honours."""
        account = _caller(call).account
        return [web_search.tool(self._chooser.search_facts(account)), web_fetch.tool(self._chooser.reading_facts(account))]

    async def call(self, name: str, arguments: Mapping[str, Any], call: Request) -> dict[str, Any]:
        """The tool's result. Raises ProtocolError (-32602) when there is no tool of that name."""
        run = {web_search.NAME: self._search, web_fetch.NAME: self._fetch}.get(name)
        if run is None:
            raise ProtocolError(
                INVALID_PARAMS, f"Unknown tool: {name[:100]}. There are {web_search.NAME} and {web_fetch.NAME}."
            )
        import asyncio

        caller = _caller(call)
        ours = Call(caller.account, caller.agent, seconds=self._seconds, clock=self._clock)
        call.on_cancel(ours.cancel)
        try:
            return _result(await run(arguments, ours))
        except WebseamError as error:
            return _result(self._told(error, caller.account), is_error=True)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not ours.cancelled or (task is not None and task.cancelling()):
                ours.cancel()
                raise
            return _result("The call was cancelled.", is_error=True)

    async def _search(self, arguments: Mapping[str, Any], call: Call) -> str:
        from webseam.tools import caps

        facts = self._chooser.search_facts(call.account)
        query = web_search.read(arguments, facts)
        with call.step(web_search.NAME, engine=facts.name):
            provider = self._chooser.searcher(call)
            asking = self._ready()[0]
            filters = web_search.filters(query)
            answered = await asking.ask(provider, facts, call, provider.search, query.text, query.count, **filters)
            redact = partial(self._chooser.redact, call.account)
            results = caps.results(answered, query.count, facts.title, redact)
            remarks = {name: caps.remarks(answered, name, redact) for name in ("not_applied", "unresponsive")}
        return web_search.answer(_name(provider, facts.name), query, results, remarks)

    async def _fetch(self, arguments: Mapping[str, Any], call: Call) -> str:
        from webseam.tools.pages import Key

        facts = self._chooser.reading_facts(call.account)
        asked = web_fetch.read(arguments, facts)
        # The fetch has a Call of its own: other requests may come to wait for it, and it outlives the one that began it.
        flight = Call(call.account, call.agent, seconds=self._seconds, clock=self._clock, cache=asked.cache, whole=asked.whole)
        version = self._chooser.version(call.account)
        provider, url = self._chooser.reader(flight, asked.url)
        name = _name(provider, facts.name)
        asking, pages = self._ready()
        with call.step(web_fetch.NAME, engine=name) as step:
            try:
                kept = await pages.get(
                    Key(call.account, name, version, url, asked.whole),
                    lambda: self._read(asking, provider, url, flight),
                    call,
                    cache=asked.cache,
                )
            finally:
                step.detail["fetched"] = bool(flight.steps)
                call.steps.extend(flight.steps[: LIMITS.call_steps - len(call.steps)])
        if len(kept.page.content) < LONG:
            return web_fetch.answer(name, kept, asked, whole_offered=facts.whole)
        return await self._aside(lambda: web_fetch.answer(name, kept, asked, whole_offered=facts.whole), call)

    async def _read(self, asking: Asking, provider: Any, url: str, flight: Call) -> Kept:
        """Fetch one page for whoever waits; its own Call ends when this is cancelled, for then nobody does."""
        import asyncio
        from dataclasses import replace

        from webseam.tools import caps
        from webseam.tools.pages import Kept
        from webseam.tools.window import Layout

        facts = self._chooser.reading_facts(flight.account)
        name = _name(provider, facts.name)
        if name != facts.name:
            facts = replace(facts, name=name, title=name)  # another reader than the chosen one reads this kind of URL
        try:
            with flight.step("read", engine=name):
                answered = await asking.ask(provider, facts, flight, provider.fetch, url)
        except asyncio.CancelledError:
            flight.cancel()
            raise
        retrieved_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._wall()))
        redact = partial(self._chooser.redact, flight.account)

        def made() -> Kept:
            page = caps.page(answered, url, facts.title, retrieved_at, redact)
            return Kept(page, Layout(page.content))

        return made() if _length(answered) < LONG else await self._aside(made, flight)

    async def _aside(self, work: Callable[[], Made], call: Call) -> Made:
        """What `work` returns, done in a thread: megabytes of text must not keep other calls waiting. Raises ProviderError."""
        import asyncio

        if self._threads is None:
            from webseam.threads import Threads

            self._threads = Threads(1, "webseam-pages")  # more would only fight over the interpreter
        try:
            async with asyncio.timeout(call.remaining()):
                made: Made = await self._threads.run(work)
        except TimeoutError:
            from webseam.seam.failures import Kind, failure

            facts = self._chooser.reading_facts(call.account)
            raise failure(facts, Kind.TIMEOUT, seconds=call.deadline - call.began) from None
        return made

    def _ready(self) -> tuple[Asking, Pages]:
        if self._asking is None or self._pages is None:
            from webseam.tools.asking import Asking
            from webseam.tools.pages import Pages

            self._asking, self._pages = Asking(), Pages(self._clock)
        return self._asking, self._pages

    def _told(self, error: WebseamError, account: str) -> str:
        """An error's text as the model gets it: word for word, but without secrets, hidden characters and excess."""
        from webseam.tools.clean import clean_block, cut

        # Redacted first: cleaning could otherwise join the halves of a secret that something invisible parted.
        words = self._chooser.redact(account, clean_block(self._chooser.redact(account, str(error))))
        if isinstance(error, ArgumentError):
            return words  # all ours; it may end with an outline in its fence, which a cut would open
        return cut(words, LIMITS.error_chars) or type(error).__name__


def _caller(call: Request) -> Caller:
    caller = call.caller
    return caller if isinstance(caller, Caller) else Caller()


def _name(provider: object, otherwise: str) -> str:
    """The provider's own name when it is a short visible line, else the one it was chosen by."""
    from webseam.tools.clean import is_visible_line

    name = getattr(provider, "name", None)
    return name if isinstance(name, str) and 0 < len(name) <= LIMITS.age_chars and is_visible_line(name) else otherwise


def _length(answered: object) -> int:
    """About how much text a reader answered with."""
    content = answered.get("content") if isinstance(answered, Mapping) else getattr(answered, "content", "")
    return len(content) if isinstance(content, str) else 0


def _result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}
