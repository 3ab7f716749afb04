"""What executors share: which status a limit means, and what programs say when they run into one."""

from __future__ import annotations

from typing import Final

from codereward.model import Status

__all__ = ["STATUS_OF_LIMIT", "limit_complained_of"]

STATUS_OF_LIMIT: Final = {
    "wall_seconds": Status.TIMED_OUT,
    "cpu_seconds": Status.TIMED_OUT,
    "memory_bytes": Status.OUT_OF_MEMORY,
    "output_bytes": Status.OUTPUT_LIMIT,
    "result_bytes": Status.OUTPUT_LIMIT,
    "disk_bytes": Status.OUTPUT_LIMIT,
}
"""Limit that ended a command → its status. A limit that is not here (`processes`) ends none."""

COMPLAINTS: Final = (
    ("memory_bytes", (b"MemoryError", b"heap out of memory", b"bad_alloc", b"Cannot allocate memory")),
    ("memory_bytes", (b"Array buffer allocation failed", b"Out of memory")),
    ("disk_bytes", (b"No space left on device", b"File too large")),
    ("processes", (b"can't start new thread", b"Resource temporarily unavailable", b"EAGAIN")),
)
"""What a program that failed for a limit says last on its standard error."""

TAIL_BYTES: Final = 4096


def limit_complained_of(stderr: bytes) -> str | None:
    """The limit that a failed program's last words on standard error speak of, if any."""
    tail = stderr[-TAIL_BYTES:]
    return next((limit for limit, words in COMPLAINTS if any(word in tail for word in words)), None)
