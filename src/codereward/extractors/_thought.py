"""Sections in which a model thinks aloud: what stands there is not its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Thought", "find_thoughts"]

_ANGLED: Final = (
    r"<(?:(?P<xml>/?)(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)>"
    r"|\|(?P<word>begin|end)_of_thought\|>"
    r"|\|channel\|>(?P<channel>analysis|final)<\|message\|>)"
)
# A pattern that starts with one certain character is searched for several times faster.
_TAG: Final = re.compile(_ANGLED, re.IGNORECASE)
_ANY_TAG: Final = re.compile(_ANGLED + r"|\[(?P<bracket>/?)THINK\]|◁(?P<kimi>/?)think▷", re.IGNORECASE)
_FENCE: Final = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<run>`{3,}+|~{3,}+)(?P<info>[^\n`]*)$", re.MULTILINE
)
_QUOTES: Final = ("'", '"', "`", "\\")


@dataclass(frozen=True, slots=True)
class Thought:
    """The thinking in a completion."""

    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where the sections are, their tags included, in order."""
    closed: bool = True
    """Whether the last section ended."""


_NONE: Final = Thought()


def find_thoughts(text: str) -> Thought:
    """Find the thinking sections of `text`.

    A section starts with an opening tag outside code, and ends with the next closing tag or with
    the text. A closing tag without an opening one ends a section that the prompt had opened:
    everything before it was thought.
    """
    pattern = _ANY_TAG if "THINK]" in text or "think▷" in text else _TAG
    if not pattern.search(text):
        return _NONE
    reader = _Reader(text)
    for tag in pattern.finditer(text):
        reader.read(tag)
    return reader.finish()


class _Reader:
    """Follows a text tag by tag, and its fences where they matter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[tuple[int, int]] = []
        self.opened: int | None = None
        self.seen = 0
        """Up to where the fences were followed."""
        self.fence = ""

    def read(self, tag: re.Match[str]) -> None:
        if self.opened is not None:
            if not _opens(tag) and not self._quoted(tag):
                self._end(self.opened, tag.end())
        elif _opens(tag):
            if not self._quoted_left(tag) and not self._in_fence(tag.start()):
                self.opened = tag.start()
        elif self._ends_unopened(tag):
            self.spans.clear()
            self._end(0, tag.end())

    def finish(self) -> Thought:
        if self.opened is None:
            return Thought(self.spans)
        return Thought([*self.spans, (self.opened, len(self.text))], closed=False)

    def _end(self, start: int, end: int) -> None:
        self.spans.append((start, end))
        self.opened, self.seen, self.fence = None, end, ""

    def _ends_unopened(self, tag: re.Match[str]) -> bool:
        """In code the tag has to start or end a line: elsewhere it is a string's content."""
        if self._quoted(tag):
            return False
        start, end = tag.span()
        at_edge = self.text.endswith("\n", 0, start) or self.text.startswith(("\n", "\r"), end)
        return at_edge or not self._in_fence(start)

    def _in_fence(self, position: int) -> bool:
        """Whether `position` (never lower than before) stands in a fenced block of the answer."""
        for found in _FENCE.finditer(self.text, self.seen, position):
            if not self.fence:
                self.fence = found["run"]
            elif found["run"].startswith(self.fence) and not found["info"].strip():
                self.fence = ""
        self.seen = position
        return bool(self.fence)

    def _quoted_left(self, tag: re.Match[str]) -> bool:
        at = tag.start()
        return self.text.endswith(_QUOTES, 0, at) and not self.text.endswith("```", 0, at)

    def _quoted(self, tag: re.Match[str]) -> bool:
        at = tag.end()
        right = self.text.startswith(_QUOTES, at) and not self.text.startswith("```", at)
        return right and self._quoted_left(tag)


def _opens(tag: re.Match[str]) -> bool:
    groups = tag.groupdict("")
    if word := groups["word"] or groups["channel"]:
        return word.lower() in {"begin", "analysis"}
    return not (groups["xml"] or groups.get("bracket") or groups.get("kimi"))
