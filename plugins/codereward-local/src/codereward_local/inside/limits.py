"""Limits that the kernel enforces on each process, and looks at what it does not."""

from __future__ import annotations

import math
import os
import resource
from dataclasses import dataclass
from typing import Any

__all__ = ["LOOK_SECONDS", "Usage", "apply", "exceeded", "look"]

LOOK_SECONDS = 0.05
"""Time between two looks at a running program."""

OPEN_FILES = 1024
TICKS = os.sysconf("SC_CLK_TCK")


def apply(limits: dict[str, Any], already: int) -> None:
    """Set the limits on this process and what it starts.

    Args:
        limits: The fields of `codereward.Limits`.
        already: Processes of the sandbox itself that count towards `processes`.
    """
    # A second above the limit: the looks end the whole tree at the limit itself, this is the net.
    seconds = math.ceil(limits["cpu_seconds"]) + 1
    file_bytes = max(limits["disk_bytes"], limits["output_bytes"] + 1)
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, file_bytes)
    _limit(resource.RLIMIT_NPROC, limits["processes"] + already)
    _limit(resource.RLIMIT_DATA, limits["memory_bytes"])
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    _limit(resource.RLIMIT_CORE, 0)


def _limit(which: int, value: int) -> None:
    _soft, hard = resource.getrlimit(which)
    capped = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (capped, capped))


@dataclass
class Usage:
    """What a program uses at one moment."""

    memory: int = 0
    """Bytes of the whole tree: private pages summed, shared ones counted once."""
    cpu: float = 0.0
    """Processor seconds of the process that used most."""
    threads: int = 0
    output: int = 0
    """Bytes of the longer one of the two output streams."""
    disk: int = 0


def look(outputs: list[int], directory: int, skip: set[int]) -> Usage:
    """Look at every process in sight but `skip`, the outputs and the disk."""
    usage = Usage(output=max(os.fstat(fd).st_size for fd in outputs), disk=_used(directory))
    shared = 0
    for pid in _pids(skip):
        status = _status(pid)
        usage.memory += status.get(b"RssAnon", 0) * 1024
        shared = max(shared, status.get(b"RssShmem", 0) * 1024)
        usage.threads += status.get(b"Threads", 0)
        usage.cpu = max(usage.cpu, _cpu(pid))
    usage.memory += shared
    return usage


def exceeded(usage: Usage, limits: dict[str, Any]) -> str | None:
    """Name of the limit that the program has gone over, if any."""
    pairs = (
        ("memory_bytes", usage.memory),
        ("output_bytes", usage.output),
        ("cpu_seconds", usage.cpu),
        ("disk_bytes", usage.disk),
    )
    return next((name for name, used in pairs if used > limits[name]), None)


def _pids(skip: set[int]) -> list[int]:
    names = os.listdir("/proc")
    return [int(name) for name in names if name.isdigit() and int(name) not in skip]


def _status(pid: int) -> dict[bytes, int]:
    lines = _lines(f"/proc/{pid}/status")
    wanted = (b"RssAnon", b"RssShmem", b"Threads")
    pairs = (line.split(b":", 1) for line in lines if b":" in line)
    return {key: int(value.split()[0]) for key, value in pairs if key in wanted}


def _cpu(pid: int) -> float:
    lines = _lines(f"/proc/{pid}/stat")
    if not lines:
        return 0.0
    fields = lines[0].rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            return file.read().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return []


def _used(directory: int) -> int:
    usage = os.fstatvfs(directory)
    return (usage.f_blocks - usage.f_bfree) * usage.f_frsize
