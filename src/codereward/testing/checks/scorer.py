"""What a conforming scorer does."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, Final

from codereward.model import MISSING, Answers, Observation
from codereward.protocols import Scorer
from codereward.testing.nasty import nested
from codereward.values import UNEQUAL

__all__ = ["CHECKS", "Check"]

Check = Callable[[Scorer, Observation, Answers], None]

DEPTH: Final = 5_000
"""Nesting of values, deeper than the interpreter can recurse."""
DEEP: Final = (nested(DEPTH), {"a": nested(DEPTH, {})})


def scores_are_in_range(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """A score is a finite real number in [0, 1], whatever was observed; a scorer never raises."""
    score: Any = scorer.score(observation, answers)  # a plugin's annotations promise nothing

    assert isinstance(score, Real), f"a {type(score).__name__} is no score"
    assert math.isfinite(score), f"{score} is not finite"
    assert 0.0 <= float(score) <= 1.0, f"{score} is outside [0, 1]"


def scoring_is_pure(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """The same observation and answers get the same score every time, and are left unchanged."""
    before = repr((observation, answers))

    first, second = scorer.score(observation, answers), scorer.score(observation, answers)

    assert first == second, "the second score differs from the first"
    assert repr((observation, answers)) == before, "the observation or the answers were changed"


def the_expected_value_scores_one(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """An observation equal to the answer scores 1.0."""
    score = scorer.score(replace(observation, value=answers.value), answers)

    assert score == 1.0, f"the expected value itself scores {score}"


def nothing_right_scores_less_than_one(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """Values that equal nothing, and missing ones, score less than 1.0."""
    count = len(answers.value) if isinstance(answers.value, list) else 1
    for wrong in (UNEQUAL, MISSING, [UNEQUAL] * (count + 1), [MISSING] * (count + 1)):
        score = scorer.score(replace(observation, value=wrong), answers)
        assert score < 1.0, f"{wrong!r:.60} scores {score}"


def one_more_right_item_costs_nothing(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """Of several cases, one more that is right never lowers the score."""
    if not isinstance(answers.value, list):
        return
    scores = []
    for right in range(len(answers.value) + 1):
        value = answers.value[:right] + [UNEQUAL] * (len(answers.value) - right)
        scores.append(scorer.score(replace(observation, value=value), answers))

    assert scores == sorted(scores), f"scores fall where more is right: {scores}"


def deep_values_do_no_harm(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """A value that is nested deeper than the interpreter recurses scores as any other wrong one."""
    for value in DEEP:
        score = scorer.score(replace(observation, value=value, cases=()), answers)
        assert score < 1.0, f"a deep value scores {score}"


def scorers_pickle(scorer: Scorer, observation: Observation, answers: Answers) -> None:
    """A scorer pickles to one that scores the same."""
    twin: Scorer = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - made here

    assert twin.score(observation, answers) == scorer.score(observation, answers), "the pickled one differs"


CHECKS: Final[tuple[Check, ...]] = (
    scores_are_in_range,
    scoring_is_pure,
    the_expected_value_scores_one,
    nothing_right_scores_less_than_one,
    one_more_right_item_costs_nothing,
    deep_values_do_no_harm,
    scorers_pickle,
)
