"""Executor `local`: every program in a sandbox of its own on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import codereward

if TYPE_CHECKING:
    from codereward_local.executor import LocalExecutor

__all__ = ["codereward_register_executors"]


def _local(**options: object) -> LocalExecutor:
    from codereward_local.executor import LocalExecutor

    return LocalExecutor(**options)  # type: ignore[arg-type] # the user's own keywords


@codereward.hookimpl
def codereward_register_executors(register: codereward.RegisterExecutor) -> None:
    """Register the executor under `local`."""
    register("local", _local)
