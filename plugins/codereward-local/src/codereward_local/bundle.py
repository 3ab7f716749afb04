"""The sources of `codereward_local.inside`, packed to be sent into a box."""

from __future__ import annotations

import functools
import marshal
from importlib import resources
from typing import Final

__all__ = ["boot_source", "bundle"]

MODULES: Final = (
    "wire",
    "kernel",
    "outer",
    "limits",
    "files",
    "seccomp",
    "guard",
    "sandbox",
    "hooks",
    "launch",
    "python",
    "watch",
    "supervise",
    "zygote",
)
"""In the order they import each other."""

MARSHAL_VERSION: Final = 2
"""Read by every Python from 3.4 on."""


@functools.cache
def boot_source() -> str:
    """What the interpreter in the box is started with."""
    return _source("boot")


@functools.cache
def bundle(last: str) -> bytes:
    """Module name → source, marshalled; `last` and what it may import."""
    names = MODULES[: MODULES.index(last) + 1]
    return marshal.dumps({name: _source(name) for name in names}, MARSHAL_VERSION)


def _source(name: str) -> str:
    return resources.files("codereward_local.inside").joinpath(f"{name}.py").read_text("utf-8")
