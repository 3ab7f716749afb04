"""The scorer `weighted`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.scorers.exact import Exact
from codereward.scorers.matching import match_items

__all__ = ["Weighted"]


class Weighted(Scorer):
    """As `partial`, but that some items count more than others.

    score = sum of the weights of items that match / sum of the weights of all

    Args:
        weights: One for each item from the first; the last is for all that follow.

    Raises:
        ValueError: There are none, or one is no finite number above 0.
    """

    def __init__(self, weights: Sequence[float]) -> None:
        self.weights = tuple(weights)
        if not self.weights or not all(0 < one < math.inf for one in self.weights):
            msg = f"weights={weights!r} has to be a list of numbers above 0, at least one"
            raise ValueError(msg)

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score by item."""
        matches = match_items(observation, answers)
        if matches is None:
            return Exact().score(observation, answers)
        if all(matches):
            return 1.0
        missing = len(matches) - len(self.weights)
        weights = (*self.weights[: len(matches)], *(self.weights[-1],) * missing)
        got = math.fsum(weight for weight, right in zip(weights, matches, strict=True) if right)
        return min(got / math.fsum(weights), 1.0)
