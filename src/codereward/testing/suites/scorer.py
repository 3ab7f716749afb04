"""The suite for scorers."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.model import Answers, Observation
from codereward.protocols import Scorer
from codereward.testing import nasty, strategies
from codereward.testing.checks.scorer import CHECKS, Check
from codereward.testing.suites.base import Suite

__all__ = ["ScorerTests"]


class ScorerTests(Suite, checks=CHECKS):
    """What every scorer does, on examples that hypothesis finds."""

    examples: ClassVar[int] = 100
    """How many examples a test tries."""

    @abstractmethod
    def make_scorer(self) -> Scorer:
        """Make the scorer."""

    def judgements(self) -> st.SearchStrategy[tuple[Observation, Answers]]:
        """The observations and answers to try; override for a scorer that takes special answers."""
        return strategies.judgements()

    def perform(self, check: Check) -> None:
        """Run one check on many examples."""
        scorer = self.make_scorer()
        for value in nasty.VALUES:
            for expected in (1, [1, "a"]):
                check(scorer, strategies.observation_of(value), Answers(expected))

        @settings(max_examples=self.examples, deadline=None)
        @given(self.judgements())
        def examples(judgement: tuple[Observation, Answers]) -> None:
            check(scorer, *judgement)

        examples()
