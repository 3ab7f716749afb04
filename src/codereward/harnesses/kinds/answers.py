"""Reading the columns that stay on the host: what is expected, and how it is compared."""

from __future__ import annotations

from codereward.errors import DatasetError
from codereward.harnesses.rows import column, number_column, optional_text_column
from codereward.model import Comparator
from codereward.protocols import Row
from codereward.values import plain_json
from codereward.values.comparators import value_comparator

__all__ = ["expected_value", "expected_values", "value_comparators"]


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


def expected_values(row: Row, count: int, of: str) -> list[object]:
    """The column `expected` as a list with one value for each of `count` items of the column `of`.

    Raises:
        DatasetError: It is something else.
    """
    value = expected_value(row)
    if not isinstance(value, list) or len(value) != count:
        have = f"{len(value)} values" if isinstance(value, list) else f"a {type(value).__name__}"
        msg = f"column 'expected' has to be a list of {count} values, one for each of {of!r}; it holds {have}"
        raise DatasetError(msg)
    return value


def value_comparators(row: Row) -> tuple[Comparator, ...]:
    """The rule of equality that the row names; none: JSON equality.

    Raises:
        DatasetError: There is no rule of that name, or the tolerance is no number.
    """
    name = optional_text_column(row, "comparator")
    tolerance = number_column(row, "tolerance")
    if name is None and tolerance is None:
        return ()
    try:
        return (value_comparator(name or "close", tolerance),)
    except ValueError as error:
        raise DatasetError(str(error)) from None
