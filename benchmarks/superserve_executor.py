"""The executor against the plain approach: a thread pool of 8, four calls per completion.

Both talk to the same local emulator of the service, in a process of its own, over TLS: 40 ms for each
request and 200 ms for each creation are added, as a service far away would. The programs sleep for
50 ms. First each approach really runs a few of them, alone; then its commands are answered from that
record, each after as long as they took: with the service, programs compute on other machines than
this one. Everything else is real: the SDK, sockets, TLS, threads, quotas.

The plain approach is what one writes first: for each completion create a sandbox without outbound
network, write the program, run it under `timeout -s KILL`, kill the sandbox; eight threads; no score
when a call fails for rate limits, server errors, time-outs or the network.

    python benchmarks/superserve_executor.py [--completions 256] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from codereward_superserve import SuperserveExecutor
from superserve import (
    NetworkConfig,
    RateLimitError,
    Sandbox,
    SandboxError,
    SandboxTimeoutError,
    ServerError,
    _http,
)

from codereward import BackendUnavailable, Command, Program, Run

sys.path.insert(0, str(Path(__file__).parent.parent / "plugins" / "codereward-superserve" / "tests"))
from superserve_emulator import Emulator

PROGRAM = "import time\ntime.sleep(0.05)\nprint(42)\n"
EXPECTED = "42"
SOLUTION = "/tmp/solution.py"  # noqa: S108 - in the sandbox
PLAIN_THREADS = 8
UNLIMITED = {"requests_per_second": 1e6, "burst": 10**6}
DEFAULT_QUOTAS = {"requests_per_second": 20.0, "burst": 40}
LATENCY = {"request": 0.04, "create": 0.2}

Scores = list[float | None]


# --------------------------------------------------------------------------- the two approaches


def plain_score(_: int) -> float | None:
    """One completion, in the plain way."""
    try:
        sandbox = Sandbox.create(
            name="reward",
            from_template="superserve/python-3.11",
            network=NetworkConfig(deny_out=["0.0.0.0/0"]),
            timeout_seconds=120,
            auto_delete_seconds=0,
        )
        try:
            sandbox.files.write(SOLUTION, PROGRAM)
            result = sandbox.commands.run(f"timeout -s KILL 10 python3 {SOLUTION}", timeout_seconds=30)
        finally:
            sandbox.kill()
    except (RateLimitError, ServerError, SandboxTimeoutError):
        return None
    except SandboxError as error:
        if error.status_code is None:
            return None
        raise
    lines = result.stdout.strip().splitlines()
    return float(result.exit_code == 0 and lines[-1:] == [EXPECTED])


def plain(count: int, threads: int = PLAIN_THREADS) -> Scores:
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(plain_score, range(count)))


def ours(count: int, pause: float = 0.0, **options: object) -> tuple[Scores, float]:
    """Scores, and the seconds that the batch took; `pause` is the generation before it."""
    program = Program("python", {"main.py": PROGRAM.encode()}, (Command(("python3", "main.py")),))

    async def batch() -> tuple[Scores, float]:
        executor = SuperserveExecutor(**{"create_rate": 1e5} | options)
        if pause:
            await executor.run(program)
            await asyncio.sleep(pause)
        started = time.perf_counter()
        done = await asyncio.gather(*(executor.run(program) for _ in range(count)), return_exceptions=True)
        seconds = time.perf_counter() - started
        await executor.aclose()
        return [score(each) for each in done], seconds

    return asyncio.run(batch())


def score(result: Run | BaseException) -> float | None:
    if isinstance(result, BackendUnavailable):
        return None
    if isinstance(result, BaseException):
        raise result
    return float(result.commands[0].stdout.decode().strip() == EXPECTED)


# --------------------------------------------------------------------------- measuring


def forget_connections() -> None:
    """Start each measurement without open connections, with the SDK's own pool."""
    if _http._shared is not None:  # noqa: SLF001 - the SDK has no other way
        _http._shared.close()  # noqa: SLF001
    _http._shared = None  # noqa: SLF001


def record(emulator: Emulator, rounds: int = 9) -> None:
    """Really run each approach's commands, one at a time."""
    emulator.tell("reset")
    emulator.tell("configure", **UNLIMITED)
    plain(rounds, 1)
    ours(rounds, max_sandboxes=1)
    seconds = [each["seconds"] for each in emulator.requests("exec")]
    middles = [1000 * statistics.median(part) for part in (seconds[:rounds], seconds[rounds:])]
    print("exec alone, median ms: plain {:.0f}, ours {:.0f}".format(*middles))


def measure(
    emulator: Emulator, quotas: dict[str, float], work: Callable[[], Scores | tuple[Scores, float]]
) -> dict:
    emulator.tell("reset")
    emulator.tell("configure", **quotas, **LATENCY)
    emulator.tell("replay", on=True)
    forget_connections()
    started, cpu = time.perf_counter(), time.process_time()
    result = work()
    seconds = time.perf_counter() - started
    scores, seconds = result if isinstance(result, tuple) else (result, seconds)
    log = emulator.tell("log")
    assert emulator.violations(sandboxes=False) == []
    return {
        "seconds": seconds,
        "per_second": len(scores) / seconds,
        "unscored": sum(each is None for each in scores) / len(scores),
        "wrong": sum(each == 0.0 for each in scores),
        "connections": log["connections"],
        "requests": len(log["entries"]) / len(scores),
        "client_cpu_ms": 1000 * (time.process_time() - cpu) / len(scores),
        "most_sandboxes": emulator.state()["most_at_once"],
        "left": len(emulator.state()["sandboxes"]),
    }


def middle(runs: list[dict]) -> dict:
    """The run in the middle by time."""
    return sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]


def compare(emulator: Emulator, count: int, rounds: int) -> dict[str, dict]:
    cases = {
        "plain, 8 threads": lambda: plain(count),
        "ours, cap 8": lambda: ours(count, max_sandboxes=8),
        "ours, cap 8, warm 8": lambda: ours(count, pause=2.0, max_sandboxes=8, warm=8),
        "plain, 48 threads": lambda: plain(count, 48),
        "ours, cap 48": lambda: ours(count, max_sandboxes=48),
        "ours, cap 48, warm 48": lambda: ours(count, pause=4.0, max_sandboxes=48, warm=48),
    }
    runs: dict[str, list[dict]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, work in cases.items():
            runs[name].append(measure(emulator, UNLIMITED, work))
    return {name: middle(each) for name, each in runs.items()}


def under_quotas(emulator: Emulator, count: int) -> dict[str, dict]:
    cases = {
        "plain, 8 threads": lambda: plain(count),
        "ours, defaults": lambda: ours(count, create_rate=10.0),
        "ours, told a rate 3 times too high": lambda: ours(count, create_rate=30.0),
    }
    found = {name: measure(emulator, DEFAULT_QUOTAS, work) for name, work in cases.items()}
    # Each completion costs two control-plane requests; the burst comes on top of the rate.
    bound = (2 * count - DEFAULT_QUOTAS["burst"]) / DEFAULT_QUOTAS["requests_per_second"]
    for each in found.values():
        each["of_the_bound"] = bound / each["seconds"]
    return found


def show(title: str, rows: dict[str, dict], base: str) -> None:
    print(
        f"\n{title}\n{'':36}{'s':>8}{'ratio':>7}{'/s':>7}{'none':>7}{'conns':>7}{'reqs':>6}{'cpu ms':>8}{'boxes':>7}{'left':>6}"
    )
    for name, row in rows.items():
        ratio = rows[base]["seconds"] / row["seconds"]
        print(
            f"{name:36}{row['seconds']:8.2f}{ratio:7.2f}{row['per_second']:7.1f}{row['unscored']:7.1%}"
            f"{row['connections']:7}{row['requests']:6.2f}{row['client_cpu_ms']:8.1f}{row['most_sandboxes']:7}{row['left']:6}"
            + (f"  {row['of_the_bound']:.1%} of the quota-bound rate" if "of_the_bound" in row else "")
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="SuperserveExecutor against the plain approach.")
    parser.add_argument("--completions", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with Emulator() as emulator:
        os.environ.update(emulator.environment)
        record(emulator)
        free = compare(emulator, options.completions, options.rounds)
        show(
            f"{options.completions} completions, no quotas, median of {options.rounds}",
            free,
            "plain, 8 threads",
        )
        bound = under_quotas(emulator, options.completions)
        show(f"{options.completions} completions, the service's default quotas", bound, "plain, 8 threads")
    assert statistics.fsum(row["wrong"] for row in (*free.values(), *bound.values())) == 0
    if options.json:
        options.json.write_text(json.dumps({"free": free, "quotas": bound}, indent=1))


if __name__ == "__main__":
    main()
