"""Python values that JSON lacks, in JSON: decoded on the host into built-in types only.

| Python | form |
|---|---|
| `None`, `bool`, `str`, `float`, `int` | itself (`NaN`, `Infinity`; a very long integer: `{"int": "0x…"}`) |
| `list` | array |
| `tuple`, `set`, `frozenset`, `deque` | `{"tuple": […]}`, … |
| `dict` | `{"dict": [key, value, key, value, …]}`, in order |
| `bytes`, `bytearray` | `{"bytes": "hexadecimal"}`, … |
| `complex`, `range` | `{"complex": [real, imaginary]}`, `{"range": [start, stop, step]}` |
| `Decimal`, `Fraction` | `{"decimal": text}`, `{"fraction": [numerator, denominator]}` |
| `date`, `datetime`, `time`, `timedelta` | `{"date": ISO text}`, …, `{"timedelta": [days, seconds, microseconds]}` |
| iterators; views of a dict's keys or items | `{"iterator": […]}`, `{"view": […]}` → `Iterated` |
| anything else | `{"opaque": [type name, truth, number]}` → `Opaque` |
| a question that raised | `{"raised": text}` → `Raised` |

Nothing is unpickled, imported or called by a name that comes from the text.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import deque
from collections.abc import Callable, Mapping
from decimal import Decimal, DecimalException
from fractions import Fraction
from typing import Any, Final

from codereward.values.hashing import refuse_colliding
from codereward.values.json import UNEQUAL, Undecodable, decode_json
from codereward.values.standins import Iterated, Opaque, Raised

__all__ = ["decode_tagged"]

MAX_DEPTH: Final = 150
"""Depth of nesting of a value, counted in values."""
MAX_HEX: Final = 100_000
"""Hexadecimal digits of an integer."""
MAX_EXPONENT: Final = 100_000
"""Of a Decimal: making an integer of one takes as many digits."""

_HEX: Final = re.compile(rf"-?0x[0-9a-f]{{1,{MAX_HEX}}}\Z")
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9.]{1,5000}(?:E[-+]?[0-9]{1,9})?|Infinity|s?NaN[0-9]{0,30})\Z")


def decode_tagged(text: str) -> object:
    """Decode a value in the tagged form.

    Args:
        text: JSON; its size is bounded by who read it.

    Raises:
        Undecodable: It is no JSON, no value, nested too deeply, or too costly to hold.
    """
    try:
        return _value(decode_json(text), MAX_DEPTH)
    except RecursionError:
        msg = "nested too deeply"
        raise Undecodable(msg) from None
    except (TypeError, ValueError, ArithmeticError, OverflowError) as error:
        raise Undecodable(str(error) or type(error).__name__) from None


def _value(node: object, depth: int) -> Any:
    if depth < 0:
        msg = "nested too deeply"
        raise Undecodable(msg)
    if isinstance(node, list):
        return [_value(item, depth - 1) for item in node]
    if isinstance(node, dict):
        return _tagged(node, depth)
    if node is UNEQUAL:
        msg = "a number is too long, or a key is repeated"
        raise Undecodable(msg)
    return node


def _tagged(node: dict[str, object], depth: int) -> object:
    if len(node) != 1:
        msg = "an object of other than one key"
        raise Undecodable(msg)
    ((tag, content),) = node.items()
    if tag in _OF_ITEMS and isinstance(content, list):
        return _OF_ITEMS[tag]([_value(item, depth - 1) for item in content])
    if tag in _OF_TEXT and isinstance(content, str):
        return _OF_TEXT[tag](content)
    msg = f"no value has the form {tag!r:.40}"
    raise Undecodable(msg)


def _set(items: list[Any]) -> set[Any]:
    refuse_colliding(items)
    made = set(items)
    _refuse_equal(len(made), len(items))
    return made


def _frozenset(items: list[Any]) -> frozenset[Any]:
    return frozenset(_set(items))


def _dict(items: list[Any]) -> dict[Any, Any]:
    keys = items[::2]
    refuse_colliding(keys)
    made = dict(zip(keys, items[1::2], strict=True))
    _refuse_equal(len(made), len(keys))
    return made


def _view(items: list[Any]) -> Iterated:
    _set(items)
    return Iterated(tuple(items), setlike=True)


def _refuse_equal(held: int, given: int) -> None:
    """Refuse what no set or dict of data can be: one that holds equal keys, thanks to an odd `__hash__`."""
    if held != given:
        msg = "a set or dict holds equal keys"
        raise Undecodable(msg)


def _numbers(items: list[Any], kind: type, count: int) -> list[Any]:
    if len(items) != count or not all(type(item) is kind for item in items):
        msg = f"{count} numbers are not what they should be"
        raise Undecodable(msg)
    return items


def _complex(items: list[Any]) -> complex:
    return complex(*_numbers(items, float, 2))


def _range(items: list[Any]) -> range:
    return range(*_numbers(items, int, 3))


def _fraction(items: list[Any]) -> Fraction:
    return Fraction(*_numbers(items, int, 2))


def _timedelta(items: list[Any]) -> dt.timedelta:
    return dt.timedelta(*_numbers(items, int, 3))


def _opaque(items: list[Any]) -> Opaque:
    name, truth, number = items
    if type(name) is not str or type(truth) is not bool or type(number) is not int:
        msg = "no description of an object"
        raise Undecodable(msg)
    return Opaque(name[:100], truth, number)


def _integer(text: str) -> int:
    return int(_matched(_HEX, text), 16)


def _decimal(text: str) -> Decimal:
    try:
        value = Decimal(_matched(_DECIMAL, text))
    except DecimalException:
        msg = f"no Decimal: {text!r:.40}"
        raise Undecodable(msg) from None
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > MAX_EXPONENT:
        msg = "a Decimal's exponent is too large"
        raise Undecodable(msg)
    return value


def _matched(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.match(text):
        msg = f"no number: {text!r:.40}"
        raise Undecodable(msg)
    return text


_OF_ITEMS: Final[Mapping[str, Callable[[list[Any]], object]]] = {
    "tuple": tuple,
    "set": _set,
    "frozenset": _frozenset,
    "deque": deque,
    "dict": _dict,
    "complex": _complex,
    "range": _range,
    "fraction": _fraction,
    "timedelta": _timedelta,
    "iterator": lambda items: Iterated(tuple(items)),
    "view": _view,
    "opaque": _opaque,
}
_OF_TEXT: Final[Mapping[str, Callable[[str], object]]] = {
    "int": _integer,
    "decimal": _decimal,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "date": dt.date.fromisoformat,
    "datetime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "raised": Raised,
}
