"""Evaluating checks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from typing import Any, Final

from codereward.harnesses.python.checks.known import (
    BINARY,
    CLASSES,
    COMPARE,
    CONSTANTS,
    FUNCTIONS,
    UNARY,
    CheckError,
    dict_of,
    full_name,
    items_of,
    set_of,
)
from codereward.model import MISSING
from codereward.values import UNEQUAL
from codereward.values.hashing import refuse_colliding
from codereward.values.standins import Iterated, Raised

__all__ = ["holds", "parsed"]

MAX_STEPS: Final = 1_000_000
"""What one check may cost: a step for each operation, and more for those on long values."""


def holds(observed: object, check: object) -> bool:
    """Tell whether the observed values pass a check.

    Args:
        observed: The list of values that the check's questions brought.
        check: Its text.
    """
    if not isinstance(observed, list) or not isinstance(check, str):
        return False
    try:
        return bool(_Evaluation(observed).value(parsed(check), {}))
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, MemoryError):
        return False  # as the assert itself would have failed with an error


@lru_cache(maxsize=1024)
def parsed(check: str) -> ast.expr:
    """A check's expression, with long data in it ready for use."""
    return _Folding().visit(ast.parse(f"({check}\n)", mode="eval").body)  # type: ignore[no-any-return]


class _Folding(ast.NodeTransformer):
    """Makes one constant of a display of constants: an expected list can be long, and is used often."""

    def visit(self, node: ast.AST) -> Any:
        self.generic_visit(node)
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        if not isinstance(node, _FOLDED) or not all(isinstance(part, ast.Constant) for part in parts):
            return node
        try:
            return ast.Constant(_Evaluation(()).value(node, {}))
        except (ValueError, TypeError):
            return node


_FOLDED: Final = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp)


class _Evaluation:
    """One evaluation of a check.

    Args:
        observed: The values of `_0`, `_1`, ….
    """

    def __init__(self, observed: Sequence[object]) -> None:
        self.observed = observed
        self.steps = 0

    def value(self, node: ast.AST, names: Mapping[str, Any]) -> Any:
        """The value of an expression.

        Raises:
            CheckError: It cannot be evaluated here, or costs too much.
            Exception: What its operations raise on data that does not fit.
        """
        self.spend()
        evaluate = getattr(self, "_" + type(node).__name__.lower(), None)
        if evaluate is None:
            msg = f"a check cannot hold a {type(node).__name__}"
            raise CheckError(msg)
        return evaluate(node, names)

    def spend(self, *looked_at: object) -> None:
        """Count what looking at values costs."""
        self.steps += 1 + sum(map(_size, looked_at))
        if self.steps > MAX_STEPS:
            msg = "the check takes too long"
            raise CheckError(msg)

    def _values(self, nodes: Iterable[ast.AST], names: Mapping[str, Any]) -> list[Any]:
        return [self.value(node, names) for node in nodes]

    def _constant(self, node: ast.Constant, _: Mapping[str, Any]) -> Any:
        return node.value

    def _name(self, node: ast.Name, names: Mapping[str, Any]) -> Any:
        if node.id in names:
            return names[node.id]
        value = self.observed[int(node.id.removeprefix("_"))]
        if value is MISSING or value is UNEQUAL or isinstance(value, Raised):
            msg = f"there is no value: {value}"
            raise CheckError(msg)
        return value

    def _attribute(self, node: ast.Attribute, _: Mapping[str, Any]) -> Any:
        return CONSTANTS[full_name(node) or ""]

    def _list(self, node: ast.List, names: Mapping[str, Any]) -> list[Any]:
        return self._values(node.elts, names)

    def _tuple(self, node: ast.Tuple, names: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(self._values(node.elts, names))

    def _set(self, node: ast.Set, names: Mapping[str, Any]) -> set[Any]:
        return set_of(self._values(node.elts, names))

    def _dict(self, node: ast.Dict, names: Mapping[str, Any]) -> dict[Any, Any]:
        if None in node.keys:
            msg = "a check cannot unpack a dict"
            raise CheckError(msg)
        keys = self._values((key for key in node.keys if key is not None), names)
        refuse_colliding(keys)
        return dict(zip(keys, self._values(node.values, names), strict=True))

    def _compare(self, node: ast.Compare, names: Mapping[str, Any]) -> Any:
        left, result = self.value(node.left, names), True
        for operation, operand in zip(node.ops, node.comparators, strict=True):
            right = self.value(operand, names)
            self.spend(left, right)
            result = COMPARE[type(operation)](left, right)
            if not result:
                break
            left = right
        return result

    def _boolop(self, node: ast.BoolOp, names: Mapping[str, Any]) -> Any:
        stop = isinstance(node.op, ast.Or)
        value: Any = None
        for one in node.values:
            value = self.value(one, names)
            if bool(value) is stop:
                break
        return value

    def _unaryop(self, node: ast.UnaryOp, names: Mapping[str, Any]) -> Any:
        return UNARY[type(node.op)](self.value(node.operand, names))

    def _binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self._values((node.left, node.right), names)
        self.spend(left, right)
        return BINARY[type(node.op)](left, right)

    def _ifexp(self, node: ast.IfExp, names: Mapping[str, Any]) -> Any:
        return self.value(node.body if self.value(node.test, names) else node.orelse, names)

    def _subscript(self, node: ast.Subscript, names: Mapping[str, Any]) -> Any:
        return self.value(node.value, names)[self.value(node.slice, names)]

    def _slice(self, node: ast.Slice, names: Mapping[str, Any]) -> slice:
        return slice(*(part and self.value(part, names) for part in (node.lower, node.upper, node.step)))

    def _call(self, node: ast.Call, names: Mapping[str, Any]) -> Any:
        name = full_name(node.func)
        if name == "isinstance":
            return isinstance(self.value(node.args[0], names), _classes(node.args[1]))
        function = FUNCTIONS[name or ""]
        given = self._values(node.args, names)
        options = {one.arg or "": self._option(one, names) for one in node.keywords}
        self.spend(*given)
        return function(*given, **options)

    def _option(self, option: ast.keyword, names: Mapping[str, Any]) -> Any:
        if option.arg == "key" and isinstance(option.value, ast.Name):
            return FUNCTIONS[option.value.id]
        return self.value(option.value, names)

    def _listcomp(self, node: ast.ListComp, names: Mapping[str, Any]) -> list[Any]:
        return [self.value(node.elt, bound) for bound in self._loops(node.generators, names)]

    def _generatorexp(self, node: ast.GeneratorExp, names: Mapping[str, Any]) -> Any:
        return (self.value(node.elt, bound) for bound in self._loops(node.generators, names))

    def _setcomp(self, node: ast.SetComp, names: Mapping[str, Any]) -> set[Any]:
        return set_of([self.value(node.elt, bound) for bound in self._loops(node.generators, names)])

    def _dictcomp(self, node: ast.DictComp, names: Mapping[str, Any]) -> dict[Any, Any]:
        bounds = self._loops(node.generators, names)
        return dict_of([(self.value(node.key, one), self.value(node.value, one)) for one in bounds])

    def _loops(
        self, loops: Sequence[ast.comprehension], names: Mapping[str, Any]
    ) -> Iterable[Mapping[str, Any]]:
        if not loops:
            yield names
            return
        for item in self.value(loops[0].iter, names):
            self.spend()
            bound = {**names, **_bound(loops[0].target, item)}
            if all(self.value(test, bound) for test in loops[0].ifs):
                yield from self._loops(loops[1:], bound)


def _size(value: object) -> int:
    """The steps that looking at a value costs: a step of ours takes as long as twenty items do."""
    if isinstance(value, Iterated):
        return len(value.items) // 20
    if isinstance(value, (str, bytes)):
        return len(value) // 2000
    return len(value) // 20 if isinstance(value, Sized) and not isinstance(value, range) else 0


def _bound(target: ast.expr, item: Any) -> dict[str, Any]:
    """The names that a loop's target takes from an item."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if not isinstance(target, (ast.Tuple, ast.List)):
        msg = f"a check cannot assign to a {type(target).__name__}"
        raise CheckError(msg)
    names: dict[str, Any] = {}
    for part, one in zip(target.elts, items_of(item), strict=True):
        names |= _bound(part, one)
    return names


def _classes(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_classes(one) for one in node.elts)
    return CLASSES[full_name(node) or ""]
