"""Named rules by which a program's output equals the expected text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from codereward.model import Comparator
from codereward.values.comparators import DEFAULT_TOLERANCE, Close

__all__ = ["TEXT_RULES", "Guarded", "Texts", "text_comparator"]

TextRule = Callable[[str, str, Close], bool]

_INTEGER: Final = re.compile(r"[-+]?[0-9]+\Z")
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z")
_LONGEST_NUMBER: Final = 400
"""Characters; a longer token is compared as text."""
_CASELESS: Final = "caseless-"


def exact(observed: str, expected: str, _: Close) -> bool:
    """Compare every character."""
    return observed == expected


def lines(observed: str, expected: str, _: Close) -> bool:
    """Compare line by line; blanks at the end of a line, and blank lines at the end, do not count."""
    return _lines(observed) == _lines(expected)


def unordered_lines(observed: str, expected: str, _: Close) -> bool:
    """Compare as `lines`, in any order, each as often as expected."""
    return Counter(_lines(observed)) == Counter(_lines(expected))


def tokens(observed: str, expected: str, _: Close) -> bool:
    """Compare what stands between blanks and line ends."""
    return observed.split() == expected.split()


def numbers(observed: str, expected: str, close: Close) -> bool:
    """Compare as `tokens`; where both are numbers, within the tolerance, unless both are integers."""
    left, right = observed.split(), expected.split()
    return len(left) == len(right) and all(_token(*pair, close) for pair in zip(left, right, strict=True))


TEXT_RULES: Final[dict[str, TextRule]] = {
    "exact": exact,
    "lines": lines,
    "unordered-lines": unordered_lines,
    "tokens": tokens,
    "numbers": numbers,
}
"""The rules by name; each has a form that ignores case, `caseless-<name>`."""


@dataclass(frozen=True, slots=True)
class Texts:
    """A rule with its options, as a comparator.

    Args:
        rule: A name of `TEXT_RULES`.
        caseless: Whether upper and lower case are the same.
        close: The tolerance of `numbers`.
    """

    rule: str
    caseless: bool = False
    close: Close = field(default_factory=Close)

    def __call__(self, observed: object, expected: object) -> bool:
        """Compare; what is no text equals nothing."""
        if not isinstance(observed, str) or not isinstance(expected, str):
            return False
        if self.caseless:
            observed, expected = observed.casefold(), expected.casefold()
        return TEXT_RULES[self.rule](observed, expected, self.close)


@dataclass(frozen=True, slots=True)
class Guarded:
    """Somebody's own comparator, which need not be ready for anything a program may print.

    An error that unfit data causes (`int("x")`, an index too far) means that the output is wrong.
    """

    comparator: Comparator

    def __call__(self, observed: object, expected: object) -> bool:
        """Compare; what is no text equals nothing."""
        if not isinstance(observed, str):
            return False
        try:
            return bool(self.comparator(observed, expected))
        except (ValueError, TypeError, ArithmeticError, LookupError, RecursionError):
            return False


def text_comparator(name: str, tolerance: float | None = None) -> Comparator:
    """The rule of a name.

    Args:
        name: A name of `TEXT_RULES`, alone or after `caseless-`.
        tolerance: Of `numbers`, absolute and relative alike.

    Raises:
        ValueError: There is no such rule, or it has no tolerance.
    """
    rule = name.removeprefix(_CASELESS)
    if rule not in TEXT_RULES:
        msg = (
            f"there is no comparator {name!r:.40} for output; there are: {', '.join(TEXT_RULES)}, "
            f"and each with {_CASELESS!r} before it"
        )
        raise ValueError(msg)
    if tolerance is not None and rule != "numbers":
        msg = f"the comparator {name!r} has no tolerance; 'numbers' has"
        raise ValueError(msg)
    within = DEFAULT_TOLERANCE if tolerance is None else tolerance
    return Texts(rule, name.startswith(_CASELESS), Close(within, within))


def _lines(text: str) -> list[str]:
    found = [line.rstrip() for line in text.split("\n")]
    while found and not found[-1]:
        found.pop()
    return found


def _token(observed: str, expected: str, close: Close) -> bool:
    if observed == expected:
        return True
    if max(len(observed), len(expected)) > _LONGEST_NUMBER:
        return False
    if not (_NUMBER.match(observed) and _NUMBER.match(expected)):
        return False
    return close.numbers(_number(observed), _number(expected))


def _number(token: str) -> float:
    return int(token) if _INTEGER.match(token) else float(token)
