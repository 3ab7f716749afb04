"""The kind `stdio`: a whole program reads its standard input and writes its standard output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from codereward.errors import DatasetError
from codereward.harnesses.kinds.base import Kind
from codereward.harnesses.rows import column, number_column, optional_text_column
from codereward.model import Answers, Comparator, Questions
from codereward.protocols import Row
from codereward.values.texts import Guarded, text_comparator

__all__ = ["Stdio"]

DEFAULT: Final = "lines"


class Stdio(Kind):
    """Columns `stdin` and `stdout`, a list of texts each, or one text; a process for every pair.

    A pair counts when the process ends with exit status 0 and its output equals the expected one
    under the column `comparator` (`lines` when there is none), with a `tolerance` where it has one.

    Args:
        comparators: Further names for that column: functions of (output, expected), importable by
            name so that they pickle.
    """

    name: ClassVar[str] = "stdio"

    def __init__(self, comparators: Mapping[str, Comparator] | None = None) -> None:
        self.comparators = {name: Guarded(one) for name, one in (comparators or {}).items()}

    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row into inputs and the outputs they should bring."""
        stdin, stdout = outputs(row, "stdin"), outputs(row, "stdout")
        if len(stdin) != len(stdout):
            msg = f"column 'stdin' holds {len(stdin)} texts and 'stdout' {len(stdout)}: they come in pairs"
            raise DatasetError(msg)
        if not any(text.strip() for text in stdout):
            msg = "column 'stdout' expects no output at all, which a program that does nothing would give"
            raise DatasetError(msg)
        return Questions(self.name, stdin), Answers(list(stdout), (self._comparator(row),), several=True)

    def _comparator(self, row: Row) -> Comparator:
        name = optional_text_column(row, "comparator") or DEFAULT
        tolerance = number_column(row, "tolerance")
        if name in self.comparators and tolerance is None:
            return self.comparators[name]
        try:
            return text_comparator(name, tolerance)
        except ValueError as error:
            own = f"; given in code: {', '.join(self.comparators)}" if self.comparators else ""
            raise DatasetError(f"{error}{own}") from None


def outputs(row: Row, name: str) -> tuple[str, ...]:
    """A column of texts, at least one; any of them may be empty.

    Raises:
        DatasetError: It is something else.
    """
    value = column(row, name)
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, Mapping) or not isinstance(texts, Sequence) or not texts:
        msg = f"column {name!r} has to be a list of at least one text, not {value!r:.60}"
        raise DatasetError(msg)
    for text in texts:
        if not isinstance(text, str):
            msg = f"column {name!r} holds {text!r:.60}, which is no text"
            raise DatasetError(msg)
    return tuple(texts)
