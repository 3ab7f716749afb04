"""What a completion costs in the pipeline itself, when running it costs nothing.

    python benchmarks/pipeline_overhead.py [--sizes 1000 10000 100000] [--repeat 3] [--profile]

The fake executor answers at once, so that what is left is extraction, building, reading, scoring,
verdicts and the event loop. Completions are 2 to 4 kB of prose around a block of Python, eight for
each row, as trainers pass them. Three workloads:

- `unique`: every program differs; plain strings
- `messages`: the same, as lists of messages
- `duplicated`: four of five programs repeat an earlier one of the group

Times are processor times, so that a busy machine does not count. Each measurement runs in a fresh
process; the best of the repetitions counts. `growth` is the exponent of the time between two sizes:
1.0 is linear. The stages come from one more run in which every component is timed; `rest` is what
the pipeline does around them: rows, dedupe, verdicts, the event loop, and the timing itself.
`report` is what TRL's log gets: metrics, and the columns for its table of completions.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import pstats
import random
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from time import process_time, thread_time
from typing import Any, Final

from codereward import RewardPipeline
from codereward.extractors import FencedExtractor
from codereward.harnesses.python import PythonHarness
from codereward.model import CommandResult, Program, Run, Status
from codereward.protocols import Executor
from codereward.scorers import Exact

SIZES: Final = (1_000, 10_000, 100_000)
GROUP: Final = 8
WORKLOADS: Final = ("unique", "messages", "duplicated")
STAGES: Final = ("split", "extract", "build", "run", "read", "score", "report")
GOAL_MICROSECONDS: Final = 100.0
GOAL_SIZE: Final = 10_000

PROSE: Final = "the list is sorted first so that each pair of equal items stands together and can be counted"


@dataclass
class Measured:
    """One workload at one size."""

    workload: str
    size: int
    seconds: float
    peak_bytes: int
    """Resident memory at its highest, less what it was before the batch was made."""
    batch_bytes: int
    """Characters of all completions: what the caller holds anyway."""
    stages: dict[str, float] = field(default_factory=dict)
    """Seconds in each component, of a run in which they were timed."""
    timed_seconds: float = 0.0
    """That run as a whole."""

    @property
    def microseconds(self) -> float:
        return self.seconds / self.size * 1e6


# ---------------------------------------------------------------------- components


class Instant(Executor):
    """Gives every program the same answer without waiting: 1, as the runner would report it."""

    ANSWER = CommandResult(Status.EXITED, 0, result=json.dumps({"value": "1"}).encode() + b"\n")

    async def run(self, program: Program) -> Run:
        return Run((self.ANSWER,) * len(program.commands))

    async def aclose(self) -> None:
        """Nothing is open."""


def timed(component: Any, spent: dict[str, float], methods: Sequence[str]) -> Any:
    return Timed(component, spent, methods)


class Timed:
    """Stands before a component and adds up the time in some of its methods."""

    def __init__(self, inner: Any, spent: dict[str, float], methods: Sequence[str]) -> None:
        self._inner = inner
        for name in methods:
            setattr(self, name, self._timed(getattr(inner, name), name, spent))

    @staticmethod
    def _timed(method: Callable[..., Any], name: str, spent: dict[str, float]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            start = thread_time()
            try:
                return method(*arguments)
            finally:
                spent[name] += thread_time() - start

        return timed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class TimedInstant(Instant):
    """As `Instant`, timed."""

    def __init__(self, spent: dict[str, float]) -> None:
        self._spent = spent

    async def run(self, program: Program) -> Run:
        start = thread_time()
        run = await super().run(program)
        self._spent["run"] += thread_time() - start
        return run


class TimedPipeline(RewardPipeline):
    """A pipeline that knows how long it takes to tell the trainer's log."""

    spent: dict[str, float]

    def _report(self, *arguments: Any) -> list[float | None]:
        start = thread_time()
        rewards = super()._report(*arguments)
        self.spent["report"] += thread_time() - start
        return rewards


def timed_pipeline(spent: dict[str, float]) -> RewardPipeline:
    pipeline = TimedPipeline(
        extractor=timed(FencedExtractor(), spent, ["extract"]),
        harness=timed(PythonHarness(), spent, ["split", "build", "read"]),
        executor=TimedInstant(spent),
        scorer=timed(Exact(), spent, ["score"]),
    )
    pipeline.spent = spent
    return pipeline


def plain_pipeline() -> RewardPipeline:
    return RewardPipeline(executor=Instant())


# ---------------------------------------------------------------------- workloads


def completion(number: int, random_: random.Random) -> str:
    """2 to 4 kB: prose, a block of Python that defines `answer`, prose."""
    words = PROSE.split()
    prose = " ".join(random_.choices(words, k=random_.randint(120, 250)))
    lines = (
        f"    step_{line} = items[{line} % len(items)] + {number}" for line in range(random_.randint(25, 45))
    )
    code = "def answer(items=(1, 2, 3)):\n" + "\n".join(lines) + "\n    return 1"
    return f"First a thought.\n\n{prose}\n\n```python\n{code}\n```\n\n{prose[:300]}\n"


def workload(name: str, size: int) -> tuple[list[Any], dict[str, Any]]:
    """The completions and columns of one call."""
    random_ = random.Random(size)
    share = 5 if name == "duplicated" else 1
    texts: list[str] = []
    for number in range(size):
        repeats = number % GROUP and number % share
        texts.append(str.join("", texts[-1:]) if repeats else completion(number, random_))
    completions = (
        [[{"role": "assistant", "content": text}] for text in texts] if name == "messages" else texts
    )
    rows = [number // GROUP for number in range(size)]
    columns: dict[str, Any] = {
        "test": [f"answer() + {row} - {row}" for row in rows],
        "expected": [1] * size,
        "entry_point": ["answer"] * size,
    }
    return completions, columns


# ---------------------------------------------------------------------- measuring


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(name: str, size: int, repeat: int) -> Measured:
    """One workload at one size, in this process."""
    completions, columns = workload(name, size)
    columns |= {"log_extra": lambda *_: None, "log_metric": lambda *_: None}
    texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
    before = peak_bytes()
    seconds = math.inf
    for _ in range(repeat):
        with plain_pipeline() as pipeline:
            start = process_time()
            rewards = pipeline(completions=completions, **columns)
            seconds = min(seconds, process_time() - start)
        assert rewards == [1.0] * size
    peak = peak_bytes() - before
    return Measured(name, size, seconds, peak, sum(map(len, texts)), *measure_stages(completions, columns))


def measure_stages(completions: list[Any], columns: dict[str, Any]) -> tuple[dict[str, float], float]:
    """Seconds in each component, and in all of the pipeline."""
    spent: dict[str, float] = defaultdict(float)
    with timed_pipeline(spent) as pipeline:
        start = process_time()
        pipeline(completions=completions, **columns)
        whole = process_time() - start
    return {stage: spent[stage] for stage in STAGES}, whole


def measured_apart(name: str, size: int, repeat: int) -> Measured:
    """As `measure`, in a fresh process: its memory is nobody else's."""
    command = [sys.executable, __file__, "--one", name, "--sizes", str(size), "--repeat", str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Measured(**json.loads(done.stdout))


# ---------------------------------------------------------------------- telling


def table(results: Sequence[Measured]) -> None:
    heads = ("workload", "completions", "CPU µs each", "growth", "peak MB", "of text", *STAGES, "rest")
    print(" ".join(f"{head:>11}" for head in heads))
    last: dict[str, Measured] = {}
    for one in results:
        shares = [one.stages[stage] / one.timed_seconds for stage in STAGES]
        cells = [
            one.workload,
            f"{one.size:,}",
            f"{one.microseconds:.1f}",
            growth(last.get(one.workload), one),
            f"{one.peak_bytes / 1e6:.0f}",
            f"{one.peak_bytes / one.batch_bytes:.1f} x",
            *(f"{share:.0%}" for share in shares),
            f"{1 - sum(shares):.0%}",
        ]
        print(" ".join(f"{cell:>11}" for cell in cells))
        last[one.workload] = one


def growth(smaller: Measured | None, larger: Measured) -> str:
    if smaller is None or smaller.size == larger.size:
        return ""
    return f"{math.log(larger.seconds / smaller.seconds) / math.log(larger.size / smaller.size):.2f}"


def verdict_on(results: Sequence[Measured]) -> None:
    for one in results:
        if one.size == GOAL_SIZE:
            met = "within" if one.microseconds < GOAL_MICROSECONDS else "ABOVE"
            print(f"{one.workload}: {one.microseconds:.1f} µs, {met} the goal of {GOAL_MICROSECONDS:g} µs")


def profile(name: str, size: int) -> None:
    """Where the time goes, function by function; the batch runs on the pipeline's own thread."""
    completions, columns = workload(name, size)
    profiler = cProfile.Profile()

    class Profiled(RewardPipeline):
        async def _score(self, *arguments: Any) -> Any:
            profiler.enable()
            try:
                return await super()._score(*arguments)
            finally:
                profiler.disable()

    with Profiled(executor=Instant()) as pipeline:
        pipeline(completions=completions, **columns)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--profile", action="store_true", help="profile 10,000 unique completions instead")
    parser.add_argument("--one", choices=WORKLOADS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.profile:
        profile("unique", GOAL_SIZE)
    elif options.one:
        print(json.dumps(asdict(measure(options.one, options.sizes[0], options.repeat))))
    else:
        results = [measured_apart(name, size, options.repeat) for name in WORKLOADS for size in options.sizes]
        table(results)
        verdict_on(results)


if __name__ == "__main__":
    main()
