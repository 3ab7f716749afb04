"""What a kind of test is."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Protocol

from codereward.model import Answers, Questions
from codereward.protocols import Row

__all__ = ["Grammar", "Kind"]


class Grammar(Protocol):
    """Tells what is code of one language. Never raises, warns or takes long, whatever the text."""

    @abstractmethod
    def expression(self, text: str) -> bool | None:
        """Whether `text` is one expression; `None`: cannot tell."""
        ...

    @abstractmethod
    def program(self, text: str) -> bool | None:
        """Whether `text` is a program; `None`: cannot tell."""
        ...


class Kind(Protocol):
    """One kind of test: how a row becomes questions for the sandbox and answers for the host.

    **Guarantees:** `split` is pure, and raises `DatasetError` for a row that cannot be scored and
    nothing else. **Pickling:** must pickle.
    """

    name: ClassVar[str]
    """What the column `kind` holds."""

    @abstractmethod
    def split(self, row: Row) -> tuple[Questions, Answers]:
        """Split a row.

        Raises:
            DatasetError: The row cannot be scored.
        """
        ...
