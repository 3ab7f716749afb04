"""Source text, and where in it its syntax tree's nodes stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import accumulate

__all__ = ["Source"]


class Source:
    """A text that parses.

    Args:
        text: With any line ends.

    Raises:
        SyntaxError: It does not parse.
    """

    def __init__(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        lines = self._bytes.split(b"\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self._bytes[self._start(node) : self._end(node)].decode()

    def spliced(self, node: ast.expr, replaced: Iterable[tuple[ast.expr, str]]) -> str:
        """The text of a node with other texts in place of some nodes in it, which do not overlap."""
        parts, at = [], self._start(node)
        for one, text in sorted(replaced, key=lambda pair: self._start(pair[0])):
            parts += [self._bytes[at : self._start(one)], f" {text} ".encode()]
            at = self._end(one)
        return b"".join([*parts, self._bytes[at : self._end(node)]]).decode().strip()

    def _start(self, node: ast.expr | ast.stmt) -> int:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        if decorators:  # they stand before the node; the sign @ before them
            return self._starts[decorators[0].lineno - 1]
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        if node.end_lineno is None or node.end_col_offset is None:
            raise AssertionError
        return self._starts[node.end_lineno - 1] + node.end_col_offset
