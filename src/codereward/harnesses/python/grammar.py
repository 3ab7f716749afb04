"""What is Python code."""

from __future__ import annotations

import ast
from typing import Final

from codereward.harnesses.kinds import Grammar
from codereward.harnesses.python import syntax

__all__ = ["LONG", "PythonGrammar"]

LONG: Final = 100_000
"""Characters; a longer completion is never taken for code, but a test may hold long data."""


class PythonGrammar(Grammar):
    """The grammar of the Python that runs codereward, for tests: they may be long."""

    def expression(self, text: str) -> bool:
        """Whether `text` is one expression; it may span lines."""
        return self.program(f"({text}\n)")

    def program(self, text: str) -> bool:
        """Whether `text` is a module."""
        return syntax.parses(text) if len(text) <= LONG else parses_long(text)


def parses_long(text: str) -> bool:
    """Whether a long text is a module.

    The interpreter's parser bounds its own depth. It takes seconds for texts that somebody made to
    take long, which is why completions are not given to it; tests are the data set's.
    """
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return True
