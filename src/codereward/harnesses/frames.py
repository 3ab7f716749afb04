"""Reading what a runner reports about one question, in any language.

A runner leaves exactly one line of JSON in the result channel: `{"value": text}`, where the text is
the value's own encoding, or `{"failed": stage, "error": text}` with a stage of `STAGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from codereward.harnesses.failures import case_of_failure
from codereward.model import Case, CommandResult, Outcome
from codereward.values import Undecodable, decode_json

__all__ = ["STAGES", "Decode", "read_case"]

Decode = Callable[[str], object]
"""Decodes a value's text into built-in types; raises `Undecodable` and nothing else."""

STAGES: Final[Mapping[object, tuple[Outcome, str]]] = {
    "load": (Outcome.CRASHED, "the completion raised when it was loaded"),
    "test": (Outcome.CRASHED, "the test raised"),
    "value": (Outcome.NO_RESULT, "the value cannot be compared"),
}
"""Where a question can fail → what that is for the verdict."""

MAX_REASON: Final = 500


def read_case(result: CommandResult, decode: Decode = decode_json) -> Case:
    """Read one command's result channel.

    Anything but one frame was written by the completion itself and is no value.
    """
    if not result.result:
        return case_of_failure(result)
    if result.limit == "result_bytes":
        return Case(Outcome.OUTPUT_LIMIT, reason="the value is larger than it may be (limit result_bytes)")
    frame = _frame(result.result)
    if frame is None:
        return Case(Outcome.NO_RESULT, reason="the result channel holds something other than one result")
    case = _value(frame["value"], decode) if "value" in frame else _failure(frame)
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


def _value(text: str, decode: Decode) -> Case:
    try:
        return Case(Outcome.SCORED, decode(text))
    except Undecodable as error:
        return Case(Outcome.NO_RESULT, reason=f"the value cannot be decoded: {error}"[:MAX_REASON])


def _failure(frame: Mapping[str, str]) -> Case:
    outcome, what = STAGES.get(frame.get("failed"), (Outcome.CRASHED, "the program failed"))
    return Case(outcome, reason=f"{what}: {frame.get('error', '')}"[:MAX_REASON])
