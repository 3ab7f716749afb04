"""When two values are equal."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["equal_by", "identical", "json_equal", "scalars_equal"]


def json_equal(observed: object, expected: object) -> bool:
    """Tell whether two values are equal as JSON.

    `true` is not `1`, but `1` is `1.0`; text, lists and objects are equal by content, and the order
    of an object's keys does not matter. NaN equals NaN only where it is expected. There is no
    tolerance. Works without recursion, so that no depth of nesting can break it.

    Args:
        observed: What the program gave, as `decode_json` returns it.
        expected: What the row expects, as `plain_json` returns it.
    """
    return equal_by(scalars_equal, observed, expected)


def equal_by(scalars: Callable[[object, object], bool], observed: object, expected: object) -> bool:
    """Tell whether two values are equal as JSON, but for how their scalars compare.

    Args:
        scalars: Tells whether (observed, expected) are equal, where expected is no list or dict.
        observed: What the program gave.
        expected: What the row expects.
    """
    pairs = [(observed, expected)]
    while pairs:
        left, right = pairs.pop()
        if isinstance(right, list):
            if not isinstance(left, list) or len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif isinstance(right, dict):
            if not isinstance(left, dict) or left.keys() != right.keys():
                return False
            pairs.extend((left[key], item) for key, item in right.items())
        elif not scalars(left, right):
            return False
    return True


def identical(one: object, other: object) -> bool:
    """Tell whether two values cannot be told apart: same types, same content, same order.

    Python's own equality will not do: `1 == True == 1.0`. Values of types other than the built-in
    ones of JSON (and tuples) are identical only to themselves.
    """
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif isinstance(left, dict) and isinstance(right, dict):
            if list(left) != list(right):
                return False
            pairs.extend((left[key], right[key]) for key in left)
            pairs.extend(zip(left, right, strict=True))
        elif not _same_scalar(left, right):
            return False
    return True


def _same_scalar(left: object, right: object) -> bool:
    if isinstance(left, float):
        return repr(left) == repr(right)  # tells -0.0 from 0.0, and takes NaN for NaN
    return isinstance(left, (str, bytes, int)) and left == right


def scalars_equal(left: object, right: object) -> bool:
    """Tell whether two values without items are equal as JSON."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(right, (int, float)):
        same_nan = left != left and right != right  # noqa: PLR0124 - only NaN differs from itself
        return isinstance(left, (int, float)) and (left == right or same_nan)
    if right is None:
        return left is None
    return isinstance(right, str) and isinstance(left, str) and left == right
