"""Assert statements split into questions for the sandbox and checks for the host."""

from __future__ import annotations

import ast
import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codereward import (
    Answers,
    Case,
    CommandResult,
    DatasetError,
    Observation,
    Outcome,
    Run,
    Status,
)
from codereward.harnesses import PythonHarness
from codereward.harnesses.python.checks import holds
from codereward.scorers import Exact, Partial
from codereward.values.standins import Raised

HARNESS = PythonHarness()


def split(*tests: str, **columns: object) -> tuple[list[dict[str, Any]], list[str]]:
    """The questions, decoded, and the checks."""
    questions, answers = HARNESS.split({"kind": "asserts", "tests": list(tests), **columns})
    assert isinstance(answers.value, list)
    return [json.loads(item) for item in questions.items], answers.value


def asks(*tests: str, **columns: object) -> tuple[list[list[str]], str, bool]:
    """Groups of questions, check (blanks made even) and trust of the only assert."""
    (item,), (check,) = split(*tests, **columns)
    return item["asks"], " ".join(check.split()), item["shared"]


@pytest.mark.parametrize(
    ("test", "questions", "check"),
    [
        ("assert f(1) == 2", ["f(1)"], "_0 == 2"),
        ("assert (f(1)) == 2", ["f(1)"], "( _0 ) == 2"),
        ("assert 2 == f(1)", ["f(1)"], "2 == _0"),
        ("assert f(1) == 2, f'no: {f(1)}'", ["f(1)"], "_0 == 2"),
        ("assert 1 < f(2) <= 3", ["f(2)"], "1 < _0 <= 3"),
        ("assert f(1)", ["f(1)"], "_0"),
        ("assert not f(1)", ["f(1)"], "not _0"),
        ("assert f(1) is None", ["f(1)"], "_0 is None"),
        ("assert f(1) is not True", ["f(1)"], "_0 is not True"),
        ("assert f(1) in (1, 2)", ["f(1)"], "_0 in (1, 2)"),
        ("assert 'a' not in f(1)", ["f(1)"], "'a' not in _0"),
        ("assert abs(f(1) - 2.5) < 1e-6", ["f(1)"], "abs( _0 - 2.5) < 1e-6"),
        ("assert round(f(1), 2) == 3.14", ["f(1)"], "round( _0 , 2) == 3.14"),
        ("assert set(f(1)) == set([1, 2])", ["set(f(1))"], "_0 == set([1, 2])"),
        ("assert len(f(1)) == 3", ["len(f(1))"], "_0 == 3"),
        ("assert f(1) == float('inf')", ["f(1)"], "_0 == float('inf')"),
        ("assert f(1) == 2 ** 10 * -1", ["f(1)"], "_0 == 2 ** 10 * -1"),
        ("assert f(1) == {(1, 2): {3}, None: b'x'}", ["f(1)"], "_0 == {(1, 2): {3}, None: b'x'}"),
        ("assert f('é') == 'ü'", ["f('é')"], "_0 == 'ü'"),
        ("assert f([1,\n 2]) == [ # one\n 1]", ["f([1,\n 2])"], "_0 == [ # one 1]"),
        ("assert Solution().go(n = 1) == -1", ["Solution().go(n = 1)"], "_0 == -1"),
        ("assert f(1)[0].name == 'x'", ["f(1)[0].name"], "_0 == 'x'"),
        ("assert f(g(2), 3) == 4", ["f(g(2), 3)"], "_0 == 4"),
        ("assert f(1) == f(2)", ["f(1)", "f(2)"], "_0 == _1"),
        ("assert f(1) + g(2) == 3", ["f(1) + g(2)"], "_0 == 3"),
        ("assert f(1) + 1 == 3", ["f(1)"], "_0 + 1 == 3"),
        ("assert (f(1), f(2)) == (1, 2)", ["f(1)", "f(2)"], "( _0 , _1 ) == (1, 2)"),
        ("assert all(x > 0 for x in f(3))", ["f(3)"], "all(x > 0 for x in _0 )"),
        ("assert all(abs(a - b) < 1e-6 for a, b in zip(f(3), [1.5]))", ["f(3)"], "all(abs(a - b) < 1e-6 for a, b in zip( _0 , [1.5]))"),
        ("assert [f(i) for i in range(3)] == [0, 1, 4]", ["[f(i) for i in range(3)]"], "_0 == [0, 1, 4]"),
        ("assert sorted(f(1), key=lambda t: t[1]) == [1]", ["sorted(f(1), key=lambda t: t[1])"], "_0 == [1]"),
        ("assert sorted(f(1), reverse=True) == [2, 1]", ["f(1)"], "sorted( _0 , reverse=True) == [2, 1]"),
        ("assert isinstance(f(1), (int, str))", ["f(1)"], "isinstance( _0 , (int, str))"),
        ("assert f'{f(1):.2f}' == '3.14'", ["f'{f(1):.2f}'"], "_0 == '3.14'"),
        ("import math\nassert math.isclose(f(1), math.pi, rel_tol=1e-9)", ["f(1)"], "math.isclose( _0 , math.pi, rel_tol=1e-9)"),
        ("from math import isclose as near, sqrt\nassert near(f(1), sqrt(2))", ["f(1)"], "math.isclose ( _0 , math.sqrt (2))"),
        ("from math import *\nassert f(1) == pi", ["f(1)"], "_0 == math.pi"),
        ("import collections as c\nassert f(1) == c.Counter('aab')", ["f(1)"], "_0 == collections.Counter ('aab')"),
        ("PI = 3.14\nassert abs(f(1) - PI) < 1e-3", ["f(1)"], "abs( _0 - (3.14) ) < 1e-3"),
    ],
)  # fmt: skip
def test_what_is_expected_stays_on_the_host(test, questions, check):
    """Questions hold the completion's calls; checks hold all the rest."""
    groups, left, shared = asks(test)

    assert [question for group in groups for question in group] == questions
    assert left == check
    assert not shared


@pytest.mark.parametrize(
    "test",
    [
        "assert isinstance(f(1), Node)",
        "assert type(f(1)) == int",
        "assert all(f(i) == i for i in range(3))",
        "assert f(1).startswith('ab')",
        "assert f(1) == unknown(3) == 4",
        "import numpy as np\nassert np.allclose(f(1), [1.0])",
        "import numpy as np\nassert f(1) == np.array([1])",
        "def same(a, b): return a == b\nassert same(f(1), 2)",
        "assert f(1) == 'x'.upper()",
        "assert f(1) == '%d' % 3",
        "assert callable(f)",
    ],
)
def test_what_tells_the_sandbox_an_answer_is_trusted_less(test):
    """It can still be asked; the verdict says so."""
    expected = "unknown" not in test

    assert asks(test)[2] is expected


@pytest.mark.parametrize(
    "test",
    [
        "assert (y := f(1)) == 2",
        "assert f(1) is f(2)",
        "assert f(1) is g",
        "for i in range(3):\n    assert f(i) == i",
        "with open('x') as file:\n    assert f(file) == 1",
        "try:\n    f(1)\n    assert False\nexcept ValueError:\n    pass",
        "if f(1):\n    assert f(2)",
    ],
)
def test_what_cannot_be_split_is_asked_as_a_whole(test):
    """As a statement that holds or not, which is trusted less."""
    (item,), (check,) = split(test)

    assert ast.parse(item["hold"])
    assert item["shared"]
    assert check == "_0"


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([], "at least one"),
        ("", "text with something in it"),
        ("x = 1", "no assert statement"),
        ("def test():\n    assert f(1)\ntest()", "no assert statement"),
        ("assert True", "does not use the completion"),
        ("assert 1 == 1.0", "does not use the completion"),
        ("assert len([1, 2]) == 2", "does not use the completion"),
        ("x = 3\nassert x == 3", "does not use the completion"),
        ("assert sum(10, 15) == 25", "name it in 'entry_point'"),
        ("assert f", "only whether 'f' is there"),
        ("assert (f(1) == 2, 'message')", "is about a tuple"),
        ("assert f(1) ==", "no Python"),
        ("assert " + "(" * 200 + "f()" + ")" * 200, "no Python"),
        (["assert f(1) == 2", "assert 2"], "does not use the completion"),
        ("import numpy as np\nassert np.zeros(1)[0] == 0", "does not use the completion"),
        ("assert callable(print)", "does not use the completion"),
    ],
)
def test_tests_that_test_nothing_are_refused(tests, message):
    """Before anything runs."""
    with pytest.raises(DatasetError, match=message):
        HARNESS.split({"kind": "asserts", "tests": tests})


def test_names_that_tests_give_to_results_are_results():
    """They are asked for after the statements that made them."""
    (item,), _ = split("result = f(1)\nassert result")

    assert item == {"before": "result = f(1)", "asks": [["result"]], "shared": False}


def test_another_name_for_a_function_is_no_state():
    """Asserts that use it stand alone."""
    items, _ = split("candidate = f\nassert candidate(1) == 2\nassert candidate(2) == 3")

    assert [item["before"] for item in items] == ["candidate = f"] * 2


def test_tests_may_import_the_completion():
    """It is loaded as the module `solution`."""
    assert asks("from solution import f\nassert f(1) == 2") == ([["f(1)"]], "_0 == 2", False)
    assert asks("import solution as s\nassert s.f(1) == 2") == ([["s.f(1)"]], "_0 == 2", False)


def test_code_before_the_completion_is_no_completion():
    """What tests nothing else is refused; what comes after the completion may use it."""
    helper = "def helper(x): return f(x)"

    assert asks("assert helper(1) == 2", setup=helper)[0] == [["helper(1)"]]
    with pytest.raises(DatasetError, match="does not use the completion"):
        asks("assert helper(1) == 2", prelude=helper)


def test_the_entry_point_is_the_completions_even_when_it_is_named_like_a_builtin():
    """Some data sets have a function `sum`."""
    assert asks("assert sum(10, 15) == 6", entry_point="sum") == ([["sum(10, 15)"]], "_0 == 6", False)


def test_expected_values_with_a_name_stay_on_the_host():
    """And inputs with a name go into the sandbox."""
    items, checks = split("given = [3, 1]\nexpected = [1, 3]\nassert f(given) == expected")

    assert items[0]["before"] == "given = [3, 1]"
    assert checks == ["_0  ==  ([1, 3])"]


def test_a_list_that_was_passed_may_have_changed():
    """The call is made again before the list is asked for."""
    items, checks = split("x = [3, 1]\nassert f(x) is None", "assert x == [1, 3]")

    assert "f(x)" in items[1]["before"]
    assert items[1]["asks"] == [["x"]]
    assert checks[1] == "_0  == [1, 3]"


def test_asserts_about_one_object_come_after_each_other():
    """Those about nothing but functions stand alone."""
    items, _ = split("s = Stack()\ns.push(1)\nassert s.pop() == 1\nassert s.empty()\nassert f(1) == 2")

    assert [item["before"].count("s.pop()") for item in items] == [0, 1, 0]
    assert all("s.push(1)" in item["before"] for item in items)


def test_what_may_not_be_needed_may_fail():
    """`or` and `and` make groups, whose values are taken down one group after another."""
    assert asks("assert 0 or f(1)")[0] == [[], ["f(1)"]]
    assert asks("assert f(1) == 1 or f(2) == g(2)")[0] == [["f(1)"], ["f(2)", "g(2)"]]


def test_names_of_the_code_around_the_completion():
    """Constants of the prelude are known, its functions are no part of the completion."""
    prelude = "from math import inf as endless\nbest = -endless\ndef tree(x): return x"

    assert asks("assert f(1) == best", prelude=prelude)[1:] == ("_0 == (- math.inf)", False)
    assert asks("assert f(1) == tree([1])", prelude=prelude)[2]
    assert not asks("assert f(tree([1])) == 3", prelude=prelude)[2]


# --------------------------------------------------------------------------- checks


@pytest.mark.parametrize(
    ("observed", "check", "expected"),
    [
        ([1], "_0 == 1.0 == True", True),
        ([(1, 2)], "_0 == [1, 2]", False),
        ([{1, 2}], "_0 == {2, 1}", True),
        ([True], "_0 is True", True),
        ([1], "_0 is True", False),
        ([5], "_0 is 5", True),
        ([None], "_0 is None", True),
        ([3.14159], "round(_0, 2) == 3.14", True),
        ([[1, 2]], "sum(_0) == 3 and max(_0) - min(_0) == 1", True),
        ([[3, 1]], "sorted(_0, key=str, reverse=True) == [3, 1]", True),
        ([[1, 2]], "[x * 2 for x in _0 if x > 1] == [4]", True),
        ([[1, 2]], "{x: y for x, y in zip(_0, 'ab')} == {1: 'a', 2: 'b'}", True),
        ([[1, 2]], "{x % 2 for x in _0} == {0, 1}", True),
        ([[[1], [2]]], "[y for x in _0 for y in x] == [1, 2]", True),
        ([2], "_0 if _0 > 3 else _0 == 2", True),
        ([[1, 2, 3]], "_0[1:] == [2, 3] and _0[-1] == 3", True),
        ([5], "isinstance(_0, (str, int))", True),
        ([5], "~_0 == -6 and +_0 == 5 and -_0 == -5", True),
        ([5], "_0 // 2 == 2 and _0 % 2 == 1 and _0 / 2 == 2.5 and _0 ** 2 == 25", True),
        ([6], "_0 & 3 == 2 or (_0 | 1) == 7 and (_0 ^ 2) == 4 and _0 << 1 == 12 and _0 >> 1 == 3", True),
        (["ab"], "_0 + 'c' == 'abc' and _0 * 2 == 'abab' and 'a' in _0", True),
        ([1, 2], "_0 == 1 or _2 == 3", True),
        ([1, 2], "_0 == 2 or _2 == 3", False),
        ([None], "_0 < 3", False),
        ([[]], "_0[0] == 1", False),
        ([0], "1 / _0 == 1", False),
        ([10**5000], "len(str(_0)) == 5001", True),
    ],
)
def test_checks(observed, check, expected):
    """As Python would decide; an error is a no."""
    assert holds(observed, check) is expected


@pytest.mark.parametrize(
    "check",
    [
        "'a' * _0 == 'b'",
        "[0] * _0 == 1",
        "2 ** _0 == 1",
        "_0 ** _0 == 1",
        "pow(3, _0) == 1",
        "1 << _0 == 1",
        "list(range(_0)) == 1",
        "sum(range(_0)) == 1",
        "[x for x in range(_0)] == 1",
        "all(x >= 0 for x in range(_0))",
        "math.factorial(_0) == 1",
        "round(5, -_0) == 1",
        "'%999999999d' % _0 == ''",
        "(10 ** 9999) ** _0 == 1",
    ],
)
def test_checks_cannot_be_made_to_take_forever(check):
    """Whatever number the program gave."""
    assert not holds([10**12], check)


@pytest.mark.parametrize(
    "check",
    [
        "__import__('os')",
        "_0.__class__",
        "open('x')",
        "eval('1')",
        "(lambda: 1)()",
        "x",
        "_1",
        "f(1)",
        "[].append(1)",
    ],
)
def test_checks_know_nothing_else(check):
    """Not by a name, an attribute or a call."""
    assert not holds([1], check)


def test_long_values_are_compared():
    """As long as a result may be."""
    many = list(range(1_000_000))

    assert holds([many], "sorted(_0, reverse=True)[-1] == 0 and _0 == list(range(1000000))")
    assert holds([many[:100_000]], "all(x >= 0 for x in _0)")


def test_sets_of_colliding_numbers_are_refused():
    """A list is harmless; a set of it would not be."""
    many = [number * (2**61 - 1) for number in range(20_000)]

    assert holds([many], "len(_0) == 20000")
    assert not holds([many], "len(set(_0)) == 20000")


def test_checks_pickle():
    """Answers are plain text and one function."""
    _, answers = HARNESS.split({"kind": "asserts", "tests": "assert f(1) == 2"})

    assert pickle.loads(pickle.dumps(answers)) == answers == Answers(["_0  == 2"], (holds,), several=True)


# --------------------------------------------------------------------------- the same as Python's own


@dataclass
class Given:
    """Functions with known results, as a completion would define them."""

    result: object

    def f(self, *_: object) -> object:
        return self.result

    def g(self, *_: object) -> object:
        return 2


literals = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([1.5, 0.5, True, None, "ab", "", b"x", (1, 2), [1, 2], [2, 1], {1: 2}, {1, 2}]),
)
atoms = st.sampled_from(
    ["f(1)", "g()", "2", "[1, 2]", "(1, 2)", "'ab'", "None", "0.5", "{1, 2}", "{1: 2}", "True"]
)
CALLS = ["len", "sorted", "set", "tuple", "list", "sum", "max", "abs", "str", "bool", "int", "float"]
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("{}({})".format, st.sampled_from(CALLS), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%", "&", "|"]), inner),
        st.builds("-{}".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("round({}, 1)".format, inner),
        st.builds("[x for x in {}]".format, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
    ),
    max_leaves=4,
)
comparisons = st.builds(
    "({} {} {})".format,
    expressions,
    st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]),
    expressions,
)
tests = st.recursive(
    comparisons | expressions | st.just("f(1) is None") | st.just("isinstance(f(1), int)"),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner) | st.builds("not {}".format, inner),
    max_leaves=3,
)  # fmt: skip


def python_says(test: str, names: dict[str, Any]) -> bool:
    """Whether the assert passes when it is simply run."""
    try:
        return bool(eval(test, names))  # noqa: S307 - made above
    except Exception:
        return False


def asked(groups: list[list[str]], names: dict[str, Any]) -> list[object] | None:
    """What the runner would report: data, or that the first question raised."""
    values: list[object] = []
    for group in groups:
        try:
            values += [eval(question, names) for question in group]  # noqa: S307 - as above
        except Exception as error:
            if group is groups[0]:
                return None
            values += [Raised(str(error))] * len(group)
    return values


@settings(deadline=None)
@given(tests, literals)
@example("f(1) == 1 or g() == 2", 1)
@example("(f(1) // 0 == 1)", 1)
@example("sorted(f(1)) == [1, 2]", [2, 1])
def test_the_check_decides_as_python_does(test, result):
    """For any assert over known functions, the split one holds when the whole one does."""
    given_names = Given(result)
    names = {"f": given_names.f, "g": given_names.g}
    try:
        (item,), (check,) = split(f"assert {test}")
    except DatasetError as error:
        assert "is about a tuple" in error.message or not ("f(1)" in test or "g()" in test)
        return
    if "hold" in item:
        return

    values = asked(item["asks"], names)

    assert (values is not None and holds(values, check)) == python_says(test, names), (item, check)


# --------------------------------------------------------------------------- reading


def observation(*frames: object) -> tuple[Observation, Answers]:
    """What is read when the two questions bring these tagged values."""
    questions, answers = HARNESS.split(
        {"kind": "asserts", "tests": ["assert f(1) == (1, 2)", "assert f(2) == f(3)"]}
    )
    results = tuple(
        CommandResult(Status.EXITED, 0, result=json.dumps({"value": json.dumps(frame)}).encode() + b"\n")
        for frame in frames
    )
    return HARNESS.read(Run(results), questions), answers


def test_scorers_work_on_checks_as_on_values():
    """Each case has the list of its question's values."""
    seen, answers = observation([{"tuple": [1, 2]}], [3, 4])

    assert seen.cases[0] == Case(Outcome.SCORED, [(1, 2)])
    assert Partial().score(seen, answers) == 0.5
    assert Exact().score(seen, answers) == 0.0
    assert Exact().score(observation([{"tuple": [1, 2]}], [4, 4])[0], answers) == 1.0
    assert Exact().score(observation([[1, 2]], [4, 4])[0], answers) == 0.0


def test_objects_that_call_themselves_equal_are_trusted_less():
    """Against data they are nothing; against each other they may be right."""
    lying = {"opaque": ["AlwaysEqual", True, 0]}
    seen, answers = observation([lying], [lying, lying])

    assert Partial().score(seen, answers) == 0.5
    assert seen.trust == "shared"
    assert observation([lying], [1, 1])[0].trust == "separate"


@settings(deadline=None)
@given(st.binary(max_size=100))
def test_any_result_is_read(data):
    """Nothing that a program writes makes reading fail."""
    questions, answers = HARNESS.split({"kind": "asserts", "tests": "assert f(1) == 2"})
    for result in (data, b'{"value": "' + data + b'"}\n', b'{"value": "[' + data + b']"}\n'):
        seen = HARNESS.read(Run((CommandResult(Status.EXITED, 0, result=result),)), questions)
        if seen.outcome is Outcome.SCORED:
            assert Exact().score(seen, answers) == float(seen.value == [[2]])


def test_questions_hold_no_answers():
    """Law 1, for a test that can be split."""
    program = HARNESS.build("", HARNESS.split({"kind": "asserts", "tests": "e = 'canary'\nassert f(1) == e == 'canary', 'canary'"})[0])  # fmt: skip

    assert not any(b"canary" in content for content in program.files.values())
