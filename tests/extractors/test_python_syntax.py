"""`parses` and `defines` for Python: right on programs, harmless on anything else."""

import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward.harnesses.python import syntax
from codereward.harnesses.python.syntax import defines, parses

PROGRAMS = [
    "x = 1",
    "def f():\n    return 1",
    "def f():\r\n    return 1\r\n",
    "async def f():\n    await g()",
    "match x:\n    case [1, *_]: pass",
    "p = '\\d\\w'\nq = r'\\d'",
    "print(f'{x!r:>{w}}')",
    "print('\\N{EM DASH} \\u2014 \\x41')",
    "print(f'\\N{EM DASH}')",
    "a = 'x\\\ny'\nb = 1 + \\\n  2",
    'a = "\\""; b = \'\\\\\'',
    "x = 1if y else 2",
    "x = 0xfor 2",
    "assert (1, 'x')",
    "x is 1",
    "return",
    "# only a comment",
    "x = " + "(" * 80 + "1" + ")" * 80,
    "x = " + " + ".join(["1"] * 500),
    "if x: pass\n" + "elif y: pass\n" * 200,
    "x = [" + "-1, " * 5000 + "]",
]
OTHERS = [
    "",
    " \n",
    "Here is the code.",
    "def f(:",
    "print 'x'",
    "function f() { return 1; }",
    "x = ",
    "'abc",
    "\0",
    "x = '\ud800'",
    "if x:\npass",
    "x = 1\n" * 20_000,
    "1" * 5000,
]


@pytest.mark.parametrize("code", PROGRAMS)
def test_programs_parse(code):
    """What Python's grammar takes, parses."""
    assert parses(code)


@pytest.mark.parametrize("code", OTHERS)
def test_others_do_not(code):
    """Prose, other languages and broken code are no programs."""
    assert not parses(code)


OPENERS = [
    "(", "[", "{", "{1:", "f(", "a[", "lambda x=(", "(a:=", "[*", "(yield ", "[a for a in ", "f'{", "with (", "(a, ", "not(", "if (",
    "match (", "del (", "@(", "f(a=", "(a for b in (", "-(", "[a if a else ", "lambda:(", "(a)(", "class A(", "def f(a=(", "(*",
]  # fmt: skip
CHAINS = [
    "-", "~", "not ", "1+", "1**", "a.", "a()", "a[0]", "lambda:", "1 if 1 else ", "if 1:\n p\nel", "1<", "1 and ", "'a' ", "a=", "@a\n",
    "a;", "await ", "*", "f'{a", "for a in a:", "try:\n p\nexcept:\n ", "\\\n", "\\", "\t", "#", "'", '"""', "\ud800", "a|", "match a:\n",
    "0x", "1_", "0if", "1e1", "\\N{", "-\n", "(\n-", "while 1: ",
]  # fmt: skip
NASTY = [
    *(
        opener * depth + end
        for opener in OPENERS
        for depth in (45, 89, 30_000)
        for end in ("", "1 1", "1" + ")" * depth)
    ),
    *(
        start + unit * (count // len(unit)) + "1"
        for unit in CHAINS
        for count in (900, 90_000)
        for start in ("", "x = (")
    ),
    "".join(" " * depth + "if 1:\n" for depth in range(300)),
    "9**9**9**9",
    "'a' * 10**10",
    "0x" + "f" * 90_000,
]

JUDGE = f"""
import importlib.util, sys, threading, warnings
spec = importlib.util.spec_from_file_location("syntax", {str(Path(syntax.__file__))!r})
syntax = importlib.util.module_from_spec(spec)
spec.loader.exec_module(syntax)
warnings.simplefilter("error")
texts = eval(sys.stdin.buffer.read().decode())
def judge():
    print(sum(syntax.parses(text) in (True, False) for text in texts), len(texts))
threading.stack_size(int(sys.argv[1]))
thread = threading.Thread(target=judge)
thread.start()
thread.join()
"""


@pytest.mark.parametrize("stack", [2**20, 2**23])
def test_nasty_texts_do_no_harm(stack):
    """No text crashes the interpreter, raises, or warns, not even in a thread with a small stack."""
    argv = [sys.executable, "-c", JUDGE, str(stack)]
    done = subprocess.run(argv, input=ascii(NASTY).encode(), capture_output=True, timeout=100)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.split() == [str(len(NASTY)).encode()] * 2, done.stderr[-500:]


@pytest.mark.parametrize("unit", [*OPENERS, *CHAINS])
def test_parsing_takes_no_time(unit):
    """The longest text of a kind is judged in a fraction of a second."""
    start = time.process_time()
    parses(unit * (99_999 // len(unit)))
    assert time.process_time() - start < 3


def test_no_warning_and_no_state():
    """Nothing is warned about, and the filters of the process stay as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        for code in PROGRAMS:
            parses(code)
        assert warnings.filters == before
    assert not caught


SOUP = st.lists(
    st.sampled_from(
        [
            *OPENERS,
            *CHAINS,
            ")",
            "]",
            "}",
            "\n",
            " ",
            ":",
            "def f():",
            "    x",
            "1",
            "else",
            "é",
            "\r",
            "{x}'",
        ]
    )
).map("".join)


@settings(max_examples=500, deadline=None)
@given(st.one_of(SOUP, st.text(st.characters(exclude_categories=()))))
def test_any_text_is_judged(text):
    """Whatever the text, the answer is yes or no; a yes is one that Python agrees with."""
    judged = parses(text)
    assert judged in (True, False)
    if judged and "\\" not in text:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<test>", "exec", flags=0x400)


def test_in_a_thread():
    """Threads may ask as well."""
    answers = []
    thread = threading.Thread(target=lambda: answers.extend(map(parses, PROGRAMS)))
    thread.start()
    thread.join()
    assert answers == [True] * len(PROGRAMS)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f(x): pass", True),
        ("  def f(x): pass", True),
        ("async  def f (x): pass", True),
        ("class f: pass", True),
        ("class A:\n    def f(self): pass", True),
        ("f = lambda x: x", True),
        ("f: Callable[[int], int] = g", True),
        ("@deco\ndef f(): pass", True),
        ("x = 1\r\ndef f(): pass", True),
        ("def ff(): pass", False),
        ("def g(): f = 1", False),
        ("def g():\n    f = 1", False),
        ("f(1)", False),
        ("f == 1", False),
        ("# def f(): pass", False),
        ("from m import f", False),
        ("x = f = 1", False),
    ],
)
def test_defines(code, found):
    """Definitions are told from uses."""
    assert defines(code, "f") is found


def test_defines_takes_any_name():
    """A name is plain text, not a pattern."""
    assert not defines("def ff(): pass", "f.")
    assert not defines("", "")
    assert not defines("def (): pass", "")
