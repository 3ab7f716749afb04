"""From the columns that a trainer passes to the rows that a harness splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from codereward.errors import ConfigError, DatasetError
from codereward.protocols import Row
from codereward.values import UNEQUAL, Undecodable, decode_json

__all__ = ["EXPECTED", "ExpectedFormat", "Rows"]

ExpectedFormat = Literal["value", "json"]
EXPECTED = "expected"
"""The column that `expected_format` is about."""


class Rows:
    """Makes rows of columns.

    Args:
        columns: codereward's column name → the data set's.
        kind: The kind of test of rows that have no `kind` column.
        expected_format: `value`: the column `expected` holds the value itself; `json`: it holds
            JSON text in every row.
    """

    def __init__(self, columns: Mapping[str, str], kind: str, expected_format: ExpectedFormat) -> None:
        if expected_format not in get_args(ExpectedFormat):
            msg = f"expected_format is 'value' or 'json', not {expected_format!r}"
            raise ConfigError(msg)
        self.columns = dict(columns)
        self.kind = kind
        self.expected_format = expected_format

    def rows(self, columns: Mapping[str, object], size: int) -> list[Row]:
        """The `size` rows that the columns hold.

        Raises:
            ConfigError: A column has another length, or a mapped one is missing.
            DatasetError: The JSON text of an expected value cannot be decoded.
        """
        checked = {name: _checked(name, values, size) for name, values in columns.items()}
        renamed = checked | {name: self._mapped(checked, theirs) for name, theirs in self.columns.items()}
        return [self._row(renamed, index) for index in range(size)]

    def _mapped(self, columns: Mapping[str, Sequence[object]], theirs: str) -> Sequence[object]:
        if theirs not in columns:
            msg = f"columns= names the column {theirs!r}; the data set has: {', '.join(sorted(columns)) or 'none'}"
            raise ConfigError(msg)
        return columns[theirs]

    def _row(self, columns: Mapping[str, Sequence[object]], index: int) -> Row:
        row = {name: values[index] for name, values in columns.items()}
        if row.get("kind") is None:
            row["kind"] = self.kind
        if self.expected_format == "json" and EXPECTED in row:
            row[EXPECTED] = _decoded(row[EXPECTED], index)
        return row


def _checked(name: str, values: object, size: int) -> Sequence[object]:
    """The column as a sequence of the batch's length; one of numpy or torch becomes a list."""
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str) or not isinstance(values, Sequence):
        msg = f"column {name!r} is a {type(values).__name__}: pass a list with one value for each completion"
        raise ConfigError(msg)
    if len(values) != size:
        msg = f"column {name!r} has {len(values)} values for {size} completions"
        raise ConfigError(msg)
    return values


def _decoded(text: object, index: int) -> object:
    if not isinstance(text, str):
        msg = f"column 'expected' holds a {type(text).__name__}; expected_format='json' asks for JSON text in every row"
        raise DatasetError(msg, index)
    try:
        value = decode_json(text)
    except Undecodable as error:
        msg = f"column 'expected' holds {text!r:.60}, which is no JSON: {error}"
        raise DatasetError(msg, index) from None
    if _holds_unequal(value):
        msg = f"column 'expected' holds {text!r:.60}: an object repeats a key, or a number is too long"
        raise DatasetError(msg, index)
    return value


def _holds_unequal(value: object) -> bool:
    pending = [value]
    while pending:
        one = pending.pop()
        if one is UNEQUAL:
            return True
        if isinstance(one, list):
            pending.extend(one)
        elif isinstance(one, dict):
            pending.extend(one.values())
    return False
