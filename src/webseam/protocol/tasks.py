"""protocol: the tasks extension of 2026-07-28 (`io.modelcontextprotocol/tasks`, SEP-2663): calls that go on after their answer.

A provider hands its work to `Request.run_as_task`. The client gets a task id at once and asks for the status (`tasks/get`),
answers what the work asks on the way (`tasks/update`), or wants it no more (`tasks/cancel`).

Two halves. The `TaskStore` holds what a task is: anyone who has the id and is the same principal may read it. What runs is held
here, in the process that began it, and only that one can take answers and cancel: where several share a store, route by the
`Mcp-Name` header, which carries the task id for this purpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from webseam.config import LIMITS
from webseam.errors import ProtocolError
from webseam.protocol.asking import InputRequiredError, checked_answer, meaning, missing_capability, questions_declared
from webseam.protocol.codec import UNSET, Raw, Struct, UnsetType, encode, msgspec
from webseam.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, shown
from webseam.protocol.outcome import is_fault
from webseam.protocol.request import Request
from webseam.protocol.revisions import TASKS_EXTENSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from webseam.protocol.changes import Changes
    from webseam.protocol.channel import Waiter

    Work = Callable[[Request], Awaitable[Any]]

RAW_BYTES = 64 * 1024
"""A longer message is not kept for the sake of its `_meta`."""

OVER = frozenset({"completed", "failed", "cancelled"})
REQUIRED: dict[str, Any] = {"extensions": {TASKS_EXTENSION: {}}}


class Task(Struct, kw_only=True):
    """One task. Times are seconds since the epoch; `principal` is whose it is."""

    id: str
    principal: str
    created: float
    updated: float
    status: str = "working"
    message: str | None = None
    ttl_ms: int = LIMITS.task_ttl_ms
    poll_ms: int = LIMITS.task_poll_ms
    questions: dict[str, Any] = msgspec.field(default_factory=dict)
    result: Raw | UnsetType = UNSET  # not None: a store may write the task as JSON, and msgspec reads no `Raw | None`
    error: dict[str, Any] | None = None

    def seed(self) -> dict[str, Any]:
        """The task without what only some states have: the result of the call that began it."""
        fields = {
            "taskId": self.id,
            "status": self.status,
            "createdAt": _iso(self.created),
            "lastUpdatedAt": _iso(self.updated),
            "ttlMs": self.ttl_ms,
            "pollIntervalMs": self.poll_ms,
        }
        return fields if self.message is None else {**fields, "statusMessage": self.message}

    def detailed(self) -> dict[str, Any]:
        """The task with the questions, the result or the error that its status has."""
        fields = self.seed()
        if self.status == "input_required":
            fields["inputRequests"] = dict(self.questions)
        elif self.status == "completed":
            fields["result"] = self.result
        elif self.status == "failed":
            fields["error"] = self.error
        return fields

    def expired(self, now: float) -> bool:
        """Whether its time to live is over."""
        return now > self.created + self.ttl_ms / 1000


class TaskStore(Protocol):
    """Where tasks are kept. `create` returns once `get` would find the task."""

    async def create(self, task: Task) -> None:
        """Keep a new task. Raises ProtocolError when there is no room for it."""

    async def get(self, task_id: str) -> Task | None:
        """The task, None when there is none or its time to live is over."""

    async def update(self, task: Task) -> None:
        """Keep the new state of a task that `create` was given."""


class MemoryTaskStore:
    """Tasks of one process, lost with it: `LIMITS.tasks` in all, `LIMITS.tasks_per_caller` of one principal."""

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self._tasks: dict[str, Task] = {}
        self._now = now or _now

    async def create(self, task: Task) -> None:
        now = self._now()
        self._tasks = {key: kept for key, kept in self._tasks.items() if not kept.expired(now)}
        own = sum(kept.principal == task.principal for kept in self._tasks.values())
        if len(self._tasks) >= LIMITS.tasks or own >= LIMITS.tasks_per_caller:
            raise ProtocolError(
                INTERNAL_ERROR, "There are as many tasks as this server keeps: try again when some have expired."
            )
        self._tasks[task.id] = task

    def _held(self) -> int:
        return sum(len(kept.result) for kept in self._tasks.values() if kept.result is not UNSET)

    async def get(self, task_id: str) -> Task | None:
        task = self._tasks.get(task_id)
        return None if task is None or task.expired(self._now()) else task

    async def update(self, task: Task) -> None:
        if task.id not in self._tasks:
            return
        self._tasks[task.id] = task
        held = self._held() if task.result is not UNSET else 0
        for key, kept in list(self._tasks.items()):  # the oldest results make room for the newest
            if held <= LIMITS.tasks_bytes:
                return
            if kept.result is not UNSET and key != task.id:
                held -= len(kept.result)
                del self._tasks[key]


class Running:
    """A task's work in this process: how to cancel it, and what waits for the client's answers."""

    __slots__ = ("asked", "cancel", "lapse", "request", "size", "task", "waiters")

    def __init__(self, task: Task, size: int) -> None:
        self.task = task
        self.size = size  # of the call that began it
        self.lapse: Any = None
        self.cancel: Callable[[], object] = lambda: None
        self.request: TaskRequest | None = None
        self.waiters: dict[str, Waiter] = {}
        self.asked: set[str] = set()


class Tasks:
    """The tasks of an engine: begins them, and answers the extension's three methods."""

    def __init__(
        self, store: TaskStore, changes: Changes, finished: Callable[[Any], Raw], on_fault: Callable[[BaseException], None]
    ) -> None:
        self._store = store
        self._changes = changes
        self._finished = finished
        self._on_fault = on_fault
        self._running: dict[str, Running] = {}

    # -------------------------------------------------------------------------------------------- the three methods

    async def get(self, params: Any, request: Request) -> dict[str, Any]:
        """`tasks/get`."""
        return (await self._of(params.task_id, request)).detailed()

    async def update(self, params: Any, request: Request) -> dict[str, Any]:
        """`tasks/update`. Answers to what is not asked (any more) are ignored."""
        task = await self._of(params.task_id, request)
        running = self._running.get(task.id)
        if running is None:
            if task.status in OVER:
                return {}
            raise ProtocolError(INTERNAL_ERROR, "This task runs in another process: route by the Mcp-Name header.")
        answers = {
            key: checked_answer(key, question["method"], params.input_responses[key])
            for key, question in running.task.questions.items()
            if key in params.input_responses
        }
        for key, answer in answers.items():  # all of them are answers, or none is taken
            waiter = running.waiters.pop(key)
            del running.task.questions[key]
            if not waiter.done():
                waiter.set_result(answer)
        if task.status == "input_required" and not running.task.questions:
            running.task.status = "working"
        await self._changed(running.task)
        return {}

    async def cancel(self, params: Any, request: Request) -> dict[str, Any]:
        """`tasks/cancel`. A task that is over stays what it is."""
        task = await self._of(params.task_id, request)
        running = self._running.get(task.id)
        if running is not None and task.status not in OVER:
            await self._end(running, "cancelled")
        return {}

    async def readable(self, task_ids: list[str], request: Request) -> list[str]:
        """Those that `request` may see, of what it wants to be told about. Raises ProtocolError without the extension."""
        _declared(request)
        return [key for key in task_ids if (await self._found(key, request)) is not None]

    async def _of(self, task_id: str, request: Request) -> Task:
        _declared(request)
        task = await self._found(task_id, request)
        if task is None:
            raise ProtocolError(INVALID_PARAMS, f"There is no task {shown(task_id)!r}, or its time to live is over.")
        return task

    async def _found(self, task_id: str, request: Request) -> Task | None:
        task = await self._store.get(task_id)
        return task if task is not None and task.principal == request.principal else None

    # -------------------------------------------------------------------------------------------- running

    async def begin(self, work: Work, request: Request, ttl_ms: int, poll_ms: int) -> dict[str, Any]:
        """Let `work` go on by itself; gives the result that tells the client of the task."""
        import secrets

        await self._sweep()
        size = len(request.raw) if request.raw is not UNSET else 0
        if size + sum(running.size for running in self._running.values()) > LIMITS.tasks_bytes:
            raise ProtocolError(INTERNAL_ERROR, "The tasks under way hold as much as this server keeps: try again later.")
        now = _now()
        task = Task(
            id=secrets.token_urlsafe(24), principal=request.principal, created=now, updated=now, ttl_ms=ttl_ms, poll_ms=poll_ms
        )
        await self._store.create(task)
        running = self._running[task.id] = Running(task, size)
        running.request = TaskRequest.of(request, self, running)
        assert request.channel is not None
        seed = {"resultType": "task", **task.seed()}
        running.cancel = request.channel.spawn(self._run(work, running))
        running.lapse = request.channel.waiter(ttl_ms / 1000)
        request.channel.spawn(self._lapsed(running))
        return seed

    async def _lapsed(self, running: Running) -> None:
        """End the work when nobody can see its task any more."""
        await running.lapse
        if running.task.status not in OVER:
            await self._end(running, "cancelled")

    async def _run(self, work: Work, running: Running) -> None:
        task, request = running.task, running.request
        assert request is not None
        try:
            result = self._finished(await work(request))
            if len(result) > LIMITS.task_bytes:
                raise ProtocolError(INTERNAL_ERROR, f"The result of the task is larger than {LIMITS.task_bytes} bytes.")
            if task.status not in OVER:
                task.result = result
                await self._end(running, "completed")
        except BaseException as error:  # the client learns of it by its task
            if isinstance(error, InputRequiredError) or is_fault(error, waited=True):
                await self._raised(running, meaning(error) if isinstance(error, BaseExceptionGroup) else error)
            else:
                if task.status not in OVER and not isinstance(error, GeneratorExit):  # a coroutine that is closed cannot await
                    await self._end(running, "cancelled", itself=True)
                raise
        finally:
            self._running.pop(task.id, None)
            if running.lapse is not None and not running.lapse.done():
                running.lapse.set_result(None)
            if task.status not in OVER:  # the process stops
                task.status = "cancelled"

    async def _raised(self, running: Running, error: BaseException) -> None:
        """The work ended without a result. Raises what is not ours to answer."""
        if isinstance(error, ProtocolError):
            await self._fail(running, error.code, str(error), error.data)
            return
        if isinstance(error, InputRequiredError):
            error = RuntimeError("The work of a task asked on the request of its call, not on the one it is given.")
        self._on_fault(error)  # a provider's fault: the client learns only that there was one
        await self._fail(running, INTERNAL_ERROR, "Internal error", None)

    async def _fail(self, running: Running, code: int, text: str, data: Any) -> None:
        if running.task.status not in OVER:
            try:
                encode(data)
            except Exception as fault:  # noqa: BLE001  # it cannot be sent
                self._on_fault(fault)
                code, text, data = INTERNAL_ERROR, "Internal error", None
            running.task.error = (
                {"code": code, "message": text} if data is None else {"code": code, "message": text, "data": data}
            )
            running.task.message = text
            await self._end(running, "failed")

    async def _end(self, running: Running, status: str, *, itself: bool = False) -> None:
        """The task is over. `itself` says that its work says so, which then need not be cancelled."""
        running.task.status = status
        running.task.questions = {}
        self._running.pop(running.task.id, None)
        await self._changed(running.task)
        if status == "cancelled":
            assert running.request is not None
            running.request.cancel()
            if not itself:
                running.cancel()

    async def _changed(self, task: Task) -> None:
        task.updated = _now()
        await self._store.update(task)
        self._changes.task(task.id, task.principal, task.detailed())

    async def _sweep(self) -> None:
        """What runs longer than its time to live is ended: nobody can see it any more."""
        now = _now()
        for running in list(self._running.values()):
            if running.task.expired(now):
                await self._end(running, "cancelled")

    async def ask(self, running: Running, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Put questions on a task and wait for all answers."""
        request, task = running.request, running.task
        assert request is not None
        assert request.channel is not None
        questions_declared(request, questions)
        again = running.asked & questions.keys()
        if again:
            raise ValueError(f"The key {min(again)!r} was asked before in this task: each question has a key of its own.")
        if len(running.asked) + len(questions) > LIMITS.task_questions:
            raise ProtocolError(INTERNAL_ERROR, f"A task may ask {LIMITS.task_questions} questions.")
        waiters = {key: request.channel.waiter() for key in questions}
        running.asked.update(questions)
        running.waiters.update(waiters)
        task.questions.update({key: dict(question) for key, question in questions.items()})
        task.status = "input_required"
        await self._changed(task)
        return {key: await waiter for key, waiter in waiters.items()}


class TaskRequest(Request):
    """The request as the work of a task sees it: its questions go on the task; progress and logs have nowhere to go (SEP-2663,
    "Task Status Notifications")."""

    running: Any = None
    tasks: Any = None

    @classmethod
    def of(cls, request: Request, tasks: Tasks, running: Running) -> TaskRequest:
        """The request of the call that began the task, as its work sees it."""
        raw = request.raw if request.raw is not UNSET and len(request.raw) <= RAW_BYTES else UNSET
        return cls(
            id=request.id, method=request.method, revision=request.revision, caller=request.caller, raw=raw,
            params=request.params, host=request.host, channel=request.channel, running=running, tasks=tasks,
        )  # fmt: skip

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:  # noqa: ARG002  # the signature of Request's
        """Shown as the task's status message, as far as there is one."""
        if message is not None:
            self.running.task.message = message

    def log(self, level: str, data: Any, logger: str | None = None) -> None:
        """Nowhere to go."""

    def emit(self, message: bytes, *, keep: bool) -> None:
        """The answer to the call went out long ago: nothing can follow it."""

    def close_stream(self, retry_ms: int | None = None) -> None:
        """There is no stream any more."""

    async def run_as_task(self, work: Work, **_options: Any) -> Any:
        """It is one already."""
        return await work(self)

    async def ask(self, questions: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """As `Request.ask`; the task is `input_required` until every answer is there."""
        answers: dict[str, Any] = await self.tasks.ask(self.running, questions)
        return answers


def declared(request: Request) -> bool:
    """Whether the client of `request` knows tasks."""
    extensions = request.client_capabilities.get("extensions")
    return isinstance(extensions, dict) and TASKS_EXTENSION in extensions


def _declared(request: Request) -> None:
    if not declared(request):
        raise missing_capability(REQUIRED)


def _now() -> float:
    import time

    return time.time()


def _iso(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
