"""What a check may hold."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from typing import Final

from codereward.harnesses.python.checks.evaluation import parsed
from codereward.harnesses.python.checks.known import BINARY, CONSTANTS, FUNCTIONS, KEYS, full_name, is_class

__all__ = ["can_evaluate", "is_check"]


def can_evaluate(
    node: ast.expr,
    value: Callable[[ast.expr], bool],
    function: Callable[[ast.expr], str | None],
    given: Container[ast.AST] = (),
) -> bool:
    """Whether checks may hold an expression.

    Args:
        node: The expression.
        value: Whether a name or an attribute stands for a value that the check will know.
        function: The full name of a function that checks know; `None`: they do not know it.
        given: Expressions inside that the check will be given the values of.
    """
    return _Scope(value, function, given).allows(node, frozenset())


def is_check(text: str, questions: int) -> bool:
    """Whether a text is a check of so many observed values, as `holds` evaluates it."""
    observed = {f"_{number}" for number in range(questions)}
    return can_evaluate(
        parsed(text),
        lambda node: full_name(node) in observed or full_name(node) in CONSTANTS,
        lambda node: name if (name := full_name(node)) in FUNCTIONS or name == "isinstance" else None,
    )


class _Scope:
    """Which expressions can be evaluated.

    Args:
        value: As for `can_evaluate`.
        function: As for `can_evaluate`.
        given: As for `can_evaluate`.
    """

    def __init__(
        self,
        value: Callable[[ast.expr], bool],
        function: Callable[[ast.expr], str | None],
        given: Container[ast.AST],
    ) -> None:
        self.value = value
        self.function = function
        self.given = given

    def allows(self, node: ast.AST, bound: frozenset[str]) -> bool:
        if node in self.given:
            return True
        if isinstance(node, (ast.Name, ast.Attribute)):
            return (isinstance(node, ast.Name) and node.id in bound) or self.value(node)
        if isinstance(node, ast.Call):
            return self._call(node, bound)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            return self._comprehension(node, bound)
        return (
            isinstance(node, _PLAIN)
            and not _is_unknown(node)
            and all(
                self.allows(child, bound)
                for child in ast.iter_child_nodes(node)
                if not isinstance(child, (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context))
            )
        )

    def _call(self, node: ast.Call, bound: frozenset[str]) -> bool:
        name = self.function(node.func)
        if name is None or full_name(node.func) in bound:
            return False
        options = [one for one in node.keywords if one.arg != "key"]
        keys = [one.value for one in node.keywords if one.arg == "key"]
        if not all(isinstance(key, ast.Name) and key.id in KEYS for key in keys):
            return False
        if any(one.arg is None for one in options):
            return False
        given = [*node.args, *(one.value for one in options)]
        if name == "isinstance":
            return len(given) == 2 and self.allows(given[0], bound) and is_class(given[1])  # noqa: PLR2004
        return all(self.allows(one, bound) for one in given)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, bound: frozenset[str]
    ) -> bool:
        for loop in node.generators:
            if loop.is_async or not self.allows(loop.iter, bound):
                return False
            bound |= {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
            if not _is_target(loop.target) or not all(self.allows(test, bound) for test in loop.ifs):
                return False
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return all(self.allows(one, bound) for one in results)


_PLAIN: Final = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp,
    ast.IfExp, ast.Subscript, ast.Slice,
)  # fmt: skip


def _is_unknown(node: ast.AST) -> bool:
    """Whether a node has a form that checks do not evaluate, though others of its type they do."""
    if isinstance(node, ast.Dict):
        return None in node.keys
    if isinstance(node, ast.BinOp):
        formats = isinstance(node.left, ast.Constant) and isinstance(node.left.value, (str, bytes))
        return type(node.op) not in BINARY or (isinstance(node.op, ast.Mod) and formats)
    return False


def _is_target(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_target, node.elts))
    return isinstance(node, ast.Name)
