"""Modules that are loaded before any program starts."""

from typing import Final

__all__ = ["DEFAULT_PREIMPORT"]

DEFAULT_PREIMPORT: Final = (
    "abc",
    "ast",
    "bisect",
    "collections.abc",
    "contextlib",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "math",
    "numbers",
    "operator",
    "pathlib",
    "queue",
    "random",
    "re",
    "statistics",
    "string",
    "struct",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "tokenize",
    "traceback",
    "typing",
    "unittest",
    "warnings",
)
"""What nine in ten solutions to programming tasks import."""
