"""Harnesses: a row's test becomes a program, and a run becomes a value."""

from codereward.harnesses.failures import case_of_failure
from codereward.harnesses.python import PythonHarness
from codereward.harnesses.rows import text_column, texts_column

__all__ = ["PythonHarness", "case_of_failure", "text_column", "texts_column"]
