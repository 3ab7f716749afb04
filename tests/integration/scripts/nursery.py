"""Runs a Python script, ends it while its sandboxes are busy, and tells what outlives it.

    python nursery.py <signal number, or 0> <script> [argument …]

The signal is sent when a sandboxed program is at work. One line of JSON comes out: `code` the script
ended with, `seconds` from the signal to that end, its `stdout` and `stderr`, and `survivors`: the
command lines of the descendants that still lived some seconds later. Those are killed.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
USER_TIME = 11  # its place behind the name in /proc/<process>/stat
BUSY_SECONDS = 0.5  # more than any sandbox needs to start
START_SECONDS = 60.0
GRACE_SECONDS = 5.0


def descendants(root: int) -> Iterator[int]:
    """Processes below `root`, itself not included."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            children.setdefault(parent(entry), []).append(int(entry.name))
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        yield from below
        pending.extend(below)


def parent(entry: Path) -> int:
    """The parent of a process; 0 when it is gone."""
    return int((status(entry) or "0 0").split()[1])


def status(entry: Path) -> str:
    """What the kernel tells of a process, from its state on; empty when it is gone."""
    try:
        return (entry / "stat").read_text().rpartition(")")[2]
    except OSError:
        return ""


def command_line(process: int) -> str:
    """A process's command line; empty for one that is gone, or dead and not yet waited for."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""


def busy(root: int) -> bool:
    """Whether a sandboxed program runs: something below the script has used processor time."""
    ticks = BUSY_SECONDS * os.sysconf("SC_CLK_TCK")
    return any(used_ticks(process) > ticks for process in descendants(root))


def used_ticks(process: int) -> int:
    """Processor time that a process has spent on its own code."""
    fields = status(Path(f"/proc/{process}")).split()
    return int(fields[USER_TIME]) if fields else 0


def living() -> list[int]:
    """What is left below this process, once the dead are taken away."""
    reap()
    return [process for process in descendants(os.getpid()) if command_line(process)]


def reap() -> None:
    """Take away dead orphans, which come here because this process adopts them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, and tell whether it came."""
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return met


def main() -> None:
    """Run, end, look."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    number, *command = sys.argv[1:]
    script = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    was_busy = int(number) == 0 or wait_until(lambda: busy(script.pid), START_SECONDS)
    start = time.monotonic()
    script.send_signal(int(number))
    stdout, stderr = script.communicate()
    seconds = time.monotonic() - start
    wait_until(lambda: not living(), GRACE_SECONDS)
    left = living()
    told = {
        "busy": was_busy,
        "code": script.returncode,
        "seconds": seconds,
        "stdout": stdout,
        "stderr": stderr,
        "survivors": [command_line(process) for process in left],
    }
    json.dump(told, sys.stdout)
    for process in left:
        os.kill(process, 9)


main()
