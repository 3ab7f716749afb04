"""Many at once, cancelled, closed, copied: nothing is mixed up and nothing is left."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from pathlib import Path
from typing import Final

from codereward.model import Limits, Program, Run, Status
from codereward.protocols import Executor
from codereward.testing.checks.executor.bench import (
    Bench,
    Check,
    assert_nothing_left,
    processes_with,
    sh,
    within,
)

__all__ = ["CHECKS"]

SOON: Final = 0.5
"""Seconds after which a program that was started is taken to be running."""


async def constructor_opens_nothing(bench: Bench) -> None:
    """Making an executor opens no file, thread, process or connection."""
    before = open_things()
    executor = bench.make()
    after = open_things()
    await executor.aclose()

    assert after == before, "the constructor opened something"


async def every_run_is_a_real_one(bench: Bench) -> None:
    """Equal programs are run each time, in a fresh sandbox; nobody remembers results."""
    program = bench.program(sh("od -An -N8 -tx1 /dev/urandom; test -e seen; echo $?; echo > seen"))

    results = [(await bench.run(program)).commands[0].stdout.split(b"\n") for _ in range(2)]

    assert results[0][0] != results[1][0], "the second run gave the result of the first"
    assert [one[1] for one in results] == [b"1"] * 2, "the second run found files of the first"


async def many_at_once_are_not_mixed_up(bench: Bench) -> None:
    """Programs that run at the same time each get their own result."""
    programs = [bench.program(sh(f"sleep 0.{n}; echo {n}; exit {n}")) for n in (3, 2, 1, 0, 1, 2, 3, 4)]

    runs = await asyncio.gather(*(bench.run(one) for one in programs))

    assert [one.commands[0].exit_code for one in runs] == [3, 2, 1, 0, 1, 2, 3, 4], "results are mixed up"


async def cancelling_ends_the_program(bench: Bench) -> None:
    """A cancelled run ends soon, as cancelled, and with it every process of the program."""
    task = asyncio.ensure_future(bench.executor.run(sleeping(bench)))
    await asyncio.sleep(SOON)
    task.cancel()

    await asyncio.wait([task], timeout=bench.slack_seconds)

    assert task.done(), "the cancelled run did not end"
    assert task.cancelled(), "the run swallowed its cancellation"
    await assert_nothing_left(bench)


async def cancelling_at_once_does_no_harm(bench: Bench) -> None:
    """Runs that are cancelled while they start leave nothing, and the executor goes on."""
    for turns in (0, 1, 2, 5, 20):
        task = asyncio.ensure_future(bench.executor.run(sleeping(bench)))
        for _ in range(turns):
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait([task], timeout=bench.slack_seconds)
        assert task.cancelled(), "the run did not end as cancelled"

    assert (await bench.only(sh("echo fine"))).stdout == b"fine\n", "the next program did not run"


async def cancelling_one_leaves_the_others_alone(bench: Bench) -> None:
    """When one run is cancelled, those beside it go on to their ends."""
    other = asyncio.ensure_future(bench.run(bench.program(sh("sleep 1.5; echo whole"))))
    task = asyncio.ensure_future(bench.executor.run(sleeping(bench)))
    await asyncio.sleep(SOON)
    task.cancel()

    await asyncio.wait([task], timeout=bench.slack_seconds)

    assert (await other).commands[0].stdout == b"whole\n", "a run beside the cancelled one was disturbed"


async def nothing_outlives_its_run(bench: Bench) -> None:
    """When `run` has returned, no process of the program is alive, however it detached itself."""
    detach = f"({bench.sleeper(60)} &); (setsid {bench.sleeper(60)} || {bench.sleeper(60)}) >/dev/null 2>&1 &"
    scripts = (detach, f"{detach} {bench.sleeper(60)}", f"trap '' TERM HUP; {detach} exit 3")

    run = await bench.run(bench.program(*map(sh, scripts), limits=Limits(wall_seconds=1.0)))

    alive = processes_with(bench.sleeper(60))
    assert not alive, f"alive after the run: {alive}"
    statuses = [one.status for one in run.commands]
    assert statuses == [Status.EXITED, Status.TIMED_OUT, Status.EXITED], "statuses differ"


async def closing_ends_what_runs(bench: Bench) -> None:
    """Closing does not wait for programs: it ends them, and their runs return or raise soon after."""
    task = asyncio.ensure_future(bench.executor.run(sleeping(bench)))
    await asyncio.sleep(SOON)

    await within(bench.slack_seconds, bench.executor.aclose())
    await asyncio.wait([task], timeout=bench.slack_seconds)

    assert task.done(), "the program ran on after its executor was closed"
    task.cancelled() or task.exception()
    await assert_nothing_left(bench)


async def closing_is_idempotent(bench: Bench) -> None:
    """An executor can be closed unused, and twice, and used again after."""
    await bench.executor.aclose()
    for word in ("one", "two"):
        result = await bench.only(sh(f"echo {word}"))
        assert result.stdout.decode() == f"{word}\n", "an executor that was closed did not run again"
        await bench.executor.aclose()
        await bench.executor.aclose()


async def another_event_loop_will_do(bench: Bench) -> None:
    """A closed executor can be used again from another event loop, in another thread."""
    await bench.only(sh("true"))
    await bench.executor.aclose()

    run = await asyncio.to_thread(asyncio.run, run_and_close(bench.executor, bench.program(sh("echo there"))))

    assert run.commands[0].stdout == b"there\n", "it did not run in another loop"


async def copies_are_unused(bench: Bench) -> None:
    """A used executor copies and pickles, while it runs too, to unused ones that work on their own."""
    await bench.only(sh("true"))
    running = asyncio.ensure_future(bench.run(bench.program(sh("sleep 1; echo undisturbed"))))
    await asyncio.sleep(SOON)
    pickled = pickle.dumps(bench.executor)
    for twin in (copy.copy(bench.executor), copy.deepcopy(bench.executor), pickle.loads(pickled)):  # noqa: S301 - made here
        run = await within(bench.slack_seconds * 2, run_and_close(twin, bench.program(sh("echo twin"))))
        assert run.commands[0].stdout == b"twin\n", "a copy does not work"

    assert (await running).commands[0].stdout == b"undisturbed\n", "a copy disturbed the original"


def sleeping(bench: Bench) -> Program:
    """A program that runs for a minute, in three processes."""
    script = f"{bench.sleeper(60)} & (trap '' TERM; {bench.sleeper(60)}) & {bench.sleeper(60)}; wait"
    return bench.program(sh(script), limits=Limits(wall_seconds=60.0))


async def run_and_close(executor: Executor, program: Program) -> Run:
    """One run, and the end of the executor."""
    try:
        return await executor.run(program)
    finally:
        await executor.aclose()


def open_things() -> tuple[int, int]:
    """How many descriptors (where the system tells) and threads this process has."""
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.exists() else 0, threading.active_count()


CHECKS: Final[tuple[Check, ...]] = (
    constructor_opens_nothing,
    every_run_is_a_real_one,
    many_at_once_are_not_mixed_up,
    cancelling_ends_the_program,
    cancelling_at_once_does_no_harm,
    cancelling_one_leaves_the_others_alone,
    nothing_outlives_its_run,
    closing_ends_what_runs,
    closing_is_idempotent,
    another_event_loop_will_do,
    copies_are_unused,
)
