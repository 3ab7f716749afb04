"""Every limit holds, and the result says which one it was."""

from __future__ import annotations

from typing import Final

from codereward.model import Command, CommandResult, Limits, Status
from codereward.testing.checks.executor.bench import Bench, Check, python, sh

__all__ = ["CHECKS"]

MIB: Final = 2**20

EAT: Final = "held = []\nfor _ in range(600): held.append(bytearray(b'x' * 2**20))"
"""Python that takes 600 MiB, step by step."""
EAT_TOGETHER: Final = """
import os, time
for _ in range(6):
    if not os.fork():
        held = bytearray(b'x' * (40 * 2**20))
        time.sleep(5)
        os._exit(0)
time.sleep(5)
"""
"""Python whose six children take 40 MiB each."""
CROWD: Final = """
import os, time
started = 0
for _ in range(40):
    try:
        if not os.fork():
            time.sleep(1)
            os._exit(0)
    except OSError:
        break
    started += 1
print(started)
"""
"""Python that starts as many processes as it may, but no more than forty."""


def assert_ended_by(result: CommandResult, status: Status, limit: str) -> None:
    """See that a result names the limit that ended its command."""
    assert result.status is status, (
        f"status {result.status}, limit {result.limit}, stderr {result.stderr!r:.200}"
    )
    assert result.limit == limit, "another limit is named"
    assert result.exit_code is None, "an exit code of a command that a limit ended"


async def wall_limit_is_reported(bench: Bench) -> None:
    """A command at its wall limit is ended soon and `timed_out`."""
    limits = Limits(wall_seconds=1.0)

    result = await bench.only(sh(bench.sleeper(60)), limits)

    assert_ended_by(result, Status.TIMED_OUT, "wall_seconds")
    assert result.wall_seconds >= 1.0, "it was ended before its time"


async def wall_limit_holds_for_the_stubborn(bench: Bench) -> None:
    """No handler, child or closed stream keeps a command alive beyond its wall limit."""
    script = f"trap '' TERM INT HUP QUIT; (trap '' TERM INT HUP; {bench.sleeper(60)}) & exec >&- 2>&-; {bench.sleeper(60)}; wait"

    result = await bench.only(sh(script), Limits(wall_seconds=1.0))

    assert_ended_by(result, Status.TIMED_OUT, "wall_seconds")


async def output_before_a_timeout_is_kept(bench: Bench) -> None:
    """What a command wrote before its wall limit comes back: both outputs and the result."""
    script = f'echo out; echo err >&2; printf res > "$CODEREWARD_RESULT"; {bench.sleeper(60)}'

    result = await bench.only(sh(script), Limits(wall_seconds=1.0))

    assert result.status is Status.TIMED_OUT, "it should have run out of time"
    outputs = (result.stdout, result.stderr, result.result)
    assert outputs == (b"out\n", b"err\n", b"res"), "output from before the timeout was lost"


async def cpu_limit_is_reported(bench: Bench) -> None:
    """A command that is busy beyond its processor time is `timed_out` long before its wall limit."""
    limits = Limits(wall_seconds=30.0, cpu_seconds=1.0)

    result = await bench.only(sh("while :; do :; done"), limits)

    assert_ended_by(result, Status.TIMED_OUT, "cpu_seconds")


async def memory_limit_is_reported(bench: Bench) -> None:
    """A process that takes more memory than it may is `out_of_memory`."""
    limits = Limits(wall_seconds=20.0, memory_bytes=96 * MIB)

    result = await bench.only(python(EAT), limits)

    assert_ended_by(result, Status.OUT_OF_MEMORY, "memory_bytes")


async def memory_is_that_of_the_whole_tree(bench: Bench) -> None:
    """Processes that together take more memory than they may are `out_of_memory`."""
    limits = Limits(wall_seconds=20.0, memory_bytes=128 * MIB)

    result = await bench.only(python(EAT_TOGETHER), limits)

    assert_ended_by(result, Status.OUT_OF_MEMORY, "memory_bytes")


async def process_limit_holds(bench: Bench) -> None:
    """No more processes than the limit are there at once."""
    limits = Limits(wall_seconds=20.0, processes=12)

    result = await bench.only(python(CROWD), limits)

    started = int(result.stdout or b"0")
    assert started <= 12, "more processes than the limit allows"


async def output_limit_is_reported(bench: Bench) -> None:
    """A command that floods either output is at its `output_limit`, and the first bytes are kept."""
    limits = Limits(wall_seconds=20.0, output_bytes=10_000)

    run = await bench.run(bench.program(sh("yes"), sh("yes >&2"), limits=limits))

    for result, kept in zip(run.commands, (run.commands[0].stdout, run.commands[1].stderr), strict=True):
        assert_ended_by(result, Status.OUTPUT_LIMIT, "output_bytes")
        assert result.truncated, "cut, and not said so"
        assert kept == b"y\n" * 5000, "not exactly the first bytes were kept"


async def output_up_to_the_limit_is_whole(bench: Bench) -> None:
    """Exactly `output_bytes` on each output, and `result_bytes` as the result, are within the limits."""
    fill = "head -c 10000 /dev/zero"
    script = f'{fill}; {fill} >&2; {fill} > "$CODEREWARD_RESULT"'

    result = await bench.only(sh(script), Limits(wall_seconds=20.0, output_bytes=10_000, result_bytes=10_000))

    assert (result.status, result.exit_code) == (Status.EXITED, 0), "it stayed within its limits"
    assert [len(one) for one in (result.stdout, result.stderr, result.result)] == [10_000] * 3, "it was cut"
    assert (result.truncated, result.limit) == (False, None), "a limit was named without reason"


async def result_limit_is_reported(bench: Bench) -> None:
    """A result longer than `result_bytes` is at its `output_limit`, and the first bytes are kept."""
    script = 'yes | head -c 50000 > "$CODEREWARD_RESULT"'

    result = await bench.only(sh(script), Limits(wall_seconds=20.0, result_bytes=10_000))

    assert_ended_by(result, Status.OUTPUT_LIMIT, "result_bytes")
    assert result.truncated, "cut, and not said so"
    assert result.result == b"y\n" * 5000, "not exactly the first bytes were kept"


async def disk_limit_is_reported(bench: Bench) -> None:
    """A command that writes more than `disk_bytes`, in one file or in many, is at its `output_limit`."""
    many = "for n in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/zero > $n || exit 1; done"
    limits = Limits(wall_seconds=20.0, disk_bytes=8 * MIB, result_bytes=MIB)
    for script in ("head -c 32000000 /dev/zero > file", many):
        result = await bench.only(sh(script), limits)

        assert_ended_by(result, Status.OUTPUT_LIMIT, "disk_bytes")


async def a_commands_own_limits_win(bench: Bench) -> None:
    """A command's own limits replace the program's, tighter and wider ones, for it alone."""
    narrow, wide = Limits(wall_seconds=1.0, output_bytes=100), Limits(wall_seconds=20.0, output_bytes=10_000)
    script = "head -c 1000 /dev/zero"

    tight = await bench.run(bench.program(sh(script, limits=wide), sh(script), limits=narrow))
    loose = await bench.run(bench.program(sh(script, limits=narrow), sh(script), limits=wide))

    lengths = [len(one.stdout) for run in (tight, loose) for one in run.commands]
    assert lengths == [1000, 100, 100, 1000], "the wrong limits were applied"


async def limits_are_per_command(bench: Bench) -> None:
    """What one command used is not taken from the next one's limits."""
    limits = Limits(wall_seconds=1.5, output_bytes=10_000)
    use = sh("sleep 0.9; head -c 8000 /dev/zero")

    run = await bench.run(bench.program(use, use, limits=limits))

    assert [one.status for one in run.commands] == [Status.EXITED] * 2, "limits add up over commands"
    assert [len(one.stdout) for one in run.commands] == [8000] * 2, "output was cut"


async def default_limits_let_work_be_done(bench: Bench) -> None:
    """Ordinary work stays within the default limits."""
    command = Command(("sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; ls / | sort | head -1"))

    result = await bench.only(command, Limits())

    assert (result.status, result.exit_code) == (Status.EXITED, 0), f"it failed: {result.stderr!r:.200}"


CHECKS: Final[tuple[Check, ...]] = (
    wall_limit_is_reported,
    wall_limit_holds_for_the_stubborn,
    output_before_a_timeout_is_kept,
    cpu_limit_is_reported,
    memory_limit_is_reported,
    memory_is_that_of_the_whole_tree,
    process_limit_holds,
    output_limit_is_reported,
    output_up_to_the_limit_is_whole,
    result_limit_is_reported,
    disk_limit_is_reported,
    a_commands_own_limits_win,
    limits_are_per_command,
    default_limits_let_work_be_done,
)
