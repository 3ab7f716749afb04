"""A program as the box takes it: plain values, marshalled, in a file in memory."""

from __future__ import annotations

import marshal
import os
from collections.abc import Mapping
from typing import Final

from codereward import Command, Limits, Program

from codereward_local.bundle import MARSHAL_VERSION

__all__ = ["commands_of", "environment", "limits_of", "pack", "plain"]

ENVIRONMENT: Final = {
    "HOME": "/tmp",  # noqa: S108 - private to the program
    "TMPDIR": "/tmp",  # noqa: S108 - as above
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All that a command finds in its environment, but for its own variables."""


SLACK_BYTES: Final = 64 * 4096
"""What directories and the rounding to pages take."""


def environment(path: str) -> dict[str, str]:
    """The sandbox's own environment."""
    return {"PATH": path, **ENVIRONMENT}


def commands_of(program: Program) -> tuple[Command, ...]:
    """All commands of a program, the build first."""
    return (*([program.build] if program.build else []), *program.commands)


def pack(program: Program, path: str, *, fresh: bool) -> bytes:
    """The program, marshalled.

    Args:
        program: The program.
        path: Where commands are looked for in the sandbox.
        fresh: Whether Python scripts get an interpreter started for them.

    """
    packed = {
        "files": {_encode(name): content for name, content in program.files.items()},
        "build": program.build is not None,
        "fresh": fresh,
        "disk_bytes": max(limits_of(each, program).disk_bytes for each in commands_of(program)) + SLACK_BYTES,
        "commands": [_command(each, program, path) for each in commands_of(program)],
    }
    return marshal.dumps(packed, MARSHAL_VERSION)


def limits_of(command: Command, program: Program) -> Limits:
    """The limits that apply to a command of the program."""
    return command.limits or program.limits


def _command(command: Command, program: Program, path: str) -> dict[str, object]:
    return {
        "argv": [_encode(each) for each in command.argv],
        "stdin": command.stdin,
        "env": _encoded(environment(path) | dict(command.env)),
        "own": [_encode(name) for name in command.env],
        "path": _encode(path),
        "limits": plain(limits_of(command, program)),
    }


def _encoded(variables: Mapping[str, str]) -> dict[bytes, bytes]:
    return {_encode(name): _encode(value) for name, value in variables.items()}


def _encode(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "surrogatepass")


def plain(limits: Limits) -> dict[str, float]:
    """The fields of limits, as the box takes them."""
    return {name: getattr(limits, name) for name in limits.__slots__}
