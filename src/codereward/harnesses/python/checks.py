"""What is left of an assert when its questions are taken out, evaluated on the host.

A check is the text of a Python expression in which `_0`, `_1`, … stand for the observed values:
`_0 == 5`, `abs(_0 - 2.5) < 1e-6`. It is interpreted here, never run: it knows the names listed below
and nothing else, sees data of built-in types only, and its cost is bounded whatever was observed.
"""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import fractions
import math
import operator
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Sized
from functools import lru_cache
from typing import Any, Final

from codereward.model import MISSING
from codereward.values import UNEQUAL
from codereward.values.hashing import refuse_colliding
from codereward.values.standins import Iterated, Raised

__all__ = [
    "CLASSES",
    "CONSTANTS",
    "FUNCTIONS",
    "CheckError",
    "can_evaluate",
    "full_name",
    "holds",
    "is_check",
    "is_class",
]

MAX_STEPS: Final = 1_000_000
"""What one check may cost: a step for each operation and for each item it looks at."""
MAX_BITS: Final = 200_000
"""Size of integers."""
MAX_ITEMS: Final = 1_000_000
"""Length of lists and texts that a check makes."""


class CheckError(ValueError):
    """A check cannot be evaluated, or would cost too much."""


def holds(observed: object, check: object) -> bool:
    """Tell whether the observed values pass a check.

    Args:
        observed: The list of values that the check's questions brought.
        check: Its text.
    """
    if not isinstance(observed, list) or not isinstance(check, str):
        return False
    try:
        return bool(_Evaluation(observed).value(_parsed(check), {}))
    except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError, MemoryError):
        return False  # as the assert itself would have failed with an error


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
        _parsed(text),
        lambda node: full_name(node) in observed or full_name(node) in CONSTANTS,
        lambda node: name if (name := full_name(node)) in FUNCTIONS or name == "isinstance" else None,
    )


# --------------------------------------------------------------------------- what checks know


def _items(given: Any) -> list[Any]:
    """The items of something, which are not too many."""
    if isinstance(given, Sized) and len(given) > MAX_ITEMS:
        msg = f"more than {MAX_ITEMS} items"
        raise CheckError(msg)
    return list(given)


def _set(given: Iterable[Any] = ()) -> set[Any]:
    items = _items(given)
    refuse_colliding(items)
    return set(items)


def _frozenset(given: Iterable[Any] = ()) -> frozenset[Any]:
    return frozenset(_set(given))


def _counter(given: Any = ()) -> Counter[Any]:
    if not isinstance(given, Mapping):
        given = _items(given)
        refuse_colliding(given)
    return Counter(given)


def _dict(given: Any = (), **more: Any) -> dict[Any, Any]:
    pairs = given if isinstance(given, Mapping) else [tuple(_items(pair)) for pair in _items(given)]
    if not isinstance(pairs, Mapping):
        refuse_colliding(pair[0] for pair in pairs)
    return dict(pairs, **more)


def _sum(given: Iterable[Any], start: Any = 0) -> Any:
    items = _items(given)
    if isinstance(start, (list, tuple)) and len(items) > 1000:  # noqa: PLR2004 - the time is quadratic
        msg = "a sum of too many sequences"
        raise CheckError(msg)
    return sum(items, start)


def _factorial(number: int) -> int:
    if number > MAX_BITS // 20:
        msg = "a factorial too large"
        raise CheckError(msg)
    return math.factorial(number)


def _round(number: Any, digits: int | None = None) -> Any:
    if digits is not None and abs(digits) > MAX_BITS // 10:
        msg = "rounding to too many digits"
        raise CheckError(msg)
    return round(number) if digits is None else round(number, digits)


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if modulus is None and isinstance(base, int) and isinstance(exponent, int):
        _refuse_bits(base.bit_length() * max(exponent, 0))
    elif not all(isinstance(part, (int, float, complex)) for part in (base, exponent)):
        msg = "a power of something other than plain numbers"
        raise CheckError(msg)
    return pow(base, exponent, modulus)


def _text(value: object = "") -> str:
    if type(value) is int and value.bit_length() > 10_000:  # noqa: PLR2004 - where `str` begins to refuse
        return str(decimal.Decimal(value))
    return str(value)


def _listed(function: Callable[..., Iterable[Any]]) -> Callable[..., list[Any]]:
    """The function, but that it gives a list, made of things that end."""

    def listed(*given: Any, **options: Any) -> list[Any]:
        return list(
            function(*(_items(one) if isinstance(one, Iterable) else one for one in given), **options)
        )

    return listed


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but that it takes only iterables that are not too long."""

    def taking(*given: Any, **options: Any) -> Any:
        return function(*(_items(one) if isinstance(one, range) else one for one in given), **options)

    return taking


CLASSES: Final[Mapping[str, type]] = {
    one.__name__: one
    for one in (
        int, float, bool, str, bytes, bytearray, complex, list, tuple, set, frozenset, dict, range, object,
    )
}  # fmt: skip
"""What `isinstance` may ask for."""

FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": abs,
    "all": _taking(all),
    "any": _taking(any),
    "bool": bool,
    "bytes": lambda given=b"": bytes(_items(given) if not isinstance(given, bytes) else given),
    "chr": chr,
    "complex": complex,
    "dict": _dict,
    "divmod": divmod,
    "enumerate": _listed(enumerate),
    "float": float,
    "frozenset": _frozenset,
    "int": int,
    "len": len,
    "list": lambda given=(): _items(given),
    "max": _taking(max),
    "min": _taking(min),
    "ord": ord,
    "pow": _power,
    "range": range,
    "reversed": _listed(reversed),
    "round": _round,
    "set": _set,
    "sorted": _taking(sorted),
    "str": _text,
    "sum": _sum,
    "tuple": lambda given=(): tuple(_items(given)),
    "zip": _listed(zip),
    "collections.Counter": _counter,
    "collections.OrderedDict": lambda given=(): OrderedDict(_dict(given)),
    "collections.deque": lambda given=(): deque(_items(given)),
    "datetime.date": dt.date,
    "datetime.datetime": dt.datetime,
    "datetime.time": dt.time,
    "datetime.timedelta": dt.timedelta,
    "decimal.Decimal": lambda given=0: decimal.Decimal(given),
    "fractions.Fraction": fractions.Fraction,
    "math.factorial": _factorial,
    **{
        f"math.{name}": getattr(math, name)
        for name in (
            "acos", "asin", "atan", "atan2", "ceil", "copysign", "cos", "cosh", "degrees", "dist", "exp",
            "fabs", "floor", "fmod", "fsum", "gcd", "hypot", "isclose", "isfinite", "isinf", "isnan",
            "isqrt", "log", "log10", "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh",
            "trunc",
        )
    },
}  # fmt: skip
"""What checks may call, by full name. Pure, and bounded in what they cost."""

CONSTANTS: Final[Mapping[str, object]] = {
    "math.pi": math.pi,
    "math.e": math.e,
    "math.tau": math.tau,
    "math.inf": math.inf,
    "math.nan": math.nan,
}

KEYS: Final = ("abs", "len", "max", "min", "str", "sum")
"""Functions that may be given as `key=`."""


def _is(one: object, other: object) -> bool:
    """Identity, as far as data can have it: a small number is the same object everywhere."""
    return one is other or (type(one) is type(other) and isinstance(one, (int, str)) and one == other)


_COMPARE: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
    ast.Is: _is,
    ast.IsNot: lambda one, other: not _is(one, other),
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


def _multiply(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _refuse_bits(left.bit_length() + right.bit_length())
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, Sized) and isinstance(count, int) and len(sequence) * count > MAX_ITEMS:
            msg = f"more than {MAX_ITEMS} items"
            raise CheckError(msg)
    return left * right


def _modulo(left: Any, right: Any) -> Any:
    if isinstance(left, (str, bytes, bytearray)):
        msg = "text is not formatted here"
        raise CheckError(msg)
    return left % right


def _shift(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        _refuse_bits(left.bit_length() + max(right, 0))
    return left << right


def _refuse_bits(bits: int) -> None:
    if bits > MAX_BITS:
        msg = f"an integer of more than {MAX_BITS} bits"
        raise CheckError(msg)


_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _multiply,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


def full_name(node: ast.expr) -> str | None:
    """The dotted name that an expression is; `None` when it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = full_name(node.value)
        return f"{owner}.{node.attr}" if owner else None
    return None


@lru_cache(maxsize=1024)
def _parsed(check: str) -> ast.expr:
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


# --------------------------------------------------------------------------- what a check may hold


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
        return type(node.op) not in _BINARY or (isinstance(node.op, ast.Mod) and formats)
    return False


def is_class(node: ast.expr) -> bool:
    """Whether an expression is a class of `CLASSES`, or a tuple of them."""
    if isinstance(node, ast.Tuple):
        return all(map(is_class, node.elts))
    return isinstance(node, ast.Name) and node.id in CLASSES


def _is_target(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(map(_is_target, node.elts))
    return isinstance(node, ast.Name)


# --------------------------------------------------------------------------- evaluating


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
        self.steps += 1 + sum(
            len(one) for one in looked_at if isinstance(one, Sized) and not isinstance(one, str)
        )
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
        return _set(self._values(node.elts, names))

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
            result = _COMPARE[type(operation)](left, right)
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
        return _UNARY[type(node.op)](self.value(node.operand, names))

    def _binop(self, node: ast.BinOp, names: Mapping[str, Any]) -> Any:
        left, right = self._values((node.left, node.right), names)
        self.spend(left, right)
        return _BINARY[type(node.op)](left, right)

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
        return _set([self.value(node.elt, bound) for bound in self._loops(node.generators, names)])

    def _dictcomp(self, node: ast.DictComp, names: Mapping[str, Any]) -> dict[Any, Any]:
        bounds = self._loops(node.generators, names)
        return _dict([(self.value(node.key, one), self.value(node.value, one)) for one in bounds])

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
    """The steps that looking at a value costs."""
    if isinstance(value, Iterated):
        return len(value.items)
    if isinstance(value, (str, bytes)):
        return len(value) // 100
    return len(value) if isinstance(value, Sized) and not isinstance(value, range) else 0


def _bound(target: ast.expr, item: Any) -> dict[str, Any]:
    """The names that a loop's target takes from an item."""
    if isinstance(target, ast.Name):
        return {target.id: item}
    if not isinstance(target, (ast.Tuple, ast.List)):
        msg = f"a check cannot assign to a {type(target).__name__}"
        raise CheckError(msg)
    names: dict[str, Any] = {}
    for part, one in zip(target.elts, _items(item), strict=True):
        names |= _bound(part, one)
    return names


def _classes(node: ast.expr) -> Any:
    if isinstance(node, ast.Tuple):
        return tuple(_classes(one) for one in node.elts)
    return CLASSES[full_name(node) or ""]
