"""What `codereward doctor` says about this machine: whether sandboxes hold, and what runs in them."""

from __future__ import annotations

import shutil
import subprocess
from typing import Final

from codereward import BackendMisconfigured, Finding

from codereward_local import selftest
from codereward_local.box import may_build_as_root
from codereward_local.interpreter import Interpreter, choose, found

__all__ = ["diagnose"]

PATIENCE_SECONDS: Final = 30


def diagnose(python: str | None, preimport: tuple[str, ...]) -> list[Finding]:
    """Try to get out of a sandbox, and look for interpreters.

    Args:
        python: As `LocalExecutor`.
        preimport: As `LocalExecutor`.
    """
    return [*selftest.run(python, preimport), *_pythons(python), _node()]


def _pythons(python: str | None) -> list[Finding]:
    as_root = may_build_as_root()
    try:
        chosen = choose(python, as_root=as_root)
    except BackendMisconfigured:  # the self-test has said so
        return []
    others = [_named(each) for each in found(as_root=as_root) if each.real != chosen.real]
    return [
        Finding("interpreter", passed=True, detail=_named(chosen)),
        Finding(
            "other interpreters", passed=True, detail="; ".join(others) or "none that programs could use"
        ),
    ]


def _named(interpreter: Interpreter) -> str:
    return f"Python {interpreter.version} ({interpreter.path})"


def _node() -> Finding:
    path = shutil.which("node")
    if path is None:
        return Finding("node", passed=True, detail="not installed; only programs for it need it")
    try:
        asked = subprocess.run(
            [path, "--version"], capture_output=True, timeout=PATIENCE_SECONDS, check=True, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("node", passed=True, detail=f"{path} does not run: {error}")
    return Finding("node", passed=True, detail=f"Node {asked.stdout.strip()} ({path})")
