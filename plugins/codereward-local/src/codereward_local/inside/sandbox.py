"""From a fresh clone of the fork server to a process in a sandbox of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from codereward_local.inside import files, kernel, limits

if TYPE_CHECKING:
    from codereward_local.inside.seccomp import Filter

__all__ = ["NAMESPACES", "furnish", "give_up_rights", "move_in"]

NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS
"""Those of each program; the network, IPC and host name ones are the box's, and empty."""

USER = 1000
OWN_MOUNT = kernel.MS_NOSUID | kernel.MS_NODEV
BYTES_PER_INODE = 4096
SPARE_INODES = 1024


def move_in(outer_user: int, outer_group: int) -> None:
    """Take a user, a private directory and a view of the processes; this is the sandbox's first one.

    Args:
        outer_user: The fork server's user, in its own terms.
        outer_group: Its group.
    """
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else the maps belong to root
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{USER} {outer_user} 1")
    _write("/proc/self/gid_map", f"{USER} {outer_group} 1")
    kernel.mount("tmpfs", files.ROOT, "tmpfs", OWN_MOUNT, "mode=700")
    kernel.mount("proc", "/proc", "proc", OWN_MOUNT | kernel.MS_NOEXEC)


def furnish(disk_bytes: int) -> None:
    """Give the private directory the size that its program may fill."""
    inodes = disk_bytes // BYTES_PER_INODE + SPARE_INODES
    size = f"size={disk_bytes},nr_inodes={inodes}"
    kernel.mount("tmpfs", files.ROOT, "tmpfs", OWN_MOUNT | kernel.MS_REMOUNT, size)


def give_up_rights(allowed: dict[str, Any], own: int, narrow: Filter) -> None:
    """Take the limits and drop what was needed to move in; for good.

    Args:
        allowed: The fields of `codereward.Limits`.
        own: Processes of the sandbox itself.
        narrow: The filter that forbids to move again.
    """
    limits.apply(allowed, own)
    kernel.drop_capabilities(bounding=False)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # dropping reset it, and /proc/self belonged to root
    narrow.install()


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, text.encode())
    os.close(fd)
