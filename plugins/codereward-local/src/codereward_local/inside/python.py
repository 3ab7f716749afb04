"""Runs a Python program in the process it was forked into, as a fresh interpreter would."""

from __future__ import annotations

import contextlib
import gc
import importlib.machinery
import os
import sys
from types import CodeType, ModuleType
from typing import Any

from codereward_local.inside import files, launch

__all__ = ["KEPT", "OWN", "Script", "accept", "know"]

FLAGS = frozenset("IESBPs")
"""Single-letter options that the fork server's interpreter can stand in for."""

SITE_NAMES = ("copyright", "credits", "exit", "help", "license", "quit")
OWN: list[str] = []
"""Names of this package's modules, which a program must not find. Filled by the fork server."""
KEPT: list[object] = []
"""What is not freed in a program's process: taking it apart would touch, so copy, its memory."""

KNOWN: dict[tuple[str, bytes], CodeType] = {}
"""Path and source of scripts that come again and again → their code."""


def know(scripts: dict[str, bytes]) -> None:
    """Compile scripts of harnesses, never a completion's."""
    for name, source in scripts.items():
        path = f"{files.WORK}/{name}"
        with contextlib.suppress(SyntaxError, ValueError):  # the program that runs it will be told
            KNOWN[path, source] = compile(source, path, "exec", dont_inherit=True)


def accept(command: dict[str, Any]) -> Script | None:
    """The command as a script for this interpreter; `None` when it needs a process of its own."""
    argv = command["argv"]
    if argv[0] not in launch.PYTHONS or any(name.startswith(b"PYTHON") for name in command["own"]):
        return None
    flags: set[str] = set()
    for position, word in enumerate(argv[1:], 1):
        text = os.fsdecode(word)
        if not text.startswith("-"):
            return Script(command, flags, [os.fsdecode(each) for each in argv[position:]])
        if text == "-" or not FLAGS.issuperset(text[1:]):
            return None
        flags.update(text[1:])
    return None


class Script:
    """A script, its arguments, and the interpreter options before it."""

    def __init__(self, command: dict[str, Any], flags: set[str], argv: list[str]) -> None:
        self.flags = flags
        self.argv = argv
        self.words = [os.fsdecode(each) for each in command["argv"]]
        self.env = command["env"]

    def load(self) -> tuple[CodeType, dict[str, Any]] | int:
        """Make the interpreter look fresh; the code and its namespace, or the exit code if none.

        Called in the program's own process, as its last step before the code itself.
        """
        self._environ()
        self._interpreter()
        path = self.argv[0]
        full = os.path.abspath(path)
        try:
            with open(path, "rb") as file:
                source = file.read()
        except OSError as error:
            text = f"{sys.executable}: can't open file {full!r}"
            os.write(2, f"{text}: [Errno {error.errno}] {error.strerror}\n".encode("utf-8", "replace"))
            return 2
        module = _main_module(full)
        sys.modules["__main__"] = module
        namespace = vars(module)
        try:
            code = KNOWN.get((full, source)) or compile(source, full, "exec", dont_inherit=True)
        except BaseException as error:
            sys.excepthook(type(error), error.with_traceback(None), None)
            return 1
        return code, namespace

    def _environ(self) -> None:
        """Take the command's variables; most are there, from the fork server's own environment."""
        environ = os.environb
        own = environ._data  # type: ignore[attr-defined] # not through its checks: each touches memory
        for name in [each for each in own if each not in self.env]:
            del environ[name]
        for name, value in self.env.items():
            if own.get(name) != value:
                environ[name] = value

    def _interpreter(self) -> None:
        sys.argv[:] = self.argv
        sys.orig_argv[:] = self.words
        sys.dont_write_bytecode = "B" in self.flags
        if not self.flags & {"I", "P"}:
            sys.path.insert(0, _folder(self.argv[0]))
        if "S" in self.flags:
            _without_site()
        KEPT.extend([sys.modules.pop(name) for name in OWN])
        gc.enable()


def _folder(path: str) -> str:
    """Where a script lies, links followed."""
    if "/" not in path and not os.path.islink(path):  # as nearly all: their way is shorter
        return os.getcwd()
    return os.path.dirname(os.path.realpath(path))


def _without_site() -> None:
    import builtins

    for name in SITE_NAMES:
        vars(builtins).pop(name, None)
    sys.path[:] = [each for each in sys.path if not each.endswith("-packages")]
    sys.modules.pop("site", None)


def _main_module(path: str) -> ModuleType:
    module = ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    vars(module).update(__builtins__=sys.modules["builtins"], __annotations__={}, __cached__=None)
    return module
