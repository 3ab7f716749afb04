"""The built-in scorers and functions as scorers."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import codereward.values
from codereward import MISSING, Answers, ConfigError, Observation, Outcome, PluginError, RewardPipeline
from codereward.scorers import Exact, FunctionScorer, Partial, match_items, scorer
from codereward.testing.fake import FakeExecutor

items = st.integers(0, 3) | st.booleans() | st.none() | st.text(max_size=2)
lists = st.lists(items, max_size=6)


def seen(value: object) -> Observation:
    return Observation(Outcome.SCORED, value)


def about(left: object, right: object) -> bool:
    return abs(left - right) < 0.1


@given(lists, lists)
def test_partial_is_the_share_of_matching_positions(observed, expected):
    """matches / max(lengths); at the ends it agrees with exact."""
    score = Partial().score(seen(observed), Answers(expected))

    if expected:
        pairs = zip(observed, expected, strict=False)
        matches = sum(type(one) is type(other) and one == other for one, other in pairs)
        assert score == matches / max(len(observed), len(expected))
    assert (score == 1.0) == (Exact().score(seen(observed), Answers(expected)) == 1.0)


@pytest.mark.parametrize(
    ("observed", "expected", "partial"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 2], [1, 2, 3], 2 / 3),
        ([1, 2, 3, 4], [1, 2, 3], 0.75),
        ([3, 2, 1], [1, 2, 3], 1 / 3),
        ([], [1], 0.0),
        ([], [], 1.0),
        ([1], [], 0.0),
        (1, [1], 0.0),
        ("abc", ["a", "b", "c"], 0.0),
        ({"a": 1}, {"a": 1}, 1.0),
        ({"a": 1}, {"a": 2}, 0.0),
        ([MISSING, 2], [1, 2], 0.5),
        ([[1, 2], 3], [[1, 9], 3], 0.5),
    ],
)
def test_partial_by_example(observed, expected, partial):
    """The table of the documentation."""
    assert Partial().score(seen(observed), Answers(expected)) == partial


def test_each_case_is_compared_by_its_own_rule():
    """A row can name a comparator for each case, or one for all."""
    answers = Answers([1.0, 1.0], (about, math.isclose))

    assert match_items(seen([1.05, 1.05]), answers) == [True, False]
    assert Partial().score(seen([1.05, 1.05]), answers) == 0.5
    assert Exact().score(seen([1.05, 1.0]), answers) == 1.0
    assert Exact().score(seen([]), answers) == 0.0
    assert match_items(seen([1.05]), Answers([1.0], (about,))) == [True]


@scorer
def half(observation: Observation, answers: Answers) -> float:
    """A module-level scorer."""
    return 0.5


def plain_half(observation: Observation, answers: Answers) -> float:
    return 0.5


def run_with(given_scorer: object) -> list[float | None]:
    with RewardPipeline(executor=FakeExecutor(), scorer=given_scorer) as reward:
        return reward(completions=["```python\nreturn 1\n```"], test=["f()"], expected=[1])


def test_functions_are_scorers_with_a_decorator_or_without():
    """The decorated one is called as before, too."""
    assert run_with(half) == run_with(plain_half) == [0.5]
    assert half(seen(1), Answers(1)) == 0.5
    assert half.__name__ == "half"


def test_function_scorers_refuse_to_pickle_what_cannot_be_found_again():
    """A lambda has no name to find it by; the message says what to do."""
    with pytest.raises(pickle.PicklingError, match="define it at the top of a module"):
        pickle.dumps(FunctionScorer(lambda observation, answers: 1.0))


@pytest.mark.parametrize("bad", [1.5, -0.1, math.nan, math.inf, None, "1.0x", [1.0]])
def test_a_score_that_is_none_stops_the_run(bad):
    """A scorer that gives anything but a number from 0 to 1 is named."""
    with pytest.raises(PluginError, match="a score is a number from 0 to 1"):
        run_with(FunctionScorer(lambda observation, answers: bad))


def test_a_scorer_that_raises_is_named_with_the_completion():
    """A bug in a scorer is loud, and never a reward."""

    def broken(observation, answers):
        return 1 / 0

    with pytest.raises(PluginError, match=r"scorer .*FunctionScorer raised ZeroDivisionError.*completion 0"):
        run_with(broken)


def test_functions_as_scorers_pickle_by_their_names():
    """With the decorator or without."""
    for one in (FunctionScorer(codereward.values.json_equal), FunctionScorer(codereward.values.identical)):
        assert pickle.loads(pickle.dumps(one)).function is one.function


def test_something_that_is_no_scorer_is_refused_at_once():
    """Before any completion is scored."""
    with pytest.raises(ConfigError, match="no method `score`"):
        RewardPipeline(executor=FakeExecutor(), scorer=object())
