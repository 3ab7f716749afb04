"""The suite for harnesses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.model import Run
from codereward.protocols import Executor, Harness, Row, Scorer
from codereward.scorers import Exact
from codereward.testing import nasty, strategies
from codereward.testing.checks import harness as checks
from codereward.testing.suites.base import Suite

__all__ = ["HarnessTests"]

ALL: Final = (*checks.CHECKS, *checks.CHECKS_OF_ROWS, *checks.CHECKS_OF_CODE, *checks.CHECKS_OF_RUNS)


class HarnessTests(Suite, checks=ALL):
    """What every harness does; its programs run for real, in the executor `local` unless told otherwise."""

    examples: ClassVar[int] = 100
    """How many examples a property-based test tries."""
    right: ClassVar[Sequence[checks.Example]]
    """(row, code) pairs: code that solves the row. At least one for each kind of test; rows hold `kind`."""
    wrong: ClassVar[Sequence[checks.Example]]
    """(row, code) pairs: code that does not solve the row, or not all of it."""
    exploits: ClassVar[Sequence[checks.Example]] = ()
    """(row, code) pairs: code that solves nothing and attacks what judges it."""
    answer_columns: ClassVar[Collection[str]] = ("expected",)
    """The columns that hold answers."""

    @abstractmethod
    def make_harness(self) -> Harness:
        """Make the harness."""

    def make_executor(self) -> Executor:
        """Make the executor that runs its programs."""
        from codereward.registry import default_registry

        executor: Executor = default_registry().create("executor", "local")
        return executor

    def make_scorer(self) -> Scorer:
        """Make the scorer that compares."""
        return Exact()

    def plant(self, row: Row, text: str) -> Row:
        """The row with `text` in place of every answer; override where answers hide in other columns."""
        return {
            name: planted(value, text) if name in self.answer_columns else value
            for name, value in row.items()
        }

    def results(self) -> st.SearchStrategy[bytes]:
        """What its programs, whole or hostile, may leave in the result channel."""
        return strategies.channel_frames()

    def perform(self, check: Callable[..., Any]) -> None:
        """Run one check, on many examples where it takes any."""
        bench = checks.Bench(
            harness=self.make_harness(),
            right=deepcopy(self.right),
            wrong=deepcopy(self.wrong),
            exploits=deepcopy(self.exploits),
            plant=self.plant,
            make_executor=self.make_executor,
            scorer=self.make_scorer(),
        )
        if check in checks.CHECKS:
            check(bench)
        else:
            self._try_examples(check, bench)

    def _try_examples(self, check: Callable[..., None], bench: checks.Bench) -> None:
        for text in nasty.TEXTS if check in checks.CHECKS_OF_CODE else ():
            check(bench, text)

        @settings(max_examples=self.examples, deadline=None)
        @given(self._arguments(check, bench))
        def examples(arguments: tuple[object, ...]) -> None:
            check(bench, *arguments)

        examples()

    def _arguments(
        self, check: Callable[..., None], bench: checks.Bench
    ) -> st.SearchStrategy[tuple[object, ...]]:
        if check in checks.CHECKS_OF_ROWS:
            return st.tuples(strategies.rows([row for row, _ in self.right]))
        if check in checks.CHECKS_OF_CODE:
            return st.tuples(strategies.code() | strategies.texts())
        return st.one_of(
            *(st.tuples(st.just(one), runs_of(bench.harness, one, self.results())) for one in self.right)
        )


def planted(value: object, text: str) -> object:
    """A value with `text` in place of every scalar."""
    if isinstance(value, Mapping):
        return {name: planted(item, text) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [planted(item, text) for item in value]
    return text


def runs_of(
    harness: Harness, example: checks.Example, channel: st.SearchStrategy[bytes]
) -> st.SearchStrategy[Run]:
    """Any runs of an example's program."""
    program = checks.build(harness, example)
    return strategies.runs(len(program.commands), build=program.build is not None, channel=channel)
