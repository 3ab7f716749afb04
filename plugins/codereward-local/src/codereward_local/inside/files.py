"""The private directory of a program: its files, and where commands leave their results."""

from __future__ import annotations

import os
import secrets
import stat

__all__ = ["ROOT", "WORK", "LayingError", "lay", "make_result_place", "open_result"]

ROOT = "/tmp"  # noqa: S108 - a file system in memory of the program's own
WORK = ROOT + "/work"
"""Working directory of every command."""
RESULTS = ROOT + "/.results"


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
    for directory in (WORK, RESULTS):
        os.mkdir(directory, 0o700)
    root = os.fsencode(WORK)
    for name, content in files.items():
        path = os.path.join(root, name)
        parent = os.path.dirname(path)
        if parent != root:
            os.makedirs(parent, exist_ok=True)
        with open(path, "xb", buffering=0) as file:
            _write(file.fileno(), content)


def _write(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def make_result_place() -> tuple[str, int]:
    """Make a directory that no earlier command knew of: its result's path, and its descriptor."""
    directory = f"{RESULTS}/{secrets.token_hex(8)}"
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
