r"""Is a text Python, and does it define a name? Asked in the trainer's process, of hostile text.

The interpreter's own parser answers, and is kept from what can hurt: texts too long to be worth the
time, deep nesting, integers of thousands of digits. Warnings it would give (about `"\d"`, `1if x`)
go through process-wide state and can be turned into errors, so the text is rewritten beforehand to
give none.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

__all__ = ["defines", "parses"]

_LONGEST: Final = 100_000
"""Characters; the parser takes up to 3 µs for each."""
_DEEPEST: Final = 90
"""Open brackets. The parser's own limit is 200; its time grows faster than linearly before that."""

_LONGEST_CHAIN: Final = 1000
"""Signs, `not`, `lambda` and `else` on one line without a comma: each is a level more on the C
stack, and a thread's stack may be small. One of 1 MiB is enough for whatever passes."""

_BRACKET: Final = re.compile(r"[()\[\]{}]")
_HUGE_NUMBER: Final = re.compile(r"(?<![0-9_])[0-9_]{4300}")
_LEVEL: Final = re.compile(r"[-+~]|\*\*|\b(?:not|await|lambda|else)\b|[\n;,]")
_ESCAPE: Final = re.compile(r"\\(?:N\{[^}\n]{0,100}\}|[^\r\n{}]|(?=[{}]))")
_GLUED_NUMBER: Final = re.compile(
    r"(?<![\w.])(0[xX][0-9a-fA-F_]+|0[oObB][0-7_]+|[0-9][0-9_.]*(?:[eE][-+]?[0-9_]+)?[jJ]?)"
    r"(?=(?:and|else|for|if|in|is|not|or)\b)"
)


def parses(code: str) -> bool:
    """Whether `code` is a Python program, as far as its grammar goes.

    Never raises, warns or takes long, whatever the text. A program of more than 100,000
    characters, or nested more than 90 brackets deep, is not taken for one.
    """
    if (
        len(code) > _LONGEST
        or not code.strip()
        or _too_deep(code)
        or _too_long_a_chain(code)
        or _HUGE_NUMBER.search(code)
    ):
        return False
    return _compiles(_without_warnings(code))


def _compiles(code: str) -> bool:
    try:
        compile(code, "<completion>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError):
        return False
    return True


def _too_deep(code: str) -> bool:
    """Brackets in strings count too: telling them apart would take the parser."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(code):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _too_long_a_chain(code: str) -> bool:
    chain = longest = 0
    for level in _LEVEL.findall(code):
        chain = 0 if level in "\n;," else chain + 1
        longest = max(longest, chain)
    return longest > _LONGEST_CHAIN


def _without_warnings(code: str) -> str:
    if "\\" in code:
        code = _ESCAPE.sub("xx", code)
    return _GLUED_NUMBER.sub(r"\1 ", code)


def defines(code: str, name: str) -> bool:
    """Whether `code` has a line that defines `name`: a function, a class, or an assignment.

    Functions and classes count at any depth (a method of `class Solution` is a definition), names
    assigned to only at the outermost one. Takes time linear in `code`.
    """
    return bool(name) and name in code and _definition(name).search(code) is not None


@lru_cache(maxsize=512)
def _definition(name: str) -> re.Pattern[str]:
    wanted = re.escape(name)
    return re.compile(
        rf"^(?:[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{wanted}(?!\w)"
        rf"|{wanted}[ \t]*(?::[^=\n]{{1,200}})?=(?!=))",
        re.MULTILINE,
    )
