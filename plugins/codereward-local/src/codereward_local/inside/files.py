"""The private directory of a program: its files, and where commands leave their results."""

from __future__ import annotations

import os
import stat

from codereward_local.inside import wire

__all__ = ["ROOT", "WORK", "LayingError", "lay", "make_result_place", "open_result"]

ROOT = "/tmp"  # noqa: S108 - a file system in memory of the program's own
WORK = ROOT + "/work"
"""Working directory of every command."""
RESULTS = ROOT + "/.result-"


class LayingError(Exception):
    """A program's files could not be written: they do not fit, or their names clash."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.number = error.errno


def lay(files: dict[bytes, bytes]) -> None:
    """Write the program's files into its working directory.

    Raises:
        LayingError: It cannot be done.
    """
    try:
        _lay(files)
    except OSError as error:
        raise LayingError(error) from error


def _lay(files: dict[bytes, bytes]) -> None:
    os.mkdir(WORK, 0o700)
    root = os.fsencode(WORK)
    for name, content in files.items():
        path = root + b"/" + name
        if b"/" in name:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            wire.write_all(fd, content)
        finally:
            os.close(fd)


def make_result_place() -> tuple[str, int]:
    """Make a directory that no earlier command knew of: its result's path, and its descriptor."""
    directory = RESULTS + os.urandom(8).hex()
    os.mkdir(directory, 0o700)
    return directory + "/result", os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def open_result(directory: int) -> int | None:
    """Open what a command left, if it is a plain file; nothing of the program may be alive."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open("result", flags, dir_fd=directory)
    except OSError:  # none, a link, a socket, or made unreadable
        return None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None
