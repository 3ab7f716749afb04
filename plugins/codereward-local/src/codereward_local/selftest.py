"""Does the sandbox hold here? Tried for real, before the first program and for `codereward doctor`.

Each check is a program or a look from outside. Together they take a third of a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Final

from codereward import (
    BackendError,
    BackendMisconfigured,
    Command,
    CommandResult,
    Finding,
    Limits,
    Program,
    Status,
)

from codereward_local import payload
from codereward_local.box import Plan, make_plan
from codereward_local.inside import files
from codereward_local.preimport import DEFAULT_PREIMPORT
from codereward_local.slot import Slot

__all__ = ["examine", "require", "run"]


MEMORY: Final = 64 * 2**20
PROCESSES: Final = 12
OUTPUT: Final = 10_000
WALL_SECONDS: Final = 0.15

EXHAUST_MEMORY: Final = f"import mmap\nblock = bytearray({2 * MEMORY})\n"
EXHAUST_SHARED_MEMORY: Final = (
    "import mmap, time\n"
    f"block = mmap.mmap(-1, {3 * MEMORY})\n"
    f"for place in range(0, {3 * MEMORY}, 4096): block[place] = 1\n"
    "time.sleep(1)\n"
)
EXHAUST_PROCESSES: Final = (
    "import os, time\n"
    "made = 0\n"
    "try:\n"
    "    for made in range(40):\n"
    "        if not os.fork(): time.sleep(5); os._exit(0)\n"
    "except OSError: pass\n"
    "os.write(1, str(made).encode())\n"
    "os._exit(0)\n"
)
EXHAUST_OUTPUT: Final = f"import os\nos.write(1, bytes({2 * OUTPUT}))\n"
EXHAUST_TIME: Final = "import time\ntime.sleep(5)\n"

_passed: dict[Plan, int] = {}
"""Configurations that passed, and the process in which they did."""


def run(python: str | None = None, preimport: tuple[str, ...] = DEFAULT_PREIMPORT) -> list[Finding]:
    """Make a sandbox and try to get out of it.

    Args:
        python: As `LocalExecutor`.
        preimport: As `LocalExecutor`.

    Returns:
        All checks; a machine on which no sandbox can be made gives the one that says why.
    """
    try:
        plan = make_plan(python, preimport)
        slot = Slot(plan, os.getpid())
    except BackendError as error:
        return [Finding("a sandbox can be made", passed=False, detail=str(error))]
    with contextlib.closing(slot):
        return [Finding("a sandbox can be made", passed=True), *examine(slot, plan)]


def require(slot: Slot, plan: Plan) -> None:
    """Refuse a sandbox that does not hold; once for each process and configuration.

    Raises:
        BackendMisconfigured: A check failed.
    """
    if _passed.get(plan) == os.getpid():
        return
    failed = [f"{each.name} ({each.detail})" for each in examine(slot, plan) if not each.passed]
    if failed:
        msg = (
            f"the sandbox does not hold on this machine: {'; '.join(failed)}. Programs are not run. This is "
            "a gap in the kernel's or the container's configuration; use another machine or a cloud executor"
        )
        raise BackendMisconfigured(msg)
    _passed[plan] = os.getpid()


def examine(slot: Slot, plan: Plan) -> list[Finding]:
    """All checks, in one box.

    Raises:
        BackendError: The box broke down.
    """
    checks = [*_probe(slot, plan), _kernel_user(slot, plan)]
    for name, code, limits, holds in _limit_checks():
        result = _run(slot, plan, Program("python", {"main.py": code.encode()}, (_SCRIPT,), limits=limits))
        held = holds(result)
        detail = "" if held else f"ended {result.status}, limit {result.limit}, {result.stdout[:40]!r}"
        checks.append(Finding(name, held, detail))
    return checks


_SCRIPT: Final = Command(("python3", "-I", "-B", "main.py"))


def _limit_checks() -> Iterator[tuple[str, str, Limits, Callable[[CommandResult], bool]]]:
    yield "memory limit", EXHAUST_MEMORY, Limits(memory_bytes=MEMORY), _ended_by("memory_bytes")
    yield "shared memory limit", EXHAUST_SHARED_MEMORY, Limits(memory_bytes=MEMORY), _ended_by("memory_bytes")
    yield "process limit", EXHAUST_PROCESSES, Limits(processes=PROCESSES), _few_processes
    yield "output limit", EXHAUST_OUTPUT, Limits(output_bytes=OUTPUT), _ended_by("output_bytes")
    yield "wall limit", EXHAUST_TIME, Limits(wall_seconds=WALL_SECONDS), _ended_by("wall_seconds")


def _ended_by(limit: str) -> Callable[[CommandResult], bool]:
    return lambda result: result.limit == limit


def _few_processes(result: CommandResult) -> bool:
    return result.status is Status.EXITED and 0 < int(result.stdout or b"0") <= PROCESSES


def _probe(slot: Slot, plan: Plan) -> list[Finding]:
    """Run the program that tries to get out."""
    source = resources.files("codereward_local.inside").joinpath("probe.py").read_bytes()
    with _bait() as words:
        command = Command(("python3", "-I", "-B", "probe.py", *words))
        result = _run(slot, plan, Program("python", {"probe.py": source}, (command,)))
    try:
        escapes = json.loads(result.result)
    except ValueError:
        said = result.stderr[-300:].decode("utf-8", "replace")
        detail = f"ended {result.status} without a word: {said}"
        return [Finding("probe", passed=False, detail=detail)]
    return [Finding(name, not escape, escape) for name, escape in escapes.items()]


@contextlib.contextmanager
def _bait() -> Iterator[tuple[str, str, str, str]]:
    """What the probe must not reach: a file, the home, a port, an abstract socket."""
    name = f"codereward-{secrets.token_hex(8)}"
    with (
        tempfile.NamedTemporaryFile() as canary,
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
    ):
        Path(canary.name).chmod(0o644)
        local.bind("\0" + name)
        local.listen()
        home = str(Path.home())
        hidden = "/home" if home.startswith(files.ROOT) else home  # programs have a directory of that name
        yield canary.name, hidden, str(server.getsockname()[1]), name


def _kernel_user(slot: Slot, plan: Plan) -> Finding:
    """Ask the host's own /proc who the box is: from within, nobody can tell."""
    users = {_user_of(pid) for pid in _children(slot.box.process.pid)}
    if not users:
        return Finding("kernel user", passed=False, detail="the box's process is not to be seen")
    bad = 0 in users and (plan.privileged or _identity_map())
    return Finding("kernel user", not bad, "the kernel takes programs for root" if bad else "")


def _identity_map() -> bool:
    """Whether user 0 is the kernel's root here, not the 0 of a user namespace."""
    return Path("/proc/self/uid_map").read_text("ascii").split() == ["0", "0", "4294967295"]


def _children(parent: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text("utf-8").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(entry.name))
    return found


def _user_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[2])


def _run(slot: Slot, plan: Plan, program: Program) -> CommandResult:
    packed = payload.pack(program, plan.path, fresh=False)
    return slot.run(program, packed).commands[0]
