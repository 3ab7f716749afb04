"""The code blocks of a Markdown page, and what a comment above each asks of its check.

A block is checked by running it, unless an HTML comment on the line above says otherwise:

- `<!-- check: names -->`: not run, because this machine may lack what it needs (a GPU, a key): its
  syntax, imports, attributes and arguments are checked. `names, given x, y`: names from elsewhere.
- `<!-- check: raises -->`: it has to raise an error of codereward's.
- `<!-- check: output -->`: what the Python block before it prints, or the error it raises. `...`
  stands for anything.
- `<!-- check: same as path/of/file -->`: the content of that file of the repository.
- `<!-- check: nothing, because … -->`: for people only.

A block with a `title="name"` is a file: it is written into the folder in which the page's blocks run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Block", "blocks_of"]

FENCE: Final = re.compile(r"^(?P<indent> *)(?P<run>`{3,}|~{3,})(?P<info>[^`]*)$")
CHECK: Final = re.compile(r"^\s*<!-- check: (?P<how>.+) -->\s*$")
TITLE: Final = re.compile(r'title="(?P<title>[^"]+)"')


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    """Number of the first line of its content."""
    language: str
    title: str
    """Name of the file that it is; empty when it is none."""
    check: str
    """What the comment above it asks for; empty: run it."""
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line} ({self.language or 'no language'})"


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page, in order.

    Raises:
        ValueError: A fence is never closed.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        end = closing(lines, at, fence)
        if end is None:
            msg = f"{page.name}:{at + 1}: this fence is never closed"
            raise ValueError(msg)
        yield block(page, lines, at, end, fence)
        at = end + 1


def closing(lines: list[str], start: int, fence: re.Match[str]) -> int | None:
    """Position of the line that closes the fence at `start`."""
    close = re.compile(rf" *{fence['run'][0]}{{{len(fence['run'])},}} *$")
    return next((at for at in range(start + 1, len(lines)) if close.match(lines[at])), None)


def block(page: Path, lines: list[str], start: int, end: int, fence: re.Match[str]) -> Block:
    """The block between two fence lines."""
    info = fence["info"].strip()
    title = TITLE.search(info)
    check = CHECK.match(lines[start - 1]) if start else None
    indent = len(fence["indent"])
    content = [line[indent:] if line[:indent].isspace() else line for line in lines[start + 1 : end]]
    return Block(
        page=page,
        line=start + 2,
        language=info.split()[0] if info else "",
        title=title["title"] if title else "",
        check=check["how"] if check else "",
        text="".join(f"{line}\n" for line in content),
    )
