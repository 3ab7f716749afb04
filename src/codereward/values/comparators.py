"""Named rules by which two values are equal, beyond JSON equality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from codereward.model import Comparator
from codereward.values.canonical import canonical
from codereward.values.equality import equal_by, json_equal, scalars_equal

__all__ = ["DEFAULT_TOLERANCE", "Close", "unordered_equal", "value_comparator"]

DEFAULT_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Close:
    """JSON equality, but that a number may be off by a tolerance, at any depth.

    Equal when |observed - expected| <= max(absolute, relative * |expected|). Two integers have no
    tolerance: 10**17 + 1 is not nearly 10**17. NaN and the infinities equal themselves alone.
    """

    absolute: float = DEFAULT_TOLERANCE
    relative: float = DEFAULT_TOLERANCE

    def __post_init__(self) -> None:
        """Refuse tolerances that nothing or everything would meet.

        Raises:
            ValueError: One is negative, NaN or infinite.
        """
        for tolerance in (self.absolute, self.relative):
            if not 0 <= tolerance < math.inf:
                msg = f"a tolerance is a number of at least 0, not {tolerance!r:.40}"
                raise ValueError(msg)

    def __call__(self, observed: object, expected: object) -> bool:
        """Compare."""
        return equal_by(self._numbers_close, observed, expected)

    def _numbers_close(self, observed: object, expected: object) -> bool:
        if scalars_equal(observed, expected):
            return True
        if not (_is_number(observed) and _is_number(expected)):
            return False
        return self.numbers(observed, expected)  # type: ignore[arg-type]  # just looked at

    def numbers(self, observed: float, expected: float) -> bool:
        """Compare two numbers."""
        if isinstance(observed, int) and isinstance(expected, int):
            return observed == expected
        try:
            off = abs(observed - expected)
            return math.isfinite(expected) and off <= max(self.absolute, self.relative * abs(expected))
        except OverflowError:  # an integer that no float can hold
            return False


def unordered_equal(observed: object, expected: object) -> bool:
    """JSON equality, but that the order of the items of a list does not matter (in items, it does)."""
    if not isinstance(observed, list) or not isinstance(expected, list):
        return json_equal(observed, expected)
    if len(observed) != len(expected):
        return False
    texts = [canonical(item) for item in observed]
    return None not in texts and Counter(texts) == Counter(map(canonical, expected))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _json(_: float | None) -> Comparator:
    return json_equal


def _close(tolerance: float | None) -> Comparator:
    return Close() if tolerance is None else Close(tolerance, tolerance)


def _unordered(_: float | None) -> Comparator:
    return unordered_equal


_RULES: Final[Mapping[str, Callable[[float | None], Comparator]]] = {
    "json": _json,
    "close": _close,
    "unordered": _unordered,
}


def value_comparator(name: str, tolerance: float | None = None) -> Comparator:
    """The rule of a name: `json`, `close` or `unordered`.

    Args:
        name: The rule.
        tolerance: Of `close`, absolute and relative alike.

    Raises:
        ValueError: There is no such rule, or it has no tolerance.
    """
    if name not in _RULES:
        msg = f"there is no comparator {name!r:.40} for values; there are: {', '.join(_RULES)}"
        raise ValueError(msg)
    if tolerance is not None and name != "close":
        msg = f"the comparator {name!r} has no tolerance; 'close' has"
        raise ValueError(msg)
    return _RULES[name](tolerance)
