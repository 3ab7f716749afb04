"""Strict JSON for hostile input.

What a program reports is decoded into built-in types only. Whatever JSON text allows but no row can
mean (repeated keys, numbers too long to matter) becomes `UNEQUAL`, which equals nothing, so that
the damage stays inside the one value that holds it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Final

__all__ = ["MAX_DIGITS", "UNEQUAL", "Undecodable", "Unequal", "decode_json", "plain_json", "strict_json"]

MAX_DIGITS: Final = 100_000
"""Integers of more decimal digits are equal to nothing. Bounds the time to convert them."""
MAX_DEPTH: Final = 200
"""Depth of nesting that an expected value may have."""

_CHUNK: Final = 4_000
"""Digits converted at once; below the interpreter's own limit of 4300 (sys.int_info)."""


class Unequal(Enum):
    """The type of `UNEQUAL`."""

    UNEQUAL = "unequal"

    def __repr__(self) -> str:
        """`UNEQUAL`, as it is written in code."""
        return "UNEQUAL"


UNEQUAL: Final = Unequal.UNEQUAL
"""Stands for a decoded value that is equal to nothing."""


class Undecodable(ValueError):  # noqa: N818 - it says what the text is
    """The text is not JSON, or is nested too deeply to decode."""


def decode_json(text: str | bytes) -> object:
    """Decode JSON text into `None`, `bool`, `int`, `float`, `str`, `list` and `dict`.

    `NaN`, `Infinity` and `-Infinity` are accepted, as Python writes them. An object with a repeated
    key, or an integer of more than `MAX_DIGITS` digits, is `UNEQUAL` in its place.

    Args:
        text: JSON text, as UTF-8 when it is bytes; its size is bounded by who read it.

    Raises:
        Undecodable: It is no JSON.
    """
    try:
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except (ValueError, RecursionError) as error:
        msg = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Undecodable(msg) from None


def _integer(digits: str) -> int | Unequal:
    if len(digits) <= _CHUNK:
        return int(digits)
    return _long_integer(digits) if len(digits) <= MAX_DIGITS else UNEQUAL


def _long_integer(digits: str) -> int:
    """Convert in chunks: the interpreter refuses long texts, to bound quadratic time."""
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    value = 0
    for start in range(0, len(digits), _CHUNK):
        chunk = digits[start : start + _CHUNK]
        value = value * 10 ** len(chunk) + int(chunk)
    return sign * value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object] | Unequal:
    decoded = dict(pairs)
    return decoded if len(decoded) == len(pairs) else UNEQUAL


_DECODER: Final = json.JSONDecoder(parse_int=_integer, object_pairs_hook=_object)


def plain_json(value: object, depth: int = MAX_DEPTH) -> object:
    """Bring an expected value, as a data set holds it, into the form that JSON gives back.

    Tuples become lists and keys become strings, as `json.dumps` does it.

    Raises:
        ValueError: It holds something that JSON has no form for; the message says what and where.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth == 0:
        msg = f"it is nested more than {MAX_DEPTH} deep"
        raise ValueError(msg)
    if isinstance(value, (list, tuple)):
        return [plain_json(item, depth - 1) for item in value]
    if isinstance(value, Mapping):
        return _plain_object(value, depth)
    msg = f"it holds a {type(value).__name__} ({value!r:.40}), which JSON has no form for"
    raise ValueError(msg)


def strict_json(value: object) -> object:
    """Check that a value is JSON as it stands, with nothing that JSON would change.

    `plain_json` takes tuples for lists and numbers for keys, which is right for what is compared;
    what is passed to a program has to arrive as it is.

    Raises:
        ValueError: It holds a tuple, a key that is no text, or something else that JSON lacks.
    """
    plain = plain_json(value)
    if _changes(value):
        msg = "it holds a tuple, or a key that is no text, which JSON would change"
        raise ValueError(msg)
    return plain


def _changes(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(not isinstance(key, str) or _changes(item) for key, item in value.items())
    return isinstance(value, tuple) or (isinstance(value, list) and any(map(_changes, value)))


def _plain_object(value: Mapping[object, object], depth: int) -> dict[str, object]:
    plain = {_key(key): plain_json(item, depth - 1) for key, item in value.items()}
    if len(plain) != len(value):
        msg = f"two keys of {value!r:.60} are the same text in JSON"
        raise ValueError(msg)
    return plain


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return json.dumps(key)
    msg = f"the key {key!r:.40} is a {type(key).__name__}, which JSON has no form for"
    raise ValueError(msg)
