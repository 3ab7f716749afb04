"""From what the commands of a program left behind to an observation, in any language."""

from __future__ import annotations

from codereward.harnesses.failures import case_of_failure, failed_build
from codereward.harnesses.frames import Decode, read_case
from codereward.model import (
    MISSING,
    Case,
    CommandResult,
    Observation,
    Outcome,
    Run,
    Status,
    Trust,
)
from codereward.values import decode_json

__all__ = ["observation_of", "read_outputs", "read_values"]


def read_values(run: Run, *, several: bool, decode: Decode = decode_json) -> Observation:
    """Read each command's value out of its result channel.

    Args:
        run: What a program left behind each of whose commands asks one question.
        several: Whether the observed value is the list of theirs, or the only one.
        decode: Decodes a value's text.
    """
    broken = failed_build(run)
    if broken is not None:
        return Observation(broken.outcome, reason=broken.reason)
    cases = tuple(read_case(result, decode) for result in run.commands)
    return observation_of(cases, several=several, trust="unsafe" if run.unsafe else "separate")


def read_outputs(run: Run) -> Observation:
    """Read each command's standard output; one that does not end with exit status 0 has no value."""
    broken = failed_build(run)
    if broken is not None:
        return Observation(broken.outcome, reason=broken.reason)
    cases = tuple(_output(result) for result in run.commands)
    return observation_of(cases, several=True, trust="unsafe" if run.unsafe else "separate")


def observation_of(cases: tuple[Case, ...], *, several: bool, trust: Trust = "separate") -> Observation:
    """Sum cases up: scored when at least one has a value, else as the first one failed.

    Args:
        cases: One for each question.
        several: Whether the observed value is the list of theirs, or the only one.
        trust: How far the values are out of the program's reach.
    """
    first = next((case for case in cases if case.outcome is not Outcome.SCORED), None)
    if cases and all(case.outcome is not Outcome.SCORED for case in cases):
        return Observation(cases[0].outcome, reason=cases[0].reason, cases=cases, trust=trust)
    return Observation(
        Outcome.SCORED,
        value=[case.value for case in cases] if several else cases[0].value if cases else MISSING,
        reason="" if first is None else first.reason,
        cases=cases,
        trust=trust,
    )


def _output(result: CommandResult) -> Case:
    if result.status is Status.EXITED and result.exit_code == 0 and not result.truncated:
        # Bytes that are no UTF-8 stay apart from any text that can be expected.
        text = result.stdout.decode("utf-8", "surrogateescape")
        return Case(Outcome.SCORED, text, wall_seconds=result.wall_seconds)
    if result.status is Status.EXITED and result.exit_code == 0:
        return Case(
            Outcome.OUTPUT_LIMIT,
            reason="the program wrote more than it may",
            wall_seconds=result.wall_seconds,
        )
    failed = case_of_failure(result)
    if result.status is not Status.EXITED:
        return failed
    reason = f"the program ended with exit status {result.exit_code}, not 0"
    return Case(Outcome.CRASHED, reason=reason, wall_seconds=result.wall_seconds)
