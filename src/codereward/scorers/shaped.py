"""Scorers that turn a share of passed tests into another reward."""

from __future__ import annotations

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.scorers.exact import Exact
from codereward.scorers.inner import Inner, fraction, inner_scorer

__all__ = ["Shaped", "Threshold"]


class Shaped(Scorer):
    """All or nothing, with a small bonus on the way there.

    score = (1 - bonus) * [all right] + bonus * share

    All or nothing is what counts in the end, but says nothing in a group where nobody gets there; a
    share alone pays for tests that are passed by accident. The weighted sum keeps their order: 1.0
    for all right, at most `bonus` else.

    Args:
        bonus: Weight of the share, from 0 (as `exact`) to 1 (as `of`).
        of: What gives the share.

    Raises:
        ValueError: An argument does not fit.
    """

    def __init__(self, bonus: float = 0.1, of: Inner = "partial") -> None:
        self.bonus = fraction("bonus", bonus)
        self.of = inner_scorer(of)
        self._exact = Exact()

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score all or nothing, and a bonus."""
        if self._exact.score(observation, answers) == 1.0:
            return 1.0
        return self.bonus * self.of.score(observation, answers)


class Threshold(Scorer):
    """All of the reward from a share on, nothing below it.

    score = [share >= at]

    For tests of which some are known to be wrong or flaky: with `at=0.9` one of ten may fail.

    Args:
        at: The share, above 0.
        of: What gives the share.

    Raises:
        ValueError: An argument does not fit.
    """

    def __init__(self, at: float = 0.9, of: Inner = "partial") -> None:
        self.at = fraction("at", at)
        if not self.at:
            msg = "at=0 would reward everything; it has to be above 0"
            raise ValueError(msg)
        self.of = inner_scorer(of)

    def score(self, observation: Observation, answers: Answers) -> float:
        """Score by the threshold."""
        return float(self.of.score(observation, answers) >= self.at)
