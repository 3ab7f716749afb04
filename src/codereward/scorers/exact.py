"""The scorer `exact`."""

from __future__ import annotations

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.scorers.matching import all_match

__all__ = ["Exact"]


class Exact(Scorer):
    """1.0 when the observed value equals the expected one, else 0.0."""

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score all or nothing."""
        return float(all_match(observation, answers))
