"""One block of code in a completion, and what its fence says about it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

__all__ = ["Block", "normalized", "speaks", "tag_of", "with_inner_tag"]

_WORD: Final = re.compile(r"[\s{.]*([\w+#-]+)")
_BASE: Final = re.compile(r"(?:lang(?:uage)?-)?([a-z]+(?:\+\+|#)?)")


class Block(NamedTuple):
    """A block as a reader found it."""

    code: str
    """The text between the fences, without the indentation of the list or quote around it."""
    tag: str | None
    """First word of the info string, as written; `None` when there is none."""
    start: int
    """Where the code starts in the completion, in characters."""
    end: int
    """Where the code ends in the completion, in characters."""
    closed: bool
    """Whether a closing fence ended it."""
    indented: bool = False
    """Whether the fence was indented, and its lines lost as much indentation as they had of that."""


def tag_of(info: str) -> str | None:
    """Language word of an info string: `python` for `python title="x"`, `{.python}`, `python:a.py`."""
    found = _WORD.match(info)
    return found[1] if found else None


def speaks(tag: str | None, tags: Collection[str]) -> bool:
    """Whether a fence tag means a language with these lower-case `tags`.

    Models decorate tags: `Python`, `python3`, `python_code` and `language-python` are all `python`.
    """
    if tag is None:
        return False
    lower = tag.lower()
    if lower in tags:
        return True
    base = _BASE.match(lower)
    return base is not None and base[1] in tags


def with_inner_tag(block: Block, tags: Collection[str]) -> Block:
    """`block` with the tag that stands alone on its first line, where the fence has none."""
    first, _, rest = block.code.partition("\n")
    if not rest or first.strip().lower() not in tags:
        return block
    return block._replace(code=rest, tag=first.strip())


def normalized(code: str) -> str:
    r"""`code` with `\n` for every line end, and without the indentation all its lines share."""
    if "\r" in code:
        code = code.replace("\r\n", "\n").replace("\r", "\n")
    if code.lstrip("\n")[:1] in {" ", "\t"}:
        code = _dedent(code)
    return code


def _dedent(code: str) -> str:
    """Also unindents a first line that stands deeper than a later one: the usual slip of a model."""
    lines = code.lstrip("\n").split("\n")
    margin = _margin([line for line in lines if line.strip(" \t")])
    kept = [line[len(margin) :] if line.startswith(margin) else line.lstrip(" \t") for line in lines]
    if any(line[:1] not in {"", " ", "\t"} for line in kept):
        kept[0] = kept[0].lstrip(" \t")
    return "\n".join(kept)


def _margin(lines: list[str]) -> str:
    """Longest run of blanks that every line starts with."""
    if not lines:
        return ""
    low, high = min(lines), max(lines)
    size = 0
    while size < min(len(low), len(high)) and low[size] == high[size] and low[size] in " \t":
        size += 1
    return low[:size]
