"""Limits that the kernel enforces on each process, and looks at what it does not."""

from __future__ import annotations

import math
import os
import resource
from typing import Any

__all__ = ["LOOK_SECONDS", "Usage", "add_stored", "apply", "apply_fixed", "exceeded", "look"]

LOOK_SECONDS = 0.05
"""Time between two looks at a running program."""

OPEN_FILES = 1024
SLACK_BYTES = 2**20
NAMES = (b"VmData:", b"RssAnon:", b"RssShmem:", b"Pss_Anon:", b"Pss_Shmem:")
LIMITED = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_DATA)
HARD = {which: resource.getrlimit(which)[1] for which in LIMITED}
"""What the host itself may use; nobody can be given more."""
TICKS = os.sysconf("SC_CLK_TCK")


def apply_fixed() -> None:
    """Set the limits that are the same for all programs."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))


def apply(limits: dict[str, Any], own: int) -> None:
    """Set the limits on this process and what it starts.

    Args:
        limits: The fields of `codereward.Limits`.
        own: Processes of the sandbox itself that count towards `processes`.
    """
    # A second above the limit: the looks end the whole tree at the limit itself, this is the net.
    seconds = math.ceil(limits["cpu_seconds"]) + 1
    # More than fits on the disk, so that a full disk shows as one; it bounds the output streams.
    file_bytes = max(2 * limits["disk_bytes"], limits["output_bytes"] + 1) + SLACK_BYTES
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, file_bytes)
    _limit(resource.RLIMIT_NPROC, limits["processes"] + own)
    _limit(resource.RLIMIT_DATA, limits["memory_bytes"])


def _limit(which: int, value: int) -> None:
    hard = HARD[which]
    capped = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (capped, capped))


class Usage:
    """What a program uses at one moment."""

    def __init__(self) -> None:
        self.memory = 0
        """Bytes of the whole tree: private pages summed, shared ones counted once."""
        self.data = 0
        """Bytes of private memory that the largest process has asked for, used or not."""
        self.cpu = 0.0
        """Processor seconds of the process that used most."""
        self.total_cpu = 0.0
        self.output = 0
        """Bytes of the longer one of the two output streams."""
        self.disk = 0


def look(others: set[int], allowed: dict[str, Any]) -> Usage:
    """Look at every process in sight but `others`."""
    usage = Usage()
    shared = 0
    pids = _pids(others)
    for pid in pids:
        status = _numbers(f"/proc/{pid}/status")
        usage.memory += status.get(b"RssAnon", 0)
        usage.data = max(usage.data, status.get(b"VmData", 0))
        shared = max(shared, status.get(b"RssShmem", 0))
        cpu = _cpu(pid)
        usage.cpu = max(usage.cpu, cpu)
        usage.total_cpu += cpu
    usage.memory += shared
    if len(pids) > 1 and usage.memory > allowed["memory_bytes"]:
        usage.memory = min(usage.memory, sum(map(_fair_share, pids)))
    return usage


def _fair_share(pid: int) -> int:
    """Bytes of a process, each page divided by the processes that share it: exact, and slow."""
    shares = _numbers(f"/proc/{pid}/smaps_rollup")
    if b"Pss_Anon" not in shares:
        return _numbers(f"/proc/{pid}/status").get(b"RssAnon", 0)
    return shares[b"Pss_Anon"] + shares.get(b"Pss_Shmem", 0)


def add_stored(usage: Usage, outputs: list[int], directory: int) -> None:
    """Add what the program has written."""
    usage.output = max(os.fstat(fd).st_size for fd in outputs)
    disk = os.fstatvfs(directory)
    usage.disk = (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def exceeded(usage: Usage, limits: dict[str, Any]) -> str | None:
    """Name of the limit that the program has gone over, if any."""
    pairs = (
        ("memory_bytes", usage.memory),
        ("output_bytes", usage.output),
        ("cpu_seconds", usage.cpu),
        ("disk_bytes", usage.disk),
    )
    return next((name for name, used in pairs if used > limits[name]), None)


def _pids(others: set[int]) -> list[int]:
    names = os.listdir("/proc")
    return [int(name) for name in names if name.isdigit() and int(name) not in others]


def _numbers(path: str) -> dict[bytes, int]:
    """The lines of a file in /proc that are a name and a number of kibibytes; in bytes."""
    pairs = (line.split(b":", 1) for line in _lines(path) if line.startswith(NAMES))
    return {name: int(value.split()[0]) * 1024 for name, value in pairs}


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
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # it has just ended, or hides
        return []
