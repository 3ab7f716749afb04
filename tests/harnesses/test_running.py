"""The kinds of test with real programs, in the executor `local`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codereward import (
    Executor,
    Extraction,
    Extractor,
    Harness,
    Limits,
    Outcome,
    RewardPipeline,
    Row,
    Verdict,
    Wanted,
)
from codereward.harnesses import PythonHarness
from codereward.registry import default_registry
from codereward.testing import HarnessTests

pytestmark = pytest.mark.xdist_group("running")

ASSERTS = {
    "kind": "asserts",
    "tests": [
        "assert halve(8) == 'CANARY'",
        "given = [2, 4]\nassert [halve(n) for n in given] == ['CANARY', 2]",
    ],
}
CALLS = {
    "kind": "call",
    "entry_point": "halve",
    "inputs": [[8], {"kwargs": {"number": 3}}],
    "expected": [4, 1],
}
SUMS = {"kind": "stdio", "stdin": ["1 2\n", "4 5"], "stdout": ["3\n", "9\n"]}
NAMES = {
    "kind": "asserts",
    "prelude": "from math import inf\nclass Tree:\n    def __init__(self, value): self.value = value\n",
    "setup": "tree = Tree(3)",
    "tests": ["assert value(tree) == 'CANARY'", "assert value(None) == -inf"],
}

HALVE = "def halve(number):\n    return number // 2\n"
SUM = "print(sum(map(int, input().split())))\n"
VALUE = "def value(tree):\n    return tree.value if tree else -inf\n"


def with_answers(row: Row, *answers: str) -> Row:
    """The row with these in place of the canaries of its tests, one for each test."""
    tests = [test.replace("'CANARY'", answer) for test, answer in zip(row["tests"], answers, strict=False)]
    return {**row, "tests": tests + row["tests"][len(answers) :]}


LYING = "class Same(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"


class TestSplittableKinds(HarnessTests):
    """Conformance of the kinds `asserts`, `call` and `stdio`."""

    answer_columns = ("expected", "stdout")
    right = (
        (with_answers(ASSERTS, "4", "1"), HALVE),
        (with_answers(NAMES, "3"), VALUE),
        (CALLS, HALVE),
        (CALLS, "class Solution:\n    def halve(self, number): return number // 2\n"),
        (SUMS, SUM),
        (SUMS, f"if __name__ == '__main__':\n    {SUM}    raise SystemExit\n"),
    )
    wrong = (
        (with_answers(ASSERTS, "4", "1"), "def halve(number): return 4"),
        (with_answers(NAMES, "3"), "def value(tree): return tree.value"),
        (CALLS, "def halve(number): return number / 2"),
        (CALLS, "x = 1"),
        (SUMS, "print(3)"),
        (SUMS, SUM + "raise SystemExit(1)"),
        (SUMS, SUM + "print()\nprint(9)"),
    )
    exploits = (
        (with_answers(ASSERTS, "4", "1"), LYING + "def halve(number): return Same(0)\n"),
        (with_answers(ASSERTS, "4", "1"), "class All:\n    def __eq__(self, other): return True\ndef halve(number): return All()\n"),
        (with_answers(ASSERTS, "4", "1"), "import os\nos._exit(0)"),
        (CALLS, LYING + "def halve(number): return Same(0)\n"),
        (SUMS, "print('3\\n9')"),
        (SUMS, "import sys; sys.exit(0)"),
    )  # fmt: skip

    def plant(self, row: Row, text: str) -> Row:
        row = super().plant(row, text)
        return with_answers(row, repr(text), repr(text)) if row["kind"] == "asserts" else row

    def make_harness(self) -> Harness:
        return PythonHarness(limits=Limits(wall_seconds=5, cpu_seconds=2))

    def make_executor(self) -> Executor:
        return default_registry().create("executor", "local", {"workers": 2})


class WholeText(Extractor):
    """The completion is the code."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        return Extraction(text, "whole_text")


@pytest.fixture(scope="module")
def pipeline() -> Iterator[RewardPipeline]:
    harness = PythonHarness(limits=Limits(wall_seconds=5, cpu_seconds=2))
    with RewardPipeline(extractor=WholeText(), harness=harness, scorer="partial", max_concurrency=2) as made:
        yield made


def score(pipeline: RewardPipeline, code: str, **row: object) -> Verdict:
    (verdict,) = pipeline.score([code], **{name: [value] for name, value in row.items()})
    return verdict


def columns_of(tests: dict[str, object]) -> dict[str, object]:
    """The columns of an exploit's tests."""
    if tests["kind"] == "asserts":
        return {"kind": "asserts", "tests": tests["asserts"]}
    cases = tests["cases"]
    if tests["kind"] == "stdio":
        return {"kind": "stdio"} | {name: [case[name] for case in cases] for name in ("stdin", "stdout")}
    return {"kind": "expression", "test": cases[0]["expr"], "expected": cases[0]["expected"]}


EXPLOITS = [
    json.loads(line)
    for line in (Path(__file__).with_name("data") / "exploits.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("exploit", EXPLOITS, ids=lambda exploit: exploit["id"])
def test_exploits_earn_no_more_than_honest_work(pipeline, exploit):
    """All cases together, as a trainer that wants solved problems scores them."""
    verdict = score(pipeline, exploit["code"], **columns_of(exploit["tests"]))
    whole = exploit["tests"]["kind"] != "expression"

    assert verdict.reward is not None
    assert (verdict.reward == 1.0 if whole else verdict.reward) <= exploit["max_reward"]


def test_a_case_costs_the_others_nothing(pipeline):
    """Whatever it does; the reasons are for people."""
    code = """
def f(n):
    if n == 1: raise ValueError("no\\nnot one")
    if n == 2:
        import os
        os._exit(0)
    if n == 3: return f
    if n == 4: print("x" * 100)
    return n
"""
    verdict = score(
        pipeline, code, kind="call", entry_point="f", inputs=[[n] for n in range(6)], expected=list(range(6))
    )

    assert verdict.score == 0.5
    assert [case.outcome for case in verdict.cases] == [
        Outcome.SCORED, Outcome.CRASHED, Outcome.NO_RESULT, Outcome.NO_RESULT, Outcome.SCORED, Outcome.SCORED,
    ]  # fmt: skip
    assert verdict.cases[1].reason == "the test raised: ValueError: not one"
    assert verdict.cases[2].reason == "the program ended with exit status 0 before it gave a value"
    assert "function" in verdict.cases[3].reason


def test_the_completion_finds_no_test_to_read(pipeline):
    """Not in its directory, nor on its standard input, which is at its end."""
    code = """
import os, sys
seen = [open(name).read() for name in os.listdir(".")]
def f():
    try: os.lseek(0, 0, 0)
    except OSError: pass
    return [sys.stdin.read(), sum("CAN" + "ARY" in text for text in seen)]
"""
    row = {"kind": "cases", "tests": ["f()", "'CANARY' and f()"], "expected": [["", 0], ["", 0]]}

    assert score(pipeline, code, **row).score == 1.0


def test_tracebacks_show_the_completions_frames_alone(pipeline):
    """Nobody has to read the runner."""
    verdict = score(
        pipeline, "def g(): return 1 / 0\ndef f(): return g()", kind="expression", test="f()", expected=1
    )

    assert verdict.stderr.count("File ") == 3
    assert "runner" not in verdict.stderr
    assert "line 1, in g" in verdict.stderr
    assert verdict.stderr.endswith("ZeroDivisionError: division by zero\n")


def test_syntax_errors_are_shown_where_they_are(pipeline):
    """And are the completion's."""
    verdict = score(pipeline, "x = 1\ndef f(:\n", kind="expression", test="f()", expected=1)

    assert verdict.outcome is Outcome.CRASHED
    assert verdict.reason.startswith("the completion raised when it was loaded: SyntaxError")
    assert "solution.py" in verdict.stderr
    assert "line 2" in verdict.stderr


@pytest.mark.parametrize(
    ("entry_point", "code"),
    [
        ("f", "def f(x): return x + 1"),
        ("f", "class Solution:\n    def f(self, x): return x + 1"),
        ("f", "class Solution:\n    def f(self, x): return 0\ndef f(x): return x + 1"),
        ("f", "f = lambda x: x + 1"),
        ("A.f", "class A:\n    n = 0\n    def f(self, x):\n        self.n += 1\n        return x + self.n"),
        ("A.f", "class A:\n    @staticmethod\n    def f(x): return x + 1"),
        ("A.B.f", "class A:\n    class B:\n        @classmethod\n        def f(cls, x): return x + 1"),
        ("sum", "class Solution:\n    def sum(self, x): return x + 1"),
    ],
)
def test_what_is_called(pipeline, entry_point, code):
    """A function, a method of `Solution`, or what a dotted name says; an object is made anew each time."""
    row = {"prelude": "from math import *\nsum = fsum", "inputs": [[1], [2]], "expected": [2, 3]}

    assert score(pipeline, code, kind="call", entry_point=entry_point, **row).score == 1.0


def test_arguments_are_made_anew_for_each_case(pipeline):
    """A function may change them."""
    code = "def f(items):\n    items.append(len(items))\n    return items"

    assert (
        score(pipeline, code, kind="call", entry_point="f", inputs="[[[]], [[]]]", expected=[[0], [0]]).score
        == 1.0
    )


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("import re\ndef f(x): return re.match('a', x)", "assert f('a')"),
        ("import re\ndef f(x): return re.match('a', x)", "assert f('a') is not None and not f('b')"),
        ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
        ("def f(n):\n    yield from range(n)", "assert [x for x in f(3) if x] == [1, 2]"),
        ("def f(n):\n    yield from range(n)", "assert all(a == b for a, b in zip(f(3), [0, 1, 2]))"),
        ("def f(n):\n    yield from range(n)", "assert sorted(f(3), reverse=True) == [2, 1, 0] and 2 in f(3)"),
        ("def f(n): return n", "assert f(7) in range(10**9)"),
        ("from collections import Counter as f", "assert f('aab') == {'a': 2, 'b': 1}"),
        ("from collections import Counter as f", "assert f('aab').keys() == {'a', 'b'}"),
        ("def f(x): return {x}, b'a', 2j, float('inf'), None, 10**6000", "assert f(1) == ({1}, b'a', 2j, float('inf'), None, 10**6000)"),
        ("from decimal import Decimal\ndef f(): return Decimal('0.1')", "from decimal import Decimal\nassert f() == Decimal('0.1')"),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    def __add__(s, o): return P(s.x + o.x)", "assert P(1) + P(2) == P(3)"),
        ("class Stack(list):\n    push = list.append", "s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert s.pop() == 1\nassert not s"),
        ("def f(items): items.sort()", "x = [2, 1]\nassert f(x) is None\nassert x == [1, 2]"),
        ("def f(x): return 1 / x", "assert f(1) == 1 or f(0) == 1"),
        ("def f(x): return 1 / x", "from solution import f as g\nassert g(2) == 0.5"),
        ("def f(x): return 1 / x", "try:\n    f(0)\n    assert False\nexcept ZeroDivisionError:\n    pass"),
        ("def f(x): return 1 / x", "for n in range(1, 4):\n    assert f(n) == 1 / n"),
        ("def f(x): return x", "assert f([1,\n  2]) == [1, # one\n  2], 'message'"),
        ("import enum\nclass C(enum.Enum):\n    RED = 1\ndef f(): return C.RED", "assert f() == C.RED and f() is not None"),
    ],
)  # fmt: skip
def test_asserts_that_right_code_passes(pipeline, code, test):
    """Objects, iterators, state, values that JSON lacks."""
    verdict = score(pipeline, code, kind="asserts", tests=test)

    assert (verdict.score, verdict.reason) == (1.0, "")


@pytest.mark.parametrize(
    ("code", "test", "trust"),
    [
        ("def f(): return 1", "assert f() == 1", "separate"),
        ("def f(): return 1", "assert type(f()) == int", "shared"),
        ("def f(): return 1", "for n in (1,):\n    assert f() == n", "shared"),
        ("def f(): return object", "assert f() == f()", "shared"),
        ("def f(): return 1", "assert f() == f()", "separate"),
    ],
)
def test_trust(pipeline, code, test, trust):
    """Lower where the sandbox could have decided."""
    verdict = score(pipeline, code, kind="asserts", tests=test)

    assert (verdict.score, verdict.trust) == (1.0, trust)


def test_programs_that_read_and_write(pipeline):
    """Each pair in a process of its own, which has to end well."""
    code = "import sys\nname = sys.stdin.readline().strip()\nassert not sys.stdin.read()\nprint('Grüße,', name)\nif name == 'b': sys.exit(2)"
    verdict = score(pipeline, code, kind="stdio", stdin=["ä\n", "b"], stdout=["Grüße, ä", "Grüße, b"])

    assert verdict.score == 0.5
    assert verdict.cases[0].value == "Grüße, ä\n"
    assert verdict.cases[1].reason == "the program ended with exit status 2, not 0"


def test_output_without_an_end_has_no_value(pipeline):
    """Nor has a program without one."""
    verdict = score(pipeline, "while True: print(1)", kind="stdio", stdin=[""], stdout=["1\n"])

    assert (verdict.score, verdict.outcome) == (0.0, Outcome.OUTPUT_LIMIT)


def test_the_time_limit_of_a_row(pipeline):
    """It is the row's own."""
    verdict = score(pipeline, "while True: pass", kind="stdio", stdin=[""], stdout=["1"], time_limit=0.3)

    assert verdict.outcome is Outcome.TIMED_OUT
    assert verdict.cases[0].wall_seconds < 3
