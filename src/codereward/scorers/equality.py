"""Scorers that change when two values are equal, unless the row itself says how they compare."""

from __future__ import annotations

from dataclasses import replace

from codereward.model import Answers, Comparator, Observation
from codereward.protocols import Scorer
from codereward.scorers.inner import Inner, inner_scorer
from codereward.values import Close, unordered_equal

__all__ = ["Tolerance", "Unordered"]


class Tolerance(Scorer):
    """Numbers may be a little off, at any depth of the value.

    Equal when |observed - expected| <= max(absolute, relative * |expected|), as PEP 485 defines it
    with the expected value as the reference; two integers have to be the same.

    Args:
        absolute: Counts near zero.
        relative: Counts for large numbers.
        of: What scores with this equality.

    Raises:
        ValueError: An argument does not fit.
    """

    def __init__(self, absolute: float = 1e-6, relative: float = 1e-6, of: Inner = "partial") -> None:
        self.close = Close(absolute, relative)
        self.of = inner_scorer(of)

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score with a tolerance."""
        return self.of.score(observation, compared_by(self.close, answers))


class Unordered(Scorer):
    """The items of a list may come in any order, each as often as expected.

    Lists inside of items keep their order. Of several cases, each case's own list may be in any order.

    Args:
        of: What scores with this equality. The default gives no credit for some of the items; the
            scorer `f1` does.

    Raises:
        ValueError: An argument does not fit.
    """

    def __init__(self, of: Inner = "exact") -> None:
        self.of = inner_scorer(of)

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score in any order."""
        return self.of.score(observation, compared_by(unordered_equal, answers))


def compared_by(comparator: Comparator, answers: Answers) -> Answers:
    """The answers, with a comparator where they have none of their own."""
    return answers if answers.comparators else replace(answers, comparators=(comparator,))
