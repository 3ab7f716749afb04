"""Runs inside the sandbox beside the runner: writes values in the tagged form (`values/tagged.py`).

Subclasses are reduced to the built-in type they inherit from by that type's own methods, so that no
override has a say in what a value is.
"""

# ruff: noqa: BLE001, F403, S110, UP029, UP031
# (hostile surroundings, old interpreters)

from __future__ import annotations

import sys
from builtins import *  # names of our own, which no program that rebinds builtins can take away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEPTH = 150
MOST = 200_000  # items of an iterator: it may have no end
LONG = 13_000  # bits; decimal text of a longer integer takes too long to make
SAME = 100  # objects that are compared with each other

objects: list[Any] = []
NONE = type(None)
VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.items()))
CONTAINERS: tuple[Any, ...] = (list, tuple, set, frozenset)
BYTES: tuple[Any, ...] = (bytes, bytearray)
SIMPLE = frozenset((NONE, bool, str, float))
recursion = sys.getrecursionlimit()
set_recursion = sys.setrecursionlimit


def tagged(value: Any) -> object:
    """The tagged form of a value, ready for a JSON encoder.

    Raises:
        ValueError: It holds itself, is nested too deeply, or has no end.
    """
    set_recursion(recursion)
    return form(value, DEPTH, ())


def form(value: Any, depth: int, path: tuple[int, ...]) -> object:
    """The tagged form of a value at some place in another."""
    value = reduced(value)
    if type(value) in SIMPLE:
        return value
    if type(value) is int:
        return integer(value)
    if depth == 0:
        raise ValueError("it is nested more than %d deep" % DEPTH)
    if id(value) in path:
        raise ValueError("it holds itself")
    for describe in (of_items, of_numbers, of_modules, of_iteration):
        found = describe(value)
        if found is not None:
            tag, content = found
            inner = (*path, id(value))
            items = [form(item, depth - 1, inner) for item in content] if type(content) is list else content
            return items if tag == "list" else {tag: items}
    return {"opaque": [type(value).__name__, truth(value), number(value)]}


def reduced(value: Any) -> Any:
    """Subclasses of text and numbers, and what numpy has, as the built-in values that they are."""
    if type(value) in SIMPLE:
        return value
    if isinstance(value, int):
        return value if type(value) is bool else int.__int__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return float.__pos__(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    return value


def integer(value: int) -> object:
    """An integer, in hexadecimal when it is long."""
    return value if value.bit_length() <= LONG else {"int": hex(value)}


def of_items(value: Any) -> tuple[str, list[Any]] | None:
    """Tag and items of a container."""
    for base in CONTAINERS:
        if isinstance(value, base):
            return base.__name__, [*base.__iter__(value)]
    if isinstance(value, dict):
        return "dict", [part for pair in dict.items(value) for part in pair]
    return None


def of_numbers(value: Any) -> tuple[str, Any] | None:
    """Tag and content of what consists of a few numbers."""
    if isinstance(value, complex):
        return "complex", [value.real, value.imag]
    if isinstance(value, range):
        return "range", [value.start, value.stop, value.step]
    for base in BYTES:
        if isinstance(value, base):
            return base.__name__, base.hex(value)
    return None


def of_modules(value: Any) -> tuple[str, Any] | None:
    """Tag and content of types that live in modules; who has one has the module."""
    modules = sys.modules
    if "collections" in modules and isinstance(value, modules["collections"].deque):
        return "deque", [*modules["collections"].deque.__iter__(value)]
    if "decimal" in modules and isinstance(value, modules["decimal"].Decimal):
        return "decimal", modules["decimal"].Decimal.__str__(value)
    if "fractions" in modules and isinstance(value, modules["fractions"].Fraction):
        return "fraction", [value.numerator, value.denominator]
    return of_datetime(value, modules["datetime"]) if "datetime" in modules else None


def of_datetime(value: Any, datetime: Any) -> tuple[str, Any] | None:
    """Tag and content of dates and times."""
    for name in ("datetime", "date", "time"):
        base = getattr(datetime, name)
        if isinstance(value, base):
            return name, base.isoformat(value)
    if isinstance(value, datetime.timedelta):
        return "timedelta", [value.days, value.seconds, value.microseconds]
    return None


def of_iteration(value: Any) -> tuple[str, list[Any]] | None:
    """Tag and items of iterators, which are used up by it, and of views of dicts."""
    if isinstance(value, VIEWS):
        return "view", [*value]
    kind = type(value)
    if not (hasattr(kind, "__next__") and hasattr(kind, "__iter__")):
        return None
    items: list[Any] = []
    for item in value:
        items.append(item)
        if len(items) > MOST:
            raise ValueError("an iterator gave more than %d items" % MOST)
    return "iterator", items


def truth(value: Any) -> bool:
    """The truth value of an object."""
    try:
        return bool(value)
    except Exception:
        return True


def number(value: Any) -> int:
    """A number that equal objects share, as far as they say so themselves."""
    for position, other in enumerate(objects[:SAME]):
        try:
            if other is value or other == value:
                return position
        except Exception:
            pass
    objects.append(value)
    return len(objects) - 1
