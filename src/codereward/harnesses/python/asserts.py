"""The kind `asserts`: a list of assert statements, split so that what they expect stays on the host."""

from __future__ import annotations

import functools
import json
from typing import Any, ClassVar

from codereward.errors import DatasetError
from codereward.harnesses.kinds import Kind
from codereward.harnesses.kinds.expression import questions_of
from codereward.harnesses.observing import read_values
from codereward.harnesses.python.checks import holds
from codereward.harnesses.python.grammar import LONG, PythonGrammar
from codereward.harnesses.python.scope import Scope
from codereward.harnesses.python.script import Part, Script
from codereward.harnesses.python.source import Source
from codereward.harnesses.python.ways import Values
from codereward.harnesses.rows import column, text_column, texts_column
from codereward.model import Answers, Case, Observation, Outcome, Questions, Run
from codereward.protocols import Row
from codereward.values.standins import Opaque
from codereward.values.tagged import decode_tagged

__all__ = ["Asserts", "TaggedValues"]

WHOLE = "_0"
"""The check of an assert that is asked as a whole."""


class Asserts(Kind):
    """Column `tests`: assert statements, as a list of texts or one text; other statements between them.

    Each assert is a case. `assert f(1) == 2` becomes the question `f(1)` and the check `_0 == 2`;
    what cannot be split is asked as a whole, and lowers the trust.

    Args:
        grammar: Of Python.
    """

    name: ClassVar[str] = "asserts"

    def __init__(self, grammar: PythonGrammar) -> None:
        self.grammar = grammar

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into questions and checks."""
        bare = questions_of(self, row, (), self.grammar)
        script = Script(scope_of(bare))
        parts = [
            checked(part, text)
            for text in tests_of(row)
            for part in script.parts(self._source(text))
        ]  # fmt: skip
        if not parts:
            msg = "column 'tests' holds no assert statement outside of functions; kind 'script' runs any code"
            raise DatasetError(msg)
        items = tuple(item_of(part) for part in parts)
        checks = [part.claim.check if part.claim else WHOLE for part in parts]
        questions = Questions(self.name, items, bare.entry_point, bare.setup, prelude=bare.prelude)
        return questions, Answers(checks, (holds,), several=True)

    def _source(self, text: str) -> Source:
        if len(text) <= LONG and not self.grammar.program(text):
            msg = f"the test {text!r:.80} is no Python"
            raise DatasetError(msg)
        return parsed(text)


class TaggedValues(Values):
    """Values in the tagged form, with several to a question."""

    def __init__(self) -> None:
        super().__init__(json.loads, several=True, tagged=True)

    def read(self, run: Run, questions: Questions) -> Observation:
        """Read the values; the trust is that of the least trusted case."""
        observation = read_values(run, several=True, decode=decode_tagged)
        if observation.trust == "separate" and any(map(is_shared, questions.items, observation.cases)):
            return Observation(
                observation.outcome, observation.value, observation.reason, observation.cases, "shared"
            )
        return observation


def tests_of(row: Row) -> tuple[str, ...]:
    """The texts of the column `tests`.

    Raises:
        DatasetError: There are none.
    """
    if isinstance(column(row, "tests"), str):
        return (text_column(row, "tests"),)
    return texts_column(row, "tests")


def parsed(text: str) -> Source:
    """A text as a source.

    Raises:
        DatasetError: It does not parse.
    """
    try:
        return Source(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        msg = f"the test {text!r:.80} is no Python: {error}"
        raise DatasetError(msg) from None


def scope_of(questions: Questions) -> Scope:
    """What the names stand for that the code around the completion binds."""
    script = Script(Scope(questions.entry_point))
    for text, foreign in ((questions.prelude, True), (questions.setup, False)):
        if text:
            script.run_before(parsed(text), foreign=foreign)
    return script.scope


def checked(part: Part, text: str) -> Part:
    """The part, when it tests something.

    Raises:
        DatasetError: It would hold whatever the completion does.
    """
    if part.vacuous:
        msg = f"the test {text!r:.80} has an assert that {part.vacuous}"
        raise DatasetError(msg)
    return part


def item_of(part: Part) -> str:
    """A part as the runner takes it, and as `read` finds out how far to trust it."""
    item: dict[str, object] = {"before": part.before, "shared": part.shared}
    if part.claim is None:
        return json.dumps({**item, "hold": part.whole})
    return json.dumps({**item, "asks": part.claim.asks})


def is_shared(item: str, case: Case) -> bool:
    """Whether the program could have decided a case: by its test, or by an `==` of its own."""
    values: Any = case.value
    if case.outcome is not Outcome.SCORED or not isinstance(values, list):
        return False
    return _is_shared_item(item) or sum(isinstance(value, Opaque) for value in values) > 1


@functools.lru_cache(maxsize=1024)
def _is_shared_item(item: str) -> bool:
    return bool(json.loads(item)["shared"])
