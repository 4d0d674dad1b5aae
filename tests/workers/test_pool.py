"""The pool of worker processes, against jobs that hang, hog, crash and vanish."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from webseam.errors import DocumentError, WorkerError
from webseam.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

PATIENCE = 30.0


def in_pool(work: Callable[[WorkerPool], Awaitable[Any]], **settings: Any) -> Any:
    """What `work(pool)` returns, the pool closed after it, and none of its processes left."""

    async def run() -> Any:
        async with WorkerPool(**settings) as pool:
            return await work(pool)

    before = {child.pid for child in psutil.Process().children()}
    answer = asyncio.run(run())
    assert {child.pid for child in psutil.Process().children()} <= before
    return answer


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_job_gets_its_arguments_and_gives_its_result(jobs: dict[str, str]) -> None:
    values = [1, "é", b"\x00\xff", None, [True, {"a": 1.5}]]
    assert in_pool(lambda pool: pool.run("echo", *values, seconds=PATIENCE), jobs=jobs) == values


def test_a_pool_that_is_not_used_starts_nothing(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> list[psutil.Process]:
        return psutil.Process().children()

    before = psutil.Process().children()
    assert in_pool(work, jobs=jobs) == before


def test_large_frames_pass(jobs: dict[str, str]) -> None:
    data = os.urandom(9_000_000)
    assert in_pool(lambda pool: pool.run("echo", data, seconds=PATIENCE), jobs=jobs) == [data]


def test_processes_are_used_again(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> list[int]:
        return [await pool.run("pid", seconds=PATIENCE) for _ in range(5)]

    assert len(set(in_pool(work, jobs=jobs))) == 1


def test_no_more_processes_run_than_were_asked_for_and_the_rest_wait(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> list[Any]:
        return await asyncio.gather(*[pool.run("pid", seconds=PATIENCE) for _ in range(30)])

    assert len(set(in_pool(work, processes=2, jobs=jobs))) <= 2


@pytest.mark.parametrize("job", ["forever", "forever_without_letting_go"])
def test_a_job_past_its_deadline_is_killed_and_the_next_is_answered(jobs: dict[str, str], job: str) -> None:
    async def work(pool: WorkerPool) -> None:
        first = await pool.run("pid", seconds=PATIENCE)
        with pytest.raises(WorkerError) as raised:
            await pool.run(job, seconds=0.3)
        assert raised.value.kind == "timeout"
        assert await pool.run("pid", seconds=PATIENCE) != first

    in_pool(work, processes=1, jobs=jobs)


def test_others_are_answered_while_one_hangs(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        hanging = asyncio.ensure_future(pool.run("forever", seconds=PATIENCE))
        for number in range(10):
            assert await pool.run("echo", number, seconds=PATIENCE) == [number]
        assert not hanging.done()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging

    in_pool(work, processes=2, jobs=jobs)


def test_a_job_that_takes_too_much_memory_is_killed(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        with pytest.raises(WorkerError, match="MB of memory") as raised:
            await pool.run("hog", seconds=PATIENCE)
        assert raised.value.kind == "memory"
        assert await pool.run("echo", 1, seconds=PATIENCE) == [1]

    in_pool(work, processes=1, memory_bytes=150_000_000, jobs=jobs)


@pytest.mark.parametrize(
    ("job", "kind", "words"),
    [
        ("exit_now", "crashed", "exit code 3"),
        ("leave", "crashed", "exit code"),
        ("abort", "crashed", "died"),
        ("fault", "crashed", "ValueError"),
        ("not_plain", "crashed", "FrameError"),
        ("no_memory", "memory", "no memory left"),
        ("there_is_no_such_job", "crashed", "KeyError"),
    ],
)
def test_a_job_that_fails_says_how_and_the_next_is_answered(jobs: dict[str, str], job: str, kind: str, words: str) -> None:
    async def work(pool: WorkerPool) -> None:
        with pytest.raises(WorkerError) as raised:
            await pool.run(job, seconds=PATIENCE)
        assert raised.value.kind == kind
        assert words in raised.value.message
        assert "secret" not in raised.value.message
        assert "Traceback" not in raised.value.message
        assert await pool.run("echo", 1, seconds=PATIENCE) == [1]

    in_pool(work, processes=1, jobs=jobs)


def test_errors_of_ours_come_back_as_they_are(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        with pytest.raises(DocumentError) as raised:
            await pool.run("refusal", seconds=PATIENCE)
        assert (raised.value.message, raised.value.kind) == ("It is not read.", "unsupported_type")

    in_pool(work, jobs=jobs)


def test_a_value_that_cannot_be_sent_is_an_error(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        with pytest.raises(WorkerError, match="could not be handed"):
            await pool.run("echo", object(), seconds=PATIENCE)

    in_pool(work, jobs=jobs)


def test_an_answer_never_reaches_another_caller(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        for number in range(20):
            lost = asyncio.ensure_future(pool.run("echo", "lost", number, seconds=PATIENCE))
            for _ in range(number % 5):
                await asyncio.sleep(0)
            lost.cancel()
            assert await pool.run("echo", "mine", number, seconds=PATIENCE) == ["mine", number]

    in_pool(work, processes=1, jobs=jobs)


def test_the_process_of_a_caller_who_left_is_killed(jobs: dict[str, str], tmp_path: Path) -> None:
    marker = tmp_path / "began"

    async def work(pool: WorkerPool) -> None:
        await pool.run("touch", str(marker), seconds=PATIENCE)
        pid = int(marker.read_text())
        running = asyncio.ensure_future(pool.run("forever", seconds=PATIENCE))
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await pool.run("pid", seconds=PATIENCE) != pid
        await pool.close()
        assert gone(pid)

    in_pool(work, processes=1, jobs=jobs)


def test_a_full_queue_is_said_at_once(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        running = [asyncio.ensure_future(pool.run("forever", seconds=PATIENCE)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(WorkerError, match="try again soon") as raised:
            await pool.run("echo", seconds=PATIENCE)
        assert raised.value.kind == "busy"
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        assert await pool.run("echo", 1, seconds=PATIENCE) == [1]

    in_pool(work, processes=1, queue=2, jobs=jobs)


def test_waiting_is_part_of_the_deadline(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        running = asyncio.ensure_future(pool.run("forever", seconds=PATIENCE))
        await asyncio.sleep(0)
        with pytest.raises(WorkerError) as raised:
            await pool.run("echo", seconds=0.1)
        assert raised.value.kind == "busy"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    in_pool(work, processes=1, jobs=jobs)


def test_those_who_leave_the_queue_give_their_place_on(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        running = asyncio.ensure_future(pool.run("forever", seconds=PATIENCE))
        waiting = [asyncio.ensure_future(pool.run("echo", number, seconds=PATIENCE)) for number in range(6)]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        running.cancel()
        await asyncio.sleep(0)
        waiting[1].cancel()  # it may have the slot by now
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert [answer for answer in answers if isinstance(answer, list)] == [[3], [5]]
        assert await pool.run("echo", "next", seconds=PATIENCE) == ["next"]

    in_pool(work, processes=1, jobs=jobs)


def test_a_process_is_replaced_after_its_share_of_jobs(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> list[int]:
        return [await pool.run("pid", seconds=PATIENCE) for _ in range(6)]

    pids = in_pool(work, processes=1, jobs_each=2, jobs=jobs)
    assert len(set(pids)) == 3


def test_closing_ends_what_runs_and_what_waits(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        tasks = [asyncio.ensure_future(pool.run("forever", seconds=PATIENCE)) for _ in range(4)]
        await asyncio.sleep(0)
        await pool.close()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert [getattr(answer, "kind", answer) for answer in answers] == ["crashed"] * 4
        assert await pool.run("echo", 1, seconds=PATIENCE) == [1]

    in_pool(work, processes=2, jobs=jobs)


def test_a_pool_serves_several_loops_one_after_the_other(jobs: dict[str, str]) -> None:
    pool = WorkerPool(processes=1, jobs=jobs)
    first = asyncio.run(pool.run("pid", seconds=PATIENCE))
    assert asyncio.run(pool.run("pid", seconds=PATIENCE)) == first
    asyncio.run(pool.close())
    assert asyncio.run(pool.run("pid", seconds=PATIENCE)) != first
    asyncio.run(pool.close())


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop is not made for Windows")
def test_a_pool_works_under_uvloop(jobs: dict[str, str]) -> None:
    import uvloop

    async def work() -> Any:
        async with WorkerPool(processes=1, jobs=jobs) as pool:
            with pytest.raises(WorkerError):
                await pool.run("forever", seconds=0.3)
            return await pool.run("echo", 1, seconds=PATIENCE)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(work()) == [1]


def test_what_a_job_prints_or_reads_does_not_come_between(jobs: dict[str, str]) -> None:
    assert in_pool(lambda pool: pool.run("shout", seconds=PATIENCE), jobs=jobs) == ""


def test_a_worker_sees_no_secret_of_the_environment(jobs: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "hush")
    monkeypatch.setenv("WEBSEAM_DATA", "somewhere")
    environment = in_pool(lambda pool: pool.run("environment", seconds=PATIENCE), jobs=jobs)
    assert "hush" not in environment.values()
    assert not [name for name in environment if name.startswith("WEBSEAM")]


def test_a_worker_that_reads_documents_never_loads_the_network(jobs: dict[str, str]) -> None:
    modules = in_pool(lambda pool: pool.run("modules", seconds=PATIENCE), jobs=jobs)
    assert {"turbohtml", "selectolax"} & set(modules)
    assert not {"socket", "ssl", "asyncio", "http.client", "urllib.request", "aiohttp"} & set(modules)


def test_a_worker_ignores_interrupts(jobs: dict[str, str]) -> None:
    assert in_pool(lambda pool: pool.run("ignores_interrupts", seconds=PATIENCE), jobs=jobs)


@pytest.mark.skipif(sys.platform == "win32", reason="a Windows process has no parent to be killed with")
@pytest.mark.parametrize("job", ["pid", "forever"])
def test_workers_die_with_the_server(jobs: dict[str, str], tmp_path: Path, job: str) -> None:
    marker = tmp_path / "pid"
    server = f"""
import asyncio, os, signal
from webseam.workers.pool import WorkerPool
async def main():
    pool = WorkerPool(processes=1, jobs={jobs!r})
    await pool.run("touch", {str(marker)!r}, seconds=30)
    running = asyncio.ensure_future(pool.run({job!r}, seconds=30))
    await asyncio.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", server], check=False, timeout=PATIENCE)
    assert ended.returncode == -signal.SIGKILL
    pid = int(marker.read_text())
    give_up = time.monotonic() + PATIENCE
    while not gone(pid) and time.monotonic() < give_up:
        time.sleep(0.02)
    assert gone(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on processor time")
@pytest.mark.prove
def test_a_worker_that_never_lets_go_dies_after_the_server_did(jobs: dict[str, str], tmp_path: Path) -> None:
    marker = tmp_path / "pid"
    server = f"""
import asyncio, os, signal
from webseam.workers.pool import WorkerPool
async def main():
    pool = WorkerPool(processes=1, jobs={jobs!r})
    await pool.run("touch", {str(marker)!r}, seconds=30)
    running = asyncio.ensure_future(pool.run("forever_without_letting_go", seconds=1))
    await asyncio.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", server], check=False, timeout=PATIENCE)
    pid = int(marker.read_text())
    assert not gone(pid)
    give_up = time.monotonic() + 2 * PATIENCE
    while not gone(pid) and time.monotonic() < give_up:
        time.sleep(0.1)
    assert gone(pid)


@pytest.mark.prove
def test_fifty_kills_leave_nothing_behind(jobs: dict[str, str]) -> None:
    async def work(pool: WorkerPool) -> None:
        for number in range(50):
            bad = ("forever", "exit_now", "hog", "forever_without_letting_go")[number % 4]
            with pytest.raises(WorkerError):
                await pool.run(bad, seconds=0.4)
            assert await pool.run("echo", number, seconds=PATIENCE) == [number]

    in_pool(work, processes=2, memory_bytes=150_000_000, jobs=jobs)
