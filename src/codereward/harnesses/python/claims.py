"""Splitting one assert: what the sandbox is asked, and the check that stays on the host."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from codereward.harnesses.python.checks import full_name, is_check, is_class
from codereward.harnesses.python.scope import Scope, free_names, nodes_in
from codereward.harnesses.python.source import Source

__all__ = ["Claim", "Unsplittable", "constant_text", "split_claim"]


@dataclass(frozen=True, slots=True)
class Claim:
    """An assert that has been split."""

    asks: tuple[tuple[str, ...], ...]
    """Sources of the expressions that the sandbox is asked for; those of a group are compared together.

    Groups after the first may not be needed; the first may be empty.
    """
    check: str
    """What has to hold of their values, `_0`, `_1`, …, in order."""
    names: frozenset[str]
    """Names that the questions read."""
    shared: bool
    """Whether the sandbox gets to know what is expected, or decides by code that is not the completion's."""


class Unsplittable(ValueError):  # noqa: N818 - it says what the assert is
    """An assert has to be asked as a whole."""


LEAKY: Final = (ast.NamedExpr, ast.Lambda, ast.Yield, ast.YieldFrom, ast.Await)
"""What binds names, or needs more than an expression, at the level of the check."""
DECISIONS: Final = (ast.Compare, ast.BoolOp, ast.Not)
LOOPS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
METHODS: Final = frozenset(
    name
    for one in (str, bytes, list, dict, set, tuple, int, float)
    for name in dir(one)
    if not name.startswith("_")
)
"""Methods of data: `f(x).startswith("ab")` decides about the data in the sandbox."""


def split_claim(test: ast.expr, source: Source, scope: Scope) -> Claim:
    """Split the test of an assert.

    Args:
        test: The expression after `assert`.
        source: The text that it was parsed from.
        scope: What the names in it stand for.

    Raises:
        Unsplittable: It cannot be taken apart safely.
    """
    splitting = _Splitting(source, scope)
    splitting.visit(test, truth=True)
    first, *others = map(tuple, splitting.groups)
    asks = (first, *filter(None, others)) if splitting.count else ()
    check = source.spliced(test, splitting.replaced)
    if asks and not is_check(check, splitting.count):
        raise Unsplittable
    return Claim(asks, check, frozenset(splitting.names), splitting.shared)


def constant_text(value: ast.expr, source: Source, scope: Scope) -> str | None:
    """An expression as checks can hold it; `None` when the host does not know its value."""
    if scope.needs_sandbox(value) or not scope.evaluable(value):
        return None
    splitting = _Splitting(source, scope)
    splitting.visit(value)
    return source.spliced(value, splitting.replaced)


class _Splitting:
    """Goes down an expression as far as the host can do its part of the work."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self.groups: list[list[str]] = [[]]
        self.replaced: list[tuple[ast.expr, str]] = []
        self.names: set[str] = set()
        self.count = 0
        self.shared = False

    def visit(self, node: ast.expr, *, truth: bool = False) -> None:
        """Settle an expression, or what is in it.

        Args:
            node: The expression.
            truth: Whether its truth value decides, and nothing it would be compared with.
        """
        if isinstance(node, LEAKY):
            raise Unsplittable
        if not self.scope.needs_sandbox(node):
            self._settle(node)
            return
        match node:
            case ast.BoolOp() | ast.IfExp():
                self._branches(node, truth=truth)
            case ast.UnaryOp():
                self.visit(node.operand, truth=truth and isinstance(node.op, ast.Not))
            case ast.Compare():
                self._compare(node)
            case ast.BinOp():
                self._operation(node)
            case ast.Call():
                self._call(node, truth=truth)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                self._display(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._loop(node)
            case _:
                self._ask(node)

    def _each(self, *nodes: ast.expr) -> None:
        for node in nodes:
            self.visit(node)

    def _display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> None:
        if not isinstance(node, ast.Dict):
            self._each(*node.elts)
        elif None in node.keys:
            self._ask(node)
        else:
            self._each(*(key for key in node.keys if key is not None), *node.values)

    # ------------------------------------------------------------------ the host's part

    def _settle(self, node: ast.expr) -> None:
        """Leave to the host what it knows; what it cannot evaluate tells the sandbox an answer."""
        if self.scope.evaluable(node):
            self._write_out(node)
        else:
            self.shared = True
            self._ask(node)

    def _write_out(self, node: ast.AST, apart_from: ast.AST | None = None) -> None:
        """Put full names and the values of constants where the test has short names."""
        free = {id(name) for name in free_names(node)}
        pending = [node]
        while pending:
            one = pending.pop()
            if isinstance(one, ast.Attribute) or id(one) in free:
                self._write_out_name(one)
            elif one is not apart_from and not isinstance(one, ast.Constant):
                pending.extend(ast.iter_child_nodes(one))

    def _write_out_name(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name) and node.id in self.scope.constants:
            self.replaced.append((node, f"({self.scope.constants[node.id][0]})"))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            known = self.scope.known_name(node)
            if known is not None and known != full_name(node):
                self.replaced.append((node, known))

    def _branches(self, node: ast.BoolOp | ast.IfExp, *, truth: bool) -> None:
        parts = node.values if isinstance(node, ast.BoolOp) else [node.test, node.body, node.orelse]
        for part in parts:
            if part is not parts[0]:  # it may not be needed, and its values are taken down at a later time
                self.groups.append([])
            self.visit(part, truth=truth or (isinstance(node, ast.IfExp) and part is node.test))

    def _compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        asked = [one for one in operands if self.scope.needs_sandbox(one)]
        if any(isinstance(operation, (ast.Is, ast.IsNot)) for operation in node.ops) and (
            len(asked) > 1 or not all(isinstance(one, ast.Constant) for one in operands if one not in asked)
        ):
            raise Unsplittable
        for operand in operands:
            if len(asked) == len(operands) and not any(
                isinstance(one, DECISIONS) for one in nodes_in(operand)
            ):
                self._ask(operand)  # no side is an answer
                self._judge(operand, truth=False)
            else:
                self.visit(operand)

    def _operation(self, node: ast.BinOp) -> None:
        if all(self.scope.needs_sandbox(side) for side in (node.left, node.right)):
            self._ask(node)
        else:
            self._each(node.left, node.right)

    def _loop(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        """Go through on the host what the sandbox gives, or ask for what the loop makes."""
        first = node.generators[0].iter
        if self._loops_on_host(node):
            self.visit(first)
            self._write_out(node, first)
        else:
            self.shared |= any(isinstance(one, DECISIONS) for one in nodes_in(node))
            self._ask(node)

    def _loops_on_host(self, node: ast.expr) -> bool:
        if not isinstance(node, LOOPS):
            return True
        first = node.generators[0].iter
        return not any(isinstance(one, LEAKY) for one in nodes_in(node)) and self.scope.evaluable(node, first)

    # ------------------------------------------------------------------ calls

    def _call(self, node: ast.Call, *, truth: bool) -> None:
        name = self.scope.function(node.func)
        if name is None:
            self._ask(node)
            self._judge(node, truth=truth)
        elif name == "isinstance":
            self._isinstance(node)
        elif self._is_conversion(node) or not self._can_call(node):
            self.shared |= any(isinstance(one, DECISIONS) for one in nodes_in(node))
            self._ask(node)
        else:
            self._write_out(node.func)
            self._each(*node.args, *(option.value for option in node.keywords if option.arg != "key"))

    def _isinstance(self, node: ast.Call) -> None:
        if len(node.args) == 2 and not node.keywords and is_class(node.args[1]):  # noqa: PLR2004
            self.visit(node.args[0])
        else:
            self.shared = True
            self._ask(node)

    def _is_conversion(self, node: ast.expr) -> bool:
        """Whether it is a question, or a function of just one: `len(f(x))`, whatever `f(x)` is."""
        if not isinstance(node, ast.Call) or self.scope.function(node.func) is None:
            return isinstance(node, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
        return len(node.args) == 1 and not node.keywords and self._is_conversion(node.args[0])

    def _can_call(self, node: ast.Call) -> bool:
        """Whether the host can call a function with these arguments, once it has their values."""
        given = [*node.args, *(option.value for option in node.keywords if option.arg != "key")]
        return self.scope.evaluable(node, *given) and all(map(self._loops_on_host, given))

    def _judge(self, node: ast.expr, *, truth: bool) -> None:
        """Find out whether a question hands an answer, or the decision, to code in the sandbox."""
        if not isinstance(node, ast.Call):
            return
        given = [*node.args, *(option.value for option in node.keywords)]
        constants = [one for one in given if not self.scope.needs_sandbox(one)]
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and truth and given:
            self.shared = True
        root = root_name(node.func)
        if root is not None and self.scope.is_helper(root):
            self.shared |= truth or bool(constants) or not given

    # ------------------------------------------------------------------ the sandbox's part

    def _ask(self, node: ast.expr) -> None:
        if isinstance(node, (ast.GeneratorExp, ast.Starred)) or any(
            isinstance(one, LEAKY) for one in around(node)
        ):
            raise Unsplittable
        self.groups[-1].append(self.source.of(node))
        self.replaced.append((node, f"_{self.count}"))
        self.names |= {name.id for name in free_names(node)}
        self.count += 1


def around(node: ast.expr) -> list[ast.AST]:
    """What an expression holds, lambdas and what is in them apart: they are arguments."""
    return [one for one in nodes_in(node) if not isinstance(one, ast.Lambda)]


def root_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes, calls and items begins with."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
