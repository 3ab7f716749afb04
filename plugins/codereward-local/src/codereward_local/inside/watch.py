"""Watching one command until it ends or goes over a limit, and what there is to report then."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Any

from codereward_local.inside import files, limits

if TYPE_CHECKING:
    import socket

__all__ = ["Watch", "report"]


class Watch:
    """One command under watch.

    Args:
        allowed: The fields of `codereward.Limits`.
        outputs: Descriptors of its standard output and standard error.
        disk: A descriptor of its private directory.
        others: Processes in sight that are not the program's.
    """

    def __init__(self, allowed: dict[str, Any], outputs: list[int], disk: int, others: set[int]) -> None:
        self.allowed = allowed
        self.outputs = outputs
        self.disk = disk
        self.others = others
        self.began = time.monotonic()
        self.limit: str | None = None
        self.data = 0
        self.cpu = 0.0

    def wait(self, ended: int, channel: socket.socket | None = None) -> bool:
        """Return when the process has ended, is over a limit, or the host says something.

        Args:
            ended: Descriptor of the process.
            channel: The way to the host.

        Returns:
            Whether the host said something.
        """
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        if channel is not None:
            poll.register(channel, select.POLLIN)
        while self.limit is None:
            left = self.began + self.allowed["wall_seconds"] - time.monotonic()
            if left <= 0:
                self.limit = "wall_seconds"
                break
            events = poll.poll(1000 * min(left, limits.LOOK_SECONDS))
            if events:
                return all(fd != ended for fd, _event in events)
            self._look()
        return False

    def _look(self) -> None:
        usage = limits.look(self.others, self.allowed)
        limits.add_stored(usage, self.outputs, self.disk)
        self.data = max(self.data, usage.data)
        self.cpu = max(self.cpu, usage.total_cpu)
        self.limit = limits.exceeded(usage, self.allowed)


def report(watch: Watch, status: int, cpu: float, place: int) -> tuple[dict[str, Any], list[int]]:
    """What the host is told about a command whose processes are all dead, and the descriptors.

    Args:
        watch: What watched the command.
        status: Its wait status.
        cpu: Processor seconds of its processes.
        place: The directory of its result; it is closed.
    """
    usage = limits.Usage()
    limits.add_stored(usage, watch.outputs, watch.disk)
    message = {
        "status": status,
        "wall": time.monotonic() - watch.began,
        "cpu": max(cpu, watch.cpu),  # the kernel does not count who died with its namespace
        "limit": watch.limit or limits.exceeded(usage, watch.allowed),
        "data": watch.data,
    }
    result = files.open_result(place)
    os.close(place)
    return message, [*watch.outputs, *([] if result is None else [result])]
