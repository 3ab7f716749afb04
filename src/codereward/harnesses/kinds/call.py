"""The kind `call`: a function is called with arguments, the answer is what it returns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from codereward.errors import DatasetError
from codereward.harnesses.kinds.answers import expected_values, value_comparators
from codereward.harnesses.kinds.base import Grammar, Kind
from codereward.harnesses.kinds.expression import questions_of
from codereward.harnesses.rows import column, text_column
from codereward.model import Answers, Questions
from codereward.protocols import Row
from codereward.values import Undecodable, decode_json, strict_json

__all__ = ["Call"]

PARTS: Final = frozenset({"args", "kwargs"})


class Call(Kind):
    """Columns `entry_point` (a function's name), `inputs` and `expected`, a list each.

    An input is a list of arguments, or `{"args": […], "kwargs": {…}}`, or JSON text of either; the
    whole column may be JSON text too. A question is the JSON text
    `{"call": name, "args": […], "kwargs": {…}}`.

    Args:
        grammar: Of the language of the column `setup`.
    """

    name: ClassVar[str] = "call"

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into calls and what they return."""
        name = text_column(row, "entry_point").strip()
        if not all(part.isidentifier() for part in name.split(".")):
            msg = (
                f"column 'entry_point' holds {name!r:.60}: kind 'call' needs a name, as 'f' or 'Class.method'"
            )
            raise DatasetError(msg)
        inputs = listed(parsed(column(row, "inputs")))
        items = tuple(question(name, parsed(given), position) for position, given in enumerate(inputs))
        answers = Answers(expected_values(row, len(items), "inputs"), value_comparators(row), several=True)
        # What has to be found in a completion is a definition, which has no dots.
        sought = {**row, "entry_point": name.rpartition(".")[2]}
        return questions_of(self, sought, items, self.grammar), answers


def parsed(given: object) -> object:
    """What a column or an input holds; text is JSON.

    Raises:
        DatasetError: The text is no JSON.
    """
    if not isinstance(given, str):
        return given
    try:
        return decode_json(given)
    except Undecodable as error:
        msg = f"column 'inputs' holds the text {given!r:.60}, which is no JSON: {error}"
        raise DatasetError(msg) from None


def listed(inputs: object) -> Sequence[object]:
    """The inputs as a list.

    Raises:
        DatasetError: They are none, or an empty one.
    """
    if isinstance(inputs, Mapping) or not isinstance(inputs, Sequence) or not inputs:
        msg = f"column 'inputs' has to be a list of at least one argument list, not {inputs!r:.60}"
        raise DatasetError(msg)
    return inputs


def question(name: str, given: object, position: int) -> str:
    """One call as JSON text.

    Raises:
        DatasetError: The input is no argument list, or JSON has no form for an argument.
    """
    args, kwargs = arguments(given, position)
    try:
        call = {"call": name, "args": strict_json(list(args)), "kwargs": strict_json(dict(kwargs))}
    except ValueError as error:
        msg = (
            f"input {position} cannot be passed as JSON: {error}. "
            "Write the call as an expression: kind 'cases'"
        )
        raise DatasetError(msg) from None
    return json.dumps(call)


def arguments(given: object, position: int) -> tuple[Sequence[object], Mapping[str, object]]:
    """The positional and the named arguments of one input.

    Raises:
        DatasetError: It is neither a list nor a mapping of `args` and `kwargs`.
    """
    if isinstance(given, Mapping) and given and PARTS.issuperset(given):
        # A column of one type has both keys in every row, and `None` where a row has no such part.
        args, kwargs = given.get("args"), given.get("kwargs")
    else:
        args, kwargs = given, None
    args, kwargs = ([] if args is None and kwargs is not None else args), ({} if kwargs is None else kwargs)
    if isinstance(args, (str, Mapping)) or not isinstance(args, Sequence) or not isinstance(kwargs, Mapping):
        msg = (
            f"input {position} is {given!r:.60}: an input is a list of arguments, "
            'or {"args": [...], "kwargs": {...}}'
        )
        raise DatasetError(msg)
    return args, kwargs
