"""The last steps of a new process on its way to becoming a command of the program."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from codereward_local.inside import files, limits

__all__ = ["PYTHONS", "find", "become"]

PYTHONS = (b"python", b"python3")
"""Names that stand for the interpreter the sandbox was made with."""


def find(name: bytes, path: str) -> bytes | None:
    """The file that `name` stands for in the sandbox; `None` when it is not installed."""
    if name in PYTHONS:
        return os.fsencode(sys.executable)
    if b"/" in name:
        return name
    candidates = (os.path.join(os.fsencode(place), name) for place in path.split(":"))
    return next((each for each in candidates if os.access(each, os.X_OK)), None)


def become(file: bytes, command: dict[str, Any], stdio: tuple[int, int, int], already: int) -> NoReturn:
    """Turn this process into the command.

    Raises:
        OSError: The kernel refuses the file.
    """
    os.setsid()
    os.chdir(files.WORK)
    for target, fd in enumerate(stdio):
        os.dup2(fd, target)
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    limits.apply(command["limits"], already)
    os.execve(file, command["argv"], command["env"])
