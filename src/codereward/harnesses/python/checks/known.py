"""What checks know: functions, constants and operators that are pure, and bounded in what they cost."""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import fractions
import math
import operator
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, Final

from codereward.values.hashing import refuse_colliding
from codereward.values.standins import Iterated

__all__ = [
    "BINARY",
    "CLASSES",
    "COMPARE",
    "CONSTANTS",
    "FUNCTIONS",
    "KEYS",
    "UNARY",
    "CheckError",
    "dict_of",
    "full_name",
    "is_class",
    "items_of",
    "set_of",
]

MAX_BITS: Final = 200_000
"""Size of integers."""
MAX_ITEMS: Final = 1_000_000
"""Length of lists and texts that a check makes."""


class CheckError(ValueError):
    """A check cannot be evaluated, or would cost too much."""


def items_of(given: Any) -> list[Any]:
    """The items of something, which are not too many."""
    if isinstance(given, Iterated):
        return list(given.items)
    if isinstance(given, Sized) and len(given) > MAX_ITEMS:
        msg = f"more than {MAX_ITEMS} items"
        raise CheckError(msg)
    return list(given)


def set_of(given: Iterable[Any] = ()) -> set[Any]:
    """A set, if it can be made in time."""
    items = items_of(given)
    refuse_colliding(items)
    return set(items)


def _frozenset(given: Iterable[Any] = ()) -> frozenset[Any]:
    return frozenset(set_of(given))


def _counter(given: Any = ()) -> Counter[Any]:
    if not isinstance(given, Mapping):
        given = items_of(given)
        refuse_colliding(given)
    return Counter(given)


def dict_of(given: Any = (), **more: Any) -> dict[Any, Any]:
    """A dict of pairs, if it can be made in time."""
    pairs = given if isinstance(given, Mapping) else [tuple(items_of(pair)) for pair in items_of(given)]
    if not isinstance(pairs, Mapping):
        refuse_colliding(pair[0] for pair in pairs)
    return dict(pairs, **more)


def _sum(given: Iterable[Any], start: Any = 0) -> Any:
    items = items_of(given)
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
            function(*(items_of(one) if isinstance(one, Iterable) else one for one in given), **options)
        )

    return listed


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but that it takes only iterables that are not too long."""

    def taking(*given: Any, **options: Any) -> Any:
        return function(*(items_of(one) if isinstance(one, range) else one for one in given), **options)

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
    "bytes": lambda given=b"": bytes(items_of(given) if not isinstance(given, bytes) else given),
    "chr": chr,
    "complex": complex,
    "dict": dict_of,
    "divmod": divmod,
    "enumerate": _listed(enumerate),
    "float": float,
    "frozenset": _frozenset,
    "int": int,
    "len": len,
    "list": lambda given=(): items_of(given),
    "max": _taking(max),
    "min": _taking(min),
    "ord": ord,
    "pow": _power,
    "range": range,
    "reversed": _listed(reversed),
    "round": _round,
    "set": set_of,
    "sorted": _taking(sorted),
    "str": _text,
    "sum": _sum,
    "tuple": lambda given=(): tuple(items_of(given)),
    "zip": _listed(zip),
    "collections.Counter": _counter,
    "collections.OrderedDict": lambda given=(): OrderedDict(dict_of(given)),
    "collections.deque": lambda given=(): deque(items_of(given)),
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


COMPARE: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
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
UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
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


BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
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


def is_class(node: ast.expr) -> bool:
    """Whether an expression is a class of `CLASSES`, or a tuple of them."""
    if isinstance(node, ast.Tuple):
        return all(map(is_class, node.elts))
    return isinstance(node, ast.Name) and node.id in CLASSES
