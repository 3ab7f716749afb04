"""What scorers share: comparing observed with expected under the row's own rule of equality."""

from __future__ import annotations

from codereward.model import Answers, Comparator, Observation
from codereward.values import json_equal

__all__ = ["all_match", "match_items"]


def all_match(observation: Observation, answers: Answers) -> bool:
    """Tell whether the observed value equals the expected one as a whole."""
    if answers.several or len(answers.comparators) > 1:
        return all(match_items(observation, answers) or [False])
    return _comparator(answers, 0)(observation.value, answers.value)


def match_items(observation: Observation, answers: Answers) -> list[bool] | None:
    """Compare position by position.

    Returns:
        One truth for each position of the longer list (a position that only one side has is
        false), or `None` when the expected value is no list, or an empty one, and so has no items.
        An observed value that is no list matches nowhere.
    """
    expected = answers.value
    if not isinstance(expected, list) or not expected:
        return None
    observed = observation.value if isinstance(observation.value, list) else []
    pairs = zip(observed, expected, strict=False)
    matches = [_comparator(answers, index)(*pair) for index, pair in enumerate(pairs)]
    return matches + [False] * (max(len(expected), len(observed)) - len(matches))


def _comparator(answers: Answers, index: int) -> Comparator:
    comparators = answers.comparators or (json_equal,)
    return comparators[index if len(comparators) > 1 else 0]
