"""The harness `python`: the completion is loaded as a module and asked for values."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import ClassVar

from codereward.errors import DatasetError
from codereward.harnesses.failures import failed_build
from codereward.harnesses.python import syntax
from codereward.harnesses.python.frames import read_case
from codereward.harnesses.rows import column, optional_text_column, text_column, texts_column
from codereward.model import (
    MISSING,
    Answers,
    Case,
    Command,
    Limits,
    Observation,
    Outcome,
    Program,
    Questions,
    Run,
)
from codereward.protocols import Harness, Row
from codereward.values import plain_json

__all__ = ["PythonHarness"]


class PythonHarness(Harness):
    """Tests of Python code: expressions whose value is compared as JSON.

    Kinds (`kind` column of the row, or the pipeline's `kind=`):

    - `expression`: column `test` holds the source of one expression, `expected` its value.
    - `cases`: column `tests` holds a list of expressions, `expected` the list of their values. Each
      runs in a process of its own; what one does costs the others nothing.

    An optional column `setup` is run after the completion, an optional `entry_point` names what the
    completion has to define. The completion is loaded as a module (`__name__` is not `"__main__"`).

    Args:
        limits: What each process may use; a mapping of `Limits` fields will do.
    """

    language: ClassVar[str] = "python"
    tags: ClassVar[tuple[str, ...]] = ("python", "py", "python3", "py3")

    def __init__(self, limits: Limits | Mapping[str, float] | None = None) -> None:
        self.limits = limits if isinstance(limits, Limits) else Limits(**(limits or {}))  # type: ignore[arg-type]

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into expressions and the values they should have."""
        kind = row["kind"]
        if kind == "expression":
            items: tuple[str, ...] = (text_column(row, "test"),)
            value = expected_value(row)
        elif kind == "cases":
            items = texts_column(row, "tests")
            value = expected_values(row, len(items))
        else:
            msg = f"the python harness has no kind {kind!r}; it has: cases, expression"
            raise DatasetError(msg)
        setup = optional_text_column(row, "setup") or ""
        refuse_broken(items, setup)
        questions = Questions(str(kind), items, optional_text_column(row, "entry_point"), setup)
        return questions, Answers(value)

    def build(self, code: str, questions: Questions) -> Program:
        """Lay the completion, the questions and the runner side by side."""
        return Program(
            language=self.language,
            files={
                "runner.py": runner_source(),
                "questions.json": asked(questions),
                "solution.py": code.encode("utf-8", "surrogatepass"),
            },
            commands=tuple(case_command(number) for number in range(len(questions.items))),
            limits=questions.limits or self.limits,
        )

    def read(self, run: Run, questions: Questions) -> Observation:
        """Read each case's value out of its result channel."""
        broken = failed_build(run)
        if broken is not None:
            return Observation(broken.outcome, reason=broken.reason)
        cases = tuple(read_case(result) for result in run.commands)
        return observation_of(cases, several=questions.kind != "expression", unsafe=run.unsafe)

    def parses(self, code: str) -> bool:
        """Whether `code` is Python; safe for any text."""
        return syntax.parses(code)

    def defines(self, code: str, name: str) -> bool:
        """Whether `code` defines `name`."""
        return syntax.defines(code, name)


def observation_of(cases: tuple[Case, ...], *, several: bool, unsafe: bool) -> Observation:
    """Sum cases up: scored when at least one has a value, else as the first one failed."""
    first = next((case for case in cases if case.outcome is not Outcome.SCORED), None)
    scored = any(case.outcome is Outcome.SCORED for case in cases)
    value = [case.value for case in cases] if several else cases[0].value
    return Observation(
        outcome=Outcome.SCORED if scored or first is None else first.outcome,
        value=value if scored else MISSING,
        reason="" if first is None else first.reason,
        cases=cases,
        trust="unsafe" if unsafe else "separate",
    )


def expected_value(row: Row) -> object:
    """The column `expected` in the form that JSON gives back.

    Raises:
        DatasetError: It is missing, or JSON has no form for it.
    """
    try:
        return plain_json(column(row, "expected"))
    except ValueError as error:
        msg = (
            f"column 'expected' cannot be compared as JSON: {error}. "
            "Hold it as JSON text and say expected_format='json'"
        )
        raise DatasetError(msg) from None


def expected_values(row: Row, count: int) -> list[object]:
    """The column `expected` as a list with one value for each of `count` tests.

    Raises:
        DatasetError: It is something else.
    """
    value = expected_value(row)
    if not isinstance(value, list) or len(value) != count:
        have = f"{len(value)} values" if isinstance(value, list) else f"a {type(value).__name__}"
        msg = (
            f"column 'expected' has to be a list of {count} values, one for each of 'tests'; it holds {have}"
        )
        raise DatasetError(msg)
    return value


def refuse_broken(items: tuple[str, ...], setup: str) -> None:
    """Refuse tests that are no Python.

    Raises:
        DatasetError: One does not parse.
    """
    for item in items:
        if not syntax.parses(f"({item}\n)"):
            msg = f"the test {item!r:.80} is no Python expression"
            raise DatasetError(msg)
    if setup and not syntax.parses(setup):
        msg = f"the setup {setup!r:.80} is no Python"
        raise DatasetError(msg)


@functools.cache
def case_command(number: int) -> Command:
    """The command that asks question `number`, in an interpreter that ignores its surroundings."""
    return Command(("python3", "-I", "-B", "runner.py", str(number)))


@functools.lru_cache(maxsize=64)
def asked(questions: Questions) -> bytes:
    """The questions as the runner reads them; the programs of a group share them."""
    return json.dumps({"items": questions.items, "setup": questions.setup}).encode()


@functools.cache
def runner_source() -> bytes:
    """The source of the runner, which travels with every program."""
    return files(__package__).joinpath("runner.py").read_bytes()
