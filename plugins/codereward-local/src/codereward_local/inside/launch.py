"""The last steps of a new process on its way to becoming a command of the program."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

from codereward_local.inside import files

__all__ = ["PYTHONS", "connect", "find", "replace"]

PYTHONS = (b"python", b"python3")
"""Names that stand for the interpreter the sandbox was made with."""

FIRST_FREE = 3


def find(command: dict[str, Any]) -> bytes | None:
    """The file that the command's first word stands for; `None` when it is not installed."""
    name: bytes = command["argv"][0]
    if name in PYTHONS:
        return os.fsencode(sys.executable)
    if b"/" in name:
        return name
    candidates = (os.path.join(place, name) for place in command["path"].split(b":"))
    return next((each for each in candidates if os.access(each, os.X_OK)), None)


def connect(stdio: tuple[int, ...], keep: int = -1) -> None:
    """Take the command's own streams and directory; close every other descriptor but `keep`."""
    os.setsid()
    os.chdir(files.WORK)
    for target, fd in enumerate(stdio):
        os.dup2(fd, target)
    if keep < FIRST_FREE:
        os.closerange(FIRST_FREE, _highest())
    else:
        os.closerange(FIRST_FREE, keep)
        os.closerange(keep + 1, _highest())


def replace(file: bytes, command: dict[str, Any], failing: int) -> NoReturn:
    """Execute the command's file; the error number goes to `failing` when the kernel refuses."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    try:
        named = command["argv"][0] in PYTHONS  # by its path: it finds its library from there
        first = file if named else command["argv"][0]
        os.execve(file, [first, *command["argv"][1:]], command["env"])
    except (OSError, ValueError) as error:
        os.write(failing, str(getattr(error, "errno", 22)).encode())
    os._exit(127)


def _highest() -> int:
    return os.sysconf("SC_OPEN_MAX")
