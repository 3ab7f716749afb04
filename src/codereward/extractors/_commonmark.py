"""Fenced blocks as CommonMark sees them, read by a real parser.

The parser gets a stand-in for the page that has the same blocks but is cheap to read: ASCII only
(a byte is a character), and without the characters that start HTML, links or escapes. HTML blocks
are the one thing CommonMark would hide fences in, and models write `<answer>` around theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from codereward.extractors._block import Block, normalized, tag_of

__all__ = ["commonmark_blocks"]

_PLAIN: Final = bytes.maketrans(b"<[]!\\&", b"??????")

# A parser's work is lines times nesting. Only a text of some size can make that product hurt, and
# no answer nests a hundred deep, so long runs of container marks are cut there.
_SMALL: Final = 8192
_DEEPEST: Final = 100  # as in the pattern
_DEEP: Final = re.compile(r"^[ \t>*+\-.)0-9]{100}(?=[^\n]*[>*+\-.)])[^\n]*", re.MULTILINE)


def commonmark_blocks(view: str, text: str) -> Iterator[Block]:
    """Read the fenced blocks of `view` one by one, in order.

    Args:
        view: What the fences are looked for in.
        text: What the code is taken from; as long as `view`.
    """
    import pyromark

    stand_in = _stand_in(view)
    events: Iterator[tuple[Any, Any]] = pyromark.events_with_range(stand_in)
    for event, where in events:
        if isinstance(event, dict) and "Start" in event and _opens_fence(event["Start"]):
            yield _read_block(events, stand_in, text, where)


def _stand_in(view: str) -> str:
    plain = view.encode("ascii", "replace").translate(_PLAIN).decode("ascii")
    if "\r" in plain:
        plain = plain.replace("\r\n", " \n").replace("\r", "\n")
    return _DEEP.sub(_flattened, plain) if len(plain) > _SMALL else plain


def _flattened(deep: re.Match[str]) -> str:
    return deep[0][:_DEEPEST] + "x" * (len(deep[0]) - _DEEPEST)


def _opens_fence(start: Any) -> bool:
    return isinstance(start, dict) and isinstance(start.get("CodeBlock"), dict)


def _read_block(events: Iterator[Any], stand_in: str, text: str, where: Any) -> Block:
    """Read the block that has just been opened, up to its end."""
    opened, ended = where["start"], where["end"]
    pieces = list(_pieces(events, text))
    header = stand_in.find("\n", opened, ended)
    body = ended if header < 0 else header + 1
    start, end = (pieces[0][0], pieces[-1][1]) if pieces else (body, body)
    closed = stand_in[end:ended].rstrip(" \t\n").endswith(stand_in[opened])
    info = text[opened:body].strip().lstrip(stand_in[opened])
    indented = len(pieces) > 1 and stand_in[opened - 1] == " "
    code = normalized("".join(piece[2] for piece in pieces))
    return Block(code, tag_of(info), start, end, closed, indented)


def _pieces(events: Iterator[Any], text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of each stretch of code, until the block ends."""
    for event, where in events:
        content = event.get("Text")
        if content is None:
            return
        start, end = where["start"], where["end"]
        # Where a tab is partly the list's and partly the code's, the parser makes up blanks.
        yield start, end, text[start:end] if len(content) == end - start else content
