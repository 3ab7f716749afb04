"""Decoding and comparing values as JSON."""

from __future__ import annotations

import datetime as dt
import json
import math
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codereward.values import UNEQUAL, Undecodable, decode_json, identical, json_equal, plain_json

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_a_value_survives_json_and_equals_itself(value):
    """What goes through JSON comes back equal, NaN and lone surrogates included."""
    assert json_equal(decode_json(json.dumps(value)), plain_json(value))


@given(values, values)
def test_equality_is_symmetric_and_agrees_with_the_text(one, other):
    """Equal values have equal sorted JSON texts, but for how numbers are written."""
    equal = json_equal(one, other)

    assert equal == json_equal(other, one)
    if json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert equal


EQUAL = [
    (1, 1.0),
    (0.0, -0.0),
    (math.nan, math.nan),
    (math.inf, math.inf),
    ([1, [2]], [1.0, [2]]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    (2**64, 2**64),
]
DIFFERENT = [
    (True, 1),
    (False, 0),
    (True, 1.0),
    (None, False),
    ("1", 1),
    ([], {}),
    ([1], [1, 2]),
    ({"a": 1}, {"a": 1, "b": 1}),
    ({"a": 1}, {"b": 1}),
    (math.nan, 1),
    (1, math.nan),
    (math.inf, -math.inf),
    (2**53, 2**53 + 1),
    (float(2**53), 2**53 + 1),
    (UNEQUAL, UNEQUAL),
    ([UNEQUAL], [1]),
    ("a", "A"),
    (None, ""),
]


@pytest.mark.parametrize(("observed", "expected"), EQUAL)
def test_equal(observed, expected):
    """Numbers by value, containers by content, NaN where it is expected."""
    assert json_equal(observed, expected)


@pytest.mark.parametrize(("observed", "expected"), DIFFERENT)
def test_different(observed, expected):
    """No truth is a number, no text is a number, and nothing is nearly equal."""
    assert not json_equal(observed, expected)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', "9" * 100_001, "-" + "9" * 1_000_000])
def test_what_json_allows_but_no_row_can_mean_equals_nothing(text):
    """Repeated keys and endless numbers."""
    assert decode_json(text) is UNEQUAL


def test_long_integers_are_exact():
    """Longer than the interpreter converts by itself, up to the limit."""
    digits = "123456789" * 10_000
    value = decode_json(digits)

    assert value % 10**9 == 123456789
    assert decode_json("-" + digits) == -value


@pytest.mark.parametrize("text", ["", "[", "nul", "'a'", "[" * 100_000, b"\xff", "1 2", "{1: 2}", "\x00"])
def test_what_is_no_json_is_undecodable(text):
    """One error, whatever is wrong."""
    with pytest.raises(Undecodable):
        decode_json(text)


def test_the_worst_numbers_decode_in_bounded_time():
    """A megabyte of digits, in many numbers or one."""
    start = time.monotonic()
    decode_json("[" + ",".join(["9" * 100_000] * 10) + "]")
    decode_json("9" * 4_000_000)

    assert time.monotonic() - start < 5


def test_deep_values_compare_without_recursion():
    """Nesting cannot break the comparison."""
    deep: object = 1
    other: object = 1
    for _ in range(100_000):
        deep, other = [deep], [other]

    assert json_equal(deep, other)
    assert not json_equal(deep, [other])
    # Taken apart step by step: the interpreter would recurse to free it.
    while isinstance(deep, list):
        deep, other = deep.pop(), other.pop()


def test_expected_values_take_the_form_that_json_gives_back():
    """Tuples become lists, keys become text, as json.dumps does it."""
    assert plain_json({1: (1, 2), None: True, 2.5: "x"}) == {"1": [1, 2], "null": True, "2.5": "x"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "a set"),
        (dt.date(2020, 1, 2), "a date"),
        (b"x", "a bytes"),
        ({(1, 2): 3}, "the key"),
        ({1: "a", "1": "b"}, "two keys"),
        (1 + 2j, "a complex"),
    ],
)
def test_expected_values_without_a_json_form_are_refused(value, message):
    """The message names the type, so that the data set can be mended."""
    with pytest.raises(ValueError, match=message):
        plain_json([value])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ([1], (1,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 0}, {True: 0}),
        (object(), object()),
    ],
)
def test_values_that_can_be_told_apart_are_not_identical(one, other):
    """Python's own equality would say otherwise of most of them."""
    assert not identical(one, other)


@given(values)
def test_a_copy_is_identical(value):
    """Whatever the value, its copy cannot be told apart."""
    assert identical(value, pickle.loads(pickle.dumps(value)))
