"""Does a piece of code define a name? A guess for languages whose harness cannot tell."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["seems_to_define"]

_LOOK_BACK: Final = 200
_LOOK_BACK_WORD: Final = 24

_KEYWORD: Final = re.compile(
    r"(?<![\w$.])(?:def|class|function\s*\*?|func|fun|fn|sub|proc|procedure|method|struct|enum|trait|interface"
    r"|type|module|object|record|const|let|var|val)\s+\Z"
)
_AFTER_KEYWORD: Final = re.compile(r"(?![\w$])")
_LINE_START: Final = re.compile(r"[ \t]*(?:(?:module\.)?exports\.|this\.|window\.|globalThis\.|local\s+)?$")
_ASSIGNED: Final = re.compile(r"[ \t]*(?::[^=\n]{1,200})?=(?![=>~])|[ \t]*:[ \t]*(?:async\b|function\b|\()")
_TYPED: Final = re.compile(r"[ \t]*[A-Za-z_][\w<>\[\],:.*& \t]*[ \t*&>]$")
_NO_TYPE: Final = re.compile(
    r"[ \t]*(?:return|await|yield|new|throw|else|case|delete|typeof|not|in|and|or)\b"
)
_METHOD_START: Final = re.compile(r"[ \t]*(?:(?:static|async|get|set)[ \t]+)*\*?$")
_BODY: Final = re.compile(r"[ \t]*\([^;{}]{0,300}\)[^;{}()\n]{0,100}\s{0,20}\{")
_FOLLOWED: Final = re.compile(r"[ \t]*[=:(]")


def seems_to_define(code: str, name: str) -> bool:
    """Whether `code` seems to define `name`, in one of the ways common to many languages.

    Knows `def f`, `class f`, `function f`, `func f`, `fn f`, `const f = …`, `f = …`,
    `exports.f = …`, and C-like `int f(…) {`. Takes time linear in `code`.
    """
    at = code.find(name) if name else -1
    while at >= 0:
        if _is_definition(code, at, at + len(name)):
            return True
        at = code.find(name, at + len(name))
    return False


def _is_definition(code: str, start: int, end: int) -> bool:
    if _KEYWORD.search(code, max(0, start - _LOOK_BACK_WORD), start):
        return _AFTER_KEYWORD.match(code, end) is not None
    if not _FOLLOWED.match(code, end):
        return False
    line = code[max(0, start - _LOOK_BACK) : start].rpartition("\n")[2]
    if _LINE_START.match(line) and _ASSIGNED.match(code, end):
        return True
    return _heads_a_body(line) and _BODY.match(code, end) is not None


def _heads_a_body(line: str) -> bool:
    if _METHOD_START.match(line):
        return True
    return _TYPED.match(line) is not None and not _NO_TYPE.match(line)
