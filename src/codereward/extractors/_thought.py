"""Sections in which a model thinks aloud: what stands there is not its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Thought", "find_thoughts"]

_TAG: Final = (
    r"<(?P<xml>/?)(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad)>"
    r"|\[(?P<bracket>/?)THINK\]"
    r"|◁(?P<kimi>/?)think▷"
    r"|<\|(?P<word>begin|end)_of_thought\|>"
    r"|<\|channel\|>(?P<channel>analysis|final)<\|message\|>"
)
_GATE: Final = re.compile(
    r"<(?:/?(?:seed:)?(?:think|thought|reasoning|reflection|scratchpad)|\|(?:begin_of|end_of|channel))", re.I
)
_OTHER_GATES: Final = ("THINK]", "think▷")
_TOKEN: Final = re.compile(
    _TAG + r"|^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n`]*)$",
    re.I | re.M,
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
    if not _GATE.search(text) and not any(gate in text for gate in _OTHER_GATES):
        return _NONE
    reader = _Reader(text)
    for token in _TOKEN.finditer(text):
        reader.read(token)
    return reader.finish()


class _Reader:
    """Follows a text tag by tag and fence by fence."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[tuple[int, int]] = []
        self.opened: int | None = None
        self.fence = ""

    def read(self, token: re.Match[str]) -> None:
        if token["fence"]:
            self._read_fence(token["fence"], token["info"].strip())
        elif _opens(token):
            self._open(token)
        else:
            self._close(token)

    def finish(self) -> Thought:
        if self.opened is None:
            return Thought(self.spans)
        return Thought([*self.spans, (self.opened, len(self.text))], closed=False)

    def _read_fence(self, run: str, info: str) -> None:
        if self.opened is not None:
            return
        if not self.fence:
            self.fence = run
        elif run.startswith(self.fence) and not info:
            self.fence = ""

    def _open(self, token: re.Match[str]) -> None:
        if self.opened is None and not self.fence and not self._quoted(token, any):
            self.opened = token.start()

    def _close(self, token: re.Match[str]) -> None:
        if self.opened is not None:
            if not self._quoted(token, all):
                self._end(self.opened, token.end())
        elif self._ends_unopened(token):
            self.spans.clear()
            self._end(0, token.end())

    def _end(self, start: int, end: int) -> None:
        self.spans.append((start, end))
        self.opened, self.fence = None, ""

    def _ends_unopened(self, token: re.Match[str]) -> bool:
        """In code the tag has to stand at the start of a line: elsewhere it is a string's content."""
        if self._quoted(token, any):
            return False
        return not self.fence or self.text.endswith("\n", 0, token.start())

    def _quoted(self, token: re.Match[str], how: type[any] | type[all]) -> bool:
        left = self.text.endswith(_QUOTES, 0, token.start())
        return how((left, self.text.startswith(_QUOTES, token.end())))


def _opens(token: re.Match[str]) -> bool:
    if token["word"] or token["channel"]:
        return (token["word"] or token["channel"]).lower() in {"begin", "analysis"}
    return "/" not in (token["xml"], token["bracket"], token["kimi"])
