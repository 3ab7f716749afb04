"""The scorer `f1`."""

from __future__ import annotations

from collections import Counter

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.scorers.partial import Partial
from codereward.values import json_equal
from codereward.values.canonical import canonical

__all__ = ["F1"]


class F1(Scorer):
    """How much two collections of items have in common, whatever their order.

    score = 2 * common / (observed + expected), counted in items, equal ones as often as they occur:
    the harmonic mean of precision and recall (van Rijsbergen, Information Retrieval, 1979, as 1 - E
    with equal weights). Neither listing everything nor listing little pays.

    Of several cases, the mean over the cases. A value that is no list scores 1.0 when it is equal,
    else 0.0. Rows that say themselves how values compare score as `partial`.
    """

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score what is in common."""
        if answers.comparators:
            return Partial().score(observation, answers)
        expected = answers.value
        if not answers.several or not isinstance(expected, list) or not expected:
            return overlap(observation.value, expected)
        observed = observation.value if isinstance(observation.value, list) else []
        pairs = zip(observed, expected, strict=False)
        return sum(overlap(*pair) for pair in pairs) / max(len(observed), len(expected))


def overlap(observed: object, expected: object) -> float:
    """The F1 score of two lists; of other values, whether they are equal."""
    if not isinstance(observed, list) or not isinstance(expected, list) or not (observed or expected):
        return float(json_equal(observed, expected))
    wanted, found = (
        Counter(text for item in items if (text := canonical(item)) is not None)
        for items in (expected, observed)
    )
    return 2 * (wanted & found).total() / (len(observed) + len(expected))
