"""What modules ask to have done around a fork, done around a clone.

The interpreter's own care is for other threads, of which the fork server has none; for a program's
process it would copy a hundred pages of memory, those of `threading` above all.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Hooks"]


class Hooks:
    """The functions that modules register while they are imported, in the order to call them."""

    def __init__(self) -> None:
        self.before: list[Callable[[], object]] = []
        self.in_parent: list[Callable[[], object]] = []
        self.in_child: list[Callable[[], object]] = []

    @contextlib.contextmanager
    def collected(self) -> Iterator[None]:
        """Take down what is registered meanwhile; it is registered for forks all the same."""
        register = os.register_at_fork

        def collect(**functions: Any) -> None:
            register(**functions)
            self.before[:0] = [each for name, each in functions.items() if name == "before"]
            self.in_parent += [each for name, each in functions.items() if name == "after_in_parent"]
            self.in_child += [each for name, each in functions.items() if name == "after_in_child"]

        os.register_at_fork = collect
        try:
            yield
        finally:
            os.register_at_fork = register
