"""The kinds `expression` and `cases`: the test is the source of an expression, the answer its value."""

from __future__ import annotations

from typing import ClassVar

from codereward.errors import DatasetError
from codereward.harnesses.kinds.answers import expected_value, expected_values, value_comparators
from codereward.harnesses.kinds.base import Grammar, Kind
from codereward.harnesses.rows import optional_text_column, text_column, texts_column
from codereward.model import Answers, Questions
from codereward.protocols import Row

__all__ = ["Cases", "Expression", "questions_of"]


class Expression(Kind):
    """Columns `test` (one expression) and `expected` (its value); a list can earn partial credit.

    Args:
        grammar: Of the language the expressions are written in.
    """

    name: ClassVar[str] = "expression"

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into an expression and its value."""
        test = text_column(row, "test")
        refuse_broken(self.grammar, test)
        return questions_of(self, row, (test,), self.grammar), Answers(
            expected_value(row), value_comparators(row)
        )


class Cases(Kind):
    """Columns `tests` (a list of expressions) and `expected` (the list of their values).

    Each runs in a process of its own; what one does costs the others nothing.

    Args:
        grammar: Of the language the expressions are written in.
    """

    name: ClassVar[str] = "cases"

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into expressions and their values."""
        tests = texts_column(row, "tests")
        for test in tests:
            refuse_broken(self.grammar, test)
        answers = Answers(expected_values(row, len(tests), "tests"), value_comparators(row), several=True)
        return questions_of(self, row, tests, self.grammar), answers


def questions_of(kind: Kind, row: Row, items: tuple[str, ...], grammar: Grammar) -> Questions:
    """The questions, with the columns that every kind about values may have.

    Raises:
        DatasetError: One of those columns does not fit.
    """
    setup, prelude = (program_column(row, name, grammar) for name in ("setup", "prelude"))
    return Questions(kind.name, items, optional_text_column(row, "entry_point"), setup, prelude=prelude)


def program_column(row: Row, name: str, grammar: Grammar) -> str:
    """A column that may hold a program.

    Raises:
        DatasetError: It holds something else.
    """
    text = optional_text_column(row, name) or ""
    if text and grammar.program(text) is False:
        msg = f"the column {name!r} is no program: {text!r:.80}"
        raise DatasetError(msg)
    return text


def refuse_broken(grammar: Grammar, test: str) -> None:
    """Refuse a test that is no expression.

    Raises:
        DatasetError: It is none.
    """
    if grammar.expression(test) is False:
        msg = f"the test {test!r:.80} is no expression"
        raise DatasetError(msg)
