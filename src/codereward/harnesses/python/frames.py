"""Reading what the runner reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from codereward.harnesses.failures import case_of_failure
from codereward.model import Case, CommandResult, Outcome
from codereward.values import Undecodable, decode_json

__all__ = ["read_case"]

OUTCOME_OF_STAGE: Final[Mapping[object, tuple[Outcome, str]]] = {
    "load": (Outcome.CRASHED, "the completion raised when it was loaded"),
    "test": (Outcome.CRASHED, "the test raised"),
    "value": (Outcome.NO_RESULT, "the value cannot be compared"),
}


def read_case(result: CommandResult) -> Case:
    """Read one command's result channel.

    The channel holds exactly one frame: `{"value": JSON text}` or `{"failed": stage, "error": text}`.
    Anything else was written by the completion itself and is no value.
    """
    if not result.result:
        return case_of_failure(result)
    if result.limit == "result_bytes":
        return Case(Outcome.OUTPUT_LIMIT, reason="the value is larger than it may be (limit result_bytes)")
    frame = _frame(result.result)
    if frame is None:
        return Case(Outcome.NO_RESULT, reason="the result channel holds something other than one result")
    case = _value(frame["value"]) if "value" in frame else _failure(frame)
    return Case(case.outcome, case.value, case.reason, result.wall_seconds)


def _frame(data: bytes) -> dict[str, str] | None:
    """The one frame of a channel, all of whose fields are text."""
    lines = data.split(b"\n")
    if len(lines) != 2 or lines[1]:  # noqa: PLR2004 - one frame, and nothing after its line end
        return None
    try:
        frame = decode_json(lines[0])
    except Undecodable:
        return None
    if not isinstance(frame, dict) or not all(isinstance(field, str) for field in frame.values()):
        return None
    return frame


def _value(text: str) -> Case:
    try:
        return Case(Outcome.SCORED, decode_json(text))
    except Undecodable as error:
        return Case(Outcome.NO_RESULT, reason=f"the value cannot be decoded: {error}")


def _failure(frame: Mapping[str, str]) -> Case:
    outcome, what = OUTCOME_OF_STAGE.get(frame.get("failed"), (Outcome.CRASHED, "the program failed"))
    return Case(outcome, reason=f"{what}: {frame.get('error', '')}"[:500])
