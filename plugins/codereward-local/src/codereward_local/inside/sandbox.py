"""From a fresh clone of the fork server to a process in a sandbox of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from codereward_local.inside import files, kernel, limits

if TYPE_CHECKING:
    from codereward_local.inside.seccomp import Filter

__all__ = ["NAMESPACES", "Entrance", "furnish", "give_up_rights"]

NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS
"""Those of each program; the network, IPC and host name ones are the box's, and empty."""

USER = 1000
OWN_MOUNT = kernel.MS_NOSUID | kernel.MS_NODEV
BYTES_PER_INODE = 4096
SPARE_INODES = 1024


class Entrance:
    """The way of a new process into its sandbox, all prepared in the fork server.

    Args:
        outer_user: The fork server's user, in its own terms.
        outer_group: Its group.
    """

    def __init__(self, outer_user: int, outer_group: int) -> None:
        self._words = (
            (b"/proc/self/setgroups", b"deny"),
            (b"/proc/self/uid_map", b"%d %d 1" % (USER, outer_user)),
            (b"/proc/self/gid_map", b"%d %d 1" % (USER, outer_group)),
        )
        self._mounts = (
            kernel.Mount("tmpfs", files.ROOT, "tmpfs", OWN_MOUNT, "mode=700"),
            kernel.Mount("proc", "/proc", "proc", OWN_MOUNT | kernel.MS_NOEXEC),
        )

    def move_in(self) -> None:
        """Take a user, a private directory and a view of the processes: the sandbox's first one."""
        kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # else the maps belong to root
        for path, words in self._words:
            fd = os.open(path, os.O_WRONLY)
            os.write(fd, words)
            os.close(fd)
        for mount in self._mounts:
            mount()


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
