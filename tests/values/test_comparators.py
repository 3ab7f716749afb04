"""The named rules of equality, for values and for output."""

from __future__ import annotations

import math
import pickle
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.testing.strategies import json_values
from codereward.values import UNEQUAL, Close, json_equal, unordered_equal, value_comparator
from codereward.values.canonical import canonical
from codereward.values.texts import TEXT_RULES, text_comparator


@settings(deadline=None)
@given(json_values(), json_values())
def test_canonical_texts_are_equal_when_values_are(one, other):
    """And only then."""
    assert (canonical(one) == canonical(other)) == json_equal(one, other)


@settings(deadline=None)
@given(st.lists(json_values(max_leaves=3), max_size=6), st.randoms())
def test_any_order_of_the_items_is_equal(items, random):
    """As often as expected, no more and no less."""
    shuffled = random.sample(items, len(items))

    assert unordered_equal(shuffled, items)
    assert not unordered_equal([*shuffled, 1], items)
    assert not unordered_equal([UNEQUAL, *shuffled], [1, *items])


def test_order_matters_below_the_top():
    """And values that are no lists compare as ever."""
    assert not unordered_equal([[1, 2]], [[2, 1]])
    assert unordered_equal({"a": [1, 2]}, {"a": [1, 2]})
    assert not unordered_equal("ab", ["a", "b"])


def test_numbers_that_collide_are_compared_in_bounded_time():
    """Their hashes are the same; the texts' are not."""
    many = [number * (2**61 - 1) for number in range(20_000)]
    start = time.monotonic()

    assert unordered_equal(many[::-1], many)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("observed", "expected", "equal"),
    [
        (1.0000001, 1, True),
        (1, 1.0000001, True),
        (1.1, 1, False),
        (1e12 + 1, 1e12, True),
        (10**17 + 1, 10**17, False),
        (1.0, True, False),
        (True, 1.0, False),
        (None, 0.0, False),
        ("1.0", 1.0, False),
        (math.nan, 1.0, False),
        (math.nan, math.nan, True),
        (math.inf, 1.0, False),
        (1.0, math.inf, False),
        (math.inf, math.inf, True),
        (-math.inf, math.inf, False),
        (10**400, 1.0, False),
        (1.0, 10**400, False),
        (UNEQUAL, 1.0, False),
        ([1.0000001, {"a": 2}], [1, {"a": 2.0000001}], True),
        ([1.0, 2.0], [1.0], False),
    ],
)
def test_close(observed, expected, equal):
    """Numbers at any depth, but not two integers, and nothing else."""
    assert Close()(observed, expected) is equal


def test_tolerances_are_checked():
    """When the comparator is made."""
    for bad in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="at least 0"):
            Close(bad)
    with pytest.raises(ValueError, match="no tolerance"):
        value_comparator("json", 0.1)


@pytest.mark.parametrize(
    ("rule", "observed", "expected", "equal"),
    [
        ("exact", "a\n", "a\n", True),
        ("exact", "a", "a\n", False),
        ("lines", "a  \nb\t\r\n\n", "a\nb", True),
        ("lines", "\na", "a", False),
        ("lines", "a b", "a  b", False),
        ("lines", "a", "a\nb", False),
        ("lines", "a\nb", "a", False),
        ("lines", "", "\n", True),
        ("unordered-lines", "b\na\n", "a\nb", True),
        ("unordered-lines", "b\na\na", "a\nb", False),
        ("tokens", "1 2\n3", "1\n2 3\n", True),
        ("tokens", "1 2", "1 2 3", False),
        ("tokens", "1 2 3 4", "1 2 3", False),
        ("tokens", "12 3", "1 23", False),
        ("tokens", "Yes", "yes", False),
        ("caseless-tokens", "YES", "yes", True),
        ("caseless-lines", "Yes \n", "yes", True),
        ("caseless-numbers", "Case 1.50", "case 1.5", True),
        ("numbers", "1.0000001", "1", True),
        ("numbers", "1", "1.0000001", True),
        ("numbers", "1.1", "1", False),
        ("numbers", "+1.5e0", "1.5", True),
        ("numbers", "50000000000000001", "50000000000000000", False),
        ("numbers", "007", "7", True),
        ("numbers", "x 1.0", "x 1", True),
        ("numbers", "y 1.0", "x 1", False),
        ("numbers", "nan", "1", False),
        ("numbers", "nan", "nan", True),
        ("numbers", "inf", "1e5", False),
        ("numbers", "1e999", "1e998", False),
        ("numbers", "1_0", "10", False),
        ("numbers", "٣", "3", False),
        ("numbers", "1.0", "1 2", False),
        ("numbers", "9" * 100_000, "9" * 100_000 + ".5", False),
    ],
)
def test_output(rule, observed, expected, equal):
    """The table of the documentation, and its traps."""
    assert text_comparator(rule)(observed, expected) is equal


@settings(deadline=None)
@given(st.text(), st.sampled_from(sorted(TEXT_RULES)), st.booleans())
def test_every_text_equals_itself_and_no_prefix_of_more(text, rule, caseless):
    """Nothing printed is nothing, and what is no text equals nothing."""
    compare = text_comparator("caseless-" * caseless + rule)

    assert compare(text, text)
    assert not compare(text, text + "\nx")
    assert not compare(text + "\nx", text)
    assert not compare(None, text)
    assert pickle.loads(pickle.dumps(compare)) == compare


def test_tolerance_of_output():
    """Absolute or relative, whichever is wider."""
    compare = text_comparator("numbers", 0.01)

    assert compare("100.9", "100")
    assert compare("0.009", "0.0")
    assert not compare("101.1", "100.0")
