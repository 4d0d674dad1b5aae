"""conformance: the tools that run as tasks for clients with `io.modelcontextprotocol/tasks`, and one that never does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.conformance.fixtures_tools import NAME, STRING, Items, Tool, form, takes, text

from webseam.protocol import ProtocolError

if TYPE_CHECKING:
    from webseam.protocol import Request

INTERNAL_ERROR = -32603
JOB_SECONDS = 0.1


async def _greet(arguments: dict[str, Any], _call: Request) -> Items:
    return [text(f"Hello, {arguments['name']}!")]


async def _slow_compute(arguments: dict[str, Any], call: Request) -> Any:
    async def work(_call: Request) -> Items:
        await asyncio.sleep(arguments.get("seconds", 1))
        return [text(f"Computed {arguments.get('label', 'it')}")]

    return await call.run_as_task(work)


async def _failing_job(_arguments: dict[str, Any], call: Request) -> Any:
    async def work(_call: Request) -> dict[str, Any]:
        await asyncio.sleep(JOB_SECONDS)
        return {"content": [text("The job failed, as it always does")], "isError": True}

    return await call.run_as_task(work, required=True)


async def _protocol_error_job(_arguments: dict[str, Any], call: Request) -> Any:
    async def work(_call: Request) -> dict[str, Any]:
        await asyncio.sleep(JOB_SECONDS)
        raise ProtocolError(INTERNAL_ERROR, "The job came to no result, as it always does")

    return await call.run_as_task(work)


async def _confirm_delete(arguments: dict[str, Any], call: Request) -> Any:
    async def work(call: Request) -> Items:
        answer = await call.elicit(f"Delete {arguments['filename']}?", takes("confirm", confirm={"type": "boolean"}))
        confirmed = answer["action"] == "accept" and (answer.get("content") or {}).get("confirm") is True
        return [text(f"{'Deleted' if confirmed else 'Kept'} {arguments['filename']}")]

    return await call.run_as_task(work)


async def _multi_input(_arguments: dict[str, Any], call: Request) -> Any:
    async def work(call: Request) -> Items:
        answers = await call.ask(
            {"name": NAME, "confirm": form("Shall it be done?", takes("confirm", confirm={"type": "boolean"}))}
        )
        return [text(f"Received {', '.join(sorted(answers))}")]

    return await call.run_as_task(work)


async def _input_then_task(_arguments: dict[str, Any], call: Request) -> Any:
    answer = await call.elicit("What is your name?", takes("name", name=STRING), key="user_name")
    name = (answer.get("content") or {}).get("name", "nobody")

    async def work(_call: Request) -> Items:
        await asyncio.sleep(JOB_SECONDS)
        return [text(f"Done for {name}")]

    return await call.run_as_task(work, required=True)


TASKS: dict[str, Tool] = {
    "greet": Tool("Greets at once, never as a task", _greet, takes("name", name=STRING)),
    "slow_compute": Tool("Takes as long as it is told", _slow_compute, takes(seconds={"type": "number"}, label=STRING)),
    "failing_job": Tool("Ends with an error of the tool; only as a task", _failing_job),
    "protocol_error_job": Tool("Ends with an error of the protocol", _protocol_error_job),
    "confirm_delete": Tool("Asks before it goes on", _confirm_delete, takes("filename", filename=STRING)),
    "multi_input": Tool("Asks two things at once", _multi_input),
    "test_tool_with_task": Tool("Asks first and becomes a task then; only as a task", _input_then_task),
}
