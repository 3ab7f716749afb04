"""The scorer `partial`."""

from __future__ import annotations

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.scorers.matching import all_match, match_items

__all__ = ["Partial"]


class Partial(Scorer):
    """Share of the expected items that the observed list has in their places.

    score = matches / max(len(expected), len(observed)), position by position. An expected value
    that is no list, or an empty one, scores as `exact`. Several cases are a list too: the score is
    the share of cases that passed.
    """

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score by item."""
        matches = match_items(observation, answers)
        if matches is None:
            return float(all_match(observation, answers))
        return sum(matches) / len(matches)
