"""Which Python the programs see, and the folders it needs in sight."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from codereward import BackendMisconfigured

__all__ = ["Interpreter", "choose"]


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python."""

    path: str
    """The real file, no link and no script in front of it."""
    prefix: str
    """Folder that holds the interpreter with its standard library."""


def choose(python: str | None, for_all: bool) -> Interpreter:
    """The interpreter asked for, or the best at hand.

    Args:
        python: Path or name of an interpreter; `None`: the one that runs codereward, else the
            first `python3` on PATH that can be made visible.
        for_all: Whether an unprivileged user has to reach it.

    Raises:
        BackendMisconfigured: There is none.
    """
    if python is not None:
        return _asked(python, for_all)
    for each in (_own(), *_on_path()):
        if not for_all or _reachable(each.path):
            return each
    msg = (
        f"no Python that a sandboxed program could reach: {sys.executable} lies in a folder that only its "
        "owner may enter, and no other python3 is on PATH. Install one (`apt install python3`) or name "
        "one with python="
    )
    raise BackendMisconfigured(msg)


def _own() -> Interpreter:
    base = getattr(sys, "_base_executable", None) or sys.executable
    return Interpreter(os.path.realpath(base), os.path.realpath(sys.base_prefix))


def _on_path() -> list[Interpreter]:
    places = [*os.get_exec_path(), "/usr/bin"]
    found = (shutil.which("python3", path=place) for place in places)
    unique = {each: None for each in found if each}
    return [asked for each in unique if (asked := _ask(each))]


def _asked(python: str, for_all: bool) -> Interpreter:
    found = shutil.which(python)
    interpreter = _ask(found) if found else None
    if interpreter is None:
        msg = f"python={python!r} is not a Python interpreter that runs here"
        raise BackendMisconfigured(msg)
    if for_all and not _reachable(interpreter.path):
        msg = f"python={python!r} lies in a folder that only its owner may enter; a sandboxed program cannot"
        raise BackendMisconfigured(msg)
    return interpreter


def _ask(path: str) -> Interpreter | None:
    """Ask an interpreter, or a script in front of one, where it really lies."""
    question = "import sys; print(getattr(sys, '_base_executable', sys.executable)); print(sys.base_prefix)"
    try:
        answer = subprocess.run(
            [path, "-I", "-S", "-c", question], capture_output=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    executable, prefix = os.fsdecode(answer.stdout).splitlines()
    return Interpreter(os.path.realpath(executable), os.path.realpath(prefix))


def _reachable(path: str) -> bool:
    """Whether every folder on the way lets strangers through."""
    return all(folder.stat().st_mode & 0o001 for folder in (Path(path), *Path(path).parents))
