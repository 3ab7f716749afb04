"""Calls the observer hooks of plugins, so that no observer can touch a reward."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from codereward.model import Verdict
from codereward.registry import Registry

__all__ = ["Observers"]

logger = logging.getLogger("codereward")


class Observers:
    """The observer hooks, one typed method each.

    An observer that raises is logged once, with its owner, and not called again.

    Args:
        registry: Where the plugins are.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._muted: set[str] = set()

    def batch_started(self, *, pipeline: str, batch: int, size: int) -> None:
        """Tell that a batch begins."""
        self._call("codereward_batch_started", pipeline=pipeline, batch=batch, size=size)

    def completion_scored(self, *, pipeline: str, batch: int, index: int, verdict: Verdict) -> None:
        """Tell a verdict."""
        self._call(
            "codereward_completion_scored", pipeline=pipeline, batch=batch, index=index, verdict=verdict
        )

    def batch_finished(
        self,
        *,
        pipeline: str,
        batch: int,
        verdicts: Sequence[Verdict],
        metrics: Mapping[str, float],
        seconds: float,
    ) -> None:
        """Tell that a batch is done."""
        self._call(
            "codereward_batch_finished",
            pipeline=pipeline,
            batch=batch,
            verdicts=verdicts,
            metrics=metrics,
            seconds=seconds,
        )

    def _call(self, hook: str, **arguments: Any) -> None:
        for implementation in getattr(self._registry.manager.hook, hook).get_hookimpls():
            owner = implementation.plugin_name
            if owner in self._muted:
                continue
            try:
                implementation.function(*(arguments[name] for name in implementation.argnames))
            except Exception:
                self._muted.add(owner)
                logger.exception("observer %s raised in %s and is not called again", owner, hook)
