"""What the box reports, read with a cap and put into codereward's terms."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import Any, Final

from codereward import CommandResult, Limits, Status
from codereward.overruns import STATUS_OF_LIMIT, limit_complained_of

__all__ = ["not_started", "read_result"]

NEARLY: Final = 0.8


def not_started(reason: str, limit: str | None = None) -> CommandResult:
    """The result of a command that never ran."""
    status = STATUS_OF_LIMIT[limit] if limit else Status.NOT_STARTED
    return CommandResult(status, stderr=reason.encode("utf-8", "replace"), limit=limit)


def read_result(report: Mapping[str, Any], fds: Sequence[int], limits: Limits) -> CommandResult:
    """One command's result; reads the descriptors, which stay open."""
    caps = (limits.output_bytes, limits.output_bytes, limits.result_bytes)
    texts = [_read(fd, cap) for fd, cap in zip(fds, caps, strict=False)]
    stdout, stderr, result = (*texts, b"")[:3]
    limit = report.get("limit") or _overflow(fds, caps) or _complaint(report, stderr, limits)
    status, code, number = _ending(report["status"], limit)
    return CommandResult(
        status=status,
        exit_code=code,
        signal=number,
        stdout=stdout,
        stderr=stderr,
        result=result,
        truncated=_overflow(fds, caps) is not None,
        limit=limit,
        wall_seconds=float(report["wall"]),
        cpu_seconds=float(report["cpu"]),
    )


def _read(fd: int, cap: int) -> bytes:
    parts = []
    position = 0
    while position < cap and (part := os.pread(fd, min(cap - position, 2**20), position)):
        parts.append(part)
        position += len(part)
    return b"".join(parts)


def _overflow(fds: Sequence[int], caps: tuple[int, int, int]) -> str | None:
    names = ("output_bytes", "output_bytes", "result_bytes")
    sized = zip(fds, caps, names, strict=False)
    return next((name for fd, cap, name in sized if os.fstat(fd).st_size > cap), None)


def _complaint(report: Mapping[str, Any], stderr: bytes, limits: Limits) -> str | None:
    """The limit that made a program fail by itself, told by what it said or had asked for."""
    if report["status"] == 0:
        return None
    if os.WIFSIGNALED(report["status"]) and report["data"] > NEARLY * limits.memory_bytes:
        return "memory_bytes"  # no memory left even for a last word, as node
    return limit_complained_of(stderr)


def _ending(status: int, limit: str | None) -> tuple[Status, int | None, int | None]:
    if limit in STATUS_OF_LIMIT:
        return STATUS_OF_LIMIT[limit], None, None
    if os.WIFEXITED(status):
        return Status.EXITED, os.WEXITSTATUS(status), None
    return Status.SIGNALED, None, os.WTERMSIG(status) or int(signal.SIGKILL)
