"""The scorers that experiments swap in."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward import MISSING, Answers, ConfigError, Observation, Outcome, Scorer
from codereward.registry import default_registry
from codereward.scorers import F1, Exact, Partial, Shaped, Threshold, Tolerance, Unordered, Weighted
from codereward.testing import ScorerTests
from codereward.values import json_equal

items = st.integers(0, 3) | st.booleans() | st.none()
lists = st.lists(items, max_size=6)


def seen(value: object) -> Observation:
    return Observation(Outcome.SCORED, value)


class TestShaped(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return Shaped()


class TestShapedF1(ScorerTests):
    """Conformance, composed."""

    def make_scorer(self) -> Scorer:
        return Shaped(0.5, of=F1())


class TestThreshold(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return Threshold(1.0)


class TestWeighted(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return Weighted([1, 2, 0.5])


class TestTolerance(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return Tolerance()


class TestUnordered(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return Unordered()


class TestF1(ScorerTests):
    """Conformance."""

    def make_scorer(self) -> Scorer:
        return F1()


@settings(deadline=None)
@given(lists, lists, st.floats(0, 1))
def test_shaped_is_between_its_parts(observed, expected, bonus):
    """The formula, and its two ends."""
    observation, answers = seen(observed), Answers(expected)
    share, right = Partial().score(observation, answers), Exact().score(observation, answers)

    assert Shaped(bonus).score(observation, answers) == pytest.approx((1 - bonus) * right + bonus * share)
    assert Shaped(0).score(observation, answers) == right
    assert Shaped(1).score(observation, answers) == pytest.approx(share)


def test_threshold_pays_all_or_nothing():
    """From the share on, itself included."""
    answers = Answers([1, 2, 3, 4], several=True)

    assert Threshold(0.75).score(seen([1, 2, 3, 0]), answers) == 1.0
    assert Threshold(0.75).score(seen([1, 2, 0, 0]), answers) == 0.0
    assert Threshold(1.0, of=Weighted([3, 1])).score(seen([1, 2, 3, MISSING]), answers) == 0.0


@settings(deadline=None)
@given(lists, lists, st.integers(1, 5))
def test_equal_weights_are_no_weights(observed, expected, weight):
    """Then it is `partial`."""
    observation, answers = seen(observed), Answers(expected)

    assert Weighted([weight]).score(observation, answers) == pytest.approx(
        Partial().score(observation, answers)
    )


def test_weights_count_by_position_and_the_last_one_repeats():
    """A surplus item counts as what it should not be there for."""
    weighted = Weighted([1, 2, 5])

    assert weighted.score(seen([1, 0, 3, 4]), Answers([1, 2, 3, 4])) == 11 / 13
    assert weighted.score(seen([1, 2, 3]), Answers([1, 2])) == 3 / 8
    assert weighted.score(seen([1, 2]), Answers([1, 2])) == 1.0
    assert weighted.score(seen("x"), Answers("x")) == 1.0


def test_tolerance_reaches_into_values():
    """And scores by item, as the scorer inside does."""
    answers = Answers([[1.0, 2.0], 3, "x"])

    assert Tolerance().score(seen([[1.0000001, 2], 3.0000001, "x"]), answers) == 1.0
    assert Tolerance(0.01, 0).score(seen([[1.0, 2.02], 3.001, "x"]), answers) == 2 / 3
    assert Tolerance(of="exact").score(seen([[1.0, 2.02], 3, "x"]), answers) == 0.0
    assert Tolerance().score(seen([True]), Answers([1])) == 0.0


def test_unordered_is_about_each_cases_own_list():
    """Never about the order of cases."""
    unordered = Unordered()

    assert unordered.score(seen([3, 1, 2]), Answers([1, 2, 3])) == 1.0
    assert unordered.score(seen([3, 1, 1]), Answers([1, 2, 3])) == 0.0
    assert unordered.score(seen([[2, 1], [3]]), Answers([[1, 2], [3]], several=True)) == 1.0
    assert unordered.score(seen([[3], [2, 1]]), Answers([[1, 2], [3]], several=True)) == 0.0
    assert Unordered(of="partial").score(seen([[2, 1], [4]]), Answers([[1, 2], [3]], several=True)) == 0.5


@settings(deadline=None)
@given(lists, lists)
def test_f1_is_symmetric_and_one_only_for_the_same_items(observed, expected):
    """Precision and recall change places."""
    score = F1().score(seen(observed), Answers(expected))

    assert score == F1().score(seen(expected), Answers(observed))
    assert (score == 1.0) == (Unordered().score(seen(observed), Answers(expected)) == 1.0)


@pytest.mark.parametrize(
    ("observed", "expected", "score"),
    [
        ([1, 2, 3], [3, 2, 1], 1.0),
        ([1, 2], [1, 2, 3, 4], 2 / 3),
        ([1, 2, 3, 4], [1, 2], 2 / 3),
        ([1, 1, 1], [1], 0.5),
        ([True], [1], 0.0),
        ([1.0], [1], 1.0),
        ([], [1], 0.0),
        ([], [], 1.0),
        (list(range(1000)), [1], 2 / 1001),
        ("ab", ["a", "b"], 0.0),
        ({"a": 1}, {"a": 1}, 1.0),
    ],
)
def test_f1_by_example(observed, expected, score):
    """Neither listing everything nor listing little pays."""
    assert F1().score(seen(observed), Answers(expected)) == pytest.approx(score)


def test_f1_of_several_cases_is_their_mean():
    """A case that is missing scores nothing."""
    answers = Answers([[1, 2], [3], 4, 5], several=True)

    assert F1().score(seen([[2, 1], [3, 4, 5], 4, MISSING]), answers) == pytest.approx((1 + 0.5 + 1 + 0) / 4)


def same_length(observed: object, expected: object) -> bool:
    return isinstance(observed, str) and len(observed) == len(str(expected))


@pytest.mark.parametrize("scorer", [Tolerance(), Unordered(of="partial"), F1()])
def test_a_row_that_says_how_values_compare_is_obeyed(scorer):
    """The rule of the row wins over the scorer's."""
    answers = Answers(["ab", "c"], (same_length,), several=True)

    assert scorer.score(seen(["xy", "zz"]), answers) == 0.5


def test_one_case_is_still_several():
    """A list as the only case's value is not mistaken for the cases."""
    answers = Answers([[1, 2]], (json_equal,), several=True)

    assert Exact().score(seen([[1, 2]]), answers) == 1.0
    assert Exact().score(seen([1, 2]), answers) == 0.0
    assert Partial().score(seen([[1, 3]]), answers) == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shaped(1.5), "bonus has to be"),
        (lambda: Shaped(True), "bonus has to be"),
        (lambda: Shaped(of="f1"), "'exact', 'partial' or an instance"),
        (lambda: Threshold(0), "above 0"),
        (lambda: Threshold(2), "at has to be"),
        (lambda: Weighted([]), "at least one"),
        (lambda: Weighted([1, 0]), "above 0"),
        (lambda: Weighted([math.nan]), "above 0"),
        (lambda: Tolerance(-1), "at least 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(make, message):
    """When the scorer is made."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("name", "options", "cls"),
    [
        ("shaped", {"bonus": 0.2}, Shaped),
        ("threshold", {"at": 0.5, "of": "exact"}, Threshold),
        ("weighted", {"weights": [1, 2]}, Weighted),
        ("tolerance", {"absolute": 0.1}, Tolerance),
        ("unordered", {}, Unordered),
        ("f1", {}, F1),
    ],
)
def test_scorers_have_names(name, options, cls):
    """As users type them, with plain options."""
    assert isinstance(default_registry().create("scorer", name, options), cls)


def test_a_wrong_option_is_an_error_of_configuration():
    """Nothing has run."""
    with pytest.raises(ConfigError, match="bonus"):
        default_registry().create("scorer", "shaped", {"bonus": 7})
