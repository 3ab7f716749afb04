"""Modules that are loaded before any program starts."""

from typing import Final

__all__ = ["DEFAULT_PREIMPORT"]

DEFAULT_PREIMPORT: Final = (
    "bisect",
    "collections",
    "copy",
    "datetime",
    "functools",
    "heapq",
    "itertools",
    "json",
    "math",
    "operator",
    "random",
    "re",
    "string",
    "threading",
    "time",
    "typing",
)
"""What most solutions to programming tasks import.

Each megabyte of a module's objects costs every program about 0.15 ms: the kernel copies the page
tables, and takes them down again. So what is large and rare (`dataclasses` with its `inspect`,
`unittest`, `pathlib`, `decimal`) is left to the programs that use it.
"""
