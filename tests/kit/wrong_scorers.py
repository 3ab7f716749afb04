"""Scorers that each break one law."""

from __future__ import annotations

import math

from codereward import MISSING, Answers, Observation, Scorer
from codereward.scorers import Partial


class Negative(Partial):
    """Punishes what is all wrong."""

    def score(self, observation: Observation, answers: Answers) -> float:
        return super().score(observation, answers) or -0.5


class Overflowing(Partial):
    """Gives what is no number where it overflows."""

    def score(self, observation: Observation, answers: Answers) -> float:
        return (
            math.inf if observation.value == 10**400 != answers.value else super().score(observation, answers)
        )


class Tired(Partial):
    """Scores a little less every time."""

    def __init__(self) -> None:
        self.calls = 0

    def score(self, observation: Observation, answers: Answers) -> float:
        self.calls += 1
        score = super().score(observation, answers)
        return score if score in {0.0, 1.0} else score - self.calls * 1e-9


class Turning(Partial):
    """Turns the observed list round while it looks through it."""

    def score(self, observation: Observation, answers: Answers) -> float:
        score = super().score(observation, answers)
        if isinstance(observation.value, list) and observation.value:
            observation.value.append(observation.value.pop(0))
        return score


class Grudging(Partial):
    """Never gives full marks."""

    def score(self, observation: Observation, answers: Answers) -> float:
        return 0.9 * super().score(observation, answers)


class Trusting(Partial):
    """Takes a missing value for a right one."""

    def score(self, observation: Observation, answers: Answers) -> float:
        return 1.0 if observation.value is MISSING else super().score(observation, answers)


class Contrary(Partial):
    """Likes half-right answers best."""

    def score(self, observation: Observation, answers: Answers) -> float:
        score = super().score(observation, answers)
        return score if score in {0.0, 1.0} else 1.0 - score


class Recursive(Partial):
    """Walks down every list by calling itself."""

    def score(self, observation: Observation, answers: Answers) -> float:
        walk(observation.value)
        return super().score(observation, answers)


def walk(value: object) -> None:
    for _ in map(walk, value if isinstance(value, list) else ()):
        pass


class Unpicklable(Partial):
    """Holds a function of its own."""

    def __init__(self) -> None:
        self.shape = lambda score: score


WRONG: dict[type[Scorer], set[str]] = {
    Negative: {"scores_are_in_range"},
    Overflowing: {"scores_are_in_range"},
    Tired: {"scoring_is_pure"},
    Turning: {"scoring_is_pure", "scorers_pickle"},
    Grudging: {"the_expected_value_scores_one"},
    Trusting: {"nothing_right_scores_less_than_one"},
    Contrary: {"one_more_right_item_costs_nothing"},
    Recursive: {"deep_values_do_no_harm"},
    Unpicklable: {"scorers_pickle"},
}
