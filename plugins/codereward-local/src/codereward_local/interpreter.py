"""Which Python the programs see, and the folders that must be in sight for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codereward import BackendMisconfigured

__all__ = ["Interpreter", "choose", "found"]

QUESTION: Final = (
    "import sys; print(*sys.version_info[:3]); print(sys.executable, sys.prefix, sys.base_prefix, sep='\\n')"
)
OLDEST: Final = (3, 9)
PATIENCE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Interpreter:
    """One Python."""

    path: str
    """Its file; no script in front of it."""
    places: tuple[str, ...]
    """Folders that hold it, its standard library and its packages."""
    version: str
    """As `3.11.7`."""

    @property
    def real(self) -> str:
        """Its file, links followed."""
        return os.path.realpath(self.path)


def choose(python: str | None, *, as_root: bool) -> Interpreter:
    """The interpreter asked for, or the best at hand.

    Args:
        python: Path or name of an interpreter; `None`: the one that runs codereward (outside its
            virtual environment), else the first `python3` on PATH.
        as_root: Whether the box is made with root's rights, which opens folders on the way.

    Raises:
        BackendMisconfigured: There is none.
    """
    if python is not None:
        return _asked(python, as_root=as_root)
    best = next(found(as_root=as_root), None)
    if best is not None:
        return best
    msg = (
        f"no Python that a sandboxed program could use: {sys.executable} cannot be shown to other users, and "
        "no other python3 is on PATH. Install one (`apt install python3`) or name one with python="
    )
    raise BackendMisconfigured(msg)


def found(*, as_root: bool) -> Iterator[Interpreter]:
    """Every interpreter at hand that programs could use, the best first."""
    seen = set()
    for each in _candidates():
        interpreter = _ask(each)
        if interpreter and interpreter.real not in seen and _usable(interpreter, as_root=as_root):
            seen.add(interpreter.real)
            yield interpreter


def _candidates() -> list[str]:
    own = getattr(sys, "_base_executable", None) or sys.executable
    places = [*os.get_exec_path(), "/usr/bin"]
    there = (shutil.which("python3", path=place) for place in places)
    return list(dict.fromkeys([own, *(each for each in there if each)]))


def _asked(python: str, *, as_root: bool) -> Interpreter:
    path = shutil.which(python)
    interpreter = _ask(path) if path else None
    if interpreter is None:
        msg = f"python={python!r} is not a Python interpreter (3.9 or newer) that runs here"
        raise BackendMisconfigured(msg)
    if not _usable(interpreter, as_root=as_root):
        msg = (
            f"python={python!r} lies where other users may not read ({interpreter.path}); programs run as one"
        )
        raise BackendMisconfigured(msg)
    return interpreter


def _ask(path: str) -> Interpreter | None:
    """Ask an interpreter, or a script in front of one, where it really lies."""
    try:
        answer = subprocess.run(
            [path, "-I", "-c", QUESTION],
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        version, executable, *prefixes = os.fsdecode(answer.stdout).splitlines()
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    numbers = version.split()
    if tuple(map(int, numbers)) < OLDEST:
        return None
    real = os.path.realpath(executable)
    around = (str(Path(real).parent.parent), *prefixes)
    store = ["/nix/store"] if real.startswith("/nix/") else []
    return Interpreter(executable, _outermost([*around, *store]), ".".join(numbers))


def _outermost(places: list[str]) -> tuple[str, ...]:
    """The folders that lie in none of the others, nor in `/usr`, which is in sight anyway."""
    outside = sorted({each for each in places if not Path(each).is_relative_to("/usr")})
    return tuple(each for each in outside if not any(_inside(each, other) for other in outside))


def _inside(path: str, other: str) -> bool:
    return path != other and Path(path).is_relative_to(other)


def _usable(interpreter: Interpreter, *, as_root: bool) -> bool:
    if any(place in ("/", "/root", "/home", str(Path.home())) for place in interpreter.places):
        return False  # far more than an interpreter would come into sight
    real = Path(interpreter.path).resolve()
    ways = [real] if as_root else [real, *real.parents]
    return not as_root or all(way.stat().st_mode & 0o005 == 0o005 for way in ways)  # noqa: PLR2004 - r-x
