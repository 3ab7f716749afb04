"""A program as the box takes it: plain values, marshalled, in a file in memory."""

from __future__ import annotations

import dataclasses
import marshal
import os
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from codereward import Command, Limits, Program

from codereward_local.bundle import MARSHAL_VERSION

__all__ = ["limits_of", "pack"]

PATH: Final = "/usr/local/bin:/usr/bin:/bin"
ENVIRONMENT: Final = {
    "PATH": PATH,
    "HOME": "/tmp",  # noqa: S108 - private to the program
    "TMPDIR": "/tmp",  # noqa: S108 - as above
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All that a command finds in its environment, but for its own variables."""


def pack(program: Program) -> bytes:
    """The program, marshalled.

    Raises:
        ValueError: A file's path leaves the working directory.
    """
    build = [program.build] if program.build else []
    packed = {
        "files": {_relative(name): content for name, content in program.files.items()},
        "build": program.build is not None,
        "commands": [_command(each, program) for each in (*build, *program.commands)],
    }
    return marshal.dumps(packed, MARSHAL_VERSION)


def limits_of(command: Command, program: Program) -> Limits:
    """The limits that apply to a command of the program."""
    return command.limits or program.limits


def _command(command: Command, program: Program) -> dict[str, object]:
    return {
        "argv": [_encode(each) for each in command.argv],
        "stdin": command.stdin,
        "env": _environment(command.env),
        "path": PATH,
        "limits": dataclasses.asdict(limits_of(command, program)),
    }


def _environment(own: Mapping[str, str]) -> dict[bytes, bytes]:
    merged = ENVIRONMENT | dict(own)
    return {_encode(name): _encode(value) for name, value in merged.items()}


def _encode(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "surrogatepass")


def _relative(name: str) -> bytes:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        msg = f"Program.files: {name!r} is not a relative path inside the working directory"
        raise ValueError(msg)
    return _encode(str(path))
