"""What of a completion is the answer: thoughts blanked out, chat marks told from text.

Everything is blanked in place, so that a position in a page is a position in the completion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from codereward.extractors._thought import Thought, find_thoughts

__all__ = ["Page", "read_page"]

# Marks of the common chat templates. A special token cannot be told from the same characters in
# a program that handles chat templates, except by its place: those stand in quotes.
_MARK: Final = re.compile(
    r"""<(?:[|\uff5c][\w▁ ]{1,40}[|\uff5c]>      # <|im_end|>, <|eot_id|>, or with the wide bar U+FF5C
         |(?:start|end)_of_turn>|[be]os>|EOT>|EOD>
         |/?s>(?=[ \t\r]*(?:\n|\Z)))     # a strike-through tag elsewhere""",
    re.VERBOSE,
)
_INSTRUCTION: Final = re.compile(r"\[/?INST\]")
_BLANKS: Final = re.compile(r"[ \t]*")
_QUOTES: Final = ("'", '"', "\\")


@dataclass(frozen=True, slots=True)
class Page:
    """A completion, read for its answer."""

    text: str
    """The completion with thoughts blanked out; as long as the completion."""
    view: str
    """`text` with chat marks blanked out too; as long as the completion. Shows where fences are."""
    marks: tuple[int, ...]
    """Where the chat marks start."""
    thought: Thought
    """What was blanked out as thought."""


def read_page(completion: str) -> Page:
    """Blank out the thoughts of `completion`, and find its chat marks."""
    thought = find_thoughts(completion)
    text = _blank(completion, thought.spans) if thought.spans else completion
    spans = _mark_spans(text)
    view = _blank(text, spans) if spans else text
    return Page(text, view, tuple(start for start, _ in spans), thought)


def _mark_spans(text: str) -> list[tuple[int, int]]:
    spans = [found.span() for found in _MARK.finditer(text)]
    if "INST]" in text:
        spans = sorted(spans + [found.span() for found in _INSTRUCTION.finditer(text)])
    return [span for span in spans if not _quoted(text, *span)]


def _quoted(text: str, start: int, end: int) -> bool:
    return text.endswith(_QUOTES, 0, start) or text.startswith(_QUOTES, end)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with `spans` (in order) and the blanks after them turned into line ends and blanks."""
    parts, done = [], 0
    for start, stop in spans:
        blanks = _BLANKS.match(text, stop)
        end = blanks.end() if blanks else stop
        parts += [text[done:start], "\n", " " * (end - start - 2), "\n"]
        done = end
    parts.append(text[done:])
    return "".join(parts)
