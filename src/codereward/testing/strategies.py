"""Hypothesis strategies for what crosses the seams; for plugin authors and for the project's own tests."""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from hypothesis import strategies as st

from codereward.model import MISSING, Answers, Case, CommandResult, Observation, Outcome, Run, Status
from codereward.protocols import Row
from codereward.testing import nasty
from codereward.testing.fake import Fault
from codereward.values import UNEQUAL, json_equal

__all__ = [
    "FaultSchedule",
    "answers",
    "code",
    "completions",
    "fault_schedules",
    "json_values",
    "judgements",
    "observations",
    "results",
    "rows",
    "runs",
    "texts",
]

LIMIT_NAMES: Final = (
    None, "wall_seconds", "cpu_seconds", "memory_bytes", "processes", "output_bytes", "result_bytes", "disk_bytes",
)  # fmt: skip
FENCES: Final = (
    "```",
    "```python",
    "```py",
    "```js",
    "````",
    "~~~",
    "~~~python",
    "> ```python",
    "  ```",
    "``` \t",
)
THOUGHTS: Final = ("<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "<|im_end|>")


# --------------------------------------------------------------------------- texts


@functools.cache
def texts() -> st.SearchStrategy[str]:
    """Any text: surrogates, controls, and the fixed nasty ones."""
    anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
    return anything | st.sampled_from(nasty.TEXTS)


@functools.cache
def code() -> st.SearchStrategy[str]:
    """Lines of plain code without a fence in them, not blank, as a model would write them."""
    names = st.sampled_from(["solve", "x", "result", "value_2"])
    lines = st.builds("def {}(a):\n    return {!r}".format, names, st.integers())
    assignments = st.builds("{} = {!r}".format, names, st.integers() | st.text(max_size=10).map(ascii))
    return st.lists(lines | assignments, min_size=1, max_size=5).map("\n".join)


@functools.cache
def completions() -> st.SearchStrategy[str]:
    """Completions as models write them, well-formed or not: prose, fences, thoughts, code."""
    prose = st.sampled_from(
        ["Here is the code:", "", "- item", "> quoted", "1. step", "    indented", "# Title"]
    )
    parts = st.sampled_from(FENCES) | st.sampled_from(THOUGHTS) | code() | prose | texts()
    return st.lists(parts, max_size=10).map("\n".join)


# --------------------------------------------------------------------------- values


@functools.cache
def scalars(*, finite: bool = False) -> st.SearchStrategy[object]:
    """JSON values without items; long numbers and odd texts included."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.integers(),
        st.sampled_from([10**400, -(10**400), 2**53 + 1]),
        st.floats(allow_nan=not finite, allow_infinity=not finite),
        st.text(max_size=10),
    )


@functools.cache
def json_values(*, finite: bool = False, max_leaves: int = 10) -> st.SearchStrategy[object]:
    """Values of built-in types as JSON gives them back.

    Args:
        finite: Whether NaN and the infinities stay out.
        max_leaves: About how many scalars a value holds.
    """
    return st.recursive(
        scalars(finite=finite),
        lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
        max_leaves=max_leaves,
    )


@functools.cache
def observed_values() -> st.SearchStrategy[object]:
    """What programs report: any JSON, missing cases, values that equal nothing."""
    odd = st.sampled_from([MISSING, UNEQUAL])
    return (
        json_values() | st.lists(json_values(max_leaves=3) | odd, max_size=6) | st.sampled_from(nasty.VALUES)
    )


# --------------------------------------------------------------------------- judging


@functools.cache
def answers() -> st.SearchStrategy[Answers]:
    """Expected values: one, or a list of them, with no comparator, one for all, or one for each case."""
    return st.builds(answers_of, json_values() | st.lists(scalars(), max_size=6), st.integers(0, 2))


def answers_of(value: object, rule: int) -> Answers:
    """Answers of which `rule` says whether they bring no comparator, one, or one for each case."""
    count = len(value) if rule == 2 and isinstance(value, list) else min(rule, 1)
    return Answers(value, (json_equal,) * count)


@functools.cache
def observations() -> st.SearchStrategy[Observation]:
    """Observations with at least one value, as scorers get them."""
    return observed_values().map(observation_of)


@functools.cache
def judgements() -> st.SearchStrategy[tuple[Observation, Answers]]:
    """An observation and answers; the observed value is equal, nearly equal, or has nothing to do with it."""
    near = st.builds(nearly, answers(), st.sets(st.integers(0, 5), max_size=2), scalars() | st.just(UNEQUAL))
    return near | st.tuples(observations(), answers())


def nearly(answer: Answers, places: Collection[int], other: object) -> tuple[Observation, Answers]:
    """What a program would report that is wrong in some places; in none: the answer itself."""
    value = answer.value
    if isinstance(value, list):
        value = [other if place in places else item for place, item in enumerate(value)]
    elif places:
        value = other
    return observation_of(value), answer


def observation_of(value: object) -> Observation:
    """The observation of a value, with a case for each item of a list."""
    items = value if isinstance(value, list) else [value]
    cases = tuple(Case(Outcome.NO_RESULT if item is MISSING else Outcome.SCORED, item) for item in items[:50])
    return Observation(Outcome.SCORED, value, cases=cases)


# --------------------------------------------------------------------------- runs


def results(channel: st.SearchStrategy[bytes] | None = None) -> st.SearchStrategy[CommandResult]:
    """What an executor may bring back from one command, however hostile the program.

    Args:
        channel: What the harness under test writes into the result channel; there is noise too.
    """
    noise = st.binary(max_size=50) | texts().map(lambda text: text.encode("utf-8", "surrogatepass"))
    return st.builds(
        CommandResult,
        status=st.sampled_from(Status),
        exit_code=st.none() | st.integers(0, 255),
        signal=st.none() | st.integers(1, 64),
        stdout=noise,
        stderr=noise,
        result=noise | (channel_frames() if channel is None else channel),
        truncated=st.booleans(),
        limit=st.sampled_from(LIMIT_NAMES),
        wall_seconds=st.floats(0, 100),
        cpu_seconds=st.none() | st.floats(0, 100),
    )


@functools.cache
def channel_frames() -> st.SearchStrategy[bytes]:
    """JSON objects that look like a harness's own frames: whole ones, repeated, cut or wrong."""
    fields = st.sampled_from(["value", "failed", "error", "result", "passed"])
    values = (json_values(max_leaves=4) | st.sampled_from([[1, 2], "[" * 2000])).map(json.dumps)
    frames = st.dictionaries(fields, values | scalars(), max_size=2) | values.map(
        lambda text: {"value": text}
    )
    lines = frames.map(lambda frame: json.dumps(frame).encode() + b"\n")
    many = st.lists(lines, max_size=3).map(b"".join)
    return lines | st.builds(lambda data, cut: data[: len(data) - cut], many, st.integers(0, 3))


def runs(
    commands: int, *, build: bool = False, channel: st.SearchStrategy[bytes] | None = None
) -> st.SearchStrategy[Run]:
    """Runs of a program with so many commands.

    Args:
        commands: How many commands the program has.
        build: Whether it has a build command too.
        channel: As in `results`.
    """
    result = results(channel)
    return st.builds(Run, st.tuples(*([result] * commands)), result if build else st.none(), st.booleans())


# --------------------------------------------------------------------------- rows


def rows(good: Sequence[Row]) -> st.SearchStrategy[dict[str, object]]:
    """Rows that are wrong in some way, made from rows that are right."""
    return st.sampled_from(good).flatmap(damaged)


@st.composite
def damaged(draw: st.DrawFn, row: Mapping[str, object]) -> dict[str, object]:
    """A row some of whose columns were removed or filled with something else."""
    values = json_values() | texts() | st.lists(texts(), max_size=3) | st.binary(max_size=5)
    changed = dict(row)
    for name in draw(st.sets(st.sampled_from(sorted(row)))) - {"kind"}:
        if draw(st.booleans()):
            changed[name] = draw(values)
        else:
            del changed[name]
    return changed


# --------------------------------------------------------------------------- the fake backend


@dataclass(frozen=True)
class FaultSchedule:
    """Which calls the fake backend fails, and how; give it to `FakeExecutor(faults=…)`."""

    faults: tuple[Fault | None, ...] = ()
    """For each call from the first; later calls do not fail."""

    def __call__(self, number: int) -> Fault | None:
        """The fault of call `number`; `None`: it works."""
        return self.faults[number] if number < len(self.faults) else None


def fault_schedules(max_calls: int = 40) -> st.SearchStrategy[FaultSchedule]:
    """Backends that fail now and then, often, or always for a while."""
    fault: st.SearchStrategy[Fault | None] = st.none() | st.sampled_from(get_args(Fault))
    return st.lists(fault, max_size=max_calls).map(lambda faults: FaultSchedule(tuple(faults)))
