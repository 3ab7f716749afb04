"""What is Python code."""

from __future__ import annotations

from codereward.harnesses.kinds import Grammar
from codereward.harnesses.python import syntax

__all__ = ["PythonGrammar"]


class PythonGrammar(Grammar):
    """The grammar of the Python that runs codereward."""

    def expression(self, text: str) -> bool:
        """Whether `text` is one expression; it may span lines."""
        return syntax.parses(f"({text}\n)")

    def program(self, text: str) -> bool:
        """Whether `text` is a module."""
        return syntax.parses(text)
