"""Honest programs behave as under a plain interpreter, whichever way the sandbox runs them."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from codereward import Command, CommandResult, Program, Status
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codereward_local.executor import LocalExecutor
from codereward_local.inside import python as inside_python

STATEMENTS = (
    "print('out', end='')",
    "print('é', '\\u2603')",
    "print(input())",
    "import sys; print(sys.stdin.read())",
    "import sys; print(sys.argv)",
    "import sys; print('err', file=sys.stderr)",
    "import sys; sys.stdout.write('no newline')",
    "import os; os.write(1, b'raw\\n')",
    "print(__name__, __file__)",
    "import sys; print(sys.path[0])",
    "print(sorted(k for k in globals() if k.startswith('__')))",
    "import sys; sys.exit()",
    "import sys; sys.exit(3)",
    "import sys; sys.exit(-1)",
    "import sys; sys.exit(257)",
    "import sys; sys.exit(10**30)",
    "import sys; sys.exit(True)",
    "import sys; sys.exit('a message')",
    "import sys; sys.exit(['a', 'list'])",
    "raise SystemExit(4)",
    "exit(5)",
    "import os; os._exit(6)",
    "1 / 0",
    "raise ValueError('é')",
    "raise KeyboardInterrupt",
    "assert False, 'why'",
    "undefined",
    "def f():\n    raise KeyError(1)\nf()",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise TypeError('two') from e",
    "raise ExceptionGroup('many', [ValueError(1), TypeError(2)])",
    "import atexit; atexit.register(print, 'at exit')",
    "import atexit\n@atexit.register\ndef bye():\n    raise ValueError('late')",
    "import threading; threading.Thread(target=print, args=('thread',)).start()",
    "import threading\ndef bad():\n    raise ValueError('in thread')\nthreading.Thread(target=bad, name='t').start()",
    "import threading, time; threading.Thread(target=lambda: (time.sleep(0.05), print('slow'))).start()",
    "import threading, time; threading.Thread(target=lambda: (time.sleep(5), print('no')), daemon=True).start()",
    "class D:\n    def __del__(self):\n        print('deleted')\nd = D()",
    "class D:\n    def __del__(self):\n        print('cycle')\nd = D(); d.me = d",
    "import sys; sys.excepthook = lambda kind, error, trace: print('hook', error)\n1 / 0",
    "import sys; sys.stdout.close()",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "import os, signal; signal.signal(signal.SIGUSR1, lambda *a: print('got')); os.kill(os.getpid(), signal.SIGUSR1)",
    "import signal; signal.raise_signal(signal.SIGINT)",
    "import os; os.abort()",
    "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout)",
    "import subprocess; print(subprocess.run('echo hi; exit 3', shell=True).returncode)",
    "import os\npid = os.fork()\nprint('child' if not pid else ('parent', os.waitpid(pid, 0)[1]), flush=True)",
    "import multiprocessing as m\nif __name__ == '__main__':\n    with m.Pool(2) as p: print(p.map(abs, [-1, 2]))",
    "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "import inspect\ndef f(): return 1\nprint(inspect.getsource(f))",
    "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nprint(P(1))",
    "def f(n):\n    return f(n - 1) if n else 0\nprint(f(900))",
    "def f():\n    return f()\nf()",
    "from __future__ import annotations\ndef f(x: unknown): ...\nprint(f.__annotations__)",
    "x: int = 1\nprint(__annotations__)",
    "import helper; print(helper.VALUE, helper.__file__)",
    "import json, os; json.dump([1], open(os.environ['CODEREWARD_RESULT'], 'w'))",
    "print(open('data.txt').read(), open('/dev/stdin').read())",
    "import sys; print(sys.flags.optimize, sys.getrecursionlimit(), sys.getfilesystemencoding(), sys.stdout.encoding)",
    "import sys; print(sys.stdout.errors, sys.stdin.errors, sys.stdout.line_buffering, sys.stdout.isatty())",
    "import asyncio\nasync def main():\n    await asyncio.sleep(0); print('async')\nasyncio.run(main())",
    "import logging; logging.warning('careful')",
    "import warnings; warnings.warn('old', DeprecationWarning)",
    "print(hash('text'), list({'a', 'b', 'c', 'd'}))",
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as e: print(list(e.map(abs, [-1])))",
    "import random; random.seed(7); print(random.random())",
    "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc()",
    "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\nunittest.main(argv=['x'], exit=False)",
    "import time, decimal, fractions, statistics; print(decimal.Decimal(1) / 3, statistics.mean([1, 2]))",
    "if x = 1:\n    pass",
    "print('unclosed",
    "\tprint(1)",
    "# -*- coding: latin-1 -*-\nprint('\xe9')",
)
FLAGS = ((), ("-I",), ("-B",), ("-I", "-B"), ("-S",), ("-I", "-S", "-B"), ("-IB",), ("-E", "-s"))
FILES = {"helper.py": b"VALUE = 7\n", "data.txt": b"some data"}


def source_of(statements: list[str]) -> bytes:
    return "\n".join(statements).encode("utf-8", "surrogateescape") + b"\n"


class Twins:
    """The same program under a plain interpreter and in the sandbox."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.loop = asyncio.new_event_loop()
        self.executor = LocalExecutor(workers=1)
        self.fresh = LocalExecutor(workers=1, fresh=True)

    def close(self) -> None:
        for each in (self.executor, self.fresh):
            self.loop.run_until_complete(each.aclose())
        self.loop.close()

    def sandboxed(self, source: bytes, flags: tuple[str, ...], *, fresh: bool = False) -> CommandResult:
        command = Command(("python3", *flags, "main.py", "one", "two"), stdin=b"line\nrest\n")
        program = Program("python", {**FILES, "main.py": source}, (command,))
        executor = self.fresh if fresh else self.executor
        return self.loop.run_until_complete(executor.run(program)).commands[0]

    def reference(self, source: bytes, flags: tuple[str, ...]) -> tuple[object, ...]:
        """What a plain interpreter does in a directory of its own."""
        for name, content in {**FILES, "main.py": source}.items():
            (self.directory / name).write_bytes(content)
        result = self.directory / "result"
        result.unlink(missing_ok=True)
        interpreter = getattr(sys, "_base_executable", sys.executable)
        environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "CODEREWARD_RESULT": str(result),
        }
        done = subprocess.run(
            [interpreter, *flags, "main.py", "one", "two"],
            input=b"line\nrest\n",
            capture_output=True,
            cwd=self.directory,
            env=environment,
        )
        ending = (
            (Status.EXITED, done.returncode) if done.returncode >= 0 else (Status.SIGNALED, -done.returncode)
        )
        written = result.read_bytes() if result.exists() else b""
        return (*ending, *(normal(each, self.directory) for each in (done.stdout, done.stderr)), written)


def observed(result: CommandResult) -> tuple[object, ...]:
    number = result.exit_code if result.status is Status.EXITED else result.signal
    texts = (normal(each, Path("/tmp/work")) for each in (result.stdout, result.stderr))
    return (result.status, number, *texts, result.result)


def normal(text: bytes, directory: Path) -> bytes:
    """Leave out where the directory lies, addresses, times, and the one frame below the program."""
    text = text.replace(os.fsencode(directory.resolve()), b"<work>")
    text = re.sub(rb"0x[0-9a-f]+", b"<address>", text)
    text = re.sub(rb"repeated 99\d more", b"repeated <many> more", text)
    return re.sub(rb"in \d+\.\d+s", b"in <time>", text)


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    made = Twins(tmp_path_factory.mktemp("plain"))
    yield made
    made.close()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_statement_alone(twins, statement):
    """One statement behaves in the fork as under a plain interpreter."""
    source = source_of([statement])

    assert observed(twins.sandboxed(source, ())) == twins.reference(source, ())


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    statements=st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4),
    flags=st.sampled_from(FLAGS),
    fresh=st.sampled_from([False, False, True]),
)
def test_programs_of_several_statements(twins, statements, flags, fresh):
    """Any mixture, with any interpreter options, in the fork or in a fresh interpreter."""
    future = [each for each in statements if each.startswith("from __future__")]
    source = source_of([*future, *(each for each in statements if each not in future)])

    result = observed(twins.sandboxed(source, flags, fresh=fresh))

    expected = twins.reference(source, flags)
    if {"-I", "-IB", "-E"} & set(flags) and b"hash" in source:
        return  # without its variables the interpreter picks a hash seed at random
    assert result == expected


@pytest.mark.parametrize(
    ("argv", "forked"),
    [
        (("python3", "main.py"), True),
        (("python", "-I", "-S", "-B", "main.py", "-c"), True),
        (("python3", "-c", "print(1)"), False),
        (("python3", "-m", "unittest"), False),
        (("python3", "-u", "main.py"), False),
        (("python3", "-X", "utf8", "main.py"), False),
        (("python3", "-"), False),
        (("python3",), False),
        (("python3.11", "main.py"), False),
        (("node", "main.js"), False),
    ],
)
def test_what_runs_in_the_fork(argv, forked):
    """Only plain scripts; everything else gets a process of its own."""
    command = {"argv": [os.fsencode(each) for each in argv], "own": [], "env": {}}

    assert (inside_python.accept(command) is not None) is forked


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("python3", "-c", "import sys; print(sys.argv, sys.path[0] == '')", "x"), b"['-c', 'x'] True\n"),
        (("python3", "-m", "helper"), b""),
        (("python", "-c", "print(1)"), b"1\n"),
    ],
)
def test_other_ways_to_call_python(twins, argv, expected):
    """`-c`, `-m` and `python` work too."""
    program = Program("python", FILES, (Command(argv),))

    assert twins.loop.run_until_complete(twins.executor.run(program)).commands[0].stdout == expected


def test_variables_for_the_interpreter_count():
    """A command's own PYTHON variables reach its interpreter."""
    command = Command(("python3", "main.py"), env={"PYTHONOPTIMIZE": "1"})
    program = Program("python", {"main.py": b"assert False\nprint('optimised')"}, (command,))

    async def once() -> CommandResult:
        executor = LocalExecutor(workers=1)
        try:
            return (await executor.run(program)).commands[0]
        finally:
            await executor.aclose()

    assert asyncio.run(once()).stdout == b"optimised\n"


KNOWN = b"print('the scaffold', __file__)"


@pytest.mark.parametrize(
    "source", [b"print('my own', __file__)", b"raise ValueError(__name__)", b"def broken("]
)
@pytest.mark.parametrize("name", ["runner.py", "other.py"])
def test_a_script_with_a_known_name_is_run_as_it_stands(name, source):
    """What the fork server has compiled is used for the very same bytes under the same path only."""
    command = Command(("python3", name))
    kept = frozenset({"runner.py"})
    first = Program("python", {"runner.py": KNOWN}, (Command(("python3", "runner.py")),), scaffold=kept)

    async def run() -> list[bytes]:
        executor = LocalExecutor(workers=1)
        programs = [
            first,
            Program("python", {name: KNOWN}, (command,)),
            Program("python", {name: source}, (command,)),
        ]
        runs = [await executor.run(each) for each in programs]
        await executor.aclose()
        return [each.commands[0].stdout + each.commands[0].stderr for each in runs]

    *scaffold, own = asyncio.run(run())

    assert scaffold == [
        b"the scaffold /tmp/work/runner.py\n",
        b"the scaffold /tmp/work/" + name.encode() + b"\n",
    ]
    assert any(
        word in own
        for word in (b"my own /tmp/work/" + name.encode(), b"ValueError: __main__", b"SyntaxError")
    )


def test_a_scaffold_that_does_not_compile_is_the_programs_error():
    """It does not keep the fork server from serving."""
    bad = Program(
        "python",
        {"runner.py": b"def broken("},
        (Command(("python3", "runner.py")),),
        scaffold=frozenset({"runner.py"}),
    )

    async def run() -> CommandResult:
        executor = LocalExecutor(workers=1)
        try:
            return (await executor.run(bad)).commands[0]
        finally:
            await executor.aclose()

    assert b"SyntaxError" in asyncio.run(run()).stderr
