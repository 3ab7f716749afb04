"""The harness `python`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from codereward.errors import DatasetError
from codereward.harnesses.kinds import Call, Cases, Expression, Kind, Stdio
from codereward.harnesses.python import syntax
from codereward.harnesses.python.asserts import Asserts, TaggedValues
from codereward.harnesses.python.grammar import PythonGrammar
from codereward.harnesses.python.ways import SOLUTION, Outputs, Values, Way, ask
from codereward.harnesses.rows import row_limits
from codereward.model import Answers, Comparator, Limits, Observation, Program, Questions, Run
from codereward.protocols import Harness, Row

__all__ = ["PythonHarness"]


class PythonHarness(Harness):
    """Tests of Python code, all of them compared on the host.

    Kinds (`kind` column of the row, or the pipeline's `kind=`):

    - `expression`: column `test` holds the source of one expression, `expected` its value.
    - `cases`: column `tests` holds a list of expressions, `expected` the list of their values.
    - `call`: column `entry_point` names a function, `inputs` holds argument lists, `expected` the
      list of what it returns.
    - `asserts`: column `tests` holds assert statements.
    - `stdio`: columns `stdin` and `stdout` hold lists of texts; the completion is a program.

    Each question runs in a process of its own; what one does costs the others nothing. For all but
    `stdio` the completion is loaded as a module (`__name__` is not `"__main__"`), after an optional
    column `prelude`, before an optional column `setup`. An optional `entry_point` names what the
    completion has to define, `time_limit` (seconds) bounds each process of the row. `docs/kinds.md`
    has all of it.

    Args:
        limits: What each process may use; a mapping of `Limits` fields will do.
        comparators: Further names for the column `comparator` of `stdio`: functions of (output,
            expected text), importable by name so that they pickle.
    """

    language: ClassVar[str] = "python"
    tags: ClassVar[tuple[str, ...]] = ("python", "py", "python3", "py3")
    version: ClassVar[tuple[str, ...]] = ("python3", "--version")

    def __init__(
        self,
        limits: Limits | Mapping[str, float] | None = None,
        comparators: Mapping[str, Comparator] | None = None,
    ) -> None:
        self.limits = limits if isinstance(limits, Limits) else Limits(**(limits or {}))  # type: ignore[arg-type]
        grammar = PythonGrammar()
        kinds: tuple[tuple[Kind, Way], ...] = (
            (Expression(grammar), Values(ask, several=False)),
            (Cases(grammar), Values(ask, several=True)),
            (Call(grammar), Values(json.loads, several=True)),
            (Asserts(grammar), TaggedValues()),
            (Stdio(comparators), Outputs()),
        )
        self._kinds: dict[str, tuple[Kind, Way]] = {kind.name: (kind, way) for kind, way in kinds}

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into questions and answers, as its kind does it."""
        kind, _ = self._kind(row["kind"])
        questions, answers = kind.split(row)
        return replace(questions, limits=row_limits(row, self.limits)), answers

    def build(self, code: str, questions: Questions) -> Program:
        """Lay the completion beside what its kind needs."""
        _, way = self._kind(questions.kind)
        own = way.files(questions)
        return Program(
            language=self.language,
            files={**own, SOLUTION: code.encode("utf-8", "surrogatepass")},
            scaffold=frozenset(own),
            commands=way.commands(questions),
            limits=questions.limits or self.limits,
        )

    def read(self, run: Run, questions: Questions) -> Observation:
        """Read what the program left behind, as its kind does it."""
        _, way = self._kind(questions.kind)
        return way.read(run, questions)

    def parses(self, code: str) -> bool:
        """Whether `code` is Python; safe for any text."""
        return syntax.parses(code)

    def defines(self, code: str, name: str) -> bool:
        """Whether `code` defines `name`."""
        return syntax.defines(code, name)

    def _kind(self, name: object) -> tuple[Kind, Way]:
        found = self._kinds.get(name) if isinstance(name, str) else None
        if found is None:
            msg = f"the python harness has no kind {name!r:.40}; it has: {', '.join(self._kinds)}"
            raise DatasetError(msg)
        return found
