"""Code without a fence: between named marks, or as the text itself, with or without prose around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from codereward.extractors._block import Block, normalized
from codereward.extractors._page import Page

__all__ = ["bare_code", "cut_at_mark", "has_prose_around", "marked_blocks", "whole"]

_OPENING: Final = re.compile(
    r"\[(?P<bracket>[A-Za-z]\w{1,14})\][ \t]*\r?\n|<(?P<angle>code|pre|answer|solution)>", re.IGNORECASE
)
_CODE_LINE: Final = re.compile(
    r"^(?:[ \t]*)(?:(?:import|from|def|class|async|export|function|const|let|var|func|fn|pub|package|using|use"
    r"|require|struct|static|public|private|void|int)\b[^\n]|@\w|#include|#!|[A-Za-z_$][\w$.]*[ \t]*=[^=~>])[^\n]*$",
    re.MULTILINE,
)
# "Here is the", "This function returns": a capital, then plain words. Code rarely reads like that.
_PROSE_LINE: Final = re.compile(
    r"^(?:(?:[-*+>]|\d{1,3}[.)]|\#{1,6})[ \t]+)?[*_]{0,2}[A-Z][A-Za-z'\u2019]*[*_:,]{0,3}(?:[ \t]+[`*_(\"']{0,2}[A-Za-z][\w'\u2019`*_().\"]*[,:]?){2}",
    re.MULTILINE,
)


def marked_blocks(page: Page) -> Iterator[Block]:
    """Blocks between `[NAME]` and `[/NAME]`, or `<code>` and `</code>`; the last may be unclosed."""
    view, at = page.view, 0
    while opening := _OPENING.search(view, at):
        name = opening["bracket"] or opening["angle"]
        closing = f"[/{name}]" if opening["bracket"] else f"</{name}>"
        start, end = opening.end(), view.find(closing, opening.end())
        closed = end >= 0
        if closed:
            at = end + len(closing)
        else:
            end = at = len(view)
        yield Block(normalized(page.text[start:end]), name, start, end, closed)


def whole(page: Page) -> Block:
    """All of the page that is not blank, up to the chat mark that ended the turn."""
    start = len(page.view) - len(page.view.lstrip())
    end = next((mark for mark in page.marks if mark > start), len(page.view))
    return _trimmed(page.text, start, end)


def bare_code(text: str, start: int, end: int) -> Block | None:
    """The code between `start` and `end` without the prose before and after; `None`: there is none.

    It runs from the first line that begins like code to the next line of prose. A comment line
    right above belongs to it.
    """
    first = _CODE_LINE.search(text, start, end)
    if first is None:
        return None
    prose = _PROSE_LINE.search(text, first.end(), end)
    return _trimmed(text, first.start(), prose.start() if prose else end)


def has_prose_around(code: str) -> bool:
    """Whether the first or the last line of `code` is prose."""
    lines = code.strip().split("\n")
    return any(_PROSE_LINE.match(line) for line in (lines[0], lines[-1]))


def cut_at_mark(block: Block, page: Page) -> Block:
    """`block` without the chat mark that ended the turn in it, and what comes after."""
    mark = next((mark for mark in page.marks if block.start <= mark < block.end), None)
    if mark is None:
        return block
    code = normalized(page.text[block.start : mark])
    return block._replace(code=code, end=mark)


def _trimmed(text: str, start: int, end: int) -> Block:
    body = text[start:end].rstrip()
    return Block(normalized(body), None, start, start + len(body), closed=True)
