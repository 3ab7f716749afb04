"""Fenced blocks as models mean them, where that is not what CommonMark sees.

A line-by-line reader for what models get wrong: a fence after text on the same line, a closing
fence with the next sentence glued to it or glued to the last line of code, a longer fence closed
by a shorter one, a block opened anew without closing the last, an indented fence around code that
is not indented. It is asked only where the CommonMark reading is doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from codereward.extractors._block import Block, normalized, tag_of

__all__ = ["fence_start", "has_fence_line", "lenient_blocks"]

# A pattern that starts with certain characters is searched for several times faster.
_TICKS: Final = re.compile(r"(?P<run>```(?<!````)`*+)(?P<info>[^\n`]*)$", re.MULTILINE)
_TICKS_OR_TILDES: Final = re.compile(
    r"(?P<run>```(?<!````)`*+|~~~(?<!~~~~)~*+)(?P<info>[^\n`]*)$", re.MULTILINE
)
_CONTAINER: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*")
_QUOTE: Final = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_TAG: Final = re.compile(r"(?:[a-z][\w+#.-]*|\{[^\n}]*\})(?:[ \t:,{][^\n]*)?", re.IGNORECASE)
_PROSE: Final = re.compile(r"[^\w\s{.]|\.(?!\w)|[A-Z][a-z']*[ \t]+\w")
_MOST_FENCES: Final = 2000
"""A text with more is no answer with a slip in it, and is left to CommonMark."""
_WINDOW: Final = 16
"""How many fences past a doubtful closing one are looked at for a better one."""


class _Fence(NamedTuple):
    """One line with a fence in it."""

    start: int
    """Start of the line."""
    end: int
    """Start of the next line."""
    lead: str
    """What stands before the fence."""
    run: str
    """The fence itself."""
    info: str
    """What stands after it."""
    bare: bool
    """Whether nothing but list and quote marks stands before it."""
    indent: int
    """Columns of blanks before it, quote marks apart."""
    tagged: bool
    """Whether what stands after it is an info string."""
    ends: bool
    """Whether nothing, or the next sentence, stands after it."""

    @property
    def opens(self) -> bool:
        """Whether it can start a block."""
        return self.tagged or (not self.info and "`" not in self.lead)

    @property
    def code_end(self) -> int:
        """Where the code before a closing fence ends: the line's code glued to it included."""
        return self.start if self.bare else self.start + len(self.lead)


def has_fence_line(code: str) -> bool:
    """Whether a line of `code` could be a fence."""
    return _fence_pattern(code).search(code) is not None


def fence_start(view: str) -> int | None:
    """Where the first line with a fence starts."""
    found = _fence_pattern(view).search(view)
    return view.rfind("\n", 0, found.start()) + 1 if found else None


def _fence_pattern(text: str) -> re.Pattern[str]:
    return _TICKS_OR_TILDES if "~~~" in text else _TICKS


def lenient_blocks(view: str, text: str) -> Iterator[Block]:
    """Read the blocks of `view` as they were meant, in order.

    Args:
        view: What the fences are looked for in.
        text: What the code is taken from; as long as `view`.
    """
    found_all = list(islice(_fence_pattern(view).finditer(view), _MOST_FENCES + 1))
    if len(found_all) > _MOST_FENCES:
        return
    fences = [_read_fence(found, view) for found in found_all]
    at = 0
    while at < len(fences):
        opener = fences[at]
        at += 1
        if opener.opens:
            closer, at = _find_closer(opener, fences, at)
            yield _block(opener, closer, fences[at] if at < len(fences) else None, text)


def _read_fence(found: re.Match[str], view: str) -> _Fence:
    start = view.rfind("\n", 0, found.start()) + 1
    lead, info = view[start : found.start()], found["info"].strip()
    prose = _PROSE.match(info) is not None
    return _Fence(
        start=start,
        end=min(found.end() + 1, len(view)),
        lead=lead,
        run=found["run"],
        info=info,
        bare=_CONTAINER.fullmatch(lead) is not None,
        indent=_indent(lead.rpartition(">")[2]),
        tagged=not prose and _TAG.fullmatch(info) is not None,
        ends=prose or not info,
    )


def _indent(lead: str) -> int:
    columns = lead.expandtabs(4)
    return len(columns) - len(columns.lstrip(" "))


def _find_closer(opener: _Fence, fences: Sequence[_Fence], at: int) -> tuple[_Fence | None, int]:
    """The fence that closes `opener`, and the position of the one after it.

    The best is a fence as CommonMark wants it, or one with prose glued to it; a block that starts
    before any such ends this one. Then a doubtful fence on the way is taken.
    """
    doubtful: int | None = None
    for index in range(at, len(fences)):
        fence = fences[index]
        if _closes(opener, fence):
            return fence, index + 1
        if fence.bare and fence.tagged and fence.indent < opener.indent + 4:
            return _settle(fences, doubtful, index)
        if doubtful is None and _may_close(opener, fence):
            doubtful = index
        if doubtful is not None and index - doubtful > _WINDOW:
            break
    return _settle(fences, doubtful, len(fences))


def _settle(fences: Sequence[_Fence], doubtful: int | None, otherwise: int) -> tuple[_Fence | None, int]:
    if doubtful is None:
        return None, otherwise
    return fences[doubtful], doubtful + 1


def _closes(opener: _Fence, fence: _Fence) -> bool:
    return fence.bare and fence.run.startswith(opener.run) and fence.indent < opener.indent + 4 and fence.ends


def _may_close(opener: _Fence, fence: _Fence) -> bool:
    return fence.ends and fence.run[0] == opener.run[0] and "`" not in fence.lead


def _block(opener: _Fence, closer: _Fence | None, following: _Fence | None, text: str) -> Block:
    stop = closer.code_end if closer else following.start if following else len(text)
    start, end = min(opener.end, stop), stop
    code = text[start:end]
    if ">" in opener.lead:
        code = _QUOTE.sub("", code)
    return Block(normalized(code), tag_of(opener.info), start, end, closer is not None)
