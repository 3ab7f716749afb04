"""What it means that a command left no value behind."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Final

from codereward.model import Case, CommandResult, Outcome, Run, Status

__all__ = ["case_of_failure", "failed_build"]

OUTCOME_OF: Final[Mapping[Status, Outcome]] = {
    Status.EXITED: Outcome.NO_RESULT,
    Status.SIGNALED: Outcome.CRASHED,
    Status.TIMED_OUT: Outcome.TIMED_OUT,
    Status.OUT_OF_MEMORY: Outcome.OUT_OF_MEMORY,
    Status.OUTPUT_LIMIT: Outcome.OUTPUT_LIMIT,
    Status.NOT_STARTED: Outcome.NO_RESULT,
    Status.LOST: Outcome.CRASHED,
}

MESSAGE_OF: Final[Mapping[Status, str]] = {
    Status.TIMED_OUT: "ran out of time",
    Status.OUT_OF_MEMORY: "used more memory than it may",
    Status.OUTPUT_LIMIT: "wrote more than it may",
    Status.NOT_STARTED: "was not started",
    Status.LOST: "took its sandbox down, twice, while another program ran there unharmed",
}


def case_of_failure(result: CommandResult) -> Case:
    """The case that a command without a value stands for: outcome and reason from its status."""
    reason = f"the program {_what_happened(result)}"
    if result.limit is not None:
        reason += f" (limit {result.limit})"
    return Case(OUTCOME_OF[result.status], reason=reason, wall_seconds=result.wall_seconds)


def failed_build(run: Run) -> Case | None:
    """The case that a failed build stands for; `None` when there was no build or it succeeded."""
    build = run.build
    if build is None or (build.status is Status.EXITED and build.exit_code == 0):
        return None
    first = next((line for line in decoded(build.stderr).splitlines() if line.strip()), "no message")
    return Case(Outcome.BUILD_FAILED, reason=f"the build {_what_happened(build)}: {first}")


def decoded(output: bytes) -> str:
    """Program output as text; what is no UTF-8 is replaced."""
    return output.decode("utf-8", "replace")


def _what_happened(result: CommandResult) -> str:
    if result.status is Status.EXITED:
        return f"ended with exit status {result.exit_code} before it gave a value"
    if result.status is Status.SIGNALED:
        return f"was ended by {_signal_name(result.signal)}"
    return MESSAGE_OF[result.status]


def _signal_name(number: int | None) -> str:
    try:
        return signal.Signals(number).name if number is not None else "a signal"
    except ValueError:
        return f"signal {number}"
