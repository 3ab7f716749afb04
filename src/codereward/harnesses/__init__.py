"""Harnesses: a row's test becomes a program, and a run becomes a value.

What is not Python's alone is here for harnesses of other languages: the kinds of test that split
without knowing a language, and reading what programs leave behind.
"""

from codereward.harnesses.failures import case_of_failure, failed_build
from codereward.harnesses.frames import STAGES, Decode, read_case
from codereward.harnesses.kinds import Call, Cases, Expression, Grammar, Kind, Stdio
from codereward.harnesses.observing import observation_of, read_outputs, read_values
from codereward.harnesses.python import PythonHarness
from codereward.harnesses.rows import (
    column,
    number_column,
    optional_text_column,
    row_limits,
    text_column,
    texts_column,
)

__all__ = [
    "STAGES",
    "Call",
    "Cases",
    "Decode",
    "Expression",
    "Grammar",
    "Kind",
    "PythonHarness",
    "Stdio",
    "case_of_failure",
    "column",
    "failed_build",
    "number_column",
    "observation_of",
    "optional_text_column",
    "read_case",
    "read_outputs",
    "read_values",
    "row_limits",
    "text_column",
    "texts_column",
]
