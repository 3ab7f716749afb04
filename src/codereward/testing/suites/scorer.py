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
        odd = st.builds(strategies.observation_of, st.sampled_from(nasty.VALUES))
        return strategies.judgements() | st.tuples(odd, strategies.answers())

    def perform(self, check: Check) -> None:
        """Run one check on many examples."""
        scorer = self.make_scorer()

        @settings(max_examples=self.examples, deadline=None)
        @given(self.judgements())
        def examples(judgement: tuple[Observation, Answers]) -> None:
            check(scorer, *judgement)

        examples()
