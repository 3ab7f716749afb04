"""The code of a completion is in its fenced blocks; this says in which.

```text
completion ─▶ page (thoughts and chat marks told from the answer)
               ├─▶ blocks as CommonMark sees them ─┐
               ├─▶ blocks as they were meant ──────┼─▶ the one that `which` asks for
               └─▶ code without a fence ───────────┘
```
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, get_args

from codereward.extractors._block import Block, speaks, with_inner_tag
from codereward.extractors._commonmark import commonmark_blocks
from codereward.extractors._definitions import seems_to_define
from codereward.extractors._lenient import fence_start, has_fence_line, lenient_blocks
from codereward.extractors._page import Page, read_page
from codereward.extractors._unfenced import bare_code, cut_at_mark, has_prose_around, marked_blocks, whole
from codereward.model import Extraction, Wanted
from codereward.protocols import Extractor

__all__ = ["FencedExtractor", "Which"]

Which = Literal["entry_point", "first", "last", "longest"]
"""Which of several blocks counts."""

_POLICIES: Final = get_args(Which)


class FencedExtractor(Extractor):
    """Finds the fenced block that holds the answer.

    Thinking sections never count: `<think>…</think>` and its like, one that never ends, and all
    before a closing tag whose opening one was in the prompt.

    `which="entry_point"` takes the first block that defines `Wanted.entry_point`, whatever its
    tag; where a row names none, or no block defines it, it goes on as `first`. `first`, `last` and
    `longest` look at the blocks tagged for the language, and at all blocks when there is none.
    Without any block the text itself is taken, if it is a program: `Wanted.parses` says so, or it
    defines the entry point where nobody can tell; prose before and after is left out.

    `strict=True` takes nothing but closed blocks tagged for the language, exactly as CommonMark
    sees them, and never the text itself: for those who want the format itself learnt.

    Args:
        which: The policy.
        strict: Whether only well-formed blocks count.
        tags: Fence tags that count as the language's instead of `Wanted.tags`, in any case.

    Raises:
        ValueError: An argument is not one of the above.
    """

    def __init__(
        self,
        which: Which = "entry_point",
        strict: bool = False,  # noqa: FBT001, FBT002 - configuration, written by name
        tags: Sequence[str] | None = None,
    ) -> None:
        if which not in _POLICIES:
            raise ValueError(f"which must be one of {', '.join(_POLICIES)}, not {which!r}")
        if not isinstance(strict, bool):
            raise ValueError(f"strict must be True or False, not {strict!r}")  # noqa: TRY004 - one kind of error
        self._which: Which = which
        self._strict = strict
        self._tags = None if tags is None else _checked(tags)

    def __repr__(self) -> str:
        return f"FencedExtractor(which={self._which!r}, strict={self._strict!r}, tags={self._tags!r})"

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        """Find the code that `wanted` asks for in `text`. Never raises, whatever the text."""
        search = _Search(read_page(text), wanted, wanted.tags if self._tags is None else self._tags)
        if self._strict:
            return search.strict(self._which)
        if self._which == "entry_point" and wanted.entry_point:
            return search.entry_point(wanted.entry_point)
        return search.by_position(self._which)


def _checked(tags: Sequence[str]) -> tuple[str, ...]:
    given: list[object] = [] if isinstance(tags, str) else list(tags)
    if not given or not all(isinstance(tag, str) and tag.strip() for tag in given):
        raise ValueError(f'tags must be a list of fence tags, as ["python", "py"], not {tags!r}')
    return tuple(tag.strip().lower() for tag in tags)


class _Search:
    """One completion being searched for what one row wants."""

    def __init__(self, page: Page, wanted: Wanted, tags: Collection[str]) -> None:
        self.page = page
        self.wanted = wanted
        self.tags = tags
        self.read: list[Block] = []
        self.unread = commonmark_blocks(page.view, page.text) if self._has_fence() else iter(())

    # ---------------------------------------------------------------- policies

    def entry_point(self, name: str) -> Extraction:
        """The first code that defines `name`; failing that, the first there is."""
        block = self._quick(name) or self._definer(name, self._blocks())
        if block is not None:
            return self._found(block, "entry_point")
        block = self._definer(name, marked_blocks(self.page))
        if block is not None:
            return self._found(block, "marked")
        return self._before_fence(name) or self.by_position("first")

    def by_position(self, which: Which) -> Extraction:
        """The block that `which` asks for, else the text itself."""
        blocks = [block for block in self._blocks() if block.code.strip()]
        if blocks:
            tagged = [block for block in blocks if speaks(block.tag, self.tags)]
            return self._found(_pick(which, tagged or blocks), _rule(which))
        marked = [block for block in marked_blocks(self.page) if speaks(block.tag, (*self.tags, "code"))]
        if marked:
            return self._found(_pick(which, marked), "marked")
        return self._unfenced()

    def strict(self, which: Which) -> Extraction:
        """As `which` says, among well-formed blocks only."""
        blocks = [block for block in self._true_blocks() if self._well_formed(block)]
        if not blocks:
            return Extraction(None, self._reason(f"no closed {self.wanted.language} block"))
        name = self.wanted.entry_point
        if which == "entry_point" and name:
            block = self._definer(name, blocks)
            if block is not None:
                return self._found(block, "entry_point")
        return self._found(_pick(which, blocks), _rule(which))

    # ---------------------------------------------------------------- candidates

    def _true_blocks(self) -> Iterator[Block]:
        """Blocks in CommonMark's reading, which goes on where it was left."""
        yield from self.read
        for block in self.unread:
            self.read.append(block)
            yield block

    def _blocks(self) -> list[Block]:
        """All blocks: CommonMark's reading, unless it is doubtful."""
        if not self._has_fence():
            return []
        blocks = list(self._true_blocks())
        if blocks and all(map(self._sound, blocks)):
            return blocks
        meant = list(lenient_blocks(self.page.view, self.page.text))
        return meant or blocks

    def _has_fence(self) -> bool:
        return "```" in self.page.view or "~~~" in self.page.view

    def _sound(self, block: Block) -> bool:
        """Whether nothing speaks against CommonMark's reading of `block`."""
        if has_fence_line(block.code):
            return self._parses(block.code) is True
        return block.closed and not (block.indented and self._parses(block.code) is False)

    def _quick(self, name: str) -> Block | None:
        """The first block that defines `name`, where the usual reading leaves no doubt."""
        for block in self._true_blocks():
            if self._defines(block.code, name):
                return block if self._sound(block) else None
        return None

    def _definer(self, name: str, blocks: Iterable[Block]) -> Block | None:
        return next((block for block in blocks if self._defines(block.code, name)), None)

    def _before_fence(self, name: str) -> Extraction | None:
        """Code that ends at a fence never opened: the prompt had opened it."""
        end = fence_start(self.page.view) if self._has_fence() else None
        block = bare_code(self.page.text, 0, end) if end else None
        if block is None or not self._defines(block.code, name) or self._parses(block.code) is False:
            return None
        return self._found(block, "before_fence")

    def _unfenced(self) -> Extraction:
        """The text itself, if it is a program; else the part of it that is."""
        block = whole(self.page)
        if block.code.strip():
            if self._is_program(block):
                return self._found(block, "whole_text")
            part = bare_code(self.page.text, block.start, block.end)
            if part is not None and self._is_program(part):
                return self._found(part, "part_of_text")
        return Extraction(None, self._reason("no fenced block"))

    # ---------------------------------------------------------------- questions

    def _defines(self, code: str, name: str) -> bool:
        if name not in code:
            return False
        told = self.wanted.defines(code, name) if self.wanted.defines else None
        return seems_to_define(code, name) if told is None else told

    def _parses(self, code: str) -> bool | None:
        return self.wanted.parses(code) if self.wanted.parses else None

    def _is_program(self, block: Block) -> bool:
        """Whether unfenced code is a program; where nobody can tell, whether it looks like one."""
        parses = self._parses(block.code)
        if parses is not None:
            return parses
        name = self.wanted.entry_point
        return name is not None and self._defines(block.code, name) and not has_prose_around(block.code)

    def _well_formed(self, block: Block) -> bool:
        return block.closed and speaks(block.tag, self.tags) and bool(block.code.strip())

    # ---------------------------------------------------------------- answers

    def _found(self, block: Block, how: str) -> Extraction:
        block = cut_at_mark(block, self.page) if self.page.marks else block
        if block.tag is None:
            block = with_inner_tag(block, self.tags)
        if not block.code.strip():
            return Extraction(None, self._reason("empty block"))
        return Extraction(block.code, how, (block.start, block.end), block.tag, block.closed)

    def _reason(self, otherwise: str) -> str:
        if not self.page.thought.closed:
            return "think section never closed"
        return otherwise if self.page.text.strip() else "empty completion"


def _rule(which: Which) -> str:
    return "first" if which == "entry_point" else which


def _pick(which: Which, blocks: Sequence[Block]) -> Block:
    if which == "last":
        return blocks[-1]
    if which == "longest":
        return max(blocks, key=lambda block: len(block.code))
    return blocks[0]
