"""The built-in scorers do what every scorer does."""

from codereward import Answers, Observation, Scorer
from codereward.scorers import Exact, Partial, all_match, scorer
from codereward.testing import ScorerTests


class TestExact(ScorerTests):
    def make_scorer(self) -> Scorer:
        return Exact()


class TestPartial(ScorerTests):
    def make_scorer(self) -> Scorer:
        return Partial()


@scorer
def strict(observation: Observation, answers: Answers) -> float:
    """A function as a scorer."""
    return 1.0 if all_match(observation, answers) else 0.25


class TestFunctionScorer(ScorerTests):
    def make_scorer(self) -> Scorer:
        return strict
