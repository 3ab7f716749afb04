"""Executor `superserve`: every program in a fresh Superserve cloud sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import codereward

if TYPE_CHECKING:
    import typer

    from codereward_superserve.executor import SuperserveExecutor
    from codereward_superserve.reaper import reap

__all__ = ["SuperserveExecutor", "codereward_register_commands", "codereward_register_executors", "reap"]


def _superserve(**options: Any) -> SuperserveExecutor:
    from codereward_superserve.executor import SuperserveExecutor

    return SuperserveExecutor(**options)


@codereward.hookimpl
def codereward_register_executors(register: codereward.RegisterExecutor) -> None:
    """Register the executor under `superserve`."""
    register("superserve", _superserve)


@codereward.hookimpl
def codereward_register_commands(register: codereward.RegisterCommand) -> None:
    """Register `codereward superserve …`."""
    register("superserve", _commands)


def _commands() -> typer.Typer:
    from codereward_superserve.cli import commands

    return commands()


def __getattr__(name: str) -> Any:
    """Import what needs the SDK when it is first asked for."""
    if name == "SuperserveExecutor":
        from codereward_superserve.executor import SuperserveExecutor

        return SuperserveExecutor
    if name == "reap":
        from codereward_superserve.reaper import reap

        return reap
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
