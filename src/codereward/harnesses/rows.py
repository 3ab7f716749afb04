"""Reading the columns of a row, with errors that say what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from codereward.errors import DatasetError
from codereward.model import Limits
from codereward.protocols import Row

__all__ = ["column", "number_column", "optional_text_column", "row_limits", "text_column", "texts_column"]


def column(row: Row, name: str) -> object:
    """The value of a column.

    Raises:
        DatasetError: The row has no such column.
    """
    if name not in row:
        have = ", ".join(sorted(key for key in row if key != "kind")) or "none"
        msg = (
            f"kind {row['kind']!r} needs a column {name!r}; the row has: {have}. "
            f"Rename it with columns={{{name!r}: 'your column'}}, or choose another kind"
        )
        raise DatasetError(msg)
    return row[name]


def text_column(row: Row, name: str) -> str:
    """A column that holds text with something in it.

    Raises:
        DatasetError: It is missing, no text, or blank.
    """
    value = column(row, name)
    if not isinstance(value, str) or not value.strip():
        msg = f"column {name!r} has to be text with something in it, not {value!r:.60}"
        raise DatasetError(msg)
    return value


def optional_text_column(row: Row, name: str) -> str | None:
    """A column that may be missing, `None` or blank: then `None`.

    Raises:
        DatasetError: It holds something other than text.
    """
    value = row.get(name)
    if value is None or value == "":
        return None
    return text_column(row, name)


def texts_column(row: Row, name: str) -> tuple[str, ...]:
    """A column that holds a list of texts, at least one.

    Raises:
        DatasetError: It is missing, no list, empty, or an item is no text or blank.
    """
    value = column(row, name)
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        msg = f"column {name!r} has to be a list of at least one text, not {value!r:.60}"
        raise DatasetError(msg)
    for item in value:
        if not isinstance(item, str) or not item.strip():
            msg = f"column {name!r} holds {item!r:.60}, which is no text, or blank"
            raise DatasetError(msg)
    return tuple(value)


def number_column(row: Row, name: str) -> float | None:
    """A column that may be missing or `None`, else holds a finite number.

    Raises:
        DatasetError: It holds something else.
    """
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        msg = f"column {name!r} has to be a number, not {value!r:.60}"
        raise DatasetError(msg)
    return value


def row_limits(row: Row, limits: Limits) -> Limits | None:
    """The limits of a row that brings its own time limit (column `time_limit`, seconds).

    Args:
        row: The row.
        limits: The harness's, for everything else.

    Returns:
        `None` when the row brings none.

    Raises:
        DatasetError: The column holds no positive number.
    """
    seconds = number_column(row, "time_limit")
    if seconds is None:
        return None
    if seconds <= 0:
        msg = f"column 'time_limit' has to be more than 0 seconds, not {seconds!r}"
        raise DatasetError(msg)
    return replace(limits, wall_seconds=seconds, cpu_seconds=seconds)
