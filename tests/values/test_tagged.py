"""Python values in the tagged form: what the sandbox writes, the host reads."""

from __future__ import annotations

import builtins
import collections
import contextlib
import datetime as dt
import enum
import json
import math
import re
import sys
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codereward.harnesses.python
from codereward.testing.nasty import nested
from codereward.values import Undecodable
from codereward.values.standins import Iterated, Opaque, Raised
from codereward.values.tagged import decode_tagged

SOURCE = Path(codereward.harnesses.python.__file__).with_name("tagging.py")


def fresh_tagging() -> dict[str, Any]:
    """The module as a program's own process would hold it."""
    namespace: dict[str, Any] = {"__name__": "tagging"}
    exec(compile(SOURCE.read_text(encoding="utf-8"), str(SOURCE), "exec"), namespace)
    return namespace


def through(value: object) -> Any:
    """The value as the host gets it from the sandbox."""
    return decode_tagged(json.dumps(fresh_tagging()["tagged"](value)))


def same(one: object, other: object) -> bool:
    """Equal in value and in type, at every depth."""
    return type(one) is type(other) and inside(one, other)


def inside(one: Any, other: Any) -> bool:
    """Equal, where the types are."""
    match one:
        case float():
            return repr(one) == repr(other)
        case complex():
            return same(one.real, other.real) and same(one.imag, other.imag)
        case list() | tuple() | collections.deque():
            return len(one) == len(other) and all(map(same, one, other))
        case dict():
            return same(list(one.items()), list(other.items()))
        case set() | frozenset():
            kinds = (sorted(type(item).__name__ for item in items) for items in (one, other))
            return one == other and len({*map(tuple, kinds)}) == 1
    return one == other


anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=10)
hashable = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | anything | st.binary(max_size=5)
    | st.complex_numbers(allow_nan=False) | st.decimals(allow_nan=False) | st.fractions() | st.dates() | st.timedeltas()
    | (st.datetimes() | st.times()).map(lambda when: when.replace(fold=0)),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.tuples(),
    max_leaves=5,
)  # fmt: skip
values = st.recursive(
    hashable
    | st.floats()
    | st.complex_numbers()
    | st.sets(hashable, max_size=4)
    | st.binary().map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(hashable, inner, max_size=4)
        | st.lists(inner, max_size=3).map(collections.deque)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(values)
def test_built_in_values_come_back_as_they_were(value):
    """Types, order of keys, the sign of zero, NaN and lone surrogates included."""
    assert same(through(value), value)


@pytest.mark.parametrize(
    "value",
    [
        10**20_000,
        -(10**20_000),
        2**13_000,
        True,
        range(3, 10, 2),
        dt.datetime(2020, 1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        Decimal("-0.00"),
        Decimal("Infinity"),
        {1: "a", "1": "b", None: "c", (1, 2): [3]},
        {},
        set(),
        (),
        [[[]]],
        "",
    ],
    ids=range(14),
)
def test_values_at_the_edges(value):
    """Each as it was."""
    assert same(through(value), value)


class Liar(list):
    """A list that lies about everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        return 99

    def __iter__(self):
        return iter("lies")

    def __getitem__(self, item):
        return "lie"


class LyingText(str):  # noqa: SLOT000 - as programs write them
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __str__(self):
        return "lie"


class LyingNumber(int):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __int__(self):
        return 99

    def __index__(self):
        return 99


class LyingDict(dict):
    def items(self):
        return [("a", "lie")]

    def keys(self):
        return ["lie"]


class Colour(enum.IntEnum):
    RED = 3


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Liar([1, 2]), [1, 2]),
        (LyingText("ab"), "ab"),
        (LyingText(""), ""),
        (LyingNumber(5), 5),
        (LyingDict(a=1), {"a": 1}),
        (Colour.RED, 3),
        (Point(1, 2), (1, 2)),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(a=1), {"a": 1}),
        (collections.defaultdict(list, a=[1]), {"a": [1]}),
        ([LyingText("x"), (Liar([3]),)], ["x", ([3],)]),
        ({LyingText("k"): LyingNumber(1)}, {"k": 1}),
    ],
)
def test_subclasses_are_their_data(value, plain):
    """No override has a say."""
    assert same(through(value), plain)


def test_numpy_values_are_plain_numbers_and_lists():
    """Where numpy is there."""
    numpy = pytest.importorskip("numpy")

    assert same(through(numpy.float64(1.5)), 1.5)
    assert same(through(numpy.int64(3)), 3)
    assert same(through(numpy.bool_(True)), True)
    assert same(through(numpy.array([[1, 2], [3, 4]])), [[1, 2], [3, 4]])


class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Falsy:
    def __bool__(self):
        return False


def test_other_objects_equal_no_data():
    """Their truth is told; two of them are equal when they say so."""
    first, second, match, falsy = through([AlwaysEqual(), AlwaysEqual(), re.match("a", "a"), Falsy()])

    assert isinstance(first, Opaque)
    assert first == second
    assert first not in (1, None, "AlwaysEqual", [], True)
    assert match.type_name == "Match"
    assert match
    assert not falsy


def test_iterators_are_taken_down():
    """They equal nothing; what they held can be listed."""
    one = through(number * number for number in range(3))

    assert list(one) == [0, 1, 4]
    assert one
    assert one != [0, 1, 4]
    assert list(through(map(str, [1]))) == ["1"]
    with pytest.raises(TypeError):
        len(one)


def test_views_of_dicts_equal_sets():
    """As in Python."""
    keys, items = through([{"a": 1, "b": 2}.keys(), {"a": 1}.items()])

    assert keys == {"a", "b"}
    assert items == {("a", 1)}
    assert keys != ["a", "b"]
    assert len(keys) == 2
    assert isinstance(keys, Iterated)


def endless():
    while True:
        yield 1


def test_values_without_an_end_are_refused():
    """Cycles, depth, endless iterators."""
    cycle: list[object] = [1]
    cycle.append((cycle,))
    for value, message in (
        (cycle, "holds itself"),
        (nested(151), "nested more than"),
        (endless(), "more than"),
    ):
        with pytest.raises(ValueError, match=message):
            fresh_tagging()["tagged"](value)


def test_the_same_object_twice_is_no_cycle():
    """It is written twice."""
    one = [1]

    assert through([one, one, (one,)]) == [[1], [1], ([1],)]


def test_rebound_builtins_do_not_disturb():
    """The module has taken hold of what it needs."""
    tagged, names = fresh_tagging()["tagged"], vars(builtins)
    kept = dict(names)
    names.update(dict.fromkeys(("len", "isinstance", "type", "hex", "getattr", "hasattr", "id")))
    try:
        form = tagged([(1, {2: b"x"}), 10**5000])
    finally:
        names.update(kept)

    assert decode_tagged(json.dumps(form)) == [(1, {2: b"x"}), 10**5000]


def test_a_lowered_recursion_limit_does_not_disturb():
    """The limit is put back before."""
    tagged, limit = fresh_tagging()["tagged"], sys.getrecursionlimit()
    sys.setrecursionlimit(limit - 1)
    tagged([1])

    assert sys.getrecursionlimit() == limit


HOSTILE = [
    "{}",
    '{"tuple": [], "list": []}',
    '{"tuple": 1}',
    '{"tuple": "ab"}',
    '{"set": [[1]]}',
    '{"set": [{"dict": []}]}',
    '{"set": [1, 1]}',
    '{"set": [1, true]}',
    '{"dict": [1]}',
    '{"dict": [1, 2, 1.0, 3]}',
    '{"dict": [[], 1]}',
    '{"bytes": "0"}',
    '{"bytes": "zz"}',
    '{"bytes": [1]}',
    '{"complex": [1, 2]}',
    '{"complex": [1.0]}',
    '{"range": [1, 2, 0]}',
    '{"range": [1, 2.0, 1]}',
    '{"fraction": [1, 0]}',
    '{"fraction": [true, 1]}',
    '{"decimal": "1e999999999999"}',
    '{"decimal": "1E+200000"}',
    '{"decimal": "x"}',
    '{"decimal": "٣"}',
    '{"int": "0x"}',
    '{"int": "12"}',
    '{"int": "0x1_0"}',
    '{"date": "2020-99-99"}',
    '{"timedelta": [99999999999, 0, 0]}',
    '{"opaque": []}',
    '{"opaque": [1, 2, 3]}',
    '{"pickle": "gASVFAAAAAAAAAA="}',
    '{"__import__": ["os"]}',
    '{"_value": [1]}',
    '{"int": "0x' + "f" * 100_001 + '"}',
    "9" * 100_001,
    "[" * 152 + "]" * 152,
    "[" * 100_000,
    '{"tuple":[' * 300 + "]}" * 300,
    '{"dict": [{"opaque": ["x", true, 0]}, 1, {"opaque": ["y", true, 0]}, 2]}',
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_value_is_undecodable(text):
    """One error, whatever is wrong."""
    with pytest.raises(Undecodable):
        decode_tagged(text)


@settings(deadline=None)
@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tuple", "set", "dict", "int", "bytes", "view", "raised", "x"]), inner, max_size=2)))  # fmt: skip
def test_any_json_is_a_value_or_undecodable(form):
    """Nothing else is ever raised."""
    with contextlib.suppress(Undecodable):
        decode_tagged(json.dumps(form))


def test_sets_made_to_collide_are_refused_in_bounded_time():
    """Numbers of one hash, and too many numbers altogether."""
    start = time.monotonic()
    same_hash = [number * (2**61 - 1) for number in range(100_000)]
    for form in (
        {"set": same_hash},
        {"dict": [part for key in same_hash for part in (key, 0)]},
        {"set": list(range(70_000))},
    ):
        with pytest.raises(Undecodable, match="a set or dict"):
            decode_tagged(json.dumps(form))

    assert time.monotonic() - start < 10
    assert len(decode_tagged(json.dumps({"set": [str(number) for number in range(70_000)]}))) == 70_000


def test_raised_questions_are_told_apart():
    """A question that raised has no value."""
    assert decode_tagged('{"raised": "ValueError: x"}') == Raised("ValueError: x")


def test_python_equality_of_decoded_values():
    """The table of the documentation."""
    assert through([1, 1.0, True]) == [1, 1, 1]
    assert through((1,)) != [1]
    assert through({1, 2}) == frozenset({2, 1})
    assert through(b"a") == bytearray(b"a")
    assert through(Decimal("1.0")) == 1 == through(Fraction(1, 1))
    assert through({1: 2}) == collections.OrderedDict({1: 2})
    assert through(math.nan) != through(math.nan)
    assert through("1") != 1
