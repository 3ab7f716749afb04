"""Every hook a plugin can implement: the contents page for plugin authors.

A plugin is a module that the entry-point group `codereward` names. It decorates functions of these
names with `codereward.hookimpl`. Hooks are synchronous and short; arguments are passed by keyword,
and an implementation may take fewer of them than the specification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import pluggy

from codereward.model import Verdict
from codereward.protocols import Executor, Extractor, Harness, Scorer

if TYPE_CHECKING:
    import typer

__all__ = [
    "PROJECT",
    "RegisterCommand",
    "RegisterExecutor",
    "RegisterExtractor",
    "RegisterHarness",
    "RegisterScorer",
    "hookimpl",
    "hookspec",
]

PROJECT: Final = "codereward"
"""Name of the entry-point group and prefix of every hook."""

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
"""Decorates a plugin's implementation of a hook."""


class RegisterExtractor(Protocol):
    """What `codereward_register_extractors` is given to call, once for each name."""

    def __call__(self, name: str, factory: Callable[..., Extractor]) -> None:
        """Register `factory` under `name`; it is called later, with the user's options."""


class RegisterHarness(Protocol):
    """What `codereward_register_harnesses` is given to call, once for each name."""

    def __call__(self, name: str, factory: Callable[..., Harness]) -> None:
        """Register `factory` under `name`; it is called later, with the user's options."""


class RegisterExecutor(Protocol):
    """What `codereward_register_executors` is given to call, once for each name."""

    def __call__(self, name: str, factory: Callable[..., Executor]) -> None:
        """Register `factory` under `name`; it is called later, with the user's options."""


class RegisterScorer(Protocol):
    """What `codereward_register_scorers` is given to call, once for each name."""

    def __call__(self, name: str, factory: Callable[..., Scorer]) -> None:
        """Register `factory` under `name`; it is called later, with the user's options."""


class RegisterCommand(Protocol):
    """What `codereward_register_commands` is given to call."""

    def __call__(self, name: str, factory: Callable[[], typer.Typer]) -> None:
        """Register `factory` under `name`; it is called when the command line starts."""


@hookspec
def codereward_register_extractors(register: RegisterExtractor) -> None:
    """Register extractors by name.

    Names are lower-case letters, digits and hyphens, and belong to one distribution each. The
    factory should import what is heavy when it is called, not when the plugin is loaded.
    """


@hookspec
def codereward_register_harnesses(register: RegisterHarness) -> None:
    """Register harnesses by name; the name is the language, as users type it."""


@hookspec
def codereward_register_executors(register: RegisterExecutor) -> None:
    """Register executors by name."""


@hookspec
def codereward_register_scorers(register: RegisterScorer) -> None:
    """Register scorers by name."""


@hookspec
def codereward_register_commands(register: RegisterCommand) -> None:
    """Register a group of commands by name: `codereward <name> ...`."""


@hookspec
def codereward_batch_started(pipeline: str, batch: int, size: int) -> None:
    """Called before a batch is scored.

    Args:
        pipeline: The pipeline's name, as the trainer logs it.
        batch: Number of the batch in this process, counted from 0.
        size: Number of completions in the batch.
    """


@hookspec
def codereward_completion_scored(pipeline: str, batch: int, index: int, verdict: Verdict) -> None:
    """Called for each completion as soon as its verdict is known, in no particular order.

    Args:
        pipeline: The pipeline's name.
        batch: Number of the batch in this process.
        index: Position of the completion in the batch.
        verdict: Its verdict.
    """


@hookspec
def codereward_batch_finished(
    pipeline: str,
    batch: int,
    verdicts: Sequence[Verdict],
    metrics: Mapping[str, float],
    seconds: float,
) -> None:
    """Called after a batch, when all its verdicts are known.

    Args:
        pipeline: The pipeline's name.
        batch: Number of the batch in this process.
        verdicts: One for each completion, in the order of the batch.
        metrics: The batch's metrics, as the trainer logs them; always the same keys.
        seconds: Time on the clock that the batch took.
    """
