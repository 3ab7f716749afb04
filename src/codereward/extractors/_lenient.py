"""Fenced blocks as models mean them, where that is not what CommonMark sees.

A line-by-line reader for what models get wrong: a fence after text on the same line, a closing
fence with the next sentence glued to it or glued to the last line of code, a longer fence closed
by a shorter one, a block opened anew without closing the last, an indented fence around code that
is not indented. It is asked only where the CommonMark reading is doubtful.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from codereward.extractors._block import Block, normalized, tag_of

__all__ = ["fence_start", "has_fence_line", "lenient_blocks"]

_FENCE: Final = re.compile(
    r"^(?P<lead>[^\n]*?)(?<![`~])(?P<run>`{3,}+|~{3,}+)(?P<info>[^\n`]*)$", re.MULTILINE
)
_CONTAINER: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*")
_QUOTE: Final = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_TAG: Final = re.compile(r"(?:[a-z][\w+#.-]*|\{[^\n}]*\})(?:[ \t:,{][^\n]*)?", re.IGNORECASE)
_PROSE: Final = re.compile(r"[^\w\s{.]|\.(?!\w)|[A-Z][a-z']*[ \t]+\w")
_WINDOW: Final = 64
"""How many fences past a doubtful closing one are looked at for a better one."""


@dataclass(frozen=True, slots=True)
class _Fence:
    """One line with a fence in it."""

    start: int
    """Start of the line."""
    lead: str
    """What stands before the fence."""
    run: str
    info: str
    end: int
    """Start of the next line."""

    @property
    def bare(self) -> bool:
        """Whether nothing but list and quote marks stands before the fence."""
        return _CONTAINER.fullmatch(self.lead) is not None

    @property
    def indent(self) -> int:
        """Columns of blanks before the fence, quote marks apart."""
        lead = self.lead.rpartition(">")[2].expandtabs(4)
        return len(lead) - len(lead.lstrip(" "))

    @property
    def tagged(self) -> bool:
        return _TAG.fullmatch(self.info) is not None and not _PROSE.match(self.info)

    @property
    def opens(self) -> bool:
        return self.tagged or (not self.info and "`" not in self.lead)

    @property
    def code_end(self) -> int:
        """Where the code before a closing fence ends: the line's code glued to it included."""
        return self.start if self.bare else self.start + len(self.lead)


def has_fence_line(code: str) -> bool:
    """Whether a line of `code` could be a fence."""
    return ("```" in code or "~~~" in code) and _FENCE.search(code) is not None


def fence_start(view: str) -> int | None:
    """Where the first line with a fence starts."""
    found = _FENCE.search(view)
    return found.start() if found else None


def lenient_blocks(view: str, text: str) -> Iterator[Block]:
    """Read the blocks of `view` as they were meant, in order.

    Args:
        view: What the fences are looked for in.
        text: What the code is taken from; as long as `view`.
    """
    fences = [_read_fence(found, len(view)) for found in _FENCE.finditer(view)]
    at = 0
    while at < len(fences):
        opener = fences[at]
        at += 1
        if opener.opens:
            closer, at = _find_closer(opener, fences, at)
            yield _block(opener, closer, fences[at] if at < len(fences) else None, text)


def _read_fence(found: re.Match[str], size: int) -> _Fence:
    info = found["info"].strip()
    return _Fence(found.start(), found["lead"], found["run"], info, min(found.end() + 1, size))


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
    return (
        fence.bare
        and fence.run.startswith(opener.run)
        and fence.indent < opener.indent + 4
        and (not fence.info or _PROSE.match(fence.info) is not None)
    )


def _may_close(opener: _Fence, fence: _Fence) -> bool:
    return not fence.info and fence.run[0] == opener.run[0] and "`" not in fence.lead


def _block(opener: _Fence, closer: _Fence | None, following: _Fence | None, text: str) -> Block:
    stop = closer.code_end if closer else following.start if following else len(text)
    start, end = min(opener.end, stop), stop
    code = text[start:end]
    if ">" in opener.lead:
        code = _QUOTE.sub("", code)
    return Block(normalized(code), tag_of(opener.info), start, end, closer is not None)
