"""How rows split into questions and answers, for the kinds that know no language."""

from __future__ import annotations

import json
import pickle

import pytest

from codereward import Answers, DatasetError, Limits, Questions
from codereward.harnesses import PythonHarness
from codereward.values import Close, unordered_equal

HARNESS = PythonHarness()


def split(kind: str, **row: object) -> tuple[Questions, Answers]:
    return HARNESS.split({"kind": kind, **row})


@pytest.mark.parametrize(
    "inputs",
    [
        [[1, 2], [3]],
        [{"args": [1, 2]}, {"args": [3], "kwargs": {}}],
        [{"args": [1, 2], "kwargs": None}, {"args": [3], "kwargs": None}],
        ["[1, 2]", '{"args": [3]}'],
        "[[1, 2], [3]]",
    ],
)
def test_calls_are_the_same_however_their_inputs_are_written(inputs):
    """Lists, mappings, JSON text of each input, JSON text of all."""
    questions, answers = split("call", entry_point="f", inputs=inputs, expected=[3, 3])

    assert [json.loads(item) for item in questions.items] == [
        {"call": "f", "args": [1, 2], "kwargs": {}},
        {"call": "f", "args": [3], "kwargs": {}},
    ]
    assert answers == Answers([3, 3], several=True)
    assert questions.entry_point == "f"


def test_a_call_with_keyword_arguments_alone():
    """No positional ones."""
    questions, _ = split("call", entry_point="A.f", inputs=[{"kwargs": {"x": None}}], expected=[None])

    assert json.loads(questions.items[0]) == {"call": "A.f", "args": [], "kwargs": {"x": None}}
    assert questions.entry_point == "f"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"inputs": []}, "at least one argument list"),
        ({"inputs": {"args": [1]}}, "at least one argument list"),
        ({"inputs": "[1"}, "no JSON"),
        ({"inputs": [1]}, "input 0 is 1"),
        ({"inputs": [[1], {"a": 1}]}, "input 1"),
        ({"inputs": [None]}, "input 0"),
        ({"inputs": [[(1, 2)]], "expected": [1]}, "kind 'cases'"),
        ({"inputs": [[{1: 2}]], "expected": [1]}, "kind 'cases'"),
        ({"inputs": [[{1, 2}]], "expected": [1]}, "JSON has no form for"),
        ({"inputs": [[1]], "expected": [1, 2]}, "a list of 1 values"),
        ({"inputs": [[1]], "expected": 1}, "it holds a int"),
        ({"inputs": [[1]], "entry_point": "f()"}, "needs a name"),
        ({"inputs": [[1]], "entry_point": None}, "entry_point"),
    ],
)
def test_calls_that_cannot_be_scored_are_refused(columns, message):
    """Before anything runs, with what to do."""
    with pytest.raises(DatasetError, match=message):
        split("call", **{"entry_point": "f", "expected": [1], **columns})


def test_stdio_pairs_texts():
    """One question for each standard input; the outputs stay here."""
    questions, answers = split("stdio", stdin=["1\n", ""], stdout=["2\n", ""])

    assert questions.items == ("1\n", "")
    assert answers.value == ["2\n", ""]
    assert answers.several
    assert split("stdio", stdin="1", stdout="2")[1].value == ["2"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"stdin": []}, "at least one text"),
        ({"stdin": ["1", "2"]}, "pairs"),
        ({"stdin": [1]}, "no text"),
        ({"stdout": [" \n"]}, "no output at all"),
        ({"comparator": "fuzzy"}, "no comparator 'fuzzy' for output; there are: exact, lines"),
        ({"comparator": "tokens", "tolerance": 0.1}, "no tolerance"),
        ({"comparator": "numbers", "tolerance": -1}, "at least 0"),
        ({"comparator": "numbers", "tolerance": "x"}, "a number"),
    ],
)
def test_stdio_rows_that_cannot_be_scored_are_refused(columns, message):
    """Before anything runs, with what to do."""
    with pytest.raises(DatasetError, match=message):
        split("stdio", **{"stdin": ["1"], "stdout": ["2"], **columns})


def starts_with(observed: object, expected: object) -> bool:
    return str(observed)[len(str(expected)) - 1] == str(expected)[-1]


def test_comparators_given_in_code_have_names():
    """They pickle with the harness, and a comparator that fails on odd output says no."""
    harness = pickle.loads(pickle.dumps(PythonHarness(comparators={"mine": starts_with})))
    row = {"kind": "stdio", "stdin": ["1"], "stdout": ["ab"], "comparator": "mine"}
    (comparator,) = harness.split(row)[1].comparators

    assert comparator("xb", "ab")
    assert not comparator("", "ab")
    assert not comparator(None, "ab")
    with pytest.raises(DatasetError, match="given in code: mine"):
        harness.split(row | {"comparator": "other"})


def test_a_rule_of_equality_can_be_named_by_the_row():
    """For values, as for output."""
    row = {"test": "f()", "expected": [1.0]}

    assert split("expression", **row)[1].comparators == ()
    assert split("expression", **row, tolerance=0.1)[1].comparators == (Close(0.1, 0.1),)
    assert split("expression", **row, comparator="close")[1].comparators == (Close(),)
    assert split("expression", **row, comparator="unordered")[1].comparators == (unordered_equal,)
    with pytest.raises(DatasetError, match="there are: json, close, unordered"):
        split("expression", **row, comparator="lines")


def test_a_row_can_bring_its_own_time_limit():
    """Everything else stays the harness's."""
    harness = PythonHarness({"memory_bytes": 10**9})
    row = {"kind": "expression", "test": "f()", "expected": 1}

    assert harness.split(row | {"time_limit": 3})[0].limits == Limits(3, 3, 10**9)
    assert harness.split(row)[0].limits is None
    for bad in (0, -1, "3", True, float("nan"), float("inf")):
        with pytest.raises(DatasetError, match="time_limit"):
            harness.split(row | {"time_limit": bad})


@pytest.mark.parametrize("column", ["setup", "prelude"])
def test_code_around_the_completion_has_to_be_code(column):
    """Found out before anything runs."""
    questions, _ = split("cases", tests=["f()"], expected=[1], **{column: "x = 1"})

    assert getattr(questions, column) == "x = 1"
    with pytest.raises(DatasetError, match=f"column '{column}' is no program"):
        split("cases", tests=["f()"], expected=[1], **{column: "x ="})


def test_an_unknown_kind_lists_the_known_ones():
    """Whatever the column holds."""
    for kind in ("doctest", None, 3, ["call"]):
        with pytest.raises(DatasetError, match="it has: expression, cases, call"):
            HARNESS.split({"kind": kind})


def test_tests_may_hold_long_data():
    """Longer than a completion may be."""
    data = list(range(40_000))
    questions, _ = split("cases", tests=[f"f({data})"], expected=[1])
    checked, answers = split("asserts", tests=f"assert f({data}) == {data}")

    assert len(questions.items[0]) > 200_000
    assert len(checked.items[0]) > 200_000
    assert isinstance(answers.value, list)
    assert len(answers.value[0]) > 200_000
    for wrong in (f"f({data}", "(" * 200_000):
        with pytest.raises(DatasetError, match="no expression"):
            split("cases", tests=[wrong], expected=[1])
