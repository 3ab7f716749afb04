"""Fixed examples of what goes wrong: texts, values and rows that hostile or careless people produce."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from codereward.model import MISSING
from codereward.values import UNEQUAL

__all__ = ["TEXTS", "VALUES", "nested", "variants_of_row"]


def nested(depth: int, core: object = 0) -> object:
    """A value inside `depth` lists."""
    for _ in range(depth):
        core = [core]
    return core


TEXTS: Final[tuple[str, ...]] = (
    "",
    " ",
    "\n\r\n\r",
    "\0",
    "a\0b",
    "\ud800",
    "print('\udcff')",
    "\ufeffprint(1)",
    "\u2028\u2029\x85\x0b\x0c",
    "\x1b[2J\x1b]0;title\x07",
    "\u202e txet desrever",
    "e" + "\u0301" * 500,
    "🙂" * 300,
    "```",
    "```python",
    "```python\n```",
    "```\n" * 50,
    "~~~\n```python\nx = 1\n~~~\n```",
    "````python\n```python\nx = 1\n```\n````",
    "> - 1. ```python\n>   x = 1",
    "<think>```python\nx = 1\n```",
    "</think>```python\nx = 1\n```",
    "(" * 5000,
    "-" * 5000 + "1",
    "x = " + "9" * 5000,
    "lambda: " * 500,
    "if 1:\n" * 200,
    '"' * 3 + "\\" * 999,
    "f'{" * 100,
    "'\\d'",
    "0_0__0x",
    "#" + "x" * 100_000,
    "\t \tif 1:\n\t\treturn",
    "# -*- coding: no-such-codec -*-",
)
"""Texts that break careless extractors and parsers."""

VALUES: Final[tuple[object, ...]] = (
    None,
    MISSING,
    UNEQUAL,
    [MISSING],
    [UNEQUAL, 1],
    {"": UNEQUAL},
    math.nan,
    [math.inf, -math.inf, math.nan],
    -0.0,
    1e308,
    5e-324,
    10**400,
    -(10**400),
    2**53 + 1,
    True,
    [],
    {},
    "",
    "\ud800",
    "\0",
    "x" * 10_000,
    list(range(5000)),
    {str(n): n for n in range(2000)},
    nested(180),
    nested(180, {"a": []}),
)
"""Values that programs report, or rows expect, and careless scorers fall over."""


def variants_of_row(row: Mapping[str, object]) -> list[dict[str, object]]:
    """Rows that are wrong in one place: a column is missing, or holds something else."""
    columns = [name for name in row if name != "kind"]
    missing = [{key: value for key, value in row.items() if key != name} for name in columns]
    odd = [
        {**row, name: value} for name in columns for value in (*VALUES, b"\xff", object(), {1: 2}, [[]], {3})
    ]
    kinds = [{**row, "kind": kind} for kind in ("", "no-such-kind", None, 0, ["expression"])]
    return [*missing, *odd, *kinds, {"kind": row["kind"]}]
