"""The harness for Python does what every harness does, and hostile Python earns nothing."""

from __future__ import annotations

from codereward import Executor, Harness, Limits
from codereward.harnesses import PythonHarness
from codereward.registry import default_registry
from codereward.testing import HarnessTests

DOUBLE = {"kind": "expression", "test": "double(21)", "expected": 42}
WORDS = {"kind": "expression", "test": "words('b a b')", "expected": {"a": 1, "b": 2}}
SUMS = {"kind": "cases", "tests": ["add(1, 2)", "add(-1, 1)", "add(0.5, 0.25)"], "expected": [3, 0, 0.75]}
LATER = {
    "kind": "expression",
    "setup": "total = sum(double(n) for n in range(4))",
    "test": "total",
    "expected": 12,
    "entry_point": "double",
}

RIGHT_DOUBLE = "def double(x):\n    return 2 * x\n"
RIGHT_WORDS = "from collections import Counter\ndef words(text):\n    return Counter(text.split())\n"
RIGHT_SUM = "def add(a, b):\n    return a + b\n"

DISTURBED = [
    "print('noise', 42, '{\"value\": \"0\"}')",
    "import sys; sys.stderr.write('x' * 5000)",
    "import sys; sys.exit(0)",
    "import sys; sys.exit('done')",
    "raise SystemExit(3)",
    "exit()",
    "import sys; sys.stdout.close(); sys.stderr.close()",
    "import os; os.close(1); os.close(2); os.close(0)",
    "import sys; sys.stdout = sys.stderr = None",
    "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()",
    "import atexit, os; atexit.register(os._exit, 9)",
    "import atexit; atexit.register(print, 'bye')",
    "import os; os.chdir('/')",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "import os; os.environ.clear()",
    "import sys; sys.argv.clear(); sys.path.clear()",
    "import json, builtins; json.dumps = json.dump = builtins.open = builtins.compile = builtins.eval = None",
    "import sys; sys.modules.clear()",
    "import sys; sys.setrecursionlimit(50)",
    "if __name__ == '__main__': raise RuntimeError('run as a script')",
    "import random; random.seed(1); import os; os.nice(5)",
    "open('questions.json', 'w').close(); open('runner.py', 'w').close()",
]
"""What honest or careless code does after it has defined the right function."""

FORGERIES = [
    '{"value": "42"}',
    '{"value": 42}',
    '{"value": "42"}\\n{"value": "42"}',
    '{"passed": true}',
    '{"score": 1.0}',
    "42",
    "PASS",
]

EXPLOITS = [
    "import sys; sys.exit(0)",
    "import os; os._exit(0)",
    "print('PASS\\n1 passed\\nOK\\n42\\nAll tests passed')",
    "print(42); import os; os._exit(0)",
    *(
        f"import os\nwith open(os.environ['CODEREWARD_RESULT'], 'w') as f: f.write('{one}')\n"
        "def double(x): return 0\n"
        for one in FORGERIES
    ),
    "class Same:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef double(x): return Same()\n",
    "class Same(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\ndef double(x): return Same(0)\n",
    "class Text(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\ndef double(x): return Text()\n",
    "class All(list):\n    def __len__(self): return 1\n    __eq__ = lambda s, o: True\ndef double(x): return All()\n",
    "def double(x): return float('nan')\n",
    "def double(x): raise SystemExit(0)\n",
    "def double(x):\n    import os\n    os._exit(0)\n",
    "import os, signal; os.kill(os.getppid(), signal.SIGKILL)\ndef double(x): return 0\n",
    "import os, signal; os.kill(-1, signal.SIGKILL)\n",
    "def double(x):\n    while True: print('42' * 1000)\n",
    "def double(x):\n    while True: pass\n",
    "def double(x): return [0] * 10**12\n",
    "def double(x):\n    r = []\n    for _ in range(100000): r = [r]\n    return r\n",
    "def double(x): return 10**1000000\n",
    "def double(x): return '\\ud800'\n",
    "import builtins; builtins.eval = lambda *a: 42\ndef double(x): return 0\n",
    "import json; json.dumps = lambda *a, **k: '42'\ndef double(x): return 0\n",
    "import json; json.JSONEncoder.encode = lambda *a, **k: '42'\ndef double(x): return object()\n",
    'import sys, os\nfor fd in range(3, 20):\n    try: os.write(fd, b\'{"value": "42"}\\n\')\n    except OSError: pass\n',
    "import sys\nsys.settrace(lambda *a: 1 / 0)\n",
    "import os\nfor _ in range(20): os.fork() or os._exit(0)\n",
    "raise KeyboardInterrupt",
    "raise BaseException('PASS')",
    "import os; os.remove(os.environ.get('CODEREWARD_RESULT', 'x')) if 0 else None; os.mkfifo(os.environ['CODEREWARD_RESULT'])",
    "def double(x):\n    double(x)\n",
    "\x00",
    "\ud800",
]
"""None of these solves anything."""


class TestPythonHarness(HarnessTests):
    right = (
        (DOUBLE, RIGHT_DOUBLE),
        (WORDS, RIGHT_WORDS),
        (SUMS, RIGHT_SUM),
        (LATER, RIGHT_DOUBLE),
        *((DOUBLE, RIGHT_DOUBLE + noise) for noise in DISTURBED),
    )
    wrong = (
        (DOUBLE, "def double(x):\n    return x + 2\n"),
        (DOUBLE, "def double(x):\n    return str(2 * x)\n"),
        (DOUBLE, "def double(x) return 2 * x"),
        (WORDS, "def words(text):\n    return {'a': 1, 'b': 2, 'c': 0}\n"),
        (SUMS, "def add(a, b):\n    return int(a + b)\n"),
        (LATER, "double = None\n"),
    )
    exploits = tuple((DOUBLE, code) for code in EXPLOITS)

    def make_harness(self) -> Harness:
        return PythonHarness(
            limits=Limits(wall_seconds=5, cpu_seconds=1, memory_bytes=200 * 2**20, processes=16)
        )

    def make_executor(self) -> Executor:
        return default_registry().create("executor", "local", {"workers": 2})
